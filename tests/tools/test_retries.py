"""A run that others on the machine disturbed is made again, which is told."""

import contextlib
import unittest
from pathlib import Path
from unittest import mock

import make_believe  # noqa: F401  (finds heddle_tool)
from heddle_tool.bench import runner
from heddle_tool.bench.mpis import Mpi
from heddle_tool.bench.runner import Run
from heddle_tool.bench.suite import benchmark, points


class Retries(unittest.TestCase):
    def runs(self, patience: int, *found: Run) -> tuple[Run, list[str], int]:
        """The run that counts, what was told, and how many were made."""
        point = points(benchmark("latency"), None, None, None, None)[0]
        told: list[str] = []
        with mock.patch.object(runner, "run_once", side_effect=found) as made, mock.patch.object(runner, "settle"):
            best = runner.run(point, Mpi("a", Path()), Path("latency"), 1, None, patience, contextlib.nullcontext(), told.append)
        return best, told, made.call_count

    def test_a_quiet_run_is_not_talked_about(self):
        quiet = Run("ok", 1.0, others=0.05)
        self.assertEqual(self.runs(3, quiet), (quiet, [], 1))

    def test_each_retry_is_told_with_its_reason(self):
        disturbed, quiet = Run("ok", 1.0, others=0.72), Run("ok", 2.0, others=0.0)
        best, told, made = self.runs(3, disturbed, quiet)
        self.assertEqual((best, made, len(told)), (quiet, 2, 1))
        self.assertRegex(told[0], r"^latency.*, a: other programs used 0\.7 cores meanwhile; "
                         r"retrying for a quiet machine \(2 of 3\)$")

    def test_giving_up_is_told(self):
        others = [Run("ok", 1.0, others=0.9), Run("ok", 2.0, others=0.4), Run("ok", 3.0, others=0.6)]
        best, told, made = self.runs(3, *others)
        self.assertEqual((best, made, len(told)), (others[1], 3, 3))
        self.assertRegex(told[-1], r"; the least disturbed of 3 runs counts \(0\.4 cores\)$")

    def test_who_asked_for_one_try_gets_one(self):
        disturbed = Run("ok", 1.0, others=0.9)
        self.assertEqual(self.runs(1, disturbed), (disturbed, [], 1))

    def test_a_failure_is_not_retried(self):
        failed = Run("failed", others=0.9)
        self.assertEqual(self.runs(3, failed), (failed, [], 1))


if __name__ == "__main__":
    unittest.main()

"""A run that others on the machine disturbed is made again; the table says how many were, and no line of its own does."""

import contextlib
import io
import unittest
from pathlib import Path
from unittest import mock

import make_believe  # noqa: F401  (finds heddle_tool)
from heddle_tool.bench import runner, table
from heddle_tool.bench.campaign import Campaign, Cell, Plan
from heddle_tool.bench.mpis import Mpi
from heddle_tool.bench.progress import Progress
from heddle_tool.bench.runner import Run
from heddle_tool.bench.suite import benchmark, points


class Retries(unittest.TestCase):
    def runs(self, patience: int, *found: Run) -> tuple[Run, list[float], int]:
        """The run that counts, what disturbed those that were made again, and how many were made."""
        point = points(benchmark("latency"), None, None, None, None)[0]
        told: list[float] = []
        with mock.patch.object(runner, "run_once", side_effect=found) as made, mock.patch.object(runner, "wait_for_idle"):
            best = runner.run(point, Mpi("a", Path()), Path("latency"), 1, None, patience, contextlib.nullcontext(), told.append)
        return best, told, made.call_count

    def test_a_quiet_run_is_not_talked_about(self):
        quiet = Run("ok", 1.0, others=0.05)
        self.assertEqual((*self.runs(3, quiet), quiet.tries), (quiet, [], 1, 1))

    def test_a_retry_is_counted(self):
        disturbed, quiet = Run("ok", 1.0, others=0.72), Run("ok", 2.0, others=0.0)
        self.assertEqual((*self.runs(3, disturbed, quiet), quiet.tries), (quiet, [0.72], 2, 2))

    def test_the_least_disturbed_counts(self):
        others = [Run("ok", 1.0, others=0.9), Run("ok", 2.0, others=0.4), Run("ok", 3.0, others=0.6)]
        self.assertEqual((*self.runs(3, *others), others[1].tries), (others[1], [0.9, 0.4], 3, 3))

    def footnotes(self, *runs: Run) -> str:
        point = points(benchmark("latency"), None, None, None, None)[0]
        return "\n".join(table.footnotes(Campaign("", Plan([point], [Mpi("a", Path())]), None, cells=[Cell(point, {"a": list(runs)})])))

    def test_the_table_ends_with_the_count(self):
        quiet = Run("ok", 1.0)
        self.assertEqual(self.footnotes(quiet, quiet), "")
        self.assertIn("1 run was repeated because", self.footnotes(quiet, Run("ok", 1.0, tries=2)))
        told = self.footnotes(quiet, Run("ok", 1.0, others=0.4, tries=3), Run("ok", 1.0, others=0.1, tries=3))
        self.assertIn("4 runs were repeated because other programs used the machine; 1 of 3 stayed disturbed", told)

    def test_a_terminal_has_one_line_that_is_updated(self):
        terminal = io.StringIO()
        terminal.isatty = lambda: True
        progress = Progress(2, terminal)
        progress.show("latency", "a")
        self.assertNotIn("repeated", terminal.getvalue())
        progress.repeated = 2
        progress.show("latency", "a")
        self.assertIn("2 repeated", terminal.getvalue())
        self.assertNotIn("\n", terminal.getvalue())

    def test_who_asked_for_one_try_gets_one(self):
        disturbed = Run("ok", 1.0, others=0.9)
        self.assertEqual(self.runs(1, disturbed), (disturbed, [], 1))

    def test_a_failure_is_not_retried(self):
        failed = Run("failed", others=0.9)
        self.assertEqual(self.runs(3, failed), (failed, [], 1))


if __name__ == "__main__":
    unittest.main()

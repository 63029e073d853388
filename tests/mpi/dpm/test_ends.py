"""How jobs end that have spawned processes: in time, with a true message, and without remaining processes."""

import os
import pathlib
import subprocess
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parents[2] / "launch" / "mpiexec"))
from launcher import LauncherTest, Result

PROGRAM = os.environ["DPM_ENDS_PROGRAM"]
ERR_SPAWN = 53  # MPI_ERR_SPAWN, with which a job ends whose errors are fatal


class Ends(LauncherTest):
    def fails(self, end: str, code: int, says: str, *options: str, **more) -> Result:
        result = self.run_job("--timeout", "40", "-n", "2", *options, PROGRAM, end, **more)
        self.assertEqual(result.code, code, result.err)
        self.assertRegex(result.err, says)
        return result

    def test_a_child_is_killed(self):
        self.fails("killed", 137, r"mpiexec: rank 1 of spawned group 1 \(pid \d+, .*\) was killed by signal 9 .*; ending the other 3 ranks")

    def test_a_child_aborts(self):
        self.fails("aborts", 7, r"rank 1 of spawned group 1 \(pid \d+, .*\) aborted with code 7")

    def test_a_child_exits(self):
        self.fails("exits", 3, r"rank 1 of spawned group 1 .* exited with code 3 without calling MPI_Finalize")

    def test_a_parent_is_killed(self):
        self.fails("parent-killed", 137, r"mpiexec: rank 0 \(pid \d+, .*\) was killed by signal 9 .*; ending the other 3 ranks")

    def test_a_child_without_mpi(self):
        self.fails("no-mpi", 1, r"rank 0 of spawned group 1 \(pid \d+, true\) exited without calling MPI_Init, but rank [01] has called it")

    def test_a_program_that_is_missing(self):
        result = self.fails("missing", ERR_SPAWN, r"MPI_Comm_spawn failed on rank [01] of 2\s+MPI_ERR_SPAWN")
        self.assertIn("cannot find the program '/no/such/program': there is no such file", result.err)

    def test_many_one_after_the_other(self):
        result = self.run_job("--timeout", "100", "-n", "1", PROGRAM, "many")
        self.assertEqual((result.code, result.err), (0, ""))

    def test_output_of_children(self):
        result = self.run_job("--timeout", "40", "-l", "-n", "1", PROGRAM, "says")
        self.assertEqual((result.code, result.err), (0, ""))
        self.assertEqual(result.lines, ["[1] child 0 of 2", "[2] child 1 of 2"])

    def test_pretended_nodes(self):
        self.fails("says", ERR_SPAWN, "this job has no room for more ranks: it simulates several nodes",
                   env={"HEDDLE_NODES": "2"})

    def test_without_mpiexec(self):
        result = subprocess.run([PROGRAM, "says"], capture_output=True, text=True, timeout=60, env=self.environment())
        self.assertNotEqual(result.returncode, 0)
        self.assertIn("this program was started without mpiexec", result.stderr)
        self.assertIn("Start it with mpiexec -n 1", result.stderr)
        self.assert_nothing_left()


if __name__ == "__main__":
    unittest.main(verbosity=2)

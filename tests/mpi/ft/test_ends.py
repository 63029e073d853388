"""How jobs end that go on without ranks that fail: what mpiexec says and returns, and what it refuses."""

import os
import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parents[2] / "launch" / "mpiexec"))
import launcher
from launcher import LauncherTest, Result

PROGRAM = os.environ["FT_ENDS_PROGRAM"]
FT = ["--with-ft", "ulfm"]


class Endings(LauncherTest):
    def ends(self, *arguments: str, code: int, out: str = "", says: str = "", **options) -> Result:
        result = self.run_job("--timeout", "60", *arguments, **options)
        self.assertEqual((result.code, result.out), (code, out), result.err)
        self.assertRegex(result.err, says or "^")
        return result

    def test_one_is_killed(self):
        says = r"mpiexec: rank 1 \(pid \d+, .*\) was killed by signal 9 \(SIGKILL, Killed\) outside MPI; the job goes on with 3 ranks\n"
        for option in (FT, ["-disable-auto-cleanup"], ["--enable-recovery"]):
            result = self.ends(*option, "-n", "4", PROGRAM, "dies", code=0, out="3 go on\n", says=says)
            self.assertEqual(result.err.count("mpiexec: "), 1, result.err)

    def test_one_of_another_node_is_killed(self):
        for nodes in ("2", "4"):
            self.ends(*FT, "-n", "4", PROGRAM, "dies", code=0, out="3 go on\n", says="the job goes on with 3 ranks",
                      env={"HEDDLE_NODES": nodes})

    @unittest.skipUnless("BOOT_HOST" in os.environ, "ranks can't be threads with this sanitizer")
    def test_ranks_of_a_process_die_together(self):
        result = self.ends(*FT, "--ranks", "threads:2", "-n", "5", PROGRAM, "dies", code=0, out="3 go on\n",
                           says=r"mpiexec: rank 1 .* was killed by signal 9 .*, which ends the process of ranks 0 to 1 \(pid \d+, .*\); the job goes on with 3 ranks\n")
        self.assertEqual(result.err.count("mpiexec: "), 1, result.err)

    @unittest.skipUnless("BOOT_HOST" in os.environ, "ranks can't be threads with this sanitizer")
    def test_a_thread_that_exits_takes_its_process_with_it(self):
        result = self.ends(*FT, "--ranks", "threads:2", "-n", "5", PROGRAM, "exits", code=0, out="3 go on\n",
                           says=r"mpiexec: rank 1 .* exited with code 3 without calling MPI_Finalize, which ends the process of ranks 0 to 1 \(.*\); the job goes on with 3 ranks\n")
        self.assertEqual(result.err.count("mpiexec: "), 1, result.err)

    def test_the_variable(self):
        self.ends("-n", "3", PROGRAM, "dies", code=0, out="2 go on\n", env={"HEDDLE_FAULT_TOLERANCE": "ulfm"})
        self.ends("-enable-auto-cleanup", "-n", "3", PROGRAM, "dies", code=137, env={"HEDDLE_FAULT_TOLERANCE": "ulfm"},
                  says="ending the other 2 ranks")

    def test_one_exits(self):
        self.ends(*FT, "-n", "3", PROGRAM, "exits", code=0, out="2 go on\n",
                  says="rank 1 .* exited with code 3 without calling MPI_Finalize; the job goes on with 2 ranks")

    def test_one_never_initializes(self):
        self.ends(*FT, "-n", "3", PROGRAM, "stays-out", code=0, out="2 go on\n",
                  says="rank 1 .* exited without calling MPI_Init, but rank . has called it; the job goes on with 2 ranks")

    def test_without_survivors(self):
        self.ends(*FT, "-n", "3", PROGRAM, "all-die", code=137)

    def test_abort_ends_the_job(self):
        self.ends(*FT, "-n", "3", PROGRAM, "aborts", code=5, says="rank 1 .* aborted with code 5 .*; ending the other 2 ranks")

    def test_errors_that_are_fatal_end_the_job(self):
        self.ends(*FT, "-n", "3", PROGRAM, "fatal", code=16001 & 0xFF, says="MPIX_ERR_PROC_FAILED: A process of the operation has failed")

    def test_what_a_dead_script_has_started_dies_with_it(self):
        self.ends(*FT, "-n", "3", "sh", "-c", f"{PROGRAM} orphan; exit 0", code=0, out="2 go on\n",
                  says="rank 1 .* was killed by signal 9")

    def test_what_is_not_supported(self):
        self.ends(*FT, "-n", "2", PROGRAM, "unsupported", code=0)

    def test_not_requested(self):
        self.ends("-n", "2", PROGRAM, "not-asked", code=0)
        self.ends("-n", "2", PROGRAM, "dies", code=137, says="ending the other rank")

    def test_what_is_refused(self):
        self.ends("--with-ft", "later", "-n", "2", PROGRAM, code=2, says="--with-ft takes ulfm or no, not 'later'")
        self.ends("-n", "2", "-genv", "HEDDLE_FAULT_TOLERANCE", "ulfm", PROGRAM, code=2, says="use -with-ft ulfm")


launcher.main()

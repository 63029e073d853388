"""A rank that crashes says which thread of which rank it was, in which call, with a backtrace, and how to get a core."""

import os
import pathlib
import re
import resource
import subprocess
import sys
import unittest

import launcher
from launcher import LauncherTest

CRASH = os.environ["BOOT_CRASH_PROGRAM"]
LIBRARY = os.environ["BOOT_LIBRARY"]
NAME = os.path.basename(CRASH)


class Crash(LauncherTest):
    def crash(self, how: str, code: int, *options: str, ranks: int = 2, limits=None, **env: str) -> str:
        result = self.run_job(*options, "-n", str(ranks), CRASH, how, env=env, preexec_fn=limits)
        self.assertEqual(result.code, code, result.err)
        return result.err

    def tells(self, said: str, *lines: str):
        for line in lines:
            self.assertRegex(said, f"(?m)^{line}$")

    def test_outside(self):
        self.tells(self.crash("outside", 139),
                   r"heddle: rank 1 of 2 crashed, process \d+, thread \d+: signal 11 \(SIGSEGV\) at address 0x10",
                   r"  outside MPI",
                   rf"  #0 .*/{NAME}\+0x[0-9a-f]+",
                   rf"  #\d+ .*libc.*\+0x[0-9a-f]+ \(__libc_start_main\+0x[0-9a-f]+\)",
                   r"mpiexec: rank 1 .*was killed by signal 11 \(SIGSEGV, Segmentation fault\) outside MPI.*")

    def test_inside(self):
        said = self.crash("inside", 139)
        self.tells(said, r"heddle: rank 1 of 2 crashed, .* signal 11 \(SIGSEGV\) at address 0x10", r"  inside MPI, in MPI_Send",
                   r"  #\d+ .*libmpi_abi\.so.*\(P?MPI_Send\+0x[0-9a-f]+\)", rf"  #\d+ .*/{NAME}\+0x[0-9a-f]+")
        self.assertNotIn("sigaction", said)

    def test_offsets_lead_to_the_source(self):
        said = self.crash("outside", 139)
        offsets = re.findall(rf"(?m)^  #\d+ .*/{NAME}\+(0x[0-9a-f]+)", said)
        answer = subprocess.run(["addr2line", "-fe", CRASH, *offsets], capture_output=True, text=True).stdout
        self.assertIn("main", answer, f"{said}{answer}")

    def test_thread(self):
        said = self.crash("thread", 139)
        self.tells(said, r"heddle: rank 1 of 2 crashed, process (\d+), thread (?!\1)\d+: signal 11 \(SIGSEGV\) at address 0x10")

    def test_other_signals(self):
        self.tells(self.crash("abort", 134), r"heddle: rank 1 of 2 crashed, .*: signal 6 \(SIGABRT\)", r"  #\d+ .*\((gsignal|raise|abort)\+.*")
        self.tells(self.crash("divide", 136), r"heddle: rank 1 of 2 crashed, .*: signal 8 \(SIGFPE\)", rf"  #0 .*/{NAME}\+.*")
        self.tells(self.crash("raise", 132), r"heddle: rank 1 of 2 crashed, .*: signal 4 \(SIGILL\)")

    def test_a_full_stack(self):
        self.tells(self.crash("deep", 139), r"heddle: rank 1 of 2 crashed, .*: signal 11 \(SIGSEGV\) at address .*", rf"  #0 .*/{NAME}\+.*",
                   r"  names and lines: addr2line -Cfe FILE OFFSET")

    def test_broken_stacks(self):
        for how in ("smash", "null call"):
            said = self.crash(how, 139)
            self.tells(said, r"heddle: rank 1 of 2 crashed, .*: signal 11 \(SIGSEGV\).*", r"  names and lines: .*")
            self.assertEqual(said.count("heddle: rank"), 1, said)

    def test_core(self):
        def no_core():
            resource.setrlimit(resource.RLIMIT_CORE, (0, resource.getrlimit(resource.RLIMIT_CORE)[1]))

        pattern = pathlib.Path("/proc/sys/kernel/core_pattern").read_text().strip()
        said = self.crash("outside", 139, limits=no_core)
        if not pattern.startswith("|"):
            self.assertIn(f"no core file is written: `ulimit -c unlimited` before mpiexec permits it; its name is {pattern}\n", said)
        else:
            self.assertIn(f"the core goes by /proc/sys/kernel/core_pattern to: {pattern}\n", said)

    def test_own_handler(self):
        said = self.crash("own handler", 3)
        self.assertIn("the program's own handler", said)
        self.assertNotIn("heddle:", said)

    def test_a_child_is_no_rank(self):
        self.assertEqual(self.crash("child", 0), "")

    def test_off(self):
        self.assertNotIn("heddle:", self.crash("outside", 139, HEDDLE_BACKTRACE="0"))
        self.assertIn("HEDDLE_BACKTRACE=loud is neither 0 nor 1", self.crash("outside", 13, HEDDLE_BACKTRACE="loud"))

    def test_without_mpiexec(self):
        result = subprocess.run([CRASH, "outside"], env=self.environment(), capture_output=True, text=True, timeout=60)
        self.assertEqual(result.returncode, -11)
        self.tells(result.stderr, r"heddle: rank 0 of 1 crashed, .*")

    @unittest.skipUnless("BOOT_HOST" in os.environ, "ranks can't be threads with this sanitizer")
    def test_ranks_as_threads(self):
        said = self.crash("inside", 139, "--ranks", "threads", ranks=3)
        self.tells(said, r"heddle: rank 2 of 3 crashed, process \d+, thread \d+: signal 11 \(SIGSEGV\) at address 0x10",
                   r"  the process has the ranks 0 to 2, which all end", r"  inside MPI, in MPI_Send")
        self.assertEqual(said.count("crashed"), 1, said)

    def test_python_keeps_its_own(self):
        program = ("import ctypes, os, faulthandler; faulthandler.enable(); mpi = ctypes.CDLL(os.environ['BOOT_LIBRARY']);"
                   "mpi.MPI_Init(None, None); ctypes.string_at(16)")
        result = subprocess.run([sys.executable, "-c", program], env=self.environment(), capture_output=True, text=True, timeout=60)
        self.assertEqual(result.returncode, -11)
        self.assertIn("Fatal Python error: Segmentation fault", result.stderr)
        self.assertNotIn("heddle:", result.stderr)


if __name__ == "__main__":
    launcher.main()

"""Runs mpiexec for the tests and looks at what it leaves behind."""

import os
import pathlib
import re
import signal
import subprocess
import tempfile
import time
import unittest
import uuid
from collections.abc import Callable

MPIEXEC = os.environ["MPIEXEC"]
RANK = os.environ["BOOT_RANK"]  # rank.cpp: a program that does what its arguments say
MPI_PROGRAM = os.environ["BOOT_MPI_PROGRAM"]  # endings.c: a real MPI program that ends in the way its argument says
END_LIMIT = 2.0  # seconds in which a failed job must be gone
TRIES = 5  # for what a machine that others keep busy may spoil
MARK = "HEDDLE_TEST_MARK"


class Result:
    def __init__(self, code: int, out: str, err: str, seconds: float):
        self.code, self.out, self.err, self.seconds = code, out, err, seconds

    @property
    def lines(self) -> list[str]:
        return sorted(self.out.splitlines())


def state(pid: int) -> str:
    """As ps shows it: R running, S blocked, T stopped."""
    return pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0]


def processes_with(mark: str) -> list[str]:
    """Command lines of the processes that still run and inherited this mark."""
    found = []
    for folder in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            if mark.encode() in (folder / "environ").read_bytes():
                found.append((folder / "cmdline").read_bytes().replace(b"\0", b" ").decode())
        except OSError:
            pass  # ended meanwhile
    return found


class LauncherTest(unittest.TestCase):
    def setUp(self):
        self.mark = uuid.uuid4().hex
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.directory = pathlib.Path(self.folder.name)
        self.temporary = self.directory / "tmp"
        self.temporary.mkdir()
        self.shared_before = self.shared_memory()

    @staticmethod
    def shared_memory() -> set[str]:
        return {name for name in os.listdir("/dev/shm") if "heddle" in name}

    def environment(self, **changes: str) -> dict[str, str]:
        # Deadly signals, and exits that free nothing, are what the tests are about: no matter for a sanitizer.
        quiet = "handle_segv=0:handle_abort=0:allow_user_segv_handler=1:detect_leaks=0"
        sanitizers = {name: f"{os.environ.get(name, '')}:{quiet}" for name in ("ASAN_OPTIONS", "TSAN_OPTIONS")}
        return os.environ | sanitizers | {MARK: self.mark, "TMPDIR": str(self.temporary)} | changes

    def start(self, *arguments: str, env: dict[str, str] | None = None, **options) -> subprocess.Popen:
        options = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True} | options
        if options["text"]:
            options["errors"] = "backslashreplace"
        return subprocess.Popen([MPIEXEC, *arguments], env=self.environment(**(env or {})), **options)

    def finish(self, process: subprocess.Popen, since: float, given: str | None = None) -> Result:
        try:
            out, err = process.communicate(given, timeout=200)
        except subprocess.TimeoutExpired:
            process.kill()
            self.fail(f"mpiexec hangs; it said: {process.communicate()}")
        return Result(process.returncode, out, err, time.monotonic() - since)

    def run_job(self, *arguments: str, env: dict[str, str] | None = None, given: str | None = None, **options) -> Result:
        since = time.monotonic()
        if given is not None:
            options["stdin"] = subprocess.PIPE
        result = self.finish(self.start(*arguments, env=env, **options), since, given)
        self.assert_nothing_left()
        return result

    def in_time(self, attempt: Callable[[], Result], limit: float = END_LIMIT) -> Result:
        """The result of `attempt`, which ends within the limit: not always on a busy machine, but sometimes."""
        taken = []
        for _ in range(TRIES):
            result = attempt()
            if result.seconds < limit:
                return result
            taken.append(round(result.seconds, 2))
        self.fail(f"never ended within {limit} s, but took {taken}; mpiexec said: {result.err}")

    def times_out(self, *arguments: str, expected: tuple[str, ...], seconds: int = 3) -> Result:
        """The result of a job that a timeout ends and of which mpiexec says what is expected: after more seconds if the ranks have not come so far
        by then, as on a busy machine."""
        while True:
            result = self.run_job("--timeout", str(seconds), *arguments)
            self.assertEqual(result.code, 124, result.err)
            if all(re.search(line, result.err) for line in expected):
                return result
            self.assertLess(seconds, 60, f"expected {expected}, but mpiexec said: {result.err}")
            seconds *= 3

    def assert_nothing_left(self):
        self.assertEqual(processes_with(self.mark), [])
        self.assertEqual(self.shared_memory() - self.shared_before, set())
        left = list(self.temporary.iterdir())
        if "TSAN_OPTIONS" in os.environ:
            # Its runtime makes a file when a process starts, and a kill may come before it takes it away.
            left = [path for path in left if not path.name.startswith("tsan.rodata.")]
        self.assertEqual(left, [])

    def wait_for(self, condition, what: str):
        deadline = time.monotonic() + 100
        while not condition():
            self.assertLess(time.monotonic(), deadline, f"waited in vain for {what}")
            time.sleep(0.01)

    def ranks(self, count: int, program: str = "mpiexec_rank") -> list[int]:
        """The pids of the ranks of this test's job, by rank, once all of them run their program."""
        pids: dict[int, int] = {}

        def all_there() -> bool:
            pids.clear()
            for folder in pathlib.Path("/proc").glob("[0-9]*"):
                try:
                    variables = (folder / "environ").read_bytes().split(b"\0")
                    name = os.path.basename(os.readlink(folder / "exe"))
                except OSError:
                    continue
                rank = [v for v in variables if v.startswith(b"HEDDLE_RANK=")]
                if rank and name == program and f"{MARK}={self.mark}".encode() in variables:
                    pids[int(rank[0].split(b"=")[1])] = int(folder.name)
            return len(pids) == count

        self.wait_for(all_there, f"{count} ranks")
        return [pids[rank] for rank in range(count)]


def kill(pid: int, number: int = signal.SIGKILL):
    os.kill(pid, number)


def main():
    unittest.main(verbosity=2)

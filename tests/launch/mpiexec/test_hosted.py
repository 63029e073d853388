"""The same ends with ranks that are threads: as true, as prompt, and no process remains."""

import os
import pathlib
import subprocess
import time

import launcher
import test_ends
from launcher import MARK, MPI_PROGRAM, RANK, kill

HOST = "heddle-host"


class Hosted:
    """Puts the option before whatever is one of our programs."""

    kind = "threads"

    def start(self, *arguments: str, **options) -> subprocess.Popen:
        ours = {RANK, MPI_PROGRAM}.intersection(arguments)
        return super().start(*(("--ranks", self.kind) if ours else ()), *arguments, **options)

    def hosts(self, count: int) -> list[int]:
        """The pids of this test's hosts, once all of them run."""
        found: list[int] = []

        def all_there() -> bool:
            found.clear()
            for folder in pathlib.Path("/proc").glob("[0-9]*"):
                try:
                    if os.path.basename(os.readlink(folder / "exe")) != HOST:
                        continue
                    if f"{MARK}={self.mark}".encode() in (folder / "environ").read_bytes():
                        found.append(int(folder.name))
                except OSError:
                    pass  # ended meanwhile
            return len(found) == count

        self.wait_for(all_there, f"{count} hosts")
        return sorted(found)


class Ends(Hosted, test_ends.Ends):
    # Shells and programs that are no ELF files of ours: they run as processes.
    test_programs_without_mpi = None
    test_abort_under_a_wrapper = None
    test_death_under_a_wrapper = None
    test_rank_joins_twice = None
    # A rank that stops itself stops its process, and with it the one that is to kill the job.
    test_stopped_ranks = None

    def test_killed_from_outside(self):
        since = time.monotonic()
        process = self.start("-n", "4", RANK, "say", "ready", "join", *test_ends.WAIT)
        (victim,) = self.hosts(1)
        kill(victim)
        result = self.finish(process, since)
        self.assertEqual(result.code, 137)
        self.assertIn(f"the process of ranks 0 to 3 (pid {victim}, {RANK}) was killed by signal 9", result.err)
        self.assert_nothing_left()

    def test_mpiexec_is_killed(self):
        process = self.start("-n", "3", RANK, "join", *test_ends.WAIT)
        self.hosts(1)
        process.kill()
        process.communicate()
        self.wait_for(lambda: not launcher.processes_with(self.mark), "the host to end with mpiexec")


class EndsOfSeveralHosts(Ends):
    kind = "threads:2"

    def test_killed_from_outside(self):
        since = time.monotonic()
        process = self.start("-n", "4", RANK, "join", *test_ends.WAIT)
        victim = self.hosts(2)[1]
        kill(victim)
        result = self.finish(process, since)
        self.assertEqual(result.code, 137)
        self.assertIn(f"the process of ranks 2 to 3 (pid {victim}, {RANK}) was killed by signal 9", result.err)
        self.assert_nothing_left()

    def test_mpiexec_is_killed(self):
        process = self.start("-n", "3", RANK, "join", *test_ends.WAIT)
        self.hosts(2)
        process.kill()
        process.communicate()
        self.wait_for(lambda: not launcher.processes_with(self.mark), "the hosts to end with mpiexec")


for name in dir(Ends):  # what may differ if others have another process
    if name.startswith("test_") and name.split("_", 1)[1] not in (
        "abort", "all_is_well", "exit_with_a_code", "killed_from_outside", "mpiexec_is_killed", "segmentation_fault",
    ):
        setattr(EndsOfSeveralHosts, name, None)


class Signals(Hosted, test_ends.Signals):
    test_user_signals_are_forwarded = None  # of shells; tests/launch/host/signals.c has it for ranks
    test_nohup = None

    def ranks(self, count: int, program: str = "mpiexec_rank") -> list[int]:
        return self.hosts(1) * count


class RealPrograms(Hosted, test_ends.RealPrograms):
    def test_killed_in_receive(self):
        since = time.monotonic()
        process = self.start("-n", "3", MPI_PROGRAM, "wait")
        for _ in range(3):
            process.stdout.readline()
        (victim,) = self.hosts(1)
        kill(victim)
        result = self.finish(process, since)
        self.assertEqual(result.code, 137)
        self.assertIn(f"the process of ranks 0 to 2 (pid {victim}, {MPI_PROGRAM}) was killed by signal 9", result.err)
        self.assert_nothing_left()


    def test_exit_by_a_system_call(self):
        result = self.run_job("-n", "3", MPI_PROGRAM, "exit_group")
        self.assertEqual(result.code, 1)
        self.assertRegex(result.err, r"the process of ranks 0 to 2 .* exited with code 0 by the system call exit_group.*"
                                     r"outside MPI: rank (0, )?1(, 2)?\); use --ranks processes")
        self.assert_nothing_left()


class Wrapped(launcher.LauncherTest):
    """A wrapper that executes the program would take the place of all ranks of its process."""

    def test_wrappers(self):
        for wrapper in (["env", "A=1"], ["nice"], ["sh", "-c", 'exec "$0" "$@"']):
            with self.subTest(wrapper[0]):
                result = self.run_job("--timeout", "30", "--ranks", "threads", "-n", "2", *wrapper, RANK, "join", "who", "leave")
                self.assertEqual((result.code, result.out), (126, ""), result.err)
                self.assertIn(f"cannot become '{RANK}' (exec)", result.err)
                self.assertIn("use --ranks processes", result.err)

    def test_every_function(self):
        program = self.directory / "program"
        calls = ["execv(p, v)", "execvp(p, v)", "execve(p, v, v)", "execvpe(p, v, v)", "execl(p, p, NULL)", "execlp(p, p, NULL)",
                 "execle(p, p, NULL, v)", "fexecve(0, v, v)", "execveat(AT_FDCWD, p, v, v, 0)"]
        source = ("#define _GNU_SOURCE\n#include <errno.h>\n#include <fcntl.h>\n#include <stdio.h>\n#include <unistd.h>\n"
                  'int main(void) { char p[] = "/bin/false", *v[] = {p, NULL}; int refused = 0;'
                  + "".join(f"refused += {call} == -1 && errno == ENOTSUP;" for call in calls) + 'printf("%d\\n", refused); return 0; }')
        subprocess.run(["cc", "-x", "c", "-", "-o", program], input=source, text=True, check=True)
        result = self.run_job("--timeout", "30", "--ranks", "threads", "-n", "2", str(program))
        self.assertEqual((result.code, result.lines), (0, [str(len(calls))] * 2), result.err)


class Refused(launcher.LauncherTest):
    """A program that can't run as threads is refused before anything starts."""

    def refused(self, program: str, *says: str):
        result = self.run_job("--ranks", "threads", "-n", "2", program)
        self.assertNotEqual(result.code, 0)
        self.assertEqual(result.out, "")
        for sentence in says:
            self.assertIn(sentence, result.err)

    def compiled(self, *options: str, source: str = "int main(void) { return 0; }") -> str:
        program = self.directory / "program"
        subprocess.run(["cc", "-x", "c", "-", "-o", program, *options], input=source, text=True, check=True)
        return str(program)

    def test_script(self):
        script = self.directory / "script"
        script.write_text("#!/bin/sh\necho ran\n")
        script.chmod(0o755)
        self.refused(str(script), f"can't run {script}: it is a script", "use --ranks processes")

    def test_static(self):
        self.refused(self.compiled("-static"), "it is statically linked", "use --ranks processes")

    def test_static_and_position_independent(self):
        self.refused(self.compiled("-static-pie"), "it is statically linked")

    def test_fixed_address(self):
        self.refused(self.compiled("-no-pie", "-fno-pie"), "linked to one address", "-fPIE")

    def test_data_of_a_shared_library(self):
        source = "#include <time.h>\n#include <stdio.h>\nint main(void) { tzset(); return printf(\"%s\\n\", tzname[0]) < 0; }"
        self.refused(self.compiled("-fPIE", source=source), "has a copy of the variable", "tzname", "-fPIC")

    def test_unknown_private_library(self):
        result = self.run_job("--ranks", "threads", "--private", "libnone.so", "-n", "2", MPI_PROGRAM, "well")
        self.assertEqual(result.code, 126, result.err)
        self.assertIn("--private libnone.so", result.err)
        self.assertIn("is not linked with such a library", result.err)

    def test_private_libc(self):
        result = self.run_job("--ranks", "threads", "--private", "libc.so.6", "-n", "2", MPI_PROGRAM, "well")
        self.assertEqual(result.code, 126, result.err)
        self.assertIn("shared by all ranks", result.err)

    def test_unknown_kind(self):
        result = self.run_job("--ranks", "fibers", "-n", "2", MPI_PROGRAM, "well")
        self.assertNotEqual(result.code, 0)
        self.assertIn("--ranks takes processes, threads or threads:N, not 'fibers'", result.err)


if __name__ == "__main__":
    launcher.main()

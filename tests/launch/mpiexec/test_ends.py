"""Every way in which a job can end: in time, with a true message, the right exit code, and without remaining processes."""

import os
import signal
import subprocess
import time

import launcher
from launcher import END_LIMIT, MPI_PROGRAM, RANK, LauncherTest, Result, kill, state

WAIT = ["sleep", "60"]


class Ends(LauncherTest):
    def fails(self, *arguments: str, code: int, says: str, limit: float = END_LIMIT, **options):
        result = self.in_time(lambda: self.run_job(*arguments, **options), limit)
        self.assertEqual(result.code, code, result.err)
        self.assertIn(says, result.err)
        self.assertEqual(result.err.count("mpiexec: "), 1, result.err)
        return result

    def rank_2_of_4(self, *steps: str, code: int, says: str):
        return self.fails("-n", "4", RANK, "join", "only", "2", *steps, "all", *WAIT, code=code, says=says)

    def test_all_is_well(self):
        result = self.run_job("-n", "3", RANK, "join", "who", "leave")
        self.assertEqual((result.code, result.err), (0, ""))
        self.assertEqual(result.lines, ["rank 0 of 3", "rank 1 of 3", "rank 2 of 3"])

    def test_programs_without_mpi(self):
        result = self.run_job("-n", "4", "echo", "hello")
        self.assertEqual((result.code, result.out, result.err), (0, "hello\n" * 4, ""))

    def test_killed(self):
        self.rank_2_of_4("kill", "9", code=137, says="was killed by signal 9 (SIGKILL, Killed); ending the other 3 ranks")

    def test_killed_from_outside(self):
        since = time.monotonic()
        process = self.start("-n", "4", RANK, "join", *WAIT)
        victim = self.ranks(4)[3]
        kill(victim)
        result = self.finish(process, since)
        self.assertEqual(result.code, 137)
        self.assertIn(f"rank 3 (pid {victim}, {RANK}) was killed by signal 9", result.err)
        self.assert_nothing_left()

    def test_segmentation_fault(self):
        self.rank_2_of_4("crash", code=139, says="was killed by signal 11 (SIGSEGV, Segmentation fault)")

    def test_exit_without_finalize(self):
        self.rank_2_of_4("exit", "0", code=1, says="exited with code 0 without calling MPI_Finalize")

    def test_exit_with_a_code(self):
        self.rank_2_of_4("exit", "7", code=7, says="exited with code 7 without calling MPI_Finalize")

    def test_exit_before_init(self):
        self.fails("-n", "2", RANK, "only", "1", "sleep", "0.1", "exit", "9", "all", *WAIT, code=9, says="exited with code 9; ending")

    def test_one_rank_never_initializes(self):
        self.fails("-n", "3", RANK, "only", "1", "exit", "0", "all", "join", *WAIT, code=1,
                   says="exited without calling MPI_Init, but rank")

    def test_others_initialize_late(self):
        self.fails("-n", "2", RANK, "only", "1", "exit", "0", "all", "sleep", "0.3", "join", *WAIT, code=1,
                   says="exited without calling MPI_Init, but rank 0 has called it")

    def test_code_after_finalize_lets_the_others_finish(self):
        result = self.run_job("-n", "2", RANK, "join", "leave", "only", "0", "exit", "4", "all", "sleep", "0.3", "say", "done")
        self.assertEqual(result.code, 4)
        self.assertEqual(result.out, "done\n")

    def test_abort(self):
        result = self.rank_2_of_4("abort", "5", "the matrix is singular", code=5, says="aborted with code 5; ending the other 3 ranks")
        self.assertEqual(result.err.splitlines()[0], "the matrix is singular")

    def test_abort_with_a_code_that_is_no_exit_code(self):
        self.rank_2_of_4("abort", "512", "why", code=1, says="aborted with code 1")

    def test_abort_keeps_what_was_printed(self):
        result = self.rank_2_of_4("say", "last words", "abort", "3", "why", code=3, says="aborted with code 3")
        self.assertIn("last words\n", result.out)

    def test_abort_of_all(self):
        result = self.run_job("-n", "8", RANK, "join", "abort", "6", "all are wrong")
        self.assertEqual(result.code, 6)
        self.assertEqual(result.err.count("all are wrong"), 1)

    def test_abort_under_a_wrapper(self):
        self.fails("-n", "2", "sh", "-c", f"{RANK} join abort 5 why; sleep 60", code=5, says="aborted with code 5")

    def test_abort_before_init(self):
        self.fails("-n", "2", RANK, "abort", "8", "too early", code=8, says="too early")

    def test_death_under_a_wrapper(self):
        self.fails("-n", "2", "sh", "-c", f"{RANK} join only 1 kill 9 all sleep 60; exit $?", code=137, says="without calling MPI_Finalize")

    def test_ranks_that_ignore_sigterm(self):
        self.fails("-n", "4", RANK, "ignore", "15", "join", "only", "1", "sleep", "0.1", "kill", "9", "all", *WAIT,
                   code=137, says="killed by signal 9")

    def test_stopped_ranks(self):
        self.fails("-n", "3", RANK, "only", "0", "sleep", "0.2", "kill", "9", "all", "kill", str(int(signal.SIGSTOP)),
                   code=137, says="killed by signal 9")

    def test_grandchildren_die_too(self):
        self.fails("-n", "2", RANK, "daemon", "join", "only", "1", "sleep", "0.1", "crash", "all", *WAIT, code=139, says="signal 11")

    def test_grandchildren_do_not_outlive_a_good_end(self):
        result = self.in_time(lambda: self.run_job("-n", "2", RANK, "daemon", "join", "leave"))
        self.assertEqual((result.code, result.err), (0, ""))

    def test_several_threads(self):
        self.rank_2_of_4("call", "1", "threads", "2", "kill", "9", code=137, says="(threads: 2 in MPI_")

    def test_one_thread_outside(self):
        self.rank_2_of_4("call", "0", "kill", "9", code=137, says="Killed) outside MPI; ending")

    def test_timeout(self):
        result = self.in_time(lambda: self.times_out("-n", "2", RANK, "join", "call", "1", *WAIT, expected=("ranks 0-1, 2 threads: MPI_",)), 3 + END_LIMIT)
        self.assertIn("has not ended in time (--timeout); ending 2 ranks", result.err)

    def test_timeout_says_who_is_where(self):
        self.times_out("-n", "2", RANK, "join", "only", "0", "call", "1", "all", "only", "1", "call", "0", "threads", "1", "calling", "2", "all", *WAIT,
                       expected=(r"\n  ranks 0-1, 3 threads: MPI_\w+\n", r"\n  rank 1, thread \d+: MPI_\w+ again and again\n",
                                 r"\n  rank 1: 1 thread outside MPI\n"))

    def test_timeout_of_the_environment(self):
        self.fails("-n", "2", RANK, *WAIT, code=124, says="has not ended in time", env={"MPIEXEC_TIMEOUT": "1"})

    def test_rank_joins_twice(self):
        self.fails("-n", "1", "sh", "-c", f"{RANK} join leave; {RANK} join", code=3, says="was already taken by process")

    def test_mpiexec_is_killed(self):
        process = self.start("-n", "3", RANK, "join", *WAIT)
        self.ranks(3)
        process.kill()
        process.communicate()
        self.wait_for(lambda: not launcher.processes_with(self.mark), "the ranks to end with mpiexec")


class Signals(LauncherTest):
    def signalled(self, number: int, *steps: str, again: bool = False, limit: float = END_LIMIT) -> Result:
        def attempt() -> Result:
            process = self.start("-n", "3", RANK, *steps, "run", "echo ready", *WAIT)
            for _ in range(3):
                process.stdout.readline()
            since = time.monotonic()
            process.send_signal(number)
            if again:
                self.assertIn("once more", process.stderr.readline())  # it has heard the first
                process.send_signal(number)
            result = self.finish(process, since)
            self.assert_nothing_left()
            return result

        return self.in_time(attempt, limit)

    def test_ctrl_c(self):
        result = self.signalled(signal.SIGINT, "join")
        self.assertEqual(result.code, 130)
        self.assertIn("got SIGINT (Ctrl-C), ending 3 ranks", result.err)

    def test_ctrl_c_ignored(self):
        self.assertEqual(self.signalled(signal.SIGINT, "ignore", "2", "ignore", "15", "join").code, 130)

    def test_second_ctrl_c_kills(self):
        # Without the second they would have a second to end by themselves.
        self.signalled(signal.SIGINT, "ignore", "2", "ignore", "15", "join", again=True, limit=0.9)

    def test_sigterm_and_sighup(self):
        self.assertEqual(self.signalled(signal.SIGTERM, "join").code, 143)
        self.assertEqual(self.signalled(signal.SIGHUP, "join").code, 129)

    def test_user_signals_are_forwarded(self):
        process = self.start("-l", "-n", "2", "sh", "-c", "trap 'echo got it; exit 0' USR1; echo ready; while :; do sleep 0.05; done")
        ready = [process.stdout.readline() for _ in range(2)]
        self.assertEqual(sorted(ready), ["[0] ready\n", "[1] ready\n"])
        process.send_signal(signal.SIGUSR1)
        result = self.finish(process, time.monotonic())
        self.assertEqual(result.lines, ["[0] got it", "[1] got it"])
        self.assertEqual(result.code, 0)

    def test_stop_and_continue(self):
        process = self.start("-n", "2", RANK, "join", *WAIT)
        pids = self.ranks(2)
        process.send_signal(signal.SIGTSTP)
        self.wait_for(lambda: [state(p) for p in (*pids, process.pid)] == ["T"] * 3, "all to stop")
        process.send_signal(signal.SIGCONT)
        self.wait_for(lambda: "T" not in [state(p) for p in (*pids, process.pid)], "all to go on")
        process.send_signal(signal.SIGTERM)
        self.assertEqual(self.finish(process, time.monotonic()).code, 143)

    def test_nohup(self):
        process = self.start("-n", "1", "cat", stdin=subprocess.PIPE,
                             preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN))
        process.stdin.write("running\n")
        process.stdin.flush()
        self.assertEqual(process.stdout.readline(), "running\n")
        process.send_signal(signal.SIGHUP)
        self.assertEqual(self.finish(process, time.monotonic(), "").code, 0)


class RealPrograms(LauncherTest):
    """The same with the library itself: the message names the MPI call."""

    def ends(self, how: str, code: int, *says: str, size: str = "3"):
        result = self.in_time(lambda: self.run_job("-n", size, MPI_PROGRAM, how))
        self.assertEqual(result.code, code, result.err)
        for sentence in says:
            self.assertIn(sentence, result.err)

    def test_well(self):
        self.ends("well", 0)

    def test_killed_in_receive(self):
        since = time.monotonic()
        process = self.start("-n", "3", MPI_PROGRAM, "wait")
        pids = self.ranks(3, os.path.basename(MPI_PROGRAM))
        for _ in range(3):
            process.stdout.readline()
        self.wait_for(lambda: state(pids[2]) == "S", "rank 2 to sleep in MPI_Recv")
        kill(pids[2])
        result = self.finish(process, since)
        self.assertEqual(result.code, 137)
        self.assertIn("rank 2", result.err)
        self.assertIn("(SIGKILL, Killed) in MPI_Recv; ending the other 2 ranks", result.err)
        self.assert_nothing_left()

    def test_segfault(self):
        self.ends("segfault", 139, "rank 1 ", "signal 11 (SIGSEGV, Segmentation fault) outside MPI; ending the other 2 ranks")

    def test_segfault_in_the_library(self):
        self.ends("bad buffer", 139, "(SIGSEGV, Segmentation fault) in MPI_Send; ending")

    def test_exit(self):
        self.ends("exit", 1, "exited with code 0 without calling MPI_Finalize")
        self.ends("exit 7", 7, "exited with code 7 without calling MPI_Finalize")

    def test_abort(self):
        self.ends("abort", 5, "rank 1 called MPI_Abort", "aborted with code 5 in MPI_Abort; ending the other 2 ranks")

    def test_fatal_error(self):
        self.ends("bad rank", 6, "MPI_Send", "77", "in MPI_Send; ending the other 2 ranks")


if __name__ == "__main__":
    launcher.main()

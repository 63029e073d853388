"""Where the threads of a job are: SIGQUIT tells it and goes on, Ctrl-C and -timeout tell it and end the job."""

import os
import re
import select
import signal
import time
import unittest

import launcher
from launcher import LauncherTest

HANG = os.environ["BOOT_HANG_PROGRAM"]
MODELS = ("auto", "mtx", "p-clh-usc", "mtx-ksc", "csync", "offload", "fine")


class Standstill(LauncherTest):
    def begin(self, how: str, ranks: int, *options: str, arguments=(), **env: str):
        process = self.start(*options, "-n", str(ranks), HANG, how, *arguments, env=env)
        os.set_blocking(process.stderr.fileno(), False)
        for _ in range(ranks):
            self.assertEqual(process.stdout.readline(), "ready\n")
        return process

    def heard(self, process, until: str) -> str:
        """The output of mpiexec from now on, up to a line that matches or a pause."""
        text = ""
        while select.select([process.stderr], [], [], 0.5)[0]:
            more = os.read(process.stderr.fileno(), 1 << 16).decode()
            if not more:
                break
            text += more
            if re.search(until, text):
                break
        return text

    def tells(self, process, *expected: str) -> str:
        """SIGQUIT until everything that is expected is told: the ranks need their time to come to a standstill."""
        text = ""

        def told() -> bool:
            nonlocal text
            process.send_signal(signal.SIGQUIT)
            text = self.heard(process, "^$")
            return all(re.search(f"(?m)^  {line}$", text) for line in expected)

        try:
            self.wait_for(told, expected)
        except AssertionError:
            process.kill()
            self.fail(f"expected {expected}, but mpiexec said: {text}")
        self.assertIsNone(process.poll(), "SIGQUIT ends nothing")
        self.assertRegex(text, r"(?m)^mpiexec: got SIGQUIT, and goes on; \d+ ranks?:\n")
        return text

    def end(self, process) -> str:
        process.send_signal(signal.SIGINT)
        os.set_blocking(process.stderr.fileno(), True)
        result = self.finish(process, time.monotonic())
        self.assertEqual(result.code, 130, result.err)
        self.assert_nothing_left()
        return result.err

    def hangs(self, how: str, ranks: int, *expected: str, options=(), **env: str) -> str:
        process = self.begin(how, ranks, *options, **env)
        self.tells(process, *expected)
        return self.end(process)

    def test_threads_of_ranks(self):
        """Those that wait for the same share a line; Ctrl-C tells it too; those outside MPI are counted."""
        lines = (r"ranks 0-1, 6 threads: MPI_Recv from 0, tag 7, MPI_COMM_WORLD, \d+(-\d+)? s",
                 r"ranks 0-1, 2 threads: MPI_Recv from 0, tag 8, MPI_COMM_WORLD, \d+(-\d+)? s",
                 r"ranks 0-1: 4 threads outside MPI")
        said = self.hangs("threads", 2, *lines)
        self.assertIn("got SIGINT (Ctrl-C), ending 2 ranks; once more kills them at once", said)
        for line in lines:
            self.assertRegex(said, f"(?m)^  {line}$")

    def test_how_long(self):
        process = self.begin("threads", 1)
        since = time.monotonic()
        text = self.tells(process, r"rank 0, thread \d+: MPI_Recv from 0, tag 8, MPI_COMM_WORLD, [2-9] s")
        self.assertGreaterEqual(time.monotonic() - since, 1)
        self.end(process)

    def test_models(self):
        for model in MODELS:
            with self.subTest(model=model):
                self.hangs("threads", 2, r"ranks 0-1, 6 threads: MPI_Recv from 0, tag 7, MPI_COMM_WORLD, .*", HEDDLE_MODEL=model)

    def test_policies_of_waiting(self):
        for wait, model in (("busy", "auto"), ("passive", "auto"), ("spin:50", "csync"), ("passive", "mtx")):
            with self.subTest(wait=wait, model=model):
                line = r"ranks 0-1, 6 threads: MPI_Recv from 0, tag 7, MPI_COMM_WORLD, .*"
                self.hangs("threads", 2, line, HEDDLE_WAIT=wait, HEDDLE_MODEL=model)
                self.hangs("barrier", 3, r"ranks 0-1, 2 threads: MPI_Barrier, MPI_COMM_WORLD, .*; not come: 2",
                           HEDDLE_WAIT=wait, HEDDLE_MODEL=model)

    @unittest.skipUnless("BOOT_HOST" in os.environ, "ranks can't be threads with this sanitizer")
    def test_ranks_as_threads(self):
        self.hangs("threads", 3, r"ranks 0-2, 9 threads: MPI_Recv from 0, tag 7, MPI_COMM_WORLD, .*",
                   r"ranks 0-2: 6 threads outside MPI", options=("--ranks", "threads"))
        self.hangs("barrier", 3, r"ranks 0-1, 2 threads: MPI_Barrier, MPI_COMM_WORLD, .*; not come: 2", options=("--ranks", "threads"))

    def test_several_requests(self):
        self.hangs("waitall", 1, r"rank 0, thread \d+: MPI_Waitall for 3 requests, the first from 0, tag 10, halo, \d+ s")
        self.hangs("waitany", 1, r"rank 0, thread \d+: MPI_Waitany for one of 2 requests, the first from 0, tag 10, halo, \d+ s")

    def test_wildcards_and_unnamed_communicators(self):
        self.hangs("unnamed", 2, r"ranks 0-1, 2 threads: MPI_Recv from MPI_ANY_SOURCE, MPI_ANY_TAG, "
                                 r"an unnamed communicator \(\d+:\d+\), \d+(-\d+)? s")

    def test_probe_and_send(self):
        self.hangs("probe", 2, r"ranks 0-1, 2 threads: MPI_Probe from 1, MPI_ANY_TAG, MPI_COMM_WORLD, \d+(-\d+)? s")
        self.hangs("send", 2, r"rank 0, thread \d+: MPI_Ssend to 1, tag 3, MPI_COMM_WORLD, \d+ s",
                   r"rank 1, thread \d+: MPI_Ssend to 0, tag 3, MPI_COMM_WORLD, \d+ s")

    def test_collectives_tell_who_has_not_come(self):
        self.hangs("barrier", 4, r"ranks 0-2, 3 threads: MPI_Barrier, MPI_COMM_WORLD, \d+(-\d+)? s; not come: 3", r"rank 3: 1 thread outside MPI, process \d+, blocked")
        self.hangs("reduce", 4, r"rank 0, thread \d+: MPI_Reduce, MPI_COMM_WORLD, \d+ s; not come: 3", *(rf"rank {rank}: 1 thread outside MPI, process \d+, blocked" for rank in (1, 2, 3)))
        self.hangs("bcast", 3, r"ranks 0-1, 2 threads: MPI_Bcast from root 2, MPI_COMM_WORLD, \d+(-\d+)? s")
        self.hangs("barrier", 4, r"rank 0, thread \d+: MPI_Barrier, MPI_COMM_WORLD, \d+ s; for a message from 2",
                   r"rank 1, thread \d+: MPI_Barrier, MPI_COMM_WORLD, \d+ s; for rank 0, the leader of its node",
                   r"rank 2, thread \d+: MPI_Barrier, MPI_COMM_WORLD, \d+ s; not come: 3", HEDDLE_NODES="2")
        self.hangs("gather", 2, r"rank 0, thread \d+: MPI_Gather, MPI_COMM_WORLD, \d+ s; not come: 1")
        self.hangs("gather", 2, r"rank 0, thread \d+: MPI_Gather, MPI_COMM_WORLD, \d+ s; for a message from 1", HEDDLE_NODES="2")
        self.hangs("scatter", 3, r"ranks 0-1, 2 threads: MPI_Scatter from root 2, MPI_COMM_WORLD, \d+(-\d+)? s")
        self.hangs("ibarrier", 2, r"rank 0, thread \d+: MPI_Wait for a nonblocking collective, MPI_COMM_WORLD, \d+ s")

    # ---- who is named as missing

    def skips(self, ranks: int, operations: tuple[str, ...], *options: str):
        """Each operation and each rank that leaves it out: that one is named, and none that is in it."""
        process = self.begin("skips", ranks, *options, arguments=operations)
        skipped = [f"{operation}-{rank}" for operation in operations for rank in range(ranks)]
        # All others wait; of a reduction at least its root does, or who waits for the root.
        text = self.tells_of(process, {name: 1 if name.startswith("reduce") else ranks - 1 for name in skipped})
        self.end(process)
        for name in skipped:
            skipper = name.split("-")[1]
            lines = [line for line in text.splitlines() if f", {name}, " in line]
            self.assertTrue(any(line.endswith((f"not come: {skipper}", f"for a message from {skipper}")) or f"from root {skipper}," in line
                                for line in lines), (name, lines))
            for line in lines:
                self.assertIn(line.partition("not come: ")[2], ("", skipper), line)

    def tells_of(self, process, threads: dict[str, int]) -> str:
        """The report of SIGQUIT once so many threads wait in the collective of each communicator."""
        text = ""

        def told() -> bool:
            nonlocal text
            process.send_signal(signal.SIGQUIT)
            text = self.heard(process, "^$")
            waiting = dict.fromkeys(threads, 0)
            for count, name in re.findall(r"(?m)^  ranks? [\d,-]+, (?:thread \d+|(\d+) threads): MPI_\w+.*, (\w+-\d), ", text):
                waiting[name] += int(count or 1)
            return all(waiting[name] >= least for name, least in threads.items())

        self.wait_for(told, f"threads that wait: {threads}")
        return text

    OPERATIONS = ("barrier", "bcast", "reduce", "allreduce", "alltoall", "allgather")

    def test_each_rank_that_skips_a_collective(self):
        for ranks in range(2, 9):
            for operations in (self.OPERATIONS,) if ranks < 6 else (self.OPERATIONS[:3], self.OPERATIONS[3:]):
                with self.subTest(ranks=ranks, operations=operations):
                    self.skips(ranks, operations)

    @unittest.skipUnless("BOOT_HOST" in os.environ, "ranks can't be threads with this sanitizer")
    def test_each_rank_that_is_a_thread_and_skips_a_collective(self):
        for ranks in (2, 3, 4, 5, 8):
            for operations in (self.OPERATIONS,) if ranks < 6 else (self.OPERATIONS[:3], self.OPERATIONS[3:]):
                with self.subTest(ranks=ranks, operations=operations):
                    self.skips(ranks, operations, "--ranks", "threads")

    def test_a_rank_that_computes(self):
        process = self.begin("skip", 4, arguments=("2",))
        self.tells(process, r"ranks 0-1, 2 threads: MPI_Allreduce, MPI_COMM_WORLD, .*; not come: 2",
                   r"rank 3, thread \d+: MPI_Allreduce, MPI_COMM_WORLD, .*; for a message from 2",
                   r"rank 2: 1 thread outside MPI, process \d+, running")
        self.end(process)

    def test_many_ranks_outside_share_a_line(self):
        process = self.start("-n", "20", "sh", "-c", "echo ready; exec sleep 60")
        os.set_blocking(process.stderr.fileno(), False)
        for _ in range(20):
            process.stdout.readline()
        self.tells(process, "ranks 0-19: MPI is not initialized")
        self.end(process)

    def test_window(self):
        self.hangs("window", 2, r"rank 0, thread \d+: MPI_Win_lock of target 0, \d+ s", r"rank 1: 1 thread outside MPI, process \d+, blocked")

    def test_polling(self):
        self.hangs("polling", 1, r"rank 0, thread \d+: MPI_Iprobe again and again")

    def test_program_without_mpi(self):
        process = self.start("-n", "2", "sh", "-c", "echo ready; exec sleep 60")
        for _ in range(2):
            process.stdout.readline()
        self.tells(process, r"rank 0: MPI is not initialized, process \d+, blocked", r"rank 1: MPI is not initialized, process \d+, blocked")
        self.end(process)

    def test_a_stopped_rank_delays_no_other(self):
        process = self.begin("threads", 2)
        pids = self.ranks(2, os.path.basename(HANG))
        self.tells(process, r"ranks 0-1, 6 threads: MPI_Recv from 0, tag 7, .*")
        launcher.kill(pids[1], signal.SIGSTOP)
        self.tells(process, r"ranks 0-1, 6 threads: MPI_Recv from 0, tag 7, .*")
        self.end(process)

    def test_timeout(self):
        self.times_out("-n", "3", HANG, "barrier",
                       expected=(r"has not ended in time \(--timeout\); ending 3 ranks\n"
                                 r"  ranks 0-1, 2 threads: MPI_Barrier, MPI_COMM_WORLD, \d+(-\d+)? s; not come: 2\n"
                                 r"  rank 2: 1 thread outside MPI, process \d+, blocked\n",))


if __name__ == "__main__":
    launcher.main()

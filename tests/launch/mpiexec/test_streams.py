"""Standard input, output and error of the ranks."""

import os
import pty
import socket
import subprocess
import sys
import time
import unittest

import launcher
from launcher import MPIEXEC, RANK, TRIES, LauncherTest, Result

LINES = "import sys\nfor i in range(2000): sys.stdout.write(f'{sys.argv[1]} {i} ' + 'x' * 150 + '\\n')\n"


class Output(LauncherTest):
    def test_lines_are_whole(self):
        writer = [sys.executable, "-u", "-c", LINES]
        result = self.run_job("-n", "1", *writer, "a", ":", "-n", "1", *writer, "b", ":", "-n", "1", *writer, "c")
        lines = result.out.splitlines()
        self.assertEqual(len(lines), 6000)
        for name in "abc":
            own = [line for line in lines if line.startswith(name)]
            self.assertEqual(own, [f"{name} {i} " + "x" * 150 for i in range(2000)])

    def test_pieces_of_a_line_are_put_together(self):
        # A rank that a busy machine stops between two pieces is taken for one that shows a prompt.
        pieces = ["-n", "3", "sh", "-c", "printf a; printf b; echo c"]
        self.assertIn("abc\n" * 3, (self.run_job(*pieces).out for _ in range(TRIES)))

    def test_a_prompt_is_shown_and_not_torn(self):
        turn = "while [ ! -e turn$HEDDLE_RANK ]; do sleep 0.02; done"
        process = self.start("-n", "2", "sh", "-c",
                             f"if [ $HEDDLE_RANK = 0 ]; then printf 'prompt: '; {turn}; echo done; else {turn}; echo line; fi",
                             cwd=self.directory)
        self.assertEqual(process.stdout.read(8), "prompt: ")
        (self.directory / "turn1").touch()
        self.assertEqual(process.stdout.readline() + process.stdout.readline(), "\nline\n")
        (self.directory / "turn0").touch()
        self.assertEqual(self.finish(process, time.monotonic()).out, "done\n")

    def test_last_line_without_end(self):
        self.assertEqual(self.run_job("-n", "1", "printf", "abc").out, "abc")

    def test_bytes_are_not_touched(self):
        blob = self.directory / "blob"
        blob.write_bytes(os.urandom(3 << 20))
        process = self.start("cat", str(blob), text=False)
        self.assertEqual(process.communicate()[0], blob.read_bytes())

    def test_errors_are_apart(self):
        result = self.run_job("-n", "2", "sh", "-c", "echo out; echo err >&2")
        self.assertEqual((result.out, result.err), ("out\n" * 2, "err\n" * 2))
        result = self.run_job("--merge-stderr-to-stdout", "-n", "1", "sh", "-c", "echo out; echo err >&2")
        self.assertEqual((result.lines, result.err), (["err", "out"], ""))

    def test_labels(self):
        for option in ("-l", "-prepend-rank", "--output=rank"):
            self.assertEqual(self.run_job(option, "-n", "2", "echo", "x").lines, ["[0] x", "[1] x"])
        result = self.run_job("--tag-output", "-n", "2", "sh", "-c", "echo x; echo y >&2")
        self.assertEqual(result.lines, ["[1,0]<stdout>: x", "[1,1]<stdout>: x"])
        self.assertEqual(sorted(result.err.splitlines()), ["[1,0]<stderr>: y", "[1,1]<stderr>: y"])

    def test_label_of_a_line_in_pieces(self):
        result = self.run_job("-l", "-n", "1", "sh", "-c", "printf a; sleep 0.5; echo b")
        self.assertEqual(result.out, "[0] ab\n")

    def test_without_a_reader(self):
        process = self.start("-n", "2", "yes")
        process.stdout.readline()
        process.stdout.close()
        self.assertEqual(process.wait(timeout=200), 141)
        process.stderr.close()
        self.assert_nothing_left()

    def test_a_slow_reader_does_not_keep_a_failed_job(self):
        def attempt() -> Result:
            process = self.start("-n", "2", "sh", "-c", "if [ $HEDDLE_RANK = 0 ]; then yes; else sleep 0.5; kill -9 $$; fi")
            since = time.monotonic()
            self.assertEqual(process.wait(timeout=200), 137)  # and we have read nothing yet
            seconds = time.monotonic() - since
            return Result(process.returncode, *process.communicate(), seconds)

        self.in_time(attempt, 0.5 + launcher.END_LIMIT)

    def test_a_slow_reader_gets_everything(self):
        process = self.start("-n", "1", "seq", "200000")
        time.sleep(0.5)
        self.assertEqual(len(process.communicate()[0].splitlines()), 200000)

    def test_closed_descriptors(self):
        for closed in ("<&-", ">&-", "2>&-", "<&- >&- 2>&-"):
            done = subprocess.run(f"{MPIEXEC} -n 2 {RANK} join leave {closed}", shell=True, env=self.environment())
            self.assertEqual(done.returncode, 0, closed)


class Lost(LauncherTest):
    """Output that can't be written is an error, for ranks that are processes and for those that are threads."""

    KINDS = [["-n", "2"]]
    if "BOOT_HOST" in os.environ:  # else ranks can't be threads, with this sanitizer
        KINDS.append(["--ranks", "threads", "-n", "2"])

    def lost(self, *arguments: str, code: int, says: list[str], **options):
        result = self.run_job(*arguments, **options)
        self.assertEqual(result.code, code, result.err)
        for part in says:
            self.assertIn(part, result.err)
        return result

    def test_full_disk(self):
        with open("/dev/full", "w") as full:
            for kind in self.KINDS:
                self.lost(*kind, RANK, "join", "say", "x", "leave", code=1, stdout=full,
                          says=["mpiexec: cannot write to standard output: No space left on device", "write elsewhere"])
                # Nothing can be said there, but the exit code can.
                process = self.start(*kind, RANK, "join", "run", "echo x >&2", "leave", stderr=full)
                self.assertEqual(process.communicate()[0], "")
                self.assertEqual(process.returncode, 1, kind)

    def test_full_disk_ends_the_job(self):
        with open("/dev/full", "w") as full:
            self.lost("-n", "2", RANK, "join", "run", "echo x", "sleep", "60", code=1, stdout=full, says=["ending 2 ranks"])

    def test_nothing_to_write(self):
        with open("/dev/full", "w") as full:
            self.assertEqual(self.run_job("-n", "2", RANK, "join", "leave", stdout=full).code, 0)

    def test_a_failed_rank_says_more(self):
        with open("/dev/full", "w") as full:
            result = self.run_job("-n", "2", RANK, "join", "only", "0", "exit", "7", "all", "sleep", "60", stdout=full)
        self.assertEqual(result.code, 7, result.err)

    def test_closed_pipe(self):
        for kind in self.KINDS:
            reader, writer = os.pipe()
            os.close(reader)
            self.lost(*kind, RANK, "join", "say", "x", "leave", code=141, stdout=writer,
                      says=["cannot write to standard output: its reader is gone"])
            os.close(writer)

    def test_closed_descriptor(self):
        command = f"{MPIEXEC} -n 1 {RANK} join say x leave >&-"
        done = subprocess.run(command, shell=True, env=self.environment(), capture_output=True, text=True)
        self.assertEqual(done.returncode, 1)
        self.assertIn("cannot write to standard output: Bad file descriptor", done.stderr)

    def test_limit_on_file_size(self):
        import resource
        limit = 1 << 40  # above the job's segment, which is such a file too; the output is made to begin below it

        def restrict():
            resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))

        with (self.directory / "out").open("wb") as out:
            out.seek(limit - 100)
            result = self.run_job("-n", "1", "seq", "1000", stdout=out, preexec_fn=restrict)
        self.assertEqual(result.code, 1, result.err)
        self.assertIn("cannot write to standard output: File too large", result.err)
        self.assertIn("ulimit -f", result.err)


class Files(LauncherTest):
    def text(self, *names: str) -> str:
        return self.directory.joinpath(*names).read_text()

    def test_patterns(self):
        out, err = (str(self.directory / f"{kind}.%r.%h.%%") for kind in ("out", "err"))
        result = self.run_job("-outfile-pattern", out, "-errfile-pattern", err, "-n", "2", "sh", "-c", "echo o$HEDDLE_RANK; echo e$HEDDLE_RANK >&2")
        self.assertEqual((result.code, result.out, result.err), (0, "", ""))
        for rank in ("0", "1"):
            self.assertEqual(self.text(f"out.{rank}.{socket.gethostname()}.%"), f"o{rank}\n")
            self.assertEqual(self.text(f"err.{rank}.{socket.gethostname()}.%"), f"e{rank}\n")

    def test_one_file_for_all(self):
        result = self.run_job("-outfile-pattern", str(self.directory / "all"), "-l", "-n", "3", "echo", "x")
        self.assertEqual((result.code, result.out), (0, ""))
        self.assertEqual(sorted(self.text("all").splitlines()), ["[0] x", "[1] x", "[2] x"])

    def test_folder(self):
        folder = str(self.directory / "a" / "b")
        for option in (["--output-filename", folder], ["--output", f"dir={folder}"]):
            result = self.run_job(*option, "-n", "11", "sh", "-c", "echo o; echo e >&2")
            self.assertEqual((result.out, result.err), ("o\n" * 11, "e\n" * 11))
            self.assertEqual(self.text("a", "b", "1", "rank.03", "stdout"), "o\n")
            self.assertEqual(self.text("a", "b", "1", "rank.10", "stderr"), "e\n")

    @unittest.skipUnless("BOOT_HOST" in os.environ, "ranks can't be threads with this sanitizer")
    def test_folder_of_threads(self):
        folder = str(self.directory / "a" / "b")
        result = self.run_job("--output-filename", f"{folder}:nojobid,nocopy", "--ranks", "threads", "-n", "2", RANK, "join", "say", "x", "leave")
        self.assertEqual((result.code, result.out), (0, ""), result.err)
        self.assertEqual(self.text("a", "b", "rank.1", "stdout"), "x\n")

    def test_wrong(self):
        result = self.run_job("-outfile-pattern", "/nowhere/out.%r", "-n", "2", "true")
        self.assertEqual(result.code, 2)
        self.assertIn("cannot write the output of rank 0 to the file '/nowhere/out.0': No such file or directory", result.err)
        result = self.run_job("-outfile-pattern", "/dev/full", "-n", "1", "echo", "x")
        self.assertEqual(result.code, 1)
        self.assertIn("cannot write to the file /dev/full: No space left on device", result.err)


class Input(LauncherTest):
    def test_rank_0_gets_it(self):
        self.assertEqual(self.run_job("-l", "-n", "3", "cat", given="hello\n").out, "[0] hello\n")

    def test_another_process_gets_it(self):
        self.assertEqual(self.run_job("-l", "--stdin", "2", "-n", "3", "cat", given="hello\n").out, "[2] hello\n")
        self.assertEqual(self.run_job("-s", "none", "-n", "3", "cat", given="hello\n").out, "")

    def test_file(self):
        file = self.directory / "input"
        file.write_text("from a file\n")
        with file.open() as given:
            self.assertEqual(self.run_job("-n", "2", "cat", stdin=given).out, "from a file\n")

    def test_terminal(self):
        ours, theirs = pty.openpty()
        process = self.start("-n", "2", "cat", stdin=theirs, start_new_session=True,
                             preexec_fn=lambda: __import__("fcntl").ioctl(theirs, __import__("termios").TIOCSCTTY, 0))
        os.close(theirs)
        os.write(ours, b"typed\n")
        self.assertEqual(process.stdout.readline(), "typed\n")
        os.write(ours, b"\x04")  # Ctrl-D: the end
        self.assertEqual(self.finish(process, time.monotonic()).code, 0)
        os.close(ours)

    def test_back_in_the_foreground(self):
        """A shell's `fg` of a job that runs gives it the terminal, and no signal says so."""
        shell = ("import os, signal, subprocess, sys\n"
                 "signal.signal(signal.SIGTTOU, signal.SIG_IGN)\n"
                 "job = subprocess.Popen(sys.argv[1:], process_group=0)\n"
                 "os.read(3, 1)\n"
                 "os.tcsetpgrp(0, job.pid)\n"
                 "sys.exit(job.wait())\n")
        ours, theirs = pty.openpty()
        told, tell = os.pipe()
        environment = self.environment()

        def lead_session():
            os.setsid()
            __import__("fcntl").ioctl(theirs, __import__("termios").TIOCSCTTY, 0)
            os.dup2(told, 3)

        process = subprocess.Popen([sys.executable, "-c", shell, MPIEXEC, "-n", "2", "sh", "-c", "echo up; cat"], stdin=theirs, stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE, text=True, env=environment, close_fds=False, preexec_fn=lead_session)
        os.close(theirs)
        self.assertEqual([process.stdout.readline() for _ in range(2)], ["up\n", "up\n"])
        os.write(tell, b"x")  # fg
        os.write(ours, b"typed\n")
        self.assertEqual(process.stdout.readline(), "typed\n")
        os.write(ours, b"\x04")
        self.assertEqual(self.finish(process, time.monotonic()).code, 0)
        for descriptor in (ours, told, tell):
            os.close(descriptor)

    def test_ctrl_c_of_a_terminal(self):
        def attempt() -> Result:
            ours, theirs = pty.openpty()
            process = self.start("-n", "2", RANK, "join", "sleep", "60", stdin=theirs, start_new_session=True,
                                 preexec_fn=lambda: __import__("fcntl").ioctl(theirs, __import__("termios").TIOCSCTTY, 0))
            os.close(theirs)
            self.ranks(2)
            since = time.monotonic()
            os.write(ours, b"\x03")
            result = self.finish(process, since)
            self.assert_nothing_left()
            os.close(ours)
            return result

        result = self.in_time(attempt)
        self.assertEqual(result.code, 130)
        self.assertIn("Ctrl-C", result.err)


if __name__ == "__main__":
    launcher.main()

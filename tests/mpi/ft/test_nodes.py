"""Jobs on several nodes that go on without ranks and nodes that fail (src/launch/mpiexec/nodes/). Here the nodes are on one machine and do not
know it: what would be ssh is a script that starts the command where it is."""

import os
import pathlib
import signal
import sys
import time
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parents[2] / "launch" / "mpiexec"))
import launcher
from launcher import RANK, LauncherTest, Result

PROGRAM = os.environ["FT_ENDS_PROGRAM"]
LOST = r"mpiexec: node there with ranks 2 to 3 is lost \(its mpiexec has ended\); the job goes on with 2 ranks\n"


class Nodes(LauncherTest):
    def setUp(self):
        super().setUp()
        shell = self.directory / "shell"
        shell.write_text('#!/bin/sh\nshift\ncd /\nexec sh -c "$*"\n')
        shell.chmod(0o755)
        self.settings = {"HEDDLE_REMOTE_SHELL": str(shell), "HEDDLE_NODES": "1"}

    def words(self, *arguments: str, hosts: str = "here:2,there:2") -> list[str]:
        return ["--with-ft", "ulfm", "--timeout", "60", "-host", hosts, *arguments]

    def ends(self, *arguments: str, code: int, out: str = "", says: str = "", hosts: str = "here:2,there:2", env: dict[str, str] | None = None,
             **options) -> Result:
        result = self.run_job(*self.words(*arguments, hosts=hosts), env=self.settings | (env or {}), **options)
        self.assertEqual((result.code, result.out), (code, out), result.err)
        self.assertRegex(result.err, says or "^$")
        return result

    # ---- a job as any other

    def test_programs_without_mpi(self):
        result = self.run_job(*self.words("-l", "-n", "4", "sh", "-c", "echo $HEDDLE_RANK of $HEDDLE_SIZE"), env=self.settings)
        self.assertEqual((result.code, result.lines), (0, [f"[{r}] {r} of 4" for r in range(4)]), result.err)
        self.assertEqual(result.err, "")

    def test_ranks_by_host(self):
        for hosts, arguments, wanted in (("here:1,there:3", (), [0, 1, 1, 1]), ("here,there", ("-n", "5"), [0, 0, 1, 1, 1]),
                                         ("here,there,far", ("-ppn", "2", "-n", "3"), [0, 0, 1])):
            result = self.run_job(*self.words("-l", *arguments, "sh", "-c", "echo $PPID", hosts=hosts), env=self.settings)
            parents = [line.split()[1] for line in sorted(result.lines)]
            self.assertEqual([sorted(set(parents), key=parents.index).index(one) for one in parents], wanted, result.err)

    def test_the_folder_and_the_variables_are_those_of_the_user(self):
        where = self.directory / "where"
        where.mkdir()
        result = self.run_job(*self.words("-n", "4", "sh", "-c", "echo $PWD $OWN"), env=self.settings | {"OWN": "a b"}, cwd=where)
        self.assertEqual((result.code, result.lines), (0, [f"{where.resolve()} a b"] * 4), result.err)

    def test_input_goes_to_one_rank(self):
        text = "".join(f"line {i}\n" for i in range(20_000))
        for rank in ("0", "3"):
            result = self.run_job(*self.words("-l", "-stdin", rank, "-n", "4", "cat"), env=self.settings, given=text)
            self.assertEqual(result.code, 0, result.err)
            self.assertEqual(result.out, "".join(f"[{rank}] {line}\n" for line in text.splitlines()))

    def test_output_files(self):
        self.ends("-outfile-pattern", f"{self.directory}/of-%r", "-n", "4", "sh", "-c", "echo $HEDDLE_RANK", code=0)
        self.assertEqual([(self.directory / f"of-{r}").read_text() for r in range(4)], [f"{r}\n" for r in range(4)])

    def test_codes_of_ranks_that_fail(self):
        for first, code in (("0", 0), ("1", 1)):  # of rank 0; the job goes on as long as one ends well
            self.ends("-n", "3", "sh", "-c", f"sleep 0.$HEDDLE_RANK; exit $((HEDDLE_RANK + {first}))", hosts="here,there,far", code=code,
                      says="rank 2 .* exited with code . *")

    # ---- failures

    def test_one_is_killed(self):
        for hosts in ("here:2,there:2", "localhost:1,there:3", "here:2,localhost:2"):
            self.ends("-n", "4", PROGRAM, "dies", hosts=hosts, code=0, out="3 go on\n",
                      says=r"mpiexec: rank 1 \(pid \d+, .*\) was killed by signal 9 .*; the job goes on with 3 ranks\n")

    @unittest.skipUnless("BOOT_HOST" in os.environ, "ranks can't be threads with this sanitizer")
    def test_ranks_of_a_process_die_together(self):
        self.ends("--ranks", "threads:2", "-n", "4", PROGRAM, "dies", code=0, out="2 go on\n",
                  says=r"mpiexec: rank 1 .* was killed by signal 9 .*, which ends the process of ranks 0 to 1 \(.*\); the job goes on with 2 ranks\n")

    def test_one_exits(self):
        self.ends("-n", "4", PROGRAM, "exits", hosts="here,there:3", code=0, out="3 go on\n",
                  says="rank 1 .* exited with code 3 without calling MPI_Finalize; the job goes on with 3 ranks")

    def test_one_never_initializes(self):
        for hosts in ("here:2,there:2", "here:1,there:1"):
            n = sum(int(host[-1]) for host in hosts.split(","))
            self.ends(PROGRAM, "stays-out", hosts=hosts, code=0, out=f"{n - 1} go on\n",
                      says=f"rank 1 exited without calling MPI_Init, but rank . has called it; the job goes on with {n - 1} ranks?\n")

    def test_without_survivors(self):
        self.ends("-n", "4", PROGRAM, "all-die", code=137, says="was killed by signal 9")

    def test_abort_ends_the_job(self):
        result = self.in_time(lambda: self.ends("-n", "4", PROGRAM, "aborts", code=5, says="rank 1 .* aborted with code 5 .*; ending the other 3 ranks"))
        self.assertEqual(result.err.count("mpiexec: "), 1, result.err)

    def test_a_node_is_lost(self):
        job = self.start(*self.words("-n", "4", PROGRAM, "waits"), env=self.settings)
        ranks = self.ranks(4, "ft_ends")
        self.wait_for(lambda: all(launcher.state(rank) == "S" for rank in ranks), "ranks that sleep")
        time.sleep(0.2)
        since = time.monotonic()
        launcher.kill(self.parent_of(ranks[2]))
        result = self.finish(job, since)
        self.assertEqual((result.code, result.out), (0, "2 go on\n"), result.err)
        self.assertRegex(result.err, LOST)
        self.assert_nothing_left()

    def test_all_nodes_are_lost(self):
        job = self.start(*self.words("-n", "4", PROGRAM, "waits"), env=self.settings)
        ranks = self.ranks(4, "ft_ends")
        for rank in (0, 2):
            launcher.kill(self.parent_of(ranks[rank]))
        result = self.finish(job, time.monotonic())
        self.assertEqual((result.code, result.out), (1, ""), result.err)
        self.assert_nothing_left()

    def test_mpiexec_is_killed(self):
        job = self.start(*self.words("-n", "4", RANK, "join", "sleep", "100"), env=self.settings)
        self.ranks(4)
        job.kill()
        job.communicate()
        self.wait_for(lambda: not launcher.processes_with(self.mark), "the end of all")
        self.assert_nothing_left()

    # ---- ends from outside

    def test_interrupt(self):
        for number in (signal.SIGINT, signal.SIGTERM):
            job = self.start(*self.words("-n", "4", RANK, "join", "sleep", "100"), env=self.settings)
            self.ranks(4)
            job.send_signal(number)
            result = self.finish(job, time.monotonic())
            self.assertEqual(result.code, 128 + number, result.err)
            self.assertRegex(result.err, f"^mpiexec: got {number.name}.*\n$")
            self.assert_nothing_left()

    def test_time_is_over(self):
        result = self.run_job("--with-ft", "ulfm", "--timeout", "1", "-host", "here:2,there:2", "-n", "4", PROGRAM, "waits", env=self.settings)
        self.assertEqual((result.code, result.out), (124, ""), result.err)
        self.assertIn("the job has not ended in time (--timeout)", result.err)
        self.assertRegex(result.err, "ranks? [0-9-]+, .*MPI_Recv")

    # ---- what cannot be

    def test_a_shell_that_fails(self):
        shell = self.directory / "shell"
        shell.write_text("#!/bin/sh\nexit 7\n")
        self.ends("-n", "4", PROGRAM, "dies", code=1, says=r"no mpiexec has connected from (here|there): the command that starts it there has ended with exit code 7")

    def test_a_node_that_is_lost_before_all_have_come(self):
        shell = self.directory / "shell"
        shell.write_text('#!/bin/sh\nhost=$1\nshift\nif [ $host = here ]; then sleep 1.5; exec sh -c "$*"; fi\n'
                         'exec 3<&0\nsh -c "exec $*" <&3 &\nsleep 0.5\nkill -9 $!\nsleep 3\n')
        result = self.ends("-n", "4", PROGRAM, "dies", code=1, says="the mpiexec on there has ended before the job began")
        self.assertNotIn("is lost", result.err)

    def test_no_shell(self):
        self.ends("-n", "4", PROGRAM, "dies", code=127, env={"HEDDLE_REMOTE_SHELL": "/no/such/shell"}, says="cannot find the program '/no/such/shell'")

    def test_what_is_refused(self):
        self.ends("-n", "2", PROGRAM, ":", "-n", "2", PROGRAM, code=2, says="has one program only. Leave out the others")
        self.ends("-n", "9", "-ppn", "2", PROGRAM, code=2, says="9 ranks do not fit on 2 hosts with 2 on each")
        self.ends("-n", "4", "-stdin", "4", PROGRAM, code=2, says="--stdin names rank 4, but there are 4")
        self.ends("-n", "4", PROGRAM, code=2, env={"HEDDLE_NODES": "2"}, says="HEDDLE_NODES simulates nodes on one machine, and these are real")

    def test_a_folder_that_other_nodes_do_not_have(self):
        where = self.directory / "where"
        where.mkdir()
        shell = self.directory / "shell"
        shell.write_text(f'#!/bin/sh\nshift\nmv {where} {where}.away 2>/dev/null\ncd /\nexec sh -c "$*"\n')
        result = self.ends("-n", "4", PROGRAM, "dies", code=1, says=f"no folder {where.resolve()} here, where mpiexec was called", cwd=where)
        self.assertNotIn("is lost", result.err)

    def test_a_program_that_other_nodes_do_not_have(self):
        program = self.directory / "program"
        program.write_text("#!/bin/sh\n")
        program.chmod(0o755)
        shell = self.directory / "shell"
        shell.write_text(f'#!/bin/sh\nshift\nrm -f {program}\ncd /\nexec sh -c "$*"\n')
        result = self.ends("-n", "4", str(program), code=127, says="cannot find the program")
        self.assertNotIn("is lost", result.err)

    def test_a_folder_that_is_not_there(self):
        self.ends("-wdir", "/no/such/folder", "-n", "4", PROGRAM, code=2, says="/no/such/folder")

    @staticmethod
    def parent_of(pid: int) -> int:
        return int(pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[1])


launcher.main()

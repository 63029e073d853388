"""Wrong command lines: what is said about each, and the options that change what runs mean what they mean elsewhere."""

import os
import pathlib
import resource
import socket

import launcher
from launcher import RANK, LauncherTest

CORES = len(os.sched_getaffinity(0))


class MistakeTest(LauncherTest):
    def refused(self, *arguments: str, says: str | list[str], code: int = 2, **options):
        """Nothing ran; one sentence says why, and holds all of `says`."""
        result = self.run_job(*arguments, **options)
        self.assertEqual(result.code, code, result.err)
        for part in [says] if isinstance(says, str) else says:
            self.assertIn(part, result.err)
        self.assertEqual(result.out, "")
        self.assertEqual(result.err.count("\n"), 1, result.err)
        self.assertEqual(result.err.count("mpiexec: "), 1, result.err)

    def ranks_of(self, *options: str) -> int:
        result = self.run_job(*options, "echo", "x")
        self.assertEqual(result.code, 0, result.err)
        self.assertEqual(result.err, "")
        return len(result.lines)


class RanksOnEachNode(MistakeTest):
    """There is one node. MPICH's -ppn wraps around when there are more ranks; Open MPI's -N is a limit."""

    def test_without_n(self):
        for option in ("-ppn", "-perhost", "-grr", "-N", "--npernode"):
            self.assertEqual(self.ranks_of(option, "3"), 3, option)
        self.assertEqual(self.ranks_of("--pernode"), 1)
        self.assertEqual(self.ranks_of("--map-by", "ppr:2:node"), 2)
        self.assertEqual(self.ranks_of("--ppr", "2:node"), 2)

    def test_with_n(self):
        self.assertEqual(self.ranks_of("-ppn", "2", "-n", "3"), 3)
        self.assertEqual(self.ranks_of("-N", "3", "-n", "2"), 2)
        self.refused("-N", "2", "-n", "3", "true", says=["-N 2 allows 2 ranks on a node", "-n asks for 3", "leave one of the two out"])
        self.refused("--pernode", "-n", "3", "true", says="--pernode 1 allows 1 ranks on a node")
        self.refused("--map-by", "ppr:2:node", "-n", "3", "true", says="--map-by ppr:2:node allows 2 ranks")

    def test_each_program_has_its_own(self):
        result = self.run_job("-N", "2", "echo", "a", ":", "-n", "1", "echo", "b", ":", "echo", "c")
        self.assertEqual(result.lines, ["a", "a", "b", "c"])

    def test_on_each_part(self):
        self.assertEqual(self.ranks_of("--map-by", "ppr:1:hwthread"), CORES)
        self.refused("--map-by", "ppr:1:hwthread", "-n", str(CORES + 1), "true", says="--map-by ppr:1 allows")
        self.assertGreaterEqual(self.ranks_of("--npersocket", "1"), 1)

    def test_numbers(self):
        for option in ("-ppn", "-N", "-perhost", "-npernode"):
            self.refused(option, "x", "true", says=f"{option} takes a whole number from 1 to 2147483647, not 'x'")


class Hosts(MistakeTest):
    def hosts_file(self, text: str) -> str:
        file = self.directory / "hosts"
        file.write_text(text)
        return str(file)

    def test_this_machine(self):
        name = socket.gethostname()
        for host in ("localhost", "127.0.0.1", name, f"{name}:8", "localhost:2,localhost"):
            self.assertEqual(self.run_job("-host", host, "-n", "1", "true").code, 0, host)
        self.assertEqual(self.ranks_of("--hostfile", self.hosts_file("# us\nlocalhost slots=4 max_slots=8\n"), "-n", "2"), 2)

    def test_slots_are_the_number_of_ranks(self):
        self.assertEqual(self.ranks_of("--host", "localhost:3"), 3)
        self.assertEqual(self.ranks_of("--host", "localhost,localhost"), 2)
        self.assertEqual(self.ranks_of("--host", "localhost:3", "-n", "4"), 4)
        self.assertEqual(self.ranks_of("-f", self.hosts_file("localhost:2\n")), 2)
        self.assertEqual(self.ranks_of("--hostfile", self.hosts_file("localhost slots=3\n")), 3)

    def test_limits(self):
        file = self.hosts_file("localhost slots=1 max_slots=2\n")
        self.refused("--hostfile", file, "-n", "3", "true", says="allows at most 2 ranks here (max_slots), not 3")
        self.refused("--nooversubscribe", "--host", "localhost:2", "-n", "3", "true",
                     says=["--nooversubscribe: 3 ranks do not fit into 2 slots of the hosts", "leave it out"])
        self.refused("--map-by", ":nooversubscribe", "-n", str(CORES + 1), "true", says=f"into {CORES} usable cores")
        self.assertEqual(self.ranks_of("--nooversubscribe", "-n", "1"), 1)

    def test_wrong(self):
        self.refused("-host", "localhost:many", "true", says="'localhost:many' in a list of hosts: 'many' is not a number of slots")
        self.refused("-f", self.hosts_file("localhost slots=0\n"), "true", says="'0' is not a number of slots")
        self.refused("-f", self.hosts_file("localhost slot=2\n"), "true", says=["unknown word 'slot=2'", "did you mean slots=N?"])
        self.refused("-f", self.hosts_file("localhost 2\n"), "true", says=["unknown word '2'", "HOST [slots=N] [max_slots=N]"])
        self.refused("-f", self.hosts_file("# no host\n\n"), "true", says="names no host")
        self.refused("-f", "/nowhere", "true", says="cannot read the file '/nowhere': No such file")
        self.refused("-f", "/tmp", "true", says="cannot read the file '/tmp': Is a directory")
        self.refused("-host", "", "true", says="-host takes names that are separated by commas, not ''")

    def test_ports(self):
        apart = ("-with-ft", "ulfm", "-host", "far1,far2", "-n", "2", "true")
        self.refused(*apart, env={"HEDDLE_PORTS": "ssh"}, says="invalid value 'ssh' for HEDDLE_PORTS: must be FIRST-LAST")
        with socket.create_server(("", 0)) as taken:
            port = taken.getsockname()[1]
            self.refused(*apart, env={"HEDDLE_PORTS": str(port)}, code=1, says=f"no TCP port of HEDDLE_PORTS={port}-{port} can be opened")


class Refused(MistakeTest):
    def test_what_would_change_what_runs(self):
        for option, cure in (("-rankfile", "--cpu-set"), ("--preload-binary", "leave it out"), ("-nolocal", "leave it out"),
                             ("-skip-launch-node", "leave it out"), ("--continuous", "with -with-ft ulfm the others can go on"), ("-gdb", "gdb ./program"),
                             ("-gtool", "TOOL ./program"), ("-trace", "LD_PRELOAD"), ("-ilp64", "default integers"),
                             ("-tune", "-x NAME=VALUE"), ("--xml", "--tag-output"), ("-gpus-per-proc", "HEDDLE_RANK"),
                             ("-file", "-configfile FILE"), ("-ckpoint-interval", "no checkpoints"), ("--stop-in-init", "attach to a rank"),
                             ("--set-cwd-to-session-dir", "-wdir"), ("--pset", "mpi://WORLD"), ("--index-argv-by-rank", "HEDDLE_RANK")):
            self.refused(option, "value", "true", says=[f"option {option} is refused: ", cure])

    def test_nothing_is_both(self):
        """An option is known, or ignored, or refused; values of ignored ones do not swallow the program."""
        for option in ("print-rank-map", "report-child-jobs-separately", "display-topo"):
            self.assertIn("ran", self.run_job(f"-{option}", "echo", "ran").out, option)
        for option in ("report-pid", "localhost", "order-nodes"):
            self.assertEqual(self.run_job(f"-{option}", "value", "echo", "ran").out, "ran\n", option)

    def test_start_nothing(self):
        result = self.run_job("--do-not-launch", "--display", "bind", "-n", "2", "echo", "x")
        self.assertEqual((result.code, result.out), (0, ""))
        self.assertIn("rank 1 is", result.err)


class Values(MistakeTest):
    def test_programs(self):
        self.refused(says="no program is named; usage: mpiexec -n 4 ./program")
        self.refused("-n", "2", says="no program is named")
        self.refused("true", ":", says="no program is named")

    def test_numbers(self):
        for value in ("two", "0", "-3", "2.5", "1e3", "", "99999999999999999999", "4x"):
            self.refused("-n", value, "true", says=f"-n takes a whole number from 1 to 2147483647, not '{value}'")
        self.refused("--timeout", "soon", "true", says="--timeout takes a whole number from 1")
        self.refused("true", says="the variable MPIEXEC_TIMEOUT takes a whole number", env={"MPIEXEC_TIMEOUT": "5m"})
        self.refused("-usize", "big", "true", says="-usize takes a whole number of ranks, SYSTEM or INFINITE, not 'big'")
        self.refused("--cpus-per-proc", "0", "true", says="--cpus-per-proc takes a whole number")
        self.refused("--ranks", "threads:0", "true", says="--ranks takes processes, threads or threads:N, not 'threads:0'")
        self.refused("--ppr", "x:node", "true", says="--ppr takes ppr:N:RESOURCE")
        for size in ("SYSTEM", "INFINITE", "7"):
            self.assertEqual(self.run_job("-usize", size, "true").code, 0)

    def test_words(self):
        self.refused("--bind-to", "moon", "true", says="--bind-to takes none, hwthread, core, l3cache, numa, socket or slot, not 'moon'")
        self.refused("--bind-to", "", "true", says="--bind-to takes none,")
        self.refused("--map-by", "core:sideways", "true", says=["--map-by takes the modifiers PE=N", "not 'sideways'"])
        self.refused("--rank-by", "age", "true", says="--rank-by takes slot, span, core or fill, not 'age'")
        self.refused("--cpu-set", "a-b", "true", says="--cpu-set takes a list of hardware threads such as 0,2-5, not 'a-b'")
        self.refused("--cpu-set", "60000", "true", says=["--cpu-set names no usable hardware thread", "Usable are "])
        self.refused("--stdin", "all", "-n", "2", "true", says="--stdin takes the number of one rank, or none (only one rank can read it), not 'all'")
        self.refused("--stdin", "4", "-n", "2", "true", says="--stdin names rank 4, but there are 2, numbered from 0")
        self.refused("-initial-errhandler", "fatal", "true", says="takes mpi_errors_are_fatal, mpi_errors_abort or")
        self.refused("--output", "loud", "true", says="--output takes tag, rank, merge-stderr-to-stdout and dir=FOLDER, separated by commas, not 'loud'")
        self.refused("-outfile-pattern", "out.%x", "true", says="-outfile-pattern takes a file name in which %r is the rank")
        self.refused("-x", "NO_SUCH_VARIABLE_HERE", "true", says=["no such variable to pass on", "=VALUE"])
        self.refused("-genv", "=1", "true", says="-genv takes the name of a variable and its value")
        self.refused("-genvlist", "", "true", says="-genvlist takes names that are separated by commas")
        self.refused("-shared-heap", "-ranks", "threads", "true", says=["-shared-heap: ranks that are threads share their memory already"])
        self.refused("true", env={"HEDDLE_SHARED_HEAP": "always"}, says="the variable HEDDLE_SHARED_HEAP takes 0 or 1, not 'always'")
        self.refused("-configfile", "/nowhere", says="cannot read the file '/nowhere'")
        self.refused("-wdir", "/nowhere", "true", says="-wdir: cannot enter the working directory '/nowhere': No such file or directory")
        self.refused("-wdir", "/etc/passwd", "true", says="-wdir takes a directory, not '/etc/passwd'")

    def test_how_many_values(self):
        self.refused("-n", says="option -n lacks a value: -n N")
        self.refused("-genv", "A", says="option -genv lacks a value: -genv NAME VALUE")
        self.refused("--oversubscribe=3", "true", says="option --oversubscribe takes no value, but '3' was given")

    def test_unknown(self):
        self.refused("-nonsense", "true", says=["unknown option -nonsense", "mpiexec --help lists all"])
        for written, meant in (("--oversubcribe", "--oversubscribe"), ("-hostfle", "-hostfile"), ("--bindto", "--bind-to"),
                               ("-merge-stderr-to-stdou", "-merge-stderr-to-stdout"), ("--tiemout", "--timeout"), ("-n4", "-n 4"),
                               ("--np8", "--np 8"), ("-hlep", "-help")):
            self.refused(written, "true", says=f"unknown option {written}; did you mean {meant}?")

    def test_files_that_name_each_other(self):
        file = self.directory / "job"
        file.write_text(f"-configfile {file}\n")
        self.refused("-configfile", str(file), says="command files name each other")


class Limits(MistakeTest):
    def test_more_bound_ranks_than_cores(self):
        self.refused("--bind-to", "hwthread", "-n", str(CORES + 1), "true",
                     says=[f"cannot bind {CORES + 1} ranks: only {CORES} hardware thread", "--bind-to none", "overload-allowed"])
        for options in (["--bind-to", "core:overload-allowed"], ["--bind-to", "core", "--oversubscribe"], ["--bind-to", "none"]):
            self.assertEqual(self.ranks_of(*options, "-n", str(CORES + 1)), CORES + 1)

    def test_open_files(self):
        def limit():
            resource.setrlimit(resource.RLIMIT_NOFILE, (70, 100))

        for options in ([], ["--ranks", "threads"]):
            self.refused(*options, "-n", "200", RANK, "join", "leave", code=1, preexec_fn=limit,
                         says=["200 ranks need", "open files, but the limit is 100", "ulimit -Hn"])
        # The soft limit is raised, and the ranks have the old one.
        result = self.run_job("-n", "15", "sh", "-c", "ulimit -Sn", preexec_fn=limit)
        self.assertEqual(result.lines, ["70"] * 15, result.err)

    def test_absurd_numbers_of_ranks(self):
        self.refused("-n", "2147483647", "true", says="open files, but the limit is", code=1)
        self.refused("-n", "2147483647", "true", ":", "-n", "2147483647", "true", says="4294967294 ranks need", code=1)

    def test_limit_on_file_size(self):
        self.refused("true", preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096)), code=1, says="ulimit -f")

    def test_help_that_cannot_be_written(self):
        with open("/dev/full", "w") as full:
            for option in ("--help", "--version"):
                result = self.run_job(option, stdout=full)
                self.assertEqual(result.code, 1)
                self.assertIn("cannot write to standard output: No space left on device", result.err)


if __name__ == "__main__":
    launcher.main()

"""The command line: what each option does, and what is said about wrong ones."""

import os
import pathlib
import re
import subprocess

import launcher
from launcher import MPI_PROGRAM, RANK, LauncherTest


class Programs(LauncherTest):
    def test_default_is_one_rank(self):
        self.assertEqual(self.run_job(RANK, "join", "who", "leave").out, "rank 0 of 1\n")

    def test_names_of_the_number_of_ranks(self):
        for option in ("-n", "-np", "--np", "-c", "--n"):
            self.assertEqual(self.run_job(option, "2", RANK, "join", "who", "leave").lines, ["rank 0 of 2", "rank 1 of 2"])
        self.assertEqual(len(self.run_job("--np=3", "true", "-n", "9").lines), 0)

    def test_several_programs(self):
        result = self.run_job("-n", "1", RANK, "join", "who", "app", "leave", ":", "-n", "2", RANK, "join", "app", "leave")
        self.assertEqual(result.lines, ["app 0 of 1 ranks", "app 1 of 2 ranks", "app 1 of 2 ranks", "rank 0 of 3"])

    def test_options_of_the_program_are_its_own(self):
        self.assertEqual(self.run_job("-n", "1", "echo", "-n", "5", "--help").out, "5 --help")
        self.assertEqual(self.run_job("--", "echo", "x").out, "x\n")

    def test_configfile(self):
        file = self.directory / "job"
        file.write_text(f"# a comment\n-n 1 -env WHO 'the first' sh -c 'echo $WHO'\n-n 2 echo second # two of them\n")
        for option in ("-configfile", "--app"):
            self.assertEqual(self.run_job(option, str(file)).lines, ["second", "second", "the first"])

    def test_working_directory(self):
        for option in ("-wdir", "--wdir", "-wd", "--cwd"):
            self.assertEqual(self.run_job(option, str(self.directory), "pwd", "-P").out.strip(), str(self.directory.resolve()))

    def test_program_in_the_working_directory(self):
        script = self.directory / "tool"
        script.write_text("echo ran $1\n")  # no #! line: run by sh, as execvp would
        script.chmod(0o755)
        for name in ("tool", "./tool"):
            self.assertEqual(self.run_job("-wdir", str(self.directory), name, "well").out, "ran well\n")

    def test_many_ranks(self):
        result = self.run_job("-n", "40", "sh", "-c", "ulimit -Sn", preexec_fn=lambda: os.system("") or limit_open_files(64))
        self.assertEqual(result.out, "64\n" * 40)


def limit_open_files(count: int):
    import resource
    resource.setrlimit(resource.RLIMIT_NOFILE, (count, resource.getrlimit(resource.RLIMIT_NOFILE)[1]))


class UnknownVariables(LauncherTest):
    def said(self, *options: str, **env: str) -> str:
        result = self.run_job("-n", "3", *options, RANK, "join", "leave", env=env)
        self.assertEqual(result.code, 0)
        return result.err

    def test_named_once_with_the_nearest(self):
        for said in (self.said(HEDDLE_MODLE="mtx"), self.said("-genv", "HEDDLE_MODLE", "mtx"), self.said("-env", "HEDDLE_MODLE=1")):
            self.assertEqual(said, "mpiexec: unknown variables, ignored: HEDDLE_MODLE (did you mean HEDDLE_MODEL?)\n")

    def test_those_that_resemble_none(self):
        said = self.said(HEDDLE_GIBBERISH="1")
        self.assertRegex(said, "^mpiexec: unknown variables, ignored: HEDDLE_GIBBERISH. The known ones: HEDDLE_MODEL, .*HEDDLE_REPORT")
        self.assertNotIn("HEDDLE_JOB_FD", said)

    def test_program_without_mpiexec(self):
        environment = self.environment(HEDDLE_WIAT="busy")
        result = subprocess.run([MPI_PROGRAM, "well"], env=environment, capture_output=True, text=True, timeout=60)
        self.assertEqual(result.stderr, "heddle: unknown variables, ignored: HEDDLE_WIAT (did you mean HEDDLE_WAIT?)\n")
        self.assertEqual(result.returncode, 0)

    def test_known_ones_and_quiet(self):
        self.assertEqual(self.said(HEDDLE_MODEL="mtx", HEDDLE_TEST_SEED="1", HEDDLE_CC="gcc"), "")
        self.assertEqual(self.said("-quiet", HEDDLE_MODLE="mtx"), "")


class Environment(LauncherTest):
    def shows(self, *options: str, variable: str = "V", **env: str) -> list[str]:
        return self.run_job(*options, "/bin/sh", "-c", f"echo ${variable}", env=env).out.split("\n")[:-1]

    def test_inherited(self):
        self.assertEqual(self.shows(V="ours"), ["ours"])
        self.assertEqual(self.shows("-genvall", V="ours"), ["ours"])

    def test_set(self):
        self.assertEqual(self.shows("-genv", "V", "new", V="ours"), ["new"])
        self.assertEqual(self.shows("-genv", "V=new"), ["new"])
        self.assertEqual(self.shows("-env", "V", "own", "-genv", "V", "all"), ["own"])
        self.assertEqual(self.shows("-x", "V=a=b"), ["a=b"])
        self.assertEqual(self.shows("-x", "V", V="ours"), ["ours"])

    def test_none_and_listed(self):
        self.assertEqual(self.shows("-genvnone", V="ours"), [""])
        self.assertEqual(self.shows("-genvnone", "-x", "V", V="ours"), ["ours"])
        self.assertEqual(self.shows("-genvlist", "W,V", V="ours"), ["ours"])
        self.assertEqual(self.shows("-genvlist", "W", V="ours"), [""])
        self.assertEqual(self.shows("-genvnone", "-envall", V="ours"), ["ours"])
        self.assertEqual(self.shows("-envnone", V="ours"), [""])
        self.assertEqual(self.shows("-envlist", "V", V="ours"), ["ours"])

    def test_local_to_a_program(self):
        show = ["sh", "-c", "echo $V"]
        self.assertEqual(self.run_job("-env", "V", "1", *show, ":", *show, env={"V": "0"}).lines, ["0", "1"])

    def test_shared_heap(self):
        if not list(pathlib.Path(launcher.MPIEXEC).parents[3].glob("lib/heddle/libheddle-shared-heap.so")):
            self.skipTest("the library of -shared-heap is not built")  # with a sanitizer
        library = r"/libheddle-shared-heap\.so"
        for options, env in ((("-shared-heap",), {}), ((), {"HEDDLE_SHARED_HEAP": "1"})):
            self.assertRegex(self.shows(*options, variable="LD_PRELOAD", **env)[0], library + "$")
        # The user's preloaded library comes behind it.
        self.assertRegex(self.shows("-shared-heap", "-genv", "LD_PRELOAD", "/lib/x86_64-linux-gnu/libm.so.6", variable="LD_PRELOAD")[0], library + ":/lib/x86_64-linux-gnu/libm.so.6$")
        self.assertEqual(self.shows(variable="LD_PRELOAD", HEDDLE_SHARED_HEAP="0"), [""])

    def test_rank_and_size(self):
        self.assertEqual(self.run_job("-n", "2", "sh", "-c", "echo $HEDDLE_RANK/$HEDDLE_SIZE").lines, ["0/2", "1/2"])


class Places(LauncherTest):
    def affinities(self, *options: str) -> list[str]:
        result = self.run_job("-l", *options, "grep", "Cpus_allowed_list", "/proc/self/status")
        self.assertEqual(result.code, 0, result.err)
        return [line.split()[-1] for line in result.lines]

    def test_not_bound(self):
        ours = [line.split()[-1] for line in pathlib.Path("/proc/self/status").read_text().splitlines() if line.startswith("Cpus_allowed_list")]
        self.assertEqual(self.affinities("--bind-to", "none", "-n", "2"), ours * 2)
        cores = len(os.sched_getaffinity(0))
        self.assertEqual(self.affinities("-n", str(cores)), ours * cores)  # a share of one core is not bound to

    def test_bound_to_cores(self):
        cpus = sorted(os.sched_getaffinity(0))
        bound = self.affinities("--bind-to", "hwthread", "--map-by", "hwthread", "-n", str(len(cpus)))
        self.assertEqual(sorted(bound, key=int), [str(cpu) for cpu in cpus])
        again = self.affinities("-bind-to", "hwthread:overload-allowed", "-n", str(2 * len(cpus)))  # round again
        self.assertEqual(sorted(again), sorted([str(cpu) for cpu in cpus] * 2))

    def test_cpu_set(self):
        first = str(min(os.sched_getaffinity(0)))
        self.assertEqual(self.affinities("--cpu-set", first, "-n", "2"), [first, first])
        self.assertEqual(self.run_job("--cpu-set", "99999", "true").code, 2)

    def test_report(self):
        result = self.run_job("--report-bindings", "--bind-to", "core", "-n", "1", "true")
        self.assertIn("mpiexec: rank 0 is bound to cpus ", result.err)
        result = self.run_job("--report-bindings", "--bind-to", "none", "-n", "1", "true")
        self.assertIn("mpiexec: rank 0 is not bound", result.err)

    def test_share_of_the_cores(self):
        cores = len(os.sched_getaffinity(0))
        out = self.run_job("-n", str(cores), RANK, "join", "cores", "leave").lines
        self.assertEqual({line.split()[1] for line in out}, {"1"})


class Accepted(LauncherTest):
    def test_silently(self):
        result = self.run_job("--oversubscribe", "--allow-run-as-root", "-enable-auto-cleanup", "--byslot", "-rr",
                              "--map-by", "slot:OVERSUBSCRIBE", "--rank-by", "slot", "-n", "2", "true")
        self.assertEqual((result.code, result.err), (0, ""))

    def test_named_as_ignored(self):
        options = ["--mca", "btl", "self,vader", "-iface", "eth0", "-launcher=ssh", "--display-map"]
        result = self.run_job(*options, "true")
        self.assertEqual(result.code, 0)
        self.assertEqual(result.err.count("\n"), 1)
        self.assertIn("ignored options, which have no effect here: --mca btl self,vader, -iface eth0, -launcher=ssh, --display-map", result.err)
        self.assertEqual(self.run_job("-q", *options, "true").err, "")

    def test_help_and_version(self):
        self.assertIn("Usage: mpiexec", self.run_job("--help").out)
        self.assertIn("-genv NAME VALUE", self.run_job("-h").out)
        self.assertIn("Heddle", self.run_job("--version").out)

    def test_help_says_what_each_option_does(self):
        lines = self.run_job("--help").out.splitlines()
        options = [i for i, line in enumerate(lines) if line.startswith("  -")]
        self.assertGreater(len(options), 50)
        for i in options:
            rest = next(line for line in lines[i + 1:] if not re.match("    -|    [^ ]", line))
            beside, below = lines[i][28:].strip(), rest[:28].strip() == "" and rest.strip()
            self.assertTrue(beside or below, lines[i])

    def test_help_fits_the_terminal(self):
        for columns in (70, 80, 100):
            help_text = self.run_job("--help", env={"COLUMNS": str(columns)}).out
            self.assertEqual([line for line in help_text.splitlines() if len(line) > columns], [])

    def test_help_shows_each_option_once_the_everyday_ones_first_and_an_example(self):
        help_text = self.run_job("--help").out
        everyday, others = help_text.index("Everyday options:"), help_text.index("All other options:")
        for shown in ("-n, -np, -c N", "-host, -hosts, -H HOST", "-x NAME", "-timeout SECONDS", "-help"):
            self.assertEqual(help_text.count(f"\n  {shown}"), 1, shown)
            self.assertTrue(everyday < help_text.index(f"\n  {shown}") < others, shown)
        self.assertGreater(help_text.index("\n  -genv NAME VALUE"), others)
        self.assertIn("mpiexec -n 4 ./program", help_text[others:])

    def test_verbose(self):
        self.assertIn("mpiexec: started rank 0", self.run_job("-v", "true").err)

    def test_mpirun(self):
        mpirun = pathlib.Path(launcher.MPIEXEC).with_name("mpirun")
        self.assertTrue(os.path.samefile(mpirun, launcher.MPIEXEC))


if __name__ == "__main__":
    launcher.main()

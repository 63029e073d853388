#!/usr/bin/env python3
"""Builds MPICH's own tests in C and in Fortran 2008 against an installed MPI library and runs them as their lists say.

The sources are not part of this tree. Fetch them first, into any place:

    git clone --depth 1 https://github.com/pmodels/mpich
    ./dev stage
    tests/foreign/mpich.py build/stage mpich

A test passes as MPICH's runtests has it: exit code 0 and no output but "No Errors", unless its list says otherwise
(resultTest). Programs are built once for each prefix and header, under build/mpich; remove that to build them again.

The lines of the lists are run once: what only sets variables of MPICH's (MPIR_CVAR_...) is the same run
for any other library. Lists of datatypes (testlist.dtp) are made as MPICH's configure makes them. Left out are
C++, older Fortran (and all Fortran if there is no mpifort), GPUs, MPICH's extensions and its measurements; what is left out of the
lists that are read is counted.

mpich-failures.txt, beside this program, lists the tests that Heddle fails on purpose, and why. Exits with 1 if another
test fails, or one of those passes.
"""

from __future__ import annotations

import argparse
import collections
import concurrent.futures
import hashlib
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import threading
import time
from dataclasses import dataclass, field

import cells

FOLDERS = (
    "attr coll comm datatype errhan group info init io mpi_t part pt2pt rma session spawn topo "
    "errors/attr errors/coll errors/comm errors/datatype errors/group errors/io errors/pt2pt errors/rma errors/session "
    "errors/spawn errors/topo threads/coll threads/comm threads/init threads/mpi_t threads/part threads/pt2pt threads/rma"
).split()
FORTRAN = (
    "f08/attr f08/coll f08/comm f08/datatype f08/ext f08/info f08/init f08/io f08/misc f08/profile f08/pt2pt f08/rma f08/spawn "
    "f08/subarray f08/timer f08/topo errors/f08/io"
).split()

# The results of MPICH's configure on a 64-bit Linux with POSIX threads and no Fortran; tests keep to the standard.
DEFINITIONS = (
    "STDC_HEADERS HAVE_STDARG_H HAVE_STDLIB_H HAVE_STRING_H HAVE_UNISTD_H HAVE_STDINT_H HAVE_SYS_TIME_H "
    "HAVE_SYS_RESOURCE_H HAVE_PTHREAD_H HAVE_GETRUSAGE HAVE_STRDUP HAVE_USLEEP HAVE_PTHREAD_BARRIER_INIT "
    "HAVE_LONG_DOUBLE HAVE_LONG_LONG HAVE_LONG_LONG_INT HAVE__BOOL HAVE_FLOAT__COMPLEX HAVE_DOUBLE__COMPLEX "
    "HAVE_LONG_DOUBLE__COMPLEX USE_LONG_DOUBLE_COMPLEX HAVE_ATOMIC HAVE_MPI_WIN_CREATE HAVE_MPI_INIT_THREAD "
    "HAVE_MPI_TYPE_CREATE_STRUCT HAVE_MPI_INTEGER16 USE_STRICT_MPI ENABLE_STRICTMPI MPIO_USES_MPI_REQUEST"
).split()

DATATYPES = ("MPI_INT", "MPI_INT:4+MPI_DOUBLE:8")  # those of MPICH's configure
LIBRARY = (
    "util/mtest.c util/mtest_common.c util/dtypes.c util/run_mpitests.c dtpools/src/dtpools.c "
    "dtpools/src/dtpools_misc.c dtpools/src/dtpools_init_verify.c dtpools/src/dtpools_desc.c "
    "dtpools/src/dtpools_attr.c dtpools/src/dtpools_custom.c"
).split()
NOTE = re.compile(r"heddle: MPI_\w+ on MPI_CHAR:")  # said once by a program that does that
NO_ERRORS = re.compile(r"^\s*No [Ee]rrors\s*$")
SKIPPED = re.compile(r"^\s*Test Skipped\s*$")
OUTCOMES = ("passed", "failed", "fails on purpose", "passes by surprise")
WARNING = re.compile(r"^(WARNING: |(Abort.*)?application called MPI_Abort)")


@dataclass
class Test:
    folder: str
    name: str
    ranks: int
    arguments: list[str] = field(default_factory=list)
    environment: dict[str, str] = field(default_factory=dict)
    mpiexec: list[str] = field(default_factory=list)
    limit: float | None = None
    memory: float = 0.0
    rule: str = "TestNormal"
    expected_to_fail: str = ""
    strict: bool = True

    def __str__(self) -> str:
        return " ".join([f"{self.folder}/{self.name}", str(self.ranks), *self.arguments])


# ---- the lists ------------------------------------------------------------------------------------------------------


def parse(folder: str, line: str) -> Test:
    words = line.split()
    test = Test(folder, words[0], int(words[1]) if len(words) > 1 else 2)
    for word in words[2:]:
        key, _, value = word.partition("=")
        if key == "arg":
            test.arguments.append(value)
        elif key == "env":
            name, _, setting = value.partition("=")
            test.environment[name] = setting
        elif key == "mpiexecarg":
            test.mpiexec.append(value)
        elif key == "timeLimit":
            test.limit = float(value)
        elif key == "mem":
            test.memory = float(value)
        elif key == "resultTest":
            test.rule = value
        elif key == "xfail":
            test.expected_to_fail = value
        elif key == "strict":
            test.strict = value.lower() != "false"
    return test


def listed(sources: pathlib.Path, folder: str, left_out: collections.Counter[str]) -> list[Test]:
    path = sources / folder / "testlist"
    if not path.exists():
        path = path.with_suffix(".in")
    tests = []
    for line in path.read_text().splitlines():
        line = line.split("#")[0].replace("@comm_overlap@", "").replace("@namepub_tests@", "").strip()
        if line.startswith("@"):
            left_out["left out by MPICH's configure too"] += 1
        elif line and not (sources / folder / line.split()[0]).is_dir():
            tests.append(parse(folder, line))
    return tests


def datatype_lists(sources: pathlib.Path) -> list[Test]:
    """The output of maint/gentests_dtp.sh, seeds included, for the folders that are run."""
    tests = []
    seed = 1
    for line in (sources / "maint/dtp-test-config.txt").read_text().splitlines():
        if not line or line.startswith("#"):
            continue
        path, extra, counts, rest, ranks, least, most = line.split(":")[:7]
        folder, name = path.rsplit("/", 1)
        least, most = int(least), int(most or least)
        for datatype in DATATYPES:
            size = before = 0
            for count in map(int, counts.split()):
                size = most if size == 0 else min(max(size * before // count, least), most)
                before = before or count
                pairs = folder in ("pt2pt", "part")
                for received in (count, 2 * count) if pairs else (count,):
                    counts_of = [f"-sendcnt={count}", f"-recvcnt={received}"] if pairs else [f"-count={count}"]
                    words = [f"-type={datatype}", *counts_of, f"-seed={seed}", f"-testsize={size}", *extra.split()]
                    seed += 1
                    if folder in FOLDERS:
                        tests.append(parse(folder, f"{name} {ranks} arg={' arg='.join(words)} {rest}"))
    return tests


def choose(options: argparse.Namespace, left_out: collections.Counter[str]) -> list[Test]:
    tests = [test for folder in options.folders for test in listed(options.sources, folder, left_out)]
    tests += datatype_lists(options.sources)
    seen = set()
    chosen = []
    for test in tests:
        test.environment = {k: v for k, v in test.environment.items() if not k.startswith("MPIR_CVAR_")}
        key = (str(test), *sorted(test.environment.items()))
        if key in seen:
            left_out["differs from another in variables of MPICH only"] += 1
        elif not test.strict and not options.extensions:
            left_out["marked as not of the standard"] += 1
        elif test.memory > options.memory:
            left_out[f"needs more than {options.memory:g} GB"] += 1
        elif re.search(options.select, str(test)):
            chosen.append(test)
        seen.add(key)
    return chosen


# ---- building -------------------------------------------------------------------------------------------------------


class Builder:
    def __init__(self, options: argparse.Namespace) -> None:
        self.sources: pathlib.Path = options.sources
        self.home: pathlib.Path = options.home
        self.compiler = [str(options.prefix / "bin" / options.mpicc), "-O1", "-g", "-w", "-std=gnu11"]
        self.compiler += [f"-I{self.home}/include", f"-I{self.sources}/include", f"-I{self.sources}/dtpools/include"]
        self.log = self.home / "build.log"
        self.lock = threading.Lock()
        self.fortran_compiler = [str(options.prefix / "bin/mpifort"), "-O1", "-g", "-w"]
        self.rules = {folder: self.read_rules(folder) for folder in options.folders}

    def read_rules(self, folder: str) -> dict[str, str]:
        text = (self.sources / folder / "Makefile.am").read_text().replace("\\\n", " ")
        return dict(re.findall(r"^(\w+_(?:SOURCES|CPPFLAGS))\s*=(.*)$", text, re.MULTILINE))

    def call(self, command: list[str]) -> bool:
        done = subprocess.run(command, cwd=self.home, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        if done.returncode != 0:
            with self.lock, self.log.open("a") as log:
                log.write(" ".join(command) + "\n" + done.stdout)
        return done.returncode == 0

    def library(self) -> None:
        """The objects linked to all tests, once for those with one thread and once for the others."""
        if (self.home / "libthread.a").exists():
            return
        (self.home / "include").mkdir(parents=True, exist_ok=True)
        lines = [f"#define {name} 1" for name in DEFINITIONS]
        lines += ["#define THREAD_PACKAGE_NAME THREAD_PACKAGE_POSIX", "#define POINTERINT_t long"]
        lines += ["#define MPI_Errhandler_set MPI_Comm_set_errhandler"]  # three tests use the name that MPI 3.0 removed
        (self.home / "include/mpitestconf.h").write_text("\n".join(lines) + "\n")
        (self.home / "include/mtest_mpix.h").write_text("")
        (self.home / "dtpoolsconf.h").write_text("#define HAVE_MEMSET 1\n")
        for kind, flags in (("single", []), ("thread", ["-DMTEST_USE_THREAD"])):
            objects = []
            for source in (*LIBRARY, f"util/mtest_{kind}.c"):
                objects.append(str(self.home / f"{kind}-{pathlib.Path(source).stem}.o"))
                if not self.call([*self.compiler, *flags, "-c", str(self.sources / source), "-o", objects[-1]]):
                    sys.exit(f"mpich.py: {source} does not compile ({self.log})")
            self.call(["ar", "rcs", f"lib{kind}.a", *objects])

    def fortran_library(self) -> None:
        """The same for Fortran; and the sources that MPICH's makefiles make: one test for each way to write a file."""
        made = self.home / "f08/io"
        if (made / "writeshf90.f90").exists():
            return
        made.mkdir(parents=True, exist_ok=True)
        harness = [str(self.sources / "f08/io" / name) for name in ("ioharness.defn", "ioharness.tlt")]
        script = self.home / "testmerge"
        script.write_text((self.sources / "maint/testmerge.in").read_text().replace("@PERL@", "/usr/bin/perl", 1))
        merge = ["perl", str(script), f"-defn={self.sources}/maint/common.defn", *harness]
        subprocess.run(merge, cwd=made, check=True, stdout=subprocess.DEVNULL)
        library = [*self.fortran_compiler, "-c", str(self.sources / "util/mtest_f08.f90"), "-o", "fortran.o"]
        if not self.call(library):
            sys.exit(f"mpich.py: {library[-3]} does not compile ({self.log})")

    def fortran_program(self, folder: str, name: str) -> bool:
        (self.home / folder).mkdir(parents=True, exist_ok=True)
        output = str(self.home / folder / name)
        paths = []
        for file in self.rules[folder].get(f"{name}_SOURCES", f"{name}.f90").split():
            places = (self.sources / folder, self.home / folder, self.sources / folder.replace("f08", "f77"))
            paths.append(str(next((place / file for place in places if (place / file).exists()), file)))
        in_c = [path for path in paths if path.endswith(".c")]
        compiler = [*self.compiler, f"-I{self.home}/{folder}", "-DF77_NAME_LOWER_USCORE=1"]
        if len(in_c) == len(paths):
            return self.call([*compiler, *paths, "libsingle.a", "-o", output, "-lm", "-lpthread"])
        objects = []
        for path in in_c:
            objects.append(str(self.home / folder / f"{name}-{pathlib.Path(path).stem}.o"))
            if not self.call([*compiler, "-c", path, "-o", objects[-1]]):
                return False
        sources = sorted(set(paths) - set(in_c), key=lambda path: pathlib.Path(path).stem == name)  # modules come first
        modules = self.home / folder / f"{name}-modules"  # two programs have modules of the same name
        modules.mkdir(exist_ok=True)
        return self.call([*self.fortran_compiler, f"-J{modules}", *sources, *objects, "fortran.o", "-o", output])

    def program(self, folder: str, name: str) -> bool:
        if (self.home / folder / name).exists():
            return True
        if folder in FORTRAN:
            return self.fortran_program(folder, name)
        rules = self.rules[folder]
        flags = [word for word in rules.get(f"{name}_CPPFLAGS", "").split() if word.startswith("-D")]
        files = [word for word in rules.get(f"{name}_SOURCES", f"{name}.c").split() if word.endswith(".c")]
        kind = "thread" if folder.startswith("threads") else "single"
        flags += ["-DMTEST_USE_THREAD"] if kind == "thread" else []
        (self.home / folder).mkdir(parents=True, exist_ok=True)
        paths = [str(self.sources / folder / file) for file in files]
        output = str(self.home / folder / name)
        return self.call([*self.compiler, *flags, *paths, f"lib{kind}.a", "-o", output, "-lm", "-lpthread"])


# ---- running --------------------------------------------------------------------------------------------------------


def verdict(rule: str, status: int, output: str) -> str:
    """The failure of a run; empty when nothing is."""
    if rule in ("TestStatus", "TestErrFatal"):
        return "" if status != 0 else "exit code 0"
    lines = [line for line in output.splitlines() if not NOTE.match(line)]
    stray = [line for line in lines if line.strip() and not NO_ERRORS.match(line) and not SKIPPED.match(line)]
    if rule in ("TestAllowWarnings", "TestStatusNoErrors"):
        stray = [line for line in stray if not WARNING.match(line)]
    said = any(NO_ERRORS.match(line) for line in lines)
    if stray:
        return f"exit code {status}: {stray[0].strip()}"
    if not said and not any(SKIPPED.match(line) for line in lines):
        return f"exit code {status}: ended without a word"
    if (status == 0) == (rule == "TestStatusNoErrors"):
        return f"exit code {status}"
    return ""


def run(options: argparse.Namespace, test: Test) -> tuple[str, float]:
    limit = max(test.limit or 0, options.limit) if test.rule == "TestNormal" else test.limit or options.limit
    command = [str(options.prefix / "bin/mpiexec"), "-timeout", f"{limit:.0f}", *options.mpiexec.split(), *test.mpiexec]
    if test.folder.startswith("errors/") or test.name.startswith(("attrerr", "namepub", "connaccf90")):
        # They ask MPI_COMM_WORLD to return errors; what belongs to no communicator is raised on MPI_COMM_SELF.
        command += ["-initial-errhandler", "mpi_errors_return"]
    name = re.sub(r"[^\w.+=-]+", "_", str(test))[:200]
    directory = options.home / test.folder
    program = f"./{test.name}"
    if test.folder.endswith("io"):  # some give their files the same names
        program = str(directory / test.name)
        directory = options.home / "scratch" / name
        shutil.rmtree(directory, ignore_errors=True)
        directory.mkdir(parents=True)
    command += ["-n", str(test.ranks), program, *test.arguments]
    start = time.monotonic()
    with subprocess.Popen(
        command,
        cwd=directory,
        env={**os.environ, **test.environment},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        start_new_session=True,
    ) as job:
        try:
            output = job.communicate(timeout=limit + 20)[0].decode(errors="replace")
            wrong = verdict(test.rule, job.returncode, output)
            if job.returncode == 124 and test.rule != "TestErrFatal":
                wrong = f"not done in {limit:.0f} s"
        except subprocess.TimeoutExpired:
            os.killpg(job.pid, signal.SIGKILL)
            output = job.communicate()[0].decode(errors="replace")
            wrong = f"mpiexec did not end the job after {limit:.0f} s"
    (options.logs / f"{name}.log").write_text(" ".join(command) + "\n" + output)
    return wrong, time.monotonic() - start


def table(tests: list[Test], unbuilt: set[tuple[str, str]], outcomes: dict[str, str]) -> str:
    rows = [["folder", "programs", "not built", "run", *OUTCOMES]]
    for folder in (*FOLDERS, *FORTRAN, "all"):
        here = [test for test in tests if folder in ("all", test.folder)]
        count = collections.Counter(outcomes[str(test)] for test in here if str(test) in outcomes)
        programs = {(test.folder, test.name) for test in here}
        if here:
            numbers = (len(programs), len(programs & unbuilt), count.total(), *(count[name] for name in OUTCOMES))
            rows.append([folder, *map(str, numbers)])
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    return "\n".join("  ".join([row[0].ljust(widths[0]), *map(str.rjust, row[1:], widths[1:])]) for row in rows)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("prefix", type=pathlib.Path, help="where bin/mpicc is: build/stage, or another MPI's prefix")
    parser.add_argument("sources", type=pathlib.Path, help="a clone of MPICH, or its test/mpi")
    parser.add_argument("-b", "--build", type=pathlib.Path, default="build/mpich", help="where programs go")
    parser.add_argument("-j", "--jobs", type=int, default=2, help="tests at a time (2)")
    parser.add_argument("-k", "--select", default="", help="regular expression over 'folder/name ranks arguments'")
    parser.add_argument("-l", "--logs", type=pathlib.Path, help="where logs go (beside the programs)")
    parser.add_argument("-m", "--mpicc", default="mpicc", help="the compiler wrapper's name (MPICH: mpicc_abi)")
    parser.add_argument(
        "-t", "--limit", type=float, default=60.0, help="seconds for a test, if its list allows no more (60)"
    )
    parser.add_argument("-x", "--extensions", action="store_true", help="also tests marked as not of the standard")
    parser.add_argument("--memory", type=float, default=4, help="leave out tests that need more than so many GB (4)")
    parser.add_argument("--mpiexec", default="", help="arguments of mpiexec: --mpiexec='--ranks threads'")
    options = parser.parse_args()
    options.prefix = options.prefix.resolve()
    nested = options.sources / "test/mpi"
    options.sources = (nested if nested.is_dir() else options.sources).resolve()
    if not (options.sources / "maint/dtp-test-config.txt").exists():
        parser.error(f"{options.sources} is no clone of MPICH")
    built_for = [options.prefix / "include/mpi.h", options.prefix / "bin" / options.mpicc]
    key = hashlib.sha256(b"".join(path.read_bytes() for path in built_for) + str(options.prefix).encode())
    options.folders = [*FOLDERS, *(FORTRAN if (options.prefix / "bin/mpifort").exists() else ())]
    options.home = options.build.resolve() / key.hexdigest()[:12]
    options.logs = (options.logs or options.home / "logs").resolve()
    options.logs.mkdir(parents=True, exist_ok=True)

    left_out: collections.Counter[str] = collections.Counter()
    tests = choose(options, left_out)
    builder = Builder(options)
    builder.library()
    if options.folders[-1] in FORTRAN:
        builder.fortran_library()
    purposes = cells.known(pathlib.Path(__file__).with_name("mpich-failures.txt"))
    outcomes: dict[str, str] = {}
    lines: list[str] = []
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        programs = sorted({(test.folder, test.name) for test in tests})
        built = dict(zip(programs, pool.map(lambda program: builder.program(*program), programs)))
        unbuilt = {program for program in programs if not built[program]}
        reasons = {(folder, name): cells.reason_for(f"{folder}/{name}", purposes) for folder, name in unbuilt}
        lines += [f"not built: {folder}/{name}: {reasons[folder, name] or builder.log}" for folder, name in sorted(unbuilt)]
        runs = {pool.submit(run, options, test): test for test in tests if built[test.folder, test.name]}
        for done in concurrent.futures.as_completed(runs):
            test = runs[done]
            wrong, seconds = done.result()
            reason = cells.reason_for(str(test), purposes)
            if wrong:
                outcome = "fails on purpose" if reason else "failed"
                expectation = f" (MPICH expects that: {test.expected_to_fail})" if test.expected_to_fail else ""
                lines.append(f"{outcome}: {test}: {reason or wrong}{expectation}")
            else:
                outcome = "passes by surprise" if reason else "passed"
                lines += [f"{outcome}: {test}: {reason}"] if reason else []
            outcomes[str(test)] = outcome
            print(f"{test}: {outcome}{': ' + wrong if wrong else ''}, {seconds:.1f} s", flush=True)
    print("", *sorted(lines), "", table(tests, unbuilt, outcomes), sep="\n")
    for reason, number in sorted(left_out.items()):
        print(f"left out: {number}, {reason}")
    return 0 if all(reasons.values()) and set(outcomes.values()) <= {"passed", "fails on purpose"} else 1


if __name__ == "__main__":
    sys.exit(main())

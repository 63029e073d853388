"""The Intel MPI Benchmarks, built with CHECK so that they compare what arrives: git clone
https://github.com/intel/mpi-benchmarks"""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Iterable

import cells
from rows import Row, Suite

PACKAGE = ""
RANKS = "processes"
COUNTS = [2, 4]
PROGRAMS = ("MPI1", "NBC", "RMA", "EXT", "IO", "MPI4", "MT")
PAIRS = ("Compare_and_swap", "Fetch_and_op")  # they measure nothing with other numbers of ranks
SHORT = ["-iter", "20", "-iter_policy", "off", "-msglog", "0:18", "-npmin", "64"]  # only with all ranks
MT = ["-repeat", "20", "-count", "1,64,4096,65536", "-check", "on", "-thread_level", "multiple"]

THREADS = {"OMP_NUM_THREADS": "2", "OMP_WAIT_POLICY": "passive"}


def build(suite: Suite) -> None:
    folder = suite.sources / "src_cpp"
    for program in PROGRAMS:
        flags = ["CPPFLAGS=-DCHECK", "CFLAGS=-w", "CXXFLAGS=-w -fopenmp", "WITH_OPENMP=1"]
        make = ["make", f"-j{os.cpu_count()}", f"TARGET={program}", f"CC={suite.mpicc}", f"CXX={suite.mpicxx}", *flags]
        suite.call(*make, directory=folder)
        suite.call("sh", "-c", "find . ../src_c -name '*.o' -delete", directory=folder)  # each program has flags of its own


def judge(run: cells.Run) -> str:
    """The last column of a table that counts defects must be 0."""
    checked = False
    lines = defects = wrong = 0
    for line in run.output.splitlines():
        words = line.split()
        if line.lstrip().startswith("#bytes") or line.lstrip().startswith("#repetitions"):
            checked = words[-1] == "defects"
        elif words and all(re.fullmatch(r"\d+(\.\d+)?", word) for word in words):
            lines += 1
            defects += checked and float(words[-1]) != 0
        wrong += bool(re.match(r"\d+: Error|CHECK FAILURES", line))
    return "passed" if run.status == 0 and lines and not defects and not wrong else "failed"


def rows(suite: Suite) -> Iterable[Row]:
    for program in PROGRAMS:
        path = str(suite.sources / "src_cpp" / f"IMB-{program}")
        listing = subprocess.run([suite.mpiexec, "-n", "1", path, "-list"], stdout=subprocess.PIPE, text=True).stdout
        for name in re.findall(r"^    (\w+)(?: \(.*\))?$", listing, re.MULTILINE):
            row = Row(f"{program} {name}", suite.launched(path, name, *(MT if program == "MT" else SHORT)), suite.home, judge=judge)
            if name in PAIRS:
                row.counts = {2}
            if program == "MT":
                row.environment = THREADS
            yield row

"""The OSU micro-benchmarks, version 7 or newer, which validate what arrives: an unpacked release of
https://mvapich.cse.ohio-state.edu/benchmarks"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable

import cells
from rows import Row, Suite

PACKAGE = ""
RANKS = "processes threads"
COUNTS = [2, 4]
PLAIN = re.compile(r"one-sided/|startup/|barrier")  # they validate nothing
PAIRS = re.compile(r"one-sided/(?!osu_(get_multi_lat|get_mbw))|pt2pt/(?!standard/osu_(mbw_mr|multi_lat))")  # for two ranks
NODES = re.compile(r"congestion/")  # they want several nodes
RADIUS = re.compile(r"neighborhood/")  # they want four ranks


def build(suite: Suite) -> None:
    configure = [str(suite.sources / "configure"), f"CC={suite.mpicc}", f"CXX={suite.mpicxx}", "CFLAGS=-O1 -w", "CXXFLAGS=-O1 -w"]
    suite.call(*configure)
    suite.call("make", f"-j{os.cpu_count()}")


def validated(run: cells.Run) -> str:
    words = set(re.findall(r"\b(?:Pass|Fail)\b", run.output))
    return "passed" if run.status == 0 and words == {"Pass"} else "failed"


def measured(run: cells.Run) -> str:
    """Those that do not validate print a number, or that they have started."""
    return "passed" if run.status == 0 and re.search(r"\d", run.output) else "failed"


def rows(suite: Suite) -> Iterable[Row]:
    folder = suite.build / "c/mpi"
    for path in sorted(folder.glob("**/osu_*")):
        name = str(path.relative_to(folder))
        if not path.is_file() or path.suffix or not os.access(path, os.X_OK) or NODES.search(name):
            continue
        counts = {2} if PAIRS.search(name) else {4} if RADIUS.search(name) else set()
        options = [] if "startup" in name else ["-i", "20", "-x", "2"]
        options += ["-m", "4:262144"] if "startup" not in name and "barrier" not in name and not re.search("cas|fop", name) else []
        options += ["-t", "2:2"] if name.endswith("_mt") else []
        if PLAIN.search(name):
            yield Row(name, suite.launched(str(path), *options), suite.build, counts, measured)
        else:
            yield Row(name, suite.launched(str(path), "-c", *options), suite.build, counts, validated)

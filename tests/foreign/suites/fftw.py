"""FFTW's own checks of its transforms between ranks, and of those with two threads a rank: Debian's sources, or an unpacked
release of https://fftw.org"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable

import cells
from rows import Row, Suite

PACKAGE = "fftw3"
RANKS = "processes"
COUNTS = [1, 2, 3, 4]
LIMIT = 600
CHECKS = 30


def build(suite: Suite) -> None:
    configure = [str(suite.sources / "configure"), "--enable-mpi", "--enable-threads", "--disable-fortran", "--disable-doc"]
    suite.call(*configure, f"MPICC={suite.mpicc}", "CC=ccache cc" if os.environ.get("HEDDLE_CC") else "CC=cc", "CFLAGS=-O1 -w")
    suite.call("make", f"-j{os.cpu_count()}")


def judge(run: cells.Run) -> str:
    """The checks end with exit code 0 also when a program was killed."""
    done = len(re.findall(r"^Executing ", run.output, re.MULTILINE))
    bad = re.search(r"^(FAILED|hangup|interrupted|killed)", run.output, re.MULTILINE)
    return "passed" if run.status == 0 and done and not bad else "failed"


def rows(suite: Suite) -> Iterable[Row]:
    def checks(*options: str) -> Row.command:
        check = ["perl", "-w", str(suite.sources / "tests/check.pl"), "--verbose", "--random", "--maxsize=10000", f"-c={CHECKS}"]
        return lambda n: [*check, "--mpi", *options, f"{suite.mpiexec} -n {n} {suite.build}/mpi/mpi-bench"]

    yield Row("transforms", checks(), suite.build, judge=judge)
    yield Row("transforms, two threads a rank", checks("--nthreads=2"), suite.build, judge=judge)

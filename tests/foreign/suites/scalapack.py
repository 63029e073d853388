"""ScaLAPACK's own tests, and those of BLACS and PBLAS in it: Debian's sources, or a clone of
https://github.com/Reference-ScaLAPACK/scalapack"""

from __future__ import annotations

from collections.abc import Iterable

from rows import Row, Suite

PACKAGE = "scalapack"
RANKS = "processes"
LIMIT = 900


def build(suite: Suite) -> None:
    suite.cmake(
        "-DCMAKE_BUILD_TYPE=Release",
        "-DCMAKE_C_FLAGS_RELEASE=-O1 -w",
        "-DCMAKE_Fortran_FLAGS_RELEASE=-O1 -w",
        f"-DCMAKE_C_FLAGS={suite.conversions} -std=gnu89",
        f"-DMPIEXEC={suite.mpiexec}",
        "-DMPIEXEC_NUMPROC_FLAG=-n",
        f"-DMPI_BASE_DIR={suite.prefix}",
    )


def rows(suite: Suite) -> Iterable[Row]:
    for row in suite.ctest():
        row.counts = {4}  # all of them, some by a script
        yield row

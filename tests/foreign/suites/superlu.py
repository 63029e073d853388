"""SuperLU_DIST's own tests and examples, without ParMETIS: Debian's sources, or a clone of
https://github.com/xiaoyeli/superlu_dist"""

from __future__ import annotations

from collections.abc import Iterable

from rows import Row, Suite

PACKAGE = "superlu-dist"
RANKS = "processes"


def build(suite: Suite) -> None:
    suite.cmake(
        "-DCMAKE_BUILD_TYPE=Release",
        "-DCMAKE_C_FLAGS_RELEASE=-O1 -w",
        "-DCMAKE_CXX_FLAGS_RELEASE=-O1 -w",
        f"-DMPIEXEC={suite.mpiexec}",
        "-DTPL_ENABLE_PARMETISLIB=OFF",
        "-DTPL_ENABLE_INTERNAL_BLASLIB=OFF",
        "-DXSDK_ENABLE_Fortran=OFF",
        "-Denable_python=OFF",
        "-Denable_openmp=OFF",
    )


def rows(suite: Suite) -> Iterable[Row]:
    return suite.ctest(alone=False)

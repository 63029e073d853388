"""mpif, Fortran's bindings above the C ABI, and its own tests: git clone https://github.com/eschnett/mpif"""

from __future__ import annotations

from collections.abc import Iterable

from rows import Row, Suite

PACKAGE = ""
RANKS = "processes"


def build(suite: Suite) -> None:
    installed = suite.home / "installed"
    suite.cmake(
        f"-DMPI_HOME={suite.prefix}",
        f"-DCMAKE_INSTALL_PREFIX={installed}",
        build=suite.home / "library",
    )
    suite.call("cmake", "--install", str(suite.home / "library"))
    # The tests are a project of their own, for an MPI whose mpifort is mpif's; their launcher's version names Heddle.
    suite.cmake(
        f"-DMPI_Fortran_COMPILER={installed}/bin/mpifort",
        "-DMPIF_TEST_MPI_LIBRARY=heddle",
        sources=suite.sources / "test",
    )


def rows(suite: Suite) -> Iterable[Row]:
    return suite.ctest()

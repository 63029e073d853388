"""PT-Scotch's own tests, those of Scotch with several ranks: Debian's sources, or a clone of
https://gitlab.inria.fr/scotch/scotch"""

from __future__ import annotations

from collections.abc import Iterable

from rows import Row, Suite

PACKAGE = "scotch"
RANKS = "processes"


def build(suite: Suite) -> None:
    suite.cmake("-DCMAKE_BUILD_TYPE=Release", "-DCMAKE_C_FLAGS_RELEASE=-O1 -w", "-DBUILD_LIBESMUMPS=OFF", "-DBUILD_LIBSCOTCHMETIS=OFF")


def rows(suite: Suite) -> Iterable[Row]:
    return suite.ctest(alone=False)

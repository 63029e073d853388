"""The constants of Fortran's bindings, from api/constants.toml."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

_C_ONLY = ("MPI_T_", "MPI_F_", "MPIX_")
_TOOL_ERRORS = "MPI_T_ERR_"  # error classes, which Fortran has with all others
_FORTRAN = {  # what only Fortran has
    "MPI_STATUS_SIZE": 8,
    "MPI_SOURCE": 1,
    "MPI_TAG": 2,
    "MPI_ERROR": 3,
    "MPI_ADDRESS_KIND": 8,
    "MPI_COUNT_KIND": 8,
    "MPI_OFFSET_KIND": 8,
}

# Variables that stand for an argument: name, type and shape in the module mpi, type and shape in mpi_f08 where they differ.
SENTINELS = [
    ("MPI_BOTTOM", "INTEGER", "", None),
    ("MPI_IN_PLACE", "INTEGER", "", None),
    ("MPI_BUFFER_AUTOMATIC", "INTEGER", "", None),
    ("MPI_STATUS_IGNORE", "INTEGER", "(MPI_STATUS_SIZE)", ("TYPE(MPI_Status)", "")),
    ("MPI_STATUSES_IGNORE", "INTEGER", "(MPI_STATUS_SIZE,1)", ("TYPE(MPI_Status)", "(1)")),
    ("MPI_UNWEIGHTED", "INTEGER", "(1)", None),
    ("MPI_WEIGHTS_EMPTY", "INTEGER", "(1)", None),
    ("MPI_ERRCODES_IGNORE", "INTEGER", "(1)", None),
    ("MPI_ARGV_NULL", "CHARACTER*1", "(1)", None),
    ("MPI_ARGVS_NULL", "CHARACTER*1", "(1,1)", None),
]


def symbol(sentinel: str, f08: bool = False) -> str:
    """The name of the variable in the library, which is also that of mpif.h's common block (with the compiler's underscore).

    `f08`: of the one that has another type in mpi_f08, where it is another variable.
    """
    return ("mpi_f08_" if f08 else "mpi_fortran_") + sentinel.removeprefix("MPI_").lower()


@dataclass(frozen=True)
class Constants:
    integers: dict[str, int]
    handles: dict[str, dict[str, int]]  # by type
    offsets: dict[str, int]  # INTEGER(KIND=MPI_OFFSET_KIND)

    @property
    def handle_values(self) -> dict[str, int]:
        return {name: value for values in self.handles.values() for name, value in values.items()}


def _is_fortran(name: str) -> bool:
    return name.startswith(_TOOL_ERRORS) or not name.startswith(_C_ONLY)


def load(tables: dict[str, Any], integer_bytes: int) -> Constants:
    handles = {
        kind: {n: v for n, v in values.items() if _is_fortran(n)}
        for kind, values in tables["handle"].items()
        if _is_fortran(kind)
    }
    for alias, of in tables["alias"].items():
        for values in handles.values():
            if of in values:
                values[alias] = values[of]
    integers = _FORTRAN | {"MPI_INTEGER_KIND": integer_bytes}
    integers |= tables["version"]
    for values in tables["enum"].values():
        integers |= {n: v for n, v in values.items() if _is_fortran(n)}
    # A string in Fortran has no end that would count.
    integers |= {n: v - (1 if n.startswith("MPI_MAX_") else 0) for n, v in tables["limit"].items()}
    return Constants(integers, handles, tables["typed"]["MPI_Offset"])

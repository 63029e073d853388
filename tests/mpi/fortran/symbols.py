"""The exports of a library for Fortran and their use by programs, by the names in their dynamic symbol tables."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterable
from pathlib import Path

from render import Interface

# Functions of Fortran, one for all interfaces.
_SHARED_FUNCTIONS = {"mpi_wtime_", "mpi_wtick_", "mpi_aint_add_", "mpi_aint_diff_"}

# Variables that stand for an argument.
_SENTINEL = ("mpi_fortran_", "mpi_f08_status")

# Their arguments have a type that only modules can have.
_WITH_TYPES = {"mpi_status_f2f08_", "mpi_status_f082f_"}


def table(file: Path) -> dict[str, str]:
    """The address (none if it is of another library) by symbol."""
    lines = subprocess.run(
        ["nm", "--dynamic", "--portability", file], capture_output=True, text=True, check=True
    ).stdout.splitlines()
    result = {}
    for line in lines:
        name, _, *address = line.split()
        result[name.split("@")[0]] = address[0] if address else ""
    return result


def _is_of(name: str, interface: Interface) -> bool:
    """True if programs for the interface use the procedure `name`."""
    if name.startswith("mpi_f08_status"):
        return interface.is_f08
    if re.search(r"_f08(ts)?_$", name):
        # The module mpi has this one of mpi_f08, too.
        return interface.is_f08 or (name == "mpi_sizeof_f08ts_" and interface.name == "mpi")
    if name in _SHARED_FUNCTIONS:
        return True
    if name.endswith("_cptr_") or name in _WITH_TYPES:
        return interface.name == "mpi"  # in mpi_f08 they have names of their own
    if name.endswith(("_fn_", "_fn_null_", "_fn_null_c_")):
        old = name in {"mpi_null_copy_fn_", "mpi_null_delete_fn_", "mpi_dup_fn_"}
        large = name.endswith("_c_")
        return not (large or old) if not interface.is_f08 else not old
    return not interface.is_f08


def never_called(library: Path, programs: Iterable[Path], interface: Interface) -> list[str]:
    """The procedures of the library that no program calls; and the names of the profiling interface that it lacks."""
    exported = table(library)
    called = set().union(*(table(program) for program in programs))
    ours = [n for n in exported if n.startswith("mpi_") and _is_of(n, interface)]
    missing = [n for n in ours if n not in called]
    callbacks = ("_fn_", "_fn_null_", "_fn_null_c_")
    missing += [
        f"p{n}"
        for n in ours
        if not n.startswith(_SENTINEL) and not n.endswith(callbacks) and exported.get(f"p{n}") != exported[n]
    ]
    return sorted(missing)

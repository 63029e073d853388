"""The modules mpi_f08 and mpi, and mpif.h."""

from __future__ import annotations

import re
from collections.abc import Iterator

from . import constants as constants_
from .constants import SENTINELS, Constants
from .entries import is_wanted
from .procedures import Callback, Interface, Procedure

_WIDTH = 120


def wrap(line: str, indent: str) -> str:
    """Free form, broken after commas."""
    lines, rest = [], indent + line
    while len(rest) > _WIDTH:
        cut = rest.rfind(",", 0, _WIDTH - 2) + 1
        lines.append(rest[:cut] + " &")
        rest = indent + "    " + rest[cut:].lstrip()
    return "\n".join([*lines, rest])


def _block(head: str, declarations: list[str], tail: str, indent: str) -> str:
    body = [wrap(d, indent + "  ") for d in declarations]
    return "\n".join([wrap(head, indent), *body, indent + tail])


def _integers(constants: Constants) -> Iterator[str]:
    for name, value in constants.integers.items():
        yield f"INTEGER, PARAMETER :: {name} = {value}"
    for name, value in constants.offsets.items():
        yield f"INTEGER(KIND=MPI_OFFSET_KIND), PARAMETER :: {name} = {value}"


def _sentinel(name: str, kind: str, shape: str, symbol: str) -> str:
    target = "TARGET, " if name == "MPI_BUFFER_AUTOMATIC" else ""  # C_LOC may be applied to it
    return f'{kind.replace("*1", "(LEN=1)")}, {target}BIND(C, NAME="{symbol}_") :: {name}{shape}'


def _shared_sentinels() -> Iterator[str]:
    for name, kind, shape, f08 in SENTINELS:
        if not f08:
            yield _sentinel(name, kind, shape, constants_.symbol(name))


def _own_sentinels(f08: bool) -> Iterator[str]:
    """Those that have another type in the other module."""
    for name, kind, shape, other in SENTINELS:
        if other:
            kind, shape = other if f08 else (kind, shape)
            yield _sentinel(name, kind, shape, constants_.symbol(name, f08))


def _types(constants: Constants) -> Iterator[str]:
    yield "TYPE, BIND(C) :: MPI_Status"
    yield "  INTEGER :: MPI_SOURCE, MPI_TAG, MPI_ERROR"
    yield "  INTEGER :: MPI_internal(5)"
    yield "END TYPE MPI_Status"
    for kind in constants.handles:
        yield f"TYPE, BIND(C) :: {kind}"
        yield "  INTEGER :: MPI_VAL"
        yield f"END TYPE {kind}"


def _operators(constants: Constants) -> tuple[str, str]:
    interfaces, bodies = [], []
    for operator, word, sign in (("==", "equal", "=="), ("/=", "differ", "/=")):
        interfaces.append(f"  interface operator({operator})")
        for kind in constants.handles:
            name = f"{kind.lower()}_{word}"
            interfaces.append(f"    module procedure {name}")
            bodies.append(
                f"  elemental logical function {name}(a, b)\n"
                f"    type({kind}), intent(in) :: a, b\n"
                f"    {name} = a%MPI_VAL {sign} b%MPI_VAL\n"
                f"  end function"
            )
        interfaces.append("  end interface")
    return "\n".join(interfaces), "\n".join(bodies)


def render_base(constants: Constants) -> str:
    """The common part of both modules: each global name belongs to one module, so that one file may use both."""
    operators, bodies = _operators(constants)
    lines = [*_integers(constants), *_types(constants), *_shared_sentinels()]
    return f"""\
! Generated.
module mpi_constants
  implicit none
{chr(10).join("  " + line for line in lines)}
{operators}
contains
{bodies}
end module mpi_constants
"""


# ---- mpi_f08 -------------------------------------------------------------------------------------------------------


def _handle_constants(constants: Constants) -> Iterator[str]:
    for kind, values in constants.handles.items():
        for name, value in values.items():
            yield f"  TYPE({kind}), PARAMETER :: {name} = {kind}({value})"


def _f08_specific(p: Procedure, profiling: str) -> str:
    interface, name = p.f08, profiling + p.f08_specific
    bind = f' BIND(C, NAME="{name.lower()}_")' if p.has_choice else ""
    head = f"SUBROUTINE {name}({', '.join(interface.arguments)}){bind}"
    return _block(head, ["IMPORT", *interface.declarations], "END SUBROUTINE", "    ").replace(
        "IMPORT\n      USE, INTRINSIC :: ISO_C_BINDING, ONLY : C_PTR", "IMPORT"
    )


def _function(interface: Interface, profiling: str) -> str:
    head = f"FUNCTION {profiling}{interface.name}({', '.join(interface.arguments)}) RESULT(RES)"
    return _block(head, ["IMPORT", f"{interface.result} :: RES", *interface.declarations], "END FUNCTION", "    ")


def _abstract(callback: Callback) -> str:
    head = f"SUBROUTINE {callback.name}({', '.join(callback.f08.arguments)})"
    text = _block(head, ["IMPORT", *callback.f08.declarations], "END SUBROUTINE", "    ")
    return text.replace("IMPORT\n      USE, INTRINSIC :: ISO_C_BINDING, ONLY : C_PTR", "IMPORT")


def render_f08(
    constants: Constants,
    procedures: list[Procedure],
    callbacks: list[Callback],
    predefined: list[tuple[str, str, bool]],
    wide: bool,
) -> str:
    by_generic: dict[str, list[Procedure]] = {}
    functions = []
    for p in procedures:
        if p.f08 is None or not is_wanted(p, wide):
            continue
        if p.f08.is_function:
            functions.append(p.f08)
        else:
            by_generic.setdefault(p.generic, []).append(p)
    parts = [
        "! Generated.",
        "module mpi_f08",
        "  use, intrinsic :: iso_c_binding, only: C_PTR",
        "  use mpi_constants",
        "  implicit none",
        "  private :: C_PTR",
        "  LOGICAL, PARAMETER :: MPI_SUBARRAYS_SUPPORTED = .true.",
        "  LOGICAL, PARAMETER :: MPI_ASYNC_PROTECTS_NONBLOCKING = .true.",
        *_handle_constants(constants),
        *("  " + line for line in _own_sentinels(True)),
        "  abstract interface",
        *(_abstract(c) for c in callbacks),
        "  end interface",
        "  interface",
        *(_function(f, profiling) for f in functions for profiling in ("", "P")),
        "  end interface",
    ]
    for name, kind, in_f08 in predefined:
        if in_f08:
            parts.append(f"  procedure({kind}) :: {name}")
    for profiling in ("", "P"):
        for generic, specifics in by_generic.items():
            parts.append(f"  interface {profiling}{generic}")
            parts += [_f08_specific(p, profiling) for p in specifics]
            parts.append("  end interface")
    parts.append("end module mpi_f08")
    return "\n".join(parts) + "\n"


# ---- mpi -----------------------------------------------------------------------------------------------------------


def _f90_declarations(p: Procedure) -> list[str]:
    lines = []
    for declaration in p.f90.declarations:
        if declaration.startswith("<type>"):
            for name in re.findall(r"(\w+)(?:\(\*\))?", declaration.removeprefix("<type>")):
                lines.append(f"!GCC$ ATTRIBUTES NO_ARG_CHECK :: {name}")
                lines.append(f"!DIR$ IGNORE_TKR {name}")
                lines.append(f"TYPE(*) :: {name}(*)")
        elif declaration.startswith("CHARACTER*(*)"):
            lines.append("CHARACTER(LEN=*) :: " + declaration.removeprefix("CHARACTER*(*) "))
        else:
            lines.append(declaration)
    return lines


def _f90_subroutine(p: Procedure, profiling: str, name: str | None = None, pointer: str | None = None) -> str:
    head = f"SUBROUTINE {profiling}{name or p.f90.name}({', '.join(p.f90.arguments)})"
    declarations = _f90_declarations(p)
    if pointer:
        declarations = [re.sub(rf", {pointer}\b|\b{pointer}, ", "", d) for d in declarations]
        declarations.append(f"TYPE(C_PTR) :: {pointer}")
    return _block(head, ["IMPORT", *declarations], "END SUBROUTINE", "    ")


_WITH_POINTERS = {"MPI_Alloc_mem", "MPI_Win_allocate", "MPI_Win_allocate_shared", "MPI_Win_shared_query"}


def render_f90(
    constants: Constants, procedures: list[Procedure], predefined: list[tuple[str, str, bool]], wide: bool
) -> str:
    parts = [
        "! Generated.",
        "module mpi",
        "  use, intrinsic :: iso_c_binding, only: C_PTR",
        "  use mpi_constants",
        "  implicit none",
        "  private :: C_PTR",
        "  LOGICAL, PARAMETER :: MPI_SUBARRAYS_SUPPORTED = .false.",
        "  LOGICAL, PARAMETER :: MPI_ASYNC_PROTECTS_NONBLOCKING = .false.",
        *(f"  INTEGER, PARAMETER :: {n} = {v}" for n, v in constants.handle_values.items()),
        *("  " + line for line in _own_sentinels(False)),
    ]
    parts += [f"  EXTERNAL :: {name}" for name, _, _ in predefined]
    for profiling in ("", "P"):
        for p in procedures:
            if p.f90 is None or p.large:
                continue
            if p.name == "MPI_Sizeof":
                specific = _f08_specific(p, profiling)
                parts += [f"  interface {profiling}MPI_Sizeof", specific, "  end interface"]
                continue
            parts.append(f"  interface {profiling + p.f90.name if p.name in _WITH_POINTERS else ''}".rstrip())
            if p.f90.is_function:
                parts.append(_function(p.f90, profiling))
            else:
                parts.append(_f90_subroutine(p, profiling))
            if p.name in _WITH_POINTERS:
                parts.append(_f90_subroutine(p, profiling, p.f90.name + "_CPTR", "BASEPTR"))
            parts.append("  end interface")
    parts.append("end module mpi")
    return "\n".join(parts) + "\n"


# ---- mpif.h --------------------------------------------------------------------------------------------------------


def render_mpif(constants: Constants, procedures: list[Procedure], predefined: list[tuple[str, str, bool]]) -> str:
    """Lines that are valid in fixed form and in free form, none continued."""
    lines = ["! Generated. Valid in fixed and in free form."]
    for name, value in {**constants.integers, **constants.handle_values}.items():
        lines += [f"      INTEGER {name}", f"      PARAMETER ({name}={value})"]
    for name, value in constants.offsets.items():
        lines += [f"      INTEGER*8 {name}", f"      PARAMETER ({name}={value})"]
    for name in ("MPI_SUBARRAYS_SUPPORTED", "MPI_ASYNC_PROTECTS_NONBLOCKING"):
        lines += [f"      LOGICAL {name}", f"      PARAMETER ({name}=.FALSE.)"]
    for name, kind, shape, _ in SENTINELS:
        lines += [f"      {kind} {name}{shape}", f"      COMMON /{constants_.symbol(name).upper()}/ {name}"]
    lines += [f"      EXTERNAL {name}" for name, _, _ in predefined]
    for p in procedures:
        if p.f90 and p.f90.is_function:
            kind = p.f90.result.replace("INTEGER(KIND=MPI_ADDRESS_KIND)", "INTEGER*8")
            for name in (p.f90.name, "P" + p.f90.name):
                lines += [f"      {kind} {name}", f"      EXTERNAL {name}"]
    too_long = [line for line in lines if len(line) > 72]
    if too_long:
        raise ValueError(f"mpif.h: longer than fixed form allows: {too_long}")
    return "\n".join(lines) + "\n"

"""The standard's procedures as Fortran has them.

Reads pympistandard, whose own rendering of the interfaces is used for declarations.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from functools import cached_property

import pympistandard

from ..standard import Function, Standard

CHOICE = ("BUFFER",)
_INTEGER_FIRST = re.compile(r"INTEGER\b")


@dataclass(frozen=True)
class Interface:
    """The procedures of one language: mpi_f08, or mpi and mpif.h."""

    name: str
    arguments: tuple[str, ...]
    declarations: tuple[str, ...]
    result: str | None  # type of a function

    @property
    def is_function(self) -> bool:
        return self.result is not None


@dataclass(frozen=True)
class Procedure:
    """One of a generic name's procedures: the ordinary, or the one for large counts."""

    name: str  # MPI_Send; MPI_Send_c for large counts
    generic: str  # by which it is called in mpi_f08
    large: bool
    c: Function | None  # what it calls; None: nothing in C
    kinds: dict[str, str]  # of the parameters, by lower-case name
    directions: dict[str, str]
    f08: Interface | None
    f90: Interface | None
    narrowed: tuple[str, ...] = ()  # declarations of the ordinary procedure that differ from those of this large one

    @cached_property
    def has_choice(self) -> bool:
        names = self.f08.arguments if self.f08 else ()
        return any(self.kinds.get(n.lower()) in CHOICE and self.is_assumed_rank(n) for n in names)

    def is_assumed_rank(self, argument: str) -> bool:
        pattern = re.compile(rf"DIMENSION\(\.\.\).*::.*\b{argument}\b", re.I)
        return any(pattern.search(d) for d in self.f08.declarations)

    @property
    def f08_specific(self) -> str:
        return self.name + ("_f08ts" if self.has_choice else "_f08")


def _interface(expression) -> Interface | None:
    if expression is None:
        return None
    head, *declarations = [line.strip() for line in str(expression).splitlines() if line.strip()]
    if head == "ABSTRACT INTERFACE":
        head, *declarations = declarations
    match = re.fullmatch(r"(?:(.*\S)\s+)?(\w+)\((.*)\)", head)
    result, name, arguments = match.groups()
    # Names in bounds need their types before.
    declarations.sort(key=lambda d: not (d.startswith("USE") or re.match(r"INTEGER[ ,(]", d)))
    declarations.sort(key=lambda d: not d.startswith("USE"))
    return Interface(name, tuple(a.strip() for a in arguments.split(",") if a.strip()), tuple(declarations), result)


def _procedure(symbol, standard: Standard, large: bool) -> Procedure:
    raw = symbol._parseset["parameters"]
    express = symbol.express.embiggen if large else symbol.express
    f08 = _interface(express.f08)
    name = symbol.name if not hasattr(symbol, "express") else symbol._parseset["name"]
    own_name = f08 is not None and f08.name.endswith("_c")
    narrow = _interface(symbol.express.f08) if large else None
    return Procedure(
        name=name + ("_c" if large else ""),
        generic=name + ("_c" if own_name else ""),
        large=large,
        c=standard.by_name.get(name + ("_c" if large else "")),
        kinds={p["name"].lower(): p["kind"] for p in raw},
        directions={p["name"].lower(): p["param_direction"] for p in raw},
        f08=replace(f08, name=name) if f08 else None,
        f90=None if large else _interface(symbol.express.f90),
        narrowed=tuple(d for d in narrow.declarations if d not in f08.declarations) if narrow else (),
    )


def load(standard: Standard) -> list[Procedure]:
    pympistandard.use_api_version()
    result = []
    for symbol in pympistandard.PROCEDURES.values():
        if symbol.express.f08 is None and symbol.express.f90 is None:
            continue
        result.append(_procedure(symbol, standard, False))
        if symbol.express.f08 is not None and symbol.express.embiggen.f08 is not None:
            result.append(_procedure(symbol, standard, True))
    return sorted(result, key=lambda p: p.name.lower())


@dataclass(frozen=True)
class Callback:
    name: str
    f08: Interface


def callbacks() -> list[Callback]:
    """Abstract interfaces of mpi_f08, the ordinary and the large."""
    result = []
    for symbol in pympistandard.CALLBACKS.values():
        if symbol.express.f08 is None:
            continue
        name = symbol._parseset["name"]
        result.append(Callback(name, _interface(symbol.express.f08)))
        large = symbol.express.embiggen.f08
        if large is not None:
            result.append(Callback(name + "_c", _interface(large)))
    return result


def predefined_callbacks() -> list[tuple[str, str, bool]]:
    """Name, callback type, whether mpi_f08 has it."""
    result = []
    for symbol in pympistandard.PREDEFINED_FUNCTIONS.values():
        name, kind = symbol._parseset["name"], symbol._parseset["attributes"]["predefined_function"]
        in_f08 = symbol.express.f08 is not None
        result.append((name, kind, in_f08))
        if in_f08 and any(callback.name == f"{kind}_c" for callback in callbacks()):
            result.append((f"{name}_C", f"{kind}_c", True))
    return result

"""The standard's functions as the implementation sees them: objects instead of handles, one width of counts."""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass
from enum import Enum, auto
from functools import cached_property
from pathlib import Path

from .overrides import Overrides, base_name
from .standard import Function, Parameter, Standard

# Kind of a handle -> class of its object.
CLASSES = {
    "COMMUNICATOR": "Comm",
    "GROUP": "Group",
    "DATATYPE": "Datatype",
    "OPERATION": "Op",
    "INFO": "Info",
    "ERRHANDLER": "Errhandler",
    "REQUEST": "Request",
    "SESSION": "Session",
    "MESSAGE": "Message",
    "WINDOW": "Win",
    "FILE": "File",
}
_CONST_CLASSES = {"Datatype", "Op", "Info"}  # what a call only reads unless [changed] says otherwise


class Form(Enum):
    """How a parameter reaches the implementation."""

    REFERENCE = auto()  # the object of a handle
    POINTER = auto()  # the object of a handle, or null
    RAW = auto()  # as in C
    COUNT = auto()  # MPI_Count
    COUNTS = auto()  # view of an array of counts
    COUNT_OUT = auto()
    COUNTS_OUT = auto()


@dataclass(frozen=True)
class Argument:
    parameter: Parameter
    form: Form
    object_class: str | None = None  # of a handle
    constant: bool = False

    @property
    def name(self) -> str:
        return self.parameter.name

    @property
    def type(self) -> str:
        const = "const " if self.constant else ""
        match self.form:
            case Form.REFERENCE:
                return f"{const}{self.object_class}&"
            case Form.POINTER:
                return f"{const}{self.object_class}*"
            case Form.COUNT:
                return "MPI_Count"
            case Form.COUNTS:
                return "Counts"
            case Form.COUNT_OUT:
                return "CountOut"
            case Form.COUNTS_OUT:
                return "CountsOut"
            case _:
                return self.parameter.type

    @property
    def declaration(self) -> str:
        return f"{self.type} {self.name}{self.parameter.suffix if self.form is Form.RAW else ''}"


@dataclass(frozen=True)
class Implementation:
    """One C++ function behind one or several functions of the standard."""

    name: str  # Send
    result: str
    arguments: tuple[Argument, ...]


class Chapters:
    """chapters.toml, and supported/ which says what has an implementation."""

    def __init__(self, directory: Path, overrides: Overrides) -> None:
        self._patterns: dict[str, list[str]] = tomllib.loads((directory / "chapters.toml").read_text())["chapter"]
        self._overrides = overrides
        self._supported: dict[str, str] = {}  # function -> file that names it
        for path in sorted((directory / "supported").glob("*.txt")):
            for line in path.read_text().splitlines():
                name = line.partition("#")[0].strip().removeprefix("MPI_")
                if name:
                    self._supported[name] = path.stem

    @property
    def names(self) -> list[str]:
        return list(self._patterns)

    def of(self, function: Function) -> str:
        name = base_name(function)
        for chapter, patterns in self._patterns.items():
            if any(re.fullmatch(p, name) for p in patterns):
                return chapter
        raise ValueError(f"chapters.toml: {name} belongs to no chapter")

    def supports(self, function: Function) -> bool:
        name = base_name(function)
        return self._overrides.same_as.get(name, name) in self._supported

    def check(self, standard: Standard) -> None:
        """Every function has an implementation, and every supported name is a function and stands in its chapter's file."""
        known = {base_name(f): f for f in standard.all_functions}
        for name, file in self._supported.items():
            if name not in known:
                raise ValueError(f"supported/{file}.txt: the standard has no MPI_{name}")
            if self.of(known[name]) != file:
                raise ValueError(f"supported/{file}.txt: MPI_{name} belongs in {self.of(known[name])}.txt")
        for function in standard.all_functions:
            if not self.supports(function):
                raise ValueError(f"supported/{self.of(function)}.txt: MPI_{base_name(function)} is missing")


class Model:
    def __init__(self, standard: Standard, overrides: Overrides) -> None:
        self.standard = standard
        self.overrides = overrides

    def implementation_name(self, function: Function) -> str:
        """Small and large variants share one, except where a callback differs or the object remembers the variant."""
        name = base_name(function)
        name = self.overrides.same_as.get(name, name)
        differs = any(p.kind == "POLYFUNCTION" for p in function.parameters) or self.overrides.listed("apart", function)
        if function.large and differs:
            name += "_c"
        return name

    @cached_property
    def implementations(self) -> list[Implementation]:
        result = {}
        for function in self.standard.all_functions:
            name = self.implementation_name(function)
            own = name == function.name.removeprefix("MPI_") or function.large
            # The large variant comes last and wins: it has every parameter.
            if own and base_name(function) not in self.overrides.same_as:
                result[name] = Implementation(
                    name, "Error" if function.returns_error else function.result, self.arguments(function)
                )
        return list(result.values())

    def arguments(self, function: Function) -> tuple[Argument, ...]:
        return tuple(self._argument(function, p) for p in function.parameters if p.kind != "VARARGS")

    def _argument(self, function: Function, p: Parameter) -> Argument:
        if p.kind in CLASSES:
            return self._handle(function, p)
        # Functions of [same_as] have wider results without being large variants.
        wide = base_name(function) in self.overrides.same_as and p.type in ("MPI_Count*", "MPI_Count")
        if (p.kind.startswith("POLY") and p.kind != "POLYFUNCTION") or wide:
            if p.direction == "in":
                return Argument(p, Form.COUNTS if p.is_array else Form.COUNT)
            return Argument(p, Form.COUNTS_OUT if p.is_array else Form.COUNT_OUT)
        return Argument(p, Form.RAW)

    def _handle(self, function: Function, p: Parameter) -> Argument:
        object_class = CLASSES[p.kind]
        takes_value = p.direction == "in" and not p.is_array
        raw = function.is_tool or self.overrides.applies("raw", function, p.name)
        if not takes_value or not function.returns_error or raw:
            return Argument(p, Form.RAW, object_class)
        changed = self.overrides.applies("changed", function, p.name)
        optional_info = object_class == "Info" and not changed
        nullable = optional_info or self.overrides.applies("nullable", function, p.name)
        return Argument(
            p,
            Form.POINTER if nullable else Form.REFERENCE,
            object_class,
            constant=object_class in _CONST_CLASSES and not changed,
        )

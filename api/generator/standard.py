"""The standard's functions and callbacks, as plain data.

Reads pympistandard and hides its quirks: what leaves this module is ready to be printed as C.
"""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import pympistandard

_EXTENSIONS = Path(__file__).parents[1] / "extensions.toml"

# Corrections of pympistandard 0.2.0, and parts that it has only as LaTeX: (function, parameter) -> C declaration.
_CORRECTIONS = {
    ("MPI_Info_create_env", "argv"): ("char*", "[]"),
}


@dataclass(frozen=True)
class Parameter:
    name: str
    kind: str  # of pympistandard: BUFFER, RANK, POLYXFER_NUM_ELEM_NNI, ...
    direction: str  # in, out, inout
    type: str  # C type without the array suffix: "const void*", "MPI_Count"
    suffix: str  # "", "[]" or "[][3]"
    length: str | None  # of an array, as the standard words it
    constant: bool = False
    description: str = ""

    @property
    def is_array(self) -> bool:
        return self.suffix != ""

    @property
    def declaration(self) -> str:
        return "..." if self.kind == "VARARGS" else f"{self.type} {self.name}{self.suffix}"


@dataclass(frozen=True)
class Function:
    name: str  # MPI_Send, MPI_Send_c
    result: str  # C type
    returns_error: bool  # the result is an error code
    parameters: tuple[Parameter, ...]
    large: bool  # the large-count variant
    has_large: bool  # this or its twin is one

    @property
    def small_name(self) -> str:
        return self.name.removesuffix("_c") if self.large else self.name

    @property
    def is_tool(self) -> bool:
        return self.name.startswith("MPI_T_")

    def parameter(self, name: str) -> Parameter:
        return next(p for p in self.parameters if p.name == name)

    @property
    def arguments(self) -> list[str]:
        return [p.declaration for p in self.parameters] or ["void"]


@dataclass(frozen=True)
class Standard:
    functions: tuple[Function, ...]
    callbacks: tuple[Function, ...]
    predefined_callbacks: dict[str, str]  # MPI_COMM_DUP_FN -> MPI_Comm_copy_attr_function
    extensions: tuple[Function, ...]  # of extensions.toml
    extension_classes: dict[str, int]  # error classes of its own

    @property
    def all_functions(self) -> tuple[Function, ...]:
        return self.functions + self.extensions

    @cached_property
    def by_name(self) -> dict[str, Function]:
        return {f.name: f for f in self.all_functions}


def _parameter(owner: str, raw) -> Parameter:
    data = raw._parseset  # the accessors lack length and description
    base, suffix = raw.type, raw.array
    if (owner, raw.name) in _CORRECTIONS:
        base, suffix = _CORRECTIONS[owner, raw.name]
    return Parameter(
        name=raw.name,
        kind=data["kind"],
        direction=data["param_direction"],
        type=("const " if raw.constant else "") + base.replace(" ", ""),
        suffix=suffix,
        length=None if data["length"] is None else str(data["length"]),
        constant=raw.constant,
        description=data["desc"],
    )


def _function(expression, large: bool, has_large: bool) -> Function:
    return Function(
        name=expression.name,
        result=expression.return_type,
        returns_error=expression._parseset["return_kind"] == "ERROR_CODE",
        parameters=tuple(_parameter(expression.name, p) for p in expression.parameters),
        large=large,
        has_large=has_large,
    )


def _expand(symbol) -> list[Function]:
    """The small variant of a function or callback and, where there is one, the large."""
    has_large = any(p["kind"].startswith("POLY") for p in symbol._parseset["parameters"])
    variants = [_function(symbol.express.iso_c, False, has_large)]
    if has_large:
        variants.append(_function(symbol.express.embiggen.iso_c, True, True))
    return variants


def _extension(name: str, parameters: list[list[str]]) -> Function:
    return Function(
        name=name,
        result="int",
        returns_error=True,
        parameters=tuple(Parameter(n, kind, direction, c_type, "", None) for n, kind, direction, c_type in parameters),
        large=False,
        has_large=False,
    )


def load() -> Standard:
    pympistandard.use_api_version()
    functions = [
        f for p in pympistandard.PROCEDURES.values() if p.express.iso_c is not None for f in _expand(p)
    ]
    callbacks = [f for c in pympistandard.CALLBACKS.values() for f in _expand(c)]
    predefined = {}
    for p in pympistandard.PREDEFINED_FUNCTIONS.values():
        callback = p._parseset["attributes"]["predefined_function"]
        predefined[p.express.iso_c.name] = callback
        if any(c.name == callback and c.has_large for c in callbacks):
            predefined[p.express.iso_c.name + "_C"] = callback + "_c"
    extensions: dict[str, Any] = tomllib.loads(_EXTENSIONS.read_text())
    return Standard(
        functions=tuple(sorted(functions, key=lambda f: f.name.lower())),
        callbacks=tuple(callbacks),
        predefined_callbacks=predefined,
        extensions=tuple(_extension(name, parameters) for name, parameters in extensions["function"].items()),
        extension_classes=extensions["error_class"],
    )

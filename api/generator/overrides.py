"""overrides.toml: what a parameter's kind does not tell."""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .standard import Function, Standard


def base_name(function: Function) -> str:
    return function.small_name.removeprefix("MPI_")


@dataclass(frozen=True)
class Guard:
    functions: str
    name: str
    when: str  # the C++ condition under which the parameters matter
    parameters: list[str]


class Overrides:
    def __init__(self, path: Path, standard: Standard) -> None:
        tables: dict[str, Any] = tomllib.loads(path.read_text())
        self.same_as: dict[str, str] = tables.pop("same_as")
        self._guards = [Guard(**g) for g in tables.pop("guard")]
        self._lists = {name: tables.pop(name)["functions"] for name in ("any_time", "counted", "quick", "apart")}
        self._tables: dict[str, dict[str, Any]] = tables
        self._require_matches(path.name, standard)

    def _require_matches(self, file: str, standard: Standard) -> None:
        names = {base_name(f) for f in standard.all_functions}
        patterns = [g.functions for g in self._guards]
        for patterns_of_list in self._lists.values():
            patterns += patterns_of_list
        for table in self._tables.values():
            patterns += list(table)
        for pattern in patterns:
            if not any(re.fullmatch(pattern, n) for n in names):
                raise ValueError(f"{file}: {pattern} matches no function")

    def listed(self, name: str, function: Function) -> bool:
        return any(re.fullmatch(p, base_name(function)) for p in self._lists[name])

    def value(self, table: str, function: Function) -> Any:
        """The value of the table's first matching expression, or None."""
        matches = (v for p, v in self._tables[table].items() if re.fullmatch(p, base_name(function)))
        return next(matches, None)

    def applies(self, table: str, function: Function, parameter: str) -> bool:
        """True if the table, of lists of parameters, names this one."""
        return any(
            re.fullmatch(p, base_name(function)) and (parameter in listed or "*" in listed)
            for p, listed in self._tables[table].items()
        )

    def guards(self, function: Function) -> list[Guard]:
        return [g for g in self._guards if re.fullmatch(g.functions, base_name(function))]

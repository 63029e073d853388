"""The library under test, called through ctypes with arguments that a compiler would not let pass."""

from __future__ import annotations

import ctypes
import os
import sys
import tomllib
from pathlib import Path

API = Path(os.environ["HEDDLE_API"])
sys.path.insert(0, str(API))

from generator import standard  # noqa: E402
from generator.model import Chapters  # noqa: E402
from generator.overrides import Overrides  # noqa: E402

MPI = standard.load()
OVERRIDES = Overrides(API / "overrides.toml", MPI)
CHAPTERS = Chapters(API, OVERRIDES)


def _constants() -> dict[str, int]:
    tables = tomllib.loads((API / "constants.toml").read_text())
    found: dict[str, int] = dict(tables["limit"])
    for family in ("handle", "enum", "typed"):
        for values in tables[family].values():
            found |= values
    return found


CONSTANTS = _constants()
CLASS_NAMES = {v: n for n, v in CONSTANTS.items() if n.startswith("MPI_ERR_") or n == "MPI_SUCCESS"}

_SCALARS = {
    "int": ctypes.c_int,
    "constint": ctypes.c_int,
    "MPI_Aint": ctypes.c_ssize_t,
    "MPI_Count": ctypes.c_int64,
    "MPI_Offset": ctypes.c_int64,
    "double": ctypes.c_double,
}


class Library:
    def __init__(self, path: str) -> None:
        self._library = ctypes.CDLL(path)

    def call(self, name: str, *arguments: int) -> int:
        """Numbers and addresses as Python integers; converted to what the prototype says."""
        function = MPI.by_name[name]
        converted = []
        for p, value in zip(function.parameters, arguments, strict=True):
            scalar = None if p.suffix or "*" in p.type else _SCALARS.get(p.type.replace("const ", ""))
            converted.append(scalar(value) if scalar else ctypes.c_void_p(value))
        return getattr(self._library, name)(*converted)

    def error_class(self, code: int) -> int:
        if code < 100 or not CHAPTERS.supports(MPI.by_name["MPI_Error_class"]):
            return code
        result = ctypes.c_int()
        self._library.MPI_Error_class(code, ctypes.byref(result))
        return result.value

    def make(self, name: str, *arguments: int) -> int:
        """Calls a function whose last argument is where a handle goes; returns the handle, 0 if not supported."""
        if not CHAPTERS.supports(MPI.by_name[name]):
            return 0
        place = ctypes.c_void_p()
        code = self.call(name, *arguments, ctypes.addressof(place))
        if code != 0:
            raise RuntimeError(f"{name} returned {code}")
        return place.value or 0

"""Writes Fortran's bindings: generator.fortran OUT INTEGER_BYTES CALLS_HPP."""

from __future__ import annotations

import argparse
import tomllib
from pathlib import Path

from .. import standard
from ..files import write
from ..model import Chapters
from ..overrides import Overrides
from . import constants, modules, procedures
from .entries import Entries

API = Path(__file__).parents[2]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, required=True, help="where the sources go")
    parser.add_argument("--integer-bytes", type=int, choices=(4, 8), required=True, help="of the default INTEGER")
    parser.add_argument("--calls", type=Path, required=True, help="calls.hpp: what is written by hand")
    arguments = parser.parse_args()
    wide = arguments.integer_bytes == 8

    mpi = standard.load()
    chapters = Chapters(API, Overrides(API / "overrides.toml", mpi))
    values = constants.load(tomllib.loads((API / "constants.toml").read_text()), arguments.integer_bytes)
    every = procedures.load(mpi)
    predefined = procedures.predefined_callbacks()
    entries = Entries(mpi, every, arguments.calls, wide)

    def chapter_of(procedure: procedures.Procedure) -> str:
        return chapters.of(procedure.c) if procedure.c else "datatype"

    out = arguments.out
    bits = 8 * arguments.integer_bytes
    write(
        out / "kind.hpp",
        "// Generated.\n#pragma once\n\n#include <cstdint>\n\nnamespace heddle::fortran {\n\n"
        f"using Fint = std::int{bits}_t;  // INTEGER, LOGICAL\n\n}}  // namespace heddle::fortran\n",
    )
    for chapter in chapters.names:
        write(out / f"{chapter}.cpp", entries.render(lambda p: chapter_of(p) == chapter))
    write(out / "mpi_constants.f90", modules.render_base(values))
    write(out / "mpi_f08.f90", modules.render_f08(values, every, procedures.callbacks(), predefined, wide))
    write(out / "mpi.f90", modules.render_f90(values, every, predefined, wide))
    write(out / "mpif.h", modules.render_mpif(values, every, predefined))


if __name__ == "__main__":
    main()

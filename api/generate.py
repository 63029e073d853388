"""Generates what the build needs from the standard: `generate.py --include DIR --source DIR`."""

from __future__ import annotations

import argparse
import tomllib
from pathlib import Path

from generator import entry, header, interface, standard
from generator.model import Chapters, Model
from generator.overrides import Overrides

HERE = Path(__file__).parent


def write(path: Path, text: str) -> None:
    """Leaves a file alone that is right already, so that nothing which includes it is rebuilt."""
    path.parent.mkdir(parents=True, exist_ok=True)
    if not path.exists() or path.read_text() != text:
        path.write_text(text)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--include", type=Path, required=True, help="for mpi.h and binding/*.hpp")
    parser.add_argument("--source", type=Path, required=True, help="for the C++ sources of the binding")
    arguments = parser.parse_args()

    mpi = standard.load()
    constants = tomllib.loads((HERE / "constants.toml").read_text())
    overrides = Overrides(HERE / "overrides.toml", mpi)
    chapters = Chapters(HERE, overrides)
    chapters.check(mpi)
    model = Model(mpi, overrides)

    write(arguments.include / "mpi.h", header.render(mpi, constants))
    write(arguments.include / "binding/functions.hpp", interface.functions_header(mpi))
    write(arguments.include / "binding/impl.hpp", interface.implementation_header(model))
    write(arguments.source / "functions.cpp", interface.functions_source(mpi))
    for chapter in chapters.names:
        write(arguments.source / f"{chapter}.cpp", entry.render(chapter, model, chapters))


if __name__ == "__main__":
    main()

"""Generates from the standard what the options ask for."""

from __future__ import annotations

import argparse
import sys
import tomllib
from pathlib import Path

from generator import coverage, entry, header, interface, standard
from generator.files import write
from generator.model import Chapters, Model
from generator.overrides import Overrides

HERE = Path(__file__).parent


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--include", type=Path, help="where mpi.h and binding/*.hpp go")
    parser.add_argument("--installed", type=Path, help="where the mpi.h goes that programs include")
    parser.add_argument("--source", type=Path, help="where the C++ sources of the binding go")
    parser.add_argument("--coverage", type=Path, help="where the coverage page goes")
    parser.add_argument("--check", action="store_true", help="write nothing; fail if a file is out of date")
    arguments = parser.parse_args()

    mpi = standard.load()
    constants = tomllib.loads((HERE / "constants.toml").read_text())
    overrides = Overrides(HERE / "overrides.toml", mpi)
    chapters = Chapters(HERE, overrides)
    chapters.check(mpi)
    model = Model(mpi, overrides)

    files: dict[Path, str] = {}
    if arguments.include:
        files[arguments.include / "mpi.h"] = header.render(mpi, constants)
        files[arguments.include / "mpi-ext.h"] = header.render_extensions(mpi)
        files[arguments.include / "base/functions.hpp"] = interface.functions_header(mpi)
        files[arguments.include / "objects/binding/impl.hpp"] = interface.implementation_header(model)
    if arguments.installed:
        files[arguments.installed / "mpi.h"] = header.render(mpi, constants, fortran=True)
    if arguments.source:
        files[arguments.source / "functions.cpp"] = interface.functions_source(mpi)
        for chapter in chapters.names:
            files[arguments.source / f"{chapter}.cpp"] = entry.render(chapter, model, chapters)
    if arguments.coverage:
        files[arguments.coverage] = coverage.render(mpi, chapters)

    if arguments.check:
        stale = [str(path) for path, text in files.items() if not path.exists() or path.read_text() != text]
        sys.exit(f"out of date: {', '.join(stale)}" if stale else 0)
    for path, text in files.items():
        write(path, text)


if __name__ == "__main__":
    main()

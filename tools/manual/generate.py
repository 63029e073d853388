#!/usr/bin/env python3
"""Writes the manual pages and completions of an installed tree, or docs/reference.md.

    generate.py DESCRIBE WRAPPERS --share FOLDER      man/man1, bash-completion, zsh, fish
    generate.py DESCRIBE WRAPPERS --reference FILE

DESCRIBE is the program that prints the tables of the launcher (src/launch/mpiexec/describe.cpp), WRAPPERS the folder of the
compiler wrappers.
"""

from __future__ import annotations

import argparse
import re
import sys
from pathlib import Path

sys.dont_write_bytecode = True

import completion  # noqa: E402
import man  # noqa: E402
import reference  # noqa: E402
import tables  # noqa: E402


def main() -> None:
    parser = argparse.ArgumentParser(description="Writes the manual.")
    parser.add_argument("describe", type=Path)
    parser.add_argument("wrappers", type=Path)
    parser.add_argument("--share", type=Path)
    parser.add_argument("--without-fortran", action="store_true", help="nothing about mpifort in --share")
    parser.add_argument("--reference", type=Path)
    arguments = parser.parse_args()
    found = tables.read(arguments.describe.resolve(), arguments.wrappers.resolve())
    if arguments.share:
        files = {f"man/man1/{name}": text for name, text in man.pages(found).items()} | completion.files(found)
        if arguments.without_fortran:
            files = {name: text for name, text in files.items() if not re.search("mpif(ort|90|77)", name)}
        for name, text in files.items():
            path = arguments.share / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
    if arguments.reference:
        arguments.reference.write_text(reference.page(found))


if __name__ == "__main__":
    main()

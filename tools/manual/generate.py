#!/usr/bin/env python3
"""Writes the manual pages and completions of an installed tree, or docs/reference.md.

    generate.py DESCRIBE MPICC --share FOLDER      man/man1, bash-completion, zsh, fish
    generate.py DESCRIBE MPICC --reference FILE

DESCRIBE is the program that prints the tables of the launcher (src/mpiexec/describe.cpp), MPICC the compiler wrapper.
"""

from __future__ import annotations

import argparse
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
    parser.add_argument("mpicc", type=Path)
    parser.add_argument("--share", type=Path)
    parser.add_argument("--reference", type=Path)
    arguments = parser.parse_args()
    found = tables.read(arguments.describe.resolve(), arguments.mpicc.resolve())
    if arguments.share:
        files = {f"man/man1/{name}": text for name, text in man.pages(found).items()} | completion.files(found)
        for name, text in files.items():
            path = arguments.share / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
    if arguments.reference:
        arguments.reference.write_text(reference.page(found))


if __name__ == "__main__":
    main()

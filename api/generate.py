"""Generates what the build needs from the standard: `generate.py WHAT... --out DIR`."""

from __future__ import annotations

import argparse
import tomllib
from pathlib import Path

from generator import header, standard

HERE = Path(__file__).parent


def write(path: Path, text: str) -> None:
    """Leaves a file alone that is right already, so that nothing which includes it is rebuilt."""
    path.parent.mkdir(parents=True, exist_ok=True)
    if not path.exists() or path.read_text() != text:
        path.write_text(text)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", nargs="+", choices=["header"])
    parser.add_argument("--out", type=Path, required=True, help="include directory of the build")
    arguments = parser.parse_args()

    mpi = standard.load()
    constants = tomllib.loads((HERE / "constants.toml").read_text())
    if "header" in arguments.what:
        write(arguments.out / "mpi.h", header.render(mpi, constants))


if __name__ == "__main__":
    main()

"""What does the library export? Every function of the standard and of mpi-ext.h under both names, and nothing else."""

from __future__ import annotations

import argparse
import subprocess
import sys
from pathlib import Path


def exported(library: Path) -> dict[str, str]:
    """Symbol -> its letter as nm(1) prints it: T, W, ..."""
    lines = subprocess.run(
        ["nm", "-D", "--defined-only", library], capture_output=True, text=True, check=True
    ).stdout.splitlines()
    return {name.partition("@")[0]: letter for _, letter, name in (line.split() for line in lines)}


def problems(symbols: dict[str, str], functions: list[str]) -> list[str]:
    found = [f"{n} is not exported" for f in functions for n in (f, "P" + f) if n not in symbols]
    # A tool defines MPI_Xxx itself and calls PMPI_Xxx.
    found += [f"{f} is not weak" for f in functions if symbols.get(f, "W") != "W"]
    allowed = {n for f in functions for n in (f, "P" + f)}
    found += [f"{s} is exported" for s in symbols if s not in allowed and not s.startswith("MPIX_Heddle_")]
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--api", type=Path, required=True, help="where the generator is")
    parser.add_argument("library", type=Path)
    arguments = parser.parse_args()
    sys.path.insert(0, str(arguments.api))
    from generator import standard

    functions = [f.name for f in standard.load().all_functions]
    found = problems(exported(arguments.library), functions)
    print("\n".join([f"{len(functions)} functions looked for", *found]))
    sys.exit(1 if found else 0)


if __name__ == "__main__":
    main()

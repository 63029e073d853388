"""A program built with one library's header and link line runs on the other library: only LD_LIBRARY_PATH says which.

    exchange.py --cc CC --include DIR --library DIR --mpiexec PATH --peer DIR
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from pathlib import Path

PROGRAM = Path(__file__).parent / "exchange.c"


def build(command: list[str | Path], binary: Path) -> Path:
    subprocess.run([*command[:1], PROGRAM, "-o", binary, *command[1:]], check=True)
    return binary


def run(binary: Path, mpiexec: Path, library: Path, expected: str, *options: str) -> bool:
    environment = os.environ | {"LD_LIBRARY_PATH": str(library)}
    command = [mpiexec, *options, "-n", "2", binary]
    done = subprocess.run(
        command, env=environment, capture_output=True, text=True, timeout=200, stdin=subprocess.DEVNULL
    )
    good = done.returncode == 0 and expected in done.stdout
    print(f"{binary.name} on {expected} {' '.join(options)}: {'good' if good else 'bad'}")
    if not good:
        print(f"exit code {done.returncode}\n{done.stdout}\n{done.stderr}")
    return good


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cc", default="cc")
    parser.add_argument("--include", type=Path, required=True)
    parser.add_argument("--library", type=Path, required=True, help="directory of our library")
    parser.add_argument("--mpiexec", type=Path, required=True)
    parser.add_argument("--peer", type=Path, required=True, help="prefix of MPICH")
    a = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        directory = Path(name)
        ours = build([a.cc, f"-I{a.include}", f"-L{a.library}", "-lmpi_abi"], directory / "built_with_heddle")
        theirs = build([a.peer / "bin/mpicc_abi"], directory / "built_with_mpich")
        results = [
            run(program, *on)
            for program in (ours, theirs)
            for on in ((a.mpiexec, a.library, "Heddle"), (a.peer / "bin/mpiexec", a.peer / "lib", "MPICH"))
        ]
        if (a.mpiexec.parent / "heddle-host").exists():  # not in builds with a sanitizer
            results += [run(program, a.mpiexec, a.library, "Heddle", "--ranks", "threads") for program in (ours, theirs)]
    sys.exit(0 if all(results) else 1)


if __name__ == "__main__":
    main()

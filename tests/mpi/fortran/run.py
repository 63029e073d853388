"""Compiles the programs for one interface with the installed mpifort, runs them with 1 and 2 ranks, and counts what they call.

    run.py --prefix PREFIX --interface mpi_f08 [--wide]

Each program prints "NAME: right" on every rank. A procedure of the library that none of the programs calls is a failure too.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parents[2] / "api"))

import refusals
import render
import symbols
from generator import standard
from generator.fortran import procedures

OPTIONS = ("-g", "-w", "-fcheck=bounds", "-fopenmp", "-fcray-pointer", "-ffree-line-length-none")
RANKS = (("-n", "1"), ("-n", "2"), ("--ranks", "threads", "-n", "2"))
RANKS_ELSEWHERE = (("-n", "1"), ("-n", "2"))
# Programs that are not run on another MPI library, with the behaviour of MPICH 5.0.2.
NOT_ELSEWHERE = {
    "aborts": "MPI_Abort returns on ranks that another one has ended",
    "infos": "MPI_Info_get fails where the value does not fit",
    "jobs": "its launcher hangs after a program that cannot be started",
    "modern": "data representations are taken and not used",
    "datareps": "data representations are taken and not used",
    "refusals": "MPI_Abi_set_fortran_info crashes",
}


@dataclass(frozen=True)
class Compiler:
    prefix: Path
    wide: bool
    work: Path

    def __call__(self, *arguments: str | Path) -> None:
        width = ["-i8"] if self.wide else []
        command = [self.prefix / "bin/mpifort", *width, *OPTIONS, "-J", self.work, *arguments]
        subprocess.run(command, cwd=self.work, check=True)


def sources(interface: render.Interface, wide: bool) -> dict[str, str]:
    """By name: the programs for the interface, those with large counts under another name."""
    data = standard.load()
    texts = {p.stem: p.read_text() for p in (HERE / "programs").glob("*.f90") if p.stem != "checks"}
    texts |= {p.stem: p.read_text() for p in (HERE / "programs" / interface.name).glob("*.f90")}
    texts["refusals"] = refusals.program(procedures.load(data), interface, wide)
    result = {name: render.render(text, interface) for name, text in texts.items()}
    if interface.is_f08 and not wide:
        large = render.Interface(interface.name, large=True)
        for name, text in texts.items():
            if "@K" in text:
                result[f"{name}_large"] = render.render(text, large)
    return result


def build(compiler: Compiler, name: str, text: str) -> Path:
    # A folder for each, because some have modules of the same name.
    own = Compiler(compiler.prefix, compiler.wide, compiler.work / name)
    own.work.mkdir()
    source, program = own.work / f"{name}.f90", own.work / "program"
    source.write_text(text)
    # Procedures that mpif.h declares without arguments may be called with different ones.
    # Optimized, so that what the compiler keeps in registers shows; the longest has nothing to keep.
    optimize = "-O0" if name == "refusals" else "-O1"
    own(optimize, "-fallow-argument-mismatch", f"-I{compiler.work}", source, compiler.work / "checks.o", "-o", program)
    return program


def run(launch: list[str | Path], variables: dict[str, str], program: Path, options: tuple[str, ...]) -> bool:
    name = program.parent.name
    environment = os.environ | variables | {"FORTRAN_TEST_FILE": str(program.parent / "data")}
    command = [*launch, *options, program]
    done = subprocess.run(
        command, env=environment, capture_output=True, text=True, errors="replace", stdin=subprocess.DEVNULL, timeout=100
    )
    if name == "aborts":
        good = done.returncode == 7
    else:
        expected = f"{name.removesuffix('_large')}: right"
        good = done.returncode == 0 and done.stdout.count(expected) == int(options[-1])
    if not good:
        print(f"FAILED: {name} {' '.join(options)}: exit code {done.returncode}\n{done.stdout}{done.stderr}", flush=True)
    return good


def passes(a: argparse.Namespace, work: Path) -> bool:
    interface = render.Interface(a.interface)
    compiler = Compiler(a.prefix, a.wide, work)
    compiler("-c", HERE / "programs/checks.f90", "-o", work / "checks.o")
    texts = {n: t for n, t in sources(interface, a.wide).items() if not a.only or n in a.only}
    if a.on:
        texts = {n: t for n, t in texts.items() if n.removesuffix("_large") not in NOT_ELSEWHERE}
    with ThreadPoolExecutor(2) as pool:
        programs = list(pool.map(lambda item: build(compiler, *item), texts.items()))
    good = True
    launch, variables, ranks = [a.prefix / "bin/mpiexec", "--timeout", "60"], {}, RANKS
    if a.on:
        launch, variables, ranks = [a.on / "bin/mpiexec"], {"LD_LIBRARY_PATH": str(a.on / "lib")}, RANKS_ELSEWHERE
    for program in programs:
        good &= all(run(launch, variables, program, options) for options in ranks)
    if not a.only and not a.on:
        library = a.prefix / "lib" / f"libmpifort_abi{'_i8' if a.wide else ''}.so.1"
        never = symbols.never_called(library, programs, interface)
        for name in never:
            print(f"FAILED: no program calls {name}")
        good &= not never
    where = f"on {a.on}" if a.on else "on Heddle"
    print(f"{len(programs)} programs for {interface.name} {where}")
    return good


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--prefix", type=Path, required=True, help="where Heddle is installed")
    parser.add_argument("--keep", type=Path, help="the folder to work in; without it one that is removed")
    parser.add_argument("--interface", choices=("mpi_f08", "mpi", "mpif.h"), required=True)
    parser.add_argument("--wide", action="store_true", help="INTEGERs of 8 bytes")
    parser.add_argument("--on", type=Path, help="prefix of another MPI library with the standard ABI, to run them on")
    parser.add_argument("--only", nargs="*", help="names of programs; then nothing is counted")
    a = parser.parse_args()
    if a.on and not (a.on / "lib/libmpi_abi.so").exists():
        print(f"skipped: there is no MPI library with the standard ABI in {a.on} (PyPI: mpich)")
        sys.exit(77)
    if a.keep:
        a.keep.mkdir()
        sys.exit(0 if passes(a, a.keep) else 1)
    with tempfile.TemporaryDirectory() as work:
        sys.exit(0 if passes(a, Path(work)) else 1)


if __name__ == "__main__":
    main()

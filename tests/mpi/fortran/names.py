"""Every name of the standard is in every interface that shall have it.

    names.py --prefix PREFIX

What Fortran has comes from the tables of api/ by rules of its own, not by those of the generator: all that C has but for what
_IN_C_ONLY lists, and what _IN_FORTRAN_ONLY lists. Compiles a use of each for the three interfaces and both widths of INTEGER.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path

API = Path(__file__).parents[3] / "api"
sys.path.insert(0, str(API))

from generator import standard

_IN_C_ONLY = re.compile(
    r"MPI_T_(?!ERR_)\w+"  # the tool interface, of which error classes alone are of all languages
    r"|MPI_F_(STATUS_SIZE|SOURCE|TAG|ERROR)"  # Fortran's MPI_STATUS_SIZE ... for C
    r"|MPIX_\w+"
)
_IN_FORTRAN_ONLY = (
    "MPI_ADDRESS_KIND", "MPI_COUNT_KIND", "MPI_INTEGER_KIND", "MPI_OFFSET_KIND",
    "MPI_STATUS_SIZE", "MPI_SOURCE", "MPI_TAG", "MPI_ERROR",
    "MPI_SUBARRAYS_SUPPORTED", "MPI_ASYNC_PROTECTS_NONBLOCKING",
)
# Deprecated functions of attributes are not in mpi_f08.
_NOT_IN_F08 = {"MPI_NULL_COPY_FN", "MPI_NULL_DELETE_FN", "MPI_DUP_FN"}
_HANDLES = ("Comm", "Datatype", "Errhandler", "File", "Group", "Info", "Message", "Op", "Request", "Session", "Win")


def names(interface: str) -> list[str]:
    tables = tomllib.loads((API / "constants.toml").read_text())
    flat = [tables["version"], tables["limit"], tables["alias"]]
    flat += [values for group in ("handle", "enum", "typed") for values in tables[group].values()]
    found = {name for table in flat for name in table} | set(standard.load().predefined_callbacks)
    if interface == "mpi_f08":
        found -= _NOT_IN_F08
    return sorted({n for n in found if not _IN_C_ONLY.fullmatch(n)} | set(_IN_FORTRAN_ONLY))


def program(interface: str) -> str:
    lines = ["subroutine uses"]
    if interface != "mpif.h":
        lines += [f"  use {interface}, only: {name}" for name in names(interface)]
        lines += [f"  use {interface}, only: MPI_{kind}, operator(==), operator(/=)" for kind in (*_HANDLES, "Status")]
        lines += ["  implicit none"]
        for kind in _HANDLES:
            lines.append(f"  type(MPI_{kind}) :: a_{kind}, b_{kind}")
        lines += [f"  if (a_{kind} == b_{kind} .and. a_{kind} /= b_{kind}) stop" for kind in _HANDLES]
    else:
        lines += ["  implicit none", "  include 'mpif.h'"]
        lines += [f"  call see({name})" for name in names(interface)]
    return "\n".join([*lines, "end subroutine"]) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--prefix", type=lambda p: Path(p).resolve(), required=True, help="where Heddle is installed")
    a = parser.parse_args()
    good = True
    with tempfile.TemporaryDirectory() as work:
        for interface in ("mpi_f08", "mpi", "mpif.h"):
            source = Path(work) / "uses.f90"
            source.write_text(program(interface))
            for width in ((), ("-i8",)):
                options = ("-w", "-fallow-argument-mismatch", "-ffree-line-length-none", "-c", "-o", "/dev/null")
                done = subprocess.run(
                    [a.prefix / "bin/mpifort", *width, *options, source], capture_output=True, text=True, cwd=work
                )
                if done.returncode != 0:
                    print(f"FAILED: {interface} {' '.join(width)}:\n{done.stderr}")
                    good = False
    sys.exit(0 if good else 1)


if __name__ == "__main__":
    main()

"""Calls functions before initialization and after finalization: the fatal default ends the process and says why.

    outside.py LIBRARY before|after
"""

from __future__ import annotations

import ctypes
import os
import sys
import tempfile

from mpi_library import CHAPTERS, CONSTANTS, MPI, OVERRIDES, Library
from generator.standard import Function, Parameter

GOOD = {
    "GROUP": "MPI_GROUP_EMPTY",
    "DATATYPE": "MPI_INT",
    "OPERATION": "MPI_SUM",
    "INFO": "MPI_INFO_NULL",
    "ERRHANDLER": "MPI_ERRORS_RETURN",
    "REQUEST": "MPI_REQUEST_NULL",
    "MESSAGE": "MPI_MESSAGE_NO_PROC",
}


def argument(p: Parameter, memory: int, comm: int) -> int:
    if p.suffix or "*" in p.type:
        return memory
    if p.kind == "COMMUNICATOR":
        return comm
    return CONSTANTS[GOOD[p.kind]] if p.kind in GOOD else 0


def outcome(library: Library, f: Function, memory: int, comm: int) -> tuple[int, str]:
    """How a process that makes the call ends, and what it says."""
    with tempfile.TemporaryFile() as errors:
        if (child := os.fork()) == 0:
            os.dup2(errors.fileno(), 2)
            library.call(f.name, *(argument(p, memory, comm) for p in f.parameters))
            os._exit(0)
        _, status = os.waitpid(child, 0)
        errors.seek(0)
        return status, errors.read().decode(errors="replace")


def main() -> None:
    library = Library(sys.argv[1])
    after = sys.argv[2] == "after"
    comms = [CONSTANTS["MPI_COMM_WORLD"]]
    if after:
        library.call("MPI_Init", 0, 0)
        comms.append(library.make("MPI_Comm_dup", comms[0]))  # and never freed
        library.call("MPI_Finalize")
    reason = "already finalized" if after else "not initialized"
    block = ctypes.create_string_buffer(4096)
    functions = [
        f
        for f in MPI.functions
        if CHAPTERS.supports(f)
        and f.returns_error
        and not OVERRIDES.listed("any_time", f)
        and not f.name.startswith("MPI_File_")  # errors of files are returned
        and not {"SESSION", "WINDOW"} & {p.kind for p in f.parameters}
    ]
    calls = [(f, comm) for f in functions for comm in comms]
    failures = 0
    for f, comm in calls:
        status, text = outcome(library, f, ctypes.addressof(block), comm)
        if os.WIFEXITED(status) and os.WEXITSTATUS(status) != 0 and f.name in text and reason in text:
            continue
        failures += 1
        how = f"signal {os.WTERMSIG(status)}" if os.WIFSIGNALED(status) else f"exit code {os.WEXITSTATUS(status)}"
        print(f"{f.name}: {how}, {text.strip()[:200]!r}")
    print(f"{len(functions)} functions called, {failures} wrong")
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()

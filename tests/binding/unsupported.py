"""Functions without an implementation: each raises MPI_ERR_UNSUPPORTED_OPERATION, and where the error handler returns
names itself, once, on stderr.

    unsupported.py LIBRARY
"""

from __future__ import annotations

import os
import sys
import tempfile

from mpi_library import CHAPTERS, CONSTANTS, MPI, Library


def main() -> None:
    library = Library(sys.argv[1])
    library.call("MPI_Init", 0, 0)
    for comm in ("MPI_COMM_WORLD", "MPI_COMM_SELF"):
        library.call("MPI_Comm_set_errhandler", CONSTANTS[comm], CONSTANTS["MPI_ERRORS_RETURN"])
    functions = [f for f in MPI.functions if not CHAPTERS.supports(f) and f.returns_error]
    failures = []
    with tempfile.TemporaryFile() as errors:
        stderr = os.dup(2)
        os.dup2(errors.fileno(), 2)
        for _ in range(2):
            for f in functions:
                code = library.call(f.name, *(0 for _ in f.parameters))
                if code != CONSTANTS["MPI_ERR_UNSUPPORTED_OPERATION"]:
                    failures.append(f"{f.name} returned {code}")
        os.dup2(stderr, 2)
        errors.seek(0)
        said = errors.read().decode().splitlines()
    expected = [
        f"heddle: {f.name} is not supported yet; planned for version {CHAPTERS.planned(f)} (called by rank 0 of 1)"
        for f in functions
    ]
    failures += [f"said: {line}" for line in set(said) - set(expected)]
    failures += [f"said {said.count(line)} times: {line}" for line in expected if said.count(line) != 1]
    library.call("MPI_Finalize")
    print("\n".join([f"{len(functions)} functions", *failures]))
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()

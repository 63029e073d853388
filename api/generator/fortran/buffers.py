"""The handling of an array section with gaps as the buffer of a procedure of mpi_f08 (src/mpi/fortran/sections.hpp)."""

from __future__ import annotations

import re

from .procedures import Procedure

# Calls that are over when they return, but for those that begin something.
_GOES_ON = re.compile(
    r"MPI_(I[a-z]\w*|\w+_init|File_i\w+|File_\w+_begin|R?(put|get|accumulate|get_accumulate)|Put|Get|Accumulate"
    r"|Get_accumulate|R(put|get)\w*|Raccumulate|Win_create|Win_attach|\w*[Bb]uffer_attach|\w+_attach_buffer)"
)
# The address of the first element is all that they take.
_ADDRESS = re.compile(
    r"MPI_(Get_address|F_sync_reg|Sizeof|Free_mem|Win_detach|Fetch_and_op|Compare_and_swap|File_\w+_end)"
)
# Parts of collective operations that are one block for each process are mapped only where there is one block.
_ONE_BLOCK = (
    (re.compile(r"(?i)reduce|scan|alltoall|psend|precv"), ()),
    (re.compile(r"(?i)scatter"), ("recvbuf",)),
    (re.compile(r"(?i)gather"), ("sendbuf",)),
)


def treatment(procedure: Procedure, name: str) -> str:
    """address, copied, mapped or plain (only a contiguous one is taken)."""
    base = procedure.name.removesuffix("_c") if procedure.large else procedure.name
    if _ADDRESS.fullmatch(base):
        return "address"
    if not _GOES_ON.fullmatch(base):
        return "copied"
    return "mapped" if count_and_type(procedure, name) else "plain"


def count_and_type(procedure: Procedure, name: str) -> tuple[str, str] | None:
    """The arguments that say what is in the buffer, if they follow it and say it at once."""
    for pattern, allowed in _ONE_BLOCK:
        if pattern.search(procedure.name):
            if name not in allowed:
                return None
            break
    parameters = procedure.c.parameters
    place = next(i for i, p in enumerate(parameters) if p.name == name)
    following = parameters[place + 1 : place + 3]
    if len(following) < 2:
        return None
    count, datatype = following
    if "NUM_ELEM" not in count.kind or count.is_array or datatype.kind != "DATATYPE" or datatype.is_array:
        return None
    return count.name, datatype.name

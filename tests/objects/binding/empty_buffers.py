"""Calls every function that has a buffer with empty ones at the first addresses: they are buffers like others.

    empty_buffers.py LIBRARY     in this process (a singleton)

An empty slice of Rust begins at address 1, which is MPI_IN_PLACE, and an empty array may begin at 0, which is MPI_BOTTOM. Nothing of a buffer with
count 0 is read or written, so every combination of addresses succeeds.
"""

from __future__ import annotations

import itertools
import os
import signal
import sys

from bad_arguments import NOT_CALLED, World
from generator.overrides import base_name
from generator.standard import Function, Parameter
from mpi_library import CHAPTERS, CLASS_NAMES, CONSTANTS, MPI, Library

SECONDS = 100
# Buffers that are memory for the library, not data.
NOT_DATA = ("Buffer_attach", "Comm_attach_buffer", "Session_attach_buffer", "Free_mem", "Get_address", "Alloc_mem",
            "Buffer_detach", "Win_shared_query", "Win_allocate")
NUMBERS = ("POLYXFER_NUM_ELEM", "XFER_NUM_ELEM", "POLYDTYPE_NUM_ELEM", "POLYNUM_BYTES", "NUM_BYTES", "WINDOW_SIZE",
           "POLYDISPLACEMENT_AINT_COUNT", "ALLOC_MEM_NUM_BYTES", "DTYPE_NUM_ELEM", "PACK_")


def has_count(f: Function) -> bool:
    return any(p.kind.startswith(NUMBERS) or p.name in ("size", "outsize", "insize") for p in f.parameters)


def functions() -> list[Function]:
    return [
        f for f in MPI.all_functions
        if CHAPTERS.supports(f) and f.returns_error and f.name not in NOT_CALLED and not f.is_tool
        and any(p.kind == "BUFFER" for p in f.parameters)
        and base_name(f) not in NOT_DATA and not base_name(f).endswith("_end") and has_count(f)
    ]


class EmptyWorld(World):
    def __post_init__(self) -> None:
        super().__post_init__()
        call = self.library.call
        self.dynamic = self.library.make("MPI_Win_create_dynamic", CONSTANTS["MPI_INFO_NULL"], self.comm)
        for window in (self.good["WINDOW"], self.dynamic):
            call("MPI_Win_set_errhandler", window, CONSTANTS["MPI_ERRORS_RETURN"])
        call("MPI_Win_lock_all", 0, self.good["WINDOW"])
        call("MPI_Buffer_attach", self.memory(1 << 16), 1 << 16)

    def argument(self, f: Function, p: Parameter) -> int:
        pointer = bool(p.suffix) or "*" in p.type
        if p.name == "target_rank":
            return 0
        if p.kind == "RANK" and p.name in ("dest", "source") and not pointer:
            return CONSTANTS["MPI_PROC_NULL"]
        if p.kind == "WINDOW" and p.direction != "out" and base_name(f) == "Win_attach":
            return self.dynamic
        if p.kind == "MESSAGE":
            return self.pointer_to(CONSTANTS["MPI_MESSAGE_NO_PROC"])
        if p.kind == "REQUEST" and p.direction == "out":
            return self.pointer_to(CONSTANTS["MPI_REQUEST_NULL"])
        if p.kind == "DATATYPE" and p.suffix:
            return self.pointer_to(*[CONSTANTS["MPI_INT"]] * 4)
        is_number = p.kind.startswith(NUMBERS) or "count" in p.name or p.name in ("size", "outsize", "insize", "position")
        if is_number and p.kind != "BUFFER":
            return self.pointer_to(0, 0, 0, 0) if pointer else 0
        return self.good_argument(f, p)

    def finish(self, f: Function, values: list[int]) -> int:
        """Completes what the call has begun; the first error code."""
        call = self.library.call
        if f.name.removesuffix("_c").endswith("_begin"):
            end = f.name.removesuffix("_c").replace("_begin", "_end")
            buffer = next(i for i, p in enumerate(f.parameters) if p.kind == "BUFFER")
            return call(end, values[0], values[buffer], self.memory())
        for p, value in zip(f.parameters, values, strict=True):
            if p.kind == "WINDOW" and p.direction == "out":
                return call("MPI_Win_free", value)
            if p.kind != "REQUEST" or p.direction != "out":
                continue
            starts = "_init" in f.name and not base_name(f).startswith(("Psend", "Precv"))
            code = (call("MPI_Start", value) if starts else 0) or (
                0 if "_init" in f.name and not starts else call("MPI_Wait", value, 0))
            if code or "_init" not in f.name:
                return code
            return call("MPI_Request_free", value)
        return 0


def run(library_path: str) -> list[str]:
    world = EmptyWorld(Library(library_path))
    failures = []
    calls = 0
    for f in functions():
        signal.alarm(SECONDS)
        places = [i for i, p in enumerate(f.parameters) if p.kind == "BUFFER"]
        for addresses in itertools.product((0, 1, world.memory()), repeat=len(places)):
            values = [world.argument(f, p) for p in f.parameters]
            for place, address in zip(places, addresses, strict=True):
                values[place] = address
            print(f.name, [hex(v) for v in addresses], file=sys.stderr)
            calls += 1
            code = world.library.call(f.name, *values) or world.finish(f, values)
            if code:
                got = CLASS_NAMES.get(world.library.error_class(code), str(code))
                failures.append(f"{f.name} with empty buffers at {[hex(a) for a in addresses]}: {got}")
    print(f"{len(functions())} functions, {calls} calls")
    return failures


if __name__ == "__main__":
    found = run(sys.argv[1])
    print("\n".join(found), flush=True)
    os._exit(1 if found else 0)

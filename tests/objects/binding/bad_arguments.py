"""Calls every supported function with bad arguments of each kind: the right error class comes back, nothing crashes.

    bad_arguments.py LIBRARY CHAPTER     one chapter, in this process (a singleton)

First each argument in turn is bad and all others are good. Then many calls with several bad arguments at random: any
error will do. The expected class is written down here once more, not taken from the generator.
"""

from __future__ import annotations

import ctypes
import os
import random
import signal
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, field

from mpi_library import CHAPTERS, CLASS_NAMES, CONSTANTS, MPI, OVERRIDES, Library
from generator.overrides import base_name
from generator.standard import Function, Parameter

SECONDS = 200
RANDOM_CALLS = 60  # for each function

# Kind -> (null handle, error class).
HANDLES = {
    "COMMUNICATOR": ("MPI_COMM_NULL", "MPI_ERR_COMM"),
    "GROUP": ("MPI_GROUP_NULL", "MPI_ERR_GROUP"),
    "DATATYPE": ("MPI_DATATYPE_NULL", "MPI_ERR_TYPE"),
    "OPERATION": ("MPI_OP_NULL", "MPI_ERR_OP"),
    "INFO": ("MPI_INFO_NULL", "MPI_ERR_INFO"),
    "ERRHANDLER": ("MPI_ERRHANDLER_NULL", "MPI_ERR_ERRHANDLER"),
    "REQUEST": ("MPI_REQUEST_NULL", "MPI_ERR_REQUEST"),
    "SESSION": ("MPI_SESSION_NULL", "MPI_ERR_SESSION"),
    "MESSAGE": ("MPI_MESSAGE_NULL", "MPI_ERR_REQUEST"),
    "FILE": ("MPI_FILE_NULL", "MPI_ERR_FILE"),
    "WINDOW": ("MPI_WIN_NULL", "MPI_ERR_WIN"),
}
# Functions that have no good call in a singleton, that end the process, or that live outside of it.
COUNTS = ("POLYXFER_NUM_ELEM", "POLYDTYPE_NUM_ELEM")  # kinds begin with
INTERCOMMUNICATORS_ONLY = {"Comm_remote_size", "Comm_remote_group"}
NOT_CALLED = {"MPI_Init", "MPI_Init_thread", "MPI_Finalize", "MPI_Abort", "MPI_Pcontrol", "MPI_Intercomm_merge"}
# (function without MPI_ and _c, parameter) whose null pointer is good or is not read.
MAY_BE_NULL = {
    ("Info_get_string", "value"), ("Info_get_string", "buflen"), ("Session_get_nth_pset", "pset_name"),
    ("Buffer_attach", "buffer"), ("Comm_attach_buffer", "buffer"), ("Session_attach_buffer", "buffer"),
    ("Free_mem", "base"), ("Get_address", "location"),
}


@dataclass
class Bad:
    value: int
    error_class: str
    why: str


@dataclass
class World:
    """Good arguments, and objects that are no longer."""

    library: Library
    keep: list[object] = field(default_factory=list)  # memory that arguments point to

    def __post_init__(self) -> None:
        call, make = self.library.call, self.library.make
        call("MPI_Init", 0, 0)
        for comm in ("MPI_COMM_WORLD", "MPI_COMM_SELF"):
            call("MPI_Comm_set_errhandler", CONSTANTS[comm], CONSTANTS["MPI_ERRORS_RETURN"])
        self.call_back = ctypes.CFUNCTYPE(ctypes.c_int)(lambda: 0)
        self.comm = make("MPI_Comm_dup", CONSTANTS["MPI_COMM_SELF"])
        call("MPI_Comm_set_errhandler", self.comm, CONSTANTS["MPI_ERRORS_RETURN"])
        self.good = {
            "COMMUNICATOR": self.comm,
            "GROUP": make("MPI_Comm_group", self.comm),
            "DATATYPE": CONSTANTS["MPI_INT"],
            "OPERATION": CONSTANTS["MPI_SUM"],
            "INFO": make("MPI_Info_create"),
            "ERRHANDLER": CONSTANTS["MPI_ERRORS_RETURN"],
            "REQUEST": self._request(),
            "MESSAGE": CONSTANTS["MPI_MESSAGE_NO_PROC"],
            "SESSION": make("MPI_Session_init", CONSTANTS["MPI_INFO_NULL"], CONSTANTS["MPI_ERRORS_RETURN"]),
            "FILE": self._file(),
            "WINDOW": self._window(),
        }
        one = self.pointer_to(1)  # a ring of one process: two neighbors, both itself
        self.ring = make("MPI_Cart_create", self.comm, 1, one, one, 0)
        self.uncommitted = make("MPI_Type_contiguous", 3, CONSTANTS["MPI_INT"])
        self.freed = {
            "COMMUNICATOR": self._freed(make("MPI_Comm_dup", self.comm), "MPI_Comm_free"),
            "GROUP": self._freed(make("MPI_Comm_group", self.comm), "MPI_Group_free"),
            "DATATYPE": self._freed(make("MPI_Type_contiguous", 2, CONSTANTS["MPI_INT"]), "MPI_Type_free"),
            "INFO": self._freed(make("MPI_Info_create"), "MPI_Info_free"),
            "OPERATION": self._freed(make("MPI_Op_create", self.function(), 1), "MPI_Op_free"),
            "REQUEST": self._freed(self._request(), "MPI_Request_free"),
            "FILE": self._freed(self._file(), "MPI_File_close"),
            "WINDOW": self._freed(self._window(), "MPI_Win_free"),
        }
        for kind in [k for k, handle in self.freed.items() if not handle]:
            del self.freed[kind]

    def function(self) -> int:
        return ctypes.cast(self.call_back, ctypes.c_void_p).value or 0

    def _request(self) -> int:
        integer = CONSTANTS["MPI_INT"]
        return self.library.make("MPI_Recv_init", self.memory(), 1, integer, 0, 999, self.comm)

    def _file(self) -> int:
        with tempfile.NamedTemporaryFile() as file:  # gone at once; the handle keeps it
            path, mode = self.string(file.name.encode()), CONSTANTS["MPI_MODE_RDWR"]
            return self.library.make("MPI_File_open", self.comm, path, mode, CONSTANTS["MPI_INFO_NULL"])

    def _window(self) -> int:
        memory, null = self.memory(), CONSTANTS["MPI_INFO_NULL"]
        window = self.library.make("MPI_Win_create", memory, 4096, 1, null, self.comm)
        if window:
            self.library.call("MPI_Win_set_errhandler", window, CONSTANTS["MPI_ERRORS_RETURN"])
        return window

    def _freed(self, handle: int, free: str) -> int:
        if handle and self.library.call(free, self.pointer_to(handle)) != 0:
            raise RuntimeError(f"{free} failed")
        return handle

    def memory(self, size: int = 4096) -> int:
        block = ctypes.create_string_buffer(size)
        self.keep.append(block)
        return ctypes.addressof(block)

    def pointer_to(self, *values: int) -> int:
        block = (ctypes.c_int64 * len(values))(*values)
        self.keep.append(block)
        return ctypes.addressof(block)

    # ---- Good arguments ----

    def good_argument(self, f: Function, p: Parameter) -> int:
        pointer = bool(p.suffix) or "*" in p.type
        if p.kind in self.good and p.direction != "out":
            value = self.ring if p.kind == "COMMUNICATOR" and "eighbor" in f.name else self.good[p.kind]
            return self.pointer_to(value, value) if pointer else value
        if "FUNCTION" in p.kind:
            return self.function()
        if p.kind == "STRING" and p.direction == "in":
            return self.string(b"external32" if p.name == "datarep" else b"text")
        if p.kind == "KEYVAL" and p.direction == "in":
            return CONSTANTS["MPI_TAG_UB"]
        if pointer:
            if p.kind == "RANK" or "DISPL" in p.kind or "displ" in p.name:
                return self.pointer_to(0, 0)
            if p.direction == "in" and p.suffix:
                wide = "MPI_Count" in p.type or "MPI_Aint" in p.type
                return self.pointer_to(1, 1) if wide else self.pointer_to(1 | 1 << 32)
            if p.kind == "KEYVAL":
                return self.pointer_to(CONSTANTS["MPI_TAG_UB"])
            return self.memory()
        return 0 if p.kind in ("RANK", "TAG", "LOGICAL", "INDEX", "KEY", "COLOR", "KEY_INDEX") else 1

    def string(self, text: bytes) -> int:
        block = ctypes.create_string_buffer(text)
        self.keep.append(block)
        return ctypes.addressof(block)

    # ---- Bad arguments ----

    def bad_arguments(self, f: Function, p: Parameter) -> list[Bad]:
        if (base_name(f), p.name) in MAY_BE_NULL:
            return []
        if base_name(f) in INTERCOMMUNICATORS_ONLY and p.kind != "COMMUNICATOR":
            return []
        pointer = bool(p.suffix) or "*" in p.type
        if p.kind in HANDLES and p.direction != "out":
            return self._bad_handles(f, p, pointer)
        if p.kind == "BUFFER":
            return self._bad_buffers(f, p)
        if p.suffix:
            return self._bad_arrays(f, p)
        if pointer:
            return self._bad_pointers(f, p)
        return self._bad_numbers(f, p)

    def _bad_handles(self, f: Function, p: Parameter, pointer: bool) -> list[Bad]:
        null, error_class = HANDLES[p.kind]
        another = self.good["GROUP" if p.kind != "GROUP" else "INFO"]
        bad = [
            Bad(0, error_class, "zero"),
            Bad(0x7FFDEADBEEF8, error_class, "an address of nothing"),
            Bad(another, error_class, "a handle of another kind"),
            Bad(another + 4, error_class, "a handle that is not aligned"),
        ]
        if p.kind in self.freed:
            bad.append(Bad(self.freed[p.kind], error_class, "freed"))
        may_be_null = p.kind == "INFO" or OVERRIDES.applies("nullable", f, p.name) or is_completion(f)
        if base_name(f).startswith("Info_") or not may_be_null:
            bad.append(Bad(CONSTANTS[null], error_class, null))
        if p.kind == "DATATYPE" and is_communicated(f, p) and self.uncommitted:
            bad.append(Bad(self.uncommitted, error_class, "not committed"))
        kinds = {q.kind for q in f.parameters}
        if p.kind == "OPERATION" and "DATATYPE" in kinds and "WINDOW" not in kinds:
            bad.append(Bad(CONSTANTS["MPI_REPLACE"], error_class, "MPI_REPLACE, for windows only"))
        if p.suffix and not is_long_enough(f, p):
            return []
        if not pointer:
            return bad
        # A pointer to a bad handle, and a bad pointer.
        if is_completion(f) and p.suffix:
            wrong_class = ("MPI_ERR_REQUEST", "MPI_ERR_IN_STATUS")
            bad = [Bad(b.value, "/".join(wrong_class), b.why) for b in bad]
        null_class = "MPI_ERR_ARG" if not is_completion(f) else "MPI_ERR_ARG/MPI_ERR_REQUEST"
        return [Bad(self.pointer_to(b.value, b.value), b.error_class, b.why) for b in bad] + [
            Bad(0, null_class, "a null pointer")
        ]

    def _bad_buffers(self, f: Function, p: Parameter) -> list[Bad]:
        if not any(q.kind == "DATATYPE" and not q.suffix for q in f.parameters):
            return []  # Alltoallw and the like: each element may be anything
        if "neighbor" in f.name.lower() and "v" in f.name:
            return []  # how many counts there are is the topology's to say
        bad = [Bad(0, "MPI_ERR_BUFFER", "null")]
        in_place = CONSTANTS["MPI_IN_PLACE"]
        if not (p.name == "sendbuf" or (p.name == "recvbuf" and "catter" in f.name)) or "eighbor" in f.name:
            bad.append(Bad(in_place, "MPI_ERR_BUFFER", "MPI_IN_PLACE"))
        return bad

    def _bad_arrays(self, f: Function, p: Parameter) -> list[Bad]:
        if p.direction == "in" and p.kind.startswith(COUNTS) and is_long_enough(f, p):
            wide = "MPI_Count" in p.type
            values = self.pointer_to(-3, -3) if wide else self.pointer_to(-3 & 0xFFFFFFFF | (-3 << 32))
            count_class = "MPI_ERR_COUNT" if "count" in p.name else "MPI_ERR_ARG"
            return [Bad(values, count_class, "with negative elements"), Bad(0, "MPI_ERR_ARG", "null")]
        return []

    def _bad_pointers(self, f: Function, p: Parameter) -> list[Bad]:
        name = base_name(f)
        if p.kind in ("STATUS", "F90_STATUS", "F08_STATUS") and p.direction == "out":
            return []
        if p.kind in ("EXTRA_STATE", "EXTRA_STATE2", "ARGUMENT_LIST", "ARGUMENT_COUNT"):
            return []
        if "ATTRIBUTE_VAL" in p.kind and p.direction == "in":
            return []  # any value, so also zero
        if "keyval" in name.lower() and "FUNCTION" in p.kind:
            return []  # MPI_COMM_NULL_COPY_FN is zero
        if name == "Register_datarep" and "conversion" in p.name:
            return []
        error_class = "MPI_ERR_ARG"
        if p.kind == "STRING" and p.direction == "in" and name.startswith("Info_"):
            error_class = {"key": "MPI_ERR_INFO_KEY", "value": "MPI_ERR_INFO_VALUE"}.get(p.name, error_class)
        bad = [Bad(0, error_class, "null")]
        if error_class == "MPI_ERR_INFO_KEY":
            bad.append(Bad(self.string(b""), error_class, "empty"))
            bad.append(Bad(self.string(b"k" * 300), error_class, "too long"))
        if p.kind == "KEYVAL" and p.direction == "inout":
            bad.append(Bad(self.pointer_to(0), "MPI_ERR_KEYVAL", "MPI_KEYVAL_INVALID"))
        return bad

    def _bad_numbers(self, f: Function, p: Parameter) -> list[Bad]:
        name = base_name(f)
        if p.kind == "RANK" and p.name in ("dest", "source", "root") and not name.startswith("Status_"):
            error_class = "MPI_ERR_ROOT" if p.name == "root" else "MPI_ERR_RANK"
            values = [1, 1 << 30, -77, CONSTANTS["MPI_ROOT"]]
            if p.name != "source" or name == "Precv_init":
                values.append(CONSTANTS["MPI_ANY_SOURCE"])
            return [Bad(v, error_class, str(v)) for v in values]
        if p.kind == "TAG" and not name.startswith("Status_"):
            values = [-5, -77]
            if p.name == "sendtag" or not ("recv" in name.lower() or "probe" in name.lower()) or name == "Precv_init":
                values.append(CONSTANTS["MPI_ANY_TAG"])
            return [Bad(v, "MPI_ERR_TAG", str(v)) for v in values]
        if p.kind.startswith((*COUNTS, "XFER_NUM_ELEM", "ARRAY_LENGTH")) and p.name != "stride":
            error_class = "MPI_ERR_COUNT" if "count" in p.name else "MPI_ERR_ARG"
            return [Bad(-1, error_class, "negative")]
        if p.kind == "NUM_DIMS":
            return [Bad(-1, "MPI_ERR_DIMS", "negative")]
        if p.kind == "KEYVAL":
            return [Bad(CONSTANTS["MPI_KEYVAL_INVALID"], "MPI_ERR_KEYVAL", "MPI_KEYVAL_INVALID")]
        return []


def is_completion(f: Function) -> bool:
    return base_name(f).startswith(("Wait", "Test", "Request_get_status")) and base_name(f) != "Test_cancelled"


def is_communicated(f: Function, p: Parameter) -> bool:
    return any(q.kind == "BUFFER" for q in f.parameters) and not base_name(f).startswith("Type_")


def is_long_enough(f: Function, p: Parameter) -> bool:
    """True if the array's length is an argument, or follows from the communicator."""
    return p.length in {q.name for q in f.parameters} or "eighbor" not in f.name


def chapter_functions(chapter: str) -> list[Function]:
    return [
        f
        for f in MPI.all_functions
        if CHAPTERS.of(f) == chapter and CHAPTERS.supports(f) and f.returns_error and f.name not in NOT_CALLED
        and not f.is_tool  # these have error codes of their own, and tests of them: tests/mpi/tool/errors.cpp
    ]


def run(library_path: str, chapter: str, log: Callable[[str], None]) -> list[str]:
    world = World(Library(library_path))
    functions = chapter_functions(chapter)
    failures = []
    calls = 0
    for f in functions:
        good = [world.good_argument(f, p) for p in f.parameters]
        bad = [world.bad_arguments(f, p) for p in f.parameters]
        for i, p in enumerate(f.parameters):
            for b in bad[i]:
                log(f"{f.name}: {p.name} is {b.why}")
                calls += 1
                code = world.library.call(f.name, *good[:i], b.value, *good[i + 1 :])
                got = CLASS_NAMES.get(world.library.error_class(code), str(code))
                if got not in b.error_class.split("/"):
                    failures.append(f"{f.name}: {p.name} is {b.why}: {got}, not {b.error_class}")
        for _ in range(RANDOM_CALLS):
            chosen = [random.choice(b) if b and random.random() < 0.4 else None for b in bad]
            if not any(chosen):
                continue
            values = [c.value if c else g for c, g in zip(chosen, good, strict=True)]
            log(f"{f.name}{tuple(hex(v) for v in values)}")
            calls += 1
            if world.library.call(f.name, *values) == 0:
                whys = ", ".join(f"{p.name} is {c.why}" for p, c in zip(f.parameters, chosen, strict=True) if c)
                failures.append(f"{f.name}: {whys}: MPI_SUCCESS")
    print(f"{len(functions)} functions, {calls} calls")
    return failures


def main() -> None:
    library_path, chapter = sys.argv[1:]
    # The child tells each call before it makes it, so that the last one is known when there is no one left to ask.
    read_end, write_end = os.pipe()
    if (child := os.fork()) == 0:
        os.close(read_end)
        random.seed(chapter)
        signal.alarm(SECONDS)
        failures = run(library_path, chapter, lambda text: os.write(write_end, (text + "\n").encode()) and None)
        print("\n".join(failures), flush=True)
        os._exit(1 if failures else 0)
    os.close(write_end)
    last = ""
    with os.fdopen(read_end) as calls:
        for line in calls:
            last = line.rstrip()
    _, status = os.waitpid(child, 0)
    if os.WIFSIGNALED(status):
        number = signal.Signals(os.WTERMSIG(status))
        sys.exit(f"{f'no answer for {SECONDS} s' if number is signal.SIGALRM else number.name} in {last}")
    sys.exit(os.WEXITSTATUS(status))


if __name__ == "__main__":
    main()

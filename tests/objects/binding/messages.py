"""Messages for calls outside MPI's time, and for invalid handles: the call, and nothing that is not so.

    messages.py LIBRARY
"""

from __future__ import annotations

import ctypes
import os
import sys
import tempfile
from collections.abc import Callable

from mpi_library import CONSTANTS, Library

WORLD, SELF, INT, RETURN = (CONSTANTS[name] for name in ("MPI_COMM_WORLD", "MPI_COMM_SELF", "MPI_INT", "MPI_ERRORS_RETURN"))


def said(act: Callable[[], None]) -> str:
    """The output of a process that does this and is ended for it."""
    with tempfile.TemporaryFile() as errors:
        if (child := os.fork()) == 0:
            os.dup2(errors.fileno(), 2)
            act()
            os._exit(0)
        _, status = os.waitpid(child, 0)
        errors.seek(0)
        text = errors.read().decode()
        return text if os.WIFEXITED(status) and os.WEXITSTATUS(status) != 0 else f"status {status}: {text}"


class Messages:
    def __init__(self, path: str) -> None:
        self.library = Library(path)
        self.block = ctypes.create_string_buffer(4096)
        self.memory = ctypes.addressof(self.block)
        self.failures = 0

    def call(self, name: str, *arguments: int) -> int:
        return self.library.call(name, *arguments)

    def equal(self, found: str, wanted: str, what: str) -> None:
        if found == wanted:
            return
        self.failures += 1
        print(f"{what}:\n{found!r}\nand not\n{wanted!r}")

    def error_string(self, code: int) -> str:
        length = ctypes.c_int()
        self.call("MPI_Error_string", code, self.memory, ctypes.addressof(length))
        text = self.block.value.decode()
        assert len(text) == length.value < CONSTANTS["MPI_MAX_ERROR_STRING"]
        return text

    def before(self) -> None:
        sentence = "  MPI_{0} was called before MPI_Init or MPI_Session_init: MPI is not initialized. Call one of them first\n"
        for name, act in (("Comm_rank", lambda: self.call("MPI_Comm_rank", WORLD, self.memory)),
                          ("Barrier", lambda: self.call("MPI_Barrier", WORLD)),
                          ("Send", lambda: self.call("MPI_Send", self.memory, 1, INT, 0, 0, WORLD))):
            self.equal(said(act), f"MPI_{name} failed\n{sentence.format(name)}", "before initialization")
        os.environ |= {"HEDDLE_RANK": "1", "HEDDLE_SIZE": "4"}
        self.equal(said(lambda: self.call("MPI_Barrier", WORLD)),
                   f"MPI_Barrier failed on rank 1 of 4\n{sentence.format('Barrier')}", "before initialization, of a job")
        del os.environ["HEDDLE_RANK"], os.environ["HEDDLE_SIZE"]

    def handles(self) -> None:
        freed = self.library.make("MPI_Comm_dup", WORLD)
        place = ctypes.c_void_p(freed)
        self.call("MPI_Comm_free", ctypes.addressof(place))
        again = self.library.make("MPI_Comm_dup", WORLD)  # in the same place
        group = self.library.make("MPI_Comm_group", WORLD)
        title = "  MPI_ERR_COMM: Invalid communicator\n"
        for handle, sentence in (
            (freed, "argument comm is a communicator that has been freed"),
            (group, "argument comm is not a communicator but a group"),
            (CONSTANTS["MPI_COMM_NULL"], "argument comm is MPI_COMM_NULL"),
            (0x123456789000, "argument comm = 0x123456789000 is not a communicator: the variable may be uninitialized"),
        ):
            self.equal(said(lambda: self.call("MPI_Send", self.memory, 1, INT, 0, 0, handle)),
                       f"MPI_Send failed on rank 0 of 1\n{title}  {sentence}\n", "a handle")
            self.equal(said(lambda: self.call("MPI_Comm_size", handle, self.memory)),
                       f"MPI_Comm_size failed on rank 0 of 1\n{title}  {sentence}\n", "a handle")
        self.equal(said(lambda: self.call("MPI_Send", self.memory, 1, INT, 5, 0, again)),
                   "MPI_Send failed on rank 0 of 1\n  MPI_ERR_RANK: Invalid rank\n"
                   "  argument dest = 5 is not a rank of communicator (unnamed) (0..0)\n  on an unnamed communicator (rank 0 of 1)\n",
                   "a communicator that is one is named")

    def details(self) -> None:
        rank = CONSTANTS["MPI_ERR_RANK"]
        plain = self.error_string(rank)
        self.equal(plain, "MPI_ERR_RANK: Invalid rank", "no error yet")
        self.call("MPI_Comm_set_errhandler", WORLD, RETURN)
        assert self.call("MPI_Send", self.memory, 1, INT, 5, 0, WORLD) == rank
        wanted = f"{plain}; MPI_Send: argument dest = 5 is not a rank of communicator MPI_COMM_WORLD (0..0)"
        self.equal(self.error_string(rank), wanted, "the thread's last error")
        self.equal(self.error_string(rank), wanted, "and once more")
        self.equal(self.error_string(CONSTANTS["MPI_ERR_TAG"]), "MPI_ERR_TAG: Invalid tag", "another class")
        assert self.call("MPI_Send", self.memory, 1, INT, 0, -5, WORLD) == CONSTANTS["MPI_ERR_TAG"]
        self.equal(self.error_string(rank), plain, "no longer the last one")
        self.equal(self.error_string(CONSTANTS["MPI_ERR_TAG"]).split("; ")[1], "MPI_Send: argument tag = -5 is not a tag (0..1073741823)",
                   "a tag")
        # The errors that a handler receives, and the failures of its own calls meanwhile.
        heard = []

        @ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.POINTER(ctypes.c_int))
        def handler(_, code):
            heard.append(self.error_string(code[0]))
            self.call("MPI_Comm_set_errhandler", SELF, RETURN)
            self.call("MPI_Send", self.memory, 1, INT, 0, -7, SELF)

        created = self.library.make("MPI_Comm_create_errhandler", ctypes.cast(handler, ctypes.c_void_p).value)
        self.call("MPI_Comm_set_errhandler", WORLD, created)
        assert self.call("MPI_Send", self.memory, 1, INT, 5, 0, WORLD) == rank
        self.equal(heard[0], wanted, "in the handler")
        self.equal(self.error_string(rank), wanted, "after the handler")
        # Texts of the program's own.
        code = ctypes.c_int()
        self.call("MPI_Add_error_class", ctypes.addressof(code))
        text = ctypes.create_string_buffer(b"the loom is broken")
        self.call("MPI_Add_error_string", code.value, ctypes.addressof(text))
        self.call("MPI_Comm_set_errhandler", WORLD, RETURN)
        self.call("MPI_Comm_call_errhandler", WORLD, code.value)
        self.equal(self.error_string(code.value), "the loom is broken", "the program's own text")

    def after(self) -> None:
        self.equal(said(lambda: self.call("MPI_Barrier", WORLD)),
                   "MPI_Barrier failed on rank 0 of 1\n"
                   "  MPI_Barrier was called after MPI_Finalize, or after the last session has ended: MPI is already finalized\n",
                   "after finalization")


def main() -> None:
    messages = Messages(sys.argv[1])
    messages.before()
    messages.call("MPI_Init", 0, 0)
    messages.handles()
    messages.details()
    messages.call("MPI_Finalize")
    messages.after()
    print(f"{messages.failures} wrong")
    sys.exit(1 if messages.failures else 0)


if __name__ == "__main__":
    main()

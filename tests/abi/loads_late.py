"""Can a running program load the library? Its thread-local storage must fit what the loader keeps free for that."""

import ctypes
import sys

library = ctypes.CDLL(sys.argv[1])
major, minor = ctypes.c_int(), ctypes.c_int()
assert library.MPI_Abi_get_version(ctypes.byref(major), ctypes.byref(minor)) == 0
assert (major.value, minor.value) == (1, 0)

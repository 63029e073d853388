"""Turns the standard into Fortran's bindings: the entry points in C++ (over the C ABI), the modules, and mpif.h."""

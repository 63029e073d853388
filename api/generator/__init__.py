"""Turns the MPI Forum's machine-readable standard into mpi.h, the binding, and the coverage page."""

"""docs/coverage.md: how much of the standard is there."""

from __future__ import annotations

from .model import Chapters
from .overrides import base_name
from .standard import Standard

_TITLES = {
    "tool": "Tool information interface (MPI_T)",
    "convert": "Handle and status conversion, ABI queries",
    "partitioned": "Partitioned communication",
    "request": "Requests, statuses, completion",
    "buffer": "Buffers of buffered sends",
    "p2p": "Point-to-point communication",
    "neighbor": "Neighborhood collectives",
    "coll": "Collectives",
    "op": "Reduction operations",
    "datatype": "Datatypes, packing",
    "attribute": "Attributes and names",
    "errhandler": "Error handlers and codes",
    "topo": "Topologies",
    "session": "Sessions",
    "dpm": "Dynamic processes",
    "comm": "Communicators",
    "group": "Groups",
    "info": "Info objects",
    "rma": "One-sided communication",
    "io": "Files",
    "env": "Initialization, environment, memory, time",
}

_INTRODUCTION = """\
# What is supported

Generated from `api/supported/` by `cmake --build build/release --target coverage_page`; a test fails when it is out of
date. The large-count variant of a function (`_c`) is supported when the function is, so each counts once. Calling any
other function raises `MPI_ERR_UNSUPPORTED_OPERATION` on the error handler of its communicator, window, file or session; if
that returns, a line on stderr names the function once.
"""


def render(standard: Standard, chapters: Chapters) -> str:
    rows, missing, total, done = [], [], 0, 0
    for chapter in sorted(chapters.names, key=lambda c: _TITLES[c]):
        functions = [f for f in standard.functions if not f.large and chapters.of(f) == chapter]
        absent = [base_name(f) for f in functions if not chapters.supports(f)]
        supported = len(functions) - len(absent)
        rows.append(f"| {_TITLES[chapter]} | {supported} | {len(functions)} |")
        total, done = total + len(functions), done + supported
        if absent:
            names = ", ".join(f"`MPI_{n}`" for n in absent)
            version = chapters.planned(next(f for f in functions if not chapters.supports(f)))
            listed = "all" if supported == 0 else names
            missing.append(f"- {_TITLES[chapter]} (planned for {version}): {listed}")
    return "\n".join(
        [
            _INTRODUCTION,
            "| | supported | functions |",
            "|---|---:|---:|",
            *rows,
            f"| **together** | **{done}** | **{total}** |",
            "",
            *(["Not yet:", "", *missing] if missing else ["Everything is there."]),
            "",
        ]
    )

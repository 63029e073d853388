"""docs/coverage.md: how much of the standard is there."""

from __future__ import annotations

from .model import Chapters
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
# Supported functions

Generated from `api/supported/` by `cmake --build build/release --target coverage_page`; a test fails when it is out of
date. Every function of the standard has an implementation. A function and its large-count variant (`_c`) count once.
"""


def render(standard: Standard, chapters: Chapters) -> str:
    rows, total = [], 0
    for chapter in sorted(_TITLES, key=lambda c: _TITLES[c]):
        functions = sum(not f.large and chapters.of(f) == chapter for f in standard.functions)
        rows.append(f"| {_TITLES[chapter]} | {functions} |")
        total += functions
    return "\n".join([_INTRODUCTION, "| | functions |", "|---|---:|", *rows, f"| **together** | **{total}** |", ""])

"""How each argument of a Fortran procedure reaches C: C++ types and expressions (src/mpi/fortran/arguments.hpp)."""

from __future__ import annotations

from ..standard import Parameter
from .procedures import Procedure

HANDLES = {
    "COMMUNICATOR": "MPI_Comm",
    "GROUP": "MPI_Group",
    "DATATYPE": "MPI_Datatype",
    "OPERATION": "MPI_Op",
    "INFO": "MPI_Info",
    "ERRHANDLER": "MPI_Errhandler",
    "REQUEST": "MPI_Request",
    "SESSION": "MPI_Session",
    "MESSAGE": "MPI_Message",
    "WINDOW": "MPI_Win",
    "FILE": "MPI_File",
}
_ADDRESSES = {"EXTRA_STATE", "ATTRIBUTE_VAL"}
_RAW = {"BUFFER", "C_BUFFER", "C_BUFFER2", "LOGICAL_VOID"}
_INDEX_FROM_ONE = {"index": "IndexOut", "array_of_indices": "IndicesOut"}
_WIDE = ("MPI_Aint", "MPI_Count", "MPI_Offset")

# Lengths of arrays that the standard does not give as an argument. {0}: the procedure's first buffer.
_LENGTHS = {
    ("MPI_Cart_sub", "remain_dims"): "dimensions(comm)",
    ("MPI_Cart_rank", "coords"): "dimensions(comm)",
    ("MPI_Graph_create", "edges"): "last(index, nnodes)",
    ("MPI_Graph_map", "edges"): "last(index, nnodes)",
    ("MPI_Dist_graph_create", "destinations"): "sum(degrees, n)",
    ("MPI_Dist_graph_create", "weights"): "sum(degrees, n)",
    ("MPI_Dist_graph_create_adjacent", "sourceweights"): "size_of(indegree)",
    ("MPI_Dist_graph_create_adjacent", "destweights"): "size_of(outdegree)",
    ("MPI_Dist_graph_neighbors", "sourceweights"): "size_of(maxindegree)",
    ("MPI_Dist_graph_neighbors", "destweights"): "size_of(maxoutdegree)",
    ("MPI_Waitsome", "array_of_indices"): "size_of(incount)",
    ("MPI_Testsome", "array_of_indices"): "size_of(incount)",
    ("MPI_Request_get_status_some", "array_of_indices"): "size_of(incount)",
    ("MPI_Waitsome", "array_of_statuses"): "size_of(incount)",
    ("MPI_Testsome", "array_of_statuses"): "size_of(incount)",
    ("MPI_Request_get_status_some", "array_of_statuses"): "size_of(incount)",
    ("MPI_Waitall", "array_of_statuses"): "size_of(count)",
    ("MPI_Testall", "array_of_statuses"): "size_of(count)",
    ("MPI_Request_get_status_all", "array_of_statuses"): "size_of(count)",
}


def length(procedure: Procedure, p: Parameter) -> str:
    name = procedure.name.removesuffix("_c") if procedure.large else procedure.name
    if (name, p.name) in _LENGTHS:
        return _LENGTHS[name, p.name]
    if p.length == "['n', '3']":
        return "3 * size_of(n)"
    if p.kind == "DATATYPE" and "lltoallw" in name:
        if "eighbor" in name:
            return "targets(comm)" if p.name.startswith("send") else "sources(comm)"
        # Types of the sender are not to be read where it has none.
        return "is_in_place(sendbuf) ? 0 : peers(comm)" if p.name.startswith("send") else "peers(comm)"
    if p.length and p.length.isidentifier():
        return f"size_of({p.length})"
    raise ValueError(f"the length of {procedure.name}'s {p.name} is not known")


def fortran_type(procedure: Procedure, small: Parameter) -> str:
    """Fortran's argument: a pointer. `small`: the parameter of the C function with the same width of counts."""
    kind = small.kind
    if kind in ("FUNCTION", "POLYFUNCTION"):
        return "Procedure"
    const = "const " if small.direction == "in" else ""
    if kind in _RAW:
        return "void*"
    if kind.startswith("STRING") and kind != "STRING_LENGTH":
        return f"{const}char*"
    if kind in _ADDRESSES:
        return f"{const}MPI_Aint*"
    if kind == "REQUEST" and not small.is_array:
        const = ""  # MPI_Cancel's is one that C takes by address
    for wide in _WIDE:
        if small.type.removeprefix("const ").rstrip("*") == wide:
            return f"{const}{wide}*"
    return f"{const}Fint*"


def expression(procedure: Procedure, p: Parameter, passed: str, wide: bool) -> str:
    """The C function's argument for its parameter `p`, for which Fortran passes a `passed`. `wide`: 8-byte integers."""
    n, kind, out, array = p.name, p.kind, p.direction != "in", p.is_array
    c_type = p.type.removeprefix("const ").rstrip("*")
    if kind in ("ARGUMENT_COUNT", "ARGUMENT_LIST"):
        return "nullptr" if "*" in p.type or p.is_array else "0"
    if kind in _RAW:
        if kind == "C_BUFFER2":
            return f"DetachedOut({n})"
        return f"buffer_at({n})" if kind == "BUFFER" else n
    if kind in HANDLES:
        handle = HANDLES[kind]
        if array:
            form = {"in": "Handles", "inout": "HandlesInOut", "out": "HandlesOut"}[p.direction]
            return f"{form}<{handle}>({n}, {length(procedure, p)})"
        if not out and "*" not in p.type:
            return f"handle<{handle}>(*{n})"
        return f"{'HandleOut' if p.direction == 'out' else 'HandleInOut'}<{handle}>({n})"
    if kind == "STATUS":
        if array:
            return f"StatusesOut({n}, {length(procedure, p)})"
        return {"in": f"StatusIn({n})", "out": f"StatusOut({n})", "inout": f"StatusOut({n}, true)"}[p.direction]
    if kind == "STRING":
        if not out:
            # The blanks around keys and values of an info are stripped on both sides.
            return f"{'Word' if procedure.name.startswith('MPI_Info_') else 'String'}({n}, {n}_length)"
        most = "integer(valuelen) + 1" if p.length == "valuelen" else p.length
        if most is None:
            most = {"datarep": "MPI_MAX_DATAREP_STRING", "key": "MPI_MAX_INFO_KEY"}[n]
        return f"StringOut({n}, {n}_length, {most})"
    if kind == "LOGICAL":
        if array:
            return f"{'LogicalsOut' if out else 'Logicals'}({n}, {length(procedure, p)})"
        return f"LogicalOut({n})" if out else f"truth({n})"
    if kind == "WEIGHT":
        return f"{'WeightsOut' if out else 'Weights'}({n}, {length(procedure, p)})"
    if kind == "INDEX" and out and n in _INDEX_FROM_ONE and "raph" not in procedure.name:
        if array:
            return f"{_INDEX_FROM_ONE[n]}({n}, {length(procedure, p)})"
        return f"{_INDEX_FROM_ONE[n]}({n})"
    return _number(procedure, p, passed, wide, c_type)


def _number(procedure: Procedure, p: Parameter, passed: str, wide: bool, c_type: str) -> str:
    n, out, array = p.name, p.direction != "in", p.is_array
    if c_type in _WIDE:
        if not array and not out:
            return f"*{n}"
        if passed.removeprefix("const ") == f"{c_type}*":
            return n
        return f"same<{'' if out else 'const '}{c_type}>({n})"
    if c_type != "int":
        raise ValueError(f"{procedure.name}: {n} is a {p.type} of kind {p.kind}")
    if not wide:
        if array and p.suffix == "[][3]":
            return f"reinterpret_cast<int(*)[3]>(const_cast<Fint*>({n}))"
        return n if array or out else f"*{n}"
    if array:
        return f"{'IntsInOut' if out else 'Ints'}({n}, {length(procedure, p)})"
    if out:
        return f"{'IntOut' if p.direction == 'out' else 'IntInOut'}({n})"
    return f"integer({n})"

"""A program that calls every procedure which takes a handle, with a null handle, and checks the class of the error that it returns.

Made from the data that the bindings are made from, so no procedure is forgotten; what the procedures do when nothing is wrong is
for the programs in programs/.
"""

from __future__ import annotations

import re

from generator.fortran import entries
from generator.fortran.procedures import Interface as Declared
from generator.fortran.procedures import Procedure
from render import Interface

# The handle that is null, the first of these that a procedure takes; with the class of the error.
SUBJECTS = {
    "MESSAGE": ("MPI_MESSAGE_NULL", "MPI_ERR_REQUEST"),
    "COMMUNICATOR": ("MPI_COMM_NULL", "MPI_ERR_COMM"),
    "WINDOW": ("MPI_WIN_NULL", "MPI_ERR_WIN"),
    "FILE": ("MPI_FILE_NULL", "MPI_ERR_FILE"),
    "SESSION": ("MPI_SESSION_NULL", "MPI_ERR_SESSION"),
    "GROUP": ("MPI_GROUP_NULL", "MPI_ERR_GROUP"),
    "DATATYPE": ("MPI_DATATYPE_NULL", "MPI_ERR_TYPE"),
    "OPERATION": ("MPI_OP_NULL", "MPI_ERR_OP"),
    "ERRHANDLER": ("MPI_ERRHANDLER_NULL", "MPI_ERR_ERRHANDLER"),
    "INFO": ("MPI_INFO_NULL", "MPI_ERR_INFO"),
    "REQUEST": ("MPI_REQUEST_NULL", "MPI_ERR_REQUEST"),
}
# A handle that is not the subject.
VALID = {
    "COMMUNICATOR": "MPI_COMM_SELF",
    "GROUP": "MPI_GROUP_EMPTY",
    "DATATYPE": "MPI_INTEGER",
    "OPERATION": "MPI_SUM",
    "INFO": "MPI_INFO_NULL",
    "ERRHANDLER": "MPI_ERRORS_RETURN",
}
# Null is no error for these, or other arguments are wrong first, or there is nothing to return to; programs/ has them.
_ELSEWHERE = re.compile(
    r"MPI_(Abort|File_(get|set|call)_errhandler|(Comm|Type|Win)_get_name|Type_create_(subarray|darray)"
    r"|(Wait|Test)(all|any|some)?|Request_get_status\w*|Parrived)(_c)?"
)
_LARGE_TEXT = 8192  # more than any text that MPI gives


def subject(procedure: Procedure) -> str | None:
    """The name of the argument that is null."""
    if _ELSEWHERE.fullmatch(procedure.name):
        return None
    for kind in SUBJECTS:
        if kind == "INFO" and not procedure.name.startswith("MPI_Info_"):
            continue  # others take a null info
        for name, k in procedure.kinds.items():
            parameter = procedure.c and next((p for p in procedure.c.parameters if p.name.lower() == name), None)
            if k == kind and parameter and not parameter.is_array and procedure.directions[name] != "out":
                return name
    return None


def _declared(interface: Declared) -> dict[str, tuple[str, str]]:
    """By argument: its type and its shape, both as they are written."""
    result = {}
    for line in interface.declarations:
        head, separator, names = line.partition("::")
        if not separator:
            head, names = re.fullmatch(r"(<type>|\w+(?:\([^)]*\))?(?:\*\(\*\)|\*\d+)?)\s*(.*)", line).groups()
        shape_of_all = re.search(r"DIMENSION(\(.*?\)(?=,|$|\s))", head)
        for name, shape in re.findall(r"(\w+)\s*(\((?:[^()]|\([^()]*\))*\))?", names):
            kind = re.match(r"<type>|\w+(\([^)]*\))?", head)[0]
            result[name.lower()] = (kind.replace(" ", ""), shape or (shape_of_all[1] if shape_of_all else ""))
    return result


def _value(name: str, kind: str, direction: str, declared: tuple[str, str], interface: Interface) -> str:
    fortran_type, shape = declared
    array, is_input = bool(shape), direction == "in"
    if name == "ierror":
        return "e"
    if kind in ("BUFFER", "C_BUFFER", "C_BUFFER2"):
        if fortran_type == "TYPE(C_PTR)":
            return "pointer"
        return "wide" if kind == "C_BUFFER" else "buffer"
    if kind == "STATUS":
        return "statuses" if array and shape != "(MPI_STATUS_SIZE)" else "status"
    if kind in SUBJECTS:
        if array:
            return f"{kind.lower()}s"
        return VALID[kind] if is_input and kind in VALID else f"a_{kind.lower()}"
    if fortran_type.startswith("CHARACTER"):
        if not array:
            return '"text"' if is_input else "text"
        return "texts" if "," not in shape else "text_table"
    if fortran_type == "LOGICAL":
        return "flags" if array else ".true." if is_input else "flag"
    wide = re.fullmatch(r"INTEGER\(KIND=(\w+)\)", fortran_type)
    if wide:
        return "wides" if array else f"1_{wide[1]}" if is_input else "wide"
    if fortran_type == "INTEGER":
        if "3," in shape.replace(" ", ""):
            return "ranges"
        return "numbers" if array else "1" if is_input else "number"
    raise ValueError(f"{name}: {fortran_type} {shape} of kind {kind}")


def calls(procedures: list[Procedure], interface: Interface, wide: bool) -> list[str]:
    """The call of each procedure and the check of its error."""
    lines = []
    for p in procedures:
        declared = p.f08 if interface.is_f08 else p.f90
        null = subject(p)
        if declared is None or null is None or declared.is_function or not entries.is_wanted(p, wide):
            continue
        types = _declared(declared)
        values = []
        for argument in declared.arguments:
            name = argument.lower()
            kind = p.kinds[name]
            if name == null:
                values.append(SUBJECTS[kind][0] if p.directions[name] == "in" else f"a_{kind.lower()}")
            else:
                values.append(_value(name, kind, p.directions[name], types[name], interface))
        name = p.generic if interface.is_f08 else p.name
        lines.append(f"  call {name}({', '.join(values)})")
        lines.append(f'  call refused("{p.name}", {SUBJECTS[p.kinds[null]][1]})')
    return lines


def program(procedures: list[Procedure], interface: Interface, wide: bool) -> str:
    """In the language of render.py."""
    handles = {
        "COMMUNICATOR": "Comm",
        "WINDOW": "Win",
        "FILE": "File",
        "SESSION": "Session",
        "GROUP": "Group",
        "DATATYPE": "Datatype",
        "OPERATION": "Op",
        "ERRHANDLER": "Errhandler",
        "INFO": "Info",
        "REQUEST": "Request",
        "MESSAGE": "Message",
    }
    nulls = {kind: null for kind, (null, _) in SUBJECTS.items()}
    statements = calls(procedures, interface, wide)
    # A compiler takes long for a long subroutine.
    parts = [statements[i : i + 200] for i in range(0, len(statements), 200)]
    newline = "\n"
    return f"""\
! Generated by refusals.py.
program refusals
  @use
  use checks
  implicit none
  @include
  integer :: e, i, called = 0, wrong = 0, buffer(64) = 0, numbers(64) = 1, number = 0, ranges(3, 64) = 1
  integer(MPI_ADDRESS_KIND) :: wide = 0, wides(64) = 1
  logical :: flag, flags(64) = .true.
  character(len={_LARGE_TEXT}) :: text
  character(len=8) :: texts(4) = " ", text_table(4, 4) = " "
  @Pointer :: pointer
  @Status :: status
  @Status :: statuses(64)
{newline.join(f"  @{of} :: a_{kind.lower()}, {kind.lower()}s(64)" for kind, of in handles.items())}

  call MPI_Init(e)
  call MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN, e)
  call MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN, e)
{newline.join(f"  a_{kind.lower()} = {null}{newline}  {kind.lower()}s = {null}" for kind, null in nulls.items())}
{newline.join(f"  call part_{i}()" for i in range(len(parts)))}
  call check(called > 0 .and. wrong == 0, "procedures that do not refuse a null handle")
  call MPI_Finalize(e)
  @end refusals
contains

  ! All that differ are told, not only the first.
  subroutine refused(name, expected)
    character(len=*), intent(in) :: name
    integer, intent(in) :: expected
    integer :: class
    called = called + 1
    call MPI_Error_class(e, class, i)
    e = MPI_SUCCESS
    if (class == expected .or. class == MPI_ERR_UNSUPPORTED_OPERATION) return
    print '(2a,2(i0,a))', name, " with a null handle: error class ", class, " instead of ", expected, ""
    wrong = wrong + 1
  end subroutine
{newline.join(f"{newline}  subroutine part_{i}(){newline}  {(newline + '  ').join(part)}{newline}  end subroutine" for i, part in enumerate(parts))}
end program
"""

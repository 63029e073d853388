"""Programs that are written once for the three interfaces (programs/*.f90), as one of them has it.

Differences between the interfaces are written so:

    @use, @include        the statements that make the interface known
    @Comm, @Status ...    the type of a handle or status; of statuses also with their number: @Status :: several(4)
    @source(x)            a part of a status (or of one of several); also @tag(x), @error(x)
    @Pointer              the address of memory that MPI has: type(c_ptr), or an integer
    @K, @P                the kinds of counts and of displacements: of INTEGER, or for large counts
    @A                    MPI_ADDRESS_KIND
    @if WHAT, @else, @end_if    lines for `f08` or `large` only
    @each_form "before", "after", @end_form    one collective call, in its three forms
    @end NAME             the message that the program has got to its end
"""

from __future__ import annotations

import re
from dataclasses import dataclass

HANDLES = ("Comm", "Datatype", "Errhandler", "File", "Group", "Info", "Message", "Op", "Request", "Session", "Win")


@dataclass(frozen=True)
class Interface:
    name: str  # mpi_f08, mpi, mpif.h
    large: bool = False

    @property
    def is_f08(self) -> bool:
        return self.name == "mpi_f08"

    @property
    def use(self) -> str:
        module = "" if self.name == "mpif.h" else f"; use {self.name}"
        return "use, intrinsic :: iso_c_binding" + module

    @property
    def include(self) -> str:
        return "include 'mpif.h'" if self.name == "mpif.h" else ""

    def holds(self, what: str) -> bool:
        return {"f08": self.is_f08, "large": self.large}[what]


def _status(text: str, interface: Interface) -> str:
    places = {"source": "MPI_SOURCE", "tag": "MPI_TAG", "error": "MPI_ERROR"}

    def part(match: re.Match) -> str:
        place, name, element = places[match[1]], match[2], match[4]
        if interface.is_f08:
            return f"{name}{match[3] or ''}%{place}"
        return f"{name}({place}, {element})" if element else f"{name}({place})"

    def declaration(match: re.Match) -> str:
        if interface.is_f08:
            return f"type(MPI_Status) :: {match[1]}"
        names = re.sub(
            r"(\w+)(\((\w+)\))?",
            lambda m: f"{m[1]}(MPI_STATUS_SIZE, {m[3]})" if m[3] else f"{m[1]}(MPI_STATUS_SIZE)",
            match[1],
        )
        return f"integer :: {names}"

    text = re.sub(r"@(source|tag|error)\((\w+)(\((\w+)\))?\)", part, text)
    return re.sub(r"@Status :: (.*)", declaration, text)


def _forms(match: re.Match) -> str:
    before, after, name, arguments = match.groups()
    base = name.removeprefix("MPI_")
    arguments = arguments.strip()
    return f"""\
  {before}
  call {name}({arguments}, e)
  call ok(e, "{name}")
  {after}
  {before}
  call MPI_I{base[0].lower()}{base[1:]}({arguments}, request, e)
  call ok(e, "MPI_I{base[0].lower()}{base[1:]}")
  call MPI_Wait(request, MPI_STATUS_IGNORE, e)
  {after}
  call {name}_init({arguments}, MPI_INFO_NULL, request, e)
  call ok(e, "{name}_init")
  do i = 1, 2
    {before}
    call MPI_Start(request, e)
    call MPI_Wait(request, MPI_STATUS_IGNORE, e)
    {after}
  end do
  call MPI_Request_free(request, e)
"""


def _choose(text: str, interface: Interface) -> str:
    lines, chosen = [], [True]
    for line in text.splitlines():
        word, *rest = line.split() or [""]
        if word == "@if":
            chosen.append(interface.holds(rest[0]))
        elif word == "@else":
            chosen[-1] = not chosen[-1]
        elif word == "@end_if":
            chosen.pop()
        elif all(chosen):
            lines.append(line)
    return "\n".join(lines) + "\n"


def render(text: str, interface: Interface) -> str:
    text = _choose(text, interface)
    text = re.sub(
        r'  @each_form "(.*)", "(.*)"\n +(MPI_\w+)\((.*)\)\n +@end_form\n',
        _forms,
        text,
    )
    text = _status(text, interface)
    for handle in HANDLES:
        text = re.sub(rf"@{handle}\b", f"type(MPI_{handle})" if interface.is_f08 else "integer", text)
    text = re.sub(r"@end (\w+)", rf'print "(a)", "\1: right"', text)
    for word, to in {
        "use": interface.use,
        "include": interface.include,
        "Pointer": "type(c_ptr)" if interface.is_f08 else "integer(MPI_ADDRESS_KIND)",
        "K": "MPI_COUNT_KIND" if interface.large else "ik",
        "P": "MPI_ADDRESS_KIND" if interface.large else "ik",
        "A": "MPI_ADDRESS_KIND",
    }.items():
        text = re.sub(rf"@{word}\b", to, text)
    if "@" in text:
        raise ValueError(f"not known: {text[text.index('@'):].splitlines()[0]}")
    return text

"""The entry points: C++ functions that Fortran calls and that call the C ABI.

A procedure has one function under the names of mpif.h and the module mpi (mpi_send_, pmpi_send_), which is also that of mpi_f08
(mpi_comm_rank_f08_, ...), unless it has choice buffers: then another one takes descriptors (mpi_send_f08ts_, ...).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cached_property
from pathlib import Path

from ..standard import Parameter, Standard
from ..text import call_like
from . import buffers
from .arguments import expression, fortran_type, length
from .procedures import Procedure

_STARTS = {"MPI_Init", "MPI_Init_thread"}
_BY_ARGUMENTS = {"MPI_Type_get_contents", "MPI_Type_get_envelope"}  # their large variants have more arguments
# What a datatype was made with can be asked for in the form in which it was made: the small one wherever it suffices.
_CONSTRUCTOR = re.compile(r"MPI_Type_(contiguous|vector|indexed|create_\w+)")


def is_wanted(procedure: Procedure, wide: bool) -> bool:
    """True if mpi_f08 can have it: a compiler tells procedures of one name apart by types, of which some are the same here.

    So it is with all addresses and counts; and with 8-byte integers, where the ordinary procedures take large counts.
    """
    if not procedure.large or procedure.generic == procedure.name:
        return True
    if wide:
        return procedure.name == "MPI_Type_get_contents_c"
    return procedure.name.removesuffix("_c") in _BY_ARGUMENTS or any(
        re.match(r"INTEGER(,[^:]*)? ::", d) for d in procedure.narrowed
    )


class Entries:
    def __init__(self, standard: Standard, procedures: list[Procedure], calls: Path, wide: bool) -> None:
        self._standard = standard
        self._procedures = [p for p in procedures if is_wanted(p, wide)]
        self._by_hand = set(re.findall(r"^void (\w+)\(", calls.read_text(), re.M))
        self._wide = wide

    def render(self, belongs) -> str:
        body = "\n".join(
            text for p in self._procedures if belongs(p) for text in self._procedure(p)
        )
        return f"""\
// Generated.
#include "mpi/fortran/arguments.hpp"
#include "mpi/fortran/calls.hpp"
#include "mpi/fortran/complain.hpp"
#include "mpi/fortran/lengths.hpp"
#include "mpi/fortran/sections.hpp"
#include "mpi/fortran/startup.hpp"

using namespace heddle::fortran;

extern "C" {{
{body}
}}  // extern "C"
"""

    def _procedure(self, p: Procedure) -> Iterator[str]:
        entry = _Entry(self._standard, p, self._wide)
        core = "hf_" + p.name.removeprefix("MPI_").lower()
        symbols = [] if p.f90 is None or entry.is_descriptor_only else [p.name]
        takes_pointer = any(p.kinds.get(a) == "C_BUFFER2" for a in entry.arguments)
        if not entry.is_descriptor_only:
            by_hand = core.removeprefix("hf_") in self._by_hand
            if p.f08 and not p.has_choice and not takes_pointer and not entry.is_function:
                symbols.append(p.f08_specific)
            if p.name in entry.with_pointers:
                symbols.append(p.name + "_cptr")
            yield entry.function(core, entry.hand_body(core.removeprefix("hf_")) if by_hand else entry.body())
            yield from entry.aliases(core, symbols)
        if takes_pointer:
            yield entry.function(core + "_f08", entry.body())
            yield from entry.aliases(core + "_f08", [p.f08_specific])
        if p.has_choice:
            yield entry.descriptor_function(core)
            yield from entry.aliases(core + "_ts", [p.f08_specific], descriptors=True)


class _Entry:
    """The text of one procedure."""

    with_pointers = {"MPI_Alloc_mem", "MPI_Win_allocate", "MPI_Win_allocate_shared", "MPI_Win_shared_query"}

    def __init__(self, standard: Standard, procedure: Procedure, wide: bool) -> None:
        self.p = procedure
        self._wide = wide
        small = procedure.c
        large = standard.by_name.get(procedure.name + "_c")
        takes_function = small and any(x.kind == "POLYFUNCTION" for x in small.parameters)
        instead = wide and large and not takes_function and procedure.name not in _BY_ARGUMENTS
        self.c = large if instead else small
        self._small = {x.name.lower(): x for x in small.parameters} if small else {}

    @property
    def is_descriptor_only(self) -> bool:
        return self.p.name == "MPI_Sizeof"

    @cached_property
    def is_function(self) -> bool:
        return (self.p.f90 or self.p.f08).is_function

    @cached_property
    def arguments(self) -> list[str]:
        interface = self.p.f90 or self.p.f08
        return [a.lower() for a in interface.arguments]

    def _type(self, name: str) -> str:
        if name == "ierror":
            return "Fint*"
        if name in self._small:
            return fortran_type(self.p, self._small[name])
        return "void*" if self.p.kinds[name] == "BUFFER" else "Fint*"  # of what C has not

    def _is_text(self, name: str) -> bool:
        kind = self.p.kinds.get(name, "")
        return kind.startswith("STRING") and kind != "STRING_LENGTH"

    def _signature(self, descriptors: bool) -> list[tuple[str, str]]:
        pairs = [(self._type(a), a) for a in self.arguments]
        if descriptors:
            return [(self._described(a) or t, a) for t, a in pairs]
        return pairs + [("std::size_t", f"{a}_length") for a in self.arguments if self._is_text(a)]

    def _described(self, name: str) -> str | None:
        is_buffer = self.p.kinds.get(name) == "BUFFER"
        return "const CFI_cdesc_t*" if is_buffer or self._is_text(name) else None

    @property
    def _result(self) -> str:
        return self.c.result if self.is_function else "void"

    def function(self, name: str, body: str) -> str:
        parameters = [f"{t} {a}" for t, a in self._signature(False)]
        head = call_like(f"[[gnu::visibility(\"hidden\")]] {self._result} {name}(", parameters, ") noexcept {")
        return f"\n{head}\n{body}}}"

    def aliases(self, target: str, symbols: list[str], descriptors: bool = False) -> Iterator[str]:
        types = [t for t, _ in self._signature(descriptors)]
        for symbol in symbols:
            for name in (symbol.lower() + "_", "p" + symbol.lower() + "_"):
                attributes = f'[[gnu::visibility("default"), gnu::alias("{target}")]]'
                yield call_like(f"{attributes} {self._result} {name}(", types, ") noexcept;")

    def hand_body(self, name: str) -> str:
        return call_like(f"  calls::{name}(", [a for _, a in self._signature(False)], ");") + "\n"

    def body(self) -> str:
        if self.c is None:
            return ""
        values = [
            expression(self.p, x, self._type(x.name.lower()) if x.name.lower() in self._small else "", self._wide)
            for x in self.c.parameters
            if x.kind != "VARARGS"
        ]
        if self.is_function:
            return call_like(f"  return {self.c.name}(", values, ");") + "\n"
        first = ""
        if self.c is not self.p.c and _CONSTRUCTOR.fullmatch(self.p.name):
            first += self._small_first()
        if "ierror" not in self.arguments:
            return first + call_like(f"  {self.c.name}(", values, ");") + "\n"
        if self.p.name in _STARTS:
            return call_like(f"  give(ierror, started({self.c.name}(", values, ")));") + "\n"
        return first + call_like(f"  give(ierror, {self.c.name}(", values, "));") + "\n"

    def _small_first(self) -> str:
        counts = [x for x in self.p.c.parameters if x.kind.startswith("POLY") and "int" in x.type]
        tests = [f"fits({x.name}, {length(self.p, x)})" if x.is_array else f"fits({x.name})" for x in counts]
        values = [expression(self.p, x, self._type(x.name.lower()), self._wide) for x in self.p.c.parameters]
        return (
            call_like("  if (", [" && ".join(tests)], ") {")
            + "\n"
            + call_like(f"    return give(ierror, {self.p.c.name}(", values, "));")
            + "\n  }\n"
        )

    # ---- choice buffers as descriptors ---------------------------------------------------------------------------

    def descriptor_function(self, core: str) -> str:
        parameters = [f"{t} {a}" for t, a in self._signature(True)]
        head = call_like(f'[[gnu::visibility("hidden")]] void {core}_ts(', parameters, ") noexcept {")
        if self.is_descriptor_only:
            return f"\n{head}\n  *size = static_cast<Fint>(x->elem_len);\n  give(ierror, MPI_SUCCESS);\n}}"
        lines: list[str] = []
        passed = {a: a for a in self.arguments}
        for name in self.arguments:
            if self.p.kinds.get(name) == "BUFFER":
                lines += self._buffer(name, passed)
            elif self._is_text(name):
                passed[name] = f"static_cast<{self._type(name)}>({name}->base_addr)"
        values = [passed[a] for a in self.arguments]
        values += [f"{a}->elem_len" for a in self.arguments if self._is_text(a)]
        lines.append(call_like(f"  {core}(", values, ");"))
        return f"\n{head}\n" + "\n".join(lines) + "\n}"

    def _buffer(self, name: str, passed: dict[str, str]) -> list[str]:
        refuse = f"return give(ierror, complain({self._owner()}MPI_ERR_BUFFER, gaps));"
        match buffers.treatment(self.p, name) if self.c else "address":
            case "address":
                passed[name] = f"{name}->base_addr"
                return []
            case "copied":
                passed[name] = f"{name}_.base()"
                written = "false" if self._small[name].direction == "in" else "true"
                return [f"  const Copied {name}_({name}, {written});"]
            case "plain":
                passed[name] = f"{name}->base_addr"
                return [f"  if (!is_contiguous(*{name})) {refuse}"]
            case "mapped":
                count, datatype = buffers.count_and_type(self.p, name)
                passed |= {
                    name: f"{name}_.base()",
                    count: f"{name}_.count()",
                    datatype: f"{name}_.datatype()",
                }
                return [
                    f"  const Mapped {name}_({name}, {count}, {datatype});",
                    f"  if (!{name}_.possible()) {refuse}",
                ]

    def _owner(self) -> str:
        """The object whose error handler learns of an error."""
        for kind, handle in (("COMMUNICATOR", "MPI_Comm"), ("WINDOW", "MPI_Win"), ("FILE", "MPI_File")):
            for name in self.arguments:
                if self.p.kinds.get(name) == kind and self.p.directions[name] == "in":
                    return f"handle<{handle}>(*{name}), "
        return ""

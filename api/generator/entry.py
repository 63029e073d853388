"""The entry points: MPI_Xxx and PMPI_Xxx."""

from __future__ import annotations

from .checks import FunctionChecks, Statement
from .model import Argument, Chapters, Form, Model
from .overrides import base_name
from .standard import Function
from .text import WIDTH, call_like

_PREAMBLE = """\
// Generated: the entry points of chapter {chapter}.
#include <mpi.h>
{extensions}
{includes}

#pragma GCC visibility push(default)

namespace heddle::binding {{
extern "C" {{
"""

_CLOSING = """\
}  // extern "C"
}  // namespace heddle::binding

#pragma GCC visibility pop
"""

# Where the class of a handle is defined, beyond what objects/object/resolve.hpp includes.
_HEADERS = {"File": "objects/object/file.hpp", "Op": "objects/op/op.hpp", "Session": "objects/object/session.hpp", "Win": "objects/object/win.hpp"}


def render(chapter: str, model: Model, chapters: Chapters) -> str:
    functions = [f for f in model.standard.all_functions if chapters.of(f) == chapter and chapters.supports(f)]
    extended = any(f in model.standard.extensions for f in functions)
    extensions = "#include <mpi-ext.h>\n" if extended else ""
    parts = [_PREAMBLE.format(chapter=chapter, extensions=extensions, includes="\n".join(_includes(functions, model)))]
    parts += [_entry(f, model) for f in functions]
    return "\n".join(parts) + _CLOSING


def _includes(functions: list[Function], model: Model) -> list[str]:
    headers = {"objects/binding/fortran.hpp", "base/functions.hpp", "objects/binding/impl.hpp"}
    if any(f.returns_error for f in functions):
        headers.add("objects/binding/call.hpp")
    if any(f.returns_error and not f.is_tool for f in functions):
        headers |= {"objects/binding/call_scope.hpp", "objects/binding/check.hpp", "objects/binding/complain.hpp", "objects/object/resolve.hpp"}
    if any(model.overrides.listed("counted", f) for f in functions):
        headers.add("mpi/coll/schedule.hpp")
    if any(model.overrides.value("refused", f) for f in functions):
        headers.add("mpi/coll/node/shared.hpp")
    for function in functions:
        for a in model.arguments(function):
            if a.form is not Form.RAW and a.object_class in _HEADERS:
                headers.add(_HEADERS[a.object_class])
    return [f'#include "{h}"' for h in sorted(headers)]


def _signature(function: Function) -> str:
    return call_like(f"{function.result} P{function.name}(", function.arguments, ") {")


def _alias(function: Function) -> str:
    declaration = call_like(f"{function.result} {function.name}(", function.arguments, ")")
    attribute = f'__attribute__((weak, alias("P{function.name}")));'
    last = declaration.rpartition("\n")[2]
    glue = " " if declaration == last and len(last) + len(attribute) + 1 <= WIDTH else "\n    "
    return declaration + glue + attribute


def _entry(function: Function, model: Model) -> str:
    lines = [_signature(function)]
    if not function.returns_error:
        lines.append(_wrapped("  return ", _call(function, model), ";"))
    else:
        lines.append(f"  constexpr auto self = Function::{function.name.removeprefix('MPI_')};")
        if not model.overrides.listed("quick", function):
            lines.append("  const CallScope scope(self);")
        lines += _body(function, model)
    return "\n".join([*lines, "}", _alias(function), ""])


def _body(function: Function, model: Model) -> list[str]:
    if function.is_tool:  # checks its arguments itself: it calls no error handler, and answers with codes of its own
        return [_wrapped("  return answer([&] { return ", _call(function, model), "; });")]
    checks = FunctionChecks(function, model)
    last = _wrapped(f"  return finish(self, {checks.owner}, [&] {{ return ", _call(function, model), "; });")
    return [*_guarded(checks.statements()), last]


def _guarded(statements: list[Statement]) -> list[str]:
    """Statements under the same condition share one block."""
    lines: list[str] = []
    guard = None
    for s in statements:
        if s.guard != guard:
            if guard:
                lines.append("  }")
            if s.guard:
                lines.append(f"  if ({s.guard}) {{")
            guard = s.guard
        lines.append(_broken(("    " if guard else "  ") + s.text))
    return lines + (["  }"] if guard else [])


def _broken(line: str) -> str:
    """A check that is too long gets its consequence on a line of its own."""
    head, found, tail = line.partition(" return ")
    if len(line) <= WIDTH or not found:
        return line
    indent = line[: len(line) - len(line.lstrip())]
    return f"{head} {{\n{indent}  return {tail}\n{indent}}}"


def _call(function: Function, model: Model) -> tuple[str, list[str]]:
    """mpi::Send and its arguments; the small variant leaves out what only the large one has."""
    name = model.implementation_name(function)
    mine = {a.name: a for a in model.arguments(function)}
    wanted = next(i for i in model.implementations if i.name == name)
    if base_name(function) in model.overrides.same_as:  # whose parameters have other names
        passed = [_passed(a) for a in mine.values()]
    else:
        passed = [_passed(mine[a.name]) if a.name in mine else "{}" for a in wanted.arguments]
    return f"mpi::{name}", passed


def _passed(argument: Argument) -> str:
    if argument.form is Form.REFERENCE:
        return f"*{argument.name}_"
    return f"{argument.name}_" if argument.form is Form.POINTER else argument.name


def _wrapped(head: str, call: tuple[str, list[str]], tail: str) -> str:
    function, arguments = call
    return call_like(f"{head}{function}(", arguments, ")" + tail)

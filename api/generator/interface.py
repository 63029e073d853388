"""base/functions.hpp, functions.cpp and objects/binding/impl.hpp: what the binding and the implementation share."""

from __future__ import annotations

from .model import CLASSES, Model
from .standard import Standard
from .text import WIDTH, call_like


def functions_header(standard: Standard) -> str:
    names = [f.name.removeprefix("MPI_") for f in standard.all_functions]
    return f"""\
// Generated: every function has a number.
#pragma once

#include <cstdint>

namespace heddle {{

enum class Function : std::uint16_t {{
  none,
{_filled(names)}
}};

inline constexpr int function_count = {len(names) + 1};

// "MPI_Send"; "no MPI function" for Function::none.
const char* name(Function function);

}}  // namespace heddle
"""


def functions_source(standard: Standard) -> str:
    """The names are one string and their places in it: a table of pointers would be relocated at every start."""
    names = ["no MPI function", *(f.name for f in standard.all_functions)]
    places, end = [], 0
    for name in names:
        places.append(str(end))
        end += len(name) + 1
    text = "\n".join(f'    "{name}\\0"' for name in names)
    return f"""\
// Generated.
#include "base/functions.hpp"

namespace heddle {{
namespace {{

constexpr char text[] =
{text};

constexpr std::uint16_t place[function_count] = {{
{_filled(places)}
}};

}}  // namespace

const char* name(Function function) {{
  const auto i = static_cast<std::uint16_t>(function);
  return i < function_count ? text + place[i] : "an unknown function";
}}

}}  // namespace heddle
"""


def _filled(items: list[str]) -> str:
    lines, line = [], " "
    for item in items:
        if len(line) + len(item) + 2 > WIDTH:
            lines.append(line)
            line = " "
        line += f" {item},"
    return "\n".join([*lines, line])


def implementation_header(model: Model) -> str:
    objects = "\n".join(f"struct {c};" for c in sorted(set(CLASSES.values())))
    functions = "\n".join(
        call_like(f"{i.result} {i.name}(", [a.declaration for a in i.arguments], ");") for i in model.implementations
    )
    return f"""\
// Generated: the functions that the library is made of. The binding has checked the arguments of each by the time it
// is called: handles are live and of the right kind, counts are not negative, ranks and tags in range, datatypes
// committed, places for results not null. The function defines the meaning of a null pointer or an ignored argument.
#pragma once

#include <mpi.h>

#include "objects/binding/counts.hpp"
#include "objects/binding/fortran.hpp"
#include "objects/object/error.hpp"

namespace heddle {{

{objects}

namespace mpi {{

{functions}

}}  // namespace mpi
}}  // namespace heddle
"""

"""mpi.h: the header of the standard ABI, and the one that is installed, which declares C's side of Fortran, too."""

from __future__ import annotations

from typing import Any

from .standard import Standard
from .text import call_like, comment

# The Fortran INTEGER is unknown to the C ABI, so MPI_Fint and what uses it are not in its header (MPI 5.0, 20.2).
_FORTRAN_KINDS = ("F90_", "F08_")

_INTRODUCTION = """\
mpi.h: MPI 5.0, standard ABI 1.0.

Generated from the MPI Forum's machine-readable standard; a program compiled with it runs on any library that
provides libmpi_abi.so.1."""

_TYPES = """\
#include <stdint.h>

#if defined(__cplusplus)
extern "C" {
#endif
"""

_INTEGERS = """\
/* ---- Integers and the status ---- */

typedef intptr_t MPI_Aint;
typedef int64_t MPI_Offset;
typedef int64_t MPI_Count;

typedef struct {
    int MPI_SOURCE;
    int MPI_TAG;
    int MPI_ERROR;
    int MPI_internal[5];
} MPI_Status;
"""

# Older spellings of callback types that the ABI keeps.
_CALLBACK_ALIASES = {
    f"MPI_{kind}_errhandler_fn": f"MPI_{kind}_errhandler_function" for kind in ("Comm", "File", "Win", "Session")
}


def is_fortran(function) -> bool:
    return function.name.endswith(("_c2f", "_f2c")) or any(
        p.kind.startswith(_FORTRAN_KINDS) for p in function.parameters
    )


def _define(name: str, value: str) -> str:
    return f"#define {name:<32} {value}"


def _cast(type_name: str, value: int, digits: int = 0) -> str:
    return f"(({type_name}) 0x{value:0{digits}x})" if digits else f"(({type_name}) {value})"


def _handles(constants: dict[str, Any]) -> list[str]:
    lines = []
    for type_name, values in constants["handle"].items():
        lines.append(f"typedef struct {type_name.replace('MPI_', 'MPI_ABI_', 1)}* {type_name};")
        tool = type_name.startswith("MPI_T_")
        lines += [_define(n, _cast(type_name, v, 0 if tool else 3)) for n, v in values.items()]
        lines.append("")
    lines += [_define(n, v) for n, v in constants["alias"].items()]
    return lines


def _enums(constants: dict[str, Any]) -> list[str]:
    lines = []
    for name, values in constants["enum"].items():
        is_type = name.startswith("MPI_")
        lines.append(f"typedef enum {name} {{" if is_type else f"enum {{  /* {name.replace('_', ' ')} */")
        width = max(len(n) for n in values)
        lines += [f"    {n:<{width}} = {v}," for n, v in values.items()]
        lines[-1] = lines[-1].removesuffix(",")
        lines += [f"}} {name};" if is_type else "};", ""]
    return lines


def _typed(constants: dict[str, Any]) -> list[str]:
    return [
        _define(n, _cast(type_name, v)) for type_name, values in constants["typed"].items() for n, v in values.items()
    ]


def _callbacks(standard: Standard, constants: dict[str, Any]) -> list[str]:
    lines = [
        call_like(f"typedef {c.result}({c.name})(", c.arguments, ");") for c in standard.callbacks
    ]
    lines += [f"typedef {old} {new};" for new, old in _CALLBACK_ALIASES.items()]
    lines.append("")
    for name, value in constants["callback"].items():
        lines.append(_define(name, _cast(standard.predefined_callbacks[name] + "*", value)))
    return lines


def _prototypes(standard: Standard, prefix: str, fortran: bool = False) -> list[str]:
    return [
        call_like(f"{f.result} {prefix}{f.name}(", f.arguments, ");")
        for f in standard.functions
        if is_fortran(f) == fortran
    ]


# The sentinels are variables of the Fortran library or of the program, so that a program without Fortran has none of them
# and still links.
_FORTRAN_TYPES = """\
/* ---- Fortran (MPI 5.0, section 19.3), which the ABI leaves to the library: an INTEGER is an int here ---- */

typedef int MPI_Fint;

typedef struct {
    MPI_Fint MPI_SOURCE;
    MPI_Fint MPI_TAG;
    MPI_Fint MPI_ERROR;
    MPI_Fint MPI_internal[5];
} MPI_F08_status;

/* Fortran's MPI_STATUS_IGNORE and MPI_STATUSES_IGNORE; null where nothing of the program is Fortran. */
extern char mpi_fortran_status_ignore_[] __attribute__((weak));
extern char mpi_fortran_statuses_ignore_[] __attribute__((weak));
extern char mpi_f08_status_ignore_[] __attribute__((weak));
extern char mpi_f08_statuses_ignore_[] __attribute__((weak));
"""

_FORTRAN_SENTINELS = {
    "MPI_F_STATUS_IGNORE": "((MPI_Fint*) (void*) mpi_fortran_status_ignore_)",
    "MPI_F_STATUSES_IGNORE": "((MPI_Fint*) (void*) mpi_fortran_statuses_ignore_)",
    "MPI_F08_STATUS_IGNORE": "((MPI_F08_status*) (void*) mpi_f08_status_ignore_)",
    "MPI_F08_STATUSES_IGNORE": "((MPI_F08_status*) (void*) mpi_f08_statuses_ignore_)",
}


def _fortran(standard: Standard) -> list[str]:
    return [
        _FORTRAN_TYPES,
        "\n".join(_define(n, v) for n, v in _FORTRAN_SENTINELS.items()) + "\n",
        "\n".join(_prototypes(standard, "", fortran=True)) + "\n",
        "\n".join(_prototypes(standard, "P", fortran=True)) + "\n",
    ]


_EXTENSIONS = """\
mpi-ext.h: what Heddle has beyond MPI 5.0, under MPIX_ names.

Generated from api/extensions.toml. Fault tolerance: the functions and error classes are those of the MPI Forum's
text on user-level failure mitigation and of Open MPI's header of this name; docs/guides/fault-tolerance.md says how a
program gets it."""


def render_extensions(standard: Standard) -> str:
    """mpi-ext.h."""
    prototypes = [
        "\n".join(call_like(f"{f.result} {prefix}{f.name}(", f.arguments, ");") for f in standard.extensions)
        for prefix in ("", "P")
    ]
    parts = [
        comment(_EXTENSIONS),
        "#ifndef HEDDLE_MPI_EXT_H\n#define HEDDLE_MPI_EXT_H\n",
        '#include <mpi.h>\n\n#if defined(__cplusplus)\nextern "C" {\n#endif\n',
        "/* ---- Error classes ---- */\n",
        "\n".join(_define(n, str(v)) for n, v in standard.extension_classes.items()) + "\n",
        "/* ---- Functions ---- */\n",
        prototypes[0] + "\n",
        "/* ---- The same under the names of the profiling interface ---- */\n",
        prototypes[1] + "\n",
        "#if defined(__cplusplus)\n}\n#endif\n\n#endif",
    ]
    return "\n".join(parts) + "\n"


def render(standard: Standard, constants: dict[str, Any], fortran: bool = False) -> str:
    """`fortran`: with what the ABI leaves out of its header."""
    parts = [
        comment(_INTRODUCTION),
        "#ifndef MPI_H_ABI\n#define MPI_H_ABI\n",
        _TYPES,
        "\n".join(_define(n, str(v)) for n, v in constants["version"].items()) + "\n",
        _INTEGERS,
        "/* ---- Handles and their predefined values ---- */\n",
        "\n".join(_handles(constants)) + "\n",
        "/* ---- Integer constants ---- */\n",
        "\n".join(_enums(constants)),
        "/* ---- Limits ---- */\n",
        "\n".join(_define(n, str(v)) for n, v in constants["limit"].items()) + "\n",
        "/* ---- Addresses, empty arrays, ignored results ---- */\n",
        "\n".join(_typed(constants)) + "\n",
        "/* ---- Callbacks ---- */\n",
        "\n".join(_callbacks(standard, constants)) + "\n",
        "/* ---- Functions ---- */\n",
        "\n".join(_prototypes(standard, "")) + "\n",
        "/* ---- The same under the names of the profiling interface ---- */\n",
        "\n".join(_prototypes(standard, "P")) + "\n",
        *(_fortran(standard) if fortran else []),
        "#if defined(__cplusplus)\n}\n#endif\n\n#endif",
    ]
    return "\n".join(parts) + "\n"

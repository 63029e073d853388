"""Compares our mpi.h with another library's header of the same ABI.

Nothing is trusted to look the same: both go through the compiler.
 - Constants, sizes and offsets: one program that prints a table, compiled against each header; the tables must agree.
 - Functions and callback types: the other header's declarations, repeated after ours in one source. The compiler
   refuses a declaration that differs.
A declaration that one header lacks is a difference too, except the other library's own extensions (MPIX_).
"""

from __future__ import annotations

import argparse
import difflib
import re
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

STATUS_FIELDS = ("MPI_SOURCE", "MPI_TAG", "MPI_ERROR", "MPI_internal")
# C types of constants; a handle's is its own type.
SCALARS = ("int", "MPI_Offset", "void*", "char**", "char***", "int*", "MPI_Status*")


@dataclass
class Header:
    """The declarations of a header, scraped from the preprocessor's output."""

    flags: list[str]
    text: str
    macros: set[str]

    @classmethod
    def read(cls, cc: str, flags: list[str]) -> Header:
        def preprocess(*options: str) -> str:
            command = [cc, *flags, "-E", "-P", *options, "-x", "c", "-"]
            source = "#include <mpi.h>\n"
            return subprocess.run(command, input=source, text=True, capture_output=True, check=True).stdout

        macros = set(re.findall(r"^#define (MPI_\w+) +\S", preprocess("-dM"), re.M))
        given = {f.removeprefix("-D") for f in flags}
        return cls(flags, re.sub(r"\s+", " ", preprocess()), macros - given)

    @property
    def statements(self) -> list[str]:
        """Declarations without braces, one a string."""
        return [s.strip() for s in re.sub(r"\{[^}]*\}", "", self.text).split(";")]

    @property
    def constants(self) -> set[str]:
        bodies = re.findall(r"enum\s*\w*\s*\{([^}]*)\}", self.text)
        enumerators = {name for body in bodies for name in re.findall(r"\b(MPI_\w+)\s*=", body)}
        return enumerators | self.macros

    @property
    def functions(self) -> dict[str, str]:
        found = {}
        for statement in self.statements:
            if match := re.match(r"^[\w\s*]*?\b(P?MPI_\w+)\s*\(", statement):
                if not statement.startswith("typedef"):
                    found[match[1]] = statement
        return found

    @property
    def callbacks(self) -> dict[str, str]:
        """Types of functions."""
        found = {}
        for statement in self.statements:
            if match := re.match(r"^typedef .*?\(?\b(MPI_\w+_(?:function|fn|function_c))\)?\s*(?:\(|$)", statement):
                found[match[1]] = statement
        return found

    @property
    def handles(self) -> dict[str, str]:
        """Their structs' tags count too: they are in the mangled names of C++ functions."""
        found = re.findall(r"(typedef struct \w+\s*\* ?(MPI_\w+));", self.text)
        return {name: statement for statement, name in found}

    @property
    def enum_types(self) -> set[str]:
        return set(re.findall(r"\} (MPI_\w+);", self.text)) - {"MPI_Status"}


def table_program(constants: list[str], types: list[str], handles: list[str]) -> str:
    """A C program that prints every constant's type and value and every type's size."""
    choices = ", ".join(f'{t}: "{t}"' for t in [*SCALARS, *handles])
    lines = [f'  printf("{c} %s %lld\\n", TYPE({c}), (long long) ({c}));' for c in constants]
    lines += [f'  printf("sizeof {t} %zu\\n", sizeof({t}));' for t in types]
    lines += [f'  printf("MPI_Status.{f} %zu\\n", offsetof(MPI_Status, {f}));' for f in STATUS_FIELDS]
    return "\n".join(
        [
            "#include <mpi.h>",
            "#include <stddef.h>",
            "#include <stdio.h>",
            f'#define TYPE(x) _Generic((x), {choices}, default: "function pointer")',
            "int main(void) {",
            *lines,
            "  return 0;",
            "}",
        ]
    )


def run_program(cc: str, flags: list[str], source: str, directory: Path) -> list[str]:
    (directory / "table.c").write_text(source)
    binary = directory / "table"
    subprocess.run([cc, *flags, "-w", "-std=c11", directory / "table.c", "-o", binary], check=True)
    return subprocess.run([binary], capture_output=True, text=True, check=True).stdout.splitlines()


def missing(what: str, ours: set[str], theirs: set[str]) -> list[str]:
    return [f"{what} {n} is missing" for n in sorted(theirs - ours)] + [
        f"{what} {n} is not in the other header" for n in sorted(ours - theirs)
    ]


def compare(cc: str, our_flags: list[str], their_flags: list[str]) -> list[str]:
    ours, theirs = Header.read(cc, our_flags), Header.read(cc, their_flags)
    differences = missing("constant", ours.constants, theirs.constants)
    differences += missing("function", set(ours.functions), set(theirs.functions))
    differences += missing("callback type", set(ours.callbacks), set(theirs.callbacks))
    differences += missing("handle type", set(ours.handles), set(theirs.handles))
    differences += missing("enumeration", ours.enum_types, theirs.enum_types)

    with tempfile.TemporaryDirectory() as name:
        directory = Path(name)
        constants = sorted(ours.constants & theirs.constants)
        handles = sorted(ours.handles.keys() & theirs.handles.keys())
        types = ["MPI_Status", "MPI_Aint", "MPI_Offset", "MPI_Count", *handles, *sorted(ours.enum_types)]
        program = table_program(constants, types, handles)
        tables = [run_program(cc, h.flags, program, directory) for h in (ours, theirs)]
        differences += [line for line in difflib.unified_diff(*tables, "ours", "theirs", lineterm="", n=0)]

        # MPICH's tags of the tool interface's handles are not those of the MPI Forum's header, which ours are.
        tagged = [statement for name, statement in theirs.handles.items() if not name.startswith("MPI_T_")]
        repeated = [*tagged, *theirs.callbacks.values(), *theirs.functions.values()]
        (directory / "repeat.c").write_text("#include <mpi.h>\n" + "".join(f"{s};\n" for s in repeated))
        checked = subprocess.run(
            [cc, *our_flags, "-std=c11", "-fsyntax-only", directory / "repeat.c"], capture_output=True, text=True
        )
        if checked.returncode != 0:
            differences.append(checked.stderr)
    print(
        f"{len(constants)} constants, {len(types)} types, {len(theirs.functions)} functions, "
        f"{len(theirs.callbacks)} callback types compared"
    )
    return differences


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cc", default="cc")
    parser.add_argument("--ours", type=Path, required=True, help="directory of our mpi.h")
    parser.add_argument("--theirs", type=Path, required=True, help="directory of the other mpi.h")
    arguments = parser.parse_args()
    # MPICH's mpi.h is that of the ABI under this definition, as its mpicc_abi knows.
    differences = compare(arguments.cc, [f"-I{arguments.ours}"], [f"-I{arguments.theirs}", "-DMPI_ABI"])
    print("\n".join(differences))
    sys.exit(1 if differences else 0)


if __name__ == "__main__":
    main()

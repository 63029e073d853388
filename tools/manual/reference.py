"""docs/reference.md: every option, variable and info key."""

from __future__ import annotations

import man
from tables import InfoCalls, InfoKey, Option, Tables, Variable


def cell(text: str) -> str:
    return text.replace("|", "\\|")


def code(text: str) -> str:
    return f"`{cell(text)}`" if text else ""


def option_table(options: list[Option]) -> list[str]:
    lines = ["| option | value | |", "|---|---|---|"]
    lines += [f"| {', '.join(code(n) for n in o.names)} | {code(o.usage)} | {cell(o.help)} |" for o in options]
    return [*lines, ""]


def variable_table(variables: list[Variable]) -> list[str]:
    lines = ["| variable | value | default | |", "|---|---|---|---|"]
    lines += [f"| {code(v.name)} | {code(v.values)} | {cell(v.default)} | {cell(v.help)} ([more]({v.guide})) |" for v in variables]
    return [*lines, ""]


def reader_table(calls: list[InfoCalls]) -> list[str]:
    lines = ["| read by | calls |", "|---|---|"]
    lines += [f"| {c.name} | {', '.join(code(name) for name in c.calls.split(', '))} |" for c in calls]
    return [*lines, ""]


def info_table(keys: list[InfoKey]) -> list[str]:
    lines = ["| info key | read by | value | default | |", "|---|---|---|---|---|"]
    lines += [f"| {code(k.name)} | {', '.join(k.readers)} | {code(k.values)} | {cell(k.default)} | {cell(k.help)} |" for k in keys]
    return [*lines, ""]


def page(tables: Tables) -> str:
    lines = ["# Reference", "",
             "Every option, variable and info key. Generated from the tables that the programs read, as are the manual pages and the completion",
             "(`cmake --build build/release --target reference_page`).", "", "## Variables", "",
             "Read by a rank when it initializes MPI:", "", *variable_table(tables.variables_of("library")),
             "Read by `mpicc`, `mpicxx` and `mpifort`:", "", *variable_table(tables.variables_of("compiler")),
             "Read by `heddle`:", "", *variable_table(tables.variables_of("tool")),
             "## Info keys", "", "MPI calls ignore a key that is not listed here. The calls that read a key:", "", *reader_table(tables.info_calls),
             *info_table(tables.info_keys),
             "## mpiexec", "", "One or two dashes are the same, and `--name=value` is `--name value`.", "",
             *option_table(tables.mpiexec),
             "## mpicc, mpicxx, mpic++", "", "Everything else goes to the compiler.", "", *option_table(tables.wrapper),
             "## mpifort, mpif90, mpif77", "", "Everything else goes to the compiler ([guide](guides/fortran.md)).", "",
             *option_table(tables.fortran_wrapper),
             "## heddle", "", *option_table(tables.heddle.options)]
    shared = man.shared_options(tables.heddle)
    for command in man.leaves(tables.heddle):
        lines += [f"### {' '.join(command.words)}", "", man.sentence(command.help), ""]
        options = [o for o in command.options if o.names[-1] not in shared and "--help" not in o.names]
        lines += option_table(options) if options else []
    lines += ["### Options that several commands have", "", *option_table(list(shared.values()))]
    return "\n".join(lines).rstrip() + "\n"

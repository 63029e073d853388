#!/usr/bin/env python3
"""Runs PETSc's tests and those of petsc4py with each number of processes, and prints one table.

`make check` has its numbers of processes in itself. A row is a selection of PETSc's own tests (`make test`), and a number of
processes has those that are meant for it. petsc4py's modules run one by one, so that one that hangs hides no other. A cell is
passed/failed/skipped, of petsc4py on the rank where most failed; "limit" says that the time was up, "died" that it ended without
a result. Below the table stands why tests of petsc4py were skipped. Exits with 1 unless all is well.
"""

from __future__ import annotations

import argparse
import pathlib
import re
import sys
from collections.abc import Callable
from dataclasses import dataclass

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))

import cells  # noqa: E402
import unittests  # noqa: E402
from cells import Cell  # noqa: E402

# Patterns of the names of PETSc's tests. Its star forest is what it communicates by, with every kind of communication that MPI has.
# Fortran's sources are named ex1f.F90, ex5f90t.F90, ...
OWN = {
    "tests of vec-is-sf": ["vec_is_sf_*"],
    "tests of sys": ["sys_*"],
    "tests in Fortran": [f"*-ex{'[0-9]' * digits}f*" for digits in (1, 2, 3)],
}
RESULT = re.compile(r"^\s*(not ok|ok) \S+(.*)$", re.MULTILINE)


@dataclass
class Row:
    name: str
    command: Callable[[int], list[str]]
    judge: Callable[[cells.Run], Cell]
    counts: set[int]  # that it has


def cell(run: cells.Run, passed: int, failed: int, skipped: int) -> Cell:
    if run.status is None:
        return Cell("limit", False, run.seconds)
    if run.status != 0 and failed == 0:
        return Cell("died", False, run.seconds)
    return Cell(f"{passed}/{failed}/{skipped}", failed == 0 and passed + skipped > 0, run.seconds)


def checked(run: cells.Run) -> Cell:
    return cell(run, run.output.count("run successfully"), run.output.count("Possible error"), 0)


def own(run: cells.Run) -> Cell:
    results = RESULT.findall(run.output)
    skipped = sum("# SKIP" in rest or "# TODO" in rest for _, rest in results)
    failed = sum(verdict == "not ok" and "# TODO" not in rest for verdict, rest in results)
    return cell(run, len(results) - skipped - failed, failed, skipped)


def rows(options: argparse.Namespace, counts: list[int]) -> list[Row]:
    def selected(patterns: list[str]) -> Callable[[int], list[str]]:
        """In PETSc's language of queries a comma is `or`, and %OR% is `and`: it stands for a |, which shells would see."""
        fields = ",".join("nsize%OR%name" for _ in patterns)
        test = ["make", "-f", "gmakefile.test", "test", f"query={fields}"]
        return lambda n: [*test, "queryval=" + ",".join(f"{n}%OR%{pattern}" for pattern in patterns)]

    def launched(*program: str) -> Callable[[int], list[str]]:
        return lambda n: [options.mpiexec, "-n", str(n), *program]

    tests = options.sources / "src/objects/binding/petsc4py/test"
    modules = sorted(path.stem for path in tests.glob("test_*.py"))
    python = [options.python, str(tests / "runtests.py"), "--no-builddir", "-v", "-i"]
    return [
        Row("make check", lambda _: ["make", "check"], checked, {counts[0]}),
        *(Row(name, selected(patterns), own, {*counts} - {1}) for name, patterns in OWN.items()),
        *(Row(f"petsc4py {module}", launched(*python, f"^{module}$"), unittests.judge, {*counts}) for module in modules),
    ]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--mpiexec", required=True)
    parser.add_argument("--sources", type=pathlib.Path, required=True, help="PETSc's, where it was built, too")
    parser.add_argument("--python", required=True, help="that has petsc4py")
    parser.add_argument("--logs", type=pathlib.Path, required=True)
    parser.add_argument("--counts", required=True, help='numbers of processes: "1 2"')
    parser.add_argument("--wanted", default="", help="regular expression over the names of rows")
    parser.add_argument("--limit", type=float, required=True, help="seconds for one row")
    options = parser.parse_args()

    counts = [int(n) for n in options.counts.split()]
    wanted = [row for row in rows(options, counts) if re.search(options.wanted, row.name)]
    results: dict[tuple[str, int], Cell] = {}
    skips = unittests.Skips()
    for n in counts:
        for row in wanted:
            if n not in row.counts:
                continue
            log = options.logs / f"n{n}" / f"{row.name.replace(' ', '-')}.log"
            run = cells.run(row.command(n), options.sources, log, options.limit)
            result = results[row.name, n] = row.judge(run)
            skips.add(row.name, n, run.output)
            note = "" if result.good else f"  {log}"
            print(f"{n} processes: {row.name}: {result.text}, {result.seconds:.1f} s{note}", file=sys.stderr, flush=True)
    print(cells.table("passed/failed/skipped", [row.name for row in wanted], counts, results))
    print(skips)
    return 0 if all(result.good for result in results.values()) else 1


if __name__ == "__main__":
    sys.exit(main())

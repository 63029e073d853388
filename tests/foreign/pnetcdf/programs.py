#!/usr/bin/env python3
"""Runs PnetCDF's tests, examples and benchmarks one by one, and prints one table.

A program runs as PnetCDF's makefile runs it on N processes (`make ptestN`), which looks at the files that it leaves, too. With
one process a folder's tests run together (`make check`), and the cell is passed/failed/skipped; "limit" says that the time
was up. Exits with 1 if one failed that known.txt does not name, or one passed that it names.
"""

from __future__ import annotations

import argparse
import pathlib
import re
import subprocess
import sys
from dataclasses import dataclass

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))

import cells  # noqa: E402
from cells import Cell  # noqa: E402

CHECKED = re.compile(r"^# (PASS|FAIL|SKIP|XFAIL|XPASS|ERROR): +(\d+)$", re.MULTILINE)


@dataclass
class Row:
    folder: pathlib.Path
    name: str
    counts: set[int]  # that PnetCDF has for it
    variable: str = ""  # of the makefile, that names the programs; none if the folder's run as one
    program: str = ""


def value(folder: pathlib.Path, variable: str) -> list[str]:
    """The value of a makefile's variable."""
    command = ["make", "-s", f"--eval=print-value:;@echo $({variable})", "print-value"]
    return subprocess.run(command, cwd=folder, check=True, stdout=subprocess.PIPE, text=True).stdout.split()


def rows(build: pathlib.Path) -> list[Row]:
    found = []
    for part in ("test", "examples", "benchmarks"):
        for directory in value(build / part, "SUBDIRS"):
            folder = build / part / directory
            makefile = (folder / "Makefile").read_text()
            name = f"{part}/{directory}"
            if value(folder, "TESTS"):
                found.append(Row(folder, name, {1}))
            counts = {int(n) for n in re.findall(r"parallel_run\.sh (\d+)", makefile)}
            if not counts:
                continue
            [source] = value(folder, "abs_srcdir")
            loop = re.search(r"for i in \$\{(\w+)\}", (pathlib.Path(source) / "parallel_run.sh").read_text())
            if not loop:
                found.append(Row(folder, f"{name}/*", counts))
                continue
            found += [Row(folder, f"{name}/{program}", counts, loop[1], program) for program in value(folder, loop[1])]
    return found


def command(row: Row, n: int) -> list[str]:
    if n == 1:
        return ["make", "-k", "check"]
    return ["make", f"ptest{n}", *([f"{row.variable}={row.program}"] if row.variable else [])]


def judge(run: cells.Run, n: int) -> Cell:
    good = run.status == 0
    if run.status is None:
        return Cell("limit", False, run.seconds)
    if n > 1:
        return Cell("passed" if good else "failed", good, run.seconds)
    numbers = {kind: int(count) for kind, count in CHECKED.findall(run.output)}
    passed = numbers.get("PASS", 0) + numbers.get("XFAIL", 0)
    failed = sum(numbers.get(kind, 0) for kind in ("FAIL", "XPASS", "ERROR"))
    return Cell(f"{passed}/{failed}/{numbers.get('SKIP', 0)}", good and passed > 0, run.seconds)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, required=True)
    parser.add_argument("--logs", type=pathlib.Path, required=True)
    parser.add_argument("--counts", required=True, help='numbers of processes: "2 4"')
    parser.add_argument("--wanted", default="", help="regular expression over folder/program")
    parser.add_argument("--limit", type=float, required=True, help="seconds for one program")
    options = parser.parse_args()

    counts = [int(n) for n in options.counts.split()]
    wanted = [row for row in rows(options.build) if re.search(options.wanted, row.name) and row.counts & {*counts}]
    purposes = cells.known(HERE / "known.txt")
    results: dict[tuple[str, int], Cell] = {}
    notes: list[str] = []
    for n in counts:
        for row in wanted:
            if n not in row.counts:
                continue
            log = options.logs / f"n{n}" / f"{row.name.replace('/', '-').replace('*', 'all')}.log"
            cell = results[row.name, n] = judge(cells.run(command(row, n), row.folder, log, options.limit), n)
            if reason := cells.reason_for(f"{row.name} {n}", purposes):
                notes.append(f"{row.name}, {n} processes: {'passes by surprise' if cell.good else 'fails on purpose'}: {reason}")
                cell.good = not cell.good
            note = "" if cell.good else f"  {log}"
            print(f"{n} processes: {row.name}: {cell.text}, {cell.seconds:.1f} s{note}", file=sys.stderr, flush=True)
    print(cells.table("", [row.name for row in wanted], counts, results))
    print(*notes, sep="\n", end="\n" if notes else "")
    return 0 if all(cell.good for cell in results.values()) else 1


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
"""Runs mpi4py's test modules, each for itself and with each number of processes, and prints one table.

A module runs alone so that one that hangs costs no more than its own time limit, and hides no other. A cell of the
table is passed/failed/skipped, counted on the rank where most tests failed; "limit" says that the time was up, "died"
that the run ended without a result. Exits with 1 unless every module ran at least one test and none failed.
"""

from __future__ import annotations

import argparse
import pathlib
import re
import signal
import subprocess
import sys
import time
from dataclasses import dataclass

RAN = re.compile(r"Ran (\d+) tests? in")
VERDICT = re.compile(r"(?:^|\s)(?:OK|FAILED)(?: \((.*)\))?$")
NUMBER = re.compile(r"(\w[\w ]*)=(\d+)")
BAD = ("failures", "errors", "unexpected successes")


@dataclass
class Cell:
    text: str
    good: bool
    seconds: float = 0.0


def count(output: str) -> Cell:
    """The result of the rank that is worst off."""
    worst = None
    ran = 0
    for line in output.splitlines():
        if match := RAN.search(line):
            ran = int(match[1])
        elif match := VERDICT.search(line):
            numbers = {name: int(n) for name, n in NUMBER.findall(match[1] or "")}
            failed = sum(numbers.get(kind, 0) for kind in BAD)
            skipped = numbers.get("skipped", 0)
            result = (failed, skipped, ran)
            worst = max(worst, result) if worst else result
    if worst is None:
        return Cell("died", False)
    failed, skipped, ran = worst
    return Cell(f"{max(ran - failed - skipped, 0)}/{failed}/{skipped}", failed == 0 and ran > 0)


def run(command: list[str], directory: pathlib.Path, log: pathlib.Path, limit: float) -> Cell:
    start = time.monotonic()
    with log.open("wb") as out:
        job = subprocess.Popen(
            command, cwd=directory, stdin=subprocess.DEVNULL, stdout=out, stderr=subprocess.STDOUT
        )
        try:
            status = job.wait(limit)
        except subprocess.TimeoutExpired:
            status = None
            job.send_signal(signal.SIGTERM)  # mpiexec ends its ranks
            try:
                job.wait(5)
            except subprocess.TimeoutExpired:
                job.kill()
                job.wait()
    cell = count(log.read_text(errors="replace"))
    if status is None:
        cell = Cell("limit", False)
    elif status != 0 and cell.good:
        cell = Cell(f"exit {status}", False)
    cell.seconds = time.monotonic() - start
    return cell


def table(modules: list[str], counts: list[int], cells: dict[tuple[str, int], Cell]) -> str:
    rows = [["passed/failed/skipped", *(f"{n} proc." for n in counts)]]
    for module in modules:
        shown = [cells.get((module, n)) for n in counts]
        rows.append([module, *(f"{c.text}{'' if c.good else ' !'}" if c else "" for c in shown)])
    seconds = [sum(cells[m, n].seconds for m in modules if (m, n) in cells) for n in counts]
    rows.append(["seconds", *(f"{s:.0f}" for s in seconds)])
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    lines = ["  ".join(text.ljust(width) for text, width in zip(row, widths)).rstrip() for row in rows]
    return "\n".join(lines)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--mpiexec", required=True)
    parser.add_argument("--nodes", type=int, default=1, help="of a cluster, which node1, node2, ... are; mpiexec is Hydra's")
    parser.add_argument("--python", required=True)
    parser.add_argument("--tests", type=pathlib.Path, required=True, help="mpi4py's test directory")
    parser.add_argument("--logs", type=pathlib.Path, required=True)
    parser.add_argument("--counts", required=True, help='numbers of processes: "1 2 3"')
    parser.add_argument("--modules", required=True, help="regular expression over the names of modules or files")
    parser.add_argument("--limit", type=float, required=True, help="seconds for one module")
    parser.add_argument("arguments", nargs="*", help="go to main.py")
    options = parser.parse_args()

    wanted = re.compile(options.modules)
    modules = sorted(p.stem for p in options.tests.glob("test_*.py") if wanted.search(p.stem) or wanted.search(p.name))
    counts = [int(n) for n in options.counts.split()]
    if not modules:
        sys.exit(f"matrix.py: no module matches {options.modules}")
    cells: dict[tuple[str, int], Cell] = {}
    for n in counts:
        directory = options.logs / f"n{n}"
        directory.mkdir(parents=True, exist_ok=True)
        for module in modules:
            log = directory / f"{module}.log"
            command = [options.mpiexec]
            if options.nodes > 1:
                hosts = ",".join(f"node{k + 1}" for k in range(options.nodes))
                command += ["-hosts", hosts, "-ppn", str(-(-n // options.nodes))]
            command += ["-n", str(n), options.python, "main.py", "--no-builddir"]
            command += ["-i", rf"^{module}\.py$", *options.arguments]
            cell = cells[module, n] = run(command, options.tests, log, options.limit)
            note = "" if cell.good else f"  {log}"
            print(f"{n} processes: {module}: {cell.text}, {cell.seconds:.1f} s{note}", file=sys.stderr, flush=True)
    print(table(modules, counts, cells))
    return 0 if all(cell.good for cell in cells.values()) else 1


if __name__ == "__main__":
    sys.exit(main())

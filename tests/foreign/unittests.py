"""The output of Python's unittest when each rank runs the same tests: the result of the rank that is worst off, and why tests
were skipped."""

from __future__ import annotations

import re

import cells
from cells import Cell

RAN = re.compile(r"Ran (\d+) tests? in")
VERDICT = re.compile(r"(?:^|\s)(?:OK|FAILED)(?: \((.*)\))?$")
NUMBER = re.compile(r"(\w[\w ]*)=(\d+)")
BAD = ("failures", "errors", "unexpected successes")
SKIPPED = re.compile(r"skipped (?:'([^'\n]*)'|\"([^\"\n]*)\")$", re.MULTILINE)


def count(output: str) -> Cell:
    """passed/failed/skipped of the rank where most failed."""
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


def judge(run: cells.Run) -> Cell:
    cell = count(run.output)
    if run.status is None:
        cell = Cell("limit", False)
    elif run.status != 0 and cell.good:
        cell = Cell(f"exit {run.status}", False)
    cell.seconds = run.seconds
    return cell


class Skips:
    """Why tests were skipped, of which modules, with which numbers of processes."""

    def __init__(self) -> None:
        self.reasons: dict[str, dict[str, list[int]]] = {}

    def add(self, module: str, n: int, output: str) -> None:
        for reason in sorted({single or double for single, double in SKIPPED.findall(output)}):
            self.reasons.setdefault(reason, {}).setdefault(module, []).append(n)

    def __str__(self) -> str:
        lines = [
            f"skipped, {reason!r}: " + ", ".join(f"{module} ({' '.join(map(str, n))})" for module, n in modules.items())
            for reason, modules in sorted(self.reasons.items())
        ]
        return "\n".join(["Reasons, modules, numbers of processes:", *lines]) if lines else "No test was skipped."

"""The common part of the commands that run other people's test suites: a run under a time limit, reasons for failures that are
known, and the table of results at the end."""

from __future__ import annotations

import os
import pathlib
import re
import signal
import subprocess
import time
from dataclasses import dataclass


@dataclass
class Run:
    status: int | None  # None: the time was up
    output: str
    seconds: float


@dataclass
class Cell:
    text: str
    good: bool
    seconds: float = 0.0


def run(
    command: list[str], directory: pathlib.Path, log: pathlib.Path, limit: float, environment: dict[str, str] | None = None
) -> Run:
    """The command's output stays in `log`. All processes of its group end with it when the time is up."""
    start = time.monotonic()
    log.parent.mkdir(parents=True, exist_ok=True)
    with log.open("wb") as out:
        job = subprocess.Popen(
            command,
            cwd=directory,
            env={**os.environ, **(environment or {})},
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        status: int | None = None
        try:
            status = job.wait(limit)
        except subprocess.TimeoutExpired:
            os.killpg(job.pid, signal.SIGTERM)
            try:
                job.wait(5)
            except subprocess.TimeoutExpired:
                os.killpg(job.pid, signal.SIGKILL)
                job.wait()
    return Run(status, log.read_text(errors="replace"), time.monotonic() - start)


def known(path: pathlib.Path) -> list[tuple[re.Pattern[str], str]]:
    """The lines PATTERN :: REASON of a list: tests that fail and are right to. A pattern matches the beginning of a name."""
    lines = path.read_text().splitlines()
    pairs = [line.split(" :: ", 1) for line in lines if line and not line.startswith("#")]
    return [(re.compile(pattern.strip()), reason.strip()) for pattern, reason in pairs]


def reason_for(name: str, purposes: list[tuple[re.Pattern[str], str]]) -> str:
    return next((reason for pattern, reason in purposes if pattern.match(name)), "")


def table(corner: str, rows: list[str], columns: list[int], cells: dict[tuple[str, int], Cell]) -> str:
    """Rows are tests, columns numbers of processes; a test that does not run with a number has no cell there."""
    lines = [[corner, *(f"{n} proc." for n in columns)]]
    for row in rows:
        here = [cells.get((row, n)) for n in columns]
        lines.append([row, *(f"{c.text}{'' if c.good else ' !'}" if c else "" for c in here)])
    seconds = [sum(cell.seconds for (_, n), cell in cells.items() if n == column) for column in columns]
    lines.append(["seconds", *(f"{s:.0f}" for s in seconds)])
    widths = [max(len(line[i]) for line in lines) for i in range(len(lines[0]))]
    return "\n".join("  ".join(text.ljust(width) for text, width in zip(line, widths)).rstrip() for line in lines)

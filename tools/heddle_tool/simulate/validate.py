"""Measured against simulated: rank correlation, median error and the worst cells.

    PYTHONPATH=tools python3 -m heddle_tool.simulate.validate sync presets many-cores --out DIR

`sync` and `presets` compare the programs of build/release, run here, with those of build/simulate on --machine: every lock,
combining, queue and counter of sync_bench, and latency and message rate of every safety model. `many-cores` compares the table of
docs/results/many-cores.md with the machine xeon-16. DIR gets PART.json with all cells and PART.svg. With --measured DIR the measured
values are those of an earlier run: only the simulator is run again. Measuring needs the right to set priorities.
"""

import argparse
import csv
import json
import math
import os
import re
import statistics
import sys
import time
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from .. import places
from ..bench import plot, runner, table
from ..bench.mpis import MODELS
from ..bench.progress import Progress, clock
from ..bench.stats import number
from ..errors import BadInput
from . import machines, run

CORES = len(os.sched_getaffinity(0))
THREADS = (1, 2, 8)
PROGRAMS = {"latency": "us", "message-rate": "M/s"}
WORST = 12


@dataclass(frozen=True)
class Cell:
    """One number: measured, and simulated if that run ended well."""

    group: str
    name: str
    threads: int
    measured: float
    simulated: float | None = None

    @property
    def key(self) -> tuple[str, str, int]:
        return self.group, self.name, self.threads

    @property
    def ratio(self) -> float | None:
        return self.simulated / self.measured if self.simulated and self.measured else None


# ---- statistics

def ranks(values: list[float]) -> list[float]:
    """1 for the least; equal ones have the mean of their ranks."""
    order = sorted(values)
    first = {value: order.index(value) for value in set(values)}
    return [first[value] + (order.count(value) + 1) / 2 for value in values]


def spearman(pairs: list[tuple[float, float]]) -> float | None:
    """The correlation of ranks; None for fewer than three pairs or equal values."""
    if len(pairs) < 3:
        return None
    a, b = ranks([x for x, _ in pairs]), ranks([y for _, y in pairs])
    return statistics.correlation(a, b) if len(set(a)) > 1 and len(set(b)) > 1 else None


def error(cells: list[Cell]) -> float | None:
    ratios = [cell.ratio for cell in cells if cell.ratio]
    return statistics.median(abs(ratio - 1) for ratio in ratios) if ratios else None


def summary(cells: list[Cell]) -> tuple[list[str], list[list[str]]]:
    """A row for all, each group, and each number of threads in it."""
    head = ["group", "threads", "cells", "failed", "Spearman", "median error", "median ratio"]

    def row(group: str, threads: str, some: list[Cell]) -> list[str]:
        good = [(cell.measured, cell.simulated) for cell in some if cell.ratio]
        correlation, middle, ratios = spearman(good), error(some), [cell.ratio for cell in some if cell.ratio]
        return [group, threads, str(len(some)), str(len(some) - len(good)), "-" if correlation is None else f"{correlation:.3f}",
                "-" if middle is None else f"{100 * middle:.0f}%", number(statistics.median(ratios)) if ratios else "-"]

    body = [row("all", "all", cells)]
    for group in dict.fromkeys(cell.group for cell in cells):
        own = [cell for cell in cells if cell.group == group]
        body.append(row(group, "all", own))
        body += [row(group, str(n), [c for c in own if c.threads == n]) for n in dict.fromkeys(cell.threads for cell in own)]
    return head, body


def worst(cells: list[Cell]) -> tuple[list[str], list[list[str]]]:
    far = sorted((cell for cell in cells if cell.ratio), key=lambda cell: -abs(math.log(cell.ratio)))[:WORST]
    return (["group", "name", "threads", "measured", "simulated", "simulated/measured"],
            [[c.group, c.name, str(c.threads), number(c.measured), number(c.simulated), number(c.ratio)] for c in far])


def scatter(cells: list[Cell], title: str) -> str:
    """Simulated over measured, both logarithmic; the diagonal is agreement."""
    good = [cell for cell in cells if cell.ratio]
    if not good:
        return plot.canvas([plot.text(plot.WIDTH / 2, 30, "nothing simulated")], title, 60)
    size = 420
    values = [value for cell in good for value in (cell.measured, cell.simulated)]
    x = plot.Scale(min(values), max(values), plot.LEFT, size, force_log=True)
    y = plot.Scale(min(values), max(values), size, plot.TOP, force_log=True)
    body = [f'<rect width="{plot.WIDTH}" height="{size + 50}" fill="#ffffff"/>']
    for tick in x.ticks():
        body.append(f'<line x1="{x(tick):.1f}" x2="{x(tick):.1f}" y1="{plot.TOP}" y2="{size}" stroke="{plot.GRID}"/>')
        body.append(f'<line x1="{plot.LEFT}" x2="{size}" y1="{y(tick):.1f}" y2="{y(tick):.1f}" stroke="{plot.GRID}"/>')
        body.append(plot.text(x(tick), size + 18, plot.short(tick)))
        body.append(plot.text(plot.LEFT - 7, y(tick) + 4, plot.short(tick), "end"))
    body.append(f'<line x1="{plot.LEFT}" y1="{size}" x2="{size}" y2="{plot.TOP}" stroke="{plot.SOFT}"/>')
    groups = list(dict.fromkeys(cell.group for cell in good))
    colours = dict(zip(groups, plot.OURS * 9))
    for cell in good:
        body.append(f'<circle cx="{x(cell.measured):.1f}" cy="{y(cell.simulated):.1f}" r="3" fill="{colours[cell.group]}" opacity=".7">'
                    f"<title>{cell.name}, {cell.threads}: {number(cell.measured)}, simulated {number(cell.simulated)}</title></circle>")
    for i, group in enumerate(groups):
        body.append(plot.text(size + 14, plot.TOP + 14 + 18 * i, group, "start", colours[group]))
    body.append(plot.text((plot.LEFT + size) / 2, size + 38, "measured", color=plot.INK))
    middle = (plot.TOP + size) / 2
    body.append(plot.text(14, middle, "simulated", color=plot.INK, more=f'transform="rotate(-90 14 {middle})"'))
    return plot.canvas(body, title, size + 50)


# ---- what is measured

def before(threads: int) -> list[str]:
    """The start of a command that keeps other processes away. Real-time threads do when each has a core; with more of them the class
    would change how they share it."""
    return ["chrt", "-f", "1"] if threads <= CORES else ["nice", "-n", "-18"]


def measure(command: list[str], what: str, threads: int, limit: float = 300) -> str:
    print(f"measuring {what}, {threads} threads", file=sys.stderr, flush=True)
    code, output, errors, _ = runner.execute([*before(threads), *command], {}, limit)
    if code != 0:
        raise BadInput(f"{what} failed: {runner.reason(output, errors)}")
    return output


def sync_cells(output: str) -> dict[tuple[str, str, int], float]:
    """Operations a second of the rows of sync_bench, by kind, name and threads; pinned threads and others are apart."""
    found = {}
    for row in csv.DictReader(output.splitlines()):
        where = "pinned" if row["pinned"] == "1" else "free"
        found[row["kind"], f"{row['name']}, {where}", int(row["threads"])] = float(row["ops"]) / 1e6
    return found


def result(output: str) -> float:
    line = next((line for line in output.splitlines() if line.startswith('{"bench"')), None)
    if line is None:
        raise BadInput(f"no result line: {output[:200]}")
    return json.loads(line)["value"]


class Sync:
    """Every lock, combining, queue and counter, with 1, 2, 8 and 64 threads; million operations a second."""

    milliseconds = 20

    def measure(self, release: Path) -> list[Cell]:
        program = str(release / "bench" / "sync" / "sync_bench")
        found = {}
        for threads in (1, 2, 8, 64):
            found |= sync_cells(measure([program, "--work=0", f"--threads={threads}", f"--ms={self.milliseconds}", "--runs=3"],
                                        "locks, queues and counters", threads))
        return [Cell(*key, ops) for key, ops in found.items() if ops]

    def simulate(self, cells: list[Cell], machine: machines.Machine, build: Path) -> list[Cell]:
        program = run.find_program("sync_bench", build)
        # One run for each algorithm and number of threads: a run that fails or takes too long costs one cell.
        wanted = list(dict.fromkeys((c.group, c.name.split(",")[0], c.threads) for c in cells))
        jobs = [run.Job(program, (f"--only={kind}/{name}", "--work=0", f"--threads={threads}", f"--ms={self.milliseconds}", "--runs=1"),
                        machine, limit=10**14) for kind, name, threads in wanted]
        found = {}
        for (kind, name, threads), outcome in zip(wanted, perform(jobs, build)):
            if outcome.ok:
                found |= {key: ops for key, ops in sync_cells(outcome.output).items() if key[1].split(",")[0] == name and key[0] == kind}
        return [replace(cell, simulated=found.get(cell.key)) for cell in cells]


class Presets:
    """Latency and message rate of two ranks that are threads, every safety model, 1, 2 and 8 threads."""

    seconds = {"measured": "0.06", "simulated": "0.02"}

    def measure(self, release: Path) -> list[Cell]:
        mpiexec = str(release / "src" / "launch" / "mpiexec" / "mpiexec")
        found = []
        for program in PROGRAMS:
            for model in MODELS:
                for threads in THREADS:
                    output = measure([mpiexec, "--ranks", "threads", "--timeout", "120", "-genv", "HEDDLE_MODEL", model, "-n", "2",
                                      str(release / "bench" / program), "--threads", str(threads), "--seconds", self.seconds["measured"],
                                      "--samples", "3"], f"{program}, {model}", 2 * threads)
                    found.append(Cell(program, model, threads, result(output)))
        return found

    def simulate(self, cells: list[Cell], machine: machines.Machine, build: Path) -> list[Cell]:
        return simulate_programs(cells, machine, build, self.seconds["simulated"], "1")


class ManyCores:
    """The message rate of every safety model on 16 cores, and of ranks of one thread."""

    page = "docs/results/many-cores.md"

    def measure(self, release: Path) -> list[Cell]:
        text = (places.source_tree() / self.page).read_text()
        found = []
        for model, values in re.findall(r"^\| `([\w-]+)` \| (.* ±.*) \|$", text, re.MULTILINE):
            numbers = [float(value.split()[0]) for value in values.split(" | ")]
            found += [Cell("message-rate", model, threads, value) for threads, value in zip((1, 2, 4, 8), numbers)]
        several = re.search(r"channel for each pair: ([\d., and]+) M/s in all with 2, 4, 8 and 16 ranks", text)[1]
        for count, value in zip((2, 4, 8, 16), re.findall(r"[\d.]*\d", several)):
            found.append(Cell("message-rate of ranks", f"auto, {count} ranks", 1, float(value)))
        return found

    def simulate(self, cells: list[Cell], machine: machines.Machine, build: Path) -> list[Cell]:
        return simulate_programs(cells, machines.load("xeon-16"), build, "0.002", "1")


PARTS = {"sync": Sync, "presets": Presets, "many-cores": ManyCores}


def undisturbed(part, release: Path) -> list[Cell]:
    """Measures, and says how much of the machine other processes used meanwhile."""
    began, (busy, mine) = time.monotonic(), runner.processor_seconds()
    cells = part.measure(release)
    busy_after, mine_after = runner.processor_seconds()
    others = ((busy_after - busy) - (mine_after - mine)) / max(0.05, time.monotonic() - began)
    if others > runner.QUIET:
        print(f"other processes used {others:.2f} cores while this was measured", file=sys.stderr)
    return cells


# ---- what is simulated

def perform(jobs: list[run.Job], build: Path) -> list[run.Outcome]:
    progress = Progress(len(jobs))

    def show(done: int, running: list[run.Running]) -> None:
        progress.done = done
        if running:
            progress.show(" ".join(running[0].job.args)[:60], f"{clock(running[0].elapsed)} elapsed")

    outcomes = run.perform(jobs, build, patience=300, show=show)
    progress.clear()
    for outcome in outcomes:
        if not outcome.ok:
            print(f"{' '.join(outcome.job.args)}: {outcome.why()}", file=sys.stderr)
    return outcomes


def simulate_programs(cells: list[Cell], machine: machines.Machine, build: Path, seconds: str, samples: str) -> list[Cell]:
    jobs = []
    for cell in cells:
        model, _, several = cell.name.partition(", ")
        arguments = ("--threads", str(cell.threads), "--seconds", seconds, "--samples", samples)
        jobs.append(run.Job(run.find_program(cell.group.split(" ")[0], build), arguments, machine, limit=10**13, env={"HEDDLE_MODEL": model},
                            ranks=int(several.split(" ")[0]) if several else 2))
    return [replace(cell, simulated=outcome.result.get("value") if outcome.ok else None)
            for cell, outcome in zip(cells, perform(jobs, build))]


def load(file: Path) -> list[Cell]:
    return [Cell(**cell) for cell in json.loads(file.read_text())["cells"]]


def main() -> int:
    parser = argparse.ArgumentParser(description="Compare measured with simulated values.")
    parser.add_argument("parts", nargs="+", choices=PARTS, metavar="PART", help=", ".join(PARTS))
    parser.add_argument("--machine", default="xeon-2", help="the one that sync and presets are measured on (default xeon-2)")
    parser.add_argument("--build", help="the simulator's build folder (default build/simulate)")
    parser.add_argument("--release", default="build/release", type=Path, help="the programs to measure (default build/release)")
    parser.add_argument("--measured", type=Path, metavar="DIR", help="take the measured values of an earlier run from there")
    parser.add_argument("--only", default="", metavar="REGEX", help="simulate only the cells whose group, name and threads match")
    parser.add_argument("--out", type=Path, default=Path("build/validation"), metavar="DIR")
    args = parser.parse_args()
    build, machine = run.build_folder(args.build), machines.load(args.machine)
    run.fix_addresses(lambda message: print(f"validate: {message}", file=sys.stderr))
    args.out.mkdir(parents=True, exist_ok=True)
    for name in args.parts:
        part = PARTS[name]()
        measured = load(args.measured / f"{name}.json") if args.measured else undisturbed(part, args.release)
        file = args.out / f"{name}.json"
        file.write_text(json.dumps({"machine": machine.name, "cells": [asdict(cell) for cell in measured]}, indent=1))
        chosen = [cell for cell in measured if re.search(args.only, f"{cell.group} {cell.name} {cell.threads}")]
        cells = part.simulate(chosen, machine, build)
        file.write_text(json.dumps({"machine": machine.name, "cells": [asdict(cell) for cell in cells]}, indent=1))
        file.with_suffix(".svg").write_text(scatter(cells, f"{name}: simulated over measured"))
        print(f"{name}: {part.__doc__}\n\n{table.text(*summary(cells), left=(0,))}\n\nThe worst cells:\n"
              f"{table.text(*worst(cells), left=(0, 1))}\n")
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except BadInput as wrong:
        print(f"validate: {wrong}", file=sys.stderr)
        sys.exit(2)

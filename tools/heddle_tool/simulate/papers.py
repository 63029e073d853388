"""`heddle simulate paper`: figures of the papers on the paper's machine, with the paper's numbers of threads.

The figures are those of `heddle bench paper` (bench/papers.py), and so are tables and drawings: the outcomes of the runs become the
runs of a campaign. Each candidate runs once for each point, because a seed determines a run.
"""

import argparse
import json
import shlex
import sys
import time
from dataclasses import dataclass, field, replace
from pathlib import Path

from ..bench import commands as bench
from ..bench import html, mpis, papers, runner, table
from ..bench.campaign import Campaign, Cell, Plan
from ..bench.suite import Point
from ..errors import BadInput
from . import counts, machines, run

SECONDS = 0.002  # of virtual time: the measured part of a run
SAMPLES = 3
PATIENCE = 240.0  # seconds of real time for a run
START = ("--seconds", "1e-9", "--samples", "1")  # the same run with fewer messages
OTHERS = ("ranks", "rank_kind", "comm", "sizes", "top", "memory_model", "shrink")  # options of other commands: a figure has its own


def options() -> argparse.ArgumentParser:
    p = argparse.ArgumentParser(add_help=False, allow_abbrev=False, argument_default=argparse.SUPPRESS)
    p.add_argument("--out", metavar="DIR", help="write each figure as PAPER-FIGURE.json and PAPER-FIGURE.svg there")
    p.add_argument("--markdown", action="store_true", help="print Markdown tables")
    return p


@dataclass(frozen=True)
class Wanted:
    """One value: a candidate at a point."""

    job: run.Job
    start: run.Job | None  # the same with few messages, if misses are counted


@dataclass
class Simulation:
    """Runs that figures have in common are made once."""

    build: Path
    common: dict
    seconds: float = SECONDS
    threads: list[int] | None = None  # in the place of the paper's
    models: list[str] | None = None
    machine: str | None = None
    done: dict[str, run.Outcome] = field(default_factory=dict)

    def candidates(self, figure: papers.Figure) -> list[mpis.Heddle]:
        models = self.models if self.models is not None else ["", *figure.models] if figure.models else []
        return mpis.variants(mpis.Heddle("heddle", self.build), models, figure.rank_kinds, figure.runtimes, figure.settings)

    def points(self, figure: papers.Figure) -> list[Point]:
        experiments = [e.simulated() for e in figure.experiments if not e.only_measured]
        if self.threads:
            experiments = [replace(e, threads=tuple(self.threads)) for e in experiments]
        return list(dict.fromkeys(p for e in experiments for p in e.points()))

    def wanted(self, figure: papers.Figure, machine: machines.Machine, point: Point, mpi: mpis.Heddle) -> Wanted:
        launch = ()
        if point.args[:1] == (papers.CORES,):
            launch, point = ("-cpu-set", point.args[1], "-bind-to", "core"), replace(point, args=point.args[2:])
        env = self.common["env"] | mpi.extra_env | ({"HEDDLE_SIMULATED_PROCESSES": "1"} if mpi.rank_kind == "processes" else {})
        program = run.find_program(str(self.build / "bench" / point.bench.source), self.build)
        job = run.Job(program, tuple(point.arguments(self.seconds, SAMPLES)), ranks=point.ranks, launch=launch, caches=point.bench.source == "polling",
                      **self.common | {"machine": machine, "env": env})
        return Wanted(job, job.with_args(*START) if figure.misses else None)

    def command(self, name: str, which: str) -> str:
        """The command that repeats the figure."""
        words = ["heddle", "simulate", "paper", name, which]
        words += [] if self.common["seed"] == 1 else ["--seed", str(self.common["seed"])]
        words += [] if self.seconds == SECONDS else ["--seconds", f"{self.seconds:g}"]
        words += ["--threads", ",".join(map(str, self.threads))] if self.threads else []
        words += ["--models", ",".join(self.models)] if self.models else []
        return shlex.join([*words, *(["--machine", self.machine] if self.machine else [])])

    def perform(self, name: str, which: str, show) -> Campaign:
        figure = papers.figure(name, which)
        machine = machines.load(self.machine or figure.machine)
        points, candidates = self.points(figure), self.candidates(figure)
        wanted = {(p, m.label): self.wanted(figure, machine, p, m) for p in points for m in candidates}
        jobs = {repr(job): job for w in wanted.values() for job in (w.job, w.start) if job and repr(job) not in self.done}
        with show(len(jobs)) as shown:
            for key, outcome in zip(jobs, run.perform(list(jobs.values()), self.build, patience=PATIENCE, show=shown)):
                # Lines and their places are most of a report, and are not shown here.
                self.done[key] = replace(outcome, report={k: v for k, v in outcome.report.items() if k != "lines"})
        campaign = Campaign(self.command(name, which), Plan(points, candidates, repeats=1, seconds=self.seconds), None)
        campaign.machine = {"simulated": machine.name, "about": machine.about, "seed": self.common["seed"]}
        for point in points:
            campaign.cells.append(Cell(point, {m.label: [self.run_of(wanted[point, m.label])] for m in candidates}))
        return campaign

    def run_of(self, wanted: Wanted) -> runner.Run:
        outcome = self.done[repr(wanted.job)]
        if not outcome.ok:
            return runner.Run("hung" if outcome.code == 124 else "failed", why=outcome.why().splitlines()[0], wall=outcome.wall)
        result = outcome.result
        if "absent" in result:
            return runner.Run("absent", why=result["absent"], wall=outcome.wall)
        detail = {key: result[key] for key in ("variables", "answer") if key in result}
        if wanted.start:
            each = counts.each(outcome, self.done[repr(wanted.start)])
            detail["misses"] = {where: each.get(f"misses_{where}", 0.0) for where in counts.DISTANCES}
        return runner.Run("ok", result["value"], result.get("samples", []), outcome.wall, detail=detail)


def chosen(words: list[str]) -> list[tuple[str, str]]:
    """The figures of `all`, `PAPER all` or `PAPER FIGURE`."""
    if options_given := [word for word in words if word.startswith("-")]:
        raise BadInput(f"unrecognized arguments: {' '.join(options_given)}")
    if len(words) > 2 or len(words) == 1 and words[0] != "all" or words[0] == "all" and len(words) == 2:
        raise BadInput(f"simulate paper takes PAPER FIGURE, PAPER all or all; papers: {', '.join(papers.PAPERS)}")
    if words[-1] == "all":
        names = list(papers.PAPERS) if len(words) == 1 else [words[0]]
        found = [(name, which) for name in names for which, figure in papers.paper(name).figures.items() if figure.machine]
        if not found:
            raise BadInput(f"no figure of {words[0]} is simulated")
        return found
    figure = papers.figure(words[0], words[1])
    if not figure.machine:
        raise BadInput(f"{words[0]} {words[1]} is not simulated: " + (figure.why_not or "it does not depend on the number of cores"))
    return [(words[0], words[1])]


def listing() -> int:
    """The figures that are simulated."""
    rows = [[name, which, figure.machine, figure.shows] for name, paper in papers.PAPERS.items()
            for which, figure in paper.figures.items() if figure.machine]
    print(table.text(["paper", "figure", "machine", "shows"], rows, left=(0, 1, 2, 3)))
    return 0


def perform(args, words: list[str], common: dict, show) -> int:
    for option in OTHERS:
        if hasattr(args, option):
            raise BadInput(f"--{option.replace('_', '-')} is not for papers: a figure has its own")
    if not words:
        return listing()
    figures = chosen(words)
    known = (*mpis.MODELS, "single")
    simulation = Simulation(
        run.build_folder(getattr(args, "build", None)), common,
        seconds=bench.positive(args.seconds, "--seconds") if hasattr(args, "seconds") else SECONDS,
        threads=bench.numbers(args.threads, "--threads", 1, 1024) if hasattr(args, "threads") else None,
        models=bench.words(args.models, "--models", known) if hasattr(args, "models") else None,
        machine=getattr(args, "machine", None))
    run.fix_addresses(bench.tell)
    render = table.markdown if hasattr(args, "markdown") else table.text
    found, code = [], 0
    for name, which in figures:
        began = time.monotonic()
        campaign = simulation.perform(name, which, show)
        code = max(code, bench.outcome(campaign))
        if hasattr(args, "json"):
            found.append({"paper": name, "figure": which} | campaign.to_json())
        else:
            print(f"{papers.paper(name).title}, {which}: {papers.figure(name, which).shows}\n\n{table.report(campaign, render)}\n")
            for experiment in papers.figure(name, which).experiments:
                if experiment.only_measured:
                    print(f"{experiment.name} is not simulated: {experiment.only_measured}. Measure it: {papers.commands(name, which)[0]}\n")
            sys.stdout.flush()
        if hasattr(args, "out"):
            write(Path(args.out) / f"{name}-{which}", campaign)
        bench.tell(f"{name} {which}: {time.monotonic() - began:.0f} s of real time")
    if hasattr(args, "json"):
        print(json.dumps(found, indent=1))
    return code


def write(stem: Path, campaign: Campaign) -> None:
    stem.parent.mkdir(parents=True, exist_ok=True)
    stem.with_suffix(".json").write_text(json.dumps(campaign.to_json(), indent=1) + "\n")
    if drawn := html.pictures(campaign):
        stem.with_suffix(".svg").write_text(drawn + "\n")

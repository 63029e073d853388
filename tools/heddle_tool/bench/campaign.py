"""Many runs: A B A B, kept as they come, so that whatever ends the campaign leaves what was measured."""

import json
import os
import platform
import subprocess
import time
from dataclasses import dataclass, field
from pathlib import Path

from .. import places
from . import stats
from .build import Builder
from .lock import Lock
from .mpis import CORES, PEERS, Mpi
from .progress import Progress
from .runner import Run, run
from .suite import BENCHMARKS, Point


# Quiet runs that make the disturbed ones dispensable.
ENOUGH = 3


@dataclass
class Cell:
    """A point with the runs of every candidate, one per repeat; and with those of ours at the point that theirs are
    compared with, each just before the run here."""

    point: Point
    runs: dict[str, list[Run]] = field(default_factory=dict)
    base_runs: dict[str, list[Run]] = field(default_factory=dict)

    def values(self, label: str) -> list[float | None]:
        return values(self.runs.get(label, []))

    def ratio_to_base(self, label: str) -> stats.Summary | None:
        """This candidate over itself at the base."""
        return stats.paired_ratio(self.values(label), values(self.base_runs.get(label, [])))

    def summary(self, label: str) -> stats.Summary | None:
        return stats.summary([v for v in self.values(label) if v is not None])

    def trouble(self, label: str) -> Run | None:
        return next((r for r in self.runs.get(label, []) if not r.ok), None)

    def best_peer(self, peers: list[str]) -> str | None:
        found = {p: s.median for p in peers if (s := self.summary(p))}
        return stats.best(found, self.point.bench.better)

    def ratio_to(self, label: str, other: str) -> stats.Summary | None:
        return stats.paired_ratio(self.values(label), self.values(other))

    def ratio(self, label: str, peers: list[str]) -> stats.Summary | None:
        """This candidate over the best reference MPI."""
        other = self.best_peer(peers)
        return stats.paired_ratio(self.values(label), self.values(other)) if other else None

    def check_answer(self, result: Run) -> None:
        """All libraries must come to the same answer where a program gives one."""
        answers = {str(r.detail["answer"]) for runs in self.runs.values() for r in runs if r.ok and "answer" in r.detail}
        found = str(result.detail.get("answer", ""))
        if result.ok and found and answers and found not in answers:
            result.status, result.why = "wrong", f"its answer is {found}, that of the others {', '.join(answers)}"

    def disturbed(self, label: str) -> float:
        """The largest share of the machine that others took during a run that counts."""
        counts = zip(self.runs.get(label, []), self.values(label))
        return max((r.others for r, value in counts if value is not None), default=0.0)


def values(runs: list[Run]) -> list[float | None]:
    """One value per repeat, None where it does not count: a failed run, or one that others on the machine disturbed if
    there are enough that they did not."""
    strict = sum(r.quiet for r in runs) >= ENOUGH
    return [r.value if r.ok and (r.quiet or not strict) else None for r in runs]


@dataclass
class Plan:
    points: list[Point]
    mpis: list[Mpi]
    repeats: int = 5
    seconds: float | None = None
    limit: float = 60.0
    patience: int = 3
    lock: Path | None = None
    # Points at which ours is compared with itself at another one. A machine has minutes of its own, and the point's own
    # cell may be that far away: the base is measured again beside each run.
    bases: dict[Point, Point] = field(default_factory=dict)


@dataclass
class Campaign:
    command: str
    plan: Plan
    file: Path | None
    cells: list[Cell] = field(default_factory=list)
    started: str = field(default_factory=lambda: time.strftime("%Y-%m-%d %H:%M:%S"))
    interrupted: bool = False
    commit: str = field(default_factory=lambda: commit())
    machine: dict = field(default_factory=lambda: machine())
    nodes: dict = field(default_factory=dict)  # where it ran, unless on one machine (Nodes.to_json)

    @property
    def labels(self) -> list[str]:
        return [m.label for m in self.plan.mpis]

    @property
    def peers(self) -> list[str]:
        return [m.label for m in self.plan.mpis if m.peer]

    @property
    def stock(self) -> list[str]:
        """The peers as they come, if all of them were measured so: by `:stock`, or because they have no better settings."""
        tuned = [p for p in self.peers if p in PEERS and "stock" in PEERS[p].settings]
        if any(f"{p}:stock" not in self.peers for p in tuned):
            return []
        return [p for p in self.peers if p.endswith(":stock") or (":" not in p and p not in tuned)]

    @property
    def ours(self) -> list[str]:
        return [m.label for m in self.plan.mpis if not m.peer and not m.limit]

    @property
    def limits(self) -> list[str]:
        return [m.label for m in self.plan.mpis if m.limit]

    def perform(self, tell, finished=lambda cell: None) -> None:
        """Runs the plan. Ctrl-C ends it; what was measured stays, and is marked as partial."""
        plan = self.plan
        builder = Builder(plan.mpis, tell)
        # Everything is compiled before anything is measured.
        for point in plan.points:
            for mpi in plan.mpis:
                builder.program(point.bench.source, mpi)
        lock = Lock(plan.lock)
        progress = Progress(len(plan.points) * len(plan.mpis) * plan.repeats)
        try:
            for point in plan.points:
                cell = Cell(point)
                self.cells.append(cell)
                hopeless: set[str] = set()
                same = twins(point, plan.mpis)
                for _ in range(plan.repeats):
                    for mpi in plan.mpis:
                        progress.show(point.describe(), mpi.label)
                        if mpi.label in same:
                            cell.runs[mpi.label] = cell.runs[same[mpi.label]]
                        elif mpi.label not in hopeless:
                            if point in plan.bases and not mpi.peer:
                                result = self.run(plan.bases[point], mpi, builder, lock, progress)
                                cell.base_runs.setdefault(mpi.label, []).append(result)
                            result = self.run(point, mpi, builder, lock, progress)
                            cell.check_answer(result)
                            cell.runs.setdefault(mpi.label, []).append(result)
                            # A hang has cost its whole limit once; it is reported, not repeated.
                            # A missing feature of the machine is missing next time, too.
                            if result.status in ("hung", "wrong", "absent"):
                                hopeless.add(mpi.label)
                            self.save()
                        progress.step()
                progress.clear()
                finished(cell)
        except KeyboardInterrupt:
            self.interrupted = True
            progress.clear()
        finally:
            lock.release()
            progress.clear()
            self.save()

    def run(self, point: Point, mpi: Mpi, builder: Builder, lock: Lock, progress: Progress) -> Run:
        plan = self.plan

        def again(others: float) -> None:
            progress.repeated += 1
            progress.show(f"{point.describe()}, again: others used {others:.1f} cores", mpi.label)

        limit = plan.limit + (point.bench.seconds if plan.seconds is None else plan.seconds)
        return run(point, mpi, builder.program(point.bench.source, mpi), limit, plan.seconds, plan.patience, lock, again)

    def save(self) -> None:
        if not self.file:
            return
        self.file.parent.mkdir(parents=True, exist_ok=True)
        unfinished = self.file.with_suffix(".unfinished")
        unfinished.write_text(json.dumps(self.to_json(), indent=1) + "\n")
        unfinished.rename(self.file)

    def to_json(self) -> dict:
        def shown(s: stats.Summary | None) -> dict | None:
            return {"median": s.median, "low": s.low, "high": s.high, "runs": s.runs} if s else None

        cells = []
        for cell in self.cells:
            b = cell.point.bench
            found = {}
            for label, runs in cell.runs.items():
                mpi = next(m for m in self.plan.mpis if m.label == label)
                found[label] = {
                    "summary": shown(cell.summary(label)),
                    "ratio_to_best_peer": None if mpi.peer else shown(cell.ratio(label, self.peers)),
                    "settings": mpi.settings(cell.point.ranks, cell.point.team),
                    "runs": [r.to_json() for r in runs],
                    "base_runs": [r.to_json() for r in cell.base_runs.get(label, [])],
                }
            cells.append(cell.point.key() | {"metric": b.metric, "unit": b.unit, "better": b.better,
                                             "best_peer": cell.best_peer(self.peers), "results": found})
        return {"schema": 1, "command": self.command, "started": self.started, "complete": not self.interrupted and
                len(self.cells) == len(self.plan.points), "commit": self.commit, "machine": self.machine,
                "nodes": self.nodes, "cells": cells,
                "candidates": {m.label: {"peer": m.peer, "limit": m.limit} for m in self.plan.mpis}}


def twins(point: Point, mpis: list[Mpi]) -> dict[str, str]:
    """Candidates that here are an earlier one by another name: the same library under the same settings."""
    first: dict[tuple, str] = {}
    found = {}
    for mpi in mpis:
        if mpi.limit:
            continue
        what = (mpi.prefix, mpi.thread_runtime, tuple(mpi.launch(point.ranks, point.team)), tuple(mpi.env(point.ranks, point.team).items()))
        if what in first:
            found[mpi.label] = first[what]
        first.setdefault(what, mpi.label)
    return found


def load(file: Path) -> Campaign:
    """A campaign from its JSON, for reports."""
    data = json.loads(file.read_text())
    mpis = [Mpi(label, Path(), peer=about["peer"]) for label, about in data["candidates"].items()]
    for mpi in mpis:
        mpi.limit = data["candidates"][mpi.label].get("limit", False)
    campaign = Campaign(data["command"], Plan([], mpis), None, started=data["started"],
                        interrupted=not data["complete"], commit=data["commit"], machine=data["machine"],
                        nodes=data.get("nodes", {}))
    known = set(Run.__dataclass_fields__)

    def runs(c: dict, which: str) -> dict[str, list[Run]]:
        return {label: [Run(**{k: v for k, v in r.items() if k in known}) for r in found.get(which, [])]
                for label, found in c["results"].items()}

    for c in data["cells"]:
        point = Point(BENCHMARKS[c["bench"]], c["ranks"], c["threads"], c["size"], c["comm"], tuple(c["args"]))
        campaign.cells.append(Cell(point, runs(c, "runs"), runs(c, "base_runs")))
    campaign.plan.points = [cell.point for cell in campaign.cells]
    return campaign


def commit() -> str:
    tree = places.source_tree()
    if not tree:
        recorded = places.HOME / "COMMIT"
        return recorded.read_text().strip() if recorded.is_file() else "installed"
    done = subprocess.run(["git", "-C", str(tree), "describe", "--always", "--dirty", "--abbrev=10"],
                          capture_output=True, text=True)
    return done.stdout.strip() or "unknown"


def machine() -> dict:
    info = Path("/proc/cpuinfo").read_text().splitlines()
    cpu = next((line.split(":", 1)[1].strip() for line in info if line.startswith("model name")), platform.machine())
    pages, page = os.sysconf("SC_PHYS_PAGES"), os.sysconf("SC_PAGE_SIZE")
    return {"cpu": cpu, "cores": CORES, "memory_gib": round(pages * page / 2**30), "kernel": platform.release()}

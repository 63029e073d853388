"""The picture of the README: message rate over threads, from a result of `heddle bench` or from the table stored of one.

The table is what is kept in the tree: for each MPI and number of threads the median of its runs and half their range,
under the command, commit and machine that made them.
"""

import csv
import textwrap
from dataclasses import dataclass
from pathlib import Path

from ..errors import BadInput
from . import plot
from .campaign import Campaign

HEAD = ["mpi", "reference", "threads", "median", "spread"]
NAMES = {"heddle": "Heddle", "mpich": "MPICH", "impi": "Intel MPI", "openmpi": "Open MPI"}
AS_INSTALLED = ":stock"
SIZE, RANKS = 8, 2
MACHINE, COMMIT, COMMAND = "machine: ", "commit: ", "command: "


@dataclass
class Curve:
    command: str
    commit: str
    machine: str
    rows: list[dict]  # with the keys of HEAD

    def text(self) -> str:
        """The stored table."""
        lines = [f"# {COMMAND}{self.command}", f"# {COMMIT}{self.commit}", f"# {MACHINE}{self.machine}", ",".join(HEAD)]
        return "\n".join(lines + [",".join(str(row[key]) for key in HEAD) for row in self.rows]) + "\n"

    def svg(self) -> str:
        series: dict[str, plot.Series] = {}
        labels = {row["mpi"] for row in self.rows}
        for row in self.rows:
            label, middle, half = title(row["mpi"], labels), float(row["median"]), float(row["median"]) * float(row["spread"])
            line = series.setdefault(label, plot.Series(label, [], row["reference"] == "yes"))
            # Half the range is kept, not its ends: a bar that would reach below zero ends above it.
            line.dots.append(plot.Dot(int(row["threads"]), middle, max(middle - half, middle / 10), middle + half))
        tint = plot.palette([(s.label, s.peer) for s in series.values()])
        notes = [f"{SIZE}-byte messages, window of 64, one communicator, {RANKS} ranks; median of interleaved runs, "
                 "± half their range.",
                 f"{self.machine}, commit {self.commit}.", *textwrap.wrap(self.command, 96)]
        return plot.lines(list(series.values()), "threads of each rank", "message rate (M/s)", "higher", tint,
                          mark_best=False, notes=notes) + "\n"


def title(label: str, labels: set[str]) -> str:
    """Its name for a reader. An MPI that was measured twice has a suffix."""
    name = NAMES.get(label.removesuffix(AS_INSTALLED), label)
    if label.endswith(AS_INSTALLED):
        return f"{name}, as installed"
    return f"{name}, tuned" if label + AS_INSTALLED in labels else name


def of_campaign(campaign: Campaign) -> Curve:
    rows = []
    for cell in sorted(campaign.cells, key=lambda c: c.point.threads):
        p = cell.point
        if (p.bench.name, p.size, p.ranks, p.args) != ("message-rate", SIZE, RANKS, ()) or p.comm == "each":
            continue
        for label in campaign.labels:
            if summary := cell.summary(label):
                rows.append({"mpi": label, "reference": "yes" if label in campaign.peers else "no", "threads": p.threads,
                             "median": f"{summary.median:.3g}", "spread": f"{summary.spread:.2f}"})
    m = campaign.machine
    return Curve(campaign.command, campaign.commit, f"{m['cpu']}, {m['cores']} cores", rows)


def of_table(file: Path) -> Curve:
    lines = file.read_text().splitlines()
    told = {key: next((l[2 + len(key):] for l in lines if l.startswith(f"# {key}")), None) for key in (COMMAND, COMMIT, MACHINE)}
    rows = list(csv.DictReader(l for l in lines if not l.startswith("#")))
    if None in told.values() or not rows or list(rows[0]) != HEAD:
        raise BadInput(f"{file} is no table that heddle bench plot has stored")
    return Curve(told[COMMAND], told[COMMIT], told[MACHINE], rows)

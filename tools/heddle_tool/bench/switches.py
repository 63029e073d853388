"""How often a rank leaves its core in a step, where a benchmark counts that: blocked, or otherwise (a yield, or the kernel's decision)."""

from statistics import median

from .campaign import Campaign, Cell
from .stats import number

HEAD = ["benchmark", "ranks", "candidate", "computing us", "switches", "blocked", "other"]


def found(cell: Cell, label: str) -> list[float]:
    """Medians over the runs of one candidate, in the order of the head's last four; empty where it reported nothing."""
    told = [r.detail for r in cell.runs.get(label, []) if r.ok and r.detail.get("switches")]
    runs = [(d["computing"], d["switches"]["blocked"] + d["switches"]["other"], d["switches"]["blocked"], d["switches"]["other"])
            for d in told]
    return [median(values) for values in zip(*runs)]


def rows(campaign: Campaign) -> list[list[str]]:
    return [[cell.point.bench.name, str(cell.point.ranks), label, *map(number, counts)]
            for cell in campaign.cells for label in campaign.labels if (counts := found(cell, label))]

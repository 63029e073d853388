"""Cache misses per message, by where the missing line was: Dang 2017, Figs. 5 and 14c. Only runs in the simulator count them."""

from . import plot
from .campaign import Campaign, Cell
from .stats import number

# Within the core it is a write to a line of which the core has a copy, or a line of its other hardware thread.
PLACES = {"core": "own core", "cluster": "same cache", "socket": "same socket", "machine": "other socket", "memory": "memory"}

HEAD = ["benchmark", "threads", "size", "model", "in all", *PLACES.values()]


def found(cell: Cell, label: str) -> dict[str, float]:
    """The misses of a candidate's first run; empty where it counted none."""
    runs = [run.detail["misses"] for run in cell.runs.get(label, []) if run.ok and run.detail.get("misses")]
    return runs[0] if runs else {}


def rows(campaign: Campaign) -> list[list[str]]:
    return [[cell.point.bench.name, str(cell.point.threads), str(cell.point.size or "-"), label, number(sum(told.values())),
             *(number(told[place]) for place in PLACES)]
            for cell in campaign.cells for label in campaign.ours if (told := found(cell, label))]


def curves(campaign: Campaign, cells: list[Cell]) -> list[tuple[str, list[plot.Series]]]:
    """For each candidate a curve for each place, over threads."""
    drawn = []
    for label in campaign.ours:
        told = [(cell.point.threads, found(cell, label)) for cell in cells if found(cell, label)]
        lines = [plot.Series(words, [plot.Dot(threads, each[place], each[place], each[place]) for threads, each in told], False)
                 for place, words in PLACES.items() if any(each[place] >= 0.005 for _, each in told)]
        if lines:
            drawn.append((label, lines))
    return drawn

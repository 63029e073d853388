"""`heddle bench sizes`: patterns by size, ranks and kind of rank beside the reference MPIs, as a map of ratios.

A cell of the map is the time of a candidate of ours over that of the fastest reference at the same pattern, size and number of
ranks: below 1 ours is faster. The method is that of the Intel MPI Benchmarks, the same buffers again and again.
"""

import html as escape_html
import textwrap
from dataclasses import dataclass

from . import plot, table
from .campaign import Campaign, Cell
from .runner import QUIET
from .stats import number
from .suite import Point, benchmark, human_size

# By the name that the field has for it: the benchmark. A ping-pong is between two.
PATTERNS = {"ping-pong": "latency", "send-receive": "sendrecv", "exchange": "exchange", "allreduce": "allreduce",
            "alltoall": "alltoall", "reduce-scatter": "reduce-scatter", "allgather": "allgather", "bcast": "bcast",
            "gather": "gather", "scatter": "scatter", "scan": "scan"}
RANKS = (2, 4, 8)
SIZES = (8, 1 << 10, 8 << 10, 64 << 10, 256 << 10, 1 << 20, 4 << 20)
DISTANCE = Point(benchmark("handover"), 2)  # how far the cores are from each other: it changes, and decides much

# The upper ends of the colours' ranges, from much faster to much slower.
SHADES = ((0.8, "#15803d", "#ffffff"), (1.0, "#86efac", plot.INK), (1.1, "#fde68a", plot.INK), (1.5, "#fdba74", plot.INK),
          (2.5, "#f87171", plot.INK), (float("inf"), "#b91c1c", "#ffffff"))
MISSING = ("#f1f5f9", plot.SOFT)

# The criterion for the cells of each kind of rank: at most this ratio, in this share of them.
BARS = {"processes": ((1.0, 0.95), (1.1, 1.0), (0.8, 0.5)), "threads": ((0.7, 0.75),)}
HEAD = ["candidate", "at most", "asked in", "found in", "verdict"]


def points(patterns: list[str], ranks: list[int], sizes: list[int]) -> list[Point]:
    found = [DISTANCE]
    for pattern in patterns:
        b = benchmark(PATTERNS[pattern])
        for r in ranks if pattern != "ping-pong" else [n for n in ranks if n == 2]:
            found += [Point(b, r, 1, s, "each" if b.source == "collective" else "shared") for s in sizes]
    return found


@dataclass
class Map:
    """The cells of one candidate of ours."""

    label: str
    sizes: list[int]
    rows: list[tuple[str, int, list[float | None]]]  # pattern, ranks, the ratio for each size
    disturbed: frozenset[tuple[str, int, int]] = frozenset()  # pattern, ranks, size: cells during which others used the machine

    @property
    def ratios(self) -> list[float]:
        return [ratio for _, _, row in self.rows for ratio in row if ratio is not None]

    def share(self, most: float) -> float:
        """The share of cells that are at most so much; rounded as they are shown."""
        return sum(round(r, 2) <= most for r in self.ratios) / len(self.ratios) if self.ratios else 0.0

    def verdicts(self) -> list[list[str]]:
        kind = "threads" if self.label.endswith("/threads") else "processes"
        return [[self.label, f"{most:g}", f"{share:.0%}", f"{(found := self.share(most)):.0%}",
                 "pass" if self.ratios and found >= share else "missed"] for most, share in BARS[kind]]

    def shown(self, pattern: str, ranks: int, size: int, ratio: float | None) -> str:
        if ratio is None:
            return "-"
        return number(ratio) + ("~" if (pattern, ranks, size) in self.disturbed else "")

    def worst(self, above: float = 1.1) -> list[tuple[float, str]]:
        found = [(ratio, f"{pattern}, {ranks} ranks, {human_size(size)}") for pattern, ranks, row in self.rows
                 for size, ratio in zip(self.sizes, row) if ratio is not None and round(ratio, 2) > above]
        return sorted(found, reverse=True)


def maps(campaign: Campaign) -> list[Map]:
    name_of = {b: pattern for pattern, b in PATTERNS.items()}
    cells = [c for c in campaign.cells if c.point.bench.name in name_of and c.point.threads == 1]
    sizes = sorted({c.point.size for c in cells})
    order = list(PATTERNS)

    def key(cell: Cell) -> tuple[str, int]:
        return name_of[cell.point.bench.name], cell.point.ranks

    found = []
    for label in campaign.ours:
        by_row: dict[tuple[str, int], dict[int, float]] = {}
        for cell in cells:
            row = by_row.setdefault(key(cell), {})
            if ratio := cell.ratio(label, campaign.peers):
                row[cell.point.size] = ratio.median
        rows = sorted(by_row, key=lambda k: (order.index(k[0]), k[1]))
        disturbed = frozenset((*key(cell), cell.point.size) for cell in cells if cell.ratio(label, campaign.peers) and
                              max(cell.disturbed(label), cell.disturbed(cell.best_peer(campaign.peers))) > QUIET)
        found.append(Map(label, sizes, [(*k, [by_row[k].get(s) for s in sizes]) for k in rows], disturbed))
    return found


def grid(drawn: Map) -> tuple[list[str], list[list[str]]]:
    head = ["pattern", "ranks", *map(human_size, drawn.sizes)]
    return head, [[pattern, str(ranks), *(drawn.shown(pattern, ranks, s, r) for s, r in zip(drawn.sizes, row))]
                  for pattern, ranks, row in drawn.rows]


def report(campaign: Campaign, render=table.text) -> str:
    """The maps in digits, what was asked and found, and the cells in which another is faster."""
    parts = []
    for drawn in maps(campaign):
        title = f"{drawn.label}: time over that of the fastest reference"
        parts.append((f"### {title}\n\n" if render is table.markdown else f"{title}\n") + render(*grid(drawn)))
        if worst := drawn.worst():
            parts.append(f"{drawn.label} is slower in: " + "; ".join(f"{where} ({number(ratio)})" for ratio, where in worst))
    lines = [line for drawn in maps(campaign) for line in drawn.verdicts()]
    return "\n\n".join([*parts, render(HEAD, lines), *table.footnotes(campaign, ratios=False)])


# ---- the picture

ROW, COLUMN, NAMES, TOP = 22, 62, 150, 44
NOTE_CHARACTER = 7  # its width


def shade(ratio: float | None) -> tuple[str, str]:
    """The style of the cell, and of the number in it."""
    if ratio is None:
        return MISSING
    return next((fill, ink) for most, fill, ink in SHADES if round(ratio, 2) <= most)


def picture(drawn: Map, notes: list[str] = ()) -> str:
    """The map as SVG."""
    width, body = NAMES + COLUMN * len(drawn.sizes) + 8, []
    notes = [line for note in notes for line in textwrap.wrap(note, width // NOTE_CHARACTER)]
    height = TOP + ROW * len(drawn.rows) + plot.NOTE * len(notes) + 10
    body.append(plot.text(4, 16, f"{drawn.label}: time over that of the fastest reference MPI", "start", plot.INK, 13))
    for i, size in enumerate(drawn.sizes):
        body.append(plot.text(NAMES + COLUMN * (i + 0.5), TOP - 8, human_size(size)))
    for at, (pattern, ranks, row) in enumerate(drawn.rows):
        y = TOP + ROW * at
        body.append(plot.text(NAMES - 8, y + 15, f"{pattern}, {ranks} ranks", "end", plot.INK))
        for i, ratio in enumerate(row):
            fill, ink = shade(ratio)
            body.append(f'<rect x="{NAMES + COLUMN * i + 1}" y="{y + 1}" width="{COLUMN - 2}" height="{ROW - 2}" rx="3" fill="{fill}"/>')
            body.append(plot.text(NAMES + COLUMN * (i + 0.5), y + 15, drawn.shown(pattern, ranks, drawn.sizes[i], ratio), color=ink))
    for i, note in enumerate(notes):
        body.append(plot.text(4, TOP + ROW * len(drawn.rows) + plot.NOTE * (i + 1), note, "start"))
    return (f'<svg viewBox="0 0 {width} {height}" width="{width}" role="img" aria-label="ratios of {escape_html.escape(drawn.label)}" '
            f'xmlns="http://www.w3.org/2000/svg" font-family="system-ui, sans-serif">' + "".join(body) + "</svg>")


def fragment(campaign: Campaign) -> str:
    """For the page: the maps, and what was asked."""
    drawn = maps(campaign)
    figures = "".join(f"<figure>{picture(one)}</figure>" for one in drawn)
    lines = "".join("<tr>" + "".join(f"<td{f' class={w}' if w in ('pass', 'missed') else ''}>{escape_html.escape(w)}</td>" for w in line)
                    + "</tr>" for one in drawn for line in one.verdicts())
    head = "".join(f"<th>{h}</th>" for h in HEAD)
    return f"<div class=plots>{figures}</div><div class=wide><table><tr>{head}</tr>{lines}</table></div>"

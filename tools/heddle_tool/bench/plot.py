"""Plots as SVG text: curves with the spread of their runs, and bars. Logarithmic where the data span decades."""

import html
import math
import textwrap
from dataclasses import dataclass
from typing import Callable, NamedTuple, Sequence

from .stats import number

# Heddle in warm colours with a full line, peers in cool ones, dashed: told apart without colour too.
OURS = ("#c2410c", "#be123c", "#a16207", "#9333ea", "#db2777", "#ea580c", "#7c2d12", "#65a30d", "#292524")
PEERS = ("#2563eb", "#0f766e", "#64748b", "#7c6fd6", "#0891b2", "#94a3b8")
INK, SOFT, GRID = "#1d2430", "#5b6575", "#e3e7ee"
WIDTH, HEIGHT = 600, 340
LEFT, RIGHT, TOP, BOTTOM = 62, 158, 16, 46
NOTE = 15  # the height of a line under a picture


class Dot(NamedTuple):
    x: float
    y: float
    low: float
    high: float


@dataclass
class Series:
    label: str
    dots: list[Dot]
    peer: bool


def text(x: float, y: float, words: str, anchor: str = "middle", color: str = SOFT, size: float = 11.5, more: str = "") -> str:
    return (f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" fill="{color}" font-size="{size}" {more}>'
            f"{html.escape(words)}</text>")


def canvas(body: list[str], label: str, height: int = HEIGHT) -> str:
    return (f'<svg viewBox="0 0 {WIDTH} {height}" role="img" aria-label="{html.escape(label)}" '
            f'xmlns="http://www.w3.org/2000/svg" font-family="system-ui, sans-serif">' + "".join(body) + "</svg>")


def short(v: float) -> str:
    """A tick's number: 0.25, 10, 3k, 2M."""
    for factor, suffix in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if abs(v) >= factor:
            return f"{v / factor:g}{suffix}"
    return f"{v:g}"


class Scale:
    """Values to pixels; logarithmic if the data span more than a decade and a half, else with zero on it."""

    def __init__(self, low: float, high: float, start: float, end: float, force_log: bool | None = None):
        self.start, self.end = start, end
        self.log = force_log if force_log is not None else low > 0 and high / low > 30
        if self.log:
            self.low, self.high = math.log10(low) - 0.06, math.log10(high) + 0.06
        else:
            self.low, self.high = min(0.0, low * 1.08), max(0.0, high * 1.08)
            if self.low == self.high:
                self.high = 1.0

    def __call__(self, v: float) -> float:
        at = math.log10(v) if self.log else v
        return self.start + (at - self.low) / (self.high - self.low) * (self.end - self.start)

    def ticks(self) -> list[float]:
        if self.log:
            decades = self.high - self.low
            steps = (1, 2, 5) if decades < 2.2 else (1,)
            found = [s * 10.0**d for d in range(math.floor(self.low), math.ceil(self.high) + 1) for s in steps]
            return [v for v in found if self.low <= math.log10(v) <= self.high]
        rough = (self.high - self.low) / 5
        step = 10.0 ** math.floor(math.log10(rough))
        step *= next(m for m in (1, 2, 5, 10) if m * step >= rough)
        return [i * step for i in range(math.ceil(self.low / step), math.floor(self.high / step) + 1)]


def palette(candidates: list[tuple[str, bool]]) -> dict[str, str]:
    """A colour for each (label, is a peer), the same in every plot of a page."""
    ours, peers = iter(OURS * 9), iter(PEERS * 9)
    return {label: next(peers if peer else ours) for label, peer in candidates}


def lines(series: list[Series], x_name: str, y_name: str, better: str, tint: dict[str, str],
          x_text: Callable[[int], str] = str, mark_best: bool = True, notes: Sequence[str] = ()) -> str:
    """Curves with error bars; what was varied along x is spaced evenly, as its values double. With notes it is a picture to
    stand alone: on a ground of its own, the notes under it."""
    stops = sorted({d.x for s in series for d in s.dots})
    lows = [d.low for s in series for d in s.dots]
    highs = [d.high for s in series for d in s.dots]
    if not stops:
        return canvas([text(WIDTH / 2, HEIGHT / 2, "nothing measured")], y_name)
    y = Scale(min(lows), max(highs), HEIGHT - BOTTOM, TOP)
    span = (WIDTH - RIGHT - LEFT - 36) / max(1, len(stops) - 1)
    at = {x: LEFT + 18 + i * span for i, x in enumerate(stops)}
    right = WIDTH - RIGHT
    body = []
    for tick in y.ticks():
        body.append(f'<line x1="{LEFT}" x2="{right}" y1="{y(tick):.1f}" y2="{y(tick):.1f}" stroke="{GRID}"/>')
        body.append(text(LEFT - 7, y(tick) + 4, short(tick), "end"))
    for x in stops:
        body.append(text(at[x], HEIGHT - BOTTOM + 18, x_text(int(x))))
    body.append(text((LEFT + right) / 2, HEIGHT - 8, x_name, color=INK, size=12))
    middle = (TOP + HEIGHT - BOTTOM) / 2
    arrow = "↓" if better == "lower" else "↑"
    body.append(text(14, middle, f"{y_name}, better {arrow}", color=INK, size=12, more=f'transform="rotate(-90 14 {middle})"'))
    best = best_peer(series, better) if mark_best else None
    names = []
    for s in sorted(series, key=lambda s: not s.peer):  # ours on top
        c, width = tint[s.label], 2.6 if not s.peer else 2.0 if s is best else 1.4
        dash = ' stroke-dasharray="6 4"' if s.peer else ""
        path = " ".join(f"{at[d.x]:.1f},{y(d.y):.1f}" for d in s.dots)
        for d in s.dots:
            body.append(f'<line x1="{at[d.x]:.1f}" x2="{at[d.x]:.1f}" y1="{y(d.low):.1f}" y2="{y(d.high):.1f}" stroke="{c}" '
                        'stroke-width="1.3" opacity=".55"/>')
        body.append(f'<polyline points="{path}" fill="none" stroke="{c}" stroke-width="{width}"{dash}/>')
        body += [f'<circle cx="{at[d.x]:.1f}" cy="{y(d.y):.1f}" r="{3.4 if not s.peer else 2.8}" fill="{c}">'
                 f"<title>{html.escape(s.label)}: {d.y:g} ({d.low:g} to {d.high:g})</title></circle>" for d in s.dots]
        names.append([y(s.dots[-1].y), s.label + (" (best reference)" if s is best else ""), c, not s.peer])
    body += name_tags(names, right + 8)
    if not notes:
        return canvas(body, y_name)
    body += [text(14, HEIGHT + NOTE * (i + 1), note, "start", size=10.5) for i, note in enumerate(notes)]
    height = HEIGHT + NOTE * (len(notes) + 1)
    return canvas([f'<rect width="{WIDTH}" height="{height}" fill="#ffffff"/>', *body], y_name, height)


def best_peer(series: list[Series], better: str) -> Series | None:
    """The peer that wins most often along the curve."""
    peers = [s for s in series if s.peer]
    if not peers:
        return None
    wins = {s.label: 0 for s in peers}
    for x in {d.x for s in peers for d in s.dots}:
        there = {s.label: d.y for s in peers for d in s.dots if d.x == x}
        wins[(min if better == "lower" else max)(there, key=there.get)] += 1
    return max(peers, key=lambda s: wins[s.label])


def name_tags(names: list[list], x: float) -> list[str]:
    """Labels at the curves' ends, pushed apart until none overlaps."""
    names.sort()
    gap = 15
    for i in range(1, len(names)):
        names[i][0] = max(names[i][0], names[i - 1][0] + gap)
    over = names[-1][0] - (HEIGHT - BOTTOM) if names else 0
    if over > 0:
        names[-1][0] -= over
        for i in range(len(names) - 2, -1, -1):
            names[i][0] = min(names[i][0], names[i + 1][0] - gap)
    return [text(x, y + 4, label, "start", c, 11.5, 'font-weight="650"' if bold else "") for y, label, c, bold in names]


def bars(found: list[tuple[str, float, float, float, bool]], name: str, tint: dict[str, str]) -> str:
    """One bar per candidate, with its value and the span of its runs."""
    height = 46 + 30 * len(found)
    if not found:
        return canvas([text(WIDTH / 2, 30, "nothing measured")], name, 60)
    highest = max(high for _, _, _, high, _ in found)
    lowest = min(low for _, _, low, _, _ in found)
    log = lowest > 0 and highest / lowest > 100
    left, right = max(110, 18 + 7 * max(len(label) for label, *_ in found)), WIDTH - 90
    x = Scale(lowest / 3 if log else lowest, highest, left, right, force_log=log)
    start = left if log else x(0)
    body = []
    for tick in x.ticks():
        body.append(f'<line x1="{x(tick):.1f}" x2="{x(tick):.1f}" y1="6" y2="{height - 36}" stroke="{GRID}"/>')
        body.append(text(x(tick), height - 22, short(tick)))
    for i, (label, middle, low, high, peer) in enumerate(found):
        top = 10 + 30 * i
        body.append(f'<rect x="{min(start, x(middle)):.1f}" y="{top}" width="{max(1.0, abs(x(middle) - start)):.1f}" height="20" '
                    f'rx="2" fill="{tint[label]}" '
                    f'opacity="{0.75 if peer else 1}"/>')
        body.append(f'<line x1="{x(low):.1f}" x2="{x(high):.1f}" y1="{top + 10}" y2="{top + 10}" stroke="{INK}" stroke-width="1.3"/>')
        body.append(text(left - 8, top + 14, label, "end", INK, 12, "" if peer else 'font-weight="650"'))
        body.append(text(x(high) + 6, top + 14, number(middle), "start", INK))
    body.append(text((left + right) / 2, height - 5, name + (", logarithmic" if log else ""), color=INK, size=12))
    return canvas(body, name, height)


def panels(found: Sequence[tuple[str, str]], notes: Sequence[str]) -> str:
    """Plots two to a row, each above its caption, and notes under them: one picture that stands alone."""
    columns = min(2, len(found))
    body, y = [], 0.0
    for first in range(0, len(found), columns):
        row = found[first:first + columns]
        heights = [int(svg.split('"')[1].split(" ")[3]) for svg, _ in row]  # of the view box
        for i, ((svg, caption), height) in enumerate(zip(row, heights)):
            body.append(svg.replace("<svg", f'<svg x="{WIDTH * i}" y="{y:.0f}" width="{WIDTH}" height="{height}"', 1))
            body.append(text(WIDTH * (i + 0.5), y + max(heights) + NOTE, caption, color=INK, size=12))
        y += max(heights) + 2 * NOTE
    lines_of = [line for note in notes for line in textwrap.wrap(note, 96 * columns)]
    body += [text(14, y + NOTE * (i + 1), line, "start", size=10.5) for i, line in enumerate(lines_of)]
    height = y + NOTE * (len(lines_of) + 1)
    return (f'<svg viewBox="0 0 {WIDTH * columns} {height:.0f}" role="img" xmlns="http://www.w3.org/2000/svg" '
            f'font-family="system-ui, sans-serif"><rect width="{WIDTH * columns}" height="{height:.0f}" fill="#ffffff"/>' + "".join(body) + "</svg>")


# The colours of the parts of a whole, in their order.
PARTS = ("#2a6f97", "#61a5c2", "#e9c46a", "#d1495b", "#9d4edd", "#b8b8b8", "#e3e3e3")


def shares(found: list[tuple[str, list[float]]], parts: list[str], name: str) -> str:
    """One bar per candidate, of parts that add up to one."""
    left, right, top = max([150, *(18 + 7 * len(label) for label, _ in found)]), WIDTH - 20, 34
    height = top + 26 * len(found) + 26
    body = []
    for i, part in enumerate(parts):
        x = left + i * (right - left) / len(parts)
        body.append(f'<rect x="{x:.1f}" y="8" width="12" height="12" rx="2" fill="{PARTS[i % len(PARTS)]}"/>')
        body.append(text(x + 16, 18, part, "start", INK))
    for row, (label, values) in enumerate(found):
        y, x = top + 26 * row, float(left)
        for i, value in enumerate(values):
            width = value * (right - left)
            body.append(f'<rect x="{x:.1f}" y="{y}" width="{width:.1f}" height="18" fill="{PARTS[i % len(PARTS)]}"/>')
            if value >= 0.06:
                body.append(text(x + width / 2, y + 13, f"{100 * value:.0f}%", color=INK, size=10.5))
            x += width
        body.append(text(left - 8, y + 13, label, "end", INK, 12))
    body.append(text((left + right) / 2, height - 6, name, color=INK, size=12))
    return canvas(body, name, height)

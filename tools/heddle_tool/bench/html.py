"""The report as one self-contained HTML page: plots first, tables under them, everything needed to run it again."""

import html as escape_html
import textwrap
from collections.abc import Iterable, Sequence

from . import breakdown, misses, plot, table
from .campaign import Campaign, Cell
from .stats import best
from .suite import human_size

HEADING = "This MPI's use of threads"
STYLE = """
:root { --ink: #1d2430; --soft: #5b6575; --line: #d9dee6; --paper: #ffffff; --band: #f6f8fb; }
* { box-sizing: border-box }
body { font: 15px/1.5 system-ui, "Segoe UI", Helvetica, Arial, sans-serif; color: var(--ink); background: var(--paper);
       max-width: 1080px; margin: 0 auto; padding: 32px 24px 64px }
h1 { font-size: 26px; margin: 0 0 4px } h2 { font-size: 19px; margin: 44px 0 2px }
p { margin: 4px 0 12px } .soft { color: var(--soft) }
code { font: 13px/1.4 ui-monospace, "DejaVu Sans Mono", monospace; background: var(--band); padding: 1px 5px; border-radius: 4px }
.plots { display: flex; flex-wrap: wrap; gap: 16px; margin: 12px 0 }
figure { margin: 0; flex: 1 1 480px; max-width: 640px } figcaption { color: var(--soft); font-size: 13px }
svg { width: 100%; height: auto; display: block }
.wide { overflow-x: auto }
table { border-collapse: collapse; font-size: 13.5px; font-variant-numeric: tabular-nums; margin: 8px 0 }
th, td { padding: 5px 9px; text-align: right; border-bottom: 1px solid var(--line); white-space: nowrap }
th { color: var(--soft); font-weight: 600; background: var(--band) }
td.best { font-weight: 650 } td.pass { color: #0b7a4b; font-weight: 650 } td.missed { color: #b3261e; font-weight: 650 }
td.words, th.words { text-align: left; white-space: normal }
dl { display: grid; grid-template-columns: max-content 1fr; gap: 2px 16px; font-size: 13.5px } dt { color: var(--soft) } dd { margin: 0 }
"""


def esc(text: object) -> str:
    return escape_html.escape(str(text))


def page(campaign: Campaign, heading: str = HEADING, verdict: str = "") -> str:
    sections = "\n".join(section(campaign, group) for group in table.by_benchmark(campaign.cells))
    notes = "".join(f"<p class=soft>{esc(n)}</p>" for n in table.footnotes(campaign) + table.troubles(campaign))
    return f"""<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>heddle bench</title><style>{STYLE}</style></head><body>
<h1>{esc(heading)}</h1>
<p class=soft>{esc(campaign.started)} · commit {esc(campaign.commit)} · {esc(table.machine_line(campaign))}</p>
<p><code>{esc(campaign.command)}</code></p>
{verdict}
{sections}
{notes}
<h2>How it was measured</h2>
<p class=soft>Runs of all candidates are interleaved. A measurement is the median of its runs, ± half their range; bars in the plots
span it. A ratio is the median over the best reference MPI's, in brackets the range of the ratios of paired runs.</p>
{settings(campaign)}
</body></html>
"""


def section(campaign: Campaign, group: list[Cell]) -> str:
    b = group[0].point.bench
    plots = "".join(f"<figure>{svg}<figcaption>{esc(caption)}</figcaption></figure>"
                    for svg, caption in figures(campaign, group))
    return (f"<h2>{esc(b.name)}</h2><p class=soft>{esc(b.summary)}. {esc(b.metric)} in {esc(b.unit)}, {b.better} is "
            f"better.</p><div class=plots>{plots}</div>{html_table(campaign, group)}")


def figures(campaign: Campaign, group: list[Cell]) -> Iterable[tuple[str, str]]:
    """Where the time went, if the runs tell; curves over whatever was varied most; bars where nothing was."""
    b = group[0].point.bench
    if told := breakdown.bars(campaign, group):
        yield plot.shares(told, list(breakdown.TIMES), "share of the time of all threads"), "where the time went"
    for label, told in misses.curves(campaign, group):
        tint = plot.palette([(line.label, False) for line in told])
        yield plot.lines(told, "threads a rank", "misses per message", "lower", tint), f"{label}, where a missing line was"
    for cells, axis, caption in families(group):
        yield (curves(campaign, cells, *axis, b) if axis else bars(campaign, cells[0], b)), caption


def picture(campaign: Campaign) -> str:
    """The first curves, to stand alone; empty if there are none."""
    for group in table.by_benchmark(campaign.cells):
        for cells, axis, caption in families(group):
            if axis:
                notes = [f"{group[0].point.bench.name}: {caption}; {table.method(campaign)}.",
                         *textwrap.wrap(f"{table.machine_line(campaign)}, commit {campaign.commit}.", 96),
                         *textwrap.wrap(campaign.command, 96)]
                return curves(campaign, cells, *axis, group[0].point.bench, notes)
    return ""


def pictures(campaign: Campaign) -> str:
    """All figures beside each other, to stand alone; empty if there are none."""
    panels = [(svg, f"{group[0].point.bench.name}: {caption}") for group in table.by_benchmark(campaign.cells)
              for svg, caption in figures(campaign, group)]
    notes = [f"{table.machine_line(campaign)}, commit {campaign.commit}; {table.method(campaign)}.", campaign.command]
    return plot.panels(panels, notes) if panels else ""


def families(group: list[Cell]) -> Iterable[tuple[list[Cell], tuple | None, str]]:
    """The cells of each figure, what varies in it, by name and as a function of a point, or None, and what it shows."""
    axes = {"threads": lambda p: p.threads, "size": lambda p: p.size, "ranks": lambda p: p.ranks, "window": lambda p: p.window,
            "core": lambda p: p.core}
    counts = {name: len({get(c.point) for c in group}) for name, get in axes.items()}
    axis = max(counts, key=counts.get)
    if counts[axis] < 2:
        axis = None
    found: dict[tuple, list[Cell]] = {}
    for cell in group:
        p = cell.point
        rest = tuple(get(p) for name, get in axes.items() if name != axis)
        found.setdefault((p.comm, p.args if axis not in ("window", "core") else (), *rest), []).append(cell)
    for cells in found.values():
        varies = (axis, axes[axis]) if axis and len(cells) > 1 else None
        yield cells, varies, describe(cells[0], axis)


def describe(cell: Cell, axis: str | None) -> str:
    p, words = cell.point, []
    if axis != "ranks":
        words.append(f"{p.ranks} ranks")
    if axis != "threads" and p.bench.threaded:
        words.append(f"{p.threads} thread{'s' * (p.threads > 1)} a rank")
    if axis != "size" and p.size:
        words.append(human_size(p.size))
    if p.bench.threaded and (axis == "threads" or p.threads > 1):
        words.append("a communicator for each thread" if p.comm == "each" else "one communicator")
    if axis not in ("window", "core") and p.args:
        words.append(" ".join(p.args))
    return ", ".join(words)


def apart(campaign: Campaign, cells: list[Cell]) -> list[str]:
    """The candidates that have runs of their own here; one that shares another's under a second name is left out."""
    seen: list[list] = []
    found = []
    for label in campaign.labels:
        runs = [cell.runs.get(label) for cell in cells]
        if runs not in seen:
            found.append(label)
        seen.append(runs)
    return found


def tints(campaign: Campaign) -> dict[str, str]:
    return plot.palette([(label, label in campaign.peers) for label in campaign.labels])


def series(campaign: Campaign, cells: list[Cell], x) -> list[plot.Series]:
    found = []
    for label in apart(campaign, cells):
        line = [plot.Dot(x(c.point), s.median, s.low, s.high) for c in cells if (s := c.summary(label))]
        if line:
            found.append(plot.Series(label, sorted(line), label in campaign.peers))
    return found


def curves(campaign: Campaign, cells: list[Cell], axis: str, x, b, notes: Sequence[str] = ()) -> str:
    name = {"threads": "threads a rank", "size": "message size", "ranks": "ranks", "window": "messages under way at once",
            "core": "core of the second rank; the first is on core 0"}[axis]
    shape = human_size if axis == "size" else str
    return plot.lines(series(campaign, cells, x), name, f"{b.metric} ({b.unit})", b.better, tints(campaign), shape, notes=notes)


def bars(campaign: Campaign, cell: Cell, b) -> str:
    found = [(label, s.median, s.low, s.high, label in campaign.peers)
             for label in apart(campaign, [cell]) if (s := cell.summary(label))]
    return plot.bars(found, f"{b.metric} ({b.unit})", tints(campaign))


def html_table(campaign: Campaign, group: list[Cell]) -> str:
    head, body = table.rows(campaign, group)
    lines = []
    for cell, row in zip(group, body):
        summaries = {label: s.median for label in campaign.labels if (s := cell.summary(label))}
        winner = best(summaries, cell.point.bench.better)
        lines.append("<tr>" + "".join(
            f"<td{' class=best' if head[i] == winner else ''}>{esc(word)}</td>" for i, word in enumerate(row)) + "</tr>")
    return ("<div class=wide><table><tr>" + "".join(f"<th>{esc(h)}</th>" for h in head) + "</tr>" + "".join(lines) +
            "</table></div>")


def verdict_table(head: list[str], lines: list[tuple[str, ...]]) -> str:
    """Criteria; the last column says pass or missed."""
    top = "".join(f"<th{' class=words' if i == 0 else ''}>{esc(h)}</th>" for i, h in enumerate(head))
    rows = "".join("<tr><td class=words>" + f"{esc(line[0])}</td>" + "".join(f"<td>{esc(w)}</td>" for w in line[1:-1]) +
                   f"<td class={line[-1]}>{esc(line[-1])}</td></tr>" for line in lines)
    return f"<h2>Criteria</h2><div class=wide><table><tr>{top}</tr>{rows}</table></div>"


def settings(campaign: Campaign) -> str:
    seen: dict[str, dict[str, None]] = {}
    for cell in campaign.cells:
        for mpi in campaign.plan.mpis:
            if mpi.prefix.name:  # a campaign loaded from JSON does not know
                seen.setdefault(mpi.label, {})[mpi.settings(cell.point.ranks, cell.point.team)] = None
    return "<dl>" + "".join(f"<dt>{esc(label)}</dt><dd>" + "<br>".join(f"<code>{esc(s)}</code>" for s in some) + "</dd>"
                            for label, some in seen.items()) + "</dl>"


"""Results as text: on the terminal while they come, and as Markdown for docs/results."""

from . import breakdown, misses, nodes, switches
from .campaign import Campaign, Cell
from .runner import QUIET
from .stats import Summary, number
from .suite import human_size

UNDECIDED = " ?"  # after a ratio


def value(cell: Cell, label: str) -> str:
    """Median and spread, or what went wrong."""
    s, trouble = cell.summary(label), cell.trouble(label)
    if s is None:
        return trouble.status if trouble else "-"
    text = number(s.median) + (f" ±{100 * s.spread:.0f}%" if s.runs > 1 else "")
    if trouble:
        text += f" ({trouble.status})"
    return text + ("~" if cell.disturbed(label) > QUIET else "")


def case(cell: Cell) -> list[str]:
    p = cell.point
    return [str(p.ranks), str(p.threads) if p.bench.threaded else "-",
            p.comm if p.bench.threaded and p.threads > 1 else "-", human_size(p.size) if p.size else "-"]


def compared(ratio: Summary | None) -> str:
    if not ratio:
        return "-"
    return f"{number(ratio.median)} ({number(ratio.low)}..{number(ratio.high)})" + ("" if ratio.decides() else UNDECIDED)


def rows(campaign: Campaign, cells: list[Cell]) -> tuple[list[str], list[list[str]]]:
    ours, peers = campaign.ours, campaign.peers
    varied = any(cell.point.args for cell in cells)
    head = ["ranks", "threads", "comm", "size", *(["options"] if varied else []), *campaign.labels]
    compare = bool(peers)
    if compare:
        head += ["best reference"] + [f"{label}/best" for label in ours]
    head += [f"{label}/{limit}" for limit in campaign.limits for label in ours]
    body = []
    for cell in cells:
        line = case(cell) + ([" ".join(cell.point.args) or "-"] if varied else []) + [value(cell, label) for label in campaign.labels]
        if compare:
            line.append(cell.best_peer(peers) or "-")
            line += [compared(cell.ratio(label, peers)) for label in ours]
        line += [compared(cell.ratio_to(label, limit)) for limit in campaign.limits for label in ours]
        body.append(line)
    return head, body


def by_benchmark(cells: list[Cell]) -> list[list[Cell]]:
    groups: dict[str, list[Cell]] = {}
    for cell in cells:
        groups.setdefault(cell.point.bench.name, []).append(cell)
    options = list(dict.fromkeys(cell.point.args for cell in cells))  # in the order that they were asked for
    return [sorted(group, key=lambda cell: (options.index(cell.point.args), *order(cell))) for group in groups.values()]


def order(cell: Cell) -> tuple:
    p = cell.point
    return p.comm == "each", p.size, p.ranks, p.threads


def title(cell: Cell) -> str:
    b = cell.point.bench
    return f"{b.name}: {b.metric} in {b.unit}, {b.better} is better"


def text(head: list[str], body: list[list[str]], left: tuple[int, ...] = ()) -> str:
    """Columns to the right, those with a number in `left` to the left."""
    widths = [max(len(row[i]) for row in [head, *body]) for i in range(len(head))]
    return "\n".join("  ".join(word.ljust(w) if i in left else word.rjust(w) for i, (word, w) in enumerate(zip(row, widths))).rstrip()
                     for row in [head, *body])


def markdown(head: list[str], body: list[list[str]]) -> str:
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    return "\n".join(lines + ["| " + " | ".join(row) + " |" for row in body])


def troubles(campaign: Campaign) -> list[str]:
    """The failures, with equal ones of a candidate listed once."""
    told: dict[tuple[str, str, str], list[str]] = {}
    for cell in campaign.cells:
        for label in campaign.labels:
            if trouble := cell.trouble(label):
                told.setdefault((label, trouble.status, trouble.why), []).append(cell.point.describe())
    return [f"{label} {status}: {why} ({where[0]}" + (f" and {len(where) - 1} more" if where[1:] else "") + ")"
            for (label, status, why), where in told.items()]


def most_runs(campaign: Campaign) -> int:
    return max((len(runs) for cell in campaign.cells for runs in cell.runs.values()), default=0)


def undecided(campaign: Campaign) -> bool:
    """True if the tables show a ratio without significance."""
    ratios = [cell.ratio(label, campaign.peers) for cell in campaign.cells for label in campaign.ours]
    ratios += [cell.ratio_to(label, limit) for cell in campaign.cells for label in campaign.ours for limit in campaign.limits]
    return any(ratio and not ratio.decides() for ratio in ratios)


def repeated(campaign: Campaign) -> str:
    """How many runs were made again because other programs used the machine; empty: none."""
    runs = {id(r): r for cell in campaign.cells for found in (cell.runs, cell.base_runs) for of in found.values() for r in of}.values()
    count, left = sum(r.tries - 1 for r in runs), sum(r.tries > 1 and not r.quiet for r in runs)
    if not count:
        return ""
    return (f"{count} {'run was' if count == 1 else 'runs were'} repeated because other programs used the machine" +
            (f"; {left} of {len(runs)} stayed disturbed, and the least disturbed try counts" if left else ""))


def footnotes(campaign: Campaign, ratios: bool = True) -> list[str]:
    """The legend of tables, with ratios or without."""
    notes = []
    if ratios and undecided(campaign):
        notes.append("? of the paired runs some are above 1 and some below: this ratio decides nothing")
    if again := repeated(campaign):
        notes.append(again)
    if any(cell.disturbed(label) > QUIET for cell in campaign.cells for label in campaign.labels):
        notes.append(f"~ other programs used more than {100 * QUIET:.0f}% of a core during a run of this cell")
    if campaign.interrupted:
        notes.append("interrupted: what is here was measured, the rest was not")
    return notes


def machine_line(campaign: Campaign) -> str:
    m = campaign.machine
    if "simulated" in m:
        return f"{m['simulated']}, simulated ({m['about']}), seed {m['seed']}"
    machine = f"{m['cpu']}, {m['cores']} cores, {m['memory_gib']} GiB, Linux {m['kernel']}"
    return f"{machine}, {nodes.said(campaign.nodes)}" if campaign.nodes else machine


def method(campaign: Campaign) -> str:
    """The runs that a value of the tables comes from."""
    return "one run each" if "simulated" in campaign.machine else f"medians of {most_runs(campaign)} interleaved runs"


def report(campaign: Campaign, render=text) -> str:
    parts = []
    if render is markdown:
        spread = "" if "simulated" in campaign.machine else ", ± half their range"
        parts.append(f"`{campaign.command}`, {campaign.started}, commit {campaign.commit}, {machine_line(campaign)}; "
                     f"{method(campaign)}{spread}.")
    for group in by_benchmark(campaign.cells):
        heading = title(group[0])
        parts.append((f"### {heading}\n\n" if render is markdown else f"{heading}\n") +
                     render(*rows(campaign, group)))
    more = (("where the time of all threads went, and how often", breakdown.HEAD, breakdown.rows(campaign)),
            ("what a rank does in a step", switches.HEAD, switches.rows(campaign)),
            ("cache misses per message of both ranks, by where the line was", misses.HEAD, misses.rows(campaign)))
    for heading, head, body in more:
        if body:
            parts.append((f"### {heading}\n\n" if render is markdown else f"{heading}\n") + render(head, body))
    parts += troubles(campaign) + footnotes(campaign)
    return "\n\n".join(parts)

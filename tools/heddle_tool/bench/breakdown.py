"""Where the time of a run goes, from the library's performance variables: the breakdown of Dang 2017, Figs. 3, 4 and 9."""

from statistics import median

from .campaign import Campaign, Cell
from .stats import number

TIMES = ("issue", "poll", "empty", "lock", "combiner", "wait", "blocked")
COUNTS = ("messages_received", "polls", "polls_empty", "lock_acquisitions", "lock_contended", "lock_wasted", "combined",
          "wakeups")
VARIABLES = tuple(f"vni_time_{t}" for t in TIMES) + tuple(f"vni_{c}" for c in COUNTS)

HEAD = ["threads", "model", "M/s", *TIMES, "polls/msg", "empty/msg", "wasted entries", "contended", "combined/entry",
        "wakeups/msg"]


def of_run(variables: dict[str, float]) -> dict[str, float]:
    """Shares of the time of all threads, and counts per message or per entry into the critical section."""
    def count(name: str) -> float:
        return variables.get(f"vni_{name}", 0.0)

    times = {t: variables.get(f"vni_time_{t}", 0.0) for t in TIMES}
    whole = sum(times.values()) or 1.0
    messages, entries = count("messages_received") or 1.0, count("lock_acquisitions")

    def of_entries(name: str) -> float:
        return count(name) / entries if entries else 0.0  # a model with a thread of its own for everything enters nothing

    return {t: seconds / whole for t, seconds in times.items()} | {
        "polls/msg": count("polls") / messages,
        "empty/msg": count("polls_empty") / messages,
        "wasted entries": of_entries("lock_wasted"),
        "contended": of_entries("lock_contended"),
        "combined/entry": of_entries("combined"),
        "wakeups/msg": count("wakeups") / messages,
    }


def found(cell: Cell, label: str) -> dict[str, float]:
    """The medians over the runs of one candidate; empty where it reported nothing."""
    runs = [of_run(r.detail["variables"]) for r in cell.runs.get(label, []) if r.ok and r.detail.get("variables")]
    return {key: median(r[key] for r in runs) for key in runs[0]} if runs else {}


def bars(campaign: Campaign, cells: list[Cell]) -> list[tuple[str, list[float]]]:
    """A label for each number of threads and model, and the shares of its times."""
    return [(f"{cell.point.threads} thr., {label}", [shares[t] for t in TIMES])
            for cell in cells for label in campaign.ours if (shares := found(cell, label))]


def rows(campaign: Campaign) -> list[list[str]]:
    """One for each number of threads and model; the times as percentages."""
    table = []
    for cell in campaign.cells:
        for label in campaign.ours:
            shares, rate = found(cell, label), cell.summary(label)
            if not shares or not rate:
                continue
            times = [f"{100 * shares[t]:.0f}%" for t in TIMES]
            counts = [number(shares[key]) if key.endswith(("msg", "entry")) else f"{100 * shares[key]:.1f}%"
                      for key in HEAD[3 + len(TIMES):]]
            table.append([str(cell.point.threads), label, number(rate.median), *times, *counts])
    return table

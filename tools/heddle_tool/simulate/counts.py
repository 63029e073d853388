"""The counts of a run: in total, and for each message."""

from ..bench.stats import number
from .run import Outcome

KINDS = ("reads", "writes", "updates")
# Nearest first, as in the simulator's report.
DISTANCES = {"core": "within the core", "cluster": "from another core of the cluster", "socket": "from another cluster of the socket",
             "machine": "from another socket", "memory": "from memory"}
OTHERS = {"updates": "locked instructions", "failed_exchanges": "failed compare-exchanges", "fences": "fences",
          "sleeps": "futex calls that sleep", "wakes": "threads that futex calls wake", "switches": "context switches", "yields": "yields",
          "pauses": "pauses", "system_calls": "system calls", "reads": "loads", "writes": "stores", "calls": "function calls"}
NAMES = {f"misses_{where}": f"misses {what}" for where, what in DISTANCES.items()} | OTHERS


def totals(report: dict) -> dict[str, int]:
    """The counts of all threads together."""
    found = {name: 0 for name in NAMES}
    for thread in report["threads"]:
        for where in DISTANCES:
            found[f"misses_{where}"] += sum(thread[f"missed_{kind}"][where] for kind in KINDS)
        for name in OTHERS:
            found[name] += thread[name]
    return found


def messages(outcome: Outcome) -> int:
    """How many messages the program says it has checked; 0 if it does not say."""
    return int(outcome.result.get("checked", 0))


def each(run: Outcome, start: Outcome | None) -> dict[str, float]:
    """Per message: the difference to `start`, a run of the same program with fewer messages, so that initialization is left out.
    Empty if the program does not count messages."""
    more = messages(run) - (messages(start) if start else 0)
    if not start or more <= 0:
        return {}
    before = totals(start.report)
    return {name: (count - before[name]) / more for name, count in totals(run.report).items()}


def shown(count: float) -> str:
    """A count per message. The difference of two runs has no meaning below a thousandth."""
    return number(count) if abs(count) >= 0.0005 else "0"


def rows(run: Outcome, start: Outcome | None) -> tuple[list[str], list[list[str]]]:
    per_message = each(run, start)
    head = ["", "in all", *(["per message"] if per_message else [])]
    body = [[NAMES[name], f"{count:,}", *([shown(per_message[name])] if per_message else [])]
            for name, count in totals(run.report).items()]
    return head, body

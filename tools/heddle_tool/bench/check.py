"""`heddle bench check`: has something become slower? A few minutes, and robust to a noisy machine.

It compares a ratio, Heddle over a reference that runs in turn with it, so that what slows the machine slows both.
The reference is an older Heddle (--baseline PREFIX, compared directly), or the peer of a stored run (--record makes
one), whose ratio then is compared with today's. A loss counts when it exceeds the limit, and is found again by a second,
longer measurement of that point alone.
"""

import json
import time
from dataclasses import dataclass
from pathlib import Path

from ..errors import BadInput
from .campaign import Campaign, Cell, Plan, commit, machine
from .mpis import Mpi
from .stats import Summary, number, paired_ratio
from .suite import Point, benchmark

LOSS = 0.15
POINTS = (("latency", 2, 1, 8, "shared"), ("message-rate", 2, 1, 8, "shared"), ("bandwidth", 2, 1, 1 << 20, "shared"),
          ("message-rate", 2, 8, 8, "shared"), ("message-rate", 2, 8, 8, "each"), ("latency", 2, 8, 8, "shared"),
          ("allreduce", 8, 1, 8, "shared"), ("startup", 2, 1, 0, "shared"), ("memory", 2, 1, 0, "shared"))


def points() -> list[Point]:
    return [Point(benchmark(name), *rest) for name, *rest in POINTS]


@dataclass(frozen=True)
class Finding:
    point: Point
    before: float  # the ratio that is held against today's
    now: Summary | None
    why: str = ""

    @property
    def loss(self) -> float:
        """How much worse, 0.15 being 15%; negative when better."""
        if not self.now:
            return float("inf")
        change = self.now.median / self.before
        return change - 1 if self.point.bench.better == "lower" else 1 / change - 1

    @property
    def word(self) -> str:
        return "failed" if not self.now else "lost" if self.loss > LOSS else "gained" if self.loss < -LOSS else "held"

    def row(self) -> list[str]:
        change = f"{-100 * self.loss:+.0f}%" if self.now else self.why
        return [self.point.describe(), number(self.before), number(self.now.median if self.now else None), change, self.word]


HEAD = ["point", "ratio before", "ratio now", "change", ""]


def finding(cell: Cell, reference: str, before: float) -> Finding:
    trouble = cell.trouble("heddle") or cell.trouble(reference)
    now = paired_ratio(cell.values("heddle"), cell.values(reference))
    return Finding(cell.point, before, now, trouble.why if trouble and not now else "")


def key(point: Point) -> str:
    return "/".join(map(str, point.key().values()))


def stored(file: Path) -> dict:
    try:
        data = json.loads(file.read_text())
        if not isinstance(data["ratios"], dict):
            raise KeyError("ratios")
        return data
    except FileNotFoundError:
        raise BadInput(f"no stored run {file}: make one with `heddle bench check --record`, or name a --baseline") from None
    except (ValueError, KeyError, TypeError) as wrong:
        raise BadInput(f"{file} is no stored run of heddle bench check: {wrong}") from None


def record(campaign: Campaign, file: Path) -> None:
    ratios = {}
    for cell in campaign.cells:
        peer = cell.best_peer(campaign.peers)
        ratio = paired_ratio(cell.values("heddle"), cell.values(peer)) if peer else None
        if ratio:
            ratios[key(cell.point)] = {"against": peer, "ratio": round(ratio.median, 5), "low": round(ratio.low, 5),
                                       "high": round(ratio.high, 5)}
    if not ratios:
        raise BadInput("nothing to record: no point was measured on Heddle and a reference MPI")
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps({"recorded": time.strftime("%Y-%m-%d"), "commit": commit(), "machine": machine(),
                                "ratios": ratios}, indent=1) + "\n")


def measure(wanted: list[tuple[Point, str, float]], mpis: dict[str, Mpi], plan: Plan, tell) -> tuple[list[Finding], bool]:
    """Each point beside its own reference. A loss is measured again before it counts."""
    findings = []
    for point, reference, before in wanted:
        pair = [mpis["heddle"], mpis[reference]]
        for repeats in (plan.repeats, 2 * plan.repeats + 1):
            once = Campaign("heddle bench check", Plan([point], pair, repeats, plan.seconds, plan.limit, plan.patience,
                                                       plan.lock), None)
            once.perform(tell)
            if once.interrupted:
                return findings, True
            found = finding(once.cells[0], reference, before)
            if found.word != "lost":
                break
            tell(f"{point.describe()}: {100 * found.loss:.0f}% worse, measured again" if repeats == plan.repeats else
                 f"{point.describe()}: still {100 * found.loss:.0f}% worse")
        findings.append(found)
    return findings, False

"""`heddle simulate costs`: misses, hot lines and locked instructions of a message, a lock hand-over and an allreduce on 16 cores.

A run in virtual time is a function of the program, its addresses and the seed. Threads that contend are sensitive to the addresses:
the same tree at a path of another length counts up to a fifth more or less (three seeds). So there is slack, except for one thread.
"""

import json
import statistics
from dataclasses import dataclass, replace
from pathlib import Path

from ..bench import campaign, instructions, table
from ..bench.suite import benchmark, points
from ..errors import BadInput
from . import counts, machines, run

MACHINE = "xeon-16"
SEEDS = (1, 2, 3)  # the median of their counts
THREADS = (1, 2, 8, 64)
SAMPLES = 3
HOT = 0.1  # misses for each message: a line with more is one that cores pass on all the time
START = ("--seconds", "1e-9", "--samples", "1")
SLACK_ALONE, SLACK_TOGETHER = 0.02, 0.3
MORE_ALONE = {"misses": 0.02, "hot_lines": 2, "updates": 0.02}
MORE_TOGETHER = MORE_ALONE | {"misses": 0.3}  # 0.35 to 0.49 by the addresses, where threads seldom meet
COUNTS = {"misses": "misses", "hot_lines": "hot lines", "updates": "locked instructions"}


@dataclass(frozen=True)
class Cost:
    name: str
    bench: str  # a benchmark of `heddle bench`; "lock/NAME": of sync_bench
    ranks: int = 2
    threads: tuple[int, ...] = THREADS
    seconds: float = 0.002  # virtual ones


COSTS = (
    Cost("a short message in a window of 64", "message-rate"),
    Cost("a blocking half round trip: message and completion", "latency"),
    Cost("a hand-over of the lock of `auto`", "lock/futex"),
    Cost("an allreduce of 8 bytes in 8 ranks, a communicator for each thread", "allreduce", ranks=8, threads=(1, 2, 8)),
)


@dataclass(frozen=True)
class Cell:
    """The runs of one cost with one number of threads, for one seed."""

    cost: Cost
    threads: int
    long: run.Job
    short: run.Job  # with fewer messages, so that initialization is left out

    @property
    def key(self) -> str:
        return f"{self.cost.bench} {self.threads}"


def cells(build: Path, seed: int) -> list[Cell]:
    found = []
    for cost in COSTS:
        for threads in cost.threads:
            job = run.Job(Path(), (), machines.load(MACHINE), ranks=cost.ranks, seed=seed)
            if cost.bench.startswith("lock/"):
                job = replace(job, program=run.find_program(str(build / "bench" / "sync" / "sync_bench"), build), ranks=1,
                              args=(f"--only={cost.bench}", "--work=0", f"--threads={threads}", "--runs=1"))
                long, short = job.with_args("--ms=2"), job.with_args("--ms=1")
            else:
                chosen = benchmark(cost.bench)
                point = points(chosen, [cost.ranks], [threads], None, None)[0]
                job = replace(job, program=run.find_program(str(build / "bench" / chosen.source), build))
                long, short = job.with_args(*point.arguments(cost.seconds, SAMPLES)), job.with_args(*point.arguments(cost.seconds, SAMPLES), *START)
            found.append(Cell(cost, threads, long, short))
    return found


def operations(outcome: run.Outcome) -> int:
    """Messages, or acquisitions of a lock."""
    if outcome.result:
        return counts.messages(outcome)
    rates = [int(line.split(",")[6]) for line in outcome.output.splitlines() if line.startswith("lock,")]  # a second
    milliseconds = next(int(word.removeprefix("--ms=")) for word in outcome.job.args if word.startswith("--ms="))
    return sum(rates) * milliseconds // 1000


def per_operation(long: run.Outcome, short: run.Outcome) -> dict[str, float]:
    more = operations(long) - operations(short)
    if more <= 0:
        raise BadInput(f"{long.job.program.name}: a longer run did no more than a shorter one")
    then, now = counts.totals(short.report), counts.totals(long.report)
    misses = sum(now[f"misses_{where}"] - then[f"misses_{where}"] for where in counts.DISTANCES)
    hot = sum(1 for line in long.report["lines"]
              if line["misses"] > HOT * operations(long) and any(site["kind"] != "reads" for site in line["sites"]))
    return {"misses": max(0, misses) / more, "hot_lines": hot, "updates": (now["updates"] - then["updates"]) / more}


def runs() -> int:
    return 2 * len(SEEDS) * sum(len(cost.threads) for cost in COSTS)


def count_all(build: Path, show) -> dict[str, dict[str, float]]:
    """By cell, the medians over the seeds."""
    wanted = [cell for seed in SEEDS for cell in cells(build, seed)]
    outcomes = run.perform([job for cell in wanted for job in (cell.long, cell.short)], build, show=show)
    found: dict[str, list[dict[str, float]]] = {}
    for cell, long, short in zip(wanted, outcomes[::2], outcomes[1::2]):
        for outcome in (long, short):
            if not outcome.ok:
                raise BadInput(outcome.why())
        found.setdefault(cell.key, []).append(per_operation(long, short))
    return {key: {what: round(statistics.median(one[what] for one in several), 2) for what in COUNTS} for key, several in found.items()}


def rows(counted: dict, before: dict) -> tuple[list[str], list[list[str]]]:
    head = ["auto", "threads", *COUNTS.values()]
    body = []
    for cost in COSTS:
        for threads in cost.threads:
            key = f"{cost.bench} {threads}"
            line = [cost.name, str(threads)]
            for what in COUNTS:
                now, then = counted[key][what], before.get(key, {}).get(what)
                line.append(f"{now:g}" if then in (None, now) else f"{now:g} ({then:g})")
            body.append(line)
    return head, body


def limit(key: str, what: str, before: float) -> float:
    alone = key.endswith(" 1") and not key.startswith("allreduce")  # that has 8 ranks
    return before * (1 + (SLACK_ALONE if alone else SLACK_TOGETHER)) + (MORE_ALONE if alone else MORE_TOGETHER)[what]


def grown(counted: dict, before: dict) -> list[str]:
    """Counts that are larger than before, beyond the slack."""
    return [f"{key} threads: {COUNTS[what]} {now:g}, {before[key][what]:g} before"
            for key, found in counted.items() if key in before for what, now in found.items() if now > limit(key, what, before[key][what])]


PAGE = """# Costs on 16 simulated cores

`{command}`, commit {commit}, g++ of Debian 12. The machine `{machine}` ([simulator](simulator.md)), ranks that are threads, the default settings; medians of {seeds} seeds. Counts for one
operation: misses on lines that another core had, locked instructions, and lines on which more than {hot:g} misses fall that some core writes (*hot lines*). `./dev count`, a part of `.ci/run`, fails
if a count grows by more than {alone:.0%} (two ranks of one thread) or {together:.0%} and {more:g} misses; `./dev count --record` writes this page. Threads that contend are sensitive to where their memory lies: the
same tree at a path of another length counted 78 misses where 64 stand, for one cell, and within 12% in all others.

{table}

<!-- {data} -->
"""


def page(counted: dict) -> str:
    return PAGE.format(command="./dev count", commit=campaign.commit(), machine=MACHINE, seeds=len(SEEDS), hot=HOT, alone=SLACK_ALONE, together=SLACK_TOGETHER, more=MORE_TOGETHER["misses"],
                       table=table.markdown(*rows(counted, {})), data=json.dumps(counted))


def recorded(file: Path) -> dict:
    return instructions.stored(file) if file.exists() else {}

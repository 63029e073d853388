"""Random schedules: the same program under many seeds, until one run fails; and that run with as few change points as fail."""

from dataclasses import replace
from pathlib import Path

from . import run

LIMIT = 10**14  # picoseconds of virtual time: threads wait for each other longer than in its order
PATIENCE = 60.0  # seconds of real time


def schedules(job: run.Job, count: int, weak: bool) -> list[run.Job]:
    """The runs with the seeds from that of the job on."""
    kind = {"fuzz": 1, "weak": int(weak)}
    return [replace(job, seed=job.seed + i, settings=kind) for i in range(count)]


def first_failure(jobs: list[run.Job], build: Path, show) -> tuple[run.Outcome | None, int]:
    """A run that failed, if there is one, and how many ended."""
    outcomes = run.perform(jobs, build, patience=PATIENCE, show=show, stop=lambda outcome: outcome.code != 0)
    ended = [outcome for outcome in outcomes if outcome]
    return next((outcome for outcome in ended if outcome.code != 0), None), len(ended)


def shrink(failed: run.Outcome, build: Path, show) -> tuple[run.Outcome, int]:
    """The run with the fewest change points that still fails, as far as halving finds it, and their number."""
    def tried(changes: int) -> run.Outcome:
        job = replace(failed.job, settings=failed.job.settings | {"fuzz_changes": changes})
        return run.perform([job], build, patience=PATIENCE, show=show)[0]

    most, found = 1, tried(1)
    while found.code == 0 and most < 1 << 40:
        most *= 2
        found = tried(most)
    if found.code == 0:
        return failed, most
    least = most // 2  # it does not fail with so many
    while most - least > 1:
        middle = (least + most) // 2
        outcome = tried(middle)
        if outcome.code == 0:
            least = middle
        else:
            most, found = middle, outcome
    return found, most

#!/usr/bin/env python3
"""The progress matrix and random thread programs under random schedules, with every safety model.

Usage: fuzzed.py [--build FOLDER] [--rounds N] [--seed N]

A round runs, for each model, one cell of the matrix and two random programs, one of them with lanes, each under a schedule of its own. The first run that
fails is printed with the command that repeats it. Programs and schedules are functions of the seed, so that the same seed tests
the same.
"""
from __future__ import annotations

import argparse
import pathlib
import shlex
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools"))
from heddle_tool.bench.mpis import MODELS  # noqa: E402
from heddle_tool.simulate import fuzz, lines, machines, run  # noqa: E402

MATRIX, RANDOM = "mpi_test_progress_matrix", "mpi_test_threads_random"
ROWS, COLUMNS, ALONE = 17, 20, 16  # of the matrix; further rows have one column
CELLS = ROWS * COLUMNS + ALONE
WITHOUT_LANES = {"flux"}
PATIENCE = 120.0  # seconds of real time


def jobs(build: pathlib.Path, seed: int) -> list[run.Job]:
    """One round. Successive rounds go through all cells of the matrix, since the step and their number have no common divisor."""
    machine = machines.load("xeon-16")
    matrix, random = (run.find_program(name, build) for name in (MATRIX, RANDOM))
    found = []
    for i, model in enumerate(MODELS):
        n = seed * len(MODELS) + i
        shared = {"machine": machine, "limit": fuzz.LIMIT, "seed": n, "env": {"HEDDLE_MODEL": model}, "settings": {"fuzz": 1}}
        found.append(run.Job(matrix, ("1", *map(str, cell(7 * n % CELLS))), ranks=2, **shared))
        found.append(run.Job(random, (str(n), "1", "0", "20"), ranks=1 + n % 3, **shared))
        if model not in WITHOUT_LANES:
            with_lanes = {**shared, "env": {"HEDDLE_MODEL": f"{model},lanes=8"}}
            found.append(run.Job(random, (str(n), "1", "0", "20"), ranks=1 + (n + 1) % 3, **with_lanes))
    return found


def cell(number: int) -> tuple[int, int]:
    """Row and column."""
    return divmod(number, COLUMNS) if number < ROWS * COLUMNS else (ROWS + number - ROWS * COLUMNS, 0)


def failed(outcome: run.Outcome) -> bool:
    """A matrix program without a cell has tested nothing."""
    return outcome.code != 0 or (outcome.job.program.name == MATRIX and "1 cells" not in outcome.output.splitlines())


def command(job: run.Job) -> str:
    """The command that repeats a run."""
    words = ["tools/heddle", "simulate", "--fuzz", "1", "--seed", str(job.seed), "--ranks", str(job.ranks),
             *(word for name, value in job.env.items() for word in ("--env", f"{name}={value}")), str(job.program), *job.args]
    return shlex.join(words)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build" / "simulate")
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--seed", type=int, default=1, help="of the first round")
    given = parser.parse_args()
    run.fix_addresses(print)
    wanted = [job for n in range(given.rounds) for job in jobs(given.build, given.seed + n)]
    print(f"{len(wanted)} random schedules, rounds {given.seed} to {given.seed + given.rounds - 1}", flush=True)
    outcomes = run.perform(wanted, given.build, patience=PATIENCE, stop=failed)
    wrong = [outcome for outcome in outcomes if outcome and failed(outcome)]
    for outcome in wrong:
        print(lines.named(outcome.why(), lines.Symbols(given.build, outcome.job.program)))
        print(outcome.output[-2000:])
        print(f"to repeat: {command(outcome.job)}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())

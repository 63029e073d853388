"""`heddle simulate locks`: every lock, combining, queue and counter of sync_bench on a simulated machine, by threads."""

import argparse
import csv
import json

from ..bench import commands as bench
from ..bench import table
from ..bench.campaign import commit
from ..bench.stats import number
from ..errors import BadInput
from . import run

PROGRAM = "sync_bench"
SECONDS = 0.001  # of virtual time: a run
PATIENCE = 240.0  # seconds of real time for a run
NOT_HERE = ("ranks", "rank_kind", "comm", "sizes", "top", "models", "memory_model", "shrink")


def options() -> argparse.ArgumentParser:
    p = argparse.ArgumentParser(add_help=False, allow_abbrev=False, argument_default=argparse.SUPPRESS)
    p.add_argument("--only", metavar="TEXT", help="those whose kind/name has this in it: lock/mcs, queue")
    return p


def perform(args, words: list[str], common: dict, show) -> int:
    if words:
        raise BadInput(f"unrecognized arguments: {' '.join(words)}")
    for option in NOT_HERE:
        if hasattr(args, option):
            raise BadInput(f"--{option.replace('_', '-')} is not for locks")
    machine, build = common["machine"], run.build_folder(getattr(args, "build", None))
    threads = bench.numbers(args.threads, "--threads", 1, 1024) if hasattr(args, "threads") else up_to(machine.counts["cpus"])
    seconds = bench.positive(args.seconds, "--seconds") if hasattr(args, "seconds") else SECONDS
    program = run.find_program(PROGRAM, build)
    run.fix_addresses(bench.tell)
    only = getattr(args, "only", "")
    names = run.perform([run.Job(program, ("--list", f"--only={only}"), **common)], build)[0].output.split()
    if not names:
        raise BadInput(f"no lock, queue or counter has {only!r} in its name; heddle simulate {PROGRAM} --list prints the names")
    wanted = [(name, count) for name in names for count in threads]
    jobs = [run.Job(program, (f"--exactly={name}", "--work=0", "--pinned", f"--threads={count}", f"--ms={max(1, round(1e3 * seconds))}", "--runs=1"), **common)
            for name, count in wanted]
    with show(len(jobs)) as shown:
        outcomes = run.perform(jobs, build, patience=PATIENCE, show=shown)
    found, failed = {}, [outcome for outcome in outcomes if not outcome.ok]
    for (name, count), outcome in zip(wanted, outcomes):
        if outcome.ok:
            found[name, count] = next(csv.DictReader(outcome.output.splitlines()), None)
    for outcome in failed:
        bench.tell(f"{' '.join(outcome.job.args)}: {outcome.why().splitlines()[0]}")
    if hasattr(args, "json"):
        print(json.dumps({"machine": machine.name, "seed": common["seed"], "commit": commit(),
                          "rows": [row for row in found.values() if row]}, indent=1))
    else:
        print(f"On {machine.name}, seed {common['seed']}: million operations a second, thread i on core i, no work outside of the operation\n")
        print(table.text(["", *(str(count) for count in threads)],
                         [[name, *(shown_rate(found.get((name, count))) for count in threads)] for name in names], left=(0,)))
    return 1 if failed else 0


def up_to(most: int) -> list[int]:
    """The powers of two, and the number itself."""
    return [*(n for n in (2**i for i in range(12)) if n < most), most]


def shown_rate(row: dict | None) -> str:
    """A dash for a number of threads that an algorithm does not have, or a run that failed."""
    return number(float(row["ops"]) / 1e6) if row else "-"

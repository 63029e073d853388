#!/usr/bin/env python3
"""The progress matrix under every combination of safety model, waiting policy, kind of rank and HEDDLE_PROGRESS.

Usage: cross.py MPIEXEC PROGRAM [--cells] [--models A B ...] [--waits ...] [--kinds ...] [--progress ...] [--repeats N]
                                [--jobs N] [--limit S] [--staged]

PROGRAM is the matrix of one thread runtime (matrix.cpp). --cells runs each cell in a job of its own, so that those that hang
are counted and named. A combination that the library refuses (wait=usc can't sleep) is skipped. --staged: between processes where the kernel may not copy.
Exits with 1 if anything hangs or fails.
"""
import argparse
import concurrent.futures
import itertools
import os
import subprocess
import sys

MODELS = """auto mtx clh p-clh clh-usc p-clh-usc mtx-ksc p-clhub-usc p-hclhub-usc global per-vni hmcs2-usc hmcs3-usc offload csync
lockq-mcs lockq-mtx coarse fine flux auto,vnis=4 lock=ttas,submit=lockq,wait=ksc lock=hclhub,submit=wait,wait=contend-low,vnis=3
lock=mcs,submit=inject,wait=usc,vnis=2 lock=ticket,submit=flux,wait=adaptive,vnis=3""".split()
WAITS = ["auto", "busy", "passive", "spin:50"]
KINDS = ["processes", "threads"]
PROGRESS = ["off", "idle", "idle,defer=direct,from=0", "idle,defer=tasklet,from=0"]
REFUSED = ("is not supported with", "needs time-stamp counters", "nothing is left to defer")
ROWS, COLUMNS = 17, 20


def run(options, model, wait, kind, progress, cell):
    env = os.environ | {"HEDDLE_MODEL": model, "HEDDLE_WAIT": wait, "HEDDLE_PROGRESS": progress}
    command = [options.mpiexec, "--timeout", str(options.limit), "--ranks", kind, "-n", "2", options.program,
               *(["staged"] if options.staged else []), str(options.repeats), *map(str, cell)]
    try:
        done = subprocess.run(command, env=env, capture_output=True, text=True, timeout=options.limit + 10)
    except subprocess.TimeoutExpired:
        return "hangs", "mpiexec itself does not end"
    if done.returncode == 0:
        return "passes", ""
    said = done.stderr + done.stdout
    if any(words in said for words in REFUSED):
        return "refused", ""
    lines = said.strip().split("\n")
    blocked = [line for line in lines if "still blocked" in line]  # the last one is that which has not ended
    return ("hangs" if "has not ended in time" in said else "fails"), (blocked or lines[:1])[-1]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("mpiexec")
    parser.add_argument("program")
    parser.add_argument("--cells", action="store_true")
    for name, default in (("models", MODELS), ("waits", WAITS), ("kinds", KINDS), ("progress", PROGRESS)):
        parser.add_argument(f"--{name}", nargs="+", default=default)
    parser.add_argument("--repeats", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=2 * (os.cpu_count() or 1))
    parser.add_argument("--limit", type=int, default=60)
    parser.add_argument("--staged", action="store_true")
    options = parser.parse_args()
    if options.staged:
        options.kinds = ["processes"]

    cells = list(itertools.product(range(ROWS), range(COLUMNS - options.staged))) if options.cells else [()]
    tasks = list(itertools.product(options.models, options.waits, options.kinds, options.progress, cells))
    count = dict.fromkeys(("passes", "refused", "hangs", "fails"), 0)
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        for task, (result, why) in zip(tasks, pool.map(lambda task: run(options, *task), tasks)):
            count[result] += 1
            if result in ("hangs", "fails"):
                print(f"{result}: {' '.join(map(str, task[:4]))} {task[4] or ''} {why}", flush=True)
    print(f"{len(tasks)} {'cells' if options.cells else 'runs'}: " + ", ".join(f"{n} {what}" for what, n in count.items()))
    return 1 if count["hangs"] + count["fails"] else 0


if __name__ == "__main__":
    sys.exit(main())

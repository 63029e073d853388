#!/usr/bin/env python3
"""Defects of the past, put back by a patch each, are found by random schedules (src/simulator/fuzz.hpp).

Usage: run.py [DEFECT...]    all, or some of lost_wake_up, use_after_free, commands_out_of_order

For each defect: a copy of the tree gets its patch and is built for the simulator (build/found-again/tree), and a program runs
under seeds until one fails, for at most ten minutes. Two further runs with that seed must end in the same way. Then the
schedule is shortened: the fewest change points with which the program still fails. In the end the program passes with as
many seeds where the tree has no patch.
"""
from __future__ import annotations

import dataclasses
import os
import pathlib
import re
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[2]
FOLDER = ROOT / "build" / "found-again"
TREE = FOLDER / "tree"
BUILD = TREE / "build" / "simulate"
sys.path.insert(0, str(HERE.parent))
from runs import MACHINE  # noqa: E402

MOST_SECONDS = 600  # of a search
SECONDS_OF_A_RUN = 120
VIRTUAL_PICOSECONDS = 4 * 10**11  # of a run; one that hangs and is no deadlock ends then
FEWEST_SEEDS = 100  # that the program without the defect passes


@dataclasses.dataclass
class Defect:
    name: str  # of its patch
    target: str
    program: str  # in the build folder
    ranks: int = 0  # 0: a program without MPI
    environment: dict[str, str] = dataclasses.field(default_factory=dict)
    arguments: list[str] = dataclasses.field(default_factory=list)


# A spin time that is given: the default follows from the measured cost of a wake-up, which is not the same twice.
SPIN = {"HEDDLE_WAIT": "spin:20"}
DEFECTS = [
    Defect("lost_wake_up", "mpi_test_progress_matrix", "tests/base/progress/mpi_test_progress_matrix", 2, SPIN,
           ["1", "0", "9"]),  # MPI_Recv, while another thread leaves a receive of 20 KiB
    Defect("use_after_free", "found_again_verdicts", "tests/simulator/found_again/found_again_verdicts"),
    Defect("commands_out_of_order", "mpi_test_rma_movement_nodes", "tests/mpi/rma/mpi_test_rma_movement_nodes", 2,
           SPIN | {"HEDDLE_MODEL": "offload", "HEDDLE_NODES": "2"}),
]  # fmt: skip


def restore() -> None:
    """Makes the copy equal to the tree; a file that is equal already keeps its time."""
    listed = subprocess.run(["git", "ls-files", "-coz", "--exclude-standard"], cwd=ROOT, capture_output=True, check=True)
    for name in listed.stdout.decode().rstrip("\0").split("\0"):
        ours, copy = ROOT / name, TREE / name
        if not ours.is_file() or (copy.exists() and copy.read_bytes() == ours.read_bytes()):
            continue
        copy.parent.mkdir(parents=True, exist_ok=True)
        copy.write_bytes(ours.read_bytes())
        copy.chmod(ours.stat().st_mode)


def build(defects: list[Defect]) -> None:
    cmake = ["cmake", "--preset", "simulate", "-DHEDDLE_TESTS=ON", "-DHEDDLE_BENCH=OFF"]
    targets = ["mpiexec", "heddle_host_program", *(defect.target for defect in defects)]
    for command in (cmake, ["cmake", "--build", str(BUILD), "--target", *targets]):
        done = subprocess.run(command, cwd=TREE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
        if done.returncode != 0:
            sys.exit(done.stdout[-4000:])


@dataclasses.dataclass
class Outcome:
    code: int
    output: str
    report: str

    @property
    def failed(self) -> bool:
        return self.code != 0


def run(defect: Defect, seed: int, changes: int | None = None) -> Outcome:
    settings, report = FOLDER / "settings", FOLDER / "report"
    report.unlink(missing_ok=True)
    values = MACHINE | {"report": report, "fuzz": 1, "seed": seed, "limit": VIRTUAL_PICOSECONDS}
    if changes is not None:
        values["fuzz_changes"] = changes
    settings.write_text("".join(f"{name} {value}\n" for name, value in values.items()))
    command = [str(BUILD / defect.program), *defect.arguments]
    environment = os.environ | defect.environment
    if defect.ranks == 0:
        environment["HEDDLE_SIMULATION"] = str(settings)
    else:  # mpiexec itself is not simulated
        mpiexec = BUILD / "src" / "launch" / "mpiexec" / "mpiexec"
        command = [str(mpiexec), "--ranks", "threads", "-n", str(defect.ranks), "--timeout", str(SECONDS_OF_A_RUN),
                   "-env", "HEDDLE_SIMULATION", str(settings), *command]  # fmt: skip
    done = subprocess.run(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False,
                          timeout=2 * SECONDS_OF_A_RUN)  # fmt: skip
    output = re.sub(r"pid \d+|\(\d+ ms( total)?\)", "", done.stdout)
    return Outcome(done.returncode, output, report.read_text() if report.exists() else "")


def shorten(defect: Defect, seed: int) -> int:
    """The fewest change points with which the seed fails: exact if it fails with all larger numbers, too."""
    enough = 1
    while not run(defect, seed, enough).failed:
        enough *= 2
    fewest = enough // 2 + 1 if run(defect, seed, 0).code == 0 else 0
    while fewest < enough:
        middle = (fewest + enough) // 2
        if run(defect, seed, middle).failed:
            enough = middle
        else:
            fewest = middle + 1
    return enough


def find(defect: Defect) -> int:
    """Prints the defect's line of the table; returns how many seeds were tried."""
    restore()
    subprocess.run(["git", "apply", f"--directory={TREE.relative_to(ROOT)}", str(HERE / f"{defect.name}.patch")], cwd=ROOT, check=True)
    build([defect])
    begin = time.monotonic()
    seed = 1
    while not (found := run(defect, seed)).failed:
        seed += 1
        if time.monotonic() - begin > MOST_SECONDS:
            sys.exit(f"{defect.name}: not found with {seed - 1} seeds in {MOST_SECONDS} seconds")
    seconds = time.monotonic() - begin
    why = re.search(r"simulator: .*|.*Failure\n.*\n.*\n.*|check failed.*|mpiexec: .*signal.*", found.output)
    print(f"{defect.name}: {why[0].strip() if why else found.output[-300:]}", file=sys.stderr, flush=True)
    for _ in range(2):
        again = run(defect, seed)
        if again != found:
            (FOLDER / "found").write_text(found.output)
            (FOLDER / "again").write_text(again.output)
            sys.exit(f"{defect.name}: seed {seed} ends in another way (compare found and again in {FOLDER})")
    print(f"| {defect.name} | {defect.target} | {seed} | {seconds:.0f} | {shorten(defect, seed)} |", flush=True)
    return seed


def main() -> None:
    names = sys.argv[1:]
    if unknown := set(names) - {defect.name for defect in DEFECTS}:
        sys.exit(f"unknown defects: {', '.join(sorted(unknown))}")
    defects = [defect for defect in DEFECTS if not names or defect.name in names]
    print("| defect | program | seeds | seconds | change points |\n|---|---|---:|---:|---:|", flush=True)
    tried = {defect.name: find(defect) for defect in defects}
    restore()
    build(defects)
    for defect in defects:
        seeds = max(tried[defect.name], FEWEST_SEEDS)
        begin = time.monotonic()
        for seed in range(1, seeds + 1):
            if time.monotonic() - begin > MOST_SECONDS:
                seeds = seed - 1
                break
            outcome = run(defect, seed)
            if outcome.failed:
                sys.exit(f"{defect.name}: without the patch seed {seed} fails, too\n{outcome.output[-4000:]}")
        print(f"{defect.name}: without the patch {seeds} seeds pass", file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()

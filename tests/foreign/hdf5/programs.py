#!/usr/bin/env python3
"""Runs HDF5's parallel tests and those of h5py with each number of processes, and prints one table.

A cell of the table is passed/failed/skipped as far as a program counts its tests, otherwise one test is the whole program;
"limit" says that the time was up, "died" that it ended without success and without a failed test. Exits with 1 if one
failed that known.txt does not name, or one passed that it names.
"""

from __future__ import annotations

import argparse
import os
import pathlib
import re
import shutil
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))

import cells  # noqa: E402
from cells import Cell  # noqa: E402

# In the order of HDF5's own makefile: t_prestart reads what t_pshutdown has written, t_pflush2 what t_pflush1 has.
PROGRAMS = (
    "t_mpi t_bigio testphdf5 t_cache t_cache_image t_pread t_pshutdown t_prestart t_init_term t_shapesame t_filters_parallel "
    "t_pflush1 t_pflush2"
).split()
# It ends without MPI_Finalize, to leave a file as a crash leaves it. t_pflush2 checks its output.
ENDS_EARLY = "t_pflush1"
H5PY = ("h5py together", "h5py's own")

SUBTESTS = re.compile(r"tests run/skipped/total = (\d+)/(\d+)/\d+")
PYTEST = re.compile(r"(\d+) (passed|failed|error|errors|skipped|xfailed|xpassed)\b")


def counted(output: str) -> tuple[int, int, int]:
    """Tests that passed, failed and were skipped, by what the program prints."""
    lines = output.splitlines()
    if summary := next((line for line in reversed(lines) if PYTEST.search(line) and " in " in line), None):
        numbers = {kind: int(n) for n, kind in PYTEST.findall(summary)}
        failed = sum(numbers.get(kind, 0) for kind in ("failed", "error", "errors", "xpassed"))
        return numbers.get("passed", 0) + numbers.get("xfailed", 0), failed, numbers.get("skipped", 0)
    if found := SUBTESTS.findall(output):
        return sum(int(ran) for ran, _ in found), 0, sum(int(skipped) for _, skipped in found)
    tests = sum(line.startswith("Testing ") for line in lines)
    failed = sum("*FAILED*" in line for line in lines)
    skipped = sum("-SKIP-" in line or "- SKIPPED -" in line for line in lines)
    return max(tests - failed - skipped, 0), failed, skipped


def judge(run: cells.Run, ends_early: bool) -> Cell:
    passed, failed, skipped = counted(run.output)
    good = (run.status == 0 or ends_early) and run.status is not None and failed == 0
    if run.status is None:
        text = "limit"
    elif not good and not failed:
        text = "died"
    else:
        text = f"{passed if passed or skipped else 1}/{failed}/{skipped}"
    return Cell(text, good, run.seconds)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--list", action="store_true", help="print the names of HDF5's programs, which are to be built")
    parser.add_argument("--mpiexec")
    parser.add_argument("--programs", type=pathlib.Path, help="where HDF5's are")
    parser.add_argument("--python", help="that has h5py")
    parser.add_argument("--logs", type=pathlib.Path)
    parser.add_argument("--scratch", type=pathlib.Path, help="where they write their files")
    parser.add_argument("--counts", help='numbers of processes: "2 4"')
    parser.add_argument("--wanted", default="", help="regular expression over the names")
    parser.add_argument("--limit", type=float, help="seconds for one program")
    options = parser.parse_args()
    if options.list:
        print("\n".join(PROGRAMS))
        return 0

    counts = [int(n) for n in options.counts.split()]
    names = [name for name in (*PROGRAMS, *H5PY) if re.search(options.wanted, name)]
    purposes = cells.known(HERE / "known.txt")
    results: dict[tuple[str, int], Cell] = {}
    notes: list[str] = []
    for n in counts:
        scratch = options.scratch / f"n{n}"
        shutil.rmtree(scratch, ignore_errors=True)
        scratch.mkdir(parents=True)
        for name in names:
            if name == "h5py together":
                program = [options.python, str(HERE / "together.py")]
            elif name == "h5py's own":
                program = [options.python, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--with-mpi", "--pyargs", "h5py"]
                if os.geteuid() == 0:  # who may write what is read-only
                    program += ["-k", "not test_append_permissions"]
            else:
                program = [f"./{name}"]  # some start themselves again, by their name alone
                (scratch / name).symlink_to(options.programs / name)
            log = options.logs / f"n{n}" / f"{name.replace(' ', '-')}.log"
            # HDF5 has a time limit of its own, for faster machines.
            surroundings = {"HDF5_ALARM_SECONDS": f"{options.limit:.0f}", "srcdir": str(scratch)}
            run = cells.run([options.mpiexec, "-n", str(n), *program], scratch, log, options.limit, surroundings)
            cell = results[name, n] = judge(run, name == ENDS_EARLY)
            if reason := cells.reason_for(f"{name} {n}", purposes):
                notes.append(f"{name}, {n} processes: {'passes by surprise' if cell.good else 'fails on purpose'}: {reason}")
                cell.good = not cell.good
            print(f"{n} processes: {name}: {cell.text}, {cell.seconds:.1f} s{'' if cell.good else f'  {log}'}", file=sys.stderr, flush=True)
    print(cells.table("passed/failed/skipped", names, counts, results))
    print(*notes, sep="\n", end="\n" if notes else "")
    return 0 if all(cell.good for cell in results.values()) else 1


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
"""Runs mpi4py's tests, each module for itself and with each number of processes, and prints one table.

A module runs alone so that one that hangs costs no more than its own time limit, and hides no other. A cell of the
table is passed/failed/skipped, counted on the rank where most tests failed; "limit" says that the time was up, "died"
that the run ended without a result. Below the table stands why tests were skipped. Exits with 1 unless every module ran
at least one test and none failed.
"""

from __future__ import annotations

import argparse
import pathlib
import re
import sys
from dataclasses import dataclass

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "foreign"))

import cells  # noqa: E402
import unittests  # noqa: E402
from cells import Cell  # noqa: E402


@dataclass
class Row:
    name: str
    folder: str  # of mpi4py's sources
    python: list[str]
    launched: bool = True  # by mpiexec; the other starts its jobs itself, and one process runs it


# Files in other folders than test/ that are no modules for main.py.
ELSEWHERE = (
    Row("test_futures", "demo/futures", ["test_futures.py", "-v"]),
    Row("test_futures-shared", "demo/futures", ["-m", "mpi4py.futures", "test_futures.py", "-v"]),
    Row("test_run", "demo/test-run", ["test_run.py", "-v"], launched=False),
)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--mpiexec", required=True)
    parser.add_argument("--nodes", type=int, default=1, help="of a cluster, which node1, node2, ... are; mpiexec is Hydra's")
    parser.add_argument("--python", required=True)
    parser.add_argument("--sources", type=pathlib.Path, required=True, help="mpi4py's")
    parser.add_argument("--logs", type=pathlib.Path, required=True)
    parser.add_argument("--counts", required=True, help='numbers of processes: "1 2 3"')
    parser.add_argument("--modules", required=True, help="regular expression over the names of modules or files")
    parser.add_argument("--limit", type=float, required=True, help="seconds for one module")
    parser.add_argument("arguments", nargs="*", help="go to main.py")
    options = parser.parse_args()

    wanted = re.compile(options.modules)
    rows = [
        Row(p.stem, "test", ["main.py", "--no-builddir", "-v", "-i", rf"^{p.stem}\.py$", *options.arguments])
        for p in sorted((options.sources / "test").glob("test_*.py"))
    ]
    rows = [row for row in (*rows, *ELSEWHERE) if wanted.search(row.name) or wanted.search(f"{row.name}.py")]
    counts = [int(n) for n in options.counts.split()]
    if not rows:
        sys.exit(f"matrix.py: no module matches {options.modules}")
    results: dict[tuple[str, int], Cell] = {}
    skips = unittests.Skips()
    for n in counts:
        for row in rows:
            launch = [options.mpiexec]
            if options.nodes > 1:
                hosts = ",".join(f"node{k + 1}" for k in range(options.nodes))
                launch += ["-hosts", hosts, "-ppn", str(-(-n // options.nodes))]
            launch += ["-n", str(n)]
            if not row.launched and (n > 1 or options.nodes > 1):
                continue
            log = options.logs / f"n{n}" / f"{row.name}.log"
            command = [*(launch if row.launched else []), options.python, *row.python]
            run = cells.run(command, options.sources / row.folder, log, options.limit, {"MPIEXEC": options.mpiexec})
            cell = results[row.name, n] = unittests.judge(run)
            skips.add(row.name, n, run.output)
            note = "" if cell.good else f"  {log}"
            print(f"{n} processes: {row.name}: {cell.text}, {cell.seconds:.1f} s{note}", file=sys.stderr, flush=True)
    print(cells.table("passed/failed/skipped", [row.name for row in rows], counts, results))
    print(skips)
    return 0 if all(cell.good for cell in results.values()) else 1


if __name__ == "__main__":
    sys.exit(main())

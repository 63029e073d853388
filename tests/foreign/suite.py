#!/usr/bin/env python3
"""Builds a test suite that others wrote for MPI against an installed MPI library, runs its tests one by one, and prints a
table of tests by numbers of ranks.

    suite.py SUITE PREFIX [SOURCES] [options]

A suite is a file of suites/, which says where its sources come from, how they are built, and which tests they have. Sources
that are a package of Debian are fetched; SOURCES names a folder that has them, and is required for the others. They are
copied first and never written to. Everything lies under build/foreign and is made once for each library, prefix and SOURCES.

A cell is "passed", "failed", or "limit" if the time was up. suites/SUITE.txt lists the tests that fail on purpose, and why;
the command exits with 1 if another test fails, or one of those passes.
"""

from __future__ import annotations

import argparse
import hashlib
import importlib
import os
import pathlib
import re
import shutil
import subprocess
import sys

import cells
from rows import Row, Suite

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]


def suites() -> list[str]:
    return sorted(path.stem for path in (HERE / "suites").glob("*.py"))


def fetched(package: str, place: pathlib.Path) -> pathlib.Path:
    """The sources of a Debian package, which stay when they have been fetched once."""
    if found := sorted(place.glob(f"{package}-[0-9]*")):
        return found[-1]
    done = subprocess.run([str(HERE / "debian-source"), package, str(place)], stdout=subprocess.PIPE, text=True)
    if done.returncode != 0:
        sys.exit(f"suite.py: the sources of {package} were not fetched: Debian's mirror does not have them. Pass the path of a clone.")
    return pathlib.Path(done.stdout.strip())


def prepare(options: argparse.Namespace, module: object) -> Suite:
    """Copies and builds the sources, unless that has been done for this library."""
    prefix = options.prefix.resolve()
    place = ROOT / "build/foreign" / options.suite
    origin = options.sources.resolve() if options.sources else fetched(module.PACKAGE, place)
    parts = [prefix / "include/mpi.h", prefix / "bin" / options.mpicc]
    key = hashlib.sha256(b"".join(path.read_bytes() for path in parts) + f"{prefix} {origin}".encode()).hexdigest()[:12]
    suite = Suite(prefix, options.mpicc, place / key)
    if shutil.which("ccache"):  # for our compiler wrappers
        for name, compiler in (("HEDDLE_CC", "cc"), ("HEDDLE_CXX", "c++")):
            os.environ.setdefault(name, f"ccache {compiler}")
    if not (suite.home / "built").exists():
        print(f"== building {origin} with {suite.mpicc}", file=sys.stderr, flush=True)
        shutil.rmtree(suite.home, ignore_errors=True)
        shutil.copytree(origin, suite.sources, symlinks=True, ignore=shutil.ignore_patterns(".git"))
        suite.write_launcher()
        module.build(suite)
        (suite.home / "built").touch()
    return suite


def run(options: argparse.Namespace, suite: Suite, rows: list[Row], counts: list[int], kind: str) -> tuple[bool, str]:
    """All tests with one kind of ranks: whether all was well, and a table."""
    listed = HERE / "suites" / f"{options.suite}.txt"
    purposes = cells.known(listed) if listed.exists() else []
    results: dict[tuple[str, int], cells.Cell] = {}
    notes: list[str] = []
    for n in counts:
        for row in rows:
            if row.counts and n not in row.counts:
                continue
            where = f"{row.name} {n} {kind}"
            log = suite.home / "logs" / f"{re.sub('[^A-Za-z0-9_.-]', '-', where)}.log"
            environment = {**row.environment, "FOREIGN_MPIEXEC_OPTIONS": f"-ranks {kind}" if kind != "processes" else ""}
            result = cells.run(row.command(n), row.directory, log, options.limit, environment)
            cell = cells.Cell("limit" if result.status is None else row.judge(result), False, result.seconds)
            cell.good = cell.text == "passed"
            if reason := cells.reason_for(where, purposes):
                notes.append(f"{where}: {'passes by surprise' if cell.good else 'fails on purpose'}: {reason}")
                cell.good = not cell.good
            results[row.name, n] = cell
            print(f"{where}: {cell.text}, {cell.seconds:.1f} s{'' if cell.good else f'  {log}'}", file=sys.stderr, flush=True)
    table = cells.table(f"ranks are {kind}", [row.name for row in rows], counts, results)
    passed = sum(cell.text == "passed" for cell in results.values())
    unexpected = sum(not cell.good for cell in results.values())
    totals = f"{passed} passed, {len(results) - passed} did not, {unexpected} of all unexpectedly"
    return unexpected == 0 and bool(results), "\n".join([table, totals, *notes])


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("suite", choices=suites())
    parser.add_argument("prefix", type=pathlib.Path, help="where bin/mpicc is: build/stage, or another MPI's prefix")
    parser.add_argument("sources", type=pathlib.Path, nargs="?", help="a folder with the suite's sources")
    parser.add_argument("-n", "--counts", help='numbers of ranks: "2 4"')
    parser.add_argument("-i", "--wanted", default="", help="regular expression over names of tests")
    parser.add_argument("-r", "--ranks", help='kinds of ranks: "processes threads"')
    parser.add_argument("-m", "--mpicc", default="mpicc", help="the compiler wrapper's name (MPICH: mpicc_abi)")
    parser.add_argument("-t", "--limit", type=float, help="seconds for one test")
    options = parser.parse_args()

    module = importlib.import_module(f"suites.{options.suite}")
    options.limit = options.limit or getattr(module, "LIMIT", 120)
    if not options.sources and not module.PACKAGE:
        parser.error(f"{options.suite} is in no package: pass the path of its sources. {module.__doc__}")
    suite = prepare(options, module)
    rows = [row for row in module.rows(suite) if re.search(options.wanted, row.name)]
    counts = sorted({n for row in rows for n in row.counts} | {*getattr(module, "COUNTS", [])})
    counts = [int(n) for n in options.counts.split()] if options.counts else counts
    runs = [run(options, suite, rows, counts, kind) for kind in (options.ranks or module.RANKS).split()]
    print(*(text for _, text in runs), sep="\n\n")
    return 0 if all(well for well, _ in runs) else 1


if __name__ == "__main__":
    sys.exit(main())

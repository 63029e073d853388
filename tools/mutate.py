#!/usr/bin/env python3
"""Mutation score of src/sync/: weakens every memory order, one at a time, and reruns the checker.

Usage: mutate.py [--check PATH] [--jobs N] [--effort N] [--only TEXT] [--output FILE]

The checker knows each memory order by its place in the source and weakens it while it runs (see platform/checker.hpp), so
nothing is compiled. An order that no program of the checker meets is an error. The table goes to FILE as Markdown.
"""
import argparse
import collections
import concurrent.futures
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[1]
SYNC = ROOT / "src" / "sync"

# What each order is weakened to. Losing either half of acq_rel is a mutant of its own.
WEAKER = {
    "acquire": ["relaxed"],
    "release": ["relaxed"],
    "acq_rel": ["acquire", "release"],
    "seq_cst": ["acq_rel"],
}


def run(check, *arguments):
    return subprocess.run([check, *arguments], capture_output=True, text=True)


def sites(check, only):
    """{(file, line, column, slot): (order, [programs])} of everything that the checker meets in src/sync/."""
    met = {}
    listing = run(check, "--sites", "--full=3000", "--bounded=3000", "--random=3000")
    if listing.returncode != 0:
        sys.exit(f"the checker fails without a mutation:\n{listing.stdout}{listing.stderr}")
    for line in listing.stdout.splitlines():
        program, place, order = line.split()
        file, row, column, slot = place.split(":")
        if not (SYNC / file).exists() or only not in file:
            continue
        key = (file, int(row), int(column), int(slot))
        met.setdefault(key, (order, []))[1].append(program)
    return met


def source(file, row):
    """The statement that begins or stands on a line."""
    lines = (SYNC / file).read_text().splitlines()
    text = lines[row - 1].strip()
    while text.count("(") > text.count(")") and row < len(lines):
        text += " " + lines[row].strip()
        row += 1
    return text


def unmet(met, only):
    """Places of the source that name an order which matters and that no program has met."""
    seen = collections.Counter()
    for file, row, _, _ in met:
        seen[file, row] += 1
    for path in sorted(SYNC.glob("*.hpp")):
        if only not in path.name:
            continue
        for row, line in enumerate(path.read_text().splitlines(), 1):
            code = line.split("//")[0]
            named = re.findall(r"order::(acquire|release|acq_rel|seq_cst)", code)
            # A call that is broken over lines is met under the line where it begins.
            if named and not any(seen[path.name, r] for r in range(max(1, row - 3), row + 1)):
                yield f"{path.name}:{row}: {code.strip()}"


def try_mutant(check, effort, mutant):
    key, given, weaker, programs = mutant
    place = ":".join(map(str, key))
    result = run(check, f"--weaken={place}:{weaker}", "--only=" + ",".join(programs), f"--full={effort}",
                 f"--bounded={effort}", f"--random={2 * effort}")
    caught = next((l for l in result.stdout.splitlines() if "FAILED" in l), None)
    if caught is None and result.returncode != 0:
        caught = f"{programs[0]} 0 executions 0 s FAILED: {result.stderr.strip()[:80]}"
    return mutant, caught


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", default=ROOT / "build/release/tests/sync/sync_check")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--effort", type=int, default=50_000, help="executions per search and program")
    parser.add_argument("--only", default="", help="files of src/sync/ whose name contains this")
    parser.add_argument("--output", type=pathlib.Path)
    options = parser.parse_args()
    check = str(options.check)

    met = sites(check, options.only)
    missing = list(unmet(met, options.only))
    mutants = [(key, given, weaker, programs)
               for key, (given, programs) in sorted(met.items()) for weaker in WEAKER.get(given, [])]
    rows = []
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        for (key, given, weaker, programs), caught in pool.map(lambda m: try_mutant(check, options.effort, m), mutants):
            file, row, _, slot = key
            if caught:
                words = caught.split()
                verdict = f"caught by {words[0]} after {words[1]}: {caught.split('FAILED: ')[1].lower()}"
            else:
                verdict = f"**survives** {len(programs)} programs"
            rows.append((file, row, source(file, row), f"{given} to {weaker}" + (", on failure" if slot else ""), verdict))
            print(f"{file}:{row} {given} -> {weaker}: {verdict}", flush=True)

    survivors = sum("survives" in row[-1] for row in rows)
    score = 100 * (len(rows) - survivors) / max(1, len(rows))
    summary = f"{len(rows)} mutants, {len(rows) - survivors} caught, {survivors} survive: {score:.1f}%"
    print(summary)
    for place in missing:
        print(f"not met by any program: {place}")
    if options.output:
        table = [f"| {file}:{row} | `{text.replace('|', chr(92) + '|')}` | {change} | {verdict} |"
                 for file, row, text, change, verdict in rows]
        options.output.write_text("\n".join([
            "# Mutation score of the synchronization library", "",
            "Written by `tools/mutate.py`. Every memory order of `src/sync/` that is not relaxed is weakened, one at a "
            "time, and the checker is run again on every program that meets it. Survivors are explained in the header "
            "of their file.", "",
            f"**{summary}** ({options.effort} executions per search and program).", "",
            "| place | code | weakened | verdict |", "|---|---|---|---|", *table, ""]))
    return 1 if missing or score < 90 else 0


if __name__ == "__main__":
    sys.exit(main())

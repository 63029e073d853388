#!/usr/bin/env python3
"""Mutation score of src/base/sync/ and src/base/safety/: weakens every memory order, one at a time, and reruns the checker.

Usage: mutate.py [--check PATH] [--jobs N] [--effort N] [--only TEXT] [--output FILE]

The checker knows each memory order by its place in the source and weakens it while it runs (see platform/checker.hpp), so
nothing is compiled. Fences and wake-ups are left out, and so are the stores to plain data of the parts in STORES, which have few
orders or none. Code that no program of the checker executes is an error. The table goes to FILE as Markdown.
"""
import argparse
import collections
import concurrent.futures
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[1]
FOLDERS = [ROOT / "src" / "base" / "sync", ROOT / "src" / "base" / "safety"]
# Their orders are those of a lock, so what can be wrong in them is a step that is missing.
STORES = {"server_roles.hpp", "condition.hpp", "backlog.hpp", "work_list.hpp"}

ENDLESS = 120  # seconds of one program

# The orders that each is weakened to. Losing either half of acq_rel is a mutant of its own.
WEAKER = {
    "acquire": ["relaxed"],
    "release": ["relaxed"],
    "acq_rel": ["acquire", "release"],
    "seq_cst": ["acq_rel"],
    "fence": ["none"],
    "wake": ["none"],
    "store": ["none"],
}


def path_of(file):
    return next((folder / file for folder in FOLDERS if (folder / file).exists()), None)


def run(check, *arguments, timeout=None):
    return subprocess.run([check, *arguments], capture_output=True, text=True, timeout=timeout)


def sites(check, only):
    """{(file, line, column, slot): (order, [programs])} of everything that the checker meets in FOLDERS."""
    met = {}
    listing = run(check, "--sites", "--full=10000", "--bounded=10000", "--random=10000")
    if listing.returncode != 0:
        sys.exit(f"the checker fails without a mutation:\n{listing.stdout}{listing.stderr}")
    for line in listing.stdout.splitlines():
        program, place, order = line.split()
        file, row, column, slot = place.split(":")
        if path_of(file) is None or only not in file or (order == "store" and file not in STORES):
            continue
        key = (file, int(row), int(column), int(slot))
        met.setdefault(key, (order, []))[1].append(program)
    return met


def source(file, row):
    """The statement that begins or stands on a line."""
    lines = path_of(file).read_text().splitlines()
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
    for path in sorted(path for folder in FOLDERS for path in folder.glob("*.hpp")):
        if only not in path.name:
            continue
        for row, line in enumerate(path.read_text().splitlines(), 1):
            code = line.split("//")[0]
            named = re.findall(r"order::(acquire|release|acq_rel|seq_cst)|P::(?:(?:light|heavy)_fence|unpark)\(", code)
            if path.name in STORES:
                named += re.findall(r"\.set\(", code)
            # A call that is broken over lines is met under the line where it begins.
            if named and not any(seen[path.name, r] for r in range(max(1, row - 3), row + 1)):
                yield f"{path.name}:{row}: {code.strip()}"


def try_mutant(check, effort, mutant):
    key, given, weaker, programs = mutant
    place = ":".join(map(str, key))
    try:
        result = run(check, f"--weaken={place}:{weaker}", "--only=" + ",".join(programs), f"--full={effort}",
                     f"--bounded={effort}", f"--random={2 * effort}", timeout=ENDLESS * len(programs))
    except subprocess.TimeoutExpired:  # a list that has become a ring, say: the checker sees only the steps between two cells
        return mutant, f"{programs[0]} some executions FAILED: does not end"
    caught = next((l for l in result.stdout.splitlines() if "FAILED" in l), None)
    if caught is None and result.returncode != 0:
        caught = f"{programs[0]} 0 executions 0 s FAILED: {result.stderr.strip()[:80]}"
    return mutant, caught


def change(given, weaker):
    return f"{given} left out" if weaker == "none" else f"{given} to {weaker}"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", default=ROOT / "build/release/tests/base/sync/sync_check")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--effort", type=int, default=50_000, help="executions per search and program")
    parser.add_argument("--only", default="", help="files whose name contains this")
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
                verdict = f"caught by {words[0]} after {words[1]}: {caught.partition('FAILED: ')[2].lower() or 'ends in an error'}"
            else:
                verdict = f"**survives** {len(programs)} programs"
            rows.append((file, row, source(file, row), change(given, weaker) + (", on failure" if slot else ""), verdict))
            print(f"{file}:{row} {given} -> {weaker}: {verdict}", flush=True)

    survivors = sum("survives" in row[-1] for row in rows)
    score = 100 * (len(rows) - survivors) / max(1, len(rows))
    summary = f"{len(rows)} mutants, {len(rows) - survivors} caught, {survivors} survive: {score:.1f}%"
    print(summary)
    for place in missing:
        print(f"not met by any program: {place}")
    if options.output:
        table = [f"| {file}:{row} | `{text.replace('|', chr(92) + '|')}` | {changed} | {verdict} |"
                 for file, row, text, changed, verdict in rows]
        options.output.write_text("\n".join([
            "# Mutation score of the synchronization library", "",
            "Written by `tools/mutate.py`. Every memory order of `src/base/sync/` and `src/base/safety/` that is not relaxed is weakened, "
            "every fence and every wake-up is left out, and where a part has a lock and no orders of its own every store, "
            "one at a time; and the checker is run again on every program that meets it. Survivors are explained in the "
            "header of their file.", "",
            f"**{summary}** ({options.effort} executions per search and program).", "",
            "| place | code | weakened | verdict |", "|---|---|---|---|", *table, ""]))
    return 1 if missing or score < 90 else 0


if __name__ == "__main__":
    sys.exit(main())

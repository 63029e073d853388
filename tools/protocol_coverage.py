#!/usr/bin/env python3
"""Lines of src/messaging/message/ that the simulated tests of protocols execute: protocol_coverage.py [BUILD] [--lines]

The sources are compiled once more with counters, and tests/messaging/message/message_protocols_test is linked with them in a scratch folder; the other
objects are those of BUILD (build/release), where the test must have been built. With --lines the lines that were not executed are printed.
"""
import argparse
import json
import pathlib
import re
import shlex
import subprocess
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[1]
SOURCES = ROOT / "src/messaging/message"
TEST = "tests/messaging/message/message_protocols_test"
# Left to other tests: strategies of the outbox and the cache of requests have tests of their own, and so has the end of a job without memory.
LEFT_OUT = {"request_cache.cpp", "request_cache.hpp", "shortage.cpp", "shortage.hpp"}


def output_of(command: list[str], folder: pathlib.Path) -> str:
    return subprocess.run(command, cwd=folder, check=True, text=True, capture_output=True).stdout


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", nargs="?", type=pathlib.Path, default=ROOT / "build/release")
    parser.add_argument("--lines", action="store_true")
    given = parser.parse_args()
    build = given.build.resolve()
    link = output_of(["ninja", "-t", "commands", TEST], build).splitlines()[-1]
    with tempfile.TemporaryDirectory() as scratch:
        for entry in json.loads((build / "compile_commands.json").read_text()):
            source = pathlib.Path(entry["directory"], entry["file"]).resolve()
            if SOURCES not in source.parents or "mpi_abi" not in entry["command"]:
                continue
            before = entry.get("output") or re.search(r" -o (\S+)", entry["command"])[1]
            after = f"{scratch}/{source.relative_to(SOURCES).as_posix().replace('/', '+')}.o"
            command = [word for word in shlex.split(entry["command"]) if not word.endswith("ccache")]
            command[command.index("-o") + 1] = after
            subprocess.run([*command, "--coverage", "-O1", "-fno-inline"], cwd=entry["directory"], check=True)
            link = link.replace(f" {before} ", f" {after} ")
        program = f"{scratch}/test"
        link = link.replace(f"-o {TEST} ", f"-o {program} --coverage ")
        subprocess.run(link, shell=True, cwd=build, check=True)
        subprocess.run([program, "--gtest_brief=1"], check=True, stdout=subprocess.DEVNULL)
        report = output_of(["gcov", "--json-format", "--stdout", *[str(f) for f in pathlib.Path(scratch).glob("*.gcda")]], pathlib.Path(scratch))
    executed: dict[pathlib.Path, dict[int, int]] = {}
    for line in report.splitlines():
        for file in json.loads(line)["files"]:
            path = (build / file["file"]).resolve()
            if SOURCES not in path.parents or path.name in LEFT_OUT or "outbox" in path.parts:
                continue
            counts = executed.setdefault(path, {})
            for one in file["lines"]:
                counts[one["line_number"]] = counts.get(one["line_number"], 0) + one["count"]
    all_lines = sum(map(len, executed.values()))
    hit = sum(count != 0 for counts in executed.values() for count in counts.values())
    for path, counts in sorted(executed.items()):
        missed = sorted(line for line, count in counts.items() if count == 0)
        print(f"{100 * (1 - len(missed) / len(counts)):5.1f}%  {len(counts):4}  {path.relative_to(SOURCES)}")
        if given.lines and missed:
            print("        not executed:", ", ".join(map(str, missed)))
    print(f"{100 * hit / all_lines:5.1f}%  {all_lines:4}  all")


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""Mutation score of the protocols and of matching: changes one token or statement of src/messaging/message/ at a time, and runs the tests of messages.

Usage: mutation.py [BUILD] [--sample N] [--seed N] [--only TEXT] [--part N] [--output FILE]

BUILD (build/release) must have built the tests of tests/messaging/message. A mutant is compiled in a scratch folder, by the command of the
build at -O1: into the unit test that is about its file, or else into the simulated test (tests/messaging/message/simulator/), whose cases run
cheapest first until one fails, crashes or exceeds its limit of time. Mutants that do not compile do not count. --part 4: of the longest tests
every fourth case. A larger sample of the same seed begins with the smaller one. Survivors go to FILE as Markdown. Mutants of memory orders:
tools/mutate.py.
"""
import argparse
import collections
import dataclasses
import json
import os
import pathlib
import random
import re
import resource
import shlex
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[1]
SOURCES = ROOT / "src/messaging/message"
TESTS = "tests/messaging/message"
# The unit test that is about a file.
UNIT_TESTS = {"matching.hpp": "matching", "queues.hpp": "matching", "unexpected_messages.hpp": "matching", "claims.cpp": "claims", "claims.hpp": "claims",
              "copy_tuner.hpp": "copy_tuner", "kept_stages.hpp": "kept_stages", "split.hpp": "split", "stage.hpp": "stage"}
# Cases of the simulated test, cheapest first; True: --part shortens them.
ROUNDS = [("Malformed.*:Traffic.*:Numbers.*:Copies.*:Shortages.*:Ends.*:Failures.*:Pending.*", False), ("*.AreTaken*:*.DoWithout*", False), ("*Flows.*", True), ("*.LoseNothing*:*.Deliver*", True),
          ("*.Cancel*:*.WaitFor*", True), ("*.EndWhen*", True)]
CPU_SECONDS, SECONDS, BYTES = 60, 600, 8 << 30  # of one run


@dataclasses.dataclass(frozen=True)
class Mutant:
    file: pathlib.Path
    line: int
    before: str
    after: str
    what: str


SWAPS = [(" < ", " <= "), (" <= ", " < "), (" > ", " >= "), (" >= ", " > "), (" == ", " != "), (" != ", " == "), (" + ", " - "), (" - ", " + "),
         (" += ", " -= "), (" -= ", " += "), (" && ", " || "), (" || ", " && "), ("return true;", "return false;"),
         ("return false;", "return true;"), (" = true;", " = false;"), (" = false;", " = true;")]
ENVELOPE = re.compile(r"\{[\w:]*[kK]ind\w*, 0, 0, 0\}|\{MessageKind::\w+, 0, 0, 0\}")  # of a control message: no receiver reads it
CONSTANT = re.compile(r"(?<![\w.'\"])[01](?![\w.'\"])")
# A call or an assignment that is a whole line, and no declaration.
STATEMENT = re.compile(r"^\s*(\(void\))?((\+\+|--)[\w.\->]+|[\w.\->\[\]:*]+(\(.*\)| [-+|]?= .*));$")
NO_CODE = re.compile(r"^\s*(//|#|static_assert|template|using |namespace|public:|private:|static constexpr|inline constexpr|constexpr )")


def closing(text: str, at: int) -> int:
    """The place of the parenthesis that closes the one at `at`; -1: it is on another line."""
    depth = 0
    for i in range(at, len(text)):
        depth += {"(": 1, ")": -1}.get(text[i], 0)
        if depth == 0:
            return i
    return -1


def mutants_of(file: pathlib.Path) -> list[Mutant]:
    found = []
    for number, line in enumerate(file.read_text().splitlines(), 1):
        code = line.split(" // ")[0].rstrip()
        if NO_CODE.match(code) or not code.strip():
            continue

        def add(after: str, what: str) -> None:
            found.append(Mutant(file, number, line, after, what))

        for word in re.finditer(r"\b(if|while) \(", code):
            end = closing(code, word.end() - 1)
            if end >= 0 and "; " not in code[word.end():end]:
                add(f"{code[:word.end()]}!({code[word.end():end]}){code[end:]}", "condition negated")
        for old, new in SWAPS:
            start = code.find(old)
            while start >= 0:
                add(code[:start] + new + code[start + len(old):], f"{old.strip()} to {new.strip()}")
                start = code.find(old, start + 1)
        for constant in [] if ENVELOPE.search(code) else CONSTANT.finditer(code):
            add(code[:constant.start()] + str(1 - int(constant[0])) + code[constant.end():], "constant")
        if STATEMENT.match(code):
            add(re.match(r"\s*", code)[0] + ";", "statement left out")
    return found


def files(only: str) -> list[pathlib.Path]:
    own = [SOURCES / name for name in ("matching.hpp", "queues.hpp", "unexpected_messages.hpp")]
    protocols = sorted(f for f in (SOURCES / "protocol").rglob("*.?pp"))
    return [f for f in own + protocols if only in str(f)]


class Build:
    def __init__(self, build: pathlib.Path, scratch: pathlib.Path, part: int):
        self.build, self.scratch, self.part = build, scratch, part
        self.overlay = scratch / "overlay"
        entries = json.loads((build / "compile_commands.json").read_text())
        self.commands = {self.object_of(entry): shlex.split(entry["command"]) for entry in entries}
        test = f"{TESTS}/message_protocols_test"
        link = subprocess.run(["ninja", "-t", "commands", test], cwd=build, check=True, text=True, capture_output=True).stdout.splitlines()[-1]
        words = shlex.split(link.split("&&")[1])
        objects = [word for word in words if word.endswith(".o")]
        self.libraries = [word for word in words[words.index(test) + 1:] if not word.endswith(".o")]
        self.own = {o: self.source_of(o) for o in objects if "messaging/message/" in o}
        rest = scratch / "rest.o"
        subprocess.run(["ld", "-r", "-S", "-o", rest, *[o for o in objects if o not in self.own]], cwd=build, check=True)
        self.rest = rest

    @staticmethod
    def object_of(entry: dict) -> str:
        return entry.get("output") or re.search(r" -o (\S+)", entry["command"])[1]

    def source_of(self, target: str) -> pathlib.Path:
        command = self.commands[target]
        return pathlib.Path(self.build, command[command.index("-c") + 1]).resolve()

    def compile(self, target: str, source: pathlib.Path) -> pathlib.Path | None:
        """Null: it does not compile."""
        made = self.scratch / f"{pathlib.Path(target).stem}.{abs(hash(target))}.o"
        command = [word for word in self.commands[target] if not word.endswith("ccache") and word not in ("-g", "-O2", "-Wall", "-Wextra")]
        command[command.index("-o") + 1] = str(made)
        command[command.index("-c") + 1] = str(source)
        command[1:1] = ["-I", str(self.overlay), "-O1", "-w"]
        return made if subprocess.run(command, cwd=self.build, capture_output=True).returncode == 0 else None

    def fails(self, program: pathlib.Path, cases: str, part: int = 1) -> bool:
        def limit() -> None:
            resource.setrlimit(resource.RLIMIT_CPU, (CPU_SECONDS, CPU_SECONDS))
            resource.setrlimit(resource.RLIMIT_AS, (BYTES, BYTES))
            resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        shards = {"GTEST_TOTAL_SHARDS": str(part), "GTEST_SHARD_INDEX": "0"}
        command = [program, "--gtest_fail_fast", "--gtest_brief=1", f"--gtest_filter={cases}"]
        try:
            return subprocess.run(command, preexec_fn=limit, timeout=SECONDS, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                                  env={**os.environ, **shards}).returncode != 0
        except subprocess.TimeoutExpired:
            return True

    def by_unit_test(self, name: str, mutated: pathlib.Path, source: pathlib.Path) -> str:
        test = f"{TESTS}/CMakeFiles/message_{name}_test.dir/"
        objects = []
        for target in self.commands:
            if target.startswith(test):
                own = self.source_of(target)
                objects.append(self.compile(target, mutated if own == source else own))
        if None in objects:
            return "does not compile"
        program = self.scratch / "unit"
        if subprocess.run(["c++", "-o", program, *objects, *self.libraries], cwd=self.build, capture_output=True).returncode != 0:
            return "does not compile"
        return f"killed by message_{name}_test" if self.fails(program, "*") else "survives"

    def by_simulator(self, mutated: pathlib.Path, source: pathlib.Path) -> str:
        made = {}
        for target, own in self.own.items():
            if own == source or (source.suffix == ".hpp" and own.suffix == ".cpp" and "outbox" not in own.parts):
                made[target] = self.compile(target, mutated if own == source else own)
                if made[target] is None:
                    return "does not compile"
        # The mutated ones first: of an inline function the linker takes the first.
        program = self.scratch / "simulated"
        others = [o for o in self.own if o not in made]
        linked = subprocess.run(["c++", "-o", program, *made.values(), *others, self.rest, *self.libraries], cwd=self.build, capture_output=True)
        if linked.returncode != 0:
            return "does not compile"
        for cases, is_long in ROUNDS:
            if self.fails(program, cases, self.part if is_long else 1):
                return f"killed by {cases}"
        return "survives"

    def judge(self, mutant: Mutant) -> str:
        text = mutant.file.read_text().splitlines()
        text[mutant.line - 1] = mutant.after
        mutated = self.overlay / mutant.file.relative_to(ROOT / "src")
        mutated.parent.mkdir(parents=True, exist_ok=True)
        mutated.write_text("\n".join(text) + "\n")
        try:
            if unit := UNIT_TESTS.get(mutant.file.name):
                return self.by_unit_test(unit, mutated, mutant.file)
            return self.by_simulator(mutated, mutant.file)
        finally:
            mutated.unlink()


def cell(text: str) -> str:
    return "`" + text.strip().replace("|", "\\|") + "`"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", nargs="?", type=pathlib.Path, default=ROOT / "build/release")
    parser.add_argument("--sample", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", default="", help="files whose path has this text")
    parser.add_argument("--part", type=int, default=4)
    parser.add_argument("--output", type=pathlib.Path)
    given = parser.parse_args()
    all_mutants = [mutant for file in files(given.only) for mutant in mutants_of(file)]
    random.Random(given.seed).shuffle(all_mutants)
    sample = all_mutants[:given.sample]
    print(f"{len(sample)} of {len(all_mutants)} mutants, seed {given.seed}", flush=True)
    killed: collections.Counter = collections.Counter()
    total: collections.Counter = collections.Counter()
    survivors = []
    with tempfile.TemporaryDirectory() as scratch:
        build = Build(given.build.resolve(), pathlib.Path(scratch), given.part)
        unchanged = SOURCES / "protocol/self.cpp"
        if (verdict := build.by_simulator(unchanged, unchanged)) != "survives":
            sys.exit(f"the tests fail without a mutant: {verdict}")
        for mutant in sample:
            name = mutant.file.relative_to(SOURCES).as_posix()
            verdict = build.judge(mutant)
            print(f"{name}:{mutant.line}: {mutant.what}: {verdict}\n    {mutant.before.strip()}\n    {mutant.after.strip()}", flush=True)
            if verdict == "does not compile":
                continue
            total[name] += 1
            killed[name] += verdict != "survives"
            if verdict == "survives":
                survivors.append(f"| {name}:{mutant.line} | {mutant.what} | {cell(mutant.before)} | {cell(mutant.after)} | |")
    rows = [f"| {name} | {killed[name]} | {total[name]} |" for name in sorted(total)]
    rows.append(f"| all | {killed.total()} | {total.total()}: {100 * killed.total() / max(1, total.total()):.1f}% |")
    text = "\n".join(["| file | killed | mutants |", "|---|---|---|", *rows, "",
                      "| survivor | change | before | after | why |", "|---|---|---|---|---|", *sorted(survivors), ""])
    (given.output.write_text if given.output else sys.stdout.write)(text)


if __name__ == "__main__":
    main()

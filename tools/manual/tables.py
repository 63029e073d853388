"""The sources of the manual: the options of mpiexec, the variables, the info keys, the options of the compiler wrappers and of `heddle`."""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

TREE = Path(__file__).resolve().parents[2]


@dataclass
class Option:
    names: list[str]  # with dashes
    usage: str  # how its values are shown
    help: str

    @property
    def values(self) -> int:
        return len(self.usage.split())

    @property
    def choices(self) -> list[str]:
        """Words that it takes, where they can be listed."""
        plain = re.sub(r"\[[^\]]*\]", "", self.usage)
        words = plain.split("|")
        return [w for w in words if re.fullmatch(r"[a-z0-9_-]+", w)] if len(words) > 1 else []


@dataclass
class Variable:
    name: str
    values: str
    default: str
    help: str
    guide: str
    reader: str


@dataclass
class InfoCalls:
    """The readers of info keys, by the name that InfoKey.readers has."""

    name: str
    calls: str


@dataclass
class InfoKey:
    name: str
    readers: list[str]
    values: str
    default: str
    help: str


@dataclass
class Command:
    """A command of `heddle`, with those below it."""

    words: list[str]
    help: str
    options: list[Option]
    arguments: list[tuple[str, str]]  # name, help
    below: list[Command]


@dataclass
class Tables:
    version: str
    mpiexec: list[Option]
    wrapper: list[Option]
    fortran_wrapper: list[Option]
    variables: list[Variable]
    info_calls: list[InfoCalls]
    info_keys: list[InfoKey]
    heddle: Command

    def variables_of(self, reader: str) -> list[Variable]:
        return [v for v in self.variables if v.reader == reader]


def read(describe: Path, wrappers: Path) -> Tables:
    """`describe` prints the tables of the launcher and the library; in `wrappers` lie mpicc and mpifort, whose help lists their options."""
    told = json.loads(subprocess.run([describe], capture_output=True, text=True, check=True).stdout)
    sys.path.insert(0, str(TREE / "tools"))
    from heddle_tool import cli, places

    return Tables(version=places.version(),
                  mpiexec=[Option(["-" + n for n in o["names"]], o["usage"], o["help"]) for o in told["options"]],
                  wrapper=wrapper_options(wrappers / "mpicc"),
                  fortran_wrapper=wrapper_options(wrappers / "mpifort"),
                  variables=[Variable(**v) for v in told["variables"]],
                  info_calls=[InfoCalls(**c) for c in told["info_calls"]],
                  info_keys=[InfoKey(**k) for k in told["info_keys"]],
                  heddle=command_of(cli.make_parser(), ["heddle"], "measure what an MPI does with threads"))


def wrapper_options(wrapper: Path) -> list[Option]:
    text = subprocess.run(["sh", wrapper, "-help"], capture_output=True, text=True, check=True,
                          env={"PATH": "/usr/bin:/bin"}).stdout
    found = []
    for line in text.splitlines():
        row = re.match(r"  (-\S.*?)  +(.*)", line)
        if not row:
            continue
        names, usage = [], ""
        for name in row[1].split(", "):
            plain, mark, value = re.match(r"([^=:]+)([=:]?)(.*)", name).groups()
            names.append(plain)
            usage = mark + value if value.isupper() else usage
        found.append(Option(names, usage, re.sub(r" \(now: .*?\)", "", row[2])))
    return found


def command_of(parser: argparse.ArgumentParser, words: list[str], about: str) -> Command:
    command = Command(words, about, [], [], [])
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            helps = {a.dest: (a.help or "").replace("%%", "%") for a in action._choices_actions}
            command.below = [command_of(p, [*words, name], helps.get(name, "")) for name, p in action.choices.items()]
        elif action.option_strings:
            usage = "" if action.nargs == 0 else action.metavar or action.dest.upper()
            command.options.append(Option(list(action.option_strings), usage, (action.help or "").replace("%%", "%")))
        else:
            command.arguments.append((action.metavar or action.dest, (action.help or "").replace("%%", "%")))
    return command

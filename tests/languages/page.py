#!/usr/bin/env python3
"""Does what a page of docs/guides/languages says, in the order of the page, with an installed tree.

    page.py PAGE PREFIX WORK [CLONE]

A block of code "```LANGUAGE FILE" is written into that file under WORK, which is emptied first. The blocks "```sh" are one script of
bash, which runs there with $HEDDLE set to PREFIX and fails with the first command that does. A block "```text" behind one of them holds lines that it prints, in any order. CLONE is a local clone of the repository that the page clones, for machines that reach
none. Exit code 77: the machine does not have the language.
"""

from __future__ import annotations

import collections
import os
import pathlib
import re
import shutil
import subprocess
import sys
from typing import NamedTuple

BLOCK = re.compile(r"^```(\w*) ?(\S*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
NEEDS = {"go": "go", "ocaml": "ocamlfind", "python": "python3", "r": "R", "rust": "cargo"}
ABSENT = 77


class Step(NamedTuple):
    command: str
    printed: list[str]


class Page(NamedTuple):
    files: dict[str, str]
    steps: list[Step]


def read(text: str) -> Page:
    page = Page({}, [])
    for language, file, body in BLOCK.findall(text):
        if file:
            page.files[file] = body
        elif language == "sh":
            page.steps.append(Step(body, []))
        elif language == "text" and page.steps:
            page.steps[-1].printed.extend(body.splitlines())
    return page


def missing(wanted: list[str], printed: str) -> list[str]:
    """Lines that were to be printed and were not; a line that is wanted twice has to be printed twice."""
    have = collections.Counter(line.strip() for line in printed.splitlines())
    return list((collections.Counter(line.strip() for line in wanted) - have).elements())


def run(page: Page, prefix: pathlib.Path, work: pathlib.Path, clone: str) -> int:
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir(parents=True)
    for name, body in page.files.items():
        (work / name).parent.mkdir(parents=True, exist_ok=True)
        (work / name).write_text(body)
    script = "set -euo pipefail\n"
    for number, step in enumerate(page.steps):
        script += f"exec >{work}/printed.{number} 2>&1\n{step.command}"
    leave_out = ("LD_LIBRARY_PATH", "HEDDLE_CC", "MPICH_CC", "OMPI_CC", "I_MPI_CC", "MPICC_CC", "PYTHONPATH", "MPICC")
    environment = {name: value for name, value in os.environ.items() if name not in leave_out}
    environment["HEDDLE"] = str(prefix)
    environment.setdefault("CFLAGS", "-O0")  # mpi4py is one very large file
    if clone:
        source = re.search(r"git clone \S* ?(https://\S+)", script)
        settings = {f"url.{clone}.insteadOf": source[1], "safe.directory": "*"}
        for number, (name, value) in enumerate(settings.items()):
            environment |= {f"GIT_CONFIG_KEY_{number}": name, f"GIT_CONFIG_VALUE_{number}": value}
        environment["GIT_CONFIG_COUNT"] = str(len(settings))
    code = subprocess.run(["bash", "-c", script], cwd=work, env=environment, stdin=subprocess.DEVNULL).returncode
    for number, step in enumerate(page.steps):
        log = work / f"printed.{number}"
        if not log.exists():
            break
        printed = log.read_text(errors="replace")
        print(f"$ {step.command}{printed}", end="")
        for line in missing(step.printed, printed):
            print(f"FAILED: it did not print '{line}'")
            code = code or 1
    return code


def main() -> int:
    file, prefix, work = (pathlib.Path(word).resolve() for word in sys.argv[1:4])
    needed = NEEDS[file.stem]
    if not shutil.which(needed):
        print(f"no {needed} in PATH")
        return ABSENT
    clone = str(pathlib.Path(sys.argv[4]).resolve()) if len(sys.argv) > 4 else ""
    return run(read(file.read_text()), prefix, work, clone)


if __name__ == "__main__":
    sys.exit(main())

"""The common part of the files of suites/: where a suite lies and how it is built, and its tests as rows of a table."""

from __future__ import annotations

import json
import os
import pathlib
import re
import subprocess
import sys
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

import cells


def succeeded(run: cells.Run) -> str:
    return "passed" if run.status == 0 else "failed"


@dataclass
class Row:
    """A test. Without `counts` it runs with every number of ranks that is asked for."""

    name: str
    command: Callable[[int], list[str]]
    directory: pathlib.Path
    counts: set[int] = field(default_factory=set)
    judge: Callable[[cells.Run], str] = succeeded
    environment: dict[str, str] = field(default_factory=dict)


@dataclass
class Suite:
    prefix: pathlib.Path  # of the MPI library
    compiler: str  # the name of its wrapper for C
    home: pathlib.Path  # of all that is made

    @property
    def sources(self) -> pathlib.Path:
        """A copy, which the suite may write to."""
        return self.home / "sources"

    @property
    def build(self) -> pathlib.Path:
        return self.home / "build"

    @property
    def mpicc(self) -> str:
        return str(self.prefix / "bin" / self.compiler)

    @property
    def mpicxx(self) -> str:
        return str(self.prefix / "bin/mpicxx")

    @property
    def mpifort(self) -> str:
        return str(self.prefix / "bin/mpifort")

    @property
    def mpiexec(self) -> str:
        """Starts ranks of the kind that the run is about, also where the suite itself starts them."""
        return str(self.home / "mpiexec")

    def write_launcher(self) -> None:
        launcher = pathlib.Path(self.mpiexec)
        launcher.write_text(f'#!/bin/sh\nexec "{self.prefix}/bin/mpiexec" ${{FOREIGN_MPIEXEC_OPTIONS-}} "$@"\n')
        launcher.chmod(0o755)

    def launched(self, *program: str) -> Callable[[int], list[str]]:
        return lambda n: [self.mpiexec, "-n", str(n), *program]

    def call(self, *command: str, directory: pathlib.Path | None = None, environment: dict[str, str] | None = None) -> None:
        """A step of building, whose output goes to build.log."""
        directory = directory or self.build
        directory.mkdir(parents=True, exist_ok=True)
        log = self.home / "build.log"
        with log.open("a") as out:
            print("==", *command, file=out, flush=True)
            done = subprocess.run(command, cwd=directory, env={**os.environ, **(environment or {})}, stdout=out, stderr=out)
        if done.returncode != 0:
            sys.exit(f"suite.py: building failed ({log})")

    def cmake(self, *options: str, sources: pathlib.Path | None = None, build: pathlib.Path | None = None) -> None:
        compilers = [f"-DMPI_C_COMPILER={self.mpicc}", f"-DMPI_CXX_COMPILER={self.mpicxx}", f"-DMPI_Fortran_COMPILER={self.mpifort}"]
        launcher = [f"-DMPIEXEC_EXECUTABLE={self.mpiexec}"]
        build = build or self.build
        self.call("cmake", "-G", "Ninja", "-S", str(sources or self.sources), "-B", str(build), *compilers, *launcher, *options)
        self.call("cmake", "--build", str(build), "--parallel", str(os.cpu_count()))

    def ctest(self, alone: bool = True, judge: Callable[[cells.Run], str] = succeeded) -> Iterable[Row]:
        """The tests that CMake made, each with the number of ranks that it has; `alone`: also those of one process that is not
        started by mpiexec."""
        listing = subprocess.run(["ctest", "--show-only=json-v1"], cwd=self.build, check=True, stdout=subprocess.PIPE, text=True)
        for test in json.loads(listing.stdout)["tests"]:
            text = " ".join(test.get("command", []))
            ranks = re.search(rf"{re.escape(self.mpiexec)}\b.*?-np? (\d+)", text)
            if not ranks and not alone:
                continue
            command = ["ctest", "-R", f"^{re.escape(test['name'])}$", "-V", "--timeout", "3600"]
            counts = {int(ranks[1]) if ranks else 1}
            yield Row(test["name"], lambda _, command=command: command, self.build, counts, judge)

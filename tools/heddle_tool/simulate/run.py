"""One run in virtual time: the program is started, watched, and its report read."""

import contextlib
import ctypes
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
import uuid
from dataclasses import dataclass, field, replace
from pathlib import Path

from .. import places
from ..bench import runner
from ..errors import BadInput
from .machines import Machine

RUNTIME, LIBRARY = b"libheddle-simulator.so", b"libmpi_abi.so"
# The variables of a program beside those of its job: the same for each user, so that its memory is laid out in the same way.
FIXED = {"PATH": "/usr/bin:/bin", "HOME": "/", "USER": "simulated"}
AT_ONCE = min(2, len(os.sched_getaffinity(0)))
NO_RANDOMIZED_ADDRESSES = 0x0040000  # of personality(2)


@dataclass(frozen=True)
class Job:
    program: Path
    args: tuple[str, ...]
    machine: Machine
    ranks: int = 2
    seed: int = 1
    limit: int = 10**12  # picoseconds of virtual time
    env: dict[str, str] = field(default_factory=dict)
    launch: tuple[str, ...] = ()  # options of mpiexec
    caches: bool = False  # the program gets the machine's caches in files, by --file
    settings: dict[str, int] = field(default_factory=dict)  # others of the simulator (machine.hpp: Settings)

    def with_args(self, *more: str) -> "Job":
        return replace(self, args=(*self.args, *more))


@dataclass(frozen=True)
class Outcome:
    job: Job
    code: int
    output: str
    errors: str
    wall: float
    report: dict  # empty if the run failed

    @property
    def ok(self) -> bool:
        return self.code == 0 and bool(self.report)

    @property
    def result(self) -> dict:
        """The result line of a benchmark program; empty without one."""
        lines = [line for line in self.output.splitlines() if line.startswith('{"bench"')]
        return json.loads(lines[-1]) if lines else {}

    def why(self) -> str:
        """The error, with machine and seed."""
        where = f"{self.job.program.name} on {self.job.machine.name}, seed {self.job.seed}"
        of_simulator = self.errors[self.errors.find("simulator: "):].strip() if "simulator: " in self.errors else ""
        if of_simulator:
            return f"{where}: {of_simulator.removeprefix('simulator: ')}"
        if self.code == 0:
            return f"{where}: the run left no report: it was ended before one was written. Make it shorter, or end it by exit()"
        return f"{where}: exit code {self.code}: {runner.reason(self.output, self.errors)}"


def build_folder(given: str | None) -> Path:
    """Where the library and the programs are that were compiled for the simulator."""
    tree = places.source_tree()
    if given is None and tree is None:
        raise BadInput("heddle simulate needs the source tree: run it there as ./dev simulate, or name a build folder with --build")
    where = Path(given).expanduser().resolve() if given else tree / "build" / "simulate"
    if not launcher(where).is_file():
        what = "./dev simulate" if given is None else "cmake --preset simulate"
        raise BadInput(f"{where} has no library for the simulator: build it with {what}")
    return where


def launcher(build: Path) -> Path:
    return build / "src" / "launch" / "mpiexec" / "mpiexec"


def find_program(name: str, build: Path) -> Path:
    """A path, or the name of a program in the build folder."""
    if "/" in name:
        found = [Path(name).expanduser().resolve()]
    else:
        found = [file for file in [*build.glob(f"bench/{name}"), *build.glob(f"bench/*/{name}"), *build.glob(f"tests/**/{name}")]
                 if file.is_file()]
    if not found or not found[0].is_file():
        raise BadInput(f"there is no program {name}: build it with ninja -C {build}, or give its path")
    if RUNTIME not in found[0].read_bytes():
        raise BadInput(f"{found[0]} was not compiled for the simulator: build it with the preset simulate (cmake/simulate.cmake)")
    return found[0]


def fix_addresses(tell) -> None:
    """Lets the programs that are started from here on have the same addresses in each run, or tells that this is forbidden."""
    personality = ctypes.CDLL(None).personality
    personality.argtypes = [ctypes.c_ulong]
    now = personality(0xFFFFFFFF)
    if now == -1 or personality(now | NO_RANDOMIZED_ADDRESSES) == -1:
        tell("personality(2) is not allowed here: addresses differ from run to run, and so may the results")


class Running:
    """A run that has begun. Its files are in a folder of its own, whose path has the same length for each run."""

    def __init__(self, job: Job, build: Path):
        self.job, self.began, self.mark = job, time.monotonic(), uuid.uuid4().hex
        self.folder = tempfile.TemporaryDirectory(prefix="heddle-simulate-")
        here = Path(self.folder.name)
        self.report = here / "report.json"
        (here / "settings").write_text(job.machine.settings(seed=job.seed, limit=job.limit, report=self.report, **job.settings))
        (here / "launcher").write_text(job.machine.settings(seed=job.seed))
        env = FIXED | {"LD_LIBRARY_PATH": str(build / "lib"), "HWLOC_SYNTHETIC": job.machine.topology, runner.MARK: self.mark} | job.env
        env["HEDDLE_SIMULATION"] = str(here / "settings")
        command = [str(job.program), *job.args]
        if job.caches:
            job.machine.write_caches(here / "cpus")
            command += ["--file", str(here / "cpus")]
        if LIBRARY in job.program.read_bytes():
            # mpiexec is simulated, too, because it counts the cores and measures the cost of a wake-up.
            command = [str(launcher(build)), "--ranks", "threads", "-n", str(job.ranks), *job.launch, "-env", "HEDDLE_SIMULATION",
                       env["HEDDLE_SIMULATION"], *command]
            env["HEDDLE_SIMULATION"] = str(here / "launcher")
        self.out, self.err = open(here / "out", "w+"), open(here / "err", "w+")
        self.process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=self.out, stderr=self.err, start_new_session=True, env=env)

    @property
    def over(self) -> bool:
        return self.process.poll() is not None

    @property
    def elapsed(self) -> float:
        return time.monotonic() - self.began

    def finish(self) -> Outcome:
        """The outcome of a run that is over, or is ended here."""
        wall, code = self.elapsed, self.process.poll()
        if code != 0:
            runner.end(self.process, self.mark)
        self.out.seek(0), self.err.seek(0)
        output, errors = self.out.read(), self.err.read()
        self.out.close(), self.err.close()
        try:
            report = json.loads(self.report.read_text()) if code == 0 else {}
        except (OSError, ValueError):
            report = {}
        self.folder.cleanup()
        if code is None:
            code, errors = 124, f"{errors}\nsimulator: ended after {wall:.0f} s of real time. Make the run shorter."
        return Outcome(self.job, code, output, errors, wall, report)


def perform(jobs: list[Job], build: Path, patience: float = 3600.0, show=lambda done, running: None,
            stop=lambda outcome: False) -> list[Outcome | None]:
    """The outcomes in the order of the jobs, two at a time. A run that takes longer than `patience` seconds of real time is ended. `show`
    is called now and then with the number of runs that are done, and those that are not. After an outcome for which `stop` is
    true no more runs begin, and None stands for those that did not end."""
    waiting, running, outcomes = list(enumerate(jobs)), {}, {}
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))  # so that runs end with this process
    try:
        while waiting or running:
            while waiting and len(running) < AT_ONCE:
                number, job = waiting.pop(0)
                running[number] = Running(job, build)
            show(len(outcomes), list(running.values()))
            with contextlib.suppress(subprocess.TimeoutExpired):
                next(iter(running.values())).process.wait(timeout=0.2)
            for number in [n for n, one in running.items() if one.over or one.elapsed > patience]:
                outcomes[number] = running.pop(number).finish()
                if stop(outcomes[number]):
                    waiting.clear()
    finally:
        for one in running.values():
            one.finish()
    return [outcomes.get(number) for number in range(len(jobs))]

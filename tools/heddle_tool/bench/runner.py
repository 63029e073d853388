"""One run of one program: launched, watched, ended at its limit, without remaining processes.

A run also notes how much of the machine other processes used meanwhile. On a shared machine that is the difference between a
figure and a rumour, so a disturbed run is told from a quiet one.
"""

import json
import os
import resource
import signal
import statistics
import subprocess
import tempfile
import time
import uuid
from dataclasses import asdict, dataclass, field
from pathlib import Path

from .lock import Lock
from .mpis import Mpi
from .suite import Point

# The processor time of other processes per second, in cores, above which a run counts as disturbed.
QUIET = 0.10
MARK = "HEDDLE_BENCH_RUN"


@dataclass
class Run:
    status: str  # "ok", "failed", "hung", "wrong", "absent": there is no such thing on this machine
    value: float | None = None
    samples: list[float] = field(default_factory=list)
    wall: float = 0.0
    others: float = 0.0  # cores that other programs used
    why: str = ""
    detail: dict = field(default_factory=dict)
    tries: int = 1  # runs that were made for this one, because other programs disturbed them

    @property
    def ok(self) -> bool:
        return self.status == "ok"

    @property
    def quiet(self) -> bool:
        return self.ok and self.others <= QUIET

    def to_json(self) -> dict:
        return {k: v for k, v in asdict(self).items() if v not in ("", [], {}, None) and (k, v) != ("tries", 1)}


def processor_seconds(mpi: Mpi | None = None) -> tuple[float, float]:
    """Busy time of the whole machine, and of this process with its finished children and what else belongs to a run of `mpi`."""
    ticks = [int(x) for x in Path("/proc/stat").read_text().split("\n", 1)[0].split()[1:]]
    busy = sum(ticks[:3]) + sum(ticks[5:8])  # user, nice, system, irq, softirq, steal
    mine = sum(sum(resource.getrusage(who)[:2]) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    mine += mpi.processor_seconds() if mpi else 0.0
    return busy / os.sysconf("SC_CLK_TCK"), mine


def end_marked(mark: str) -> None:
    """Ends every process that carries this run's mark, daemons included."""
    wanted = f"{MARK}={mark}".encode()
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit() or int(entry.name) == os.getpid():
            continue
        try:
            if wanted in (entry / "environ").read_bytes().split(b"\0"):
                os.kill(int(entry.name), signal.SIGKILL)
        except (OSError, PermissionError):
            continue


def execute(command: list[str], env: dict[str, str], limit: float) -> tuple[int | None, str, str, float]:
    """Exit code (None: ended at the limit), output, error output, wall seconds."""
    mark = uuid.uuid4().hex
    inherited = {k: v for k, v in os.environ.items() if not k.startswith(("PMI_", "PMIX_", "OMPI_", "PRTE_"))}
    with tempfile.TemporaryFile("w+") as out, tempfile.TemporaryFile("w+") as err:
        began = time.monotonic()
        job = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=out, stderr=err, start_new_session=True,
                               env=inherited | env | {MARK: mark})
        try:
            code = job.wait(timeout=limit)
        except subprocess.TimeoutExpired:
            code = None
        except BaseException:
            end(job, mark)
            raise
        wall = time.monotonic() - began
        if code != 0:
            end(job, mark)
        out.seek(0), err.seek(0)
        return code, out.read(), err.read(), wall


def end(job: subprocess.Popen, mark: str) -> None:
    if job.poll() is None:
        for sign, patience in ((signal.SIGTERM, 2), (signal.SIGKILL, 5)):
            try:
                os.killpg(job.pid, sign)
                job.wait(timeout=patience)
                break
            except ProcessLookupError:
                break
            except subprocess.TimeoutExpired:
                continue
    end_marked(mark)


def reason(output: str, errors: str) -> str:
    """The line of a failed run that says most."""
    lines = [line.strip() for line in (errors + "\n" + output).splitlines() if line.strip(" -=*\t")]
    telling = [line for line in lines if "wrong answer" in line or "error" in line.lower() or "heddle" in line.lower()]
    return ((telling or lines or ["no message"])[0])[:240]


def run_limit(point: Point, test: Mpi, limit: float, seconds: float | None) -> Run:
    """The result of a test that is no benchmark program of ours."""
    command = test.command(point, seconds)
    if command is None:
        return Run("absent", why=f"{test.label} has nothing like it")
    busy, mine = processor_seconds(test)
    code, output, errors, wall = execute(command, {}, limit)
    busy_after, mine_after = processor_seconds(test)
    others = max(0.0, (busy_after - busy) - (mine_after - mine)) / max(wall, 0.05)
    value = test.value(point, output)
    if code is None:
        return Run("hung", wall=wall, others=others, why=f"ended after {limit:.0f} s")
    if code or value is None:
        return Run("failed", wall=wall, others=others, why=f"exit code {code}: {reason(output, errors)}")
    return Run("ok", value, [value], wall, others)


def run_once(point: Point, mpi: Mpi, program: Path | None, limit: float, seconds: float | None) -> Run:
    if mpi.limit:
        return run_limit(point, mpi, limit, seconds)
    command = [*mpi.launch(point.ranks, point.team), str(program)]
    if point.bench.measured_by == "clock":
        return timed_launches(point, mpi, command, limit)
    with tempfile.TemporaryDirectory(prefix="heddle-bench-") as scratch:
        command += point.arguments(seconds, None)
        if mpi.thread_runtime:
            command += ["--thread-runtime", mpi.thread_runtime]
        if point.bench.source == "memory":
            command += ["--file", f"{scratch}/meeting"]
        busy, mine = processor_seconds(mpi)
        code, output, errors, wall = execute(command, mpi.env(point.ranks, point.team), limit)
        busy_after, mine_after = processor_seconds(mpi)
    others = max(0.0, (busy_after - busy) - (mine_after - mine)) / max(wall, 0.05)
    if code is None:
        return Run("hung", wall=wall, others=others, why=f"ended after {limit:.0f} s")
    if code:
        wrong = "wrong answer" in errors
        return Run("wrong" if wrong else "failed", wall=wall, others=others,
                   why=f"exit code {code}: {reason(output, errors)}")
    lines = [line for line in output.splitlines() if line.startswith('{"bench"')]
    if len(lines) != 1:
        return Run("failed", wall=wall, others=others, why=f"{len(lines)} result lines instead of one")
    detail = json.loads(lines[0])
    if mpi.says and mpi.says not in detail.get("mpi", mpi.says):
        return Run("failed", wall=wall, others=others, why=f"ran on another library: {detail['mpi']}")
    if "absent" in detail:
        return Run("absent", wall=wall, others=others, why=detail["absent"])
    if not detail.get("checked"):
        return Run("wrong", wall=wall, others=others, why="no answer was checked: its MPI calls did nothing")
    return Run("ok", detail["value"], detail["samples"], wall, others, detail=detail)


def timed_launches(point: Point, mpi: Mpi, command: list[str], limit: float) -> Run:
    """Wall time of whole launches, in milliseconds."""
    times = []
    busy, mine = processor_seconds(mpi)
    began = time.monotonic()
    for _ in range(point.bench.launches):
        code, output, errors, wall = execute([*command, str(point.ranks)], mpi.env(point.ranks, point.team), limit)
        if code is None:
            return Run("hung", wall=wall, why=f"ended after {limit:.0f} s")
        if code:
            return Run("failed", wall=wall, why=f"exit code {code}: {reason(output, errors)}")
        times.append(1e3 * wall)
    wall = time.monotonic() - began
    busy_after, mine_after = processor_seconds(mpi)
    others = max(0.0, (busy_after - busy) - (mine_after - mine)) / max(wall, 0.05)
    return Run("ok", statistics.median(times), times, wall, others)


def wait_for_idle(longest: float) -> None:
    """Waits until no other process uses the machine, at most `longest` seconds."""
    until = time.monotonic() + longest
    while time.monotonic() < until:
        busy, mine = processor_seconds()
        time.sleep(0.2)
        busy_after, mine_after = processor_seconds()
        if (busy_after - busy) - (mine_after - mine) <= 0.2 * QUIET:
            return


def run(point: Point, mpi: Mpi, program: Path | None, limit: float, seconds: float | None, patience: int,
        lock: Lock, again=lambda others: None) -> Run:
    """A run on a quiet machine if one of `patience` tries finds it so, else the least disturbed of them. Before each retry it
    calls `again` with the number of cores that other programs used."""
    best: Run | None = None
    tries = max(1, patience)
    for number in range(1, tries + 1):
        with lock:
            if patience > 1:
                wait_for_idle(1.5)
            tried = run_once(point, mpi, program, limit, seconds)
        if best is None or (tried.ok, -tried.others) > (best.ok, -best.others):
            best = tried
        best.tries = number
        if not tried.ok or tried.others <= QUIET:
            break
        if number < tries:
            again(tried.others)
    return best

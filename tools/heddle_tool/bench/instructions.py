"""`heddle bench count`: the instructions of each call on the path of a short message, counted by valgrind.

The clock of a shared machine can't tell one instruction from none; a count can, and is the same whatever else runs. The
program (bench/instructions.c) makes each call in a function of its own; callgrind gives the instructions that are executed
from there on down, in the library and what it calls.
"""

import json
import re
import shutil
import subprocess
import tempfile
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path

from .. import places
from ..errors import BadInput
from . import build, table
from .campaign import commit

SLACK = 0.03
MODELS = ("auto", "mtx", "fine", "lockq-mcs", "csync", "flux")
SEVERAL = 8
COUNTS = 3
# A thread that finds nothing yields depending on other waiting threads: the count is shown, and not compared.
NOT_CHECKED = ("test_in_vain", "iprobe_in_vain")
# As they are shown: the step of the program, what it is.
STEPS = {
    "isend": "`MPI_Isend`",
    "wait_of_a_send_that_is_done": "`MPI_Wait` of that, which is complete",
    "irecv": "`MPI_Irecv`, no message there",
    "wait_arrival_and_completion": "`MPI_Wait`: arrival, match, copy, completion",
    "further": "arrival and completion of a further message in one `MPI_Waitall`",
    "test_that_finds_its_message": "`MPI_Test` that finds its message",
    "test_in_vain": "`MPI_Test` in vain",
    "send": "`MPI_Send`",
    "recv_of_a_message_that_is_there": "`MPI_Recv` of a message that is there",
    "irecv_of_an_unexpected_message": "`MPI_Irecv` of an unexpected message",
    "iprobe_in_vain": "`MPI_Iprobe` in vain",
    "put": "`MPI_Put`",
    "win_flush": "`MPI_Win_flush`, nothing to do",
}


@dataclass(frozen=True)
class Edge:
    calls: int
    instructions: int


def called(profile: Path) -> dict[str, Edge]:
    """By name of function: how often it was called and what that cost, all that it called included."""
    names: dict[str, str] = {}
    found: dict[str, list[int]] = defaultdict(lambda: [0, 0])
    callee, calls = "", 0
    for line in profile.read_text().splitlines():
        if match := re.match(r"cfn=\((\d+)\)(?: (.*))?", line):
            callee = names.setdefault(match[1], match[2] or "")
        elif match := re.match(r"fn=\((\d+)\)(?: (.*))?", line):
            names.setdefault(match[1], match[2] or "")
        elif match := re.match(r"calls=(\d+)", line):
            calls = int(match[1])
        elif calls:
            found[callee][0] += calls
            found[callee][1] += int(line.split()[-1])
            calls = 0
    return {name: Edge(*edge) for name, edge in found.items()}


def per_call(profiles: list[Path]) -> dict[str, float]:
    """Instructions of a call, by what the program counts."""
    return {name.removeprefix("step_"): edge.instructions / edge.calls for profile in profiles
            for name, edge in called(profile).items() if name.startswith("step_")}


def steps(counts: list[dict[str, float]]) -> dict[str, float]:
    """By step, the least of several counts: what happens once in a process and not in each call, such as the first allocation of
    a thread's data, falls into one of them at most."""
    found = {name: min(count[name] for count in counts) for name in counts[0]}
    one, all_of_them = found.pop("waitall_of_1", None), found.pop(f"waitall_of_{SEVERAL}", None)
    if one and all_of_them:
        found["further"] = (all_of_them - one) / (SEVERAL - 1)
    if missing := STEPS.keys() - found.keys():
        raise BadInput(f"valgrind counted nothing for {', '.join(sorted(missing))}")
    return {step: round(n, 1) for step, n in found.items()}


def count(prefix: Path, program: Path, model: str) -> dict[str, float]:
    """The counts of the Heddle that is installed at `prefix`."""
    if not shutil.which("valgrind"):
        raise BadInput("valgrind is not installed: on Debian, apt-get install valgrind (./dev count does that)")
    with tempfile.TemporaryDirectory() as folder:
        command = [prefix / "bin" / "mpiexec", "--timeout", "120", "-genv", "HEDDLE_MODEL", model, "-genv", "LD_BIND_NOW", "1",
                   "-genv", "LD_LIBRARY_PATH", prefix / "lib", "-n", "2", "valgrind", "-q", "--tool=callgrind",
                   "--zero-before=counted", f"--callgrind-out-file={folder}/%p", program]
        done = subprocess.run(list(map(str, command)), capture_output=True, text=True)
        if done.returncode != 0:
            raise BadInput(f"{model}: {(done.stderr or done.stdout).strip().splitlines()[-1:] or done.returncode}")
        return per_call(sorted(Path(folder).iterdir()))


def count_all(prefix: Path, models, tell) -> dict[str, dict[str, float]]:
    with tempfile.TemporaryDirectory() as folder:
        program = Path(folder) / "instructions"
        source = places.benchmark_sources() / "instructions.c"
        done = subprocess.run([str(prefix / "bin" / "mpicc"), *build.FLAGS, str(source), "-o", str(program)],
                              capture_output=True, text=True)
        if done.returncode:
            raise BadInput(f"{source.name} does not compile with {prefix}/bin/mpicc: {done.stderr.strip()[-200:]}")
        counted = {}
        for model in models:
            tell(f"counting {model}")
            counted[model] = steps([count(prefix, program, model) for _ in range(COUNTS)])
        return counted


def as_text(n: float) -> str:
    return f"{n:.1f}".removesuffix(".0")


def rows(counted: dict, before: dict | None = None) -> tuple[list[str], list[list[str]]]:
    head = ["8 bytes", *counted]
    body = []
    for step, what in STEPS.items():
        line = [what]
        for model in counted:
            now, then = counted[model][step], (before or {}).get(model, {}).get(step)
            line.append(as_text(now) if then is None or then == now else f"{as_text(now)} ({as_text(then)})")
        body.append(line)
    return head, body


# ---- the page of docs, which is also what a check compares with

PAGE = """# Instructions of a short message

{command}. Instructions executed in the library and below it for one call, messages of 8 bytes between two processes, by safety model
(`HEDDLE_MODEL`). Counts do not depend on what else the machine does. In brackets, where it differs: commit {base}. `./dev count`
checks that nothing has grown by more than {slack:.0%} since then, and is a part of `.ci/run`; `./dev count --record` writes this page.
Calls in vain are not checked: whether they yield depends on who else waits.

{table}

<!-- {data} -->
"""


def page(counted: dict, before: dict, base: str) -> str:
    data = json.dumps({"base": base, "counted": counted, "before": before})
    return PAGE.format(command=f"`./dev count`, commit {commit()}, g++ of Debian 12, x86-64", base=base, slack=SLACK,
                       table=table.markdown(*rows(counted, before)), data=data)


def stored(file: Path) -> dict:
    try:
        match = re.search(r"<!-- (\{.*\}) -->", file.read_text())
        return json.loads(match[1]) if match else {}
    except (OSError, ValueError) as wrong:
        raise BadInput(f"{file}: {wrong}") from None


def reference_of(file: Path) -> tuple[str, dict]:
    """The commit that the page compares with, and its counts."""
    data = stored(file)
    if not data:
        raise BadInput(f"{file} has no counts: make it with ./dev count --record --baseline PREFIX")
    return data["base"], data["before"]


def grown(counted: dict, limits: dict) -> list[str]:
    """The calls that cost more than before, slack included."""
    return [f"{model}: {STEPS[step]}: {as_text(now)} instructions, {as_text(limits[model][step])} before"
            for model in counted for step, now in counted[model].items()
            if model in limits and step not in NOT_CHECKED and now > limits[model].get(step, now) * (1 + SLACK)]

"""What an operation costs does not depend on how many others of its kind are pending: instructions at N and at 10 N, counted by valgrind.

pending_costs.py MPIEXEC PROGRAM; PROGRAM is bench/pending.c. Exit code 77: there is no valgrind.
"""

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tools"))
from heddle_tool.bench.instructions import per_call  # noqa: E402

N = 300
GROWTH = 1.2  # hash tables and trees may need a little more


def count(mpiexec: str, program: str, n: int) -> dict[str, float]:
    with tempfile.TemporaryDirectory() as folder:
        command = [mpiexec, "--timeout", "50", "-genv", "LD_BIND_NOW", "1", "-genv", "HEDDLE_PROGRESS", "off", "-n", "1",
                   "valgrind", "-q", "--tool=callgrind", "--zero-before=counted", "--dump-after=counted",
                   f"--callgrind-out-file={folder}/out", program, "--count", str(n)]
        subprocess.run(command, check=True)
        counts: dict[str, float] = {}
        for profile in sorted(Path(folder).iterdir()):
            for step, instructions in per_call([profile]).items():
                counts.setdefault(step, instructions)
        return counts


def main() -> int:
    mpiexec, program = sys.argv[1:]
    if not shutil.which("valgrind"):
        return 77
    few, many = (count(mpiexec, program, n) for n in (N, 10 * N))
    if not few or few.keys() != many.keys():
        print(f"counted: {sorted(few)} and {sorted(many)}")
        return 1
    grown = False
    for step, instructions in few.items():
        grows = many[step] > GROWTH * instructions
        grown |= grows
        print(f"{step:36}{instructions:10.0f} at {N}{many[step]:10.0f} at {10 * N}{'  GROWS' if grows else ''}")
    return int(grown)


if __name__ == "__main__":
    sys.exit(main())

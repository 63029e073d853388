"""The cost of a call does not depend on how many unrelated things are pending: instructions at N and at 10 N, counted by valgrind.

pending_costs.py MPIEXEC RANKS PROGRAM; PROGRAM is bench/pending.c or bench/matching.c. Exit code 77: there is no valgrind.
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


def count(mpiexec: str, ranks: str, program: str, n: int) -> dict[str, float]:
    """Instructions of a call, by the line that the program prints for it; its profiles are numbered in that order."""
    with tempfile.TemporaryDirectory() as folder:
        command = [mpiexec, "--timeout", "50", "-genv", "LD_BIND_NOW", "1", "-genv", "HEDDLE_PROGRESS", "off", "-n", ranks,
                   "valgrind", "-q", "--tool=callgrind", "--zero-before=counted", "--dump-after=counted",
                   f"--callgrind-out-file={folder}/out-%p", program, "--count", str(n)]
        names = subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines()
        profiles = sorted(Path(folder).glob("out-*.*"), key=lambda profile: int(profile.suffix[1:]))
        return {name: sum(per_call([profile]).values()) for name, profile in zip(names, profiles, strict=True)}


def main() -> int:
    mpiexec, ranks, program = sys.argv[1:]
    if not shutil.which("valgrind"):
        return 77
    few, many = (count(mpiexec, ranks, program, n) for n in (N, 10 * N))
    if not few or few.keys() != many.keys():
        print(f"counted: {sorted(few)} and {sorted(many)}")
        return 1
    grown = False
    for name, instructions in few.items():
        grows = many[name] > GROWTH * instructions
        grown |= grows
        print(f"{name:90}{instructions:10.0f} at {N}{many[name]:10.0f} at {10 * N}{'  GROWS' if grows else ''}")
    return int(grown)


if __name__ == "__main__":
    sys.exit(main())

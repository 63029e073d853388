#!/usr/bin/env python3
"""Ranks in pid namespaces of their own: process ids name others there, or none.

namespaces.py MPIEXEC PROGRAM CASE    PROGRAM is address_spaces.cpp's
"""
import subprocess
import sys

mpiexec, program, case = sys.argv[1:]
skipped = 77  # ctest's SKIP_RETURN_CODE

own_pids = ["unshare", "-p", "-f"]
own_everything = ["unshare", "-U", "-r", "-p", "-f", "--mount-proc"]


def rank_zero_only(wrapper):
    """Runs only rank 0 under a wrapper."""
    return ["sh", "-c", f'[ "$HEDDLE_RANK" = 0 ] && exec {" ".join(wrapper)} "$0"; exec "$0"']


# The words before mpiexec, before the program, and the number of ranks.
cases = {
    "plain": ([], [], 3),
    "each": ([], own_pids, 3),  # every rank is process 1
    "first": ([], rank_zero_only(own_pids), 3),
    "users": ([], own_everything, 2),
    "job": (own_pids, [], 3),  # all of them see each other, but not under the numbers of the machine
    # Rank 0 says that it is process 1, and for the others that is a foreign process, with the same memory.
    "foreign": (own_pids + [program], rank_zero_only(own_pids), 3),
}
before, wrapper, ranks = cases[case]

for unshare in (before, wrapper):
    if "unshare" not in " ".join(unshare):
        continue
    options = own_everything if unshare is own_everything else own_pids
    probe = subprocess.run([*options, "true"], capture_output=True, text=True, check=False)
    if probe.returncode != 0:
        print(f"skipped: {' '.join(options)} is not allowed here: {probe.stderr.strip()}")
        sys.exit(skipped)

command = [*before, mpiexec, "--timeout", "100", "-n", str(ranks), *wrapper, program]
done = subprocess.run(command, capture_output=True, text=True, check=False)
print(done.stdout, done.stderr, sep="")
if done.returncode != 0:
    sys.exit(f"{' '.join(command)} ended with {done.returncode}")
if "all messages are right" not in done.stdout:
    sys.exit("rank 0 did not come to its end")

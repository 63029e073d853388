"""A rank's requests to the system are refused, one call in each run: the job goes on or ends with a sentence, and never by a signal,
an exception or a timeout. Takes calls at random (--seed, which it prints) until its time is over."""
import argparse
import os
import random
import re
import subprocess
import sys
import tempfile
import time

parser = argparse.ArgumentParser()
parser.add_argument("mpiexec")
parser.add_argument("program")
parser.add_argument("faults")
parser.add_argument("--for", dest="so_many", default="1")
parser.add_argument("--seconds", type=float, default=6)
parser.add_argument("--seed", type=int, default=random.randrange(1 << 30))
parser.add_argument("--at", type=int, help="only this call")
options = parser.parse_args()
print(f"--seed {options.seed}", flush=True)


def run(**settings):
    command = [options.mpiexec, "--timeout", "30", "-n", "2", options.program]
    environment = {**os.environ, "LD_PRELOAD": options.faults, "SYSTEM_FAULTS_FOR": options.so_many, **settings}
    done = subprocess.run(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    return done.returncode, done.stdout


with tempfile.TemporaryDirectory() as folder:
    count = os.path.join(folder, "count")
    code, output = run(SYSTEM_FAULTS_COUNT=count)
    if code != 0:
        sys.exit(f"without a fault: exit code {code}\n{output}")
    with open(count, encoding="ascii") as file:
        calls = int(file.read())

numbers = list(range(1, calls + 1))
random.Random(options.seed).shuffle(numbers)
end = time.monotonic() + options.seconds
bad = runs = theirs = 0
for at in [options.at] if options.at else numbers:
    if time.monotonic() > end and not options.at:
        break
    runs += 1
    code, output = run(SYSTEM_FAULTS_AT=str(at))
    # mpiexec's own: 124 after a timeout, 128 and more after a signal.
    # UCX and libfabric end the process where they cannot go on: by a sentence and a signal, or by a fault in code of their own.
    if re.search(r"\w+\.c:\d+ +(Fatal|Assertion)|system_faults: signal \d+ in \S*lib(uc[a-z]|fabric)", output):
        theirs += 1
    elif code >= 124 or "terminate called" in output or (code != 0 and len(output.splitlines()) < 2):
        bad += 1
        print(f"call {at} of {calls}: exit code {code}\n{output}", flush=True)
    elif options.at:
        print(f"exit code {code}\n{output}")
print(f"{runs} of {calls} calls, {bad} bad ends, {theirs} in the network's library")
sys.exit(1 if bad or runs == 0 else 0)

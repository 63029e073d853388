"""A rank of a job that says nonsense, by seed (nonsense.cpp): the job goes on, or ends with a sentence that says between whom.

The consequences of malformed messages may be malformed, too: so both ranks may be the first to see some.
"""

import os
import subprocess
import sys
import unittest

MPIEXEC = os.environ["MPIEXEC"]
PROGRAM = os.environ["DAMAGED_PROGRAM"]
COMPONENT = os.environ["NONSENSE_COMPONENT"]
JOBS = 60
SENTENCE = r"rank ([01]) has received a malformed message from rank (?!\1)[01] on another node"


class Nonsense(unittest.TestCase):
    def test_nonsense(self):
        first = int.from_bytes(os.urandom(3), "little")
        ended = 0
        for seed in range(first, first + JOBS):
            environment = os.environ | {"HEDDLE_NODES": "2", "HEDDLE_LLN": COMPONENT, "HEDDLE_LOOPBACK_SEED": str(seed)}
            done = subprocess.run([MPIEXEC, "--timeout", "30", "-n", "2", PROGRAM], capture_output=True, text=True, timeout=60, env=environment)
            said = f"seed {seed}: exit code {done.returncode}\n{done.stdout}{done.stderr}"
            if done.returncode == 0:
                continue
            ended += 1
            self.assertRegex(said, SENTENCE)
        print(f"seeds {first} to {first + JOBS - 1}: {ended} jobs have ended")
        self.assertGreater(ended, JOBS // 2, "there is nonsense that is seen")


if __name__ == "__main__":
    sys.exit(unittest.main(verbosity=2))

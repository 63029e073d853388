#!/usr/bin/env python3
"""The values of HEDDLE_PROGRESS, and the errors for invalid ones. Usage: refusals.py MPIEXEC PROGRAM"""
import os
import subprocess
import sys
import unittest

MPIEXEC, PROGRAM = sys.argv[1:3]


def run(**environment):
    return subprocess.run([MPIEXEC, "-n", "1", PROGRAM], env={**os.environ, **environment}, capture_output=True, text=True,
                          timeout=60)


class Refusals(unittest.TestCase):
    def refuses(self, *words, **environment):
        done = run(**environment)
        self.assertNotEqual(done.returncode, 0)
        for word in words:
            self.assertIn(word, done.stderr)

    def test_unknown_word(self):
        self.refuses("invalid value busy for HEDDLE_PROGRESS", "neither idle nor off", HEDDLE_PROGRESS="busy")

    def test_model_without_a_lock(self):
        self.refuses("invalid value idle for HEDDLE_PROGRESS", "HEDDLE_MODEL=single", HEDDLE_PROGRESS="idle", HEDDLE_MODEL="single")

    def test_deferral(self):
        self.refuses("invalid value idle,defer=later for HEDDLE_PROGRESS", "neither tasklet nor direct", HEDDLE_PROGRESS="idle,defer=later")
        self.refuses("invalid value off,defer=direct for HEDDLE_PROGRESS", "defer= needs idle", HEDDLE_PROGRESS="off,defer=direct")
        self.refuses("invalid value idle,defer=direct,from=4097 for HEDDLE_PROGRESS", "more than 4096 bytes",
                     HEDDLE_PROGRESS="idle,defer=direct,from=4097")

    def test_deferral_beside_a_communication_thread(self):
        self.refuses("invalid value idle,defer=tasklet for HEDDLE_PROGRESS", "HEDDLE_MODEL=offload", "communication thread",
                     HEDDLE_PROGRESS="idle,defer=tasklet", HEDDLE_MODEL="offload")

    def test_deferral_without_a_lock(self):
        self.refuses("invalid value idle,defer=direct for HEDDLE_PROGRESS", "HEDDLE_MODEL=single", HEDDLE_PROGRESS="idle,defer=direct",
                     HEDDLE_MODEL="single")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])

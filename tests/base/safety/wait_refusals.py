#!/usr/bin/env python3
"""The values of HEDDLE_WAIT, and the errors for invalid ones.

    wait_refusals.py MPIEXEC PROGRAM
"""
import os
import subprocess
import sys
import unittest

MPIEXEC, PROGRAM = sys.argv[1:3]


def run(**environment):
    inherited = {k: v for k, v in os.environ.items() if k not in ("HEDDLE_MODEL", "HEDDLE_WAIT")}
    return subprocess.run([MPIEXEC, "-n", "1", PROGRAM], env=inherited | environment, capture_output=True, text=True,
                          timeout=60)


class Refusals(unittest.TestCase):
    def refuses(self, *words, **environment):
        done = run(**environment)
        self.assertNotEqual(done.returncode, 0)
        for word in ("rank 0", *words):
            self.assertIn(word, done.stderr)

    def test_unknown_word(self):
        for word in ("polling", "passive:5", "spin5"):
            self.refuses(f"HEDDLE_WAIT={word} is none of auto, busy, passive, spin and spin:MICROSECONDS", HEDDLE_WAIT=word)

    def test_time(self):
        for word in ("spin:", "spin:0", "spin:soon", "spin:1000001"):
            self.refuses(f"HEDDLE_WAIT={word} has no whole number of microseconds from 1 to 1000000", HEDDLE_WAIT=word)

    def test_models_with_counters(self):
        for word in ("passive", "spin:5"):
            self.refuses(f"HEDDLE_WAIT={word} is not supported with wait=usc", HEDDLE_WAIT=word, HEDDLE_MODEL="clh-usc")
        self.refuses("HEDDLE_WAIT=busy is not supported with wait=ksc", HEDDLE_WAIT="busy", HEDDLE_MODEL="mtx-ksc")

    def test_what_is_not_refused(self):
        for model, word in (("mtx", "passive"), ("csync", "spin:5"), ("clh-usc", "busy"), ("mtx-ksc", "passive"),
                            ("offload", "busy"), ("auto", ""), ("auto", "auto")):
            done = run(HEDDLE_MODEL=model, HEDDLE_WAIT=word)
            self.assertEqual(done.returncode, 0, f"{model} {word}: {done.stderr}")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])

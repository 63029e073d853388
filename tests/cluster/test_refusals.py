"""Where a cluster is not allowed, one sentence says so, with exit code 77; what is not understood gets exit code 2."""

import os
import subprocess
import sys
import unittest

import clusters


def without_root():
    os.setgroups([])
    os.setgid(65534)
    os.setuid(65534)


class Refusals(unittest.TestCase):
    def refused(self, code: int, *words: str, **more) -> str:
        done = clusters.cluster(*words, **more)
        self.assertEqual(done.returncode, code, done.stderr)
        self.assertEqual(done.stderr.count("\n"), 1, done.stderr)
        self.assertTrue(done.stderr.startswith("cluster: "), done.stderr)
        return done.stderr

    @unittest.skipIf(os.geteuid() != 0, "not root")
    def test_not_root(self):
        done = subprocess.run(["/usr/bin/python3", str(clusters.COMMAND), "2", "true"], capture_output=True, text=True, cwd="/",
                              preexec_fn=without_root)
        if "Permission denied" in done.stderr or "No such file" in done.stderr:
            self.skipTest("only root reaches this tree")
        self.assertEqual(done.returncode, 77, done.stderr)
        self.assertIn("root", done.stderr)

    @unittest.skipIf(os.geteuid() != 0, "not root")
    def test_no_capability(self):
        for capability in ("sys_admin", "net_admin"):
            done = subprocess.run(["setpriv", "--bounding-set", f"-{capability}", "--", sys.executable, str(clusters.COMMAND), "2",
                                   "true"], capture_output=True, text=True, cwd=clusters.TREE)
            self.assertEqual(done.returncode, 77, done.stderr)
            self.assertEqual(done.stderr.count("\n"), 1, done.stderr)

    def test_not_understood(self):
        self.assertIn("is no time", self.refused(2, "--delay", "20", "2", "true"))
        self.assertIn("is no loss", self.refused(2, "--loss", "0.1", "2", "true"))
        self.assertIn("is no rate", self.refused(2, "--rate", "fast", "2", "true"))
        self.assertIn("3 rates for --rails 2", self.refused(2, "--rails", "2", "--rate", "1gbit,2gbit,3gbit", "2", "true"))
        self.assertIn("1 to 250", self.refused(2, "0", "true"))
        self.assertIn("--colour", self.refused(2, "--colour", "2", "true"))
        self.assertIn("there is no cluster", self.refused(2, "--name", "nonesuch", "status"))
        self.assertIn("--name", self.refused(2, "status"))


if __name__ == "__main__":
    unittest.main(verbosity=2)

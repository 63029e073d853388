"""`heddle bench run --cluster`: one short run of MPICH and of the network's own test between two nodes."""

import json
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import clusters


def bench(*words: str) -> subprocess.CompletedProcess:
    return subprocess.run([sys.executable, "-B", str(clusters.TREE / "tools" / "heddle"), "bench", "run", *words, "--no-heddle",
                           "--against", "mpich", "--repeats", "1", "--patience", "1", "--seconds", "0.1"],
                          capture_output=True, text=True, timeout=clusters.LIMIT, cwd=clusters.TREE)


class Bench(clusters.Case):
    def test_between_two_nodes(self):
        with tempfile.TemporaryDirectory() as folder:
            done = bench("latency", "--cluster", "2", "--delay", "100us", "--out", folder)
            self.assertEqual(done.returncode, 0, done.stderr)
            data = json.loads(next(Path(folder).glob("*.json")).read_text())
        self.assertEqual(data["nodes"]["conditions"], {"delay": "100us"})
        (cell,) = data["cells"]
        told = ["mpich"] + (["ucx_perftest"] if shutil.which("ucx_perftest") else [])
        self.assertEqual(list(cell["results"]), told)
        for label in told:
            (run,) = cell["results"][label]["runs"]
            self.assertEqual(run["status"], "ok", run)
            self.assertGreater(run["value"], 100)  # us: it went through the network

    def test_a_cluster_that_cannot_be_made(self):
        done = bench("latency", "--cluster", "2", "--delay", "long")
        self.assertEqual(done.returncode, 2)
        self.assertIn("no cluster of 2 nodes can be made: argument --delay: 'long' is no time", done.stderr)


if __name__ == "__main__":
    clusters.main(peer="mpich")

"""The scripts and lines of docs/guides/many-machines.md, as they stand there, with the demo program."""

import os
import re
import shutil
import tempfile
from pathlib import Path

import clusters

MANY_RANKS = 180  # seconds, for eight ranks of four threads on as few cores as there may be

DEMO = os.environ["JOB_DEMO"]
GUIDE = (clusters.TREE / "docs" / "guides" / "many-machines.md").read_text()
SCRIPTS = re.findall(r"```sh\n(#!/bin/sh\n.*?)```", GUIDE, re.DOTALL)
HANDED_OVER = re.findall(r"^mpiexec -host .*demo.*$", GUIDE, re.MULTILINE)
MPIEXEC = os.environ["JOB_MPIEXEC"]
LINES = re.findall(r"^((?:prterun|mpiexec\.hydra) .*demo.*)$", GUIDE, re.MULTILINE)


class Guide(clusters.Case):
    def setUp(self):
        # All nodes see it, as they do not see /tmp.
        self.folder = Path(tempfile.mkdtemp(prefix="guide-", dir=Path(DEMO).parent))
        self.addCleanup(shutil.rmtree, self.folder)
        shutil.copy(DEMO, self.folder / "demo")

    def run_there(self, option: str, text: str) -> str:
        done = clusters.cluster(option, "2", "sh", "-euc", f"cd {self.folder}; {text}", limit=MANY_RANKS)
        if done.returncode == 77:
            self.skipTest(done.stderr)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return done.stdout

    def is_good(self, said: str, ranks: int) -> None:
        self.assertIn(f"{ranks} ranks, ", said)
        self.assertRegex(said, r"answers checked, 0 wrong")

    def test_slurm(self):
        self.assertEqual(len(SCRIPTS), 2)
        for script, ranks in zip(SCRIPTS, (2, 8)):
            with self.subTest(ranks=ranks):
                (self.folder / "job.sh").write_text(script)
                output = re.search(r"--output=(\S+)", script)[1]
                self.is_good(self.run_there("--slurm", f"sbatch --wait job.sh >/dev/null; cat {output}"), ranks)

    def test_other_launchers(self):
        self.assertEqual(len(LINES), 4)
        for line in LINES:
            with self.subTest(line=line):
                ranks = int(re.search(r"-n (\d+)", line)[1])
                if line.startswith("mpiexec.hydra"):
                    said = self.run_there("--hydra", line)
                else:
                    # The guide's advice for nodes that have fewer cores than ranks.
                    more = " --bind-to none" if ranks // 2 > os.cpu_count() else ""
                    said = self.run_there("--prrte", line.replace("prterun", "prterun" + more))
                self.is_good(said, ranks)

    def test_mpiexec_hands_over(self):
        self.assertEqual(len(HANDED_OVER), 1)
        line = HANDED_OVER[0].replace("mpiexec", MPIEXEC)
        for option, launcher in (("--prrte", "prterun"), ("--hydra", "mpiexec.hydra")):
            with self.subTest(launcher):
                self.is_good(self.run_there(option, f"{line} 2>said; cat said; grep -qF 'other machines by {launcher}' said"), 2)
        self.is_good(self.run_there("--slurm", f"salloc -Q -N2 -n4 {MPIEXEC} -N 1 ./demo --quick 2>said; cat said; grep -qF 'other machines by srun' said"), 2)


if __name__ == "__main__":
    clusters.main()

"""Slurm really runs: srun with its PMIs, sbatch, and what it says about a node that has gone."""

import re

import clusters

WHO = clusters.TREE / "tests" / "cluster" / "who.sh"


class Slurm(clusters.Case):
    def ranks(self, said: str, of: str) -> None:
        """Ranks 0 to 3 on two nodes, by Slurm and by the PMI."""
        found = re.findall(r"pmi=(\d*)/\d* pmi_fd=(\w*) pmix=(\d*) slurm=(\d+) node=(\w+)", said)
        self.assertEqual(sorted(int(rank[3]) for rank in found), [0, 1, 2, 3], said)
        self.assertEqual(sorted(rank[4] for rank in found), ["node1", "node1", "node2", "node2"], said)
        for pmi, fd, pmix, slurm, _ in found:
            self.assertEqual(pmi if of == "pmi" else pmix, slurm, said)
            self.assertEqual(fd, "set" if of == "pmi" else "", said)

    def test_ranks(self):
        said = self.script("--slurm", "2", text=f"""
            srun -N2 -n4 hostname
            echo --
            srun --mpi=pmi2 -N2 -n4 {WHO}
            echo --
            srun --mpi=pmix -N2 -n4 {WHO}""")
        plain, pmi2, pmix = said.split("--\n")
        self.assertEqual(sorted(plain.split()), ["node1", "node1", "node2", "node2"])
        self.ranks(pmi2, "pmi")
        self.ranks(pmix, "pmix")

    def test_sbatch(self):
        said = self.script("--slurm", "2", text=f"""
            cat >/tmp/job <<'JOB'
#!/bin/sh
#SBATCH --nodes=2 --ntasks=4 --output=/run/cluster/job.out
srun --mpi=pmix {WHO}
JOB
            sbatch --wait /tmp/job >/dev/null
            cat /run/cluster/job.out""")
        self.ranks(said, "pmix")

    def test_more_ranks_than_cores(self):
        said = self.succeed("--slurm", "2", "srun", "-N2", "-n16", "hostname")
        self.assertEqual(len(said.split()), 16)

    def test_a_rank_that_fails(self):
        self.assertEqual(clusters.cluster("--slurm", "2", "srun", "-N2", "sh", "-c", "exit 3").returncode, 3)


if __name__ == "__main__":
    clusters.main(options=("--slurm",))

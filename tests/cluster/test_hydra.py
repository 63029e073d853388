"""Hydra reaches the nodes by the stand-in for ssh."""

import re

import clusters

WHO = clusters.TREE / "tests" / "cluster" / "who.sh"


class Hydra(clusters.Case):
    def test_ranks(self):
        said = self.succeed("--hydra", "2", "mpiexec.hydra", "-hosts", "node1,node2", "-ppn", "2", "-n", "4", str(WHO))
        found = re.findall(r"pmi=(\d+)/4 pmi_fd=set pmix= slurm= node=(\w+)", said)
        self.assertEqual(sorted(found), [("0", "node1"), ("1", "node1"), ("2", "node2"), ("3", "node2")], said)

    def test_a_rank_that_fails(self):
        done = clusters.cluster("--hydra", "2", "mpiexec.hydra", "-hosts", "node1,node2", "-ppn", "1", "sh", "-c", "exit 3")
        self.assertEqual(done.returncode, 3, done.stderr)


if __name__ == "__main__":
    clusters.main(peer="mpich")

"""Jobs on two nodes of a cluster, started from a third one, go on without a rank, a node, or one whose cable is pulled (tests/mpi/ft/campaign.py)."""

import os
import sys

import clusters

CAMPAIGN = clusters.TREE / "tests" / "mpi" / "ft" / "campaign.py"
NETWORKS = os.environ["SURVIVAL_NETWORKS"].split()


class Survival(clusters.Case):
    def survives(self, lost: str, seeds: int, *more: str) -> None:
        for network in NETWORKS:
            done = clusters.cluster("3", sys.executable, "-B", str(CAMPAIGN), os.environ["JOB_MPIEXEC"], os.environ["JOB_FT_RANDOM"], "--hosts",
                                    "node2:4,node3:4", "--lose", lost, "--seeds", str(seeds), *more, limit=200, env=os.environ | {"HEDDLE_LLN": network})
            self.assertEqual(done.returncode, 0, f"{network}: {done.stdout}{done.stderr}")
            self.assertIn(f"{seeds} of {seeds} runs survived", done.stdout)

    def test_ranks(self):
        self.survives("rank", 10)

    def test_ranks_that_are_threads(self):
        self.survives("rank", 5, "--threads", "2")

    def test_nodes(self):
        self.survives("node", 10)

    def test_cables(self):
        self.survives("cable", 5)


if __name__ == "__main__":
    clusters.main()

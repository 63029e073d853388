"""How jobs on several nodes end, under each launcher: soon, with one message that says why, and nothing is left on any node.

The time from what happens to the end of the last rank is printed.
"""

import os
import re
import shlex
import time
from pathlib import Path

import clusters

PROGRAM = os.environ["JOB_PROGRAM"]  # tests/launch/mpiexec/endings.c
FEW_PEERS = os.environ["JOB_FEW_PEERS"]  # tests/network/few_peers.cpp
PROCESS_SETS = os.environ["JOB_PROCESS_SETS"]  # tests/objects/object/process_sets.cpp
COMPONENTS = Path(os.environ["JOB_COMPONENTS"])  # the folder of the networks
# The option of a cluster that has it, and how it starts two ranks on each of N nodes.
LAUNCHERS = {
    "pmi2": ("--slurm", "srun --mpi=pmi2 -N{nodes} -n{ranks}"),
    "pmix": ("--slurm", "srun --mpi=pmix -N{nodes} -n{ranks}"),
    # It would bind ranks, which then keep their core busy, to cores that the nodes share.
    "prterun": ("--prrte", "prterun --bind-to none --host {slots} -n {ranks}"),
    "hydra": ("--hydra", "mpiexec.hydra -hosts {hosts} -ppn 2 -n {ranks}"),
    # Ours has Hydra start one on each node, whose ranks are threads.
    "threads": ("--hydra", os.environ["JOB_MPIEXEC"] + " -q -ranks threads -host {hosts} -ppn 2 -n {ranks}"),
}
ANY = -1  # exit code: prterun's is 0 when it has lost a node

# The job in the background, until all its ranks wait; then what happens to it.
SCRIPT = """
{before}
{line} {program} {how} >/run/cluster/said 2>&1 &
job=$!
until [ "$(grep -c '^rank' /run/cluster/said)" = {ranks} ] || ! kill -0 $job 2>/dev/null; do sleep 0.05; done
begun=$(date +%s%N)
{happens}
for node in $(seq {nodes}); do
  tries=0
  while cluster node $node sh -c 'pgrep -x mpiexec_endings || pgrep -x heddle-host' >/dev/null 2>&1; do
    tries=$((tries + 1))
    if [ $tries = 200 ]; then echo "left on node $node"; break; fi
    sleep 0.05
  done
done
echo "after=$((($(date +%s%N) - begun) / 1000000))"
{then}
wait $job && code=0 || code=$?
echo "code=$code"
cat /run/cluster/said
"""


def launch_line(launcher: str, nodes: int) -> str:
    names = [f"node{k}" for k in range(1, nodes + 1)]
    return LAUNCHERS[launcher][1].format(nodes=nodes, ranks=2 * nodes, hosts=",".join(names), slots=",".join(f"{n}:2" for n in names))


class Jobs(clusters.Case):
    def end(self, launcher: str, how: str, happens: str, before: str, then: str, nodes: int, rails: int) -> tuple[int, str]:
        """The exit code of the launcher, and what it and the ranks have said. `then`: once no rank is left."""
        option = LAUNCHERS[launcher][0]
        if clusters.cluster(option, "1", "true").returncode:
            self.skipTest(f"{launcher} is not there")
        text = SCRIPT.format(line=launch_line(launcher, nodes), program=PROGRAM, how=shlex.quote(how), happens=happens, before=before,
                             then=then, nodes=nodes, ranks=2 * nodes)
        begun = time.monotonic()
        done = clusters.cluster(option, "--rails", str(rails), str(nodes), "sh", "-uc", text)
        said = done.stdout + done.stderr
        self.assertEqual(done.returncode, 0, said)
        self.assertNotIn("left on node", said)
        self.assertLess(time.monotonic() - begun, clusters.LIMIT, said)
        milliseconds, code = map(int, re.search(r"after=(\d+)\ncode=(\d+)", said).groups())
        print(f"{self.id().split('.')[-1]} {launcher}: {milliseconds} ms", flush=True)
        return code, said

    def every(self, how: str, happens: str = ":", *, before: str = "", then: str = ":", message: str = "", code: int | None = None,
              launchers=tuple(LAUNCHERS), nodes: int = 2, rails: int = 1) -> None:
        for launcher in launchers:
            with self.subTest(launcher=launcher):
                ended, said = self.end(launcher, how, happens, before, then, nodes, rails)
                if message:
                    self.assertEqual(said.count(message), 1, said)
                if code is None:
                    self.assertNotEqual(ended, 0, said)
                elif code != ANY:
                    self.assertEqual(ended, code, said)

    def test_abort(self):
        self.every("abort", message="MPI_Abort", code=5)

    def test_exit_without_finalize(self):
        self.every("exit 7", message="has ended without MPI_Finalize", launchers=("pmi2", "pmix"))

    def test_exit_before_init(self):
        """For a rank of either node. Only the launcher knows its exit code; prterun may see to it by itself."""
        for rank, node in ((1, 1), (3, 2)):
            self.every(f"early {rank}", message=f"rank {rank} on node{node} has ended without MPI_Init, which others wait in; the job ends",
                       launchers=("pmi2", "pmix", "hydra"))
        self.every("early 3", launchers=("prterun",))

    def test_quit(self):
        """Each node says what its ranks wait for, and the job goes on until it is ended."""
        ask = """sleep 0.2
            cluster node 2 sh -c 'kill -QUIT $(pgrep -x {asked} | head -1)'
            tries=0
            until [ "$(grep -c 'MPI_Recv from 0, tag 42, MPI_COMM_WORLD' /run/cluster/said)" = 2 ] || [ $tries = 200 ]; do
              tries=$((tries + 1)); sleep 0.05
            done
            cluster node 2 sh -c 'kill -9 $(pgrep -x {killed} | head -1)'"""
        for launcher in LAUNCHERS:
            with self.subTest(launcher=launcher):
                threads = launcher == "threads"  # there the mpiexec of a node passes it on
                happens = ask.format(asked="mpiexec" if threads else "mpiexec_endings", killed="heddle-host" if threads else "mpiexec_endings")
                _, said = self.end(launcher, "wait", happens, "", ":", 2, 1)
                self.assertEqual(said.count("got SIGQUIT, and goes on; 2 of 4 ranks, on node"), 2, said)
                for node in (1, 2):
                    self.assertRegex(said, rf"ranks {2 * node - 2}-{2 * node - 1}, 2 threads: MPI_Recv from 0, tag 42, MPI_COMM_WORLD, \d+ s\n")

    def test_timeout(self):
        """Each node says what its ranks wait for before they end."""
        for launcher in LAUNCHERS:
            with self.subTest(launcher=launcher):
                code, said = self.end(launcher, "wait", ":", "export HEDDLE_TIMEOUT=2", ":", 2, 1)
                self.assertEqual(code, 124, said)
                for node in (1, 2):
                    self.assertEqual(said.count(f"the job has not ended in 2 s (HEDDLE_TIMEOUT); ending it; 2 of 4 ranks, on node{node}:"), 1, said)
                    self.assertRegex(said, rf"ranks {2 * node - 2}-{2 * node - 1}, 2 threads: MPI_Recv from 0, tag 42, MPI_COMM_WORLD, \d+ s\n")

    def test_killed_rank(self):
        kill = "cluster node 2 sh -c 'kill -9 $(pgrep -x mpiexec_endings | head -1)'"
        self.every("wait", kill, message="has ended without MPI_Finalize", launchers=("pmi2", "pmix"))

    def test_killed_process_of_threads(self):
        """Those of its ranks end with it, and the mpiexec of its node says so."""
        self.every("wait", "cluster node 2 pkill -9 -x heddle-host", message="the process of ranks 2 to 3", launchers=("threads",))

    # srun and prterun, which cannot reach the node either, may wait for it for a minute: they are killed once no rank is left.

    def test_pulled_cable(self):
        self.every("wait", "cluster link 2 down", then="sleep 1; kill -9 $job", message="is gone")

    def test_pulled_cable_while_messages_flow(self):
        self.every("talk", "sleep 0.2; cluster link 2 down", then="sleep 1; kill -9 $job", message="is gone")

    def test_pulled_cable_of_the_first_of_three(self):
        """Rank 0's node is cut off from all, with the launcher; the others do not hear from each other but by it."""
        self.every("wait", "cluster link 1 down", then="sleep 1; kill -9 $job", message="is gone", nodes=3)

    def test_pulled_cable_of_the_last_of_three(self):
        self.every("talk", "sleep 0.2; cluster link 3 down", then="sleep 1; kill -9 $job", message="is gone", nodes=3)

    def test_pulled_cable_of_the_second_rail(self):
        """The agents of the nodes still hear from each other, by the first one."""
        for network in ("ucx", "ofi"):
            if not (COMPONENTS / f"lln-{network}.so").exists():
                continue
            for how in ("talk", "wait"):
                self.every(how, "sleep 0.2; cluster link 2 down 2", message="eth1, a rail of HEDDLE_RAILS, has had no link for 2 s",
                           before=f"export HEDDLE_LLN={network} HEDDLE_RAILS=eth0,eth1 HEDDLE_MODEL=auto,strategy=split",
                           launchers=("pmi2", "hydra", "threads"), rails=2)

    def test_killed_node(self):
        self.every("wait", "cluster kill-node 2", message="is gone", launchers=("pmi2", "pmix"))
        # These notice themselves, and end the ranks.
        self.every("wait", "cluster kill-node 2", message="PRTE has lost communication", launchers=("prterun",), code=ANY)
        self.every("wait", "cluster kill-node 2", message="[mpiexec@node1] control_cb", launchers=("hydra",))

    def test_killed_daemon(self):
        """A job goes on without slurmd, and ends as it would with it."""
        kill = "cluster node 2 pkill -9 -x slurmd; sleep 1; cluster node 2 sh -c 'kill -9 $(pgrep -x mpiexec_endings | head -1)'"
        self.every("wait", kill, message="has ended without MPI_Finalize", launchers=("pmi2", "pmix"))

    def test_killed_launcher(self):
        self.every("wait", "kill -9 $job")

    # ---- what a launcher says

    def test_process_sets(self):
        """For PRRTE: one of each part of the command line that has a name."""
        done = clusters.cluster("--prrte", "2", "prterun", "--bind-to", "none", "--host", "node1:2,node2:2",
                                "--pset", "ocean", "-n", "1", PROCESS_SETS, "ocean", ":", "--pset", "air", "-n", "3", PROCESS_SETS, "air")
        if done.returncode == 77:
            self.skipTest(done.stderr)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertEqual(sorted(done.stdout.split("\n")), sorted(["", "ocean: 0", *["air: 1 2 3"] * 3, *["mpi://WORLD: 0 1 2 3"] * 4]))

    # ---- what a job opens

    def test_few_connections(self):
        """64 ranks, each of which talks to two on other nodes."""
        hosts = ",".join(f"node{k}" for k in range(1, 5))
        for network in ("ucx", "ofi"):
            if not (COMPONENTS / f"lln-{network}.so").exists():
                continue
            with self.subTest(network=network):
                done = clusters.cluster("--hydra", "4", "mpiexec.hydra", "-genv", "HEDDLE_LLN", network, "-hosts", hosts, "-ppn", "16",
                                        "-n", "64", FEW_PEERS)
                if done.returncode == 77:
                    self.skipTest(done.stderr)
                self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
                self.assertIn("64 ranks: rank 0 talks to 2", done.stdout)
                print(f"{network}: {done.stdout}", flush=True)

    # ---- what a node lacks

    def test_full_shared_memory(self):
        """It is not needed."""
        fill = "cluster node 2 mount -o remount,size=4k /dev/shm; cluster node 2 sh -c 'dd if=/dev/zero of=/dev/shm/x 2>/dev/null || true'"
        self.every("well", before=fill, code=0, launchers=("pmi2", "hydra", "threads"))

    def hide(self, *files: str, nodes=(1, 2)) -> str:
        return "; ".join(f"cluster node {node} mount --bind /dev/null {COMPONENTS / file}" for node in nodes for file in files)

    def test_no_network(self):
        self.every("well", before=self.hide("lln-ucx.so", "lln-ofi.so"), message="cannot load a network", launchers=("pmi2", "hydra", "threads"))

    def test_one_network_less(self):
        if not (COMPONENTS / "lln-ucx.so").exists() or not (COMPONENTS / "lln-ofi.so").exists():
            self.skipTest("one network is not built")
        self.every("well", before=self.hide("lln-ucx.so"), code=0, launchers=("pmi2",))
        self.every("well", before=self.hide("lln-ucx.so", nodes=(2,)), message="install the same networks on all nodes", launchers=("pmi2", "hydra", "threads"))

    def test_wrong_network(self):
        self.every("well", before="export HEDDLE_LLN=ucxx", message="HEDDLE_LLN=ucxx: unknown network",
                   launchers=("pmi2", "pmix", "hydra", "threads"))

    def test_pretended_nodes(self):
        """HEDDLE_NODES is for one machine."""
        self.every("well", before="export HEDDLE_NODES=2", message="HEDDLE_NODES=2 simulates nodes on one machine",
                   launchers=("pmi2", "hydra", "threads"))


if __name__ == "__main__":
    clusters.main(options=())

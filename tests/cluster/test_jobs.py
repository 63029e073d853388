"""How jobs on several nodes end, under each launcher: within some seconds, with a message that says why, and nothing is left on any node."""

import os
import shlex
import time

import clusters

PROGRAM = os.environ["JOB_PROGRAM"]  # tests/mpiexec/endings.c
LAUNCHERS = {
    "pmi2": ("--slurm", "srun --mpi=pmi2 -N2 -n4"),
    "pmix": ("--slurm", "srun --mpi=pmix -N2 -n4"),
    "prterun": ("--prrte", "prterun --host node1:2,node2:2 -n 4"),
    "hydra": ("--hydra", "mpiexec.hydra -hosts node1,node2 -ppn 2 -n 4"),
}

# The job in the background, until all its ranks wait; then what happens to it.
SCRIPT = """
{line} {program} {how} >/run/cluster/said 2>&1 &
job=$!
until [ "$(grep -c '^rank' /run/cluster/said)" = 4 ] || ! kill -0 $job 2>/dev/null; do sleep 0.05; done
{happens}
wait $job && code=0 || code=$?
echo "code=$code"
cat /run/cluster/said
for node in 1 2; do
  tries=0
  while cluster node $node pgrep -x mpiexec_endings >/dev/null 2>&1; do
    tries=$((tries + 1))
    if [ $tries = 100 ]; then echo "left on node $node"; break; fi
    sleep 0.05
  done
done
"""


class Jobs(clusters.Case):
    def end(self, launcher: str, how: str, happens: str = ":") -> tuple[int, str]:
        """The exit code of the launcher, and what it and the ranks have said."""
        option, line = LAUNCHERS[launcher]
        if clusters.cluster(option, "1", "true").returncode:
            self.skipTest(f"{launcher} is not there")
        text = SCRIPT.format(line=line, program=PROGRAM, how=shlex.quote(how), happens=happens)
        begun = time.monotonic()
        done = clusters.cluster(option, "2", "sh", "-uc", text)
        said = done.stdout + done.stderr
        self.assertEqual(done.returncode, 0, said)
        self.assertNotIn("left on node", said)
        self.assertLess(time.monotonic() - begun, clusters.LIMIT, said)
        return int(said.split("code=")[1].split()[0]), said

    def every(self, how: str, happens: str = ":", *, message: str, code: int | None = None, launchers=tuple(LAUNCHERS)) -> None:
        for launcher in launchers:
            with self.subTest(launcher=launcher):
                ended, said = self.end(launcher, how, happens)
                self.assertEqual(said.count(message), 1, said)
                if code is None:
                    self.assertNotEqual(ended, 0, said)
                else:
                    self.assertEqual(ended, code, said)

    def test_abort(self):
        self.every("abort", message="MPI_Abort", code=5)

    def test_exit_without_finalize(self):
        self.every("exit 7", message="has ended without MPI_Finalize", launchers=("pmi2", "pmix"))

    def test_killed_rank(self):
        kill = "cluster node 2 sh -c 'kill -9 $(pgrep -x mpiexec_endings | head -1)'"
        self.every("wait", kill, message="has ended without MPI_Finalize", launchers=("pmi2", "pmix"))

    def test_pulled_cable(self):
        self.every("wait", "cluster link 2 down", message="is gone")

    def test_killed_node(self):
        self.every("wait", "cluster kill-node 2", message="is gone")


if __name__ == "__main__":
    clusters.main(options=())

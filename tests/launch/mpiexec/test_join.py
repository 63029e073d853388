"""The library's side: joining a job, a singleton, and the message when neither is possible."""

import subprocess

import launcher
from launcher import MPI_PROGRAM, RANK, LauncherTest


class Join(LauncherTest):
    def alone(self, *steps: str, **env: str) -> subprocess.CompletedProcess:
        return subprocess.run([RANK, *steps], env=self.environment(**env), capture_output=True, text=True, timeout=200)

    def test_world_of_one(self):
        done = self.alone("join", "who", "leave")
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "rank 0 of 1\n", ""))

    def test_abort_of_a_world_of_one(self):
        done = self.alone("join", "abort", "7", "no reason")
        self.assertEqual((done.returncode, done.stderr), (7, "no reason\n"))

    def refused(self, says: list[str], program: tuple[str, ...] = (RANK, "join", "who", "leave"), **env: str):
        done = subprocess.run(program, env=self.environment(**env), capture_output=True, text=True, timeout=200)
        self.assertNotEqual(done.returncode, 0)
        self.assertEqual(done.stdout, "")
        for part in [*says, "mpiexec -n N", "HEDDLE_SINGLETON=1"]:
            self.assertIn(part, done.stderr)
        allowed = subprocess.run(program, env=self.environment(**env, HEDDLE_SINGLETON="1"), capture_output=True, text=True, timeout=200)
        self.assertEqual((allowed.returncode, allowed.stdout, allowed.stderr), (0, "rank 0 of 1\n", ""))

    def test_foreign_launchers(self):
        for says, variables in (
            (["PMI_SIZE=4", "MPICH", "PMI_FD=177 is not an open socket"], {"PMI_SIZE": "4", "PMI_RANK": "0", "PMI_FD": "177"}),
            (["OMPI_COMM_WORLD_SIZE=4", "Open MPI"], {"OMPI_COMM_WORLD_SIZE": "4", "OMPI_COMM_WORLD_RANK": "3", "PMIX_RANK": "3"}),
            (["SLURM_STEP_NUM_TASKS=4", "srun"], {"SLURM_STEP_NUM_TASKS": "4", "SLURM_PROCID": "0", "SLURM_NTASKS": "4"}),
            (["srun --mpi=pmi2"], {"SLURM_STEP_NUM_TASKS": "4", "SLURM_PROCID": "0"}),
            (["FLUX_JOB_SIZE=4", "flux run"], {"FLUX_JOB_SIZE": "4", "FLUX_TASK_RANK": "1", "PMI_FD": "177"}),
            (["PALS_SIZE=4", "PALS"], {"PALS_SIZE": "4", "PALS_RANKID": "1"}),
            (["PMI_SIZE=4"], {"PALS_RANKID": "1", "PMI_SIZE": "4", "PMI_RANK": "1"}),
            (["JSM_NAMESPACE_SIZE=4", "jsrun"], {"JSM_NAMESPACE_SIZE": "4", "JSM_NAMESPACE_RANK": "1"}),
            (["PMI_FD=177", "may have started this as one of several"], {"PMI_FD": "177"}),
            (["PMIX_RANK=2", "PMIx"], {"PMIX_RANK": "2"}),
        ):
            self.refused(says, **variables)

    def test_foreign_launcher_of_a_real_program(self):
        self.refused(["MPI_Init", "PMI_SIZE=4", "one of 4 processes"], (MPI_PROGRAM, "well"), PMI_SIZE="4", PMI_RANK="2")

    def test_foreign_launcher_of_one_process(self):
        for variables in ({"PMI_SIZE": "1", "PMI_RANK": "0", "PMI_FD": "7"}, {"SLURM_STEP_NUM_TASKS": "1", "PMIX_RANK": "0"},
                          {"OMPI_COMM_WORLD_SIZE": "1", "PMIX_RANK": "0"}, {"FLUX_JOB_SIZE": "1", "PMI_FD": "5"},
                          # a batch script, and a shell with an allocation: no launcher has started several processes
                          {"SLURM_NTASKS": "8", "SLURM_PROCID": "0", "SLURM_JOB_ID": "77", "SLURM_NPROCS": "8"}):
            done = self.alone("join", "who", "leave", **variables)
            self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "rank 0 of 1\n", ""), variables)

    def test_our_launcher_below_a_foreign_one(self):
        outer = {"SLURM_STEP_NUM_TASKS": "4", "SLURM_PROCID": "2", "PMI_SIZE": "4", "PMI_RANK": "2", "PMI_FD": "9", "PMIX_RANK": "2",
                 "OMPI_COMM_WORLD_SIZE": "4", "FLUX_JOB_SIZE": "4", "PALS_RANKID": "2"}
        self.assertEqual(self.run_job("-n", "2", MPI_PROGRAM, "well", env=outer).lines, ["rank 0 of 2", "rank 1 of 2"])
        # Also what a rank starts is not one of the outer launcher's processes.
        result = self.run_job("-n", "2", RANK, "join", "run", f"{RANK} join who leave", "leave", env=outer)
        self.assertEqual((result.out, result.err), ("rank 0 of 1\n" * 2, ""))

    def test_nonsense(self):
        done = self.alone("join", HEDDLE_JOB_FD="seven", HEDDLE_RANK="0", HEDDLE_LAUNCHER="1")
        self.assertEqual(done.returncode, 3)
        self.assertIn("HEDDLE_JOB_FD=seven", done.stderr)
        done = self.alone("join", HEDDLE_JOB_FD="0", HEDDLE_RANK="0", HEDDLE_LAUNCHER="1")
        self.assertIn("does not hold that job", done.stderr)
        self.assertIn("HEDDLE_RANK=(unset)", self.alone("join", HEDDLE_JOB_FD="0", HEDDLE_LAUNCHER="1").stderr)

    def test_wrong_rank(self):
        result = self.run_job("-n", "2", "sh", "-c", f"HEDDLE_RANK=5 {RANK} join")
        self.assertIn("HEDDLE_RANK=5, but the job has 2 ranks", result.err)
        self.assertEqual(result.code, 3)

    def test_a_wrapper_that_closes_descriptors(self):
        code = f"import subprocess; subprocess.run(['{RANK}', 'join', 'who', 'leave'], close_fds=True, check=True)"
        result = self.run_job("-n", "2", "python3", "-c", code)
        self.assertEqual(result.lines, ["rank 0 of 2", "rank 1 of 2"])

    def test_a_program_that_a_rank_starts_is_alone(self):
        result = self.run_job("-n", "2", RANK, "join", "run", f"{RANK} join who leave", "leave")
        self.assertEqual(result.out, "rank 0 of 1\n" * 2)

    def test_mpiexec_in_a_rank(self):
        result = self.run_job("-n", "1", "sh", "-c", f"{launcher.MPIEXEC} -n 2 {RANK} join who leave")
        self.assertEqual(result.lines, ["rank 0 of 2", "rank 1 of 2"])

    def test_scripts_may_use_low_descriptors(self):
        result = self.run_job("-n", "2", "sh", "-c", f"exec 3>/dev/null 4>&1 9</dev/null; exec {RANK} join who leave")
        self.assertEqual(result.lines, ["rank 0 of 2", "rank 1 of 2"])


if __name__ == "__main__":
    launcher.main()

"""The library's side: joining a job, a world of one, and what is said when neither is possible."""

import subprocess

import launcher
from launcher import RANK, LauncherTest


class Join(LauncherTest):
    def alone(self, *steps: str, **env: str) -> subprocess.CompletedProcess:
        return subprocess.run([RANK, *steps], env=self.environment(**env), capture_output=True, text=True, timeout=200)

    def test_world_of_one(self):
        done = self.alone("join", "who", "leave")
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "rank 0 of 1\n", ""))

    def test_abort_of_a_world_of_one(self):
        done = self.alone("join", "abort", "7", "no reason")
        self.assertEqual((done.returncode, done.stderr), (7, "no reason\n"))

    def test_foreign_launchers(self):
        for variables in ({"PMI_SIZE": "4", "PMI_RANK": "0"}, {"OMPI_COMM_WORLD_SIZE": "4", "OMPI_COMM_WORLD_RANK": "0"},
                          {"SLURM_STEP_NUM_TASKS": "4", "SLURM_PROCID": "0"}):
            done = self.alone("join", "who", "leave", **variables)
            self.assertEqual(done.stdout, "rank 0 of 1\n")
            self.assertIn("warning: this program was started as one of 4 processes", done.stderr)
        self.assertEqual(self.alone("join", PMI_SIZE="4", PMI_RANK="2").stderr, "")  # said once, by rank 0
        self.assertEqual(self.alone("join", PMI_SIZE="1", PMI_RANK="0").stderr, "")

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

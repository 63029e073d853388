"""Jobs that another launcher starts, with a stand-in for the launcher: joining, several nodes, ends, and launchers that misbehave."""

import os
import pathlib
import random
import re
import socket
import subprocess
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "mpiexec"))
import launcher  # noqa: E402
from launcher import MPI_PROGRAM, RANK, LauncherTest  # noqa: E402
from pmi_server import Launcher, Result  # noqa: E402

MANY_NODES = os.environ["BOOT_NODES_PROGRAM"]  # placement.cpp: says who is where, and sends to all
REPORT_DELAY = 5  # seconds in which a rank that waits in MPI_Init says nothing
END_LIMIT = 5.0  # seconds: 2, on a machine that others keep busy


def lines(size: int) -> list[str]:
    return [f"rank {rank} of {size}" for rank in range(size)]


class Launched(LauncherTest):
    def launch(self, size: int, *steps: str, program: str = RANK, env: dict[str, str] | None = None, **options) -> Result:
        result = Launcher(size, [program, *steps], self.environment(**(env or {})), **options).run()
        self.assertEqual(launcher.processes_with(self.mark), [])
        self.assertEqual(self.shared_memory() - self.shared_before, set())
        return result

    def well(self, size: int, *steps: str, **options) -> Result:
        result = self.launch(size, *steps, **options)
        self.assertEqual((result.codes, result.err, result.finalized), ([0] * size, "", size))
        return result

    # ---- joining

    def test_each_version(self):
        for version in (1, 2):
            with self.subTest(version):
                self.assertEqual(self.well(4, "join", "who", "leave", version=version).lines, lines(4))

    def test_several_nodes(self):
        for size, nodes in ((2, 2), (5, 2), (4, 4), (7, 3), (3, 3)):
            with self.subTest(f"{size} on {nodes}"):
                self.assertEqual(self.well(size, "join", "who", "leave", env={"HEDDLE_NODES": str(nodes)}).lines, lines(size))

    def test_the_launcher_carries_one_text(self):
        result = self.well(6, "join", "leave", env={"HEDDLE_NODES": "3"})
        self.assertEqual(list(result.put), ["heddle-job"])
        self.assertLess(len(result.put["heddle-job"]), 1000)

    def test_a_program_of_a_rank_is_alone(self):
        self.assertEqual(self.well(2, "join", "run", f"{RANK} join who leave", "leave").out, "rank 0 of 1\n" * 2)

    def test_a_rank_that_leaves_early_serves_the_others(self):
        result = self.well(4, "join", "leave", "only", "3", "sleep", "1", "say", "late", env={"HEDDLE_NODES": "2"})
        self.assertEqual(result.out, "late\n")

    # ---- real MPI programs

    def test_programs(self):
        for env in ({}, {"HEDDLE_NODES": "2"}, {"HEDDLE_NODES": "4"}):
            for version in (1, 2):
                result = self.well(4, "well", program=MPI_PROGRAM, env=env, version=version)
                self.assertEqual(result.lines, lines(4))

    def test_placement(self):
        result = self.well(5, program=MANY_NODES, env={"HEDDLE_NODES": "2"})
        self.assertEqual(result.lines, ["rank 0 of 5: 0 1", "rank 1 of 5: 0 1", "rank 2 of 5: 2 3 4", "rank 3 of 5: 2 3 4", "rank 4 of 5: 2 3 4"])

    def test_ranks_that_are_dealt_out_one_by_one(self):
        # To itself each rank is the first of as many nodes as it is told: 0 and 2 meet.
        nodes = ["2", "4", "1", "4"]
        result = self.well(4, program=MANY_NODES, each=lambda rank: {"HEDDLE_NODES": nodes[rank]})
        self.assertEqual(result.lines, ["rank 0 of 4: 0 2", "rank 1 of 4: 1", "rank 2 of 4: 0 2", "rank 3 of 4: 3"])

    def test_models_must_agree(self):
        for nodes in ("1", "2"):
            result = self.launch(2, "well", program=MPI_PROGRAM, env={"HEDDLE_NODES": nodes},
                                 each=lambda rank: {"HEDDLE_MODEL": f"vnis={rank + 1},lock=mcs"})
            self.assertIn("all must agree", result.err)
            self.assertLess(result.seconds, END_LIMIT + 3)

    # ---- ends

    def test_abort(self):
        for version in (1, 2):
            for nodes in ("1", "3"):
                for rank in ("0", "2"):
                    result = self.launch(3, "join", "only", rank, "abort", "7", "no reason", "all", "sleep", "20", "leave",
                                         version=version, env={"HEDDLE_NODES": nodes})
                    self.assertEqual((result.aborted, result.err), (7, "no reason\n"))
                    self.assertLess(result.seconds, END_LIMIT)

    def test_all_abort_at_once(self):
        # One of them says why, and does before the others end it.
        for env in ({}, {"HEDDLE_NODES": "2"}, {"HEDDLE_NODES": "4"}, {"HEDDLE_NODES": "2", "SLURM_STEP_ID": "0"}):
            for _ in range(5):
                result = self.launch(4, "join", "abort", "7", "no reason", env=env)
                self.assertEqual(result.err, "no reason\n", env)
                self.assertTrue(result.aborted == 7 or result.codes == [7] * 4, result)
                self.assertLess(result.seconds, END_LIMIT)

    def test_abort_without_the_launcher(self):
        # After a finalization it cannot be asked any more, and Slurm would forget the code: the ranks tell each other.
        for env in ({}, {"SLURM_STEP_ID": "0", "HEDDLE_NODES": "2"}):
            result = self.launch(4, "join", "leave", "only", "1", "abort", "7", "no reason", "all", "sleep", "20", env=env)
            self.assertEqual((result.codes, result.err), ([7] * 4, "no reason\n"))
            self.assertLess(result.seconds, END_LIMIT)

    def test_a_rank_that_ends(self):
        for nodes in ("1", "2", "4"):
            for rank in ("0", "1", "2", "3"):
                for how in (("exit", "0"), ("exit", "3"), ("kill", "9")):
                    with self.subTest(f"{nodes} {rank} {how}"):
                        result = self.launch(4, "join", "only", rank, *how, "all", "sleep", "20", "leave", env={"HEDDLE_NODES": nodes})
                        self.assertEqual(len(result.err.splitlines()), 1, result.err)
                        self.assertRegex(result.err, rf"rank {rank} \(process \d+\) has ended without MPI_Finalize|node \d.* is gone")
                        self.assertEqual(result.aborted, 1)
                        self.assertLess(result.seconds, END_LIMIT)

    def test_a_rank_that_ends_under_slurm(self):
        for rank in ("0", "1", "3"):
            result = self.launch(4, "join", "only", rank, "exit", "3", "all", "sleep", "20", "leave",
                                 env={"HEDDLE_NODES": "2", "SLURM_STEP_ID": "0"})
            self.assertEqual(len(result.err.splitlines()), 1, result.err)
            self.assertLess(result.seconds, END_LIMIT)

    def test_a_launcher_that_ends_the_job_itself(self):
        result = self.launch(3, "join", "only", "1", "exit", "3", "all", "sleep", "20", "leave", kills=True)
        self.assertEqual((result.err, result.aborted), ("", None))
        self.assertLess(result.seconds, END_LIMIT)

    def test_a_rank_that_ends_before_it_has_joined(self):
        for how in ("exit 0", "exit 3", "kill -9 $$"):
            with self.subTest(how):
                result = self.launch(3, "-c", f'[ $PMI_RANK = 1 ] && {how}; exec {RANK} join leave', program="sh")
                self.assertRegex(result.err, r"(?m)^heddle: rank 1 on \S+ has ended without MPI_Init, which others wait in; the job ends\n$")
                self.assertEqual(result.aborted, 1)
                self.assertLess(result.seconds, REPORT_DELAY + END_LIMIT)

    def test_a_rank_that_joins_late(self):
        late = self.launch(3, "-c", f"[ $PMI_RANK = 1 ] && sleep {REPORT_DELAY + 2}; exec {RANK} join leave", program="sh")
        self.assertEqual(late.codes, [0, 0, 0])
        self.assertRegex(late.err, r"^heddle: rank 0 has waited \d s for every process of the job to initialize MPI; rank 1 on \S+ has not\n$")

    # ---- where the threads are

    def test_quit(self):
        # The job goes on; one report of each node. Signals of all ranks are one question, unless they are a second apart.
        for nodes in (1, 2):
            for steps in (("only", "3", "kill", "3", "all"), ("kill", "3")):
                with self.subTest(f"{nodes} {steps}"):
                    result = self.launch(4, "join", *steps, "sleep", "1", "leave", env={"HEDDLE_NODES": str(nodes)})
                    self.assertEqual(result.codes, [0] * 4, result.err)
                    reports = len(re.findall(rf"^heddle: got SIGQUIT, and goes on; {4 // nodes} of 4 ranks, on \S+:$", result.err, re.M))
                    self.assertTrue(reports == nodes or len(steps) == 2 and reports > nodes, result.err)
                    self.assertEqual(len(re.findall(r"^  rank \d: 1 thread outside MPI, process \d+", result.err, re.M)), 4 // nodes * reports, result.err)

    def test_quit_before_all_have_joined(self):
        result = self.launch(3, "-c", f"[ $PMI_RANK = 1 ] && {{ sleep 2; kill -QUIT $(pgrep -P $PPID -x mpiexec_rank); }}; exec {RANK} join leave", program="sh")
        self.assertEqual(result.codes, [0, 0, 0], result.err)
        self.assertRegex(result.err, r"^heddle: got SIGQUIT, and goes on; rank 0 has waited \d s for every process of the job to initialize MPI; rank 1 on \S+ has not\n$")

    def test_timeout(self):
        for nodes in (1, 2):
            for slurm in ({}, {"SLURM_STEP_ID": "0"}):
                result = self.launch(4, "join", "sleep", "20", "leave", env={"HEDDLE_NODES": str(nodes), "HEDDLE_TIMEOUT": "1"} | slurm)
                self.assertEqual(result.err.count("heddle: the job has not ended in 1 s (HEDDLE_TIMEOUT); ending it; "), nodes, result.err)
                self.assertEqual(result.err.count("1 thread outside MPI"), 4, result.err)
                self.assertEqual(result.err.count("\n"), nodes + 4, result.err)
                self.assertTrue(result.aborted == 124 or 124 in result.codes, result)
                self.assertLess(result.seconds, 1 + END_LIMIT)

    # ---- what cannot be a job

    def refused(self, says: list[str], size: int = 2, code: int = 3, **options):
        result = self.launch(size, "join", "who", "leave", **options)
        self.assertEqual((result.codes, result.out), ([code] * size, ""), result.err)
        for part in says:
            self.assertIn(part, result.err)
        return result

    def test_unlike_ranks(self):
        def other(rank: int, request: dict, answer: dict):
            if rank == 2 and "value" in answer:
                parts = answer["value"].split("/")
                parts[1:3] = ["9.9.9,77,riscv64,big", "far"]
                return answer | {"value": "/".join(parts)}
            return answer

        for nodes in ("1", "2", "4"):
            result = self.refused(["rank 2 on", "rank 0 on far is Heddle 9.9.9 (segment layout 77, riscv64, big-endian)", "need the same"], 4,
                                  change=other, env={"HEDDLE_NODES": nodes})
            self.assertEqual(result.err.count("rank 2 on"), 4)  # all say why

    def test_another_library_as_rank_0(self):
        for text in ("", "something", "heddle1/a/b", "heddle1/0.1.0,9,x86_64,little/h/zz/1/n/1/a"):
            self.refused(["malformed data of rank 0 of the job: it runs another version of Heddle"], change=lambda rank, request, answer:
                         answer | {"value": text} if "value" in answer and "get" in request["cmd"] and "key" in request and "kvsname" in request else answer)

    def test_launchers_that_misbehave(self):
        short = "as one of 2 processes"
        self.refused([short, "closed the connection"], leave="init")
        self.refused([short, "closed the connection"], leave="get_appnum")
        self.refused(["closed the connection"], leave="barrier_in")
        self.refused([short, "does not answer as a PMI server does"], change=lambda rank, request, answer: {"cmd": "nonsense"})
        self.refused([short, "neither version 1 nor 2"], change=lambda rank, request, answer: answer | {"rc": "-1"})
        full = self.launch(2, "well", program=MPI_PROGRAM, change=lambda rank, request, answer: answer | {"rc": "-1", "msg": "full"}
                           if request["cmd"] == "put" else answer)
        self.assertIn("cmd=put_result rc=-1 full", full.err)
        self.assertIsNotNone(full.aborted)  # the other rank would wait
        for garbage in (b"\0\1\2\n", b"\n", b"x" * 100_000, b"=====\n"):
            self.refused(["not PMI"], change=lambda rank, request, answer: garbage)

    def test_garbage(self):
        # Whatever a launcher says, a rank ends with a sentence.
        for seed in range(30):
            rng = random.Random(seed)
            victim = rng.choice(["init", "get_appnum", "get_my_kvsname", "get", "barrier_in"])

            def change(rank: int, request: dict, answer: dict):
                if request["cmd"] != victim:
                    return answer
                data = bytearray(self.server.encode(answer, 1))
                for _ in range(rng.randrange(1, 6)):
                    data[rng.randrange(len(data) - 1)] = rng.choice(b"\0 =;0aZ\xff")
                return bytes(data)

            self.server = Launcher(1 + 1, [RANK, "join", "who", "leave"], self.environment(), change=change, kills=True)
            result = self.server.run()
            self.assertTrue(all(code in (0, 3, -9) for code in result.codes), (seed, result))

    def test_one_sentence(self):
        # Ranks that do not join for the same reason, or that have joined and then cannot begin.
        closed = {"PMI_FD": "177"}
        for says, env in (("invalid value two for HEDDLE_NODES: must be a number of nodes", {"HEDDLE_NODES": "two"}), ("PMI_FD=177 is not an open socket", closed),
                          ("HEDDLE_LLN=ib: unknown network", {"HEDDLE_LLN": "ib"}),
                          ("HEDDLE_LLN=ib: unknown network", {"HEDDLE_LLN": "ib", "HEDDLE_NODES": "2"})):
            with self.subTest(env):
                result = self.launch(4, "well", program=MPI_PROGRAM, each=lambda rank: env)
                self.assertEqual(result.err.count(says), 1, result.err)
                self.assertEqual(result.err.count("MPI_Init failed"), 1, result.err)
                self.assertNotIn(0, result.codes)

    def test_no_server(self):
        env = self.environment(PMI_RANK="0", PMI_SIZE="2", PMI_FD="177")
        done = subprocess.run([RANK, "join"], env=env, capture_output=True, text=True, timeout=60)
        self.assertEqual(done.returncode, 3)
        for part in ("PMI_SIZE=2", "PMI_FD=177 is not an open socket", "HEDDLE_SINGLETON=1"):
            self.assertIn(part, done.stderr)

    def test_nonsense_of_the_user(self):
        self.refused(["invalid value two for HEDDLE_NODES: must be a number of nodes"], env={"HEDDLE_NODES": "two"})
        self.refused(["invalid value 3 for HEDDLE_NODES: this job has 2 ranks"], env={"HEDDLE_NODES": "3"})
        self.refused(["invalid value 1h for HEDDLE_TIMEOUT: must be a number of seconds"], env={"HEDDLE_TIMEOUT": "1h"})
        self.refused(["invalid value 'ssh' for HEDDLE_PORTS"], env={"HEDDLE_PORTS": "ssh"})

    def test_ports(self):
        with socket.create_server(("", 0)) as taken:
            port = taken.getsockname()[1]
            self.refused([f"no TCP port of HEDDLE_PORTS={port}-{port}"], env={"HEDDLE_PORTS": str(port), "HEDDLE_NODES": "2"})
            # On one node none is needed.
            self.well(2, "join", "leave", env={"HEDDLE_PORTS": str(port)})
        self.well(4, "join", "leave", env={"HEDDLE_PORTS": str(port), "HEDDLE_NODES": "2"})


if __name__ == "__main__":
    unittest.main(verbosity=2)

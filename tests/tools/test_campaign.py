"""Runs: interleaved, limited, kept."""

import json
import os
import signal
import time
import unittest
from pathlib import Path

from make_believe import Case


def alive_with(mark: bytes) -> list[str]:
    found = []
    for entry in Path("/proc").iterdir():
        try:
            if entry.name.isdigit() and mark in (entry / "environ").read_bytes():
                found.append(entry.name)
        except OSError:
            pass
    return found


class Runs(Case):
    def result(self):
        return json.loads(self.only("*.json").read_text())

    def test_interleaved_with_table_json_and_page(self):
        code, out, err = self.heddle("bench", "run", "latency", "--threads", "1,8", "--repeats", "3", *self.pretended)
        self.assertEqual(code, 0, err)
        who = [line.split()[0] for line in self.journal.read_text().splitlines()]
        self.assertEqual(who, ["a", "b"] * 6)
        self.assertIn("--threads 8", self.journal.read_text())
        self.assertIn("2.00 ±0%", out)
        data = self.result()
        self.assertTrue(data["complete"])
        self.assertEqual([c["threads"] for c in data["cells"]], [1, 8])
        cell = data["cells"][0]
        self.assertEqual(cell["best_peer"], "a")
        self.assertEqual(cell["results"]["b"]["summary"], {"median": 4.0, "low": 4.0, "high": 4.0, "runs": 3})
        self.assertIn("mpiexec -n 2", cell["results"]["a"]["settings"])
        self.assertIn("<svg", self.only("*.html").read_text())

    def test_switches_are_told_where_a_program_counts_them(self):
        code, out, err = self.heddle("bench", "run", "stencil", "--repeats", "2", *self.pretended, BEHAVIOUR_a="switches")
        self.assertEqual(code, 0, err)
        self.assertIn("mpiexec -n 8", self.result()["cells"][0]["results"]["a"]["settings"])
        self.assertNotIn("--threads", self.journal.read_text())
        rows = [line.split() for line in out.splitlines() if line.split()[:1] == ["stencil"]]
        self.assertEqual(rows, [["stencil", "8", "a", "97.5", "31.8", "1.50", "30.2"]])

    def test_a_hang_is_ended_and_the_rest_intact(self):
        began = time.monotonic()
        code, out, err = self.heddle("bench", "run", "latency", "message-rate", "--repeats", "2", "--limit", "10",
                                     "--seconds", "0.1", *self.pretended, BEHAVIOUR_b="hang", HEDDLE_TEST_HANG="1")
        self.assertLess(time.monotonic() - began, 200)
        self.assertEqual(alive_with(b"HEDDLE_TEST_HANG=1"), [])
        self.assertIn("hung", out)
        data = self.result()
        self.assertEqual(len(data["cells"]), 2)
        for cell in data["cells"]:
            self.assertEqual(cell["results"]["a"]["summary"]["runs"], 2)
            self.assertEqual([r["status"] for r in cell["results"]["b"]["runs"]], ["hung"])

    def test_wrong_crashed_and_mute(self):
        for behaviour, status, why in (("wrong", "wrong", "expected 1, found 2"), ("crash", "failed", "139"),
                                       ("mute", "failed", "0 result lines")):
            with self.subTest(behaviour):
                out_folder = self.folder / behaviour
                args = [a if a != str(self.folder / "out") else str(out_folder) for a in self.pretended]
                code, out, err = self.heddle("bench", "run", "latency", "--repeats", "1", *args, BEHAVIOUR_a=behaviour)
                self.assertIn(why, out)
                data = json.loads(next(out_folder.glob("*.json")).read_text())
                self.assertEqual(data["cells"][0]["results"]["a"]["runs"][0]["status"], status)
                self.assertEqual(data["cells"][0]["results"]["b"]["summary"]["runs"], 1)

    def test_interrupt_keeps_what_was_measured(self):
        job = self.start("bench", "run", "latency", "--threads", "1,2,4,8", "--repeats", "5", *self.pretended,
                         BEHAVIOUR_b="slow")
        deadline = time.monotonic() + 100
        while time.monotonic() < deadline:
            if self.journal.exists() and len(self.journal.read_text().splitlines()) >= 6:
                break
            time.sleep(0.02)
        os.kill(job.pid, signal.SIGINT)
        out, err = job.communicate(timeout=200)
        self.assertEqual(job.returncode, 130, err)
        self.assertIn("interrupted", out)
        data = self.result()
        self.assertFalse(data["complete"])
        self.assertGreaterEqual(len(data["cells"][0]["results"]["a"]["runs"]), 2)
        self.assertIn("<svg", self.only("*.html").read_text())

    def test_programs_are_compiled_once(self):
        self.heddle("bench", "run", "latency", "--repeats", "1", *self.pretended)
        code, out, err = self.heddle("bench", "run", "latency", "--repeats", "1", *self.pretended)
        self.assertNotIn("compiling", err)

    def test_report_of_a_stored_result(self):
        self.heddle("bench", "run", "latency", "--threads", "1,2", "--repeats", "1", *self.pretended)
        code, out, err = self.heddle("bench", "report", str(self.only("*.json")), "--markdown")
        self.assertEqual(code, 0, err)
        # "~" marks a cell that others disturbed, which depends on who else uses this machine.
        self.assertIn("| 2 | 1 | - | 8 B | 2.00 | 4.00 |", out.replace("~", ""))

    def test_where_the_time_went(self):
        told = "| 8 | heddle:clh | 1.00 | 0% | 75% | 0% | 0% | 0% | 25% | 0% | 2.50 |"
        code, out, err = self.heddle("bench", "paper", "dang-2017", "fig4", "--repeats", "1", *self.ours,
                                     BEHAVIOUR_heddle="counts")
        self.assertEqual(code, 0, err)
        self.assertIn("where the time of all threads went", out)
        code, out, err = self.heddle("bench", "report", str(self.only("*.json")), "--markdown")
        self.assertEqual(code, 0, err)
        self.assertIn(told, out)

    def test_programs_tell_where_the_time_went_only_if_asked(self):
        for asked in ([], ["--where"]):
            code, out, err = self.heddle("bench", "run", "message-rate", "--repeats", "1", *asked, *self.ours,
                                         BEHAVIOUR_heddle="counts")
            self.assertEqual(code, 0, err)
            self.assertEqual("--variables vni_time_issue," in self.journal.read_text(), bool(asked))
        self.assertIn("where the time of all threads went", out)

    def test_start_up_is_timed_from_outside(self):
        code, out, err = self.heddle("bench", "run", "startup", "--ranks", "2", "--repeats", "1", *self.pretended,
                                     BEHAVIOUR_a="slow")
        self.assertEqual(code, 0, err)
        found = self.result()["cells"][0]["results"]
        slow, quick = (found[label]["summary"]["median"] for label in "ab")
        self.assertGreater(slow, 400)
        self.assertLess(quick, slow)
        self.assertEqual(len(found["a"]["runs"][0]["samples"]), 5)

    def test_settings_are_candidates(self):
        code, out, err = self.heddle("bench", "run", "latency", "--repeats", "1", "--models", "mtx", "--settings",
                                     "HEDDLE_SPLIT_COPY=never,4096", "--settings", "HEDDLE_PROGRESS=off", *self.ours)
        self.assertEqual(code, 0, err)
        found = self.result()["cells"][0]["results"]
        self.assertEqual(list(found), ["heddle:mtx", "heddle:never", "heddle:4096", "heddle:off"])
        for label, words in (("mtx", "HEDDLE_MODEL=mtx mpiexec"), ("never", "HEDDLE_SPLIT_COPY=never mpiexec"),
                             ("4096", "HEDDLE_SPLIT_COPY=4096 mpiexec"), ("off", "HEDDLE_PROGRESS=off mpiexec")):
            self.assertRegex(found[f"heddle:{label}"]["settings"], f"^{words}")

    def test_settings_of_a_figure(self):
        code, out, err = self.heddle("bench", "paper", "trahay-2009", "fig7", "--repeats", "1", *self.ours)
        self.assertEqual(code, 0, err)
        found = self.result()["cells"][0]["results"]
        for label in ("heddle", "heddle:mtx-ksc", "heddle:busy", "heddle:passive", "heddle:spin", "heddle:spin:5"):
            self.assertIn(label, found)
        self.assertIn("HEDDLE_WAIT=spin:5 ", found["heddle:spin:5"]["settings"])

    def test_criteria(self):
        code, out, err = self.heddle("bench", "criteria", "threads", "--repeats", "1", *self.ours,
                                     "--mpi", f"a={self.folder}/a")
        self.assertEqual(code, 1, err)
        self.assertRegex(out, r"ping-pong, 2 pairs, as a rate +≥ 3 of the best reference MPI +2.00 \(a\).* missed")
        self.assertRegex(out, r"8 threads against 1 +≥ 0.9 of its own +1.00 .* pass")
        runs = [line for line in self.journal.read_text().splitlines() if line.startswith("heddle message-rate")]
        for threads in ("16", "64"):  # what a rate is compared with is measured beside it
            at = next(i for i, line in enumerate(runs) if f"--threads {threads} " in line)
            self.assertIn("--threads 1 ", runs[at - 1])
        self.assertIn("class=missed", self.only("*.html").read_text())
        code, again, err = self.heddle("bench", "criteria", "threads", "--from", str(self.only("*.json")))
        self.assertIn("2.00 (a)", again)
        self.assertRegex(again, r"64 threads against 1 +≥ 0.7 of its own +1.00 .* pass")

    def test_check_against_a_baseline(self):
        code, out, err = self.heddle("bench", "check", "--baseline", str(self.folder / "heddle"), "--repeats", "1",
                                     *self.ours)
        self.assertIn(code, (0, 1), err)  # start-up is truly timed, and may differ
        self.assertRegex(out, r"latency, 2 ranks, 1 thread, 8 B +1.00 +1.00 +-?\+?0% +held")

    def test_a_paper(self):
        code, out, err = self.heddle("bench", "paper", "dang-2017", "fig11", "--repeats", "1", *self.ours)
        self.assertEqual(code, 0, err)
        for label in ("heddle:mtx-ksc", "heddle:clh-usc"):
            self.assertIn(label, out)
        code, out, err = self.heddle("bench", "paper", "trahay-2009", "fig9", "--repeats", "1", *self.ours)
        self.assertEqual(code, 0, err)
        for label in ("heddle:off", "heddle:idle", "heddle:tasklet", "heddle:direct"):
            self.assertIn(label, out)
        code, out, err = self.heddle("bench", "paper", "dang-2017", "fig1", *self.ours)
        self.assertEqual(code, 2)
        self.assertIn("a drawing or a listing", err)

    def test_a_paper_between_nodes(self):
        code, out, err = self.heddle("bench", "paper", "trahay-2009", "fig8", "--cluster", "2", *self.ours)
        self.assertEqual(code, 2)
        self.assertIn("polling-own measures what the ranks of one machine share", err)
        code, out, err = self.heddle("bench", "paper", "trahay-2009", "fig3", "--delay", "20us", *self.ours)
        self.assertEqual(code, 2)
        self.assertIn("say how many nodes with --cluster N", err)

    def test_what_a_machine_has_not_is_told_and_is_no_failure(self):
        code, out, err = self.heddle("bench", "paper", "trahay-2009", "fig8", "--repeats", "2", *self.ours,
                                     BEHAVIOUR_heddle="absent")
        self.assertEqual(code, 0, err)
        self.assertRegex(out, r"heddle absent: no such core \(polling-own, .* and 14 more\)")
        self.assertEqual(self.journal.read_text().count("polling"), 15)  # once each


if __name__ == "__main__":
    unittest.main()

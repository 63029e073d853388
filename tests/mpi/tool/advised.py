#!/usr/bin/env python3
"""The advice of HEDDLE_REPORT helps: programs with a weakness get it, and after it was followed, word by word where it names a
variable, the very count that it rests on is at most half of what it was. Counts, no times.

    advised.py MPIEXEC ADVISED
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import unittest

MPIEXEC, ADVISED = sys.argv[1:3]
VARIABLE = re.compile(r"\b(HEDDLE_[A-Z]+)=([\w,=:]*\w)")


class Report:
    """Rank 0's: its advice, and counts summed up over all VNIs."""

    def __init__(self, text: str):
        block = re.split(r"^(?=heddle: report of rank )", text, flags=re.M)[1]
        self.advice = re.search(r"^  advice: (.*)$", block, re.M)[1]
        self.counts: dict[str, int] = {}
        head: list[str] = []
        for line in block.splitlines():
            cells = re.split(r"  +", line.strip())
            if cells[0] == "VNI":
                head = cells
            elif cells[0].isdigit() and len(cells) == len(head):
                for name, value in zip(head[1:], cells[1:]):
                    if value.isdigit():
                        self.counts[name] = self.counts.get(name, 0) + int(value)

    def share(self, *names: str, of: tuple[str, ...]) -> float:
        return sum(self.counts[n] for n in names) / max(1, sum(self.counts[n] for n in of))


def run(ranks: int, *words: str, **variables: str) -> Report:
    inherited = {k: v for k, v in os.environ.items() if not k.startswith("HEDDLE_")}
    done = subprocess.run([MPIEXEC, "--timeout", "100", "-n", str(ranks), ADVISED, *words], capture_output=True, text=True,
                          env=inherited | variables | {"HEDDLE_REPORT": "1"}, timeout=110)
    assert done.returncode == 0, done.stderr
    return Report(done.stderr)


def named(advice: str) -> dict[str, str]:
    """The variables that the advice says to set."""
    return dict(VARIABLE.findall(advice))


class Advice(unittest.TestCase):
    def halved(self, before: float, after: float, advice: str) -> None:
        self.assertGreater(before, 0)
        self.assertLessEqual(after, before / 2, advice)

    def test_threads_that_share_a_communicator(self) -> None:
        """Also where the model that was chosen has VNIs enough, and only communicators lack."""
        for model in ("global", "mcs,vnis=4"):
            chosen = {"HEDDLE_MODEL": model if "," not in model else "lock=mcs,submit=wait,wait=contend,vnis=4"}
            before = run(1, "exchange", "one-communicator", **chosen)
            self.assertRegex(before.advice, r"^4 threads share communicator shared, .*a duplicate of it \(MPI_Comm_dup\)")
            self.assertEqual("HEDDLE_MODEL" in named(before.advice), "vnis" not in model, before.advice)
            after = run(1, "exchange", "communicator-each", **chosen | named(before.advice))
            met = ("contended", "failed try-locks")
            tried = ("acquisitions", "failed try-locks")
            self.halved(before.share(*met, of=tried), after.share(*met, of=tried), before.advice)

    def test_communicators_that_share_a_vni(self) -> None:
        before = run(1, "exchange", "communicator-each", HEDDLE_MODEL="global")
        self.assertRegex(before.advice, r"^\d threads use VNI 0, ")
        after = run(1, "exchange", "communicator-each", **named(before.advice))
        self.halved(before.share("contended", of=("acquisitions",)),
                    after.share("contended", "failed try-locks", of=("acquisitions", "failed try-locks")), before.advice)

    def test_threads_that_never_sleep(self) -> None:
        for variables in ({"HEDDLE_MODEL": "mtx"}, {"HEDDLE_MODEL": "clh-usc"}, {"HEDDLE_MODEL": "mtx", "HEDDLE_WAIT": "busy"}):
            # Milliseconds. Where others want the cores too, it takes longer to poll in vain; what is polled before a sleep does not grow.
            for pause in ("15", "60", "240"):
                before = run(2, "pauses", pause, **variables)
                if not before.advice.startswith("waiting threads never block"):
                    continue
                after = run(2, "pauses", pause, **variables | named(before.advice))
                if after.counts["empty acquisitions"] <= before.counts["empty acquisitions"] / 2:
                    break
            self.assertRegex(before.advice, r"^waiting threads never block, and polled \d+ times without result", variables)
            self.halved(before.counts["empty acquisitions"], after.counts["empty acquisitions"], before.advice)
            self.assertNotIn("never block", after.advice)

    def test_receives_that_are_posted_late(self) -> None:
        before = run(2, "batches", "late-receives")
        self.assertRegex(before.advice, r"^\d+% of the messages came before their receive was posted")
        after = run(2, "batches", "early-receives")
        self.halved(before.share("unexpected", of=("received",)), after.share("unexpected", of=("received",)), before.advice)

    def test_short_messages_that_go_one_by_one(self) -> None:
        before = run(2, "batches", "early-receives", HEDDLE_NODES="2", HEDDLE_MODEL="auto,strategy=direct")
        self.assertRegex(before.advice, r"^\d+% of the packets to other nodes carried one short message, right behind another")
        after = run(2, "batches", "early-receives", HEDDLE_NODES="2", **named(before.advice))
        self.halved(before.counts["packets"], after.counts["packets"], before.advice)
        self.halved(before.counts["alone"], after.counts["alone"], before.advice)

    def test_an_idle_program_gets_no_advice(self) -> None:
        """Under no model and policy, alone or with others."""
        for variables in ({}, {"HEDDLE_MODEL": "mtx"}, {"HEDDLE_MODEL": "clh-usc"}, {"HEDDLE_MODEL": "global"},
                          {"HEDDLE_WAIT": "busy"}, {"HEDDLE_WAIT": "passive"}):
            for ranks in (1, 2, 4):
                self.assertRegex(run(ranks, "hello", **variables).advice, r"^none: \d+ messages are too few to judge by$")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[3:])

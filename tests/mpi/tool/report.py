#!/usr/bin/env python3
"""HEDDLE_REPORT: there once for each rank, in order, in one piece, with the right numbers; and silent when not asked for.

    report.py MPIEXEC EXCHANGE GUIDE

GUIDE explains the report to users (docs/guides/report.md).
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

MPIEXEC, EXCHANGE, GUIDE = sys.argv[1:4]
THREADS, MESSAGES = 3, 400


def run(ranks: int, *words: str, report: str | None = "1", launch: tuple[str, ...] = (), fails: bool = False, **more: str):
    environment = {k: v for k, v in os.environ.items() if k != "HEDDLE_REPORT"} | more
    if report is not None:
        environment["HEDDLE_REPORT"] = report
    command = [MPIEXEC, "--timeout", "50", "-n", str(ranks), *launch, EXCHANGE, str(THREADS), str(MESSAGES), *words]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=55)
    assert (done.returncode != 0) == fails, done.stderr
    return done


def blocks(text: str) -> list[list[str]]:
    """The lines of each rank's report."""
    parts = re.split(r"^(?=heddle: report of rank )", text, flags=re.M)
    return [part.splitlines() for part in parts if part]


def rows(block: list[str], first: str) -> dict[str, dict[str, str]]:
    """The table that begins with column `first` and has the wanted columns: row -> column -> value."""
    result: dict[str, dict[str, str]] = {}
    for i, line in enumerate(block):
        head = re.split(r"  +", line.strip())
        if head[0] != first:
            continue
        for row in block[i + 1 :]:
            cells = re.split(r"  +", row.strip())
            if len(cells) != len(head) or cells[0] in ("VNI", "communicator"):
                break
            result.setdefault(cells[0], {}).update(zip(head, cells, strict=True))
    return result


class TheReport(unittest.TestCase):
    def check_block(self, block: list[str], rank: int, ranks: int) -> None:
        self.assertRegex(block[0], rf"^heddle: report of rank {rank} of {ranks}, model \S+ \(")
        self.assertEqual(sum(line.startswith("  advice: ") for line in block), 1)
        self.assertTrue(block[-1].startswith("  advice: "), block)
        comms, vnis = rows(block, "communicator"), rows(block, "VNI")
        ring = comms.get("ring") or comms["ring (freed)"]
        self.assertEqual(ring["threads"], str(THREADS))
        self.assertEqual(ring["sends"], str(THREADS * MESSAGES))
        self.assertEqual(ring["receives"], str(THREADS * MESSAGES))
        self.assertEqual(ring["size"], str(ranks))
        # Making communicators takes some messages, too.
        sent = sum(int(v["sent"]) for v in vnis.values())
        received = sum(int(v["received"]) for v in vnis.values())
        for n in (sent, received):
            self.assertGreaterEqual(n, THREADS * MESSAGES)
            self.assertLess(n, THREADS * MESSAGES + 200)
        busy = [v for v in vnis.values() if v["issue"] != "-"]
        self.assertTrue(busy)
        for vni in busy:
            shares = [int(v.rstrip("%")) for v in vni.values() if v.endswith("%")]
            self.assertEqual(len(shares), 7)
            self.assertAlmostEqual(sum(shares), 100, delta=4)

    def test_one_block_a_rank_in_order(self) -> None:
        for ranks in (1, 2, 3):
            found = blocks(run(ranks).stderr)
            self.assertEqual(len(found), ranks)
            for rank, block in enumerate(found):
                self.check_block(block, rank, ranks)
                # One row for each VNI that carried some of them.
                short = [r for name, r in rows(block, "communicator").items() if name.startswith("short-lived (")]
                for column in ("sends", "receives"):
                    self.assertEqual(sum(int(r[column]) for r in short), 3)
                self.assertEqual({r["threads"] for r in short}, {"1"})

    def test_file(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "report"
            path.write_text("what was there before\n")
            self.assertEqual(run(2, report=str(path)).stderr, "")
            found = blocks(path.read_text())
            self.assertEqual(len(found), 2)
            for rank, block in enumerate(found):
                self.check_block(block, rank, 2)

    def test_file_that_cannot_be_written(self) -> None:
        """The job says so before it does anything."""
        done = run(2, report="/nowhere/report", fails=True)
        self.assertEqual(done.stdout, "")
        self.assertIn("cannot write HEDDLE_REPORT=/nowhere/report: No such file or directory. Name a file", done.stderr)

    def test_silent_by_default(self) -> None:
        for value in (None, "", "0", "no", "off", "false"):
            self.assertEqual(run(2, report=value).stderr, "")

    def test_words_for_yes(self) -> None:
        for value in ("yes", "on", "true"):
            self.assertEqual(len(blocks(run(2, report=value).stderr)), 2)
            self.assertFalse(Path(value).exists())

    def test_sessions_only(self) -> None:
        found = blocks(run(2, "sessions").stderr)
        self.assertEqual(len(found), 2)
        for block in found:
            rank = int(re.search(r"rank (\d+)", block[0])[1])
            self.check_block(block, rank, 2)

    def test_asked_for_on_one_rank_only(self) -> None:
        only = ("sh", "-c", 'if [ "$HEDDLE_RANK" = 1 ]; then export HEDDLE_REPORT=1; fi; exec "$@"', "sh")
        found = blocks(run(3, report=None, launch=only).stderr)
        self.assertEqual(len(found), 1)
        self.check_block(found[0], 1, 3)

    def test_says_how_threads_wait(self) -> None:
        """Every rank of a job knows the same cost of a wake-up."""
        cost = r"; a wake-up costs \d+ us here\)$"
        said = {block[1] for block in blocks(run(3, HEDDLE_WAIT="auto", HEDDLE_MODEL="auto").stderr)}
        self.assertEqual(len(said), 1)
        self.assertRegex(said.pop(), r"^  waiting: auto \(spins for \d+ us" + cost)
        for model, policy, words in (("auto", "busy", r"busy \(never blocks"), ("mtx", "auto", r"auto \(never blocks"),
                                     ("mtx", "spin:5", r"spin \(spins for 5 us"),
                                     ("offload", "passive", r"passive \(blocks after one poll")):
            for block in blocks(run(2, HEDDLE_WAIT=policy, HEDDLE_MODEL=model).stderr):
                self.assertRegex(block[1], f"^  waiting: {words}{cost}")

    def test_other_nodes(self) -> None:
        """In a ring of four ranks on two nodes a rank sends to one, which is on the other node for every second."""
        found = blocks(run(4, HEDDLE_NODES="2", HEDDLE_UNEXPECTED_BYTES="1000000").stderr)
        for rank, block in enumerate(found):
            self.check_block(block, rank, 4)
            self.assertIn("  network: loopback, between 2 nodes, strategy aggregate, at most 1000000 bytes of unexpected messages a peer", block)
            vnis = rows(block, "VNI").values()
            messages, byte_count, connections = (sum(int(v[column]) for v in vnis)
                                                 for column in ("sent to other nodes", "bytes", "connections"))
            self.assertGreaterEqual(byte_count, 0)
            if rank % 2:  # its right neighbour is on the other node
                self.assertGreaterEqual(messages, THREADS * MESSAGES)
                self.assertGreaterEqual(connections, 1)
            else:
                self.assertLess(messages, THREADS * MESSAGES)
        for block in blocks(run(2, HEDDLE_NODES="1").stderr):
            self.assertNotIn("network: ", "\n".join(block))

    def test_every_column_is_explained(self) -> None:
        """Table by table, in the same order: columns of the report are rows of the guide."""
        printed = [re.split(r"  +", line.strip()) for line in blocks(run(2, HEDDLE_NODES="2").stderr)[0]
                   if re.match(r"  (VNI|communicator) ", line)]
        self.assertEqual(len(printed), 5)
        explained: list[list[str]] = []
        for line in Path(GUIDE).read_text().splitlines():
            if line == "| column | unit | what it is | when it is high |":
                explained.append([])
            elif explained and (row := re.match(r"\| `([^`]+)` \|[^|]*\|([^|]*)\|", line)):
                self.assertTrue(row[2].strip() or row[1] == "VNI", line)
                explained[-1].append(row[1])
        self.assertEqual(explained, printed)

    def test_says_who_chose_the_model(self) -> None:
        chosen = run(1, HEDDLE_MODEL="mtx").stderr
        self.assertIn("model mtx (HEDDLE_MODEL asks for it)", chosen)
        environment_model = os.environ.get("HEDDLE_MODEL", "")
        if not environment_model:
            self.assertIn("(the default)", run(1).stderr)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])

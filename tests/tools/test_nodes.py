"""Between nodes: what is asked for, the commands that start each MPI, what the network's own tests say."""

import json
import os
import unittest
from pathlib import Path
from types import SimpleNamespace
from unittest import mock

from make_believe import Case
from heddle_tool.bench import html, limits, nodes, table
from heddle_tool.bench.campaign import Campaign, Cell, Plan, load
from heddle_tool.bench.mpis import Heddle, IntelMpi, Mpi, Mpich, OpenMpi
from heddle_tool.bench.runner import Run, run_once
from heddle_tool.bench.suite import Point, benchmark

UCX = """
|    Stage     | # iterations | 50.0%ile | average | overall |  average |  overall |  average  |  overall  |
+--------------+--------------+----------+---------+---------+----------+----------+-----------+-----------+
[thread 0]              4096      9.100    12.000    12.000        0.40       0.40       50000       50000
Final:                 20000      8.874    20.500    20.250     1000.00    2000.00       48822       49000
"""
OFI = """bytes   #sent   #ack     total       time     MB/sec    usec/xfer   Mxfers/sec
8       5k      =5k      78k         0.35s      0.23      35.17       0.03
"""


def point(name: str, size: int = 8, threads: int = 1, ranks: int = 2) -> Point:
    return Point(benchmark(name), ranks, threads, size)


class Commands(unittest.TestCase):
    def command(self, mpi: Mpi, launcher: str = "hydra", ranks: int = 4, count: int = 2, **env: str) -> str:
        return " ".join(nodes.launch(mpi, nodes.Nodes(count, "ucx", launcher), ranks, env))

    def test_hydra(self):
        ends = "-hosts node1,node2 -ppn 2 -n 4"
        ours, theirs = self.command(Heddle("heddle", Path("/h"))), self.command(Mpich("mpich", Path("/m")))
        self.assertEqual(ours, f"/run/cluster/bin/mpiexec.hydra -launcher ssh -launcher-exec /run/cluster/bin/ssh {ends}")
        self.assertEqual(theirs, f"/m/bin/mpiexec.hydra -launcher ssh -launcher-exec /run/cluster/bin/ssh {ends}")
        self.assertEqual(self.command(IntelMpi("impi", Path("/i"))),
                         f"/i/bin/mpiexec.hydra -bootstrap ssh -bootstrap-exec /run/cluster/bin/ssh {ends}")

    def test_slurm(self):
        self.assertEqual(self.command(Heddle("heddle", Path("/h")), "slurm", 8, 4),
                         "srun --mpi=pmi2 -N4 -n8 --ntasks-per-node=2")
        self.assertIn("--mpi=pmix", self.command(OpenMpi("openmpi", Path("/o")), "slurm"))

    def test_fewer_ranks_than_nodes(self):
        ours, theirs = Heddle("heddle", Path("/h")), OpenMpi("openmpi", Path("/o"))
        self.assertEqual(self.command(ours, "slurm", 2, 4), "srun --mpi=pmi2 -N2 -n2 --ntasks-per-node=1")
        self.assertIn("-hosts node1,node2 -ppn 1 -n 2", self.command(ours, "hydra", 2, 4))
        self.assertIn("--host node1:1,node2:1 ", self.command(theirs, "hydra", 2, 4))

    def test_prrte(self):
        for mpi, launcher, program in ((OpenMpi("openmpi", Path("/o")), "hydra", "/o/bin/mpiexec"),
                                       (Heddle("heddle", Path("/h")), "prrte", "/run/cluster/bin/prterun")):
            command = self.command(mpi, launcher, HEDDLE_LLN="ucx")
            self.assertTrue(command.startswith(program), command)
            self.assertIn("--prtemca plm_ssh_agent /run/cluster/bin/ssh --host node1:2,node2:2 ", command)
            self.assertTrue(command.endswith(" -x HEDDLE_LLN -n 4"), command)

    def test_network(self):
        where = nodes.Nodes(2, "ofi")
        self.assertEqual(nodes.environment(Heddle("heddle", Path("/h")), where), {"HEDDLE_LLN": "ofi"})
        self.assertEqual(nodes.environment(IntelMpi("impi", Path("/i")), where)["FI_PROVIDER"], "tcp")
        self.assertEqual(nodes.environment(Mpich("mpich", Path("/m")), where), {})

    def test_cluster_options(self):
        where = nodes.Nodes(2, conditions={"delay": "20us", "rails": "2"})
        self.assertEqual(where.options(), ["--delay", "20us", "--rails", "2"])

    def test_a_command_goes_to_node_1(self):
        placed = nodes.OnNodes(Heddle("heddle", Path("/h")), nodes.Cluster(nodes.Nodes(2)))
        command = placed.launch(2, 1)
        self.assertEqual(command[command.index("--name"):][:4], ["--name", f"bench-{os.getpid()}", "node", "1"])
        self.assertEqual(placed.env(2, 1)["HEDDLE_LLN"], "ucx")
        self.assertIn("mpiexec.hydra -launcher ssh", placed.settings(2, 1))


class Ranks(unittest.TestCase):
    def ranks(self, name: str, count: int, ranks=None, per_node=None):
        return nodes.ranks_on(nodes.Nodes(count), benchmark(name), ranks, per_node)

    def test_even(self):
        self.assertEqual(self.ranks("latency", 2), [2])
        self.assertEqual(self.ranks("latency", 4), [4])
        self.assertEqual(self.ranks("latency", 2, per_node=3), [6])
        self.assertEqual(self.ranks("startup", 4, ranks=[4, 64]), [4, 64])
        self.assertEqual(self.ranks("startup", 4, ranks=[2, 8]), [2, 8])


class Refusals(Case):
    def refused(self, *args: str) -> str:
        code, _, err = self.heddle("bench", "run", *args, *self.ours)
        self.assertEqual(code, 2, err)
        self.assertEqual(len(err.strip().splitlines()), 1, err)
        return err

    def test_one_sentence_each(self):
        for words, wanted in (("latency --delay 20us", "say how many nodes with --cluster"),
                              ("latency --lln ucx", "say how many nodes with --cluster"),
                              ("latency --cluster 1", "numbers from 2 to"),
                              ("latency --cluster 2 --ranks 3", "3 ranks of latency can't be spread evenly over 2 nodes"),
                              ("latency --cluster 2 --ranks 2 --ranks-per-node 1", "leave one out"),
                              ("handover --cluster 2", "does not run with --cluster"),
                              ("latency --cluster 2 --lln tokenring", "--lln takes ucx, ofi"),
                              ("latency --cluster 2 --launcher rsh", "--launcher takes hydra, slurm, prrte"),
                              ("latency --cluster 2 --rank-kind threads", "leave out --rank-kind")):
            with self.subTest(words):
                self.assertIn(wanted, self.refused(*words.split()))

    def test_an_installed_command_makes_no_cluster(self):
        with mock.patch.object(nodes.places, "HOME", Path("/nowhere")), self.assertRaisesRegex(nodes.BadInput, "in a clone of Heddle"):
            nodes.Cluster(nodes.Nodes(2)).__enter__()

    def test_who_cannot_be_started(self):
        for launcher, mpi in (("slurm", IntelMpi("impi", Path())), ("prrte", Mpich("mpich", Path())), ("hydra", Mpi("mine", Path()))):
            with self.assertRaisesRegex(nodes.BadInput, mpi.label):
                nodes.usable(nodes.Nodes(2, launcher=launcher), [Heddle("heddle", Path()), mpi])


class Limits(unittest.TestCase):
    def test_ucx(self):
        self.assertEqual(limits.value_of("ucx", point("latency"), UCX), 20.25)
        self.assertAlmostEqual(limits.value_of("ucx", point("bandwidth", 1 << 20), UCX), 2000 * 1.048576e-3)
        self.assertAlmostEqual(limits.value_of("ucx", point("message-rate"), UCX), 0.049)
        for broken in ("", "Final: 3", "a foreign spoke"):
            self.assertIsNone(limits.value_of("ucx", point("latency"), broken))

    def test_ofi(self):
        self.assertEqual(limits.value_of("ofi", point("latency"), OFI), 35.17)
        self.assertIsNone(limits.value_of("ofi", point("latency"), "fi_getinfo: -61"))

    def test_what_it_is_asked(self):
        self.assertIn("-t ucp_am_lat -s 8 -n 50 -w 5", " ".join(limits.words_of("ucx", point("latency"), 50)))
        self.assertIn("-t ucp_am_bw -s 1048576", " ".join(limits.words_of("ucx", point("bandwidth", 1 << 20), 50)))
        for lln, nothing in (("ucx", point("latency", threads=8)), ("ucx", point("startup")), ("ofi", point("bandwidth"))):
            self.assertIsNone(limits.words_of(lln, nothing, 50))

    def test_it_takes_about_as_long_as_asked(self):
        self.assertEqual(limits.rounds(point("latency"), 0.5, {}), 20000)
        self.assertEqual(limits.rounds(point("latency"), 1, {"delay": "1ms"}), 495)
        self.assertEqual(limits.rounds(point("bandwidth", 1 << 20), 1, {"rate": "100mbit"}), 20)
        self.assertEqual(limits.rounds(point("bandwidth", 1 << 20), 1, {"rate": "1gbit,3gbit"}),
                         limits.rounds(point("bandwidth", 1 << 20), 1, {"rate": "1gbit"}))

    def test_a_run(self):
        test = limits.Limit(nodes.Cluster(nodes.Nodes(2)))
        self.assertEqual(run_once(point("latency", threads=8), test, None, 5, None).status, "absent")
        test.command = lambda *_: ["printf", "%s", UCX]
        done = run_once(point("latency"), test, None, 5, None)
        self.assertEqual((done.status, done.value), ("ok", 20.25))
        test.command = lambda *_: ["sh", "-c", "echo no device >&2; exit 1"]
        done = run_once(point("latency"), test, None, 5, None)
        self.assertEqual((done.status, done.why), ("failed", "exit code 1: no device"))


class Results(Case):
    def test_it_is_neither_ours_nor_a_reference(self):
        where = nodes.Nodes(2, conditions={"delay": "20us"})
        test = limits.Limit(nodes.Cluster(where))
        ours, theirs = Heddle("heddle", Path("/h")), Mpich("mpich", Path("/m"))
        file = self.folder / "result.json"
        campaign = Campaign("heddle bench run", Plan([point("latency")], [ours, theirs, test]), file, nodes=where.to_json())
        runs = {"heddle": [Run("ok", 11.0)], "mpich": [Run("ok", 22.0)], "ucx_perftest": [Run("ok", 10.0)]}
        campaign.cells = [Cell(point("latency"), runs)]
        campaign.save()
        self.assertEqual(json.loads(file.read_text())["nodes"],
                         {"count": 2, "lln": "ucx", "launcher": "hydra", "conditions": {"delay": "20us"}})
        again = load(file)
        self.assertEqual((again.ours, again.peers, again.limits), (["heddle"], ["mpich"], ["ucx_perftest"]))
        head, (line,) = table.rows(again, again.cells)
        found = dict(zip(head, line, strict=True))
        self.assertEqual(found["best reference"], "mpich")
        self.assertTrue(found["heddle/best"].startswith("0.500"), found)
        self.assertTrue(found["heddle/ucx_perftest"].startswith("1.10"), found)
        said = table.report(again, table.markdown)
        self.assertIn("2 nodes in a box, delay 20us, Heddle over ucx, started by hydra", said)
        html.page(again)


class ProcessorTime(unittest.TestCase):
    def test_of_what_runs_in_the_cluster(self):
        cluster = nodes.Cluster(nodes.Nodes(2))
        self.assertEqual(cluster.processor_seconds(), 0.0)
        cluster.job = SimpleNamespace(pid=os.getpid())
        before = cluster.processor_seconds()
        while cluster.processor_seconds() - before < 0.05:
            sum(range(100000))


if __name__ == "__main__":
    unittest.main()

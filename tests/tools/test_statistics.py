"""Medians, ratios, and what the criteria make of them."""

import unittest
from pathlib import Path

import make_believe  # noqa: F401  (finds the package)
from heddle_tool.simulate import machines
from heddle_tool.bench import breakdown, check, criteria, papers, stats, table
from heddle_tool.bench.campaign import Campaign, Cell, Plan
from heddle_tool.bench.mpis import Mpi
from heddle_tool.bench.runner import Run
from heddle_tool.bench.suite import Point, benchmark, human_size, points


def cell(point, **values):
    return Cell(point, {label: [Run("ok", v) for v in found] for label, found in values.items()})


class Numbers(unittest.TestCase):
    def test_summary(self):
        s = stats.summary([3.0, 1.0, 2.0])
        self.assertEqual((s.median, s.low, s.high, s.runs), (2.0, 1.0, 3.0, 3))
        self.assertEqual(s.spread, 0.5)
        self.assertIsNone(stats.summary([]))

    def test_paired_ratio_skips_failed_runs(self):
        r = stats.paired_ratio([2.0, None, 6.0], [1.0, 5.0, 2.0])
        self.assertEqual((r.low, r.high, r.runs), (2.0, 3.0, 2))
        self.assertAlmostEqual(r.median, 4.0 / 1.5)
        self.assertIsNone(stats.paired_ratio([None], [1.0]))

    def test_a_ratio_of_runs_on_both_sides_decides_nothing(self):
        self.assertFalse(stats.Summary(1.28, 0.722, 5.66, 5).decides())
        self.assertTrue(stats.Summary(1.28, 1.0, 5.66, 5).decides())
        self.assertTrue(stats.Summary(0.5, 0.4, 0.6, 5).decides(0.8))
        self.assertEqual(table.compared(stats.Summary(1.28, 0.722, 5.66, 5)), "1.28 (0.722..5.66) ?")
        point = Point(benchmark("latency"), 2)
        made = Campaign("", Plan([point], [Mpi("heddle", Path(), peer=False), Mpi("a", Path())]), None)
        for ours, told in (([1.0, 3.0], True), ([3.0, 4.0], False)):
            made.cells = [cell(point, heddle=ours, a=[2.0, 2.0])]
            self.assertEqual("decides nothing" in table.report(made), told)

    def test_three_digits(self):
        for value, text in ((0.012345, "0.0123"), (1.2345, "1.23"), (12.345, "12.3"), (12345.6, "12,346"), (None, "-"),
                            (0, "0")):
            self.assertEqual(stats.number(value), text)

    def test_best_peer_depends_on_what_is_better(self):
        slow_wins = cell(Point(benchmark("message-rate"), 2), mpich=[1.0], impi=[5.0])
        self.assertEqual(slow_wins.best_peer(["mpich", "impi"]), "impi")
        fast_wins = cell(Point(benchmark("latency"), 2), mpich=[1.0], impi=[5.0])
        self.assertEqual(fast_wins.best_peer(["mpich", "impi"]), "mpich")


class Quiet(unittest.TestCase):
    def test_disturbed_runs_count_only_if_they_must(self):
        def runs(*others):
            return Cell(Point(benchmark("latency"), 2), {"a": [Run("ok", float(i), others=o) for i, o in enumerate(others)]})
        self.assertEqual(runs(0, 0.5, 0, 0).values("a"), [0.0, None, 2.0, 3.0])
        self.assertEqual(runs(0, 0.5, 0).values("a"), [0.0, 1.0, 2.0])
        self.assertEqual(runs(0, 0.5, 0, 0).disturbed("a"), 0)
        self.assertEqual(runs(0, 0.5, 0).disturbed("a"), 0.5)


class Points(unittest.TestCase):
    def test_combinations(self):
        found = points(benchmark("bandwidth"), None, [1, 2], None, ["shared", "each"])
        self.assertEqual(len(found), 12)
        self.assertEqual([p.ranks for p in points(benchmark("startup"), None, [1, 8], None, None)], [2, 32])

    def test_arguments(self):
        given = Point(benchmark("allreduce"), 8, 2, 64, "each").arguments(0.25, None)
        self.assertEqual(" ".join(given), "--mode allreduce --threads 2 --comm each --size 64 --seconds 0.25")

    def test_sizes_for_people(self):
        self.assertEqual([human_size(s) for s in (8, 1024, 1 << 20, 1500)], ["8 B", "1 KiB", "1 MiB", "1500 B"])


class Criteria(unittest.TestCase):
    def judged(self, line, *cells):
        return line.judge({c.point: c for c in cells}.get, ["mpich", "impi"])

    def test_against_the_best_peer(self):
        line = criteria.SHEETS["foundation"].lines[0]
        self.assertEqual(line.wanted, "≤ 0.8 of the best reference MPI")
        met = self.judged(line, cell(line.point, heddle=[7.0], mpich=[20.0], impi=[10.0]))
        self.assertEqual((met.word, met.against), ("pass", "impi"))
        self.assertEqual(self.judged(line, cell(line.point, heddle=[9.0], impi=[10.0])).word, "missed")

    def test_tuned_peers_count_and_stock_ones_are_shown(self):
        line = criteria.SHEETS["foundation"].lines[0]
        here = cell(line.point, heddle=[7.0], impi=[10.0], **{"impi:stock": [70.0]})
        verdict = line.judge({here.point: here}.get, ["impi", "impi:stock"], ["impi:stock"])
        self.assertAlmostEqual(verdict.found.median, 0.7)
        self.assertAlmostEqual(verdict.as_installed.median, 0.1)

    def test_a_time_spoken_of_as_a_rate(self):
        line = next(c for c in criteria.SHEETS["threads"].lines if c.inverse)
        self.assertEqual(self.judged(line, cell(line.point, heddle=[1.0], impi=[2.0])).word, "pass")
        self.assertEqual(self.judged(line, cell(line.point, heddle=[2.0], impi=[1.0])).word, "missed")

    def test_against_itself_and_alone(self):
        own = next(c for c in criteria.SHEETS["threads"].lines if c.base)
        here = cell(own.point, heddle=[95.0, 30.0, 90.0])
        here.base_runs = cell(own.base, heddle=[100.0, 31.0, 99.0]).runs
        self.assertEqual(self.judged(own, here).word, "pass")
        here.base_runs = cell(own.base, heddle=[110.0, 31.0, 105.0]).runs
        self.assertEqual(self.judged(own, here).word, "missed")
        self.assertEqual(self.judged(own, cell(own.point, heddle=[95.0]), cell(own.base, heddle=[100.0])).word, "unmeasured")
        alone = next(c for c in criteria.SHEETS["foundation"].lines if c.alone)
        self.assertEqual(self.judged(alone, cell(alone.point, heddle=[1.0])).word, "pass")

    def test_unmeasured_is_no_pass(self):
        for line in criteria.chosen(list(criteria.SHEETS)):
            self.assertEqual(self.judged(line).word, "unmeasured")
            self.assertEqual(len(self.judged(line).line()), len(criteria.HEAD))

    def test_each_point_is_measured_once(self):
        wanted = criteria.needed(criteria.chosen(list(criteria.SHEETS)))
        self.assertEqual(len(wanted), len(set(wanted)))


class Breakdown(unittest.TestCase):
    def test_times_become_shares_and_counts_become_ratios(self):
        found = breakdown.of_run({"vni_time_poll": 3.0, "vni_time_lock": 1.0, "vni_messages_received": 10.0, "vni_polls": 25.0,
                                  "vni_lock_acquisitions": 40.0, "vni_lock_wasted": 10.0})
        self.assertEqual((found["poll"], found["lock"], found["issue"]), (0.75, 0.25, 0.0))
        self.assertEqual((found["polls/msg"], found["wasted entries"]), (2.5, 0.25))

    def test_a_library_that_tells_nothing(self):
        self.assertEqual(breakdown.of_run({})["polls/msg"], 0.0)


class Papers(unittest.TestCase):
    def test_every_figure_has_a_command_or_a_reason(self):
        for row in papers.rows():
            command = r"`heddle (bench|simulate) paper [a-z]+-[a-z0-9-]+ ((fig|table)\d+|[a-z]+)`"
            self.assertRegex(row[3], rf"^({command}(, {command})?|not here: .{{10,}})$")
        for paper in papers.PAPERS.values():
            for figure in paper.figures.values():
                self.assertNotEqual(bool(figure.experiments), bool(figure.why_not and not figure.machine))
                self.assertTrue(figure.nodes or not figure.conditions)
                for experiment in figure.experiments:
                    self.assertTrue(experiment.points())

    def test_simulated_figures_are_complete(self):
        for name in ("dang-2017", "amer-2019", "trahay-2009"):
            for which, figure in papers.paper(name).figures.items():
                with self.subTest(paper=name, figure=which):
                    if not figure.machine:
                        self.assertTrue(figure.why_not or figure.nodes)
                        continue
                    cores = machines.load(figure.machine).counts["cpus"]
                    for point in (p for e in figure.experiments for p in e.simulated().points() if not e.only_measured):
                        self.assertLessEqual(point.ranks * point.team, cores, "threads have a processor each")
                    self.assertFalse(figure.nodes or figure.conditions)
        self.assertEqual(papers.commands("dang-2017", "fig5"), ["heddle simulate paper dang-2017 fig5"])
        self.assertEqual(papers.commands("dang-2017", "fig1"), [])


class Check(unittest.TestCase):
    def found(self, name, before, heddle, peer):
        here = cell(Point(benchmark(name), 2), heddle=[heddle], impi=[peer])
        return check.finding(here, "impi", before)

    def test_a_loss_depends_on_what_is_better(self):
        self.assertEqual(self.found("latency", 0.5, 6.0, 10.0).word, "lost")
        self.assertEqual(self.found("latency", 0.5, 5.5, 10.0).word, "held")
        self.assertEqual(self.found("latency", 0.5, 3.0, 10.0).word, "gained")
        self.assertEqual(self.found("message-rate", 2.0, 16.0, 10.0).word, "lost")
        self.assertEqual(self.found("message-rate", 2.0, 25.0, 10.0).word, "gained")

    def test_a_failure_is_a_loss(self):
        here = Cell(Point(benchmark("latency"), 2), {"heddle": [Run("hung", why="ended after 60 s")]})
        finding = check.finding(here, "impi", 1.0)
        self.assertEqual((finding.word, finding.row()[3]), ("failed", "ended after 60 s"))


if __name__ == "__main__":
    unittest.main()

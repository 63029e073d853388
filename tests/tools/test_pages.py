"""Plots and pages: well-formed, self-contained, everything in them."""

import unittest
import xml.etree.ElementTree as xml
from pathlib import Path

import make_believe  # noqa: F401  (finds the package)
from heddle_tool.bench import html, plot, table
from heddle_tool.bench.campaign import Campaign, Cell, Plan
from heddle_tool.bench.mpis import Mpi
from heddle_tool.bench.runner import Run
from heddle_tool.bench.suite import Point, benchmark

TINT = plot.palette([("heddle", False), ("mpich & co", True), ("impi", True)])
SVG = "{http://www.w3.org/2000/svg}"


class Plots(unittest.TestCase):
    def test_curves(self):
        ours = plot.Series("heddle", [plot.Dot(t, 5.0, 4.0, 6.0) for t in (1, 2, 4)], False)
        slow = plot.Series("mpich & co", [plot.Dot(t, 900.0 * t, 800.0, 5000.0) for t in (1, 2, 4)], True)
        tree = xml.fromstring(plot.lines([ours, slow], "threads", "latency (us)", "lower", TINT))
        self.assertEqual(len(tree.findall(SVG + "polyline")), 2)
        words = [t.text for t in tree.iter(SVG + "text")]
        self.assertIn("mpich & co (best reference)", words)
        self.assertIn("heddle", words)
        for circle in tree.iter(SVG + "circle"):
            self.assertTrue(0 <= float(circle.get("cy")) <= plot.HEIGHT)

    def test_nothing_measured(self):
        for svg in (plot.lines([], "x", "y", "lower", TINT), plot.bars([], "y", TINT)):
            self.assertIn("nothing measured", "".join(xml.fromstring(svg).itertext()))

    def test_bars(self):
        tree = xml.fromstring(plot.bars([("heddle", 3.0, 2.0, 4.0, False), ("impi", 3000.0, 10.0, 4000.0, True)], "us", TINT))
        widths = [float(r.get("width")) for r in tree.iter(SVG + "rect")]
        self.assertLess(widths[0], widths[1])

    def test_bars_of_what_is_lost_or_nothing(self):
        for values in ((-3.0, 0.0), (-3.0, -1.0), (0.0, 0.0), (-2.0, 5.0)):
            found = [(label, v, v - 0.5, v + 0.5, False) for label, v in zip(("heddle", "impi"), values)]
            tree = xml.fromstring(plot.bars(found, "%", TINT))
            for bar in tree.iter(SVG + "rect"):
                left = float(bar.get("x"))
                self.assertTrue(0 <= left and left + float(bar.get("width")) <= plot.WIDTH, values)

    def test_labels_do_not_overlap(self):
        tags = plot.name_tags([[100.0, "a", "#000", True], [101.0, "b", "#000", False], [99.0, "c", "#000", False]], 0)
        heights = sorted(float(xml.fromstring(t).get("y")) for t in tags)
        self.assertTrue(all(b - a >= 14.9 for a, b in zip(heights, heights[1:])))

    def test_ticks_cover_the_scale(self):
        for low, high in ((0.2, 0.9), (1, 1000), (0.5, 5), (3, 7e6), (-40, 2), (-9, -1), (0, 0)):
            self.assertGreaterEqual(len(plot.Scale(low, high, 0, 100).ticks()), 3, (low, high))


class Pages(unittest.TestCase):
    def test_page(self):
        mpis = [Mpi("heddle", Path("h"), peer=False), Mpi("impi", Path("i"))]
        points = [Point(benchmark("latency"), 2, t, 8) for t in (1, 8)] + [Point(benchmark("memory"), 2)]
        campaign = Campaign("heddle bench run <latency>", Plan(points, mpis), None)
        for p in points:
            campaign.cells.append(Cell(p, {"heddle": [Run("ok", 1.0)], "impi": [Run("ok", 2.0), Run("hung", why="ended")]}))
        page = html.page(campaign, verdict=html.verdict_table(["what", "target", "verdict"], [("latency", "≤ 0.8", "pass")]))
        self.assertIn("heddle bench run &lt;latency&gt;", page)
        self.assertEqual(page.count("<svg"), 2)
        self.assertIn("hung", page)
        self.assertIn("class=pass", page)
        for outside in ("http://", "https://"):
            self.assertEqual(page.replace("http://www.w3.org/2000/svg", "").count(outside), 0)

    def test_windows_are_an_axis_and_a_column(self):
        mpis = [Mpi("heddle", Path("h"), peer=False)]
        points = [Point(benchmark("message-rate"), 2, 1, 8, args=("--window", str(w))) for w in (8, 64, 512)]
        campaign = Campaign("heddle bench paper trahay-2009 aggregation", Plan(points, mpis), None)
        for i, p in enumerate(points):
            campaign.cells.append(Cell(p, {"heddle": [Run("ok", 1.0 + i)]}))
        said = "".join(xml.fromstring(html.picture(campaign)).itertext())
        for words in ("messages under way at once", "512", "1 thread a rank, 8 B", "trahay-2009 aggregation"):
            self.assertIn(words, said)
        shown = table.report(campaign)
        self.assertLess(shown.index("--window 8"), shown.index("--window 64"))
        self.assertLess(shown.index("--window 64"), shown.index("--window 512"))

    def test_no_curves_no_picture(self):
        campaign = Campaign("heddle bench run memory", Plan([Point(benchmark("memory"), 2)], [Mpi("heddle", Path("h"), peer=False)]), None)
        campaign.cells.append(Cell(Point(benchmark("memory"), 2), {"heddle": [Run("ok", 1.0)]}))
        self.assertEqual(html.picture(campaign), "")


if __name__ == "__main__":
    unittest.main()

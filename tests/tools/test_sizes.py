"""`heddle bench sizes`: the map of ratios, what is asked of it, and the command."""

import unittest
import xml.etree.ElementTree as xml
from pathlib import Path

from make_believe import Case
from heddle_tool.bench import sizes, table
from heddle_tool.bench.campaign import Campaign, Cell, Plan
from heddle_tool.bench.mpis import Mpi
from heddle_tool.bench.runner import Run
from heddle_tool.bench.suite import BENCHMARKS

SVG = "{http://www.w3.org/2000/svg}"


def campaign(times: dict[str, list[float]], ranks=(2,), size=(8, 1 << 20)) -> Campaign:
    """The runs of ping-pong and allreduce; each candidate's times, in the order of the points."""
    points = sizes.points(["allreduce", "ping-pong"], list(ranks), list(size))
    mpis = [Mpi(label, Path(label), peer=not label.startswith("heddle")) for label in times]
    made = Campaign("heddle bench sizes", Plan(points, mpis), None)
    for i, point in enumerate(points):
        made.cells.append(Cell(point, {label: [Run("ok", of[i % len(of)])] for label, of in times.items()}))
    return made


class Maps(unittest.TestCase):
    def test_every_pattern_is_a_benchmark(self):
        for name in sizes.PATTERNS.values():
            self.assertEqual(BENCHMARKS[name].better, "lower", "a ratio below 1 is to mean faster")

    def test_points(self):
        points = sizes.points(["ping-pong", "scan"], [2, 8], [8, 64])
        self.assertEqual([(p.bench.name, p.ranks, p.size) for p in points],
                         [("handover", 2, 0), ("latency", 2, 8), ("latency", 2, 64), *(("scan", r, s) for r in (2, 8) for s in (8, 64))])

    def test_ratio_to_the_fastest(self):
        # The point of the handover comes first and is no cell of the map.
        made = campaign({"heddle": [9, 2, 6, 1, 4], "a": [9, 4, 3, 2, 4], "b": [9, 1, 9, 9, 9]})
        drawn, = sizes.maps(made)
        self.assertEqual(drawn.rows, [("ping-pong", 2, [0.5, 1.0]), ("allreduce", 2, [2.0, 2.0])])
        self.assertEqual((drawn.share(0.8), drawn.share(1.0), drawn.share(1.1)), (0.25, 0.5, 0.5))
        self.assertEqual(drawn.worst(), [(2.0, "allreduce, 2 ranks, 8 B"), (2.0, "allreduce, 2 ranks, 1 MiB")])
        self.assertEqual([line[-1] for line in drawn.verdicts()], ["missed"] * 3)

    def test_a_disturbed_cell_is_marked(self):
        made = campaign({"heddle": [1], "a": [1], "b": [2]})
        made.cells[1].runs["a"] = [Run("ok", 1.0, others=0.5)]  # the fastest reference, 8 bytes
        made.cells[2].runs["b"] = [Run("ok", 2.0, others=0.5)]  # not the fastest, 1 MiB
        drawn, = sizes.maps(made)
        self.assertEqual(drawn.disturbed, {("allreduce", 2, 8)})
        self.assertIn("1.00~", sizes.picture(drawn))
        self.assertIn("~ other programs used", sizes.report(made))

    def test_what_is_asked(self):
        made = campaign({"heddle": [9, 0.5, 1, 0.5, 1], "heddle/threads": [9, 0.5, 0.5, 0.5, 0.9], "a": [9, 1, 1, 1, 1]})
        processes, threads = sizes.maps(made)
        self.assertEqual([line[1:] for line in processes.verdicts()],
                         [["1", "95%", "100%", "pass"], ["1.1", "100%", "100%", "pass"], ["0.8", "50%", "50%", "pass"]])
        self.assertEqual([line[1:] for line in threads.verdicts()], [["0.7", "75%", "75%", "pass"]])

    def test_what_was_not_measured(self):
        made = campaign({"heddle": [1], "a": [1]})
        made.cells[2].runs["a"] = [Run("hung")]
        drawn, = sizes.maps(made)
        self.assertEqual(drawn.rows[1], ("allreduce", 2, [1.0, None]))
        self.assertEqual(sizes.shade(None), sizes.MISSING)
        self.assertIn("-", sizes.report(made))
        without_others = campaign({"heddle": [1]})
        self.assertEqual([line[-1] for line in sizes.maps(without_others)[0].verdicts()], ["missed"] * 3)

    def test_colours_are_in_order(self):
        fills = [sizes.shade(ratio)[0] for ratio in (0.1, 0.8, 0.81, 1.0, 1.05, 1.1, 1.2, 2.0, 40.0)]
        self.assertEqual(len(dict.fromkeys(fills)), len(sizes.SHADES))
        self.assertEqual(fills[0], fills[1])
        self.assertNotEqual(fills[1], fills[2])

    def test_picture(self):
        drawn, = sizes.maps(campaign({"heddle": [9, 2, 6, 1, 4], "a & b": [9, 4, 3, 2, 4]}))
        tree = xml.fromstring(sizes.picture(drawn, ["a note"]))
        self.assertEqual(len(tree.findall(SVG + "rect")), 4)
        words = [t.text for t in tree.iter(SVG + "text")]
        for word in ("ping-pong, 2 ranks", "1 MiB", "0.500", "2.00", "a note"):
            self.assertIn(word, words)

    def test_markdown(self):
        said = sizes.report(campaign({"heddle": [9, 2, 6, 1, 4], "a": [9, 4, 3, 2, 4]}), table.markdown)
        self.assertIn("| allreduce | 2 | 0.500 | 2.00 |", said)


class Command(Case):
    def test_command(self):
        picture = self.folder / "map.svg"
        code, out, err = self.heddle("bench", "sizes", "--patterns", "ping-pong,exchange", "--ranks", "2,4", "--sizes", "8,1k", "--repeats", "2",
                                     "--rank-kind", "processes", "--picture", str(picture), *self.ours, "--mpi", f"a={self.folder}/a")
        self.assertEqual(code, 0, err)
        self.assertRegex(out.replace("~", ""), r"exchange +4 +0\.500 +0\.500")
        xml.parse(picture)
        result = self.only("sizes-*.json")
        self.assertIn("<svg", result.with_suffix(".html").read_text())
        code, again, err = self.heddle("bench", "sizes", "--from", str(result))
        self.assertEqual(code, 0, err)
        self.assertIn(out.split("\n\n")[0].strip(), again)

    def test_bad_input(self):
        for words, said in ((("--patterns", "ping"), "--patterns takes ping-pong"), (("--ranks", "1"), "--ranks takes numbers from 2"),
                            (("--sizes", "x"), "--sizes takes numbers")):
            code, _, err = self.heddle("bench", "sizes", *words, *self.pretended)
            self.assertEqual(code, 2)
            self.assertIn(said, err)


if __name__ == "__main__":
    unittest.main()

"""`heddle bench plot`: the picture of the README, from a run and from the table that is stored of one."""

import shutil
import unittest
import xml.etree.ElementTree as xml

from make_believe import TREE, Case

STORED = TREE / "docs" / "results" / "message-rate"
SVG = "{http://www.w3.org/2000/svg}"


class Plot(Case):
    def test_of_a_run(self):
        code, _, err = self.heddle("bench", "run", "message-rate", "--threads", "8,1", "--comm", "shared,each", "--repeats",
                                   "2", *self.pretended)
        self.assertEqual(code, 0, err)
        result = self.only("run-*.json")
        code, out, err = self.heddle("bench", "plot", str(result), "--out", str(self.folder / "rate"))
        self.assertEqual(code, 0, err)
        table = (self.folder / "rate.csv").read_text()
        self.assertIn("# command: heddle bench run message-rate", table)
        # A communicator for each thread is another experiment.
        self.assertEqual([l for l in table.splitlines() if l[:2] in ("a,", "b,")],
                         ["a,yes,1,2,0.00", "b,yes,1,4,0.00", "a,yes,8,2,0.00", "b,yes,8,4,0.00"])
        picture = xml.parse(self.folder / "rate.svg").getroot()
        curves = [[float(point.split(",")[0]) for point in line.get("points").split()]
                  for line in picture.findall(SVG + "polyline")]
        self.assertEqual(len(curves), 2)
        for across in curves:
            self.assertEqual(across, sorted(across), "a curve goes from few threads to many, in whatever order they were measured")
        self.assertIn("threads of each rank", "".join(picture.itertext()))

    def test_the_stored_picture_is_what_the_stored_table_says(self):
        shutil.copy(STORED.with_suffix(".csv"), self.folder)
        code, _, err = self.heddle("bench", "plot", str(self.folder / "message-rate.csv"))
        self.assertEqual(code, 0, err)
        for suffix in (".csv", ".svg"):
            self.assertEqual((self.folder / "message-rate").with_suffix(suffix).read_text(),
                             STORED.with_suffix(suffix).read_text(), "heddle bench plot docs/results/message-rate.csv draws it")

    def test_the_notes_say_what_made_it(self):
        lines = STORED.with_suffix(".csv").read_text().splitlines()[:3]
        words = " ".join("".join(t.itertext()) for t in xml.parse(STORED.with_suffix(".svg")).getroot().iter(SVG + "text"))
        for line in lines:
            self.assertIn(line.split(": ", 1)[1], words)

    def test_what_is_no_result(self):
        (self.folder / "other.csv").write_text("threads,rate\n1,2\n")
        for file, word in (("other.csv", "no table that heddle bench plot has stored"), ("none.csv", "there is no file"),
                           ("none.json", "no result of heddle bench")):
            code, _, err = self.heddle("bench", "plot", str(self.folder / file))
            self.assertNotEqual(code, 0)
            self.assertIn(word, err)


if __name__ == "__main__":
    unittest.main()

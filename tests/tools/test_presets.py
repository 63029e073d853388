"""`heddle bench presets`: the table of models between nodes, its page, and what is asked for."""

import re
import unittest
from pathlib import Path

from make_believe import TREE, Case
from heddle_tool.bench import nodes, presets
from heddle_tool.bench.campaign import Campaign, Cell, Plan, load
from heddle_tool.bench.mpis import MODELS, Heddle, Mpi, Mpich
from heddle_tool.bench.runner import Run


def ours() -> list[Mpi]:
    return [Heddle(f"heddle:{model}", Path("/h"), extra_env={"HEDDLE_MODEL": model}) for model in MODELS]


def campaign(rates: dict[str, float], peer: bool = True, file: Path | None = None) -> Campaign:
    """The table of all models over both networks, with the rates that are given and 1 for the others; a rate of 0 hangs."""
    where = nodes.Nodes(2, "ucx,ofi", conditions={"cores": "1"})
    found = presets.placed(ours() + ([Mpich("mpich", Path("/m"))] if peer else []), nodes.Cluster(where), ["ucx", "ofi"])
    point, = presets.points(2, [8])
    made = Campaign("heddle bench presets", Plan([point], found), file, nodes=where.to_json())
    made.cells = [Cell(point, {m.label: [Run("ok", rate) if (rate := rates.get(m.label, 1.0)) else Run("hung", why="ended")]
                               for m in found})]
    return made


class Presets(Case):
    def test_the_models_are_those_of_the_library(self):
        there = re.search(r"set\(HEDDLE_PRESETS([^)]*)\)", (TREE / "cmake" / "models.cmake").read_text())[1].split()
        self.assertEqual(sorted(there), sorted(MODELS))

    def test_each_network_is_chosen_by_its_variable(self):
        found = {m.label: m for m in campaign({}).plan.mpis}
        self.assertEqual(len(found), 2 * len(MODELS) + 1)
        for lln in ("ucx", "ofi"):
            env = found[f"heddle:csync/{lln}"].env(2, 8)
            self.assertEqual((env["HEDDLE_LLN"], env["HEDDLE_MODEL"]), (lln, "csync"))

    def test_the_fastest_comes_first_and_what_hangs_is_named(self):
        made = campaign({"heddle:auto/ucx": 6.0, "heddle:flux/ucx": 3.0, "heddle:auto/ofi": 0.0, "mpich": 2.0})
        head, body = presets.rows(made)
        self.assertEqual(head, ["model", "ucx, 8 threads", "ofi, 8 threads"])
        self.assertEqual([row[0] for row in body[:2]], ["`auto`", "`flux`"])
        self.assertEqual(len(body), len(MODELS))
        self.assertEqual(body[0][1:], ["6.00, x3.00", "hung"])
        said = presets.report(made)
        self.assertIn("heddle:auto/ofi hung: ended", said)
        self.assertIn("mpich", said)

    def test_without_a_reference(self):
        head, body = presets.rows(campaign({"heddle:auto/ucx": 6.0}, peer=False))
        self.assertEqual(body[0][1:], ["6.00", "1.00"])

    def test_the_page_is_written_from_a_stored_run(self):
        file = self.folder / "presets.json"
        made = campaign({"heddle:clh/ucx": 4.0}, file=file)
        made.save()
        again = presets.page(load(file))
        self.assertEqual(again, presets.page(made))
        self.assertIn("2 nodes in a box, cores 1, Heddle over ucx,ofi, started by hydra", again)
        self.assertIn("| `clh` | 4.00, x4.00 |", again)

    def test_one_sentence_each(self):
        for words, wanted in (("--lln tokenring", "--lln takes ucx, ofi"), ("--cluster 1", "numbers from 2 to"),
                              ("--launcher rsh", "--launcher takes hydra, slurm, prrte"), ("--launcher hydra,slurm", "takes one name"),
                              ("--threads 0", "numbers from 1 to"), ("--from nowhere.json", "no result of heddle bench")):
            with self.subTest(words):
                code, _, err = self.heddle("bench", "presets", *words.split(), *self.ours)
                self.assertEqual(code, 2, err)
                self.assertIn(wanted, err)


if __name__ == "__main__":
    unittest.main()

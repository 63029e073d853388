"""The picture in ARCHITECTURE.md is that of the tree."""

import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

from documents import TREE


def draw(tree: Path, *options: str) -> subprocess.CompletedProcess:
    return subprocess.run([sys.executable, str(TREE / "tools" / "draw_layers.py"), *options, str(tree)], text=True,
                          capture_output=True)


class Picture(unittest.TestCase):
    def test_of_this_tree(self):
        done = draw(TREE, "--check")
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)


class Differences(unittest.TestCase):
    """In a copy of what the picture is drawn from, one thing is changed each time."""

    def setUp(self):
        scratch = tempfile.TemporaryDirectory(prefix="heddle-docs-")
        self.addCleanup(scratch.cleanup)
        self.tree = Path(scratch.name)
        for name in ("ARCHITECTURE.md", "docs/layers.svg", "tests/rules/includes.py"):
            (self.tree / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(TREE / name, self.tree / name)
        for folder in sorted((TREE / "src").glob("*/**/")):
            if any(f.suffix in {".cpp", ".hpp", ".h", ".c"} for f in folder.glob("*")):
                self.add(folder.relative_to(TREE / "src").as_posix())
        self.assertEqual(draw(self.tree, "--check").returncode, 0)

    def add(self, folder: str):
        (self.tree / "src" / folder).mkdir(parents=True, exist_ok=True)
        (self.tree / "src" / folder / "one.hpp").touch()

    def change(self, name: str, old: str, new: str):
        text = (self.tree / name).read_text()
        self.assertIn(old, text)
        (self.tree / name).write_text(text.replace(old, new, 1))

    def refused(self, why: str):
        done = draw(self.tree, "--check")
        self.assertEqual(done.returncode, 1)
        self.assertIn(why, done.stdout)

    def test_a_folder_that_is_not_listed(self):
        self.add("mpi/teleport")
        self.refused("src/mpi/teleport has no layer")

    def test_a_folder_that_is_gone(self):
        shutil.rmtree(self.tree / "src" / "mpi" / "coll")
        self.refused("mpi/coll has no code")

    def test_a_planned_folder_that_has_code(self):
        self.change("ARCHITECTURE.md", "dynamic processes: spawning, ports and names, connecting", "dynamic processes: planned")
        self.refused("mpi/dpm has code")

    def test_a_layer_without_a_row(self):
        self.change("tests/rules/includes.py", '["mpi/coll"]', '["mpi/coll", "mpi/teleport"]')
        self.refused("mpi/teleport has no row")

    def test_another_order(self):
        self.change("tests/rules/includes.py", '    ["base/sync"],\n', "")
        self.change("tests/rules/includes.py", '    ["base/safety"],\n', '    ["base/safety"],\n    ["base/sync"],\n')
        self.refused("its layer is above")

    def test_other_layers_in_the_same_order(self):
        self.change("tests/rules/includes.py", '["mpi/comm"],\n    ["mpi/rma"', '["mpi/comm", "mpi/rma"')
        self.refused("draw_layers.py draws: run it")
        self.assertEqual(draw(self.tree).returncode, 0)
        self.assertEqual(draw(self.tree, "--check").returncode, 0)

    def test_other_words(self):
        self.change("ARCHITECTURE.md", "| reductions |", "| reduction operations |")
        self.refused("draw_layers.py draws: run it")


if __name__ == "__main__":
    unittest.main()

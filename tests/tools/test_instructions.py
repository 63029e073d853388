"""`heddle bench count`: what valgrind has written is read; more instructions than before are found."""

import tempfile
import unittest
from pathlib import Path

import make_believe  # noqa: F401  (the path to the package)
from heddle_tool.bench import instructions
from heddle_tool.errors import BadInput

# As callgrind writes it: a call is "calls=N ..." and a line whose last word is what it cost, everything below included.
PROFILE = """events: Ir
fn=(1) main
10 5
cfn=(2) step_isend
calls=4 0
11 400
cfn=(3) step_waitall_of_1
calls=1 0
12 1000
fn=(2)
1 40
cfn=(4) PMPI_Isend
calls=4 0
2 360
fn=(5) again
20 1
cfn=(2)
calls=1 0
21 150
cfn=(6) step_waitall_of_8
calls=1 0
22 2400
"""


class Counts(unittest.TestCase):
    def profile(self, text: str) -> Path:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        file = Path(folder.name) / "callgrind"
        file.write_text(text)
        return file

    def test_calls_are_added_up_over_callers(self):
        edges = instructions.called(self.profile(PROFILE))
        self.assertEqual(edges["step_isend"], instructions.Edge(5, 550))
        self.assertEqual(edges["PMPI_Isend"], instructions.Edge(4, 360))

    def test_steps(self):
        others = "".join(f"cfn=({100 + i}) step_{name}\ncalls=2 0\n1 20\n" for i, name in enumerate(instructions.STEPS)
                         if name not in ("isend", "further"))
        once = instructions.per_call([self.profile(PROFILE), self.profile("fn=(99) main\n1 1\n" + others)])
        steps = instructions.steps([once | {"irecv": 12.0}, once, once | {"isend": 150.0}])
        self.assertEqual(steps["isend"], 110)
        self.assertEqual(steps["further"], (2400 - 1000) / 7)
        self.assertEqual(steps["irecv"], 10)
        self.assertEqual(steps.keys(), instructions.STEPS.keys())

    def test_a_step_that_was_not_called(self):
        with self.assertRaisesRegex(BadInput, "irecv"):
            instructions.steps([instructions.per_call([self.profile(PROFILE)])])

    def test_more_than_before(self):
        before = {"auto": {"isend": 100.0, "irecv": 100.0, "test_in_vain": 100.0}}
        self.assertEqual(instructions.grown({"auto": {"isend": 103.0, "irecv": 90.0}}, before), [])
        self.assertEqual(instructions.grown({"auto": {"isend": 104.0, "irecv": 100.0}}, before),
                         ["auto: `MPI_Isend`: 104 instructions, 100 before"])
        self.assertEqual(instructions.grown({"auto": {"test_in_vain": 200.0}}, before), [])

    def test_page_gives_back_what_it_compares_with(self):
        counted = {"auto": dict.fromkeys(instructions.STEPS, 7.0)}
        before = {"auto": dict.fromkeys(instructions.STEPS, 8.0)}
        page = self.profile(instructions.page(counted, before, "5b06bb1"))
        self.assertIn("| `MPI_Isend` | 7 (8) |", page.read_text())
        self.assertEqual(instructions.reference_of(page), ("5b06bb1", before))

    def test_no_page(self):
        with self.assertRaises(BadInput):
            instructions.reference_of(Path("nowhere"))
        with self.assertRaisesRegex(BadInput, "--record"):
            instructions.reference_of(self.profile("no counts\n"))


if __name__ == "__main__":
    unittest.main()

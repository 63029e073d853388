"""Does the comparison of headers find what it is there to find? Our header against altered copies of itself."""

from __future__ import annotations

import os
import tempfile
import unittest
from pathlib import Path

from compare import compare

CC = os.environ.get("CC", "cc")
HEADER = Path(os.environ["HEDDLE_INCLUDE"]) / "mpi.h"


class Comparison(unittest.TestCase):
    def differences(self, *replacements: tuple[str, str]) -> str:
        text = HEADER.read_text()
        for old, new in replacements:
            self.assertTrue(old in text, old)
            text = text.replace(old, new)
        with tempfile.TemporaryDirectory() as name:
            (Path(name) / "mpi.h").write_text(text)
            return "\n".join(compare(CC, [f"-I{HEADER.parent}"], [f"-I{name}"]))

    def test_same(self) -> None:
        self.assertEqual(self.differences(), "")

    def test_value_of_enumerator(self) -> None:
        self.assertIn("MPI_ERR_TAG int 4", self.differences(("MPI_ERR_TAG                   = 4,", "MPI_ERR_TAG = 5,")))

    def test_value_of_handle(self) -> None:
        self.assertIn("MPI_SUM", self.differences(("((MPI_Op) 0x021)", "((MPI_Op) 0x02f)")))

    def test_type_of_constant(self) -> None:
        self.assertIn("MPI_SUM", self.differences(("((MPI_Op) 0x021)", "((MPI_Info) 0x021)")))

    def test_layout_of_status(self) -> None:
        swapped = self.differences(("    int MPI_SOURCE;\n    int MPI_TAG;", "    int MPI_TAG;\n    int MPI_SOURCE;"))
        self.assertIn("MPI_Status.MPI_TAG", swapped)

    def test_parameter_type(self) -> None:
        changed = self.differences(("int MPI_Probe(int source, int tag", "int MPI_Probe(long source, int tag"))
        self.assertIn("conflicting types for", changed)

    def test_missing_and_additional_function(self) -> None:
        self.assertIn("MPI_Barrier", self.differences(("int MPI_Barrier(MPI_Comm comm);", "")))
        self.assertIn("MPI_More", self.differences(("int MPI_Barrier(", "int MPI_More(void);\nint MPI_Barrier(")))

    def test_tag_of_handle(self) -> None:
        changed = self.differences(("typedef struct MPI_ABI_Op* MPI_Op;", "typedef struct MPI_Operation* MPI_Op;"))
        self.assertIn("MPI_Op", changed)

    def test_callback_type(self) -> None:
        changed = self.differences(("int(MPI_Grequest_free_function)(void*", "int(MPI_Grequest_free_function)(int*"))
        self.assertIn("MPI_Grequest_free_function", changed)


if __name__ == "__main__":
    unittest.main()

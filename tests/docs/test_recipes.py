"""Commands that documents and tests show: pip takes no binding that was built for another MPI, and no package is named that is not there.

pip keeps wheels that it has built, and gives them out again for other prefixes: what they are built against is no part of their name.
"""

import re
import unittest

from documents import TREE, all_of

BUILT_AGAINST_MPI = re.compile(r"\binstall\b.*--no-binary|\bMPICC=.*\binstall\b|\binstall\b.*--no-build-isolation")
PACKAGE = re.compile(r"\bpip install heddle\b|\bpip install heddle[-_]mpi(?!-\*)")


def commands() -> list[tuple[str, str]]:
    """(file:line, line) of all documents, and of scripts; a line that is continued is one with the next. Not of tests that show what is wrong."""
    folders = [TREE / name for name in ("tests", "tools", "cmake", "docs")]
    files = {f for folder in folders for f in folder.rglob("*") if f.suffix in (".sh", ".py", ".md", ".cmake", "")}
    files |= {TREE / "dev", *all_of(TREE)}
    found = []
    for file in sorted(f for f in files if f.is_file() and f.name not in ("test_recipes.py", "pip.sh") and "__pycache__" not in f.parts):
        text = re.sub(r"\\\n\s*", " ", file.read_text(errors="replace"))
        found += [(f"{file.relative_to(TREE)}", line) for line in text.splitlines()]
    return found


class Recipes(unittest.TestCase):
    def test_what_is_built_against_an_mpi_is_not_taken_from_the_cache(self):
        built = [(where, line) for where, line in commands() if "pip" in line and BUILT_AGAINST_MPI.search(line)]
        self.assertGreater(len(built), 3)
        self.assertEqual([(where, line) for where, line in built if "--no-cache-dir" not in line], [])

    def test_pip_installs_the_file_that_was_made(self):
        """The package index has no heddle-mpi, and its heddle is another project's."""
        self.assertEqual([(where, line) for where, line in commands() if PACKAGE.search(line)], [])


if __name__ == "__main__":
    unittest.main()

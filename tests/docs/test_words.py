"""Documents are written in the terms of MPI and of operating systems (docs/glossary.md), not in a language of our own."""

import sys
import unittest

from documents import TREE, all_of, prose

sys.path.append(str(TREE / "tests/rules"))
from private_words import in_text  # The one list, which code is checked by, too.


def private(text: str) -> list[str]:
    """Names of the code may be quoted: "scout" is the code's name of the detector, say."""
    return in_text(prose(text))


class Words(unittest.TestCase):
    def test_of_the_documents(self):
        for file in all_of(TREE):
            name = file.relative_to(TREE).as_posix()
            with self.subTest(name):
                self.assertEqual(private(file.read_text()), [])

    def test_that_it_finds_them(self):
        for text in ("A thread gives its core away.", "the helpers look", "nine runs in turns", "0.8 of the best peer",
                     "nothing on the way of a message", "threads gave the core away"):
            self.assertEqual(len(private(text)), 1, text)
        for text in ('the detector ("scout" in the code)', "`helper`", "the peer's buffer", "it takes turns", "```\nfloor\n```"):
            self.assertEqual(private(text), [], text)


if __name__ == "__main__":
    unittest.main()

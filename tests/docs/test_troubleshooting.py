"""Every message that docs/troubleshooting.md explains is one that the sources have."""

import re
import unittest

from documents import TREE

PAGE = TREE / "docs" / "troubleshooting.md"
ROW = re.compile(r"^\| `(.+?)`(?: \([^|]*\))? \|", re.MULTILINE)  # an example may follow in brackets
LITERAL = re.compile(r"\"((?:[^\"\\\n]|\\.)*)\"")
PLACEHOLDER = re.compile(r"%[-.0-9]*(?:l|ll|z)?[a-z]")


def literals(source: str) -> str:
    """The string literals of a file, those that the compiler would join joined, a line each."""
    joined = re.sub(r"\"\s*\n\s*\"", "", source)
    return "\n".join(PLACEHOLDER.sub("...", text.replace('\\"', '"').replace("\\\\", "\\")) for text in LITERAL.findall(joined))


def sources() -> str:
    return "\n".join(literals(file.read_text()) for kind in ("*.cpp", "*.hpp") for file in sorted((TREE / "src").rglob(kind)))


def fragments(message: str) -> list[str]:
    return [part for part in (piece.strip(" ,;:'()") for piece in message.split("...")) if part]


class Troubleshooting(unittest.TestCase):
    def test_messages_exist(self):
        text = sources()
        messages = ROW.findall(PAGE.read_text())
        self.assertEqual(len(messages), len(re.findall(r"^\| `", PAGE.read_text(), re.MULTILINE)), "a row that this test does not read")
        for message in messages:
            for fragment in fragments(message):
                with self.subTest(message, fragment=fragment):
                    self.assertTrue(fragment in text, f"no source says {fragment!r}")

    def test_that_it_finds_others(self):
        text = literals('fail("cannot %s of "\n     "rank " + name);  // a comment: no such text')
        self.assertIn("cannot ... of rank", text)
        self.assertNotIn("no such text", text)
        self.assertEqual(fragments("a ... of rank '...'"), ["a", "of rank"])


if __name__ == "__main__":
    unittest.main()

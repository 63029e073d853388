"""Sentences of documents begin with their subject and can be read once: no relative clause as a subject, no sentence of many clauses."""

import re
import unittest

from documents import DEFINED, TREE, all_of, prose

# Generated, or a list of what was done, or written elsewhere.
EXEMPT = re.compile(r"^(CHANGELOG\.md|CONTRIBUTING\.md|docs/reference\.md|docs/coverage\.md|docs/results/)")
FIGURES = re.compile(r"^docs/adr/")  # lists of measurements are long
LINK = re.compile(r"!?\[((?:[^\[\]]|\[[^\]]*\])*)\]\([^)]*\)")
HTML = re.compile(r"<[^>\n]+>")
# Where a new text begins, whatever ends the one before it.
BLOCK = re.compile(r"\n\s*\n|\n(?=\s*(?:[-*]|\d+\.) )|^#+ .*$", re.MULTILINE)
SENTENCE = re.compile(r"(?<=[.!?:;])\s+(?=[A-Z`*\"(])")
OPENING = re.compile(r"^[\s*\"(]*(What|Who|Whoever|Of|Whether)\b(?! course\b)")
MOST_WORDS = 34


def sentences(text: str) -> list[str]:
    """Those of running text: no code, no headings, no tables."""
    plain = HTML.sub("", LINK.sub(r"\1", DEFINED.sub("", prose(text))))
    plain = "\n".join(line if not line.lstrip().startswith("|") else "" for line in plain.splitlines())
    found = []
    for block in BLOCK.split(plain):
        joined = re.sub(r"^\s*(?:[-*]|\d+\.) ", "", " ".join(block.split()))
        found += [sentence for sentence in SENTENCE.split(joined) if sentence]
    return found


def findings(text: str, most: int = MOST_WORDS) -> list[str]:
    found = [f"begin with the subject: {s}" for s in sentences(text) if OPENING.match(s) and not s.endswith("?")]
    return found + [f"{len(s.split())} words: {s}" for s in sentences(text) if len(s.split()) > most]


class Sentences(unittest.TestCase):
    def test_of_the_documents(self):
        for file in all_of(TREE):
            name = file.relative_to(TREE).as_posix()
            if not EXEMPT.match(name):
                with self.subTest(name):
                    self.assertEqual(findings(file.read_text(), 10_000 if FIGURES.match(name) else MOST_WORDS), [])

    def test_that_it_finds_them(self):
        long = "It " + "and so on " * 15 + "goes."
        for text in ("What is left is sent.", "A. Who waits polls.", "1. Whoever waits\npolls.", "- Of two threads one polls.",
                     "## Waiting\nWhether it waits depends.", long):
            self.assertEqual(len(findings(text)), 1, text)
        for text in ("What is left?", "A thread that waits polls.", "Of course.", "`What` is a name.", "| What | Who |", "```\nWhat a day.\n```",
                     "## What is left", "[Who](x.md) waits?", long.replace("and", "and.  It")):
            self.assertEqual(findings(text), [], text)


if __name__ == "__main__":
    unittest.main()

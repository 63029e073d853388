"""Documents are written in the terms of MPI and of operating systems (docs/glossary.md), not in a language of our own."""

import re
import unittest

from documents import TREE, all_of, prose

# What to write instead, by what is not to be written.
PRIVATE = {
    r"\bhouse\b|\bfloors?\b": "layer",
    r"\bhelpers?\b": "progress thread",
    r"\bscouts?\b": "idle-core detector",
    r"\b(?:gives?|gave|given|giving) (?:its|the|their|a|one's)? ?(?:own )?cores? away": "yield",
    r"\blost (?:its )?step\b": "partner descheduled",
    r"\bworlds? of one\b": "singleton",
    r"\bobituar": "exit report",
    r"\bledger\b": "counter registry",
    r"\bin turns\b": "interleaved",
    r"\bbest peers?\b": "reference MPI (a peer is a rank that one communicates with)",
    r"\bcontestants?\b": "candidate",
    r"\b(?:fast|slow) minutes?\b": "close, distant vCPUs",
    r"\bon the way of\b": "on the critical path of",
    r"\bunder the protection of\b": "with the lock of ... held",
    r"\bfirst looks?\b|\blooks (?:once|again|less|longer|from outside)\b": "poll",
}
QUOTED = re.compile(r"\"[^\"\n]*\"")


def private(text: str) -> list[str]:
    """Names of the code may be quoted: "scout" is what the code calls it, say."""
    plain = QUOTED.sub('""', prose(text))
    return [f"{match[0]!r}: write {instead}" for pattern, instead in PRIVATE.items()
            for match in re.finditer(pattern, plain, re.IGNORECASE)]


class Words(unittest.TestCase):
    def test_of_the_documents(self):
        for file in all_of(TREE):
            with self.subTest(file.relative_to(TREE).as_posix()):
                self.assertEqual(private(file.read_text()), [])

    def test_that_it_finds_them(self):
        for text in ("A thread gives its core away.", "the helpers look", "nine runs in turns", "0.8 of the best peer",
                     "nothing on the way of a message", "threads gave the core away"):
            self.assertEqual(len(private(text)), 1, text)
        for text in ('the detector ("scout" in the code)', "`helper`", "the peer's buffer", "it takes turns", "```\nfloor\n```"):
            self.assertEqual(private(text), [], text)


if __name__ == "__main__":
    unittest.main()

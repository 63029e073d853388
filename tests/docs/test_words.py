"""Documents are written in the terms of MPI and of operating systems (docs/glossary.md), not in a language of our own."""

import sys
import unittest

from documents import TREE, all_of, prose

sys.path.append(str(TREE / "tests/rules"))
from private_words import in_text  # The one list, which code is checked by, too.

# Documents that still have findings. The list only gets shorter.
NOT_YET = {
    "CHANGELOG.md",
    "docs/adr/0042-credits-between-nodes.md",
    "docs/adr/0055-packet-tokens-between-nodes.md",
    "docs/adr/0065-reduced-polling-of-busy-ranks.md",
    "docs/adr/0079-receiver-owned-cell-reuse.md",
    "docs/adr/0092-addresses-without-a-reservation.md",
    "docs/adr/0096-strided-writes-through-a-mapping.md",
    "docs/glossary.md",
    "docs/guides/dynamic-processes.md",
    "docs/guides/fault-tolerance.md",
    "docs/guides/files.md",
    "docs/guides/many-machines.md",
    "docs/guides/networks.md",
    "docs/guides/production.md",
    "docs/guides/progress.md",
    "docs/guides/report.md",
    "docs/guides/thread-runtimes.md",
    "docs/guides/waiting.md",
    "docs/results/figures/dang-2017.md",
    "docs/results/safety-models.md",
    "docs/sync.md",
    "docs/troubleshooting.md",
}


def private(text: str) -> list[str]:
    """Names of the code may be quoted: "scout" is the code's name of the detector, say."""
    return in_text(prose(text))


class Words(unittest.TestCase):
    def test_of_the_documents(self):
        for file in all_of(TREE):
            name = file.relative_to(TREE).as_posix()
            with self.subTest(name):
                self.assertEqual([] if name in NOT_YET else private(file.read_text()), [])

    def test_that_it_finds_them(self):
        for text in ("A thread gives its core away.", "the helpers look", "nine runs in turns", "0.8 of the best peer",
                     "nothing on the way of a message", "threads gave the core away"):
            self.assertEqual(len(private(text)), 1, text)
        for text in ('the detector ("scout" in the code)', "`helper`", "the peer's buffer", "it takes turns", "```\nfloor\n```"):
            self.assertEqual(private(text), [], text)


if __name__ == "__main__":
    unittest.main()

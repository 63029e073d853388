"""No dead links: every relative link of every Markdown file leads to a file of the tree, and every anchor to a heading."""

import re
import tempfile
import unittest
from pathlib import Path

from documents import TREE, all_of, anchors, links

ELSEWHERE = re.compile(r"^[a-z][a-z0-9+.-]*:")
# A file that is named in the running text of a document about the tree as it is. (Decisions and the changelog speak of the past.)
NAMED = re.compile(r"`((?:src|docs|tests|tools|bench|api|cmake|examples)/[\w./-]*\w)`")
PLACEHOLDER = re.compile(r"\b[A-Z]+\b(?!\.md)")
OF_THE_PAST = re.compile(r"^(CHANGELOG\.md|docs/adr/\d|docs/results/)")


def dead(tree: Path) -> list[str]:
    found = []
    for file in all_of(tree):
        text = file.read_text()
        name = file.relative_to(tree).as_posix()
        for link in links(text):
            if ELSEWHERE.match(link):
                continue
            path, _, anchor = link.partition("#")
            target = (file.parent / path).resolve() if path else file
            if not target.exists() or not target.is_relative_to(tree):
                found.append(f"{name}: {link}: there is no such file")
            elif anchor and target.suffix == ".md" and anchor not in anchors(target.read_text()):
                found.append(f"{name}: {link}: there is no such heading")
        if not OF_THE_PAST.match(name):
            found += [f"{name}: `{path}`: there is no such file" for path in NAMED.findall(text)
                      if not PLACEHOLDER.search(path) and not (tree / path).exists()]
    return found


class Links(unittest.TestCase):
    def test_of_this_tree(self):
        self.assertGreater(len(all_of(TREE)), 20)
        self.assertEqual(dead(TREE), [])


class DeadLinks(unittest.TestCase):
    """The result of the test above for a tree with a dead link."""

    def setUp(self):
        scratch = tempfile.TemporaryDirectory(prefix="heddle-docs-")
        self.addCleanup(scratch.cleanup)
        self.tree = Path(scratch.name).resolve()
        (self.tree / "docs").mkdir()
        (self.tree / "docs" / "there.md").write_text("# The one\n\n## `auto`, and *more*\n\n## The one\n")

    def said_of(self, text: str) -> list[str]:
        (self.tree / "README.md").write_text(text)
        return dead(self.tree)

    def test_what_is_there(self):
        for text in ("[a](docs/there.md)", "[a](docs/there.md#the-one)", "[`a`](docs/there.md#auto-and-more)",
                     "[a](docs/there.md#the-one-1)", "[a](https://example.org/x)", "# Up\n[a](#up)", "![p](docs/there.md)",
                     "```\n[a](nowhere.md)\n```", "`[a](nowhere.md)`", "`docs/there.md`", "`docs/NAME/one.md`",
                     '<img src="docs/there.md" width="3">'):
            self.assertEqual(self.said_of(text), [], text)

    def test_what_is_not(self):
        for text, why in (("[a](nowhere.md)", "file"), ("[a](docs/there.md#two)", "heading"), ("[a](#down)", "heading"),
                          ("![p](docs/p.svg)", "file"), ("`docs/gone.md`", "file"), ("[a](../outside.md)", "file"),
                          ("[two\nlines](docs/\nthere.md) [b](gone.md)", "file"), ("[a]\n\n[a]: gone.md", "file"),
                          ('<img src="gone.svg">', "file"), ("[[1]](gone.md)", "file")):
            said = self.said_of(text)
            self.assertEqual(len(said), 1, (text, said))
            self.assertIn(f"no such {why}", said[0])


if __name__ == "__main__":
    unittest.main()

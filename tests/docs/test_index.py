"""Statements of documents about each other are true: the indexes list every document there is, decisions have their status, counts agree."""

import re
import unittest

from documents import TREE, all_of, links

DOCS = TREE / "docs"
ADR = DOCS / "adr"
STATUS = re.compile(r"^Status: (Accepted|Superseded by|Deprecated)(; amended by)?((?:,? ?\[\d{4}\]\([\w.-]+\))*)$", re.MULTILINE)
LINKED = re.compile(r"\[(\d{4})\]\(([\w.-]+)\)")
ROW = re.compile(r"^\| \[(\d{4})\]\(([\w.-]+)\) \| (.+) \| (.+) \|$", re.MULTILINE)


def listed(index):
    return {(index.parent / link.partition("#")[0]).resolve() for link in links(index.read_text()) if ":" not in link}


def decisions():
    return sorted(f for f in ADR.glob("[0-9]*.md") if not f.name.startswith("0000"))


class Indexes(unittest.TestCase):
    def test_every_document_is_listed(self):
        known = set().union(*(listed(d / "README.md") for d in (DOCS, DOCS / "results", ADR)))
        exempt = {TREE / "README.md", DOCS / "README.md"}
        of_readers = [f for f in all_of(TREE) if f.is_relative_to(DOCS) or f.parent == TREE or f.name == "README.md"]
        missing = [f.relative_to(TREE).as_posix() for f in of_readers if f not in known and f not in exempt]
        self.assertEqual(missing, [], "docs/README.md, or the README.md of the folder, has to name them")

    def test_every_guide_is_in_the_main_index(self):
        guides = set((DOCS / "guides").glob("*.md"))
        self.assertTrue(guides)
        self.assertLessEqual(guides, listed(DOCS / "README.md"))


class Counts(unittest.TestCase):
    def test_the_readme_counts_functions_as_the_generated_page_does(self):
        together = re.search(r"\*\*together\*\* \| \*\*(\d+)\*\*", (DOCS / "coverage.md").read_text())[1]
        self.assertIn(f"All of the standard's {together} functions", (TREE / "README.md").read_text())


class Decisions(unittest.TestCase):
    def test_every_one_has_a_status(self):
        self.assertTrue(decisions())
        for file in [*decisions(), ADR / "0000-template.md"]:
            with self.subTest(file.name):
                found = STATUS.findall(file.read_text())
                self.assertEqual(len(found), 1, "one line: Status: Accepted, Accepted; amended by [NNNN](...), Superseded by "
                                 "[NNNN](...), or Deprecated")
                word, amended, pages = found[0]
                self.assertEqual(bool(pages), bool(amended) or word == "Superseded by")
                for number, page in LINKED.findall(pages):
                    self.assertTrue(page.startswith(number + "-") and (ADR / page).is_file(), page)
                    self.assertGreater(page, file.name, "a later decision amends or supersedes")

    def test_the_index_has_number_title_and_status_of_each(self):
        rows = {page: (number, title, status) for number, page, title, status in ROW.findall((ADR / "README.md").read_text())}
        expected = {}
        for file in decisions():
            text = file.read_text()
            expected[file.name] = (file.name[:4], text.splitlines()[0].removeprefix("# "),
                                   re.search(r"^Status: (.*)$", text, re.MULTILINE)[1])
        self.assertEqual(rows, expected)
        self.assertEqual(list(rows), sorted(rows))

    def test_no_number_is_given_twice(self):
        numbers = [f.name[:4] for f in decisions()]
        self.assertEqual(sorted(set(numbers)), numbers)


if __name__ == "__main__":
    unittest.main()

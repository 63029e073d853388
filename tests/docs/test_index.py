"""Statements of documents about each other are true: the indexes list every document there is, decisions have their status, counts agree."""

import re
import unittest

from documents import TREE, all_of, links

DOCS = TREE / "docs"
ADR = DOCS / "adr"
STATUS = re.compile(r"^Status: (Accepted|Superseded by|Deprecated)(; amended by)?((?:,? ?\[\d{4}\]\([\w.-]+\))*)$", re.MULTILINE)
LINKED = re.compile(r"\[(\d{4})\]\(([\w.-]+)\)")
ROW = re.compile(r"^- \[(\d{4})\]\(([\w.-]+)\) (.+?)(?: \((superseded|deprecated)\))?$", re.MULTILINE)
SUBJECT = re.compile(r"^## (?!Former)(.+)\n\nToday: \[.+\]\(([\w./-]+)\)\n\n((?:- .*\n)+)", re.MULTILINE)
MOST_WORDS = 60_000  # of all documents without the results of measurements
MOST_WORDS_OF_A_SUBJECT = 1_500


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


class Sizes(unittest.TestCase):
    def words(self, files):
        """The number of words as the text is written, without the marks of tables and lists."""
        return sum(len(re.findall(r"\S*\w\S*", f.read_text())) for f in files)

    def test_of_all_documents(self):
        counted = [f for f in all_of(TREE) if not f.is_relative_to(DOCS / "results")]
        self.assertLessEqual(self.words(counted), MOST_WORDS)

    def test_of_the_pages_of_subjects(self):
        pages = list((DOCS / "design").glob("*.md"))
        self.assertGreater(len(pages), 7)
        self.assertEqual([f.name for f in pages if self.words([f]) > MOST_WORDS_OF_A_SUBJECT], [])


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

    def test_the_index_has_number_and_title_of_each(self):
        rows = {page: (number, title, gone) for number, page, title, gone in ROW.findall((ADR / "README.md").read_text())}
        expected = {}
        for file in decisions():
            text = file.read_text()
            status = STATUS.search(text)[1].split()[0].lower()
            expected[file.name] = (file.name[:4], text.splitlines()[0].removeprefix("# "), "" if status == "accepted" else status)
        self.assertEqual(rows, expected)

    def test_the_page_of_a_subject_links_its_decisions(self):
        subjects = SUBJECT.findall((ADR / "README.md").read_text())
        self.assertEqual(sum(len(ROW.findall(table)) for _, _, table in subjects), len(decisions()))
        for title, page, table in subjects:
            numbers = [number for number, *_ in ROW.findall(table)]
            self.assertEqual(numbers, sorted(numbers), title)
            if page.startswith("../design/"):
                linked = listed(ADR / page)
                self.assertEqual([name for _, name, *_ in ROW.findall(table) if ADR / name not in linked], [], page)

    def test_no_number_is_given_twice(self):
        numbers = [f.name[:4] for f in decisions()]
        self.assertEqual(sorted(set(numbers)), numbers)


if __name__ == "__main__":
    unittest.main()

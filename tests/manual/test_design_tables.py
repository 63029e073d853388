#!/usr/bin/env python3
"""The tables of docs/design that follow from the code are up to date, and each is in one page.

Usage: test_design_tables.py DESCRIBE
"""
import pathlib
import sys
import unittest

TREE = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(TREE / "tools" / "manual"))

import design_tables  # noqa: E402

FOUND = design_tables.tables(pathlib.Path(sys.argv[1]).resolve())
PAGES = {path.name: path.read_text() for path in design_tables.pages(TREE / "docs")}


class DesignTables(unittest.TestCase):
    def test_are_up_to_date(self):
        for name, page in PAGES.items():
            self.assertEqual(page, design_tables.with_tables(page, FOUND),
                             f"{name}: cmake --build build/release --target reference_page")

    def test_are_in_one_page_each(self):
        self.assertGreaterEqual(FOUND.keys(), {"protocols", "events"})
        for name in FOUND:
            there = [page for page, text in PAGES.items() if f"<!-- table {name} -->" in text]
            self.assertEqual(len(there), 1, f"{name}: {there}")

    def test_a_changed_table_is_noticed(self):
        page = "a\n<!-- table events -->\n| old |\n<!-- end -->\nb\n"
        self.assertEqual(design_tables.with_tables(page, {"events": "| new |\n"}), page.replace("old", "new"))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])

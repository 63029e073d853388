#!/usr/bin/env python3
"""Writes the tables of docs/design that follow from the code into their pages.

    design_tables.py DESCRIBE [DOCS]

DESCRIBE is the program that prints the tables (src/messaging/message/describe.cpp), each behind a line "# NAME". A page has the table NAME
between the lines "<!-- table NAME -->" and "<!-- end -->".
"""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

TREE = Path(__file__).resolve().parents[2]


def tables(describe: Path) -> dict[str, str]:
    """The text of each table by its name."""
    printed = subprocess.run([describe], check=True, capture_output=True, text=True).stdout
    return {part.partition("\n")[0]: part.partition("\n")[2] for part in re.split(r"^# ", printed, flags=re.MULTILINE)[1:]}


def with_tables(page: str, found: dict[str, str]) -> str:
    """The page with each of its tables as it is now."""
    for name, table in found.items():
        page = re.sub(rf"(<!-- table {name} -->\n).*?(<!-- end -->)", lambda m: m[1] + table + m[2], page, flags=re.DOTALL)
    return page


def pages(docs: Path) -> list[Path]:
    return sorted((docs / "design").glob("*.md"))


def main() -> None:
    found = tables(Path(sys.argv[1]).resolve())
    for path in pages(Path(sys.argv[2]) if len(sys.argv) > 2 else TREE / "docs"):
        path.write_text(with_tables(path.read_text(), found))


if __name__ == "__main__":
    main()

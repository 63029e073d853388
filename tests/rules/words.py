#!/usr/bin/env python3
"""Comments, string literals and identifiers are in the field's terms: fails on a private word (private_words.py).

Usage: words.py [FOLDER...], by default the folders of the tree that hold code.
"""
import io
import pathlib
import re
import sys
import tokenize
from collections.abc import Iterator

from private_words import in_identifier, in_text, openings

TREE = pathlib.Path(__file__).resolve().parents[2]
FOLDERS = ["src", "api", "tools", "tests", "bench", "examples"]
# The list itself, and the inputs by which it is tested.
EXEMPT = ["tests/rules/private_words.py", "tests/rules/private", "tests/docs/test_words.py",
          "tests/docs/test_sentences.py"]

TOKEN = re.compile(r'//(?P<line>[^\n]*)|/\*(?P<block>.*?)\*/|R"\((?P<raw>.*?)\)"|"(?P<string>(?:\\.|[^"\\\n])*)"'
                   r"|'(?:\\.|[^'\\\n])+'|(?P<name>[A-Za-z_]\w*)", re.DOTALL)


class Source:
    """Texts (comments, with lines that follow each other joined, and string literals) and names, each with its line."""

    def __init__(self) -> None:
        self.texts: list[tuple[int, str]] = []
        self.names: list[tuple[int, str]] = []
        self.joins_after = 0

    def comment(self, line: int, text: str, *, alone: bool) -> None:
        if alone and self.joins_after == line - 1 and self.texts:
            first, before = self.texts[-1]
            self.texts[-1] = (first, f"{before} {text.strip()}")
        else:
            self.texts.append((line, text.strip()))
        self.joins_after = line

    def string(self, line: int, text: str) -> None:
        self.texts.append((line, text))
        self.joins_after = 0


def of_c(text: str) -> Source:
    source = Source()
    line, counted = 1, 0
    for match in TOKEN.finditer(text):
        line, counted = line + text.count("\n", counted, match.start()), match.start()
        alone = not text[text.rfind("\n", 0, match.start()) + 1:match.start()].strip()
        if match["line"] is not None:
            source.comment(line, match["line"], alone=alone)
        elif match["block"] is not None:
            source.string(line, re.sub(r"\s*\n\s*\*?\s*", " ", match["block"]).strip())
        elif match["name"]:
            source.names.append((line, match["name"]))
        elif match["raw"] or match["string"]:
            source.string(line, match["raw"] or match["string"])
    return source


def of_python(text: str) -> Source:
    source = Source()
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        line = token.start[0]
        if token.type == tokenize.COMMENT:
            source.comment(line, token.string.lstrip("#"), alone=not token.line[:token.start[1]].strip())
        elif token.type == tokenize.STRING:
            source.string(line, re.sub(r"\s*\n\s*", " ", token.string.lstrip("rbfu").strip("\"'")))
        elif token.type == tokenize.NAME:
            source.names.append((line, token.string))
    return source


READERS = {".hpp": of_c, ".cpp": of_c, ".h": of_c, ".c": of_c, ".py": of_python}


def findings(file: pathlib.Path) -> Iterator[str]:
    source = READERS[file.suffix](file.read_text(errors="replace"))
    for line, text in source.texts:
        yield from (f"{file}:{line}: {finding}" for finding in in_text(text) + openings(text))
    for line, name in source.names:
        yield from (f"{file}:{line}: {finding}" for finding in in_identifier(name))


def is_below(file: pathlib.Path, places: list[str]) -> bool:
    return any(file.is_relative_to(TREE / place) for place in places)


def main() -> int:
    folders = [pathlib.Path(folder).resolve() for folder in sys.argv[1:]]
    skipped = [] if folders else EXEMPT
    files = [file for folder in folders or [TREE / folder for folder in FOLDERS]
             for file in sorted(folder.rglob("*")) if file.suffix in READERS and not is_below(file, skipped)]
    found = [finding for file in files for finding in findings(file)]
    print("\n".join(found) if found else f"no private words in {len(files)} files")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())

"""The Markdown files of the tree, and what in them can be checked: links, headings, table rows."""

import re
from pathlib import Path

TREE = Path(__file__).resolve().parents[2]
FENCE = re.compile(r"^( {0,3})(```+|~~~+).*?^ {0,3}\2[`~]*\s*$", re.MULTILINE | re.DOTALL)
CODE = re.compile(r"(`+).+?\1", re.DOTALL)
LINK = re.compile(r"!?\[(?:[^\[\]]|\[[^\]]*\])*\]\(\s*<?([^()\s>]+)>?(?:\s+\"[^\"]*\")?\s*\)")
DEFINED = re.compile(r"^ {0,3}\[[^\]]+\]:\s*(\S+)", re.MULTILINE)
HTML = re.compile(r"<(?:img|a)\s[^>]*?(?:src|href)=\"([^\"]+)\"")
HEADING = re.compile(r"^ {0,3}#{1,6}\s+(.+?)\s*#*\s*$", re.MULTILINE)
ANCHOR = re.compile(r"<a\s[^>]*?(?:id|name)=\"([^\"]+)\"")


def all_of(tree: Path) -> list[Path]:
    """Not what was built or fetched: build/, hidden folders, results of measurements."""
    outside = {"build", "heddle-bench", "_deps", "node_modules"}
    return sorted(f for f in tree.rglob("*.md")
                  if not any(part in outside or part.startswith(".") for part in f.relative_to(tree).parts[:-1]))


def prose(text: str) -> str:
    """Without code: what stands in a code block or between backticks is no link."""
    return CODE.sub(lambda m: "`" * 2, FENCE.sub("", text))


def links(text: str) -> list[str]:
    plain = prose(text)
    # A link's text may be code, so its target is looked for beside the code, not inside it.
    return LINK.findall(plain) + DEFINED.findall(plain) + HTML.findall(plain)


def anchors(text: str) -> set[str]:
    """The anchors that a renderer makes of the headings: lower case, punctuation dropped, spaces to hyphens."""
    found: dict[str, int] = {}
    names = set(ANCHOR.findall(text))
    for heading in HEADING.findall(FENCE.sub("", text)):
        words = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).replace("`", "").replace("*", "")
        slug = re.sub(r"[^\w\- ]", "", words.lower()).replace(" ", "-")
        names.add(f"{slug}-{found[slug]}" if slug in found else slug)
        found[slug] = found.get(slug, 0) + 1
    return names

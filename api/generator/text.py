"""Laying out generated C and C++."""

from __future__ import annotations

WIDTH = 120  # as in .clang-format


def comment(text: str) -> str:
    """A block comment in C's old style, for headers that any C compiler reads."""
    return "/* " + "\n * ".join(text.splitlines()).replace(" * \n", " *\n") + "\n */"


def call_like(head: str, items: list[str], tail: str) -> str:
    """`head item, item, ... tail`, broken so that continuation lines stand under the first item."""
    lines, line = [], head
    indent = " " * (len(head) if len(head) < WIDTH // 2 else 4)
    for i, item in enumerate(items):
        piece = item + (tail if i + 1 == len(items) else ",")
        glue = "" if line == head or line == indent else " "
        if len(line) + len(glue) + len(piece) > WIDTH and line not in (head, indent):
            lines.append(line)
            line, glue = indent, ""
        line += glue + piece
    lines.append(line if items else head + tail)
    return "\n".join(lines)

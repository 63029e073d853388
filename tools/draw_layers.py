#!/usr/bin/env python3
"""Draws the folders of src/ layer by layer, the picture in ARCHITECTURE.md: draw_layers.py [--check] [TREE]

The order of the layers comes from tests/rules/includes.py, the folders from src/, and what is in them from the table in
ARCHITECTURE.md. A difference between these three is an error. A folder that the list has and src/ has not is drawn dashed:
it is planned. With --check nothing is written: the exit code is 1 if docs/layers.svg is not what would be drawn.
"""
import html
import importlib.util
import pathlib
import re
import sys

ROW = re.compile(r"^\| `([a-z0-9_]+(?:/[a-z0-9_]+)?)/` \| (.+) \|$", re.MULTILINE)
INK, SOFT, LINE, BAND, GROUND = "#1d2430", "#5b6575", "#9aa7b1", "#f4f6f9", "#ffffff"
WIDTH, MARGIN, NAME, ROW_HEIGHT, GAP, PAD = 1040, 24, 124, 23, 9, 7
ARROW = 92  # what the arrow beside the layers takes
LONGEST = 100  # characters that fit beside a folder's name
GROUP = 92  # what the name of a group takes, left of its layers
ALONE = {"base"}  # groups with headers of their own beside their folders


class Differ(Exception):
    """The tree and its description do not agree."""


def rules(tree: pathlib.Path):
    spec = importlib.util.spec_from_file_location("includes", tree / "tests/rules/includes.py")
    includes = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(includes)
    return includes


def layers(tree: pathlib.Path) -> list[list[str]]:
    """From the top; a group's own headers are drawn with its folders."""
    order = [[folder for folder in layer if folder not in ALONE] for layer in rules(tree).LAYERS[::-1]]
    return [layer for layer in order if layer]


def described(tree: pathlib.Path) -> dict[str, str]:
    section = (tree / "ARCHITECTURE.md").read_text().split("## Layers", 1)[-1].split("\n## ", 1)[0]
    return dict(ROW.findall(section))


def folders(tree: pathlib.Path) -> set[str]:
    """Those with code of the library; wrappers/ are templates of shell scripts."""
    src, folder_of = tree / "src", rules(tree).folder_of
    return {folder_of(f.relative_to(src).as_posix()) for f in src.glob("*/**/*") if f.suffix in {".cpp", ".hpp", ".h", ".c"}} - ALONE


def agree(order: list[list[str]], there: set[str], table: dict[str, str]) -> None:
    listed = {folder for layer in order for folder in layer}
    complaints = [f"src/{f} has no layer in tests/rules/includes.py" for f in sorted(there - listed)]
    complaints += [f"{f} has no row in the table of ARCHITECTURE.md" for f in sorted((listed | there) - table.keys())]
    complaints += [f"the table of ARCHITECTURE.md has a row for {f}, which is no folder of src/ and has no layer"
                   for f in sorted(table.keys() - listed - there)]
    complaints += [f"{f} has no code, but the table of ARCHITECTURE.md does not call it planned"
                   for f in sorted(listed - there) if f in table and not table[f].endswith("planned")]
    complaints += [f"{f} has code, but the table of ARCHITECTURE.md calls it planned"
                   for f in sorted(there) if table.get(f, "").endswith("planned")]
    complaints += [f"what the table of ARCHITECTURE.md says of {f} does not fit in the picture: {LONGEST} characters at most"
                   for f, words in table.items() if len(words) > LONGEST]
    rank = {folder: i for i, layer in enumerate(order) for folder in layer}
    known = [f for f in table if f in rank]
    complaints += [f"in the table of ARCHITECTURE.md {b} stands below {a}, but its layer is above"
                   for a, b in zip(known, known[1:]) if rank[a] > rank[b]]
    if complaints:
        raise Differ("\n".join(complaints))


def text(x: float, y: float, words: str, size: float = 12.5, color: str = INK, more: str = "") -> str:
    return f'<text x="{x}" y="{y}" font-size="{size}" fill="{color}"{more}>{html.escape(words)}</text>'


def draw(tree: pathlib.Path) -> str:
    order, there, table = layers(tree), folders(tree), described(tree)
    agree(order, there, table)
    right = WIDTH - MARGIN - ARROW
    left = MARGIN + GROUP
    y, body, drawn = 20, [], ""
    for layer in order:
        group = layer[0].split("/")[0]
        if group != drawn:
            y += GAP if drawn else 0
            body.append(text(MARGIN, y + PAD + 16, group, 14.5, INK, ' font-weight="bold"'))
            drawn = group
        height = 2 * PAD + ROW_HEIGHT * len(layer)
        planned = not any(f in there for f in layer)
        dash = ' stroke-dasharray="4 3"' if planned else ""
        body.append(f'<rect x="{left}" y="{y}" width="{right - left}" height="{height}" rx="4" fill="{BAND}" '
                    f'stroke="{LINE}"{dash}/>')
        for i, folder in enumerate(f for f in table if f in layer):
            at = y + PAD + ROW_HEIGHT * i + 16
            color = INK if folder in there else LINE
            body.append(text(left + 14, at, folder.split("/")[-1], 13.5, color, ' font-weight="bold"'))
            body.append(text(left + NAME, at, table[folder].replace("`", ""), 12.5, SOFT if folder in there else LINE))
        y += height + GAP
    x = WIDTH - 62
    body.append(f'<path d="M{x} 24 V{y - 36}" stroke="{LINE}" stroke-width="1.6" fill="none" marker-end="url(#tip)"/>')
    body.append(text(x - 36, y - 18, "may include", 12, SOFT))
    return (f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {y + 6}" width="{WIDTH}" height="{y + 6}" role="img" '
            f'aria-label="The folders of src/, layer by layer" font-family="DejaVu Sans, Verdana, sans-serif">\n'
            f'<!-- drawn by tools/draw_layers.py -->\n<defs><marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="8" '
            f'markerHeight="8" orient="auto"><path d="M0 0L8 4L0 8z" fill="{LINE}"/></marker></defs>\n'
            f'<rect width="{WIDTH}" height="{y + 6}" fill="{GROUND}"/>\n' + "\n".join(body) + "\n</svg>\n")


def main() -> int:
    arguments = [a for a in sys.argv[1:] if a != "--check"]
    tree = pathlib.Path(arguments[0]) if arguments else pathlib.Path(__file__).resolve().parents[1]
    picture = tree / "docs/layers.svg"
    try:
        drawn = draw(tree)
    except Differ as why:
        print(why)
        return 1
    if "--check" in sys.argv[1:]:
        if not picture.is_file() or picture.read_text() != drawn:
            print("docs/layers.svg is not what tools/draw_layers.py draws: run it")
            return 1
    else:
        picture.write_text(drawn)
    return 0


if __name__ == "__main__":
    sys.exit(main())

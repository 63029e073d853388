#!/usr/bin/env python3
"""One definition rule: fails when two files of a program define the same class, enumeration, inline function or inline variable.

The compiler sees one source file at a time, and the linker keeps either definition without a word. A link with -flto -Wodr
finds such classes too, but not the others, and compiles everything for it; this takes seconds. All of src/ counts as one program.
So do the unit tests of a folder, and each other source file in tests/, with the headers that they include. Definitions in anonymous
namespaces do not count, nor do functions that are not inline, which the linker compares.

A program has either a header of src/simulator/include or the one of src/ with the same path: the former do not count.

Usage: one_definition.py [FOLDER]: src/ and tests/ of the tree, or all of FOLDER as one program.
"""
import collections
import pathlib
import re
import sys

TREE = pathlib.Path(__file__).resolve().parents[2]
SKIPPED = re.compile(r'//[^\n]*|/\*.*?\*/|R"(\w*)\(.*?\)\1"|"(?:\\.|[^"\\\n])*"|(?<![0-9a-fA-F])\'(?:\\.|[^\'\\\n])*\'|^[ \t]*#(?:[^\n]*\\\n)*[^\n]*',
                     re.DOTALL | re.MULTILINE)
INCLUDE = re.compile(r'^\s*#\s*include\s*"([^"]+)"', re.MULTILINE)
TOKEN = re.compile(r"\w+|::|->|\[\[|\]\]|[^\s\w]")
# The text between the name of a class and `{` or its bases, or before the name.
ATTRIBUTE = re.compile(r"\[\[.*?\]\]|\balignas\s*\((?:[^()]|\([^()]*\))*\)")
CLASS = re.compile(r"(?:^|[;}> ])(?:class|struct|union|enum(?: class| struct)?) ([\w: ]*?\w(?: < .* >)?)(?: final)?(?: : (?!:).*)?$")
FUNCTION = re.compile(r"^(?P<before>.*?)(?P<name>(?:\w+ :: )*(?:operator (?:\( \)|[^\w(]+|\w+)|~ \w+|\w+)) \( (?P<parameters>.*?)\) (?:const |noexcept |override |final |& |&& |-> .*|requires .*|: .*)*$")


def tokens(text: str) -> list[str]:
    blank = SKIPPED.sub(lambda m: '""' if m[0][0] in "\"R" else " ", text)
    return TOKEN.findall(ATTRIBUTE.sub(" ", blank))


def parameter_types(text: str) -> str:
    """The parameters without names and default values."""
    types, depth, one = [], 0, []
    for token in [*text.split(), ","]:
        depth += token in "(<[{"
        depth -= token in ")>]}"
        if token == "," and depth == 0:
            if "=" in one:
                one = one[:one.index("=")]
            if len(one) > 1 and re.fullmatch(r"\w+", one[-1]) and one[-2] not in ("::", "const", "unsigned", "long"):
                one = one[:-1]
            types.append(" ".join(one))
            one = []
        else:
            one.append(token)
    return ", ".join(types)


def opened(head: list[str]) -> tuple[str, str]:
    """The kind of block that a `{` after these tokens opens: (kind, name); kinds are namespace, class, function and other."""
    text = " ".join(head)
    if found := re.match(r"(?:inline )?namespace ?([\w: ]*)$", text):
        return "namespace", found[1].replace(" ", "")
    if text == 'extern " "':
        return "namespace", "C"
    if (found := CLASS.search(text)) and "(" not in found[1] and not text.endswith(")"):
        return "class", found[1].replace(" ", "")
    if (found := FUNCTION.match(text + " ")) and "=" not in found["before"]:
        template = "template" if text.startswith("template") else ""
        return "function", f"{template}{found['name'].replace(' ', '')}({parameter_types(found['parameters'])})"
    return "other", ""


def variable(head: list[str]) -> str:
    """The name of the inline variable that these tokens declare, if they do."""
    text = " ".join(head)
    found = re.match(r"(?:template < .* > )?(?:\w+ )*?inline [^(]*?(\w+)(?: \[ .*)?$", text)
    return found[1] if found and "namespace" not in head and "=" not in head else ""


def definitions(text: str):
    """(kind, qualified name) of what the text of a file defines for other files, too."""
    scopes: list[tuple[str, str]] = []
    head: list[str] = []
    for token in tokens(text):
        shared = all(kind == "namespace" and name for kind, name in scopes)
        if shared and token in ("{", ";", "=") and (name := variable(head)):
            yield "variable", "::".join([n for _, n in scopes] + [name])
        if token == "{":
            kind, name = opened(head)
            inline = kind == "class" or not {"inline", "constexpr", "consteval", "template"}.isdisjoint(head)
            if shared and kind in ("class", "function") and inline:
                yield kind, "::".join([n for _, n in scopes] + [name])
            scopes.append((kind, name))
            head = []
        elif token == "}":
            if scopes:
                scopes.pop()
            head = []
        elif token == ";" or (token == ":" and head and head[-1] in ("public", "private", "protected")):
            head = []
        else:
            head.append(token)


class Sources:
    """The files of the tree, each read once."""

    def __init__(self):
        self.defined: dict[pathlib.Path, list[tuple[str, str]]] = {}
        self.included: dict[pathlib.Path, set[pathlib.Path]] = {}

    def read(self, path: pathlib.Path) -> None:
        text = path.read_text(errors="replace")
        self.defined[path] = list(definitions(text))
        places = [folder / name for name in INCLUDE.findall(text) for folder in (path.parent, TREE / "src", TREE / "tests")]
        self.included[path] = {place.resolve() for place in places if place.is_file()}

    def with_headers(self, paths: list[pathlib.Path]) -> set[pathlib.Path]:
        found, left = set(), [path.resolve() for path in paths]
        while left:
            path = left.pop()
            if path not in found:
                found.add(path)
                if path not in self.defined:
                    self.read(path)
                left += self.included[path]
        return found

    def twice(self, program: set[pathlib.Path]) -> list[str]:
        files = collections.defaultdict(set)
        for path in program:
            for definition in self.defined[path]:
                files[definition].add(str(path.relative_to(TREE) if path.is_relative_to(TREE) else path))
        return [f"{kind} {name} is defined in {' and '.join(sorted(paths))}"
                for (kind, name), paths in files.items() if len(paths) > 1]


def programs(tests: pathlib.Path) -> list[list[pathlib.Path]]:
    sources = sorted(tests.rglob("*.cpp"))
    units = collections.defaultdict(list)
    for path in sources:
        units[path.parent if path.name.endswith("_test.cpp") else path].append(path)
    return list(units.values())


def files_of(folder: pathlib.Path) -> list[pathlib.Path]:
    return [path for path in folder.rglob("*") if path.suffix in {".hpp", ".h", ".cpp"}]


def main() -> int:
    sources = Sources()
    stand_in = TREE / "src/simulator/include"
    given = [files_of(pathlib.Path(folder)) for folder in sys.argv[1:]] or [[path for path in files_of(TREE / "src") if not path.is_relative_to(stand_in)], *programs(TREE / "tests")]
    found = sorted({line for program in given for line in sources.twice(sources.with_headers(program))})
    print("\n".join(found) if found else f"{sum(map(len, sources.defined.values()))} definitions, each in one file")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())

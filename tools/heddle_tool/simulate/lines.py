"""The cache lines that cores took from each other, and the places in the source that missed on them."""

import functools
import os
import re
import subprocess
from dataclasses import dataclass
from pathlib import Path

from ..errors import BadInput
from .objects import Object, Objects

# Wrappers of the compiler's atomic operations: their callers are what a reader looks for.
WRAPPERS = "base/platform/"
LETTER = {"reads": "r", "writes": "w", "updates": "u"}


@dataclass(frozen=True)
class Frame:
    function: str
    file: str  # relative to src/ if it is below it
    line: int

    def __str__(self) -> str:
        return f"{self.function} {self.file}:{self.line}"


@dataclass(frozen=True)
class Place:
    """Where a line was missed on, and how often."""

    kind: str
    offset: int  # of the first byte in the line
    misses: int
    field: str  # empty: not known
    frames: tuple[Frame, ...]  # the innermost of ours first, and its caller; empty: not known

    def __str__(self) -> str:
        return " < ".join(map(str, self.frames)) or "?"


@dataclass(frozen=True)
class Line:
    misses: int
    object: str  # that most of its misses were on; empty: not known
    places: tuple[Place, ...]

    @property
    def written(self) -> bool:
        return any(place.kind != "reads" for place in self.places)

    @property
    def bytes(self) -> str:
        return ", ".join(map(str, sorted({place.offset for place in self.places})))


def short(function: str) -> str:
    """Class and function: without outer namespaces, arguments of templates and of functions, and what it returns."""
    plain = re.sub(r"operator(<<|>>|<=>|->|<|>|\(\))", "operator", function.replace("(anonymous namespace)::", ""))
    text, depth = "", 0
    for letter in plain:
        if letter == "(" and depth == 0:
            break  # a lambda in a function is a part of it
        depth += (letter in "<({[") - (letter in ">)}]")
        if depth == 0 and letter not in ">)}]":
            text += letter
    return "::".join(text.strip().split(" ")[-1].split("::")[-2:]) or function


@functools.cache
def relative(path: str, tree: Path) -> str:
    """Relative to src/, or to the tree; as it is if it lies elsewhere. A compiler cache may name another copy of the tree."""
    parts = os.path.normpath(path).strip("/").split("/")
    for begin in range(len(parts) - 1):
        if (tree / "/".join(parts[begin:])).is_file():
            return "/".join(parts[begin:]).removeprefix("src/")
    return path


def chain(block: list[str], tree: Path) -> list[Frame]:
    """The frames of one address: pairs of lines, a function and file:line, inlined calls innermost first."""
    found = []
    for function, where in zip(block[::2], block[1::2]):
        file, _, line = re.sub(r" \(discriminator \d+\)$", "", where).rpartition(":")
        found.append(Frame(short(function), relative(file, tree), int(line) if line.isdigit() else 0))
    return found


def ours(frames: list[Frame]) -> tuple[Frame, ...]:
    """The innermost frame of the tree that is no wrapper, and its caller."""
    own = [f for f in frames if not f.file.startswith(("/", ".", WRAPPERS)) and "?" not in f.file]
    return tuple(own[:2])


class Symbols:
    """The frames at offsets of files, by addr2line and the debug information of the build folder."""

    def __init__(self, build: Path, program: Path):
        cache = (build / "CMakeCache.txt").read_text() if (build / "CMakeCache.txt").is_file() else ""
        home = re.search(r"^CMAKE_HOME_DIRECTORY:INTERNAL=(.*)$", cache, re.MULTILINE)
        self.tree = Path(home[1]) if home else build.parent.parent
        self.program = program
        self.known: dict[tuple[str, int], list[Frame]] = {}

    def path(self, file: str) -> Path | None:
        """The file with the debug information of one that was loaded; none: it has a name that is no file's."""
        # Each rank that is a thread has a copy of the program, which has no name.
        path = self.program if file.startswith("/proc/") else Path(file)
        return path if file and path.is_file() else None

    @functools.cache
    def source(self, file: str) -> list[str]:
        """Its lines; the compiler has named it relative to the build folder, or by a path of another copy of the tree."""
        path = self.tree / "src" / relative(file, self.tree)
        return path.read_text().splitlines() if path.is_file() else []

    def resolve(self, sites: set[tuple[str, int]]) -> dict[tuple[str, int], tuple[Frame, ...]]:
        return {site: ours(frames) for site, frames in self.chains(sites).items()}

    def chains(self, sites: set[tuple[str, int]]) -> dict[tuple[str, int], list[Frame]]:
        """All frames, with wrappers and those of other projects."""
        files: dict[str, list[int]] = {}
        for file, at in sites - self.known.keys():
            files.setdefault(file, []).append(at)
        for file, offsets in files.items():
            self.known |= {(file, at): frames for at, frames in self.of_file(file, sorted(offsets)).items()}
        return {site: self.known[site] for site in sites}

    def of_file(self, file: str, offsets: list[int]) -> dict[int, list[Frame]]:
        path = self.path(file)
        if path is None:
            return {at: [] for at in offsets}
        # The offsets are return addresses: the call is before them.
        asked = "".join(f"{at - 1:#x}\n" for at in offsets)
        try:
            done = subprocess.run(["addr2line", "-e", str(path), "-a", "-f", "-i", "-C"], input=asked, capture_output=True, text=True)
        except OSError:
            raise BadInput("addr2line is not installed: on Debian, apt-get install binutils") from None
        blocks: list[list[str]] = []
        for line in done.stdout.splitlines():
            if line.startswith("0x"):
                blocks.append([])
            elif blocks:
                blocks[-1].append(line)
        return {at: chain(block, self.tree) for at, block in zip(offsets, blocks)}


def named(text: str, symbols: Symbols) -> str:
    """The text of a deadlock with functions in place of offsets; the simulator's own frames are left out."""
    frame = re.compile(r"^( +)(/\S+)\+0x([0-9a-f]+) ?(.*)$")
    found = []
    for line in text.splitlines():
        match = frame.match(line)
        if not match or "libheddle-simulator" not in match[2]:
            frames = ours(symbols.of_file(match[2], [int(match[3], 16)])[int(match[3], 16)]) if match else ()
            found.append(match[1] + " < ".join(map(str, frames)) if frames else line)
    return "\n".join(found)


def shared_lines(report: dict, symbols: Symbols, top: int) -> list[Line]:
    """The `top` lines that several cores write or one writes and others read, most misses first."""
    wanted = [entry for entry in report["lines"] if any(site["kind"] != "reads" for site in entry["sites"])][:top]
    return list(lines_of(report, symbols, wanted).values())


def lines_of(report: dict, symbols: Symbols, wanted: list[dict]) -> dict[int, Line]:
    """Some lines of the report by their numbers."""
    files = report["files"]
    known = Objects(files, symbols.path, symbols.source)
    frames = symbols.resolve({(files[file], at) for entry in wanted for file, at in (site["place"] for site in entry["sites"])})
    return {entry["line"]: line_of(entry, known, lambda file, at: frames[files[file], at]) for entry in wanted}


def line_of(entry: dict, known: Objects, frames) -> Line:
    """A line of the report. A place whose object is not known is taken to be on that of most others."""
    objects = [known.of(site) for site in entry["sites"]]
    misses: dict[Object, int] = {}
    for site, found in zip(entry["sites"], objects):
        if found:
            misses[found] = misses.get(found, 0) + site["misses"]
    # The largest of those that are as good as all: a part of it is no other object.
    main = max(misses, key=lambda found: (sum(misses[other] for other in misses if found.has(other)), misses[found]), default=None)
    places = []
    for site, found in zip(entry["sites"], objects):
        field = main.field(site["offset"]) if main else ""
        if found and not main.has(found):
            field = f"{found.name} {found.field(site['offset'])}".rstrip()
        places.append(Place(site["kind"], site["offset"], site["misses"], field or known.expression(site), frames(*site["place"])))
    return Line(entry["misses"], main.name if main else "", merged(places))


def merged(places: list[Place]) -> tuple[Place, ...]:
    """Copies of one source line that the compiler made are one place."""
    found: dict[tuple, int] = {}
    for place in places:
        key = (place.kind, place.offset, place.field, place.frames)
        found[key] = found.get(key, 0) + place.misses
    return tuple(sorted((Place(kind, offset, misses, field, frames) for (kind, offset, field, frames), misses in found.items()),
                        key=lambda place: -place.misses))


def rows(lines: list[Line], messages: int, places: int) -> tuple[list[str], list[list[str]]]:
    """A row for each line, and one for each of its first places."""
    def share(misses: int) -> list[str]:
        return [f"{misses:,}", *([f"{misses / messages:.3f}"] if messages else [])]

    head = ["line", "misses", *(["per message"] if messages else []), "bytes", "object and field", "place"]
    body = []
    for number, line in enumerate(lines, 1):
        body.append([str(number), *share(line.misses), line.bytes, line.object or "?", ""])
        for place in line.places[:places]:
            body.append(["", *share(place.misses), f"{place.offset} {LETTER[place.kind]}", f"  {place.field or '?'}", str(place)])
        if len(line.places) > places:
            rest = sum(place.misses for place in line.places[places:])
            body.append(["", *share(rest), "", "", f"{len(line.places) - places} more places"])
    return head, body

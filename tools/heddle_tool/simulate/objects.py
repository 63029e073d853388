"""The object and the field of an access, by the values of variables in the functions under execution.

For each place the simulator's report has an address, and of each function the registers that calls preserve (src/simulator/stacks.hpp). The
debug information of a function tells which of its variables, `this` above all, point to an object that contains the address. If several
do, the largest object is taken.
"""

import functools
import re
import subprocess
from dataclasses import dataclass
from pathlib import Path

from . import dwarf
from .dwarf import At, Die, Op, Tag

REGISTERS = (3, 6, 12, 13, 14, 15)  # of a frame in the report, as DWARF numbers them
# Fields of classes of these are left out of a path: they are what a field of ours is made of.
OTHERS = ("/usr/", "base/platform/")
BITS = (1 << 64) - 1


class NotKnown(Exception):
    """A value that the report has not, or an expression of another kind."""


@dataclass(frozen=True)
class Object:
    """An object in memory; `begin` is counted from the begin of a cache line."""

    name: str
    begin: int
    type: Die | None

    def has(self, other: "Object") -> bool:
        """True if the other one is it, or a part of it."""
        if self.type is None or other.type is None:
            return self == other
        return self.begin <= other.begin and other.begin + other.type.size <= self.begin + self.type.size

    def field(self, offset: int) -> str:
        """The path of the field at an offset of the line; empty: it is none of its own."""
        if self.type is None or not 0 <= offset - self.begin < self.type.size:
            return ""
        return ".".join(path(self.type, offset - self.begin)).replace(".[", "[")


def path(type: Die | None, offset: int) -> list[str]:
    if type is None:
        return []
    if type.tag == Tag.ARRAY:
        element = type.type
        size = element.size if element else 0
        return [f"[{offset // size}]", *path(element, offset % size)] if size else []
    if type.tag not in Tag.CLASSES:
        return []
    for member in type.children():
        if member.tag not in (Tag.MEMBER, Tag.INHERITANCE) or (begin := member.number(At.MEMBER_LOCATION)) is None and type.tag != Tag.UNION:
            continue
        of = member.type
        if of is not None and 0 <= offset - (begin or 0) < of.size:
            shown = member.tag == Tag.MEMBER and not is_other(type)
            return [*([member.name] if shown else []), *path(of, offset - (begin or 0))]
    return []


@functools.cache
def class_name(type: Die) -> str:
    """With the classes around it, without namespaces and arguments of templates."""
    names = [die.name for die in type.enclosing if die.tag in Tag.CLASSES]
    return "::".join(re.sub(r"<.*", "", name) or "(unnamed)" for name in reversed(names))


@dataclass(frozen=True)
class Variable:
    """One of a function that is, or points to, an object of a class."""

    name: str
    type: Die
    size: int  # of the object
    points: bool
    location: tuple[Op, ...]
    base: tuple[Op, ...]  # of the function's frame

    @property
    def object(self) -> str:
        return class_name(self.type) if self.points else self.name


@functools.cache
def variables_at(info: dwarf.DebugInfo, pc: int) -> list[Variable]:
    """Those of the function at an address and of the inlined ones, as far as they have a location there."""
    found = []
    functions = info.functions(pc)
    for die in (die for function in functions for die in function.children() if die.tag in (Tag.VARIABLE, Tag.PARAMETER)):
        type = die.type
        points = type is not None and type.tag in Tag.POINTERS
        pointed = type.type if points else type
        if pointed is None or pointed.tag not in Tag.CLASSES or is_other(pointed):
            continue
        if location := die.expression(At.LOCATION, pc):
            name = f"{die.name} of {functions[0].name}"
            found.append(Variable(name, pointed, pointed.size, points, location, functions[0].expression(At.FRAME_BASE, pc)))
    return found


class Stack:
    """The frames of one place of the report, innermost first."""

    def __init__(self, site: dict, debug):
        self.frames, self.words, self.debug = site["frames"], site["words"], debug

    def objects(self, address: int) -> list[tuple[int, Variable]]:
        """All objects with the address in them that variables point to or are: the begin, and the variable."""
        found = []
        for depth, (file, at, *_) in enumerate(self.frames):
            info = self.debug(file)
            for variable in variables_at(info, at - 1) if info else []:
                try:
                    value, in_memory = self.evaluate(variable.location, depth, variable.base)
                    begin = self.word(value) if in_memory and variable.points else value
                except NotKnown:
                    continue
                if begin <= address < begin + variable.size and (variable.points or in_memory):
                    found.append((begin, variable))
        return found

    def evaluate(self, expression: tuple[Op, ...], depth: int, frame_base: tuple[Op, ...] = ()) -> tuple[int, bool]:
        """The value, or the address of the memory that has it: then True."""
        stack, in_memory = [], True
        for op in expression:
            if 0x30 <= op.atom <= 0x4f:  # lit0...
                stack.append(op.atom - 0x30)
            elif 0x50 <= op.atom <= 0x6f:  # reg0...
                stack.append(self.register(op.atom - 0x50, depth))
                in_memory = False
            elif 0x70 <= op.atom <= 0x8f:  # breg0...
                stack.append(self.register(op.atom - 0x70, depth) + op.number & BITS)
            elif op.atom == 0x91:  # fbreg
                stack.append(self.evaluate(frame_base, depth)[0] + op.number & BITS)
            elif op.atom == 0x9c:  # call_frame_cfa
                stack.append(self.frame(depth + 1)[2])
            elif op.atom == 0x9f:  # stack_value
                in_memory = False
            elif op.atom in (0x08, 0x09, 0x0a, 0x0b, 0x0c, 0x0d, 0x0e, 0x0f, 0x10, 0x11):  # constants
                stack.append(op.number)
            elif op.atom == 0x23:  # plus_uconst
                stack.append(stack.pop() + op.number & BITS)
            elif op.atom in (0x22, 0x1c):  # plus, minus
                second, first = stack.pop(), stack.pop()
                stack.append((first + second if op.atom == 0x22 else first - second) & BITS)
            elif op.atom == 0x06:  # deref
                stack.append(self.word(stack.pop()))
            else:
                raise NotKnown
        if not stack:
            raise NotKnown
        return stack[-1], in_memory

    def frame(self, depth: int) -> list[int]:
        if depth >= len(self.frames):
            raise NotKnown
        return self.frames[depth]

    def register(self, number: int, depth: int) -> int:
        top, *values = self.frame(depth)[2:]
        if number == 7:
            return top
        if number not in REGISTERS:
            raise NotKnown
        return values[REGISTERS.index(number)]

    def word(self, address: int) -> int:
        index, rest = divmod(address - self.frames[0][2], 8)
        if rest != 0 or not 0 <= index < len(self.words):
            raise NotKnown
        return self.words[index]


class Objects:
    """Names the objects of the places of a report. `path` gives the file with the debug information of one that was loaded, `source` the text
    of a file of the source."""

    def __init__(self, files: list[str], path, source):
        self.files, self.path, self.source = files, path, source

    @functools.cache
    def debug(self, file: int) -> dwarf.DebugInfo | None:
        path = self.path(self.files[file])
        return dwarf.DebugInfo(path) if path and dwarf.libdw() else None

    def of(self, site: dict) -> Object | None:
        """None: not known."""
        if "address" not in site:
            return None
        address, line = site["address"], site["address"] - site["offset"]
        known = Stack(site, self.debug).objects(address)
        begin, variable = max(known, key=lambda found: found[1].size, default=(address, None))
        type = variable.type if variable else None
        file, at = site["data"]
        if symbol := next((s for s in variables(self.path(self.files[file])) if s[0] <= at < s[0] + s[1]), None):
            whole, pc = address - at + symbol[0], site["place"]
            of_program = self.debug(pc[0]) if pc[0] == file else None
            if static := of_program.variable(symbol[0], pc[1] - 1) if of_program else None:
                return Object(symbol[2], whole - line, static.type)
            return Object(symbol[2] + (f"+{begin - whole}" if begin != whole else ""), begin - line, type)
        return Object(variable.object, begin - line, type) if variable else None

    def expression(self, site: dict) -> str:
        """The source's expression for the atomic variable of the place; empty if it is none."""
        file, at = site["place"]
        info = self.debug(file)
        functions = [die for die in (info.functions(at - 1) if info else []) if die.tag != Tag.LEXICAL_BLOCK]
        for caller, called in reversed(list(zip(functions, functions[1:]))):
            if is_other(called) and not is_other(caller):
                line, column = called.number(At.CALL_LINE), called.number(At.CALL_COLUMN)
                text = self.source(caller.file)[line - 1:line] if line and column else []
                # The column is that of the arguments of the call.
                match = re.search(r"([\w.()\[\]>-]+?)(?:\.|->)\w+$", text[0][:column - 1]) if text else None
                return match[1].lstrip("(") if match else ""
        return ""


def is_other(die: Die) -> bool:
    return any(part in die.file for part in OTHERS)


@functools.cache
def variables(file: Path | None) -> list[tuple[int, int, str]]:
    """Begin, size and name of the variables in a file."""
    if file is None:
        return []
    done = subprocess.run(["nm", "-C", "-S", "--defined-only", str(file)], capture_output=True, text=True)
    rows = re.findall(r"^([0-9a-f]+) ([0-9a-f]+) [bBdDuVv] (.*)$", done.stdout, re.MULTILINE)
    return [(int(at, 16), int(size, 16), name.replace("(anonymous namespace)::", "").removeprefix("heddle::")) for at, size, name in rows]

"""Debug information, read by libdw (elfutils): functions at an address, their variables, and the layout of classes."""

import ctypes
import functools
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path


class Tag:
    ARRAY, CLASS, LEXICAL_BLOCK, MEMBER, POINTER, STRUCTURE, UNION = 0x01, 0x02, 0x0b, 0x0d, 0x0f, 0x13, 0x17
    REFERENCE, RVALUE_REFERENCE, INHERITANCE, INLINED, NAMESPACE = 0x10, 0x42, 0x1c, 0x1d, 0x39
    SUBPROGRAM, VARIABLE, PARAMETER = 0x2e, 0x34, 0x05
    CLASSES = (CLASS, STRUCTURE, UNION)
    POINTERS = (POINTER, REFERENCE, RVALUE_REFERENCE)


class At:
    LOCATION, MEMBER_LOCATION, FRAME_BASE, TYPE = 0x02, 0x38, 0x40, 0x49
    CALL_COLUMN, CALL_LINE = 0x57, 0x59


ADDRESS = 0x03  # the operation that has one


class _Die(ctypes.Structure):
    _fields_ = [("addr", ctypes.c_void_p), ("cu", ctypes.c_void_p), ("abbrev", ctypes.c_void_p), ("padding", ctypes.c_long)]


class _Attribute(ctypes.Structure):
    _fields_ = [("code", ctypes.c_uint), ("form", ctypes.c_uint), ("valp", ctypes.c_void_p), ("cu", ctypes.c_void_p)]


class _Op(ctypes.Structure):
    _fields_ = [("atom", ctypes.c_uint8), ("number", ctypes.c_uint64), ("number2", ctypes.c_uint64), ("offset", ctypes.c_uint64)]


@functools.cache
def libdw():
    """The library; None if it is not installed."""
    try:
        found = ctypes.CDLL("libdw.so.1")
    except OSError:
        return None
    for name in ("dwarf_begin", "dwarf_addrdie", "dwarf_attr", "dwarf_attr_integrate", "dwarf_formref_die"):
        getattr(found, name).restype = ctypes.c_void_p
    for name in ("dwarf_diename", "dwarf_decl_file"):
        getattr(found, name).restype = ctypes.c_char_p
    return found


@dataclass(frozen=True)
class Op:
    """An operation of an expression, and its operand."""

    atom: int
    number: int


class Die:
    """An entry: a function, a variable, a class..."""

    def __init__(self, raw: _Die):
        self.raw = raw
        self.tag: int = libdw().dwarf_tag(ctypes.byref(raw))

    def __eq__(self, other) -> bool:
        return isinstance(other, Die) and self.raw.addr == other.raw.addr

    def __hash__(self) -> int:
        return hash(self.raw.addr)

    def children(self) -> Iterator["Die"]:
        raw = _Die()
        end = libdw().dwarf_child(ctypes.byref(self.raw), ctypes.byref(raw))
        while end == 0:
            yield Die(_Die.from_buffer_copy(raw))
            end = libdw().dwarf_siblingof(ctypes.byref(raw), ctypes.byref(raw))

    def attribute(self, code: int) -> _Attribute | None:
        """That of the entry itself, or of the one that it is an instance of."""
        found = _Attribute()
        return found if libdw().dwarf_attr_integrate(ctypes.byref(self.raw), code, ctypes.byref(found)) else None

    def number(self, code: int) -> int | None:
        attribute, value = self.attribute(code), ctypes.c_uint64()
        if attribute is None or libdw().dwarf_formudata(ctypes.byref(attribute), ctypes.byref(value)) != 0:
            return None
        return value.value

    def has(self, pc: int) -> bool:
        return libdw().dwarf_haspc(ctypes.byref(self.raw), ctypes.c_uint64(pc)) == 1

    @property
    def name(self) -> str:
        return (libdw().dwarf_diename(ctypes.byref(self.raw)) or b"").decode()

    @property
    def file(self) -> str:
        """Where it is declared."""
        return (libdw().dwarf_decl_file(ctypes.byref(self.raw)) or b"").decode()

    @property
    def type(self) -> "Die | None":
        """Without typedef, const and the like."""
        attribute, raw, peeled = self.attribute(At.TYPE), _Die(), _Die()
        if attribute is None or not libdw().dwarf_formref_die(ctypes.byref(attribute), ctypes.byref(raw)):
            return None
        return Die(peeled) if libdw().dwarf_peel_type(ctypes.byref(raw), ctypes.byref(peeled)) == 0 else None

    @property
    def size(self) -> int:
        """In bytes; 0 if it is not known."""
        value = ctypes.c_uint64()
        return value.value if libdw().dwarf_aggregate_size(ctypes.byref(self.raw), ctypes.byref(value)) == 0 else 0

    @property
    def enclosing(self) -> list["Die"]:
        """The entry and those around it, innermost first."""
        scopes = ctypes.POINTER(_Die)()
        count = libdw().dwarf_getscopes_die(ctypes.byref(self.raw), ctypes.byref(scopes))
        return [Die(_Die.from_buffer_copy(scopes[i])) for i in range(max(count, 0))]

    def expression(self, code: int, pc: int) -> tuple[Op, ...]:
        """The location or value at an address of the program; empty if there is none."""
        attribute, operations, length = self.attribute(code), ctypes.POINTER(_Op)(), ctypes.c_size_t()
        if attribute is None or libdw().dwarf_getlocation_addr(ctypes.byref(attribute), ctypes.c_uint64(pc), ctypes.byref(operations),
                                                               ctypes.byref(length), ctypes.c_size_t(1)) != 1:
            return ()
        return tuple(Op(op.atom, op.number) for op in operations[:length.value])


class DebugInfo:
    """That of one file."""

    def __init__(self, path: Path):
        self.descriptor = os.open(path, os.O_RDONLY)
        self.raw = ctypes.c_void_p(libdw().dwarf_begin(self.descriptor, 0))

    @functools.cache
    def functions(self, pc: int) -> list[Die]:
        """The function at an address, the inlined ones and the blocks in it that have the address, outermost first."""
        unit = self._unit(pc)
        found = [function for function in (_functions(unit) if unit else []) if function.has(pc)][:1]
        while found and (inner := next((child for child in found[-1].children()
                                        if child.tag in (Tag.INLINED, Tag.LEXICAL_BLOCK) and child.has(pc)), None)):
            found.append(inner)
        return found

    def variable(self, at: int, pc: int) -> Die | None:
        """The static variable that begins at an address, if the compiler knew it where it compiled the function at `pc`."""
        inside = [die for function in self.functions(pc) for die in function.children()]
        unit = self._unit(pc)
        return next((die for die in [*inside, *(_statics(unit) if unit else [])] if die.tag == Tag.VARIABLE and
                     die.expression(At.LOCATION, pc) == (Op(ADDRESS, at),)), None)

    def _unit(self, pc: int) -> Die | None:
        raw = _Die()
        return Die(raw) if self.raw and libdw().dwarf_addrdie(self.raw, ctypes.c_uint64(pc), ctypes.byref(raw)) else None


@functools.cache
def _functions(unit: Die) -> list[Die]:
    return [die for die in unit.children() if die.tag == Tag.SUBPROGRAM]


@functools.cache
def _statics(scope: Die) -> list[Die]:
    """The variables of a unit or a namespace."""
    found = []
    for die in scope.children():
        found += [die] if die.tag == Tag.VARIABLE else _statics(die) if die.tag == Tag.NAMESPACE else []
    return found

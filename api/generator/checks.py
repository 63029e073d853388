"""The checks of a function's arguments, as C++ statements.

Each follows from a parameter's kind and what overrides.toml adds. The conditions are those of objects/binding/check.hpp, the
consequences those of objects/binding/complain.hpp. The object of a handle argument `comm` is called `comm_`.
"""

from __future__ import annotations

from dataclasses import dataclass

from .model import Argument, Form, Model
from .overrides import Overrides
from .standard import Function, Parameter

NULL_HANDLES = {
    "Comm": "MPI_COMM_NULL",
    "Group": "MPI_GROUP_NULL",
    "Datatype": "MPI_DATATYPE_NULL",
    "Op": "MPI_OP_NULL",
    "Info": "MPI_INFO_NULL",
    "Errhandler": "MPI_ERRHANDLER_NULL",
    "Request": "MPI_REQUEST_NULL",
    "Session": "MPI_SESSION_NULL",
    "Message": "MPI_MESSAGE_NULL",
    "Win": "MPI_WIN_NULL",
    "File": "MPI_FILE_NULL",
}
_OWNERS = ("Comm", "Win", "File", "Session")  # classes that have error handlers

# A handle of this class that is valid where the user's does not matter but the implementation wants a reference.
_PLACEHOLDERS = {"Datatype": "MPI_BYTE", "Op": "MPI_SUM"}

# Kinds of numbers that have a least value, and the error class of one below it; see _number_class for counts.
_LEAST = {
    "POLYXFER_NUM_ELEM_NNI": 0,
    "POLYXFER_NUM_ELEM": 0,
    "POLYDTYPE_NUM_ELEM_NNI": 0,
    "POLYDTYPE_NUM_ELEM": 0,
    "POLYDTYPE_NUM_ELEM_PI": 1,
    "POLYDTYPE_PACK_SIZE": 0,
    "POLYNUM_BYTES_NNI": 0,
    "POLYNUM_PARAM_VALUES": 0,
    "POLYRMA_DISPLACEMENT": 1,
    "XFER_NUM_ELEM_NNI": 0,
    "XFER_NUM_ELEM": 0,
    "ARRAY_LENGTH": 0,
    "ARRAY_LENGTH_NNI": 0,
    "ARRAY_LENGTH_PI": 1,
    "COMM_SIZE": 0,
    "COMM_SIZE_PI": 1,
    "DEGREE": 0,
    "NUM_DIMS": 0,
    "PARTITION": 0,
    "WINDOW_SIZE": 0,
    "WIN_ATTACH_SIZE": 0,
    "ALLOC_MEM_NUM_BYTES": 0,
    "RMA_DISPLACEMENT_NNI": 0,
}
_NUMBER_CLASSES = {
    "NUM_DIMS": "MPI_ERR_DIMS",
    "POLYRMA_DISPLACEMENT": "MPI_ERR_DISP",
    "RMA_DISPLACEMENT_NNI": "MPI_ERR_DISP",
    "WINDOW_SIZE": "MPI_ERR_SIZE",
    "WIN_ATTACH_SIZE": "MPI_ERR_SIZE",
}
_STRING_CLASSES = {"key": "MPI_ERR_INFO_KEY", "value": "MPI_ERR_INFO_VALUE"}
_COUNT_KINDS = ("POLYXFER_NUM_ELEM", "POLYDTYPE_NUM_ELEM", "POLYNUM_BYTES", "POLYDTYPE_PACK_SIZE", "XFER_NUM_ELEM")


@dataclass(frozen=True)
class Statement:
    text: str
    guard: str | None = None  # the name of the condition under which it applies


def _fail_if(condition: str, consequence: str) -> str:
    return f"if ({condition}) return {consequence};"  # consequences are cold functions: the compiler knows


def _number_class(p: Parameter) -> str:
    return _NUMBER_CLASSES.get(p.kind, "MPI_ERR_COUNT" if "count" in p.name else "MPI_ERR_ARG")


class FunctionChecks:
    """The statements that one function begins with."""

    def __init__(self, function: Function, model: Model) -> None:
        self._function = function
        self._overrides: Overrides = model.overrides
        self._arguments = model.arguments(function)
        self._by_name = {a.name: a for a in self._arguments}
        self._guards = self._overrides.guards(function)
        self._owner_argument = next((a for a in self._arguments if self._can_own(a)), None)
        self._errhandler_argument = None if self._owner_argument else self._errhandler_to_attach()
        self._message_argument = next(
            (a for a in self._arguments if a.object_class == "Message" and a.parameter.direction == "inout"), None
        )
        responsible = self._owner_argument or self._errhandler_argument
        self.owner = f"{responsible.name}_" if responsible else "nullptr"
        if self._message_argument:
            self.owner = "comm_"

    def statements(self) -> list[Statement]:
        result: list[Statement] = []
        if self._owner_argument:
            result += self._handle(self._owner_argument, "nullptr")
        elif not self._overrides.listed("any_time", self._function):
            result.append(Statement(_fail_if("!running()", "not_running(self)")))
        if self._errhandler_argument:
            result += self._handle(self._errhandler_argument, "nullptr")
        if self._message_argument:  # whose communicator is responsible for the call
            result += self._handle(self._message_argument, "nullptr")
            result.append(Statement(f"Comm* const comm_ = comm_of(*{self._message_argument.name});"))
        first = [a for a in self._arguments if a.name in ("root", "local_leader")]  # what guards are about
        done = (self._owner_argument, self._errhandler_argument, self._message_argument)
        rest = [a for a in self._arguments if a not in done and a not in first]
        for a in first:
            result += self._argument(a)
        result += [Statement(f"const bool {g.name} = {g.when};") for g in self._guards]
        for a in rest:
            result += self._argument(a)
        for a in self._arguments:
            result += self._buffer(a)
        return [self._counted(s) for s in result + self._relations()]

    def _counted(self, statement: Statement) -> Statement:
        """A collective that is refused counts as one of its communicator's all the same."""
        refused = self._overrides.value("refused", self._function)
        if not refused and self._overrides.listed("counted", self._function):
            name = self._function.name.removesuffix("_c")
            manner = "persistent" if name.endswith("_init") else "nonblocking" if name.startswith("MPI_I") else "blocking"
            refused = f"skip_operation({{comm}}, coll::Manner::{manner})"
        if not refused or f"(self, {self.owner}, " not in statement.text:
            return statement
        skipped = f" return coll::{refused.format(comm=f'*{self.owner}')}, bad_"
        return Statement(statement.text.replace(" return bad_", skipped), statement.guard)

    @staticmethod
    def _can_own(a: Argument) -> bool:
        if a.object_class not in _OWNERS or a.parameter.is_array:
            return False
        return a.form is Form.REFERENCE or (a.form is Form.RAW and a.parameter.direction == "inout")

    def _errhandler_to_attach(self) -> Argument | None:
        """The error handler of what the function makes: the function's own errors are its too."""
        if not any(a.object_class in _OWNERS and a.parameter.direction == "out" for a in self._arguments):
            return None
        return next((a for a in self._arguments if a.object_class == "Errhandler"), None)

    def _unchecked(self, p: Parameter) -> bool:
        return self._overrides.applies("unchecked", self._function, p.name) or self._overrides.applies(
            "raw", self._function, p.name
        )

    def _guard(self, name: str) -> str | None:
        return next((g.name for g in self._guards if name in g.parameters), None)

    def _length(self, p: Parameter) -> str | None:
        """How long an array is, as a C++ expression; None if that is not known here."""
        lengths = self._overrides.value("length", self._function) or {}
        if p.name in lengths:
            return lengths[p.name]
        return p.length if p.length in self._by_name else None

    # ---- One argument ----

    def _argument(self, a: Argument) -> list[Statement]:
        p = a.parameter
        if a.object_class:
            return self._handle(a, self.owner)
        if self._unchecked(p):
            return []
        lines: list[str] = []
        if p.kind == "BUFFER":
            pass  # after the datatypes
        elif p.is_array:
            lines = self._array(a)
        elif p.direction == "in":
            lines = self._input(a)
        elif not self._may_be_ignored(p):
            lines = self._place(a)
        return [Statement(line, self._guard(p.name)) for line in lines]

    @staticmethod
    def _may_be_ignored(p: Parameter) -> bool:
        """A place for a result that the caller need not want: a status, or what MPI_Init leaves of the command line."""
        return (p.kind == "STATUS" and p.direction == "out") or p.kind in ("ARGUMENT_COUNT", "ARGUMENT_LIST")

    def _handle(self, a: Argument, owner: str) -> list[Statement]:
        p, name = a.parameter, a.name
        if p.is_array:
            return self._handles(a)
        if a.form is Form.RAW:
            return self._handle_place(a, owner)
        value = f"*{name}" if p.type.endswith("*") else name
        complaint = f'bad_handle(self, {owner}, "{name}", {value})'
        condition = f"!{name}_"
        if self._is_communicated(name):
            complaint = f'bad_datatype(self, {owner}, "{name}", {value})'
            condition = f"!is_committed({name}_)"
        guard = self._guard(name)
        const = "const " if a.constant else ""
        found = f"object({value})"
        null_statement = []
        if value != name:
            null_statement = [Statement(_fail_if(f"!{name}", f'bad_pointer(self, {owner}, "{name}")'))]
        if guard and a.form is Form.REFERENCE:
            found = f"object({guard} ? {value} : {_PLACEHOLDERS[a.object_class]})"
            guard = None
        elif guard:
            found = f"{guard} ? {found} : nullptr"
        # Guarded arguments must be present when they are read; an info object need never be.
        if a.form is Form.POINTER and (not guard or a.object_class == "Info"):
            condition += f" && {value} != {NULL_HANDLES[a.object_class]}"
        statements = [*null_statement, Statement(f"{const}{a.object_class}* const {name}_ = {found};")]
        if not self._unchecked(p):
            statements.append(Statement(_fail_if(condition, complaint), guard))
        return statements + self._sort(a)

    def _sort(self, a: Argument) -> list[Statement]:
        for table, wanted, condition in (
            ("intracommunicator", "an intracommunicator", f"{a.name}_->inter"),
            ("intercommunicator", "an intercommunicator", f"!{a.name}_->inter"),
        ):
            if a.object_class == "Comm" and self._overrides.applies(table, self._function, a.name):
                return [Statement(_fail_if(condition, f'bad_sort(self, {a.name}_, "{a.name}", "{wanted}")'))]
        return []

    def _handle_place(self, a: Argument, owner: str) -> list[Statement]:
        """A pointer to a handle: to write, or to read and write."""
        p, name = a.parameter, a.name
        if not p.type.endswith("*") or self._overrides.applies("unchecked", self._function, name):
            return []
        statements = [Statement(_fail_if(f"!{name}", f'bad_pointer(self, {owner}, "{name}")'))]
        if p.direction == "inout" and not self._unchecked(p):
            condition, complaint = f"!object(*{name})", f'bad_handle(self, {owner}, "{name}", *{name})'
            if a is self._owner_argument:
                statements.append(Statement(f"{a.object_class}* const {name}_ = object(*{name});"))
                condition = f"!{name}_"
            elif a.object_class == "Message":
                condition += f" && *{name} != MPI_MESSAGE_NO_PROC"
            statements.append(Statement(_fail_if(condition, complaint)))
        return statements

    def _handles(self, a: Argument) -> list[Statement]:
        p, length = a.parameter, self._length(a.parameter)
        if length is None:
            return []
        if self._unchecked(p) or p.direction == "out" or a.object_class not in ("Datatype", "Request"):
            text = _fail_if(f"!{a.name} && {length} > 0", f'bad_pointer(self, {self.owner}, "{a.name}")')
        elif a.object_class == "Datatype":
            committed = "true" if self._is_communicated(a.name) else "false"
            text = _fail_if(
                f"!are_datatypes({a.name}, {length}, {committed})",
                f'bad_datatypes(self, {self.owner}, "{a.name}", {a.name}, {length}, {committed})',
            )
        else:
            text = _fail_if(
                f"!are_requests({a.name}, {length})",
                f'bad_requests(self, {self.owner}, "{a.name}", {a.name}, {length})',
            )
        return [Statement(text, self._guard(a.name))]

    def _input(self, a: Argument) -> list[str]:
        p, name, owner = a.parameter, a.name, self.owner
        if p.kind == "RANK":
            return self._rank(a)
        if p.kind == "TAG":
            receive = self._overrides.applies("receive_tag", self._function, name)
            condition = f"!is_receive_tag({name}, *{owner})" if receive else f"!is_tag({name})"
            return [_fail_if(condition, f'bad_tag(self, {owner}, "{name}", {name})')]
        if p.kind in _LEAST and name != "stride":
            least, error_class = _LEAST[p.kind], _number_class(p)
            complaint = f'bad_number(self, {owner}, "{name}", {name}, {least}, {error_class})'
            return [_fail_if(f"{name} < {least}", complaint)]
        if p.kind == "KEYVAL":
            return [_fail_if(f"{name} == MPI_KEYVAL_INVALID", f'bad_keyval(self, {owner}, "{name}")')]
        if p.kind == "STRING":
            return self._string(a)
        if p.kind in ("STATUS", "F90_STATUS", "F08_STATUS", "FUNCTION", "POLYFUNCTION", "LOGICAL_VOID"):
            return [_fail_if(f"!{name}", f'bad_pointer(self, {owner}, "{name}")')]
        return []

    def _string(self, a: Argument) -> list[str]:
        name = a.name
        error_class = _STRING_CLASSES.get(name)
        if self._function.name.startswith("MPI_Info_") and error_class:
            complaint = f'bad_string(self, {self.owner}, "{name}", {name}, {error_class})'
            return [_fail_if(f"!is_info_{name}({name})", complaint)]
        return [_fail_if(f"!{name}", f'bad_pointer(self, {self.owner}, "{name}")')]

    def _rank(self, a: Argument) -> list[str]:
        rule = (self._overrides.value("rank", self._function) or {}).get(a.name)
        comm = self.owner
        match rule:
            case "destination" | "source":
                return [_fail_if(f"!is_{rule}({a.name}, *{comm})", f'bad_rank(self, {comm}, "{a.name}", {a.name})')]
            case "member":
                return [_fail_if(f"!is_member({a.name}, *{comm})", f'bad_rank(self, {comm}, "{a.name}", {a.name})')]
            case "root":
                condition = f"!is_root_argument({a.name}, *{comm})"
                return [_fail_if(condition, f'bad_root(self, {comm}, "{a.name}", {a.name})')]
            case _:
                return []

    def _array(self, a: Argument) -> list[str]:
        p, name, owner = a.parameter, a.name, self.owner
        length = self._length(p)
        if p.kind == "STRING":  # written char[] in places
            return [_fail_if(f"!{name}", f'bad_pointer(self, {owner}, "{name}")')]
        if length is None or p.kind == "STATUS":
            return []
        if p.direction == "in" and a.form is Form.COUNTS and p.kind in _LEAST:
            least, error_class = _LEAST[p.kind], _number_class(p)
            complaint = f'bad_numbers(self, {owner}, "{name}", {name}, {length}, {least}, {error_class})'
            return [_fail_if(f"!are_counts({name}, {length}, {least})", complaint)]
        rule = (self._overrides.value("rank", self._function) or {}).get(name)
        if rule:
            group, _, or_null = rule.partition(" or ")
            more = ", true" if or_null else ""
            return [
                _fail_if(
                    f"!are_members({name}, {length}, *{group}{more})",
                    f'bad_ranks(self, {owner}, "{name}", {name}, {length}, *{group})',
                )
            ]
        return [_fail_if(f"!{name} && {length} > 0", f'bad_pointer(self, {owner}, "{name}")')]

    def _place(self, a: Argument) -> list[str]:
        """A pointer to where a result goes."""
        lines = [_fail_if(f"!{a.name}", f'bad_pointer(self, {self.owner}, "{a.name}")')]
        if a.parameter.kind == "KEYVAL" and a.parameter.direction == "inout":
            lines.append(_fail_if(f"*{a.name} == MPI_KEYVAL_INVALID", f'bad_keyval(self, {self.owner}, "{a.name}")'))
        return lines

    # ---- Buffers and what several arguments say together ----

    def _triple(self, buffer: Argument) -> tuple[Argument | None, Argument | None]:
        """The count and the datatype that belong to a buffer: they follow it, at most other buffers in between."""
        count = datatype = None
        for a in self._arguments[self._arguments.index(buffer) + 1 :]:
            if a.parameter.kind == "BUFFER":
                if count:
                    break
            elif a.object_class == "Datatype":
                datatype = a
                break
            elif a.parameter.kind.startswith(_COUNT_KINDS) and not count:
                count = a
        return count, datatype

    def _is_communicated(self, name: str) -> bool:
        if name == "target_datatype":  # describes a buffer at the target of a one-sided operation
            return True
        return any(
            a.parameter.kind == "BUFFER" and (d := self._triple(a)[1]) and d.name == name for a in self._arguments
        )

    def _buffer(self, a: Argument) -> list[Statement]:
        p = a.parameter
        if p.kind != "BUFFER" or self._unchecked(p):
            return []
        count, datatype = self._triple(a)
        if not count:
            return []
        number = count.name
        if count.parameter.is_array:
            if (length := self._length(count.parameter)) is None or (datatype and datatype.parameter.is_array):
                return []
            number = f"sum({number}, {length})"
            if sends := self._scatters_into(a):
                number = f"{sends} ? {count.name}[{self.owner}->rank] : {number}"
        extra = f", *{datatype.name}_" if datatype else ""
        complaint = f'bad_buffer(self, {self.owner}, "{a.name}", {a.name})'
        return [Statement(_fail_if(f"!is_buffer({a.name}, {number}{extra})", complaint), self._guard(a.name))]

    def _scatters_into(self, buffer: Argument) -> str | None:
        """The length of the buffer for our part of a reduction whose result is scattered: when it is no more than that."""
        *_, last = (a for a in self._arguments if a.parameter.kind == "BUFFER")
        return self._overrides.value("overlap", self._function) if buffer is last and self._by_name.get("op") else None

    def _relations(self) -> list[Statement]:
        result = []
        if (when := self._overrides.value("overlap", self._function)) is not None:
            result.append(self._overlap(when))
        op, datatype = self._by_name.get("op"), self._by_name.get("datatype")
        if op and datatype and op.form is Form.REFERENCE and "Win" not in {a.object_class for a in self._arguments}:
            result.append(
                Statement(
                    "if (Error error = check_reducible(*op_, *datatype_)) "
                    f"return bad_reduction(self, {self.owner}, error);",
                    self._guard("op"),
                )
            )
        return result

    def _overlap(self, when: str) -> Statement:
        first, second = (a for a in self._arguments if a.parameter.kind == "BUFFER")
        sides = []
        for buffer in (first, second):
            count, datatype = self._triple(buffer)
            number = count.name
            if count.parameter.is_array:  # of a reduction whose result is scattered: all that is sent, and our part of it
                number = f"sum({number}, {self._length(count.parameter)})"
                if buffer is second:
                    number = f"{count.name}[{self.owner}->rank]"
            sides.append(f"{buffer.name}, {number}, {datatype.name}_")
        complaint = f'bad_overlap(self, {self.owner}, "{first.name}", "{second.name}")'
        return Statement(_fail_if(f"overlap({', '.join(sides)})", complaint), when or None)

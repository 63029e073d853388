"""The generator: what it makes of the standard's data."""

from __future__ import annotations

import os
import re
import sys
import tempfile
import tomllib
import unittest
from pathlib import Path

API = Path(os.environ.get("HEDDLE_API", Path(__file__).parents[3] / "api"))
sys.path.insert(0, str(API))

from generator import entry, header, interface, standard  # noqa: E402
from generator.model import Chapters, Form, Model  # noqa: E402
from generator.overrides import Overrides, base_name  # noqa: E402
from generator.text import WIDTH, call_like  # noqa: E402

MPI = standard.load()
OVERRIDES = Overrides(API / "overrides.toml", MPI)
MODEL = Model(MPI, OVERRIDES)


def chapters_with(supported: dict[str, list[str]]) -> Chapters:
    """The chapters with just these functions supported."""
    with tempfile.TemporaryDirectory() as name:
        directory = Path(name)
        text = (API / "chapters.toml").read_text()
        (directory / "chapters.toml").write_text(text)
        (directory / "supported").mkdir()
        for chapter, functions in supported.items():
            (directory / f"supported/{chapter}.txt").write_text("\n".join(functions))
        return Chapters(directory, OVERRIDES)


def source_of(function: str) -> str:
    """The generated entry point of one function, as if it were supported."""
    chapter = chapters_with({}).of(MPI.by_name[function])
    supported = chapters_with({chapter: [base_name(MPI.by_name[function])]})
    text = entry.render(chapter, MODEL, supported)
    return re.search(rf"^\S+ P{function}\(.*?^}}", text, re.M | re.S)[0]


class TheStandard(unittest.TestCase):
    def test_all_functions(self) -> None:
        self.assertEqual(len(MPI.functions), 690)
        self.assertEqual(sum(f.large for f in MPI.functions), 159)

    def test_declarations(self) -> None:
        def declared(name: str) -> str:
            return ", ".join(MPI.by_name[name].arguments)

        self.assertEqual(declared("MPI_Wtime"), "void")
        self.assertEqual(declared("MPI_Pcontrol"), "const int level, ...")
        self.assertEqual(declared("MPI_Info_create_env"), "int argc, char* argv[], MPI_Info* info")
        self.assertIn("const MPI_Aint displs[]", declared("MPI_Gatherv_c"))

    def test_header_leaves_out_fortran(self) -> None:
        constants = tomllib.loads((API / "constants.toml").read_text())
        text = header.render(MPI, constants)
        self.assertNotIn("MPI_Fint", text)
        self.assertIn("int PMPI_Send(", text)
        self.assertLessEqual(max(len(line) for line in text.splitlines()), WIDTH)


class TheModel(unittest.TestCase):
    def forms(self, function: str) -> dict[str, Form]:
        return {a.name: a.form for a in MODEL.arguments(MPI.by_name[function])}

    def test_small_and_large_share_an_implementation(self) -> None:
        for name in ("MPI_Send", "MPI_Send_c"):
            self.assertEqual(MODEL.implementation_name(MPI.by_name[name]), "Send")

    def test_callbacks_of_two_widths_do_not(self) -> None:
        self.assertEqual(MODEL.implementation_name(MPI.by_name["MPI_Op_create_c"]), "Op_create_c")

    def test_older_names_have_no_implementation(self) -> None:
        names = {i.name for i in MODEL.implementations}
        self.assertNotIn("Attr_put", names)
        self.assertEqual(MODEL.implementation_name(MPI.by_name["MPI_Attr_put"]), "Comm_set_attr")

    def test_forms(self) -> None:
        gatherv = self.forms("MPI_Gatherv")
        self.assertIs(gatherv["sendcount"], Form.COUNT)
        self.assertIs(gatherv["recvcounts"], Form.COUNTS)
        self.assertIs(gatherv["sendtype"], Form.POINTER)
        self.assertIs(gatherv["comm"], Form.REFERENCE)
        self.assertIs(self.forms("MPI_Get_count")["count"], Form.COUNT_OUT)
        self.assertIs(self.forms("MPI_Comm_free")["comm"], Form.RAW)
        self.assertIs(self.forms("MPI_Comm_dup_with_info")["info"], Form.POINTER)
        self.assertIs(self.forms("MPI_Info_set")["info"], Form.REFERENCE)

    def test_every_implementation_is_declared_once(self) -> None:
        text = interface.implementation_header(MODEL)
        names = re.findall(r"^(?:Error|\w+) (\w+)\(", text, re.M)
        self.assertEqual(len(names), len(set(names)))


class TheChapters(unittest.TestCase):
    def test_every_function_has_one(self) -> None:
        chapters = chapters_with({})
        for function in MPI.functions:
            self.assertIn(chapters.of(function), chapters.names)

    def test_a_misplaced_name_is_refused(self) -> None:
        with self.assertRaisesRegex(ValueError, "MPI_Send belongs in p2p.txt"):
            chapters_with({"coll": ["Send"]}).check(MPI)

    def test_an_unknown_name_is_refused(self) -> None:
        with self.assertRaisesRegex(ValueError, "no MPI_Sent"):
            chapters_with({"p2p": ["Sent"]}).check(MPI)

    def test_a_function_without_an_implementation_is_refused(self) -> None:
        with self.assertRaisesRegex(ValueError, r"supported/\w+\.txt: MPI_\w+ is missing"):
            chapters_with({"p2p": ["Send"]}).check(MPI)

    def test_prefix_and_comments_are_optional(self) -> None:
        chapters = chapters_with({"p2p": ["MPI_Send  # the first", "", "Recv"]})
        self.assertTrue(chapters.supports(MPI.by_name["MPI_Send_c"]))
        self.assertTrue(chapters.supports(MPI.by_name["MPI_Recv"]))
        self.assertFalse(chapters.supports(MPI.by_name["MPI_Isend"]))

    def test_older_names_follow_the_newer(self) -> None:
        chapters = chapters_with({"datatype": ["Type_size"]})
        self.assertTrue(chapters.supports(MPI.by_name["MPI_Type_size_x"]))


class TheChecks(unittest.TestCase):
    def test_send(self) -> None:
        text = source_of("MPI_Send")
        for condition in (
            "!comm_", "count < 0", "!is_committed(datatype_)", "!is_destination(dest, *comm_)", "!is_tag(tag)",
            "!is_buffer(buf, count, *datatype_)",
        ):
            self.assertIn(f"if ({condition}) return bad_", text)

    def test_wildcards_only_where_received(self) -> None:
        self.assertIn("is_source(source, *comm_)", source_of("MPI_Recv"))
        self.assertIn("is_receive_tag(tag, *comm_)", source_of("MPI_Mprobe"))
        self.assertIn("is_tag(tag)", source_of("MPI_Precv_init"))
        self.assertIn("is_tag(sendtag)", source_of("MPI_Sendrecv"))
        self.assertIn("is_receive_tag(recvtag, *comm_)", source_of("MPI_Sendrecv"))

    def test_ignored_arguments_are_not_looked_at(self) -> None:
        text = source_of("MPI_Gather")
        self.assertIn("const bool receives = is_root(*comm_, root);", text)
        self.assertIn("recvtype_ = receives ? object(recvtype) : nullptr;", text)
        self.assertIn("object(participates ? datatype : MPI_BYTE)", source_of("MPI_Bcast"))

    def test_a_refused_collective_does_what_the_others_need(self) -> None:
        self.assertIn(" return coll::refuse_gather(*comm_), bad_", source_of("MPI_Gatherv_c"))
        self.assertIn(" return coll::refuse_scatter(*comm_, root), bad_", source_of("MPI_Scatter"))
        self.assertIn(" return coll::skip_operation(*comm_, coll::Manner::nonblocking), bad_", source_of("MPI_Igather"))
        self.assertIn(" return coll::skip_operation(*comm_, coll::Manner::persistent), bad_", source_of("MPI_Scan_init"))
        self.assertIn(" return coll::skip_operation(*comm_, coll::Manner::blocking), bad_", source_of("MPI_Neighbor_allgather"))
        for name in ("MPI_Scan", "MPI_Bcast"):
            self.assertNotIn(" return coll::", source_of(name))

    def test_before_initialization(self) -> None:
        self.assertIn("running()", source_of("MPI_Type_contiguous"))
        self.assertNotIn("running()", source_of("MPI_Info_create"))
        self.assertNotIn("running()", source_of("MPI_Send"))  # there is no communicator then

    def test_status_may_be_ignored_only_as_a_result(self) -> None:
        self.assertNotIn('"status"', source_of("MPI_Recv"))
        self.assertIn('bad_pointer(self, nullptr, "status")', source_of("MPI_Get_count"))

    def test_every_function_with_an_error_code_can_be_rendered(self) -> None:
        everything: dict[str, list[str]] = {}
        chapters = chapters_with({})
        for function in MPI.functions:
            if base_name(function) not in OVERRIDES.same_as:
                everything.setdefault(chapters.of(function), []).append(base_name(function))
        chapters = chapters_with(everything)
        text = "".join(entry.render(chapter, MODEL, chapters) for chapter in chapters.names)
        for function in MPI.functions:
            self.assertIn(f" P{function.name}(", text)


class TheText(unittest.TestCase):
    def test_breaks_under_the_first_item(self) -> None:
        text = call_like("int f(", ["a" * 50, "b" * 50, "c" * 50], ");")
        self.assertEqual(text, f"int f({'a' * 50}, {'b' * 50},\n      {'c' * 50});")

    def test_no_items(self) -> None:
        self.assertEqual(call_like("f(", [], ");"), "f();")


if __name__ == "__main__":
    unittest.main()

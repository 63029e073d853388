#!/usr/bin/env python3
"""Adds a network, a strategy, a lock and an info key to a copy of the tree by just the steps that CONTRIBUTING.md names, and uses them.

Each is a copy of one that is there, under another name. Usage: adding.py COMPILER INCLUDES WHAT [LIBRARY...]; INCLUDES are
folders of generated headers, with semicolons between them. For an info key, the folder of the compiler wrappers takes the place
of the libraries.
"""
import pathlib
import shutil
import subprocess
import sys
import tempfile

TREE = pathlib.Path(__file__).resolve().parents[2]


class Copy:
    def __init__(self, folder: pathlib.Path, compiler: str, generated: list[str]):
        self.root = folder
        folders = [*generated, folder / "src", folder / "tests"]
        self.compiler = [compiler, "-std=c++20", "-O0", *[flag for f in folders for flag in ("-I", f)]]
        for part in ("src", "tests"):
            shutil.copytree(TREE / part, folder / part)

    def clone(self, old: str, new: str, *names: tuple[str, str]) -> None:
        """A file under another name, with other names in it."""
        text = (self.root / old).read_text()
        for before, after in names:
            text = text.replace(before, after)
        target = self.root / new
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text)

    def edit(self, file: str, before: str, after: str) -> None:
        path = self.root / file
        text = path.read_text()
        assert before in text, f"{file} has no {before!r}"
        path.write_text(text.replace(before, after, 1))

    def compile(self, source: str) -> None:
        subprocess.run([*self.compiler, "-fsyntax-only", self.root / source], check=True)

    def build_and_run(self, sources: list[str], libraries: list[str]) -> None:
        program = self.root / "program"
        subprocess.run([*self.compiler, *[self.root / s for s in sources], "-o", program, *libraries, "-pthread", "-ldl"],
                       check=True)
        subprocess.run([program], check=True, timeout=100)


def network(copy: Copy, libraries: list[str]) -> None:
    for ending in ("hpp", "cpp"):
        copy.clone(f"src/network/loopback/loopback.{ending}", f"src/network/mirror/mirror.{ending}",
                   ("Loopback", "Mirror"), ("loopback/loopback", "mirror/mirror"))
    copy.clone("src/network/ucx/component.cpp", "src/network/mirror/component.cpp", ("ucx/ucx", "mirror/mirror"), ('"ucx"', '"mirror"'),
               ("Ucx(surroundings)", "Mirror(surroundings, 1)"))
    component = copy.root / "lln-mirror.so"
    subprocess.run([*copy.compiler, "-fPIC", "-shared", *(copy.root / "src/network/mirror").glob("*.cpp"), "-o", component], check=True)
    # The networks that HEDDLE_LLN may name, and the tests of every network.
    copy.edit("src/network/networks.cpp", 'Known{"ucx", "libucx-dev"}', 'Known{"ucx", "libucx-dev"}, Known{"mirror", "libmirror-dev"}')
    for name in ("UCX", "OFI"):
        copy.edit("tests/network/every_network.hpp", f"HEDDLE_TEST_{name}", '"/nowhere"')
    copy.edit("tests/network/every_network.hpp", "using AllNetworks = testing::Types<OverLoopback, OverRails, OverComponent<ucx>, OverComponent<ofi>>;", """struct OverMirror {
  static Networks::End open(const Surroundings& at, std::uint64_t, std::string&) {
    static const Result<const Component*> component = load_network("%s");
    EXPECT_TRUE(component);
    Why said{};
    return component ? Networks::End((*component)->open(at, said), {*component}) : nullptr;
  }
};
using AllNetworks = testing::Types<OverMirror>;""" % component)
    copy.build_and_run(["tests/network/network_test.cpp", "src/network/loopback/loopback.cpp", "src/network/fault_tolerant.cpp", "src/network/networks.cpp", "src/network/rails/links.cpp", "src/network/rails/rails.cpp", "src/network/watch.cpp",
                        "src/base/threads/component.cpp", "src/base/threads/selection.cpp", "src/base/threads/per_thread.cpp", "src/base/instruments/counters.cpp",
                        "src/base/instruments/ticks.cpp", "src/base/platform/hardware.cpp",
                        "src/base/platform/machine.cpp"], [*libraries, "-lhwloc"])


def strategy(copy: Copy, libraries: list[str]) -> None:
    copy.clone("src/messaging/message/outbox/direct.hpp", "src/messaging/message/outbox/plain.hpp", ("DirectStrategy", "PlainStrategy"), ('"direct"', '"plain"'))
    copy.edit("src/messaging/message/outbox/strategies.cpp", '    {"direct", make<DirectStrategy>},',
              '    {"direct", make<DirectStrategy>},\n    {"plain", make<PlainStrategy>},')
    copy.edit("src/messaging/message/outbox/strategies.cpp", '#include "messaging/message/outbox/direct.hpp"',
              '#include "messaging/message/outbox/direct.hpp"\n#include "messaging/message/outbox/plain.hpp"')
    (copy.root / "tests/main.cpp").write_text("""#include "messaging/message/outbox/strategy.hpp"
using namespace heddle;
struct OneOnly : message::Packets {
  int posts = 0;
  std::size_t bytes(const message::OutboxItem&) const override { return 1; }
  std::size_t fit(const message::OutboxItem&) override { return 1; }
  bool post(const message::OutboxItem&, std::size_t n) override { return n == 1 && posts++ == 0; }
  bool post_piece() override { return false; }
};
int main() {
  message::OutboxItem first, second;
  message::OutboxPeer peer;
  peer.items.append(first);
  peer.items.append(second);
  OneOnly network;
  const auto strategy = message::make_strategy("plain");
  const unsigned left = strategy->send(peer, network, [](message::OutboxItem&) {});
  return message::is_strategy("plain") && left == 1 && network.posts == 2 && !peer.items.empty() ? 0 : 1;
}
""")
    copy.build_and_run(["tests/main.cpp", "src/messaging/message/outbox/strategies.cpp"], [])


def lock(copy: Copy, libraries: list[str]) -> None:
    copy.clone("src/base/sync/ticket_lock.hpp", "src/base/sync/turn_lock.hpp", ("TicketLock", "TurnLock"))
    copy.edit("src/base/safety/model.hpp", "  ticket,\n", "  ticket,\n  turn,\n")
    copy.edit("src/base/safety/model.cpp", '{"ticket", Lock::ticket},', '{"ticket", Lock::ticket}, {"turn", Lock::turn},')
    copy.edit("src/base/safety/any_lock.cpp", "    case Lock::ticket:",
              "    case Lock::turn:\n      return std::make_unique<HeldAs<sync::TurnLock<Native>>>();\n    case Lock::ticket:")
    copy.edit("src/base/safety/any_lock.cpp", '#include "base/sync/ttas_lock.hpp"', '#include "base/sync/ttas_lock.hpp"\n#include "base/sync/turn_lock.hpp"')
    for _ in range(3):  # with real threads, under the checker, and where it is fair
        copy.edit("tests/base/sync/locks.hpp", 'Case<"ticket", sync::TicketLock<P>>', 'Case<"turn", sync::TurnLock<P>>, Case<"Ticket", sync::TicketLock<P>>')
    copy.edit("tests/base/sync/locks.hpp", '#include "base/sync/ticket_lock.hpp"', '#include "base/sync/ticket_lock.hpp"\n#include "base/sync/turn_lock.hpp"')
    (copy.root / "tests/main.cpp").write_text("""#include "base/safety/any_lock.hpp"
#include "base/safety/model.hpp"
using namespace heddle;
int main() {
  const Result<safety::Model> model = safety::parse_composition("lock=turn,submit=wait", {});
  return model && model->lock == safety::Lock::turn && safety::name_of(model->lock) == "turn" ? 0 : 1;
}
""")
    copy.build_and_run(["tests/main.cpp", "src/base/safety/model.cpp"], [])
    copy.compile("src/base/safety/any_lock.cpp")
    copy.compile("tests/base/sync/check_locks.cpp")


def info_key(copy: Copy, wrappers: list[str]) -> None:
    """Another name of cb_nodes."""
    copy.edit("src/mpi/io/hints.cpp", '    {"cb_nodes",', '    {"mirror_nodes", [](Hints& h, Text t) { return parse(t, 1, h.cb_nodes); }, nullptr},\n    {"cb_nodes",')
    refused = subprocess.run([*copy.compiler, "-fsyntax-only", copy.root / "src/mpi/io/hints.cpp"], capture_output=True, text=True)
    assert refused.returncode != 0 and "mirror_nodes" in refused.stderr, "a key that is not in the table compiles"
    copy.edit("src/base/info_keys.hpp", '    InfoKey{"cb_nodes",',
              '    InfoKey{"mirror_nodes", InfoReader::file, "NUMBER", "none", "The same as cb_nodes"},\n    InfoKey{"cb_nodes",')
    (copy.root / "tests/main.cpp").write_text("""#include "mpi/io/hints.hpp"
#include "objects/object/tables.hpp"
#include "launch/rank/rank.hpp"
using namespace heddle;
// What an info object calls only for handles that this program does not have.
constinit thread_local Rank* heddle::rank_of_thread = nullptr;
Info& ObjectTables::environment_info() { return *make_info(); }
int main() {
  Info info;
  info.set("mirror_nodes", "3");
  info.set("no_such_key", "4");
  io::Hints hints;
  hints.set(&info);
  bool told = false;
  for (const auto& [key, value] : hints.entries()) {
    if (key == "cb_nodes") told = value == "3";
    if (key == "no_such_key") return 1;
  }
  return told && hints.cb_nodes == 3 ? 0 : 1;
}
""")
    copy.build_and_run(["tests/main.cpp", "src/mpi/io/hints.cpp", "src/objects/object/info.cpp", "src/objects/object/arena.cpp", "src/base/platform/address_range.cpp"], [])

    (copy.root / "tests/no_options.cpp").write_text("""#include "launch/mpiexec/options.hpp"
std::vector<heddle::mpiexec::OptionHelp> heddle::mpiexec::described_options() { return {}; }
""")
    describe, page = copy.root / "describe", copy.root / "reference.md"
    subprocess.run([*copy.compiler, copy.root / "src/launch/mpiexec/describe.cpp", copy.root / "tests/no_options.cpp", "-o", describe], check=True)
    subprocess.run([sys.executable, "-B", TREE / "tools/manual/generate.py", describe, wrappers[0], "--reference", page], check=True)
    assert "| `mirror_nodes` | file | `NUMBER` | none | The same as cb_nodes |" in page.read_text(), "the reference lacks the key"


def main() -> int:
    compiler, generated, what, *libraries = sys.argv[1:]
    with tempfile.TemporaryDirectory() as folder:
        copy = Copy(pathlib.Path(folder), compiler, generated.split(";"))
        {"network": network, "strategy": strategy, "lock": lock, "info_key": info_key}[what](copy, libraries)
    return 0


if __name__ == "__main__":
    sys.exit(main())

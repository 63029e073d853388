#!/usr/bin/env python3
"""Adds a network, a strategy, a lock, an info key and a protocol to a copy of the tree by just the steps that CONTRIBUTING.md names, and uses them.

All but the protocol are copies of one that is there, under another name. Usage: adding.py COMPILER INCLUDES WHAT [LIBRARY...]; INCLUDES are
folders of generated headers, with semicolons between them. In place of the libraries an info key takes the folder of the compiler wrappers,
and a protocol the folder of a build in which message_protocols_test has been built.
"""
import json
import pathlib
import shlex
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


def protocol(copy: Copy, given: list[str]) -> None:
    """Messages of 40 KiB between processes are written by the sender into the receiver's buffer."""
    folder = "src/messaging/message"
    # 1. Its threshold and its choice.
    copy.edit(f"{folder}/choose.hpp", "  staged,  // through", "  put,     // the sender writes\n  staged,  // through")
    copy.edit(f"{folder}/choose.hpp", "// ---- thresholds, in bytes\n", "// ---- thresholds, in bytes\n\ninline constexpr std::size_t put_bytes = 40 * 1024;\n")
    copy.edit(f"{folder}/choose.hpp", "  if (way == Copying::staged && !message.mapped",
              "  if (message.bytes == put_bytes && message.readable && message.runs && !message.mapped) return LocalCopy::put;\n  if (way == Copying::staged && !message.mapped")
    # 2. The CTS has all that the sender must know. 3. The two ends, and their steps.
    copy.edit(f"{folder}/protocol/local/transfers.hpp", "unpacker, packer };", "unpacker, packer, awaiter, putter };")
    copy.edit(f"{folder}/protocol/local/transfers.hpp", "  Step share(Transfer& transfer);",
              "  Step share(Transfer& transfer);\n  Step put(Transfer& transfer);\n  Step await_put(Transfer& transfer);\n"
              "  bool accept_put(Request& receive, int peer, const LocalRts& rts, Wakeups& wakeups);")
    transfers = f"{folder}/protocol/local/transfers.cpp"
    copy.edit(transfers, "  if (copy == LocalCopy::split && accept_split", "  if (copy == LocalCopy::put && accept_put(receive, peer, rts, wakeups)) return;\n  if (copy == LocalCopy::split && accept_split")
    copy.edit(transfers, "  parts_.context.node.heap().join(cts.shared);\n", """  parts_.context.node.heap().join(cts.shared);
  if (cts.copy == LocalCopy::put) {
    Transfer& putter = make(Transfer::Role::putter, request, peer, cts.bytes);
    putter.process = memory.process_of(peer);
    putter.run = run_of(request);
    putter.peer_run = cts.run;
    putter.shared = cts.shared;
    return start(putter, wakeups);
  }
""")
    copy.edit(transfers, "    case Transfer::Role::unpacker:\n", "    case Transfer::Role::awaiter:\n      return await_put(transfer);\n"
              "    case Transfer::Role::putter:\n      return put(transfer);\n    case Transfer::Role::unpacker:\n")
    copy.edit(transfers, "Transfers::Step Transfers::read_alone", """bool Transfers::accept_put(Request& receive, int peer, const LocalRts& rts, Wakeups& wakeups) {
  const node::Offset shared = parts_.context.node.heap().allocate(sizeof(Split), 2);
  if (shared == nowhere) return false;
  new (parts_.context.node.heap().at<Split>(shared)) Split{};
  Transfer& transfer = make(Transfer::Role::awaiter, receive, peer, receive.bytes);
  transfer.run = run_of(receive);
  transfer.send = rts.send;
  transfer.shared = shared;
  ask(peer, transfer, LocalCopy::put, wakeups);
  start(transfer, wakeups);
  return true;
}

Transfers::Step Transfers::put(Transfer& transfer) {
  static const int said = std::fputs("a message is put\\n", stderr);
  auto& split = *parts_.context.node.heap().at<Split>(transfer.shared);
  const int error = move_bytes(Direction::write, transfer.process, transfer.run, transfer.peer_run, transfer.bytes);
  if (error != 0) split.failed.store(static_cast<std::uint32_t>(error), std::memory_order_relaxed);
  chunks_.fetch_add(1, std::memory_order_release);
  split.moved.fetch_add(transfer.bytes, std::memory_order_acq_rel);
  parts_.route.wake(transfer.peer);
  return said < 0 ? Step::waits : leave_over(transfer);
}

Transfers::Step Transfers::await_put(Transfer& transfer) {
  auto& split = *parts_.context.node.heap().at<Split>(transfer.shared);
  if (split.moved.load(std::memory_order_acquire) != transfer.bytes) return Step::waits;
  if (const auto failed = split.failed.load(std::memory_order_relaxed); failed != 0)
    transfer.request->error = error_of(transfer, static_cast<int>(failed));
  return leave_over(transfer);
}

Transfers::Step Transfers::read_alone""")
    copy.edit(transfers, "#include <cstring>", "#include <cstdio>\n#include <cstring>")
    # 4. Its end, also if the peer fails, and what both ends hold.
    copy.edit(f"{folder}/protocol/local/local.cpp", "transfer.role != Role::packer;", "transfer.role != Role::packer && transfer.role != Role::putter;")
    copy.edit(f"{folder}/protocol/local/local.cpp", "if (transfer.role == Role::packer ||", "if (transfer.role == Role::putter || transfer.role == Role::packer ||")
    copy.edit(f"{folder}/protocol/local/staged_copy.cpp", "if (transfer.role == Role::split_reader ||",
              "if (transfer.role == Role::awaiter || transfer.role == Role::putter || transfer.role == Role::split_reader ||")
    # 6. Its tests.
    test = "tests/messaging/message/protocols_test.cpp"
    copy.edit(test, '  add("staged",', '  add_modes("put", {}, {}, {40 * KiB});\n  add("staged",')

    # The sources that the steps have changed, beside the objects of the build.
    build = pathlib.Path(given[0])
    program = "tests/messaging/message/message_protocols_test"
    commands = subprocess.run(["ninja", "-t", "commands", program], cwd=build, check=True, text=True, capture_output=True).stdout
    link = shlex.split(commands.splitlines()[-1].split("&&")[1])
    link[link.index("-o") + 1] = str(copy.root / "program")
    changed = [f"{folder}/protocol/local/{name}.cpp" for name in ("transfers", "local", "staged_copy")] + [test]
    for entry in json.loads((build / "compile_commands.json").read_text()):
        source = pathlib.Path(entry["directory"], entry["file"]).resolve()
        command = shlex.split(entry["command"])
        at = command.index("-o") + 1
        if source not in [TREE / name for name in changed] or command[at] not in link:
            continue
        ours = copy.root / f"{source.stem}.o"
        link[link.index(command[at])] = str(ours)
        command = [word for word in command if not word.endswith("ccache") and not word.startswith(("-I", "-O", "-g"))]
        command[command.index("-o") + 1] = str(ours)
        command[command.index("-c") + 1] = str(copy.root / source.relative_to(TREE))
        subprocess.run([*command, *copy.compiler[2:]], cwd=entry["directory"], check=True)
    subprocess.run(link, cwd=build, check=True)
    ran = subprocess.run([copy.root / "program", "--gtest_brief=1", "--gtest_filter=*/put_*"], text=True, capture_output=True, timeout=100)
    assert ran.returncode == 0, ran.stdout
    assert ran.stderr.count("a message is put") == 1, "no message went by the protocol"


def main() -> int:
    compiler, generated, what, *libraries = sys.argv[1:]
    with tempfile.TemporaryDirectory() as folder:
        copy = Copy(pathlib.Path(folder), compiler, generated.split(";"))
        {"network": network, "strategy": strategy, "lock": lock, "info_key": info_key, "protocol": protocol}[what](copy, libraries)
    return 0


if __name__ == "__main__":
    sys.exit(main())

"""`heddle simulate` against a make-believe simulator, and the machines."""

import contextlib
import io
import json
import pathlib
import re
import subprocess
import sys
import tempfile
import types
import unittest
import xml.etree.ElementTree as xml

from make_believe import Case, TREE
from heddle_tool import cli
from heddle_tool.simulate import costs, counts, dwarf, lines, machines, objects, papers, run, trace, validate

# Writes a report as the simulator does. Its output depends on its name and arguments.
PROGRAM = f"#!{sys.executable} -SE" + """
# libheddle-simulator.so libmpi_abi.so
import json, os, sys
settings = dict(line.split() for line in open(os.environ["HEDDLE_SIMULATION"]))
with open(os.environ["JOURNAL"], "a") as journal:
    print(json.dumps({"args": sys.argv[1:], "settings": settings, "env": dict(os.environ)}), file=journal)
name = os.path.basename(sys.argv[0])
if name == "deadlock" or name == "random" and settings["seed"] == "7" and int(settings.get("fuzz_changes", 99)) >= 13:
    print("simulator: deadlock at 7 ns: no thread is left.", file=sys.stderr)
    sys.exit(70)
sent = 1 if "1e-9" in sys.argv else 11
missed = {"core": 0, "cluster": 3 * sent, "socket": 0, "machine": 0, "memory": 5}
thread = {"reads": 100 + 20 * sent, "writes": 7, "updates": 2 * sent, "missed_reads": missed, "missed_writes": missed,
          "missed_updates": missed, "failed_exchanges": 0, "fences": 0, "pauses": 0, "calls": 1, "system_calls": 1, "sleeps": 1, "wakes": 1,
          "yields": 0, "switches": 2}
site = {"offset": 8, "kind": "updates", "misses": 4, "place": [0, 0]}
line = {"line": 1, "misses": 4, "sites": [site]}
never_written = {"line": 2, "misses": 9, "sites": [dict(site, kind="reads")]}
report = {"virtual_ns": 1500.0, "threads": [thread, thread], "lines": [never_written, line], "files": [""]}
if "trace" in settings:
    call = ["call", 1, 2, 500, 900, "MPI_Send", "reads", 0, 0, 0, 0, 0]
    report["trace"] = {"from": int(settings["trace_from"]), "until": int(settings.get("trace_until", 2**64 - 1)), "full": name == "random", "events": [call]}
json.dump(report, open(settings["report"], "w"))
if "--list" in sys.argv:
    print("lock/mcs\\nlock/clh")
elif name == "sync_bench":
    print("kind,name,threads,ops\\nlock,mcs,2,2500000")
elif name != "plain":
    print(json.dumps({"bench": name, "threads": 2, "size": 8, "metric": "rate", "unit": "M/s", "value": 2.5, "checked": sent}, separators=(",", ":")))
"""
LAUNCHER = f"#!{sys.executable} -SE" + """
import os, sys
words = sys.argv[1:]
at = words.index("-env")
assert words[:3] == ["--ranks", "threads", "-n"], words
os.environ["LAUNCHED"], os.environ["RANKS"], os.environ["LAUNCHER"] = " ".join(words[4:at]), words[3], os.environ["HEDDLE_SIMULATION"]
os.environ[words[at + 1]] = words[at + 2]
os.execv(words[at + 3], words[at + 3:])
"""


class Machines(unittest.TestCase):
    """Loading one checks that each number is there and has a unit and a source."""

    def test_all_files(self):
        self.assertIn("xeon-16", machines.names())
        for name in machines.names():
            with self.subTest(machine=name):
                machine = machines.load(name)
                cpus, core, cluster, socket = (machine.counts[c] for c in machines.COUNTS[:4])
                for many, few in ((cpus, socket), (socket, cluster), (cluster, core)):
                    self.assertEqual(many % few, 0)
                levels = dict(re.findall(r"(\w+):(\d+)", machine.topology))
                product = 1
                for count in levels.values():
                    product *= int(count)
                self.assertEqual(product, cpus)
                self.assertEqual(int(levels["package"]), cpus // socket)
                self.assertEqual(int(levels["pu"]), core)
                self.assertEqual(int(levels["package"]) * int(levels.get("l3") or levels["l2"]), cpus // cluster)
                nearest_first = [machine.times[f"latency_{d}"] for d in counts.DISTANCES if d != "memory"]
                self.assertEqual(nearest_first, sorted(nearest_first))

    def test_names_are_those_of_the_simulator(self):
        source = (TREE / "src" / "simulator" / "machine.cpp").read_text()
        self.assertEqual(set(re.findall(r'\{"(\w+)", (?:&m\.|at\()', source)), {*machines.COUNTS, *machines.TIMES, "variation"})

    def test_what_is_wrong_is_told(self):
        good = json.loads((TREE / "machines" / "xeon-16.json").read_text())
        for change, word in (({"fence": None}, "fence"), ({"fence": {"value": 1, "unit": "ns"}}, "source"),
                             ({"fence": {"value": 0, "unit": "ns", "source": "x"}}, "above 0"),
                             ({"fence": {"value": 1, "unit": "kg", "source": "x"}}, "cycles"),
                             ({"fence": {"value": 1, "unit": "ns", "source": "x", "page": 3}}, "page"),
                             ({"cpus": {"value": 1.5, "source": "x"}}, "count"), ({"topology": ""}, "topology"), ({"gpus": 1}, "gpus")):
            with self.subTest(change=change), self.assertRaisesRegex(ValueError, word):
                machines.read("x", good | change)

    def test_units(self):
        good = json.loads((TREE / "machines" / "xeon-16.json").read_text())
        number = {"value": 10, "unit": "cycles", "source": "x"}
        machine = machines.read("x", good | {"fence": number, "frequency": {"value": 2.5, "unit": "GHz", "source": "x"}})
        self.assertEqual(machine.times["fence"], 4000)
        self.assertIn("fence 4000\n", machine.settings(seed=7))
        self.assertIn("seed 7\n", machine.settings(seed=7))


class Symbols(unittest.TestCase):
    def test_short_names(self):
        for long, short in (
                ("heddle::sync::FutexLock<heddle::platform::Native, (heddle::Kind)0>::unlock()", "FutexLock::unlock"),
                ("inject<const heddle::message::Outgoing::inject(const SendArgs&)::<lambda(std::byte*)>&>", "inject"),
                ("heddle::(anonymous namespace)::f(int)::{lambda(int)#1}::operator()(int) const", "heddle::f"),
                ("void heddle::a::b::run<int>(int)", "b::run"), ("std::vector<int>::operator[](unsigned long)", "vector::operator"),
                ("MPI_Isend", "MPI_Isend")):
            self.assertEqual(lines.short(long), short)

    def test_wrappers_are_left_out(self):
        frames = [lines.Frame("load", "/usr/include/c++/12/atomic", 1), lines.Frame("load", "base/platform/native.hpp", 85),
                  lines.Frame("Lock::lock", "base/sync/lock.hpp", 3), lines.Frame("send", "mpi/send.cpp", 4), lines.Frame("main", "x.c", 5)]
        self.assertEqual(" < ".join(map(str, lines.ours(frames))), "Lock::lock base/sync/lock.hpp:3 < send mpi/send.cpp:4")

    def test_copies_of_a_line_are_one_place(self):
        frame = (lines.Frame("f", "x.cpp", 1),)
        places = lines.merged([lines.Place("reads", 0, 1, "a", frame), lines.Place("writes", 0, 2, "a", frame), lines.Place("reads", 0, 3, "a", frame)])
        self.assertEqual([(p.kind, p.misses) for p in places], [("reads", 4), ("writes", 2)])

    def test_places_without_an_object_are_on_that_of_most_others(self):
        class Known:
            """Objects of 16 bytes."""

            def __init__(self, *begins):
                self.begins = begins

            def of(self, site):
                begin = self.begins[site["place"][1]]
                return None if begin is None else objects.Object(f"o{begin}", begin, Kind())

            def expression(self, site):
                return "read(next).flag"

        class Kind:
            size, tag, file = 16, dwarf.Tag.STRUCTURE, "x.cpp"

            def children(self):
                return [Member(f"m{at}", at) for at in (0, 8)]

        class Member:
            tag, type = dwarf.Tag.MEMBER, types.SimpleNamespace(size=8, tag=0)

            def __init__(self, name, at):
                self.name, self.number = name, lambda code: at

        def fields(misses, *begins):
            sites = [{"kind": "reads", "offset": 8 * i, "misses": count, "place": [0, i]} for i, count in enumerate(misses)]
            line = lines.line_of({"misses": sum(misses), "sites": sites}, Known(*begins), lambda file, at: ())
            return line.object, {place.offset: place.field for place in line.places}

        self.assertEqual(fields((3, 5, 4), 0, None, 16), ("o16", {0: "o0 m0", 8: "read(next).flag", 16: "m0"}))
        self.assertEqual(fields((3, 5), 0, None), ("o0", {0: "m0", 8: "m8"}))
        self.assertEqual(fields((3, 5), None, None), ("", {0: "read(next).flag", 8: "read(next).flag"}))


class Traces(unittest.TestCase):
    def on_tracks(self, slices, places, begin=0, end=100):
        made = [trace.Slice(kind, start, over, name, {}) for kind, start, over, name in slices]
        return [(e["ph"], round(e["ts"] * trace.MICROSECOND), e["pid"], e["name"]) for e in trace.on_tracks(made, places, 1, begin, end)]

    def test_a_thread_that_moves_goes_on_elsewhere(self):
        found = self.on_tracks([("call", 10, 60, "MPI_Wait"), ("sleep", 20, 40, "sleeps")], [(0, 3), (40, 5)])
        self.assertEqual(found, [("B", 10, 3, "MPI_Wait"), ("B", 20, 3, "sleeps"), ("E", 40, 3, "sleeps"), ("E", 40, 3, "MPI_Wait"),
                                 ("B", 40, 5, "MPI_Wait"), ("E", 60, 5, "MPI_Wait")])

    def test_slices_that_are_not_nested(self):
        found = self.on_tracks([("lock", 10, 30, "a"), ("lock", 20, 40, "b")], [(0, 0)])
        self.assertEqual(found, [("B", 10, 0, "a"), ("B", 20, 0, "b"), ("E", 30, 0, "b"), ("E", 30, 0, "a"), ("B", 30, 0, "b"), ("E", 40, 0, "b")])

    def test_slices_that_begin_and_end_together(self):
        found = self.on_tracks([("call", 10, 30, "a"), ("call", 10, 30, "b"), ("line", 30, 30, "none")], [(0, 0)])
        self.assertEqual(found, [("B", 10, 0, "a"), ("B", 10, 0, "b"), ("E", 30, 0, "b"), ("E", 30, 0, "a")])

    def test_a_part_of_them(self):
        found = self.on_tracks([("call", 10, 30, "a"), ("call", 40, 50, "b"), ("call", 60, 70, "c")], [(0, 0), (55, 1)], 20, 45)
        self.assertEqual(found, [("B", 20, 0, "a"), ("E", 30, 0, "a"), ("B", 40, 0, "b"), ("E", 45, 0, "b")])

    def test_names_of_functions_tell_the_role(self):
        def role(*functions):
            return trace.role([lines.Frame(function, "base/x.hpp", 1) for function in functions])

        self.assertEqual(role("McsLock::try_lock", "guard::try_acquire"), ("acquires", "McsLock"))
        self.assertEqual(role("FutexLock::lock_slowly"), ("acquires", "FutexLock"))
        self.assertEqual(role("FutexLock::unlock", "Held::~Held"), ("releases", "FutexLock"))
        self.assertEqual(role("Queue::push"), ("", ""))
        self.assertEqual(trace.role([lines.Frame("unique_lock::lock", "/usr/include/c++", 1)]), ("", ""))

    def test_a_lock_is_held_from_its_last_operation_to_the_first_of_unlock(self):
        class Names:
            roles = {1: ("acquires", "A"), 2: ("releases", "A"), 3: ("", ""), 4: ("acquires", "B"), 5: ("releases", "B")}

            def role(self, event):
                return self.roles[event.at]

            def field(self, event):
                return f"l{event.line}"

        def held(*operations):
            events = [trace.Event("atomic", 1, 0, i, i, "", "updates", 0, line, 0, 0, at) for i, (at, line) in enumerate(operations)]
            return [(s.name, s.start, s.end) for s in trace.holds(events, Names())]

        self.assertEqual(held((1, 7), (1, 8), (3, 9), (2, 8), (2, 7)), [("holds l7", 1, 3)], "with a node of its own")
        self.assertEqual(held((1, 7), (3, 9), (1, 7), (3, 9), (2, 7)), [("holds l7", 2, 4)], "a try that failed, and one that did not")
        self.assertEqual(held((1, 7), (3, 9), (1, 8), (3, 9), (2, 8), (2, 7)), [("holds l8", 2, 4), ("holds l7", 0, 5)], "two of a class")
        self.assertEqual(held((1, 7), (4, 8), (2, 7), (5, 8)), [("holds l7", 0, 2), ("holds l8", 1, 3)])
        self.assertEqual(held((2, 7), (1, 7)), [], "not released or not acquired in this part of the run")


class Costs(unittest.TestCase):
    def test_growth_beyond_the_slack(self):
        before = {"latency 1": {"misses": 2, "hot_lines": 0, "updates": 8}, "latency 8": {"misses": 30, "hot_lines": 8, "updates": 7}}
        same = {"latency 1": {"misses": 2.03, "hot_lines": 1, "updates": 8.1}, "latency 8": {"misses": 36, "hot_lines": 12, "updates": 2}}
        self.assertEqual(costs.grown(same, before), [])
        self.assertEqual(costs.grown(same | {"latency 1": {"misses": 2.2, "hot_lines": 0, "updates": 8}}, before),
                         ["latency 1 threads: misses 2.2, 2 before"])
        self.assertEqual(costs.grown({"latency 8": {"misses": 30, "hot_lines": 13, "updates": 9.2}}, before),
                         ["latency 8 threads: hot lines 13, 8 before", "latency 8 threads: locked instructions 9.2, 7 before"])

        def few(misses):
            return {"message-rate 8": {"misses": misses, "hot_lines": 0, "updates": 2.77}}

        self.assertEqual(costs.grown(few(0.49), few(0.35)), [])
        self.assertEqual(costs.grown(few(0.8), few(0.35)), ["message-rate 8 threads: misses 0.8, 0.35 before"])

    def test_the_page_keeps_the_counts(self):
        counted = {f"{cost.bench} {n}": {"misses": n / 2, "hot_lines": n, "updates": 3} for cost in costs.COSTS for n in cost.threads}
        with tempfile.TemporaryDirectory() as folder:
            page = pathlib.Path(folder) / "page.md"
            self.assertEqual(costs.recorded(page), {})
            page.write_text(costs.page(counted))
            self.assertEqual(costs.recorded(page), counted)

    def test_operations_of_a_benchmark_of_locks(self):
        job = run.Job(pathlib.Path("sync_bench"), ("--ms=2",), machines.load("xeon-16"))
        rows = "kind,name,threads,pinned,work_ns,lines,ops\nlock,futex,2,1,0,1,5000000\nlock,futex,2,0,0,1,3000000\n"
        self.assertEqual(costs.operations(run.Outcome(job, 0, rows, "", 0.1, {})), 16000)


class Commands(Case):
    def setUp(self):
        super().setUp()
        self.build = self.folder / "simulated"
        for path, text in (("src/launch/mpiexec/mpiexec", LAUNCHER), ("bench/message-rate", PROGRAM), ("bench/latency", PROGRAM),
                           ("bench/sync/sync_bench", PROGRAM.replace("libmpi_abi", "no_mpi")), ("bench/polling", PROGRAM),
                           ("bench/plain", PROGRAM), ("bench/deadlock", PROGRAM), ("bench/random", PROGRAM),
                           ("bench/alone", PROGRAM.replace("libmpi_abi", "no_mpi")), ("bench/other", "#!/bin/sh\n")):
            file = self.build / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text)
            file.chmod(0o755)

    def simulate(self, *args):
        """In this process, which is faster."""
        out, err = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            code = cli.main(["simulate", "--build", str(self.build), "--env", f"JOURNAL={self.journal}", *args])
        return code, out.getvalue(), err.getvalue()

    def journal_lines(self):
        return [json.loads(line) for line in self.journal.read_text().splitlines()]

    def test_a_program(self):
        code, out, err = self.simulate("message-rate", "--seconds", "0.01", "--ranks", "4", "--machine", "grace-72", "--seed", "9",
                                       "--limit", "2ms", "--env", "HEDDLE_X=1", "--threads", "2")
        self.assertEqual((code, err), (0, ""))
        self.assertRegex(out, r"message-rate on grace-72, seed 9; .* of virtual time; rate 2.50 M/s; 11 messages")
        self.assertRegex(out, r"locked instructions +44 +4\.00\n")  # two threads: 2 x 2 for each message
        self.assertRegex(out, r"misses from memory +30 +0\n")
        self.assertRegex(out, r"1 +4 +0\.364 +8")
        longer, shorter = sorted(self.journal_lines(), key=lambda started: len(started["args"]))
        self.assertEqual(longer["args"], ["--seconds", "0.01", "--threads", "2"])
        self.assertEqual(shorter["args"], [*longer["args"], "--seconds", "1e-9", "--samples", "1"])
        self.assertEqual([longer["env"][name] for name in ("RANKS", "HEDDLE_X")], ["4", "1"])
        self.assertLessEqual(longer["env"].keys(), {*run.FIXED, "JOURNAL", "HEDDLE_X", "RANKS", "LAUNCHED", "LAUNCHER", "HEDDLE_SIMULATION", "LD_LIBRARY_PATH",
                                                    "HWLOC_SYNTHETIC", "HEDDLE_BENCH_RUN", "LC_CTYPE"})
        self.assertEqual(longer["env"]["HWLOC_SYNTHETIC"], machines.load("grace-72").topology)
        self.assertNotEqual(longer["env"]["LAUNCHER"], longer["env"]["HEDDLE_SIMULATION"])
        self.assertEqual([longer["settings"][name] for name in ("seed", "limit", "cpus")], ["9", "2000000000", "72"])

    def test_without_messages_or_mpi(self):
        for name in ("plain", "alone"):
            self.journal.unlink(missing_ok=True)
            code, out, err = self.simulate(name, "--", "--seed", "x")
            self.assertEqual((code, err), (0, ""))
            self.assertEqual(self.journal_lines()[0]["args"][:2], ["--seed", "x"])
            self.assertEqual("RANKS" in self.journal_lines()[0]["env"], name == "plain")
            self.assertEqual("per message" in out, name == "alone")

    def test_benchmarks(self):
        code, out, err = self.simulate("bench", "message-rate", "latency", "--threads", "1,2", "--models", "auto,fine")
        self.assertEqual((code, err), (0, ""))
        self.assertEqual(len(out.splitlines()), 2 + 2 * 2 * 2)
        self.assertEqual(len(self.journal_lines()), 2 * 2 * 2 * 2)
        self.assertEqual({each["env"]["HEDDLE_MODEL"] for each in self.journal_lines()}, {"auto", "fine"})
        code, out, _ = self.simulate("bench", "latency", "--json")
        found = json.loads(out)
        self.assertEqual((found["machine"], found["seed"], len(found["runs"])), ("xeon-16", 1, 1))
        only = found["runs"][0]
        self.assertEqual([only["program"], only["value"], only["messages"], only["per_message"]["updates"]], ["latency", 2.5, 11, 4])
        self.assertEqual(only["lines"], [{"misses": 4, "object": "", "places": [
            {"kind": "updates", "offset": 8, "field": "", "misses": 4, "frames": []}]}])

    def test_a_figure_of_a_paper(self):
        code, out, err = self.simulate("paper", "dang-2017", "fig5", "--threads", "1,2", "--seconds", "0.001", "--out", str(self.folder / "out"))
        self.assertEqual(code, 0, err)
        self.assertRegex(out, r"ranks +threads +comm +size +heddle +heddle:p-clh\n +2 +1 +- +64 B +2.50 +2.50\n")
        self.assertRegex(out, r"message-rate +2 +64 +heddle:p-clh +18.0 +0 +18.0 +0 +0 +0\n")  # two threads, three kinds, three misses each
        started = self.journal_lines()
        self.assertEqual(len(started), 2 * 2 * 2)  # models, threads, and a short run of each
        self.assertEqual({(each["settings"]["cpus"], each["env"].get("HEDDLE_MODEL"), "HEDDLE_SIMULATED_PROCESSES" in each["env"])
                          for each in started}, {("72", "p-clh", True), ("72", None, True)})
        drawn = xml.parse(self.folder / "out" / "dang-2017-fig5.svg").getroot()
        self.assertIn("haswell-36x2", "".join(drawn.itertext()))
        stored = json.loads((self.folder / "out" / "dang-2017-fig5.json").read_text())
        self.assertEqual((stored["machine"]["simulated"], len(stored["cells"])), ("haswell-36x2", 2))
        code, out, _ = self.heddle("bench", "report", str(self.folder / "out" / "dang-2017-fig5.json"), "--markdown")
        self.assertIn("haswell-36x2, simulated", out)

    def test_runs_that_figures_have_in_common(self):
        common = {"env": {"JOURNAL": str(self.journal)}, "seed": 1, "limit": 10**12}
        simulation = papers.Simulation(self.build, common, threads=[2], models=["p-clh"])
        show = contextlib.contextmanager(lambda total: (yield lambda done, running: None))
        campaigns = [simulation.perform("dang-2017", figure, show) for figure in ("fig5", "fig2")]
        self.assertEqual([len(campaign.cells) for campaign in campaigns], [1, 2])
        self.assertEqual(len(self.journal_lines()), 2 + 1)  # the rate once, with a short run, and the latency

    def test_cores_and_caches_of_a_figure(self):
        self.assertEqual(self.simulate("paper", "dang-2017", "fig11", "--models", "mtx-ksc")[0], 0)
        self.assertEqual({each["env"]["LAUNCHED"] for each in self.journal_lines()},
                         {f"-cpu-set 0,{n} -bind-to core" for n in (1, 4, 8, 9, 17, 18, 35)})
        self.journal.unlink()
        self.assertEqual(self.simulate("paper", "trahay-2009", "fig8")[0], 0)
        self.assertTrue(all(each["args"][-2] == "--file" for each in self.journal_lines()))
        machines.load("x5460-4x2").write_caches(self.folder / "cpus")
        shared = [(self.folder / "cpus" / "cpu3" / "cache" / f"index{i}" / name).read_text().strip() for i in (0, 1)
                  for name in ("level", "shared_cpu_list")]
        self.assertEqual(shared, ["1", "3-3", "2", "2-3"])

    def test_locks(self):
        code, out, err = self.simulate("locks", "--threads", "2,4", "--only", "lock", "--machine", "haswell-32")
        self.assertEqual((code, err), (0, ""))
        self.assertRegex(out, r"On haswell-32, seed 1.*\n\n +2 +4\nlock/mcs +2.50 +2.50\nlock/clh +2.50 +2.50\n")
        self.assertEqual({tuple(each["args"][:3]) for each in self.journal_lines()},
                         {("--list", "--only=lock"), *((f"--exactly=lock/{name}", "--work=0", "--pinned") for name in ("mcs", "clh"))})
        self.assertEqual(len(json.loads(self.simulate("locks", "--json", "--machine", "x5460-4")[1])["rows"]), 2 * 3)

    def test_a_run_that_fails(self):
        code, out, err = self.simulate("deadlock", "--seed", "5")
        self.assertEqual(code, 1)
        self.assertIn("heddle: deadlock on xeon-16, seed 5: deadlock at 7 ns", err)

    def test_random_schedules(self):
        code, out, err = self.simulate("random", "--fuzz", "3", "--memory-model", "weak")
        self.assertEqual((code, err), (0, ""))
        self.assertIn("3 random schedules from seed 1 on, no run failed", out)
        self.assertEqual({(each["settings"]["fuzz"], each["settings"]["weak"]) for each in self.journal_lines()}, {("1", "1")})
        code, out, err = self.simulate("random", "--fuzz", "1000", "--seed", "5", "--shrink")
        self.assertEqual((code, err), (1, ""))
        self.assertIn("random on xeon-16, seed 7: deadlock", out)
        self.assertRegex(out, r"\d of 1000 schedules were run. Replay this one with --fuzz 1 --seed 7; it fails with 13 change points")

    def test_trace(self):
        file = self.folder / "trace.json"
        code, out, err = self.simulate("message-rate", "--trace", str(file), "--trace-from", "0.6ns", "--trace-for", "0.2ns")
        self.assertEqual((code, err), (0, ""))
        found = json.loads(file.read_text())
        self.assertEqual(found["otherData"], {"run": "message-rate", "machine": "xeon-16", "seed": 1})
        slices = [event for event in found["traceEvents"] if event["ph"] != "M"]
        self.assertEqual([(e["ph"], e["ts"], e["pid"], e["tid"], e["name"]) for e in slices],
                         [("B", 0.0006, 2, 1, "MPI_Send"), ("E", 0.0008, 2, 1, "MPI_Send")])
        settings = [each["settings"] for each in self.journal_lines()]
        self.assertEqual(sorted(each.get("trace", "0") for each in settings), ["0", "1"], "the shortest run has none")
        code, out, err = self.simulate("random", "--trace", str(file))
        self.assertEqual(code, 0)
        self.assertIn("it is full. Choose a shorter part with --trace-from and --trace-for", err)

    def test_ranks_that_stand_for_processes(self):
        for kind in ("threads", "processes"):
            self.simulate("message-rate", "--rank-kind", kind)
        self.assertEqual(["HEDDLE_SIMULATED_PROCESSES" in each["env"] for each in self.journal_lines()], [False, False, True, True])

    def test_bad_input(self):
        for args, word in (((), "simulate what"), (("nothing",), "no program"), (("other",), "not compiled for the simulator"),
                           (("plain", "--machine", "pdp-11"), "xeon-16"), (("plain", "--limit", "soon"), "--limit"),
                           (("plain", "--env", "X"), "NAME=VALUE"), (("bench",), "which benchmark"),
                           (("bench", "latency", "--frobnicate"), "--frobnicate"), (("bench", "startup"), "not simulated"),
                           (("plain", "--seed", "-1"), "--seed"), (("plain", "--rank-kind", "fibers"), "--rank-kind"),
                           (("plain", "--fuzz", "0"), "--fuzz"), (("plain", "--fuzz", "1", "--memory-model", "tso"), "--memory-model"),
                           (("bench", "latency", "--fuzz", "1"), "--fuzz"), (("paper", "dang-2017"), "PAPER FIGURE"),
                           (("paper", "dang-2017", "fig99"), "fig99"), (("paper", "knuth-1974", "all"), "knuth-1974"),
                           (("paper", "dang-2017", "fig1"), "not simulated: a drawing"), (("paper", "diaz-martin-2014", "all"), "no figure"),
                           (("paper", "dang-2017", "fig2", "--models", "x"), "--models"), (("paper", "all", "--sizes", "8"), "--sizes"),
                           (("paper", "all", "--fuzz", "1"), "--fuzz"), (("paper", "all", "--frobnicate"), "--frobnicate"),
                           (("paper", "dang-2017", "fig2", "--machine", "pdp-11"), "pdp-11"), (("locks", "--ranks", "2"), "--ranks"),
                           (("locks", "lock/mcs"), "lock/mcs"), (("locks", "--threads", "0"), "--threads"),
                           (("plain", "--trace-for", "1ms"), "--trace FILE"), (("plain", "--trace", "x", "--trace-from", "1"), "--trace-from"),
                           (("plain", "--trace", "x", "--fuzz", "1"), "--fuzz"), (("plain", "--trace", "/nowhere/x"), "cannot write"),
                           (("bench", "latency", "--threads", "1,2", "--trace", "x"), "one run")):
            with self.subTest(args=args):
                code, out, err = self.simulate(*args)
                self.assertEqual((code, out), (2, ""))
                self.assertIn(word, err)
                self.assertEqual(len(err.splitlines()), 1)
        code, _, err = self.heddle("simulate", "plain", "--build", str(self.folder))
        self.assertEqual(code, 2)
        self.assertIn("cmake --preset simulate", err)

    def test_list(self):
        code, out, _ = self.heddle("simulate", "machines")
        self.assertEqual(code, 0)
        self.assertRegex(out, r"xeon-16 +16 +3\.1 +the 16-core")


class Validation(unittest.TestCase):
    def cells(self, pairs):
        return [validate.Cell("g", str(i), 1, measured, simulated) for i, (measured, simulated) in enumerate(pairs)]

    def test_statistics(self):
        self.assertEqual(validate.ranks([3, 1, 3, 2]), [3.5, 1, 3.5, 2])
        self.assertAlmostEqual(validate.spearman([(1, 10), (2, 20), (5, 21)]), 1)
        self.assertAlmostEqual(validate.spearman([(1, 9), (2, 8), (5, 7)]), -1)
        self.assertIsNone(validate.spearman([(1, 9), (2, 8)]))
        self.assertAlmostEqual(validate.error(self.cells([(10, 15), (10, 9), (10, 10), (1, None)])), 0.1)

    def test_tables(self):
        cells = self.cells([(10, 15), (10, 0.1), (10, 12), (1, None)])
        self.assertEqual(validate.summary(cells)[1][0][:4], ["all", "all", "4", "1"])
        self.assertEqual([row[1] for row in validate.worst(cells)[1]], ["1", "0", "2"])
        self.assertEqual(validate.scatter(cells, "t").count("<circle"), 3)

    def test_the_table_of_16_cores(self):
        cells = {cell.key: cell.measured for cell in validate.ManyCores().measure(None)}
        self.assertEqual(len(cells), 20 * 4 + 4)
        self.assertEqual(cells["message-rate", "auto", 8], 4.04)
        self.assertEqual(cells["message-rate of ranks", "auto, 16 ranks", 1], 72.4)


class AddressOfASource(Case):
    def test_addr2line(self):
        tree = self.folder / "tree"
        (tree / "src").mkdir(parents=True)
        build = tree / "build" / "simulate"
        build.mkdir(parents=True)
        text = "int value;\nstatic inline int twice(void) { return 2 * value; }\nint main(void) { return twice(); }\n"
        (tree / "src" / "x.c").write_text(text)
        program = build / "x"
        subprocess.run(["cc", "-g", "-O1", "-no-pie", str(tree / "src" / "x.c"), "-o", str(program)], check=True)
        symbols = subprocess.run(["nm", str(program)], capture_output=True, text=True, check=True).stdout
        main = int(re.search(r"^([0-9a-f]+) T main$", symbols, re.MULTILINE)[1], 16)
        found = lines.Symbols(build, program).resolve({("/proc/thread-self/fd/7", main + 1), ("/nowhere", 3), ("", 0)})
        self.assertEqual(found["/nowhere", 3], ())
        self.assertEqual(found["", 0], ())
        self.assertIn(" < ".join(map(str, found["/proc/thread-self/fd/7", main + 1])), ("twice x.c:2 < main x.c:3", "main x.c:3"))


if __name__ == "__main__":
    unittest.main()

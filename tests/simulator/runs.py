"""Programs in the simulator: runs are a function of their seed, and random schedules find defects that are put in on purpose.

Usage: runs.py FOLDER of the programs.
"""
from __future__ import annotations

import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

TREE = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(TREE / "tools"))

from heddle_tool.simulate import dwarf, lines, trace  # noqa: E402

MACHINE = {
    "cpus": 8, "cpus_per_core": 1, "cpus_per_cluster": 4, "cpus_per_socket": 8,
    "latency_core": 2000, "latency_cluster": 50000, "latency_socket": 100000, "latency_machine": 200000, "latency_memory": 90000,
    "access": 200, "call": 300, "atomic": 5000, "fence": 5000, "pause": 10000, "copied_line": 5000, "tick": 400,
    "clock_read": 20000, "system_call": 150000, "yield": 300000, "broadcast": 3000000, "wake": 1000000, "wake_latency": 3000000,
    "switch_context": 1500000, "slice": 3000000000, "granularity": 1000000000, "thread_start": 20000000,
}  # fmt: skip
QUANTUM = 0.1  # microseconds by which a core may be ahead of another one
SECONDS = 60  # real ones, for one run
FEW, MANY = 60, 400  # seeds: for a program without a defect, and at most until a defect is found

programs = pathlib.Path()


class Run:
    def __init__(self, *command: str, **settings: object):
        with tempfile.TemporaryDirectory() as folder:
            report, file = pathlib.Path(folder, "report"), pathlib.Path(folder, "settings")
            values = MACHINE | {"report": report} | settings
            file.write_text("".join(f"{name} {value}\n" for name, value in values.items()))
            done = subprocess.run([programs / command[0], *command[1:]], env=os.environ | {"HEDDLE_SIMULATION": str(file)},
                                  capture_output=True, text=True, timeout=SECONDS, check=False)  # fmt: skip
            self.code, self.output, self.error = done.returncode, done.stdout, done.stderr
            self.report = json.loads(report.read_text()) if report.exists() else {}

    def outcome(self) -> tuple[int, str, dict]:
        """Without what depends on addresses, which differ from run to run."""
        of_addresses = ("address", "frames", "words")
        found = [line | {"sites": [{key: value for key, value in site.items() if key not in of_addresses} for site in line["sites"]]}
                 for line in self.report.get("lines", ())]  # fmt: skip
        return self.code, self.output, self.report | {"lines": found}


def fuzzed(seed: int, *command: str, **settings: object) -> Run:
    return Run(*command, fuzz=1, seed=seed, limit=10**14, **settings)


class VirtualTime(unittest.TestCase):
    def test_two_runs_are_the_same(self):
        self.assertEqual(Run("polling", "6", "300").outcome(), Run("polling", "6", "300").outcome())

    def test_more_threads_than_cores_poll_without_a_pause(self):
        self.assertEqual(Run("polling", "11", "20").code, 0)

    def test_libc_waits_in_virtual_time(self):
        run = Run("primitives")
        self.assertEqual((run.code, run.output), (0, ""))

    def test_misses_of_a_contended_lock(self):
        threads, rounds = 4, 500
        report = Run("polling", str(threads), str(rounds)).report
        misses = sum(sum(thread["missed_updates"].values()) for thread in report["threads"])
        self.assertGreater(misses, threads * rounds / 2, "most tickets come from another core")
        self.assertLess(misses, threads * rounds * 1.1)
        sites = {site["kind"] for line in report["lines"][:4] for site in line["sites"]}
        self.assertEqual(sites, {"reads", "writes", "updates"})

    @unittest.skipIf(dwarf.libdw() is None, "libdw is not installed")
    def test_lines_have_the_names_of_objects_and_fields(self):
        report = Run("fields").report
        found = lines.shared_lines(report, lines.Symbols(TREE / "build" / "release", programs / "fields"), 4)
        names = {(line.object, place.field) for line in found for place in line.places if place.misses > 10}
        for name in (("Service", "queues_[1].lock.word"), ("Service", "queues_[1].items[8]"), ("totals", "[2].hits"), ("local of main", "second")):
            self.assertIn(name, names)

    def test_one_thread_misses_no_line_of_another_core(self):
        report = Run("polling", "1", "500").report
        updates = report["threads"][1]["missed_updates"]
        self.assertLessEqual(sum(updates.values()), 2)

    def test_time_does_not_go_back_between_more_threads_than_cores(self):
        self.assertEqual(Run("clock", "24", "200", slice=1_000_000, granularity=1_000_000, thread_start=1000).output, "")

    def test_a_deadlock_is_named(self):
        runs = (fuzzed(seed, "lock_order", "crossed") for seed in range(MANY))
        run = next(run for run in runs if run.code != 0)
        self.assertEqual(run.code, 70)
        self.assertIn("deadlock", run.error)
        self.assertIn("pthread_mutex_lock", run.error)
        self.assertIn("lock_order", run.error, "the functions in which they wait")

    def test_settings_that_are_wrong(self):
        self.assertIn("unknown name: cpu", Run("polling", "1", "1", cpu=1).error)


class Traces(unittest.TestCase):
    rounds = 200

    def traced(self, **settings: object) -> tuple[Run, list[dict]]:
        run = Run("calls", str(self.rounds), trace=1, **settings)
        self.assertEqual(run.code, 0, run.error)
        return run, trace.convert(run.report, lines.Symbols(TREE / "build" / "release", programs / "calls"))

    def slices(self, events: list[dict]) -> list[tuple[str, str, float, float, int]]:
        """Category, name, begin, end and thread. Those of a track are nested."""
        found, opened, now = [], {}, 0.0
        for event in events:
            self.assertGreaterEqual(event.get("ts", now), now)
            now = event.get("ts", now)
            track = opened.setdefault((event["pid"], event.get("tid")), [])
            if event["ph"] == "B":
                track.append(event)
            elif event["ph"] == "E":
                begin = track.pop()
                self.assertEqual((begin["cat"], begin["name"]), (event["cat"], event["name"]))
                found.append((begin["cat"], begin["name"], begin["ts"], event["ts"], event["tid"]))
        self.assertEqual([track for track in opened.values() if track], [])
        return found

    def test_the_same_seed_gives_the_same_trace(self):
        self.assertEqual(json.dumps(self.traced()[1]), json.dumps(self.traced()[1]))

    def test_a_run_is_the_same_without_a_trace(self):
        traced, plain = self.traced()[0].report, Run("calls", str(self.rounds)).report
        self.assertEqual([traced[key] for key in ("virtual_ns", "threads")], [plain[key] for key in ("virtual_ns", "threads")])

    def test_what_a_trace_has(self):
        _, events = self.traced()
        found = self.slices(events)
        calls = [each for each in found if each[0] == "call"]
        self.assertEqual({name for _, name, *_ in calls}, {"MPI_Count"})
        self.assertEqual(len(calls), 2 * self.rounds)
        self.assertIn("sleeps in nanosleep", {name for _, name, *_ in found})
        self.assertIn("sleeps in pthread_mutex_lock", {name for _, name, *_ in found})
        lines_moved = [event for event in events if event.get("cat") == "line" and event["ph"] != "E"]
        self.assertGreater(len(lines_moved), self.rounds / 4)
        self.assertEqual([event for event in lines_moved if event["args"]["from"] == f"core {event['pid']}" and event["args"]["access"] == "read"], [])

    def test_one_thread_holds_a_lock(self):
        found = self.slices(self.traced()[1])
        holds = [each for each in found if each[0] == "lock"]
        names = {name for _, name, *_ in holds}
        self.assertEqual(len(names), 2, names)
        self.assertIn("holds mutex", names)
        for name in names:
            intervals = sorted(each[2:] for each in holds if each[1] == name)
            self.assertEqual(len(intervals), 2 if name == "holds mutex" else 2 * self.rounds)
            for (_, end, _), (begin, _, _) in zip(intervals, intervals[1:]):
                self.assertLessEqual(end, begin + QUANTUM, name)
        if dwarf.libdw():
            self.assertIn("holds lock word_", names)

    def test_a_part_of_a_run(self):
        begin, end = 10_025_000_000, 10_030_000_000  # the second thread begins before
        found = self.slices(self.traced(trace_from=begin, trace_until=end)[1])
        self.assertGreater(len(found), 10)
        self.assertGreaterEqual(min(each[2] for each in found), begin / 1e6)
        self.assertLessEqual(max(each[3] for each in found), end / 1e6)


class RandomSchedules(unittest.TestCase):
    def finds(self, *defective: str, correct: tuple[str, ...], **settings: object):
        for seed in range(FEW):
            run = fuzzed(seed, *correct, **settings)
            self.assertEqual(run.code, 0, f"seed {seed}: {run.error}")
        seed = next((seed for seed in range(MANY) if fuzzed(seed, *defective, **settings).code != 0), None)
        self.assertIsNotNone(seed, f"no seed below {MANY} finds the defect")
        first, again = (fuzzed(seed, *defective, **settings) for _ in range(2))
        self.assertEqual(first.outcome(), again.outcome(), f"seed {seed} is replayed")

    def test_stores_pass_loads(self):
        self.finds("store_buffer", "open", correct=("store_buffer", "fenced"))

    def test_updates_are_torn(self):
        self.finds("lost_update", "torn", correct=("lost_update", "whole"))

    def test_a_wake_up_is_lost(self):
        self.finds("wake_up", "lost", correct=("wake_up", "kept"))

    def test_locks_are_taken_crosswise(self):
        self.finds("lock_order", "crossed", correct=("lock_order", "alike"))

    def test_stores_pass_stores_on_a_weak_machine(self):
        self.finds("message", "relaxed", correct=("message", "released"), weak=1)

    def test_stores_stay_in_order_on_a_strong_machine(self):
        for seed in range(FEW):
            self.assertEqual(fuzzed(seed, "message", "relaxed").code, 0, f"seed {seed}")

    def test_time_does_not_go_back(self):
        for seed in range(FEW):
            self.assertEqual(fuzzed(seed, "clock", "4", "10").output, "", f"seed {seed}")

    def test_a_lock_is_correct(self):
        for seed in range(FEW):
            run = fuzzed(seed, "polling", "4", "20")
            self.assertEqual(run.code, 0, f"seed {seed}: {run.error}")


if __name__ == "__main__":
    programs = pathlib.Path(sys.argv.pop(1))
    unittest.main()

"""A run as a trace in the format of Chrome and Perfetto: for each core the threads that ran there, with their MPI calls, the locks that they
held, the lines that they took from other cores, and their waits.

The report (src/simulator/trace.hpp) has no locks but the mutexes of libc. Others are found by names: a thread holds a lock from the last atomic
operation in a function such as `lock` or `try_lock` to the first one in `unlock` of the same class.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from .lines import Frame, Line, Symbols, lines_of

MICROSECOND = 10**6  # in picoseconds, the unit of the report
END, MOVE, BEGIN = range(3)  # of slices, in this order at one time; of a thread to another core
# The class is not known if it is in an anonymous namespace.
ACQUIRES, RELEASES = re.compile(r"(?:^|(\w+)::)(?:try_)?lock(?:_\w+)?$"), re.compile(r"(?:^|(\w+)::)unlock(?:_\w+)?$")


class Event(NamedTuple):
    """One of the report. `line` and `offset` identify a byte of memory."""

    kind: str
    thread: int
    cpu: int
    start: int
    end: int
    name: str
    access: str
    giver: int
    line: int
    offset: int
    file: int
    at: int


@dataclass(eq=False)
class Slice:
    """A period of a thread in which it did one thing."""

    kind: str
    start: int
    end: int
    name: str
    args: dict = field(default_factory=dict)


class Names:
    """Names of functions, lines and locks."""

    def __init__(self, report: dict, events: list[Event], symbols: Symbols):
        self.files = report["files"]
        self.roles: dict[tuple[int, int], tuple[str, str]] = {}
        used = {e.line for e in events if e.kind == "line"}
        entries = [entry for entry in report["lines"] if entry["line"] in used]
        of_lines = {(self.files[file], at) for entry in entries for file, at in (site["place"] for site in entry["sites"])}
        self.frames = symbols.chains({(self.files[e.file], e.at) for e in events if e.at} | of_lines)
        self.lines: dict[int, Line] = lines_of(report, symbols, entries)

    def chain(self, event: Event) -> list[Frame]:
        return self.frames.get((self.files[event.file], event.at), [])

    def field(self, event: Event) -> str:
        """Object and field at the byte; empty: not known."""
        line = self.lines.get(event.line)
        named = [place.field for place in line.places if place.offset == event.offset and place.field] if line else []
        return f"{line.object} {named[0]}".strip() if named else ""

    def role(self, event: Event) -> tuple[str, str]:
        """The part of the operation for a lock (acquires, releases, or none), and the class of the lock."""
        if event.kind in ("lock", "unlock"):
            return "acquires" if event.kind == "lock" else "releases", "mutex"
        if event.kind != "atomic":
            return "", ""
        if (event.file, event.at) not in self.roles:
            self.roles[event.file, event.at] = role(self.chain(event))
        return self.roles[event.file, event.at]


def role(frames: list[Frame]) -> tuple[str, str]:
    for frame in frames:
        if frame.file.startswith("/"):
            continue  # a wrapper of the standard library
        for found, names in (("acquires", ACQUIRES), ("releases", RELEASES)):
            if match := names.search(frame.function):
                return found, match[1] or "lock"
    return "", ""


@dataclass(eq=False)
class Lock:
    """One that a thread may hold."""

    kind: str
    first: Event  # of the operations that acquired it
    since: int
    lines: set[int]  # that they were on


def holds(events: list[Event], names: Names) -> Iterator[Slice]:
    """The locks that a thread held; its events in their order."""
    pending: list[Lock] = []
    before = "", ""
    for event in events:
        if event.kind not in ("atomic", "lock", "unlock"):
            continue
        now, kind = names.role(event)
        same = [lock for lock in pending if lock.kind == kind and event.line in lock.lines]
        if now == "acquires":
            # Operations one after the other are of one lock; if they are not, those on its line are.
            lock = pending[-1] if before == (now, kind) and pending else same[-1] if same else Lock(kind, event, 0, set())
            lock.since = event.end
            lock.lines.add(event.line)
            pending = [other for other in pending if other is not lock] + [lock]
        elif now == "releases" and same:
            pending.remove(same[-1])
            yield Slice("lock", same[-1].since, event.end, "holds " + (names.field(same[-1].first) or kind), {"class": kind, "line": same[-1].first.line})
        before = now, kind


def slices(events: list[Event], names: Names) -> Iterator[Slice]:
    """All that a thread did."""
    yield from holds(events, names)
    for e in events:
        if e.kind == "call":
            yield Slice("call", e.start, e.end, e.name)
        elif e.kind == "sleep":
            yield Slice("sleep", e.start, e.end, f"sleeps in {e.name}")
        elif e.kind == "ready":
            yield Slice("ready", e.start, e.end, "waits for a core")
        elif e.kind == "line":
            own = [frame for frame in names.chain(e) if not frame.file.startswith("/")]
            args = {"line": e.line, "byte": e.offset, "from": f"core {e.giver}", "access": e.access.removesuffix("s"), "ns": (e.end - e.start) / 1000,
                    "place": str(own[0]) if own else "" if e.at else "prefetched"}
            # The core does not wait for a store, or a line that it prefetches.
            waits = e.access != "writes" and e.at != 0
            yield Slice("line" if waits else "instant", e.start, e.end, names.field(e) or f"line {e.line}", args)


def moves(events: list[Event]) -> list[tuple[int, int]]:
    """When a thread began to run on which core. It changes the core only while it does not run."""
    found = [(0, events[0].cpu)] if events else []
    for before, after in zip(events, events[1:]):
        if before.kind in ("sleep", "ready") and after.cpu != found[-1][1]:
            found.append((before.end, after.cpu))
    return found


def on_tracks(done: Iterable[Slice], places: list[tuple[int, int]], thread: int, begin: int, end: int) -> Iterator[dict]:
    """The slices of a thread as events of the trace. Those of a track are nested: a slice that ends while one that began later goes on
    interrupts it, and so does a change of the core."""
    ordered = sorted((s for s in done if s.end > begin and s.start < end), key=lambda s: (s.start, -s.end))
    waits = [s for s in ordered if s.kind != "instant"]
    for one, following in zip(waits, waits[1:]):
        if one.kind == "line":  # of a copy, whose next lines come at the same time
            one.end = min(one.end, max(following.start, one.start))
    # Time, kind of step, order among those: what began last ends first.
    steps = [(max(s.start, begin), BEGIN, number, s) for number, s in enumerate(ordered) if s.kind == "instant"]
    for number, s in enumerate(waits):
        if min(s.end, end) > max(s.start, begin):
            steps += [(max(s.start, begin), BEGIN, number, s), (min(s.end, end), END, -number, s)]
    steps += [(time, MOVE, 0, cpu) for time, cpu in places[1:] if begin < time < end]
    steps.sort(key=lambda step: step[:3])
    cpu = next((cpu for time, cpu in reversed(places) if time <= begin), places[0][1])
    opened: list[Slice] = []

    def event(kind: str, time: int, of: Slice) -> dict:
        found = {"ph": kind, "ts": time / MICROSECOND, "pid": cpu, "tid": thread, "cat": of.kind.replace("instant", "line"), "name": of.name}
        return found if kind == "E" else found | {"args": of.args}

    for time, step, _, what in steps:
        if step == BEGIN and what.kind == "instant":
            yield event("i", time, what) | {"s": "t"}
        elif step == BEGIN:
            opened.append(what)
            yield event("B", time, what)
        else:
            first = opened.index(what) if step == END else 0
            yield from (event("E", time, s) for s in reversed(opened[first:]))
            if step == END:
                opened.remove(what)
            else:
                cpu = what
            yield from (event("B", time, s) for s in opened[first:])


def convert(report: dict, symbols: Symbols) -> list[dict]:
    """The events of the trace."""
    trace = report["trace"]
    events = [Event._make(entry) for entry in trace["events"]]
    names = Names(report, events, symbols)
    of_thread: dict[int, list[Event]] = {}
    for event in events:
        of_thread.setdefault(event.thread, []).append(event)
    end = min(trace["until"], max((event.end for event in events), default=0))
    found = []
    for thread, its in sorted(of_thread.items()):
        found += on_tracks(slices(its, names), moves(its), thread, trace["from"], end)
    found.sort(key=lambda event: event["ts"])
    tracks = sorted({(event["pid"], event["tid"]) for event in found})
    named = [{"ph": "M", "pid": cpu, "name": "process_name", "args": {"name": f"core {cpu}"}} for cpu in sorted({cpu for cpu, _ in tracks})]
    named += [{"ph": "M", "pid": cpu, "tid": thread, "name": "thread_name", "args": {"name": f"thread {thread}"}} for cpu, thread in tracks]
    return named + found

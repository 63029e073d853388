"""`heddle simulate PROGRAM | bench NAME... | paper PAPER FIGURE | locks | machines | costs`: runs in virtual time, and tables of them."""

import argparse
import contextlib
import json
import re
import sys
from dataclasses import dataclass, replace
from pathlib import Path

from .. import places
from ..bench import commands as bench
from ..bench import table
from ..bench.campaign import commit
from ..bench.progress import Progress, clock
from ..bench.stats import number
from ..bench.suite import Point, benchmark, human_size, points
from ..errors import BadInput
from . import costs, counts, dwarf, fuzz, lines, locks, machines, papers, run, trace

DEFAULT_MACHINE = "xeon-16"
SECONDS = 0.002  # of virtual time: the measured part of a benchmark program
PLACES = 6  # of a line, in the table
START = ("--seconds", "1e-9", "--samples", "1")  # of a program of bench/: as few messages as it can send
SAMPLES = 3  # so that a run has more messages than that, however slow they are


def options() -> argparse.ArgumentParser:
    """The options of every run."""
    p = argparse.ArgumentParser(add_help=False, allow_abbrev=False, argument_default=argparse.SUPPRESS)
    p.add_argument("--machine", metavar="M", help=f"a file of machines/ without its ending, or a path (default {DEFAULT_MACHINE})")
    p.add_argument("--ranks", metavar="R", help="ranks (default 2; with bench: a list)")
    p.add_argument("--rank-kind", metavar="KIND", help="threads of one process (default), or processes: the ranks are threads here, too, but "
                   "take the ways between processes")
    p.add_argument("--models", metavar="a,b", help="safety models (HEDDLE_MODEL), each in a run of its own")
    p.add_argument("--seed", metavar="N", help="of the run (default 1); the same seed gives the same run")
    p.add_argument("--fuzz", metavar="N", help="instead of virtual time, up to N random schedules with the seeds from --seed on, until a "
                   "run fails")
    p.add_argument("--memory-model", metavar="MODEL", help="with --fuzz: strong (default), or weak: stores leave a core in any order, "
                   "as on Arm")
    p.add_argument("--shrink", action="store_true", help="with --fuzz: look for the fewest change points with which the run fails")
    p.add_argument("--limit", metavar="TIME", help="virtual time after which a run is ended, such as 50ms (default 1s; with --fuzz 100s)")
    p.add_argument("--env", metavar="NAME=VALUE", action="append", help="a variable of the program's environment")
    p.add_argument("--build", metavar="DIR", help="where the programs are that were compiled for the simulator (default build/simulate)")
    p.add_argument("--top", metavar="N", help="written lines to show (default 10, with several runs none)")
    p.add_argument("--json", action="store_true", help="print JSON instead of tables")
    p.add_argument("--trace", metavar="FILE", help="write MPI calls, locks, lines and waits of each core in virtual time, for Perfetto or Chrome")
    p.add_argument("--trace-from", metavar="TIME", help="begin of the trace in virtual time, such as 15ms (default 0)")
    p.add_argument("--trace-for", metavar="TIME", help="length of the trace, such as 200us (default: until the end)")
    return p


def programs_options() -> argparse.ArgumentParser:
    """The options of programs of bench/; with another program they are its own."""
    p = argparse.ArgumentParser(add_help=False, allow_abbrev=False, argument_default=argparse.SUPPRESS)
    p.add_argument("--threads", metavar="T", help="passed to the program as its option (with bench: a list)")
    p.add_argument("--sizes", metavar="8,64k", help="with bench: message sizes")
    p.add_argument("--comm", metavar="shared,each", help="with bench: one communicator for all threads, or one each")
    p.add_argument("--seconds", metavar="S", help=f"with bench: measured part of a run in virtual time (default {SECONDS:g})")
    return p


def register(sub):
    p = sub.add_parser("simulate", help="run a program in virtual time on a machine that need not exist",
                       parents=[options(), programs_options()], allow_abbrev=False)
    p.add_argument("words", nargs=argparse.REMAINDER, metavar="PROGRAM [ARGS]",
                   help="a path, or the name of a program in the build folder; `bench NAME...` for programs of bench/; `paper PAPER FIGURE` for a "
                   "figure of a paper, `paper all` for every one; `locks`; `machines` to list them; `costs` for the counts that ./dev count "
                   "checks. Options may follow; what is no option of this command, or is behind --, is passed to the program")
    p.set_defaults(perform=perform)
    return p


@dataclass(frozen=True)
class Case:
    """A job, its name in tables, and the same job as short as possible (none: its messages are not counted)."""

    job: run.Job
    name: str
    model: str = ""
    point: Point | None = None
    start: run.Job | None = None

    def describe(self) -> str:
        return (self.point.describe() if self.point else self.name) + (f", {self.model}" if self.model else "")


def perform(args) -> int:
    words, behind = list(args.words), []
    if "--" in words:
        at = words.index("--")
        words, behind = words[:at], words[at + 1:]
    if not words:
        raise BadInput("simulate what? A program that was compiled for the simulator, `bench NAME...`, `paper PAPER FIGURE`, `locks`, "
                       "`machines` or `costs`")
    own = {"bench": [programs_options()], "paper": [programs_options(), papers.options()], "locks": [programs_options(), locks.options()]}
    args, more = parser([options(), *own.get(words[0], [])]).parse_known_args(words[1:], args)
    if words[0] == "machines":
        return show_machines()
    if words[0] == "costs":
        return show_costs(args, record="--record" in more)
    if words[0] in own and hasattr(args, "fuzz"):
        raise BadInput(f"--fuzz takes a program, not {words[0]}")
    if hasattr(args, "trace") and (hasattr(args, "fuzz") or words[0] in ("paper", "locks")):
        raise BadInput("--trace takes one run in virtual time: leave --fuzz out, and name a program or `bench NAME`")
    if words[0] in ("paper", "locks"):
        return (papers if words[0] == "paper" else locks).perform(args, more + behind, common(args, "20s"), shown)
    cases = bench_cases(args, more + behind) if words[0] == "bench" else program_cases(args, words[0], more + behind)
    if hasattr(args, "trace") and len(cases) != 1:
        raise BadInput(f"--trace takes one run, not {len(cases)}: choose one model, and one number of ranks, threads and bytes")
    build = run.build_folder(getattr(args, "build", None))
    run.fix_addresses(bench.tell)
    return fuzz_all(args, cases, build) if hasattr(args, "fuzz") else simulate(args, cases, build)


def show_costs(args, record: bool) -> int:
    """The counts beside those of the page; 1 if one has grown. They are written to the page if asked for."""
    page = (places.source_tree() or Path()) / "docs" / "results" / "simulated-costs.md"
    build = run.build_folder(getattr(args, "build", None))
    run.fix_addresses(bench.tell)
    with shown(costs.runs()) as show:
        counted = costs.count_all(build, show)
    before = costs.recorded(page)
    print(table.text(*costs.rows(counted, before)))
    if record:
        page.write_text(costs.page(counted))
        return 0
    grown = costs.grown(counted, before)
    for line in grown:
        bench.tell(line)
    return 1 if grown else 0


def parser(parents: list[argparse.ArgumentParser]) -> argparse.ArgumentParser:
    def refuse(message: str):
        raise BadInput(message)

    p = argparse.ArgumentParser(add_help=False, allow_abbrev=False, argument_default=argparse.SUPPRESS, parents=parents)
    p.error = refuse
    return p


def show_machines() -> int:
    found = [machines.load(name) for name in machines.names()]
    print(table.text(["machine", "cores", "GHz", ""],
                     [[m.name, str(m.counts["cpus"] // m.counts["cpus_per_core"]), f"{m.frequency:g}", m.about] for m in found], left=(0, 3)))
    return 0


# ---- what to run

def virtual_time(text: str, option: str) -> int:
    match = re.fullmatch(r"([0-9.]+)(ns|us|ms|s)", text)
    try:
        return round(float(match[1]) * machines.PICOSECONDS[match[2]])
    except (TypeError, ValueError):
        raise BadInput(f"{option} takes a time such as 50ms, not {text!r}") from None


def trace_settings(args) -> dict[str, int]:
    """Settings of the simulator; none without a trace."""
    if not hasattr(args, "trace"):
        if option := next((name for name in ("trace_from", "trace_for") if hasattr(args, name)), None):
            raise BadInput(f"--{option.replace('_', '-')} needs --trace FILE")
        return {}
    begin = virtual_time(getattr(args, "trace_from", "0ns"), "--trace-from")
    if not hasattr(args, "trace_for"):
        return {"trace": 1, "trace_from": begin}
    return {"trace": 1, "trace_from": begin, "trace_until": begin + virtual_time(args.trace_for, "--trace-for")}


def common(args, limit: str = "1s") -> dict:
    """The settings that all jobs of a command have in common."""
    env = {}
    for text in getattr(args, "env", []):
        name, sign, value = text.partition("=")
        if not sign or not name:
            raise BadInput(f"--env takes NAME=VALUE, not {text!r}")
        env[name] = value
    kind = getattr(args, "rank_kind", "threads")
    if kind not in ("threads", "processes"):
        raise BadInput(f"--rank-kind takes threads or processes, not {kind!r}")
    if kind == "processes":
        env["HEDDLE_SIMULATED_PROCESSES"] = "1"
    return {"machine": machines.load(getattr(args, "machine", DEFAULT_MACHINE)), "env": env,
            "seed": bench.numbers(getattr(args, "seed", "1"), "--seed", 0, 2**63)[0],
            "limit": virtual_time(getattr(args, "limit", limit), "--limit"), "settings": trace_settings(args)}


def models(args) -> list[str]:
    return bench.words(args.models, "--models", bench.mpis.MODELS) if hasattr(args, "models") else [""]


def with_model(shared: dict, model: str) -> dict:
    return shared | {"env": shared["env"] | ({"HEDDLE_MODEL": model} if model else {})}


def start_of(job: run.Job) -> run.Job:
    return replace(job.with_args(*START), settings={})


def program_cases(args, name: str, given: list[str]) -> list[Case]:
    for option in ("threads", "sizes", "comm", "seconds"):
        if hasattr(args, option):  # before the program's name
            given = [*given, f"--{option}", getattr(args, option)]
    program = run.find_program(name, run.build_folder(getattr(args, "build", None)))
    ranks = bench.numbers(getattr(args, "ranks", "2"), "--ranks", 1, 4096)[0]
    shared = common(args)
    cases = []
    for model in models(args):
        job = run.Job(program, tuple(given), ranks=ranks, **with_model(shared, model))
        counted = program.parent.name == "bench"
        cases.append(Case(job, program.name, model, start=start_of(job) if counted else None))
    return cases


def bench_cases(args, names: list[str]) -> list[Case]:
    if not names:
        raise BadInput("simulate which benchmark? `heddle bench list` names them")
    if options_given := [name for name in names if name.startswith("-")]:
        raise BadInput(f"unrecognized arguments: {' '.join(options_given)}")
    build = run.build_folder(getattr(args, "build", None))
    lists = {what: bench.numbers(getattr(args, what), f"--{what}", 1, 4096) if hasattr(args, what) else None for what in ("ranks", "threads")}
    sizes = bench.sizes(args.sizes) if hasattr(args, "sizes") else None
    comms = bench.words(args.comm, "--comm", ("shared", "each")) if hasattr(args, "comm") else None
    seconds = bench.positive(args.seconds, "--seconds") if hasattr(args, "seconds") else SECONDS
    shared = common(args)
    cases = []
    for chosen in (benchmark(name) for name in dict.fromkeys(names)):
        if not chosen.seconds or chosen.source == "idle":
            raise BadInput(f"{chosen.name} measures the real machine and is not simulated")
        program = run.find_program(str(build / "bench" / chosen.source), build)
        for point in points(chosen, lists["ranks"], lists["threads"], sizes, comms):
            for model in models(args):
                job = run.Job(program, tuple(point.arguments(seconds, SAMPLES)), ranks=point.ranks, **with_model(shared, model))
                cases.append(Case(job, chosen.name, model, point, start_of(job)))
    return cases


# ---- runs and tables

@dataclass(frozen=True)
class Done:
    case: Case
    run: run.Outcome
    start: run.Outcome | None
    lines: list[lines.Line]

    def to_json(self) -> dict:
        found = {"program": self.case.name, "args": list(self.case.job.args), "ranks": self.case.job.ranks, "model": self.case.model,
                 "virtual_ns": self.run.report["virtual_ns"], "counts": counts.totals(self.run.report),
                 "messages": counts.messages(self.run), "per_message": counts.each(self.run, self.start)}
        found |= {key: self.run.result[key] for key in ("threads", "size", "metric", "unit", "value") if key in self.run.result}
        return found | {"lines": [{"misses": line.misses, "object": line.object, "places": [
            {"kind": p.kind, "offset": p.offset, "field": p.field, "misses": p.misses, "frames": [str(f) for f in p.frames]} for p in line.places]}
            for line in self.lines]}


def fuzz_all(args, cases: list[Case], build: Path) -> int:
    """Random schedules of each case until one fails."""
    count = bench.numbers(args.fuzz, "--fuzz", 1, 10**9)[0]
    memory = getattr(args, "memory_model", "strong")
    if memory not in ("strong", "weak"):
        raise BadInput(f"--memory-model takes strong or weak, not {memory!r}")
    for case in cases:
        job = case.job if hasattr(args, "limit") else replace(case.job, limit=fuzz.LIMIT)
        jobs = fuzz.schedules(job, count, memory == "weak")
        with shown(len(jobs)) as show:
            failed, ended = fuzz.first_failure(jobs, build, show)
            changes = None
            if failed and hasattr(args, "shrink"):
                failed, changes = fuzz.shrink(failed, build, show)
        if failed:
            print(lines.named(failed.why(), lines.Symbols(build, job.program)))
            print(f"{ended} of {count} schedules were run. Replay this one with --fuzz 1 --seed {failed.job.seed}" +
                  (f"; it fails with {changes} change points" if changes else ""))
            return 1
        print(f"{case.describe()}: {ended} random schedules from seed {job.seed} on, no run failed")
    return 0


def simulate(args, cases: list[Case], build: Path) -> int:
    jobs = [case.job for case in cases] + [case.start for case in cases if case.start]
    top = bench.numbers(args.top, "--top", 0, 400)[0] if hasattr(args, "top") else 10 if len(cases) == 1 else 0
    if top and dwarf.libdw() is None:
        bench.tell("libdw is not installed: objects and fields have no names. On Debian, apt-get install libdw1")
    with shown(len(jobs)) as show:
        outcomes = iter(run.perform(jobs, build, show=show))
    first = [next(outcomes) for _ in cases]
    starts = [next(outcomes) if case.start else None for case in cases]
    done = []
    for case, outcome, start in zip(cases, first, starts):
        if not outcome.ok:
            bench.tell(lines.named(outcome.why(), lines.Symbols(build, case.job.program)))
            continue
        symbols = lines.Symbols(build, case.job.program)
        shared = lines.shared_lines(outcome.report, symbols, top) if top else []
        if hasattr(args, "trace"):
            write_trace(args.trace, case, outcome, symbols)
        done.append(Done(case, outcome, start if start and start.ok else None, shared))
    if getattr(args, "json", False):
        print(json.dumps({"machine": cases[0].job.machine.name, "seed": cases[0].job.seed, "commit": commit(),
                          "runs": [one.to_json() for one in done]}, indent=1))
    else:
        print(report(done))
    return 0 if len(done) == len(cases) else 1


@contextlib.contextmanager
def shown(total: int):
    """A function for run.perform() that shows the progress on a terminal."""
    progress = Progress(total)

    def show(done: int, running: list[run.Running]) -> None:
        progress.done = done
        if running:
            progress.show(running[0].job.program.name, f"{clock(running[0].elapsed)} elapsed")

    try:
        yield show
    finally:
        progress.clear()


def write_trace(path: str, case: Case, outcome: run.Outcome, symbols: lines.Symbols) -> None:
    found = trace.convert(outcome.report, symbols)
    about = {"run": case.describe(), "machine": case.job.machine.name, "seed": case.job.seed}
    text = ",\n".join(json.dumps(event, separators=(",", ":")) for event in found)
    try:
        Path(path).write_text(f'{{"displayTimeUnit": "ns", "otherData": {json.dumps(about)}, "traceEvents": [\n{text}\n]}}\n')
    except OSError as error:
        raise BadInput(f"cannot write {path}: {error.strerror}") from None
    if outcome.report["trace"]["full"]:
        bench.tell(f"the trace ends at {outcome.report['trace']['until'] / machines.PICOSECONDS['ms']:.3f} ms, because it is full. "
                   "Choose a shorter part with --trace-from and --trace-for")


def report(done: list[Done]) -> str:
    if len(done) > 1:
        parts = [overview(done)]
    else:
        parts = [one_run(one) for one in done]
    for one in done:
        if one.lines:
            heading = "Lines that several cores use and at least one writes, most misses first. Bytes: their offsets in the line. r: read, " \
                      "w: write, u: locked instruction"
            messages = counts.messages(one.run)
            parts.append((f"{one.case.describe()}. " if len(done) > 1 else "") + heading + "\n" +
                         table.text(*lines.rows(one.lines, messages, PLACES), left=(4, 5) if messages else (3, 4)))
    return "\n\n".join(parts)


def header(one: Done) -> str:
    job = one.case.job
    words = [f"{one.case.describe()} on {job.machine.name}, seed {job.seed}", f"{number(one.run.report['virtual_ns'] / 1e6)} ms of virtual time"]
    if "value" in one.run.result:
        words.append(f"{one.run.result['metric']} {number(one.run.result['value'])} {one.run.result['unit']}")
    if counted := counts.messages(one.run):
        words.append(f"{counted:,} messages")
    return "; ".join(words)


def one_run(one: Done) -> str:
    output = "" if one.run.result else one.run.output.rstrip() + "\n\n" if one.run.output.strip() else ""
    return output + header(one) + "\n\n" + table.text(*counts.rows(one.run, one.start), left=(0,))


# In the table of several runs: what is counted for each message.
COLUMNS = {"misses": tuple(f"misses_{where}" for where in counts.DISTANCES if where != "memory"), "locked": ("updates",),
           "failed": ("failed_exchanges",), "sleeps": ("sleeps",), "switches": ("switches",), "yields": ("yields",), "pauses": ("pauses",)}


def overview(done: list[Done]) -> str:
    head = ["benchmark", "ranks", "threads", "size", "model", "value", "unit", *COLUMNS]
    body = []
    for one in done:
        result, per_message = one.run.result, counts.each(one.run, one.start)
        body.append([one.case.name, str(one.case.job.ranks), str(result.get("threads", "-")),
                     human_size(result["size"]) if "size" in result else "-", one.case.model or "-",
                     number(result.get("value")), result.get("unit", "-"),
                     *(counts.shown(sum(per_message[name] for name in names)) if per_message else "-" for names in COLUMNS.values())])
    job = done[0].case.job if done else None
    title = f"On {job.machine.name}, seed {job.seed}. Counts are per message; misses: lines that another core had\n" if job else ""
    return title + table.text(head, body, left=(0,))

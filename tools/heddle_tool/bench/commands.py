"""`heddle bench list | run | report`: arguments in, campaign out."""

import contextlib
import os
import shlex
import sys
import time
from dataclasses import replace
from pathlib import Path

from .. import places
from ..errors import BadInput
from . import breakdown, build, criteria, html, limits, mpis, nodes, table
from .campaign import Campaign, Plan, load
from .suite import BENCHMARKS, Point, benchmark, points


def tell(message: str) -> None:
    print(f"heddle: {message}", file=sys.stderr, flush=True)


def numbers(text: str, what: str, least: int = 1, most: int = 1 << 30) -> list[int]:
    try:
        found = [int(word) for word in text.split(",")]
    except ValueError:
        raise BadInput(f"{what} takes numbers like 1,2,8, not {text!r}") from None
    if any(not least <= n <= most for n in found):
        raise BadInput(f"{what} takes numbers from {least} to {most}, not {text!r}")
    return list(dict.fromkeys(found))


def sizes(text: str) -> list[int]:
    factor = {"k": 1 << 10, "m": 1 << 20}
    words = [w.strip().lower().removesuffix("ib").removesuffix("b") for w in text.split(",")]
    plain = [str(int(w[:-1]) * factor[w[-1]]) if w and w[-1] in factor and w[:-1].isdigit() else w for w in words]
    return numbers(",".join(plain), "--sizes", 1, 1 << 30)


def words(text: str, what: str, known: tuple[str, ...] | None = None) -> list[str]:
    found = [w for w in text.split(",") if w]
    for word in found:
        if known and word not in known:
            raise BadInput(f"{what} takes {', '.join(known)}, not {word!r}")
    if not found:
        raise BadInput(f"{what} is empty")
    return list(dict.fromkeys(found))


def settings(texts: list[str]) -> dict[str, dict[str, str]]:
    """VARIABLE=a,b: a candidate for each value, named by it."""
    found = {}
    for text in texts:
        variable, _, values = text.partition("=")
        if not variable.startswith("HEDDLE_") or not values:
            raise BadInput(f"--settings takes HEDDLE_VARIABLE=a,b, not {text!r}")
        for value in words(values, "--settings"):
            if value in found:
                raise BadInput(f"--settings has {value!r} twice")
            found[value] = {variable: value}
    return found


def positive(text: str, what: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = 0.0
    if not value > 0:
        raise BadInput(f"{what} takes a number of seconds above 0, not {text!r}")
    return value


def add_contest_options(p) -> None:
    """The common options of `run`, `criteria`, `paper` and `check`."""
    p.add_argument("--against", metavar="MPIS", help=f"reference MPIs to measure beside Heddle, of {', '.join(mpis.PEER_NAMES)}, "
                   "or none; installed from PyPI when missing")
    p.add_argument("--heddle", metavar="PREFIX", help="the Heddle to measure (default: the one this command belongs to)")
    p.add_argument("--no-heddle", action="store_true", help="measure the others only")
    p.add_argument("--mpi", metavar="NAME=PREFIX", action="append", default=[], help="another MPI, measured as a reference")
    p.add_argument("--repeats", default="5", metavar="N", help="runs of each candidate, interleaved (default 5)")
    p.add_argument("--seconds", metavar="S", help="measured part of one run (default: the benchmark's own)")
    p.add_argument("--limit", default="60", metavar="S", help="a run that takes this much longer is ended (default 60)")
    p.add_argument("--patience", default="3", metavar="N",
                   help="tries for a run that no other process on the machine disturbs (default 3)")
    p.add_argument("--lock", metavar="FILE", default=os.environ.get("HEDDLE_BENCH_LOCK"),
                   help="hold this lock file while measuring, some minutes at a time, for machines that are shared "
                   "(or HEDDLE_BENCH_LOCK)")
    p.add_argument("--out", metavar="DIR", help="folder for JSON and HTML")


def add_cluster_options(p) -> None:
    """The common options of `run` and `paper`."""
    p.add_argument("--cluster", metavar="N", help="on N nodes of a cluster in a box (./dev cluster), its network's limit beside")
    p.add_argument("--lln", metavar="NETWORK", help=f"between nodes, of {', '.join(nodes.LLNS)} (default {nodes.LLNS[0]})")
    p.add_argument("--launcher", metavar="NAME", help=f"of {', '.join(nodes.LAUNCHERS)} (default {nodes.LAUNCHERS[0]})")
    for condition, form, what in nodes.CONDITIONS:
        p.add_argument(f"--{condition}", metavar=form, help=f"of the cluster: {what}")


def register(sub):
    bench = sub.add_parser("bench", help="run benchmark programs on Heddle and on reference MPIs")
    parts = bench.add_subparsers(dest="part", metavar="PART", required=True, parser_class=type(bench))

    listing = parts.add_parser("list", help="what there is to measure")
    listing.set_defaults(perform=show_list)

    run = parts.add_parser("run", help="measure benchmarks, reference MPIs beside Heddle")
    run.add_argument("names", nargs="+", metavar="NAME")
    run.add_argument("--threads", metavar="1,2,8", help="threads of a rank")
    run.add_argument("--ranks", metavar="2,8")
    run.add_argument("--sizes", metavar="8,64k,1m")
    run.add_argument("--comm", metavar="shared,each", help="one communicator for all threads, or one each")
    run.add_argument("--models", metavar="a,b", help="safety models of Heddle to compare")
    run.add_argument("--all-models", action="store_true", help="all presets")
    run.add_argument("--settings", metavar="VAR=a,b", action="append", default=[],
                     help="values of a HEDDLE_ variable to compare with how Heddle comes")
    run.add_argument("--where", action="store_true",
                     help="also where Heddle's time goes, and what it counts: polls, entries, combined operations, wake-ups")
    run.add_argument("--rank-kind", default="processes", metavar="KINDS", help="processes, threads or both")
    run.add_argument("--thread-runtime", default="pthreads", metavar="NAMES",
                     help="whose threads a rank of Heddle has: pthreads, boost-fiber, argobots, qthreads (reference MPIs: pthreads)")
    run.add_argument("--ranks-per-node", metavar="R", help="ranks on each node")
    add_cluster_options(run)
    add_contest_options(run)
    run.set_defaults(perform=perform_run)

    promised = parts.add_parser("criteria", help="measure what the project promised: pass or missed, line by line")
    promised.add_argument("sheets", nargs="*", metavar="SHEET", help=f"of {', '.join(criteria.SHEETS)} (default: all)")
    promised.add_argument("--from", dest="file", metavar="JSON", help="judge a stored result instead of measuring")
    promised.add_argument("--markdown", action="store_true", help="print Markdown tables")
    add_contest_options(promised)
    promised.set_defaults(perform=perform_criteria, against=",".join(mpis.PEER_NAMES))

    report = parts.add_parser("report", help="make the HTML page of a JSON result again, and print its tables")
    report.add_argument("file", metavar="JSON")
    report.add_argument("--markdown", action="store_true", help="print Markdown tables")
    report.add_argument("--picture", metavar="SVG", help="write the first curves there")
    report.set_defaults(perform=perform_report)
    return parts


def find_candidates(args, models: list[str] = (), rank_kinds: list[str] = ("processes",),
                runtimes: list[str] = ("pthreads",), settings: dict[str, dict[str, str]] = {},
                bound: bool = False) -> list[mpis.Mpi]:
    found: list[mpis.Mpi] = []
    if not args.no_heddle:
        prefix = Path(args.heddle).expanduser().resolve() if args.heddle else None
        found += mpis.variants(mpis.heddle(prefix, tell), list(models), list(rank_kinds), list(runtimes), settings)
        if bound:
            found += mpis.bound(Path(args.bound).expanduser().resolve() if args.bound else None, runtimes[-1], tell)
    against = words(args.against, "--against", mpis.PEER_NAMES) if args.against and args.against != "none" else []
    found += [mpis.peer(name, tell) for name in against]
    found += [mpis.other(text) for text in args.mpi]
    if not found:
        raise BadInput("nothing to measure: --no-heddle needs --against or --mpi")
    labels = [m.label for m in found]
    if len(set(labels)) < len(labels):
        raise BadInput("two candidates have the same name")
    return found


def plan(args, wanted, found) -> Plan:
    return Plan(wanted, found, repeats=numbers(args.repeats, "--repeats", 1, 1000)[0],
                seconds=positive(args.seconds, "--seconds") if args.seconds else None,
                limit=positive(args.limit, "--limit"), patience=numbers(args.patience, "--patience", 1, 100)[0],
                lock=Path(args.lock) if args.lock else None)


def stem(args, name: str) -> Path:
    folder = Path(args.out) if args.out else places.results()
    return folder / f"{name}-{time.strftime('%Y%m%d-%H%M%S')}"


def command_line() -> str:
    return shlex.join(["heddle", *(a for a in sys.argv[1:])])


def perform_run(args) -> int:
    chosen = [benchmark(name) for name in dict.fromkeys(args.names)]
    ranks = numbers(args.ranks, "--ranks", 1, 4096) if args.ranks else None
    threads = numbers(args.threads, "--threads", 1, 1024) if args.threads else None
    size = sizes(args.sizes) if args.sizes else None
    comms = words(args.comm, "--comm", ("shared", "each")) if args.comm else None
    variables = breakdown.VARIABLES if args.where else ()
    where = chosen_nodes(args)
    ranks_of = {b: nodes.ranks_on(where, b, ranks, per_node(args)) if where else ranks for b in chosen}
    wanted = [replace(p, variables=variables) for b in chosen for p in points(b, ranks_of[b], threads, size, comms)]
    models = words(args.models, "--models") if args.models else list(mpis.MODELS) if args.all_models else []
    kinds = words(args.rank_kind, "--rank-kind", ("processes", "threads"))
    runtimes = words(args.thread_runtime, "--thread-runtime", ("pthreads", *build.RUNTIMES))
    if runtimes != ["pthreads"] and any(not b.threaded for b in chosen):
        raise BadInput("--thread-runtime is for benchmarks that take --threads")
    chosen_settings = settings(args.settings)
    plan(args, wanted, [])  # bad numbers are told before anything is installed
    found = find_candidates(args, models, kinds, runtimes, chosen_settings)
    file = stem(args, "run").with_suffix(".json")
    if where and kinds != ["processes"]:
        raise BadInput("--cluster starts ranks as processes; leave out --rank-kind")
    with placed(where, found, wanted) as candidates:
        return carry_out(Campaign(command_line(), plan(args, wanted, candidates), file, nodes=where.to_json() if where else {}))


@contextlib.contextmanager
def placed(where: nodes.Nodes | None, found: list[mpis.Mpi], wanted: list[Point]):
    """The candidates where they are to be measured; between nodes the limit of the network is one of them."""
    if not where:
        yield found
        return
    nodes.usable(where, found)
    with nodes.Cluster(where) as cluster:
        yield [nodes.OnNodes(m, cluster) for m in found] + limits.beside(cluster, wanted, tell)


def chosen_nodes(args) -> nodes.Nodes | None:
    """The cluster by --cluster and its companions."""
    conditions = {name: value for name, *_ in nodes.CONDITIONS if (value := getattr(args, name)) is not None}
    others = [f"--{name}" for name in ("ranks-per-node", "lln", "launcher") if getattr(args, name.replace("-", "_"), None)]
    if not args.cluster:
        if conditions or others:
            raise BadInput(f"{[*others, *(f'--{c}' for c in conditions)][0]} is of a cluster: say how many nodes with --cluster N")
        return None
    lln = words(args.lln or nodes.LLNS[0], "--lln", nodes.LLNS)
    launcher = words(args.launcher or nodes.LAUNCHERS[0], "--launcher", nodes.LAUNCHERS)
    if len(lln) > 1 or len(launcher) > 1:
        raise BadInput("--lln and --launcher take one name")
    return nodes.Nodes(numbers(args.cluster, "--cluster", 2, nodes.MOST)[0], lln[0], launcher[0], conditions)


def per_node(args) -> int | None:
    return numbers(args.ranks_per_node, "--ranks-per-node", 1, 1024)[0] if args.ranks_per_node else None


def carry_out(campaign: Campaign) -> int:
    campaign.perform(tell, announce(campaign))
    print()
    print(table.report(campaign))
    finish(campaign)
    return outcome(campaign)


def announce(campaign: Campaign):
    """Without a terminal for a progress bar, a line per cell."""
    if sys.stderr.isatty():
        return lambda cell: None
    return lambda cell: tell(f"{cell.point.describe()}: " + ", ".join(
        f"{label} {table.value(cell, label)}" for label in campaign.labels) + f" {cell.point.bench.unit}")


def finish(campaign: Campaign, verdict: str = "", heading: str = html.HEADING) -> None:
    if campaign.file and campaign.cells:
        page = campaign.file.with_suffix(".html")
        page.write_text(html.page(campaign, heading, verdict))
        print(f"\n{campaign.file}\n{page}")


def outcome(campaign: Campaign) -> int:
    if campaign.interrupted:
        return 130
    troubles = (cell.trouble(label) for cell in campaign.cells for label in campaign.ours)
    return 1 if any(trouble and trouble.status != "absent" for trouble in troubles) else 0


def perform_criteria(args) -> int:
    for name in args.sheets:
        if name not in criteria.SHEETS:
            raise BadInput(f"no sheet is called {name!r}; there are {', '.join(criteria.SHEETS)}")
    lines = criteria.chosen(args.sheets or list(criteria.SHEETS))
    if args.file:
        campaign = stored(Path(args.file))
    else:
        wanted = criteria.needed(lines)
        plan(args, wanted, [])
        campaign = Campaign(command_line(), replace(plan(args, wanted, find_candidates(args)), bases=criteria.bases(lines)),
                            stem(args, "criteria").with_suffix(".json"))
        campaign.perform(tell, announce(campaign))
    render = table.markdown if args.markdown else table.text
    verdicts = criteria.judge(campaign, lines)
    print(f"\n{table.report(campaign, render)}\n")
    print(render(criteria.HEAD, [list(v.line()) for v in verdicts]))
    finish(campaign, html.verdict_table(criteria.HEAD, [v.line() for v in verdicts]))
    if campaign.interrupted:
        return 130
    return 0 if all(v.word == "pass" for v in verdicts) else 1


def stored(file: Path) -> Campaign:
    try:
        return load(file)
    except (OSError, ValueError, KeyError, TypeError) as wrong:
        raise BadInput(f"{file} is no result of heddle bench: {wrong}") from None


def perform_report(args) -> int:
    file = Path(args.file)
    campaign = stored(file)
    print(table.report(campaign, table.markdown if args.markdown else table.text))
    if args.picture:
        drawn = html.picture(campaign)
        if not drawn:
            raise BadInput(f"{file} has nothing that was varied, so no curves")
        Path(args.picture).write_text(drawn + "\n")
        print(f"\n{args.picture}")
    page = file.with_suffix(".html")
    if os.access(page.parent, os.W_OK):
        page.write_text(html.page(campaign))
        print(f"\n{page}")
    return 0


def show_list(args) -> int:
    width = max(map(len, BENCHMARKS))
    for b in BENCHMARKS.values():
        takes = [f"ranks {','.join(map(str, b.ranks))}" + ("…" if b.any_ranks else "")]
        takes += ["threads", "comm"] if b.threaded else []
        takes += ["sizes"] if b.sizes else []
        print(f"{b.name:<{width}}  {b.summary} ({b.unit}; {', '.join(takes)})")
    print(f"\nreference MPIs: {', '.join(f'{name} ({p.title})' for name, p in mpis.PEERS.items())}\n"
          f"other settings of theirs: {', '.join(name for name in mpis.PEER_NAMES if ':' in name)}")
    return 0

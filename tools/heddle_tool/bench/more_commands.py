"""`heddle bench paper | sizes | presets | check | count | plot`."""

from pathlib import Path

from .. import places
from ..errors import BadInput
from . import check, curve, instructions, mpis, nodes, papers, presets, sizes, table
from .campaign import Campaign
from .commands import (add_cluster_options, add_contest_options, announce, chosen_nodes, command_line, find_candidates, finish, numbers, outcome,
                       placed, plan, stem, stored, tell, words)
from .commands import sizes as read_sizes
from .suite import benchmark


def register(parts) -> None:
    paper = parts.add_parser("paper", help="an experiment of one of the five papers, on this machine")
    paper.add_argument("paper", nargs="?", metavar="PAPER", help=f"of {', '.join(papers.PAPERS)}")
    paper.add_argument("figure", nargs="?", metavar="FIGURE", help="fig8, table1, …; without it they are listed")
    paper.add_argument("--bound", metavar="PREFIX", help="a Heddle with a thread runtime compiled in, for evans-2020 "
                       "(default: made by ./dev stage bound)")
    paper.add_argument("--markdown", action="store_true", help="print the list or the tables as Markdown")
    add_cluster_options(paper)
    add_contest_options(paper)
    paper.set_defaults(perform=perform_paper, against="mpich,impi,openmpi", repeats="3")

    sweep = parts.add_parser("sizes", help="patterns by size, ranks and kind of rank beside the reference MPIs: a map of ratios")
    sweep.add_argument("--patterns", metavar="a,b", help=f"of {', '.join(sizes.PATTERNS)} (default: all)")
    sweep.add_argument("--ranks", default=",".join(map(str, sizes.RANKS)), metavar="2,4,8")
    sweep.add_argument("--sizes", default=",".join(map(str, sizes.SIZES)), metavar="8,64k,4m")
    sweep.add_argument("--rank-kind", default="processes,threads", metavar="KINDS", help="processes, threads or both (default)")
    sweep.add_argument("--from", dest="file", metavar="JSON", help="show a stored result instead of measuring")
    sweep.add_argument("--markdown", action="store_true", help="print Markdown tables")
    sweep.add_argument("--picture", metavar="SVG", help="write the map of the first candidate there")
    add_contest_options(sweep)
    sweep.set_defaults(perform=perform_sizes, against="mpich,impi:stock,impi", seconds="0.05")

    everywhere = parts.add_parser("presets", help="the message rate between nodes under every safety model, over each network: a table")
    everywhere.add_argument("--cluster", default="2", metavar="N", help="on N nodes of a cluster in a box, a rank on each (default 2)")
    everywhere.add_argument("--cores", default="1", metavar="K", help="of each node, which are its own while there are enough (default 1)")
    everywhere.add_argument("--threads", default="8", metavar="1,8", help="threads of a rank (default 8)")
    everywhere.add_argument("--lln", default=",".join(nodes.LLNS), metavar="NETWORKS", help=f"of {', '.join(nodes.LLNS)} (default: all)")
    everywhere.add_argument("--launcher", default=nodes.LAUNCHERS[0], metavar="NAME", help=f"of {', '.join(nodes.LAUNCHERS)}")
    everywhere.add_argument("--from", dest="file", metavar="JSON", help="show a stored result instead of measuring")
    everywhere.add_argument("--record", action="store_true", help=f"write {presets.PAGE}")
    add_contest_options(everywhere)
    everywhere.set_defaults(perform=perform_presets, repeats="3", seconds="0.2", limit="30")

    regress = parts.add_parser("check", help="has something become slower? exit code 1 on a loss of 15%%")
    regress.add_argument("--baseline", metavar="PREFIX", help="compare with the Heddle that is installed there")
    regress.add_argument("--stored", metavar="JSON", help="the stored run to compare with (default: docs/results/check.json)")
    regress.add_argument("--record", action="store_true", help="store a run instead of comparing with one")
    add_contest_options(regress)
    regress.set_defaults(perform=perform_check, against="mpich,impi,openmpi", seconds="0.3")

    count = parts.add_parser("count", help="the instructions of each call on the path of a short message; exit code 1 if "
                             "one has grown")
    count.add_argument("--heddle", metavar="PREFIX", help="the Heddle to count (default: the one this command belongs to)")
    count.add_argument("--models", default=",".join(instructions.MODELS), metavar="MODELS", help="safety models")
    count.add_argument("--baseline", metavar="PREFIX", help="compare with the Heddle that is installed there, not with the page")
    count.add_argument("--base", metavar="COMMIT", help="what to call the baseline")
    count.add_argument("--record", action="store_true", help="write docs/results/instructions.md")
    count.set_defaults(perform=perform_count)

    drawn = parts.add_parser("plot", help="the message rate over threads as a picture, as the README has it")
    drawn.add_argument("file", metavar="FILE", help="a JSON result that has message-rate, or the CSV that this command stored")
    drawn.add_argument("--out", metavar="STEM", help="write STEM.csv and STEM.svg (default: beside FILE, by its name)")
    drawn.set_defaults(perform=perform_plot)


def perform_paper(args) -> int:
    if not args.figure:
        chosen = [row for row in papers.rows() if not args.paper or row[0] == args.paper]
        if args.paper:
            papers.paper(args.paper)
        print((table.markdown if args.markdown else listing)(["paper", "figure", "shows", "here"], chosen))
        return 0
    figure = papers.figure(args.paper, args.figure)
    if figure.why_not:
        raise BadInput(f"{args.paper} {args.figure} can't be measured here: {figure.why_not}" +
                       (f". Simulate it: {papers.commands(args.paper, args.figure)[0]}" if figure.machine else ""))
    if not figure.peers:
        args.against = "none"
    wanted = list(dict.fromkeys(p for e in figure.experiments for p in e.points()))
    where = paper_nodes(args, figure)
    plan(args, wanted, [])
    models = ["", *figure.models] if figure.models else []
    kinds = ("processes",) if where else figure.rank_kinds
    found = find_candidates(args, models, kinds, figure.runtimes, figure.settings, figure.bound)
    with placed(where, found, wanted) as candidates:
        campaign = Campaign(command_line(), plan(args, wanted, candidates), stem(args, f"{args.paper}-{args.figure}").with_suffix(".json"),
                            nodes=where.to_json() if where else {})
        campaign.perform(tell, announce(campaign))
    print(f"\n{papers.paper(args.paper).title}, {args.figure}: {figure.shows}\n")
    print(table.report(campaign, table.markdown if args.markdown else table.text))
    finish(campaign, heading=f"{args.paper}, {args.figure}: {figure.shows}")
    return outcome(campaign)


def paper_nodes(args, figure: papers.Figure) -> nodes.Nodes | None:
    """The requested cluster; experiments that are about networks have nodes of their own."""
    if figure.nodes and not args.cluster:
        args.cluster = str(figure.nodes)
    for name, value in figure.conditions.items():
        if getattr(args, name) is None:
            setattr(args, name, value)
    where = chosen_nodes(args)
    for experiment in figure.experiments if where else ():
        nodes.ranks_on(where, benchmark(experiment.name), list(experiment.ranks) or None, None)
    return where


def listing(head: list[str], rows: list[list[str]]) -> str:
    widths = [max(len(row[i]) for row in [head, *rows]) for i in range(len(head))]
    return "\n".join("  ".join(w.replace("`", "").ljust(n) for w, n in zip(row, widths)).rstrip() for row in [head, *rows])


def perform_sizes(args) -> int:
    if args.file:
        campaign = stored(Path(args.file))
    else:
        patterns = words(args.patterns, "--patterns", tuple(sizes.PATTERNS)) if args.patterns else list(sizes.PATTERNS)
        ranks = numbers(args.ranks, "--ranks", 2, 4096)
        wanted = sizes.points(patterns, ranks, read_sizes(args.sizes))
        kinds = words(args.rank_kind, "--rank-kind", ("processes", "threads"))
        plan(args, wanted, [])
        campaign = Campaign(command_line(), plan(args, wanted, find_candidates(args, rank_kinds=kinds)), stem(args, "sizes").with_suffix(".json"))
        campaign.perform(tell, announce(campaign))
    print(f"\n{sizes.report(campaign, table.markdown if args.markdown else table.text)}")
    drawn = sizes.maps(campaign)
    if args.picture and drawn:
        notes = [f"{table.machine_line(campaign)}, commit {campaign.commit}; medians of {table.most_runs(campaign)} interleaved runs."]
        Path(args.picture).write_text(sizes.picture(drawn[0], notes) + "\n")
        print(args.picture)
    finish(campaign, sizes.fragment(campaign), "Patterns by size: time over that of the fastest reference MPI")
    return outcome(campaign)


def perform_presets(args) -> int:
    if args.file:
        campaign = stored(Path(args.file))
    else:
        campaign = measure_presets(args)
    print(f"\n{presets.report(campaign)}")
    finish(campaign, heading="Every safety model between nodes")
    if args.record:
        file = (places.source_tree() or Path()) / presets.PAGE
        file.write_text(presets.page(campaign))
        print(file)
    return outcome(campaign)


def measure_presets(args) -> Campaign:
    count = numbers(args.cluster, "--cluster", 2, nodes.MOST)[0]
    llns = words(args.lln, "--lln", nodes.LLNS)
    launcher = words(args.launcher, "--launcher", nodes.LAUNCHERS)
    if len(launcher) > 1:
        raise BadInput("--launcher takes one name")
    cores = str(numbers(args.cores, "--cores", 1, 1024)[0])
    wanted = presets.points(count, numbers(args.threads, "--threads", 1, 1024))
    plan(args, wanted, [])
    found = find_candidates(args, list(mpis.MODELS))
    where = nodes.Nodes(count, ",".join(llns), launcher[0], {"cores": cores})
    nodes.usable(where, found)
    with nodes.Cluster(where) as cluster:
        campaign = Campaign(command_line(), plan(args, wanted, presets.placed(found, cluster, llns)),
                            stem(args, "presets").with_suffix(".json"), nodes=where.to_json())
        campaign.perform(tell, announce(campaign))
    return campaign


def perform_check(args) -> int:
    file = Path(args.stored) if args.stored else (places.source_tree() or Path()) / "docs" / "results" / "check.json"
    settings = plan(args, check.points(), [])
    if args.record:
        campaign = Campaign(command_line(), plan(args, check.points(), find_candidates(args)), None)
        campaign.perform(tell, announce(campaign))
        check.record(campaign, file)
        print(file)
        return 130 if campaign.interrupted else 0
    if args.baseline:
        ours = mpis.heddle(Path(args.heddle).resolve() if args.heddle else None, tell)
        before = mpis.heddle(Path(args.baseline).expanduser().resolve(), tell)
        before.label = "baseline"
        found = {"heddle": ours, "baseline": before}
        wanted = [(p, "baseline", 1.0) for p in check.points()]
    else:
        ratios = check.stored(file)["ratios"]
        by_key = {check.key(p): p for p in check.points()}
        wanted = [(by_key[k], r["against"], r["ratio"]) for k, r in ratios.items() if k in by_key]
        names = dict.fromkeys(against for _, against, _ in wanted)
        found = {"heddle": mpis.heddle(Path(args.heddle).resolve() if args.heddle else None, tell)}
        found |= {name: mpis.peer(name, tell) for name in names}
    findings, interrupted = check.measure(wanted, found, settings, tell)
    print(table.text(check.HEAD, [f.row() for f in findings]))
    if interrupted:
        return 130
    return 1 if any(f.word in ("lost", "failed") for f in findings) else 0


def perform_plot(args) -> int:
    file = Path(args.file)
    if file.suffix == ".csv":
        if not file.is_file():
            raise BadInput(f"there is no file {file}")
        drawn = curve.of_table(file)
    else:
        drawn = curve.of_campaign(stored(file))
    if not drawn.rows:
        raise BadInput(f"{file} has no message rates of {curve.SIZE} bytes between {curve.RANKS} ranks")
    stem = Path(args.out) if args.out else file.with_suffix("")
    for path, content in ((stem.with_suffix(".csv"), drawn.text()), (stem.with_suffix(".svg"), drawn.svg())):
        path.write_text(content)
        print(path)
    return 0


def perform_count(args) -> int:
    page = (places.source_tree() or Path()) / "docs" / "results" / "instructions.md"
    models = words(args.models, "--models")
    prefix = Path(args.heddle).resolve() if args.heddle else mpis.heddle(None, tell).prefix
    counted = instructions.count_all(prefix, models, tell)
    if args.baseline:
        base, before = args.base or args.baseline, instructions.count_all(Path(args.baseline).resolve(), models, tell)
    else:
        base, before = instructions.reference_of(page)
    print(table.text(*instructions.rows(counted, before)))
    if args.record:
        page.write_text(instructions.page(counted, before, base))
    grown = instructions.grown(counted, before)
    for line in grown:
        tell(line)
    return 1 if grown else 0

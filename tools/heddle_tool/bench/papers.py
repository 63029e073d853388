"""The figures and tables of the five papers: how each is shown here, or why it can't be.

A figure's experiment is a list of benchmarks with what it varied; the models are Heddle's presets for what the paper
compared. Experiments between two nodes run here between two processes of one machine, or with --cluster between nodes.
`heddle simulate paper` runs figures that depend on cores on the paper's machine, with the paper's numbers of threads
(`Figure.machine`, `Experiment.paper`). Two nodes are one simulated machine with the cores of both.
"""

from dataclasses import dataclass, field, replace

from ..errors import BadInput
from .breakdown import VARIABLES
from .suite import Point, benchmark, points

THREADS = (1, 2, 4, 8, 16, 32)
SMALL_TO_LARGE = (1, 64, 1024, 16384, 262144, 1 << 20)


@dataclass(frozen=True)
class Experiment:
    name: str
    threads: tuple[int, ...] = (1,)
    sizes: tuple[int, ...] = ()
    ranks: tuple[int, ...] = ()
    comms: tuple[str, ...] = ("shared",)
    variables: tuple[str, ...] = ()
    args: tuple[tuple[str, ...], ...] = ((),)  # each of these beside the benchmark's own
    paper: dict[str, object] = field(default_factory=dict)  # the fields above, where the paper had others: simulated
    only_measured: str = ""  # why it is not simulated

    def simulated(self) -> "Experiment":
        return replace(self, **self.paper)

    def points(self) -> list[Point]:
        found = points(benchmark(self.name), list(self.ranks) or None, list(self.threads), list(self.sizes) or None,
                       list(self.comms))
        return [replace(p, variables=self.variables, args=args) for args in self.args for p in found]


@dataclass(frozen=True)
class Figure:
    shows: str
    experiments: tuple[Experiment, ...] = ()
    models: tuple[str, ...] = ()
    rank_kinds: tuple[str, ...] = ("processes",)
    runtimes: tuple[str, ...] = ("pthreads",)
    settings: dict[str, dict[str, str]] = field(default_factory=dict)  # beside the models: environments by name
    bound: bool = False  # also with the last of the runtimes compiled into the library
    peers: bool = True
    nodes: int = 0  # of a cluster in a box, if it is about the network between them
    conditions: dict[str, str] = field(default_factory=dict)  # of that cluster, by option
    machine: str = ""  # the paper's, if the figure is simulated on it
    misses: bool = False  # shows cache misses per message, which only the simulator counts
    why_not: str = ""  # why it is not measured here


@dataclass(frozen=True)
class Paper:
    title: str
    figures: dict[str, Figure]


DRAWING = "a drawing or a listing: nothing is measured in it"
OTHER_MACHINE = "the experiment of Fig. 7 on another machine"
RUNTIMES = "measures the thread runtimes themselves, without MPI"

CORES = "--cores"  # of the two ranks: an option of the launcher, which only the simulator has in the place of a benchmark's
UNLIMITED = "the simulator's memory has no limit of bandwidth"
# Windows and problems are smaller than the paper's where a simulated run would take minutes.
DANG_NODES, DANG = "haswell-36x2", {"threads": (1, 4, 9, 18, 36)}  # a NUMA domain has nine cores
DANG_NODE = {"threads": (16,)}  # of its second cluster, whose nodes have as many cores
SMALL_GRAPH, SMALL_MATRIX = {"args": (("--scale", "12"),)}, {"args": (("--scale", "16"),)}
DANG_RATE = Experiment("message-rate", THREADS, (64,), paper=DANG)
DANG_THREE = (Experiment("latency-fan", THREADS, (64,), paper=DANG),
              Experiment("bandwidth", THREADS, (1 << 20,), only_measured=UNLIMITED), DANG_RATE)
DANG_WHERE = (replace(DANG_RATE, variables=VARIABLES),)
AMER = ("global", "per-vni", "hmcs2-usc", "hmcs3-usc", "offload", "csync", "lockq-mtx", "lockq-mcs")
AMER_NODES, AMER_APPLICATIONS = "skylake-56x2", "broadwell-36x2"
# One thread for each core but the first; the second number is of a socket, the last of all hardware threads. Latency is that of
# one thread of a server. There is one communicator, because the paper has one VNI.
AMER_THREADS = {"threads": (1, 14, 28, 55, 110)}
AMER_MANY = {"threads": (55,), "sizes": (64, 16384)}
ONE_VNI = {"comms": ("shared",), "args": (("--window", "16"),)}
SERVER = {"name": "latency-fan"}
APART = ("shared", "each")
TRAHAY_NODES = "x5460-4x2"
WAITS = {policy: {"HEDDLE_WAIT": policy} for policy in ("busy", "passive", "spin:5", "spin")}  # Trahay spins for 5 us
PROGRESS = {words: {"HEDDLE_PROGRESS": words} for words in ("off", "idle")}
DEFERRED = {path: {"HEDDLE_PROGRESS": f"idle,defer={path},from=0"} for path in ("tasklet", "direct")}
DEFERRED_SIZES, DEFERRED_PAPER = (8, 1024, 4096, 8192), {"sizes": (8, 1024, 4096)}
STRATEGIES = {name: {"HEDDLE_MODEL": f"strategy={name}"} for name in ("direct", "auto")}
BOTH = {"HEDDLE_RAILS": "eth0,eth1"}
RAILS = {"both": BOTH, "split": BOTH | {"HEDDLE_MODEL": "strategy=split"}}
WAITING = tuple(("--window", str(count)) for count in (1, 8, 64, 512))

PAPERS = {
    "dang-2017": Paper("Advanced Thread Synchronization for Multithreaded MPI Implementations", {
        "fig1": Figure("MPI_Isend and MPI_Wait under a global lock", why_not=DRAWING),
        "fig2": Figure("latency, bandwidth and message rate fall as threads come", DANG_THREE, ("clh", "p-clh"),
                       machine=DANG_NODES),
        "fig3": Figure("where the time of Fig. 2 goes", DANG_WHERE, ("clh", "p-clh"), machine=DANG_NODES),
        "fig4": Figure("network polls per message", DANG_WHERE, ("clh", "p-clh", "mtx"), machine=DANG_NODES),
        "fig5": Figure("cache misses per message", (DANG_RATE,), ("p-clh",), machine=DANG_NODES, misses=True,
                       why_not="only the simulator counts cache misses"),
        "fig6": Figure("the changes for selective reactivation", why_not=DRAWING),
        "fig7": Figure("a synchronization counter", why_not=DRAWING),
        "fig8": Figure("what selective reactivation wins", DANG_THREE, ("clh", "p-clh", "clh-usc", "p-clh-usc"),
                       machine=DANG_NODES),
        "fig9": Figure("where the time of Fig. 8 goes", DANG_WHERE,
                       ("clh", "p-clh", "clh-usc", "p-clh-usc"), machine=DANG_NODES),
        "fig10": Figure("the same with a pthread mutex and kernel-level counters", DANG_THREE, ("mtx", "mtx-ksc"), machine=DANG_NODES),
        "fig11": Figure("ping-pong by distance of the cores: two cores have one distance",
                        (Experiment("latency", (1,), (8,), paper={"args": tuple((CORES, f"0,{n}") for n in (1, 4, 8, 9, 17, 18, 35))}),),
                        ("mtx-ksc", "clh-usc"), machine="haswell-36"),
        "fig12": Figure("the lock with unbounded bias", why_not=DRAWING),
        "fig13": Figure("five threads using that lock", why_not=DRAWING),
        "fig14": Figure("message rate with the hierarchical lock", (DANG_RATE,), ("p-clh-usc", "p-hclhub-usc"), machine=DANG_NODES,
                        misses=True),
        "fig15": Figure("16 threads, by message size", (
                        Experiment("latency-fan", (16,), SMALL_TO_LARGE, paper={"sizes": (1, 1024, 16384)}),
                        Experiment("bandwidth", (16,), SMALL_TO_LARGE, only_measured=UNLIMITED),
                        Experiment("message-rate", (16,), SMALL_TO_LARGE[:4])),
                        ("p-clh", "p-hclhub-usc"), machine=DANG_NODES),
        "fig16": Figure("Graph500, nonblocking and blocking", (Experiment("bfs", (2, 4, 8, 16), paper=DANG_NODE | SMALL_GRAPH),
                        Experiment("bfs-blocking", (2, 4, 8, 16), paper=DANG_NODE | SMALL_GRAPH)), ("p-clh", "p-hclhub-usc"),
                        machine=DANG_NODES),
        "fig17": Figure("HPCCG", (Experiment("cg", (2, 4, 8, 16), paper=DANG_NODE | SMALL_MATRIX),), ("p-clh", "p-hclhub-usc"), machine=DANG_NODES),
    }),
    "amer-2019": Paper("Software Combining to Mitigate Multithreaded MPI Contention", {
        "fig1": Figure("thread-safety models", why_not=DRAWING),
        "fig2": Figure("DSM-Synch and its extension", why_not=DRAWING),
        "fig3": Figure("Per-VNI, CSync, LockQ", why_not=DRAWING),
        "fig4": Figure("the SWP queue", why_not=DRAWING),
        "table1": Figure("the platforms", why_not="describes machines"),
        "fig5": Figure("message rate and latency by size, many threads",
                       (Experiment("message-rate", (16,), SMALL_TO_LARGE[:5], comms=APART, paper=AMER_MANY | ONE_VNI),
                        Experiment("latency", (16,), SMALL_TO_LARGE[:5], paper=AMER_MANY | SERVER)), AMER, machine=AMER_NODES),
        "fig6": Figure("message rate and latency by threads",
                       (Experiment("message-rate", THREADS, (64,), comms=APART, paper=AMER_THREADS | ONE_VNI),
                        Experiment("latency", THREADS, (64,), paper={"threads": (1, 14, 28, 55)} | SERVER)), AMER, machine=AMER_NODES),
        "fig7": Figure("Graph500", (Experiment("bfs", (2, 4, 8, 16), paper={"threads": (35,)} | SMALL_GRAPH),), AMER, machine=AMER_APPLICATIONS),
        "table2": Figure("inputs of SNAP", why_not="describes inputs; those of `sweep` are in its header"),
        "fig8": Figure("SNAP's sweep, by processes and threads", (Experiment("sweep", (4,), ranks=(2, 4)),
                       Experiment("sweep", (1, 2, 8, 16), ranks=(2,), paper={"threads": (1, 16)})), AMER, machine=AMER_APPLICATIONS),
    }),
    "evans-2020": Paper("Flexible threading in Open MPI", {
        "fig1": Figure("fork-join and yield of thread runtimes", why_not=RUNTIMES),
        "fig2": Figure("the architecture", why_not=DRAWING),
        "fig3": Figure("the threading interface", why_not=DRAWING),
        "fig4": Figure("cost of a call into a shared library",
                       (Experiment("call-static", ranks=(1,)), Experiment("call-shared", ranks=(1,)),
                        Experiment("call-loaded", ranks=(1,))), peers=False),
        "fig5": Figure("assembly of such a call", why_not=DRAWING),
        "fig6": Figure("transport settings", why_not="describes settings of Open MPI"),
        "fig7": Figure("RMA-MT: puts, a runtime bound and loaded; and round trips, which wait in it",
                       (Experiment("rma-latency", (1, 2, 4, 8), (8,)), Experiment("rma-put", (1, 8), SMALL_TO_LARGE),
                        Experiment("round-trips", (1, 2, 4, 8), (8,))),
                       runtimes=("pthreads", "boost-fiber"), bound=True),
        "fig8": Figure("RMA-MT on Xeon Phi", why_not=OTHER_MACHINE),
        "fig9": Figure("RMA-MT on Skylake", why_not=OTHER_MACHINE),
        "fig10": Figure("RMA-MT on POWER9", why_not=OTHER_MACHINE),
    }),
    "diaz-martin-2014": Paper("AzequiaMPI and MPI_THREAD_MULTIPLE", {
        "fig1": Figure("requests and queues", why_not=DRAWING),
        "fig2": Figure("fastbuffers", why_not=DRAWING),
        "fig3": Figure("the single-threaded setup", why_not=DRAWING),
        "fig4": Figure("latency of single-threaded ranks, several pairs at once",
                       (Experiment("latency", (1,), (1, 8, 64, 512, 1024, 4096), ranks=(2, 8)),),
                       rank_kinds=("processes", "threads")),
        "fig5": Figure("bandwidth of single-threaded ranks, several pairs at once",
                       (Experiment("bandwidth", (1,), (65536, 1 << 20, 8 << 20), ranks=(2, 8)),),
                       rank_kinds=("processes", "threads")),
        "fig6": Figure("fluxes", why_not=DRAWING),
        "fig7": Figure("the multi-threaded setup", why_not=DRAWING),
        "fig8": Figure("latency of ranks with several threads", (Experiment("latency", (4,), (1, 8, 64, 512, 1024, 4096)),),
                       rank_kinds=("processes", "threads")),
        "fig9": Figure("bandwidth of ranks with several threads",
                       (Experiment("bandwidth", (4,), (65536, 1 << 20, 8 << 20)),), rank_kinds=("processes", "threads")),
    }),
    "trahay-2009": Paper("An analysis of the impact of multi-threading on communication performance", {
        "fig1": Figure("the architecture", why_not=DRAWING),
        "fig2": Figure("coarse-grain locking", why_not=DRAWING),
        "fig3": Figure("what locking costs a ping-pong: none, coarse, fine",
                       (Experiment("latency-single", sizes=SMALL_TO_LARGE[:4]),), ("single", "coarse", "fine"), machine=TRAHAY_NODES),
        "fig4": Figure("fine-grain locking", why_not=DRAWING),
        "fig5": Figure("two threads ping-pong at once", (Experiment("latency", (1, 2), SMALL_TO_LARGE[:4]),),
                       ("coarse", "fine"), machine=TRAHAY_NODES),
        "fig6": Figure("what PIOMan's polling costs", (Experiment("latency", (1,), SMALL_TO_LARGE[:4]),), settings=PROGRESS,
                       peers=False, machine=TRAHAY_NODES),
        "fig7": Figure("waiting by semaphore: busy, passive, and fixed spin",
                       (Experiment("latency", (1,), SMALL_TO_LARGE[:4]),), ("mtx", "mtx-ksc"), settings=WAITS,
                       machine=TRAHAY_NODES),
        "fig8": Figure("polling on another core, by the cache it shares",
                       tuple(Experiment(f"polling-{mode}", sizes=SMALL_TO_LARGE[:3])
                             for mode in ("own", "core", "l2", "l3", "apart")), peers=False, machine=TRAHAY_NODES),
        "fig9": Figure("deferred submission while the sender computes, by tasklets and directly",
                       (Experiment("deferred", sizes=DEFERRED_SIZES, paper=DEFERRED_PAPER),
                        Experiment("deferred-call", sizes=DEFERRED_SIZES, paper=DEFERRED_PAPER)),
                       settings=PROGRESS | DEFERRED, peers=False, machine=TRAHAY_NODES),
        "overlap": Figure("a long receive while the program computes (section 4.1; not a figure)",
                          (Experiment("overlap-receive", sizes=(4 << 20,)),), settings=PROGRESS, machine=TRAHAY_NODES),
        # From NewMadeleine, on which the paper builds; not from the paper.
        "aggregation": Figure("messages that wait go together: the rate by how many wait, and by size",
                              (Experiment("message-rate", sizes=(8, 256, 4096), args=WAITING),), settings=STRATEGIES, peers=False,
                              nodes=2, conditions={"cores": "1"}),
        "rails": Figure("long messages over two rails of 1 and 3 Gbit/s, by turns and by their rates",
                        (Experiment("bandwidth", sizes=(1 << 20, 8 << 20)), Experiment("latency")), settings=RAILS, peers=False,
                        nodes=2, conditions={"cores": "1", "rails": "2", "rate": "1gbit,3gbit"}),
        "priority": Figure("short messages beside a stream of long ones, and alone, at 1 Gbit/s",
                           (Experiment("short-beside-long", (2,)), Experiment("short-alone", (2,))),
                           settings=STRATEGIES | {"priority": {"HEDDLE_MODEL": "strategy=priority"}}, peers=False, nodes=3,
                           conditions={"cores": "1", "rate": "1gbit"}),
    }),
}


def paper(name: str) -> Paper:
    if name not in PAPERS:
        raise BadInput(f"no paper is called {name!r}; there are {', '.join(PAPERS)}")
    return PAPERS[name]


def figure(name: str, which: str) -> Figure:
    found = paper(name).figures
    if which not in found:
        raise BadInput(f"{name} has no {which!r}; there are {', '.join(found)}")
    return found[which]


def commands(name: str, which: str) -> list[str]:
    """The commands that measure the figure on this machine, and simulate it on the paper's."""
    found = figure(name, which)
    return [f"heddle {part} paper {name} {which}" for part, there in (("bench", not found.why_not), ("simulate", found.machine)) if there]


def rows() -> list[list[str]]:
    """Paper, figure, what it shows, and the commands or the reason."""
    return [[name, which, f.shows, ", ".join(f"`{c}`" for c in commands(name, which)) or f"not here: {f.why_not}"]
            for name, p in PAPERS.items() for which, f in p.figures.items()]

"""The benchmark programs as data. A program is registered here by one entry."""

from dataclasses import dataclass, field

from ..errors import BadInput


@dataclass(frozen=True)
class Benchmark:
    name: str
    source: str  # file under bench/, without .c
    summary: str
    metric: str
    unit: str
    better: str  # "lower" or "higher"
    ranks: tuple[int, ...] = (2,)
    any_ranks: bool = False  # else it runs on `ranks` only
    threaded: bool = True  # takes --threads and --comm
    threads: tuple[int, ...] = (1,)  # default; the least of them if it isn't threaded: what it uses by itself
    least_threads: int = 1
    sizes: tuple[int, ...] = ()  # takes --sizes; these are the default
    args: tuple[str, ...] = ()
    seconds: float = 0.5  # measured part of a run; 0: the program decides itself
    measured_by: str = "program"  # "program": its JSON line; "clock": wall time of the launch, from outside
    launches: int = 1  # with "clock": launches of one run, the median counts


@dataclass(frozen=True)
class Point:
    """One cell of an experiment: a benchmark with everything that is varied."""

    bench: Benchmark
    ranks: int
    threads: int = 1
    size: int = 0
    comm: str = "shared"
    args: tuple[str, ...] = field(default=())
    variables: tuple[str, ...] = field(default=())  # performance variables that a run reports

    @property
    def team(self) -> int:
        """Threads of a rank, whether or not they can be chosen."""
        return self.threads if self.bench.threaded else self.bench.threads[0]

    @property
    def window(self) -> int:
        """Messages that are under way at once, where the experiment says it; else 0."""
        return int(self.args[1]) if self.args[:1] == ("--window",) else 0

    @property
    def core(self) -> int:
        """The second rank's core, where the experiment says it; else 0."""
        return int(self.args[1].split(",")[1]) if self.args[:1] == ("--cores",) else 0

    def arguments(self, seconds: float | None, samples: int | None) -> list[str]:
        given = list(self.bench.args) + list(self.args)
        if self.bench.threaded:
            given += ["--threads", str(self.threads)]
            if self.comm == "each":
                given += ["--comm", "each"]
        if self.size:
            given += ["--size", str(self.size)]
        if self.bench.seconds:
            given += ["--seconds", f"{seconds if seconds is not None else self.bench.seconds:g}"]
        if self.variables:
            given += ["--variables", ",".join(self.variables)]
        if samples:
            given += ["--samples", str(samples)]
        return given

    def describe(self) -> str:
        words = [self.bench.name, f"{self.ranks} ranks"]
        if self.bench.threaded:
            words.append(f"{self.threads} thread{'s' if self.threads > 1 else ''}")
            if self.comm == "each":
                words.append("a communicator each")
        if self.size:
            words.append(human_size(self.size))
        return ", ".join(words + list(self.args))

    def key(self) -> dict:
        return {"bench": self.bench.name, "ranks": self.ranks, "threads": self.threads, "size": self.size,
                "comm": self.comm, "args": list(self.args)}


def human_size(size: int) -> str:
    for unit, factor in (("MiB", 1 << 20), ("KiB", 1 << 10)):
        if size >= factor and size % factor == 0:
            return f"{size // factor} {unit}"
    return f"{size} B"


BENCHMARKS = {b.name: b for b in (
    Benchmark("latency", "latency", "blocking ping-pong, one pair of threads or several at a time",
              "half round trip", "us", "lower", any_ranks=True, sizes=(8,)),
    Benchmark("handover", "handover", "a cache line that two ranks hand to each other, without MPI: the lower bound of a latency",
              "half round trip", "us", "lower", threaded=False),
    Benchmark("cores", "cores", "what all ranks copy at once beside what one copies alone: the bound of what cores do together",
              "copies at once", "x", "higher", any_ranks=True, threaded=False),
    Benchmark("round-trips", "latency", "the same, and what all pairs together do",
              "round trips", "M/s", "higher", any_ranks=True, threads=(8,), sizes=(8,), args=("--mode", "rate")),
    Benchmark("latency-fan", "latency", "blocking ping-pong of one thread with all threads of the other rank",
              "half round trip", "us", "lower", any_ranks=True, sizes=(8,), args=("--mode", "fan")),
    Benchmark("latency-any-tag", "latency", "blocking ping-pong of one thread whose receives have MPI_ANY_TAG",
              "half round trip", "us", "lower", threaded=False, sizes=(8,), args=("--mode", "any-tag")),
    Benchmark("message-rate", "message-rate", "windows of 64 Isend/Irecv/Waitall, from every thread to its twin",
              "message rate", "M/s", "higher", any_ranks=True, sizes=(8,)),
    Benchmark("message-rate-one-tag", "message-rate", "the same with one tag for all threads: whichever posted first receives",
              "message rate", "M/s", "higher", any_ranks=True, sizes=(8,), args=("--mode", "one-tag")),
    *(Benchmark(name, "flood", f"rounds of 1,000 messages to every other rank before a receive is posted, by {how}", "message rate", "M/s",
                "higher", any_ranks=True, threaded=False, sizes=(8,), args=args)
      for name, how, args in (("flood", "MPI_Isend", ()), ("flood-inverse", "MPI_Send", ("--mode", "inverse")))),
    Benchmark("bandwidth", "bandwidth", "windows of large messages, from every thread to its twin",
              "bandwidth", "GB/s", "higher", any_ranks=True, sizes=(65536, 1 << 20, 8 << 20)),
    Benchmark("barrier", "collective", "MPI_Barrier over all ranks, a communicator for each thread",
              "time of a call", "us", "lower", ranks=(8,), any_ranks=True, args=("--mode", "barrier")),
    Benchmark("allreduce", "collective", "MPI_Allreduce of doubles over all ranks, a communicator for each thread",
              "time of a call", "us", "lower", ranks=(8,), any_ranks=True, sizes=(8,), args=("--mode", "allreduce")),
    Benchmark("bcast", "collective", "MPI_Bcast from each rank in turn, a communicator for each thread",
              "time of a call", "us", "lower", ranks=(8,), any_ranks=True, sizes=(8, 65536), args=("--mode", "bcast")),
    Benchmark("allgather", "collective", "MPI_Allgather of blocks of doubles, a communicator for each thread",
              "time of a call", "us", "lower", ranks=(8,), any_ranks=True, sizes=(8, 65536), args=("--mode", "allgather")),
    Benchmark("alltoall", "collective", "MPI_Alltoall of blocks of doubles, a communicator for each thread",
              "time of a call", "us", "lower", ranks=(8,), any_ranks=True, sizes=(8, 65536), args=("--mode", "alltoall")),
    *(Benchmark(mode, "collective", f"MPI_{call} of {what}, a communicator for each thread", "time of a call", "us", "lower", ranks=(8,),
                any_ranks=True, sizes=(8, 65536), args=("--mode", mode))
      for mode, call, what in (("reduce-scatter", "Reduce_scatter_block", "blocks of doubles"),
                               ("gather", "Gather", "blocks of doubles to each rank in turn"),
                               ("scatter", "Scatter", "blocks of doubles from each rank in turn"),
                               ("scan", "Scan", "doubles over all ranks"))),
    Benchmark("sendrecv", "exchange", "MPI_Sendrecv in a ring: to the next rank, from the one before",
              "time of a call", "us", "lower", any_ranks=True, sizes=(8, 65536)),
    Benchmark("exchange", "exchange", "messages to both neighbours in a ring and from both",
              "time of a call", "us", "lower", ranks=(8,), any_ranks=True, sizes=(8, 65536), args=("--mode", "both")),
    Benchmark("startup", "startup", "mpiexec of a program that only initializes and finalizes, timed from outside",
              "wall time", "ms", "lower", ranks=(2, 32), any_ranks=True, threaded=False, seconds=0,
              measured_by="clock", launches=5),
    Benchmark("memory", "memory", "private memory of a rank without communication, the largest of all ranks",
              "private memory", "MiB", "lower", ranks=(2, 32), any_ranks=True, threaded=False, seconds=0),
    Benchmark("memory-job", "memory", "memory of all ranks together, what they share counted once, divided by their number",
              "memory", "MiB", "lower", ranks=(2, 32), any_ranks=True, threaded=False, seconds=0, args=("--mode", "job")),
    Benchmark("memory-peers", "memory",
              "private memory of a rank that talks to two others beyond that of one without communication",
              "private memory for two peers", "KiB", "lower", ranks=(1000,), any_ranks=True, threaded=False, seconds=0,
              args=("--mode", "peers")),
    Benchmark("idle", "idle", "processor time of a rank that is blocked in MPI_Recv for 10 s",
              "share of a core", "%", "lower", threaded=False, seconds=10),
    Benchmark("latency-single", "latency", "blocking ping-pong at MPI_THREAD_SINGLE: what thread safety costs one thread",
              "half round trip", "us", "lower", threaded=False, sizes=(8,), args=("--level", "single")),
    Benchmark("message-rate-single", "message-rate", "message rate at MPI_THREAD_SINGLE: what thread safety costs one thread",
              "message rate", "M/s", "higher", threaded=False, sizes=(8,), args=("--level", "single")),
    Benchmark("short-beside-long", "short-beside-long",
              "short ping-pongs of some threads while another streams long messages",
              "half round trip of the short ones", "us", "lower", ranks=(3,), threads=(2,), least_threads=2),
    Benchmark("short-alone", "short-beside-long", "the same short ping-pongs without the stream",
              "half round trip of the short ones", "us", "lower", ranks=(3,), threads=(2,), least_threads=2,
              args=("--mode", "alone")),
    Benchmark("overlap", "overlap", "share of a large exchange that happens while the program computes",
              "overlap", "%", "higher", threaded=False, sizes=(65536, 1 << 20)),
    Benchmark("overlap-receive", "overlap", "share of a large receive that happens while the program computes and its sender waits",
              "overlap", "%", "higher", threaded=False, sizes=(1 << 20, 4 << 20), args=("--mode", "receive")),
    Benchmark("deferred", "deferred", "ping-pong with 10 us of computing between each MPI_Isend and its wait",
              "half round trip", "us", "lower", threaded=False, any_ranks=True, sizes=(8, 2048)),
    Benchmark("deferred-call", "deferred", "what MPI_Isend takes in that ping-pong",
              "time of MPI_Isend", "us", "lower", threaded=False, any_ranks=True, sizes=(8, 128, 512, 1024, 2048, 4096),
              args=("--mode", "call")),
    Benchmark("deferred-one-way", "deferred", "what MPI_Isend takes whose partner only receives, so that a core idles if it sleeps",
              "time of MPI_Isend", "us", "lower", ranks=(2,), threaded=False, sizes=(8192,), args=("--mode", "one-way")),
    Benchmark("deferred-arrival", "deferred", "the time from that call to the end of the partner's MPI_Recv, on one machine",
              "from MPI_Isend to the end of MPI_Recv", "us", "lower", ranks=(2,), threaded=False, sizes=(8192,), args=("--mode", "arrival")),
    *(Benchmark(f"polling-{mode}", "polling", f"ping-pong of a thread for which {who} polls", "half round trip", "us", "lower",
                threaded=False, threads=(2,), sizes=(8,), args=("--mode", mode))
      for mode, who in (("own", "no other thread"), ("core", "the other hardware thread of its core"),
                        ("l2", "a core with the same L2 cache"), ("l3", "a core with the same L3 cache"),
                        ("apart", "a core with which it shares no cache"))),
    Benchmark("computing", "computing", "what an exchange that is under way costs a computation that fills all cores",
              "slowdown", "%", "lower", threaded=False, any_ranks=True, sizes=(4 << 20,), seconds=2),
    Benchmark("overlap-blocked", "overlap", "the same with a second thread blocked in MPI_Recv",
              "overlap", "%", "higher", threaded=False, threads=(2,), sizes=(65536, 1 << 20),
              args=("--mode", "blocked", "--threads", "2")),
    Benchmark("rma-put", "rma", "MPI_Put from every thread into its part of the partner's window, flushed by windows of 16",
              "bandwidth", "GB/s", "higher", any_ranks=True, sizes=(8, 65536), args=("--mode", "put")),
    Benchmark("rma-get", "rma", "the same with MPI_Get",
              "bandwidth", "GB/s", "higher", any_ranks=True, sizes=(8, 65536), args=("--mode", "get")),
    Benchmark("rma-latency", "rma", "one MPI_Put of every thread and its flush",
              "put and flush", "us", "lower", any_ranks=True, sizes=(8,), args=("--mode", "latency")),
    Benchmark("rma-spinning", "rma", "the same while as many threads of the partner spin outside the library",
              "put and flush", "us", "lower", any_ranks=True, sizes=(8,), args=("--mode", "spinning")),
    Benchmark("partitioned", "partitioned", "a partitioned message with 64 partitions for each thread, which marks them ready or asks for them",
              "partitions", "M/s", "higher", any_ranks=True, sizes=(8,)),
    *(Benchmark(f"file-{mode}", "file", f"collective {mode} of a file of 64 MiB in which the ranks' blocks take turns",
                mode, "GB/s", "higher", any_ranks=True, threaded=False, sizes=(512, 4096, 65536), args=("--mode", mode))
      for mode in ("write", "read")),
    *(Benchmark(f"file-{mode}-1g", "file", f"the same {mode} of a file of 1 GiB", mode, "GB/s", "higher", any_ranks=True, threaded=False,
                sizes=(4096,), args=("--mode", mode, "--scale", "1024")) for mode in ("write", "read")),
    Benchmark("call-static", "calls", "call of an empty function of the program (FNbench)",
              "call", "cycles", "lower", ranks=(1,), threaded=False, seconds=0, args=("--mode", "static")),
    Benchmark("call-shared", "calls", "the same in a shared library that the program is linked with",
              "call", "cycles", "lower", ranks=(1,), threaded=False, seconds=0, args=("--mode", "shared")),
    Benchmark("call-loaded", "calls", "the same through the table of pointers that a loaded component has",
              "call", "cycles", "lower", ranks=(1,), threaded=False, seconds=0, args=("--mode", "loaded")),
    Benchmark("bfs", "bfs", "breadth-first search of a Kronecker graph, every thread sending and polling (Graph500)",
              "traversed edges", "MTEPS", "higher", any_ranks=True, threads=(4,)),
    Benchmark("bfs-blocking", "bfs", "the same with blocking calls, half of the threads receiving",
              "traversed edges", "MTEPS", "higher", any_ranks=True, threads=(4,), least_threads=2,
              args=("--mode", "blocking")),
    Benchmark("cg", "cg", "conjugate gradients on a 27-point stencil, threads swapping their part of the halo (HPCCG)",
              "time of an iteration", "us", "lower", any_ranks=True, threads=(4,)),
    Benchmark("stencil", "stencil", "a bulk-synchronous stencil in three dimensions: 26 neighbours and an allreduce in each step",
              "time of a step", "us", "lower", ranks=(8,), any_ranks=True, threaded=False),
    Benchmark("sweep", "sweep", "discrete-ordinates transport sweep, threads sweeping energy groups (SNAP)",
              "time of a sweep", "ms", "lower", any_ranks=True, threads=(4,)),
)}


def benchmark(name: str) -> Benchmark:
    try:
        return BENCHMARKS[name]
    except KeyError:
        raise BadInput(f"no benchmark is called {name!r}; there are {', '.join(BENCHMARKS)}") from None


def points(bench: Benchmark, ranks: list[int] | None, threads: list[int] | None, sizes: list[int] | None,
           comms: list[str] | None) -> list[Point]:
    """Every combination that makes sense for this benchmark, in the order a reader expects."""
    if bench.threaded and threads and min(threads) < bench.least_threads:
        raise BadInput(f"{bench.name} needs {bench.least_threads} threads or more")
    if ranks and not bench.any_ranks and any(r not in bench.ranks for r in ranks):
        raise BadInput(f"{bench.name} runs on {' or '.join(map(str, bench.ranks))} ranks")
    return [Point(bench, r, t, s, c)
            for c in (comms or ["shared"] if bench.threaded else ["shared"])
            for s in ((sizes or bench.sizes) if bench.sizes else (0,))
            for r in (ranks or bench.ranks)
            for t in ((threads or bench.threads) if bench.threaded else (1,))]

"""Measuring between nodes: a cluster in a box for the whole campaign, and how each MPI is started on it.

Rank r is on node r / ranks_per_node: the first half of the ranks, which leads in benchmarks of pairs, has its partners on
other nodes.
"""

import contextlib
import os
import select
import subprocess
import sys
from dataclasses import dataclass, field, replace
from pathlib import Path

from .. import places
from ..errors import BadInput
from .mpis import Heddle, IntelMpi, Mpi, Mpich, OpenMpi
from .suite import Benchmark

LLNS = ("ucx", "ofi")
LAUNCHERS = ("hydra", "slurm", "prrte")
BIN = "/run/cluster/bin"  # commands of the cluster
SSH = f"{BIN}/ssh"  # its stand-in
MOST = 64
# Options of `cluster`.
CONDITIONS = (("delay", "20us", "from node to node"), ("jitter", "5us", "at most so much more"), ("loss", "0.1%", "of frames"),
              ("rate", "10gbit", "that a node sends with, or of each rail: 1gbit,3gbit"), ("rails", "R", "how many networks there are"),
              ("cores", "K", "that each node has, which are its own while there are enough"))
PATIENCE = 60  # seconds until the cluster must be there
# Programs that find each other through shared memory, or use but one rank's.
ONE_NODE = ("handover", "cores", "polling", "calls", "memory", "computing")


@dataclass(frozen=True)
class Nodes:
    """Where and under which conditions a campaign runs."""

    count: int
    lln: str = "ucx"
    launcher: str = "hydra"
    conditions: dict[str, str] = field(default_factory=dict)  # options of `cluster`, by name

    def options(self) -> list[str]:
        return [word for key, value in self.conditions.items() for word in (f"--{key}", value)]

    def used(self, ranks: int) -> int:
        """How many nodes so many ranks are on: fewer ranks than nodes have one each."""
        return min(self.count, ranks)

    def hosts(self, ranks: int, slots: bool = False) -> str:
        """The hosts of so many ranks, with commas; each with its number of slots if wanted."""
        count = self.used(ranks)
        return ",".join(f"node{k}" + (f":{ranks // count}" if slots else "") for k in range(1, count + 1))

    def to_json(self) -> dict:
        return {"count": self.count, "lln": self.lln, "launcher": self.launcher, "conditions": self.conditions}


def said(nodes: dict) -> str:
    """In a line, of what `to_json` gave."""
    conditions = "".join(f", {key} {value}" for key, value in nodes["conditions"].items())
    return f"{nodes['count']} nodes in a box{conditions}, Heddle over {nodes['lln']}, started by {nodes['launcher']}"


def suitable(bench: Benchmark) -> None:
    if bench.source in ONE_NODE:
        raise BadInput(f"{bench.name} measures what the ranks of one machine share; it does not run with --cluster")


def ranks_on(nodes: Nodes, bench: Benchmark, ranks: list[int] | None, per_node: int | None) -> list[int] | None:
    """The numbers of ranks to measure: as asked, or as many as the benchmark has by default, evenly on the nodes."""
    suitable(bench)
    if per_node and ranks:
        raise BadInput("--ranks and --ranks-per-node say the same twice; leave one out")
    wanted = [nodes.count * per_node] if per_node else ranks or [max(r, nodes.count) for r in bench.ranks]
    for r in wanted:
        if r % nodes.used(r):
            raise BadInput(f"{r} ranks of {bench.name} can't be spread evenly over {nodes.count} nodes")
    return wanted


class Cluster:
    """The cluster of a campaign, from outside; it ends when this process does, or leaves `with`."""

    def __init__(self, nodes: Nodes):
        self.nodes = nodes
        self.name = f"bench-{os.getpid()}"
        self.job: subprocess.Popen | None = None

    @property
    def command(self) -> str:
        return str(places.HOME / "cluster")

    def __enter__(self):
        if not os.path.exists(self.command):
            raise BadInput("a cluster in a box is made in a clone of Heddle; run tools/heddle there, in place of the one that is installed")
        # It lives until its standard input ends.
        self.job = subprocess.Popen([self.command, f"--{self.nodes.launcher}", *self.nodes.options(), "--name", self.name, str(self.nodes.count),
                                     "sh", "-c", "echo ready; exec cat >/dev/null"], stdin=subprocess.PIPE,
                                    stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True)
        ready, _, _ = select.select([self.job.stdout], [], [], PATIENCE)
        if ready and self.job.stdout.readline() == "ready\n":
            return self
        if not ready:
            self.__exit__()
            raise BadInput(f"no cluster of {self.nodes.count} nodes was ready after {PATIENCE} s")
        _, said = self.job.communicate()
        self.job = None
        raise BadInput(f"no cluster of {self.nodes.count} nodes can be made: "
                       f"{(said.strip().splitlines() or ['no message'])[-1].removeprefix('cluster: ')}")

    def __exit__(self, *_):
        if self.job:
            with contextlib.suppress(BrokenPipeError):
                self.job.stdin.close()
            try:
                self.job.wait(timeout=10)
            except subprocess.TimeoutExpired:
                self.job.kill()
                self.job.wait()
            self.job.stdout.close()
            self.job.stderr.close()
            self.job = None

    def processor_seconds(self) -> float:
        """The usage of everything in it: for the system it is no child of ours until it ends."""
        children: dict[int, list[int]] = {}
        ticks: dict[int, int] = {}
        for entry in Path("/proc").iterdir():
            if not entry.name.isdigit():
                continue
            with contextlib.suppress(OSError):
                fields = (entry / "stat").read_text().rpartition(")")[2].split()
                children.setdefault(int(fields[1]), []).append(int(entry.name))
                ticks[int(entry.name)] = sum(map(int, fields[11:15]))  # its own and of children that it has waited for
        found, left = 0, [self.job.pid] if self.job else []
        while left:
            pid = left.pop()
            found += ticks.get(pid, 0)
            left += children.get(pid, [])
        return found / os.sysconf("SC_CLK_TCK")

    def inside(self, command: list[str]) -> list[str]:
        """The command, on node 1."""
        return [sys.executable, "-B", self.command, "--name", self.name, "node", "1", *command]


# The points that a launcher cannot start, with the reason.
UNUSABLE = {("slurm", IntelMpi): "needs Slurm's own PMI-2 library, which is not looked for here",
            ("prrte", IntelMpi): "has no PMIx", ("prrte", Mpich): "has no PMIx as PyPI has it"}


def usable(nodes: Nodes, mpis: list[Mpi]) -> None:
    for mpi in mpis:
        why = UNUSABLE.get((nodes.launcher, type(mpi)))
        if why:
            raise BadInput(f"--launcher {nodes.launcher} can't start {mpi.label}, which {why}; leave it out of --against")
        if type(mpi) is Mpi:
            raise BadInput(f"how {mpi.label} is started on nodes is not known; leave out --mpi")


class OnNodes(Mpi):
    """An MPI whose ranks are spread over the nodes of a cluster."""

    def __init__(self, mpi: Mpi, cluster: Cluster, lln: str = ""):
        """Over `lln`, which its label then names, if that is not the same for the whole campaign."""
        label = f"{mpi.label}/{lln}" if lln else mpi.label
        super().__init__(label, mpi.prefix, mpi.extra_env, mpi.peer, mpi.abi, mpi.says, mpi.setting, mpi.thread_runtime)
        self.mpi, self.cluster = mpi, cluster
        self.nodes = replace(cluster.nodes, lln=lln) if lln else cluster.nodes

    def compiler(self) -> list[str]:
        return self.mpi.compiler()

    def abi_compiler(self) -> list[str] | None:
        return self.mpi.abi_compiler()

    def launch(self, ranks: int, threads: int) -> list[str]:
        return self.cluster.inside(launch(self.mpi, self.nodes, ranks, self.env(ranks, threads)))

    def env(self, ranks: int, threads: int) -> dict[str, str]:
        return self.mpi.env(0, 0) | environment(self.mpi, self.nodes)

    def processor_seconds(self) -> float:
        return self.cluster.processor_seconds()

    def settings(self, ranks: int, threads: int) -> str:
        env = [f"{k}={v}" for k, v in self.env(ranks, threads).items() if not v.startswith(str(self.prefix))]
        command = launch(self.mpi, self.nodes, ranks, self.env(ranks, threads))
        return " ".join([*env, Path(command[0]).name, *command[1:]])


def launch(mpi: Mpi, nodes: Nodes, ranks: int, env: dict[str, str]) -> list[str]:
    """The command that starts `ranks` ranks of it, on node 1, where `env` is set. Reference MPIs have their own launchers, except
    under Slurm."""
    count = nodes.used(ranks)
    each = str(ranks // count)
    if nodes.launcher == "slurm":
        kind = "pmix" if isinstance(mpi, OpenMpi) else "pmi2"
        return ["srun", f"--mpi={kind}", f"-N{count}", f"-n{ranks}", f"--ntasks-per-node={each}"]
    if isinstance(mpi, OpenMpi) or nodes.launcher == "prrte":
        program = str(mpi.prefix / "bin" / "mpiexec") if isinstance(mpi, OpenMpi) else f"{BIN}/prterun"
        root = ["--allow-run-as-root"] if os.geteuid() == 0 else []
        # The nodes share their cores: two that bind a rank each may bind it to the same one.
        return [program, *root, "--prtemca", "plm_ssh_agent", SSH, "--host", nodes.hosts(ranks, slots=True), "--bind-to", "none",
                *[word for key in env for word in ("-x", key)], "-n", str(ranks)]
    if isinstance(mpi, IntelMpi):
        return [str(mpi.prefix / "bin" / "mpiexec.hydra"), "-bootstrap", "ssh", "-bootstrap-exec", SSH, "-hosts", nodes.hosts(ranks),
                "-ppn", each, "-n", str(ranks)]
    program = str(mpi.prefix / "bin" / "mpiexec.hydra") if isinstance(mpi, Mpich) else f"{BIN}/mpiexec.hydra"
    return [program, "-launcher", "ssh", "-launcher-exec", SSH, "-hosts", nodes.hosts(ranks), "-ppn", each, "-n", str(ranks)]


def environment(mpi: Mpi, nodes: Nodes) -> dict[str, str]:
    """The variables for each about the network, besides what it has on one machine."""
    if isinstance(mpi, Heddle):
        return {"HEDDLE_LLN": nodes.lln}
    if isinstance(mpi, IntelMpi):
        return {"FI_PROVIDER": "tcp", "I_MPI_PIN": "0"}
    if isinstance(mpi, OpenMpi):
        return {"OMPI_MCA_pml": "ob1", "OMPI_MCA_btl": "tcp,sm,self", "OMPI_MCA_btl_tcp_if_include": "10.77.0.0/16",
                "OMPI_MCA_mpi_yield_when_idle": "1"}
    return {}

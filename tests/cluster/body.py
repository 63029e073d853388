#!/usr/bin/env python3
"""The test body between nodes: the project's MPI test programs, over a network, in one cluster, or between nodes that are pretended.

    tests/cluster/body.py build/release --network ucx --shapes 2x1,2x2,3x2
    tests/cluster/body.py build/release --network ofi --strategies all --rails eth0,eth1
    tests/cluster/body.py build/release --launcher mpiexec --network loopback --strategies all --rails 3
    tests/cluster/body.py build/release --launcher mpiexec --network loopback --ranks threads

takes the programs that apply from the table that CMake has written (cmake/mpi_test.cmake), and runs each under Hydra or srun, or under our
mpiexec with HEDDLE_NODES, within a time limit. For a run that hangs it shows the calls of its threads. Ends with 1 if a run has
failed, with 77 where no cluster can be made.
"""

import argparse
import os
import random
import re
import shlex
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

TREE = Path(__file__).resolve().parents[2]
NO_FLUX = "submit=flux needs time-stamp counters"
SHOWN = 30  # last lines of what a failed run has said
SHOWN_AGAIN = 8  # of them, at the end, for readers of only the end of the output

# The short form of the body: a part of each folder, and the thread tests under models that differ most.
CORE = (r"^(p2p\.(modes|threads|disconnect|cancel_remote|credits)|coll\.(movement|reduction|crossings|threads)"
        r"|rma\.(active|passive|accumulate)|partitioned\.exchange|object\.(comm|sessions)|topo\.graph|threads\.(ordering|random))$")


@dataclass(frozen=True)
class Program:
    name: str
    path: str
    ranks: tuple[int, ...]
    models: str
    excepted: tuple[str, ...]
    limit: int
    settings: tuple[str, ...]
    arguments: tuple[str, ...]
    kinds: tuple[str, ...]  # of ranks: processes, threads

    def fits(self, nodes: int, ranks: int) -> bool:
        """True if it is for so many; a program that runs with three numbers of ranks does so with those between."""
        pretended = next((int(s.split("=")[1]) for s in self.settings if s.startswith("HEDDLE_NODES=")), None)
        if pretended is not None and self.arguments and pretended != nodes:
            return False
        return ranks in self.ranks or (len(self.ranks) > 2 and min(self.ranks) < ranks < max(self.ranks))


@dataclass(frozen=True)
class Run:
    program: Program
    nodes: int
    per_node: int
    model: str
    network: str
    strategy: str

    def __str__(self) -> str:
        return f"{self.network} {self.nodes}x{self.per_node} {self.program.name}" + (f" {self.model}" if self.model else "") \
            + (f" {self.strategy}" if self.strategy else "")


def read_table(file: Path) -> tuple[dict[str, list[str]], list[Program]]:
    models, programs = {}, []
    for line in file.read_text().splitlines():
        fields = line.split("\t")
        if len(fields) == 2:
            models[fields[0]] = fields[1].split()
            continue
        name, path, ranks, which, excepted, limit, settings, arguments, kinds = fields
        programs.append(Program(name, path, tuple(map(int, ranks.split())), which, tuple(excepted.split()), int(limit),
                                tuple(settings.split()), tuple(shlex.split(arguments)), tuple(kinds.split())))
    names = {(p.name, p.arguments) for p in programs}
    # Programs that are there once more for nodes that are pretended.
    return models, [p for p in programs if (re.sub(r"\.(three_)?nodes3?$", "", p.name), p.arguments) not in names - {(p.name, p.arguments)}]


def choose(given: argparse.Namespace) -> list[Run]:
    models, programs = read_table(Path(given.build) / "tests" / "cluster" / "programs.tsv")
    strategies = models["strategies"] if given.strategies == "all" else given.strategies.split(",")
    runs = []
    for network in given.network.split(","):
        for shape in given.shapes.split(","):
            nodes, per_node = map(int, shape.split("x"))
            for program in programs:
                if not re.search(given.only, program.name) or not program.fits(nodes, nodes * per_node):
                    continue
                # A strategy of a program's own is what it is about.
                if given.ranks not in program.kinds or (given.strategies and any("strategy=" in s for s in program.settings)):
                    continue
                under = [""]
                if given.models == "all" and program.models == "all" and per_node == 1:
                    under = [m for m in models["all"] if m not in program.excepted]
                elif given.models != "default" and program.models in ("few", "all"):
                    under = models["few"]
                runs += [Run(program, nodes, per_node, model, network, strategy) for strategy in strategies for model in under]
    return runs


# ---- one run

def limit_of(given: argparse.Namespace, run: Run) -> int:
    return given.limit or run.program.limit


def launch_line(given: argparse.Namespace, run: Run) -> list[str]:
    launcher = given.launcher
    if launcher == "mpiexec":  # it says itself what hangs where
        return [f"{given.build}/src/launch/mpiexec/mpiexec", "--timeout", str(limit_of(given, run)), "--ranks", given.ranks,
                "-n", str(run.nodes * run.per_node)]
    hosts = ",".join(f"node{k}" for k in range(1, run.nodes + 1))
    ranks = str(run.nodes * run.per_node)
    if given.ranks == "threads":
        ours = [f"{given.build}/src/launch/mpiexec/mpiexec", "-join", str(run.per_node), "-n", ranks, "-ranks", "threads"]
        if launcher == "hydra":
            return ["mpiexec.hydra", "-hosts", hosts, "-ppn", "1", "-n", str(run.nodes), *ours]
        return ["srun", "--overlap", "-K1", f"-w{hosts}", f"-N{run.nodes}", f"-n{run.nodes}", f"--mpi={launcher.removeprefix('srun-')}", *ours]
    if launcher == "hydra":
        return ["mpiexec.hydra", "-hosts", hosts, "-ppn", str(run.per_node), "-n", ranks]
    return ["srun", "--overlap", "-K1", f"-w{hosts}", f"-N{run.nodes}", f"-n{ranks}", f"--mpi={launcher.removeprefix('srun-')}"]


def on_nodes(run: Run, script: str) -> str:
    """The output on each of them."""
    said = ""
    for node in range(1, run.nodes + 1):
        try:
            said += subprocess.run(["cluster", "node", str(node), "sh", "-c", script], capture_output=True, text=True, timeout=60).stdout
        except subprocess.TimeoutExpired:
            said += f"node {node} does not answer\n"
    return said


def is_rank(run: Run) -> str:
    """True if process $p is a rank, or that of ranks that are threads."""
    return f'case "$(readlink /proc/$p/exe)" in {run.program.path}|*heddle-host*) ;; *) false ;; esac'


def where_it_hangs(run: Run) -> str:
    """The calls of its ranks' threads, on all nodes."""
    look = (f'for p in $(pgrep -f {run.program.path}); do {is_rank(run)} || continue;'
            ' echo "$(hostname), process $p:"; if command -v gdb >/dev/null; then'
            ' gdb -batch -p $p -ex "thread apply all bt 14" 2>/dev/null | grep -E "^(#|Thread)"; else'
            ' for t in /proc/$p/task/*; do echo "  $(cat $t/comm) $(cat $t/wchan)"; done; fi; done')
    return on_nodes(run, look)


def end(run: Run) -> None:
    on_nodes(run, f'for p in $(pgrep -f {run.program.path}); do {is_rank(run)} && kill -9 $p; done')


def settings_of(given: argparse.Namespace, run: Run) -> dict[str, str]:
    settings = dict(s.split("=", 1) for s in run.program.settings)
    settings.pop("HEDDLE_NODES", None)
    if given.launcher == "mpiexec":
        settings |= {"HEDDLE_NODES": str(run.nodes), "HEDDLE_LOOPBACK_SEED": str(given.seed)}
    if run.network != "default":
        settings["HEDDLE_LLN"] = run.network
    if given.rails:
        settings["HEDDLE_RAILS"] = given.rails
    if run.model or run.strategy:
        model = run.model or settings.get("HEDDLE_MODEL", "auto")
        settings["HEDDLE_MODEL"] = f"{model},strategy={run.strategy}" if run.strategy else model
    return settings


def perform(given: argparse.Namespace, run: Run) -> tuple[str, float, str]:
    """Its result (passed, skipped, failed, hangs), its seconds, and what it has said."""
    own = given.launcher == "mpiexec"
    begun = time.monotonic()
    started = subprocess.Popen([*launch_line(given, run), run.program.path, *run.program.arguments],
                               env=os.environ | settings_of(given, run), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                               stderr=subprocess.STDOUT, text=True, errors="replace")
    try:
        said, _ = started.communicate(timeout=limit_of(given, run) + (60 if own else 0))
    except subprocess.TimeoutExpired:
        where = "" if own else where_it_hangs(run)
        started.terminate()
        if not own:
            end(run)
        try:
            said, _ = started.communicate(timeout=20)
        except subprocess.TimeoutExpired:
            started.kill()
            said, _ = started.communicate()
        return "hangs", time.monotonic() - begun, said + where
    state = "passed" if started.returncode == 0 else "skipped" if NO_FLUX in said else f"failed ({started.returncode})"
    return state, time.monotonic() - begun, said


def inside(given: argparse.Namespace) -> int:
    count: dict[str, int] = {}
    bad = ""
    for run in choose(given):
        state, seconds, said = perform(given, run)
        line = f"{state:12} {seconds:6.2f} s  {run}"
        print(line, flush=True)
        if state not in ("passed", "skipped"):
            keep = said.splitlines() if state == "hangs" else said.splitlines()[-SHOWN:]
            print("\n".join("    " + line for line in keep), flush=True)
            bad += "\n".join([line, *("    " + line for line in keep[-SHOWN_AGAIN:]), ""])
        count[state.split()[0]] = count.get(state.split()[0], 0) + 1
    print(bad, end="")
    print(", ".join(f"{number} {state}" for state, number in count.items()) or "no program applies")
    return 0 if count and set(count) <= {"passed", "skipped"} else 1


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", help="a folder of a build with tests")
    parser.add_argument("--network", default="ucx", help="ucx, ofi, loopback, or default: the one that a job takes; several with commas (ucx)")
    parser.add_argument("--shapes", default="2x1,2x2,3x2", help="nodes and ranks of each, with commas (2x1,2x2,3x2)")
    parser.add_argument("--launcher", default="hydra", choices=("hydra", "srun-pmi2", "srun-pmix", "mpiexec"),
                        help="in a cluster; mpiexec: ours, with nodes that are pretended (hydra)")
    parser.add_argument("--ranks", default="processes", choices=("processes", "threads"), help="what mpiexec makes of them; another launcher starts it on each node for threads (processes)")
    parser.add_argument("--models", default="all", choices=("default", "few", "all"), help="of thread tests (all)")
    parser.add_argument("--strategies", default="", metavar="NAMES", help="of the outbox, with commas, or all but the default one")
    parser.add_argument("--rails", default="", help="HEDDLE_RAILS; a cluster has as many as it names devices")
    parser.add_argument("--seed", type=int, default=random.randrange(1, 1 << 30), help="of loopback's accidents (another one each time)")
    parser.add_argument("--only", default="", metavar="REGEX", help="programs whose name it finds")
    parser.add_argument("--core", action="store_true", help="a part that stands for the body")
    parser.add_argument("--limit", type=int, default=0, help="seconds for a run (the program's)")
    parser.add_argument("--list", action="store_true", help="say what would run")
    parser.add_argument("--inside", action="store_true", help=argparse.SUPPRESS)
    given = parser.parse_args()
    given.build = str(Path(given.build).resolve())
    if given.core:
        given.only = given.only or CORE
    if given.list:
        print(*choose(given), sep="\n")
        return 0
    if given.inside or given.launcher == "mpiexec":
        print(f"seed {given.seed}", flush=True)
        return inside(given)
    nodes = max(int(shape.split("x")[0]) for shape in given.shapes.split(","))
    cluster = str(TREE / "tools" / "cluster")
    if subprocess.run([cluster, "1", "true"], cwd=TREE).returncode == 77:  # before a launcher is installed in vain
        return 77
    launcher = ["--hydra"] if given.launcher == "hydra" else ["--slurm"]
    again = [sys.executable, "-B", __file__, *sys.argv[1:], "--inside"]
    if launcher == ["--slurm"]:
        again = ["salloc", "--quiet", f"-N{nodes}", *again]
    rails = ["--rails", str(len(given.rails.split(",")))] if given.rails else []
    return subprocess.run([cluster, *launcher, *rails, str(nodes), *again], cwd=TREE).returncode


if __name__ == "__main__":
    sys.exit(main())

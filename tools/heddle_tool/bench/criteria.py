"""`heddle bench criteria`: the figures that the project promised, each a line that passes or is missed."""

from dataclasses import dataclass, field
from typing import Callable

from .campaign import Campaign, Cell
from .stats import Summary, number, paired_ratio
from .suite import Point, benchmark

OURS = "heddle"


def at(name: str, ranks: int = 2, threads: int = 1, size: int = 0, comm: str = "shared") -> Point:
    bench = benchmark(name)
    return Point(bench, ranks, threads, size or (bench.sizes[0] if bench.sizes else 0), comm)


@dataclass(frozen=True)
class Criterion:
    """`found` must be at most or at least `bound`. It is Heddle's figure over the best reference MPI's, over its own at another
    point (`base`), measured beside it, or by itself."""

    title: str
    point: Point
    sign: str  # "<=" or ">="
    bound: float
    base: Point | None = None
    alone: bool = False
    inverse: bool = False  # a time that is spoken of as a rate: the best reference MPI's over Heddle's

    @property
    def wanted(self) -> str:
        what = self.point.bench.unit if self.alone else "of its own" if self.base else "of the best reference MPI"
        return f"{'≤' if self.sign == '<=' else '≥'} {self.bound:g} {what}"

    def points(self) -> list[Point]:
        return [self.point] + ([self.base] if self.base else [])

    def judge(self, cells: Callable[[Point], Cell | None], peers: list[str], stock: list[str] = ()) -> "Verdict":
        cell = cells(self.point)
        if not cell or not cell.summary(OURS):
            trouble = cell.trouble(OURS) if cell else None
            return Verdict(self, None, "", trouble.why if trouble else "not measured")
        if self.alone:
            return Verdict(self, cell.summary(OURS), "")
        if self.base:
            found = cell.ratio_to_base(OURS)
            return Verdict(self, found, "own", "" if found else "the base was not measured")
        peer = cell.best_peer(peers)
        if not peer:
            return Verdict(self, None, "", "no reference MPI was measured")
        other = cell.best_peer(list(stock))
        return Verdict(self, self.over(cell, peer), peer, as_installed=self.over(cell, other) if other else None)

    def over(self, cell: Cell, peer: str) -> Summary | None:
        pair = (cell.values(peer), cell.values(OURS)) if self.inverse else (cell.values(OURS), cell.values(peer))
        return paired_ratio(*pair)


@dataclass(frozen=True)
class Verdict:
    criterion: Criterion
    found: Summary | None
    against: str
    why: str = ""
    as_installed: Summary | None = None  # over the best reference MPI without any tuning

    @property
    def word(self) -> str:
        if not self.found:
            return "unmeasured"
        c = self.criterion
        met = self.found.median <= c.bound if c.sign == "<=" else self.found.median >= c.bound
        return "pass" if met else "missed"

    def line(self) -> tuple[str, ...]:
        if not self.found:
            return self.criterion.title, self.criterion.wanted, self.why or "-", "-", "-", self.word
        against = f" ({self.against})" if self.against not in ("", "own") else ""
        return (self.criterion.title, self.criterion.wanted, number(self.found.median) + against,
                f"{number(self.found.low)}..{number(self.found.high)}" + ("" if self.found.decides(self.criterion.bound) else " ?"),
                number(self.as_installed.median) if self.as_installed else "-", self.word)


# "measured" is against the best reference MPI at its best settings; "as installed" against the best without any.
HEAD = ["criterion", "target", "measured", "spread", "as installed", "verdict"]
MIB = 1 << 20


@dataclass(frozen=True)
class Sheet:
    title: str
    lines: tuple[Criterion, ...] = field(default=())


SHEETS = {
    "foundation": Sheet("The foundation: one thread a rank", (
        Criterion("8-byte ping-pong, half round trip", at("latency"), "<=", 0.8),
        Criterion("bandwidth, 1 MiB", at("bandwidth", size=MIB), ">=", 1.0),
        Criterion("message rate, one thread", at("message-rate"), ">=", 1.2),
        Criterion("start-up, 2 ranks", at("startup", 2), "<=", 0.2),
        Criterion("start-up, 32 ranks", at("startup", 32), "<=", 0.2),
        Criterion("private memory of a silent rank, 2 ranks", at("memory", 2), "<=", 0.5),
        Criterion("private memory of a silent rank, 32 ranks", at("memory", 32), "<=", 0.5),
        Criterion("barrier, 8 ranks", at("barrier", 8), "<=", 1.0),
        Criterion("allreduce of 8 bytes, 8 ranks", at("allreduce", 8), "<=", 1.0),
        Criterion("processor time while blocked in MPI_Recv for 10 s", at("idle"), "<=", 2.0, alone=True),
    )),
    "threads": Sheet("Threads", (
        Criterion("message rate, 8 threads, one communicator", at("message-rate", threads=8), ">=", 8.0),
        Criterion("message rate, 8 threads against 1", at("message-rate", threads=8), ">=", 0.9,
                  base=at("message-rate")),
        Criterion("message rate, 16 threads against 1", at("message-rate", threads=16), ">=", 0.7,
                  base=at("message-rate")),
        Criterion("message rate, 64 threads against 1", at("message-rate", threads=64), ">=", 0.7,
                  base=at("message-rate")),
        Criterion("message rate, 8 threads, a communicator each", at("message-rate", threads=8, comm="each"), ">=", 5.0),
        Criterion("blocking ping-pong, 8 pairs, as a rate", at("latency", threads=8), ">=", 1.5, inverse=True),
        Criterion("blocking ping-pong, 2 pairs, as a rate", at("latency", threads=2), ">=", 3.0, inverse=True),
    )),
}


def chosen(names: list[str]) -> list[Criterion]:
    return [line for name in names for line in SHEETS[name].lines]


def needed(lines: list[Criterion]) -> list[Point]:
    return list(dict.fromkeys(point for line in lines for point in line.points()))


def bases(lines: list[Criterion]) -> dict[Point, Point]:
    return {line.point: line.base for line in lines if line.base}


def judge(campaign: Campaign, lines: list[Criterion]) -> list[Verdict]:
    cells = {cell.point: cell for cell in campaign.cells}
    return [line.judge(cells.get, campaign.peers, campaign.stock) for line in lines]

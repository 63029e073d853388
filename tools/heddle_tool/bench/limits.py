"""The limits of the network: the network library's own test beside the MPIs, as a further candidate."""

import re
import shutil
from pathlib import Path

from ..cluster.command import duration
from .mpis import Mpi
from .nodes import BIN, Cluster
from .suite import Point

PORT = 13337
TESTS = {"ucx": "ucx_perftest", "ofi": "fi_pingpong"}
PACKAGES = {"ucx": "ucx-utils", "ofi": "libfabric-bin"}  # of Debian
# The server on node 1, the client on node 2 as soon as the server listens; the server is ended whatever happens.
BETWEEN = """{server} >/dev/null 2>&1 &
trap "kill $! 2>/dev/null" EXIT
for i in $(seq 100); do grep -qi ':{port:04X} 0*:0000 0A' /proc/net/tcp /proc/net/tcp6 && break; sleep 0.05; done
{bin}/cluster node 2 {client}
"""


class Limit(Mpi):
    """The test of one network library."""

    limit = True

    def __init__(self, cluster: Cluster):
        self.cluster, self.lln = cluster, cluster.nodes.lln
        super().__init__(TESTS[self.lln], Path("/usr"), peer=False)

    def processor_seconds(self) -> float:
        return self.cluster.processor_seconds()

    def settings(self, ranks: int, threads: int) -> str:
        return self.label

    def command(self, point: Point, seconds: float | None = None) -> list[str] | None:
        """The command that measures this point on node 1, for about so long; None where the test has nothing like it."""
        words = words_of(self.lln, point, rounds(point, seconds or point.bench.seconds, self.cluster.nodes.conditions))
        if words is None or point.ranks != 2:
            return None
        client = [*words, "10.77.0.1"]
        return self.cluster.inside(["sh", "-c", BETWEEN.format(server=" ".join(words), client=" ".join(client), port=PORT, bin=BIN)])

    def value(self, point: Point, output: str) -> float | None:
        return value_of(self.lln, point, output)


def beside(cluster: Cluster, points: list[Point], tell) -> list[Mpi]:
    """The test, if it is here and can measure one of the points."""
    test = Limit(cluster)
    if not any(test.command(p) for p in points):
        return []
    if shutil.which(test.label) is None:
        tell(f"the network's own limit is not measured: {test.label} is not here (Debian: apt-get install {PACKAGES[test.lln]})")
        return []
    return [test]


def rounds(point: Point, seconds: float, conditions: dict[str, str]) -> int:
    """How many messages take about so long under these conditions, which the tests cannot find out themselves."""
    size = point.size or 8
    each = 10e-6 + size / 1e9
    if "rate" in conditions:
        number, factor = re.fullmatch(r"([\d.]+)([gmk]?)bit", conditions["rate"].split(",")[0]).groups()  # it uses the first rail
        each += 8 * size / (float(number) * {"g": 1e9, "m": 1e6, "k": 1e3, "": 1.0}[factor])
    if "delay" in conditions and point.bench.name == "latency":
        each += duration(conditions["delay"]) / 1e9
    return max(20, min(20000, round(seconds / (2 * each))))


def words_of(lln: str, point: Point, count: int) -> list[str] | None:
    """The test's server; with the server's address behind, its client."""
    if point.team != 1 or point.args or point.bench.name not in ("latency", "bandwidth", "message-rate"):
        return None
    if lln == "ofi":
        # It plays ping-pong only.
        return ["fi_pingpong", "-e", "rdm", "-p", "'tcp;ofi_rxm'", "-B", str(PORT), "-I", str(count), "-S", str(point.size or 8)] \
            if point.bench.name == "latency" else None
    test = "ucp_am_lat" if point.bench.name == "latency" else "ucp_am_bw"
    return ["ucx_perftest", "-p", str(PORT), "-t", test, "-s", str(point.size or 8), "-n", str(count), "-w", str(count // 10)]


def value_of(lln: str, point: Point, output: str) -> float | None:
    """In the benchmark's unit; None if the output has no result."""
    if lln == "ofi":
        # bytes, sent, acknowledged, total, time, MB/sec, usec/xfer, Mxfers/sec
        found = re.findall(r"^\S+\s+\S+\s+=\S+\s+\S+\s+\S+s\s+[\d.]+\s+([\d.]+)\s+[\d.]+\s*$", output, re.MULTILINE)
        return float(found[-1]) if found else None
    # iterations; percentile, average and overall latency in us; average and overall MB/s; average and overall messages/s
    found = re.findall(r"^Final:\s+(.*)$", output, re.MULTILINE)
    if not found or len(figures := found[-1].split()) < 8:
        return None
    if point.bench.name == "latency":
        return float(figures[3])
    return float(figures[5]) * (1 << 20) / 1e9 if point.bench.name == "bandwidth" else float(figures[7]) / 1e6

"""The networks of a cluster: for each rail a switch, and a cable from it to every node.

Without delay and loss the switch is a bridge and a cable a veth pair. With them switch and cables are the forwarder
(forwarder.cpp), which holds a TAP device in every node. A rate is a token bucket at the node's end of the cable: it limits what
a node sends.
"""

import os
import socket
import subprocess
from dataclasses import dataclass
from pathlib import Path

from . import kernel

DOWN_AND_UP = {False: "down", True: "up"}


@dataclass(frozen=True)
class Links:
    """The requested network. Times in nanoseconds; loss as a fraction."""

    nodes: int
    rails: int = 1
    rates: tuple[str, ...] = ()  # of all rails, or of each
    delay: int = 0
    jitter: int = 0
    loss: float = 0.0

    @property
    def every_rail(self) -> range:
        return range(1, self.rails + 1)

    def rate(self, rail: int) -> str:
        return self.rates[min(rail, len(self.rates)) - 1]

    @property
    def forwarded(self) -> bool:
        return bool(self.delay or self.jitter or self.loss)


def address(node: int, rail: int) -> str:
    return f"10.77.{rail - 1}.{node}"


def hosts(links: Links) -> str:
    """/etc/hosts: nodeK leads to the first rail, nodeK-2 to the second."""
    lines = ["127.0.0.1 localhost"]
    for rail in links.every_rail:
        suffix = "" if rail == 1 else f"-{rail}"
        lines += [f"{address(node, rail)} node{node}{suffix}" for node in range(1, links.nodes + 1)]
    return "\n".join(lines) + "\n"


def batch(tool: str, lines: list[str], enter: int | None = None) -> None:
    """Commands for ip or tc, in the network namespace of the process `enter`."""
    into = ["nsenter", "-t", str(enter), "-n"] if enter else []
    done = subprocess.run([*into, tool, "-batch", "-"], input="\n".join(lines) + "\n", capture_output=True, text=True)
    if done.returncode:
        words = " ".join(done.stderr.split())
        refused = "not permitted" in words or "not supported" in words or "Unknown device type" in words
        raise (kernel.NotHere if refused else OSError)(f"this kernel refuses a network of its own: {tool}: {words}")


class Network:
    def __init__(self, links: Links, forwarder: Path | None):
        self.links, self.forwarder = links, forwarder
        self.process: subprocess.Popen | None = None

    def build(self, pids: list[int]) -> None:
        """`pids`: the nodes' first processes, node 1 first."""
        rails = self.links.every_rail
        lines = ["link set lo up"]
        if self.links.forwarded:
            self.start_forwarder()
            lines += [f"link set {port(node, rail)} netns {pid} name eth{rail - 1}"
                      for node, pid in enumerate(pids, 1) for rail in rails]
        else:
            for rail in rails:
                lines += [f"link add switch{rail} type bridge", f"link set switch{rail} up"]
                for node, pid in enumerate(pids, 1):
                    name = port(node, rail)
                    lines += [f"link add {name} type veth peer name eth{rail - 1} netns {pid}",
                              f"link set {name} master switch{rail}", f"link set {name} up"]
        batch("ip", lines)
        for node, pid in enumerate(pids, 1):
            inside = ["link set lo up"]
            for rail in rails:
                inside += [f"link set eth{rail - 1} address {hardware(node, rail)}",
                           f"address add {address(node, rail)}/24 dev eth{rail - 1}", f"link set eth{rail - 1} up"]
            batch("ip", inside, pid)
            if self.links.rates:
                # The bucket holds two milliseconds' worth, and at least two packets.
                batch("tc", [f"qdisc add dev eth{rail - 1} root tbf rate {self.links.rate(rail)} burst {burst(self.links.rate(rail))} "
                             "latency 50ms" for rail in rails], pid)

    def start_forwarder(self) -> None:
        if not os.path.exists("/dev/net/tun"):
            raise kernel.NotHere("delay, jitter and loss need TAP devices, and this machine has no /dev/net/tun")
        links = self.links
        self.process = subprocess.Popen(
            [str(self.forwarder), *map(str, (links.nodes, links.rails, links.delay, links.jitter, links.loss))],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1)
        answer = self.process.stdout.readline().strip()
        if answer != "ready":
            raise kernel.NotHere(f"the forwarder can't make its TAP devices: {answer or 'it ended'}")

    def set_link(self, node: int, rail: int, up: bool) -> None:
        """Pulls the cable of a node, or plugs it in again: its interface loses its carrier and keeps its address."""
        if self.process:
            self.process.stdin.write(f"{DOWN_AND_UP[up]} {node} {rail}\n")
            self.process.stdout.readline()  # it has been done
        else:
            batch("ip", [f"link set {port(node, rail)} {DOWN_AND_UP[up]}"])

    def cut(self, node: int) -> None:
        """Pulls all cables of a node that has been killed; the kernel may have taken them away, or be about to."""
        for rail in self.links.every_rail:
            try:
                self.set_link(node, rail, up=False)
            except OSError:
                if is_there(port(node, rail)):
                    raise


def is_there(interface: str) -> bool:
    try:
        return socket.if_nametoindex(interface) != 0
    except OSError:
        return False


def port(node: int, rail: int) -> str:
    """The name of the switch's end of a cable."""
    return f"n{node}r{rail}"


def hardware(node: int, rail: int) -> str:
    """The address of a node's interface, from which the forwarder knows where a frame goes."""
    return f"02:77:00:{rail:02x}:{node >> 8:02x}:{node & 255:02x}"


def bits(rate: str) -> float:
    """Bits a second of what tc takes: 10gbit, 100mbit, 500kbit."""
    for unit, factor in (("gbit", 1e9), ("mbit", 1e6), ("kbit", 1e3), ("bit", 1.0)):
        if rate.endswith(unit):
            return float(rate.removesuffix(unit)) * factor
    raise ValueError(rate)


def burst(rate: str) -> int:
    """Bytes."""
    return max(int(bits(rate) / 8 * 0.002), 3200)

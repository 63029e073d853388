"""The first process of a cluster: makes network, nodes and launchers, runs the command on node 1, answers `cluster ...`."""

import os
import selectors
import signal
import socket
import subprocess
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path

from . import kernel, launchers, node, slurm, wire
from .network import Links, Network, hosts

GRACE = 3.0  # seconds between a signal to the command and the end of everything
CLOSING = 0.2  # seconds in which the connections of a killed node are closed, besides the network's delay


@dataclass
class Plan:
    """The request."""

    name: str
    links: Links
    command: list[str]
    terminal: bool  # the command gets the terminal's keys
    slurm: bool = False
    forwarder: Path | None = None
    shown: dict[str, Path] = field(default_factory=dict)  # launcher: prefix of its environment
    cores: int = 0  # of a node; 0: all of the machine


def main(plan: Plan, maker: socket.socket, outside: socket.socket) -> None:
    """In the new pid namespace. `maker`: signals come from it, errors go to it. Never returns."""
    code = 1
    try:
        kernel.die_with_parent(signal.SIGKILL)
        wire.send(maker, {"alive": True})  # fails if the maker died before it could take this process along
        for number in node.IGNORED:
            signal.signal(number, signal.SIG_IGN)
        kernel.unshare(kernel.NEWNET | kernel.NEWUTS | kernel.NEWIPC)
        kernel.own_mounts()
        # Sockets of daemons, logs, spools: all in memory, and seen from all nodes.
        kernel.mount("tmpfs", "/run", "tmpfs", data="mode=755")
        node.STATE.mkdir()
        (node.STATE / "hosts").write_text(hosts(plan.links))
        (node.STATE / "log").mkdir()
        code = Init(plan, maker, outside).run()
    except kernel.NotHere as refused:
        wire.send(maker, {"error": str(refused)})
        code = 77
    except (OSError, subprocess.SubprocessError) as wrong:
        wire.send(maker, {"error": str(wrong)})
    finally:
        sys.stderr.flush()
        os._exit(code)


class Init:
    def __init__(self, plan: Plan, maker: socket.socket, outside: socket.socket):
        self.plan, self.maker, self.outside = plan, maker, outside
        self.environment = os.environ | {"PATH": f"{launchers.FOLDER}:{os.environ.get('PATH', os.defpath)}"}
        self.pids: dict[int, int] = {}  # by node
        self.agents: dict[int, socket.socket] = {}
        self.services: list[socket.socket] = []  # connections of daemons: while they are open, the daemons run
        self.selector = selectors.DefaultSelector()
        self.code: int | None = None
        self.deadline: float | None = None

    def run(self) -> int:
        # Prepared before the nodes are made: they inherit what is mounted here.
        if self.plan.slurm:
            slurm.prepare(self.plan.links.nodes)
        launchers.prepare(self.plan.shown)
        inside = wire.listen(wire.CONTROL)
        for number in range(1, self.plan.links.nodes + 1):
            self.pids[number], self.agents[number] = node.start(number, self.environment, self.plan.cores)
        self.network = Network(self.plan.links, self.plan.forwarder)
        self.network.build(list(self.pids.values()))
        if self.plan.slurm:
            slurm.start(self.plan.links.nodes, self.service, self.pids[1])

        ended, wake = socket.socketpair()
        for end in (ended, wake):
            end.setblocking(False)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        signal.set_wakeup_fd(wake.fileno(), warn_on_full_buffer=False)
        for end, act in ((inside, lambda: self.accept(inside)), (self.outside, lambda: self.accept(self.outside)),
                         (self.maker, self.heed), (ended, lambda: (ended.recv(4096), self.reap()))):
            self.selector.register(end, selectors.EVENT_READ, act)
        self.command = self.start(1, self.plan.command, [0, 1, 2], cwd=os.getcwd(),
                                  terminal=self.plan.terminal)
        self.selector.register(self.command, selectors.EVENT_READ, self.finish)
        while self.code is None:
            left = None if self.deadline is None else self.deadline - time.monotonic()
            if left is not None and left <= 0:
                return 128 + signal.SIGKILL
            for key, _ in self.selector.select(left):
                key.data()
        return self.code

    # ---- commands on nodes ------------------------------------------------------------------------------------------

    def start(self, number: int, argv: list[str], standard: list[int], cwd: str, terminal: bool) -> socket.socket:
        """Runs a command on a node; what is returned tells its end."""
        ours, its = wire.pair()
        wire.send(self.agents[number], {"argv": argv, "env": self.environment, "cwd": cwd, "terminal": terminal},
                  [its.fileno(), *standard])
        its.close()
        return ours

    def service(self, number: int, argv: list[str], log: Path) -> None:
        """Starts a daemon on a node; on no node, number 0, beside them."""
        with log.open("ab") as out, open(os.devnull, "rb") as nothing:
            if number == 0:
                subprocess.Popen(argv, stdin=nothing, stdout=out, stderr=out, env=self.environment)
                return
            self.services.append(self.start(number, argv, [nothing.fileno(), out.fileno(), out.fileno()], "/", False))

    def finish(self) -> None:
        message, _ = wire.receive(self.command)
        self.selector.unregister(self.command)
        if message is None:
            print("cluster: node 1, which ran the command, was killed", file=sys.stderr)
            self.code = 128 + signal.SIGKILL
        elif "error" in message:
            print(f"cluster: {message['error']}", file=sys.stderr)
            self.code = 127
        else:
            code = os.waitstatus_to_exitcode(message["status"])
            self.code = code if code >= 0 else 128 - code

    def heed(self) -> None:
        """A signal that the maker got."""
        message, _ = wire.receive(self.maker)
        if message is None:
            os._exit(1)
        wire.send(self.command, message)
        if self.deadline is None:
            self.deadline = time.monotonic() + GRACE

    def reap(self) -> None:
        while True:
            try:
                pid, _ = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                return
            if pid == 0:
                return
            if self.network.process and pid == self.network.process.pid:
                print("cluster: the forwarder ended, and with it the network", file=sys.stderr)
            for number in [number for number, first in self.pids.items() if first == pid]:
                del self.pids[number]
                self.agents.pop(number).close()

    def kill(self, number: int) -> None:
        """The first process of the node, and with it the kernel all others, which closes their connections. They are gone
        when it has been reaped. The node's interfaces are not: a network namespace is taken away some time later, and answers
        until then. So its cables are pulled, once the connections have been closed."""
        os.kill(self.pids[number], signal.SIGKILL)
        limit = time.monotonic() + GRACE
        while number in self.pids:
            if time.monotonic() > limit:
                raise OSError(f"node {number} has a process that does not end")
            time.sleep(0.001)
            self.reap()
        time.sleep(CLOSING + 2 * (self.plan.links.delay + self.plan.links.jitter) / 1e9)
        self.network.cut(number)

    # ---- what is asked ----------------------------------------------------------------------------------------------

    def accept(self, listener: socket.socket) -> None:
        asker, _ = listener.accept()
        if not wire.same_user(asker):
            asker.close()
            return
        self.selector.register(asker, selectors.EVENT_READ, lambda: self.answer(asker))

    def answer(self, asker: socket.socket) -> None:
        self.selector.unregister(asker)
        request, descriptors = wire.receive(asker)
        try:
            if request is not None:
                self.perform(request, asker, descriptors)
        except (OSError, KeyError, TypeError) as wrong:
            try:
                wire.send(asker, {"error": f"not done: {wrong}"})
            except OSError:
                pass  # it has hung up
        for descriptor in descriptors:
            os.close(descriptor)
        asker.close()

    def perform(self, request: dict, asker: socket.socket, descriptors: list[int]) -> None:
        number, asked = request.get("node"), request["ask"]
        if asked == "status":
            wire.send(asker, {"ok": {"name": self.plan.name, "nodes": self.plan.links.nodes, "alive": list(self.pids)}})
            return
        if not isinstance(number, int) or not 1 <= number <= self.plan.links.nodes:
            wire.send(asker, {"error": f"there is no node {number}: this cluster has {self.plan.links.nodes}"})
        elif number not in self.pids:
            wire.send(asker, {"error": f"node {number} has been killed"})
        elif asked == "run":
            # The node answers for itself; the asker's connection is handed on to it.
            wire.send(self.agents[number], request, [asker.fileno(), *descriptors])
        elif asked == "kill":
            self.kill(number)
            wire.send(asker, {"ok": None})
        elif asked == "link":
            every = self.plan.links.every_rail
            if request["rail"] and request["rail"] not in every:
                wire.send(asker, {"error": f"there is no rail {request['rail']}: this cluster has {self.plan.links.rails}"})
                return
            for rail in [request["rail"]] if request["rail"] else every:
                self.network.set_link(number, rail, request["up"])
            wire.send(asker, {"ok": None})

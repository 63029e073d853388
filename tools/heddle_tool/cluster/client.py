"""Requests to a running cluster: a command on a node, a cable pulled, a node killed. And the stand-in for ssh."""

import os
import re
import selectors
import shlex
import signal
import socket
import sys

from ..errors import BadInput
from . import node, wire

PASSED_ON = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT, signal.SIGUSR1, signal.SIGUSR2)
SSH_WITH_VALUE = "BbcDEeFIiJLlmOopQRSWw"  # options of ssh that take a value


def connect(name: str) -> socket.socket:
    """To the cluster of this name; without a name to that in which this process runs."""
    try:
        return wire.connect(wire.abstract(name) if name else wire.CONTROL)
    except OSError:
        raise BadInput(f"there is no cluster called {name!r}" if name else
                       "this is not inside a cluster; from outside, say which one: --name") from None


def ask(name: str, request: dict):
    """The answer to what is done at once."""
    end = connect(name)
    wire.send(end, request)
    message, _ = wire.receive(end)
    if message is None or "error" in message:
        raise BadInput(message["error"] if message else "the cluster ended")
    return message["ok"]


def run(name: str, number: int, argv: list[str], fresh: bool = False) -> int:
    """Runs a command on a node with the caller's standard streams; its exit code, 255 if the node was lost. `fresh`: as a
    login would, in the home folder with the environment that the cluster was made with."""
    end = connect(name)
    terminal = not fresh and in_foreground()
    request = {"ask": "run", "node": number, "argv": argv, "terminal": terminal,
               "env": None if fresh else dict(os.environ), "cwd": None if fresh else os.getcwd()}
    arrived, wake = socket.socketpair()
    for side in (arrived, wake):
        side.setblocking(False)
    for caught in PASSED_ON:
        signal.signal(caught, lambda *_: None)
    signal.set_wakeup_fd(wake.fileno())
    wire.send(end, request, [0, 1, 2])
    selector = selectors.DefaultSelector()
    selector.register(end, selectors.EVENT_READ)
    selector.register(arrived, selectors.EVENT_READ)
    while True:
        for key, _ in selector.select():
            if key.fileobj is arrived:
                for caught in arrived.recv(4096):
                    if caught in PASSED_ON:
                        wire.send(end, {"signal": caught})
                continue
            message, _ = wire.receive(end)
            if terminal:
                node.take_terminal()
            return told(message, number)


def told(message: dict | None, number: int) -> int:
    if message is None:
        print(f"cluster: node {number} was lost", file=sys.stderr)
        return 255
    if "error" in message:
        print(f"cluster: {message['error']}", file=sys.stderr)
        return 255
    code = os.waitstatus_to_exitcode(message["status"])
    return code if code >= 0 else 128 - code


def in_foreground() -> bool:
    """True if this process's group is the one that the keys of the terminal on standard input reach."""
    try:
        return os.tcgetpgrp(0) == os.getpgrp()
    except OSError:
        return False


def ssh(argv: list[str]) -> int:
    """ssh [OPTIONS] [USER@]HOST COMMAND...: as ssh would, options are accepted and ignored."""
    rest = list(argv)
    while rest and rest[0].startswith("-"):
        option = rest.pop(0)
        if option == "--":
            break
        if "n" in option[1:] and option[1] not in SSH_WITH_VALUE:
            os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        if len(option) == 2 and option[1] in SSH_WITH_VALUE and rest:
            rest.pop(0)
    if not rest:
        raise BadInput("ssh without a host")
    host = rest.pop(0).rpartition("@")[2]
    found = re.fullmatch(r"node(\d+)(-\d+)?|10\.77\.\d+\.(\d+)", host)
    if not found:
        print(f"ssh: Could not resolve hostname {host}: it is no node of this cluster", file=sys.stderr)
        return 255
    command = ["/bin/sh", "-c", " ".join(rest)] if rest else [os.environ.get("SHELL", "/bin/sh")]
    return run("", int(found[1] or found[3]), command, fresh=True)


def number_of(text: str) -> int:
    found = re.fullmatch(r"(?:node)?(\d+)", text)
    if not found:
        raise BadInput(f"{text!r} is no node: 1, 2, ... or node1, node2, ...")
    return int(found[1])


def operate(name: str, words: list[str]) -> int:
    """cluster node K COMMAND... | link K down|up [RAIL] | kill-node K | status"""
    match words:
        case ["node", text, *command] if command:
            return run(name, number_of(text), command)
        case ["link", text, ("up" | "down") as state, *rail] if len(rail) <= 1 and all(r.isdigit() for r in rail):
            ask(name, {"ask": "link", "node": number_of(text), "rail": int(rail[0]) if rail else None,
                       "up": state == "up"})
        case ["kill-node", text]:
            ask(name, {"ask": "kill", "node": number_of(text)})
        case ["status"]:
            status = ask(name, {"ask": "status"})
            print(f"{status['name']}: {status['nodes']} nodes, alive: {' '.join(map(str, status['alive'])) or 'none'}")
        case ["ssh", *rest]:
            return ssh(rest)
        case _:
            raise BadInput(f"not understood: {shlex.join(words)}; there are: N COMMAND..., node K COMMAND..., "
                           "link K down|up [RAIL], kill-node K, status")
    return 0

"""`cluster`: makes a cluster and runs a command in it, or asks one that runs."""

import argparse
import os
import re
import signal
import socket
import sys
from pathlib import Path

from ..bench import mpis
from ..errors import BadInput
from . import client, forwarder, init, kernel, launchers, network, node, wire

EPILOG = """\
COMMAND runs on node 1, by default a shell; the nodes are called node1, node2, ..., their addresses are 10.77.0.K, on a
second rail 10.77.1.K (node1-2, node2-2, ...). Each has its own processes, /tmp and /dev/shm; the rest of the file system
is this machine's. When COMMAND ends, or is ended, everything is gone. Its exit code is the command's; 77 says that
this machine does not allow a cluster.

In a cluster, or with --name from outside:
  cluster node K COMMAND...      run a command on node K, here
  cluster link K down|up [RAIL]  pull the node's cable, or plug it in
  cluster kill-node K            all its processes end, and then it answers no more
  cluster status
"""
MOST_NODES = 250
PASSED_ON = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT)
UNITS = {"ns": 1, "us": 1_000, "ms": 1_000_000, "s": 1_000_000_000}


def duration(text: str) -> int:
    """Nanoseconds."""
    found = re.fullmatch(r"(\d+(?:\.\d+)?)(ns|us|ms|s)", text)
    if not found:
        raise argparse.ArgumentTypeError(f"{text!r} is no time: 20us, 1.5ms")
    return round(float(found[1]) * UNITS[found[2]])


def fraction(text: str) -> float:
    found = re.fullmatch(r"(\d+(?:\.\d+)?)%", text)
    if not found or float(found[1]) > 100:
        raise argparse.ArgumentTypeError(f"{text!r} is no loss: 0.1%")
    return float(found[1]) / 100


def rates(text: str) -> tuple[str, ...]:
    for one in text.split(","):
        if not re.fullmatch(r"\d+(\.\d+)?[gmk]?bit", one):
            raise argparse.ArgumentTypeError(f"{one!r} is no rate: 10gbit, 100mbit")
    return tuple(text.split(","))


class Parser(argparse.ArgumentParser):
    def error(self, message):
        raise BadInput(message)


def make_parser() -> Parser:
    parser = Parser(prog="cluster", usage="cluster [OPTIONS] N [COMMAND...]", epilog=EPILOG, allow_abbrev=False,
                    description="Makes N nodes on this machine and runs a command in them.",
                    formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--delay", type=duration, default=0, metavar="TIME", help="from node to node: 20us, 1ms")
    parser.add_argument("--jitter", type=duration, default=0, metavar="TIME", help="at most so much more, at random")
    parser.add_argument("--loss", type=fraction, default=0.0, metavar="PERCENT", help="of frames, at random: 0.1%%")
    parser.add_argument("--rate", type=rates, default=(), metavar="RATE",
                        help="that a node sends with on each rail: 10gbit, 100mbit; for each rail its own: 1gbit,3gbit")
    parser.add_argument("--rails", type=int, default=1, metavar="R", help="networks between the nodes (1)")
    parser.add_argument("--cores", type=int, default=0, metavar="K", help="that each node has, its own while there are enough (all)")
    parser.add_argument("--slurm", action="store_true", help="start Slurm: srun, sbatch")
    parser.add_argument("--prrte", action="store_true", help="offer prterun, from the environment of Open MPI")
    parser.add_argument("--hydra", action="store_true", help="offer mpiexec.hydra, from the environment of MPICH")
    parser.add_argument("--name", default="", help="by which the cluster is asked from outside")
    return parser


def split(parser: Parser, argv: list[str]) -> tuple[list[str], list[str]]:
    """Options, and what follows them from the first word that is none."""
    place = 0
    while place < len(argv) and argv[place].startswith("-") and argv[place] != "--":
        action = parser._option_string_actions.get(argv[place])
        place += 2 if action is not None and action.nargs is None else 1
    return argv[:place], argv[place:]


def main(argv: list[str] | None = None) -> int:
    try:
        return perform(sys.argv[1:] if argv is None else argv)
    except (BadInput, kernel.NotHere) as wrong:
        print(f"cluster: {wrong}", file=sys.stderr)
        return 77 if isinstance(wrong, kernel.NotHere) else 2


def perform(argv: list[str]) -> int:
    parser = make_parser()
    options, words = split(parser, argv)
    given = parser.parse_args(options)
    if not words:
        parser.print_help()
        return 2
    if not words[0].isdigit():
        return client.operate(given.name, words)
    if not 1 <= int(words[0]) <= MOST_NODES or not 1 <= given.rails <= 16:
        raise BadInput(f"a cluster has 1 to {MOST_NODES} nodes and 1 to 16 rails")
    if len(given.rate) not in (0, 1, given.rails):
        raise BadInput(f"--rate has {len(given.rate)} rates for --rails {given.rails}: give one for all or one for each")
    allowed = sorted(os.sched_getaffinity(0))
    if not 0 <= given.cores <= len(allowed):
        raise BadInput(f"a node cannot have {given.cores} cores: this machine has {len(allowed)}")
    if os.geteuid() != 0:
        raise kernel.NotHere("a cluster needs root, which makes namespaces, interfaces and mounts")
    cwd = Path.cwd()
    if any(cwd.is_relative_to(own) for own in ("/tmp", "/dev/shm", "/run")):
        raise BadInput(f"{cwd} is not seen on the nodes, whose /tmp, /dev/shm and /run are their own: call from elsewhere")
    links = network.Links(int(words[0]), given.rails, given.rate, given.delay, given.jitter, given.loss)
    asked = {"prrte": given.prrte, "hydra": given.hydra}
    shown = {launcher: mpis.peer(launchers.ENVIRONMENTS[launcher][0], tell).prefix for launcher in asked if asked[launcher]}
    plan = init.Plan(given.name or f"cluster-{os.getpid()}", links,
                     words[1:] or [os.environ.get("SHELL", "/bin/sh")], client.in_foreground(), given.slurm,
                     forwarder.program(tell) if links.forwarded else None, shown, given.cores)
    return make(plan)


def tell(text: str) -> None:
    print(f"cluster: {text}", file=sys.stderr)


def make(plan: init.Plan) -> int:
    try:
        outside = wire.listen(wire.abstract(plan.name))
    except OSError:
        raise BadInput(f"a cluster called {plan.name!r} runs already") from None
    ours, its = wire.pair()
    kernel.unshare(kernel.NEWPID)
    sys.stdout.flush()
    pid = os.fork()
    if pid == 0:
        ours.close()
        init.main(plan, its, outside)
    its.close()
    outside.close()
    got: list[int] = []

    def pass_on(number, _):
        got.append(number)
        try:
            wire.send(ours, {"signal": number})
        except OSError:
            pass  # it has ended
        # It may still be making the nodes, or be unable to end.
        signal.setitimer(signal.ITIMER_REAL, init.GRACE + 1)

    for number in PASSED_ON:
        signal.signal(number, pass_on)
    signal.signal(signal.SIGALRM, lambda *_: os.kill(pid, signal.SIGKILL))
    _, status = os.waitpid(pid, 0)  # with it all other processes of its namespace have ended
    signal.setitimer(signal.ITIMER_REAL, 0)
    if plan.terminal:
        node.take_terminal()
    while True:
        message, _ = wire.receive(ours)
        if message is None:
            break
        if "error" in message:
            print(f"cluster: {message['error']}", file=sys.stderr)
    if got:
        return 128 + got[0]
    code = os.waitstatus_to_exitcode(status)
    return code if code >= 0 else 128 - code

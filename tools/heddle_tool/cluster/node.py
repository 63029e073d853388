"""A node: pid 1 of a pid namespace, with network, UTS, IPC and mount namespaces of its own. It runs what init passes on."""

import os
import selectors
import signal
import socket
from pathlib import Path

from . import kernel, wire

IGNORED = (signal.SIGINT, signal.SIGQUIT, signal.SIGTSTP, signal.SIGTTIN, signal.SIGTTOU, signal.SIGHUP)
STATE = Path("/run/cluster")


def start(number: int, environment: dict[str, str], cores: int) -> tuple[int, socket.socket]:
    """Makes the node; its pid as the caller sees it, and the socket on which it is asked. Its interfaces come later.
    It has so many of the machine's cores (0: all), the next in turn."""
    ours, its = wire.pair()
    between = os.fork()  # a process can make one pid namespace for its children, so each node takes another process
    if between == 0:
        try:
            ours.close()
            kernel.unshare(kernel.NEWPID)
            pid = os.fork()
            if pid:
                wire.send(its, {"pid": pid})
                os._exit(0)
            kernel.unshare(kernel.NEWNET | kernel.NEWUTS | kernel.NEWIPC)
            furnish(number)
            if cores:
                allowed = sorted(os.sched_getaffinity(0))
                os.sched_setaffinity(0, {allowed[((number - 1) * cores + i) % len(allowed)] for i in range(cores)})
            wire.send(its, {"ready": True})
            Agent(its, environment).run()
        except BaseException as wrong:  # noqa: BLE001 this process must never return into the caller's code
            try:
                wire.send(its, {"error": str(wrong), "not_here": isinstance(wrong, kernel.NotHere)})
            finally:
                os._exit(1)
    its.close()
    os.waitpid(between, 0)
    pid, ready = 0, False
    while not (pid and ready):  # of the process between and of the node, in any order
        message, _ = wire.receive(ours)
        if message is None:
            raise OSError(f"node {number} ended while it was made")
        if "error" in message:
            raise kernel.NotHere(message["error"]) if message["not_here"] else OSError(message["error"])
        pid, ready = message.get("pid", pid), ready or "ready" in message
    return pid, ours


def furnish(number: int) -> None:
    socket.sethostname(f"node{number}")
    kernel.own_mounts()
    kernel.mount("tmpfs", "/tmp", "tmpfs", data="mode=1777")
    kernel.mount("tmpfs", "/dev/shm", "tmpfs", data="mode=1777")
    named = STATE / f"hostname.{number}"
    named.write_text(f"node{number}\n")
    for source, target in ((STATE / "hosts", "/etc/hosts"), (named, "/etc/hostname")):
        if Path(target).exists():
            kernel.bind(str(source), target)


class Agent:
    """Runs commands, each for the process at the other end of its connection, and reaps what is left to pid 1."""

    def __init__(self, requests: socket.socket, environment: dict[str, str]):
        self.requests, self.environment = requests, environment
        self.commands: dict[int, socket.socket] = {}  # by pid
        self.selector = selectors.DefaultSelector()

    def run(self) -> None:
        for number in IGNORED:
            signal.signal(number, signal.SIG_IGN)
        ended, wake = socket.socketpair()
        for end in (ended, wake):
            end.setblocking(False)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        signal.set_wakeup_fd(wake.fileno(), warn_on_full_buffer=False)
        self.selector.register(self.requests, selectors.EVENT_READ, self.accept)
        self.selector.register(ended, selectors.EVENT_READ, lambda: (ended.recv(4096), self.reap()))
        while True:
            for key, _ in self.selector.select():
                key.data()

    def accept(self) -> None:
        request, descriptors = wire.receive(self.requests)
        if request is None:
            os._exit(0)  # init is gone
        asker = socket.socket(fileno=descriptors[0])
        # A signal may be passed on at once, when the new process would still ignore it: it waits.
        signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())
        pid = os.fork()
        if pid == 0:
            become(request, descriptors[1:4], self.environment, asker)
        signal.pthread_sigmask(signal.SIG_SETMASK, [])
        for descriptor in descriptors[1:]:
            os.close(descriptor)
        self.commands[pid] = asker
        self.selector.register(asker, selectors.EVENT_READ, lambda: self.heed(pid, asker))

    def heed(self, pid: int, asker: socket.socket) -> None:
        if pid not in self.commands:
            return  # it has just been reaped
        message, _ = wire.receive(asker)
        if message is None:
            self.forget(asker)
            del self.commands[pid]
        number = signal.SIGHUP if message is None else message["signal"]
        for kill in (os.killpg, os.kill):  # it may not have made its group yet
            try:
                kill(pid, number)
                break
            except ProcessLookupError:
                pass

    def reap(self) -> None:
        while True:
            try:
                pid, status = os.waitpid(-1, os.WNOHANG | os.WUNTRACED)
            except ChildProcessError:
                return
            if pid == 0:
                return
            if os.WIFSTOPPED(status):
                # By the terminal's key: no shell watches over this group, so no other process would continue it.
                if pid in self.commands and os.WSTOPSIG(status) == signal.SIGTSTP:
                    os.killpg(pid, signal.SIGCONT)
                continue
            asker = self.commands.pop(pid, None)
            if asker:
                try:
                    wire.send(asker, {"status": status})
                except OSError:
                    pass  # it has hung up
                self.forget(asker)

    def forget(self, asker: socket.socket) -> None:
        self.selector.unregister(asker)
        asker.close()


def become(request: dict, standard: list[int], environment: dict[str, str], asker: socket.socket) -> None:
    """In the new process: turns into the command. Never returns."""
    try:
        for place, descriptor in enumerate(standard):
            os.dup2(descriptor, place)
        if request["terminal"]:
            os.setpgid(0, 0)
            take_terminal()
        else:
            os.setsid()
        signal.set_wakeup_fd(-1)
        for number in (*IGNORED, signal.SIGCHLD, signal.SIGPIPE):
            signal.signal(number, signal.SIG_DFL)
        signal.pthread_sigmask(signal.SIG_SETMASK, [])
        argv = request["argv"]
        where = request["cwd"] or environment.get("HOME", "/")
        try:
            os.chdir(where)
        except OSError as wrong:
            tell(asker, f"{where} is not on the node, whose /tmp and /dev/shm are its own: {wrong.strerror}")
        env = request["env"] if request["env"] is not None else environment
        try:
            os.closerange(3, asker.fileno())
            os.closerange(asker.fileno() + 1, 65536)
            os.set_inheritable(asker.fileno(), False)
            os.execvpe(argv[0], argv, env)
        except OSError as wrong:
            tell(asker, f"{argv[0]}: {wrong.strerror}")
    finally:
        os._exit(127)


def take_terminal() -> None:
    """Makes the caller's group the one that the terminal's keys reach, if standard input is its terminal."""
    before = signal.signal(signal.SIGTTOU, signal.SIG_IGN)
    try:
        os.tcsetpgrp(0, os.getpgrp())
    except OSError:
        pass
    signal.signal(signal.SIGTTOU, before)


def tell(asker: socket.socket, error: str) -> None:
    wire.send(asker, {"error": error})
    os._exit(127)

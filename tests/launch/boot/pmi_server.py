"""A launcher for tests: starts ranks and speaks PMI-1 or PMI-2 with each over a socket, as Hydra and Slurm do. It can also misbehave."""

import dataclasses
import os
import selectors
import signal
import socket
import subprocess
import tempfile
import time
import uuid


@dataclasses.dataclass
class Result:
    codes: list[int]  # of the ranks; negative: a signal
    out: str
    err: str
    seconds: float
    aborted: int | None  # the code that a rank has asked to end the job with
    finalized: int  # ranks that have said that they have finished
    put: dict[str, str]

    @property
    def lines(self) -> list[str]:
        return sorted(self.out.splitlines())


class Launcher:
    """Starts `size` processes of `command`. `version` is the only one of PMI that it speaks.

    kills: ends all when a rank ends without having finalized, as Hydra does and srun does not
    change: called with (rank, request, answer), may return another answer, bytes that are sent as they are, or None for no answer
    leave: the request at which the launcher closes the connection
    """

    def __init__(self, size: int, command: list[str], env: dict[str, str], *, version: int = 1, kills: bool = False, change=None,
                 leave: str = "", each=None, limit: float = 60):
        self.size, self.command, self.env, self.version, self.kills = size, command, env, version, kills
        self.change, self.leave, self.each, self.limit = change, leave, each, limit
        self.store: dict[str, str] = {"PMI_process_mapping": f"(vector,(0,1,{size}))"}
        self.name = f"kvs_{uuid.uuid4().hex}"
        self.waiting: list[int] = []  # in the fence
        self.finalized: set[int] = set()
        self.aborted: int | None = None

    # ---- the protocol

    def encode(self, words: dict[str, str], version: int) -> bytes:
        if version == 1:
            return (" ".join(f"{key}={value}" for key, value in words.items()) + "\n").encode()
        body = "".join(f"{key}={value.replace(';', ';;')};" for key, value in words.items())
        return f"{len(body):6}{body}".encode()

    def take(self, rank: int) -> dict[str, str] | None:
        data = self.bytes[rank]
        if self.version == 1 or not self.begun[rank]:
            line, newline, rest = data.partition(b"\n")
            if not newline:
                return None
            self.bytes[rank] = rest
            return dict(word.split("=", 1) for word in line.decode().split(" "))
        if len(data) < 6 or len(data) < 6 + int(data[:6]):
            return None
        length = int(data[:6])
        body, self.bytes[rank] = data[6 : 6 + length].decode(), data[6 + length :]
        words = (word.split("=", 1) for word in body.replace(";;", "\0").split(";") if word)
        return {key: value.replace("\0", ";") for key, value in words}

    def answer(self, rank: int, words: dict[str, str]):
        command = words["cmd"]
        if command == self.leave:
            self.sockets[rank].close()
            del self.sockets[rank]
            return
        if command == "init":
            matches = int(words["pmi_version"]) == self.version
            self.reply(rank, words, {"cmd": "response_to_init", "pmi_version": str(self.version), "pmi_subversion": "0", "rc": "0" if matches else "-1"}, 1)
            self.begun[rank] = matches
        elif command == "fullinit":
            self.reply(rank, words, {"cmd": "fullinit-response", "pmi-version": "2", "pmi-subversion": "0", "rank": str(rank), "size": str(self.size),
                                     "appnum": "0", "rc": "0"})
        elif command == "get_my_kvsname":
            self.reply(rank, words, {"cmd": "my_kvsname", "kvsname": self.name})
        elif command == "get_appnum":
            self.reply(rank, words, {"cmd": "appnum", "appnum": "0"})
        elif command == "get_universe_size":
            self.reply(rank, words, {"cmd": "universe_size", "size": "64", "rc": "0"})
        elif command == "info-getjobattr":
            self.reply(rank, words, {"cmd": "info-getjobattr-response", "found": "TRUE", "value": "64", "rc": "0"})
        elif command in ("put", "kvs-put"):
            self.store[words["key"]] = words["value"]
            self.reply(rank, words, {"cmd": "put_result" if command == "put" else "kvs-put-response", "rc": "0"})
        elif command in ("get", "kvs-get"):
            there = words["key"] in self.store
            answer = {"cmd": "get_result" if command == "get" else "kvs-get-response", "rc": "0" if there else "-1"}
            if command == "kvs-get":
                answer |= {"found": "TRUE" if there else "FALSE"}
            self.reply(rank, words, answer | {"value": self.store.get(words["key"], "")})
        elif command in ("barrier_in", "kvs-fence"):
            self.waiting.append(rank)
            if len(self.waiting) == self.size:
                waiting, self.waiting = self.waiting, []
                for one in waiting:
                    self.reply(one, words, {"cmd": "barrier_out" if command == "barrier_in" else "kvs-fence-response", "rc": "0"})
        elif command == "finalize":
            self.finalized.add(rank)
            self.reply(rank, words, {"cmd": "finalize_ack" if self.version == 1 else "finalize-response", "rc": "0"})
        elif command == "abort":
            self.aborted = int(words["exitcode"])
            self.end()
        else:
            raise ValueError(f"rank {rank} says {words}")

    def reply(self, rank: int, request: dict[str, str], answer: dict[str, str], version: int | None = None):
        changed = self.change(rank, request, answer) if self.change else answer
        if changed is None:
            return
        data = changed if isinstance(changed, bytes) else self.encode(changed, version or self.version)
        try:
            self.sockets[rank].sendall(data)
        except (OSError, KeyError):
            pass  # it has ended

    # ---- processes

    def end(self):
        for process in self.processes:
            if process.poll() is None:
                process.send_signal(signal.SIGKILL)

    def start(self, rank: int, out, err) -> subprocess.Popen:
        ours, theirs = socket.socketpair()
        with theirs:
            env = self.env | {"PMI_FD": str(theirs.fileno()), "PMI_RANK": str(rank), "PMI_SIZE": str(self.size)}
            if self.each:
                env |= self.each(rank)
            process = subprocess.Popen(self.command, env=env, pass_fds=[theirs.fileno()], stdin=subprocess.DEVNULL, stdout=out, stderr=err)
        self.sockets[rank] = ours
        return process

    def run(self) -> Result:
        since = time.monotonic()
        self.sockets: dict[int, socket.socket] = {}
        self.bytes = [b""] * self.size
        self.begun = [False] * self.size
        self.processes: list[subprocess.Popen] = []
        with tempfile.TemporaryFile("w+", errors="backslashreplace") as out, tempfile.TemporaryFile("w+", errors="backslashreplace") as err:
            try:
                for rank in range(self.size):
                    self.processes.append(self.start(rank, out, err))
                while any(process.poll() is None for process in self.processes):
                    if time.monotonic() - since > self.limit:
                        raise TimeoutError(f"{self.command} has not ended in {self.limit} s")
                    self.serve()
            finally:
                self.end()
                for process in self.processes:
                    process.wait()
                for one in self.sockets.values():
                    one.close()
            out.seek(0)
            err.seek(0)
            return Result([process.returncode for process in self.processes], out.read(), err.read(), time.monotonic() - since,
                          self.aborted, len(self.finalized), {key: text for key, text in self.store.items() if key != "PMI_process_mapping"})

    def serve(self):
        with selectors.DefaultSelector() as selector:
            for rank, one in self.sockets.items():
                selector.register(one, selectors.EVENT_READ, rank)
            ready = [key.data for key, _ in selector.select(0.02)]
        for rank in ready:
            try:
                data = self.sockets[rank].recv(65536)
            except OSError:
                data = b""
            self.bytes[rank] += data
            while rank in self.sockets and (words := self.take(rank)):
                self.answer(rank, words)
            if not data and rank in self.sockets:
                self.sockets.pop(rank).close()
                if self.kills and rank not in self.finalized:
                    self.end()

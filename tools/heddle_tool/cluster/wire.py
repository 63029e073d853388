"""How the parts of a cluster talk: datagrams of JSON over local sockets, with file descriptors beside them.

A request is one of
    {"ask": "run", "node": K, "argv": [...], "env": {...} or null, "cwd": ... or null, "terminal": bool}
                                 with stdin, stdout and stderr; answered by {"status": CODE, as wait() has it} or
                                 {"error": TEXT}; meanwhile the asker may send {"signal": NUMBER}, and if it hangs up the
                                 command gets SIGHUP
    {"ask": "link", "node": K, "rail": R or null, "up": bool}
    {"ask": "kill", "node": K}
    {"ask": "status"}            answered by {"ok": ...} or {"error": TEXT}
"""

import errno
import json
import os
import socket

CONTROL = "/run/cluster/control"  # inside
LARGEST = 1 << 20  # bytes of a message; the kernel's limit, some 200 KiB, is below


def pair() -> tuple[socket.socket, socket.socket]:
    return socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)


def abstract(name: str) -> str:
    """The address at which a cluster is found from outside: a name without a file, that goes with its owner."""
    return f"\0heddle-cluster/{name}"


def listen(address: str) -> socket.socket:
    end = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    end.bind(address)
    end.listen(128)
    return end


def connect(address: str) -> socket.socket:
    end = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    end.connect(address)
    return end


def same_user(end: socket.socket) -> bool:
    credentials = end.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12)
    return int.from_bytes(credentials[4:8], "little") == os.geteuid()


def send(end: socket.socket, message: dict, descriptors: list[int] | None = None) -> None:
    try:
        socket.send_fds(end, [json.dumps(message).encode()], descriptors or [])
    except OSError as wrong:
        if wrong.errno == errno.EMSGSIZE:
            raise OSError("the command and its environment are too long to be passed to a node") from None
        raise


def receive(end: socket.socket) -> tuple[dict | None, list[int]]:
    """The next message and its descriptors; None when the other has hung up."""
    try:
        data, descriptors, _, _ = socket.recv_fds(end, LARGEST, 8)
    except ConnectionResetError:
        return None, []
    return (json.loads(data), descriptors) if data else (None, [])

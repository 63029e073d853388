#!/usr/bin/env python3
"""stream.py send HOST BYTES | receive BYTES: so many bytes through a connection; says how long they took."""

import socket
import sys
import time

PORT = 9000


def send(host: str, count: int) -> None:
    for _ in range(200):  # the receiver may come later
        try:
            connection = socket.create_connection((host, PORT), timeout=30)
            break
        except OSError:
            time.sleep(0.05)
    begun = time.monotonic()
    connection.sendall(bytes(count))
    connection.shutdown(socket.SHUT_WR)
    connection.recv(1)
    print(f"sent {count} in {time.monotonic() - begun:.3f} s", flush=True)


def receive(count: int) -> None:
    connection, _ = socket.create_server(("", PORT)).accept()
    got = 0
    while data := connection.recv(1 << 16):
        got += len(data)
    print(f"received {got}", flush=True)
    assert got == count


if sys.argv[1] == "send":
    send(sys.argv[2], int(sys.argv[3]))
else:
    receive(int(sys.argv[2]))

"""A foreign finds the TCP ports of a job's network and sends garbage there, by seed: the job goes on, and each rank says one line about it at most.

Senders with the library's own protocol are another matter (docs/guides/networks.md): a packet of it would have to be kept out by the library. The job
may go on or end, but not hang, and not go wrong unsaid.
"""

import os
import pathlib
import random
import re
import socket
import struct
import subprocess
import sys
import tempfile
import time
import unittest

MPIEXEC = os.environ["MPIEXEC"]
PROGRAM = os.environ["STEADY_PROGRAM"]
NETWORK = os.environ["STRANGERS_NETWORK"]
CONNECTIONS = 150
LIMIT = 60  # seconds


def descendants(pid: int) -> list[int]:
    found = [pid]
    try:
        for task in pathlib.Path(f"/proc/{pid}/task").iterdir():
            for child in (task / "children").read_text().split():
                found += descendants(int(child))
    except OSError:
        pass  # it has ended meanwhile
    return found


def ports_of(pid: int) -> list[tuple[int, str, int]]:
    """Where a process listens: the family, an address that leads there, the port."""
    own = set()
    for fd in pathlib.Path(f"/proc/{pid}/fd").iterdir():
        try:
            own.update(re.findall(r"socket:\[(\d+)\]", os.readlink(fd)))
        except OSError:
            pass
    found = []
    for file, family in (("tcp", socket.AF_INET), ("tcp6", socket.AF_INET6)):
        for line in pathlib.Path(f"/proc/{pid}/net/{file}").read_text().splitlines()[1:]:
            words = line.split()
            address, port = words[1].split(":")
            if words[3] != "0A" or words[9] not in own:
                continue
            packed = b"".join(struct.pack("=I", int(address[i:i + 8], 16)) for i in range(0, len(address), 8))
            text = socket.inet_ntop(family, packed)
            found.append((family, {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(text, text), int(port, 16)))
    return found


# How a request for a connection begins that has nothing to say, in version 3 of what `net` of libfabric speaks. It is accepted, as the last one from that address.
REQUEST = b"\3\0\0\0" + bytes(12)


def garbage(random_: random.Random) -> bytes:
    """Noise; words that look like lengths and kinds, of which the first is not libfabric's; requests of other protocols."""
    size = random_.choice((1, 8, 16, 40, 64, 400, 5000))
    kind = random_.randrange(3)
    if kind == 0:
        return random_.randbytes(size)
    if kind == 1:
        words = b"".join(struct.pack("<I", random_.choice((0, 1, 2, 3, 8, 64, 65535, 1 << 31))) for _ in range(size // 4 + 1))
        return words if words[:4] != REQUEST[:4] else b"\4" + words[1:]
    return random_.choice((b"GET / HTTP/1.0\r\n\r\n", b"SSH-2.0-scan\r\n", b"\x16\x03\x01\x02\x00\x01\x00", b"\x00" * size))


class Foreign(unittest.TestCase):
    def test_garbage(self):
        code, said = self.run_annoyed(CONNECTIONS, b"")
        self.assertEqual(code, 0, said)
        self.assertLessEqual(len([line for line in said if line.startswith("heddle: ")]), 2, said)

    @unittest.skipUnless(NETWORK == "ofi", "it is libfabric's protocol")
    def test_its_own_protocol(self):
        code, said = self.run_annoyed(CONNECTIONS // 10, REQUEST)
        if code != 0:
            self.assertRegex("\n".join(said), "was lost in the network|malformed packet|cannot (receive from other nodes|reach rank . on another node) any more")

    def run_annoyed(self, connections: int, begin: bytes) -> tuple[int, list[str]]:
        """The status of a job that foreign_count connect to, and what it says."""
        seed = int.from_bytes(os.urandom(4), "little")
        print(f"seed {seed}", flush=True)
        random_ = random.Random(seed)
        with tempfile.TemporaryDirectory() as folder:
            stop = pathlib.Path(folder) / "stop"
            job = subprocess.Popen([MPIEXEC, "--timeout", str(LIMIT), "-n", "2", PROGRAM, str(stop)], stdout=subprocess.PIPE,
                                   stderr=subprocess.STDOUT, text=True, env=os.environ | {"HEDDLE_NODES": "2", "HEDDLE_LLN": NETWORK})
            try:
                said = job.stdout.readline()
                self.assertEqual(said, "talking\n", said + (job.communicate()[0] if job.poll() is not None else ""))
                ranks = [pid for pid in descendants(job.pid) if pid != job.pid]
                ports = sorted({port for pid in ranks for port in ports_of(pid)})
                self.assertTrue(ports, "the network listens at some port")
                for number in range(connections):
                    self.annoy(ports[number % len(ports)], begin, random_)
            finally:
                stop.touch()
                rest, _ = job.communicate(timeout=LIMIT)
                print(rest)
        return job.returncode, rest.splitlines()

    def annoy(self, where: tuple[int, str, int], begin: bytes, random_: random.Random) -> None:
        family, address, port = where
        with socket.socket(family, socket.SOCK_STREAM) as foreign:
            foreign.settimeout(2)
            try:
                foreign.connect((address, port))
                if begin:
                    foreign.send(begin)
                for _ in range(random_.randrange(1, 20)):
                    foreign.send(garbage(random_))
                    time.sleep(random_.choice((0, 0, 0, 0.002)))
            except OSError:
                pass  # it has been thrown out, or is not let in


if __name__ == "__main__":
    sys.exit(unittest.main(verbosity=2))

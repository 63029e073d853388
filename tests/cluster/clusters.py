"""The common part of the tests of clusters."""

import os
import re
import subprocess
import sys
import time
import unittest
from pathlib import Path

TREE = Path(__file__).resolve().parents[2]
COMMAND = TREE / "tools" / "cluster"
LIMIT = 60  # seconds, for anything that ends by itself
KINDS = ("cgroup", "ipc", "mnt", "net", "pid", "uts")

sys.path.insert(0, str(TREE / "tools"))

from heddle_tool.bench import mpis  # noqa: E402


def cluster(*words: str, limit: int = LIMIT, **more) -> subprocess.CompletedProcess:
    return subprocess.run([str(COMMAND), *words], capture_output=True, text=True, timeout=limit, cwd=TREE, **more)


def start(*words: str, **more) -> subprocess.Popen:
    return subprocess.Popen([str(COMMAND), *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=TREE, **more)


def skip(reason: str) -> None:
    print(f"skipped: {reason}")
    sys.exit(77)


def main(*, peer: str = "", options: tuple[str, ...] = ()) -> None:
    """Runs the tests of the calling file, or skips them where no cluster can be made, or not what the options ask for."""
    if any(TREE.is_relative_to(own) for own in ("/tmp", "/dev/shm", "/run")):
        skip(f"{TREE} is in a folder of which each node has its own")
    if peer and not mpis.installed(peer):
        skip(f"{mpis.PEERS[peer].title} is not installed; heddle bench --against {peer} installs it, or HEDDLE_PEERS says where it is")
    tried = cluster(*options, "1", "true")
    if tried.returncode == 77:
        skip(tried.stderr.strip())
    unittest.main(verbosity=2)


class Case(unittest.TestCase):
    def succeed(self, *words: str) -> str:
        """The output of the command in a cluster; it must end well."""
        done = cluster(*words)
        self.assertEqual(done.returncode, 0, f"{words}: {done.stdout}{done.stderr}")
        return done.stdout

    def script(self, *options: str, text: str) -> str:
        return self.succeed(*options, "sh", "-euc", text)


# ---- what is left ---------------------------------------------------------------------------------------------------


def children(pid: int) -> list[int]:
    """A process and its descendants."""
    found = [pid]
    try:
        for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split():
            found += children(int(child))
    except OSError:
        pass  # it has ended meanwhile
    return found


def namespaces(pid: int) -> set[str]:
    found = set()
    for kind in KINDS:
        try:
            found.add(os.readlink(f"/proc/{pid}/ns/{kind}"))
        except OSError:
            pass
    return found


def namespaces_below(maker: int) -> set[str]:
    """Those in which something runs that the maker of a cluster has started."""
    every = set().union(*(namespaces(pid) for pid in children(maker)))
    return every - namespaces(os.getpid())


def left(inside: set[str], name: str) -> list[str]:
    """The remains of a cluster."""
    found = []
    for entry in filter(str.isdigit, os.listdir("/proc")):
        if namespaces(int(entry)) & inside:
            found.append(f"process {entry} in a namespace")
    found += [f"interface {i}" for i in os.listdir("/sys/class/net") if re.fullmatch(r"switch\d+|n\d+r\d+", i)]
    # A mounted namespace is named by its root, net:[NUMBER].
    found += [line for line in Path("/proc/self/mountinfo").read_text().splitlines()
              if line.split()[3] in inside or "/run/cluster" in line]
    found += [line for line in Path("/proc/net/unix").read_text().splitlines() if line.endswith(f"heddle-cluster/{name}")]
    if Path("/run/cluster/control").exists():
        found.append("/run/cluster/control")
    return found


def soon_nothing_left(inside: set[str], name: str) -> list[str]:
    """The remains after some seconds, if they do not go before: the kernel ends processes after their parent."""
    limit = time.monotonic() + 20
    while (found := left(inside, name)) and time.monotonic() < limit:
        time.sleep(0.05)
    return found

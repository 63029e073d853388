"""System calls that Python's library lacks, and the one answer to "not allowed here"."""

import ctypes
import errno
import os

NEWNS, NEWUTS, NEWIPC, NEWPID, NEWNET = 0x00020000, 0x04000000, 0x08000000, 0x20000000, 0x40000000
MS_BIND, MS_REC, MS_SLAVE = 4096, 16384, 1 << 19
PR_SET_PDEATHSIG = 1

libc = ctypes.CDLL(None, use_errno=True)


class NotHere(Exception):
    """This machine does not allow what was asked for: one sentence, exit code 77."""


def _check(result: int, what: str) -> None:
    if result == 0:
        return
    number = ctypes.get_errno()
    if number in (errno.EPERM, errno.EACCES, errno.ENOSYS, errno.EINVAL, errno.ENOSPC):
        raise NotHere(f"namespaces are not allowed here ({what}: {os.strerror(number)}); a cluster needs root with all "
                      "capabilities, as on a plain machine or in a privileged container")
    raise OSError(number, f"{what}: {os.strerror(number)}")


def unshare(flags: int) -> None:
    _check(libc.unshare(flags), "unshare")


def mount(source: str, target: str, kind: str = "", flags: int = 0, data: str = "") -> None:
    _check(libc.mount(source.encode(), target.encode(), kind.encode(), ctypes.c_ulong(flags), data.encode()),
           f"mount on {target}")


def bind(source: str, target: str) -> None:
    mount(source, target, flags=MS_BIND)


def own_mounts() -> None:
    """Later mounts are visible to this process and its descendants only; unmounts outside apply here too. In
    a pid namespace of its own, /proc shows that namespace, and /sys the network namespace."""
    unshare(NEWNS)
    mount("none", "/", flags=MS_REC | MS_SLAVE)
    mount("proc", "/proc", "proc")
    mount("sysfs", "/sys", "sysfs")


def die_with_parent(signal: int) -> None:
    libc.prctl(PR_SET_PDEATHSIG, signal, 0, 0, 0)

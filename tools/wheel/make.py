#!/usr/bin/env python3
"""Makes the wheel heddle-mpi of an installed tree.

    make.py TREE OUT [--version VERSION]

TREE is what `cmake --install` puts into a prefix, its component `wheel` included. All of it goes into the environment
that the wheel is installed into (the data of a wheel: bin, lib, include, share). Prints the path of the wheel.

The tag says which glibc is needed: that of the newest symbol that a file in the wheel asks for. A wheel has no links, so
`mpirun` is a copy and `libmpi_abi.so` a line that the linker reads.
"""

from __future__ import annotations

import argparse
import base64
import hashlib
import os
import platform
import re
import subprocess
import sys
import zipfile
from pathlib import Path

NAME = "heddle_mpi"
SUMMARY = "Heddle, an MPI library built for threads (standard ABI of MPI 5.0): mpicc, mpiexec and the library"
LICENSES = "share/licenses/heddle"
# Components: one for user-level threads shares its runtime's library with the program, and one for a network needs the machine's.
LEFT_OUT = re.compile(r"lib/heddle/(threads|lln)-[^/]*\.so|.*\.debug")
# pip writes the environment's own interpreter into the first line of these.
PYTHON_SCRIPTS = {"bin/heddle"}
TIME = (2020, 1, 1, 0, 0, 0)  # the same tree makes the same wheel


class Wrong(Exception):
    pass


def needed_glibc(file: Path) -> tuple[int, int]:
    """The newest version of glibc's symbols that the file asks for."""
    done = subprocess.run(["readelf", "--version-info", "--wide", str(file)], capture_output=True, text=True)
    if done.returncode != 0:
        raise Wrong(f"readelf can't read {file}: {done.stderr.strip()}")
    found = re.findall(r"Name: GLIBC_(\d+)\.(\d+)", done.stdout)
    return max(((int(major), int(minor)) for major, minor in found), default=(2, 17))


def is_elf(content: bytes) -> bool:
    return content.startswith(b"\x7fELF")


def content_of(tree: Path, path: Path) -> bytes:
    if path.is_symlink() and path.suffix == ".so":
        return f"INPUT({os.readlink(path)})\n".encode()
    return path.read_bytes()


def collect(tree: Path, data: str) -> tuple[dict[str, tuple[bytes, bool]], tuple[int, int]]:
    """Name in the wheel -> content and whether it is a program; and the glibc that they need."""
    files: dict[str, tuple[bytes, bool]] = {}
    glibc = (2, 17)
    for path in sorted(tree.rglob("*")):
        name = path.relative_to(tree).as_posix()
        if path.is_dir() or LEFT_OUT.fullmatch(name):
            continue
        content = content_of(tree, path)
        if is_elf(content):
            glibc = max(glibc, needed_glibc(path))
        place = f"{data}/data/{name}"
        if name in PYTHON_SCRIPTS:
            place = f"{data}/scripts/{path.name}"
            content = b"#!python\n" + content.split(b"\n", 1)[1]
        # A library is marked as a program, too, as linkers leave it.
        files[place] = content, is_elf(content) or os.access(path, os.X_OK)
    return files, glibc


def metadata(version: str, licenses: list[str], description: str) -> str:
    lines = ["Metadata-Version: 2.4", f"Name: {NAME.replace('_', '-')}", f"Version: {version}", f"Summary: {SUMMARY}",
             "License-Expression: BSD-3-Clause", *(f"License-File: {name}" for name in licenses), "Requires-Python: >=3.8",
             "Keywords: MPI,threads,HPC", "Classifier: Operating System :: POSIX :: Linux",
             "Classifier: Topic :: System :: Distributed Computing", "Description-Content-Type: text/markdown"]
    return "\n".join(lines) + f"\n\n{description}"


def make(tree: Path, out: Path, version: str, description: str) -> Path:
    for wanted in ("bin/mpiexec", "lib/libmpi_abi.so.1", "include/mpi.h", "lib/heddle/libudev.so.1",
                   f"{LICENSES}/LICENSE", f"{LICENSES}/LICENSE.hwloc"):
        if not (tree / wanted).is_file():
            raise Wrong(f"{tree} has no {wanted}; is it an installed tree with the component `wheel`?")
    info = f"{NAME}-{version}.dist-info"
    files, (major, minor) = collect(tree, f"{NAME}-{version}.data")
    tag = f"py3-none-manylinux_{major}_{minor}_{platform.machine()}"
    licenses = sorted(path.name for path in (tree / LICENSES).iterdir())
    for name in licenses:
        files[f"{info}/licenses/{name}"] = (tree / LICENSES / name).read_bytes(), False
    files[f"{info}/METADATA"] = metadata(version, licenses, description).encode(), False
    files[f"{info}/WHEEL"] = f"Wheel-Version: 1.0\nGenerator: heddle\nRoot-Is-Purelib: false\nTag: {tag}\n".encode(), False
    out.mkdir(parents=True, exist_ok=True)
    wheel = out / f"{NAME}-{version}-{tag}.whl"
    write(wheel, files, f"{info}/RECORD")
    return wheel


def write(wheel: Path, files: dict[str, tuple[bytes, bool]], record: str) -> None:
    lines = []
    with zipfile.ZipFile(wheel, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        def add(name: str, content: bytes, program: bool) -> None:
            entry = zipfile.ZipInfo(name, TIME)
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = (0o100755 if program else 0o100644) << 16
            archive.writestr(entry, content)

        for name, (content, program) in files.items():
            add(name, content, program)
            digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
            lines.append(f"{name},sha256={digest},{len(content)}\n")
        add(record, "".join([*lines, f"{record},,\n"]).encode(), False)


def version_of(tree: Path) -> str:
    text = (tree / "lib" / "pkgconfig" / "heddle.pc").read_text()
    return re.search(r"^Version: (\S+)$", text, re.M)[1]


def main() -> int:
    parser = argparse.ArgumentParser(description="Makes the wheel heddle-mpi of an installed tree.")
    parser.add_argument("tree", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--version", help="default: that of the tree")
    arguments = parser.parse_args()
    try:
        print(make(arguments.tree, arguments.out, arguments.version or version_of(arguments.tree),
                   Path(__file__).with_name("description.md").read_text()))
    except (Wrong, OSError) as wrong:
        print(f"make.py: {wrong}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())

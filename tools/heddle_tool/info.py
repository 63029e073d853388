"""`heddle info`: which Heddle this is, where it lies, and what it finds on this machine."""

import json
import os
import shutil
import subprocess
from pathlib import Path

from . import places
from .bench.campaign import commit, machine

WRAPPERS = {"C": "mpicc", "C++": "mpicxx", "Fortran": "mpifort"}
# In the order in which the library tries them between nodes.
NETWORKS = ("ucx", "ofi")
CHOOSERS = ("HEDDLE_LLN", "HEDDLE_RAILS", "UCX_NET_DEVICES", "UCX_TLS", "FI_PROVIDER", "HEDDLE_MODEL", "HEDDLE_THREADS", "HEDDLE_WAIT",
            "HEDDLE_PROGRESS", "HEDDLE_NODES")


def output(*command: str) -> str:
    """The first line that a command prints; empty if it fails."""
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return (done.stdout.splitlines() or [""])[0] if done.returncode == 0 else ""


def missing(component: Path) -> list[str]:
    """Libraries that a component needs and this machine lacks."""
    found = subprocess.run(["ldd", str(component)], capture_output=True, text=True).stdout.splitlines()
    return [line.split()[0] for line in found if "not found" in line]


def components(folder: Path, prefix: str) -> dict[str, str]:
    """Name -> "loads", or what it lacks."""
    found = {}
    for file in sorted(folder.glob(f"{prefix}-*.so")):
        lacks = missing(file)
        found[file.stem.removeprefix(f"{prefix}-")] = f"lacks {', '.join(lacks)}" if lacks else "loads"
    return found


def devices() -> list[str]:
    """Network devices that are up, those of InfiniBand first."""
    fabrics = sorted(d.name for d in Path("/sys/class/infiniband").glob("*"))
    links = [d.name for d in sorted(Path("/sys/class/net").glob("*")) if d.name != "lo" and (d / "operstate").is_file()
             and (d / "operstate").read_text().strip() in ("up", "unknown")]
    return fabrics + links


def chosen(networks: dict[str, str]) -> str:
    """The network between nodes that a job would take."""
    if asked := os.environ.get("HEDDLE_LLN"):
        return asked
    return next((name for name in NETWORKS if networks.get(name) == "loads"), "none")


def compiler(wrapper: Path) -> dict[str, str]:
    command = (output(str(wrapper), "-show").split() or [""])[0]
    where = shutil.which(command) if command else None
    return {"wrapper": str(wrapper), "command": command, "path": where or "", "version": output(where, "--version") if where else ""}


def collect(prefix: Path) -> dict:
    library = next((folder / "libmpi_abi.so.1" for folder in (prefix / "lib", prefix / "lib64") if (folder / "libmpi_abi.so.1").exists()),
                   None)
    folder = library.parent / "heddle" if library else prefix / "lib" / "heddle"
    networks = components(folder, "lln")
    return {
        "version": places.version(), "commit": commit(),
        "paths": {"prefix": str(prefix), "library": str(library or ""), "mpiexec": str(prefix / "bin" / "mpiexec"),
                  "mpiexec in PATH": shutil.which("mpiexec") or ""},
        "machine": machine(),
        "networks": networks, "network between nodes": chosen(networks), "devices": devices(),
        "thread runtimes": {"pthreads": "built in"} | components(folder, "threads"),
        "compilers": {language: compiler(prefix / "bin" / name) for language, name in WRAPPERS.items()
                      if (prefix / "bin" / name).exists()},
        "variables": {name: os.environ[name] for name in CHOOSERS if name in os.environ},
    }


def text(found: dict) -> str:
    def named(pairs: dict[str, str]) -> str:
        return "; ".join(f"{name}: {what}" for name, what in pairs.items()) or "none"

    m = found["machine"]
    rows = [("Heddle", f"{found['version']}, commit {found['commit']}"),
            *found["paths"].items(),
            ("machine", f"{m['cpu']}, {m['cores']} cores, {m['memory_gib']} GiB, Linux {m['kernel']}"),
            ("networks", named(found["networks"])),
            ("between nodes", f"{found['network between nodes']}; devices that are up: {', '.join(found['devices']) or 'none'}"),
            ("thread runtimes", named(found["thread runtimes"])),
            *((f"{language} compiler", c["version"] or f"none ({c['command']} is not in PATH)") for language, c in found["compilers"].items()),
            ("variables", " ".join(f"{name}={value}" for name, value in found["variables"].items()) or "none set")]
    width = max(len(name) for name, _ in rows)
    return "\n".join(f"{name.ljust(width)}  {what or 'not found'}" for name, what in rows)


def perform(args) -> int:
    prefix = Path(args.heddle).expanduser().resolve() if args.heddle else places.heddle_prefix()
    found = collect(prefix)
    print(json.dumps(found, indent=1) if args.json else text(found))
    return 0 if found["paths"]["library"] else 1


def register(sub) -> None:
    info = sub.add_parser("info", help="print version, commit, paths, networks, thread runtimes and compilers")
    info.add_argument("--json", action="store_true", help="print JSON")
    info.add_argument("--heddle", metavar="PREFIX", help="the Heddle to describe (default: the one this command belongs to)")
    info.set_defaults(perform=perform)

"""Where things lie: the benchmark sources, Heddle itself, the caches."""

import os
import re
from pathlib import Path

from .errors import BadInput

HOME = Path(__file__).resolve().parent.parent


def source_tree() -> Path | None:
    """The repository this command runs from, or None when it is installed."""
    tree = HOME.parent
    return tree if (tree / "bench" / "common").is_dir() and (tree / "CMakeLists.txt").is_file() else None


def version() -> str:
    """The prefix of the Heddle that this command belongs to."""
    tree = source_tree()
    if tree:
        return re.search(r"project\(heddle VERSION ([0-9.]+)", (tree / "CMakeLists.txt").read_text())[1]
    return (HOME / "VERSION").read_text().strip()


def benchmark_sources() -> Path:
    tree = source_tree()
    where = tree / "bench" if tree else HOME.parent / "bench"
    if not (where / "common" / "bench.c").is_file():
        raise BadInput(f"the benchmark sources are missing: {where}")
    return where


def heddle_prefix() -> Path:
    """Where `./dev stage` or the installation puts Heddle; it need not exist yet."""
    tree = source_tree()
    return tree / "build" / "stage" if tree else HOME.parent.parent.parent


def bound_prefix() -> Path:
    """Where `./dev stage bound` puts the Heddle that has a thread runtime compiled in."""
    return heddle_prefix().with_name("stage-bound")


def cache() -> Path:
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base) / "heddle"


def results() -> Path:
    tree = source_tree()
    return tree / "build" / "bench-results" if tree else Path("heddle-bench")

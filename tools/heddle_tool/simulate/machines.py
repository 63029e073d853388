"""The machines to simulate: machines/*.json, each number with its source.

A number is an object: "value", "source", and "unit" unless it is a count. Times may be given in cycles of the machine's
"frequency". The simulator reads them as lines of "name value", times in picoseconds (src/simulator/machine.hpp).
"""

import json
import re
from dataclasses import dataclass, replace
from pathlib import Path

from .. import places
from ..errors import BadInput

COUNTS = ("cpus", "cpus_per_core", "cpus_per_cluster", "cpus_per_socket", "cache_lines", "prefetched", "stores")
TIMES = ("latency_core", "latency_cluster", "latency_socket", "latency_machine", "latency_memory", "access", "call", "atomic", "fence",
         "pause", "copied_line", "tick", "clock_read", "system_call", "yield", "broadcast", "wake", "wake_latency", "switch_context", "slice",
         "granularity", "thread_start")
VARIATION = 12  # percent: how much the time of a line's way differs, by the seed; assumed
PICOSECONDS = {"ps": 1, "ns": 1e3, "us": 1e6, "ms": 1e9, "s": 1e12}


@dataclass(frozen=True)
class Machine:
    name: str
    about: str
    frequency: float  # GHz
    topology: str  # as hwloc reads it in HWLOC_SYNTHETIC
    counts: dict[str, int]
    times: dict[str, int]  # picoseconds

    def settings(self, **run: object) -> str:
        """The text for the simulator; `run` has what is of one run: seed, report, limit."""
        return "".join(f"{name} {value}\n" for name, value in (self.counts | self.times | {"variation": VARIATION} | run).items())


    def several(self, count: int) -> "Machine":
        """A machine with the cores of `count` such ones: nodes without a network between them."""
        sockets = int(re.search(r"package:(\d+)", self.topology)[1])
        return replace(self, name=f"{self.name}x{count}", topology=self.topology.replace(f"package:{sockets}", f"package:{sockets * count}"),
                       counts=self.counts | {"cpus": self.counts["cpus"] * count})

    def write_caches(self, folder: Path) -> None:
        """The caches of each processor, as Linux shows them in /sys/devices/system/cpu."""
        shared = {1: self.counts["cpus_per_core"], 3 if "l3:" in self.topology else 2: self.counts["cpus_per_cluster"]}
        for cpu in range(self.counts["cpus"]):
            for index, (level, together) in enumerate(shared.items()):
                cache = folder / f"cpu{cpu}" / "cache" / f"index{index}"
                cache.mkdir(parents=True)
                first = cpu - cpu % together
                (cache / "level").write_text(f"{level}\n")
                (cache / "shared_cpu_list").write_text(f"{first}-{first + together - 1}\n")


def folder() -> Path | None:
    tree = places.source_tree()
    return tree / "machines" if tree else None


def names() -> list[str]:
    where = folder()
    return sorted(file.stem for file in where.glob("*.json")) if where else []


def load(name: str) -> Machine:
    """By the name of a file in machines/, or by its path; with x2 behind the name, two of them in one."""
    where = folder()
    if (joined := re.fullmatch(r"([\w-]+)x([1-9]\d?)", name)) and joined[1] in names():
        return load(joined[1]).several(int(joined[2]))
    file = Path(name) if "/" in name or name.endswith(".json") else where / f"{name}.json" if where else None
    if file is None or not file.is_file():
        raise BadInput(f"no machine is called {name!r}: there are {', '.join(names()) or 'none'}, or name a JSON file by its path")
    try:
        return read(file.stem, json.loads(file.read_text()))
    except (OSError, ValueError) as wrong:
        raise BadInput(f"{file} is no machine: {wrong}") from None


def read(name: str, data: dict) -> Machine:
    """ValueError says what is missing or wrong."""
    words = {word: data.get(word) for word in ("about", "topology")}
    for word, text in words.items():
        if not isinstance(text, str) or not text:
            raise ValueError(f"{word} is missing: a text")
    known = {"frequency", *COUNTS, *TIMES}
    for word in data.keys() - words.keys() - known:
        raise ValueError(f"{word} is unknown")
    numbers = {word: number(word, data.get(word)) for word in ("frequency", *COUNTS, *TIMES)}
    gigahertz, unit = numbers["frequency"]
    if unit != "GHz":
        raise ValueError("frequency: the unit is GHz")
    counts = {}
    for word in COUNTS:
        value, unit = numbers[word]
        if unit or value != int(value):
            raise ValueError(f"{word}: a count, without a unit")
        counts[word] = int(value)
    times = {}
    for word in TIMES:
        value, unit = numbers[word]
        if unit != "cycles" and unit not in PICOSECONDS:
            raise ValueError(f"{word}: the unit is one of cycles, {', '.join(PICOSECONDS)}")
        times[word] = round(value * (1e3 / gigahertz if unit == "cycles" else PICOSECONDS[unit]))
    return Machine(name, words["about"], gigahertz, words["topology"], counts, times)


def number(word: str, given: object) -> tuple[float, str]:
    """Value and unit."""
    if not isinstance(given, dict):
        raise ValueError(f"{word} is missing: an object with value, unit and source")
    value, source = given.get("value"), given.get("source")
    if isinstance(value, bool) or not isinstance(value, (int, float)) or value <= 0:
        raise ValueError(f"{word}: value is a number above 0")
    if not isinstance(source, str) or not source.strip():
        raise ValueError(f"{word}: source says where the number is from")
    if unknown := given.keys() - {"value", "unit", "source"}:
        raise ValueError(f"{word}: {sorted(unknown)[0]} is unknown")
    return value, given.get("unit", "")

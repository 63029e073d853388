#!/usr/bin/env python3
"""Nothing includes upwards: fails on an #include in src/ of a layer above. The layers of a group of folders are adjacent.

Usage: includes.py [SRC]. The picture in ARCHITECTURE.md is drawn from the same list (tools/draw_layers.py).
"""
import pathlib
import re
import sys

# From the bottom up. A folder may include from its own layer and from lower ones.
LAYERS = [
    ["base"],
    ["base/platform", "base/shared_heap"],
    ["base/sync"],
    ["base/threads", "base/instruments"],
    ["base/node", "base/progress"],
    ["base/safety"],
    ["simulator"],
    ["network"],
    ["launch/boot"],
    ["launch/rank", "launch/host", "launch/mpiexec"],
    ["objects/object", "objects/datatype", "objects/op"],
    ["objects/binding"],
    ["messaging/wake"],
    ["messaging/message"],
    ["messaging/engine"],
    ["messaging/p2p"],
    ["messaging/partitioned"],
    ["mpi/coll"],
    ["mpi/comm"],
    ["mpi/rma", "mpi/io", "mpi/topo", "mpi/tool", "mpi/dpm", "mpi/ft"],
    ["mpi/startup"],
    ["mpi/fortran"],
]
# Headers of the binding for lower layers: the declarations of what the folders implement, and views of the caller's arrays. Data, no logic.
FOR_ALL = {"objects/binding/impl.hpp", "objects/binding/counts.hpp", "objects/binding/fortran.hpp"}

INCLUDE = re.compile(r'^\s*#\s*include\s*"([^"]+)"')


def folder_of(path: str) -> str:
    """The place of a file below src/: its group and its folder in it; the group alone where its files are one layer, or are in no folder of it."""
    parts = path.split("/")[:-1]
    return "/".join(parts[:1] if parts[:1] in (["network"], ["simulator"]) else parts[:2])


def scattered_groups():
    """Groups whose layers are not adjacent."""
    groups = [{folder.split("/")[0] for folder in layer} for layer in LAYERS]
    for group in sorted(set().union(*groups)):
        heights = [height for height, layer in enumerate(groups) if group in layer]
        if len(heights) != heights[-1] - heights[0] + 1 or any(groups[height] != {group} for height in heights):
            yield f"the layers of {group}/ are not adjacent, or another group has a part of one of them"


def violations(src: pathlib.Path):
    yield from scattered_groups()
    layer_of = {folder: height for height, layer in enumerate(LAYERS) for folder in layer}
    for path in sorted(src.rglob("*")):
        if path.suffix not in {".hpp", ".h", ".cpp", ".c"} or len(path.relative_to(src).parts) < 2:
            continue
        here = folder_of(path.relative_to(src).as_posix())
        if here not in layer_of:
            yield f"{path}: the folder {here} has no layer in {pathlib.Path(__file__).name}"
            continue
        for number, line in enumerate(path.read_text(errors="replace").splitlines(), 1):
            match = INCLUDE.match(line)
            if not match:
                continue
            there = folder_of(match[1])
            if there not in layer_of or match[1] in FOR_ALL:
                continue
            if layer_of[there] > layer_of[here]:
                yield f"{path}:{number}: {here} must not include from {there} ({match[1]})"


def main() -> int:
    src = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else pathlib.Path(__file__).parents[2] / "src"
    found = list(violations(src))
    print("\n".join(found) if found else "nothing includes upwards")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())

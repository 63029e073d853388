#!/usr/bin/env python3
"""Nothing includes upwards: fails on an #include in src/ of a layer above.

Usage: includes.py [SRC]. The picture in ARCHITECTURE.md is drawn from the same list (tools/draw_layers.py).
"""
import pathlib
import re
import sys

# From the bottom up. A folder may include from its own layer and from lower ones.
LAYERS = [
    ["platform", "shared_heap"],
    ["sync"],
    ["threads", "instruments"],
    ["node"],
    ["lln", "progress"],
    ["safety"],
    ["boot"],
    ["rank", "host", "mpiexec"],
    ["object", "datatype", "op"],
    ["message"],
    ["engine"],
    ["p2p"],
    ["coll"],
    ["comm"],
    ["partitioned", "rma", "io", "topo", "tool", "dpm", "ft"],
    ["startup"],
    ["binding"],
    ["fortran"],
]
# What the binding hands down: the list of the standard's functions, the declarations of what the folders implement, and
# views of the caller's arrays. Data, no logic.
FOR_ALL = {"binding/functions.hpp", "binding/impl.hpp", "binding/counts.hpp", "binding/fortran.hpp"}

INCLUDE = re.compile(r'^\s*#\s*include\s*"([^"]+)"')


def violations(src: pathlib.Path):
    layer_of = {folder: height for height, layer in enumerate(LAYERS) for folder in layer}
    for path in sorted(src.rglob("*")):
        if path.suffix not in {".hpp", ".h", ".cpp", ".c"} or len(path.relative_to(src).parts) < 2:
            continue
        here = path.relative_to(src).parts[0]
        if here not in layer_of:
            yield f"{path}: the folder {here} has no layer in {pathlib.Path(__file__).name}"
            continue
        for number, line in enumerate(path.read_text(errors="replace").splitlines(), 1):
            match = INCLUDE.match(line)
            if not match:
                continue
            there = match[1].split("/")[0]
            if "/" not in match[1] or there not in layer_of or match[1] in FOR_ALL:
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

"""rsmpi, MPI for Rust: its examples, which check what they do, unchanged. It needs cargo 1.78 or newer, which fetches other
packages: git clone https://github.com/rsmpi/rsmpi"""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterable

from rows import Row, Suite

PACKAGE = ""
RANKS = "processes threads"
COUNTS = [2, 4]


def build(suite: Suite) -> None:
    if not shutil.which("cargo"):
        sys.exit("suite.py: rsmpi was not built: there is no cargo. Install Rust (https://rustup.rs).")
    environment = {
        "PATH": f"{suite.prefix}/bin:{os.environ['PATH']}",
        "MPICC": suite.mpicc,
        "CARGO_TARGET_DIR": str(suite.build),
    }
    cargo = ["cargo", "build", "--examples", "--features", "derive,complex"]
    suite.call(*cargo, directory=suite.sources, environment=environment)


def rows(suite: Suite) -> Iterable[Row]:
    for source in sorted((suite.sources / "examples").glob("*.rs")):
        yield Row(source.stem, suite.launched(str(suite.build / "debug/examples" / source.stem)), suite.sources)

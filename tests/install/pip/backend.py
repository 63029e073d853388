"""Builds the wheel of `probe`, a module that is linked with an MPI library by the compiler wrapper MPICC. Needs no other package."""

import os
import pathlib
import subprocess
import sysconfig
import zipfile

NAME = "probe-1.0"


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    module = "linked.so"
    subprocess.run([os.environ["MPICC"], "-shared", "-fPIC", "library.c", "-o", module], check=True)
    tag = f"py3-none-{sysconfig.get_platform().replace('-', '_').replace('.', '_')}"
    wheel = f"{NAME}-{tag}.whl"
    info = f"{NAME}.dist-info"
    with zipfile.ZipFile(pathlib.Path(wheel_directory) / wheel, "w") as archive:
        archive.write("probe.py")
        archive.write(module)
        archive.writestr(f"{info}/METADATA", "Metadata-Version: 2.1\nName: probe\nVersion: 1.0\n")
        archive.writestr(f"{info}/WHEEL", f"Wheel-Version: 1.0\nGenerator: backend\nRoot-Is-Purelib: false\nTag: {tag}\n")
        archive.writestr(f"{info}/RECORD", "")
    return wheel

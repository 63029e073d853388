"""Compiles the benchmark programs and keeps them, by what they were made of.

One binary, built against the standard ABI, serves every library that offers it; the others get their own.
"""

import hashlib
import os
import subprocess
from pathlib import Path

from .. import places
from ..errors import BadInput
from .mpis import Mpi

FLAGS = ["-std=gnu11", "-O2", "-pthread"]
# The libraries that a program loads for `--thread-runtime NAME`, made of threads/NAME.cpp: the libraries that it needs.
RUNTIMES = {"boost-fiber": ["-lboost_fiber", "-lboost_context"], "argobots": ["-labt"],
            "qthreads": ["-lqthread"]}


class Builder:
    def __init__(self, mpis: list[Mpi], tell):
        self.tell = tell
        self.sources = places.benchmark_sources()
        # Heddle's own compiler if it is among them, else that of a peer.
        ranked = sorted((m for m in mpis if not m.limit and m.abi_compiler()), key=lambda m: m.peer)
        self.abi = ranked[0] if ranked else None
        self.built: dict[tuple[str, str], Path] = {}

    def program(self, source: str, mpi: Mpi) -> Path | None:
        if mpi.limit:
            return None  # it is its own
        maker, compiler = mpi, mpi.compiler()
        if mpi.abi and self.abi:
            maker, compiler = self.abi, self.abi.abi_compiler()
        key = (source, str(compiler))
        if key not in self.built:
            self.built[key] = self._compile(source, maker, compiler)
        if mpi.thread_runtime:
            self._compile_runtime(mpi.thread_runtime, self.built[key].parent)
        return self.built[key]

    def _compile_runtime(self, runtime: str, folder: Path) -> None:
        module = folder / f"threads-{runtime}.so"
        source = self.sources / "threads" / f"{runtime}.cpp"
        if module.exists() and module.stat().st_mtime > source.stat().st_mtime:
            return
        self.tell(f"compiling {source.name}")
        unfinished = folder / f"{module.name}.{os.getpid()}"
        done = subprocess.run(["c++", "-std=c++20", "-O2", "-fPIC", "-shared", str(source), "-o", str(unfinished),
                               *RUNTIMES[runtime]], capture_output=True, text=True)
        if done.returncode:
            first = next((line for line in done.stderr.splitlines() if "error" in line), done.stderr.strip()[-200:])
            raise BadInput(f"--thread-runtime {runtime} is not available: {first}")
        unfinished.rename(module)

    def _compile(self, source: str, maker: Mpi, compiler: list[str]) -> Path:
        main = self.sources / f"{source}.c"
        shared = self.sources / "shared" / f"{source}.c"  # a library that the program is linked with
        common = sorted((self.sources / "common").glob("*.c"))
        digest = hashlib.sha256(repr((compiler, FLAGS)).encode())
        for file in [main, *filter(Path.exists, [shared]), *common, *sorted((self.sources / "common").glob("*.h"))]:
            digest.update(file.read_bytes())
        for made_by in (Path(compiler[0]), maker.prefix / "include" / "mpi.h"):
            if made_by.exists():
                digest.update(str(made_by.stat().st_mtime_ns).encode())
        folder = places.cache() / "programs" / digest.hexdigest()[:20]
        program = folder / main.stem
        if program.exists():
            return program
        self.tell(f"compiling {main.stem} with {compiler[0]}")
        folder.mkdir(parents=True, exist_ok=True)
        environment = os.environ | maker.env(1, 1)
        base = [*compiler, *FLAGS, "-I", str(self.sources / "common")]
        linked = ["-lm", "-ldl"]
        if shared.exists():
            library = folder / f"libbench-{main.stem}.so"
            self._perform([*base, "-fPIC", "-shared", str(shared)], library, compiler[0], environment)
            linked += [str(library), "-Wl,-rpath,$ORIGIN"]
        self._perform([*base, str(main), *map(str, common), *linked], program, compiler[0], environment)
        return program

    @staticmethod
    def _perform(command: list[str], product: Path, compiler: str, environment: dict[str, str]) -> None:
        unfinished = product.with_name(f"{product.name}.{os.getpid()}")
        soname = [f"-Wl,-soname,{product.name}"] if product.suffix == ".so" else []
        done = subprocess.run([*command, *soname, "-o", str(unfinished)], capture_output=True, text=True, env=environment)
        if done.returncode:
            first = next((line for line in done.stderr.splitlines() if "error" in line), done.stderr.strip()[-200:])
            raise BadInput(f"{product.name} does not compile with {compiler}: {first}")
        unfinished.rename(product)

"""Programs that can't be run, or whose ranks could not find each other: one sentence with the cure, before any rank runs."""

import os
import pathlib
import platform
import resource
import struct
import subprocess
import sys
import unittest

import launcher
from launcher import MPI_PROGRAM, RANK
from test_mistakes import MistakeTest

EMPTY_MAIN = "int main(void) { return 0; }"


class ProgramTest(MistakeTest):
    def file(self, name: str, content: bytes | str, mode: int = 0o755) -> str:
        path = self.directory / name
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        path.chmod(mode)
        return str(path)

    def compiled(self, *options: str, source: str = EMPTY_MAIN, name: str = "program") -> str:
        path = self.directory / name
        subprocess.run(["cc", "-x", "c", "-", "-o", path, "-x", "none", *options], input=source, text=True, check=True)
        return str(path)

    def library(self, name: str, source: str = "int unused;", *options: str) -> str:
        return self.compiled("-shared", "-fPIC", f"-Wl,-soname,{name}", *options, source=source, name=name)

    def linked_with(self, *names: str, source: str = EMPTY_MAIN) -> str:
        libraries = [self.library(name) for name in names]
        return self.compiled("-Wl,--no-as-needed", *libraries, f"-Wl,-rpath,{self.directory}", source=source)


class Missing(ProgramTest):
    def test_no_such_program(self):
        self.refused("-n", "2", "no-such-program", says="cannot find the program 'no-such-program': it is neither in PATH", code=127)
        self.refused("./no-such-program", says="cannot find the program './no-such-program': there is no such file", code=127)
        self.refused("", says="cannot find the program ''", code=127)

    def test_directory(self):
        self.refused(str(self.directory), says=[f"cannot run {self.directory}: it is a directory", "Name a program in it"], code=126)

    def test_not_executable(self):
        source = self.file("hello.c", EMPTY_MAIN, 0o644)
        self.refused(source, says=[f"cannot run {source}: it is not executable", f"chmod +x {source}", "compile it if it is a source file"], code=126)
        self.refused("-wdir", str(self.directory), "hello.c", says="hello.c: it is not executable", code=126)

    def test_object_file(self):
        path = self.compiled("-c")
        for mode in (0o644, 0o755):
            os.chmod(path, mode)
            self.refused(path, says=["it is an object file", "compile without -c"], code=126)

    def test_search_path(self):
        self.file("only-here", "#!/bin/sh\necho ran\n")
        self.assertEqual(self.run_job("-path", f"/nowhere:{self.directory}", "only-here").out, "ran\n")

    def test_a_second_program(self):
        self.refused("-n", "1", "true", ":", "-n", "1", "no-such-program", says="'no-such-program'", code=127)


class Damaged(ProgramTest):
    def test_empty(self):
        self.refused(self.file("empty", ""), says=["the file is empty", "compile or copy it again"], code=126)

    def test_truncated(self):
        whole = pathlib.Path(self.compiled()).read_bytes()
        for size in (10, 60, 64, 300, 2000, 5000, 9000, 12000):
            if size < len(whole):
                self.refused(self.file("part", whole[:size]), says="the file is damaged or not complete; compile or copy it again", code=126)

    def test_nonsense_in_the_header(self):
        whole = bytearray(pathlib.Path(self.compiled()).read_bytes())
        for offset, form, value in ((32, "<Q", 1 << 63), (32, "<Q", 7), (54, "<H", 3), (56, "<H", 65535), (16, "<H", 77)):
            changed = bytearray(whole)
            struct.pack_into(form, changed, offset, value)
            self.refused(self.file("nonsense", bytes(changed)), says="damaged or not complete", code=126)

    def test_nonsense_anywhere(self):
        """No damage makes mpiexec itself fail: it starts the program, or says why not."""
        import random
        seed = int(os.environ.get("BOOT_SEED", random.randrange(1 << 30)))
        print("seed", seed)
        source = random.Random(seed)
        whole = pathlib.Path(self.compiled(source="int main(void) { return 3; }")).read_bytes()
        for _ in range(40):
            changed = bytearray(whole)
            for _ in range(source.randrange(1, 6)):
                changed[source.randrange(0, 2000)] = source.randrange(256)
            result = self.run_job("--do-not-launch", self.file("changed", bytes(changed)))
            self.assertIn(result.code, (0, 126, 127), f"seed {seed}: {result.err}")

    def test_data(self):
        self.refused(self.file("data", b"\x01\x02\x03\x00\x04" * 100), says="it is neither a program of this machine nor a script", code=126)

    def test_another_machine(self):
        changed = bytearray(pathlib.Path(self.compiled()).read_bytes())
        struct.pack_into("<H", changed, 18, 243 if platform.machine() != "riscv64" else 62)
        self.refused(self.file("foreign", bytes(changed)), says=["it is a program for RISC-V, not for this machine", "compile it here"], code=126)

    def test_another_loader(self):
        self.refused(self.compiled("-Wl,--dynamic-linker=/lib/ld-nowhere.so.1"), code=127,
                     says=["it asks for the loader /lib/ld-nowhere.so.1, which does not exist", "compile it here"])


class Scripts(ProgramTest):
    def test_interpreter(self):
        self.refused(self.file("script", "#!/nowhere/python3 -u\nprint(1)\n"), code=127,
                     says=["names the interpreter /nowhere/python3, which is not there", "install it or change the line"])
        self.refused(self.file("script", "#!\n"), says="names no interpreter", code=126)

    def test_from_windows(self):
        self.refused(self.file("script", "#!/bin/sh\r\necho hello\r\n"), says=["ends in a carriage return", "sed -i"], code=127)

    def test_that_run(self):
        for head in ("#!/bin/sh\n", "#! /bin/sh -e\n", "", "#!/usr/bin/env sh\n"):
            self.assertEqual(self.run_job("-n", "2", self.file("script", head + "echo ran\n")).out, "ran\n" * 2, head)


class Libraries(ProgramTest):
    def test_missing(self):
        path = self.linked_with("libheddle_test_gone.so.3")
        os.remove(self.directory / "libheddle_test_gone.so.3")
        self.refused("-n", "2", path, code=127, says=["the loader does not find libheddle_test_gone.so.3", "LD_LIBRARY_PATH", "-rpath"])

    def test_missing_behind_another(self):
        self.library("libheddle_test_far.so")
        self.library("libheddle_test_near.so", "int unused;", "-Wl,--no-as-needed", str(self.directory / "libheddle_test_far.so"))
        path = self.compiled("-Wl,--no-as-needed", str(self.directory / "libheddle_test_near.so"), f"-Wl,-rpath,{self.directory}",
                             "-Wl,--allow-shlib-undefined", f"-Wl,-rpath-link,{self.directory}")
        os.remove(self.directory / "libheddle_test_near.so")
        self.refused(path, code=127, says="libheddle_test_near.so")

    def test_found_by_the_variable(self):
        path = self.compiled("-Wl,--no-as-needed", self.library("libheddle_test_there.so"))
        self.refused(path, says="libheddle_test_there.so", code=127)
        self.assertEqual(self.run_job("-genv", "LD_LIBRARY_PATH", str(self.directory), path).code, 0)

    def test_found_beside_a_program_that_is_a_link(self):
        path = self.compiled("-Wl,--no-as-needed", self.library("libheddle_test_beside.so"), "-Wl,-rpath,$ORIGIN")
        elsewhere = self.directory / "elsewhere"
        elsewhere.mkdir()
        (elsewhere / "link").symlink_to(path)
        self.assertEqual(self.run_job("-n", "2", str(elsewhere / "link")).code, 0)

    def test_our_library(self):
        path = self.compiled("-Wl,--no-as-needed", self.library("libmpi_abi.so.1", "int HEDDLE_JOB_FD;"))
        os.remove(self.directory / "libmpi_abi.so.1")
        show = "echo $LD_LIBRARY_PATH"
        self.assertEqual(self.run_job("-n", "2", path).code, 0)
        # The folder comes last, and only for a program that needs it.
        result = self.run_job("-genv", "LD_LIBRARY_PATH", "/nowhere", "-n", "1", path, ":", "-n", "1", "/bin/sh", "-c", show)
        self.assertEqual((result.code, result.out.split()), (0, ["/nowhere"]))


class OtherMpi(ProgramTest):
    def test_old_abi(self):
        for name, family in (("libmpi.so.12", "MPICH or Intel MPI"), ("libmpich.so.12", "MPICH"), ("libmpi.so.40", "Open MPI"),
                             ("libmpi_mpifh.so.40", "Open MPI"), ("libmpifort.so.12", "MPICH or Intel MPI"), ("libmpi.so.20", "Open MPI"),
                             ("libmpi_cray.so.12", "Cray MPICH"), ("libmpi_ibm.so.3", "IBM Spectrum MPI"), ("libmpi.so.0", "another MPI")):
            path = self.linked_with(name)
            for ranks in ("1", "2"):
                self.refused("-n", ranks, path, code=126,
                             says=[f"it is linked with {name} of {family}", "compile it with Heddle's mpicc", "MPI 5.0", "mpiexec of its own MPI"])

    def test_behind_another_library(self):
        mpi = self.library("libmpi.so.40")
        between = self.library("libheddle_test_solver.so", "int unused;", "-Wl,--no-as-needed", mpi, f"-Wl,-rpath,{self.directory}")
        path = self.compiled("-Wl,--no-as-needed", between, f"-Wl,-rpath,{self.directory}")
        self.refused("-n", "2", path, says="it is linked with libmpi.so.40 of Open MPI", code=126)

    def test_standard_abi_of_another(self):
        path = self.linked_with("libmpi_abi.so.1")
        self.refused("-n", "2", path, code=126,
                     says=[f"{self.directory}/libmpi_abi.so.1, which is another MPI's library and not Heddle's", "LD_LIBRARY_PATH="])

    def test_static(self):
        path = self.compiled(source="int MPI_Init(int* c, char*** v) { return !c + !v; } " + EMPTY_MAIN)
        self.refused("-n", "2", path, says="it has an MPI library (or a replacement for one) linked into it", code=126)
        self.assertEqual(self.run_job("-n", "1", path).code, 0)
        stripped = self.compiled("-static", "-s", source='#include <stdio.h>\nint main(void) { return puts("Fatal error in MPI_Comm_rank") < 0; }')
        self.refused("-n", "2", stripped, says="linked into it", code=126)

    def test_threads(self):
        self.refused("--ranks", "threads", "-n", "2", self.linked_with("libmpi.so.12"), says="libmpi.so.12 of MPICH", code=126)

    def test_no_mpi_at_all(self):
        for program in (["hostname"], ["sh", "-c", "true"], [sys.executable, "-c", "pass"], [self.compiled("-static")],
                        [self.compiled("-static-pie")], [self.compiled("-no-pie", "-fno-pie")], [self.linked_with("libmpifoo.so.1", "libmpi4.so")]):
            result = self.run_job("-n", "2", *program)
            self.assertEqual((result.code, result.err), (0, ""), program)

    def test_ours(self):
        self.assertEqual(self.run_job("-n", "2", MPI_PROGRAM, "well").lines, ["rank 0 of 2", "rank 1 of 2"])


def refuse_system_call(number: int, error: int):
    """From here on this process and its children get `error` for a system call (a seccomp filter, as containers have)."""
    import ctypes
    libc = ctypes.CDLL(None, use_errno=True)
    load_number, jump_if_equal, give_back = 0x20, 0x15, 0x06
    code = b"".join(struct.pack("<HBBI", *step) for step in (
        (load_number, 0, 0, 0), (jump_if_equal, 0, 1, number), (give_back, 0, 0, 0x00050000 | error), (give_back, 0, 0, 0x7fff0000)))
    buffer = ctypes.create_string_buffer(code)
    program = ctypes.create_string_buffer(struct.pack("<HxxxxxxQ", len(code) // 8, ctypes.addressof(buffer)))
    if libc.prctl(38, 1, 0, 0, 0) != 0 or libc.prctl(22, 2, program, 0, 0) != 0:
        raise OSError("no filter for system calls here")


MEMFD_CREATE = {"x86_64": 319, "aarch64": 279}.get(platform.machine(), -1)
VFORK = {"x86_64": 58, "aarch64": 220}.get(platform.machine(), -1)  # clone on AArch64


class Limits(ProgramTest):
    def test_no_segment(self):
        for error, text in ((1, "Operation not permitted"), (38, "Function not implemented"), (12, "Cannot allocate memory")):
            self.refused("-n", "2", "true", code=1, preexec_fn=lambda: refuse_system_call(MEMFD_CREATE, error),
                         says=["cannot make the job's shared segment (memfd_create)", text])

    @unittest.skipIf({"ASAN_OPTIONS", "TSAN_OPTIONS"} & os.environ.keys(), "a sanitizer takes more addresses than the limit leaves")
    def test_address_space(self):
        result = self.run_job("-n", "200", RANK, "join", "leave",
                              preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (12 << 20, 12 << 20)))
        self.assertNotEqual(result.code, 0)
        self.assertRegex(result.err, "mpiexec: .*(memory|ulimit -v)")

    def test_no_more_processes(self):
        # A limit of processes does not bind root, so the kernel's answer is made.
        result = self.run_job("-n", "3", RANK, "join", "leave", preexec_fn=lambda: refuse_system_call(VFORK, 11))
        self.assertEqual(result.code, 126, result.err)
        self.assertEqual(result.err.count("mpiexec: "), 1, result.err)
        for part in ("cannot make the process of rank 0", "the limit of processes is reached", "ulimit -u", "start fewer ranks"):
            self.assertIn(part, result.err)

    def test_arguments_too_long(self):
        result = self.run_job("-configfile", self.file("job", "-n 2 true " + "x" * 200000 + "\n"))
        self.assertEqual(result.code, 126, result.err)
        self.assertIn("its arguments and environment are too long", result.err)


class LoadedAtRunTime(ProgramTest):
    """Another MPI that a program loads while it runs, as an interpreter does."""

    # Initializing writes its memory, as that of any MPI does.
    FOREIGN = "static char state[1 << 20]; int MPI_Init(int* c, char*** v) { for (unsigned i = 0; i < sizeof state; i += 512) state[i] = 1; return 0; }"
    # Its actions, in the order of its arguments.
    PROGRAM = """
        #include <dlfcn.h>
        #include <stdlib.h>
        #include <string.h>
        #include <unistd.h>
        int main(int c, char** v) {
          void* last = NULL;
          for (int i = 1; i < c; ++i) {
            if (strcmp(v[i], "init") == 0) ((int (*)(int*, char***))dlsym(last, "MPI_Init"))(NULL, NULL);
            else if (strcmp(v[i], "finalize") == 0) ((int (*)(void))dlsym(last, "MPI_Finalize"))();
            else if (strcmp(v[i], "compute") == 0) usleep(300000);
            else if (strcmp(v[i], "stay") == 0) pause();
            else if ((last = dlopen(v[i], RTLD_NOW)) == NULL) abort();
          }
          return 0;
        }"""
    OURS = os.environ["BOOT_LIBRARY"]

    def setUp(self):
        super().setUp()
        self.program = self.compiled("-ldl", source=self.PROGRAM)

    def foreign(self, name: str) -> str:
        return self.library(name, self.FOREIGN)

    def refused_at_run_time(self, *command: str, says: list[str]):
        result = self.run_job("-n", "2", *command)
        self.assertEqual((result.code, result.err.count("\n")), (1, 1), result.err)
        for part in [*says, "each rank runs alone, as a singleton", "HEDDLE_SINGLETON=1"]:
            self.assertIn(part, result.err)

    def test_initialized(self):
        for name, family in (("libmpi.so.12", "MPICH or Intel MPI"), ("libmpi.so.40", "Open MPI"), ("libmpi.so.40.30.4", "Open MPI"),
                             ("libmpi_abi.so.1", "another MPI")):
            self.refused_at_run_time(self.program, self.foreign(name), "init", "stay", says=["has initialized", name, family])

    def test_used_to_a_good_end(self):
        self.refused_at_run_time(self.program, self.OURS, self.foreign("libmpi.so.12"), "init", "compute", says=["has used", "libmpi.so.12"])

    def test_in_a_process_below(self):
        self.refused_at_run_time("sh", "-c", f"{self.program} {self.foreign('libmpi.so.12')} init compute; true", says=["has used", "libmpi.so.12"])

    def test_what_is_no_mistake(self):
        foreign = self.foreign("libmpi.so.12")
        for command in ((self.program, foreign, "compute"),  # a library that needs it, in a program that does not
                        (self.program, foreign, "init", "compute", self.OURS, "init", "finalize"),
                        (self.program, self.OURS, "init", foreign, "init", "compute", self.OURS, "finalize"),
                        (self.program, "compute"), ("hostname",), ("sh", "-c", f"{self.program} {foreign} init compute; exec {MPI_PROGRAM}")):
            result = self.run_job("-n", "2", *command)
            if command[0] == self.program and command[2:4] == ("init", "compute"):
                # It has another MPI and not ours when it computes: refused, and allowed if that is meant.
                self.assertEqual(result.code, 1)
                result = self.run_job("-n", "2", *command, env={"HEDDLE_SINGLETON": "1"})
            self.assertEqual((result.code, result.err), (0, ""), command)
        self.assertEqual(self.run_job("-n", "1", self.program, foreign, "init", "compute").code, 0)


if __name__ == "__main__":
    launcher.main()

#!/usr/bin/env python3
"""The manual pages, the completion and docs/reference.md: up to date, whole, and without a fault that their readers find.

    test_manual.py DESCRIBE WRAPPERS SHARE DOCS [--without-fortran]
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import unittest
from pathlib import Path

DESCRIBE, WRAPPERS, SHARE, DOCS = (Path(word) for word in sys.argv[1:5])
sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tools" / "manual"))

import completion  # noqa: E402
import man  # noqa: E402
import reference  # noqa: E402
import tables  # noqa: E402

FOUND = tables.read(DESCRIBE, WRAPPERS)
WITH_FORTRAN = "--without-fortran" not in sys.argv
PAGES = ("mpiexec", "mpicc", "heddle", *(["mpifort"] if WITH_FORTRAN else []))


def bold(roff: str) -> set[str]:
    return {text.replace("\\-", "-").replace("\\e", "\\") for text in re.findall(r"\\fB(.*?)\\fR", roff)}


class Reference(unittest.TestCase):
    def test_is_up_to_date(self):
        self.assertEqual((DOCS / "reference.md").read_text(), reference.page(FOUND),
                         "cmake --build build/release --target reference_page")

    def test_guides_exist(self):
        for variable in FOUND.variables:
            if variable.guide and variable.guide != "troubleshooting.md":
                self.assertTrue((DOCS / variable.guide).is_file(), variable)


class Pages(unittest.TestCase):
    def roff(self, name: str) -> str:
        return (SHARE / "man" / "man1" / f"{name}.1").read_text()

    def test_have_every_option_and_variable(self):
        heddle = [o for leaf in man.leaves(FOUND.heddle) for o in leaf.options] + FOUND.heddle.options
        for page, options, reader in (("mpiexec", FOUND.mpiexec, "library"), ("mpicc", FOUND.wrapper, "compiler"),
                                      ("heddle", heddle, "tool"),
                                      *([("mpifort", FOUND.fortran_wrapper, "no reader")] if WITH_FORTRAN else [])):
            told = bold(self.roff(page))
            wanted = {n for o in options for n in o.names if n.startswith("-")}
            self.assertGreater(len(wanted), 3)
            wanted |= {v.name for v in FOUND.variables_of(reader)} - ({"HEDDLE_FC"} if page == "mpicc" else set())
            wanted |= {"HEDDLE_FC"} if page == "mpifort" else set()
            self.assertEqual(wanted - told, set(), page)

    def test_no_option_is_without_a_word(self):
        for option in FOUND.wrapper + FOUND.fortran_wrapper + FOUND.mpiexec:
            self.assertTrue(option.help, option)

    def test_other_names_lead_to_them(self):
        for name, page in (("mpirun", "mpiexec"), ("mpicxx", "mpicc"), ("mpic++", "mpicc"),
                           *([("mpif90", "mpifort"), ("mpif77", "mpifort")] if WITH_FORTRAN else [])):
            self.assertEqual(self.roff(name), f".so man1/{page}.1\n")

    @unittest.skipUnless(shutil.which("mandoc"), "mandoc is not installed")
    def test_are_without_fault(self):
        for page in PAGES:
            done = subprocess.run(["mandoc", "-T", "lint", "-W", "warning", SHARE / "man" / "man1" / f"{page}.1"],
                                  capture_output=True, text=True)
            # The same sources make the same page, so it has no date.
            faults = [line for line in done.stdout.splitlines() if "missing date" not in line]
            self.assertEqual(faults, [])


class Shell(unittest.TestCase):
    def complete(self, program: str, *words: str) -> list[str]:
        """The words that bash offers for the last word."""
        script = SHARE / "bash-completion" / "completions" / program
        line = " ".join(f"'{w}'" for w in (program, *words))
        function = "_heddle" if program == "heddle" else f"_heddle_{program.replace('mpirun', 'mpiexec')}"
        code = f'. "$1"; COMP_WORDS=({line}); COMP_CWORD={len(words)}; {function} && printf "%s\\n" "${{COMPREPLY[@]}}"'
        done = subprocess.run(["bash", "--norc", "-c", code, "bash", script], capture_output=True, text=True, cwd=DOCS)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return sorted(done.stdout.split())

    def test_options_of_mpiexec(self):
        self.assertEqual(self.complete("mpiexec", "-report"), ["-report-bindings"])
        self.assertEqual(self.complete("mpirun", "--report"), ["--report-bindings"])
        names = {n for o in FOUND.mpiexec for n in o.names}
        self.assertEqual(set(self.complete("mpiexec", "-")), names)
        self.assertIn("-report-bindings", self.complete("mpiexec", "-n", "2", "-genv", "A", "b", "-report"))

    def test_values_of_mpiexec(self):
        self.assertEqual(self.complete("mpiexec", "--bind-to", "s"), ["socket"])
        self.assertEqual(self.complete("mpiexec", "-ranks", "="), [])
        self.assertEqual(self.complete("mpiexec", "-ranks", "t"), ["threads"])
        self.assertEqual(self.complete("mpiexec", "-configfile", "READ"), ["README.md"])
        self.assertEqual(self.complete("mpiexec", "-wdir", "gui"), ["guides"])
        self.assertEqual(self.complete("mpiexec", "-n", ""), [])

    def test_what_follows_the_program_is_its_own(self):
        self.assertEqual(self.complete("mpiexec", "-n", "2", "./program", "READ"), ["README.md"])
        self.assertEqual(self.complete("mpiexec", "-n", "2", "./program", "-report"), [])
        self.assertIn("README.md", self.complete("mpiexec", "-n", "2", "READ"))

    def test_mpicc(self):
        self.assertEqual(self.complete("mpicc", "-compile"), ["-compile_info"])
        self.assertEqual(self.complete("mpicc", "-c", "READ"), ["README.md"])

    @unittest.skipUnless(WITH_FORTRAN, "there is no Fortran")
    def test_mpifort(self):
        self.assertEqual(self.complete("mpifort", "-i"), ["-i8"])

    def test_heddle(self):
        self.assertEqual(self.complete("heddle", "be"), ["bench"])
        self.assertEqual(self.complete("heddle", "bench", "r"), ["report", "run"])
        self.assertIn("message-rate", self.complete("heddle", "bench", "run", "mess"))
        self.assertEqual(self.complete("heddle", "bench", "run", "latency", "--rank"), ["--rank-kind", "--ranks", "--ranks-per-node"])
        self.assertEqual(self.complete("heddle", "bench", "report", "READ"), ["README.md"])

    def test_others_have_every_option(self):
        """And are read by their shells, where these are installed."""
        zsh, fish = SHARE / "zsh" / "site-functions", SHARE / "fish" / "vendor_completions.d"
        for option in FOUND.mpiexec:
            for name in option.names:
                plain = re.escape(name.lstrip("-"))
                self.assertRegex((fish / "mpiexec.fish").read_text(), rf" '{plain}' ")
                if name != "-?":
                    self.assertRegex((zsh / "_mpiexec").read_text(), rf"'\*{re.escape(name)}\[")
        for shell, folder in (("zsh", zsh), ("fish", fish), ("bash", SHARE / "bash-completion" / "completions")):
            files = sorted(folder.iterdir())
            self.assertGreaterEqual(len(files), 3)
            for file in files if shutil.which(shell) else ():
                done = subprocess.run([shell, "-n", file], capture_output=True, text=True)
                self.assertEqual((done.returncode, done.stderr), (0, ""), file)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + [word for word in sys.argv[5:] if word != "--without-fortran"])

"""Bad input: one clear line on stderr, exit code 2, nothing measured."""

import argparse
import unittest

from make_believe import Case
from heddle_tool import cli
from heddle_tool.cluster import command as cluster


class BadInput(Case):
    def refused(self, *args, words=(), **env):
        code, out, err = self.heddle(*args, **env)
        self.assertEqual(code, 2, err)
        self.assertEqual(out, "")
        self.assertEqual(len(err.strip().splitlines()), 1, err)
        self.assertTrue(err.startswith("heddle: "), err)
        for word in words:
            self.assertIn(word, err)
        self.assertFalse(self.journal.exists())

    def test_unknown_benchmark(self):
        self.refused("bench", "run", "latencie", *self.pretended, words=("latencie", "message-rate"))

    def test_numbers(self):
        for option, text in (("--threads", "0"), ("--threads", "two"), ("--ranks", "-1"), ("--repeats", "0"),
                             ("--seconds", "0"), ("--limit", "soon"), ("--sizes", "8q")):
            with self.subTest(option=option, text=text):
                self.refused("bench", "run", "latency", option, text, *self.pretended, words=(option,))

    def test_words(self):
        self.refused("bench", "run", "latency", "--comm", "mine", *self.pretended, words=("shared, each",))
        self.refused("bench", "run", "latency", "--rank-kind", "fibers", *self.pretended, words=("processes",))
        for text in ("LANG=C", "HEDDLE_WAIT", "HEDDLE_WAIT=", "HEDDLE_WAIT=,"):
            self.refused("bench", "run", "latency", "--settings", text, *self.pretended, words=("--settings",))
        self.refused("bench", "run", "latency", "--settings", "HEDDLE_A=x", "--settings", "HEDDLE_B=x", *self.pretended,
                     words=("'x' twice",))
        self.refused("bench", "run", "idle", "--ranks", "3", *self.pretended, words=("2 ranks",))
        self.refused("bench", "run", "bfs-blocking", "--threads", "1", *self.pretended, words=("2 threads",))
        self.refused("bench", "criteria", "wishes", *self.pretended, words=("foundation",))
        self.refused("bench", "run", "latency", "--frobnicate", words=("--frobnicate",))
        self.refused("bench", words=("PART",))

    def test_candidates(self):
        self.refused("bench", "run", "latency", "--no-heddle", words=("nothing",))
        self.refused("bench", "run", "latency", "--no-heddle", "--against", "lam", words=("lam", "mpich"))
        self.refused("bench", "run", "latency", "--no-heddle", "--mpi", "nameless", words=("NAME=PREFIX",))
        self.refused("bench", "run", "latency", "--no-heddle", "--mpi", "x=/nowhere", words=("/nowhere",))
        self.refused("bench", "run", "latency", "--heddle", str(self.folder), words=("no Heddle", "./dev stage"))

    def test_no_result(self):
        self.refused("bench", "report", str(self.folder / "missing.json"), words=("missing.json",))
        (self.folder / "other.json").write_text("{}")
        self.refused("bench", "report", str(self.folder / "other.json"), words=("other.json",))

    def test_peer_that_cannot_be_installed(self):
        code, out, err = self.heddle("bench", "run", "latency", "--no-heddle", "--against", "mpich",
                                     PIP_NO_INDEX="1", PIP_FIND_LINKS=str(self.folder))
        self.assertEqual(code, 2)
        self.assertIn("mpich can't be installed: ERROR", err.strip().splitlines()[-1])
        self.assertEqual(list((self.folder / "cache" / "heddle" / "peers").iterdir()), [])


class Listing(Case):
    def test_version(self):
        for option in ("--version", "-V"):
            code, out, err = self.heddle(option)
            self.assertEqual((code, err), (0, ""))
            self.assertRegex(out, r"^heddle \(Heddle\) [0-9]+\.[0-9]+\.[0-9]+\n$")

    def test_no_help_shows_a_doubled_percent_sign(self):
        def helps(parser):
            yield parser.prog, parser.format_help()
            for action in parser._actions:
                for below in (action.choices or {}).values() if isinstance(action, argparse._SubParsersAction) else ():
                    yield from helps(below)

        found = dict([*helps(cli.make_parser()), *helps(cluster.make_parser())])
        self.assertGreater(len(found), 10)
        self.assertIn("0.1%", found["heddle bench run"])
        self.assertEqual([name for name, text in found.items() if "%%" in text], [])

    def test_list(self):
        code, out, err = self.heddle("bench", "list")
        self.assertEqual((code, err), (0, ""))
        for name in ("latency", "message-rate", "idle", "openmpi"):
            self.assertIn(name, out)


if __name__ == "__main__":
    unittest.main()

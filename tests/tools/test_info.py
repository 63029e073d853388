"""`heddle info`: of a tree that is there, and of one that is not."""

import json
import unittest

from make_believe import Case


class Info(Case):
    def setUp(self):
        super().setUp()
        self.prefix = self.folder / "heddle"
        (self.prefix / "lib" / "heddle").mkdir(parents=True)
        (self.prefix / "lib" / "libmpi_abi.so.1").touch()
        for name in ("lln-ofi.so", "threads-argobots.so"):
            (self.prefix / "lib" / "heddle" / name).touch()
        (self.prefix / "bin" / "mpicc").write_text("#!/bin/sh\necho sh -I include\n")

    def info(self, *options, **env) -> dict:
        code, out, err = self.heddle("info", "--json", "--heddle", str(self.prefix), *options, **env)
        self.assertEqual((code, err), (0, ""))
        return json.loads(out)

    def test_what_is_found(self):
        found = self.info()
        self.assertRegex(found["version"], r"^\d+\.\d+\.\d+$")
        self.assertTrue(found["commit"])
        self.assertEqual(found["paths"]["library"], str(self.prefix / "lib" / "libmpi_abi.so.1"))
        self.assertEqual((list(found["networks"]), found["network between nodes"]), (["ofi"], "ofi"))
        self.assertEqual(list(found["thread runtimes"]), ["pthreads", "argobots"])
        self.assertTrue(found["compilers"]["C"]["path"].endswith("/sh"))

    def test_variables_that_choose(self):
        found = self.info(HEDDLE_LLN="loopback", HEDDLE_MODEL="mtx")
        self.assertEqual(found["network between nodes"], "loopback")
        self.assertEqual(found["variables"], {"HEDDLE_LLN": "loopback", "HEDDLE_MODEL": "mtx"})

    def test_text_and_a_tree_without_a_library(self):
        code, out, err = self.heddle("info", "--heddle", str(self.folder / "a"))
        self.assertEqual((code, err), (1, ""))
        self.assertRegex(out, r"(?m)^library +not found$")
        self.assertRegex(out, r"(?m)^networks +none$")


if __name__ == "__main__":
    unittest.main()

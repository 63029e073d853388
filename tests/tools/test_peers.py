"""Reference MPIs are installed once, however many ask for them at the same time: tests that run side by side do."""

import tempfile
import threading
import time
import unittest
from pathlib import Path
from unittest import mock

import make_believe  # noqa: F401  (finds heddle_tool)
from heddle_tool.bench import mpis
from heddle_tool.errors import BadInput

ASKERS = 8


class Peers(unittest.TestCase):
    def ask(self, *refusals: bool) -> tuple[list[Path | None], list[Path], list[str]]:
        """The result of each request (None: a refusal), the installations that were tried, what was told of them. `refusals`: whether the first attempts
        fail."""
        tried: list[Path] = []
        told: list[str] = []
        got: list[Path | None] = []

        def install(_, prefix: Path, __) -> None:
            tried.append(prefix)
            self.assertFalse(prefix.exists(), "another process does it")
            prefix.mkdir()
            end = time.monotonic() + 20
            while not any(line.startswith("waiting") for line in told) and time.monotonic() < end:
                time.sleep(0.001)
            if refusals[len(tried) - 1:][:1] == (True,):
                prefix.rmdir()
                raise BadInput("no network")

        def asker() -> None:
            try:
                got.append(mpis.peer("mpich", told.append).prefix)
            except BadInput:
                got.append(None)

        with tempfile.TemporaryDirectory() as cache, mock.patch.dict("os.environ", {"XDG_CACHE_HOME": cache}), \
                mock.patch.object(mpis, "install", install):
            mpis.os.environ.pop("HEDDLE_PEERS", None)
            askers = [threading.Thread(target=asker) for _ in range(ASKERS)]
            for each in askers:
                each.start()
            for each in askers:
                each.join()
            self.assertEqual(mpis.installed("mpich"), mpis.environment("mpich"))
        self.assertEqual({line.split()[0] for line in told}, {"installing", "waiting"})
        return got, tried, [line for line in told if line.startswith("installing")]

    def test_one_installs_and_the_others_wait(self):
        got, tried, told = self.ask()
        self.assertEqual(len(tried), 1)
        self.assertEqual(got, tried * ASKERS)
        self.assertEqual(len(told), 1)
        self.assertRegex(told[0], "^installing MPICH .* from PyPI into ")

    def test_after_a_failure_the_next_one_tries(self):
        got, tried, told = self.ask(True, True)
        self.assertEqual((len(tried), len(told)), (3, 3))
        self.assertEqual((got.count(None), got.count(tried[0])), (2, ASKERS - 2))


if __name__ == "__main__":
    unittest.main()

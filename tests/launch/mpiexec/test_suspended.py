"""User-level threads: those suspended in a call are named when a job is ended; ranks as threads can't have them."""

import os
import unittest

import launcher
from launcher import LauncherTest

FIBERS = os.environ["BOOT_FIBERS_PROGRAM"]


class Suspended(LauncherTest):
    def test_timeout(self):
        self.times_out("-n", "2", FIBERS, expected=tuple(
            f"\n  ranks 0-1, 2 user-level threads: MPI_Recv from MPI_ANY_SOURCE, tag {tag}, MPI_COMM_WORLD, \\d+(-\\d+)? s\n" for tag in range(8)))

    @unittest.skipUnless("BOOT_HOST" in os.environ, "ranks can't be threads with this sanitizer")
    def test_ranks_as_threads(self):
        result = self.run_job("--ranks", "threads", "-n", "2", FIBERS)
        self.assertEqual(result.code, 126, result.err)
        self.assertIn("has user-level threads (libboost_fiber.so", result.err)
        self.assertIn("Use --ranks processes", result.err)


if __name__ == "__main__":
    launcher.main()

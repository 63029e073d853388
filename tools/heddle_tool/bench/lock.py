"""A lock file for all users of the machine: held while measuring, given up now and then."""

import fcntl
import time
from pathlib import Path
from typing import IO

LEASE = 240.0  # seconds after which the others get a turn
PAUSE = 1.0  # time for one of them to take it


class Lock:
    """Entered for each run. It stays held between runs until the lease is over; without a file it does nothing."""

    def __init__(self, file: Path | None):
        self.path, self.since = file, 0.0
        self.file: IO | None = None

    def __enter__(self) -> "Lock":
        if self.path and not self.file:
            self.file = self.path.open("a")
            fcntl.flock(self.file, fcntl.LOCK_EX)
            self.since = time.monotonic()
        return self

    def __exit__(self, *_) -> None:
        if self.file and time.monotonic() - self.since > LEASE:
            self.release()
            time.sleep(PAUSE)

    def release(self) -> None:
        if self.file:
            self.file.close()
            self.file = None

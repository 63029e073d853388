"""One line on a terminal that says what runs, how far it is and how long it will take; silent elsewhere."""

import shutil
import sys
import time


class Progress:
    def __init__(self, total: int, stream=sys.stderr):
        self.total, self.done, self.began, self.stream = total, 0, time.monotonic(), stream
        self.live = stream.isatty()
        self.repeated = 0  # runs that were made again

    def show(self, what: str, who: str) -> None:
        if not self.live:
            return
        width = 20
        full = round(width * self.done / self.total) if self.total else width
        left = ""
        if self.done:
            left = f" · {clock((time.monotonic() - self.began) * (self.total - self.done) / self.done)} left"
        again = f" · {self.repeated} repeated" if self.repeated else ""
        line = f"{'█' * full}{'░' * (width - full)} {self.done}/{self.total} · {what} · {who}{again}{left}"
        self.stream.write("\r\x1b[K" + line[: shutil.get_terminal_size().columns - 1])
        self.stream.flush()

    def step(self) -> None:
        self.done += 1

    def clear(self) -> None:
        if self.live:
            self.stream.write("\r\x1b[K")
            self.stream.flush()


def clock(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"

"""Median, spread and ratio. Small samples, noisy machines: nothing here assumes a distribution."""

import statistics
from dataclasses import dataclass


@dataclass(frozen=True)
class Summary:
    median: float
    low: float
    high: float
    runs: int

    @property
    def spread(self) -> float:
        """Half the range, relative to the median."""
        return (self.high - self.low) / (2 * abs(self.median)) if self.median else 0.0

    def decides(self, bound: float = 1.0) -> bool:
        """True if all runs are on one side of the bound."""
        return not self.low < bound < self.high


def summary(values: list[float]) -> Summary | None:
    return Summary(statistics.median(values), min(values), max(values), len(values)) if values else None


def best(medians: dict[str, float], better: str) -> str | None:
    """The label with the best median."""
    if not medians:
        return None
    return (min if better == "lower" else max)(medians, key=medians.get)


def paired_ratio(mine: list[float | None], theirs: list[float | None]) -> Summary | None:
    """mine/theirs, repeat by repeat: what slows the machine for a while slows both, and cancels.

    The median is that of the medians, which is what a table of medians shows; the spread is that of the pairs.
    """
    pairs = [(m, t) for m, t in zip(mine, theirs) if m is not None and t]
    if not pairs:
        return None
    ratios = [m / t for m, t in pairs]
    middle = statistics.median(m for m, _ in pairs) / statistics.median(t for _, t in pairs)
    return Summary(middle, min(ratios), max(ratios), len(ratios))


def number(x: float | None, digits: int = 3) -> str:
    """Three significant digits, without an exponent."""
    if x is None:
        return "-"
    if x == 0:
        return "0"
    size = abs(x)
    decimals = 0
    while decimals < 6 and size * 10**decimals < 10 ** (digits - 1):
        decimals += 1
    return f"{x:,.{decimals}f}"

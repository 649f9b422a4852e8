"""How tutti-bench makes blocks of a given mean and irregularity."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

from tutti import _engine
from tutti.rules import UNKNOWN_SIZES

WIDTH = 4
"""Bytes of the elements that tutti-bench sends."""
_REGULAR = 1.05
"""Blocks whose irregularity is no more count as equal, here as in rules."""
_MEASURED = (2, 8)
"""The largest block over the mean one."""
_SEEDS = range(1, 9)
_MOST = 64
"""Times the mean block that is wanted: what tutti-bench is asked for is no larger."""
_RHO = (2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64)


def class_end(size: int) -> int:
    """The largest message size of the class of a size: the next power of 2; 0 of 0."""
    return 1 << (size - 1).bit_length() if size > 0 else 0


@dataclass(frozen=True)
class Band:
    """Irregularities, as rules count them, for which one measured value stands."""

    irregularity: int
    """The measured one."""
    least: int
    most: int | None
    """None: no bound."""

    @property
    def text(self) -> str:
        """As rules write it."""
        return _engine.range_text(f"{self.least}..{self.most or 'inf'}")

    def holds(self, irregularity: int) -> bool:
        """Is it one of these?"""
        return self.least <= irregularity and (self.most is None or irregularity <= self.most)


def has_bands(collective: str) -> bool:
    """May rules of the collective ask for irregularity?"""
    return _engine.is_irregular(collective) and collective not in UNKNOWN_SIZES


def bands(ranks: int) -> list[Band]:
    """The irregularities that are measured, each with those for which it stands: up to the geometric
    mean with the next one, the last without bound."""
    measured = sorted({min(each, ranks) for each in _MEASURED})
    ends = [math.isqrt(low * high) for low, high in zip(measured, measured[1:], strict=False)]
    return [
        Band(*limits)
        for limits in zip(measured, [2, *(end + 1 for end in ends)], [*ends, None], strict=True)
    ]


def band_of(collective: str, ranks: int, irregularity: float) -> Band | None:
    """The band of blocks of such a largest block over the mean one; None if they are about equal, or
    rules of the collective may not ask."""
    if ranks < 2 or irregularity <= _REGULAR + 1e-9 or not has_bands(collective):
        return None
    as_rules_count = math.ceil(irregularity - 1e-9)
    return next(band for band in bands(ranks) if band.holds(as_rules_count))


def blocks_for(
    collective: str, ranks: int, size: int, irregularity: float, band: Band | None = None
) -> list[str]:
    """What tutti-bench takes for a distribution with a mean block of about `size` bytes whose
    largest block over the mean one is nearest to `irregularity`; nothing if none is in the band.

    Where all ranks know the mean block it should stay in its class, so that the rule matches; with a
    band it must. O(ranks).
    """
    block = max(1, size // WIDTH)
    fits: list[tuple[float, list[str]]] = []
    for name, seed, rho in _distributions(ranks, irregularity, collective in UNKNOWN_SIZES):
        asked = block
        for _ in range(2):  # the first time with the block itself, then corrected by its mean
            mean = sum(_engine.distribute(name, ranks, asked, seed, rho)) / ranks
            if mean <= 0:
                break
            # No spike among them: their mean does not grow with the block.
            asked = min(max(1, round(asked * block / mean)), _MOST * block)
        blocks = _engine.distribute(name, ranks, asked, seed, rho)
        total = sum(blocks)
        if total <= 0:
            continue
        mean = total / ranks
        is_other_class = class_end(int(mean * WIDTH)) != class_end(block * WIDTH)
        if band and not band.holds(_engine.irregularity_of(blocks)):
            continue
        if band and is_other_class and collective not in UNKNOWN_SIZES:
            continue
        off = abs(math.log(max(blocks) / mean / irregularity)) + 2 * abs(math.log(mean / block))
        off += is_other_class
        words = ["--distribution", name.replace("_", "-"), "--block", str(asked)]
        fits.append((off, [*words, "--seed", str(seed), "--rho", str(rho)]))
    return min(fits, key=lambda fit: fit[0])[1] if fits else []


def _distributions(
    ranks: int, irregularity: float, any_mean: bool
) -> Iterator[tuple[str, int, int]]:
    """Name, seed and rho of the distributions that may fit."""
    yield "same", 1, 5
    if irregularity <= _REGULAR:
        return
    yield "alternating", 1, 5
    yield "decreasing", 1, 5
    if any_mean:
        yield "two_blocks", 1, 5
    for seed in _SEEDS:
        yield "random", seed, 5
        yield from (("spikes", seed, rho) for rho in _RHO if rho <= ranks)

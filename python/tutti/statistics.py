"""Statistics for the checks, without further packages."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import NormalDist, mean, median, stdev


@dataclass(frozen=True)
class Interval:
    """A median and the interval that holds the true one."""

    median: float
    low: float
    high: float


def median_interval(samples: Sequence[float], confidence: float = 0.95) -> Interval:
    """The median with its interval by order statistics, which assumes no distribution.

    Below six values the least and the largest bound it, with less confidence. Takes O(n) steps with
    integers of n bits.

    Raises:
        ValueError: there is no value.
    """
    if not samples:
        raise ValueError("a median needs at least one value")
    values = sorted(samples)
    n = len(values)
    # The true median is outside of [v(k), v(n-1-k)] with probability 2 P(B <= k), B of n coins.
    k, outside = -1, 0.0
    ways, all_ways = 1, 2**n  # n choose k + 1, of all outcomes
    while k + 1 < n // 2:
        outside += 2 * ways / all_ways
        if outside > 1 - confidence:
            break
        k += 1
        ways = ways * (n - k) // (k + 1)
    k = max(k, 0)
    return Interval(median(values), values[k], values[n - 1 - k])


_STUDENT = (
    12.71, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228,
    2.201, 2.179, 2.160, 2.145, 2.131, 2.120, 2.110, 2.101, 2.093, 2.086,
    2.080, 2.074, 2.069, 2.064, 2.060, 2.056, 2.052, 2.048, 2.045, 2.042,
)  # fmt: skip
"""Student's t by degrees of freedom, from 1 on, which 95 % of values lie within."""


def quotient_interval(first: Sequence[float], second: Sequence[float]) -> float:
    """The half-width of the 95 % interval of the quotient of the means of paired samples.

    It is that of the differences from the quotient, by Student's t. O(n).

    Returns:
        Infinity for a single pair.

    Raises:
        ValueError: the samples are empty, or have different lengths.
    """
    quotient = mean(first) / mean(second)
    rest = [a - quotient * b for a, b in zip(first, second, strict=True)]
    if len(rest) == 1:
        return math.inf
    return half_width(len(rest)) * stdev(rest) / abs(mean(second))


def half_width(count: int) -> float:
    """That of the 95 % interval of a mean of so many samples, at least 2, in standard deviations of
    the samples, by Student's t. O(1)."""
    freedom = count - 1
    score = _STUDENT[freedom - 1] if freedom <= len(_STUDENT) else NormalDist().inv_cdf(0.975)
    return score / math.sqrt(count)


def rank_test(left: Sequence[float], right: Sequence[float]) -> float:
    """The one-sided Mann-Whitney U test that `left` is greater than `right`.

    It uses the normal approximation, corrected for ties and continuity, which is good from about 8
    values on each side. O(n log n).

    Returns:
        The p-value: small if left is significantly greater; 1.0 if all values are equal.

    Raises:
        ValueError: a sample is empty.
    """
    if not left or not right:
        raise ValueError(f"samples of {len(left)} and {len(right)} values: expected at least 1 each")
    values = sorted([(value, True) for value in left] + [(value, False) for value in right])
    ranks_of_left = ties = 0.0
    start = 0
    while start < len(values):
        end = start
        while end < len(values) and values[end][0] == values[start][0]:
            end += 1
        shared = (start + 1 + end) / 2  # the mean rank of equal values
        ranks_of_left += shared * sum(of_left for _, of_left in values[start:end])
        ties += (end - start) ** 3 - (end - start)
        start = end
    n, m = len(left), len(right)
    total = n + m
    u = ranks_of_left - n * (n + 1) / 2
    variance = n * m / 12 * (total + 1 - ties / (total * (total - 1)))
    if variance <= 0:
        return 1.0
    z = (u - n * m / 2 - 0.5) / math.sqrt(variance)
    return 1 - NormalDist().cdf(z)

"""Tests the performance guidelines of Träff 2017, section 4, on results of tutti-bench."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median
from typing import Any

from tutti.statistics import rank_test

SLACK = 1.05
"""The tolerance: a ratio of medians up to this value breaks no guideline."""
LEVEL = 0.01
"""The significance level of the rank test."""


@dataclass(frozen=True)
class Verdict:
    """One guideline on one problem: `left` should take no longer than `right`."""

    guideline: int
    library: str
    distribution: str
    block: int
    left: str
    right: str
    ratio: float
    """Median of left over median of right."""
    doubt: float
    """The p-value of the one-sided rank test that left is greater."""

    @property
    def broken(self) -> bool:
        """Whether the ratio exceeds the tolerance and the difference is significant."""
        return self.ratio > SLACK and self.doubt < LEVEL


def judge(result: dict[str, Any]) -> list[Verdict]:
    """A verdict for each row and each guideline that applies to it."""
    verdicts = []
    for row in result["rows"]:
        samples: dict[str, Sequence[float]] = {
            line["name"]: line["samples_us"] for line in row["algorithms"]
        }
        for rule in result["guidelines"]:
            if rule["equal_blocks_only"] and row["distribution"] != "same":
                continue
            left, right = samples[rule["left"]], samples[rule["right"]]
            least = median(right)
            verdicts.append(
                Verdict(
                    guideline=rule["guideline"],
                    library=rule["library"],
                    distribution=row["distribution"],
                    block=row["block"],
                    left=rule["left"],
                    right=rule["right"],
                    ratio=median(left) / least if least > 0 else 1.0,
                    doubt=rank_test(left, right),
                )
            )
    return verdicts

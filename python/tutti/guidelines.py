"""Tests the performance guidelines of Träff 2017, section 4, on results of tutti-bench."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median
from typing import Any

from tutti.fields import COUNT, FLAG, NUMBER, TEXT, Each, fault_of
from tutti.refusal import Refusal
from tutti.statistics import rank_test

SLACK = 1.05
"""The tolerance: a ratio of medians up to this value breaks no guideline."""
LEVEL = 0.01
"""The significance level of the rank test."""


_ROW = {
    "distribution": TEXT, "block": COUNT, "total_elements": COUNT, "largest_elements": COUNT,
    "algorithms": [{"name": TEXT, "samples_us": [NUMBER]}],
}  # fmt: skip
_RULE = {
    "guideline": COUNT, "library": TEXT, "left": TEXT, "right": TEXT, "equal_blocks_only": FLAG,
}  # fmt: skip
_FIELDS = {"metadata": Each(TEXT), "rows": [_ROW], "guidelines": [_RULE]}


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
    """A verdict for each row and each guideline that applies to it.

    Raises:
        Refusal: the results are not those of `tutti-bench guidelines`.
    """
    if fault := fault_of(result, _FIELDS) or _missing(result):
        raise Refusal(f"expected results of tutti-bench guidelines: {fault}")
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


def _missing(result: dict[str, Any]) -> str:
    """What the results lack: a row, a guideline, or a time that it needs; else empty."""
    for name in ("rows", "guidelines"):
        if not result[name]:
            return f"{name}: expected at least 1"
    ranks = result["metadata"].get("ranks", "0")
    if not ranks.isdecimal():
        return f"metadata.ranks: expected a number, not {ranks}"
    for number, row in enumerate(result["rows"]):
        measured = {line["name"] for line in row["algorithms"] if line["samples_us"]}
        for rule in result["guidelines"]:
            for name in (rule["left"], rule["right"]):
                if name not in measured:
                    return f"rows[{number}].algorithms: no times of {name}"
    return ""

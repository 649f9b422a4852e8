"""Sums the lines of a report by call site, and compares two reports."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from tutti import source_lines
from tutti.reports import Site

PARTS = ("waiting", "held", "moving")


@dataclass(frozen=True)
class SiteTotal:
    """All calls of one collective from one call site. Times are seconds, means over ranks."""

    collective: str
    site: str
    lines: list[Site]
    """The lines of the report, one for each algorithm and reason; the longest time first."""
    calls: int
    bytes: int
    seconds: float
    """The sum over calls of the time from arrival to exit, in the mean over all ranks."""
    parts: dict[str, float] | None
    """That time by PARTS; None if the report has no times of single ranks."""

    @property
    def name(self) -> str:
        """The collective and its call site."""
        return f"{self.collective} at {source_lines.short(self.site)}"

    @property
    def other_sites(self) -> list[str]:
        """Where other ranks call it."""
        return list(dict.fromkeys(one for line in self.lines for one in line.fields.get("other_sites", ())))

    @property
    def algorithms(self) -> list[str]:
        """The algorithms that ran other than to explore, the one with the longest time first."""
        ran = [line for line in self.lines if not line.explored] or self.lines
        return list(dict.fromkeys(line.fields["algorithm"] for line in ran))


@dataclass(frozen=True)
class Difference:
    """The same call site in two reports."""

    collective: str
    site: str
    a: SiteTotal | None
    b: SiteTotal | None
    is_comparable: bool = True
    """False if one report has the mean of the ranks, and the other sums over processes."""

    @property
    def ratio(self) -> float | None:
        """Seconds of a over seconds of b: above 1, b is faster; None if a site is missing."""
        if self.a is None or self.b is None or self.b.seconds <= 0 or not self.is_comparable:
            return None
        return self.a.seconds / self.b.seconds


def seconds_of(fields: dict[str, Any]) -> float:
    """The time of a line's calls, in the mean over all ranks; lines add up to the report's."""
    return float(fields["elapsed"]["sum"])


def totals_of(sites: Sequence[Site]) -> list[SiteTotal]:
    """The call sites of a report, the longest time first. O(n log n)."""
    groups: dict[tuple[str, str], list[Site]] = {}
    for one in sites:
        groups.setdefault((one.fields["collective"], one.fields["site"]), []).append(one)
    made = [_total(collective, site, lines) for (collective, site), lines in groups.items()]
    return sorted(made, key=lambda one: -one.seconds)


def _total(collective: str, site: str, lines: list[Site]) -> SiteTotal:
    lines = sorted(lines, key=lambda line: -seconds_of(line.fields))
    known = [line.fields for line in lines if line.fields.get("parts")]
    parts = dict.fromkeys(PARTS, 0.0)
    for fields in known:
        whole = sum(fields["parts"][name] for name in PARTS)
        for name in PARTS if whole > 0 else ():
            parts[name] += seconds_of(fields) * fields["parts"][name] / whole
    return SiteTotal(
        collective, site, lines,
        calls=sum(line.fields["calls"] for line in lines),
        bytes=sum(line.fields["bytes"] for line in lines),
        seconds=sum(seconds_of(line.fields) for line in lines),
        parts=parts if known else None,
    )  # fmt: skip


def differences(
    a: Sequence[SiteTotal], b: Sequence[SiteTotal], is_comparable: bool = True
) -> list[Difference]:
    """The call sites of two reports, the largest change in seconds first."""
    left = {(one.collective, one.site): one for one in a}
    right = {(one.collective, one.site): one for one in b}
    found = [
        Difference(*key, left.get(key), right.get(key), is_comparable)
        for key in dict.fromkeys([*left, *right])
    ]
    return sorted(found, key=lambda one: -abs(_seconds(one.a) - _seconds(one.b)))


def _seconds(total: SiteTotal | None) -> float:
    return total.seconds if total else 0.0

"""Reads from a report which calls a program made, and how tutti-bench can make them again."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from tutti import _engine
from tutti.refusal import Refusal
from tutti.rules import UNKNOWN_SIZES
from tutti.site_totals import seconds_of
from tutti.tuning import WIDTH, Cell

MIN_SHARE = 0.01
"""Calls with a smaller share of the time in collectives are not tuned."""
MIN_SPREAD = 200e-6
"""Seconds. Ranks whose arrivals are closer count as together: a sleep is not more precise."""
_MAX_CALLS = 32
"""Recorded calls of a call site whose arrivals are replayed."""
_REGULAR = 1.05
_SEEDS = range(1, 9)
_RHO = (2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64)


@dataclass
class Calls:
    """The calls of one site with one collective, number of ranks and class of message sizes."""

    site: str
    collective: str
    ranks: int
    most: int
    """The largest message size of the class, a power of 2; 0 without data."""
    calls: int = 0
    seconds: float = 0
    """The time in these calls, mean over all ranks of the program."""
    root_calls: dict[int, int] = field(default_factory=dict)
    _bytes: float = 0
    _irregularity: float = 0
    moved: float = 0
    """The time from the last arrival on in calls that ran the MPI's own algorithm."""
    native_calls: int = 0
    """The number of these calls."""
    scale: float = 1.0
    """The ranks of the program for each rank of the call."""
    delays: list[list[float]] = field(default_factory=list, repr=False)
    """By recorded call and rank, seconds behind the first; empty if ranks arrive together."""

    @property
    def bytes(self) -> int:
        """The mean message size."""
        return round(self._bytes / self.calls)

    @property
    def irregularity(self) -> float:
        """The largest block over the mean block, mean over calls."""
        return self._irregularity / self.calls

    @property
    def moving(self) -> float:
        """The time of a call of the MPI's own algorithm from the last arrival on, mean over its
        ranks; 0 if unknown."""
        return self.moved * self.scale / self.native_calls if self.native_calls else 0.0

    @property
    def a_call(self) -> float:
        """The time of a call, mean over its ranks."""
        return self.seconds * self.scale / self.calls

    def add(self, size: dict[str, Any], seconds: float, line: dict[str, Any]) -> None:
        """Adds an element of `sizes` with its share of the line's time. What moves data is the same
        share of it in all sizes."""
        if line["algorithm"] == "native":
            moving = (line.get("moving") or {}).get("mean", math.inf)
            self.native_calls += size["calls"]
            elapsed = line["elapsed"]["mean"]
            self.moved += seconds * min(1.0, moving / elapsed) if elapsed > 0 else seconds
        calls = size["calls"]
        self.calls += calls
        self.seconds += seconds
        self._bytes += calls * size["bytes"]
        self._irregularity += calls * size["irregularity"]
        self.root_calls[size["root"]] = self.root_calls.get(size["root"], 0) + calls

    def is_tunable(self) -> bool:
        """True if the collective moves data between ranks that all call it."""
        is_empty = self.most == 0 and self.collective != "barrier"
        return not is_empty and self.ranks > 1 and not self.collective.startswith("rma_")


def class_end(size: int) -> int:
    """The largest message size of the class of a size: the next power of 2; 0 of 0."""
    return 1 << (size - 1).bit_length() if size > 0 else 0


def _checked(
    reports: Sequence[dict[str, Any]],
) -> Iterator[tuple[dict[str, Any], dict[str, Any]]]:
    """Reports, which have a number of ranks, with their lines, which have sizes."""
    for report in reports:
        for line in report["calls"]:
            if not report.get("ranks") or line.get("sizes") is None:
                missing = "message sizes" if report.get("ranks") else "number of ranks"
                raise Refusal(
                    f"--report: the report has no {missing}; expected one that this version "
                    "of Tutti wrote: run the program again with TUTTI_REPORT=name.json"
                )
            yield report, line


def _delays(line: dict[str, Any], ranks: int) -> list[list[float]]:
    pattern, spread = line.get("pattern"), line.get("spread")
    if not pattern or not spread or len(pattern["ranks"]) != ranks:
        return []
    if spread["median"] < MIN_SPREAD:
        return []
    delays: list[list[float]] = pattern["delays"]
    return delays[:: max(1, len(delays) // _MAX_CALLS)][:_MAX_CALLS]


def calls_of(reports: Sequence[dict[str, Any]]) -> list[Calls]:
    """The calls in reports, those with the most time first. Lines that differ only by algorithm or
    reason count together, and so do the sizes that a line does not list: of 0 ranks, so that no
    tuning takes them.

    Raises:
        Refusal: the report has no message sizes, or no number of ranks.
    """
    found: dict[tuple[Any, ...], Calls] = {}
    longest: dict[tuple[Any, ...], float] = {}
    for report, line in _checked(reports):
        rest = line.get("other_sizes") or {"calls": 0, "rank_seconds": 0.0}
        of_roots = sum(size["seconds"] * size["p"] for size in line["sizes"])
        of_roots = of_roots + rest["rank_seconds"] or 1.0
        for size in line["sizes"]:
            p = size["p"]
            seconds = seconds_of(line) * size["seconds"] * p / of_roots
            most = class_end(size["bytes"])
            key = (line["site"], line["collective"], p, most)
            calls = found.setdefault(key, Calls(*key, scale=max(1.0, report["ranks"] / p)))
            calls.add(size, seconds, line)
            if seconds > longest.get(key, 0):
                longest[key] = seconds
                calls.delays = _delays(line, p)
        if rest["calls"]:
            key = (line["site"], line["collective"], 0, 0)
            others = found.setdefault(key, Calls(*key))
            others.calls += rest["calls"]
            others.seconds += seconds_of(line) * rest["rank_seconds"] / of_roots
    return sorted(found.values(), key=lambda calls: -calls.seconds)


@dataclass(frozen=True)
class Replay:
    """One message size of one collective as tutti-bench makes it again.

    Where several call sites share them, that with the most time gives root, arrivals and blocks.
    """

    collective: str
    size: int
    """Message size in bytes."""
    sites: tuple[Calls, ...]

    @property
    def main(self) -> Calls:
        """The site with the most time."""
        return self.sites[0]

    @property
    def calls(self) -> int:
        """Of all sites."""
        return sum(site.calls for site in self.sites)

    @property
    def seconds(self) -> float:
        """In these calls, mean over all ranks of the program."""
        return sum(site.seconds for site in self.sites)

    def cell(self) -> Cell:
        """The empty cell of a tuning. Its rule holds for the classes of these calls."""
        most = max(site.most for site in self.sites)
        first = min(site.most for site in self.sites)
        least = first // 2 + 1 if first > 1 else first
        late = max((max(call) for call in self.main.delays), default=0.0)
        made = Cell(self.size, span=(least, most), weight=self.seconds)
        made.seconds = late + sum(site.a_call * site.calls for site in self.sites) / self.calls
        return made

    def words(self, ranks: int, size: int) -> list[str]:
        """What tutti-bench takes for such calls of `size` bytes, except the arrivals."""
        words: list[str] = []
        if self.size > 0:
            words = ["--block", str(max(1, size // WIDTH))]
        if _engine.is_irregular(self.collective):
            words = _blocks(self.collective, ranks, max(1, size // WIDTH), self.main.irregularity)
        root = max(self.main.root_calls, key=lambda root: self.main.root_calls[root])
        if root >= 0 and _engine.has_root(self.collective):
            words += ["--root", str(root)]
        return words


def _blocks(collective: str, ranks: int, block: int, irregularity: float) -> list[str]:
    """The distribution of tutti-bench whose max/mean block is nearest to that of the calls.

    Where all ranks know the mean block it must stay in the class, so that the rule matches.
    """
    fits: list[tuple[float, list[str]]] = []
    for name, seed, rho in _distributions(ranks, irregularity, collective in UNKNOWN_SIZES):
        asked = block
        for _ in range(2):  # the first time with the block itself, then corrected by its mean
            blocks = _engine.distribute(name, ranks, asked, seed, rho)
            mean = sum(blocks) / ranks
            if mean <= 0 or asked == max(1, round(asked * block / mean)):
                break
            asked = max(1, round(asked * block / mean))
        blocks = _engine.distribute(name, ranks, asked, seed, rho)
        mean = sum(blocks) / ranks
        if mean <= 0:
            continue
        off = abs(math.log(max(blocks) / mean / irregularity)) + 2 * abs(math.log(mean / block))
        off += class_end(int(mean * WIDTH)) != class_end(block * WIDTH)
        words = ["--distribution", name.replace("_", "-"), "--block", str(asked)]
        fits.append((off, [*words, "--seed", str(seed), "--rho", str(rho)]))
    return min(fits, key=lambda fit: fit[0])[1]


def _distributions(
    ranks: int, irregularity: float, any_mean: bool
) -> Iterator[tuple[str, int, int]]:
    """Name, seed and rho of the distributions that may fit."""
    yield "same", 1, 5
    if irregularity < _REGULAR:
        return
    yield "alternating", 1, 5
    yield "decreasing", 1, 5
    if any_mean:
        yield "two_blocks", 1, 5
    for seed in _SEEDS:
        yield "random", seed, 5
        yield from (("spikes", seed, rho) for rho in _RHO if rho <= ranks)


def replays_of(calls: Sequence[Calls], ranks: int, names: Sequence[str]) -> list[Replay]:
    """What to measure for communicators of `ranks`: of the collectives `names`, the calls that
    take MIN_SHARE or more of the time in collectives. The most time comes first."""
    whole = sum(one.seconds for one in calls)
    grouped: dict[tuple[str, int], list[Calls]] = {}
    for one in calls:
        if one.is_tunable() and one.ranks == ranks and one.collective in names:
            grouped.setdefault((one.collective, max(one.most, WIDTH)), []).append(one)
    found = []
    for (collective, _), sites in grouped.items():
        count = sum(site.calls for site in sites)
        mean = sum(site.calls * site.bytes for site in sites) / count
        size = 0 if collective == "barrier" else max(WIDTH, WIDTH * math.ceil(mean / WIDTH))
        found.append(Replay(collective, size, tuple(sites)))
    found = [one for one in found if one.seconds >= MIN_SHARE * whole]
    return sorted(found, key=lambda one: -one.seconds)


def check_ranks(calls: Sequence[Calls], ranks: int, program: int) -> None:
    """Raises Refusal if the program made no calls on communicators of so many ranks."""
    known = {one.ranks for one in calls if one.is_tunable()}
    if ranks in known:
        return
    others = sorted(known - {program})
    more = f", or {', '.join(map(str, others))} as in its smaller communicators" if others else ""
    raise Refusal(
        f"--mpirun starts {ranks} ranks, but the program of --report ran {program}; expected a "
        f"launcher that starts {program}{more}"
    )

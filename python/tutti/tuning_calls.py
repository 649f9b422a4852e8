"""Reads from a report which calls a program made, and how tutti-bench can make them again."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import accumulate
from typing import Any

from tutti import _engine
from tutti.refusal import Refusal
from tutti.site_totals import seconds_of
from tutti.tuning_blocks import WIDTH, Band, band_of, blocks_for, class_end
from tutti.tuning_cells import Cell
from tutti.tuning_run import waits_for_all

MIN_SHARE = 0.01
"""Calls with a smaller share of the time in collectives are not tuned."""
MIN_SPREAD = 200e-6
"""Seconds. Ranks whose arrivals are closer count as together: a sleep is not more precise."""
_MIN_SLEEP = 50e-6
"""Seconds. A shorter sleep takes longer."""
_MAX_CALLS = 32
"""Recorded calls of a call site whose arrivals are replayed."""
IN_A_ROW = 8
"""Calls without a barrier between them, where ranks may run ahead of each other."""
_MAX_ROOTS = 4
"""Roots of one size that are replayed: each is a run of its own."""


@dataclass
class Calls:
    """The calls of one site with one collective, number of ranks, class of message sizes and band of
    irregularity."""

    site: str
    collective: str
    ranks: int
    most: int
    """The largest message size of the class, a power of 2; 0 without data."""
    band: Band | None = None
    """None: equal blocks, some of several bands, or rules may not ask."""
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
    arrivals: list[tuple[int, list[float]]] = field(default_factory=list, repr=False)
    """Of recorded calls: the root, and by rank the seconds behind the first. Empty if ranks arrive
    together."""
    follow: bool = False
    """Calls follow each other, no rank waits for all, and hardly any call between them makes it wait:
    `arrivals` are the seconds that ranks compute between two calls, from which it follows how far they
    run ahead."""

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
        for root, number in size.get("roots") or [(size["root"], calls)]:
            self.root_calls[root] = self.root_calls.get(root, 0) + number

    def roots(self) -> list[tuple[int, float]]:
        """The roots that stand for those of the calls, each with its share: of 4 equal parts of the
        calls in ascending order of roots, the roots in the middle. Where arrivals are replayed, of
        the recorded calls. O(calls)."""
        counted = Counter(root for root, _ in self.arrivals) or self.root_calls
        roots = sorted(counted)
        ends = dict(zip(roots, accumulate(counted[root] for root in roots), strict=True))
        last = ends[roots[-1]]
        places = [last * (2 * number + 1) / (2 * _MAX_ROOTS) for number in range(_MAX_ROOTS)]
        found = Counter(next(root for root, end in ends.items() if place < end) for place in places)
        return [(root, number / _MAX_ROOTS) for root, number in found.items()]

    def delays(self, root: int) -> list[list[float]]:
        """By recorded call with this root and rank, the seconds of `arrivals`: of at most 32 calls."""
        known = [delays for of, delays in self.arrivals if of == root]
        return known[:: max(1, len(known) // _MAX_CALLS)][:_MAX_CALLS]

    def is_tunable(self) -> bool:
        """True if the collective moves data between ranks that all call it."""
        is_empty = self.most == 0 and self.collective != "barrier"
        return not is_empty and self.ranks > 1 and not self.collective.startswith("rma_")


def _checked(
    reports: Sequence[dict[str, Any]],
) -> Iterator[tuple[dict[str, Any], dict[str, Any]]]:
    """Reports, which have a number of ranks, with their lines, which have sizes. Those that a former
    report counted together, beyond 64 of a line, are one of a single rank, which no tuning takes."""
    for report in reports:
        for line in report["calls"]:
            if not report.get("ranks") or line.get("sizes") is None:
                missing = "message sizes" if report.get("ranks") else "number of ranks"
                raise Refusal(
                    f"--report: the report has no {missing}; expected one that this version "
                    "of Tutti wrote: run the program again with TUTTI_REPORT=name.json"
                )
            rest = line.get("other_sizes") or {"calls": 0}
            further = [{"p": 1, "bytes": 0, "calls": rest["calls"], "irregularity": 1.0,
                        "seconds": rest["rank_seconds"], "root": -1}] if rest["calls"] else []  # fmt: skip
            yield report, {**line, "sizes": line["sizes"] + further}


def _arrivals(line: dict[str, Any], ranks: int) -> list[tuple[int, list[float]]]:
    """`arrivals` of Calls with delays; a line without them has ranks that arrive together."""
    pattern, spread = line.get("pattern"), line.get("spread")
    if not pattern or not spread or len(pattern["ranks"]) != ranks:
        return []
    if spread["median"] < MIN_SPREAD:
        return []
    return list(zip(pattern["roots"], pattern["delays"], strict=True))


def _computed(line: dict[str, Any]) -> list[tuple[int, list[float]]]:
    """Of recorded calls that follow each other with one root: the root, and by rank the seconds between
    them. Of what all ranks compute, as much as a call takes: with that others may overlap. Empty if
    most calls do not follow each other, some have another root, they are of several communicators or
    classes of sizes, or every rank waits for all."""
    pattern = line["pattern"]
    if waits_for_all(line["collective"]):
        return []
    classes = {(size["p"], class_end(size["bytes"])) for size in line["sizes"]}
    if pattern["communicators"] != 1 or len(classes) > 1:
        return []
    numbers, roots = pattern["calls"], pattern["roots"]
    followed = [at for at in range(len(numbers) - 1) if numbers[at + 1] == numbers[at] + 1]
    found = []
    for before in followed:
        call = before + 1
        if roots[call] != roots[before]:
            continue
        between = pattern["begins"][call] - pattern["begins"][before]
        gaps = [
            between + late - earlier - took
            for late, earlier, took in zip(
                pattern["delays"][call], pattern["delays"][before], pattern["elapsed"][before], strict=True
            )
        ]
        common = max(0.0, min(gaps) - line["elapsed"]["mean"])
        found.append((roots[call], [_as_sleep(gap - common) for gap in gaps]))
    # A report keeps pairs of calls, or all.
    is_usual = 3 * len(followed) >= len(numbers) and 8 * len(found) >= 7 * len(followed)
    return found if is_usual else []


def _as_sleep(seconds: float) -> float:
    """0 for what a sleep would make longer."""
    return seconds if seconds >= _MIN_SLEEP else 0.0


def _band_of(line: dict[str, Any], size: dict[str, Any]) -> Band | None:
    """That of the calls of a size by their mean irregularity; None if, by the largest one of the line,
    more than half of them may be of another band: then one rule has to serve all."""
    name, p, mean = line["collective"], size["p"], size["irregularity"]
    most = max(mean, (line.get("irregularity") or {"max": mean})["max"])
    band = band_of(name, p, mean)
    if band is None or band_of(name, p, most) != band:
        return None
    below = band.least - 1  # if a share s of the calls is above, the mean is at most s most + (1 - s) below
    return band if mean - below >= 0.5 * (most - below) else None


def calls_of(reports: Sequence[dict[str, Any]]) -> list[Calls]:
    """The calls in reports, those with the most time first. Lines that differ only by algorithm or
    reason count together.

    Raises:
        Refusal: the report has no message sizes, or no number of ranks.
    """
    found: dict[tuple[Any, ...], Calls] = {}
    longest: dict[tuple[Any, ...], float] = {}
    waiting: Counter[int] = Counter()
    for _, line in _checked(reports):
        for size in line["sizes"] if waits_for_all(line["collective"]) else []:
            waiting[size["p"]] += size["calls"]
    for report, line in _checked(reports):
        of_roots = sum(size["seconds"] * size["p"] for size in line["sizes"]) or 1.0
        for size in line["sizes"]:
            p = size["p"]
            seconds = seconds_of(line) * size["seconds"] * p / of_roots
            most = class_end(size["bytes"])
            band = _band_of(line, size)
            key = (line["site"], line["collective"], p, most, band)
            calls = found.setdefault(key, Calls(*key, scale=max(1.0, report["ranks"] / p)))
            calls.add(size, seconds, line)
            if seconds > longest.get(key, 0):
                longest[key] = seconds
                calls.arrivals = _arrivals(line, p)
                computed = _computed(line) if calls.arrivals and 2 * waiting[p] < line["calls"] else []
                calls.follow = bool(computed)
                calls.arrivals = computed or calls.arrivals
    return sorted(found.values(), key=lambda calls: -calls.seconds)


@dataclass(frozen=True)
class Replay:
    """One message size of one collective, with blocks of one band, as tutti-bench makes it again.

    Where several call sites share them, that with the most time gives roots, arrivals and blocks.
    """

    collective: str
    size: int
    """Message size in bytes."""
    sites: tuple[Calls, ...]
    band: Band | None
    """The irregularity of the blocks; None as that of Calls, or if tutti-bench has no such blocks."""

    @property
    def main(self) -> Calls:
        """The site with the most time."""
        return self.sites[0]

    @property
    def irregularity(self) -> int:
        """For which its band is measured in general; 1 without one."""
        return self.band.irregularity if self.band else 1

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
        late = max((max(delays) for _, delays in self.main.arrivals), default=0.0)
        runs = len(self.main.roots())
        made = Cell(self.size, span=(least, most), weight=self.seconds, runs=runs)
        made.seconds = late + sum(site.a_call * site.calls for site in self.sites) / self.calls
        made.seconds *= IN_A_ROW if self.main.follow else 1
        return made

    def words(self, ranks: int, size: int, root: int) -> list[str]:
        """What tutti-bench takes for such calls of `size` bytes with one root, except the arrivals.
        Nothing if it has no such blocks in the band."""
        words: list[str] = []
        if self.size > 0:
            words = ["--block", str(max(1, size // WIDTH))]
        if _engine.is_irregular(self.collective):
            words = blocks_for(self.collective, ranks, size, self.main.irregularity, self.band)
            if not words:
                return []
        if root >= 0 and _engine.has_root(self.collective):
            words += ["--root", str(root)]
        if self.main.follow:
            words += ["--calls", str(IN_A_ROW)]
        return words


def replays_of(calls: Sequence[Calls], ranks: int, names: Sequence[str]) -> list[Replay]:
    """What to measure for communicators of `ranks`: of the collectives `names`, the calls that
    take MIN_SHARE or more of the time in collectives. The most time comes first. Calls of one size
    count together if their blocks are of one band. Where tutti-bench has no blocks of their band, as
    for the least sizes, they count with those of none."""
    whole = sum(one.seconds for one in calls)
    grouped: dict[tuple[str, int, Band | None], list[Calls]] = {}
    for one in calls:
        if one.is_tunable() and one.ranks == ranks and one.collective in names:
            key = (one.collective, max(one.most, WIDTH), one.band)
            grouped.setdefault(key, []).append(one)
    for key in [key for key in grouped if key[2]]:
        replay = _replay_of(grouped[key], key[2])
        if not replay.words(ranks, replay.size, root=-1):
            grouped.setdefault((*key[:2], None), []).extend(grouped.pop(key))
    found = [_replay_of(sites, key[2]) for key, sites in grouped.items()]
    found = [one for one in found if one.seconds >= MIN_SHARE * whole]
    return sorted(found, key=lambda one: -one.seconds)


def _replay_of(sites: Sequence[Calls], band: Band | None) -> Replay:
    """Calls of one collective and class of sizes, at their mean size."""
    collective = sites[0].collective
    mean = sum(site.calls * site.bytes for site in sites) / sum(site.calls for site in sites)
    size = 0 if collective == "barrier" else max(WIDTH, WIDTH * math.ceil(mean / WIDTH))
    return Replay(collective, size, tuple(sorted(sites, key=lambda site: -site.seconds)), band)


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

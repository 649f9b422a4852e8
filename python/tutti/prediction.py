"""Compares the arrivals in a report with predictions, and replays algorithms with them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

from tutti._engine import DelayPredictor, Call, Machine, algorithms
from tutti.explanation import made_for_arrivals
from tutti.reports import Pattern

MAX_REPLAYS = 16

Expected = list[list[float] | None]
"""By call: the predicted delay of each rank behind the first; None without a prediction."""


def from_predictor(delays: Sequence[Sequence[float]]) -> Expected:
    """The predictions of the library's rule for each call, from the calls before it.

    The first call has no prediction.
    """
    if not delays:
        return []
    predictor = DelayPredictor(len(delays[0]))
    expected: Expected = []
    for call in delays:
        expected.append(list(predictor.delays) if expected else None)
        predictor.take(list(call))
    return expected


def from_library(pattern: Pattern) -> Expected | None:
    """The library's predictions in the recorded run; None if it made none."""
    if pattern.ahead is None:
        return None
    expected: Expected = []
    for late, ahead in zip(pattern.delays, pattern.ahead, strict=True):
        known = [a for a in ahead if a is not None]
        if len(known) < len(ahead):
            expected.append(None)
            continue
        times = [time + more for time, more in zip(late, known, strict=True)]
        expected.append([time - min(times) for time in times])
    return expected if any(call is not None for call in expected) else None


@dataclass(frozen=True)
class Judgement:
    """The quality of predictions, over the calls that had one. Seconds."""

    calls: int
    error: float
    """Mean over ranks and calls of |predicted - actual| delay."""
    together: float
    """The same error for the prediction that all ranks arrive at once."""
    last: float
    """Share of calls whose last rank was predicted to be the last."""
    by_rank: list[float] = field(repr=False)
    """The mean error of each rank over calls."""
    expected: list[float] = field(repr=False)
    """The mean predicted delay of each rank over calls."""


def judge(pattern: Pattern, expected: Expected) -> Judgement | None:
    """Compares predicted with actual delays; None without predictions.

    Both are shifted to the same mean, because only differences between ranks matter.
    """
    ranks = len(pattern.ranks)
    errors, means = [0.0] * ranks, [0.0] * ranks
    calls = hits = 0
    together = 0.0
    for late, times in zip(pattern.delays, expected, strict=bool(expected)):
        if times is None:
            continue
        calls += 1
        shift = (sum(late) - sum(times)) / ranks
        mean = sum(late) / ranks
        for rank, (actual, time) in enumerate(zip(late, times, strict=True)):
            errors[rank] += abs(time + shift - actual)
            means[rank] += time
            together += abs(mean - actual)
        hits += late.index(max(late)) == times.index(max(times))
    if calls == 0:
        return None
    return Judgement(
        calls=calls,
        error=sum(errors) / ranks / calls,
        together=together / ranks / calls,
        last=hits / calls,
        by_rank=[error / calls for error in errors],
        expected=[mean / calls for mean in means],
    )


@dataclass(frozen=True)
class Replay:
    """The modelled times of one algorithm with recorded arrivals: means over the replayed calls."""

    algorithm: str
    seconds: float
    """From the first arrival to the last exit."""
    bound: float
    """The lower bound of any algorithm."""


def together(ranks: int, root: int) -> Pattern:
    """One call that all ranks enter at the same time, for lines without recorded arrivals."""
    none = [0.0] * ranks
    return Pattern(1, list(range(ranks)), [0], [root], [none], [none], None, None, none, none, none, none, [0] * ranks)


def replayed(pattern: Pattern, expected: Expected) -> list[int]:
    """The calls to replay: at most MAX_REPLAYS calls with predictions, evenly spread.

    Without predictions, the calls are chosen from all.
    """
    known = [at for at, times in enumerate(expected) if times is not None]
    known = known or list(range(len(pattern.calls)))
    step = math.ceil(len(known) / MAX_REPLAYS)
    return known[::step]


def replay(
    collective: str,
    block: int,
    pattern: Pattern,
    expected: Expected,
    machine: Machine,
    background: bool,
) -> list[Replay]:
    """Replays every candidate with the recorded arrivals, like `tutti simulate --arrivals`.

    Args:
        collective: the collective of the pattern.
        block: bytes of each rank's block.
        pattern: the recorded arrivals.
        expected: the predictions, for orders by arrival.
        machine: the model's parameters.
        background: every rank has a background thread.

    Returns:
        The candidates, fastest first.
    """
    names = [listed.name for listed in algorithms() if listed.collective == collective]
    names += made_for_arrivals(collective, len(pattern.ranks), background)
    sizes = [block] * len(pattern.ranks)
    made: dict[str, Replay] = {}
    for name in dict.fromkeys(names):
        one = _replay_of(name, collective, sizes, pattern, expected, machine, background)
        made.setdefault(one.algorithm, one)
    return sorted(made.values(), key=lambda one: one.seconds)


def _replay_of(
    name: str, collective: str, sizes: list[int], pattern: Pattern, expected: Expected,
    machine: Machine, background: bool,
) -> Replay:  # fmt: skip
    """Replays one candidate. Schedules serve all calls with the same root and predictions."""

    def parameters_of(at: int) -> tuple[int, list[float]]:
        return max(pattern.roots[at], 0), expected[at] or []

    def call_with(root: int, times: list[float]) -> Call:
        return Call(collective, sizes, root, name, machine, times)

    calls = replayed(pattern, expected)
    parameters = parameters_of(calls[0])
    call = call_with(*parameters)
    seconds = bound = 0.0
    for at in calls:
        if parameters_of(at) != parameters:
            parameters = parameters_of(at)
            call = call_with(*parameters)
        late = pattern.delays[at]
        seconds += call.simulate(late).run_time
        bound += call.lower_bound(late, background) - min(late)
    return Replay(call.algorithm, seconds / len(calls), bound / len(calls))

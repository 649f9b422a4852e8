"""Samples of the lab beside the scatters and gathers of Proficz 2020."""

from __future__ import annotations

from dataclasses import dataclass, field
from statistics import mean
from typing import Any

from tutti.statistics import half_width, quotient_interval
from tutti_reproduce.context import Context, Numbers
from tutti_reproduce.tables import EVEN, View, libraries, side

FLOAT = 4
RATES = (1000, 100)
"""The lab's links in Mbit/s: the paper's, and one at which 2 cores easily carry 48 ranks."""
REPETITIONS = 30
"""As many as one would ask for without intervals."""
_OVERLAPPING = "linear:runner=background"
CRITERION = (
    "Fewer than 30 repetitions suffice for a problem whose winner the interval decides: it lies under "
    f"1 / {EVEN:g}, above {EVEN:g}, or between both."
)

Cell = tuple[str, int, float, int]
"""Collective, size in Ki floats, largest delay in ms, number of processes."""


@dataclass(frozen=True)
class Samples:
    """Run times of one problem in ms by algorithm, and its mean elapsed times; times of slower links are
    divided so that all bytes take the paper's time."""

    run: dict[str, list[float]] = field(default_factory=dict)
    elapsed: Numbers = field(default_factory=dict)

    def means(self, measure: str, names: tuple[str, ...]) -> Numbers:
        """The mean run or elapsed times of these algorithms."""
        run = {name: mean(each) for name, each in self.run.items()}
        of = self.elapsed if measure == "elapsed" else run
        return {name: of[name] for name in names if name in of}


def _documents(context: Context, collective: str, rate: int) -> list[dict[str, Any]]:
    return context.documents(f"lab-{collective}-openmpi-48-{rate}mbit-*ms.json")


def samples(context: Context, collective: str, rate: int) -> dict[tuple[int, float], Samples]:
    """Samples of 48 ranks by size in Ki floats and by the delay in ms, as at the paper's rate."""
    scale = RATES[0] / rate
    found = {}
    for document in _documents(context, collective, rate):
        text = document["metadata"]["delay"].removeprefix("uniform:").removesuffix("ms")
        delay = 0.0 if text == "none" else float(text) / scale
        for row in document["rows"]:
            lines: dict[str, Any] = {line["name"]: line for line in row["algorithms"]}
            found[round(row["bytes"] / FLOAT / 1024), delay] = Samples(
                {name: [us / 1000 / scale for us in line["samples_us"]] for name, line in lines.items()},
                {name: line["elapsed_mean_us"] / 1000 / scale for name, line in lines.items()},
            )
    return found


def links(rate: int) -> str:
    """How the name of the lab with links of this rate in Mbit/s begins."""
    divided = "" if rate == RATES[0] else f", all times / {RATES[0] // rate}"
    return f"48 emulated nodes, {rate / 1000:g} Gbit/s{divided}, "


def machine(context: Context, collective: str, rate: int) -> str:
    """What a view calls the lab with links of this rate in Mbit/s."""
    return links(rate) + libraries(_documents(context, collective, rate))


def decided(factor: float, spread: float) -> bool:
    """Whether all of the interval of a factor has the same winner, or is even."""
    return side(factor - spread) == side(factor + spread)


def undecided_note(pairs: list[tuple[list[float], list[float]]]) -> str:
    """How many winners the intervals of paired samples leave open, and how many of those as many
    repetitions as REPETITIONS would leave open if means and deviations stayed."""
    open_ones = still = 0
    for first, second in pairs:
        factor, spread = mean(first) / mean(second), quotient_interval(first, second)
        open_ones += not decided(factor, spread)
        more = max(len(first), REPETITIONS)
        still += not decided(factor, spread * half_width(more) / half_width(max(2, len(first))))
    counts = [len(first) for first, _ in pairs]
    least = f"{min(counts)} to " if min(counts) < max(counts) else ""
    text = f"{least}{max(counts)} repetitions; ± is the factor's 95 % interval by Student's t. {CRITERION} "
    text += f"Undecided: {open_ones} of {len(pairs)}"
    if open_ones and min(counts) < REPETITIONS:
        text += f"; with {REPETITIONS} repetitions and the same deviations {still}"
    return f"{text}."


def counted(winners: list[list[str]], names: tuple[str, ...]) -> str:
    """How often each of the names is among the winners, the most frequent first: "SLS 3, LS 1"."""
    wins = {name: sum(name in each for each in winners) for name in names}
    return ", ".join(f"{name} {wins[name]}" for name in sorted(names, key=lambda name: -wins[name]))


def maybe_fastest(run: dict[str, list[float]]) -> list[str]:
    """The fastest algorithm by means, and all that may be: the interval of their time over its has 1."""
    least = min(run, key=lambda name: mean(run[name]))
    return [name for name, each in run.items()
            if mean(each) / mean(run[least]) - quotient_interval(each, run[least]) <= 1]  # fmt: skip


def fastest_note(context: Context, cells: list[Cell], rate: int, names: tuple[str, ...]) -> list[str]:
    """In how many cells with all algorithms each one may be the fastest; empty without such cells."""
    known = samples(context, cells[0][0], rate)
    runs = [known[size, delay].run for _, size, delay, ranks in cells if ranks == 48 and (size, delay) in known]
    whole = [{name: run[name] for name in names} for run in runs if run.keys() >= set(names)]
    if not whole:
        return []
    return [
        f"Fastest, or not excluded by the 95 % interval of its time over the fastest's, of {len(whole)} cells: "
        f"{counted([maybe_fastest(each) for each in whole], names)}."
    ]


def view(
    context: Context, cells: list[Cell], rate: int, measure: str, names: tuple[str, ...],
    contenders: tuple[str, str],
) -> View | None:  # fmt: skip
    """The lab's view of problems, with how many winners are undecided; None without samples."""
    known = samples(context, cells[0][0], rate)
    rows = [known.get((size, delay), Samples()) if ranks == 48 else Samples()
            for _, size, delay, ranks in cells]  # fmt: skip
    numbers = [row.means(measure, names) for row in rows]
    if not any(numbers):
        return None
    where = machine(context, cells[0][0], rate)
    if measure == "elapsed":
        note = "Means; samples hold no elapsed times, so intervals are unknown."
        return View("lab", where, numbers, [note])
    first, second = contenders
    pairs = [(row.run.get(first, []), row.run.get(second, [])) for row in rows]
    spread = [quotient_interval(*pair) if all(pair) else 0.0 for pair in pairs]
    compared = [pair for pair in pairs if all(pair)]
    return View("lab", where, numbers, [undecided_note(compared)] if compared else [], spread)


def example_note(known: dict[tuple[int, float], Samples], size: int, wire_ms: float) -> str:
    """Why the example's scatters take longer in the lab than published; empty without their samples."""
    large, small = (known.get((each, 0.0), Samples()).run for each in (size, size // 4))
    if not {"LIN", "native", _OVERLAPPING} <= large.keys() or "LIN" not in small:
        return ""
    lin, native, overlapping = (mean(large[name]) for name in ("LIN", "native", _OVERLAPPING))
    return (
        f"48 ranks on 2 cores add two costs. The cores do not carry the rate: the MPI's own scatter takes "
        f"{native:.0f} ms without delays, {native / wire_ms:.1f} times the {wire_ms:.0f} ms that the "
        "bytes take on the link. And LIN, SLIN and BSLN end one block before the next: blocks of 171 KiB need a handshake, and "
        f"its receiver waits for a core, {(lin - overlapping) / 47:.1f} ms for each of 47. With all "
        f"handshakes at once ({_OVERLAPPING}) the scatter takes {overlapping:.0f} ms, LIN {lin:.0f}; with {size // 4} Ki floats, "
        f"whose blocks need none, LIN takes {mean(small['LIN']):.0f}."
    )

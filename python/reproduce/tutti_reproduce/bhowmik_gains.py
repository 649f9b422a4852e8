"""The range of gains in Bhowmik & Bodele's abstract, and the closed form of what bytes alone can gain."""

from __future__ import annotations

from tutti_reproduce.context import Numbers, published
from tutti_reproduce.tables import View

RATES, NEAREST = (1, 2, 3, 4, 5, 10), 4
"""Of that link in closed form, in Gbit/s as links of nodes have 1; with the nearest one gains come nearest to the
paper's."""


def gain_of_bytes(nodes: int, rate: float) -> float:
    """The gain of recursive doubling with long blocks, ranks in blocks on two switches: the messages of the
    last stage, half of all bytes, cross in the natural order, those of the first in the paper's.

    Args:
        nodes: a power of 2; half of them send across at once, each way.
        rate: of the link between the switches, in links of a node.
    """
    half = nodes // 2
    slower = max(1.0, half / rate)
    return (half - 1 + half * slower) / (nodes - 2 + slower)


def closed_form() -> View:
    """The range of gains by bytes alone at the rate between the switches that comes nearest to the paper."""
    nodes = sorted({nodes for _, nodes in published("bhowmik")["figures"].values()})
    by_rate = {rate: [gain_of_bytes(each, rate) for each in nodes] for rate in RATES}
    listed = "; ".join(f"{rate} Gbit/s {', '.join(_percents(gains))}" for rate, gains in by_rate.items())
    ends: list[Numbers] = [{"factor": of(by_rate[NEAREST])} for of in (min, max)]
    numbers = [{"factor": 1.0}, {"factor": 1.0}, *ends]
    return View(
        "closed form", f"bytes alone, {NEAREST} Gbit/s between the switches, ranks in blocks", numbers,
        [*beside(numbers),
         f"Long blocks in recursive doubling on {', '.join(map(str, nodes))} nodes gain, by the rate between the switches, "
         f"in %: {listed}. So no rate gives the published range on all of them."],
    )  # fmt: skip


def _percents(gains: list[float]) -> list[str]:
    return [str(round(100 * (gain - 1))) for gain in gains]


def beside(ends: list[Numbers]) -> list[str]:
    """How the range of gains of recursive doubling lies beside the published one, as a sentence."""
    low, high = published("bhowmik")["gain"]
    least, largest = (numbers.get("factor") for numbers in ends[2:])
    if least is None or largest is None:
        return []
    inside, apart = low <= least and largest <= high, largest < low or least > high
    how = "is within" if inside else "is apart from" if apart else "overlaps"
    here, theirs = (" to ".join(_percents(ends)) for ends in ([least, largest], [low, high]))
    return [f"Recursive doubling gains {here} %, which {how} the published {theirs} %."]

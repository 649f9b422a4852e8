"""Cells of the comparison of `auto` with native and the list: their figures, tables and what stands out."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from math import isnan, nan
from statistics import geometric_mean, median
from textwrap import wrap
from typing import Any

import lab_page

from tutti.statistics import Interval, median_interval
from tutti.tuning_run import waits_for_all

FEWEST = 7
"""Calls of each contender that an interval needs."""
NOTABLE = 1.3
"""The least gain, or gain that was missed, that is named above a table."""
SLOWER = 0.97
"""A cell whose whole interval is below that is slower beyond doubt."""
WIDTH = 132


@dataclass(frozen=True)
class Cell:
    """One collective and size: medians in ms by the criterion of a selection, with an interval."""

    collective: str
    distribution: str
    bytes: int
    native: float
    auto: float
    gain: Interval
    """Native's time over that of `auto`."""
    whole_gain: float
    """The same from the first arrival on."""
    fastest: float
    fastest_name: str
    of_best: float
    """The time of the fastest of native and the list, over that of `auto`: 1 is the best."""
    best_name: str
    control: float
    """As of_best, of a second contender that is native too: what noise and method alone give."""
    native_again: float
    """The time of native over that of the second native contender."""
    ran: str

    @property
    def where(self) -> str:
        """The collective, with its distribution if that is uneven."""
        return self.collective + ("" if self.distribution in ("", "same") else f" ({self.distribution})")

    @property
    def is_lost(self) -> bool:
        """Is `auto` slower beyond doubt?"""
        return self.gain.high < SLOWER

    @property
    def is_steady(self) -> bool:
        """Does nothing stall in the switch?"""
        return not (self.collective.startswith("alltoall") and self.native >= 1)

    @property
    def is_long(self) -> bool:
        return self.is_steady and self.native >= 5

    @property
    def is_short(self) -> bool:
        return self.is_steady and self.native < 0.7


Kinds = dict[str, list[Cell]]
"""Cells by the heading of their table."""


def times(line: dict[str, Any], after_last: bool) -> list[float]:
    """Until the last exit, after the last arrival, or after the first one as in older files."""
    found: list[float] = line["after_last_arrival_us" if after_last else "samples_us"]
    return found


def fastest(lines: dict[str, list[float]]) -> tuple[str, float]:
    """The algorithm of the least median, found in every second call, and its median in the others.

    The least of many medians is too short by noise if the same calls find and measure it.
    """
    best = min(lines, key=lambda name: median(lines[name][::2]))
    return best, median(lines[best][1::2] or lines[best])


def gain(native: list[float], auto: list[float]) -> Interval:
    """The ratio of two medians; each interval has half of the permitted error (Bonferroni)."""
    if min(len(native), len(auto)) < FEWEST:
        return Interval(median(native) / median(auto), nan, nan)
    over, under = (median_interval(samples, 0.975) for samples in (native, auto))
    return Interval(over.median / under.median, over.low / under.high, over.high / under.low)


def cells(document: dict[str, Any], after_last_always: bool = False) -> Iterator[Cell]:
    """The cells of one collective. Times after the last arrival count where every rank waits for
    all, or always."""
    for row in document["rows"]:
        of_all = row["algorithms"]
        after_last = ((after_last_always or waits_for_all(row["collective"]))
                      and has_after_last(of_all))  # fmt: skip
        native, auto, *others = (times(line, after_last) for line in of_all)
        natives = [of for line, of in zip(of_all[2:], others, strict=True)
                   if line["name"] == "native"]  # fmt: skip
        rest = {line["name"]: of for line, of in zip(of_all[2:], others, strict=True)
                if line["name"] != "native"}  # fmt: skip
        again = median(natives[0]) if natives else nan
        name, of_list = fastest(rest or {"native": native})
        best_name, best = fastest({"native": native, **rest})
        of_native, of_auto = median(native), median(auto)
        yield Cell(
            row["collective"], row["distribution"], row["block"] * row["element_bytes"],
            of_native / 1000, of_auto / 1000, gain(native, auto),
            of_all[0]["median_us"] / of_all[1]["median_us"], of_list / 1000, name, best / of_auto,
            best_name, best / again, of_native / again, lab_page.ran(of_all[1]["ran"]),
        )  # fmt: skip


def has_after_last(lines: list[dict[str, Any]]) -> bool:
    """Have all contenders times after the last arrival? Older files lack them."""
    return all("after_last_arrival_us" in line for line in lines)


TITLES = [">cells", ">native / `auto`", ">fastest / `auto`", ">at least 0.95", ">slower",
          ">native / native", ">at least 0.95", ">fastest / native", ">at least 0.95"]  # fmt: skip


def speed(found: Iterable[Cell]) -> float:
    """Of `auto`, over native's: the geometric mean."""
    return geometric_mean([cell.native / cell.auto for cell in found])


def of_fastest(found: Iterable[Cell]) -> float:
    """The speed of `auto` over that of the fastest: the geometric mean."""
    return geometric_mean([cell.of_best for cell in found])


def near(found: list[Cell]) -> float:
    """The share of cells with 0.95 of the speed of the fastest."""
    return sum(cell.of_best >= 0.95 for cell in found) / len(found)


def row(found: list[Cell]) -> list[str]:
    """The figures of some cells: how many, four of `auto`, and those of native once more."""
    again = [cell for cell in found if not isnan(cell.control)]
    controls = [""] * 4
    if again:
        ratios = ([cell.native_again for cell in again], [cell.control for cell in again])
        controls = [text for of in ratios for text in
                    (f"{geometric_mean(of):.2f}", f"{sum(each >= 0.95 for each in of) / len(of):.0%}")]  # fmt: skip
    return [str(len(found)), f"{speed(found):.2f}", f"{of_fastest(found):.2f}", f"{near(found):.0%}",
            str(sum(cell.is_lost for cell in found)), *controls]  # fmt: skip


def summary(found: Kinds, calls: dict[str, Callable[[Cell], bool]]) -> list[str]:
    """The figures that a selection is judged by, in a table for each kind of calls."""
    lines: list[str] = []
    for title, holds in calls.items():
        groups = {where: [cell for cell in of_all if holds(cell)] for where, of_all in found.items()}
        rows = [[where, *row(group)] for where, group in groups.items() if group]
        lines += [*lab_page.table([title, *TITLES], rows), ""]
    return lines


def interval(ratio: Interval) -> str:
    """Its ends; empty if there were too few calls."""
    return "" if isnan(ratio.low) else f"{ratio.low:.2f} to {ratio.high:.2f}"


def table(found: list[Cell]) -> list[str]:
    """A row for each cell."""
    titles = ["collective", ">bytes", ">native, ms", ">native / `auto`", "95 %", ">from the first arrival",
              ">native / native", "fastest of the list",
              ">native / fastest", "`auto` ran"]  # fmt: skip
    rows = []
    for cell in found:
        rows.append([
            cell.where, f"{cell.bytes:,}", f"{cell.native:.3f}",
            f"{cell.gain.median:.2f}", interval(cell.gain),
            f"{cell.whole_gain:.2f}", "" if isnan(cell.native_again) else f"{cell.native_again:.2f}",
            f"`{cell.fastest_name}`", f"{cell.native / cell.fastest:.2f}", f"`{cell.ran}`",
        ])  # fmt: skip
    return lab_page.table(titles, rows)


def highlights(found: list[Cell]) -> list[str]:
    """What stands out in a table, without exchanges that stall: gains, what was missed, and losses."""
    found = [cell for cell in found if cell.is_steady]
    gains = [cell for cell in found if cell.gain.median >= NOTABLE]
    missed = [cell for cell in found if cell.best_name != "native" and cell.of_best * NOTABLE <= 1]

    def gain(cell: Cell) -> str:
        return f"{cell.gain.median:.1f}"

    parts = (
        (f"Gains of {NOTABLE} and more", [cell for cell in gains if cell.gain.low > 1], gain),
        ("The same, but too few calls, or an interval with 1",
         [cell for cell in gains if not cell.gain.low > 1], gain),
        (f"Missed: fastest {NOTABLE} times what ran, or more", missed,
         lambda cell: f"{1 / cell.of_best:.1f} (`{cell.best_name}`)"),
        ("Slower beyond doubt", [cell for cell in found if cell.is_lost],
         lambda cell: f"{cell.gain.median:.2f} ({interval(cell.gain)})"),
    )  # fmt: skip
    lines: list[str] = []
    for title, of, text in parts:
        if of:
            lines += [*paragraph(f"**{title}**: {listed(of, text)}."), ""]
    return lines


def listed(found: list[Cell], text: Callable[[Cell], str]) -> str:
    """Sizes with a text each, by collective."""
    named: dict[str, list[str]] = {}
    for cell in found:
        size = f"{lab_page.size(cell.bytes)} " if cell.bytes else ""
        named.setdefault(cell.where, []).append(size + text(cell))
    return "; ".join(f"{where} {', '.join(of)}" for where, of in named.items())


def paragraph(text: str, indent: str = "") -> list[str]:
    """The lines of a text."""
    return wrap(text, WIDTH, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False)


def span(values: Iterable[float], digits: int) -> str:
    """The least and the greatest of some values."""
    least, most = (f"{pick(values):.{digits}f}" for values in (list(values),) for pick in (min, max))
    return least if least == most else f"{least} to {most}"


def in_short(lab: Kinds, simulated: Kinds, alone: list[Cell]) -> list[str]:
    """What the figures say: of tables with default settings in the lab, of simulated ones, and of one
    without the list."""
    points = [*long_calls(lab), *short_calls(lab, alone)]
    if simulated:
        speeds = span(map(of_fastest, simulated.values()), 2)
        shares = span((100 * near(of) for of in simulated.values()), 0)
        points.append(f"*Without noise*, simulated by SimGrid, `auto` has {speeds} of the speed of the fastest, "
                      f"and at least 0.95 in {shares} % of the cells.")  # fmt: skip
    return [line for point in points for line in paragraph(f"- {point}", "  ")]


def long_calls(lab: Kinds) -> list[str]:
    """What long calls gain."""
    long = [of for of_all in lab.values() if (of := [cell for cell in of_all if cell.is_long])]
    return [
        f"*Long calls.* Calls of 5 ms or more are {span(map(speed, long), 1)} times as fast as the "
        f"MPI's own, and have {span(map(of_fastest, long), 2)} of the speed of the fastest of the list."
    ] if long else []  # fmt: skip


def short_calls(lab: Kinds, alone: list[Cell]) -> list[str]:
    """What short calls lose, and all calls of a table without the list."""
    short = {where: of for where, of_all in lab.items()
             if (of := [cell for cell in of_all if cell.is_short])}  # fmt: skip
    if not short:
        return []
    taken = span((1 / speed(of) for of in short.values()), 2)
    lost = [cell for of in short.values() for cell in of if cell.is_lost]
    text = (f"*Short calls in the lab.* Calls below 0.7 ms take {taken} of native's time "
            f"([why](#what-short-calls-lose)). Slower beyond doubt are {len(lost)} of "
            f"{sum(map(len, short.values()))} of them")  # fmt: skip
    if lost:
        by_table = [f"{number} of {len(of)} with {where}" for where, of in short.items()
                    if (number := sum(cell.is_lost for cell in of))]  # fmt: skip
        text += f" ({'; '.join(by_table)}), the worst {min(cell.gain.median for cell in lost):.2f}"
    if alone:
        losses = [f"{cell.gain.median:.2f}" for cell in alone if cell.is_lost]
        own = [cell for cell in alone if cell.is_short]
        text += f". Beside native only, as in a program, they take {1 / speed(own):.2f}" if own else ""
        text += f". There {len(losses)} of {len(alone)} cells in all are slower beyond doubt"
        text += f": {' and '.join(losses)}" if losses else ""
    return [f"{text}."]

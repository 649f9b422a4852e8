"""Plots of reproduced tables as SVG text, without other packages."""

from __future__ import annotations

import math
from collections.abc import Sequence
from html import escape

from tutti_reproduce.tables import Plot, Result, Table, View

COLOURS = ("#1f6feb", "#d1242f", "#1a7f37", "#9a6700", "#8250df", "#0a7ea4", "#bf3989", "#57606a")
_FEWEST = 8
"""Fewer factors are read from the rows."""
STYLE = (
    "svg text{font:11px system-ui,sans-serif;fill:#333}svg .title{font-weight:600;font-size:12px}"
    ".grid{stroke:#e4e7eb}"
)
"""Of all plots, as CSS."""
_WIDE, _HIGH, _LEFT, _RIGHT, _TOP, _BOTTOM = 460, 300, 52, 12, 28, 42


class Axis:
    """Maps numbers to pixels, linearly or by logarithm, and chooses ticks."""

    def __init__(self, values: list[float], begin: float, end: float, log: bool) -> None:
        positive = [value for value in values if value > 0]
        self.log = log and bool(positive)
        low, high = (min(positive), max(positive)) if self.log else (min([0, *values]), max([1e-9, *values]))
        if self.log and high < 1.3 * low:
            low, high = low / 1.3, high * 1.3
        self.low, self.high, self.begin, self.end = low, high, begin, end

    def at(self, value: float) -> float:
        """The pixel of a number."""
        if self.log:
            share = math.log(max(value, self.low) / self.low) / math.log(self.high / self.low)
        else:
            share = (value - self.low) / (self.high - self.low)
        return self.begin + (self.end - self.begin) * share

    def ticks(self) -> list[float]:
        """Up to seven numbers within the axis, as round as possible."""
        if not self.log or self.high < 4 * self.low:
            step = 10 ** math.floor(math.log10((self.high - self.low) / 2))
            step *= next(k for k in (1, 2, 5, 10) if (self.high - self.low) / (k * step) <= 6)
            first = math.ceil(self.low / step)
            return [k * step for k in range(first, math.floor(self.high / step) + 1)]
        powers = range(math.floor(math.log10(self.low)), math.ceil(math.log10(self.high)) + 1)
        for mantissas in ((1,), (1, 3), (1, 2, 5), (1, 1.5, 2, 3, 4, 5, 6, 8)):
            found = [m * 10.0**k for k in powers for m in mantissas]
            found = [tick for tick in found if self.low <= tick * 1.001 and tick <= self.high * 1.001]
            if len(found) >= 4:
                return found[:: -(-len(found) // 7)]
        return found


def _label(value: float) -> str:
    for limit, suffix in ((1e9, "G"), (1e6, "M"), (1e4, "k")):
        if value >= limit:
            return f"{value / (1e3 if suffix == 'k' else limit):g}{suffix}"
    return f"{value:.4g}"


def _svg(title: str, high: int, drawn: str) -> str:
    return f'<svg viewBox="0 0 {_WIDE} {high}" role="img" aria-label="{escape(title)}">{drawn}</svg>'


def _frame(plot: Plot, x: Axis, y: Axis) -> str:
    """Title, axes and grid."""
    bottom = _HIGH - _BOTTOM
    grid = "".join(
        f'<line x1="{x.at(tick):.1f}" x2="{x.at(tick):.1f}" y1="{_TOP}" y2="{bottom}" class="grid"/>'
        f'<text x="{x.at(tick):.1f}" y="{bottom + 14}" text-anchor="middle">{_label(tick)}</text>'
        for tick in x.ticks()
    ) + "".join(
        f'<line x1="{_LEFT}" x2="{_WIDE - _RIGHT}" y1="{y.at(tick):.1f}" y2="{y.at(tick):.1f}" class="grid"/>'
        f'<text x="{_LEFT - 5}" y="{y.at(tick) + 4:.1f}" text-anchor="end">{_label(tick)}</text>'
        for tick in y.ticks()
    )
    middle = (_TOP + bottom) / 2
    return (
        f'<text x="{_LEFT}" y="17" class="title">{escape(plot.title)}</text>{grid}'
        f'<text x="{(_LEFT + _WIDE - _RIGHT) / 2}" y="{bottom + 31}" text-anchor="middle">'
        f"{escape(plot.x_label)}</text>"
        f'<text transform="translate(12 {middle}) rotate(-90)" text-anchor="middle">'
        f"{escape(plot.y_label)}</text>"
    )


def _same_colour(names: list[str]) -> dict[str, int]:
    """The number of each line's colour; a line `A, x` has that of a line A."""
    base = [name.rpartition(",")[0] for name in names]
    own = [name for name, of in zip(names, base, strict=True) if of not in names]
    return {name: own.index(of if of in names else name) for name, of in zip(names, base, strict=True)}


def lines(plot: Plot) -> str:
    """A plot of lines with their points, which say what they are, and a legend below; empty without points.
    A line `A, x` of the same quantity as a line A, such as `LIN, lab`, has its colour and hollow points
    without a line."""
    drawn, high = _lines(plot, hints=True)
    return _svg(plot.title, high, drawn) if drawn else ""


def sheet(title: str, plots: Sequence[Plot]) -> str:
    """A picture of plots, two side by side, for a file of its own; empty without points."""
    panels = [panel for plot in plots if (panel := _lines(plot, hints=False))[0]]
    if not panels:
        return ""
    drawn, y = "", 0
    for row in range(0, len(panels), 2):
        beside = panels[row : row + 2]
        drawn += "".join(f'<g transform="translate({i * _WIDE} {y})">{text}</g>' for i, (text, _) in enumerate(beside))
        y += max(high for _, high in beside) + 8
    wide = _WIDE * min(2, len(panels))
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {wide} {y}" width="{wide}" height="{y}" role="img">'
        f'<title>{escape(title)}</title><style>{STYLE}</style><rect width="{wide}" height="{y}" fill="#fff"/>{drawn}</svg>\n'
    )


def _lines(plot: Plot, *, hints: bool) -> tuple[str, int]:
    """What lines() draws, with hints at points or without, and its height; empty without points."""
    points = [point for line in plot.lines.values() for point in line]
    if not points:
        return "", 0
    x = Axis([a for a, _ in points], _LEFT, _WIDE - _RIGHT, plot.log_x)
    y = Axis([b for _, b in points], _HIGH - _BOTTOM, _TOP, plot.log_y)
    drawn = legend = ""
    column, row = float(_LEFT), 0
    numbers = _same_colour(list(plot.lines))
    for name, line in plot.lines.items():
        i, only_points = numbers[name], name.rpartition(",")[0] in numbers
        colour = COLOURS[i % len(COLOURS)]
        style = f'stroke="{colour}"'
        if i >= len(COLOURS) or name.startswith("published"):
            style += ' stroke-dasharray="5 3"'
        path = " ".join(f"{x.at(a):.1f},{y.at(b):.1f}" for a, b in line)
        if not only_points:
            drawn += f'<polyline points="{path}" fill="none" stroke-width="1.6" {style}/>'
        fill = f'fill="none" stroke="{colour}"' if only_points else f'fill="{colour}"'
        drawn += "".join(
            f'<circle cx="{x.at(a):.1f}" cy="{y.at(b):.1f}" r="{3.2 if only_points else 2.4}" {fill}'
            + (f"><title>{escape(name)}: {a:g}, {b:.3g}</title></circle>" if hints else "/>")
            for a, b in line
        )
        width = 34 + 6.3 * len(name)
        if column + width > _WIDE and column > _LEFT:
            column, row = float(_LEFT), row + 1
        at = _HIGH + 8 + 15 * row
        if only_points:
            legend += f'<circle cx="{column + 9}" cy="{at - 4}" r="3.2" {fill}/>'
        else:
            ends = f'x1="{column}" x2="{column + 18}" y1="{at - 4}" y2="{at - 4}"'
            legend += f'<line {ends} stroke-width="2" {style}/>'
        legend += f'<text x="{column + 22}" y="{at}">{escape(name)}</text>'
        column += width
    return _frame(plot, x, y) + drawn + legend, _HIGH + 16 + 15 * row


def factors(table: Table, result: Result, view: View) -> str:
    """Published against reproduced factors or values; on the diagonal they are equal. Empty where lines
    show the same, or points are few."""
    pairs = [
        (problem, a, b)
        for problem, published, here in zip(result.problems, result.published, view.numbers, strict=True)
        if (a := table.factor(published)) and (b := table.factor(here))
    ]
    if len(pairs) < _FEWEST or result.plots:
        return ""
    values = [value for _, *pair in pairs for value in pair]
    plot = Plot(view.heading[:70], "published", "here", {})
    x = Axis(values, _LEFT, _WIDE - _RIGHT, True)
    y = Axis(values, _HIGH - _BOTTOM, _TOP, True)
    dots = "".join(
        f'<circle cx="{x.at(a):.1f}" cy="{y.at(b):.1f}" r="3" fill="{COLOURS[0]}" fill-opacity=".6">'
        f"<title>{escape(problem)}: published {a:.3g}, here {b:.3g}</title></circle>"
        for problem, a, b in pairs
    )
    diagonal = f'<line x1="{x.begin}" y1="{y.begin}" x2="{x.end}" y2="{y.end}" stroke="#8c959f"/>'
    return _svg(plot.title, _HIGH, _frame(plot, x, y) + diagonal + dots)

"""The simulated time of a call, as SVG and as JSON."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass

from tutti._engine import Timeline
from tutti.schedules import svg

_LEFT, _RIGHT, _TOP, _BOTTOM = 64.0, 30.0, 52.0, 46.0
_WIDTH = 760.0
_MIN_ROW, _MAX_ROW = 6.0, 26.0
_MICROSECONDS = 1e6


@dataclass(frozen=True)
class _Frame:
    """Maps ranks and times to coordinates."""

    first: float
    span: float
    row: float

    @staticmethod
    def of(timeline: Timeline) -> _Frame:
        first = min(timeline.arrivals)
        span = max(timeline.exits) - first
        row = min(max(900 / len(timeline.exits), _MIN_ROW), _MAX_ROW)
        return _Frame(first, span if span > 0 else 1.0, row)

    def x(self, time: float) -> float:
        return _LEFT + (time - self.first) / self.span * _WIDTH

    def y(self, rank: int) -> float:
        return _TOP + self.row * rank


def to_json(timeline: Timeline) -> str:
    """One object: arrivals, exits and busy by rank, and transfers; times in seconds."""
    transfers = [
        {"from": t.source, "to": t.target, "bytes": t.bytes, "start": t.start, "end": t.end}
        for t in timeline.transfers
    ]
    numbers = {"arrivals": timeline.arrivals, "exits": timeline.exits, "busy": timeline.busy}
    return json.dumps({**numbers, "transfers": transfers}, separators=(",", ":")) + "\n"


def to_svg(timeline: Timeline, title: str) -> str:
    """Ranks over time, as SVG: a row per rank, time to the right.

    The background of a row is grey from arrival to exit. Each transfer has a bar at both its ranks
    (upper half sends, lower half receives) and a line between them.
    """
    frame = _Frame.of(timeline)
    base = frame.y(len(timeline.exits)) + 4
    content = (
        svg.text(_LEFT, 26, "title", title)
        + svg.text(_LEFT - 10, 43, "note side", "rank")
        + _rows(frame, timeline)
        + _transfers(frame, timeline)
        + _axis(frame, base)
    )
    return svg.drawing(_LEFT + _WIDTH + _RIGHT, base + _BOTTOM, content)


def _bar(x1: float, x2: float, y: float, height: float, fill: str) -> str:
    return svg.element("rect", x=x1, y=y, width=max(x2 - x1, 0.6), height=height, fill=fill)


def _rows(frame: _Frame, timeline: Timeline) -> str:
    every = max(1, math.ceil(13 / frame.row))
    content = ""
    for rank, (arrival, left) in enumerate(zip(timeline.arrivals, timeline.exits, strict=True)):
        y, height = frame.y(rank) + frame.row * 0.08, frame.row * 0.84
        content += _bar(frame.x(arrival), frame.x(left), y, height, "#edf1f5")
        if rank % every == 0:
            y = frame.y(rank) + frame.row / 2 + 4
            content += svg.text(_LEFT - 10, y, "note side", str(rank))
    return content


def _transfers(frame: _Frame, timeline: Timeline) -> str:
    bars, lines = [], []
    height = frame.row * 0.42
    for transfer in timeline.transfers:
        x1, x2 = frame.x(transfer.start), frame.x(transfer.end)
        sender, receiver = frame.y(transfer.source), frame.y(transfer.target)
        bars.append(_bar(x1, x2, sender + frame.row * 0.08, height, "#e0803a"))
        bars.append(_bar(x1, x2, receiver + frame.row * 0.5, height, "#1f6f94"))
        y1, y2 = sender + frame.row * 0.29, receiver + frame.row * 0.71
        lines.append(svg.element("line", x1=x1, y1=y1, x2=x2, y2=y2))
    style = "stroke='#52606d' stroke-width='0.8' stroke-opacity='0.55'"
    return "".join(bars) + f"<g {style}>\n" + "".join(lines) + "</g>\n"


def _tick_step(span: float) -> float:
    """1, 2 or 5 times a power of ten that divides `span` into 4 to 10 parts."""
    power = 10 ** math.floor(math.log10(span / 4))
    return next((f * power for f in (5, 2) if span / (f * power) >= 4), power)


def _axis(frame: _Frame, base: float) -> str:
    grey = "#9aa5b1"
    content = svg.element("line", x1=_LEFT, y1=base, x2=_LEFT + _WIDTH, y2=base, stroke=grey)
    span = frame.span * _MICROSECONDS
    step = _tick_step(span)
    for i in range(math.floor(span * 1.0001 / step) + 1):
        x = frame.x(frame.first + i * step / _MICROSECONDS)
        content += svg.element("line", x1=x, y1=base, x2=x, y2=base + 4, stroke=grey)
        content += svg.text(x, base + 17, "tick", f"{i * step:.6g}")
    note = "time in us; orange: sends, blue: receives, grey: from arrival to exit"
    return content + svg.text(_LEFT, base + 36, "note", note)

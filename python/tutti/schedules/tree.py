"""The data flow of a rooted collective as a tree: as text and as SVG."""

from __future__ import annotations

import math
from dataclasses import dataclass

from tutti._engine import Call, has_root
from tutti.schedules import svg

_COLUMN, _ROW, _RADIUS, _MARGIN = 132.0, 38.0, 14.0, 28.0
_HEADER = 62.0  # title and legend
_LEGEND_ROUNDS = 12


@dataclass(frozen=True)
class TransferTree:
    """The edges along which data flows in a call."""

    root: int
    children: list[dict[int, int]]
    """By rank, the bytes on the edge to each child, in the sequence of the rank's steps."""

    @property
    def bytes_above(self) -> list[int]:
        """The bytes on the edge above each rank; 0 at the root and at ranks without data."""
        above = [0] * len(self.children)
        for edges in self.children:
            for child, size in edges.items():
                above[child] = size
        return above

    @property
    def idle(self) -> list[int]:
        """The ranks that neither send nor receive data, ascending."""
        above = self.bytes_above
        return [rank for rank, size in enumerate(above) if size == 0 and rank != self.root]


def tree_of(call: Call) -> TransferTree | None:
    """The edges that carry data: to the root if data flows there, else away from it.

    None if they do not form a tree, as in exchanges. O(steps).
    """
    if not has_root(call.collective):
        return None
    # The parent is the receiver in a gather and the sender in a scatter.
    kinds = {"recv" if call.inward else "send", "notify"}
    children: list[dict[int, int]] = []
    for rank in range(call.ranks):
        edges: dict[int, int] = {}
        for step in call.steps(rank):
            if step.kind in kinds and step.bytes > 0:
                edges[step.peer] = edges.get(step.peer, 0) + step.bytes
        children.append(edges)
    tree = TransferTree(call.root, children)
    return tree if _is_tree(tree) else None


def _is_tree(tree: TransferTree) -> bool:
    reached: set[int] = set()
    pending = [tree.root]
    while pending:
        rank = pending.pop()
        if rank in reached:
            return False
        reached.add(rank)
        pending.extend(tree.children[rank])
    return all(rank in reached for rank, edges in enumerate(tree.children) if edges)


def to_text(call: Call) -> str:
    """The tree as text, one line per leaf; empty if data does not flow along a tree.

    The first child is beside its parent, the others below it. A colon separates a rank from the
    bytes on the edge above it. O(ranks * depth).

        0 -+- 1:4
           +- 2:8 --- 3:4
    """
    tree = tree_of(call)
    if tree is None:
        return ""
    above = tree.bytes_above
    lines: list[str] = []
    # What is left of a rank on its line, what is left of its children on later lines, the rank.
    pending = [("", "", tree.root)]
    line = ""
    while pending:
        before, indent, rank = pending.pop()
        label = str(rank) if rank == tree.root else f"{rank}:{above[rank]}"
        line += before + label
        edges = list(tree.children[rank])
        if not edges:
            lines.append(line + "\n")
            line = ""
            continue
        indent += " " * (len(label) + 2)
        for i, child in reversed(list(enumerate(edges))):
            last = i + 1 == len(edges)
            before = (" --- " if last else " -+- ") if i == 0 else indent + "+- "
            pending.append((before, indent + ("   " if last else "|  "), child))
    return "".join(lines)


def to_svg(call: Call, title: str) -> str:
    """The tree as SVG: the root at the left, ranks as discs.

    An edge's thickness grows with its bytes, its colour shows the round and its label the bytes.
    The title is at the top, ranks without data at the bottom.

    Raises:
        ValueError: the data does not flow along a tree.
    """
    tree = tree_of(call)
    if tree is None:
        raise ValueError(
            f"the data of this {call.collective} does not flow along a tree; "
            "draw its timeline instead"
        )
    places, width, height = _layout(tree)
    rounds = _rounds_above(call)
    last = max(rounds)
    edges = ""
    discs = ""
    heaviest = max(tree.bytes_above)
    for rank in _in_sequence(tree):
        x, y = places[rank]
        for child, size in tree.children[rank].items():
            position = (rounds[child] - 1) / (last - 1) if last > 1 else 1
            thickness = 1.2 + 5 * math.sqrt(size / heaviest)
            edges += _edge(x, y, *places[child], thickness, svg.colour(position), size)
        discs += _disc(x, y, rank == tree.root, rank)
    title_width = 2 * _MARGIN + 8.2 * len(title)
    legend_width = 2 * _MARGIN + 170 + 26.0 * min(last, _LEGEND_ROUNDS)
    width = max(width, title_width, legend_width)
    idle = tree.idle
    height += 30 if idle else 12
    content = svg.text(_MARGIN, 26, "title", title) + _legend(last) + edges + discs
    if idle:
        content += svg.text(_MARGIN, height - 14, "note", _idle_note(idle))
    return svg.drawing(width, height, content)


def _in_sequence(tree: TransferTree) -> list[int]:
    """All ranks of the tree, each before its children."""
    ranks = []
    pending = [tree.root]
    while pending:
        ranks.append(pending.pop())
        pending.extend(reversed(tree.children[ranks[-1]]))
    return ranks


def _layout(tree: TransferTree) -> tuple[dict[int, tuple[float, float]], float, float]:
    """The coordinates of each rank, a column per hop and a row per leaf; width and height."""
    ranks = _in_sequence(tree)
    x = {tree.root: _MARGIN + _RADIUS}
    for rank in ranks:
        for child in tree.children[rank]:
            x[child] = x[rank] + _COLUMN
    y: dict[int, float] = {}
    bottom = _HEADER + _ROW / 2
    for rank in ranks:
        if not tree.children[rank]:
            y[rank] = bottom
            bottom += _ROW
    for rank in reversed(ranks):
        edges = list(tree.children[rank])
        if edges:
            y[rank] = (y[edges[0]] + y[edges[-1]]) / 2
    return {rank: (x[rank], y[rank]) for rank in ranks}, max(x.values()) + _RADIUS + _MARGIN, bottom


def _rounds_above(call: Call) -> list[int]:
    """By rank, the last round of the edge above it."""
    rounds = [0] * call.ranks
    for message in call.messages():
        child = message.source if call.inward else message.target
        if message.bytes > 0:
            rounds[child] = max(rounds[child], message.round)
    return rounds


def _edge(
    x1: float, y1: float, x2: float, y2: float, thickness: float, stroke: str, size: int
) -> str:
    """An edge with horizontal ends, and its bytes on a white background near the child."""
    middle = (x1 + x2) / 2
    half = 4.0 + 3.6 * len(str(size))
    label = x2 - _RADIUS - half - 6
    path = (
        f"M{x1:.1f} {y1:.1f} C{middle - 12:.1f} {y1:.1f} {middle - 22:.1f} {y2:.1f} "
        f"{middle:.1f} {y2:.1f} L{x2:.1f} {y2:.1f}"
    )
    return (
        svg.element("path", d=path, fill="none", stroke=stroke, stroke_width=thickness)
        + svg.element(
            "rect", x=label - half, y=y2 - 9, width=2 * half, height="18", rx="4", fill="white"
        )
        + svg.text(label, y2 + 4, "bytes", str(size))
    )


def _disc(x: float, y: float, is_root: bool, rank: int) -> str:
    kind, style = ("root", "name on") if is_root else ("rank", "name")
    disc = svg.element("circle", cx=x, cy=y, r=_RADIUS, **{"class": kind})
    return disc + svg.text(x, y + 4.5, style, str(rank))


def _legend(rounds: int) -> str:
    """The colours of the rounds; evenly spaced ones if there are more than fit."""
    content = svg.text(_MARGIN, 48, "note", "round")
    shown = min(rounds, _LEGEND_ROUNDS)
    x = _MARGIN + 40
    for i in range(shown):
        number = i + 1 if shown == rounds else 1 + math.floor(i * (rounds - 1) / (shown - 1) + 0.5)
        position = (number - 1) / (rounds - 1) if rounds > 1 else 1.0
        fill = svg.colour(position)
        content += svg.element("rect", x=x, y="37", width="24", height="14", rx="3", fill=fill)
        content += svg.text(x + 12, 48, "tick on" if position > 0.45 else "tick", str(number))
        x += 26
    return content + svg.text(x + 8, 48, "note", "bytes on the edges")


def _idle_note(idle: list[int]) -> str:
    shown = "no data from or for ranks " + " ".join(str(rank) for rank in idle[:16])
    return shown + (f" and {len(idle) - 16} more" if len(idle) > 16 else "")

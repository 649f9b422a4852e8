"""One HTML page and one Markdown summary of reproduced tables."""

from __future__ import annotations

import math
from collections.abc import Sequence
from html import escape

from tutti.reproduce.tables import Comparison, Section, Table

Reproduced = tuple[Table, list[Section]]

MISSING = (
    ("Proficz 2020, tables 3 and 4", "measured in the lab", "arrival-lab.md"),
    ("Paznikov 2024, figures 9 to 12", "measured in the lab, with our protocol", "rma-lab.md"),
    ("Bhowmik & Bodele 2019", "measured in the lab", "place-lab.md"),
    ("Parsons & Pai 2014 on nodes", "measured in the lab", "levels-lab.md"),
)
"""What this command does not run yet, and the page that has it."""

_STYLE = (
    "body{font:15px/1.5 system-ui,sans-serif;max-width:70em;margin:2em auto;padding:0 1em}"
    "table{border-collapse:collapse;font-variant-numeric:tabular-nums}"
    "td,th{padding:.1em .7em;text-align:right;border-bottom:1px solid #ddd}"
    "td:first-child,th:first-child{text-align:left}tr.differs{background:#fdecea}"
    "svg{background:#fafafa;margin:.5em 0}.note{color:#555}"
)
_SIDE, _EDGE = 260, 30


def _plot(section: Section) -> str:
    """Published against reproduced factors, both logarithmic; on the diagonal they are equal."""
    pairs = [row.factors for row in section.rows if min(row.factors) > 0]
    low = min((min(pair) for pair in pairs), default=0.5) / 1.5
    high = max((max(pair) for pair in pairs), default=2.0) * 1.5
    span = math.log(high / low)

    def at(factor: float) -> float:
        return _EDGE + (_SIDE - 2 * _EDGE) * math.log(factor / low) / span

    dots = "".join(
        f'<circle cx="{at(a):.1f}" cy="{_SIDE - at(b):.1f}" r="3" fill="#1f6feb" '
        f'fill-opacity=".6"><title>{escape(row.problem)}: published {a:.2f}, here {b:.2f}'
        "</title></circle>"
        for row in section.rows
        for a, b in [row.factors]
        if min(a, b) > 0
    )
    one = at(min(max(1.0, low), high))
    return (
        f'<svg width="{_SIDE}" height="{_SIDE}" role="img" aria-label="factors">'
        f'<line x1="{_EDGE}" y1="{_SIDE - _EDGE}" x2="{_SIDE - _EDGE}" y2="{_EDGE}" stroke="#999"/>'
        f'<line x1="{one:.1f}" y1="{_EDGE}" x2="{one:.1f}" y2="{_SIDE - _EDGE}" stroke="#ddd"/>'
        f'<line x1="{_EDGE}" y1="{_SIDE - one:.1f}" x2="{_SIDE - _EDGE}" y2="{_SIDE - one:.1f}" '
        f'stroke="#ddd"/>{dots}<text x="{_EDGE}" y="{_SIDE - 8}" font-size="11">published factor '
        f'{low:.2g} to {high:.2g}; upwards: here</text></svg>'
    )


def _cells(row: Comparison) -> list[str]:
    numbers = (*row.published, row.factors[0], *row.here, row.factors[1])
    return [f"{number:,.2f}" for number in numbers]


def _html(section: Section) -> str:
    first, second = section.contenders
    factor = f"{first} / {second}"
    heads = ("problem", f"published {first}", second, factor, f"here {first}", second, factor)
    differing = {row.problem for row in section.differing()}
    body = "".join(
        f'<tr{" class=differs" if row.problem in differing else ""}><td>{escape(row.problem)}</td>'
        + "".join(f"<td>{cell}</td>" for cell in _cells(row))
        + "</tr>"
        for row in section.rows
    )
    notes = "".join(f'<p class="note">{escape(note)}</p>' for note in section.notes)
    return (
        f"<h3>{escape(section.method)}: {escape(section.machine)}</h3>"
        f"<p><b>{escape(section.verdict())}.</b></p>{notes}{_plot(section)}"
        f"<details><summary>{len(section.rows)} problems, microseconds</summary><table><tr>"
        + "".join(f"<th>{escape(head)}</th>" for head in heads)
        + f"</tr>{body}</table></details>"
    )


def html(reproduced: Sequence[Reproduced]) -> str:
    """The page: needs no other file and no network."""
    parts = [
        f'<h2 id="{table.paper}-{table.name}">{escape(table.title)}</h2>'
        + "".join(_html(section) for section in sections)
        for table, sections in reproduced
    ]
    links = "".join(
        f'<li><a href="#{table.paper}-{table.name}">{escape(table.title)}</a></li>'
        for table, _ in reproduced
    )
    return (
        '<!DOCTYPE html><html lang="en"><meta charset="utf-8"><title>Reproduced tables</title>'
        f"<style>{_STYLE}</style><h1>Published tables, reproduced</h1>"
        "<p>Written by <code>tutti reproduce</code>. Compare winners and factors, not microseconds: "
        "nothing is fitted to the papers' machines. Each section names its method. A shaded row has "
        f"another winner than the paper.</p><ul>{links}</ul>{''.join(parts)}</html>\n"
    )


def _geometric_factor(section: Section, which: int) -> float:
    factors = [row.factors[which] for row in section.rows if row.factors[which] > 0]
    return math.exp(sum(map(math.log, factors)) / len(factors)) if factors else 1.0


def markdown(reproduced: Sequence[Reproduced]) -> str:
    """The summary: one line for each table and method, and where winners differ."""
    text = (
        "# Published tables, reproduced\n\n`tutti reproduce` writes this summary, and a page with "
        "every number. Compare winners and factors, not\nmicroseconds: nothing is fitted to the "
        "papers' machines. A factor is the geometric mean of the first contender's time over the\n"
        "second's; times within 10 % count as even.\n\n"
        "| table | method | problems with the same winner | factor published | factor here |\n"
        "| --- | --- | ---: | ---: | ---: |\n"
    )
    for table, sections in reproduced:
        for section in sections:
            agreeing = len(section.rows) - len(section.differing())
            text += (
                f"| {table.title} | {section.method} | {agreeing} of {len(section.rows)} "
                f"| {_geometric_factor(section, 0):.2f} | {_geometric_factor(section, 1):.2f} |\n"
            )
    text += "\n## Where winners differ, and the guidelines\n\n"
    for table, sections in reproduced:
        text += f"**{table.title}**\n\n"
        for section in sections:
            text += f"- {section.method} ({section.machine}): {section.verdict()}.\n"
            text += "".join(f"  {note}\n" for note in section.notes)
        text += "\n"
    text += "## Not by this command yet\n\n"
    text += "".join(f"- {what}: [{how}]({page}).\n" for what, how, page in MISSING)
    return text

"""One HTML page, one Markdown summary and one JSON file of reproduced tables."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from html import escape
from math import isfinite
from typing import Any

from tutti.console import count
from tutti_reproduce import charts
from tutti_reproduce.context import Numbers
from tutti_reproduce.tables import ABOVE, AHEAD, EVEN, NEAR, Result, Sweep, Table, View

Reproduced = tuple[Table, Result]

_MOST_ROWS = 42
"""The summary lists the rows of tables with up to this many problems."""

_STYLE = (
    "body{font:15px/1.5 system-ui,sans-serif;max-width:76em;margin:2em auto;padding:0 1em}"
    "table{border-collapse:collapse;font-variant-numeric:tabular-nums;font-size:13px}"
    "td,th{padding:.1em .6em;text-align:right;border-bottom:1px solid #ddd;white-space:nowrap}"
    "td:first-child,th:first-child{text-align:left}td.differs{background:#fdecea}"
    "th.source{text-align:center;border-left:2px solid #bbb}td.first,th.first{border-left:2px solid #bbb}"
    ".plots{display:flex;flex-wrap:wrap;gap:1em}.plots svg{width:460px;max-width:100%}"
    f"{charts.STYLE}details{{overflow-x:auto}}"
    ".note{color:#555;margin:.2em 0 .2em 1.2em}"
    "nav{columns:2;font-size:14px}h2{margin-top:2.2em}"
)
_READ = (
    "Compare winners and factors, not times. Träff's and Parsons' tables have the built-in machine unless a source "
    "names another one, the other papers' the links' rates that these name. All else, such as latencies, is "
    "assumed; headings and notes name the assumed and the fitted numbers. Times within "
    f"{100 * (EVEN - 1):.0f} % count as even, within {100 * (AHEAD - 1):.0f} % where a paper has only the side of a "
    f"crossover (Paznikov); single values agree within a factor of {NEAR:g}, averages and ends of ranges if "
    "winners are equal too. A crossover between two samples counts only if both of these, or none between them, are so near."
)
PAPERS = {
    "traff": "Träff 2017: irregular gathers",
    "proficz": "Proficz 2020: scatter and gather among late ranks",
    "paznikov": "Paznikov 2024: one-sided broadcasts",
    "bhowmik": "Bhowmik & Bodele 2019: allgather by distance",
    "parsons": "Parsons & Pai 2014: collectives through node memory",
}
"""The papers by their keys on the command line, in the sequence of the pages."""


def _number(value: float) -> str:
    return f"{value:,.{2 if abs(value) < 10 else 1 if abs(value) < 100 else 0}f}"


def _names(table: Table, numbers: list[Numbers]) -> list[str]:
    """The names of a source's columns: its contenders, then the factor."""
    names = dict.fromkeys(name for each in numbers for name in each)
    shown = [name for name in names if name not in ("factor", "ahead", "value", ABOVE)]
    if table.contenders is None:
        return [*shown, table.unit]
    return [*shown, " / ".join(table.contenders)]


def _factor(table: Table, numbers: Numbers) -> str:
    """The factor or value, or what encloses it; the winner where only that is known."""
    factor = table.factor(numbers)
    if factor is not None:
        return f"{_number(numbers[ABOVE])} to {_number(factor)}" if ABOVE in numbers else _number(factor)
    return (table.winner(numbers) or "") if numbers else ""


def _cells(table: Table, names: list[str], numbers: Numbers) -> list[str]:
    return [*(_number(numbers[name]) if name in numbers else "" for name in names[:-1]),
            _factor(table, numbers)]  # fmt: skip


def _spread(view: View, problem: int) -> str:
    """The half-width of the factor's interval, where it has one."""
    spread = view.spread[problem] if view.spread else 0.0
    return f" ± {spread:.2f}" if 0.005 <= spread < float("inf") else ""


def _rows(table: Table, result: Result) -> str:
    sources = [("published", result.published), *((view.heading, view.numbers) for view in result.views)]
    columns = [_names(table, numbers) for _, numbers in sources]
    heads = "".join(
        f'<th class="source" colspan="{len(names)}">{escape(heading)}</th>'
        for (heading, _), names in zip(sources, columns, strict=True)
    )
    names = "".join(
        f'<th{" class=first" if i == 0 else ""}>{escape(name)}</th>'
        for each in columns
        for i, name in enumerate(each)
    )
    body = ""
    for i, problem in enumerate(result.problems):
        body += f"<tr><td>{escape(problem)}</td>"
        for k, (_, numbers) in enumerate(sources):
            texts = _cells(table, columns[k], numbers[i])
            view = result.views[k - 1] if k else None
            texts[-1] += _spread(view, i) if view and texts[-1] else ""
            classes = ["first"] + [""] * (len(texts) - 1)
            if view and table.agrees(result.published[i], numbers[i]) is False:
                classes[-1] += " differs"
            body += "".join(
                f'<td class="{name}">{text}</td>' if name else f"<td>{text}</td>"
                for name, text in zip(classes, texts, strict=True)
            )
        body += "</tr>"
    return f"<table><tr><th></th>{heads}</tr><tr><th>problem</th>{names}</tr>{body}</table>"


def _courses(table: Table, result: Result) -> Iterator[tuple[Sweep, list[tuple[str, list[str], list[bool]]]]]:
    """For each sweep its series, with who wins along it by each source, published first, and whether
    that differs from the published."""
    for sweep in result.sweeps:
        sources = [result.published, *(view.numbers for view in result.views)]
        by_source = [table.courses(sweep, numbers) for numbers in sources]
        rows = []
        for name in sweep.series():
            theirs, *ours = courses = [each[name] for each in by_source]
            texts = [str(course or "") for course in courses]
            rows.append((name, texts, [bool(theirs and one and not theirs.agrees(one)) for one in ours]))
        yield sweep, rows


def _crossovers(table: Table, result: Result) -> str:
    text = ""
    for sweep, rows in _courses(table, result):
        heads = ["published", *(view.heading for view in result.views)]
        text += f"<table><tr><th>winners and crossovers along {escape(sweep.along)}</th>"
        text += "".join(f"<th>{escape(head)}</th>" for head in heads) + "</tr>"
        for name, texts, differ in rows:
            text += f"<tr><td>{escape(name)}</td><td>{escape(texts[0])}</td>"
            text += "".join(
                f'<td{" class=differs" if differs else ""}>{escape(one)}</td>'
                for one, differs in zip(texts[1:], differ, strict=True)
            )
            text += "</tr>"
        text += "</table>"
    return text


def _html(table: Table, result: Result) -> str:
    text = f'<h3 id="{table.paper}-{table.name}">{escape(table.title)}</h3>'
    for view in result.views:
        text += f"<p><b>{escape(view.heading)}</b>: {escape(table.verdict(result, view))}.</p>"
        text += "".join(f'<p class="note">{escape(note)}</p>' for note in view.notes)
    plots = [charts.lines(plot) for plot in result.plots]
    plots += [charts.factors(table, result, view) for view in result.views]
    text += _crossovers(table, result)
    return text + (
        f'<div class="plots">{"".join(plots)}</div><details><summary>Numbers, {escape(table.unit)}: '
        f"{count(len(result.problems), 'problem')}</summary>{_rows(table, result)}</details>"
    )


def _by_paper(reproduced: Sequence[Reproduced]) -> Iterator[tuple[str, list[Reproduced]]]:
    for paper in PAPERS:
        if of_paper := [each for each in reproduced if each[0].paper == paper]:
            yield paper, of_paper


def html(reproduced: Sequence[Reproduced]) -> str:
    """The page: needs no other file and no network."""
    links = parts = ""
    for paper, of_paper in _by_paper(reproduced):
        parts += f"<h2>{escape(PAPERS[paper])}</h2>"
        parts += "".join(_html(table, result) for table, result in of_paper)
        links += "".join(
            f'<li><a href="#{paper}-{table.name}">{escape(table.title)}</a></li>'
            for table, _ in of_paper
        )
    return (
        '<!DOCTYPE html><html lang="en"><meta charset="utf-8"><title>Reproduced tables</title>'
        '<meta name="viewport" content="width=device-width">'
        f"<style>{_STYLE}</style><h1>Published tables, reproduced</h1>"
        f"<p>Written by <code>tutti reproduce</code>. {_READ} Each column names its source. A shaded "
        f"cell disagrees with the paper.</p><nav><ul>{links}</ul></nav>{parts}</html>\n"
    )


def _share(agreeing: list[bool]) -> str:
    return f"{sum(agreeing)} of {len(agreeing)}" if agreeing else ""


def _summary(reproduced: Sequence[Reproduced]) -> str:
    text = (
        f"| table | source | same winner | within a factor of {NEAR:g} | factor published | factor here |\n"
        "| --- | --- | ---: | ---: | ---: | ---: |\n"
    )
    for table, result in reproduced:
        author = PAPERS[table.paper].split()[0]
        for view in result.views:
            same, near = (_share(table.compared(result, view, by)) for by in (table.same_winner, table.near))
            pairs = list(zip(result.published, view.numbers, strict=True))
            # Where the paper has some factors, the means are over the problems that both have.
            pairs = [pair for pair in pairs if all(map(table.factor, pair))] or pairs
            means = [table.mean_factor([pair[i] for pair in pairs]) for i in (0, 1)]
            cells = " | ".join(f"{mean:.2f}" if mean else "" for mean in means)
            text += f"| {author}, {table.title} | {view.heading} | {same} | {near} | {cells} |\n"
    return text


def _markdown_rows(table: Table, result: Result) -> str:
    """The factors or values of each problem by source; a cross marks those that disagree."""
    what = table.unit if table.contenders is None else " / ".join(table.contenders)
    heads = [what, "published", *(f"({chr(97 + i)})" for i in range(len(result.views)))]
    text = f"| {' | '.join(heads)} |\n| --- |{' ---: |' * (len(heads) - 1)}\n"
    for i, (problem, published) in enumerate(zip(result.problems, result.published, strict=True)):
        cells = [_factor(table, published)]
        for view in result.views:
            cross = " ✗" if table.agrees(published, view.numbers[i]) is False else ""
            factor = _factor(table, view.numbers[i])
            cells.append(factor + (_spread(view, i) if factor else "") + cross)
        text += f"| {problem} | {' | '.join(cells)} |\n"
    return f"{text}\n"


def _markdown_crossovers(table: Table, result: Result) -> str:
    """Who wins from where by source; a cross marks what differs from the published."""
    text = ""
    for sweep, rows in _courses(table, result):
        heads = [f"along {sweep.along}", "published", *(f"({chr(97 + i)})" for i in range(len(result.views)))]
        text += f"| {' | '.join(heads)} |\n|{' --- |' * len(heads)}\n"
        for name, texts, differ in rows:
            marked = [one + " ✗" * differs for one, differs in zip(texts[1:], differ, strict=True)]
            text += f"| {' | '.join([name, texts[0], *marked])} |\n"
        text += "\n"
    return text


def pictures(reproduced: Sequence[Reproduced]) -> dict[str, str]:
    """The plots of each table that has some as one SVG, by the path beside the summary."""
    drawn = {_picture(table): charts.sheet(table.title, result.plots) for table, result in reproduced}
    return {path: svg for path, svg in drawn.items() if svg}


def _picture(table: Table) -> str:
    return f"images/reproduced-{table.paper}-{table.name}.svg"


def markdown(reproduced: Sequence[Reproduced]) -> str:
    """The summary: a line for each table and source, then the factors of each problem, and pictures()."""
    drawn = pictures(reproduced)
    text = (
        "# Published tables, reproduced\n\n`tutti reproduce` writes this summary with its pictures, a page with "
        "all times (`reproduced.html`), and the numbers\n([reproduced.json](reproduced.json)). "
        f"{_READ}\n\n**Factor**: the geometric mean of the first "
        "contender's time over the second's.\n\n" + _summary(reproduced)
    )
    for paper, of_paper in _by_paper(reproduced):
        text += f"\n## {PAPERS[paper]}\n"
        for table, result in of_paper:
            text += f"\n### {table.title}\n\n"
            for i, view in enumerate(result.views):
                text += f"- ({chr(97 + i)}) **{view.heading}**: {table.verdict(result, view)}.\n"
                text += "".join(f"  {note}\n" for note in view.notes)
            if _picture(table) in drawn:
                text += f"\n![{table.title}]({_picture(table)})\n"
            text += "\n" + _markdown_crossovers(table, result)
            if len(result.problems) <= _MOST_ROWS:
                text += _markdown_rows(table, result)
    return text.rstrip() + "\n"


def _rounded(numbers: Numbers) -> Numbers:
    return {name: float(f"{value:.5g}") for name, value in numbers.items()}


def _numbers(view: View) -> dict[str, list[Any]]:
    """The numbers of a source and, if known, the half-widths of their intervals; null is unbounded."""
    numbers: dict[str, list[Any]] = {"numbers": [_rounded(numbers) for numbers in view.numbers]}
    if view.spread:
        numbers["spread"] = [float(f"{each:.5g}") if isfinite(each) else None for each in view.spread]
    return numbers


def document(reproduced: Sequence[Reproduced]) -> str:
    """All numbers with their sources, as JSON."""
    tables = [
        {
            "paper": table.paper, "name": table.name, "title": table.title, "unit": table.unit,
            "contenders": table.contenders, "problems": result.problems,
            "published": [_rounded(numbers) for numbers in result.published],
            "crossovers": [
                {"along": sweep.along, "series": {name: texts for name, texts, _ in rows}}
                for sweep, rows in _courses(table, result)
            ],
            "views": [
                {"source": view.source, "machine": view.machine, "notes": view.notes, **_numbers(view)}
                for view in result.views
            ],
        }
        for table, result in reproduced
    ]  # fmt: skip
    lines = ",\n".join(json.dumps(table, separators=(",", ":")) for table in tables)
    return f'{{"schema":"tutti-reproduced-1","tables":[\n{lines}\n]}}\n'



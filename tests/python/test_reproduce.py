"""`tutti reproduce`: verdicts, the cache, the pages and the command."""

from __future__ import annotations

import json
import math
import re
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

import pytest
from reproducing import context, factors, pair, result_of, single
from tutti._engine import Machine
from tutti.refusal import Refusal
from tutti.simgrid import running
from tutti_reproduce import charts, page, parsons, parsons_simulated, simulated
from tutti_reproduce import command as reproducing_command
from tutti_reproduce.cache import Cache, sources_of
from tutti_reproduce.tables import ABOVE, AHEAD, EVEN, Plot, Result, View, network

# Forms


def test_a_winner_needs_10_percent():
    names = [pair().winner({"linear": a, "tree": 1}) for a in (1.2, 1.05, 0.8)]
    assert names == ["tree", "even", "linear"]
    assert pair().winner({}) is None
    assert [pair().winner({"ahead": a}) for a in (-1.0, 0.0, 1.0)] == ["linear", "even", "tree"]


@pytest.mark.parametrize(("published_", "here", "expected"), [
    ({"factor": 2}, {"linear": 3, "tree": 1}, True),
    ({"factor": 2}, {"factor": 1.05}, False),
    ({"factor": 2}, {}, None),
    ({}, {"factor": 2}, None),
    ({"ahead": 1.0}, {"factor": 1.05}, False),
    ({"ahead": 1.0}, {"factor": 1.2}, True),
    ({"ahead": -1.0}, {"factor": 0.97}, False),
    ({"ahead": 0.0}, {"factor": 0.97}, True),
    ({"ahead": 0.0}, {"factor": 1.5}, False),
])  # fmt: skip
def test_winners_agree_or_not(published_, here, expected):
    assert pair().agrees(published_, here) is expected


def test_of_a_crossover_s_sides_whoever_is_ahead_wins():
    sides = replace(pair(), even=AHEAD)
    assert [sides.winner({"factor": each}) for each in (1.05, 1.0, 0.97)] == ["tree", "even", "linear"]
    assert [sides.agrees({"ahead": 1.0}, {"factor": each}) for each in (1.05, 1.0)] == [True, False]


@pytest.mark.parametrize("even", [EVEN, AHEAD])
def test_a_verdict_has_one_definition_of_a_winner(even):
    table = replace(pair(), even=even)
    result = result_of([{"ahead": 1.0}] * 3, factors(1.01, 1.05, 1.2))
    wins = sum(factor > even for factor in (1.01, 1.05, 1.2))
    assert table.verdict(result, result.views[0]) == (
        f"same winner in {wins} of 3; tree wins 3 published and {wins} here"
    )


def test_single_values_agree_within_a_factor():
    values = [single().agrees({"value": 10}, {"value": here}) for here in (14, 7, 16)]
    assert values == [True, True, False]
    assert single().agrees({"value": 10}, {}) is None


@pytest.mark.parametrize(("above", "value", "expected"), [
    (7, 14, True), (16, 40, False), (2, 6, False), (6, 12, None), (12, 40, None), (0, 10, None), (0, 6, False),
])  # fmt: skip
def test_a_crossover_between_samples_agrees_only_if_they_are_near_enough(above, value, expected):
    assert single().agrees({"value": 10}, {"value": value, ABOVE: above}) is expected


def test_a_verdict_counts_what_samples_leave_open():
    result = result_of([{"value": 10}] * 3, [{"value": 12, ABOVE: 8}, {"value": 40, ABOVE: 12}, {}])
    assert single().verdict(result, result.views[0]) == (
        "within a factor of 1.5 in 1 of 1; 1 more between samples too far apart to tell"
    )
    assert "| problem 1 | 10.0 | 12.0 to 40.0 |" in page.markdown([(single(), result)])
    unknown = result_of([{}, {"value": 1}], [{"value": 1}, {}])
    assert single().verdict(unknown, unknown.views[0]) == "the paper has no numbers to compare"


def test_averages_agree_by_their_size_too():
    averages = replace(pair(), by_size=True)
    found = [averages.agrees({"factor": 3}, {"factor": here}) for here in (2.1, 1.9, 1.05, 4.6)]
    assert found == [True, False, False, False]
    # Of a range that begins at 12 %, no gain is another winner, though within the factor.
    assert averages.agrees({"factor": 1.12}, {"factor": 1.0}) is False
    assert averages.agrees({"ahead": 0.0}, {"factor": 1.0}) is True
    result = result_of(factors(14.2, 26), factors(1.76, 20))
    assert averages.verdict(result, result.views[0]) == (
        "winner and size agree in 1 of 2; same winner in 2 of 2, factor within 20 % in 0 and within 1.5 in 1 of 2; "
        "tree wins 2 published and 2 here"
    )


def test_a_verdict_counts_winners_and_near_factors():
    result = result_of([*factors(2, 3, 1), {}, *factors(2)], [*factors(2.2, 9, 1.5, 3), {}])
    assert pair().verdict(result, result.views[0]) == (
        "same winner in 2 of 3, factor within 20 % in 1 and within 1.5 in 2 of 3; tree wins 2 published and 3 here"
    )
    unknown = result_of([{}, {}], factors(2, 1))
    assert pair().verdict(unknown, unknown.views[0]).startswith("tree wins 1 of 2; the paper has no")


def test_results_are_kept_by_content(tmp_path):
    calls = []

    def compute() -> dict[str, int]:
        calls.append(1)
        return {"value": len(calls)}

    first = Cache(tmp_path)
    assert first.get(["a", 1], compute) == {"value": 1}
    assert first.get(["a", 2], compute) == {"value": 2}
    again = Cache(tmp_path)
    assert again.get(["a", 1], compute) == {"value": 1}
    assert (again.hits, again.misses, len(calls)) == (1, 0, 2)


def test_a_result_depends_on_its_arguments_and_files(tmp_path):
    calls = []

    def compute(machine: object, number: int) -> int:
        calls.append(number)
        return number

    file = tmp_path / "library"
    file.write_text("one")
    slower = parsons.changed(Machine(), "node_gap", 3e-7)
    for machine, number in ((Machine(), 1), (Machine(), 1), (slower, 2), (network({"gap": 1e-6}), 3)):
        assert context(tmp_path).result(compute, machine, number, of=[file]) == number
    file.write_text("two")
    assert context(tmp_path).result(compute, Machine(), 1, of=[file]) == 1
    assert calls == [1, 2, 3, 1]


def test_a_result_depends_on_all_that_its_source_imports():
    replayed = Path(parsons_simulated.__file__)
    names = {file.name for file in sources_of(replayed)}
    assert {"parsons_simulated.py", "parsons.json", "platforms.py", "simulated.py", "context.py"} <= names
    assert not {"page.py", "tables.py"} & names, "they show results only"


@pytest.mark.parametrize(
    ("content", "text"),
    [(b"", "not JSON"), (b'{"rows": [', "not JSON"), (b"\xff", "not JSON"), (b"[]", "invalid schema None"),
     (b'{"schema": "tutti-bench/1"}', "invalid schema tutti-bench/1; expected tutti-lab-fft/1")],
)  # fmt: skip
def test_damaged_samples_are_named(tmp_path, content, text):
    file = tmp_path / "lab-fft-openmpi-8.json"
    file.write_bytes(content)
    with pytest.raises(Refusal, match=f"{file}: {text}"):
        context(tmp_path, tmp_path).documents("lab-*.json", "tutti-lab-fft/1")


def test_an_interrupted_result_is_not_kept(tmp_path):
    def interrupted() -> None:
        raise KeyboardInterrupt

    cache = Cache(tmp_path)
    with pytest.raises(KeyboardInterrupt):
        cache.get("a", interrupted)
    assert cache.get("a", lambda: 7) == 7


@pytest.mark.parametrize("content", [b"", b'{"of": "a"', b"[]", b'{"of": "a"}', b"\xff"])
def test_a_damaged_result_is_computed_again(tmp_path, content):
    Cache(tmp_path).get("a", lambda: 7)
    (file,) = tmp_path.iterdir()
    file.write_bytes(content)
    again = Cache(tmp_path)
    assert again.get("a", lambda: 8) == 8 and again.misses == 1
    assert Cache(tmp_path).get("a", lambda: 9) == 8


def test_a_user_without_a_home_folder_has_to_name_the_cache(command, monkeypatch):
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.delenv("HOME")
    refused = command("reproduce", "traff", "table-3", "--simgrid-ranks", "0")
    assert refused.status == 2
    assert refused.err == "tutti: no TUTTI_CACHE_DIR, XDG_CACHE_HOME or HOME; expected --cache FOLDER\n"


# Pages


def test_the_page_needs_no_other_file():
    lines = {"linear": [(1.0, 2.0), (8.0, 3.0)], "tree": [(1.0, 1.0), (8.0, 9.0)]}
    result = result_of(factors(2, 0.5, 3), factors(3, 1.5, 3))
    drawn = Result(result.problems, result.published, result.views, [Plot("A plot", "x", "y", lines)])
    text = page.html([(pair(title="Table 3 <of> a paper"), drawn)])
    assert "Table 3 &lt;of&gt; a paper" in text
    assert "a note &amp; more" in text
    assert text.count('differs">1.50') == 1
    assert text.count('differs">') == 1
    assert "http" not in text
    assert "src=" not in text
    (svg,) = text.split("<svg")[1:]
    drawing = ElementTree.fromstring("<svg" + svg.partition("</svg>")[0] + "</svg>")
    assert len(drawing.findall("polyline")) == 2
    assert len(drawing.findall("circle")) == 4


def test_the_summary_s_pictures_need_no_page():
    plots = [Plot(f"Plot {i}", "x", "y", {"linear": [(1.0, 2.0), (8.0, 3.0)]}) for i in range(3)]
    result = result_of(factors(2), factors(3))
    drawn = Result(result.problems, result.published, result.views, [*plots, Plot("Nothing", "x", "y", {})])
    ((path, svg),) = page.pictures([(pair(title="Table 3 <of> a paper"), drawn), (pair("table-4"), result)]).items()
    assert path == "images/reproduced-traff-table-3.svg"
    of = "{http://www.w3.org/2000/svg}"
    picture = ElementTree.fromstring(svg)
    assert picture.findtext(f"{of}title") == "Table 3 <of> a paper"
    assert ".grid{" in picture.findtext(f"{of}style")
    panels = picture.findall(f"{of}g")
    assert [each.get("transform").split()[0] for each in panels] == ["translate(0", "translate(460", "translate(0"]
    text = page.markdown([(pair(), drawn), (pair("table-4"), result)])
    assert text.count("![") == text.count(f"![Table 3]({path})") == 1


def test_a_plot_of_factors_has_a_point_for_each_known_one():
    result = result_of(factors(*range(1, 11)), [*factors(*range(2, 11)), {}])
    drawing = ElementTree.fromstring(charts.factors(pair(), result, result.views[0]))
    assert len(drawing.findall("circle")) == 9
    few = result_of(factors(1), factors(2))
    assert charts.factors(pair(), few, few.views[0]) == ""


def test_the_summary_has_a_line_for_each_source_and_marks_what_differs():
    table = pair()
    text = page.markdown([(table, result_of(factors(2, 8), factors(8, 2), factors(0.5, 8)))])
    assert "| same winner | within a factor of 1.5 |" in text
    assert "| Träff, Table 3 | own simulator: a machine | 2 of 2 | 0 of 2 | 4.00 | 4.00 |" in text
    assert "| Träff, Table 3 | own simulator: a machine | 1 of 2 | 1 of 2 | 4.00 | 2.00 |" in text
    assert "| problem 0 | 2.00 | 8.00 | 0.50 ✗ |" in text
    assert "| problem 1 | 8.00 | 2.00 | 8.00 |" in text


def test_means_are_over_the_problems_that_both_have():
    text = page.markdown([(pair(), result_of([*factors(2), {}], factors(3, 12)))])
    assert "| 1 of 1 | 1 of 1 | 2.00 | 3.00 |" in text
    text = page.markdown([(pair(), result_of([{}, {}], factors(3, 12)))])
    assert "|  |  |  | 6.00 |" in text


def test_the_document_has_all_numbers():
    result = result_of([{"linear": 2.0, "tree": 1.0}], [{"linear": 3.123456, "tree": 1.0}])
    (table,) = json.loads(page.document([(pair(), result)]))["tables"]
    assert table["views"][0]["numbers"] == [{"linear": 3.1235, "tree": 1.0}]
    assert table["published"] == [{"linear": 2.0, "tree": 1.0}]
    assert "spread" not in table["views"][0]
    view = View("lab", "here", factors(2, 3), spread=[0.123456, math.inf])
    (table,) = json.loads(page.document([(pair(), Result(["a", "b"], [{}, {}], [view]))]))["tables"]
    assert table["views"][0]["spread"] == [0.12346, None]


@pytest.mark.parametrize(("values", "log"), [((1, 1000), True), ((3, 4), True), ((0.2, 90), False)])
def test_an_axis_has_round_ticks_inside(values, log):
    axis = charts.Axis(list(values), 0, 100, log)
    ticks = axis.ticks()
    assert 2 <= len(ticks) <= 7
    assert all(-0.2 <= axis.at(tick) <= 100.2 for tick in ticks)
    assert axis.at(max(values)) == pytest.approx(100)


# The command


def test_the_command_writes_its_pages_and_resumes(command, tmp_path):
    words = ("reproduce", "traff", "table-3", "--simgrid-ranks", "0",
             "--output", str(tmp_path / "out"), "--cache", str(tmp_path / "cache"))  # fmt: skip
    first = command(*words)
    assert first.status == 0
    assert "Table 3: MPI_Gatherv and TUW_Gatherv, p = 560, Open MPI" in first.out
    assert (found := re.search(r"0 of ([0-9]+) results were known", first.out))
    pages = [tmp_path / "out" / f"reproduced.{suffix}" for suffix in ("html", "md", "json")]
    texts = [each.read_text() for each in pages]
    assert "TUW_Gatherv wins 11 published" in texts[0]
    assert f"{found[1]} of {found[1]} results were known" in command(*words).out
    assert [each.read_text() for each in pages] == texts


def failing(table, text: str):
    """The table, which cannot be computed."""

    def run(done):
        raise Refusal(text)

    return replace(table, run=run)


@pytest.fixture
def tables(monkeypatch):
    """Makes these tables all that there are."""
    return lambda *some: monkeypatch.setattr(reproducing_command, "_tables", lambda context: list(some))


def known(name: str):
    return replace(pair(name, name), run=lambda done: result_of(factors(2), factors(3)))


def test_a_table_that_fails_leaves_the_pages_of_the_others(command, tmp_path, tables):
    tables(known("table-1"), failing(pair("table-2"), "smpi_main: not done after 7200 s"), known("table-3"))
    shown = command("reproduce", "all", "--simgrid-ranks", "0", "--output", str(tmp_path))
    assert shown.status == 1
    assert "tutti: traff table-2: smpi_main: not done after 7200 s\n" in shown.err
    document = json.loads((tmp_path / "reproduced.json").read_text())
    assert [table["name"] for table in document["tables"]] == ["table-1", "table-3"]


def test_where_all_tables_fail_there_are_no_pages(command, tmp_path, tables):
    tables(failing(pair("table-1"), "one"), failing(pair("table-2"), "two"))
    shown = command("reproduce", "all", "--simgrid-ranks", "0", "--output", str(tmp_path))
    assert shown.status == 2 and shown.err.strip() == "tutti: traff table-1: one"
    assert not list(tmp_path.iterdir())


def test_former_pages_are_replaced_only_in_a_folder_that_is_named(command, tmp_path, tables, monkeypatch):
    monkeypatch.chdir(tmp_path)
    words = ("reproduce", "traff", "--simgrid-ranks", "0")
    tables(known("table-1"), known("table-2"))
    assert command(*words).status == 0
    former = (tmp_path / "reproduced.json").read_text()
    tables(known("table-2"))
    shown = command(*words)
    assert shown.status == 2 and "reproduced.html exists; name its folder, or another one, with --output" in shown.err
    assert (tmp_path / "reproduced.json").read_text() == former
    assert command(*words, "--output", ".").status == 0
    assert (tmp_path / "reproduced.json").read_text() != former


def test_a_page_that_cannot_be_written_is_refused_before_the_work(command, tmp_path, tables):
    tables(failing(pair(), "nothing is computed"))
    (tmp_path / "reproduced.json").mkdir()
    shown = command("reproduce", "traff", "--simgrid-ranks", "0", "--output", str(tmp_path))
    assert shown.status == 2 and f"--output {tmp_path}: reproduced.json: is a directory" in shown.err


def test_without_words_it_lists_what_there_is(command, tmp_path):
    shown = command("reproduce", "--output", str(tmp_path / "out"), "--cache", str(tmp_path / "cache"))
    assert shown.status == 0 and not list(tmp_path.iterdir()), "nothing runs, nothing is written"
    for text in ("traff", "table-11", "figure-17", "about", "tutti reproduce all"):
        assert text in shown.out


def test_without_a_benchmark_for_simgrid_nothing_runs_there(tmp_path, monkeypatch):
    monkeypatch.setattr(running, "smpimain", Path)
    monkeypatch.setattr(running, "front", Path)
    monkeypatch.setattr(running.libraries, "programs", lambda: tmp_path)
    assert "tutti-bench for SimGrid is not installed" in simulated.refuse_without_simgrid()
    (tmp_path / "tutti-bench-simgrid").touch()
    assert simulated.refuse_without_simgrid() == ""


@pytest.mark.parametrize(("words", "expected"), [
    (("proficz", "--machine", "built-in"), "--machine built-in: proficz has networks of its own; expected traff or parsons"),
    (("lamport",), "unknown paper lamport; expected traff, proficz, paznikov, bhowmik, parsons, or all"),
    (("traff", "table-12"), "traff has no table-12; expected table-1, table-2"),
    (("proficz", "example", "--samples", "/none/x"), "--samples /none/x: no such folder"),
])  # fmt: skip
def test_bad_arguments_are_refused(command, words, expected):
    done = command("reproduce", *words)
    assert done.status == 2
    assert expected in done.err

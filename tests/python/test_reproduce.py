"""Reproduced tables: published numbers, the cache, verdicts, each paper's models, and the pages."""

from __future__ import annotations

import json
import math
import re
import shutil
import subprocess
from pathlib import Path
from xml.etree import ElementTree

import pytest
from installed import ROOT
from tutti import Machine
from tutti._engine import NodeMachine, distribute
from tutti_reproduce import bhowmik, charts, page, parsons, paznikov, proficz, traff
from tutti_reproduce.cache import Cache
from tutti_reproduce.tables import Context, Numbers, Plot, Result, Table, View, network, published


def context(folder: Path, samples: Path = Path("/none")) -> Context:
    return Context(Cache(folder), None, samples)


def pair(name: str = "table-3", title: str = "Table 3") -> Table:
    return Table("traff", name, title, ("linear", "tree"), "us", 0, lambda done: Result([], [], []))


def single() -> Table:
    return Table("paznikov", "crossovers", "Crossovers", None, "KiB", 0, lambda done: Result([], [], []))


def factors(*numbers: float) -> list[Numbers]:
    return [{"factor": number} for number in numbers]


def result_of(published: list[Numbers], *here: list[Numbers]) -> Result:
    problems = [f"problem {i}" for i in range(len(published))]
    return Result(problems, published, [View("own simulator", "a machine", each, ["a note & more"]) for each in here])


def run(table: Table) -> Result:
    """A table's result, whose steps are those that it announces."""
    steps: list[int] = []
    result = table.run(lambda: steps.append(1))
    assert len(steps) == table.steps
    return result


def named(tables: list[Table], name: str) -> Table:
    return next(table for table in tables if table.name == name)


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
    ({"ahead": 1.0}, {"factor": 1.05}, True),
    ({"ahead": 1.0}, {"factor": 1.0}, False),
    ({"ahead": -1.0}, {"factor": 0.97}, True),
    ({"ahead": 0.0}, {"factor": 0.97}, True),
    ({"ahead": 0.0}, {"factor": 1.5}, False),
])  # fmt: skip
def test_winners_agree_or_not(published_, here, expected):
    assert pair().agrees(published_, here) is expected


def test_single_values_agree_within_a_factor():
    values = [single().agrees({"value": 10}, {"value": here}) for here in (14, 7, 16)]
    assert values == [True, True, False]
    assert single().agrees({"value": 10}, {}) is None


def test_a_verdict_counts_winners_and_near_factors():
    result = result_of(factors(2, 3, 1), factors(2.2, 9, 1.5))
    assert pair().verdict(result, result.views[0]) == (
        "same winner in 2 of 3, factor within 20 % in 1; tree wins 2 published and 3 here"
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
    slower = parsons.changed(NodeMachine(), "node_gap", 3e-7)
    for machine, number in ((NodeMachine(), 1), (NodeMachine(), 1), (slower, 2), (network({"gap": 1e-6}), 3)):
        assert context(tmp_path).result(compute, machine, number, of=file) == number
    file.write_text("two")
    assert context(tmp_path).result(compute, NodeMachine(), 1, of=file) == 1
    assert calls == [1, 2, 3, 1]


def test_an_interrupted_result_is_not_kept(tmp_path):
    def interrupted() -> None:
        raise KeyboardInterrupt

    cache = Cache(tmp_path)
    with pytest.raises(KeyboardInterrupt):
        cache.get("a", interrupted)
    assert cache.get("a", lambda: 7) == 7


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


def test_a_plot_of_factors_has_a_point_for_each_known_one():
    result = result_of(factors(*range(1, 11)), [*factors(*range(2, 11)), {}])
    drawing = ElementTree.fromstring(charts.factors(pair(), result, result.views[0]))
    assert len(drawing.findall("circle")) == 9
    few = result_of(factors(1), factors(2))
    assert charts.factors(pair(), few, few.views[0]) == ""


def test_the_summary_has_a_line_for_each_source_and_marks_what_differs():
    table = pair()
    text = page.markdown([(table, result_of(factors(2, 8), factors(8, 2), factors(0.5, 8)))])
    assert "| Träff, Table 3 | own simulator: a machine | 2 of 2 | 4.00 | 4.00 |" in text
    assert "| Träff, Table 3 | own simulator: a machine | 1 of 2 | 4.00 | 2.00 |" in text
    assert "| problem 0 | 2.00 | 8.00 | 0.50 ✗ |" in text
    assert "| problem 1 | 8.00 | 2.00 | 8.00 |" in text


def test_means_are_over_the_problems_that_both_have():
    text = page.markdown([(pair(), result_of([*factors(2), {}], factors(3, 12)))])
    assert "| 1 of 1 | 2.00 | 3.00 |" in text
    text = page.markdown([(pair(), result_of([{}, {}], factors(3, 12)))])
    assert "|  |  | 6.00 |" in text


def test_the_document_has_all_numbers():
    result = result_of([{"linear": 2.0, "tree": 1.0}], [{"linear": 3.123456, "tree": 1.0}])
    (table,) = json.loads(page.document([(pair(), result)]))["tables"]
    assert table["views"][0]["numbers"] == [{"linear": 3.1235, "tree": 1.0}]
    assert table["published"] == [{"linear": 2.0, "tree": 1.0}]


@pytest.mark.parametrize(("values", "log"), [((1, 1000), True), ((3, 4), True), ((0.2, 90), False)])
def test_an_axis_has_round_ticks_inside(values, log):
    axis = charts.Axis(list(values), 0, 100, log)
    ticks = axis.ticks()
    assert 2 <= len(ticks) <= 7
    assert all(-0.2 <= axis.at(tick) <= 100.2 for tick in ticks)
    assert axis.at(max(values)) == pytest.approx(100)


# Träff


def test_all_tables_of_traff_have_all_problems():
    tables = published("traff")["tables"]
    assert [int(number) for number in tables] == list(range(1, 12))
    assert {table["ranks"] for table in tables.values()} == {560, 1600, 3200, 6400}
    for table in tables.values():
        for rows in table["rows"].values():
            assert [len(row) for row in rows] == [10] * 5
            # A minimum is at most 0.1 us above its average, and a padded total at least the total.
            for m, padded, *times in rows:
                assert m <= padded
                assert all(low <= mean + 0.1 for mean, low in zip(times[::2], times[1::2], strict=True))
    assert sum(distribute("decreasing", 560, 100)) == tables["1"]["rows"]["decreasing"][2][0] == 56400


def test_a_linear_gather_pays_the_gap_or_the_bytes():
    machine = Machine()
    machine.latency, machine.per_byte, machine.gap = 2e-6, 1e-9, 1e-6
    # Rank 0 is the root; 500 bytes take less than the gap, 4000 more, and nothing costs nothing.
    seconds = traff.closed_linear([9, 500, 4000, 0], 0, machine)
    assert seconds == pytest.approx(2e-6 + 1e-6 + 4e-6)


def test_no_gather_is_faster_than_its_bound():
    for distribution in ("decreasing", "two_blocks"):
        times = traff.problem(60, distribution, 100, Machine())
        del times["gap"]  # Start-ups overlap there; the bound's model has none that do.
        assert times["bound"] == min(times.values())
        assert times["TUW_Gatherv"] < times["guideline (2)"]


# Proficz


def test_proficz_has_all_cells_and_algorithms():
    document = published("proficz")
    for table in (document["scatter"], document["gather"]):
        for rows in (table["difference_ms"], table["quotient"]):
            assert [len(row) for row in rows] == [7] * 5
    both = {*proficz.ALGORITHMS["scatter"], *proficz.ALGORITHMS["gather"]}
    assert both == {"LIN", "BNOM", "SLIN", "SBN", "BSLN", "BSBN", "LS", "SLS", "BSLS"}
    assert sum(map(len, proficz.ALGORITHMS.values())) == 13
    assert proficz.DRAWS >= 30


def test_late_ranks_cost_a_sorted_scatter_less():
    machine = network(published("proficz")["network"])
    found = proficz.simulated(("scatter", 2048, 50, 48), machine)
    ms, spread = found["ms"], found["spread"]
    assert ms["LIN"] / ms["BSLN"] - spread > 1.1
    for name, published_ms in (("LIN", 104), ("SLIN", 94), ("BSLN", 91)):
        assert ms[name] == pytest.approx(published_ms, rel=0.1)
    together = proficz.simulated(("scatter", 2048, 0, 48), machine)
    assert together["spread"] == 0
    assert together["ms"]["LIN"] == pytest.approx(65, rel=0.1)


def test_eager_blocks_do_not_wait_for_late_ranks():
    machine = network(published("proficz")["network"])
    eager = proficz.simulated(("scatter", 512, 50, 48), machine)["ms"]
    assert eager["LIN"] == pytest.approx(eager["BSLN"], rel=0.01)
    larger = proficz.simulated(("scatter", 1024, 50, 48), machine)["ms"]
    assert larger["LIN"] > 1.15 * larger["BSLN"]


def test_an_interval_of_paired_quotients():
    assert proficz.interval([2.0, 4.0, 6.0], [1.0, 2.0, 3.0]) == 0
    # Quotient 1; differences 1, -1, 1, -1 have a deviation of 2 / sqrt(3), the second mean is 10.
    width = proficz.interval([11, 9, 11, 9], [10, 10, 10, 10])
    assert width == pytest.approx(1.96 * 2 / math.sqrt(3) / 2 / 10)


def test_the_fft_s_gather_lies_between_both_sequences(tmp_path):
    table = named(proficz.tables(context(tmp_path)), "table-5")
    result = run(table)
    in_rank, at_random = (view.numbers[0]["LS"] for view in result.views)
    assert in_rank < 12 < at_random
    sls = result.problems.index("SLS")
    assert result.views[0].numbers[sls]["row's"] == pytest.approx(10, rel=0.1)


def test_the_lab_s_samples_are_a_source(tmp_path):
    table = named(proficz.tables(context(tmp_path, ROOT / "docs" / "results")), "figure-14")
    result = run(table)
    assert [view.source for view in result.views] == ["own simulator", "lab"]
    lab = result.views[1]
    cell = result.problems.index("2048 Ki floats, 50 ms")
    assert lab.numbers[cell]["LIN"] == pytest.approx(125, abs=1)
    assert lab.spread[cell] > 0
    assert set(result.plots[0].lines) == set(proficz.ALGORITHMS["scatter"])


# Paznikov


def test_the_closed_form_is_the_paper_s():
    # L = 5, o = 2, g = 4, o_r = 3 and P = 8: 3 stages of 2 + 8 + 5 + 3, and 7; 10 more a stage for 1000 G.
    machine = network({"latency": 9e-6, "overhead": 2e-6, "gap": 4e-6, "polling": 3e-6, "per_byte": 1e-8})
    assert paznikov.logp(machine, 8) == pytest.approx(61e-6)
    assert paznikov.closed_form(machine, 8, 1001)["tree"] == pytest.approx(91e-6)
    assert paznikov.closed_form(machine, 8, 1001)["linear"] == pytest.approx((7 * 12 + 5 + 2) * 1e-6)


@pytest.mark.parametrize(("p", "stages"), [(2, 1), (3, 2), (8, 6), (64, 21), (24, 11)])
def test_the_printed_tree_has_k_choose_2_stages(p, stages):
    assert paznikov.depth(p) == stages


def test_crossovers_are_the_least_sizes_and_processes():
    def times(_: Machine, p: int, m: int) -> Numbers:
        return {"linear": p * m, "tree": 3 * m + 100}

    machine = Machine()
    assert paznikov.size_ahead(times, machine, 5, 1000) == 51  # 5 m > 3 m + 100
    assert paznikov.size_ahead(times, machine, 3, 1000) == math.inf
    assert paznikov.processes_ahead(times, machine, 10, 48) == 14  # 10 p > 130
    assert paznikov.processes_ahead(times, machine, 1, 48) == math.inf


def test_one_latency_explains_the_crossovers_over_ethernet(tmp_path):
    table = named(paznikov.tables(context(tmp_path)), "crossovers")
    result = run(table)
    fitted = result.views[-1].numbers
    ethernet = [i for i, problem in enumerate(result.problems) if problem.startswith("Gigabit")]
    assert len(ethernet) == 6
    for i in ethernet:
        assert fitted[i]["value"] == pytest.approx(result.published[i]["value"], rel=0.15)


# Bhowmik & Bodele


def test_the_order_of_figure_1_is_the_paper_s():
    assert bhowmik.figure_1() == published("bhowmik")["order"]


def test_a_ring_in_blocks_gains_nothing_and_doubling_does(tmp_path):
    tables = bhowmik.tables(context(tmp_path))
    ring, doubling = (run(named(tables, name)) for name in ("figure-2", "figure-5"))

    def gains(view: View) -> list[float]:
        return [each["default"] / each["reordered"] for each in view.numbers]

    blocks, round_robin, shuffled = ring.views
    assert gains(blocks) == pytest.approx([1.0] * 10)
    assert min(gains(round_robin)) > 1.4
    assert min(gains(shuffled)) > 1.1
    blocks, round_robin, shuffled = doubling.views
    assert min(gains(blocks)) > 1.12
    assert gains(round_robin) == pytest.approx([1.0] * 10)
    for view in (*ring.views, *doubling.views):
        assert all(each["order=distance"] <= 1.001 * each["reordered"] for each in view.numbers)


# Parsons & Pai


def test_mpich_leaves_recursive_algorithms_at_512_kib():
    shapes = [parsons.mpich_shape(name, total) for name in ("allgather", "reduce_scatter")
              for total in (524287, 524288)]  # fmt: skip
    assert shapes == ["recursive", "ring", "recursive", "pairwise"]
    assert parsons.mpich_shape("alltoallv", 8) == "pairwise"


def test_a_changed_machine_differs_in_one_number():
    machine = parsons.changed(NodeMachine(), "node_gap", 3e-7)
    assert parsons.parameter(machine, "node_gap") == pytest.approx(3e-7)
    assert parsons.parameter(machine, "latency") == parsons.parameter(NodeMachine(), "latency")


def test_the_machine_of_2_5_from_several_senders(tmp_path):
    result = run(named(parsons.tables(context(tmp_path)), "senders"))
    built_in, fitted = result.views
    assert all(each["factor"] < 2 for each in built_in.numbers)
    assert [each["factor"] for each in fitted.numbers] == pytest.approx([2.5] * 3, rel=0.01)


# The command


def test_the_command_writes_its_pages_and_resumes(command, tmp_path):
    words = ("reproduce", "traff", "table-3", "--simgrid-ranks", "0",
             "--output", str(tmp_path / "out"), "--cache", str(tmp_path / "cache"))  # fmt: skip
    first = command(*words)
    assert first.status == 0
    assert "Table 3: MPI_Gatherv and TUW_Gatherv, p = 560, Open MPI" in first.out
    assert "0 of 30 results were known" in first.out
    pages = [tmp_path / "out" / f"reproduced.{suffix}" for suffix in ("html", "md", "json")]
    texts = [each.read_text() for each in pages]
    assert "TUW_Gatherv wins 11 published" in texts[0]
    assert "30 of 30 results were known" in command(*words).out
    assert [each.read_text() for each in pages] == texts


@pytest.mark.parametrize(("words", "expected"), [
    (("lamport",), "unknown paper lamport; expected traff, proficz, paznikov, bhowmik, parsons"),
    (("traff", "table-12"), "traff has no table-12; expected table-1, table-2"),
    (("proficz", "example", "--samples", "/none/x"), "--samples /none/x: no such folder"),
])  # fmt: skip
def test_bad_arguments_are_refused(command, words, expected):
    done = command("reproduce", *words)
    assert done.status == 2
    assert expected in done.err


@pytest.mark.parametrize(("paper", "name"), [
    (traff, "table-1"), (proficz, "example"), (paznikov, "figure-12"), (bhowmik, "figure-4"),
    (parsons, "averages"), (parsons, "senders"),
])  # fmt: skip
def test_the_published_results_are_those_of_the_command(paper, name, tmp_path):
    results = ROOT / "docs" / "results"
    table = named(paper.tables(context(tmp_path, results)), name)
    (now,) = json.loads(page.document([(table, run(table))]))["tables"]
    tables = json.loads((results / "reproduced.json").read_text())["tables"]
    (kept,) = [each for each in tables if (each["paper"], each["name"]) == (now["paper"], name)]
    ours = [view for view in kept["views"] if view["source"] != "SimGrid"]
    assert [view["machine"] for view in ours] == [view["machine"] for view in now["views"]]
    for old, new in zip(ours, now["views"], strict=True):
        for before, after in zip(old["numbers"], new["numbers"], strict=True):
            assert after == pytest.approx(before, rel=1e-3)


PROBE = """<body><iframe src="reproduced.html" style="width:{width}px;height:900px;border:0"></iframe>
<script>onload = () => {{
  const page = document.querySelector("iframe").contentDocument;
  page.querySelectorAll("details").forEach(each => each.open = true);
  document.body.dataset.width = page.documentElement.scrollWidth;
  document.body.dataset.outside = [...page.querySelectorAll("svg")].filter(svg => {{
    const frame = svg.getBoundingClientRect();
    return [...svg.querySelectorAll("text")].some(each => {{
      const box = each.getBoundingClientRect();
      return box.left < frame.left - 1 || box.right > frame.right + 1 || box.bottom > frame.bottom + 1;
    }});
  }}).length;
}};</script>"""


@pytest.mark.parametrize("width", [1280, 400])
def test_the_page_fits_in_chromium(command, tmp_path, width):
    names = ("chromium", "chromium-browser", "google-chrome")
    browser = next((name for name in names if shutil.which(name)), None)
    if browser is None:
        pytest.skip("no Chromium on this machine")
    command("reproduce", "parsons", "--simgrid-ranks", "0", "--output", str(tmp_path))
    probe = tmp_path / "probe.html"
    probe.write_text(PROBE.format(width=width))
    done = subprocess.run(
        [browser, "--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={tmp_path}/p",
         "--allow-file-access-from-files", "--virtual-time-budget=3000", "--window-size=1400,1000",
         "--dump-dom", probe.as_uri()],
        capture_output=True, text=True, timeout=120, check=True, stdin=subprocess.DEVNULL,
    )  # fmt: skip
    found = dict(re.findall(r'data-(width|outside)="(\d+)"', done.stdout))
    assert found["outside"] == "0", "a label is cut"
    assert int(found["width"]) <= width, "the page scrolls sideways"

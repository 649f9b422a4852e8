"""The published numbers and the models of Proficz 2020, and the lab's samples beside them."""

from __future__ import annotations

import json
import math
from statistics import mean

import pytest
from installed import ROOT
from reproducing import context, named, run
from tutti_reproduce import charts, proficz, proficz_lab
from tutti_reproduce.context import published
from tutti_reproduce.tables import Plot, Result, Table, View, network

RESULTS = ROOT / "docs" / "results"


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
    found = proficz.simulated(("scatter", 2048, 50, 48), machine)["run"]
    ms, spread = found["ms"], found["spread"]
    assert ms["LIN"] / ms["BSLN"] - spread > 1.1
    for name, published_ms in (("LIN", 104), ("SLIN", 94), ("BSLN", 91)):
        assert ms[name] == pytest.approx(published_ms, rel=0.1)
    together = proficz.simulated(("scatter", 2048, 0, 48), machine)["run"]
    assert together["spread"] == 0
    assert together["ms"]["LIN"] == pytest.approx(65, rel=0.1)


def test_eager_blocks_do_not_wait_for_late_ranks():
    machine = network(published("proficz")["network"])
    eager = proficz.simulated(("scatter", 512, 50, 48), machine)["run"]["ms"]
    assert eager["LIN"] == pytest.approx(eager["BSLN"], rel=0.01)
    larger = proficz.simulated(("scatter", 1024, 50, 48), machine)["run"]["ms"]
    assert larger["LIN"] > 1.15 * larger["BSLN"]


def test_what_differs_beyond_doubt_is_counted():
    table = Table("proficz", "x", "X", ("A", "B"), "ms", 1, lambda done: Result([], [], []))
    even = [{"factor": 1.0}] * 4
    # Of 1.3 +- 0.5 neither the ends nor the middle are even, but 1 is inside.
    view = View("lab", "here", [{"factor": 1.3}] * 4, spread=[0.1, 0.25, 0.5, math.inf])
    assert table.doubtless(Result(["a", "b", "c", "d"], even, [view]), view) == 1
    won = [{"factor": 2.0}, {"factor": 2.0}, {"factor": 0.5}, {"factor": 0.5}]
    view = View("lab", "here", [{"factor": 0.9}] * 4, spread=[0.1, 0.3, 0.01, math.inf])
    assert table.doubtless(Result(["a", "b", "c", "d"], won, [view]), view) == 1


def test_the_fft_s_gather_lies_between_both_sequences(tmp_path):
    table = named(proficz.tables(context(tmp_path)), "table-5")
    result = run(table)
    in_rank, at_random = (view.numbers[0]["LS"] for view in result.views)
    assert in_rank < 12 < at_random
    sls = result.problems.index("SLS")
    assert result.views[0].numbers[sls]["the row's algorithm"] == pytest.approx(10, rel=0.1)


def test_the_lab_s_samples_are_a_source(tmp_path):
    table = named(proficz.tables(context(tmp_path, RESULTS)), "figure-14")
    result = run(table)
    assert [view.source for view in result.views] == ["own simulator", "lab", "lab"]
    lab, slower = result.views[1:]
    cell = result.problems.index("2048 Ki floats, 50 ms")
    measured = json.loads((RESULTS / "lab-scatter-openmpi-48-1000mbit-50ms.json").read_text())
    linear = next(line for line in measured["rows"][-1]["algorithms"] if line["name"] == "LIN")
    assert lab.numbers[cell]["LIN"] == pytest.approx(linear["mean_us"] / 1000, rel=0.01)
    assert lab.spread[cell] > 0
    # Links of a tenth of the rate: the delay is 10 times the paper's, and times count a tenth.
    measured = json.loads((RESULTS / "lab-scatter-openmpi-48-100mbit-500ms.json").read_text())
    linear = next(line for line in measured["rows"][-1]["algorithms"] if line["name"] == "LIN")
    assert slower.numbers[cell]["LIN"] == pytest.approx(linear["mean_us"] / 10_000, rel=0.01)
    assert slower.numbers[result.problems.index("2048 Ki floats, 500 ms")] == {}


def test_figures_draw_the_lab_s_points_in_the_colours_of_the_simulator_s_lines(tmp_path):
    result = run(named(proficz.tables(context(tmp_path, RESULTS)), "figure-14"))
    names = proficz.ALGORITHMS["scatter"]
    assert set(result.plots[0].lines) == {*names, *(f"{name}, lab" for name in names)}
    assert len(result.plots[0].lines["LIN, lab"]) == 7
    drawn = charts.lines(Plot("X", "x", "y", {"A": [(1, 1), (2, 2)], "B": [(1, 2)], "A, lab": [(1, 3)]}))
    assert drawn.count("<polyline") == 2
    assert drawn.count(f'fill="none" stroke="{charts.COLOURS[0]}"') == 2  # a point and its legend
    assert charts.COLOURS[2] not in drawn


@pytest.mark.parametrize(("factor", "spread", "known"), [
    (1.3, 0.15, True), (1.3, 0.25, False), (0.8, 0.1, True), (0.85, 0.1, False), (1.0, 0.08, True),
    (1.0, 0.12, False), (1.2, math.inf, False),
])  # fmt: skip
def test_an_interval_decides_who_wins(factor, spread, known):
    assert proficz_lab.decided(factor, spread) is known


def test_undecided_winners_are_counted():
    far, near = ([2.0, 2.2, 1.8, 2.0], [1.0, 1.0, 1.0, 1.0]), ([1.3, 1.6, 1.0, 1.5], [1.0, 1.2, 1.1, 0.9])
    assert proficz_lab.undecided_note([far]).endswith("Undecided: 0 of 1.")
    # 30 repetitions would narrow the interval by the square root of 4 / 30.
    text = proficz_lab.undecided_note([far, near])
    assert text.endswith("Undecided: 1 of 2; with 30 repetitions and the same deviations 0.")
    assert text.startswith("4 repetitions;")


def test_all_that_their_interval_leaves_open_may_be_the_fastest():
    run = {"A": [1.0, 1.2, 0.8, 1.0], "B": [1.1, 1.0, 1.2, 1.1], "C": [2.0, 2.1, 1.9, 2.0]}
    assert proficz_lab.maybe_fastest(run) == ["A", "B"]
    assert proficz_lab.maybe_fastest(run | {"B": [1.1, 1.3, 0.9, 1.11]}) == ["A"]
    assert proficz_lab.counted([["A", "B"], ["B"]], ("A", "B", "C")) == "B 2, A 1, C 0"


def test_the_lab_s_fastest_are_those_that_intervals_leave_open(tmp_path):
    for name, said in (("figure-14", 1), ("figure-18", 0)):
        lab = run(named(proficz.tables(context(tmp_path, RESULTS)), name)).views[1]
        assert sum("not excluded by the 95 % interval" in note for note in lab.notes) == said
        assert not any("within 1 %" in note for note in lab.notes)


def test_the_appendix_has_elapsed_times(tmp_path):
    tables = proficz.tables(context(tmp_path, RESULTS))
    for number, collective in ((18, "scatter"), (19, "scatter"), (20, "gather")):
        result = run(named(tables, f"figure-{number}"))
        assert set(result.views[0].numbers[0]) == set(proficz.ALGORITHMS[collective])
        assert result.plots[0].y_label == "elapsed time in ms"
    machine = network(published("proficz")["network"])
    measures = proficz.simulated(("scatter", 2048, 0, 48), machine)
    # LIN: the k-th of 47 receivers exits after k blocks, the root after 47: (47 * 48 / 2 + 47) / 48 of 47.
    assert measures["elapsed"]["ms"]["LIN"] / measures["run"]["ms"]["LIN"] == pytest.approx(25 / 48)


def test_the_lab_s_example_has_its_reason(tmp_path):
    result = run(named(proficz.tables(context(tmp_path, RESULTS)), "example"))
    at_once, slower = result.views[1:]
    assert "the MPI's own scatter takes 109 ms" in at_once.notes[0]
    for published_, measured in zip(result.published, slower.numbers, strict=True):
        assert not measured or measured["value"] == pytest.approx(published_["value"], rel=0.1)


def test_the_fft_s_totals_and_the_mpi_s_own_gather_are_there(tmp_path):
    result = run(named(proficz.tables(context(tmp_path, RESULTS)), "table-5"))
    assert result.problems[-1] == "MPI's own"
    # It is LS in the simulator: no row that could agree.
    assert [view.numbers[-1] for view in result.views if view.source == "own simulator"] == [{}, {}]
    assert result.published[-1]["the row's algorithm, total in s"] == 64.815
    times = json.loads((RESULTS / "lab-fft-openmpi-8.json").read_text())["times"]
    lab = result.views[-1].numbers[-1]
    assert lab["the row's algorithm"] == pytest.approx(mean(each[1] for each in times["native"]))
    assert lab["the row's algorithm, total in s"] == pytest.approx(sum(each[0] for each in times["native"]))


def test_samples_of_one_delay_show_what_they_have(tmp_path):
    name = "lab-scatter-openmpi-48-1000mbit-50ms.json"
    document = json.loads((RESULTS / name).read_text())
    document["metadata"]["library"] = "Intel(R) MPI Library 2021.18.1 for Linux* OS"
    (tmp_path / name).write_text(json.dumps(document))
    result = run(named(proficz.tables(context(tmp_path / "cache", tmp_path)), "example"))
    assert result.views[1].machine == "48 emulated nodes, 1 Gbit/s, Intel MPI 2021.18.1"
    numbers = result.views[1].numbers
    assert numbers[:3] == [{}] * 3 and all(each["value"] > 0 for each in numbers[3:])

"""What the lab measured of one-sided broadcasts, beside the figures of Paznikov 2024."""

from __future__ import annotations

import json
import sys
from statistics import mean

import pytest
from installed import ROOT

sys.path.append(str(ROOT / "bench"))

import lab_rma
from reproducing import context, named, run
from tutti_reproduce import paznikov
from tutti_reproduce.broadcast_samples import MEASURED, Lab
from tutti_reproduce.tables import ABOVE, View

RESULTS = ROOT / "docs" / "results"


def line(name: str, ms: list[float], loggp_ms: float) -> dict[str, object]:
    return {"name": name, "samples_us": [1e3 * each for each in ms],
            "logp_us": 1.0, "loggp_us": 1e3 * loggp_ms}  # fmt: skip


def sampled(
    folder, nodes: int, ranks: int, times: dict[int, tuple[float, float]], *, date: str = "2026-01-01",
    windows: bool = True, priced: float = 4.0, library: str = "Open MPI v5.0.11, more",
) -> None:  # fmt: skip
    """Writes a file of the lab: by size the milliseconds of the linear broadcast and of the tree in
    windows, whose prediction is `priced`."""
    rows = [
        {"bytes": size, "algorithms": [
            line("linear", [linear, linear + 0.2], 3.0), line("paznikov", [1.0, 1.0], 4.0),
            *([line("paznikov:protocol=windows", [tree, tree + 0.1], priced)] if windows else [])]}
        for size, (linear, tree) in times.items()
    ]  # fmt: skip
    metadata = {"nodes": str(nodes), "ranks": str(ranks), "date": date, "library": library}
    # Of two dates of one month the names may be in another sequence.
    name = f"lab-rma-openmpi5-{nodes}x{ranks // nodes}-{date[::-1]}.json"
    (folder / name).write_text(json.dumps({"schema": "tutti-bench/1", "metadata": metadata, "rows": rows}))


def view_of(views: list[View], source: str, words: str = "") -> View:
    return next(view for view in views if view.source == source and words in view.machine)


def test_the_paper_s_tree_is_beside_linear_with_both_predictions(tmp_path):
    result = run(named(paznikov.tables(context(tmp_path, RESULTS)), "lab"))
    lab = view_of(result.views, "lab")
    cell = result.problems.index("p = 48 on 48 nodes, 1,048,576 bytes")
    rows = json.loads((RESULTS / "lab-rma-openmpi5-48x1.json").read_text())["rows"]
    lines = {each["name"]: each for each in rows[-1]["algorithms"]}
    for name, measured in MEASURED.items():
        found = lab.numbers[cell]
        assert found[name] == pytest.approx(mean(lines[measured]["samples_us"]) / 1000)
        for model, key in (("LogP", "logp_us"), ("LogGP", "loggp_us")):
            assert found[f"{name}, {model}"] == pytest.approx(lines[measured][key] / 1000)
    assert lab.spread[cell] > 0
    assert {"tree", "tree by notifications", "tree, LogGP"} <= result.plots[-1].lines.keys()
    for model, key in (("LogP", "logp_us"), ("LogGP", "loggp_us")):
        predicted = view_of(result.views, "own simulator", f"{model},").numbers[cell]
        assert predicted["linear"] == pytest.approx(lines["linear"][key] / 1000)
        assert predicted["tree"] == pytest.approx(lines[MEASURED["tree"]][key] / 1000)


def test_shapes_without_windows_have_no_factor(tmp_path):
    sampled(tmp_path, 6, 48, {8: (1.0, 2.0)}, windows=False)
    table = named(paznikov.tables(context(tmp_path / "cache", tmp_path)), "lab")
    result = run(table)
    assert table.factor(result.views[0].numbers[0]) is None
    assert result.views[0].numbers[0]["linear"] == pytest.approx(1.1)
    assert result.views[0].spread == [0.0]


def test_the_lab_s_crossover_is_the_size_from_which_the_tree_stays_ahead(tmp_path):
    # Ahead at 2 KiB by chance, behind at 4, then ahead; never with 8 processes.
    sampled(tmp_path, 16, 16, {2048: (2.0, 1.0), 4096: (1.0, 2.0), 8192: (3.0, 2.0), 16384: (3.0, 2.0)})
    sampled(tmp_path, 8, 8, {2048: (2.0, 1.0), 16384: (1.0, 2.0)})
    result = run(named(paznikov.tables(context(tmp_path / "cache", tmp_path)), "crossovers"))
    lab = dict(zip(result.problems, view_of(result.views, "lab").numbers, strict=True))
    assert lab["Gigabit Ethernet: KiB with p = 16"] == {"value": 8.0, ABOVE: 4.0}
    assert lab["Gigabit Ethernet: KiB with p = 8"] == {}
    assert lab["Gigabit Ethernet: p with 16 KiB"] == {"value": 16.0, ABOVE: 8.0}
    assert lab["Gigabit Ethernet: p with 32 KiB"] == {}
    assert any("p = 8." in note for note in view_of(result.views, "lab").notes)
    # LogGP has the tree behind everywhere; the paper's networks have no row of these processes.
    assert not any(view_of(result.views, "own simulator", "LogGP, machine").numbers)
    assert {len(view.numbers) for view in result.views} == {len(result.published)} == {14}


def test_without_samples_the_crossovers_are_the_paper_s(tmp_path):
    result = run(named(paznikov.tables(context(tmp_path)), "crossovers"))
    assert len(result.problems) == 12
    assert "lab" not in {view.source for view in result.views}
    assert "lab" not in {table.name for table in paznikov.tables(context(tmp_path))}


def test_figures_over_ethernet_take_the_samples_that_fit(tmp_path):
    sampled(tmp_path, 16, 64, {2048: (1.0, 2.0), 40960: (3.0, 2.0), 8: (1.0, 2.0)})
    of = context(tmp_path / "cache", tmp_path)
    eleven = run(named(paznikov.tables(of), "figure-11"))
    lab = dict(zip(eleven.problems, view_of(eleven.views, "lab").numbers, strict=True))
    assert lab["p = 64, 40 KiB"]["tree"] == pytest.approx(2.05)
    assert [problem for problem, numbers in lab.items() if numbers] == ["p = 64, 2 KiB", "p = 64, 40 KiB"]
    lines = {plot.title: plot.lines for plot in eleven.plots}
    assert [x for x, _ in lines["Figure 11: p = 64"]["tree, lab"]] == [2, 40]
    assert "tree, lab" not in lines["Figure 11: p = 16"]
    twelve = run(named(paznikov.tables(of), "figure-12"))
    lab = dict(zip(twelve.problems, view_of(twelve.views, "lab").numbers, strict=True))
    assert lab["64 processes, 40 KiB"]["linear"] == pytest.approx(3.1)
    nine = run(named(paznikov.tables(of), "figure-9"))
    assert "lab" not in {view.source for view in nine.views}


def test_of_several_runs_of_a_cell_the_newest_counts(tmp_path):
    for date, ms in (("2026-03-10", 5.0), ("2026-03-09", 7.0)):
        sampled(tmp_path, 16, 16, {2048: (ms, 2.0)}, date=date)
    assert Lab(context(tmp_path / "cache", tmp_path)).numbers((16, 16, 2048))["linear"] == pytest.approx(5.1)


def test_of_several_mpis_the_heading_says_whose_cells_count(tmp_path):
    sampled(tmp_path, 16, 16, {2048: (5.0, 2.0)}, date="2026-03-09")
    assert Lab(context(tmp_path / "cache", tmp_path)).heading == "emulated nodes, 1 Gbit/s, Open MPI 5.0.11"
    for ranks, date in ((48, "2026-03-10"), (16, "2026-03-08")):
        sampled(tmp_path, 16, ranks, {2048: (5.0, 2.0)}, date=date, library="MPICH Version:      5.0.2")
    assert Lab(context(tmp_path / "cache", tmp_path)).heading == (
        "emulated nodes, 1 Gbit/s, Open MPI 5.0.11 (16 nodes of 1); 1 Gbit/s, MPICH 5.0.2 (16 nodes of 3)"
    )


@pytest.mark.parametrize(("priced", "notes"), [(4.0, 1), (6.0, 0)])
def test_predictions_without_the_windows_are_named(tmp_path, priced, notes):
    sampled(tmp_path, 16, 16, {2048: (1.0, 2.0)}, priced=priced)
    sampled(tmp_path, 8, 8, {2048: (1.0, 2.0), 4096: (1.0, 2.0)}, priced=6.0)
    lab = Lab(context(tmp_path / "cache", tmp_path))
    assert len(lab.note(list(lab.lines))) == notes
    for note in lab.note(list(lab.lines)):
        assert note.startswith("In 1 of 3 cells, of 16 ranks on 16 nodes, the prediction")


def test_the_lab_measures_what_figures_11_and_12_have(tmp_path, monkeypatch):
    ran = {}
    monkeypatch.setattr(lab_rma, "use_machine", lambda *of, **by: None)
    monkeypatch.setattr(lab_rma, "run_in_lab", lambda path, words, **job: ran.update({path.name: (words, job)}))
    lab_rma.measure(tmp_path, figures=True, limit=60)
    assert [(job["nodes"] * job["per_node"], job["limit"]) for _, job in ran.values()] == [
        (16, 60), (40, 60), (64, 60), (96, 60)]  # fmt: skip
    words, _ = ran["lab-rma-openmpi-16x4-figures.json"]
    assert words[words.index("--bytes") + 1] == "2048,4096,8192,16384,24576,32768,40960"
    assert {*MEASURED.values()} <= {*words}
    # Both measurements of a shape have a place.
    lab_rma.measure(tmp_path, shapes="16x4")
    assert "lab-rma-openmpi-16x4.json" in ran


def test_the_lab_s_page_has_the_crossover_of_the_paper_s_tree(tmp_path, capsys):
    lab_rma.page(RESULTS)
    sections = capsys.readouterr().out.split("## ")
    ahead = "`paznikov:protocol=windows` stays ahead of `linear` from: "
    found = {part.split(",")[0]: part.split(ahead)[1].split(".")[0] for part in sections if ahead in part}
    assert found["8 ranks on 8 nodes"] == found["16 ranks on 16 nodes"] == "none measured"
    assert found["48 ranks on 48 nodes"] == "1,048,576 bytes"
    assert "48 ranks on 6 nodes" not in found

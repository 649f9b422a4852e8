"""Träff's irregular gathers and scatters in the lab, from samples."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import pytest
from reproducing import context, named, run
from tutti_reproduce import page, traff_lab
from tutti_reproduce.context import published
from tutti_reproduce.tables import Result, View
from tutti_reproduce.traff_costs import TUW

ALGORITHMS = ("native", "native", "linear", TUW, "ordered_tree")
SOME = (("same", 1), ("spikes", 100))
"""The problems that samples have here."""


def line(name: str, us: float, **more: Any) -> dict[str, Any]:
    return {"name": name, "median_us": us, "min_us": us - 1, "mean_us": us + 1, **more}


def write(folder: Path, command: str, lines: list[dict[str, Any]], ranks: int = 8, about: dict[str, str] | None = None) -> None:
    """A sample of SOME problems, which all have these lines."""
    rows = [{"distribution": name, "block": block, "algorithms": lines} for name, block in SOME]
    metadata = {"library": "Open MPI v4.1.4, package", "nodes": "8", "ranks": str(ranks), "root": str(ranks // 2),
                "repetitions": "31", "rate": "1 Gbit/s", **(about or {})}  # fmt: skip
    document = {"schema": "tutti-bench/1", "metadata": metadata, "rows": rows}
    (folder / f"lab-traff-{command}-openmpi-8x{ranks // 8}.json").write_text(json.dumps(document))


def sampled(folder: Path, collective: str, ranks: int = 8) -> None:
    """The MPI's own takes 100 us, then 110, linear 120, the paper's tree 200, ordered_tree 180."""
    times = zip(ALGORITHMS, (100.0, 110.0, 120.0, 200.0, 180.0), strict=True)
    ratios = {TUW: {"median": 2.0, "low": 1.6, "high": 2.5}}
    write(folder, collective, [line(name, us, ratio_to_native=ratios.get(name)) for name, us in times], ranks)


def result_of(folder: Path, collective: str) -> Result:
    table = named(traff_lab.tables(context(folder / "cache", folder)), f"lab-{collective}")
    result = run(table)
    assert table.title in page.markdown([(table, result)])
    return result


def lab(result: Result) -> View:
    return next(view for view in result.views if view.source == "lab")


@pytest.mark.parametrize("collective", ["gatherv", "scatterv"])
def test_medians_are_beside_the_tree_with_the_interval_of_their_factor(tmp_path, collective):
    sampled(tmp_path, collective)
    result = result_of(tmp_path, collective)
    view = lab(result)
    mpis, tuws = traff_lab.CONTENDERS[collective]
    known = {mpis: 100, f"{mpis}, again": 110, "linear": 120, tuws: 200, "ordered_tree": 180}
    for problem, numbers, spread in zip(result.problems, view.numbers, view.spread, strict=True):
        is_known = problem in {f"{name} {block}" for name, block in SOME}
        assert numbers == (known if is_known else {})
        # Of native's time over the tree's, from 1 / 2.5 to 1 / 1.6.
        assert spread == pytest.approx((0.625 - 0.4) / 2 if is_known else 0)
    assert view.machine == "8 emulated nodes of 1, 1 Gbit/s, Open MPI 4.1.4"
    assert view.notes[0].startswith("Medians of 31 repetitions, ")
    assert f"time: 0.83 over linear, 0.50 over {tuws}, 0.56 over ordered_tree." in view.notes[0]
    assert "it is 0.91 to 0.91, which is noise" in view.notes[0]


@pytest.mark.parametrize(("low", "high"), [(0.0, None), (0.0, 2.0), (0.5, None)])
def test_few_samples_leave_the_interval_open(tmp_path, low, high):
    open_ones = [line(name, 1.0, ratio_to_native={"median": 1.0, "low": low, "high": high}) for name in ALGORITHMS]
    write(tmp_path, "gatherv", open_ones)
    assert lab(result_of(tmp_path, "gatherv")).spread[0] == math.inf


def test_gathervs_are_beside_the_published_ones_of_the_lab_s_mpi(tmp_path):
    table = published("traff")["tables"][traff_lab.BESIDE]
    assert "Open MPI" in table["library"]
    gathers, scatters = (result_of(tmp_path, name) for name in ("gatherv", "scatterv"))
    first = dict(zip(gathers.problems, gathers.published, strict=True))["two_blocks 10000"]
    assert (first["MPI_Gatherv"], first["TUW_Gatherv"]) == tuple(table["rows"]["two_blocks"][4][i] for i in (7, 9))
    assert scatters.published == [{}] * 30


@pytest.mark.parametrize("collective", ["gatherv", "scatterv"])
def test_without_samples_nothing_is_measured_yet(tmp_path, collective):
    (view,) = result_of(tmp_path, collective).views
    assert view.source == "closed form"
    assert "Nothing is measured yet in the lab" in view.notes[0]
    sampled(tmp_path, collective)
    assert "Nothing is measured" not in result_of(tmp_path, collective).views[1].notes[0]


def test_the_closed_form_has_a_gap_for_each_message_and_the_construction_of_the_tree(tmp_path):
    numbers = result_of(tmp_path, "gatherv").views[0].numbers[0]
    machine = traff_lab.MEASURED
    assert numbers["MPI_Gatherv"] == pytest.approx(1e6 * (machine["latency"] + 7 * machine["gap"]))
    # Three rounds to construct it, and three of messages.
    assert numbers["TUW_Gatherv"] > 6e6 * machine["latency"]


def test_samples_of_fewer_ranks_come_first(tmp_path):
    sampled(tmp_path, "gatherv", 48)
    sampled(tmp_path, "gatherv", 8)
    one, six, _ = result_of(tmp_path, "gatherv").views
    assert (one.machine[:21], six.machine[:21]) == ("8 emulated nodes of 1", "8 emulated nodes of 6")
    assert [any("share 2 cores" in note for note in view.notes) for view in (one, six)] == [False, True]


def guidelines(folder: Path, **about: str) -> None:
    """The gather takes 90 us, agreeing and padding 150, the gatherv 100 and the tree 200."""
    times = (("native gather", 90.0), ("allreduce + native gather", 150.0), ("native gatherv", 100.0),
             ("tutti gatherv, traff", 200.0), ("tutti gatherv", 1.0))  # fmt: skip
    write(folder, "guidelines", [line(name, us) for name, us in times], about=about)


def test_guidelines_are_counted_in_their_own_sample(tmp_path):
    sampled(tmp_path, "gatherv")
    guidelines(tmp_path)
    note = lab(result_of(tmp_path, "gatherv")).notes[1]
    # The tree alone is slower than agreeing and padding, in both problems.
    assert "of 1 and 2 problems" in note
    assert "TUW_Gatherv: by averages (1) 0 and 0, (2) 0 and 2; by minima (1) 0 and 0, (2) 0 and 2. Published" in note
    # As the text of table 3 has them.
    assert note.endswith("by averages (1) 3 and 3, (2) 10 and 2; by minima (1) 2 and 2, (2) 7 and 2.")
    sampled(tmp_path, "scatterv")
    assert len(lab(result_of(tmp_path, "scatterv")).notes) == 1


@pytest.mark.parametrize("other", [{"library": "MPICH 5.0.2"}, {"nodes": "4"}, {"ranks": "48"}])
def test_guidelines_of_another_job_are_not_counted(tmp_path, other):
    sampled(tmp_path, "gatherv")
    guidelines(tmp_path, **other)
    assert len(lab(result_of(tmp_path, "gatherv")).notes) == 1

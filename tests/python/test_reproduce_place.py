"""MPI_Allgather on the communicator that an order by distance numbers: Bhowmik & Bodele's experiment."""

from __future__ import annotations

import json
import shutil

import pytest
from installed import ROOT
from reproducing import context, named, needs_simgrid, run
from tutti_reproduce import bhowmik, bhowmik_gains, simulated
from tutti_reproduce.context import Numbers, published

NETWORK = published("bhowmik")["network"]
KILOBYTES = published("bhowmik")["kilobytes"]


@pytest.fixture
def runs(monkeypatch):
    """The runs of SimGrid, each of which takes 1 ms, and 1 more for each pair of ranks 2 i and 2 i + 1
    on two switches."""
    found = []

    def bench(context, words, algorithms, machine, ranks, ppn, *, taken, distances, configuration):
        found.append((list(algorithms.values()), machine.name, list(taken), list(configuration)))
        blocks = words[words.index("--block") + 1].split(",")
        pairs = zip(taken[::2], taken[1::2], strict=True)
        crossing = sum((a < ranks // 2) != (b < ranks // 2) for a, b in pairs)
        return [dict.fromkeys(algorithms, 1000.0 * (1 + crossing)) for _ in blocks]

    monkeypatch.setattr(simulated, "bench", bench)
    return found


def test_the_paper_s_communicator_has_its_ranks_where_the_order_puts_them(tmp_path, runs):
    numbers = bhowmik.of_the_mpi(context(tmp_path), "ring", "gbe30-two-switches-10g", [[0, 1, 0, 1]], [1, 8], NETWORK)
    (first, machine, natural, setting), (second, _, reordered, _) = runs
    assert (first, second) == (["native", "native:reordered"], ["native"])
    assert natural == [0, 2, 1, 3]  # round robin over the switches, nodes 0 and 1 on the first
    # Rank 0 stays; its neighbour is the nearest rank, which is on the same switch.
    assert reordered == [0, 1, 2, 3]
    assert "two-switches:4:trunk=1.25G" in machine
    assert setting == ["smpi/allgather:NTSLR"]
    # Both pairs of the natural order are on two switches, none of the other.
    expected = {"default": 3.0, "TUTTI_Comm_reorder": 3.0, "reordered": 1.0}
    assert numbers == [pytest.approx(expected)] * 2


def test_orders_are_the_paper_s_for_each_shape():
    assert bhowmik.heuristic_order("ring", [0, 1, 0, 1, 0, 1, 0, 1], NETWORK) == [0, 2, 4, 6, 1, 3, 5, 7]
    order = bhowmik.heuristic_order("recursive_doubling", [0, 0, 0, 0, 1, 1, 1, 1], NETWORK)
    # The last stage has the largest messages: position 4 is as near to position 0 as can be.
    assert order[0] == 0 and order[4] in (1, 2, 3)


@pytest.mark.parametrize("shape", bhowmik.HEURISTICS)
def test_the_experiment_has_all_nodes_sizes_and_placements(tmp_path, runs, shape):
    table = named(bhowmik.tables(context(tmp_path, simgrid_ranks=16)), f"allgather-{shape.replace('_', '-')}")
    result = run(table)
    assert result.problems == [f"{nodes} nodes, {size} KiB" for nodes in (4, 8, 16) for size in KILOBYTES]
    assert len(result.views) == 2 * 3
    assert all(len(view.numbers) == len(result.problems) for view in result.views)
    assert {setting for *_, (setting,) in runs} == {f"smpi/allgather:{bhowmik.MPI_ALGORITHMS[shape]}"}
    said = "" if shape == "ring" else "; published 12 to 40 %"
    assert [plot.title.split(", ")[1] for plot in result.plots] == [
        f"{nodes} nodes{said}" for nodes in (4, 8, 16)]  # fmt: skip
    # The paper draws the ring on 4 and 8 nodes only.
    drawn = [bool(each) for each in result.published]
    assert drawn == [True] * 20 + [shape != "ring"] * 10


def test_fewer_ranks_in_simgrid_leave_the_larger_numbers_of_nodes_out(tmp_path, runs):
    for ranks, problems in ((4, 10), (0, 0)):
        result = run(named(bhowmik.tables(context(tmp_path, simgrid_ranks=ranks)), "allgather-ring"))
        assert len(result.problems) == problems
        assert bool(result.views) == bool(problems)


def test_the_range_of_the_abstract_is_published(tmp_path, runs):
    table = named(bhowmik.tables(context(tmp_path, ROOT / "docs/results", simgrid_ranks=4)), "gains")
    result = run(table)
    theirs = dict(zip(result.problems, result.published, strict=True))
    assert theirs["recursive doubling: least gain"] == {"factor": 1.12}
    assert theirs["recursive doubling: largest gain"] == {"factor": 1.4}
    assert theirs["ring: largest gain"] == {"ahead": 0.0}
    assert table.by_size
    assert [view.source for view in result.views] == ["SimGrid"] * 6 + ["lab", "closed form"]
    for view in result.views:
        least, largest = view.numbers[2]["factor"], view.numbers[3]["factor"]
        assert least <= largest
    # In blocks the paper's ring is the natural one.
    ring_blocks: list[Numbers] = result.views[0].numbers[:2]
    assert ring_blocks == [{"factor": 1.0}] * 2


@pytest.mark.parametrize(("gains", "how"), [
    ((1.13, 1.39), "13 to 39 %, which is within"), ((1.2, 3.2), "20 to 220 %, which overlaps"),
    ((0.999, 1.05), "0 to 5 %, which is apart from"), ((1.5, 2.0), "50 to 100 %, which is apart from"),
])  # fmt: skip
def test_ranges_of_gains_are_beside_the_published_one(gains, how):
    ends: list[Numbers] = [{}, {}, *({"factor": each} for each in gains)]
    assert bhowmik_gains.beside(ends) == [f"Recursive doubling gains {how} the published 12 to 40 %."]
    assert bhowmik_gains.beside([{}] * 4) == []


def test_no_rate_between_the_switches_gives_bytes_the_published_gain_on_all_nodes():
    # 4 nodes, 1 Gbit/s: 1 + 2 * 2 blocks of time with 2 pairs on the link, 2 + 2 with the first stage there.
    assert bhowmik_gains.gain_of_bytes(4, 1) == pytest.approx(5 / 4)
    assert bhowmik_gains.gain_of_bytes(16, 8) == 1
    low, high = published("bhowmik")["gain"]
    for rate in (each / 10 for each in range(1, 110)):
        assert not all(low <= bhowmik_gains.gain_of_bytes(nodes, rate) <= high for nodes in (4, 8, 16))
    largest = {rate: bhowmik_gains.gain_of_bytes(16, rate) for rate in bhowmik_gains.RATES}
    assert min(largest, key=lambda rate: abs(largest[rate] - high)) == bhowmik_gains.NEAREST


def test_the_lab_s_own_reordered_is_shown_where_it_was_measured(tmp_path):
    name = "lab-place-openmpi-8-1-small.json"
    shutil.copy(ROOT / "docs/results" / name, tmp_path)
    document = json.loads((tmp_path / name).read_text())
    for row in document["rows"]:
        row["algorithms"] = [line for line in row["algorithms"] if line["name"] != "native:reordered"]
    (tmp_path / name).write_text(json.dumps(document))
    before = bhowmik._lab(context(tmp_path / "cache", tmp_path), "ring", 8, [1])
    for row in document["rows"]:
        (native,) = [line for line in row["algorithms"] if line["name"] == "native"]
        row["algorithms"].append(native | {"name": "native:reordered"})
    (tmp_path / name).write_text(json.dumps(document))
    after = bhowmik._lab(context(tmp_path / "cache", tmp_path), "ring", 8, [1])
    assert before and after and "native:reordered" not in before.numbers[0]
    assert after.numbers[0]["native:reordered"] == after.numbers[0]["native"] > 0


def test_the_lab_s_heading_says_what_was_measured(tmp_path):
    name = "lab-place-openmpi-8-1-small.json"
    document = json.loads((ROOT / "docs/results" / name).read_text())
    for added, text in (
        ({}, "links of 400 Mbit/s, 100 Mbit/s between the switches, Open MPI 4.1.4"),
        ({"rate": "1 Gbit/s", "uplink": "2 Gbit/s", "library": "MPICH Version:      5.0.2"},
         "links of 1 Gbit/s, 2 Gbit/s between the switches, MPICH 5.0.2"),
    ):  # fmt: skip
        document["metadata"] |= added
        (tmp_path / name).write_text(json.dumps(document))
        view = bhowmik._lab(context(tmp_path / "cache", tmp_path), "ring", 8, [1])
        assert view and view.machine == f"ranks at random, {text}"


@needs_simgrid
def test_doubling_in_blocks_gains_what_the_abstract_says(tmp_path):
    low, high = published("bhowmik")["gain"]
    blocks = bhowmik.placements(4)["ranks in blocks"]
    of = context(tmp_path, simgrid_ranks=4)
    slow, fast = (
        bhowmik.of_the_mpi(of, "recursive_doubling", machine, blocks, [1, 16], NETWORK)
        for machine in bhowmik.TRUNKS.values()
    )
    for numbers in slow:
        assert low <= numbers["default"] / numbers["reordered"] <= high
        # The library's order must not slow a ring down, which is best in blocks.
        assert numbers["TUTTI_Comm_reorder"] == pytest.approx(numbers["default"], rel=0.01)
    # Long messages: what bytes alone gain.
    (long,) = bhowmik.of_the_mpi(of, "recursive_doubling", "gbe30-two-switches", blocks, [2048], NETWORK)
    assert long["default"] / long["reordered"] == pytest.approx(bhowmik_gains.gain_of_bytes(4, 1), rel=0.005)
    # With ten times the rate an order saves latency alone.
    assert fast[0]["default"] / fast[0]["reordered"] > fast[1]["default"] / fast[1]["reordered"] > 1

"""The models of Parsons & Pai 2014."""

from __future__ import annotations

import shutil
from dataclasses import replace
from statistics import mean

import pytest
from installed import ROOT
from reproducing import context, named, needs_simgrid, run
from tutti import Machine
from tutti._engine import hierarchical_estimate
from tutti_reproduce import parsons, parsons_simulated, simulated
from tutti_reproduce.context import published


def test_mpich_leaves_recursive_algorithms_at_512_kib():
    shapes = [parsons.mpich_shape(name, total) for name in ("allgather", "reduce_scatter")
              for total in (524287, 524288)]  # fmt: skip
    assert shapes == ["recursive", "ring", "recursive", "pairwise"]
    assert parsons.mpich_shape("alltoallv", 8) == "scattered"


def test_a_changed_machine_differs_in_one_number():
    machine = parsons.changed(Machine(), "node_gap", 3e-7)
    assert parsons.parameter(machine, "node_gap") == pytest.approx(3e-7)
    assert parsons.parameter(machine, "latency") == parsons.parameter(Machine(), "latency")


def test_the_machine_of_2_5_from_several_senders(tmp_path):
    result = run(named(parsons.tables(context(tmp_path)), "senders"))
    built_in, fitted = result.views
    assert all(each["factor"] < 2 for each in built_in.numbers)
    assert [each["factor"] for each in fitted.numbers] == pytest.approx([2.5] * 3, rel=0.01)
    by_size = [table.name for table in parsons.tables(context(tmp_path)) if table.by_size]
    assert by_size == ["averages", "senders"]


@pytest.mark.parametrize("collective", ["allgather", "reduce_scatter", "alltoallv"])
@pytest.mark.parametrize(("cores", "block"), [(64, 8), (128, 4096)])
def test_the_replay_is_as_fast_as_the_closed_form(collective, cores, block):
    here = parsons_simulated.replayed(collective, cores, block, 1.0)
    machine = parsons_simulated.same_machine()
    there = hierarchical_estimate(collective, cores // 32, 32, block, machine)
    shape = parsons_simulated.mpich_shape(collective, cores * block)
    # Every pairwise round has the rate of 32 senders here, in closed form the rounds between nodes.
    closed = 1e6 * there.flat[shape]
    assert closed == pytest.approx(here["flat, MPICH's"], rel=0.25 if shape in ("pairwise", "scattered") else 0.01)
    assert here["one sender"] == pytest.approx(1e6 * there.one_leader.total, rel=0.01)


def test_simgrid_s_machine_has_the_rate_that_both_directions_share():
    # xe6-64x32: links of 4.7 GB/s, and 6 GB/s of a node, in and out together.
    assert parsons_simulated.adapter() == pytest.approx(3e9)
    assert parsons.parameter(parsons_simulated.same_machine(), "per_byte") == pytest.approx(1 / 3e9)
    slower = parsons_simulated.same_machine(ratio=3)
    assert parsons.parameter(slower, "sender_per_byte") == pytest.approx(1e-9)
    assert 'bw="3e+09Bps"' in parsons_simulated.switch().xml
    assert 'bb_bw="1e+09Bps"' in parsons_simulated.faster_adapter().xml


def test_cells_in_simgrid_are_bounded_by_their_time(tmp_path):
    all_cores = published("parsons")["cores"]
    allowed = context(tmp_path, simgrid_ranks=all_cores[-1])
    seconds = parsons_simulated.SECONDS

    def most(of, collective):
        return parsons_simulated.cores_in_simgrid(of, collective, seconds)[-1]

    assert [most(allowed, name) for name in ("allgather", "alltoallv")] == [1024, 256]
    assert most(replace(allowed, simgrid_ranks=560), "allgather") == 512
    assert parsons_simulated.cores_in_simgrid(replace(allowed, simgrid_ranks=0), "allgather", seconds) == []
    assert parsons_simulated.cores_in_simgrid(allowed, "reduce_scatter", seconds, "impi") == []
    assert parsons_simulated.cores_in_simgrid(allowed, "alltoallv", seconds, "ompi") == [64]


def test_the_lab_s_senders_are_a_source(tmp_path):
    shutil.copy(ROOT / "docs/results/lab-levels-openmpi-8x6-allgather.json", tmp_path)
    of = context(tmp_path / "cache", tmp_path)
    (document,) = of.documents("lab-levels-*.json")
    factors = []
    for row in document["rows"]:
        us = {line["name"]: line["mean_us"] for line in row["algorithms"]}
        factors.append(us["native:level=node,leaders=1"] / us["native:level=node,leaders=4"])
    found = parsons._lab(of, "allgather", "leaders=1", "leaders=4")
    assert found == {"factor": pytest.approx(mean(factors))}
    assert parsons._lab(of, "alltoallv", "leaders=1", "leaders=4") == {}
    (view,) = parsons._lab_view(of, ["allgather", "alltoallv"], "leaders=1", "leaders=4", "A note.")
    assert view.machine == "emulated nodes, 1 Gbit/s, Open MPI 4.1.4" and view.numbers == [found, {}]
    assert view.notes == ["A note. Measured: allgather with Open MPI 4.1.4 on 8 nodes of 6."]
    assert parsons._lab_view(of, ["alltoallv"], "leaders=1", "leaders=4", "") == []


def test_simgrid_runs_the_algorithms_of_mpich(tmp_path, monkeypatch):
    runs = []

    def bench(of, words, algorithms, machine, ranks, ppn, selector, configuration=()):
        blocks = words[words.index("--block") + 1].split(",")
        runs.append((selector, ranks, blocks, configuration))
        return [dict.fromkeys(algorithms, 1.0)] * len(blocks)

    monkeypatch.setattr(simulated, "bench", bench)
    cells = parsons_simulated.in_simgrid(context(tmp_path, simgrid_ranks=64), "allgather", lambda: None)
    # 64 cores reach 512 KiB with blocks of 8 KiB; --block counts elements of 4 bytes.
    short, long = ["2", "16", "128", "1024"], ["8192", "16384"]
    assert runs[:2] == [("mpich", 64, short, ("smpi/allgather:rdb",)), ("mpich", 64, long, ("smpi/allgather:NTSLR",))]
    assert all(run[3] == () and run[2] == short + long for run in runs[2:]) and len(runs) == 5
    assert len(cells) == 6
    assert parsons_simulated._settings("alltoallv", "mpich", 8) == ()
    assert parsons_simulated._settings("reduce_scatter", "mpich", 8) == (
        "smpi/reduce_scatter:ompi_basic_recursivehalving",)  # fmt: skip


def test_averages_in_simgrid_are_over_the_cells_that_both_selections_have(tmp_path):
    pair = (parsons.FLAT, "one sender")
    both = {parsons.FLAT: 8.0, "flat, today's best": 4.0, "one sender": 2.0}
    cells = {(64, 8): both, (512, 8): {parsons.FLAT: 20.0, "one sender": 1.0}}
    closed, mpich, today = parsons._averages_in_simgrid(context(tmp_path), ["allgather"], pair, [cells])
    assert (mpich.numbers, today.numbers) == ([{"factor": 4.0}], [{"factor": 2.0}])
    assert "Over all that ran (allgather: 2 cells of up to 512 cores): allgather 12." in mpich.notes[0]
    grid = parsons.grid("allgather", parsons_simulated.same_machine())
    gains = {(cores, block): each[pair[0]] / each[pair[1]] for cores, block, each in grid}
    assert closed.numbers == [{"factor": pytest.approx(mean(gains.values()))}]
    assert closed.notes[1] == f"Over the cells of SimGrid's two views: allgather {gains[64, 8]:.3g}."
    # Without SimGrid the closed form of its machine stays.
    assert len(parsons._averages_in_simgrid(context(tmp_path), ["allgather"], pair, [{}])) == 1


@needs_simgrid
def test_a_long_allgather_of_mpich_is_a_ring_in_simgrid(tmp_path):
    cells = parsons_simulated.in_simgrid(context(tmp_path, simgrid_ranks=64), "allgather", lambda: None)
    closed = parsons.problem("allgather", 64, 32768, parsons_simulated.same_machine())
    assert cells[64, 32768][parsons.FLAT] == pytest.approx(closed["flat ring"], rel=0.05)


@needs_simgrid
def test_several_senders_use_a_faster_adapter_in_simgrid(tmp_path):
    algorithms = {"one": parsons_simulated.hierarchical(1), "several": parsons_simulated.hierarchical(4)}
    words = ["alltoallv", "--block", "128", "--repetitions", "1", "--warmup", "1", "--distribution", "same"]
    gains = []
    for machine in (parsons_simulated.switch(), parsons_simulated.faster_adapter()):
        (us,) = simulated.bench(context(tmp_path), words, algorithms, machine, 64, 32, "mpich")
        gains.append(us["one"] / us["several"])
    # Bytes dominate: 3 at most, less the copies.
    assert gains[0] == pytest.approx(1, abs=0.05)
    assert 2.3 < gains[1] < 3

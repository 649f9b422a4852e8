"""Träff's tables: guidelines, costs fitted to a library, and machines in SimGrid."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path

import pytest
from reproducing import context, named, run
from tutti._engine import Call, Machine, distribute, distributions
from tutti.simgrid import platforms
from tutti_reproduce import simulated, traff, traff_costs
from tutti_reproduce.context import published
from tutti_reproduce.tables import Result, Table, View

TABLES = published("traff")["tables"]


def published_numbers(number: str) -> list[dict[str, float]]:
    rows = TABLES[number]["rows"]
    return [traff.paper_numbers(row) for name in distributions() for row in rows[name]]


# Guidelines


def test_violations_are_counted_for_both_guidelines_and_contenders():
    equal = {"MPI_Gather": 9, "guideline (2)": 12, "MPI_Gatherv": 10, "TUW_Gatherv": 5}
    other = {"MPI_Gather": 50, "guideline (2)": 60, "MPI_Gatherv": 61, "TUW_Gatherv": 60}
    # The gather of equal blocks is slower than TUW_Gatherv only; of the other block sizes it is padded.
    assert traff.violations([equal, other], 1) == ([0, 1], [1, 0])
    averages = [{f"{name}, avg": value for name, value in each.items()} for each in (equal, other)]
    assert traff.violations(averages, 1, ", avg") == ([0, 1], [1, 0])


@pytest.mark.parametrize(("number", "minima", "averages"), [
    ("1", ([1, 3], [19, 0]), ([1, 5], [19, 2])),
    ("4", ([5, 5], [1, 0]), ([5, 5], [2, 0])),
    ("11", ([0, 4], [14, 0]), ([0, 2], [18, 11])),
])  # fmt: skip
def test_published_violations_by_minima_and_averages(number, minima, averages):
    numbers = published_numbers(number)
    assert traff.violations(numbers, 5) == minima
    assert traff.violations(numbers, 5, ", avg") == averages


def test_by_minima_the_papers_tree_violates_no_guideline_on_the_large_cluster():
    # "The TUW_Gatherv implementation has no guideline violations, even when compared to the good" one.
    for number in range(4, 12):
        assert traff.violations(published_numbers(str(number)), 5)[1][1] == 0


def test_padding_sends_the_largest_block_of_all():
    machine = Machine()
    found = traff.gathers(60, "spikes", 10, machine)
    largest = 4 * max(distribute("spikes", 60, 10))
    # 59 messages, one after the other, each with its latency.
    linear = 59e6 * (machine.latency + largest * machine.per_byte)
    assert found["MPI_Gather linear"] == pytest.approx(linear)
    # 6 rounds up and 6 down of one element.
    agreed = 12e6 * (machine.latency + 4 * machine.per_byte)
    assert found["guideline (2) linear"] == pytest.approx(linear + agreed)
    assert found["MPI_Gather binomial"] < found["MPI_Gather linear"]


# Fitted costs


@pytest.mark.parametrize("algorithm", [traff_costs.TUW, "binomial"])
def test_a_replay_takes_the_simulators_time(algorithm):
    machine = Machine()
    for distribution in distributions():
        sizes = [4 * size for size in distribute(distribution, 60, 100)]
        call = Call("gatherv", sizes, 30, algorithm, machine)
        seconds = traff_costs.replay(call, lambda size: machine.latency + size * machine.per_byte)
        assert seconds == pytest.approx(call.simulate().run_time)


def test_only_long_messages_of_trees_wait_for_a_rendezvous():
    # Two ranks: one message, of 4 KiB or of 16 KiB.
    for block, waits in ((1024, 0), (4096, 1)):
        times = traff_costs.rendezvous(2, ("same", block), Machine())
        before, after = times(0), times(7)
        for name in ("TUW_Gatherv", "MPI_Gather", "guideline (2)"):
            assert after[name] - before[name] == pytest.approx(7 * waits)
        assert after["MPI_Gatherv"] == before["MPI_Gatherv"]
    # Four ranks, 8 KiB: the longest path has a message of one block and one of two.
    times = traff_costs.rendezvous(4, ("same", 2048), Machine())
    assert times(7)["TUW_Gatherv"] - times(0)["TUW_Gatherv"] == pytest.approx(7)


def test_a_copy_costs_the_trees_gatherv_each_byte():
    times = traff_costs.copied(60, ("same", 100), Machine())
    before, after = times(0), times(0.5)
    assert after["MPI_Gatherv"] - before["MPI_Gatherv"] == pytest.approx(0.5e-3 * 60 * 400)
    assert after["TUW_Gatherv"] == before["TUW_Gatherv"]


@pytest.mark.parametrize(("model", "number", "guess"), [
    (traff_costs.rendezvous, 60.0, 100.0), (traff_costs.copied, 0.5, 0.3),
])  # fmt: skip
def test_a_fit_finds_the_number_from_equal_blocks_alone(model, number, guess):
    problems = [("same", 1000), ("same", 10000), ("spikes", 1000)]
    times = [model(60, problem, Machine())(number) for problem in problems]
    factors = [each["MPI_Gatherv"] / each["TUW_Gatherv"] for each in times]
    factors[2] = 1e9
    found, numbers = traff_costs.fitted(model, guess, 60, problems, factors, Machine())
    assert found == pytest.approx(number, rel=0.03)
    assert len(numbers) == 3


def view_of(result: Result, source: str) -> View:
    return next(view for view in result.views if view.source == source)


def agreeing(table: Table, result: Result, source: str) -> int:
    return sum(table.compared(result, view_of(result, source)))


def test_a_rendezvous_explains_where_trees_lose_in_table_3(tmp_path):
    table = named(traff.tables(context(tmp_path)), "table-3")
    result = run(table)
    assert agreeing(table, result, "own simulator, fitted") >= 25 > agreeing(table, result, "closed form")
    (without,) = (each for each in view_of(result, "own simulator, fitted").notes if "with 0 instead" in each)
    assert without == (
        "Winners agree in 5 of the 5 fitted problems and in 21 of the 25 others; with 0 instead of the fitted "
        "number in 2 and 19."
    )
    (trees,) = (each for each in result.views[0].notes if "Its trees jump" in each)
    assert "0.3 us a message (170 us for 560 ranks)" in trees and "from 79 to 535 us" in trees
    theirs = [numbers["MPI_Gatherv"] for numbers in result.published]
    bounds = [view_of(result, source).numbers for source in ("closed form", "own simulator")]
    inside = sum(least["MPI_Gatherv"] <= us <= most["MPI_Gatherv"]
                 for us, least, most in zip(theirs, *bounds, strict=True))  # fmt: skip
    assert view_of(result, "closed form").notes[0].endswith(f"lies between both sources in {inside} of 30 problems.")


def test_a_cost_of_bytes_explains_the_k_nomial_gatherv_of_table_11(tmp_path):
    table = named(traff.tables(context(tmp_path)), "table-11")
    result = run(table)
    assert agreeing(table, result, "own simulator, fitted") == 30
    assert any("--simgrid-ranks 6400 adds it" in note for note in result.views[0].notes)
    excess = [(each["MPI_Gatherv"] - each["TUW_Gatherv"]) * 1e3 / (4 * row[0])
              for each, row in zip(result.published, (row for name in distributions() for row in
                                                      TABLES["11"]["rows"][name]), strict=True)]  # fmt: skip
    # Nanoseconds a byte from 100 elements on, for all distributions but the last, two_blocks.
    long = [excess[5 * distribution + block] for distribution in range(5) for block in (2, 3, 4)]
    (why,) = (each for each in view_of(result, "own simulator, fitted").notes if "excess" in each)
    assert f"{min(long):.2f} to {max(long):.2f} ns a byte in all distributions but two_blocks" in why


# SimGrid


@pytest.mark.parametrize("number", list(TABLES))
def test_each_table_runs_on_a_machine_that_holds_its_ranks(number):
    ranks = TABLES[number]["ranks"]
    machine = platforms.platform(traff.PLATFORMS[ranks])
    assert machine.cores == 16
    assert len(machine.hosts(ranks, 16)) == ranks


@pytest.mark.parametrize(("number", "machine", "gatherv"), [
    ("1", "qdr36x16", "native"), ("4", "vsc3-100x16", "native"), ("9", "vsc3-400x16", "binomial"),
])  # fmt: skip
def test_simgrids_linear_gatherv_stands_for_linear_ones_only(tmp_path, monkeypatch, number, machine, gatherv):
    runs, rows, steps, padded = [], [], [], []

    def bench(of, words, algorithms, platform, ranks, ppn):
        given = dict(zip(words[1::2], words[2::2], strict=True))
        if words[0] != "gatherv":
            sizes = list(map(int, given["--block"].split(",")))
            padded.append((words[0], platform.name, ranks, given.get("--root"), sizes))
            return [dict.fromkeys(("MPI_Gather", "MPI_Gather, avg"), float(size)) for size in sizes]
        runs.append((algorithms["MPI_Gatherv"], platform.name, ranks, ppn, given["--repetitions"]))
        rows.extend((name, int(block)) for name in given["--distribution"].split(",")
                    for block in given["--block"].split(","))  # fmt: skip
        names = [each for name in algorithms for each in (name, f"{name}, avg")]
        return [dict.fromkeys(names, 1.0) for _ in rows]

    monkeypatch.setattr(simulated, "bench", bench)
    done = partial(steps.append, 1)
    view, *others = traff._in_simgrid(context(tmp_path, Path("/none"), 6400), TABLES[number], done)
    assert len(others) == (gatherv == "native")
    ranks = TABLES[number]["ranks"]
    # One start serves the whole table, whose rows it has in the sequence of the published ones.
    assert runs == [(gatherv, machine, ranks, 16, "2" if ranks == 560 else "1")]
    assert rows == [(name, block) for name in TABLES[number]["rows"] for block in published("traff")["blocks"]]
    assert len(steps) == 1
    assert ("stands for it" in view.notes[0]) == (gatherv == "binomial")
    assert len(view.numbers) == 30
    # All blocks are padded to the largest, whose size an allreduce of one element finds.
    (gather, agreement) = padded
    largest = [max(distribute(name, ranks, block)) for name, block in traff.all_problems()]
    assert gather == ("gather", machine, ranks, "half", sorted(set(largest)))
    assert agreement == ("allreduce", machine, ranks, None, [1])
    for numbers, size in zip(view.numbers, largest, strict=True):
        assert numbers["MPI_Gather"] == numbers["MPI_Gather, avg"] == size
        assert numbers["guideline (2)"] == numbers["guideline (2), avg"] == size + 1
    # A gather takes longer than 1 us but for blocks of one element.
    assert "by averages (1) 4 and 4, (2) 0 and 0, by minima (1) 4 and 4" in view.notes[0]
    for other in others:
        assert {"MPI_Gather", "guideline (2)"} <= other.numbers[0].keys()


ALGORITHMS = ("native", "linear", traff_costs.TUW)
"""What a sample needs to serve a table whose MPI_Gatherv is linear."""


def sample(folder: Path, machine: str, algorithms: tuple[str, ...], ranks: int, root: int,
           distributions: tuple[str, ...] = ("spikes", "same")) -> None:
    """A sample of a problem of each distribution: native takes 1 us, each next algorithm 1 us more."""
    lines = [{"name": name, "min_us": float(us), "mean_us": us + 0.5} for us, name in enumerate(algorithms, 1)]
    rows = [{"distribution": name, "block": 10, "algorithms": lines} for name in distributions]
    about = {"algorithms": ", ".join(algorithms), "date": "2026-11-30T11:27:07Z", "ranks": str(ranks),
             "root": str(root), "repetitions": "1"}  # fmt: skip
    document = {"schema": "tutti-bench/1", "metadata": about, "rows": rows}
    (folder / f"simgrid-gatherv-{machine}.json").write_text(json.dumps(document))


def test_a_sample_serves_a_table_that_does_not_run(tmp_path):
    sample(tmp_path, "vsc3-100x16", ALGORITHMS, 1600, 800)
    view, tuttis = traff._in_simgrid(context(tmp_path, tmp_path, 560), TABLES["4"], lambda: None)
    known = {"MPI_Gatherv": 1.0, "linear": 2.0, "TUW_Gatherv": 3.0}
    known |= {f"{name}, avg": us + 0.5 for name, us in known.items()}
    linear = {"MPI_Gatherv": 2.0, "MPI_Gatherv, avg": 2.5, "TUW_Gatherv": 3.0, "TUW_Gatherv, avg": 3.5}
    for numbers, of in ((view.numbers, known), (tuttis.numbers, linear)):
        assert numbers == [of if problem in (("same", 10), ("spikes", 10)) else {} for problem in traff.all_problems()]
    assert view.notes[0].startswith(
        "From a sample of 2026-11-30, 2 problems, made as docs/reproduce.md says; --simgrid-ranks 1600 runs all anew, "
        "at the cost stated there. Minima and averages of repetitions: 1;"
    )


def test_a_note_on_two_blocks_needs_their_numbers(tmp_path):
    for distribution, is_named in (("same", False), ("two_blocks", True)):
        sample(tmp_path, "vsc3-100x16", ALGORITHMS, 1600, 800, (distribution,))
        view = traff._in_simgrid(context(tmp_path, tmp_path, 560), TABLES["4"], lambda: None)[0]
        # Rank 800 is the root, ranks 0 and 1,599 have blocks.
        assert ("1,597 for two_blocks" in view.notes[0]) == is_named == ("two_blocks" in view.notes[0])


def test_a_sample_of_other_algorithms_serves_no_table(tmp_path):
    sample(tmp_path, "vsc3-400x16", ALGORITHMS, 6400, 3200)
    of = context(tmp_path, tmp_path, 560)
    assert traff._in_simgrid(of, TABLES["6"], lambda: None)
    assert not traff._in_simgrid(of, TABLES["9"], lambda: None)  # its MPI_Gatherv is a binomial tree


@pytest.mark.parametrize(("ranks", "root"), [(800, 400), (1600, 0)])
def test_a_sample_of_other_ranks_or_of_another_root_serves_no_table(tmp_path, ranks, root):
    sample(tmp_path, "vsc3-100x16", ALGORITHMS, ranks, root)
    assert traff._in_simgrid(context(tmp_path, tmp_path, 560), TABLES["4"], lambda: None) == []

"""`tutti map`, and orders by distance in the other commands."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import tutti

PAPER = Path(__file__).resolve().parents[2] / "examples/place/bhowmik-bodele-2019.json"


@pytest.fixture
def switches(tmp_path):
    """4 ranks at each of 2 switches: 10 us within, 40 us across, and 4 times the time per byte."""
    return distances_at(tmp_path / "switches.json", [rank // 4 for rank in range(8)])


@pytest.fixture
def mixed(tmp_path):
    """As `switches`, but neighbours and partners of recursive doubling are often at the other one."""
    return distances_at(tmp_path / "mixed.json", [0, 1, 1, 0, 0, 1, 1, 0])


@pytest.fixture
def even(tmp_path):
    """As `switches`, at one switch."""
    return distances_at(tmp_path / "even.json", [0] * 8)


def distances_at(path, switch):
    """A file of distances between ranks at these switches."""

    def matrix(within, across):
        return [
            [0 if a == b else within if switch[a] == switch[b] else across for b in range(8)]
            for a in range(8)
        ]

    path.write_text(
        json.dumps(
            {
                "schema": "tutti-distances-1",
                "unit": "us",
                "measured": [
                    {"bytes": 1, "matrix": matrix(10, 40)},
                    {"bytes": 65537, "matrix": matrix(500, 2000)},
                ],
            }
        )
    )
    return path


def test_the_papers_matrix_gives_its_mapping(command):
    parsed = json.loads(command("map", str(PAPER), "--block", "8", "--json").out)
    ring, doubling = parsed["cases"][:2]
    assert (ring["algorithm"], doubling["algorithm"]) == ("ring", "recursive_doubling")
    # The paper's order for recursive doubling is slower than natural; Tutti's never is.
    assert doubling["tried"]["two_partners_each"] > doubling["natural_seconds"]
    assert all(case["best_seconds"] <= case["natural_seconds"] for case in parsed["cases"])
    distances = tutti._engine.distances_from_text(PAPER.read_text())
    tried = distances.reordering("allgather", "ring", 8).all
    nearest = next(seating for seating in tried if seating.name == "nearest_next")
    assert nearest.ranks == [0, 1, 3, 7, 5, 6, 4, 2]


def test_only_orders_that_gain_are_shown(command):
    words = ("map", str(PAPER), "--block", "8")
    shown, parsed = command(*words).out, json.loads(command(*words, "--json").out)
    assert {case["worth_it"] for case in parsed["cases"]} == {True, False}
    assert "recursive_doubling" in shown and "pairwise" not in shown


def test_empty_blocks_have_orders_too(command):
    shown = command("map", str(PAPER), "--block", "0", "--json")
    assert shown.status == 0
    assert all(sorted(case["order"]) == list(range(8)) for case in json.loads(shown.out)["cases"])
    for sizes in ("0,0,0,0,0,0,0,0", "0,0,0,0,0,0,0,8"):
        words = ("explain", "gatherv", "--sizes", sizes, "--distances", str(PAPER))
        assert command(*words).status == 0


def test_one_rank_has_no_distances(command, tmp_path):
    path = tmp_path / "one.json"
    path.write_text(
        '{"schema": "tutti-distances-1", "unit": "us", "measured": [{"bytes": 1, "matrix": [[0]]}]}'
    )
    shown = command("map", str(path))
    assert shown.status == 2
    assert shown.err == f"tutti: {path}: distances of 1 rank; expected 2 or more ranks\n"


def test_place_shows_matrix_groups_and_gains(command, switches):
    out = command("map", str(switches)).out
    assert "8 ranks" in out and "from rank 0 to 4" in out
    assert "2 groups of near ranks" in out
    assert "0 1 2 3" in out and "4 5 6 7" in out
    assert "A reordering is worth it" in out
    parsed = json.loads(command("map", str(switches), "--json").out)
    assert parsed["clusters"] == [[[0, 1, 2, 3], [4, 5, 6, 7]]]
    doubling = next(c for c in parsed["cases"] if c["algorithm"] == "recursive_doubling")
    # Naturally the last round crosses, with half of all blocks: 40 + 2 * 10 against as much.
    assert doubling["block"] == 8 and doubling["gain"] == pytest.approx(1, abs=0.1)
    assert next(c for c in parsed["cases"][5:] if c["worth_it"])["gain"] > 1.5
    gather = [c for c in parsed["cases"] if c["collective"] == "gather"]
    assert all(case["gain"] >= 1 for case in gather)


def test_place_prints_the_numbers_of_many_ranks_where_asked_for(command, tmp_path):
    ranks = 20
    matrix = [[0 if a == b else 100 + 20 * a + b for b in range(ranks)] for a in range(ranks)]
    path = tmp_path / "twenty.json"
    path.write_text(
        json.dumps(
            {
                "schema": "tutti-distances-1",
                "unit": "us",
                "measured": [{"bytes": 1, "matrix": matrix}],
            }
        )
    )
    row = " ".join(str(one) for one in matrix[7])
    assert row not in command("map", str(path)).out
    assert row in command("map", str(path), "--numbers").out


def test_heuristics_of_binomial_trees_are_told(command):
    out = command("map", str(PAPER), "--block", "8").out
    assert "BBMH" in out and "BGMH" in out
    distances = tutti._engine.distances_from_text(PAPER.read_text())
    for collective, order in (
        ("bcast", [0, 1, 2, 7, 4, 6, 5, 3]),
        ("gather", [0, 4, 2, 6, 1, 7, 3, 5]),
    ):
        tried = distances.reordering(collective, "binomial", 8).all
        assert next(s for s in tried if s.name == "heaviest_first").ranks == order


def test_place_draws_the_matrix_as_characters(command, switches):
    lines = command("map", str(switches)).out.splitlines()
    rows = [line.split("|")[1] for line in lines if line.count("|") == 2]
    assert len(rows) == 8 and all(len(row) == 16 for row in rows)
    # Within a switch all cells are equally light, across switches equally dark.
    assert len(set(rows[0][2:8])) == 1 and len(set(rows[0][8:])) == 1
    assert rows[0][4] != rows[0][12]
    assert rows[7] == rows[4][:8] + rows[7][8:]


def test_cells_of_many_ranks_hold_the_longest_time():
    from tutti import process_mapping

    matrix = [[0.0 if a == b else 1e-6 for b in range(40)] for a in range(40)]
    matrix[3][20] = 1e-3
    drawn = process_mapping.text_of(matrix, list(range(40)), 10, " .:*#")
    assert len(drawn) == 11
    assert [line.count("#") for line in drawn[:10]] == [2, 0, 0, 0, 0, 0, 0, 0, 0, 0]
    assert drawn[0].index("#") == drawn[0].index("|") + 1 + 2 * 5
    assert "[#] 1.00 ms" in drawn[10] or "[#] 1 ms" in drawn[10]


def test_place_measures_with_a_launcher(command, installed, switches, tmp_path):
    """A script replaces tutti-bench, and writes distances."""
    bench = installed / "bin" / "tutti-bench"
    bench.write_text(f'#!/bin/sh\necho "$@" > {tmp_path}/words\nwhile [ $# -gt 1 ]; do shift; done\n'
                     f'cp {switches} "$1"\n')  # fmt: skip
    bench.chmod(0o755)
    file = tmp_path / "measured.json"
    shown = command("map", "--mpirun", "env", str(file))
    assert shown.status == 0, shown.err
    assert "2 groups of near ranks" in shown.out
    assert file.read_text() == switches.read_text()
    assert (tmp_path / "words").read_text().split()[:3] == ["distances", "--quiet", "--output"]
    assert command("map", "--mpirun", "env").status == 0  # into no file that stays
    shown = command("map", "--mpirun", "true", str(file))
    assert shown.status == 2 and shown.err == "tutti: --mpirun true: the launcher started no tutti-bench\n"
    assert file.read_text() == switches.read_text()
    bench.write_text("#!/bin/sh\nexit 3\n")
    shown = command("map", "--mpirun", "env", str(file))
    assert shown.status == 2 and "exit status 3" in shown.err


@pytest.fixture
def measuring(installed, tmp_path):
    """Makes a tutti-bench that writes these distances, and notes that it ran."""

    def make(distances) -> Path:
        bench = installed / "bin" / "tutti-bench"
        bench.write_text(f'#!/bin/sh\ntouch {tmp_path}/ran\nwhile [ $# -gt 1 ]; do shift; done\ncp {distances} "$1"\n')
        bench.chmod(0o755)
        return tmp_path / "ran"

    return make


def test_a_measurement_of_one_rank_keeps_the_former_file(command, measuring, even, tmp_path):
    one = tmp_path / "one.json"
    one.write_text('{"schema": "tutti-distances-1", "unit": "us", "measured": [{"bytes": 1, "matrix": [[0]]}]}')
    ran, former = measuring(one), even.read_text()
    shown = command("map", "--mpirun", "env", str(even))
    assert shown.status == 2 and ran.exists()
    assert shown.err == "tutti: --mpirun env: distances of 1 rank; expected 2 or more ranks\n"
    assert even.read_text() == former


@pytest.mark.parametrize(
    ("words", "text"),
    [
        (["--block", "8,x"], "--block: invalid size 'x'"),
        (["--root", "-1"], "--root"),
        (["--machine", "/none"], "--machine /none"),
        (["/none/file"], "/none/file: no directory /none"),
    ],
)
def test_bad_options_are_refused_before_a_measurement(command, measuring, even, words, text):
    ran = measuring(even)
    shown = command("map", "--mpirun", "env", *words)
    assert shown.status == 2 and text in shown.err
    assert not ran.exists()


def test_measured_distances_go_where_a_link_leads(command, measuring, even, mixed, tmp_path):
    link = tmp_path / "link.json"
    link.symlink_to(mixed)
    measuring(even)
    assert command("map", "--mpirun", "env", str(link)).status == 0
    assert link.is_symlink() and mixed.read_text() == even.read_text()


def test_place_says_where_it_is_not_worth_it(command, tmp_path):
    path = tmp_path / "even.json"
    even = [[0 if a == b else 5 for b in range(20)] for a in range(20)]
    path.write_text(
        json.dumps({"schema": "tutti-distances-1", "unit": "us", "measured": [{"matrix": even}]})
    )
    out = command("map", str(path)).out
    assert "not worth it" in out and "No groups of near ranks" in out and "natural" not in out


@pytest.mark.parametrize("kind", ["svg", "png"])
def test_place_draws_the_matrix(command, switches, tmp_path, kind):
    pytest.importorskip("matplotlib")
    picture = tmp_path / f"matrix.{kind}"
    assert command("map", str(switches), "--picture", str(picture)).status == 0
    assert picture.stat().st_size > 1000


def test_explain_and_simulate_take_distances(command, switches):
    call = ("gather", "--ranks", "8", "--root", "0", "--block", "1K", "--json")
    parsed = json.loads(
        command(
            "explain", *call, "--algorithm", "binomial:order=distance", "--distances", str(switches)
        ).out
    )
    seconds = {one["name"]: one["seconds"] for one in parsed["algorithms"]}
    assert parsed["drawn"] == "binomial:order=distance"
    assert seconds["binomial:order=distance"] <= seconds["binomial"]
    assert parsed["lower_bound_seconds"] <= min(seconds.values())


@pytest.mark.parametrize("collective", ["allgather", "bcast", "gather"])
def test_the_orders_by_distance_are_those_of_the_list(command, switches, collective):
    call = (collective, "--ranks", "8", "--block", "1K", "--json")
    parsed = json.loads(command("simulate", *call, "--distances", str(switches)).out)
    order = "order=cycle" if collective == "bcast" else "order=distance"
    shown = {one["name"] for one in parsed["algorithms"] if order in one["name"]}
    listed = {one for one in tutti._engine.useful(collective, 8, distances=True) if order in one}
    assert shown == listed
    assert bool(listed) == (collective != "gather")


@pytest.mark.parametrize(
    ("words", "text"),
    [
        (["map", "/none"], "/none: cannot be read: No such file"),
        (["map"], "map needs a FILE of distances, or --mpirun COMMAND"),
        (["map", str(PAPER), "--nodes-per-switch", "4"], "needs --mpirun"),
        (["map", "--mpirun", "no-such-mpirun -n 2"], "no program no-such-mpirun"),
        (["map", __file__], "line 1: expected"),
        (["map", str(PAPER), "--root", "8"], "--root 8: expected a rank from 0 to 7"),
        (["map", str(PAPER), "--block", "x"], "--block: invalid size 'x'"),
        (["map", str(PAPER), "--picture", "/x.none"], "--picture /x.none"),
        (
            ["explain", "gather", "--ranks", "3", "--distances", str(PAPER)],
            "those of 8 ranks, the call has 3",
        ),
        (
            ["explain", "gather", "--ranks", "8", "--algorithm", "binomial:order=distance"],
            "order=distance needs a file of distances",
        ),
        (
            ["explain", "gather", "--ranks", "8", "--algorithm", "binomial:order=cycle"],
            "order=cycle needs a file of distances",
        ),
    ],
)
def test_errors_name_the_value(command, words, text):
    shown = command(*words)
    assert shown.status == 2
    assert text in shown.err and shown.err.count("\n") == 1


def test_the_former_name_is_accepted(command, switches):
    assert command("place", str(switches)).out == command("map", str(switches)).out


@pytest.mark.parametrize("ranks", [("--ranks", "8"), ("--nodes", "4x2")])
def test_explain_lists_the_orders_by_distance_that_auto_explores(command, mixed, even, ranks):
    def explored(collective, *more):
        told = json.loads(command("explain", collective, *ranks, "--block", "64K", "--json", *more).out)
        return told["auto"]

    known = ("--distances", str(mixed))
    usual = explored("allgather")
    orders = explored("allgather", *known)[len(usual) :]
    assert orders[0] == "recursive_doubling:order=distance" and len(orders) > 1
    assert all(name.endswith("order=distance") for name in orders)
    # One order serves all roots.
    usual = explored("bcast")
    orders = explored("bcast", *known)[len(usual) :]
    assert orders == ["circulant:order=cycle"]
    # Nothing whose order counts; links that are alike; no data.
    assert explored("alltoall", *known) == explored("alltoall")
    assert explored("allgather", "--distances", str(even)) == explored("allgather")
    assert explored("allgather", *known, "--block", "0") == explored("allgather", "--block", "0")


@pytest.mark.parametrize("ranks", [("--ranks", "8"), ("--nodes", "4x2")])
def test_explain_says_what_would_list_orders_by_distance(command, mixed, even, ranks):
    def said(collective, *more):
        return " ".join(command("explain", collective, *ranks, "--block", "64K", *more).out.split())

    hint, none = "if --distances FILE, of tutti map --mpirun, predicts a gain.", "No order by distance is predicted"
    assert hint in said("allgather") and hint not in said("alltoall")
    assert none in said("allgather", "--distances", str(even))
    shown = said("allgather", "--distances", str(mixed))
    assert hint not in shown and none not in shown
    equal = "Times are those of equal links"
    assert equal not in said("allgather")
    assert (equal in shown) == ("--nodes" in ranks)


def test_distances_of_other_ranks_are_refused(command, mixed):
    for ranks in (("--ranks", "6"), ("--nodes", "3x2")):
        assert "8 ranks, the call has 6" in command("explain", "allgather", *ranks, "--distances", str(mixed)).err

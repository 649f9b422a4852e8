"""`tutti place`, and orders by distance in the other commands."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import tutti

PAPER = Path(__file__).resolve().parents[2] / "examples/place/bhowmik-bodele-2019.json"


@pytest.fixture
def switches(tmp_path):
    """Four ranks at each of two switches: 10 us within, 40 us across, 4 times per byte."""

    def matrix(within, across):
        return [
            [0 if a == b else within if a // 4 == b // 4 else across for b in range(8)]
            for a in range(8)
        ]

    path = tmp_path / "switches.json"
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
    told = json.loads(command("place", str(PAPER), "--block", "8", "--json").out)
    ring, doubling = told["cases"][:2]
    assert (ring["algorithm"], doubling["algorithm"]) == ("ring", "recursive_doubling")
    # The paper's order for recursive doubling is slower than natural; ours never is.
    assert doubling["tried"]["two_partners_each"] > doubling["natural_seconds"]
    assert all(case["best_seconds"] <= case["natural_seconds"] for case in told["cases"])
    distances = tutti._engine.distances_from_text(PAPER.read_text())
    tried = distances.reordering("allgather", "ring", 8).all
    nearest = next(seating for seating in tried if seating.name == "nearest_next")
    assert nearest.ranks == [0, 1, 3, 7, 5, 6, 4, 2]


def test_place_shows_matrix_groups_and_gains(command, switches):
    out = command("place", str(switches)).out
    assert "8 ranks" in out and "from rank 0 to 4" in out
    assert "2 groups of ranks near to one another" in out
    assert "0 1 2 3" in out and "4 5 6 7" in out
    assert "A reordering is worth it" in out
    told = json.loads(command("place", str(switches), "--json").out)
    assert told["clusters"] == [[[0, 1, 2, 3], [4, 5, 6, 7]]]
    doubling = next(c for c in told["cases"] if c["algorithm"] == "recursive_doubling")
    # Naturally the last round crosses, with half of all blocks: 40 + 2 * 10 against as much.
    assert doubling["block"] == 8 and doubling["gain"] == pytest.approx(1, abs=0.1)
    assert next(c for c in told["cases"][5:] if c["worth_it"])["gain"] > 1.5
    gather = [c for c in told["cases"] if c["collective"] == "gather"]
    assert all(case["gain"] >= 1 for case in gather)


def test_place_says_where_it_is_not_worth_it(command, tmp_path):
    path = tmp_path / "even.json"
    even = [[0 if a == b else 5 for b in range(20)] for a in range(20)]
    path.write_text(
        json.dumps({"schema": "tutti-distances-1", "unit": "us", "measured": [{"matrix": even}]})
    )
    out = command("place", str(path)).out
    assert "not worth it" in out and "No groups of ranks are seen" in out


@pytest.mark.parametrize("kind", ["svg", "png"])
def test_place_draws_the_matrix(command, switches, tmp_path, kind):
    pytest.importorskip("matplotlib")
    picture = tmp_path / f"matrix.{kind}"
    assert command("place", str(switches), "--picture", str(picture)).status == 0
    assert picture.stat().st_size > 1000


def test_explain_and_simulate_take_distances(command, switches):
    call = ("gather", "--ranks", "8", "--root", "0", "--block", "1K", "--json")
    told = json.loads(
        command(
            "explain", *call, "--algorithm", "binomial:order=distance", "--distances", str(switches)
        ).out
    )
    seconds = {one["name"]: one["seconds"] for one in told["algorithms"]}
    assert told["drawn"] == "binomial:order=distance"
    assert seconds["binomial:order=distance"] <= seconds["binomial"]
    assert told["lower_bound_seconds"] <= min(seconds.values())
    told = json.loads(command("simulate", *call, "--distances", str(switches)).out)
    assert any("order=distance" in one["name"] for one in told["algorithms"])


@pytest.mark.parametrize(
    ("words", "text"),
    [
        (["place", "/none"], "/none: No such file"),
        (["place", __file__], "line 1: there is"),
        (["place", str(PAPER), "--root", "8"], "--root 8: ranks are 0..7"),
        (["place", str(PAPER), "--block", "x"], "--block x"),
        (["place", str(PAPER), "--picture", "/x.none"], "--picture /x.none"),
        (
            ["explain", "gather", "--ranks", "3", "--distances", str(PAPER)],
            "the distances are between 8 ranks, the call is of 3",
        ),
        (
            ["explain", "gather", "--ranks", "8", "--algorithm", "binomial:order=distance"],
            "order=distance needs distances",
        ),
    ],
)
def test_errors_name_the_value(command, words, text):
    shown = command(*words)
    assert shown.status == 2
    assert text in shown.err and shown.err.count("\n") == 1

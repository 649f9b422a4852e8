"""Drawings and files of schedules and timelines are what they were."""

import json
from pathlib import Path

import pytest

import tutti
from tutti.schedules import files, svg, timeline, tree

FIGURE = [1, 0, 2, 3, 4, 2, 0, 0, 1, 7, 5]
GOLDEN = Path(__file__).parent.parent / "golden/figure2.svg"


def figure(collective="gatherv"):
    return tutti.Call(collective, FIGURE, 9, "ordered_tree")


def test_text_has_a_line_per_leaf():
    call = tutti.Call("gather", [1] * 6, 0, "binomial")
    assert tree.to_text(call) == "0 -+- 1:1\n   +- 2:2 --- 3:1\n   +- 4:2 --- 5:1\n"
    assert tree.to_text(tutti.Call("gather", [1], 0, "binomial")) == "0\n"


def test_a_scatter_has_the_same_tree_as_a_gather():
    assert tree.tree_of(figure()).bytes_above == tree.tree_of(figure("scatterv")).bytes_above


def test_a_tree_leaves_out_ranks_without_data():
    assert tree.tree_of(figure()).idle == [1, 6, 7]


def test_segments_of_an_edge_are_one_edge():
    call = tutti.Call("gatherv", [9, 9, 9], 0, "linear_sync:segment=4")
    assert tree.to_text(call) == "0 -+- 1:9\n   +- 2:9\n"


def test_exchanges_have_no_tree():
    call = tutti.Call("bcast", [100] * 4, 0, "scatter_allgather")
    assert tree.tree_of(call) is None
    assert tree.to_text(call) == ""
    with pytest.raises(ValueError, match="bcast does not flow along a tree"):
        tree.to_svg(call, "")


def test_the_drawn_tree_is_the_same_as_before():
    drawn = tree.to_svg(figure(), "gatherv, ordered_tree, 11 ranks, root 9, 25 bytes")
    assert drawn == GOLDEN.read_text()


def test_the_drawn_tree_escapes_titles_and_has_every_edge():
    drawn = tree.to_svg(figure(), "a < b & 'c'")
    assert "a &lt; b &amp; &apos;c&apos;" in drawn
    assert drawn.count("<path") == 7


def test_colours_get_darker():
    assert svg.colour(-1) == svg.colour(0) == "#a8d8d2"
    assert svg.colour(1) == "#083d77"


def test_a_timeline_has_a_bar_at_both_ends_of_each_transfer():
    machine = tutti.Machine()
    machine.latency, machine.per_byte = 1.0, 1.0
    simulated = tutti.simulate("gatherv", [1, 2, 3], algorithm="linear", machine=machine)
    # A background for each rank, and two ends of two transfers.
    assert timeline.to_svg(simulated, "three").count("<rect x") == 3 + 2 * 2
    written = json.loads(timeline.to_json(simulated))
    assert written["exits"] == simulated.exits
    assert {"from": 1, "to": 0, "bytes": 2, "start": 0.0, "end": 3.0} in written["transfers"]


def test_json_has_the_fields_of_the_text_form():
    assert files.to_json(tutti.Call("gatherv", [2, 3], 1, "ordered_tree")) == (
        '{"collective":"gatherv","root":1,"p":2,"ranks":[\n'
        '[{"kind":"send","peer":1,"blocks":[0,1],"bytes":2}],\n'
        '[{"kind":"recv","peer":0,"blocks":[0,1],"bytes":2}]]}\n'
    )


def test_goal_requires_what_is_forwarded():
    assert files.to_goal(tutti.Call("gather", [8] * 4, 0, "binomial")) == (
        "num_ranks 4\n"
        "\nrank 0 {\nl0: recv 8b from 1 tag 0\nl1: recv 16b from 2 tag 0\n}\n"
        "\nrank 1 {\nl0: send 8b to 0 tag 0\n}\n"
        "\nrank 2 {\nl0: recv 8b from 3 tag 0\nl1: send 16b to 0 tag 0\nl1 requires l0\n}\n"
        "\nrank 3 {\nl0: send 8b to 2 tag 0\n}\n"
    )


def test_signals_have_a_byte_and_waits_are_calculations_in_goal():
    assert files.to_goal(tutti.Call("scatter", [8, 8], 0, "linear_sync")) == (
        "num_ranks 2\n"
        "\nrank 0 {\nl0: recv 1b from 1 tag 0\nl1: calc 0\nl1 requires l0\n"
        "l2: send 8b to 1 tag 0\nl2 requires l1\nl3: calc 0\nl3 requires l1\nl3 requires l2\n}\n"
        "\nrank 1 {\nl0: recv 8b from 0 tag 0\nl1: send 1b to 0 tag 0\n}\n"
    )


def test_goal_has_messages_for_one_sided_steps():
    goal = files.to_goal(tutti.Call("rma_bcast", [64] * 4, 0, "binomial"))
    assert goal.count("send") == goal.count("recv") == 3


def test_messages_between_two_ranks_have_different_tags_in_goal():
    goal = files.to_goal(tutti.Call("allgather", [8] * 3, 0, "ring"))
    assert "rank 0 {\nl0: send 8b to 1 tag 0\nl1: recv 8b from 2 tag 0\n" in goal
    assert "l2: send 8b to 1 tag 1\nl2 requires l1\nl3: recv 8b from 2 tag 1\n" in goal

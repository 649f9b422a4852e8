"""Hierarchical calls in the commands and the module."""

from __future__ import annotations

import json
import re

import pytest
from tutti import _engine, explain


def test_explain_shows_plans_and_their_verdict(command):
    parsed = json.loads(
        command(
            "explain", "alltoall", "--nodes", "1,4,2", "--block", "1K",
            "--algorithm", "hierarchical(native,leaders=2)", "--json",
        ).out
    )  # fmt: skip
    assert parsed["nodes"] == [[0], [1, 2, 3, 4], [5, 6]]
    assert parsed["leaders"] == 2
    assert parsed["fault"] is None
    assert len(parsed["between_nodes"]) == 2
    assert all(call.startswith("alltoallv") for call in parsed["between_nodes"])


def test_explain_shows_what_runs_between_nodes(command):
    def between(collective: str, nodes: str, algorithm: str) -> list[str]:
        parsed = command(
            "explain", collective, "--nodes", nodes, "--block", "8",
            "--algorithm", algorithm, "--json",
        )  # fmt: skip
        assert json.loads(parsed.out)["fault"] is None
        return json.loads(parsed.out)["between_nodes"]

    (ring,) = between("allreduce", "2,1,3", "hierarchical(ring,leaders=1)")
    assert ring.startswith("allreduce by ring bytes")
    (even,) = between("alltoall", "2,2", "hierarchical(bruck:k=3,leaders=1)")
    assert even.startswith("alltoall by bruck:k=3 bytes")
    (uneven,) = between("alltoall", "2,1", "hierarchical(bruck:k=3,leaders=1)")
    assert uneven.startswith("alltoallv by linear pairs")
    assert between("alltoall", "4", "hierarchical(bruck)") == []


def test_explain_shows_the_steps_of_a_rank(command):
    shown = command("explain", "allgather", "--nodes", "2x2", "--block", "5", "--steps", "1").out
    assert "Verified" in shown
    assert "copy the send buffer [0,5) to node memory [5,10)" in shown


def test_a_bound_on_node_memory_gives_chunks(command):
    arguments = ("explain", "bcast", "--nodes", "3,2", "--block", "64K", "--json")
    assert json.loads(command(*arguments).out)["chunks"] == 1
    bounded = json.loads(command(*arguments, "--node-memory", "8K").out)
    assert bounded["chunks"] > 1
    assert max(bounded["memory"]) <= 8192


def test_explain_says_what_a_run_would_do(command, tmp_path):
    machine = tmp_path / "machine"  # messages cost, memory and signals do not
    machine.write_text("latency 1e-3\nnode_gap 1e-3\nlocal_latency 1e-2\nflag 1e-9\ncrowding 1\n")

    def tried(collective: str, *arguments: str) -> list[str]:
        parsed = command(
            "explain", collective, "--nodes", "4x4", "--block", "16",
            "--machine", str(machine), *arguments, "--json",
        )  # fmt: skip
        return json.loads(parsed.out)["auto"]

    candidates = tried("alltoallv")
    assert candidates[0] == "native"
    assert candidates[1:]
    assert candidates[1] == "hierarchical(native,leaders=1)"
    assert "linear" in candidates
    assert tried("gatherv")[0] == "native"
    shown = command("explain", "gatherv", "--nodes", "4x4", "--block", "16").out
    assert "explores native, hierarchical(native,leaders=1)" in " ".join(shown.split())


def test_auto_explores_by_the_mean_block_and_the_machine(command, tmp_path):
    sizes = [16384] + [0] * 15
    flat, level = (_engine.explored("allgatherv", 16, 1024, on) for on in (1, 4))
    assert flat != _engine.explored("allgatherv", 16, 16384)
    assert explain("allgatherv", sizes).explored == flat
    words = ("explain", "allgatherv", "--nodes", "4x4", "--sizes", ",".join(map(str, sizes)), "--json")
    assert json.loads(command(*words).out)["auto"] == level
    machine = tmp_path / "machine"
    machine.write_text("latency 1e-9\nlocal_latency 1\nflag 1\n")
    assert json.loads(command(*words, "--machine", str(machine)).out)["auto"] != level


def test_explain_says_that_a_call_runs_flat(command):
    shown = command("explain", "alltoallv", "--nodes", "3x1", "--block", "16", "--steps", "2").out
    assert "runs flat because every node has a single rank" in shown
    assert "copy" not in shown.partition("Steps of rank")[2]
    assert "runs flat" not in command("explain", "bcast", "--nodes", "1,2", "--block", "9").out


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        (("--nodes", "2,"), "expected the ranks of each node"),
        (("--nodes", "2,2", "--ranks", "5"), "4 ranks, the call has 5"),
        (("--nodes", "2,2", "--algorithm", "ring"), "hierarchical(native)"),
        (("--nodes", "2,2", "--steps", "4"), "--steps 4: expected a rank from 0 to 3"),
        (("--node-memory", "1K"), "needs --nodes"),
    ],
)
def test_explain_refuses(command, arguments, why):
    refused = command("explain", "allgather", *arguments)
    assert refused.status == 2
    assert why in refused.err


def test_verify_takes_one_shape(command):
    parsed = json.loads(
        command("verify", "--nodes", "1,3:round_robin", "--collective", "gatherv", "--json").out
    )
    assert parsed["cases"] > 50
    assert parsed["failures"] == []
    assert "excludes --algorithm" in command("verify", "--nodes", "2x2", "--algorithm", "ring").err


def test_estimates_add_up():
    estimate = _engine.hierarchical_estimate("allgather", 2, 32, 8)
    level = estimate.level
    parts = level.copies_in + level.signals + level.between + level.copies_out
    assert level.total == pytest.approx(parts)
    assert set(estimate.flat) == {"ring", "recursive", "pairwise"}
    with pytest.raises(ValueError, match="at least 1 node"):
        _engine.hierarchical_estimate("allgather", 0, 32, 8)


def test_proposals_are_sorted_and_hold_one_call_through_node_memory():
    for collective in ("allgather", "bcast", "alltoallv", "reduce", "barrier"):
        for nodes, ranks in (("2x2", 4), ("8x6", 48), ("1,4,2,3,1", 11), ("8", 8)):
            sizes = [0 if collective == "barrier" else 4096] * ranks
            proposals = _engine.HierarchicalProblem(collective, sizes, nodes).proposals()
            seconds = [one.seconds for one in proposals]
            assert seconds == sorted(seconds)
            assert sum(one.name.startswith("hierarchical(") for one in proposals) == 1


def test_long_parts_of_a_time_have_no_exponent():
    proposals = _engine.HierarchicalProblem("allgather", [1 << 28] * 4, "2x2").proposals()
    (note,) = [one.note for one in proposals if one.name.startswith("hierarchical(")]
    assert "e+" not in note and re.search(r"between nodes \d{5,} us", note)

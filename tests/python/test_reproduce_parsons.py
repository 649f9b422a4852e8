"""The models of Parsons & Pai 2014."""

from __future__ import annotations

import pytest
from reproducing import context, named, run
from tutti import Machine
from tutti_reproduce import parsons


def test_mpich_leaves_recursive_algorithms_at_512_kib():
    shapes = [parsons.mpich_shape(name, total) for name in ("allgather", "reduce_scatter")
              for total in (524287, 524288)]  # fmt: skip
    assert shapes == ["recursive", "ring", "recursive", "pairwise"]
    assert parsons.mpich_shape("alltoallv", 8) == "pairwise"


def test_a_changed_machine_differs_in_one_number():
    machine = parsons.changed(Machine(), "node_gap", 3e-7)
    assert parsons.parameter(machine, "node_gap") == pytest.approx(3e-7)
    assert parsons.parameter(machine, "latency") == parsons.parameter(Machine(), "latency")


def test_the_machine_of_2_5_from_several_senders(tmp_path):
    result = run(named(parsons.tables(context(tmp_path)), "senders"))
    built_in, fitted = result.views
    assert all(each["factor"] < 2 for each in built_in.numbers)
    assert [each["factor"] for each in fitted.numbers] == pytest.approx([2.5] * 3, rel=0.01)

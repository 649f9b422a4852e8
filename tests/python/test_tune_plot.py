"""The plot and the JSON of `tutti tune` compare an algorithm with the MPI's own in the same run."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
from simulated_bench import JOB
from tutti import crossovers
from tutti.commands import tune_output
from tutti.plot import pyplot_for, save
from tutti.refusal import Refusal
from tutti.tuning_cells import Cell, Measured


@pytest.fixture
def cell() -> Cell:
    """The last run found a busier machine. Ring had left before, and was slower than the MPI's own."""
    calm, busy = (100.0,) * 30, (140.0,) * 30
    lines = {
        "native": Measured("native", busy, busy),
        "chain": Measured("chain", (112.0,) * 30, busy),
        "linear": Measured("linear", (140.0,) * 30, busy),
        "ring": Measured("ring", (110.0,) * 30, calm),
    }
    return Cell(64, lines)


def test_the_plot_shows_the_ratios_that_the_rules_stand_on(cell: Cell) -> None:
    pytest.importorskip("matplotlib")
    _, axis = pyplot_for("--plot").subplots()
    crossovers._panel(axis, [cell])
    drawn = {str(line.get_label()): list(line.get_ydata()) for line in axis.lines}
    assert drawn["chain"] == [0.8] and drawn["ring"] == [1.1]
    assert crossovers._shown([cell]) == ["chain", "linear", "ring"]


def test_a_picture_that_cannot_be_written_leaves_the_former_one(tmp_path, monkeypatch) -> None:
    pytest.importorskip("matplotlib")
    figure, _ = pyplot_for("--plot").subplots()
    for name in ("a.svg", "a.png", "a.PDF"):
        path = tmp_path / name
        save(figure, path, "--plot")
        former = path.read_bytes()
        assert len(former) > 1000

        def fails(target, **_):
            (target.write(b"half") if hasattr(target, "write") else target.write_bytes(b"half"))
            raise OSError("No space left on device")

        with monkeypatch.context() as patch, pytest.raises(Refusal, match=f"--plot {path}: No space"):
            patch.setattr(figure, "savefig", fails)
            save(figure, path, "--plot")
        assert path.read_bytes() == former


def test_each_time_has_that_of_the_mpis_own_beside_it(cell: Cell) -> None:
    tuner = SimpleNamespace(job=JOB, irregularity=None, cells={"bcast": {64: cell}}, failed={}, unfinished={})
    (measured,) = tune_output.as_json([tuner], [], [])["measured"]
    ratios = {line["name"]: line["median_us"] / line["native_us"] for line in measured["algorithms"]}
    assert ratios == {"native": 1, "chain": 0.8, "linear": 1, "ring": 1.1}

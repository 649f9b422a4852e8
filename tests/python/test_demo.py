"""The output of ./demo fits a terminal, and has the gain and its reason."""

import importlib.util
import json

import pytest
from installed import ROOT

spec = importlib.util.spec_from_file_location("demo_summary", ROOT / "tools/demo_summary.py")
demo_summary = importlib.util.module_from_spec(spec)
spec.loader.exec_module(demo_summary)


def call(collective, algorithm, reason, seconds=1e-3):
    return {"collective": collective, "algorithm": algorithm, "reason": reason, "calls": 30,
            "seconds": {"mean": seconds, "max": 2 * seconds}}  # fmt: skip


LEFT = [call("gatherv", "native", "no gain " + "that anybody could tell " * 9)]
TAKEN = [call("gather", "native", "no gain"), call("gatherv", "linear", "30 us for 90 us", 1e-4)]


@pytest.mark.parametrize(
    ("alone", "under", "calls", "sentence"),
    [
        ([3.0, 3.3], [1.5, 1.6], TAKEN,
         "mpich: snapshots are 2.03 times faster: Tutti ran gatherv itself (gatherv: linear: 30 "
         "us for 90 us)."),
        ([1.0, 1.1], [2.0, 2.2], TAKEN, "snapshots are 2.00 times slower, a loss: Tutti ran"),
        ([1.0, 2.0], [1.5, 1.6], LEFT,
         "these runs show no significant difference (native / Tutti 0.97): Tutti left all "
         "calls to the MPI (gatherv: native: no gain"),
        ([1.0], [1.0], [], "no call reached Tutti"),
    ],
)  # fmt: skip
def test_the_closing_sentence(alone, under, calls, sentence):
    lines = demo_summary.summary("mpich", alone, under, calls)
    assert sentence in " ".join(lines)


def test_the_summary_fits_a_terminal():
    calls = [call(name, "native", "a reason " * 30) for name in "abcdefghijk"]
    lines = demo_summary.summary("openmpi", [1.0] * 5, [1.0] * 5, calls)
    # Two MPIs, with five lines before the summary of each and ten lines of preparation.
    assert 2 * (len(lines) + 5) + 10 <= 60
    assert all(len(line) <= 80 for line in lines)


def test_what_took_longest_comes_first(tmp_path):
    report = tmp_path / "report.json"
    report.write_text(json.dumps({"calls": TAKEN[::-1]}))
    assert [one["collective"] for one in demo_summary.calls_in(report)] == ["gather", "gatherv"]


def test_no_algorithm_is_forced():
    assert "TUTTI_" not in (ROOT / "demo").read_text().replace("TUTTI_TESTS=OFF", "").replace(
        "TUTTI_BENCH=OFF", ""
    )

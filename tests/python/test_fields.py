"""JSON is compared with the fields that its readers need."""

from __future__ import annotations

import copy
import json

import pytest
from reporting import case_of, late_rank, line_of, write_report
from tutti.fields import COUNT, FLAG, INTEGER, NUMBER, TEXT, Each, Maybe, fault_of

PAIR = (NUMBER, Maybe(NUMBER))


@pytest.mark.parametrize(
    ("value", "kind", "fault"),
    [
        (1.5, NUMBER, ""),
        (True, NUMBER, "x: expected a number"),
        (float("inf"), NUMBER, "x: expected a number"),
        (-1, INTEGER, ""),
        (-1, COUNT, "x: expected an integer of 0 or more"),
        (1, FLAG, "x: expected true or false"),
        (None, Maybe(TEXT), ""),
        (None, Maybe(TEXT, null=False), "x: expected a text"),
        ([1, "a"], [NUMBER], "x[1]: expected a number"),
        ([1, None], PAIR, ""),
        ([1], PAIR, "x: expected a list of 2"),
        ({}, {"a": Maybe(TEXT)}, ""),
        ({}, {"a": Maybe(TEXT, missing=False)}, "x.a: expected a text"),
        ({"a": {"b": 1}, "further": 2}, {"a": {"b": TEXT}}, "x.a.b: expected a text"),
        ({"a": 1, "b": "c"}, Each(NUMBER), "x.b: expected a number"),
        ([], {}, "x: expected an object"),
    ],
)
def test_the_first_fault_is_named(value, kind, fault):
    assert fault_of(value, kind, "x") == fault


DELAYS = late_rank(4, 6, 2)
SIZE = {"p": 4, "bytes": 8, "calls": 6, "irregularity": 1.0, "seconds": 0.1, "root": 0}


@pytest.mark.parametrize(
    ("changes", "fault"),
    [
        ({"site": 3}, "calls[0].site: expected a text"),
        ({"elapsed": None}, "calls[0].elapsed: expected an object"),
        ({"sizes": [{**SIZE, "p": 0}]}, "calls[0].sizes[0].p: expected an integer of 1 or more"),
        ({"sizes": [SIZE, {**SIZE, "calls": 0}]}, "calls[0].sizes[1].calls: expected an integer of 1 or more"),
        ({"sizes": [{**SIZE, "irregularity": 0}]}, "calls[0].sizes[0].irregularity: expected a number above 0"),
        ({"seconds": {}}, "calls[0].seconds.mean: expected a number"),
        ({"parts": {"waiting": 1, "held": 1}}, "calls[0].parts.moving: expected a number"),
        ({"pattern": {"ranks": []}}, "calls[0].pattern.communicators: expected an integer"),
        ({"pattern": {**line_of(DELAYS)["pattern"], "last": [1]}},
         "calls[0].pattern.last: expected a list of 4"),
        ({"pattern": {**line_of(DELAYS)["pattern"], "roots": [0]}},
         "calls[0].pattern.roots: expected a list of 6"),
        ({"pattern": {**line_of(DELAYS)["pattern"], "elapsed": [[1.0]] * 6}},
         "calls[0].pattern.elapsed: expected lists of 4"),
        ({"pattern": {**line_of(DELAYS)["pattern"], "calls": []}},
         "calls[0].pattern.calls: expected 1 or more"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("words", [["report"], ["explain", "--report"], ["tune", "--mpirun", "true", "--report"]])
def test_a_report_without_what_is_read_is_refused(command, tmp_path, words, changes, fault):
    path = write_report(tmp_path, line_of(DELAYS, **changes))
    refused = command(*words, path)
    assert refused.status == 2
    assert f"{path}: not a report of Tutti: {fault}" in refused.err


def test_a_case_without_what_is_read_is_refused(command, tmp_path):
    broken = copy.deepcopy(case_of())
    del broken["candidates"][2]["median"]
    refused = command("report", write_report(tmp_path, line_of(DELAYS), cases=[case_of(), broken]))
    assert "tuning.cases[1].candidates[2].median: expected a number" in refused.err


def test_patterns_of_format_1_are_read_by_their_former_names(command, tmp_path):
    path = write_report(tmp_path, line_of(DELAYS))
    written = json.loads((tmp_path / "report.json").read_text())
    pattern = written["calls"][0]["pattern"]
    for new, former in {"delays": "lateness", "mean_delay": "mean_lateness", "progress_hint": "edge"}.items():
        pattern[former] = pattern.pop(new)
    new = command("report", path, "--pattern", "1").out
    (tmp_path / "report.json").write_text(json.dumps({**written, "format": 1}))
    assert command("report", path, "--pattern", "1").out == new != ""

"""`tutti report` and `tutti explain` on measured candidates."""

from __future__ import annotations

import json

import pytest
from reporting import case_of, late_rank, line_of, write_report
from tutti import reports
from tutti.candidates import Case, cases_of

ACCOUNT = "time in collectives 1.50 s, saved 60.0 ms, spent exploring 125 ms\n"


def words(text: str) -> str:
    """The text as if no line were broken."""
    return " ".join(text.split())


def test_a_report_says_what_was_saved_and_ends_with_it(command, tmp_path):
    out = command("report", write_report(tmp_path, line_of(None), cases=[case_of()])).out
    said = words(out)
    assert "gather, 2,049 to 4,096 bytes, 4 ranks: hierarchical(scatter_allgather" in said
    assert "(4.00 ms; native 10.0 ms): measured 2.5x faster" in said
    assert "at app: main+0x10: 25 calls" in said and "evidence: this run" in said
    assert "saved 120 ms (-60.0 ms to 360 ms) in 25 calls" in said
    assert "exploring cost 250 ms in 5 calls" in said
    assert "on the table: 90.0 ms with binomial: its gain is below 3 %" in said
    assert "16  slower" not in out, "only --candidates shows all times"
    assert out.endswith("\n" + ACCOUNT)


def test_candidates_have_medians_with_intervals(command, tmp_path):
    name = write_report(tmp_path, line_of(late_rank(4, 10, 2)), cases=[case_of()])
    out = command("report", name, "--candidates").out
    rows = [words(line) for line in out.splitlines()]
    assert "native 10.0 ms 5.00 ms to 20.0 ms 16 slower" in rows
    assert "4.00 ms 2.00 ms to 8.00 ms 16 selected" in rows  # below its long name
    assert "binomial 3.00 ms 1.50 ms to 6.00 ms 16 small gain" in rows
    assert "not explored: linear" in rows
    assert "last in" not in out and out.endswith("\n" + ACCOUNT)


def test_times_of_rules_need_no_interval(command, tmp_path):
    case = case_of(
        bytes=[0, None], evidence="rules file site.json, 2026-11-22", explored=0, on_table=None,
        saved_interval=None, saved=-0.002,
    )  # fmt: skip
    for one in case["candidates"]:
        one.update(interval=None, confidence=None, calls=0)
    out = command("report", write_report(tmp_path, line_of(None), cases=[case]), "--candidates").out
    assert "gather, any size, 4 ranks" in out and "site.json, 2026-11-22" in out
    assert "lost 2.00 ms in 25 calls" in out and "exploring cost" not in out
    assert "native 10.0 ms - - slower" in [words(line) for line in out.splitlines()]


@pytest.mark.parametrize("options", [(), ("--candidates",), ("--full",)])
def test_reports_fit_80_columns(command, tmp_path, monkeypatch, options):
    monkeypatch.setenv("COLUMNS", "80")
    lines = [
        line_of(late_rank(4, 10, 2), calls=99_999_999, bytes=1 << 50, collective="reduce_scatter"),
        line_of(None, site="application: " + "name_of_a_function_" * 9 + "+0x10", explored=3),
        line_of(None, algorithm="hierarchical(scatter_allgather,leaders=1)"),
        line_of(None, collective="reduce_scatter_block"),
    ]
    name = write_report(tmp_path, *lines, cases=[case_of(bytes=[1 << 40, 1 << 41])])
    out = command("report", name, *options).out
    assert "hierarchical(scatter_allgather,leaders=1)" in words(out)
    for needed in ("reduce_scatter", "app: main+0x10", "no gain"):
        assert needed in out
    too_long = [line for line in out.splitlines() if len(line.rstrip()) > 80]
    assert not too_long


def test_explored_calls_are_summed_up(command, tmp_path):
    explored = line_of(None, algorithm="ring", reason="exploring", explored=3)
    name = write_report(tmp_path, line_of(None, explored=1), explored)
    out = command("report", name).out
    assert "ring: exploring" not in out
    assert "not listed: 3 calls that explored candidates; --full shows them" in out
    for options in (["--full"], ["--site", "2"]):
        assert "ring: exploring" in command("report", name, *options).out


def test_a_site_shows_its_own_cases(command, tmp_path):
    other = case_of(bytes=[1, 1], sites=[{"site": "app: other+0x20", "calls": 4}])
    lines = [line_of(None), line_of(None, site="app: other+0x20")]
    name = write_report(tmp_path, *lines, cases=[case_of(), other])
    out = command("report", name, "--site", "1").out
    assert "gather, 2,049 to" in out and "gather, 1 byte, " not in out
    assert "gather, 1 byte, " in command("report", name, "--site", "2").out


def test_explain_shows_the_candidates_of_a_site(command, tmp_path):
    name = write_report(tmp_path, line_of(late_rank(4, 10, 2)), cases=[case_of()])
    out = command("explain", "--report", name, "--site", "1").out
    assert "native 10.0 ms 5.00 ms to 20.0 ms 16 slower" in [words(line) for line in out.splitlines()]
    shown = json.loads(command("explain", "--report", name, "--site", "1", "--json").out)
    assert shown["tuning"] == [case_of()]


def test_reports_without_the_section_are_read(command, tmp_path):
    name = write_report(tmp_path, line_of(None))
    assert cases_of(reports.read(tmp_path / "report.json")) == []
    out = command("report", name, "--candidates").out
    assert "No candidates were measured" in out and "time in collectives" not in out
    assert "candidates" not in command("report", name).out


@pytest.mark.parametrize(
    ("collective", "name"),
    [("gatherv", "gatherv, 0 bytes or not known yet, 4 ranks"), ("gather", "gather, 0 bytes, 4 ranks")],
)
def test_the_size_of_irregular_calls_may_be_unknown(collective, name):
    assert Case(case_of(collective=collective, bytes=[0, 0])).name == name

"""Pages of a part of a report, and of reports that lack something."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from report_pages import SAMPLE, Page, rendered
from reporting import case_of, late_rank, line_of, tuning, write_report
from tutti import reports


def test_partial_reports_are_one_page(tmp_path):
    own = {"format": 2, "partial": True, "view": "the calls of process 5", "mpi": "MPICH 4"}
    path = tmp_path / "parts.json"
    lines = [line_of(None, site=f"app: {name}+0x1") for name in "fg"]
    path.write_text("".join(json.dumps({**own, "calls": [line]}) + "\n" for line in lines))
    text = rendered(path)
    words = Page(text).all_text("script")
    assert words.count("Partial: the calls of process 5.") == 2
    assert "app: f+0x1" in words and "app: g+0x1" in words
    (tmp_path / "parts.html").write_text(text)
    assert reports.read(tmp_path / "parts.html") == reports.read(path)


def test_times_of_several_processes_have_no_share(command, tmp_path):
    """Each partial report has the own time of a process; their sum is no part of one run's time."""
    own = {"format": 2, "partial": True, "view": "only calls with process 5 as root", "mpi": "MPICH 4",
           "wall": 1.0, "seconds": {"mean": 0.7}, "tuning": {**tuning(), "cases": []}}  # fmt: skip
    line = line_of(None, elapsed={"mean": 0.1, "sum": 0.7})
    path = tmp_path / "parts.json"
    path.write_text(f"{json.dumps({**own, 'calls': [line]})}\n" * 3)
    words = Page(rendered(path, seconds=1.0)).all_text("script")
    assert "2.10 s in collectives, sum of 3 processes" in words and "mean of the ranks" not in words
    assert "210" not in words and "of the run" not in words and "for the whole command" not in words
    assert words.count("saved against the MPI's own") == 1 and "243 ms saved" in words
    assert words.count("spent exploring candidates") == 1 and "9.00 ms spent" in words
    assert "tutti run --compare" in words and "tutti tune" not in words, "it refuses partial reports"
    shown = command("report", str(path)).out
    assert "70.0 % of 1.00 s from the start to MPI_Finalize, of this process" in " ".join(shown.split())
    compared = command("diff", str(path), str(SAMPLE)).out
    assert "a: sum of 3 processes; b: mean of the ranks" in compared
    path.write_text(json.dumps({**own, "calls": [line]}))
    assert "700 ms in collectives, one process" in Page(rendered(path)).all_text("script")


def test_what_a_report_lacks_is_no_error(command, tmp_path):
    line, case = line_of(late_rank(3, 4, 1)), case_of()
    line["pattern"]["delays"][1][0] = -0.04
    for one in case["candidates"]:
        del one["why"]
        one["state"] = "odd [/bold]"
    path = Path(write_report(tmp_path, line, cases=[case]))
    path.write_text(json.dumps({**json.loads(path.read_text()), "partial": True, "tutti": None, "mpi": None}))
    page = tmp_path / "run.html"
    assert command("report", str(path), "--html", str(page)).status == 0
    words = Page(page.read_text()).all_text("script")
    assert "Tutti, unknown MPI, 4 ranks" in words and "Partial: one process." in words and "None" not in words
    shown = command("report", str(path), "--candidates")
    assert shown.status == 0 and shown.out.startswith("Tutti, unknown MPI, 4 ranks on 1 node\npartial: one process\n")
    assert "odd [/bold]" in shown.out
    assert command("report", str(path), "--full").status == 0


def test_a_page_of_a_report_without_cases(tmp_path):
    path = Path(write_report(tmp_path, line_of(None), cases=[]))
    report = json.loads(path.read_text())
    del report["tuning"]["cases"]
    path.write_text(json.dumps(report))
    assert "60.0 ms saved against the MPI's own" in Page(rendered(path)).all_text("script")


def test_numbers_beyond_those_of_reports_are_refused(command, tmp_path):
    path = write_report(tmp_path, line_of(None, elapsed={"mean": 10**400, "sum": 1}))
    shown = command("report", path)
    assert shown.status == 2 and "calls[0].elapsed.mean: expected a number" in shown.err


def test_a_page_has_volumes_as_the_text_has_them(command, tmp_path):
    path, page = write_report(tmp_path, line_of(None, bytes=5 << 40)), tmp_path / "run.html"
    assert command("report", path, "--html", str(page)).status == 0
    assert ">5.00 TiB<" in page.read_text()


def test_a_page_of_some_lines(command, tmp_path):
    lines = [line_of(late_rank(4, 6, 2)), line_of(late_rank(4, 6, 1), site="app: other+0x20")]
    cases = [case_of(), case_of(sites=[{"site": "app: other+0x20", "calls": 4}])]
    path = write_report(tmp_path, *lines, cases=cases)
    page = tmp_path / "one.html"
    assert command("report", path, "--site", "2", "--html", str(page)).status == 0
    (kept,) = reports.read(page)
    assert [line["site"] for line in kept["calls"]] == ["app: other+0x20"]
    assert [case["sites"] for case in kept["tuning"]["cases"]] == [cases[1]["sites"]]
    assert "1 of 2 lines, by --site 2" in page.read_text()
    assert json.loads(command("report", path, "--site", "2", "--json").out)["tuning"] == kept["tuning"]


def test_a_page_of_some_lines_has_their_sums(command, tmp_path):
    """What tuning saved is theirs; how much a faster collective can save is the run's."""
    other = {"site": "app: other+0x20", "calls": 15}
    lines = [line_of(None, calls=10), line_of(None, site=other["site"])]
    case = case_of(ranks=2, sites=[{"site": "app: main+0x10", "calls": 10}, other])
    path = Path(write_report(tmp_path, *lines, cases=[case]))
    whole = {"seconds": {"mean": 52.0}, "wall": 100.0}
    report = json.loads(path.read_text())
    path.write_text(json.dumps({**report, **whole, "tuning": {**report["tuning"], "left_out": 2, "left_out_calls": 7}}))
    page = tmp_path / "one.html"
    assert command("report", str(path), "--site", "1", "--html", str(page)).status == 0
    (kept,) = reports.read(page)
    assert kept["tuning"]["left_out"] is kept["tuning"]["left_out_calls"] is None, "of which lines is unknown"
    assert "Not among these candidates" not in Page(page.read_text()).all_text("script")
    # 10 of the case's 25 calls, on 2 of 4 ranks.
    sums = {name: kept["tuning"][name] for name in ("seconds", "saved", "exploring")}
    assert sums == pytest.approx({"seconds": 0.375, "saved": 0.12 / 5, "exploring": 0.25 / 5})
    assert "A faster collective can save" not in page.read_text()


def test_the_pattern_of_a_line_that_site_leaves_out_is_refused(command, tmp_path):
    lines = [line_of(late_rank(4, 6, 2)), line_of(late_rank(4, 6, 1), site="app: other+0x20")]
    path = write_report(tmp_path, *lines)
    own = command("report", path, "--pattern", "2").out
    assert command("report", path, "--site", "2", "--pattern", "gather").out == own
    assert "--pattern 1: no line matches: 2: gather" in command("report", path, "--site", "2", "--pattern", "1").err

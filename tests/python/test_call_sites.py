"""How call sites are named: in one way by all commands and the page."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from program_calls import line, size_of
from report_pages import Page, rendered
from reporting import case_of, late_rank, line_of, write_report
from simulated_bench import JOB
from tutti import source_lines
from tutti.commands import tune_report

LONG = "app: void work<std::vector<int> >(double const*, int)+0x10"


@pytest.mark.parametrize(
    ("site", "shown"),
    [
        (LONG, "app: void work+0x10"),
        ("app: (anonymous namespace)::f((anonymous namespace)::T, int)+0x1", "app: {anonymous}::f+0x1"),
        ("app: A::operator()(int) const+0x1", "app: A::operator()+0x1"),
        ("app: operator<< <char>(std::ostream&, char)+0x1", "app: operator<< +0x1"),
        ("app: f(void (*)(int))+0x1", "app: f+0x1"),
        ("app: step+0x1", "app: step+0x1"),
        ("app+0x1", "app+0x1"),
        ("step.py:7 (main)", "step.py:7 (main)"),
    ],
)
def test_a_site_has_no_parameters(site, shown):
    assert source_lines.short(site) == shown
    assert source_lines.shown(site, {site: "/src/app.cpp:12"}) == f"app.cpp:12 ({shown})"


def test_every_output_names_a_site_in_the_same_way(command, tmp_path, monkeypatch):
    monkeypatch.setattr(source_lines, "lines_of", lambda sites, programs: dict.fromkeys(sites, "/src/app.cpp:12"))
    waits = {"calls": 9, "waiting": 1.0, "held": 0.0, "moving": 0.001}
    late, case = line_of(late_rank(4, 9, 2), site=LONG, parts=waits), case_of(sites=[{"site": LONG, "calls": 9}])
    path = write_report(tmp_path, late, cases=[case])
    name = "app.cpp:12 (app: void work+0x10)"
    for words, number in (
        (["report", path], 3),
        (["report", path, "--candidates"], 2),
        (["explain", "--report", path], 2),
        (["diff", path, path], 1),
    ):
        shown = " ".join(command(*words).out.split())
        assert shown.count(name) == number and "double const" not in shown, words
    assert "app: void work+0x10" in command("report", path, "--site", "9").err
    words = Page(rendered(Path(path))).all_text("script")
    assert words.count(name) == 2 and "Ranks in gather at app: void work+0x10 spend" in words
    assert "app.cpp:12 app: void work+0x10" in words and "double const" not in words
    path = write_report(tmp_path, line("bcast", size_of(64, 9, 0.1), site=LONG), ranks=8)
    program = tune_report.program_of(Path(path), JOB, ["bcast"])
    assert program.sources == {LONG: "/src/app.cpp:12"}


def test_a_site_is_found_by_what_is_shown(command, tmp_path):
    """Instantiations of a template with like code have like offsets."""
    alike = [f"app: void exchange<{of}>({of}*, int)+0x3c" for of in ("float", "double")]
    path = write_report(tmp_path, *(line_of(late_rank(4, 9, 2), site=site) for site in (LONG, *alike)))
    for wanted in ("gather at app: void work+0x10", "work+0x10", LONG):
        parsed = json.loads(command("report", path, "--json", "--site", wanted).out)
        assert [one["site"] for one in parsed["calls"]] == [LONG], wanted
    several = command("report", path, "--pattern", "exchange+0x3c").err
    assert f"several lines match: 2: gather at {alike[0]}; 3: gather at {alike[1]}\n" in several
    listed = command("report", path, "--site", "9").err
    assert f"no line matches: 1: gather at app: void work+0x10; 2: gather at {alike[0]}; 3: " in listed


def test_what_is_left_out_is_said(command, tmp_path):
    many = [{"site": f"app: f{n}+0x1", "calls": 1} for n in range(6)]
    lines = [line_of(late_rank(4, 9, 2), site=one, other_sites=["app: g+0x2"])
             for one in (f"app: f{n}+0x1" for n in range(12))]  # fmt: skip
    path = Path(write_report(tmp_path, *lines, cases=[case_of(sites=many)] * 13))
    report = json.loads(path.read_text())
    report["tuning"] |= {"left_out": 2, "left_out_calls": 7}
    path.write_text(json.dumps(report))
    words = Page(rendered(path)).all_text("script")
    assert "f3+0x1 and 2 more." in words and "And 2 call sites with less time." in words
    assert "1 more case with less time: tutti report run.html --candidates" in words
    assert "4 more lines with shorter waits: tutti report run.html --full" in words
    left = "Not among these candidates: 2 collectives of some communicators and 7 calls."
    assert left in words and words.count("also from app: g+0x2") == 12
    shown = " ".join(command("report", str(path)).out.split())
    assert left in shown and shown.count("also from app: g+0x2") == 12

"""tutti diff, and tutti run --compare with launchers that only pretend to run a program."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
from reporting import late_rank, line_of, write_report
from tutti import comparison, output, reports
from tutti.comparison import Row, Sample
from tutti.output import Outputs, passed_on
from tutti.site_totals import differences, totals_of
from tutti.statistics import median_interval

LAUNCHER = """#!/bin/sh
# Pretends to run a program: natively 3 s in collectives, under Tutti 1 s.
case "$1" in --version) echo "mpirun (Open MPI) 4.1.4"; exit;; esac
cat > /dev/null
echo "$TUTTI $TUTTI_GATHER" >> "{log}"
echo output of the program
seconds=1
[ "$TUTTI" = off ] && seconds=3
{report}
exit {status}
"""
REPORT = """printf '{"format":2,"partial":false,"calls":[],"seconds":{"mean":%s,"max":9}}' \\
  $seconds > "$TUTTI_REPORT" """


def said(err: str) -> list[str]:
    """The lines of the command, without those of the loader about libraries that are empty files."""
    return [line for line in err.splitlines() if line.startswith("tutti: ")]


@pytest.fixture
def launcher(installed, tmp_path, monkeypatch):
    """Makes a fake mpirun that logs the settings it gets; returns it and its log."""
    monkeypatch.chdir(tmp_path)

    def make(report: str = REPORT, status: str = "0") -> tuple[str, Path]:
        log = tmp_path / "log"
        program = tmp_path / "mpirun"
        program.write_text(LAUNCHER.format(log=log, report=report, status=status))
        program.chmod(0o755)
        return str(program), log

    return make


def test_native_and_tutti_run_in_turn(command, launcher, tmp_path):
    mpirun, log = launcher()
    shown = command("run", "--gather", "linear", "--compare", "--rounds", "6", "--", mpirun)
    assert shown.status == 0, shown.err
    in_turn = ["off linear", "on linear", "on linear", "off linear"]
    assert log.read_text().splitlines() == in_turn * 3
    assert re.search(r"collectives +3000 \(3000\.\.3000\) +1000 .* 2000", shown.out)
    assert "in collectives: Tutti saves 66.7 %." in shown.out
    assert "confidence 95 %" in shown.out
    assert shown.out.count("output of the program") == 12
    assert "output: the same 1 line in all 12 runs." in shown.out
    assert shown.err.count("tutti: round ") == 12
    assert not list(tmp_path.glob(".tutti-compare-*"))


def test_json_has_every_run_and_seven_rounds_are_the_default(command, launcher):
    mpirun, log = launcher()
    shown = command("run", "--compare", "--json", "--", mpirun)
    result = json.loads(shown.out)
    assert result["rounds"] == 7 and result["confidence"] == 0.95
    in_all, collectives = result["rows"]
    assert collectives["saved"] == {"median": 2.0, "low": 2.0, "high": 2.0}
    assert collectives["beyond_doubt"] and in_all["name"] == "in all"
    assert [run["collectives"] for run in result["runs"]["native"]] == [3.0] * 7
    examples = {"native": None, "Tutti": None}
    assert result["output"] == {"lines": 1, "different": 0, "different_natively": 0, "examples": examples}
    assert len(log.read_text().splitlines()) == 14


@pytest.mark.parametrize("columns", ["80", "60"])
def test_the_comparison_fits_its_width(command, launcher, monkeypatch, columns):
    monkeypatch.setenv("COLUMNS", columns)
    mpirun, _ = launcher()
    out = command("run", "--compare", "--", mpirun).out
    assert max(map(len, out.splitlines())) <= int(columns)
    assert "2000" in out and "saved" in out


def test_a_program_that_fails_ends_the_comparison_with_its_status(command, launcher):
    mpirun, log = launcher(status="1")
    shown = command("run", "--compare", "--", mpirun)
    assert shown.status == 1 and "the native run of round 1 failed" in shown.err
    assert len(log.read_text().splitlines()) == 1 and "saved" not in shown.out
    mpirun, log = launcher(status='$([ "$TUTTI" = off ] && echo 0 || echo 7)')
    shown = command("run", "--compare", "--", mpirun)
    assert shown.status == 7 and "the Tutti run of round 1 failed with exit status 7" in shown.err


@pytest.mark.parametrize(
    ("report", "program", "why"),
    [
        (":", "true", "true is not linked to an MPI"),
        (REPORT.replace("false", "true"), "true", "its report is partial"),
        (f"{REPORT}; cp $TUTTI_REPORT $TUTTI_REPORT.2", "true",
         "2 reports in a run, of ranks that ran alone or of several programs"),
        ("echo x > $TUTTI_REPORT", "true",
         "neither JSON nor a page; expected a report of tutti run --report NAME.json or NAME.html"),
    ],
)  # fmt: skip
def test_without_a_full_report_the_whole_times_are_compared_and_the_reason_is_said(
    command, launcher, monkeypatch, report, program, why
):
    monkeypatch.setenv("COLUMNS", "500")
    mpirun, _ = launcher(report=report)
    shown = command("run", "--compare", "--rounds", "2", "--", mpirun, program)
    assert f"{why}." in shown.out and "in collectives: unknown: " in shown.out and "all " in shown.out
    assert "collectives  " not in shown.out
    first, second = said(shown.err)[:2]
    assert first.startswith("tutti: note: no times in collectives: ") and first.endswith(why)
    assert second.startswith("tutti: round 1, native") and shown.err.count(why) == 1


def test_what_a_report_notes_is_said_after_the_first_run(command, launcher):
    mpirun, _ = launcher(report=REPORT.replace('"calls"', '"notes":["nothing seen"],"calls"'))
    shown = command("run", "--compare", "--rounds", "2", "--", mpirun)
    first, second = said(shown.err)[:2]
    assert first == "tutti: note: nothing seen" and second.startswith("tutti: round 1, native")
    assert shown.err.count("nothing seen") == 1


def test_short_times_are_in_milliseconds_in_80_columns(command, launcher, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    mpirun, _ = launcher(report=REPORT.replace("%s", "%s.25e-2"))
    out = command("run", "--compare", "--rounds", "2", "--", mpirun).out
    assert re.search(r"^ms in +native +Tutti +saved$", out, re.MULTILINE)
    times = r"32\.50 \(32\.50\.\.32\.50\) +12\.50 \(12\.50\.\.12\.50\) +20\.00 \(20\.00\.\.20\.00\)"
    assert re.search(rf"^collectives +{times}$", out, re.MULTILINE)


@pytest.mark.parametrize("text", ["TUTTI=off", "TUTTI=0", "TUTTI_REPORT=run.json"])
def test_settings_of_the_environment_that_a_comparison_sets_are_refused(
    command, launcher, monkeypatch, text
):
    mpirun, log = launcher()
    name, value = text.split("=")
    monkeypatch.setenv(name, value)
    shown = command("run", "--compare", "--", mpirun)
    assert shown.status == 2 and f"--compare and {name}=" in shown.err and not log.exists()


@pytest.mark.parametrize(
    ("words", "text"),
    [
        (["--compare", "--off"], "--compare and --off: expected one of them"),
        (["--compare", "--report", "-"], "--compare and --report: expected one of them"),
        (["--compare", "--rounds", "0"], "invalid --rounds 0: expected an integer of at least 1"),
        (["--compare", "--rounds", "x"], "invalid --rounds x"),
        (["--compare", "--rounds", "\u00b2"], "invalid --rounds \u00b2: expected an integer"),
        (["--rounds", "3"], "--rounds 3 needs --compare"),
    ],
)
def test_wrong_options_are_refused(command, launcher, words, text):
    mpirun, log = launcher()
    shown = command("run", *words, "--", mpirun)
    assert shown.status == 2 and text in shown.err and not log.exists()


def test_a_command_without_a_backend_is_refused_before_the_start(command, launcher, installed):
    mpirun, log = launcher()
    (installed / "lib/libtutti-openmpi.so").unlink()
    for words in ([], ["--compare"], ["--json"]):
        shown = command("run", *words, "--", mpirun, sys.executable, "app.py")
        assert shown.status == 2 and "no backend for Open MPI" in shown.err and not log.exists()
        assert "pip install . " in shown.err


def said_of(*texts: tuple[str, bytes]) -> list[str]:
    """What is said of the outputs of runs, each with its arm."""
    outputs = Outputs()
    for arm, text in texts:
        outputs.add(arm, text)
    return outputs.verdict("native")


def test_outputs_are_compared_by_lines_in_any_sequence():
    assert said_of(("native", b""), ("Tutti", b"")) == []
    texts = [("native", b"a\nb\na\n"), ("Tutti", b"b\na\na"), ("native", b"a\na\nb\n")]
    assert said_of(*texts) == ["output: the same 3 lines in all 3 runs."]
    assert said_of(*texts, ("Tutti", b"a\nb\nb\n")) == [
        "output: 1 of 3 lines differs, but not between native runs, such as:",
        "  native: a",
        "  Tutti: b",
    ]
    assert said_of(*texts, ("Tutti", b"a\nb\n"))[1:] == ["  native: a", "  Tutti: -"]


def test_outputs_with_times_differ_between_native_runs_too():
    times = [("native", b"x\nt=1\n"), ("Tutti", b"x\nt=2\n"), ("native", b"x\nt=3\n")]
    head = "output: 1 of 2 lines differs"
    assert said_of(*times) == [f"{head}, between native runs too, such as:", "  native: t=3", "  Tutti: t=2"]
    assert said_of(*times[:2])[0] == f"{head}, such as:"
    later = [("native", b"x\n"), ("Tutti", b"x\n"), ("Tutti", b"x\n\x1b[1m" + b"y" * 99)]
    assert said_of(*later) == [f"{head}, such as:", "  native: -", f"  Tutti: [1m{'y' * 55}.."]


def test_a_wrong_result_is_shown_before_times(command, launcher):
    native = [("native", b"t=1\nr=1\n"), ("native", b"t=3\nr=1\n")]
    tutti = [("Tutti", b"t=2\nr=2\n"), ("Tutti", b"t=4\nr=2\n")]
    head = "output: 2 of 2 lines differ, 1 of them between native runs too, such as:"
    assert said_of(*native, *tutti) == [head, "  native: r=1", "  Tutti: r=2"]
    mpirun, _ = launcher(report=f"{REPORT}; echo $TUTTI")
    shown = command("run", "--compare", "--json", "--rounds", "1", "--", mpirun)
    assert json.loads(shown.out)["output"] == {
        "lines": 2, "different": 1, "different_natively": None, "examples": {"native": "off", "Tutti": "on"}
    }


def test_no_line_is_an_example_of_both():
    head = "output: 1 of 2 lines differs"
    sometimes = [("native", b"a\nb"), ("Tutti", b"a\n"), ("native", b"a\nb"), ("Tutti", b"a\nb")]
    assert said_of(*sometimes) == [
        f"{head}, but not between native runs, such as:", "  native: b", "  Tutti: -"
    ]
    assert said_of(*sometimes, ("native", b"a\n")) == [f"{head}, between native runs too."]


def test_long_outputs_are_passed_on_and_not_compared(tmp_path):
    with (tmp_path / "passed on").open("wb") as target, passed_on(target.fileno()) as (end, text):
        for _ in range(18):
            os.write(end, b"x" * (1 << 20))
    assert (tmp_path / "passed on").stat().st_size == 18 << 20
    said = said_of(("native", b"x"), ("Tutti", bytes(text)))
    assert said == ["output: not compared, as a run wrote more than 16 MiB."]


def test_a_program_whose_output_nobody_reads_cannot_write():
    source, target = os.pipe()
    os.close(source)
    with passed_on(target) as (end, _), pytest.raises(BrokenPipeError):
        while True:
            os.write(end, b"x" * 65536)
    os.close(target)


def test_a_reader_that_pauses_gets_all(monkeypatch):
    monkeypatch.setattr(output, "_PATIENCE", 0.1)
    source, target = os.pipe()
    piece = b"x" * 65536  # as much as a pipe holds
    read: list[bytes] = []

    def read_late() -> None:
        time.sleep(0.5)
        with open(source, "rb") as pipe:
            read.append(pipe.read())

    reader = threading.Thread(target=read_late)
    reader.start()
    with passed_on(target) as (end, text):
        for _ in range(3):
            os.write(end, piece)
    os.close(target)
    reader.join()
    assert bytes(text) == read[0] == 3 * piece


def test_a_process_that_is_left_behind_delays_nothing(tmp_path):
    start = time.monotonic()
    with (tmp_path / "passed on").open("wb") as target, passed_on(target.fileno()) as (end, text):
        left = subprocess.Popen(["sh", "-c", "echo said; exec sleep 60"], stdout=end)
        while not text:
            time.sleep(0.01)
    assert time.monotonic() - start < 30 and bytes(text) == b"said\n"
    left.kill()
    left.wait()


def row(native: list[float], tutti: list[float]) -> Row:
    samples = {
        "native": [Sample(one, None) for one in native],
        "Tutti": [Sample(one, None) for one in tutti],
    }
    (made,) = comparison.rows_of(samples)
    return made


def test_a_verdict_needs_an_interval_without_zero_and_five_rounds():
    slow = [2.0, 2.25, 2.5, 2.75, 3.0]
    assert comparison.verdict(row(slow, [one - 1 for one in slow])) == "in all: Tutti saves 40.0 %"
    assert comparison.verdict(row(slow, [one + 1 for one in slow])) == "in all: Tutti loses 40.0 %"
    mixed = row(slow, [1.0, 1.0, 1.0, 1.0, 3.5])
    assert mixed.saved == median_interval([1.0, 1.25, 1.5, 1.75, -0.5])
    assert not mixed.is_beyond_doubt and "includes 0" in comparison.verdict(mixed)
    few = row(slow[:4], [1.0] * 4)
    assert not few.is_beyond_doubt and "4 of the 5 rounds" in comparison.verdict(few)
    assert comparison.confidence(1) == 0.0


def two_reports(folder: Path) -> tuple[str, str]:
    one, other = line_of(late_rank(2, 4, 1)), line_of(None, site="app: f+0x2")
    halved = {**one, "elapsed": {"mean": 0.0625, "sum": 0.25}, "algorithm": "ring"}
    names = []
    for name, lines in (("a", (one, other)), ("b", (halved, line_of(None, site="app: g+0x3")))):
        (folder / name).mkdir()
        names.append(write_report(folder / name, *lines))
    return names[0], names[1]


def test_diff_shows_the_largest_change_first(command, tmp_path):
    a, b = two_reports(tmp_path)
    out = command("diff", a, b).out
    rows = [re.split(r" {2,}", line.strip()) for line in out.splitlines()]
    assert rows[0] == ["collective", "call site", "a", "b", "a/b", "algorithm"]
    assert rows[3] == ["gather", "app: main+0x10", "500 ms", "250 ms", "2.00", "native > ring"]
    assert ["gather", "app: f+0x2", "375 ms", "-", "-", "native"] in rows
    assert ["gather", "app: g+0x3", "-", "375 ms", "-", "native"] in rows
    assert rows[4][0] == "total" and rows[4][1:] == ["875 ms", "625 ms", "1.40"]


def test_diff_as_json_and_of_itself(command, tmp_path):
    a, b = two_reports(tmp_path)
    result = json.loads(command("diff", a, b, "--json").out)
    assert result["total"] == {"a": 0.875, "b": 0.625, "ratio": 1.4}
    (both,) = [one for one in result["sites"] if one["ratio"] is not None]
    assert both["ratio"] == 2.0 and both["b"]["algorithms"] == ["ring"]
    same = totals_of(reports.sites_of(reports.read(Path(a))))
    assert {one.ratio for one in differences(same, same)} == {1.0}


def test_diff_has_no_ratios_of_a_mean_and_a_sum(command, tmp_path):
    a, b = two_reports(tmp_path)
    whole = json.loads(Path(b).read_text())
    Path(b).write_text(json.dumps({**whole, "partial": True, "view": "one process"}))
    out = command("diff", a, b).out
    assert "2.00" not in out and "1.40" not in out
    assert "a: mean of the ranks; b: one process: times that have no ratio" in " ".join(out.split())
    result = json.loads(command("diff", a, b, "--json").out)
    assert result["total"]["ratio"] is None and {one["ratio"] for one in result["sites"]} == {None}


def test_diff_fits_80_columns(command, tmp_path, monkeypatch):
    a, b = two_reports(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")
    out = command("diff", a, b).out
    table = out.split("total")[0]
    assert max(map(len, table.splitlines())) <= 80 and "app: main+0x10" in table
    assert "native > ring" in table


def test_lines_of_one_site_add_up(tmp_path):
    lines = [line_of(late_rank(2, 4, 1), algorithm=name) for name in ("native", "ring")]
    lines[1] |= {"calls": 12, "elapsed": {"mean": 0.125, "sum": 1.5}}
    (total,) = totals_of(reports.sites_of(reports.read(Path(write_report(tmp_path, *lines)))))
    assert total.calls == 16 and total.seconds == 2.0
    assert total.algorithms == ["ring", "native"]
    assert total.parts == pytest.approx({"waiting": 2 * 0.0123 / 0.0133, "held": 0, "moving": 2 * 0.001 / 0.0133})


def test_diff_names_a_missing_file(command):
    shown = command("diff", "/none/a.json", "/none/b.json")
    assert shown.status == 2 and shown.err == "tutti: /none/a.json: No such file or directory\n"

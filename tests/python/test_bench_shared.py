"""What scripts of bench/ share: the end of runs, and refusals in one line."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
import typer
from installed import ROOT

sys.path.append(str(ROOT / "bench"))

import compare_builds
import lab_fft
import lab_grid
import lab_job
import lab_levels
import lab_page
import lab_place
import lab_programs
import lab_rma
import lab_selection
import referees
from tutti.refusal import Refusal
from tutti_lab.layout import Layout
from tutti_lab.state import State

RESULTS = ROOT / "docs" / "results"


@pytest.fixture
def lab(monkeypatch):
    """A lab of 1 Gbit/s."""
    monkeypatch.setattr(lab_job.state, "load", lambda: State(Layout(48, 10**9), complete=True))


@pytest.mark.parametrize("preloaded", [True, False])
@pytest.mark.parametrize("status", [0, 3])
def test_a_run_in_the_lab_that_fails_leaves_no_results(tmp_path, monkeypatch, capsys, status, preloaded):
    tutti, results = tmp_path / "bin" / "tutti", tmp_path / "results.json"
    tutti.parent.mkdir()
    lost = "[/usr/lib/libmpi.so] lost"  # brackets of MPIs are no markup
    said = '{"metadata": {"command": "%s"}}'
    tutti.write_text(
        f"#!/bin/sh\nfor last; do :; done\nprintf '{said}' \"$*\" >\"$last\"\necho '{lost}'\nexit {status}\n"
    )
    tutti.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tutti.parent}:/usr/bin:/bin")
    monkeypatch.setattr(lab_job.state, "load", lambda: State(Layout(4, 10**8, 2, 4 * 10**8), complete=True))
    with pytest.raises(typer.Exit) if status else contextlib.nullcontext():
        lab_job.run_in_lab(results, ["bench", "--json"], nodes=2, preloaded=preloaded)
    assert list(tmp_path.glob("results*")) == ([] if status else [results])
    assert (lost in capsys.readouterr().err) == (status != 0)
    if status == 0:
        metadata = json.loads(results.read_text())["metadata"]
        assert ("--native" in metadata.pop("command").split()) == (not preloaded)
        assert metadata == {"rate": "100 Mbit/s", "switches": "2", "uplink": "400 Mbit/s"}


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_run_that_is_interrupted_may_remove_itself_from_the_lab(tmp_path, number):
    removed, sleep = tmp_path / "removed", "sleep 20 >/dev/null 2>&1 &"
    script = f"trap 'kill $!; sleep 0.5; touch {removed}; exit 1' TERM; sleep 0.2; kill -{number.value} $PPID; {sleep} wait"
    with pytest.raises(KeyboardInterrupt):
        lab_job.run(tmp_path / "results.json", ["sh", "-c", f"touch $0; {script}"], {})
    assert list(tmp_path.iterdir()) == [removed]


def test_a_script_has_default_settings_and_one_line_for_bad_input(monkeypatch, tmp_path):
    for name in (*lab_page.DEFAULTS, "TUTTI_BCAST", "TUTTI_LIBRARY_DIR"):
        monkeypatch.setenv(name, "of the user")
    monkeypatch.setattr(sys, "argv", ["/bench/lab_x.py"])
    seen = {}

    def script(fault):
        seen.update({name: text for name, text in os.environ.items() if name.startswith("TUTTI")})
        raise fault

    for fault, text in ((Refusal("no lab"), "no lab"), (FileNotFoundError(2, "No such file", "a"), "No such file: 'a'")):
        with pytest.raises(SystemExit, match=f"^lab_x.py: .*{text}$"):
            lab_page.main(lambda fault=fault: script(fault))
    assert seen == lab_page.DEFAULTS | {"TUTTI_LIBRARY_DIR": "of the user"}
    with pytest.raises(SystemExit) as ended:
        lab_page.main(lambda: 3)
    assert ended.value.code == 3


@pytest.mark.parametrize("text", ["8", "8x6x2", "8x0", "axb", "-8x6"])
def test_what_is_no_shape_is_refused(lab, tmp_path, text):
    for measure in (lab_selection.measure, lab_rma.measure, lab_levels.measure):
        option = "shape" if measure is lab_selection.measure else "shapes"
        with pytest.raises(Refusal, match=f"shape {text}: expected nodes x ranks on each"):
            measure(tmp_path, **{option: text})
    assert not list(tmp_path.iterdir())


def test_what_are_no_numbers_is_refused(lab, tmp_path):
    for measure, words in (
        (lambda: lab_grid.measure("gather", tmp_path, rate=1000, delays="1,x"), "--delays 1,x"),
        (lambda: lab_grid.measure("gather", tmp_path, rate=1000, sizes="1.5"), "--sizes 1.5"),
        (lambda: lab_levels.measure(tmp_path, blocks="8,,9"), "--blocks 8,,9"),
        (lambda: lab_rma.measure(tmp_path, sizes="8,x"), "--sizes 8,x"),
    ):
        with pytest.raises(Refusal, match=f"{words}: expected numbers, separated by commas"):
            measure()
    assert not list(tmp_path.iterdir())


def test_a_file_that_cannot_be_written_is_refused_before_the_runs(tmp_path, monkeypatch):
    file, here = tmp_path / "none" / "file.json", Path()
    monkeypatch.setattr(compare_builds, "start", None)
    monkeypatch.setattr(lab_programs, "run", None)
    monkeypatch.setattr(lab_fft, "run", None)
    monkeypatch.setattr(referees, "in_simgrid", None)
    for measure in (
        lambda: compare_builds.measure(here, here, file), lambda: lab_programs.measure(file, ["./a"]),
        lambda: lab_fft.measure(here, file), lambda: referees.run("program", here, file),
    ):  # fmt: skip
        with pytest.raises(Refusal, match=f"^{file}: "):
            measure()


def test_a_former_sample_is_not_replaced_by_a_first_round(tmp_path, monkeypatch):
    file = tmp_path / "samples.json"
    file.write_text("of 5 rounds")
    for script in (lab_fft, lab_programs):
        monkeypatch.setattr(script, "run", None)
    for measure in (lambda: lab_fft.measure(Path("fft"), file), lambda: lab_programs.measure(file, ["./a"])):
        with pytest.raises(Refusal, match=f"{file} exists; remove it, or name another file"):
            measure()
    assert file.read_text() == "of 5 rounds"


def test_a_sample_of_two_builds_is_replaced_as_a_whole(tmp_path, monkeypatch):
    file = tmp_path / "builds.json"
    file.write_text("of former builds")
    before = file.stat().st_ino
    monkeypatch.setattr(compare_builds._engine, "collectives", lambda: ["barrier"])
    monkeypatch.setattr(compare_builds, "known_to", lambda *_: ["linear"])
    monkeypatch.setattr(compare_builds, "run", lambda *_: {"metadata": {}, "rows": []})
    compare_builds.measure(Path("/a"), Path("/b"), file, ranks=2, rounds=1, repetitions=1)
    assert json.loads(file.read_text())["rounds"] == 1
    assert file.stat().st_ino != before


@pytest.mark.parametrize("script", ["simgrid_auto", "referees"])
def test_a_page_without_the_marker_is_refused_in_one_line(script, tmp_path):
    page = tmp_path / "page.md"
    page.write_text("# By hand\n")
    samples = {"simgrid_auto": "simgrid-auto.json", "referees": "referees.json"}[script]
    words = [sys.executable, ROOT / "bench" / f"{script}.py", "page", RESULTS / samples, page]
    ended = subprocess.run(words, capture_output=True, text=True, check=False)
    assert (ended.returncode, ended.stdout) == (1, "")
    assert ended.stderr == f"{script}.py: no marker in {page}: {lab_page.MARKER}\n"


@pytest.mark.parametrize("script", [lab_grid, lab_levels, lab_place, lab_programs, lab_rma, lab_selection])
def test_a_mistyped_folder_leaves_the_page_as_it_was(tmp_path, script):
    page = tmp_path / "page.md"
    page.write_text(f"# By hand\n\n{lab_page.MARKER}\n\nnumbers\n")
    with pytest.raises(Refusal, match=f"{tmp_path} has no .*json"):
        script.page(*[tmp_path, page][: 1 if script is lab_programs else 2])
    assert page.read_text().endswith("numbers\n")


def test_results_of_another_schema_are_refused(tmp_path):
    (tmp_path / "lab-rma-openmpi-8x1.json").write_text('{"schema": "tutti-bench/9"}')
    with pytest.raises(Refusal, match="invalid schema tutti-bench/9; expected tutti-bench/1"):
        lab_rma.page(tmp_path)
    (tmp_path / "program-a.json").write_text("[]")
    with pytest.raises(Refusal, match="expected tutti-lab-programs/2 or tutti-lab-programs/1"):
        lab_programs.page(tmp_path)


@pytest.mark.parametrize("script", ["results", "shared_results"])
def test_a_script_without_words_says_how_to_call_it(script):
    ended = subprocess.run([sys.executable, ROOT / "bench" / f"{script}.py"], capture_output=True, text=True, check=False)
    assert (ended.returncode, ended.stdout) == (2, "") and f"bench/{script}.py " in ended.stderr


@pytest.mark.parametrize(
    ("count", "text"),
    [(0, "0 B"), (1000, "1000 B"), (1536, "1.5 KiB"), (1000 << 10, "1000 KiB"), (1023 << 10, "1023 KiB"),
     (1023.7 * 1024, "1 MiB"), (18 << 20, "18 MiB"), (-(3 << 20), "-3 MiB")],
)  # fmt: skip
def test_sizes_have_a_unit(count, text):
    assert lab_page.size(count) == text

"""Errors of the command line: one line that names the value."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys

import pytest
from tutti import libraries, pages


@pytest.mark.parametrize(
    ("words", "text"),
    [
        (["frobnicate"], "No such command 'frobnicate'"),
        (["list", "prefix"], "unknown collective 'prefix'; valid collectives: gather, gatherv"),
        (["list", "gater"], "did you mean gather?"),
        (["explain", "--report", "x", "--svg", "y"], "--report x excludes --svg (y)"),
        (["explain", "--report", "x", "gather"], "--report x excludes COLLECTIVE (gather)"),
        (["explain", "bcast", "--nodes", "2,2", "--goal", "y"], "--nodes 2,2 excludes --goal (y)"),
        (["explain", "bcast", "--ranks", "3", "--algorithm", "chain", "--mpi", "x"],
         "--algorithm chain excludes --mpi (x)"),
        (["check", "--results", "x", "--block", "7"], "--results x excludes --block (7)"),
        (["bench", "--json", "--results", "x", "--plot", "y.svg"], "--results x excludes --json"),
        (["verify", "--nodes", "2x2", "--sampled", "5"], "--nodes 2x2 excludes --sampled (5)"),
        (["rules", "check", "caf\udce9.json"], "caf\\udce9.json: expected UTF-8"),
        (["tune", "--mpirun", "mpirun -n 'x"], "--mpirun mpirun -n 'x: no closing quotation; expected"),
        (["explain", "gatherv"], "missing --ranks N or --sizes"),
        (["explain", "prefix", "--ranks", "3"], "unknown collective 'prefix'"),
        (["explain", "allgather", "--ranks", "3", "--svg", "x"], "does not flow along a tree"),
        (["explain", "gatherv", "--ranks", "0"], "0 ranks: expected 1 to 65,536 for gatherv"),
        (["explain", "gather", "--ranks", "100000000"], "100,000,000 ranks: expected 1 to 65,536 for gather"),
        (["simulate", "alltoallv", "--ranks", "2049"], "2,049 ranks: expected 1 to 2,048 for alltoallv"),
        (["explain", "allgather", "--nodes", "64x64"], "4,096 ranks: expected 1 to 2,048 for allgather"),
        (["explain", "gatherv", "--ranks", "x"], "invalid --ranks x: expected a valid integer"),
        (["explain", "gatherv", "--ranks=x"], "invalid --ranks x: expected a valid integer"),
        (["explain", "gatherv", "--ranks", "3", "--sizes", "1,2"], "--ranks 3: expected 2 as in --sizes"),
        (["explain", "gatherv", "--sizes", "1,q"], "--sizes: invalid size 'q'"),
        (["explain", "gatherv", "--sizes", ",".join(["4611686018427387904"] * 3)], "--sizes: 13,835,058,055,282,163,712 bytes"),
        (["explain", "gather", "--ranks", "3", "--block", "4611686018427387904"], "expected at most 2^62"),
        (["explain", "gatherv", "--sizes", "1", "--distribution", "same"], "--sizes and --distribution exclude each other"),
        (["explain", "gather", "--ranks", "3", "--distribution", "random"], "try gatherv"),
        (["explain", "gatherv", "--ranks", "3", "--distribution", "gauss"], "unknown distribution 'gauss'"),
        (["explain", "gatherv", "--ranks", "3", "--root", "7"], "--root 7: expected 0 to 2"),
        (["explain", "gatherv", "--ranks", "3", "--algorithm", "x"], "gatherv has no algorithm 'x'"),
        (["explain", "gatherv", "--ranks", "3", "--steps", "3"], "--steps 3: expected a rank from 0 to 2"),
        (["explain", "gatherv", "--ranks", "3", "--steps", "1", "--json"], "--json excludes --steps (1)"),
        (["explain", "bcast", "--nodes", "2,2", "--steps", "1", "--json"], "--json excludes --steps (1)"),
        (["explain", "gatherv", "--ranks", "3", "--full", "--json"], "--json excludes --full"),
        (["map", "x", "--json", "--numbers"], "--json excludes --numbers"),
        (["explain", "gatherv", "--ranks", "3", "--machine", "/none"], "--machine /none: cannot be read: No such"),
        (["explain", "gatherv", "--ranks", "3", "--svg", "/none/x"], "--svg /none/x: No such"),
        (["simulate", "gatherv", "--ranks", "3", "--arrivals", "late"], "--arrivals late: expected"),
        (["simulate", "gatherv", "--ranks", "3", "--arrivals", "1us"], "1 times; expected 3"),
        (["simulate", "gatherv", "--ranks", "3", "--arrivals", "one-late:1us:3"], "0 to 2"),
        (["explain", "gatherv", "--ranks", "3", "--root", "\u00b2"], "--root \u00b2: expected 0 to 2"),
        (["simulate", "tables"], "unknown collective 'tables'"),
        (["verify", "--collective", "MPI_Gater"], "unknown collective 'MPI_Gater'; did you mean gather?"),
        (["verify", "--algorithm", "bogus"], "unknown algorithm 'bogus'"),
        (["verify", "--collective", "gatherv", "--algorithm", "ring"], "gatherv has no algorithm 'ring'"),
        (["verify", "--sampled", "-3"], "invalid --sampled -3: expected greater than or equal to 0"),
        (["verify", "--max-ranks", "0"], "invalid --max-ranks 0: expected greater than or equal to 1"),
        (["run", "--gatherv", "bogus", "true"], "invalid --gatherv bogus: gatherv has no algorithm 'bogus'"),
        (["run", "--report", "/none/x", "true"], "--report /none/x: no directory /none"),
        (["run", "--report", "/none/x.html", "true"], "--report /none/x.html: no directory /none"),
        (["tune", "--mpirun", "true", "--output", "/none/r.json"], "--output /none/r.json: no directory /none"),
        (["tune", "--plot", "x.odt"], "--plot x.odt: expected a file name that ends in .svg, .png or"),
        (["bench", "--plot", "/none/x.svg"], "--plot /none/x.svg: no directory /none"),
        (["map", "--picture", "x"], "--picture x: expected a file name that ends in"),
        (["run", "--", "mpirun -n 2 ./app"], "mpirun -n 2 ./app: no such program; give the words"),
        (["run"], "run needs a COMMAND, such as: tutti run -- mpirun -n 16 ./app"),
        (["report", "/none/r.json"], "/none/r.json: No such file"),
        (["report", __file__], "expected a report of tutti run --report NAME.json or NAME.html"),
        (["check", "--results", "/none"], "/none: No such file"),
        (["bench", "--results", "/none"], "needs --plot"),
        (["bench", "gatherv"], "tutti-bench is not installed"),
        (["check", "--mpirun", "mpirun -n 2"], "tutti-bench is not installed"),
    ],
)
def test_errors_are_one_line_that_names_the_value(command, installed, words, text):
    shown = command(*words)
    assert shown.status == 2
    assert text in shown.err
    assert shown.err.count("\n") == 1 and shown.err.startswith("tutti: ")


def test_a_report_needs_a_folder_that_can_be_written_to(command, installed):
    # Not even root can create a file in /proc, though its permissions say so.
    for name in ("r.json", "r.html"):
        shown = command("run", "--report", f"/proc/{name}", "true")
        assert shown.status == 2
        assert f"--report /proc/{name}: cannot write in the directory /proc: " in shown.err
    assert command("run", "--json", "--report", "/dev/null", "true").status == 0


@pytest.mark.parametrize("report", ["r.json", "r.html"])
def test_a_folder_that_is_not_utf_8_is_refused_for_reports(command, installed, monkeypatch, tmp_path, report):
    folder = tmp_path / os.fsdecode(b"caf\xe9")
    folder.mkdir()
    monkeypatch.chdir(folder)
    shown = command("run", "--report", report, "true")
    assert shown.status == 2 and shown.err.startswith("tutti: ") and shown.err.count("\n") == 1
    assert "expected" in shown.err and "UTF-8" in shown.err and "--report " in shown.err
    assert command("run", "--report", "-", "--json", "true").status == 0
    assert pages.delivery({"TUTTI_REPORT": "-"}) is None, "the library prints the report"


def test_a_folder_that_was_removed_keeps_no_report(command, installed, monkeypatch, tmp_path):
    (tmp_path / "gone").mkdir()
    monkeypatch.chdir(tmp_path / "gone")
    (tmp_path / "gone").rmdir()
    assert pages.delivery({"TUTTI_REPORT": "-"}) is None
    shown = command("run", "--report", "r.json", "true")
    assert shown.status == 2 and shown.err == "tutti: the current folder was removed\n"


@pytest.mark.parametrize(
    ("target", "status", "text"),
    [
        (">/dev/full", 2, "tutti: No space left on device\n"),
        (">&-", 0, ""),
        ("| true", 0, ""),
    ],
)
@pytest.mark.parametrize("name", ["list", "list gatherv"])
def test_output_that_cannot_be_written_is_one_line(name, target, status, text):
    script = f"{sys.executable} -m tutti {name} {target}"
    done = subprocess.run(["bash", "-c", script], capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stderr) == (status, text)


@pytest.mark.parametrize("words", [["list"], ["list", "--json"]])
def test_output_that_nobody_reads_is_no_error(words):
    reading, writing = os.pipe()
    os.close(reading)
    with os.fdopen(writing, "w") as unread:
        done = subprocess.run([sys.executable, "-m", "tutti", *words], stdout=unread,
                              stderr=subprocess.PIPE, text=True, timeout=60)  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "")


def test_errors_are_no_output_where_standard_error_is_closed():
    script = f"{sys.executable} -m tutti frobnicate 2>&-"
    done = subprocess.run(["bash", "-c", script], capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stdout) == (2, "")


def test_too_little_memory_is_one_line(command, monkeypatch):
    monkeypatch.setattr("tutti.commands.explain.sizes_of", lambda *_: [0] * (2 * 10**18))
    shown = command("explain", "gatherv", "--ranks", "3")
    assert (shown.status, shown.err) == (2, "tutti: out of memory\n")


@pytest.mark.parametrize("content", ["[" * 200_000, b"\x1f\x8b\xe3\xff"])
def test_what_is_no_report_is_named(command, tmp_path, content):
    path = tmp_path / "r.json"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    shown = command("report", str(path))
    assert shown.status == 2 and shown.err.startswith(f"tutti: {path}: neither JSON nor a page")


@pytest.mark.parametrize("content", ['{"format": 2, "calls": [{"si', '{"format": 2, "calls": []}\n{"format": 2, "ca'])
def test_a_report_that_was_cut_off_is_named(command, tmp_path, content):
    path = tmp_path / "r.json"
    path.write_text(content)
    shown = command("report", str(path))
    lines = content.count("\n") + 1
    assert shown.status == 2 and shown.err.count("\n") == 1
    assert shown.err.startswith(f"tutti: {path}: damaged, or cut off while it was written: ")
    assert f"Unterminated string starting at: line {lines} " in shown.err


def test_a_report_of_another_version_is_refused(command, tmp_path):
    path = tmp_path / "r.json"
    path.write_text('{"format": 9, "calls": []}')
    assert "format version 9; expected 1 or 2" in command("report", str(path)).err
    path.write_text("[]")
    assert "not a report of Tutti" in command("report", str(path)).err


def test_the_script_of_a_wheel_without_programs_does_not_start_itself(installed):
    (installed / "bin/tutti-bench").touch()
    assert libraries.programs() == installed / "bin"
    (installed / "bin/tutti-bench-mpich").unlink()
    assert libraries.programs() is None
    with pytest.raises(SystemExit, match="tutti-bench is not installed, whose build needs {fmt}: "):
        libraries.run_bench()


def test_a_launcher_that_starts_nothing_is_named(command, installed):
    (installed / "bin/tutti-bench").touch()
    shown = command("check", "--mpirun", "true")
    assert (shown.status, shown.err) == (2, "tutti: --mpirun true: the launcher started no tutti-bench\n")


def test_arrivals_of_a_known_kind_need_no_other_name(command):
    words = ("simulate", "gatherv", "--ranks", "3", "--arrivals")
    assert "did you mean" not in command(*words, "one-late:5").err
    assert "did you mean one-late?" in command(*words, "one-lat:5us").err


def test_a_missing_launcher_is_named(command, installed):
    (installed / "bin/tutti-bench").touch()
    shown = command("bench", "--mpirun", "no-such-mpirun -n 2", "gatherv")
    assert "no program no-such-mpirun" in shown.err


@pytest.mark.parametrize("encoding", ["ascii", "latin-1"])
def test_letters_that_the_terminal_lacks_are_escaped(encoding):
    done = subprocess.run(
        [sys.executable, "-m", "tutti", "check", "--help"], capture_output=True, check=True,
        env={**os.environ, "PYTHONIOENCODING": encoding},
    )  # fmt: skip
    assert ("Tr\\xe4ff" if encoding == "ascii" else "Träff").encode(encoding) in done.stdout


@pytest.mark.parametrize("words", [["run"], ["report"], ["rules", "check"], ["explain"], []])
def test_the_help_shows_no_type_of_switches_and_arguments(command, words):
    shown = command(*words, "--help").out
    assert "--help" in shown and not re.search(r"<\w+", shown)


def test_names_of_files_are_no_markup(command, installed, monkeypatch, tmp_path):
    folder = tmp_path / "a[" / "bold]"
    folder.mkdir(parents=True)
    rules = folder / "rules.json"
    rule = {"collective": "bcast", "use": "native"}
    rules.write_text(json.dumps({"schema": "tutti-rules-1", "rules": [rule]}))
    (tmp_path / "none.json").write_text(json.dumps({"schema": "tutti-rules-1", "rules": []}))
    assert str(rules) in command("rules", "diff", str(rules), str(tmp_path / "none.json")).out
    monkeypatch.setenv("TUTTI_RULES", str(rules))
    monkeypatch.setenv("TUTTI_REPORT", "[/red]")
    shown = command("info").out
    assert f"rules        {rules}\n" in shown and "[/red]" in shown
    assert json.loads(command("info", "--json").out)["rules"] == [str(rules)]

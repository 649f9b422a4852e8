"""The command line: the output of each command, its JSON, and its errors of one line."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
import tutti
from tutti import _engine, pages
from tutti.verification import verify

ROOT = Path(__file__).resolve().parents[2]

COMMANDS = (
    "run",
    "list",
    "info",
    "explain",
    "map",
    "verify",
    "simulate",
    "bench",
    "check",
    "report",
)
FIGURE = ("--root", "9", "--sizes", "1,0,2,3,4,2,0,0,1,7,5")


def test_help_names_every_command(command):
    shown = command("--help")
    assert shown.status == 0
    for name in COMMANDS:
        assert f" {name} " in shown.out
        assert command(name, "--help").status == 0
    assert command().status == 0
    assert command("--version").out == f"tutti {tutti.__version__}\n"


def test_list_shows_every_algorithm_and_papers_name(command):
    out = command("list").out
    for algorithm in tutti.algorithms():
        assert algorithm.name in out and algorithm.summary in out
    assert "TUW" in out
    assert command("list", "gatherv").out.split()[:2] == ["algorithm", "order"]
    parsed = json.loads(command("list", "scatter", "--json").out)
    assert {a["collective"] for a in parsed["algorithms"]} == {"scatter"}
    assert parsed["aliases"]["traff"] == "ordered_tree"


def test_info_shows_settings_with_their_values(command, installed, monkeypatch):
    monkeypatch.setenv("TUTTI_GATHERV", "linear")
    parsed = json.loads(command("info", "--json").out)
    assert {s["name"]: s["value"] for s in parsed["settings"]}["TUTTI_GATHERV"] == "linear"
    assert parsed["libraries"]["mpich"] == str(installed / "lib/libtutti-mpich.so")
    out = command("info").out
    assert "not built" in out  # Open MPI's
    # The table breaks long lines.
    assert all(word in out for setting in tutti.settings() for word in setting.meaning.split())


def test_explain_shows_the_crossovers_of_one_sided_broadcasts(command):
    sizes = ",".join(["64"] * 48)
    out = command("explain", "rma_bcast", "--sizes", sizes).out
    assert "By size, for 48 ranks: " in out
    assert "binary from " in out


def test_explain_draws_the_papers_example(command):
    tree = ("--algorithm", "ordered_tree")
    out = command("explain", "gatherv", "--ranks", "11", *FIGURE, *tree, "--steps", "3").out
    assert "   +- 3:12 -+- 2:2\n            +- 0:1\n            +- 4:6 --- 5:2\n" in out
    assert "3 send 9 [0,8) 12" in out
    assert "times the bound" in out


def test_explain_writes_drawings(command, tmp_path):
    svg, goal, schedules = (tmp_path / name for name in ("t.svg", "t.goal", "t.json"))
    files = ("--svg", str(svg), "--goal", str(goal), "--schedules", str(schedules))
    parsed = json.loads(command("explain", "gatherv", *FIGURE, *files, "--json").out)
    assert parsed["algorithm"] == parsed["auto"][0] == "native"
    assert parsed["drawn"] == parsed["algorithms"][0]["name"] != "native"
    assert parsed["lower_bound_seconds"] <= parsed["seconds"]
    assert svg.read_text().startswith("<svg")
    assert goal.read_text().startswith("num_ranks 11")
    assert len(json.loads(schedules.read_text())["ranks"]) == 11


def test_explain_leaves_out_what_is_long(command):
    call = ("explain", "scatter", "--ranks", "300", "--algorithm", "linear")
    assert "more lines; --full shows them" in command(*call).out
    assert "more lines" not in command(*call, "--full").out


def test_simulate_orders_algorithms_by_time(command, tmp_path):
    svg, timeline = tmp_path / "t.svg", tmp_path / "t.json"
    parsed = json.loads(
        command(
            "simulate", "gatherv", "--ranks", "64", "--distribution", "spikes", "--block", "1K",
            "--arrivals", "one-late:500us", "--json",
            "--svg", str(svg), "--timeline", str(timeline),
        ).out
    )  # fmt: skip
    seconds = [a["seconds"] for a in parsed["algorithms"]]
    assert seconds == sorted(seconds)
    assert parsed["spread_seconds"] == pytest.approx(500e-6)
    assert "time in us" in svg.read_text()
    assert len(json.loads(timeline.read_text())["exits"]) == 64
    assert "SIMULATED" in command("simulate", "gatherv", "--ranks", "64").out


def test_modelled_times_say_whose_machine_it_is(command, tmp_path):
    words = ("gatherv", "--ranks", "3")
    file = tmp_path / "machine"
    file.write_text("latency 3e-6\n")
    for name in ("explain", "simulate"):
        built_in, named = command(name, *words), command(name, *words, "--machine", str(file))
        assert "Machine: built-in parameters, not this one's; tutti-bench machine measures" in built_in.out
        assert f"Machine: {file}." in named.out and "built-in" not in named.out


def test_verify_counts_its_cases(command):
    shown = command("verify", "--collective", "gather", "--max-ranks", "2", "--sampled", "0")
    assert shown.status == 0 and "all right" in shown.out
    parsed = json.loads(command("verify", "--max-ranks", "3", "--algorithm", "ring", "--sampled", "0", "--json").out)
    assert parsed["cases"] > 0 and parsed["programs"] > parsed["cases"]
    assert parsed["failures"] == []


def test_verify_ends_all_threads_after_an_interrupt():
    shares = []

    def interrupt_once(done: float, _: str) -> None:
        shares.append(done)
        if len(shares) == 1:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        verify(12, 0, collective="gatherv", threads=2, progress=interrupt_once)
    assert max(shares) < 0.4, "the other thread has verified its half"


def test_verify_fails_with_what_reproduces_it(command, monkeypatch):
    class Result:
        cases, programs, failed = 30, 50, 9
        failures = [f"gatherv linear p {p} root 1: planted" for p in (2, 3, 4, 5)]

    monkeypatch.setattr("tutti.commands.verify.verify_all", lambda *_, **__: Result())
    shown = command("verify", "--algorithm", "linear")
    lines = shown.out.splitlines()
    assert shown.status == 1 and lines[0] == "gatherv linear p 2 root 1: planted"
    assert "p 5" not in shown.out and re.fullmatch(r"30 cases, 50 programs in .* s: 9 failed", lines[-1])


def test_verify_refuses_to_verify_nothing(command, monkeypatch):
    class Nothing:
        cases = programs = failed = 0
        failures: list[str] = []

    monkeypatch.setattr("tutti.commands.verify.verify_all", lambda *_, **__: Nothing())
    shown = command("verify", "--algorithm", "linear")
    assert shown.status == 2 and "no case matches" in shown.err and not shown.out


def test_run_says_what_it_would_execute(command, installed):
    parsed = json.loads(
        command("run", "--gatherv", "TUW", "--report", "-", "--json", "true", "x").out
    )
    assert parsed["command"] == ["true", "x"]
    assert parsed["environment"]["TUTTI_GATHERV"] == "ordered_tree:rule=gather_time,promote=off"
    assert parsed["environment"]["TUTTI_REPORT"] == "-"
    off = json.loads(command("run", "--off", "--json", "--", "true").out)
    assert off["environment"]["TUTTI"] == "off"


@pytest.mark.parametrize("collective", _engine.collectives())
def test_every_collective_has_a_setting_and_documentation(collective):
    setting = "TUTTI_" + collective.upper()
    assert [one.name for one in tutti.settings()].count(setting) == 1
    assert f"\n| `{setting}` |" in (ROOT / "docs/generated/settings.md").read_text()
    assert f"\n| `{collective}` |" in (ROOT / "docs/generated/collectives.md").read_text()
    assert f"int TUTTI_{collective.capitalize()}(" in (ROOT / "include/tutti/tutti.h").read_text()


def test_the_documented_meanings_are_those_of_the_library():
    documented = (ROOT / "docs/generated/settings.md").read_text()
    for setting in tutti.settings():
        assert f"\n| `{setting.name}` | `{setting.default}` | {setting.accepted} | {setting.meaning} |" in documented


VALUES = {
    "TUTTI_REPORT": "-", "TUTTI_MACHINE": "built-in", "TUTTI_DISTANCES": "none",
    "TUTTI_RULES": "none", "TUTTI_HIERARCHY": "flat", "TUTTI_NODE": "1,2", "TUTTI_EXPLORE": "0.5",
    "TUTTI_NODE_MEMORY": "1M", "TUTTI_MEMORY": "1K", "TUTTI_LEARN": "keep",
    **{"TUTTI_" + name.upper(): "auto" for name in _engine.collectives()},
}  # fmt: skip
"""A valid value of each setting that is not on or off."""


def test_run_has_an_option_for_every_setting(command, installed):
    for setting in tutti.settings():
        if setting.name == "TUTTI":
            continue
        value = VALUES.get(setting.name, "on")
        option = "--" + setting.name.removeprefix("TUTTI_").lower()
        parsed = json.loads(command("run", option, value, "--json", "true").out)
        assert parsed["environment"][setting.name] == value


@pytest.mark.parametrize("setting", [setting.name for setting in tutti.settings()])
def test_run_checks_every_setting_before_the_program_starts(
    command, installed, monkeypatch, setting
):
    path = "/none/such"  # no setting accepts it
    option = "--" + setting.removeprefix("TUTTI_").lower()
    if setting != "TUTTI":
        shown = command("run", option, path, "--json", "true")
        assert shown.status == 2 and f"invalid {option} {path}: " in shown.err, shown.err
        assert shown.err.count("\n") == 1
    monkeypatch.setenv(setting, path)
    shown = command("run", "--json", "true")
    assert shown.status == 2 and f"invalid {setting}={path}: " in shown.err


@pytest.mark.parametrize(
    ("setting", "accepted"),
    [
        ("TUTTI_HIERARCHY=nodes", "expected auto, flat, hierarchical or"),
        ("TUTTI_LEVEL=nodes", "expected auto, flat, hierarchical or"),
        ("TUTTI_MACHINE=/nope", "expected built-in or a file that tutti-bench machine wrote"),
        ("TUTTI_VERBOSE=oui", "expected on, 1, true, yes or off, 0, false, no"),
        ("TUTTI_EXPLORE=2", "expected a number from 0 to 1"),
        ("TUTTI_MEMORY=1", "expected none, or at least 1K bytes"),
        ("TUTTI_GATHERV=knomial:ordr=natural", "did you mean order?"),
        ("TUTTI_RULES=/nope", "expected none or a file that tutti tune wrote"),
    ],
)
def test_run_says_what_a_setting_accepts(command, installed, monkeypatch, setting, accepted):
    monkeypatch.setenv(*setting.split("=", 1))
    assert accepted in command("run", "--json", "true").err


@pytest.mark.parametrize("text", ["on", "1", "true", "yes", "Yes", "off", "0", "false", "no", "OFF"])
def test_run_takes_all_words_for_on_and_off(command, installed, text):
    parsed = json.loads(command("run", "--verbose", text, "--json", "true").out)
    is_on = text.lower() in ("on", "1", "true", "yes")
    assert parsed["environment"]["TUTTI_VERBOSE"] == ("on" if is_on else "off")


@pytest.mark.parametrize("name", ["TUTTI_LIBRARY", "TUTTI_LIBRARY_DIR", "TUTTI_BENCH_MPI"])
def test_run_accepts_what_others_of_the_project_set(command, installed, monkeypatch, name):
    monkeypatch.setenv(name, str(installed / "lib"))
    assert command("run", "--json", "true").status == 0


def test_run_names_the_setting_that_is_meant(command, installed, monkeypatch):
    monkeypatch.setenv("TUTTI_GATHRE", "linear")
    assert "did you mean TUTTI_GATHER?" in command("run", "--json", "true").err


@pytest.mark.parametrize("name", ["TUTTI_MACHINE", "TUTTI_DISTANCES", "TUTTI_REPORT"])
@pytest.mark.parametrize("kind", ["directory", "pipe"])
def test_run_refuses_what_is_no_file(command, installed, tmp_path, monkeypatch, name, kind):
    path = tmp_path / "wrong"
    path.mkdir() if kind == "directory" else os.mkfifo(path)
    monkeypatch.setenv(name, str(path))
    shown = command("run", "--json", "true")
    assert shown.status == 2
    assert f"{name}={path}: is a {kind}" in shown.err
    assert shown.err.count("\n") == 1


@pytest.mark.parametrize("path", ["/dev/zero", "/bin/ls", "/etc/passwd"])
def test_a_machine_is_a_file_of_one(command, path):
    shown = command("explain", "gatherv", "--ranks", "3", "--machine", path)
    assert shown.status == 2
    assert shown.err.startswith(f"tutti: invalid --machine {path}: ") and shown.err.count("\n") == 1


def test_a_bad_machine_that_nobody_named_is_passed_over(command):
    cached = Path(os.environ["XDG_CACHE_HOME"], "tutti", "machine")
    cached.parent.mkdir()
    cached.write_text("latency 0.012\n")
    shown = command("explain", "gatherv", "--ranks", "3")
    assert shown.status == 0
    assert shown.err == (
        f"tutti: ignoring {cached}, using the built-in machine: line 1, "
        '"latency 0.012": expected latency from 1e-09 to 0.01\n'
    )


CALL = {
    "collective": "gatherv",
    "site": "app.c:12",
    "calls": 3,
    "bytes": 4096,
    "irregularity": {"mean": 2.5, "max": 3.0},
    "algorithm": "ordered_tree",
    "reason": "modelled 3 us",
    "seconds": {"mean": 0.25, "max": 0.5},
    "elapsed": {"mean": 0.2, "sum": 0.6},
    "spread": None,
}


def test_report_is_shown(command, tmp_path):
    path = tmp_path / "r.json"
    path.write_text(
        json.dumps({"tutti": "0.1.0", "mpi": "MPICH 4", "ranks": 4, "format": 2, "calls": [CALL]})
    )
    out = command("report", str(path)).out
    for text in (
        "MPICH 4",
        "4 ranks",
        "app.c:12",
        "4.00 KiB",
        "2.50",
        "250 ms",
        "ordered_tree",
        "modelled 3 us",
    ):
        assert text in out
    assert json.loads(command("report", str(path), "--json").out)["calls"] == [CALL]


@pytest.mark.parametrize(
    ("words", "text"),
    [
        (["frobnicate"], "No such command 'frobnicate'"),
        (["list", "prefix"], "unknown collective 'prefix'; valid collectives: gather, gatherv"),
        (["list", "gater"], "did you mean gather?"),
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
        (["explain", "gatherv", "--ranks", "3", "--machine", "/none"], "--machine /none: cannot be read: No such"),
        (["explain", "gatherv", "--ranks", "3", "--svg", "/none/x"], "--svg /none/x: No such"),
        (["simulate", "gatherv", "--ranks", "3", "--arrivals", "late"], "--arrivals late: expected"),
        (["simulate", "gatherv", "--ranks", "3", "--arrivals", "1us"], "1 times; expected 3"),
        (["simulate", "gatherv", "--ranks", "3", "--arrivals", "one-late:1us:3"], "0 to 2"),
        (["explain", "gatherv", "--ranks", "3", "--root", "\u00b2"], "--root \u00b2: expected 0 to 2"),
        (["simulate", "tables"], "unknown collective 'tables'"),
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


def test_a_report_of_another_version_is_refused(command, tmp_path):
    path = tmp_path / "r.json"
    path.write_text('{"format": 9, "calls": []}')
    assert "format version 9; expected 1 or 2" in command("report", str(path)).err
    path.write_text("[]")
    assert "not a report of Tutti" in command("report", str(path)).err


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

"""The command line: the output of each command and its JSON."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
import tutti
from tutti import _engine, cli, verification
from tutti.verification import verify

FIGURE = ("--root", "9", "--sizes", "1,0,2,3,4,2,0,0,1,7,5")


def test_help_names_every_command(command):
    shown = command("--help")
    assert shown.status == 0
    for name, entry in cli.COMMANDS.items():
        row = re.search(rf"^\W*{name} .*{re.escape(entry.line[:40])}", shown.out, re.MULTILINE)
        assert (row is None) == entry.hidden, name
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
    monkeypatch.setenv("COLUMNS", "1000")  # so that no line is broken
    rows = [" ".join(line.split()) for line in command("info").out.splitlines()]
    assert any("tutti-mpiabi" in row and row.endswith("not built") for row in rows)
    for setting in tutti.settings():
        now = "linear " if setting.name == "TUTTI_GATHERV" else ""
        shown = f"{setting.name} {now}{setting.meaning} {setting.default} {setting.accepted}"
        assert " ".join(shown.split()) in rows, setting.name


def test_info_shows_the_files_that_programs_read(command, installed, tmp_path, monkeypatch):
    def shown() -> tuple[list[str], dict]:
        rows = [" ".join(row.split()) for row in command("info").out.splitlines()]
        return rows, json.loads(command("info", "--json").out)

    monkeypatch.setenv("COLUMNS", "1000")
    monkeypatch.setenv("TUTTI_CACHE_DIR", str(tmp_path / "kept"))
    rows, parsed = shown()
    assert {"machine built-in", "learned nothing kept"} <= set(rows)
    assert (parsed["machine"], parsed["learned"]) == (None, [])
    (tmp_path / "kept").mkdir()
    machine, *learned = (
        str(tmp_path / "kept" / name) for name in ("machine", _engine.kept_rules_name, "distances.json")
    )
    for file in (machine, *learned):
        Path(file).touch()
    rows, parsed = shown()
    assert f"machine {machine}" in rows
    assert f"learned {', '.join(learned)}; read with TUTTI_LEARN=keep only" in rows
    assert (parsed["machine"], parsed["learned"]) == (machine, learned)
    monkeypatch.setenv("TUTTI_LEARN", "keep")
    monkeypatch.setenv("TUTTI_MACHINE", "built-in")
    assert {"machine built-in", f"learned {', '.join(learned)}"} <= set(shown()[0])


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


def test_simulate_draws_the_fastest(command, tmp_path):
    """Of one-sided calls too, for which Tutti selects by another model."""
    svg = tmp_path / "t.svg"
    for collective in ("rma_bcast", "gather"):
        words = ("simulate", collective, "--ranks", "40", "--block", "8", "--svg", str(svg))
        fastest = json.loads(command(*words, "--json").out)["algorithms"][0]["name"]
        assert f"{collective}, {fastest}, 40 ranks" in svg.read_text()
        command(*words, "--algorithm", "linear")
        assert f"{collective}, linear, 40 ranks" in svg.read_text() and fastest != "linear"


def test_modelled_times_say_whose_machine_it_is(command, tmp_path):
    words = ("gatherv", "--ranks", "3")
    file = tmp_path / "machine"
    file.write_text("latency 3e-6\n")
    for name in ("explain", "simulate"):
        built_in, named = command(name, *words), command(name, *words, "--machine", str(file))
        assert "Machine: built-in parameters, not this one's; tutti-bench machine measures" in built_in.out
        assert f"Machine: {file}." in named.out and "built-in" not in named.out


@pytest.mark.parametrize("name", ["explain", "simulate"])
def test_collectives_may_have_the_names_of_their_functions(command, name):
    words = ("--ranks", "4", "--distribution", "spikes", "--json")
    assert command(name, "MPI_Gatherv", *words).out == command(name, "gatherv", *words).out


def test_verify_counts_its_cases(command):
    shown = command("verify", "--collective", "gather", "--max-ranks", "2", "--sampled", "0")
    assert shown.status == 0 and "all right" in shown.out
    parsed = json.loads(command("verify", "--max-ranks", "3", "--algorithm", "ring", "--sampled", "0", "--json").out)
    assert parsed["cases"] > 0 and parsed["programs"] > parsed["cases"]
    assert parsed["failures"] == []


def test_verify_knows_algorithms_by_the_names_of_papers(command):
    words = ("verify", "--max-ranks", "3", "--sampled", "0", "--json")
    counts = [
        json.loads(command(*words, "--collective", collective, "--algorithm", name).out)["cases"]
        for collective, name in (("gather", "linear_sync"), ("Gather", "LS"), ("MPI_Gather", "linear_sync"))
    ]
    assert counts[0] > 0 and counts == [counts[0]] * 3
    shown = command("verify", "--collective", "Gather", "--algorithm", "auto")
    assert "gather has no algorithm 'auto'; valid algorithms: linear, " in shown.err
    for refused in ("auto", "native", "LS"):
        assert f" {refused}," not in shown.err


def test_verify_ends_all_threads_after_an_interrupt(monkeypatch):
    shares = []
    sweep = verification._engine.sweep

    def noted(*words):
        *others, report = words
        return sweep(*others, lambda done, at: (shares.append(done), report(done, at)))

    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(verification._engine, "sweep", noted)
    with pytest.raises(KeyboardInterrupt):
        verify(12, 0, collective="gatherv", threads=2, progress=interrupt)
    assert shares and max(shares) < 0.4, "a thread has verified its half"


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

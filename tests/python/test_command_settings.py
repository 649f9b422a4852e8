"""Settings on the command line, and in the documentation."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
import tutti
from tutti import _engine

ROOT = Path(__file__).resolve().parents[2]


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
    "TUTTI_CACHE_DIR": "/tmp", "TUTTI_NODE_MEMORY": "1M", "TUTTI_MEMORY": "1K", "TUTTI_LEARN": "keep",
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
    path = "/dev/null/such"  # no setting accepts it
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
        ("TUTTI_CACHE_DIR=/etc/passwd", "Not a directory; expected a folder"),
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


def test_run_accepts_a_cache_folder_that_the_nodes_may_have(command, installed, monkeypatch):
    monkeypatch.setenv("TUTTI_CACHE_DIR", "/none/such")
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

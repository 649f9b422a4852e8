"""The command starts soon: it imports what the given command needs, and `--help` needs no command."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from tutti import _engine
from tutti.cli import COMMANDS, app

ROOT = Path(__file__).resolve().parents[2]


def imported(code: str) -> set[str]:
    """The modules that a new Python has imported after some code."""
    names = "import sys; print(*sys.modules, file=sys.stderr)"
    done = subprocess.run(
        [sys.executable, "-c", f"{code}\n{names}"], capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 0, done.stderr
    return set(done.stderr.split())


def test_the_package_imports_neither_the_command_line_nor_numpy():
    assert not imported("import tutti") & {"typer", "rich", "numpy", "tutti.cli", "tutti.bench"}


def test_help_imports_no_command():
    loaded = imported("from tutti.cli import main; assert main(['--help']) == 0")
    assert not [name for name in loaded if name.startswith("tutti.commands")]


def test_a_command_imports_no_other():
    loaded = imported("from tutti.cli import main; assert main(['diff', '--help']) == 0")
    assert "tutti.commands.diff" in loaded
    assert not loaded & {"tutti_lab", "tutti.commands.tune", "tutti.commands.explain"}


@pytest.mark.parametrize("name", [name for name, entry in COMMANDS.items() if not entry.hidden])
def test_the_list_of_commands_has_the_first_sentence_of_each_help(name):
    shown = CliRunner().invoke(app, [name, "--help"], env={"COLUMNS": "200", "TERM": "dumb"})
    assert shown.exit_code == 0, shown.output
    assert COMMANDS[name].line in " ".join(shown.output.split())


def test_a_command_of_a_missing_package_says_what_to_install(command, monkeypatch):
    monkeypatch.delitem(sys.modules, "tutti_lab.command", raising=False)
    monkeypatch.setitem(sys.modules, "tutti_lab", None)
    shown = command("lab", "status")
    assert shown.status == 2
    assert "pip install ./python/lab" in shown.err and shown.err.count("\n") == 1


def test_packages_apart_have_the_version_of_tutti():
    for entry in COMMANDS.values():
        if entry.folder:
            project = (ROOT / entry.folder / "pyproject.toml").read_text()
            assert f'version = "{_engine.version}"' in project

"""`tutti run`: runs a program under Tutti."""

from __future__ import annotations

import functools
import inspect
import os
import shutil
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from tutti import _engine, launcher, libraries, pages, rules, unseen, workload
from tutti.commands.compare import compare as run_in_turn
from tutti.commands.compare import rounds_of
from tutti.console import Refusal, expanded, is_utf_8, literal, print_json, why_not_writable


@dataclass(frozen=True)
class Start:
    """The command to execute, and the environment variables that Tutti sets for it."""

    command: list[str]
    environment: dict[str, str]


def check_settings(variables: Mapping[str, str]) -> None:
    """Raises Refusal, with the variable, for unknown names, and for invalid values and files that
    cannot be read or written, which the library would refuse or ignore."""
    ours = launcher.ours(variables)
    for name, value in ours.items():
        if not _engine.is_setting(name):
            raise Refusal(_engine.unknown_setting(name))
        if not is_utf_8(value):
            raise Refusal(f"invalid {name}={value}: expected UTF-8")
    if error := _engine.settings_error(ours):
        raise Refusal(error)
    if ours.get("TUTTI_DISTANCES") not in (None, "", "none"):
        workload.distances_of(Path(ours["TUTTI_DISTANCES"]), "invalid TUTTI_DISTANCES=")
    if ours.get("TUTTI_RULES") not in (None, "", "none"):
        _check_rules(ours["TUTTI_RULES"])
    _check_cache_folder(ours.get("TUTTI_CACHE_DIR", ""))
    report_target(ours.get("TUTTI_REPORT", "none"))


def _check_cache_folder(name: str) -> None:
    """Refuses a file, and what lies in one. A folder that is missing here may exist on the nodes."""
    try:
        os.stat(os.path.join(name, "."))
    except NotADirectoryError as error:
        raise Refusal(
            f"invalid TUTTI_CACHE_DIR={name}: {error.strerror}; expected a folder, or one to be made in "
            "a folder"
        ) from None
    except OSError:
        pass


def _check_rules(file: str) -> None:
    try:
        rules.read(Path(file))
    except Refusal as error:
        raise Refusal(
            f"invalid TUTTI_RULES={error}; expected none or a file that tutti tune wrote"
        ) from None


def _by_option(settings: Mapping[str, str], error: str) -> str:
    """An error about a variable; with the name of its option if an option has set it."""
    for name in settings:
        error = error.replace(f"invalid {name}=", f"invalid --{_option_name(name)} ")
    return error


def _normal(name: str, text: str) -> str:
    """The value of an option as the library is to read it: the shortest text of an algorithm, on
    or off, an absolute path. An invalid value is kept, for check_settings to name."""
    collective = name.removeprefix("TUTTI_").lower()
    try:
        if collective in _engine.collectives():
            return _engine.setting(collective, text)
        if name in _SWITCHES:
            return "on" if _engine.is_on(text) else "off"
    except ValueError:
        return text
    is_file = name in _FILES and text not in ("", "-", "none", "built-in")
    if name == "TUTTI_REPORT" and is_file:
        return _absolute(text)
    return str(Path(text).absolute()) if is_file else text


def _absolute(report: str) -> str:
    """The same value of TUTTI_REPORT for any current folder."""
    return report if Path(report).is_absolute() else f"{literal(Path.cwd())}/{report}"


def report_target(text: str, named: str = "invalid TUTTI_REPORT=") -> str:
    """The target of the report: none, - or an absolute path.

    Raises Refusal, which begins with `named`, if its folder is missing, or cannot be written to.
    """
    if text in ("", "-", "none"):
        return text
    if reason := why_not_writable(expanded(text)):
        raise Refusal(f"{named}{text}: {reason}")
    return _absolute(text)


def prepare(
    command: Sequence[str],
    settings: Mapping[str, str],
    environment: Mapping[str, str],
    version: launcher.Version = launcher.version_of,
) -> Start:
    """The command and environment with which `command` runs under Tutti.

    Args:
        command: as the user would type it.
        settings: TUTTI_ variables from options; they override the environment.
        environment: the environment of `tutti`.
        version: returns the version text of a launcher.

    Raises:
        Refusal: a setting is wrong; the program, Tutti's library or the backend for its MPI is
            missing.
    """
    try:
        check_settings({**environment, **settings})
    except Refusal as error:
        raise Refusal(_by_option(settings, str(error))) from None
    folders = [str(folder) for folder in (own_folder(), libraries.programs()) if folder]
    # Behind the user's, so that ranks find the user's Python and MPI.
    path = os.pathsep.join([environment.get("PATH") or os.defpath, *dict.fromkeys(folders)])
    first = command[0]
    if shutil.which(first, path=path) is None:
        why = "not executable (chmod +x)" if Path(first).is_file() else "no such program"
        hint = "; give the words of the command unquoted, each on its own" if " " in first else ""
        raise Refusal(f"{first}: {why}{hint}")
    preload = str(libraries.front())
    wanted = {**environment, **settings}
    is_off = _normal("TUTTI", wanted.get("TUTTI", "")) == "off" and not wanted.get("TUTTI_REPORT")
    if not is_off and (mpi := unseen.without_backend(command, libraries.flavours(), version)):
        raise Refusal(f"no backend for {mpi}, the MPI of this command; {libraries.INSTALL}")
    if environment.get("LD_PRELOAD"):
        preload += ":" + environment["LD_PRELOAD"]
    added = {**settings, "LD_PRELOAD": preload, "PATH": path}
    variables = {"LD_PRELOAD": preload, **launcher.ours(wanted)}
    words = launcher.pass_on(command, launcher.find(command, version), variables, environment)
    return Start(words, added)


def own_folder() -> Path | None:
    """The folder of the running command; None if it is not the installed `tutti`."""
    path = shutil.which(sys.argv[0])
    return Path(path).resolve().parent if path and Path(path).name == "tutti" else None


_SWITCHES = frozenset(one.name for one in _engine.settings() if one.accepted == "on, off")
_FILES = frozenset(
    {"TUTTI_REPORT", "TUTTI_MACHINE", "TUTTI_DISTANCES", "TUTTI_RULES", "TUTTI_CACHE_DIR"}
)
"""Settings that name a file or folder. Ranks may run in another folder, so its path becomes absolute."""


def _option_name(setting: str) -> str:
    """The option of a setting: gather for TUTTI_GATHER. That of TUTTI is --off."""
    return setting.removeprefix("TUTTI_").lower() if setting != "TUTTI" else "off"


def _words_of(setting: _engine.Setting) -> list[str]:
    """The values that a shell may complete; none where they are numbers or files."""
    collective = _option_name(setting.name)
    if collective in _engine.collectives():
        named = [one.name for one in _engine.algorithms() if one.collective == collective]
        return ["auto", "native", *named]
    first = setting.accepted.split(",")
    return [word.strip() for word in first if word.strip().isalpha()]


def _option_of(setting: _engine.Setting) -> inspect.Parameter:
    """The option of a setting: --gather for TUTTI_GATHER."""
    name = _option_name(setting.name)
    former = _engine.former_name_of(setting.name).removeprefix("TUTTI_").lower()
    names = [f"--{one}" for one in (name, former) if one]
    value = "on|off" if setting.name in _SWITCHES else "VALUE"
    words = _words_of(setting)
    option = typer.Option(*names, metavar=value, autocompletion=lambda: words, help=setting.meaning, rich_help_panel="Settings")
    kind = Annotated[str | None, option]
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=kind)


def _with_settings(command: Callable[..., None]) -> Callable[..., None]:
    """Adds an option for each setting to a command that takes `values`."""
    own = inspect.signature(command, eval_str=True)
    kept = [one for one in own.parameters.values() if one.kind is not one.VAR_KEYWORD]
    # The setting TUTTI has the option --off.
    added = [_option_of(one) for one in _engine.settings() if one.name != "TUTTI"]
    command.__signature__ = own.replace(parameters=[*kept, *added])  # type: ignore[attr-defined]
    return command


@_with_settings
def run(
    command: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="COMMAND",
            help="The command that starts the program, with its launcher and all arguments.",
        ),
    ] = None,
    off: Annotated[
        bool, typer.Option("--off", help="Leave every call to the MPI; with --report they are recorded.")
    ] = False,
    as_json: Annotated[
        bool,
        typer.Option(
            "--json",
            help="Print the command and environment, execute nothing; with --compare, the times.",
        ),
    ] = False,
    compare: Annotated[
        bool,
        typer.Option("--compare", help="Run natively and under Tutti in turn; compare times and output."),
    ] = False,
    rounds: Annotated[
        str | None,
        typer.Option(metavar="N", help="For --compare: the number of runs of each. Default: 7."),
    ] = None,
    **values: str | None,
) -> None:
    """Run an unmodified MPI program under Tutti.

    The program needs no recompilation: Tutti is preloaded on all ranks. Without further options
    Tutti selects the algorithms itself. `tutti info` lists the values that each setting accepts,
    and `tutti list` the algorithms.

    ```
    tutti run -- mpirun -n 16 ./app input.txt
    tutti run --report run.html -- mpirun -n 16 ./app input.txt
    tutti run --compare -- mpirun -n 16 ./app input.txt
    tutti run --bcast chain:parts=64 -- srun -n 512 python3 app.py
    ```
    """
    if not command:
        raise Refusal("run needs a COMMAND, such as: tutti run -- mpirun -n 16 ./app")
    settings = {
        "TUTTI_" + name.upper(): _normal("TUTTI_" + name.upper(), text)
        for name, text in values.items()
        if text is not None
    }
    if off:
        settings["TUTTI"] = "off"
    number = rounds_of(rounds, compare)
    early_end = launcher.early_end(command)
    if early_end and (compare or pages.is_page(settings)):
        option = "--compare" if compare else f"--report {pages.target_of(settings)}"
        raise Refusal(f"{option}: {early_end}")
    if not as_json:
        for note in unseen.notes(command):
            print(f"tutti: {note}", file=sys.stderr)
    if compare:
        _refuse_with_compare(settings)
        raise typer.Exit(run_in_turn(_preparing(command), command, settings, number, as_json))
    if as_json:
        pages.page_of(settings)
        start = prepare(command, settings, os.environ)
        print_json({"command": start.command, "environment": start.environment})
        return
    # A job that is submitted delivers its report itself, when it ends.
    deliver = None if early_end else pages.delivery(settings)
    start = prepare(command, settings, os.environ)
    if deliver is not None:
        raise typer.Exit(pages.run(start.command, start.environment, command, deliver))
    try:
        os.execvpe(start.command[0], start.command, {**os.environ, **start.environment})
    except OSError as error:
        raise Refusal(f"{start.command[0]}: {error.strerror}") from None


def _refuse_with_compare(settings: Mapping[str, str]) -> None:
    report = os.environ.get("TUTTI_REPORT", "")
    refused = {"TUTTI": _normal("TUTTI", os.environ.get("TUTTI", "")) == "off",
               "TUTTI_REPORT": report not in ("", "none")}  # fmt: skip
    for name, option in (("TUTTI", "--off"), ("TUTTI_REPORT", "--report")):
        value = os.environ.get(name, "")
        if name in settings or refused[name]:
            word = option if name in settings else f"{name}={value}"
            raise Refusal(f"--compare and {word}: expected one of them")


def _preparing(command: list[str]) -> Callable[[dict[str, str]], tuple[list[str], dict[str, str]]]:
    """Prepares a command again and again; asks the launcher for its version once."""
    version = functools.cache(launcher.version_of)

    def start(settings: dict[str, str]) -> tuple[list[str], dict[str, str]]:
        made = prepare(command, settings, os.environ, version)
        return made.command, made.environment

    return start

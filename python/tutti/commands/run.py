"""`tutti run`: a program under Tutti."""

from __future__ import annotations

import inspect
import os
import shlex
import shutil
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from tutti import _engine, launcher, libraries, workload
from tutti.console import Refusal, print_json


@dataclass(frozen=True)
class Start:
    """What will be executed."""

    command: list[str]
    environment: dict[str, str]
    """Only the variables that Tutti sets."""


def check_environment(environment: Mapping[str, str]) -> None:
    """Refuses TUTTI_ variables that mean nothing, and wrong values of those that do."""
    for name, value in environment.items():
        if not _ours(name):
            continue
        if not _engine.is_setting(name):
            raise Refusal(f"{name}={value}: {_engine.unknown_setting(name)}")
        collective = name.removeprefix("TUTTI_").lower()
        if collective in _engine.collectives():
            check_algorithm(collective, value, name)
    if environment.get("TUTTI_MACHINE"):
        workload.check_machine(environment)
    if environment.get("TUTTI_DISTANCES", "none") != "none":
        workload.distances_of(Path(environment["TUTTI_DISTANCES"]), "TUTTI_DISTANCES=")
    report = environment.get("TUTTI_REPORT", "")
    if why := _engine.why_no_output(report):
        raise Refusal(f"TUTTI_REPORT={report}: {why}; accepted are none, - and the name of a file")


def check_algorithm(collective: str, text: str, name: str) -> str:
    """The setting of a collective as short as it gets; refuses one that means nothing."""
    try:
        return _engine.setting(collective, text)
    except ValueError as error:
        raise Refusal(f"{name}={text}: {error}") from None


def _checked(name: str, text: str) -> str:
    """The value of an option; refuses one that can be seen to be wrong here."""
    if name in _engine.collectives():
        return check_algorithm(name, text, "--" + name)
    return report_target(text) if name == "report" else text


def report_target(text: str) -> str:
    """Where the report goes: none, -, or a file in a folder that exists, as an absolute path."""
    if text in ("-", "none"):
        return text
    path = Path(text).absolute()
    if not path.parent.is_dir():
        raise Refusal(f"--report {text}: there is no folder {path.parent}")
    return str(path)


def prepare(
    command: Sequence[str],
    settings: Mapping[str, str],
    environment: Mapping[str, str],
    version: launcher.Version = launcher.version_of,
) -> Start:
    """What to execute so that `command` runs under Tutti.

    Args:
        command: as the user would type it.
        settings: TUTTI_ variables that options ask for; they win over the environment.
        environment: the one that `tutti` was called in.
        version: finds out what a launcher is.

    Raises:
        Refusal: a setting is wrong, the program is not there, or Tutti's library is not.
    """
    check_environment({**environment, **settings})
    first = command[0]
    if shutil.which(first, path=environment.get("PATH")) is None:
        raise Refusal(f"{first}: there is no such program")
    preload = str(libraries.front())
    if environment.get("LD_PRELOAD"):
        preload += ":" + environment["LD_PRELOAD"]
    added = {**settings, "LD_PRELOAD": preload}
    places = [str(place) for place in (own_folder(), libraries.programs()) if place]
    added["PATH"] = os.pathsep.join([*dict.fromkeys(places), environment.get("PATH", "")])
    handed = ["LD_PRELOAD", *sorted({name for name in {**environment, **settings} if _ours(name)})]
    words = launcher.pass_on(command, launcher.find(command, version), handed)
    return Start(words, added)


def own_folder() -> Path | None:
    """The folder of the command `tutti`, where it is installed as one."""
    path = shutil.which(sys.argv[0])
    return Path(path).resolve().parent if path and Path(path).name == "tutti" else None


def _ours(name: str) -> bool:
    return name == "TUTTI" or name.startswith("TUTTI_")


def _option_of(setting: _engine.Setting) -> inspect.Parameter:
    """The option that gives a setting its value: --gather of TUTTI_GATHER."""
    name = setting.name.removeprefix("TUTTI_").lower()
    former = _engine.former_name_of(setting.name).removeprefix("TUTTI_").lower()
    names = [f"--{one}" for one in (name, former) if one]
    option = typer.Option(
        *names, metavar="VALUE", help=setting.meaning, rich_help_panel="Settings"
    )
    kind = Annotated[str | None, option]
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=kind)


def _with_settings(command: Callable[..., None]) -> Callable[..., None]:
    """Gives a command that takes `values` an option for each setting of the engine's list."""
    own = inspect.signature(command, eval_str=True)
    kept = [one for one in own.parameters.values() if one.kind is not one.VAR_KEYWORD]
    # TUTTI itself has --off.
    added = [_option_of(one) for one in _engine.settings() if one.name != "TUTTI"]
    command.__signature__ = own.replace(parameters=[*kept, *added])  # type: ignore[attr-defined]
    return command


@_with_settings
def run(
    command: Annotated[
        list[str] | None,
        typer.Argument(help="The command that starts the program, launcher included."),
    ] = None,
    off: Annotated[
        bool, typer.Option("--off", help="Preload, but leave every call alone.")
    ] = False,
    as_json: Annotated[
        bool, typer.Option("--json", help="Say what would be executed, and do not.")
    ] = False,
    **values: str | None,
) -> None:
    """Run a program under Tutti.

    Nothing is compiled or linked anew. The launcher, if there is one, is recognised and hands
    the settings to all ranks; `tutti info` lists what they accept.

        tutti run --report - -- mpirun -n 16 ./app input.txt

        tutti run --gatherv ordered_tree -- srun -n 512 python3 app.py
    """
    if not command:
        raise Refusal("run what? For example: tutti run -- mpirun -n 16 ./app")
    settings = {
        "TUTTI_" + name.upper(): _checked(name, text)
        for name, text in values.items()
        if text is not None
    }
    if off:
        settings["TUTTI"] = "off"
    start = prepare(command, settings, os.environ)
    if as_json:
        print_json({"command": start.command, "environment": start.environment})
        return
    try:
        os.execvpe(start.command[0], start.command, {**os.environ, **start.environment})
    except OSError as error:
        raise Refusal(f"{shlex.join(start.command)}: {error.strerror}") from None

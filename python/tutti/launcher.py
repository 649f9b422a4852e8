"""Recognises the launcher in a command, and makes it pass environment variables to the ranks."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

_LAUNCHERS = re.compile(r"^(mpirun|mpiexec|orterun|prterun|srun|aprun|jsrun|flux)([.-].*)?$")
_WRAPPERS = {"env", "time", "timeout", "nice", "numactl", "taskset", "stdbuf", "ionice"}

Version = Callable[[str], str]


@dataclass(frozen=True)
class Launcher:
    """The word of a command that starts the ranks."""

    index: int
    kind: str
    """openmpi, hydra (MPICH and Intel MPI), slurm, or other."""


def version_of(program: str) -> str:
    """The output of `program --version`; empty if the program cannot run."""
    if shutil.which(program) is None:
        return ""
    try:
        done = subprocess.run(
            [program, "--version"],
            capture_output=True,
            text=True,
            timeout=20,
            check=False,
            stdin=subprocess.DEVNULL,
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout + done.stderr


def _kind(program: str, version: Version) -> str:
    if Path(program).name.startswith("srun"):
        return "slurm"
    text = version(program)
    if re.search(r"Open MPI|OpenRTE|PRRTE|prterun", text):
        return "openmpi"
    if re.search(r"HYDRA|Intel\(R\) MPI", text):
        return "hydra"
    return "other"


def find(command: Sequence[str], version: Version = version_of) -> Launcher | None:
    """The launcher of a command, or None if the command starts the program itself.

    The launcher is the first word, or follows wrappers such as env or timeout.
    """
    for index, word in enumerate(_first_words(command)):
        if _LAUNCHERS.match(Path(word).name):
            return Launcher(index, _kind(word, version))
    return None


def submits(command: Sequence[str]) -> bool:
    """Does the command give a script to Slurm's queue, and end before the job has run?"""
    is_sbatch = any(Path(word).name == "sbatch" for word in _first_words(command))
    return is_sbatch and not {"-W", "--wait"} & set(command)


def _first_words(command: Sequence[str]) -> Sequence[str]:
    """The words that may be what a command starts: all, if the first is a wrapper such as env."""
    return command if Path(command[0]).name in _WRAPPERS else command[:1]


def pass_on(
    command: Sequence[str],
    launcher: Launcher | None,
    names: Sequence[str],
    environment: Mapping[str, str],
) -> list[str]:
    """The command with the options that make its launcher pass the variables to all ranks.

    Open MPI passes only variables that -x names. Hydra (MPICH, Intel MPI) passes all variables
    unless -genvnone is given, and srun unless --export or SLURM_EXPORT_ENV restricts them.

    Args:
        command: as the user typed it.
        launcher: its launcher, by find.
        names: the variables.
        environment: in which the command runs.
    """
    words = list(command)
    if launcher is None:
        return words
    after = launcher.index + 1
    if launcher.kind == "openmpi":
        words[after:after] = [part for name in names for part in ("-x", name)]
    elif launcher.kind == "hydra" and "-genvnone" in words:
        words[after:after] = ["-genvlist", ",".join(names)]
    elif launcher.kind == "slurm":
        return words[:after] + _exporting(words[after:], names, environment)
    return words


def _exporting(words: list[str], names: Sequence[str], environment: Mapping[str, str]) -> list[str]:
    """The words after srun with an --export that passes the variables too."""
    for at in range(_own_words(words)):
        if words[at].startswith("--export="):
            kept = words[at].removeprefix("--export=")
            return [*words[:at], f"--export={_export(kept, names)}", *words[at + 1 :]]
        if words[at] == "--export":
            return [*words[: at + 1], _export("".join(words[at + 1 : at + 2]), names), *words[at + 2 :]]
    # sbatch --export sets this variable for the srun of its script.
    inherited = environment.get("SLURM_EXPORT_ENV", "")
    passed = _export(inherited, names)
    return words if passed == inherited else [f"--export={passed}", *words]


def _own_words(words: Sequence[str]) -> int:
    """How many words are srun's own: up to the first that is no option and follows none which may
    take it as its value."""
    takes_value = False
    for at, word in enumerate(words):
        if not word.startswith("-") and not takes_value:
            return at
        takes_value = bool(re.fullmatch(r"-[A-Za-z]|--[^=]+", word))
    return len(words)


def _export(value: str, names: Sequence[str]) -> str:
    """A value of --export that passes the variables too."""
    entries = [entry for entry in value.split(",") if entry.upper() not in ("NONE", "NIL")]
    if not value or not names or "ALL" in (entry.upper() for entry in entries):
        return value
    return ",".join([*entries, *names])

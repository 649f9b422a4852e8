"""Recognises the launcher in a command, and makes it pass environment variables to the ranks."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from tutti.refusal import Refusal

_LAUNCHERS = re.compile(r"^(mpirun|mpiexec|orterun|prterun|srun|aprun|jsrun|flux)([.-].*)?$")
_WRAPPERS = {"env", "time", "timeout", "nice", "numactl", "taskset", "stdbuf", "ionice"}
_FLAGS = set(
    "-E -H -h -k -l -O -Q -s -u -V -v -X -Z --contiguous --disable-status --exact --exclusive --help --hold "
    "--immediate --kill-on-bad-exit --label --multi-prog --no-allocate --no-kill --overcommit --overlap "
    "--oversubscribe --preserve-env --pty --quiet --reboot --spread-job --test-only --unbuffered "
    "--use-min-nodes --usage --verbose --version --whole --ignore-pbs --no-requeue --parsable --requeue".split()
)
"""Options of srun and sbatch that take no value, or one after = only."""
_WAIT = {"-W", "--wait"}
"""Without a value for sbatch alone."""
_SETS_PRELOAD = re.compile("--?(x|e|E|g?env)[ =](.*,)?LD_PRELOAD=.*|--?g?env LD_PRELOAD", re.DOTALL)
"""Options of launchers but srun, with their values, that set it instead of passing it on."""

_NAMES_NODES = re.compile("-H|--?(host|(default-)?hostfile|machinefile|add-host(file)?)")
"""Options of Open MPI."""
_HAVE_NODES = (
    "PBS_NODEFILE", "LSB_JOBID", "PE_HOSTFILE", "LOADL_HOSTFILE",
    "OMPI_MCA_orte_default_hostfile", "PRTE_MCA_prte_default_hostfile",
)  # fmt: skip
"""Variables by which Open MPI may know of several nodes, besides those of Slurm."""

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
            errors="replace",
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
    at = _sbatch_at(command)
    if at is None:
        return False
    words = command[at + 1 :]
    return not _WAIT & set(words[: _own_words(words, _FLAGS | _WAIT)])


def _sbatch_at(command: Sequence[str]) -> int | None:
    """The index of sbatch, if the command starts it, perhaps after a wrapper such as env."""
    words = (Path(word).name for word in _first_words(command))
    return next((index for index, name in enumerate(words) if name == "sbatch"), None)


def _first_words(command: Sequence[str]) -> Iterator[str]:
    """The words that may be what a command starts: wrappers such as env, what these take, and the
    first other program."""
    is_wrapped = Path(command[0]).name in _WRAPPERS
    for word in command:
        yield word
        name = Path(word).name
        is_program = name not in _WRAPPERS and (_LAUNCHERS.match(name) or shutil.which(word))
        if is_program or not is_wrapped:
            return


def ours(environment: Mapping[str, str]) -> dict[str, str]:
    """The variables of Tutti in an environment, by name."""
    names = sorted(name for name in environment if name == "TUTTI" or name.startswith("TUTTI_"))
    return {name: environment[name] for name in names}


def pass_on(
    command: Sequence[str],
    launcher: Launcher | None,
    variables: Mapping[str, str],
    environment: Mapping[str, str],
) -> list[str]:
    """The command with the options that make its launcher pass the variables to all ranks.

    Open MPI passes only variables that -x names for each program. Hydra (MPICH, Intel MPI) passes those
    that -genv sets, whatever its other options, files and HYDRA_ENV restrict. srun passes all unless
    --export or SLURM_EXPORT_ENV restricts them, and sbatch unless --export or SBATCH_EXPORT does.

    Args:
        command: as the user typed it.
        launcher: its launcher, by find.
        variables: with their values.
        environment: in which the command runs.

    Raises:
        Refusal: an option sets LD_PRELOAD, which is among the variables, or names a file whose programs
            do not get the variables.
    """
    words, names = list(command), list(variables)
    if launcher is None:
        at = _sbatch_at(words)
        if at is None:
            return words
        inherited = environment.get("SBATCH_EXPORT", "")
        return words[: at + 1] + _exporting(words[at + 1 :], names, inherited, _FLAGS | _WAIT)
    after = launcher.index + 1
    parts = _parts(words[after:])
    if launcher.kind != "slurm" and "LD_PRELOAD" in names:
        for part in parts:
            _refuse_preload(part)
    if launcher.kind == "openmpi":
        passed = [word for name in names for word in ("-x", name)]
        _refuse_app_file(words[after:], names, environment)
        return [*words[:after], *_joined([*passed, *part] for part in parts)]
    elif launcher.kind == "hydra":
        set_for_all = [word for one in variables.items() for word in ("-genv", *one)]
        return [*words[:after], *set_for_all, *words[after:]]
    elif launcher.kind == "slurm":
        # sbatch --export sets this variable for the srun of its script.
        inherited = environment.get("SLURM_EXPORT_ENV", "")
        return [*words[:after], *_joined(_exporting(part, names, inherited, _FLAGS) for part in parts)]
    return words


def _parts(words: Sequence[str]) -> list[list[str]]:
    """The words of each program and its options, where a launcher starts several."""
    parts: list[list[str]] = [[]]
    for word in words:
        if word == ":":
            parts.append([])
        else:
            parts[-1].append(word)
    return parts


def _joined(parts: Iterable[list[str]]) -> list[str]:
    """The words of all programs."""
    return [word for part in parts for word in (":", *part)][1:]


def _options(words: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Each word that may be an option, and the next one. The words behind the first program are its
    own; a word behind an option may be its value."""
    for before, word, after in zip(["", *words], words, [*words[1:], ""], strict=False):
        if not word.startswith("-") and not before.startswith("-") and shutil.which(word):
            return
        yield word, after


def _refuse_preload(words: Sequence[str]) -> None:
    """Raises Refusal for an option that would preload something instead of Tutti."""
    for word, after in _options(words):
        for option in (word, f"{word} {after}"):
            if _SETS_PRELOAD.fullmatch(option):
                raise _instead_of_ours(option)


def _refuse_app_file(
    words: Sequence[str], names: Sequence[str], environment: Mapping[str, str]
) -> None:
    """Raises Refusal for an --app of Open MPI whose programs lack the variables: with it, mpirun ignores
    the options of its command. Ranks on its own node inherit its environment."""
    for word, after in _options(words):
        if not re.fullmatch("--?app", word):
            continue
        programs = _programs_of(Path(after))
        if "LD_PRELOAD" in names:
            for program in programs:
                _refuse_preload(program)
        if all(_exported(program).issuperset(names) for program in programs):
            continue
        if _may_use_other_nodes([*words, *sum(programs, [])], environment):
            raise Refusal(f"{word} {after}: with this option mpirun ignores others, which would pass Tutti on; "
                          f"put \"{' '.join(f'-x {name}' for name in names)}\" on each line of the file, or "
                          'give the programs in the command, with " : " between them')  # fmt: skip


def _programs_of(file: Path) -> list[list[str]]:
    """The words of each line with a program. A file that cannot be read is an error of the launcher."""
    try:
        lines = file.read_text(errors="replace").splitlines()
    except OSError:
        return []
    return [line.split() for line in lines if line.strip() and not line.lstrip().startswith("#")]


def _exported(words: Sequence[str]) -> set[str]:
    """The variables that options -x pass on or set."""
    return {after.split("=")[0] for word, after in _options(words) if word in ("-x", "--x")}


def _may_use_other_nodes(words: Sequence[str], environment: Mapping[str, str]) -> bool:
    """May Open MPI start ranks elsewhere: does an option name nodes, or is this a job of several?"""
    if environment.get("SLURM_JOB_ID") and environment.get("SLURM_JOB_NUM_NODES") != "1":
        return True
    return any(map(_NAMES_NODES.fullmatch, words)) or any(map(environment.get, _HAVE_NODES))


def _instead_of_ours(option: str) -> Refusal:
    return Refusal(f"{option} would preload something instead of Tutti; set LD_PRELOAD in the environment "
                   "of tutti run, which puts Tutti before it")  # fmt: skip


def _exporting(
    words: list[str], names: Sequence[str], inherited: str, flags: set[str]
) -> list[str]:
    """The words after srun or sbatch with an --export that passes the variables too.

    `inherited` is what restricts them without that option.
    """
    for at in range(_own_words(words, flags)):
        if words[at].startswith("--export="):
            kept = words[at].removeprefix("--export=")
            return [*words[:at], f"--export={_export(kept, names)}", *words[at + 1 :]]
        if words[at] == "--export":
            return [*words[: at + 1], _export("".join(words[at + 1 : at + 2]), names), *words[at + 2 :]]
    # What it sets LD_PRELOAD to is in the environment, to which Tutti is added.
    kept = [entry for entry in inherited.split(",") if not entry.startswith("LD_PRELOAD=")]
    passed = _export(",".join(kept), names)
    return words if passed == inherited else [f"--export={passed}", *words]


def _own_words(words: Sequence[str], flags: set[str]) -> int:
    """How many words are those of srun or sbatch: up to the first that is neither an option nor its value."""
    takes_value = False
    for at, word in enumerate(words):
        if not word.startswith("-") and not takes_value:
            return at
        takes_value = word not in flags and bool(re.fullmatch(r"-[A-Za-z]|--[^=]+", word))
    return len(words)


def _export(value: str, names: Sequence[str]) -> str:
    """A value of --export that passes the variables too.

    Raises:
        Refusal: it sets LD_PRELOAD, which is among the variables.
    """
    if "LD_PRELOAD" in names and re.search("(^|,)LD_PRELOAD=", value):
        raise _instead_of_ours(f"--export={value}")
    entries = [entry for entry in value.split(",") if entry.upper() not in ("NONE", "NIL")]
    if not value or not names or "ALL" in (entry.upper() for entry in entries):
        return value
    return ",".join([*entries, *names])

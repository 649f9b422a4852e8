"""Recognises the launcher in a command, and makes it pass environment variables to the ranks."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from tutti.refusal import Refusal

_LAUNCHERS = re.compile(r"^(mpirun|mpiexec|orterun|prterun|srun|aprun|jsrun|flux)([.-].*)?$")
_WRAPPERS = {"env", "time", "timeout", "nice", "numactl", "taskset", "stdbuf", "ionice"}


@dataclass(frozen=True)
class _Syntax:
    """How the options of a command differ from the program behind them."""

    flags: frozenset[str]
    """Options that take no value, or one after = only."""
    valued: str
    """The form of the others, whose value is the next word."""
    is_program: Callable[[str], Any]
    """May this word be a program, if it is neither an option nor the value of one?"""
    named: str = "(?!)"
    """The form of options whose next two words are a name and its value, or one word NAME=VALUE."""

    def own(self, words: Sequence[str]) -> int:
        """How many words are those of the command: up to the first program."""
        takes_value = False
        rest = iter(enumerate(words))
        for at, word in rest:
            if re.fullmatch(self.named, word):
                if "=" not in next(rest, (at, "="))[1]:
                    next(rest, None)
                takes_value = False
                continue
            if not word.startswith("-") and not takes_value and self.is_program(word):
                return at
            takes_value = word not in self.flags and bool(re.fullmatch(self.valued, word))
        return len(words)


_SLURM = _Syntax(frozenset(
    "-E -H -h -I -K -k -l -O -Q -s -u -V -v -X -Z --bcast --compress --contiguous --disable-status --exact "
    "--exclusive --get-user-env --help --hold --ignore-pbs --immediate --kill-on-bad-exit --label --multi-prog "
    "--nice --no-allocate --no-kill --no-requeue --overcommit --overlap --oversubscribe --parsable "
    "--preserve-env --propagate --pty --quiet --reboot --requeue --resv-ports --send-libs --spread-job "
    "--test-only --unbuffered --use-min-nodes --usage --verbose --version --whole --x11".split()
), "-[A-Za-z]|--[^=]+", bool)  # fmt: skip
"""srun and sbatch, all of whose options are known."""
_OTHERS = _Syntax(frozenset(
    dash + flag for dash in ("-", "--") for flag in
    "allow-run-as-root bycore bynode byslot display-allocation display-map display-topo envall envnone "
    "genvall genvnone l merge-stderr-to-stdout nolocal nooversubscribe oversubscribe pernode prepend-rank "
    "print-all-exitcodes q quiet report-bindings tag-output timestamp-output use-hwthread-cpus v verbose".split()
), "-[A-Za-z_-]+", shutil.which, "--?g?(o|prte|pmix)?mca|--?genv|-env")  # fmt: skip
"""Launchers some of whose options are unknown: a word is a program only if there is a file. -env of Hydra
takes a name and a value, --env of flux and jsrun one word."""

_SUBMITTERS = {
    "sbatch": ("-W", "--wait"), "bsub": ("-I", "-Ip", "-Is", "-K"), "flux batch": (),
    "flux submit": ("--watch", "--wait"), "flux bulksubmit": ("--watch", "--wait"),
}  # fmt: skip
"""Commands that give a job to a queue and end before it has run, and their options to wait for it."""
_SETS_PRELOAD = re.compile("--?(x|e|E|g?env)[ =](.*,)?LD_PRELOAD=.*|(--?genv|-env) LD_PRELOAD", re.DOTALL)
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
    """Of flux, that of its subcommand."""
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
            return Launcher(_last_of(command, index), _kind(word, version))
    return None


def options_of(command: Sequence[str], launcher: Launcher) -> list[str] | None:
    """The words between a launcher and its program; None if it starts several, or if no word behind
    it is a program."""
    words = command[launcher.index + 1 :]
    own = (_SLURM if launcher.kind == "slurm" else _OTHERS).own(words)
    return None if ":" in words or own == len(words) else list(words[:own])


def early_end(command: Sequence[str]) -> str:
    """Why the end of a command is not that of its job, and what to do instead; empty if it is."""
    at = _index_of(command, {name.split()[0] for name in _SUBMITTERS})
    if at is None:
        return ""
    last = _last_of(command, at)
    name = Path(command[at]).name + (f" {command[last]}" if last > at else "")
    if name not in _SUBMITTERS:
        return ""
    waits, words = _SUBMITTERS[name], command[last + 1 :]
    syntax = _OTHERS if name == "bsub" else _SLURM
    if set(waits) & set(words[: replace(syntax, flags=syntax.flags.union(waits)).own(words)]):
        return ""
    hint = f", or {name} {waits[-1]}" if waits else ""
    return f"{name} ends before the job has run; use tutti run in the job's script{hint}"


def _index_of(command: Sequence[str], names: Iterable[str]) -> int | None:
    """The index of the first program, perhaps after a wrapper such as env, if it has such a name."""
    words = (Path(word).name for word in _first_words(command))
    return next((index for index, name in enumerate(words) if name in names), None)


def _last_of(command: Sequence[str], at: int) -> int:
    """The index of the last word that names the program at an index: of flux the subcommand."""
    behind = range(at + 1, len(command) if Path(command[at]).name == "flux" else 0)
    return next((index for index in behind if not command[index].startswith("-")), at)


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
        at = _index_of(words, {"sbatch"})
        if at is None:
            return words
        inherited = environment.get("SBATCH_EXPORT", "")
        return words[: at + 1] + _exporting(words[at + 1 :], names, inherited, _SUBMITTERS["sbatch"])
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
        return [*words[:after], *_joined(_exporting(part, names, inherited) for part in parts)]
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
    """Each word of a launcher but srun that may be an option, and the next one, perhaps its value."""
    return zip(words[: _OTHERS.own(words)], [*words[1:], ""], strict=False)


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
    words: list[str], names: Sequence[str], inherited: str, flags: Iterable[str] = ()
) -> list[str]:
    """The words after srun or sbatch with an --export that passes the variables too.

    `inherited` is what restricts them without that option; `flags` are further options without value.
    """
    for at in range(replace(_SLURM, flags=_SLURM.flags.union(flags)).own(words)):
        if words[at].startswith("--export="):
            kept = words[at].removeprefix("--export=")
            return [*words[:at], f"--export={_export(kept, names)}", *words[at + 1 :]]
        if words[at] == "--export":
            return [*words[: at + 1], _export("".join(words[at + 1 : at + 2]), names), *words[at + 2 :]]
    # What it sets LD_PRELOAD to is in the environment, to which Tutti is added.
    kept = [entry for entry in inherited.split(",") if not entry.startswith("LD_PRELOAD=")]
    passed = _export(",".join(kept), names)
    return words if passed == inherited else [f"--export={passed}", *words]


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

"""Examines what Tutti needs on this machine: libraries, MPIs, settings, rules, tools."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

from tutti import launcher, libraries, mpis, reports, rules, supervised
from tutti.commands.run import check_settings, prepare
from tutti.console import count, literal
from tutti.refusal import Refusal
from tutti.shared_folder import shared_folder
from tutti.unseen import SONAMES

LAUNCHERS = ("mpirun.openmpi", "mpirun.mpich", "mpiexec.hydra", "mpirun", "mpiexec")
_BACKENDS = {"openmpi": "openmpi", "mpich": "mpich", "intel": "mpich"}
_SONAMES = {"openmpi": SONAMES["openmpi"], "mpich": SONAMES["hydra"], "intel": SONAMES["hydra"]}
_LEVELS = ("MPI_THREAD_SINGLE", "MPI_THREAD_FUNNELED", "MPI_THREAD_SERIALIZED", "MPI_THREAD_MULTIPLE")
_SECONDS = 60

_TRIAL = """
import ctypes, sys
library, calls, family = ctypes.CDLL(sys.argv[1], ctypes.RTLD_GLOBAL), ctypes.CDLL(None), sys.argv[2]
level = ctypes.c_int()
if library.MPI_Init_thread(None, None, 3, ctypes.byref(level)) != 0:
    sys.exit("MPI_Init_thread failed")
if family == "openmpi":
    world = ctypes.byref(ctypes.c_char.in_dll(library, "ompi_mpi_comm_world"))
else:
    world = ctypes.c_int(0x44000000)
calls.MPI_Barrier(world)
print(f"level {level.value}\\n", end="", flush=True)  # in one piece, as ranks share the output
calls.MPI_Finalize()
"""
"""Runs one barrier. The calls go to the first library that has them: to Tutti, if it is preloaded."""


@dataclass(frozen=True)
class Finding:
    """One examined thing."""

    what: str
    state: str
    """good, note or problem."""
    text: str
    fix: str = ""
    """What to do about a problem, a command if there is one."""


def findings(tries: bool) -> Iterator[Finding]:
    """Everything that is examined; with `tries` each MPI also runs 2 ranks under Tutti."""
    yield _libraries()
    srun, found = shutil.which("srun"), launchers()
    known = found or (loadable(srun) if srun else [])
    if not known:
        yield _no_mpi(srun)
    for one in known:
        yield from _mpi(one, tries and one in found)
    yield _cores(found)
    if srun:
        yield from _srun(known, tries)
    yield from _preloaded(os.environ.get("LD_PRELOAD", ""))
    yield from _settings()
    yield _rules()
    yield _lab()
    yield _binutils()


def launchers() -> list[mpis.Mpi]:
    """The MPIs whose launchers are on PATH, each once."""
    paths = filter(None, map(shutil.which, LAUNCHERS))
    return _each_once((launcher.version_of(path), path) for path in paths)


def loadable(srun: str) -> list[mpis.Mpi]:
    """The MPIs whose libraries the loader finds, each once: where srun is their only launcher."""
    names = [*SONAMES["openmpi"], *SONAMES["hydra"]]
    return _each_once((mpis.said_by(Path(name)), srun) for name in names)


def _each_once(seen: Iterable[tuple[str, str]]) -> list[mpis.Mpi]:
    """MPIs from texts that name their versions, with their launchers."""
    found: dict[str, mpis.Mpi] = {}
    for text, start in seen:
        if known := mpis.recognise(text):
            found.setdefault(" ".join(known), mpis.Mpi(*known, start))
    return list(found.values())


def _no_mpi(srun: str | None) -> Finding:
    if srun:
        return Finding("MPI", "note", "none was examined: no mpirun on PATH, and the loader finds no library of "
                       "Open MPI or MPICH", "load the MPI's module, then tutti run -- srun -n 2 ./app")  # fmt: skip
    return Finding("MPI", "problem", f"no launcher on PATH ({', '.join(LAUNCHERS)}, srun)",
                   "install an MPI or load its module, e.g. apt-get install openmpi-bin")  # fmt: skip


def _libraries() -> Finding:
    try:
        flavours = libraries.flavours()
    except Refusal as error:
        return Finding("libraries", "problem", str(error), libraries.INSTALL)
    if not flavours:
        return Finding("libraries", "problem", f"{libraries.folder()} has no backend for any MPI", libraries.INSTALL)
    return Finding("libraries", "good", f"{libraries.folder()}: backends {', '.join(flavours)}")


def _mpi(one: mpis.Mpi, tries: bool) -> Iterator[Finding]:
    backend = _BACKENDS[one.family]
    try:
        has_backend = backend in libraries.flavours()
    except Refusal:
        return
    if not has_backend:
        yield Finding("MPI", "problem", f"{one} ({one.mpirun}): there is no backend for it", libraries.INSTALL)
        return
    yield Finding("MPI", "good", f"{one} ({one.mpirun}), backend {backend}")
    if tries and "SLURM_STEP_ID" in os.environ:
        yield Finding("run", "note", f"{one}: not tried, as mpirun waits for the tasks of this step of "
                      "srun; start tutti doctor by salloc")  # fmt: skip
    elif tries:
        yield _trial(one, one.mpirun)


def _trial(one: mpis.Mpi, *start: str) -> Finding:
    """Runs 2 ranks under Tutti by a launcher with options."""
    library = _library_of(one)
    if library is None:
        return Finding("run", "note", f"{one}: not tried, as neither loader nor launcher show its library")
    with shared_folder() as place:
        report = place / "report.json"
        command = [*start, "-n", "2", sys.executable, "-c", _TRIAL, str(library), one.family]
        try:
            job = prepare(command, {"TUTTI_REPORT": literal(report), "TUTTI": "on"}, os.environ)
            status, out, err = _run(job.command, job.environment)
        except Refusal as error:
            # A wrong setting, which is a finding of its own.
            return Finding("run", "note", f"{one}: not tried: {error}")
        except subprocess.TimeoutExpired:
            return Finding("run", "problem", f"{one}: 2 ranks did not end within {_SECONDS} s",
                           f"run {' '.join(start)} -n 2 hostname; without an answer the MPI is at fault")  # fmt: skip
        if status != 0:
            return _failed(one, out + err)
        seen = _seen(report)
    if seen.get("ranks") != 2 or not seen.get("calls"):
        return Finding("run", "problem", f"{one}: 2 ranks ran, but Tutti saw {seen.get('ranks', 0)}",
                       "does the launcher pass LD_PRELOAD on? See docs/drop-in.md")  # fmt: skip
    return _level(one, out)


def _seen(report: Path) -> dict[str, Any]:
    """The report of such a run; empty if there is none, or a damaged one."""
    with suppress(Refusal):
        return reports.read(report)[-1]
    return {}


def _run(command: Sequence[str], environment: Mapping[str, str]) -> tuple[int, str, str]:
    """Runs a launcher with its ranks; its exit status and output. Raises subprocess.TimeoutExpired."""
    with subprocess.Popen(
        command, env={**os.environ, **environment}, text=True, errors="replace", stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True,
    ) as process:  # fmt: skip
        try:
            out, err = process.communicate(timeout=_SECONDS)
        except BaseException:  # Ctrl-C does not reach another session
            supervised.end(process)
            raise
    return process.returncode, out, err


def _library_of(one: mpis.Mpi) -> Path | None:
    """The library of an MPI: beside its launcher, or where the loader looks."""
    prefix = Path(one.mpirun).resolve().parent.parent
    for name in _SONAMES[one.family]:
        beside = [prefix / folder / name for folder in ("lib", "lib64", "lib/release")]
        for library in [*filter(Path.is_file, beside), Path(name)]:
            if mpis.recognise(mpis.said_by(library)) == (one.family, one.version):
                return library
    return None


def _failed(one: mpis.Mpi, output: str) -> Finding:
    """Knows the two refusals that newcomers meet."""
    if "ALLOW_RUN_AS_ROOT" in output or "run as root" in output:
        return Finding("run", "problem", f"{one} refuses to start as root",
                       "export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1")  # fmt: skip
    if "not enough slots" in output:
        return Finding("run", "problem", f"{one} has fewer than 2 slots",
                       f"export {_oversubscribing(one)}")  # fmt: skip
    lines = [line for line in output.splitlines() if line.strip()] or ["no output"]
    return Finding("run", "problem", f"{one}: 2 ranks fail: {lines[-1].strip()}",
                   f"run {one.mpirun} -n 2 hostname")  # fmt: skip


def _level(one: mpis.Mpi, output: str) -> Finding:
    levels = [int(level) for level in re.findall(r"level (\d)", output)]
    level = _LEVELS[min(levels)] if levels else "an unknown thread level"
    text = f"{one}: 2 ranks ran under Tutti; the MPI gives {level}"
    if levels and min(levels) == 3:
        return Finding("run", "good", text)
    return Finding("run", "note", text + ", so TUTTI_BACKGROUND=on has no effect")


def _cores(found: list[mpis.Mpi]) -> Finding:
    """How many ranks start here: Open MPI refuses more than there are slots, one for each core."""
    cores = _physical_cores()
    text = f"{count(cores, 'core')}; more ranks than cores slow each other down"
    refuses = [one for one in found if one.family == "openmpi"]
    if not refuses or "SLURM_JOB_ID" in os.environ or _may_oversubscribe(os.environ):
        return Finding("cores", "good", text)
    return Finding("cores", "note", f"{text}; {refuses[0]} refuses mpirun -n {cores + 1}",
                   f"for more ranks: mpirun --oversubscribe -n {2 * cores} ./app, or "
                   f"export {_oversubscribing(refuses[0])}")  # fmt: skip


def _may_oversubscribe(environment: Mapping[str, str]) -> bool:
    given = environment.get("OMPI_MCA_rmaps_base_oversubscribe", "").lower()
    policy = environment.get("PRTE_MCA_rmaps_default_mapping_policy", "").lower()
    return given in ("1", "true", "yes") or "oversubscribe" in policy.replace("nooversubscribe", "")


def _oversubscribing(one: mpis.Mpi) -> str:
    """What lets Open MPI start more ranks than cores."""
    if one.major >= 5:
        return "PRTE_MCA_rmaps_default_mapping_policy=:oversubscribe"
    return "OMPI_MCA_rmaps_base_oversubscribe=1"


def _physical_cores() -> int:
    """Cores that this process may use, hardware threads of one core counted once."""
    cores = set()
    for cpu in os.sched_getaffinity(0):
        siblings = Path(f"/sys/devices/system/cpu/cpu{cpu}/topology/thread_siblings_list")
        try:
            cores.add(siblings.read_text())
        except OSError:
            cores.add(str(cpu))
    return len(cores)


def _srun(found: list[mpis.Mpi], tries: bool) -> Iterator[Finding]:
    """Inside a job of Slurm: with which --mpi srun starts the ranks of each MPI as one program."""
    yield Finding("launcher", "good", f"srun: {shutil.which('srun')}")
    if not tries or "SLURM_STEP_ID" in os.environ:
        return
    tasks = os.environ.get("SLURM_NTASKS", "")
    if not tasks.isdecimal() or int(tasks) < 2:
        yield Finding("srun", "note", "not tried, as this is no job with 2 tasks: which --mpi starts the ranks "
                      "of each MPI is unknown", "salloc --ntasks=2 tutti doctor")  # fmt: skip
        return
    for one in found:
        options = ((), ("--mpi=pmix",), ("--mpi=pmi2",))
        works = (" ".join(["srun", *words]) for words in options
                 if "2 ranks ran under" in _trial(one, "srun", "--overlap", *words).text)  # fmt: skip
        if start := next(works, ""):
            yield Finding("srun", "good", f"{one}: {start} starts its ranks")
        else:
            own = f"{one.mpirun} inside the job, or " if Path(one.mpirun).name != "srun" else ""
            yield Finding("srun", "note", f"{one}: srun does not start its ranks as one program",
                          f"{own}an MPI built for Slurm's PMI")  # fmt: skip


def _preloaded(text: str) -> Iterator[Finding]:
    for word in text.replace(":", " ").split():
        if "/" in word and not Path(word).is_file():
            yield Finding("LD_PRELOAD", "problem", f"{word} does not exist", "unset LD_PRELOAD")
        elif Path(word).name == libraries.FRONT:
            yield Finding("LD_PRELOAD", "note", f"{word}: Tutti is preloaded in this shell")
        else:
            yield Finding("LD_PRELOAD", "note", f"{word} stays behind Tutti (docs/drop-in.md)")


def _settings() -> Iterator[Finding]:
    """A finding for each wrong variable; rules are another finding."""
    ours = launcher.ours(os.environ)
    # An order by distance needs the file of distances, whose own error is one finding.
    distances = {name: text for name, text in ours.items() if name == "TUTTI_DISTANCES"}
    of_file = _wrong(distances)
    good = []
    for name, text in ours.items():
        wrong = _wrong({name: text, **distances} if name != "TUTTI_RULES" else {})
        if wrong and (wrong != of_file or name in distances):
            yield Finding("settings", "problem", wrong, f"unset {name}")
        else:
            good.append(f"{name}={text}")
    if len(good) == len(ours):
        yield Finding("settings", "good", ", ".join(good) or "none: defaults apply")


def _wrong(variables: Mapping[str, str]) -> str:
    """What the library would refuse in these variables; empty if nothing."""
    try:
        check_settings(variables)
    except Refusal as error:
        return str(error)
    return ""


def _rules() -> Finding:
    try:
        files = rules.files()
        number = len(rules.merged(files).all)
    except Refusal as error:
        return Finding("rules", "problem", str(error), "mend the file; or unset TUTTI_RULES, if that "
                       "names it, or set it to none")  # fmt: skip
    if not files:
        learned = rules.learned_file()
        kept = f"; {learned} has what runs have learned" if learned else ""
        return Finding("rules", "note", f"none: auto explores the program's own calls{kept}")
    return Finding("rules", "good", f"{count(number, 'rule')} in {', '.join(map(str, files))}")


def _lab() -> Finding:
    try:
        machine = import_module("tutti_lab.machine")
        machine.require("emulate a cluster")
    except ModuleNotFoundError:
        return Finding("lab", "note", "tutti lab is a package of its own, tutti_lab (docs/lab.md)")
    except Refusal as error:
        return Finding("lab", "note", str(error))
    return Finding("lab", "good", "tutti lab up 8 --rate 1gbit can emulate a cluster here")


def _binutils() -> Finding:
    missing = [tool for tool in ("nm", "addr2line") if shutil.which(tool) is None]
    if missing:
        return Finding("source lines", "note", f"{' and '.join(missing)} not found: reports name "
                       "functions and offsets instead of lines; install binutils")  # fmt: skip
    return Finding("source lines", "good", "nm and addr2line find them in programs built with -g")


def verdict(found: list[Finding]) -> str:
    """One sentence about all findings."""
    problems = sum(one.state == "problem" for one in found)
    if problems:
        return f"{count(problems, 'problem')}: see the fix below each."
    ran = [one for one in found if one.what == "run" and one.state != "problem" and "not tried" not in one.text]
    by_srun = [one for one in found if one.what == "srun" and one.state == "good"]
    if not ran and not by_srun:
        return "No problem was found; nothing was run."
    names = " and ".join(one.text.split(":")[0] for one in ran or by_srun)
    start = f"mpirun -n {max(2, _physical_cores())}" if ran else "srun -n 2"
    return f"Tutti runs programs of {names} here: tutti run -- {start} ./app"

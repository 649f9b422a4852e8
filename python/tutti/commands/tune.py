"""`tutti tune`: measures which algorithm is fastest, and writes rules."""

from __future__ import annotations

import contextlib
import datetime
import hashlib
import math
import shlex
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated, Any

import typer

from tutti import _engine, crossovers, reports, supervised, tuning_run, tuning_uneven
from tutti.commands import tune_output, tune_report
from tutti.commands.options import AsJson, Mpirun, refuse_report
from tutti.commands.tune_progress import Bar
from tutti.commands.tune_report import Program
from tutti.console import (
    Refusal, console, count, is_utf_8, print_json, volume, why_not_writable, write,
)  # fmt: skip
from tutti.plot import check as check_plot
from tutti.tuning import FOR_TUNING, SHARES, Job, Tuner, planned_runs
from tutti.tuning_blocks import Band, bands
from tutti.tuning_cells import MAX_BUFFER, Cells, grids
from tutti.tuning_check import Check, check
from tutti.tuning_rules import rules_of, to_text
from tutti.tuning_run import Run, Shape, State, equal_blocks
from tutti.workload import bytes_of, collective_of


def _collectives(given: list[str] | None) -> list[str]:
    known = [name for name in _engine.collectives() if not name.startswith("rma_")]
    names = [collective_of(name.strip()) for word in given or known for name in word.split(",")]
    for name in names:
        if name not in known:
            raise Refusal(f"--collective {name}: expected one of {', '.join(known)}")
    return list(dict.fromkeys(names))


def _seconds(text: str) -> float:
    units = {"ms": 1e-3, "s": 1.0, "m": 60.0, "h": 3600.0}
    unit = next((u for u in units if text.endswith(u) and text[: -len(u)]), "s")
    try:
        seconds = float(text.removesuffix(unit)) * units[unit]
    except ValueError:
        seconds = 0.0
    if not 0 < seconds < 1e9:
        raise Refusal(f"--budget {text}: expected a time such as 90s, 10m or 2h")
    return seconds


def _range(text: str) -> tuple[int, int]:
    words = text.split("..")
    sizes = [bytes_of(word, "--bytes") for word in words]
    if len(sizes) != 2 or not 4 <= sizes[0] <= sizes[1] or any(size % 4 for size in sizes):
        raise Refusal(
            f"--bytes {text}: expected LEAST..MOST such as 8..4M, multiples of 4 from 4 on"
        )
    return sizes[0], sizes[1]


@dataclass(frozen=True)
class _Part:
    """What to measure with one kind of blocks, and how."""

    cells: Cells
    shape: Shape = equal_blocks
    band: Band | None = None
    """The irregularity of blocks; None: they are equal, or as in the program."""

    @property
    def planned(self) -> int:
        """About as many runs as the tuning and the check need."""
        return planned_runs(self.cells) + sum(map(len, self.cells.values()))

    @property
    def weight(self) -> float:
        """That of all cells; in a program the time of their calls."""
        return sum(cell.weight for cells in self.cells.values() for cell in cells.values())


@dataclass(frozen=True)
class _Work:
    """What to measure; rules for the first part hold for the others too, unless they have some."""

    parts: list[_Part]
    program: Program | None = None

    def sequence(self) -> list[_Part]:
        """The parts as they are tuned: of a program, first those that need least for their share of
        the budget, as what they leave serves the others."""
        if not self.program:
            return self.parts
        return sorted(self.parts, key=lambda part: part.planned / (part.weight or 1.0))

    def share(self, left: Sequence[_Part]) -> float:
        """What the first of these parts may take of the rest of the budget: all, as the rules for the
        first one hold for the others too. The parts of a program share it by the time of their
        calls."""
        weights = [part.weight for part in left]
        return weights[0] / sum(weights) if self.program and any(weights) else 1.0


@dataclass(frozen=True)
class _Request:
    """The options of the command, read."""

    mpirun: str
    output: Path
    names: list[str]
    sizes: tuple[int, int]
    report: Path | None
    seconds: float
    resume: bool

    @property
    def command(self) -> str:
        """What rules cite."""
        return f"tutti tune --mpirun {shlex.quote(self.mpirun)}" + (
            f" --report {shlex.quote(str(self.report))}" if self.report else ""
        )

    def refuse_interrupted(self) -> None:
        """Raises Refusal if there are measurements which are not to be continued."""
        state = _state_of(self.output)
        if state.exists() and not self.resume and not tuning_run.is_finished(state):
            raise Refusal(f"{state} has the runs of an interrupted tuning: continue it with --resume, or "
                          "remove the file to tune anew")  # fmt: skip

    def state(self, job: Job) -> State:
        """The measurements so far, which fit this request and job."""
        of_report = hashlib.sha256(self.report.read_bytes()).hexdigest()[:16] if self.report else ""
        identity = {"mpirun": self.mpirun, "bytes": list(self.sizes), "report": of_report,
                    "version": _engine.version, "settings": tuning_run.settings()}  # fmt: skip
        path = _state_of(self.output)
        exists = path.exists()
        if self.resume and not exists:
            print(f"tutti: nothing to resume, as there is no {path}: the tuning begins", file=sys.stderr)
        return State(path, {**identity, **asdict(job)}, self.resume and exists)

    @contextlib.contextmanager
    def work(self, job: Job, start_up: float) -> Iterator[_Work]:
        """What to measure with this job, whose start-up takes so many seconds. Recorded arrivals
        are in files meanwhile."""
        if self.report is None:
            scan = self.seconds * FOR_TUNING * SHARES[0] if self.seconds else math.inf
            # Measuring takes a run about as long as its start-up.
            runs = scan / max(2 * start_up, 1e-9)
            cells = grids(self.names, job.ranks, self.sizes, runs)
            if not any(cells.values()):
                raise Refusal(f"--bytes {_engine.range_text('..'.join(map(str, self.sizes)))}: a rank would "
                              f"need more than {volume(MAX_BUFFER)} for {', '.join(cells)}")  # fmt: skip
            yield _Work([_Part(cells), *_uneven_parts(cells, job.ranks)])
            return
        program = tune_report.program_of(self.report, job, self.names)
        folder = self.output.with_name(self.output.name + ".arrivals")
        try:
            yield _Work([_Part(program.cells(band), program.shape(job.ranks, folder, band), band)
                         for band in program.bands], program)  # fmt: skip
        finally:
            program.remove_arrivals(folder)

    def write(self, work: _Work, tuners: list[Tuner], path: Path) -> list[dict[str, Any]]:
        """Writes the rules of the first parts, one for each tuner, to a file, and returns them."""
        date = datetime.date.today().isoformat()
        first, *others = tuners
        of_uneven = [
            span
            for part, tuner in zip(work.parts[1:], others, strict=False) if part.band
            for span in tuning_uneven.spans_beside(first, tuner, part.band)
        ]  # fmt: skip
        rules = rules_of(first, date, self.command, of_uneven)
        write(path, to_text(rules, date, self.command), "--output")
        return rules


def _uneven_parts(equal: Cells, ranks: int) -> list[_Part]:
    """What to measure after equal blocks."""
    parts = [
        _Part(tuning_uneven.cells_of(equal, ranks, band), tuning_uneven.shape_of(ranks, band), band)
        for band in bands(ranks)
    ]
    return [part for part in parts if any(part.cells.values())]


def _state_of(output: Path) -> Path:
    """The file of the measurements for these rules."""
    return output.with_name(output.name + ".state")


def _request(
    mpirun: str, output: Path | None, collective: list[str] | None, sizes: str | None,
    budget: str | None, report: Path | None, resume: bool, plot: Path | None,
) -> _Request:  # fmt: skip
    if not mpirun:
        raise Refusal('tune needs --mpirun COMMAND, e.g. --mpirun "mpirun -n 8"')
    if report is not None and sizes is not None:
        raise Refusal(f"--bytes {sizes} and --report exclude each other: the report has the sizes")
    names = _collectives(collective)
    limits = _range(sizes or "8..4M")
    seconds = _seconds(budget) if budget else 0.0
    for option, text in (("--mpirun", mpirun), ("--report", str(report or ""))):
        if not is_utf_8(text):
            raise Refusal(f"{option} {text}: expected UTF-8, as in the rules, which cite it")
    if report is not None:
        reports.read(report)
    if output is None:
        output = Path("rules.json")
        if output.exists() and not (resume and _state_of(output).exists()):
            raise Refusal(
                f"{output} exists; name the rules file to write with --output FILE (tutti rules merge joins "
                "files)"
            )
    if reason := why_not_writable(output):
        raise Refusal(f"--output {output}: {reason}")
    if report is not None:
        refuse_report(report, {"--output": output, "--plot": plot})
    return _Request(mpirun, output.absolute(), names, limits, report, seconds, resume)


def _tuned(
    request: _Request, run: Run, job: Job, start_up: float, work: _Work, state: State, bar: Bar
) -> list[Tuner]:
    """Measures one part after the other. Returns a tuner for each, as they are in the work."""
    end = time.monotonic() + request.seconds * FOR_TUNING
    planned = sum(part.planned for part in work.parts)
    tuners: dict[int, Tuner] = {}
    sequence = work.sequence()
    for at, part in enumerate(sequence):
        before = sum(tuner.done for tuner in tuners.values())
        share = work.share(sequence[at:])
        left = max(1e-6, share * (end - time.monotonic())) if request.seconds else 0
        tuner = tuners[id(part)] = Tuner(
            job, tuning_run.measuring(run, state, part.shape), part.cells,
            arrivals=work.program.with_arrivals if work.program else (),
            band=part.band, budget=left, start_up=start_up, clock=time.monotonic,
            progress=bar.after(before, planned),
        )  # fmt: skip
        tuner.run()
    return [tuners[id(part)] for part in work.parts]


def _checked(
    request: _Request, run: Run, work: _Work, tuners: list[Tuner], bar: Bar, end: float
) -> tuple[list[dict[str, Any]], list[Check]]:
    """Checks the rules, and writes what the check leaves of them. Uneven blocks whose check does not
    begin before the end of the budget get none, as the rules for equal blocks hold there, if there
    are any."""
    unchecked = request.output.with_name(f".{request.output.name}.unchecked")
    done = sum(tuner.done for tuner in tuners)
    planned = done + sum(len(cells) for tuner in tuners for cells in tuner.cells.values())
    has_equal = any(work.parts[0].cells.values())
    checks: list[Check] = []
    settled: list[Tuner] = []
    try:
        for at, (part, tuner) in enumerate(zip(work.parts, tuners, strict=True)):
            if part.band and has_equal and time.monotonic() >= end:
                tuner.unfinished = [name for name, cells in tuner.cells.items() if cells]
                continue
            if part.band:
                tuning_uneven.choose(tuners[0], tuner)
            settled.append(tuner)
            request.write(work, settled, unchecked)
            now = time.monotonic()
            part_end = now + work.share(work.parts[at:]) * (end - now)
            left = lambda until=part_end: until - time.monotonic()  # noqa: E731
            progress = bar.after(done + len(checks), planned)
            checks += check(tuner, run, unchecked, left, part.shape, progress)
    finally:
        unchecked.unlink(missing_ok=True)
    return request.write(work, settled, request.output), checks


def _warn(job: Job) -> None:
    """Says what makes the times of a job doubtful."""
    if 0 < job.cores < job.ranks_per_node:
        print(f"tutti: {count(job.ranks_per_node, 'rank')} of a node share {count(job.cores, 'core')}: times "
              "depend on the scheduler, and rules hold for such jobs only", file=sys.stderr)  # fmt: skip


def _measured(
    request: _Request, run: Run
) -> tuple[_Work, list[Tuner], list[dict[str, Any]], list[Check]]:
    """Tunes, and writes the rules."""
    start = time.monotonic()
    end = start + (request.seconds or math.inf)
    job = tuning_run.job_of(run)
    start_up = time.monotonic() - start
    state = request.state(job)
    _warn(job)
    bar = Bar(sys.stderr.isatty(), request.seconds)
    try:
        with request.work(job, start_up) as work, bar:
            tuners = _tuned(request, run, job, start_up, work, state, bar)
            rules, checks = _checked(request, run, work, tuners, bar, end)
    except (KeyboardInterrupt, Refusal):
        if state.path.exists() and not tuning_run.is_finished(state.path):
            print("tutti: stopped; the same command with --resume continues from "
                  f"{state.path}", file=sys.stderr)  # fmt: skip
        raise
    state.finish(keep=request.seconds > 0)
    return work, tuners, rules, checks


def tune(
    mpirun: Mpirun = "",
    output: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="The rules file to write. Default: rules.json."),
    ] = None,
    report: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Tune the calls in this report of tutti run --report FILE.json."),
    ] = None,
    collective: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME,..", help="What to tune. Default: all collectives."),
    ] = None,
    sizes: Annotated[
        str | None,
        typer.Option(
            "--bytes", metavar="RANGE",
            help="Message sizes to tune, multiples of 4 from 4 on. Default: 8..4M.",
        ),
    ] = None,  # fmt: skip
    budget: Annotated[
        str | None,
        typer.Option(metavar="TIME", help="About how long it may take, e.g. 10m. Default: no limit."),
    ] = None,
    resume: Annotated[
        bool, typer.Option("--resume", help="Continue a tuning that was interrupted or had a budget, if there is one.")
    ] = False,
    plot: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Plot the crossovers (.svg, .png, .pdf).")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Measure which algorithm is fastest for which calls, and write rules.

    ```
    tutti tune --mpirun "mpirun -n 8" --budget 10m
    tutti tune --mpirun "srun -n 64" --report run.json --output of_app.json
    ```
    """
    if plot is not None:
        check_plot(plot, "--plot")
    request = _request(mpirun, output, collective, sizes, budget, report, resume, plot)
    with supervised.terminable(), tuning_run.alone(request.output):
        request.refuse_interrupted()
        work, tuners, rules, checks = _measured(request, tuning_run.under(mpirun))
    if plot is not None:
        crossovers.draw(tuners if work.program else tuners[:1], plot)
    if as_json:
        more = tune_report.as_json(work.program, tuners, checks) if work.program else {}
        print_json(tune_output.as_json(tuners, rules, checks) | more)
        return
    out = console()
    if work.program:
        tune_report.show(out, work.program, tuners, checks)
    tune_output.show_checks(out, checks)
    tune_output.show_summary(out, checks, tuners, request.output, request.seconds, rules)

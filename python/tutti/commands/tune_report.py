"""`tutti tune --report`: what a program's calls are, and what their tuning saves."""

from __future__ import annotations

import contextlib
import math
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.markup import escape

from tutti import _engine, reports, source_lines
from tutti.console import Refusal, count, duration, percent, table, write
from tutti.tuning import CHECK, Job, Tuner
from tutti.tuning_blocks import Band
from tutti.tuning_calls import MIN_SHARE, Calls, Replay, calls_of, check_ranks, replays_of
from tutti.tuning_cells import Cells
from tutti.tuning_check import Check
from tutti.tuning_rules import spans_of
from tutti.tuning_run import Shape, Variant

_MAX_LINES = 20
_UNLIKE = 5
"""A replay whose calls take so many times the program's, or less than that share, is named."""


def _is_switched_on(name: str) -> bool:
    """Is this variable of the environment on? Unset or empty it counts as off."""
    value = os.environ.get(name, "")
    try:
        return bool(value) and _engine.is_on(value)
    except ValueError as error:
        raise Refusal(f"invalid {name}={value}: {error}") from None


@dataclass(frozen=True)
class Program:
    """The calls of a report, and those that the tuning measures."""

    calls: list[Calls]
    replays: list[Replay]
    ranks: int
    """Of the whole program."""
    mpi: str
    sources: Mapping[str, str]
    """The source lines of call sites."""

    @property
    def seconds(self) -> float:
        """In all calls, mean over ranks."""
        return sum(one.seconds for one in self.calls)

    @property
    def with_arrivals(self) -> set[str]:
        """Collectives for which rules can select by arrival: the arrivals are replayed, and the
        background thread, which rules need for that, is on."""
        if not _is_switched_on("TUTTI_BACKGROUND"):
            return set()
        return {one.collective for one in self.replays if one.main.arrivals}

    @property
    def bands(self) -> list[Band | None]:
        """The irregularities of the calls, first equal blocks."""
        uneven = {one.band for one in self.replays if one.band}
        return [None, *sorted(uneven, key=lambda band: band.least)]

    def cells(self, band: Band | None) -> Cells:
        """The empty cells for blocks of a band, the collective with the most time first."""
        made: Cells = {}
        for one in self._of(band):
            made.setdefault(one.collective, {})[one.size] = one.cell()
        return {name: dict(sorted(cells.items())) for name, cells in made.items()}

    def _of(self, band: Band | None) -> list[Replay]:
        return [one for one in self.replays if one.band == band]

    def shape(self, ranks: int, folder: Path, band: Band | None) -> Shape:
        """How tutti-bench makes calls of any size with blocks of a band: as those of the nearest
        recorded size. `folder` gets the recorded arrivals."""
        late: dict[tuple[str, int, int], list[str]] = {}
        for one in self._of(band):
            for root, path in _files_of(one, folder):
                folder.mkdir(exist_ok=True)
                lines = [",".join(f"{seconds:.9g}" for seconds in call) for call in one.main.delays(root)]
                write(path, "\n".join(lines) + "\n", "--output")
                words = ["--delay", f"recorded:{path}", "--compute", "0ms", "--edge", "0"]
                late[one.collective, one.size, root] = words

        def variants(collective: str, size: int) -> list[Variant]:
            near = min(
                (one for one in self._of(band) if one.collective == collective),
                key=lambda one: abs(math.log(max(1, one.size) / max(1, size))),
            )
            return [
                Variant(
                    near.words(ranks, size, root) + late.get((collective, near.size, root), []), share
                )
                for root, share in near.main.roots()
            ]

        return variants

    def remove_arrivals(self, folder: Path) -> None:
        """Removes what `shape` has written, and no other file."""
        with contextlib.suppress(OSError):
            for one in self.replays:
                for _, path in _files_of(one, folder):
                    path.unlink(missing_ok=True)
            folder.rmdir()


def _files_of(one: Replay, folder: Path) -> list[tuple[int, Path]]:
    """The roots with recorded arrivals, and the files for these."""
    if not one.main.arrivals:
        return []
    return [
        (root, folder / f"{one.collective}-{one.size}-{one.irregularity}-{root}.csv")
        for root, _ in one.main.roots()
    ]


def program_of(path: Path, job: Job, names: Sequence[str]) -> Program:
    """The calls of the report that fit the job.

    Raises:
        Refusal: the file is no report of all ranks with sizes, the job has other ranks, or nothing
            matters.
    """
    found = reports.read(path)
    if reports.is_partial(found):
        raise Refusal(f"--report {path}: partial, of single processes; expected a report of all ranks")
    calls = calls_of(found)
    ranks = int(found[0].get("ranks") or 0)
    if not any(one.seconds for one in calls):
        raise Refusal(f"--report {path}: the report has no calls that took time")
    check_ranks(calls, job.ranks, ranks)
    replays = replays_of(calls, job.ranks, names)
    if not replays:
        others = {one.collective for one in calls if one.is_tunable()}.difference(names)
        which = f" of {', '.join(names)}" if others else ""
        raise Refusal(
            f"--report {path}: no calls{which} on {job.ranks} ranks take "
            f"{percent(MIN_SHARE)} or more of the time in collectives"
        )
    return Program(calls, replays, ranks, found[0].get("mpi") or "", source_lines.of_reports(found, path.stat().st_mtime))


_Key = tuple[str, int, int]
"""Collective, message size, irregularity."""


def _by_size(program: Program) -> dict[_Key, Replay]:
    return {(one.collective, one.size, one.irregularity): one for one in program.replays}


def _key_of(check: Check) -> _Key:
    return check.collective, check.bytes, check.irregularity


def saved(program: Program, checks: Sequence[Check]) -> float:
    """Seconds that the rules save: the time that the program spent in the MPI's own algorithm from
    the last arrival on, times the share by which the check has found the rules faster."""
    by_size = _by_size(program)
    total = 0.0
    for check in checks:
        one = by_size.get(_key_of(check))
        if one is not None and not check.refutes and not check.is_native:
            total += (1 - 1 / check.speedup) * sum(site.moved for site in one.sites)
    return total


def _unchecked(one: Replay, tuners: Sequence[Tuner]) -> str:
    """What the rules select for calls that no check has run, in words."""
    tuner = next(tuner for tuner in tuners if tuner.irregularity == one.irregularity)
    if (one.collective, CHECK) in tuner.failed:
        return "native"
    cell = tuner.cells[one.collective].get(one.size)
    if cell is not None and cell.choice:
        return "native" if cell.choice == "native" else "not checked"
    spans = spans_of(tuners[0]).get(one.collective, []) if one.band else []
    uses = [span.use for span in spans if span.holds(one.size)]
    if not uses:
        return "no rule"
    return "native" if uses[0] == "native" else "as equal blocks"


def _arrivals_of(site: Calls) -> str:
    """How the arrivals of a site are replayed, in a word or three."""
    if not site.arrivals:
        return "together"
    return "calls in a row" if site.follow else "recorded"


def _rows(program: Program, tuners: Sequence[Tuner], checks: Sequence[Check]) -> list[dict[str, Any]]:
    """A row for each call site and size that was tuned."""
    by_size = {_key_of(check): check for check in checks}
    rows = []
    for one in program.replays:
        check = by_size.get((one.collective, one.size, one.irregularity))
        chosen = _unchecked(one, tuners) if check is None else "native"
        for site in one.sites:
            native = check is None or check.refutes or check.is_native
            rows.append(
                {
                    "site": site.site, "collective": one.collective,
                    "blocks": one.band.text if one.band else "", "bytes": site.bytes,
                    "irregularity": site.irregularity, "calls": site.calls, "share": site.seconds / program.seconds,
                    "arrivals": _arrivals_of(one.main),
                    "roots": [root for root, _ in one.main.roots() if root >= 0],
                    "chosen": chosen if native or not check else check.ran.split(": ")[0],
                    "speedup": 1.0 if native or not check else check.speedup,
                }
            )  # fmt: skip
    return sorted(rows, key=lambda row: -row["share"])


def as_json(program: Program, tuners: Sequence[Tuner], checks: Sequence[Check]) -> dict[str, Any]:
    """The table and the estimate."""
    return {
        "sites": _rows(program, tuners, checks),
        "seconds": program.seconds,
        "saved_seconds": saved(program, checks),
    }


def show(
    out: Console, program: Program, tuners: Sequence[Tuner], checks: Sequence[Check]
) -> None:
    """Prints a line for each call site and size, what was left out, and the estimate."""
    rows = _rows(program, tuners, checks)
    numbers = ("size", "share", "speedup")
    listing = table("call site", "collective", "size", "share", "chosen", "speedup", right=numbers)
    for row in rows[:_MAX_LINES]:
        listing.add_row(
            escape(source_lines.shown(row["site"], program.sources)),
            row["collective"] + (f" {row['blocks']}" if row["blocks"] else ""),
            f"{row['bytes']:,}",
            percent(row["share"]),
            f"[cyan]{escape(row['chosen'])}[/]",
            f"{row['speedup']:.2f}" if row["speedup"] != 1.0 else "",
        )
    out.print(listing)
    if len(rows) > _MAX_LINES:
        out.print(f".. and {count(len(rows) - _MAX_LINES, 'more line')}; --json has all.")
    for line in [*_unlike(program, checks), *_left_out(program, tuners[0].job)]:
        out.print(line, markup=False)
    out.print()
    seconds = saved(program, checks)
    whole = f"{duration(program.seconds)} in collectives"
    if all(row["chosen"] in ("native", "no rule") for row in rows):
        out.print(f"[bold]The rules change nothing in the {whole}.[/]")
        return
    share = seconds / program.seconds
    out.print(
        f"[bold]The program {'loses' if seconds < 0 else 'saves'} about {duration(abs(seconds))} of {whole} "
        f"({percent(abs(share))})[/], by "
        "the second run below."
    )


def _unlike(program: Program, checks: Sequence[Check]) -> list[str]:
    """A sentence about sizes whose replayed calls take far from the program's time."""
    by_size = _by_size(program)
    found = []
    for check in checks:
        one = by_size.get(_key_of(check))
        here, there = check.native.median * 1e-6, one.main.moving if one else 0.0
        if there > 0 and not 1 / _UNLIKE < here / there < _UNLIKE:
            size = _engine.range_text(str(check.bytes))
            times = f"{duration(here)} instead of {duration(there)}"
            found.append(f"{check.collective} {size} {times}")
    if not found:
        return []
    return [f"Replayed calls are unlike the program's: {'; '.join(found)}. Time the program itself."]


def _left_out(program: Program, job: Job) -> list[str]:
    """Sentences about the calls that the tuning does not measure."""
    ranks = job.ranks
    tuned = {id(site) for one in program.replays for site in one.sites}
    others = [one for one in program.calls if id(one) not in tuned]
    elsewhere = [one for one in others if one.ranks != ranks and one.is_tunable()]
    lines = []
    for p in sorted({one.ranks for one in elsewhere}):
        share = sum(one.seconds for one in elsewhere if one.ranks == p) / program.seconds
        lines.append(
            f"Calls on communicators of {p} ranks ({percent(share, 1)} of the time) are skipped: "
            f"tune them with a launcher that starts {p}."
        )
    rest = sum(one.seconds for one in others if one not in elsewhere)
    if rest > 0:
        lines.append(
            f"Other calls take {percent(rest / program.seconds, 1)} of the time and are not tuned."
        )
    mpi = _engine.mpi_version(job.library)
    if program.mpi and _engine.mpi_version(_full(program.mpi)) != mpi:
        lines.append(f"The report is of {program.mpi}; the rules hold for {' '.join(mpi)}.")
    return lines


def _full(mpi: str) -> str:
    """The version in a report as MPI_Get_library_version writes it."""
    return mpi.replace("MPICH ", "MPICH Version: ", 1)

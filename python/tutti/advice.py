"""Suggests what to try next after a run, mostly as commands to paste."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tutti import launcher
from tutti import reports as reports_of
from tutti.console import duration, percent
from tutti.site_totals import SiteTotal, totals_of

_SMALL_SHARE = 0.05
_LONG_WAIT = 0.5


@dataclass(frozen=True)
class Advice:
    """A reason, and the command to try; empty where there is none."""

    why: str
    command: str


@dataclass(frozen=True)
class Known:
    """What is known of the run."""

    report: str
    """The report's file."""
    command: Sequence[str] = ()
    """The command that started the program; empty if unknown."""
    seconds: float | None = None
    """From the start of a rank to its report, or of the command to its end; None if unknown."""
    ranks: int | None = None
    cases: Sequence[Mapping[str, Any]] = ()
    """The measured candidates of the report, as its JSON has them."""
    lab: Sequence[str] = ()
    """The words before the command that started it in the lab; empty elsewhere."""
    collectives: float | None = None
    """Seconds of all collectives, of which the report may have some lines only; None if unknown."""
    is_partial: bool = False
    """The report has single processes, or only the calls of some roots."""
    nonblocking: int = 0
    """The calls of nonblocking collectives that the report counts, summed over ranks."""

    @property
    def text(self) -> str:
        """The command, or an example of one."""
        return shlex.join(self.command) or f"mpirun -n {self.ranks or 'N'} ./app"

    @property
    def with_rules(self) -> str:
        """The command that runs the program with rules.json."""
        if self.lab:
            return f"TUTTI_RULES=rules.json {shlex.join([*self.lab, *self.command])}"
        return f"tutti run --rules rules.json -- {self.text}"


def advice_of(totals: Sequence[SiteTotal], known: Known) -> list[Advice]:
    """What to try next, the most promising first; without call sites, at most what nonblocking
    collectives lack.

    `totals` has the call sites of the report.
    """
    passed_on = _nonblocking(totals, known)
    if not totals:
        return passed_on
    seconds = sum(total.seconds for total in totals)
    found = [
        *passed_on,
        *_little_to_gain(seconds if known.collectives is None else known.collectives, known),
        *_faster(seconds, known),
        *_waits(totals, seconds, known.report),
        *_tuning(totals, known),
    ]
    if known.lab:  # which compares no whole runs
        return [one for one in found if not one.command.startswith("tutti run --compare")]
    if not any(one.command.startswith("tutti run --compare") for one in found):
        why = "Measure what Tutti saves in this program: native and Tutti in turn."
        found.append(Advice(why, f"tutti run --compare -- {known.text}"))
    return found


def advice_on(
    reports: Sequence[dict[str, Any]], name: str, command: Sequence[str] = (), seconds: float | None = None,
    lab: Sequence[str] = (),
) -> list[Advice]:  # fmt: skip
    """What to try next after the run of the reports in the file `name`: of this command, which took so many
    seconds if its ranks do not say it, in the lab if it has words."""
    is_partial = reports_of.is_partial(reports)
    known = Known(
        name, command,
        # Times of single processes are no part of the run's.
        0 if is_partial else reports_of.wall_of(reports) or seconds,
        reports[0].get("ranks") or None,
        [case for part in reports for case in (part.get("tuning") or {}).get("cases", ())],
        lab, reports[0].get("seconds", {}).get("mean"), is_partial, sum(map(nonblocking_calls, reports)),
    )  # fmt: skip
    return advice_of(totals_of(reports_of.sites_of(list(reports))), known)


def nonblocking_calls(report: Mapping[str, Any]) -> int:
    """The calls of nonblocking collectives that a report counts, summed over ranks."""
    counted = {one["function"]: one["calls"] for one in report.get("not_handled") or ()}
    return sum(
        calls
        for name, calls in counted.items()
        if name.startswith("MPI_I") and not name.startswith("MPI_Ineighbor")
    )


def _nonblocking(totals: Sequence[SiteTotal], known: Known) -> list[Advice]:
    """What is possible where most calls are nonblocking, which Tutti leaves to the MPI."""
    handled = sum(total.calls for total in totals) * (known.ranks or 1)
    if known.nonblocking <= handled:
        return []
    share = percent(known.nonblocking / (known.nonblocking + handled))
    why = (
        f"{share} of the collective calls are nonblocking, which Tutti leaves to the MPI. It acts on "
        "blocking calls and, for gathers and scatters whose data move while ranks compute, on the "
        "persistent ones of tutti.h, such as TUTTI_Gather_init."
    )
    return [Advice(why, "")]


def _little_to_gain(seconds: float, known: Known) -> list[Advice]:
    """Advice to compare first, if collectives are a small part of the run."""
    if not known.seconds or seconds >= _SMALL_SHARE * known.seconds:
        return []
    why = (
        f"Collectives take {percent(seconds / known.seconds, 1)} of the run. A faster collective can save "
        "at most that; compare before you tune."
    )
    return [Advice(why, f"tutti run --compare -- {known.text}")]


def _faster(seconds: float, known: Known) -> list[Advice]:
    """Advice to request the candidate that would have saved most, if that is much of all time."""
    cases = [case for case in known.cases if case.get("on_table")]
    if not cases:
        return []
    case = max(cases, key=lambda one: float(one["on_table"]["seconds"]))
    table = case["on_table"]
    if table["candidate"] == case["selected"] or table["seconds"] < _SMALL_SHARE * seconds:
        return []
    return [
        Advice(
            f"By its median in this run, {table['candidate']} could have saved "
            f"{duration(table['seconds'])} in {case['collective']}, but {table['why']}. Request "
            "it, and compare whole runs.",
            f"tutti run --compare --{case['collective']} "
            f"{shlex.quote(table['candidate'])} -- {known.text}",
        )
    ]


def _waits(totals: Sequence[SiteTotal], seconds: float, name: str) -> list[Advice]:
    """Advice on the call site whose ranks wait longest, if that is much of all time."""
    waited = [(total, _waited(total)) for total in totals if total.parts]
    if not waited:
        return []
    total, longest = max(waited, key=lambda one: one[1])
    if longest <= 0 or longest < _LONG_WAIT * total.seconds or longest < _SMALL_SHARE * seconds:
        return []
    number = next((line.number for line in total.lines if line.pattern), total.lines[0].number)
    return [
        Advice(
            f"Ranks in {total.name} spend {percent(longest / total.seconds)} of their time behind "
            "late ranks. No faster algorithm avoids waiting; see which ranks are late, and which "
            "algorithm suits their arrivals.",
            f"tutti explain --report {shlex.quote(name)} --site {number}",
        )
    ]


def _waited(total: SiteTotal) -> float:
    return total.parts["waiting"] + total.parts["held"] if total.parts else 0.0


def _tuning(totals: Sequence[SiteTotal], known: Known) -> list[Advice]:
    """Advice to tune the collectives whose ranks move data for long with the MPI's own. tutti tune needs
    all ranks, and no one-sided collectives."""
    moving: dict[str, float] = {}
    for total in totals:
        if total.algorithms[0] == "native" and not total.collective.startswith("rma_"):
            moved = total.parts["moving"] if total.parts else total.seconds
            moving[total.collective] = moving.get(total.collective, 0.0) + moved
    if not moving or known.is_partial:
        return []
    longest = max(moving, key=lambda name: moving[name])
    start = _launcher_of(known)
    return [
        Advice(
            f"Measure once what is fastest for these calls, most of all {longest}, then run with the "
            "rules.",
            f"tutti tune --mpirun {shlex.quote(start)} --report {shlex.quote(known.report)} "
            f"--budget 10m\n{known.with_rules}",
        )
    ]


def _launcher_of(known: Known) -> str:
    """The launcher of a command and its options; the launcher with the number of ranks if it starts
    several programs or none that is known."""
    if known.lab:
        return shlex.join(known.lab)
    found = launcher.find(known.command, lambda _: "") if known.command else None
    words = known.command[: found.index + 1] if found else ["mpirun"]
    options = launcher.options_of(known.command, found) if found else None
    return shlex.join([*words, *(["-n", str(known.ranks or "N")] if options is None else options)])

"""Suggests what to try next after a run, as commands to paste."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tutti import launcher
from tutti.console import duration
from tutti.site_totals import SiteTotal

_SMALL_SHARE = 0.05
_LONG_WAIT = 0.5


@dataclass(frozen=True)
class Advice:
    """A reason, and the command to try."""

    why: str
    command: str


def advice_of(
    totals: Sequence[SiteTotal],
    name: str,
    command: Sequence[str],
    wall: float | None,
    ranks: int | None,
    cases: Sequence[Mapping[str, Any]] = (),
) -> list[Advice]:
    """What to try next, the most promising first.

    Args:
        totals: the call sites of the report, the longest time first.
        name: the report's file.
        command: the command of the run; empty if unknown.
        wall: its seconds, None if unknown.
        ranks: the number of ranks, None if unknown.
        cases: the measured candidates of the report, as its JSON has them.
    """
    if not totals:
        return []
    text = shlex.join(command) if command else f"mpirun -n {ranks or 'N'} ./app"
    seconds = sum(total.seconds for total in totals)
    found = []
    if wall and seconds < _SMALL_SHARE * wall:
        found.append(
            Advice(
                f"Collectives take {seconds / wall:.1%} of the run. A faster collective can save "
                "at most that; compare before you tune.",
                f"tutti run --compare -- {text}",
            )
        )
    found += [
        *_faster(cases, seconds, text),
        *_waits(totals, seconds, name),
        *_tuning(totals, text, command),
    ]
    if not any(one.command.startswith("tutti run --compare") for one in found):
        found.append(
            Advice(
                "Measure what Tutti saves in this program: native and Tutti in turn.",
                f"tutti run --compare -- {text}",
            )
        )
    return found


def _faster(cases: Sequence[Mapping[str, Any]], seconds: float, text: str) -> list[Advice]:
    """Advice to request the candidate that would have saved most, if that is much of all time."""
    known = [case for case in cases if case.get("on_table")]
    if not known:
        return []
    case = max(known, key=lambda one: float(one["on_table"]["seconds"]))
    table = case["on_table"]
    if table["candidate"] == case["selected"] or table["seconds"] < _SMALL_SHARE * seconds:
        return []
    return [
        Advice(
            f"By its median in this run, {table['candidate']} could have saved "
            f"{duration(table['seconds'])} in {case['collective']}, but {table['why']}. Request it, "
            "and compare whole runs.",
            f"tutti run --compare --{case['collective']} "
            f"{shlex.quote(table['candidate'])} -- {text}",
        )
    ]


def _waits(totals: Sequence[SiteTotal], seconds: float, name: str) -> list[Advice]:
    """Advice on the call site whose ranks wait longest, if that is much of all time."""
    waited = [(total, _waited(total)) for total in totals if total.parts]
    if not waited:
        return []
    total, longest = max(waited, key=lambda one: one[1])
    if longest < _LONG_WAIT * total.seconds or longest < _SMALL_SHARE * seconds:
        return []
    number = next((line.number for line in total.lines if line.pattern), total.lines[0].number)
    return [
        Advice(
            f"Ranks in {total.name} spend {longest / total.seconds:.0%} of their time behind "
            "late ranks. No faster algorithm avoids waiting; see which ranks are late, and which "
            "algorithm suits their arrivals.",
            f"tutti explain --report {shlex.quote(name)} --site {number}",
        )
    ]


def _waited(total: SiteTotal) -> float:
    return total.parts["waiting"] + total.parts["held"] if total.parts else 0.0


def _tuning(totals: Sequence[SiteTotal], text: str, command: Sequence[str]) -> list[Advice]:
    """Advice to tune the collectives whose ranks move data for long with the MPI's own."""
    moving: dict[str, float] = {}
    for total in totals:
        if total.algorithms == ["native"]:
            moved = total.parts["moving"] if total.parts else total.seconds
            moving[total.collective] = moving.get(total.collective, 0.0) + moved
    if not moving:
        return []
    longest = max(moving, key=lambda name: moving[name])
    start = shlex.join(_launcher_of(command)) or "mpirun -n N"
    return [
        Advice(
            f"Measure once which {longest} is fastest on this machine, then run with the rules.",
            f"tutti tune --mpirun {shlex.quote(start)} --collective {longest} --budget 10m "
            f"--output rules.json\ntutti run --rules rules.json -- {text}",
        )
    ]


def _launcher_of(command: Sequence[str]) -> list[str]:
    """The launcher of a command and its options: the words before the first that is a file."""
    found = launcher.find(command, lambda _: "") if command else None
    if found is None:
        return []
    words = list(command[: found.index + 1])
    for word in command[found.index + 1 :]:
        if "/" in word or word.startswith("python"):
            return words
        words.append(word)
    return []

"""Reads the options that describe a call: ranks, root, sizes, machine."""

from __future__ import annotations

import os
import random
import re
import sys
from collections.abc import Mapping
from pathlib import Path

from tutti import _engine
from tutti.console import Refusal


def bytes_of(text: str, option: str) -> int:
    """A number of bytes such as 1536 or 64K."""
    try:
        return _engine.bytes_from(text)
    except ValueError as error:
        raise Refusal(f"{option} {text}: {error}") from None


def root_of(text: str, ranks: int) -> int:
    """The root among `ranks`: a rank, or first, half (as in Träff 2017) or last."""
    places = {"first": 0, "half": ranks // 2, "last": ranks - 1}
    if text in places:
        return places[text]
    if not text.isdigit() or int(text) >= ranks:
        raise Refusal(f"--root {text}: it is one of 0..{ranks - 1}, first, half or last")
    return int(text)


def ranks_on(nodes: str) -> int:
    """The ranks of a shape of nodes such as 1,4,2 or 8x6."""
    try:
        return sum(len(ranks) for ranks in _engine.node_ranks(nodes))
    except ValueError as error:
        raise Refusal(f"--nodes: {error}") from None


def machine_of(path: Path | None) -> _engine.Machine:
    """The model's parameters where the library would take them from.

    They come from `path`; else from what TUTTI_MACHINE names; else from tutti/machine in the
    user's cache folder if it is there; else, or where one of them says built-in, they are the
    built-in ones.

    A file that nobody has named is passed over, with a line that says so, if it is no good.

    Raises:
        Refusal: a file that is named cannot be read or says something else.
    """
    return _machines(path, os.environ)[0]


def node_machine_of(path: Path | None) -> _engine.NodeMachine:
    """The numbers of a cluster of many-core nodes, from where machine_of takes its own.

    Raises:
        Refusal: a file cannot be read or says something else.
    """
    return _machines(path, os.environ)[1]


def check_machine(environment: Mapping[str, str]) -> None:
    """Refuses a TUTTI_MACHINE that cannot be used."""
    _machines(None, environment)


def _machines(
    path: Path | None, environment: Mapping[str, str]
) -> tuple[_engine.Machine, _engine.NodeMachine]:
    """What a file says, and the built-in numbers for what it leaves out."""
    named = str(path) if path else environment.get("TUTTI_MACHINE", "")
    asked, named = named != "", named or _measured_machine(environment)
    if named in ("", "built-in"):
        return _engine.Machine(), _engine.NodeMachine()
    try:
        return _engine.machines_from_text(_engine.read_text_file(named))
    except ValueError as error:
        if not asked:
            text = f"{named} is passed over, the built-in machine is used: {error}"
            print(f"tutti: {text}", file=sys.stderr)
            return _engine.Machine(), _engine.NodeMachine()
        option = "--machine " if path else "TUTTI_MACHINE="
        raise Refusal(f"{option}{named}: {error}") from None


def distances_of(path: Path, option: str = "--distances ") -> _engine.Distances:
    """The distances between ranks that a file holds; `option` names it in an error.

    Raises:
        Refusal: it cannot be read or is no such file.
    """
    try:
        return _engine.distances_from_text(_engine.read_text_file(str(path)))
    except ValueError as error:
        raise Refusal(f"{option}{path}: {error}") from None


def _measured_machine(environment: Mapping[str, str]) -> str:
    """The file that was measured once for this user, if there is one."""
    cache = environment.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
    measured = Path(cache) / "tutti" / "machine"
    return str(measured) if measured.exists() else ""


def _other_form(collective: str) -> str:
    """The collective to turn to where sizes differ, as the end of a sentence."""
    name = collective.lower()
    for other in (name + "v", name.removesuffix("_block")):
        if other != name and other in _engine.collectives():
            return f"; try {other}"
    return ""


def sizes_of(
    collective: str, ranks: int | None, sizes: str | None, distribution: str | None, block: str
) -> list[int]:
    """The bytes of each rank's block, from a list or from a distribution.

    Raises:
        Refusal: the options contradict each other or are out of range.
    """
    if collective.lower() not in _engine.collectives():
        known = ", ".join(_engine.collectives())
        raise Refusal(f'"{collective}" is no collective; there are {known}')
    if sizes is not None:
        if distribution is not None:
            raise Refusal("--sizes and --distribution: only one of them says the sizes")
        listed = [bytes_of(word.strip(), "--sizes") for word in sizes.split(",")]
        if ranks is not None and ranks != len(listed):
            raise Refusal(f"--ranks {ranks}: --sizes lists {len(listed)} of them")
        return listed
    if ranks is None:
        raise Refusal("--ranks or --sizes is missing: how many ranks are there?")
    if ranks < 1:
        raise Refusal(f"--ranks {ranks}: there is at least one")
    average = bytes_of(block, "--block")
    if distribution is None:
        return [average] * ranks
    if distribution != "same" and not _engine.is_irregular(collective):
        raise Refusal(
            f"--distribution {distribution}: all sizes of a {collective} are equal{_other_form(collective)}"
        )
    return _engine.distribute(distribution, ranks, average)


_UNITS = {"s": 1.0, "ms": 1e-3, "us": 1e-6}
_PATTERNS = (
    "together, one-late:TIME[:RANK], ramp:TIME (rank by rank), random:TIME[:SEED], "
    "or TIME,TIME,.. for each rank; TIME is such as 500us, 2ms or 1s"
)


def seconds_of(text: str) -> float | None:
    """A time such as 0, 500us, 2ms or 1s in seconds; None where it is none."""
    if text.strip() == "0":
        return 0.0
    match = re.fullmatch(r"(\d+(?:\.\d*)?(?:e-?\d+)?)(us|ms|s)", text.strip())
    return float(match[1]) * _UNITS[match[2]] if match else None


def arrivals_of(pattern: str, ranks: int) -> list[float]:
    """When each rank arrives, in seconds.

    Raises:
        Refusal: the pattern means nothing, or is for another number of ranks.
    """
    kind, *rest = pattern.split(":")
    time = seconds_of(rest[0]) if rest else None
    number = int(rest[1]) if len(rest) == 2 and rest[1].isdigit() else None
    if pattern == "together":
        return [0.0] * ranks
    if kind == "one-late" and time is not None and len(rest) == (2 if number is not None else 1):
        late = ranks - 1 if number is None else number
        if late >= ranks:
            raise Refusal(f"--arrivals {pattern}: ranks are 0..{ranks - 1}")
        return [time if rank == late else 0.0 for rank in range(ranks)]
    if kind == "ramp" and time is not None and len(rest) == 1:
        return [time * rank / max(ranks - 1, 1) for rank in range(ranks)]
    if kind == "random" and time is not None and len(rest) == (2 if number is not None else 1):
        source = random.Random(1 if number is None else number)
        return [source.uniform(0, time) for _ in range(ranks)]
    times = [seconds_of(word) for word in pattern.split(",")]
    if any(one is None for one in times):
        raise Refusal(f"--arrivals {pattern}: it is {_PATTERNS}")
    if len(times) != ranks:
        raise Refusal(f"--arrivals {pattern}: {len(times)} times for {ranks} ranks")
    return [one for one in times if one is not None]

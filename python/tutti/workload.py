"""Reads the options that describe a call: ranks, root, sizes, arrivals, machine, distances."""

from __future__ import annotations

import os
import random
import re
import sys
from pathlib import Path

from tutti import _engine
from tutti.console import Refusal
from tutti.user_files import cache_file


def bytes_of(text: str, option: str) -> int:
    """The number of bytes of a text such as 1536 or 64K."""
    try:
        return _engine.bytes_from(text)
    except ValueError as error:
        raise Refusal(f"{option}: {error}") from None


def collective_of(text: str) -> str:
    """The collective that a word such as gatherv or MPI_Gatherv names."""
    name = text.lower().removeprefix("mpi_")
    known = _engine.collectives()
    if name not in known:
        raise Refusal(f"unknown collective '{text}'" + _engine.valid_names(name, known, "collectives"))
    return name


def root_of(text: str, ranks: int) -> int:
    """The root among `ranks`: a rank, or first, half (as in Träff 2017) or last."""
    named = {"first": 0, "half": ranks // 2, "last": ranks - 1}
    if text in named:
        return named[text]
    if not text.isdecimal() or int(text) >= ranks:
        raise Refusal(
            f"--root {text}: expected 0 to {ranks - 1}, first, half or last"
            + _engine.did_you_mean(text, list(named))
        )
    return int(text)


def ranks_on(nodes: str) -> int:
    """The number of ranks of a shape of nodes such as 1,4,2 or 8x6."""
    try:
        return sum(len(ranks) for ranks in _engine.node_ranks(nodes))
    except ValueError as error:
        raise Refusal(f"--nodes: {error}") from None


def machine_of(path: Path | None) -> _engine.Machine:
    """The model's parameters, from the same sources as in the library.

    The first of these counts: the file `path`; the file that TUTTI_MACHINE names; machine in the
    user's cache folder; the built-in parameters. The word built-in as path or as value of
    TUTTI_MACHINE selects the built-in parameters.

    An invalid file in the cache folder is ignored, with one line on standard error.

    Raises:
        Refusal: a named file cannot be read or is invalid.
    """
    named = machine_file(path)
    if not named:
        return _engine.Machine()
    try:
        return _engine.machine_from_text(_engine.read_text_file(named))
    except ValueError as error:
        if not path and not os.environ.get("TUTTI_MACHINE"):
            text = f"ignoring {named}, using the built-in machine: {error}"
            print(f"tutti: {text}", file=sys.stderr)
            return _engine.Machine()
        option = "--machine " if path else "TUTTI_MACHINE="
        raise Refusal(
            f"invalid {option}{named}: {error}; expected built-in or a file of tutti-bench machine"
        ) from None


def machine_file(path: Path | None = None) -> str:
    """The file with the parameters of machine_of; empty if they are the built-in ones."""
    named = str(path) if path else os.environ.get("TUTTI_MACHINE", "") or _measured_machine()
    return "" if named == "built-in" else named


def source_of_machine(path: Path | None) -> str:
    """Where the parameters of machine_of come from, as a sentence for the end of a page."""
    if named := machine_file(path):
        return f"Machine: {named}."
    return "Machine: built-in parameters, not this one's; tutti-bench machine measures them."


def distances_of(path: Path, option: str = "--distances ") -> _engine.Distances:
    """The distances between ranks in a file; errors name `option`.

    Raises:
        Refusal: the file cannot be read or is invalid.
    """
    try:
        return _engine.distances_from_text(_engine.read_text_file(str(path)))
    except ValueError as error:
        raise Refusal(f"{option}{path}: {error}") from None


def _measured_machine() -> str:
    """The machine file in the user's cache folder; empty if either does not exist."""
    measured = cache_file("machine")
    return str(measured) if measured is not None and measured.exists() else ""


def _other_form(collective: str) -> str:
    """The irregular form of a collective, as the end of an error message."""
    for other in (collective + "v", collective.removesuffix("_block")):
        if other != collective and other in _engine.collectives():
            return f"; try {other}"
    return ""


MAX_RANKS = 65536
MAX_RANKS_OF_PAIRS = 2048
"""Where each rank has data for each other one, schedules grow with the square of the ranks."""

_OF_PAIRS = ("allgather", "alltoall", "reduce_scatter")


def fault_of_ranks(collective: str, ranks: int) -> str:
    """Why no call of so many ranks is built: its schedules would take many gigabytes. Empty if it
    is."""
    most = MAX_RANKS_OF_PAIRS if collective.startswith(_OF_PAIRS) else MAX_RANKS
    if 1 <= ranks <= most:
        return ""
    return f"{ranks:,} ranks: expected 1 to {most:,} for {collective}"


def _check_ranks(collective: str, ranks: int) -> None:
    if fault := fault_of_ranks(collective, ranks):
        raise Refusal(fault)


def _check_sum(total: int, option: str) -> None:
    """Raises Refusal for blocks whose sum the engine cannot hold."""
    if total > 1 << 62:
        raise Refusal(f"{option}: {total:,} bytes in all; expected at most 2^62")


def sizes_of(
    collective: str, ranks: int | None, sizes: str | None, distribution: str | None, block: str
) -> list[int]:
    """The bytes of each rank's block, from a list or from a distribution.

    Raises:
        Refusal: the options contradict each other or are out of range.
    """
    if sizes is not None:
        if distribution is not None:
            raise Refusal("--sizes and --distribution exclude each other")
        listed = [bytes_of(word.strip(), "--sizes") for word in sizes.split(",")]
        if ranks is not None and ranks != len(listed):
            raise Refusal(f"--ranks {ranks}: expected {len(listed)} as in --sizes")
        _check_ranks(collective, len(listed))
        _check_sum(sum(listed), "--sizes")
        return listed
    if ranks is None:
        raise Refusal("missing --ranks N or --sizes LIST")
    _check_ranks(collective, ranks)
    average = bytes_of(block, "--block")
    _check_sum(average * ranks, f"--block {block}")
    if distribution is None:
        return [average] * ranks
    if distribution != "same" and not _engine.is_irregular(collective):
        raise Refusal(
            f"--distribution {distribution}: {collective} needs equal sizes{_other_form(collective)}"
        )
    return _engine.distribute(distribution, ranks, average)


_UNITS = {"s": 1.0, "ms": 1e-3, "us": 1e-6}
_PATTERNS = (
    "together, one-late:TIME[:RANK], ramp:TIME (rank by rank), random:TIME[:SEED], "
    "or TIME,TIME,.. for each rank; TIME is such as 500us, 2ms or 1s"
)


def seconds_of(text: str) -> float | None:
    """A time such as 0, 500us, 2ms or 1s in seconds; None if the text is not a time."""
    if text.strip() == "0":
        return 0.0
    match = re.fullmatch(r"(\d+(?:\.\d*)?(?:e-?\d+)?)(us|ms|s)", text.strip())
    return float(match[1]) * _UNITS[match[2]] if match else None


def arrivals_of(pattern: str, ranks: int) -> list[float]:
    """The arrival of each rank, in seconds.

    Raises:
        Refusal: the pattern is invalid, or is for another number of ranks.
    """
    kind, *rest = pattern.split(":")
    time = seconds_of(rest[0]) if rest else None
    number = int(rest[1]) if len(rest) == 2 and rest[1].isdecimal() else None
    if pattern == "together":
        return [0.0] * ranks
    if kind == "one-late" and time is not None and len(rest) == (2 if number is not None else 1):
        late = ranks - 1 if number is None else number
        if late >= ranks:
            raise Refusal(f"--arrivals {pattern}: expected a rank from 0 to {ranks - 1}")
        return [time if rank == late else 0.0 for rank in range(ranks)]
    if kind == "ramp" and time is not None and len(rest) == 1:
        return [time * rank / max(ranks - 1, 1) for rank in range(ranks)]
    if kind == "random" and time is not None and len(rest) == (2 if number is not None else 1):
        source = random.Random(1 if number is None else number)
        return [source.uniform(0, time) for _ in range(ranks)]
    times = [seconds_of(word) for word in pattern.split(",")]
    if any(one is None for one in times):
        kinds = ["together", "one-late", "ramp", "random"]
        meant = "" if kind in kinds else _engine.did_you_mean(kind, kinds)
        raise Refusal(f"--arrivals {pattern}: expected {_PATTERNS}{meant}")
    if len(times) != ranks:
        raise Refusal(f"--arrivals {pattern}: {len(times)} times; expected {ranks}")
    return [one for one in times if one is not None]

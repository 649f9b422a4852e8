"""Tables 1 to 11 of Träff 2017: irregular gathers on 560 to 6,400 ranks."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import tutti
from tutti import Machine, simulated_tables
from tutti._engine import Call, distribute, distributions
from tutti.refusal import Refusal
from tutti.reproduce.cache import Cache, content_of
from tutti.reproduce.tables import Comparison, Section, Table
from tutti.simgrid import platforms, running

_TUW = "ordered_tree:rule=gather_time,promote=off"
SIMGRID_RANKS = 560
"""The largest number of ranks of a table that runs in SimGrid by default."""


def _closed_linear(sizes: list[int], root: int, machine: Machine) -> float:
    """Seconds of a linear gather whose root takes messages one after the other, each for its bytes
    or for the gap, if that is longer, after one latency (LogGP)."""
    each = (max(machine.gap, size * machine.per_byte) for rank, size in enumerate(sizes)
            if rank != root and size > 0)  # fmt: skip
    return machine.latency + sum(each)


def _problem(ranks: int, distribution: str, block: int, machine: Machine) -> dict[str, float]:
    """Times of one problem in microseconds, by our simulator and by closed form."""
    row = simulated_tables.row_of(ranks, distribution, block, [0.0] * 10, machine)
    sizes = [simulated_tables.INT * size for size in distribute(distribution, ranks, block)]
    call = Call("gatherv", sizes, ranks // 2, "binomial", machine)
    binomial = call.simulate().run_time + call.knowledge_price().steps * machine.latency
    return {
        "linear": row.linear,
        "gap": 1e6 * _closed_linear(sizes, ranks // 2, machine),
        "binomial": 1e6 * binomial,
        "guideline_2": row.padded,
        "tuw": row.tuw,
        "tree": row.tree,
    }


def _engine() -> str:
    return content_of(Path(tutti._engine.__file__))


def _violations(slow: list[float], fast: list[float]) -> int:
    return sum(a > b for a, b in zip(slow, fast, strict=True))


def _measured(table: dict[str, Any], column: int) -> list[float]:
    return [row[column] for name in distributions() for row in table["rows"][name]]


def _simulated(cache: Cache, ranks: int, machine: Machine, done: Callable[[], None]) -> list[dict]:
    results = []
    for distribution in distributions():
        for block in simulated_tables.paper()["blocks"]:
            depends = ["traff", _engine(), ranks, distribution, block, str(machine)]
            results.append(
                cache.get(
                    depends,
                    lambda d=distribution, b=block: _problem(ranks, d, b, machine),
                )
            )
            done()
    return results


def _names() -> list[str]:
    blocks = simulated_tables.paper()["blocks"]
    return [f"{name} {block}" for name in distributions() for block in blocks]


def _section(
    table: dict[str, Any], results: list[dict], contender: str, method: str, machine: str,
    notes: list[str],
) -> Section:  # fmt: skip
    published = zip(_measured(table, 7), _measured(table, 9), strict=True)
    rows = [
        Comparison(name, pair, (result[contender], result["tuw"]))
        for name, pair, result in zip(_names(), published, results, strict=True)
    ]
    return Section(method, machine, ("MPI_Gatherv", "TUW_Gatherv"), rows, notes)


def _guidelines(table: dict[str, Any], results: list[dict], contender: str) -> str:
    padded = [result["guideline_2"] for result in results]
    ours = [
        _violations([result[name] for result in results], padded) for name in (contender, "tuw")
    ]
    theirs = [_violations(_measured(table, column), _measured(table, 5)) for column in (7, 9)]
    first = sum(
        table["rows"]["same"][i][3] > table["rows"]["same"][i][9] for i in range(5)
    )
    return (
        f"Violations of guideline (2) among {len(results)} problems by minima: published "
        f"MPI_Gatherv {theirs[0]}, TUW_Gatherv {theirs[1]}; here {ours[0]} and {ours[1]}. "
        f"Of guideline (1), MPI_Gather no slower than TUW_Gatherv on equal blocks: published "
        f"{first} of 5."
    )


def _in_simgrid(
    cache: Cache, table: dict[str, Any], done: Callable[[], None]
) -> tuple[list[dict], str]:
    """Minima of tutti-bench in SimGrid, in microseconds."""
    machine = platforms.platform("qdr36x16")
    library = running.front().with_name("libtutti-simgrid-rank.so")
    blocks = simulated_tables.paper()["blocks"]
    results: list[dict] = []
    for distribution in distributions():
        words = (
            "tutti-bench", "gatherv", "--distribution", distribution,
            "--block", ",".join(map(str, blocks)), "--algorithm", f"native,linear,{_TUW}",
            "--root", "half", "--repetitions", "2", "--warmup", "1", "--no-check",
        )  # fmt: skip
        depends = ["traff", content_of(library), machine.xml, machine.overhead,
                   table["ranks"], list(words)]  # fmt: skip
        results += cache.get(
            depends, lambda w=words: _bench(w, machine, table["ranks"])
        )
        for _ in blocks:
            done()
    return results, f"qdr36x16, {table['ranks'] // 16} nodes of 16 ranks"


def _bench(
    words: tuple[str, ...], machine: platforms.Platform, ranks: int
) -> list[dict[str, float]]:
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "result.json"
        job = running.Job((*words, "--json", str(file)), machine, ranks, 16)
        running.output(job, timeout=1800)
        rows = json.loads(file.read_text())["rows"]
    results = []
    for row in rows:
        minima = [line["min_us"] for line in row["algorithms"]]
        results.append(dict(zip(("native", "linear", "tuw"), minima, strict=True)))
    return results


def tables(cache: Cache, machine: Machine, simgrid_ranks: int) -> list[Table]:
    """The 11 tables.

    Args:
        cache: keeps the results.
        machine: the parameters of our own simulator.
        simgrid_ranks: tables of more ranks do not run in SimGrid; 0 for none.
    """
    made = []
    for number, table in simulated_tables.paper()["tables"].items():
        in_simgrid = table["ranks"] <= simgrid_ranks

        def run(
            done: Callable[[], None], table: dict = table, in_simgrid: bool = in_simgrid
        ) -> list[Section]:
            results = _simulated(cache, table["ranks"], machine, done)
            name = f"{machine.latency * 1e6:.3g} us + {machine.per_byte * 1e9:.3g} ns a byte"
            contender = table["gatherv"]
            notes = [_guidelines(table, results, contender)]
            if contender == "linear":
                notes.append("MPI_Gatherv here: linear, with a full latency for each message.")
            else:
                notes.append(
                    "MPI_Gatherv here: the binomial tree, sizes sent up first. The paper suspects "
                    "the agreement on sizes behind its library's factor of 2 to 3; one message of "
                    "sizes from each rank costs no more than the construction of the tree."
                )
            sections = [_section(table, results, contender, "own simulator", name, notes)]
            if contender == "linear":
                gap = f"{name}, a gap of {machine.gap * 1e6:.3g} us"
                why = ["MPI_Gatherv here: messages follow each other after a gap (LogGP); "
                       "TUW_Gatherv as in the simulator."]  # fmt: skip
                sections.append(_section(table, results, "gap", "closed form", gap, why))
            if in_simgrid:
                measured, where = _in_simgrid(cache, table, done)
                why = ["SimGrid's own MPI_Gatherv is linear, whatever MPI it imitates. Minimum of 2 "
                       "repetitions; simulated runs vary by who arrives "
                       "first after a barrier. SimGrid's overhead of messages is not fitted to the "
                       "paper's machine."]  # fmt: skip
                sections.append(_section(table, measured, "native", "SimGrid", where, why))
            return sections

        problems = len(_names())
        made.append(
            Table(
                "traff", f"table-{number}",
                f"Table {number}: MPI_Gatherv and TUW_Gatherv, p = {table['ranks']:,}, "
                f"{table['library']}",
                problems * (2 if in_simgrid else 1), run,
            )
        )  # fmt: skip
    return made


def refuse_without_simgrid() -> str:
    """Why nothing can run in SimGrid here; empty if it can."""
    try:
        running.smpimain()
        running.front()
    except Refusal as missing:
        return str(missing)
    return ""

"""Träff's irregular gathers and scatters between nodes of the lab."""

from __future__ import annotations

from collections.abc import Callable
from math import inf
from statistics import geometric_mean
from typing import Any

from tutti._engine import Machine, distribute, distributions
from tutti_reproduce import simulated, traff
from tutti_reproduce.context import Context, Numbers, published
from tutti_reproduce.tables import Result, Sweep, Table, View, measured_with, network
from tutti_reproduce.traff_costs import INT, TUW, closed_linear

CONTENDERS = {name: (f"MPI_{name.title()}", f"TUW_{name.title()}") for name in ("gatherv", "scatterv")}
BESIDE = "3"
"""The table of the published gathervs: that of the lab's MPI."""
SAMPLE = "lab-traff-{}-*.json"
"""The files of samples, by the command of tutti-bench."""
RANKS = 8
"""Those of the closed form."""
MEASURED = {"latency": 24e-6, "per_byte": 8.27e-9, "gap": 9.95e-6}
"""The lab with links of 1 Gbit/s and Open MPI 4.1.4, as tutti-bench machine measured it; in the metadata of
lab-levels-openmpi-8x6-gather.json."""
_GUIDELINES = {"MPI_Gather": "native gather", "guideline (2)": "allreduce + native gather",
               "MPI_Gatherv": "native gatherv", "TUW_Gatherv": "tutti gatherv, traff"}  # fmt: skip
"""The names that violations() needs, and those in samples of tutti-bench guidelines."""


def expected(collective: str, distribution: str, block: int, machine: Machine) -> Numbers:
    """Microseconds of one problem by closed form: messages of the linear one follow each other after a gap."""
    sizes = [INT * size for size in distribute(distribution, RANKS, block)]
    times = 1e6 * closed_linear(sizes, RANKS // 2, machine), traff.microseconds(collective, sizes, TUW, machine)
    return dict(zip(CONTENDERS[collective], times, strict=True))


def _numbers(row: dict[str, Any], collective: str) -> Numbers:
    """The medians of a row in microseconds; the MPI's own a second time as "NAME, again"."""
    names = dict(zip(("native", TUW), CONTENDERS[collective], strict=True))
    found: Numbers = {}
    for line in row["algorithms"]:
        name = names.get(line["name"], line["name"])
        found[f"{name}, again" if name in found else name] = line["median_us"]
    return found


def _spread(row: dict[str, Any]) -> float:
    """The half-width of the interval of the MPI's time over that of the paper's tree; infinite if few samples leave it open."""
    (ratio,) = (line["ratio_to_native"] for line in row["algorithms"] if line["name"] == TUW)
    low, high = ratio["low"], ratio["high"]
    return (1 / low - 1 / high) / 2 if low and high else inf


def _compared(numbers: list[Numbers], name: str) -> str:
    """By what the MPI's own is slower than each other contender, and what noise alone gives."""
    factors = {other: [each[name] / each[other] for each in numbers] for other in numbers[0] if other != name}
    noise = factors.pop(f"{name}, again")
    means = ", ".join(f"{geometric_mean(of):.2f} over {other}" for other, of in factors.items())
    return (
        f"Geometric means of {name}'s time: {means}. Over its own, measured a second time in the same run, it is "
        f"{min(noise):.2f} to {max(noise):.2f}, which is noise."
    )


def beside() -> list[Numbers]:
    """The published numbers of all gathervs."""
    rows = published("traff")["tables"][BESIDE]["rows"]
    return [traff.paper_numbers(row) for name in distributions() for row in rows[name]]


def _counted(numbers: list[Numbers], blocks: int) -> str:
    """Violations as the paper counts them."""
    return f"by averages {traff.counted(numbers, blocks, ', avg')}; by minima {traff.counted(numbers, blocks)}"


def _guidelines(context: Context, about: dict[str, str]) -> list[str]:
    """The sentence on violated guidelines in the sample of these ranks and nodes; empty without one."""
    for document in context.documents(SAMPLE.format("guidelines")):
        if all(document["metadata"][key] == about[key] for key in ("library", "ranks", "nodes")):
            numbers = simulated.times_of(document, _GUIDELINES)
            blocks = sum(row["distribution"] == "same" for row in document["rows"])
            return [
                f"Violated guidelines, counted as in the tables, of {blocks} and {len(numbers)} problems, in a run of "
                f"tutti-bench guidelines with ordered_tree in place of TUW_Gatherv: {_counted(numbers, blocks)}. Published, "
                f"of 5 and 30: {_counted(beside(), 5)}."
            ]
    return []


def _view(context: Context, collective: str, document: dict[str, Any]) -> View:
    """The view of a sample, which may lack problems."""
    about, rows = document["metadata"], document["rows"]
    nodes, ranks = int(about["nodes"]), int(about["ranks"])
    at = [traff.all_problems().index((row["distribution"], row["block"])) for row in rows]
    numbers: list[Numbers] = [{} for _ in traff.all_problems()]
    spread = [0.0] * len(numbers)
    for problem, row in zip(at, rows, strict=True):
        numbers[problem], spread[problem] = _numbers(row, collective), _spread(row)
    notes = [
        f"Medians of {about['repetitions']} repetitions, each of which calls all contenders in a new random order; root "
        f"{about['root']}; ± is the factor's 95 % interval. "
        + _compared([numbers[problem] for problem in at], CONTENDERS[collective][0]),
        *(_guidelines(context, about) if collective == "gatherv" else []),
    ]
    if ranks > nodes:
        notes.append("The ranks share 2 cores, so that short calls wait for a core rather than for the network.")
    where = f"{nodes} emulated nodes of {ranks // nodes}, {measured_with([document])}"
    return View("lab", where, numbers, notes, spread)


def _run(context: Context, collective: str, done: Callable[[], None]) -> Result:
    problems, machine = traff.all_problems(), network(MEASURED)
    theirs: list[Numbers] = [{} for _ in problems]
    about = "The paper has no times of scatters."
    if collective == "gatherv":
        theirs, ranks = beside(), published("traff")["tables"][BESIDE]["ranks"]
        about = f"The published numbers are those of table {BESIDE}, of {ranks} ranks; among {RANKS} a tree saves few messages."
    ours: list[Numbers] = []
    for name, block in problems:
        ours.append(context.result(expected, collective, name, block, machine))
        done()
    samples = context.documents(SAMPLE.format(collective))
    samples.sort(key=lambda each: int(each["metadata"]["ranks"]))
    views = [_view(context, collective, each) for each in samples]
    if not views:
        about += " Nothing is measured yet in the lab; docs/reproduce.md has the commands."
    where = (
        f"{RANKS} ranks, {1e6 * machine.latency:.3g} us + {1e9 * machine.per_byte:.3g} ns a byte, "
        f"a gap of {1e6 * machine.gap:.3g} us"
    )
    views.append(View("closed form", where, ours, [f"{about} The machine is the lab as tutti-bench machine measured it."]))
    return Result([f"{name} {block}" for name, block in problems], theirs, views,
                  sweeps=[Sweep("elements of a block", problems)])  # fmt: skip


def tables(context: Context) -> list[Table]:
    """The gatherv and the scatterv."""
    return [
        Table("traff", f"lab-{collective}", f"{' and '.join(names)} on emulated nodes", names, "us",
              len(traff.all_problems()), lambda done, c=collective: _run(context, c, done))  # type: ignore[misc]
        for collective, names in CONTENDERS.items()
    ]  # fmt: skip

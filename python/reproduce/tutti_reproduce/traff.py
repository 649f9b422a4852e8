"""Tables 1 to 11 of Träff 2017: irregular gathers on 560 to 6,400 ranks."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from tutti._engine import Call, Machine, distribute, distributions
from tutti.simgrid import platforms
from tutti.workload import machine_of
from tutti_reproduce import simulated, traff_costs
from tutti_reproduce.context import Context, Numbers, published
from tutti_reproduce.tables import Result, Sweep, Table, View, network, side
from tutti_reproduce.traff_costs import INT, TUW, agreement, closed_linear

CONTENDERS = ("MPI_Gatherv", "TUW_Gatherv")
PLATFORMS = {560: "qdr36x16", 1600: "vsc3-100x16", 3200: "vsc3-200x16", 6400: "vsc3-400x16"}
"""The machine of each table in SimGrid, by its ranks."""
SIMGRID_RANKS = 560
"""The largest number of ranks of a table that runs in SimGrid by default."""
SAMPLE = "simgrid-gatherv-{}.json"
"""The file of a sample: what tutti-bench writes in a run on one of these machines."""


def microseconds(collective: str, sizes: list[int], algorithm: str, machine: Machine) -> float:
    """What a call with the root in the middle takes by our simulator, with the tree's construction; sizes in bytes."""
    call = Call(collective, sizes, len(sizes) // 2, algorithm, machine)
    return 1e6 * (call.simulate().run_time + call.knowledge_price().steps * machine.latency)


def all_problems() -> list[tuple[str, int]]:
    """The distribution and the elements of a block of each problem of a table."""
    return [(name, block) for name in distributions() for block in published("traff")["blocks"]]


def problem(ranks: int, distribution: str, block: int, machine: Machine) -> Numbers:
    """Times of one problem in microseconds, by our simulator and by closed form."""
    sizes = [INT * size for size in distribute(distribution, ranks, block)]
    padded = [max(sizes)] * ranks
    return {
        "linear": microseconds("gatherv", sizes, "linear", machine),
        "gap": 1e6 * closed_linear(sizes, ranks // 2, machine),
        "binomial": microseconds("gatherv", sizes, "binomial", machine),
        "guideline (2)": 1e6 * agreement(ranks, machine) + microseconds("gather", padded, "binomial", machine),
        "TUW_Gatherv": microseconds("gatherv", sizes, TUW, machine),
        "ordered_tree": microseconds("gatherv", sizes, "ordered_tree", machine),
        "bound": 1e6 * Call("gatherv", sizes, ranks // 2, "linear", machine).lower_bound(),
    }


_LINEAR = 1.0
"""Microseconds a rank from which a gather of short blocks is as slow as a linear one."""
_LONG = 100
"""Elements of a block from which bytes dominate the published times of k-nomial gathervs."""


def paper_numbers(row: list[float]) -> Numbers:
    """The paper's averages and minima in a row of traff.json; its contenders by their minima."""
    names = [f"{name}, {kind}" for name in ("MPI_Gather", "guideline (2)", *CONTENDERS)
             for kind in ("avg", "min")]  # fmt: skip
    numbers = dict(zip(names, row[2:], strict=True))
    return {name.removesuffix(", min"): number for name, number in numbers.items()}


def gathers(ranks: int, distribution: str, block: int, machine: Machine) -> Numbers:
    """Microseconds of MPI_Gather of the padded blocks, along a binomial tree and linear, and with the
    agreement of guideline (2)."""
    padded = [INT * max(distribute(distribution, ranks, block))] * ranks
    found = {name: microseconds("gather", padded, name, machine) for name in ("binomial", "linear")}
    agreed = 1e6 * agreement(ranks, machine)
    return {f"{what}{name}": extra + each for name, each in found.items()
            for what, extra in (("MPI_Gather ", 0.0), ("guideline (2) ", agreed))}  # fmt: skip


def _with_gather(numbers: list[Numbers], gather: list[Numbers], algorithm: str) -> list[Numbers]:
    """The numbers with MPI_Gather and guideline (2) by this algorithm of the gather."""
    names = ("MPI_Gather", "guideline (2)")
    return [each | {name: of[f"{name} {algorithm}"] for name in names}
            for each, of in zip(numbers, gather, strict=True)]  # fmt: skip


def violations(numbers: list[Numbers], blocks: int, kind: str = "") -> tuple[list[int], list[int]]:
    """In how many problems guidelines (1) and (2) are violated, each by both contenders: a gather of
    equal blocks is slower than the contender, or the contender is slower than agreeing and padding.

    Args:
        numbers: of all problems; the first ones have equal blocks.
        blocks: how many have equal blocks.
        kind: of the columns, such as ", avg".
    """

    def slower(first: str, second: str, of: list[Numbers]) -> int:
        return sum(each[first + kind] > each[second + kind] for each in of)

    return ([slower("MPI_Gather", name, numbers[:blocks]) for name in CONTENDERS],
            [slower(name, "guideline (2)", numbers) for name in CONTENDERS])  # fmt: skip


def counted(numbers: list[Numbers], blocks: int, kind: str = "") -> str:
    """Violations as text: of (1) and of (2), each of MPI_Gatherv and TUW_Gatherv."""
    first, second = violations(numbers, blocks, kind)
    return f"(1) {first[0]} and {first[1]}, (2) {second[0]} and {second[1]}"


def _guidelines(
    theirs: list[Numbers], ours: dict[str, list[Numbers]], blocks: int, ranks: int
) -> str:
    """The sentence on violations.

    Args:
        theirs: published numbers.
        ours: by what MPI_Gather is here, first a binomial tree.
        blocks: the number of problems with equal blocks.
        ranks: their number.
    """
    binomial = next(iter(ours.values()))
    here = "; ".join(f"with {name}, {counted(numbers, blocks)}" for name, numbers in ours.items())
    return (
        f"Violated guidelines, by MPI_Gatherv and by TUW_Gatherv, of {blocks} problems for (1), a gather of "
        f"equal blocks slower than the gatherv, and of {len(theirs)} for (2), a gatherv slower than agreeing "
        f"and padding. Published by averages: {counted(theirs, blocks, ', avg')}; by minima: "
        f"{counted(theirs, blocks)}. Here, where average and minimum are one: {here}. "
        + _why(theirs, binomial, blocks, ranks)
    )


def _why(theirs: list[Numbers], tree: list[Numbers], blocks: int, ranks: int) -> str:
    """Why other numbers of calls violate guideline (2) than here with a binomial gather."""
    gather, gatherv = (theirs[0][name] / (ranks - 1) for name in ("MPI_Gather", "MPI_Gatherv"))
    text = (
        f"The shortest equal blocks take {gather:.2g} us a rank in the published MPI_Gather, {gatherv:.2g} in "
        "MPI_Gatherv: "
    )
    more = violations(theirs, blocks)[1][0] - violations(tree, blocks)[1][0]
    if gather < _LINEAR and more < 0:
        slower = theirs[3]["MPI_Gather"] / theirs[3]["TUW_Gatherv"]
        return text + (
            f"MPI_Gather is a tree, but takes {slower:.1f} times as long as TUW_Gatherv for 1,000 elements, here "
            "as long; that spares long blocks."
        )
    if gather < _LINEAR:
        slower = theirs[0]["MPI_Gatherv"] / tree[0]["MPI_Gatherv"]
        return text + (
            f"MPI_Gather is a tree as here, but MPI_Gatherv takes {slower:.2g} times as long as here, so more "
            "calls violate (2)."
        )
    if gather > gatherv:
        return text + "MPI_Gather is the slower one and as slow as if linear, so padding seldom pays."
    return text + (
        "both are as slow as if linear, so that counts depend on what makes MPI_Gatherv the slower one, "
        "which is not known."
    )


def _sampled(
    context: Context, machine: platforms.Platform, algorithms: dict[str, str], ranks: int
) -> tuple[list[Numbers], str] | None:
    """The numbers of the sample of a machine, none for problems that it lacks, and the sentence on it; None
    if there is no sample with these algorithms, this number of ranks and the table's root."""
    wanted = {"ranks": str(ranks), "root": str(ranks // 2)}
    for document in context.documents(SAMPLE.format(machine.name)):
        about = document["metadata"]
        if not (wanted.items() <= about.items() and set(algorithms.values()) <= set(about["algorithms"].split(", "))):
            continue
        times = simulated.times_of(document, algorithms)
        rows = [(row["distribution"], row["block"]) for row in document["rows"]]
        known = dict(zip(rows, times, strict=True))
        return [known.get(problem, {}) for problem in all_problems()], (
            f"From a sample of {about['date'][:10]}, {len(rows)} problems, made as docs/reproduce.md says; "
            f"--simgrid-ranks {ranks} runs all anew, at the cost stated there. "
            f"Minima and averages of repetitions: {about['repetitions']}"
        )
    return None


def _run_in_simgrid(
    context: Context, machine: platforms.Platform, algorithms: dict[str, str], ranks: int
) -> tuple[list[Numbers], str]:
    """The numbers of all problems, with the guidelines', and the sentence on them. SimGrid starts once for
    all gathervs, once for all gathers, and once for the agreement on the padded size."""
    # Simulated calls hardly vary, and those of more ranks take long.
    repetitions, warmup = ("2", "1") if ranks <= SIMGRID_RANKS else ("1", "0")

    def run(collective: str, blocks: list[int], contenders: dict[str, str], *words: str) -> list[Numbers]:
        words = (collective, *words, "--block", ",".join(map(str, blocks)), "--repetitions", repetitions, "--warmup", warmup)
        return simulated.bench(context, words, contenders, machine, ranks, 16)

    found = run("gatherv", published("traff")["blocks"], algorithms, "--distribution", ",".join(distributions()), "--root", "half")
    padded = [max(distribute(name, ranks, block)) for name, block in all_problems()]
    sizes = sorted(set(padded))
    gathers = dict(zip(sizes, run("gather", sizes, {"MPI_Gather": "native"}, "--root", "half"), strict=True))
    (agreed,) = run("allreduce", [1], {"MPI_Gather": "native"})
    for numbers, size in zip(found, padded, strict=True):
        for name, us in gathers[size].items():
            numbers |= {name: us, name.replace("MPI_Gather", "guideline (2)"): us + agreed[name]}
    blocks = len(published("traff")["blocks"])
    return found, (
        f"Minima and averages of repetitions: {repetitions}. Violated guidelines with SimGrid's MPI_Gather and "
        f"MPI_Allreduce: by averages {counted(found, blocks, ', avg')}, by minima {counted(found, blocks)}"
    )


def _in_simgrid(context: Context, table: dict[str, Any], done: Callable[[], None]) -> list[View]:
    """Times of tutti-bench in SimGrid, in microseconds: of a run, or, where tables of so many ranks do not
    run, of a sample. Where MPI_Gatherv is linear, with SimGrid's own and with Tutti's; empty if there are
    none."""
    ranks = table["ranks"]
    machine = platforms.platform(PLATFORMS[ranks])
    linear = table["gatherv"] == "linear"
    gatherv = {"MPI_Gatherv": "native", "linear": "linear"} if linear else {"MPI_Gatherv": "binomial"}
    algorithms = gatherv | {"TUW_Gatherv": TUW}
    found: tuple[list[Numbers], str] | None
    if ranks <= context.simgrid_ranks:
        found = _run_in_simgrid(context, machine, algorithms, ranks)
        done()
    elif (found := _sampled(context, machine, algorithms, ranks)) is None:
        return []
    numbers, of = found
    note = (
        f"{of}; simulated runs vary by who arrives first after a barrier. SimGrid's overhead of messages is not "
        "fitted to the paper's machine. "
    )
    where = f"{machine.name}, {ranks // 16} nodes of 16 ranks"
    if not linear:
        note += (
            "SimGrid has no k-nomial MPI_Gatherv: its own is linear, whatever MPI it imitates. Tutti's "
            "binomial gatherv stands for it."
        )
        return [View("SimGrid", where, numbers, [note])]
    note += "SimGrid's own MPI_Gatherv is linear, whatever MPI it imitates."
    if any(each for (name, _), each in zip(all_problems(), numbers, strict=True) if name == "two_blocks"):
        # Two ranks have blocks, and the root, which has none, sends itself nothing.
        note += (
            f" It sends empty messages too, {ranks - 3:,} for two_blocks, which the paper's libraries skip; the next "
            "view has Tutti's linear gatherv, which skips them."
        )
    return [
        View("SimGrid", where, numbers, [note]),
        View("SimGrid", f"{where}, Tutti's linear gatherv as MPI_Gatherv", [_as_the_mpi_s(each) for each in numbers],
             ["The same runs."]),
    ]  # fmt: skip


def _as_the_mpi_s(numbers: Numbers) -> Numbers:
    """The numbers with those of Tutti's linear gatherv as MPI_Gatherv's."""
    names = {"linear": "MPI_Gatherv", simulated.average("linear"): simulated.average("MPI_Gatherv")}
    kept = {name: value for name, value in numbers.items() if name not in names.values()}
    return {names.get(name, name): value for name, value in kept.items()}


def _factor(numbers: Numbers) -> float:
    return numbers["MPI_Gatherv"] / numbers["TUW_Gatherv"]


def _tested(theirs: list[Numbers], fitted: list[Numbers], without: list[Numbers], equal: range) -> str:
    """How many winners agree among the problems of a fit and among the others, with it and without."""
    counts = []
    for numbers in (fitted, without):
        same = [side(_factor(a)) == side(_factor(b)) for a, b in zip(theirs, numbers, strict=True)]
        counts += [sum(same[i] for i in equal), sum(same) - sum(same[i] for i in equal)]
    return (
        f"Winners agree in {counts[0]} of the {len(equal)} fitted problems and in {counts[1]} of the "
        f"{len(theirs) - len(equal)} others; with 0 instead of the fitted number in {counts[2]} and {counts[3]}."
    )


def _excess(table: dict[str, Any]) -> str:
    """How much longer than TUW_Gatherv the published MPI_Gatherv takes, as a sentence."""
    blocks = published("traff")["blocks"]
    short, long = [], []
    for name in distributions():
        for block, row in zip(blocks, table["rows"][name], strict=True):
            numbers = paper_numbers(row)
            more = numbers["MPI_Gatherv"] - numbers["TUW_Gatherv"]
            if block == blocks[0]:
                short.append(more)
            if block >= _LONG and name != "two_blocks":
                long.append(1e3 * more / (INT * row[0]))
    return (
        f"The published excess over TUW_Gatherv is {min(short):.0f} to {max(short):.0f} us for the shortest blocks, "
        f"and from {_LONG} elements on {min(long):.2f} to {max(long):.2f} ns a byte in all distributions but "
        f"two_blocks: like one more copy of all data at {1 / max(long):.1f} to {1 / min(long):.1f} GB/s."
    )


def _fitted(
    context: Context, table: dict[str, Any], theirs: list[Numbers], problems: list[tuple[str, int]]
) -> list[View]:
    """What one more cost of the table's library explains; empty where no such cost is known."""
    ranks, blocks = table["ranks"], len(problems) // len(distributions())
    machine = network({"per_byte": 1 / traff_costs.LINK})
    if "Open MPI" in table["library"]:
        machine.gap = 1e-6 * theirs[0]["MPI_Gatherv"] / (ranks - 1)
        model, guess, what = traff_costs.rendezvous, 100.0, "us for each rendezvous of a tree"
        why = (
            f"Fitted to the {blocks} problems of equal blocks: what a message longer than Open MPI's eager limit "
            f"over InfiniBand, {traff_costs.EAGER_LIMIT:,} bytes, costs in a tree. Those of the linear gatherv "
            f"overlap. Its gap of {1e6 * machine.gap:.2f} us is the published one of the shortest equal blocks."
        )
    elif table["gatherv"] == "binomial":
        model, guess, what = traff_costs.copied, 0.3, "ns for each byte of MPI_Gatherv"
        why = (
            f"Fitted to the {blocks} problems of equal blocks: what MPI_Gatherv costs for each byte. "
            f"{_excess(table)} The paper suspects the agreement on sizes, which explains only the former, and that "
            "is not in the fit."
        )
    else:
        return []
    arguments = (ranks, problems, [_factor(each) for each in theirs], machine)
    number, numbers = context.result(traff_costs.fitted, model, guess, *arguments)
    without = context.result(traff_costs.with_number, model, 0.0, ranks, problems, machine)
    rate = f"one QDR link, {machine.per_byte * 1e9:.2g} ns a byte"
    return [View("own simulator, fitted", f"{rate}, {number:.2g} {what}", numbers, [
        why, _tested(theirs, numbers, without, range(blocks)),
        f"Violated guidelines with it: {counted(numbers, blocks)}.",
    ])]  # fmt: skip


def _run(context: Context, table: dict[str, Any], done: Callable[[], None]) -> Result:
    document = published("traff")
    blocks, ranks = document["blocks"], table["ranks"]
    machine = machine_of(context.machine or Path("built-in"))
    problems = all_problems()
    simulated: list[Numbers] = []
    for name, block in problems:
        simulated.append(context.result(problem, ranks, name, block, machine))
        done()
    theirs = [paper_numbers(row) for name in distributions() for row in table["rows"][name]]

    def beside(contender: str) -> list[Numbers]:
        return [{"MPI_Gatherv": each[contender]} | each for each in simulated]

    where = f"{machine.latency * 1e6:.3g} us + {machine.per_byte * 1e9:.3g} ns a byte"
    ours = beside(table["gatherv"])
    gather = [context.result(gathers, ranks, name, block, machine) for name, block in problems]
    by_gather = {f"a {kind} MPI_Gather": _with_gather(ours, gather, kind) for kind in ("binomial", "linear")}
    guidelines = _guidelines(theirs, by_gather, len(blocks), ranks)
    if table["gatherv"] == "linear":
        gap = f"{where}, a gap of {machine.gap * 1e6:.3g} us"
        between = sum(each["gap"] <= paper["MPI_Gatherv"] <= each["linear"]
                      for each, paper in zip(simulated, theirs, strict=True))  # fmt: skip
        views = [
            View("own simulator", where, ours, [
                guidelines, "MPI_Gatherv: linear, with a full latency for each message."]),
            View("closed form", gap, beside("gap"), [
                "MPI_Gatherv: messages follow each other after a gap (LogGP); TUW_Gatherv as in the simulator. "
                f"The published MPI_Gatherv lies between both sources in {between} of {len(theirs)} problems."]),
        ]  # fmt: skip
    else:
        why = (
            "MPI_Gatherv: the binomial tree, sizes sent up first. The paper suspects the agreement on "
            "sizes behind its library's factor of 2 to 3; here that costs no more than the construction of "
            "the tree. The fitted source shows that most of the factor is a cost for each byte."
        )
        views = [View("own simulator", where, ours, [guidelines, why])]
    if "Open MPI" in table["library"]:
        views[0].notes.append(
            f"Open MPI's linear gatherv takes {theirs[0]['MPI_Gatherv'] / (ranks - 1):.1f} us a message "
            f"({theirs[0]['MPI_Gatherv']:.0f} us for {ranks} ranks). Its trees jump between blocks of {blocks[1]} and "
            f"{blocks[2]} elements, TUW_Gatherv from {theirs[1]['TUW_Gatherv']:.0f} to {theirs[2]['TUW_Gatherv']:.0f} us "
            f"and its own MPI_Gather from {theirs[1]['MPI_Gather']:.0f} to {theirs[2]['MPI_Gather']:.0f}: messages of "
            "some KB inside a tree are slow in that library. One latency and one rate for all sizes cannot show that; "
            "the fitted source adds it."
        )
    if ranks > 1600 and table["gatherv"] == "linear":
        views[0].notes.append(
            "The published factors grow faster with the ranks than the number of messages: that many "
            "messages at once slow the root's adapter or library, which the model does not have."
        )
    views += _fitted(context, table, theirs, problems)
    in_simgrid = _in_simgrid(context, table, done)
    views += in_simgrid
    if not in_simgrid and ranks > SIMGRID_RANKS:
        views[0].notes.append(
            f"Not run in SimGrid: --simgrid-ranks {ranks} adds it (docs/reproduce.md says what it costs)."
        )
    return Result(
        [f"{name} {block}" for name, block in problems], theirs, views,
        sweeps=[Sweep("elements of a block", problems)],
    )  # fmt: skip


def tables(context: Context) -> list[Table]:
    """The 11 tables."""
    made = []
    for number, table in published("traff")["tables"].items():
        steps = 30 + (table["ranks"] <= context.simgrid_ranks)
        made.append(
            Table(
                "traff", f"table-{number}",
                f"Table {number}: MPI_Gatherv and TUW_Gatherv, p = {table['ranks']:,}, "
                f"{table['library']}",
                CONTENDERS, "us", steps,
                lambda done, t=table: _run(context, t, done),  # type: ignore[misc]
            )
        )  # fmt: skip
    return made

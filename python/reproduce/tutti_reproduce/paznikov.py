"""Paznikov 2024: one-sided broadcasts, linear and along a binomial tree of polling threads."""

from __future__ import annotations

import math
from collections.abc import Callable

from tutti._engine import Call, Machine
from tutti.console import count
from tutti_reproduce.broadcast_samples import CONTENDERS, MEASURED, MODELS, Lab
from tutti_reproduce.context import Context, Numbers, published
from tutti_reproduce.tables import AHEAD, Plot, Result, Table, View, network

ETHERNET = "Gigabit Ethernet"
_SEVERAL = 4
"""Crossovers are sought up to this many times the published one."""
_LATENCIES = [4e-5 * 1.15**k for k in range(11)]
"""Of the fit, in seconds: 40 to 160 us."""

Times = Callable[[Machine, int, int], Numbers]
"""Seconds of both contenders for p processes and m bytes."""


def simulated(machine: Machine, p: int, m: int) -> Numbers:
    """LogGP times of the schedules; the tree's children ascend and each is flushed, as printed."""
    names = {"linear": "linear", "tree": "paznikov"}
    return {name: Call("rma_bcast", [m] * p, 0, algorithm, machine).price()
            for name, algorithm in names.items()}  # fmt: skip


def closed_form(machine: Machine, p: int, m: int) -> Numbers:
    """The paper's LogGP form of the tree, section 2, and that of p - 1 puts in a row."""
    o, wire = machine.overhead, machine.latency - 2 * machine.overhead
    body = o + (m - 1) * machine.per_byte
    stage = body + 2 * max(o, machine.gap) + wire + machine.polling
    return {"linear": (p - 1) * max(machine.gap, body) + wire + o,
            "tree": stage * math.ceil(math.log2(p)) + o + wire}  # fmt: skip


def logp(machine: Machine, p: int) -> float:
    """The paper's LogP form of the tree, which has no bytes."""
    return closed_form(machine, p, 1)["tree"]


def size_ahead(times: Times, machine: Machine, p: int, most: int) -> float:
    """The smallest number of bytes up to `most` from which the tree is ahead; infinite if none.

    Both grow linearly with the size, the linear broadcast faster.
    """
    low, high = 1, most
    while low < high:
        middle = (low + high) // 2
        both = times(machine, p, middle)
        low, high = (low, middle) if both["tree"] < both["linear"] else (middle + 1, high)
    return low if low < most else math.inf


def processes_ahead(times: Times, machine: Machine, m: int, most: int) -> float:
    """The smallest number of processes up to `most` from which the tree stays ahead."""
    ahead = math.inf
    for p in range(most, 1, -1):
        both = times(machine, p, m)
        if both["tree"] >= both["linear"]:
            break
        ahead = p
    return ahead


def _rows() -> list[tuple[str, str, int, int]]:
    """Network, what varies, what is fixed, and the published crossover."""
    document = published("paznikov")
    return [
        (name, along, int(fixed), value)
        for along in ("size", "processes")
        for name, values in document[f"ahead_from_{along}"].items()
        for fixed, value in values.items()
    ]


def crossovers(times: Times, machines: dict[str, Machine]) -> list[Numbers]:
    """Of the rows with these networks; empty for others and where the tree is never ahead."""
    document = published("paznikov")
    found: list[Numbers] = []
    for name, along, fixed, value in _rows():
        unit = document["units"][name][1]
        if name not in machines:
            at = math.inf
        elif along == "size":
            at = size_ahead(times, machines[name], fixed, _SEVERAL * value * unit) / unit
        else:
            most = document["max_processes"][name]
            at = processes_ahead(times, machines[name], fixed * unit, most)
        found.append({"value": at} if math.isfinite(at) else {})
    return found


def _fit(numbers: dict[str, float]) -> float:
    """The latency over Ethernet with which the simulator's crossovers are nearest.

    Args:
        numbers: the other parameters.
    """

    def distance(latency: float) -> float:
        found = crossovers(simulated, {ETHERNET: network(numbers | {"latency": latency})})
        pairs = zip(_rows(), found, strict=True)
        return sum(abs(math.log(each.get("value", 1e9) / row[3])) for row, each in pairs if row[0] == ETHERNET)

    return min(_LATENCIES, key=distance)


def _assumed(name: str) -> str:
    """Which numbers of a network the paper does not name, as sentences."""
    us = {key: f"{1e6 * value:.3g} us" for key, value in published("paznikov")["networks"][name].items()}
    return (
        f"Assumed on {name}: a latency of {us['latency']}, an overhead of {us['overhead']}, and a gap of {us['gap']}. "
        f"A polling thread looks after {us['polling']} in the mean."
    )


def _fitted(context: Context) -> Machine:
    numbers = published("paznikov")["networks"][ETHERNET]
    return network(numbers | {"latency": context.result(_fit, numbers)})


def stage_overheads() -> dict[str, list[float]]:
    """Milliseconds that each stage of the printed tree costs beyond its bytes, if the published
    crossovers hold: by network, in the sequence of the rows."""
    document = published("paznikov")
    found: dict[str, list[float]] = {}
    for name, along, fixed, value in _rows():
        p, size = (fixed, value) if along == "size" else (value, fixed)
        bytes_ = size * document["units"][name][1] * document["networks"][name]["per_byte"]
        deep = depth(p)
        found.setdefault(name, []).append(1e3 * (p - 1 - deep) * bytes_ / deep)
    return found


def depth(p: int) -> int:
    """The longest chain of puts in PutLoop (figure 4): bits ascend, each put is flushed before the
    next, and a rank serves the bits below its lowest one set."""

    def below(rank: int, bits: int) -> int:
        children = [rank + (1 << bit) for bit in range(bits) if rank + (1 << bit) < p]
        return max((i + 1 + below(child, i) for i, child in enumerate(children)), default=0)

    return below(0, (p - 1).bit_length())


def _lab_crossovers(lab: Lab, problems: list[str], views: list[View]) -> None:
    """Adds the lab's rows and views to those of the paper."""
    document = published("paznikov")
    unit, bytes_ = document["units"][ETHERNET]
    more = [p for p in lab.processes() if (ETHERNET, "size", p) not in {row[:3] for row in _rows()}]
    for view in views:
        view.numbers.extend({} for _ in more)
    problems.extend(f"{ETHERNET}: {unit} with p = {p}" for p in more)
    rows = [row[:3] for row in _rows()] + [(ETHERNET, "size", p) for p in more]
    never = [p for p in lab.processes() if not lab.ahead_from("size", p, bytes_)]
    most = max(cell[2] for cell in lab.lines) // bytes_
    notes = ["The least measured size, or number of processes, from which the paper's tree stays ahead of "
             "`linear`. Samples are few: the crossover is between it and the one before."]  # fmt: skip
    if never:
        notes.append(f"Up to {most:,} {unit} the tree is never ahead for good with p = "
                     f"{', '.join(map(str, never))}. Each level waits for a poller that shares 2 cores with "
                     "all other ranks, whereas Tutti's `linear` carries up to 32 KiB in its notifications.")  # fmt: skip
    for source, where, kind, said in (
        ("lab", lab.heading, "", notes),
        *(("own simulator", f"{model}, machine measured in the lab", f", {model}", lab.note(list(lab.lines))) for model in MODELS),
    ):
        numbers = [lab.ahead_from(along, fixed, bytes_, kind) if name == ETHERNET else {}
                   for name, along, fixed in rows]  # fmt: skip
        views.append(View(source, where, numbers, said))


def _crossovers(context: Context, done: Callable[[], None]) -> Result:
    document = published("paznikov")
    machines = {name: network(numbers) for name, numbers in document["networks"].items()}
    views = []
    for source, where, times in (
        ("own simulator", "LogGP, 50 and 2 us, threads look each ms", simulated),
        ("closed form", "the paper's LogGP form", closed_form),
    ):
        assumed = [_assumed(name) for name in machines]
        views.append(View(source, where, context.result(crossovers, times, machines), assumed))
        done()
    fitted = _fitted(context)
    ethernet = context.result(crossovers, simulated, {ETHERNET: fitted})
    done()
    ratios = [row[3] / here["value"] for row, here in zip(_rows(), views[0].numbers, strict=True)
             if row[0] == ETHERNET and here]  # fmt: skip
    implied = {name: ", ".join(f"{ms:.2g}" for ms in each) for name, each in stage_overheads().items()}
    views[0].notes.extend([
        f"Over Ethernet the published crossovers are {min(ratios):.1f} to {max(ratios):.1f} times as large as "
        "here. The published "
        f"crossovers imply {implied[ETHERNET]} ms for each stage of the printed tree beyond its "
        "bytes: nearly one number, a polling period of 1 ms and the flushes.",
        f"Over InfiniBand they imply {implied['InfiniBand QDR']} ms, several times the polling period and "
        "not one number; nothing in the model costs that. Its nodes run 8 ranks and 8 polling threads on "
        "8 cores, so waiting for a core, or the library's lock under MPI_THREAD_MULTIPLE, which the "
        "paper blames, are likely. Its crossovers for 24 processes, 25 MB in figure 9 and 16 MB in "
        "figure 10, also contradict each other.",
    ])  # fmt: skip
    views[1].notes.append(
        "The form has log2 p stages: it assumes that a rank serves its largest subtree first. As "
        "printed, the smallest comes first and each put is flushed: up to k (k + 1) / 2 stages."
    )
    views.append(View(
        "own simulator", f"latency over Ethernet fitted: {1e6 * fitted.latency:.0f} us", ethernet,
        ["One number fitted to six crossovers; plausible for TCP if two threads poll on each core."],
    ))  # fmt: skip
    problems = []
    for name, along, fixed, _ in _rows():
        unit = document["units"][name][0]
        what = f"{unit} with p = {fixed}" if along == "size" else f"p with {fixed} {unit}"
        problems.append(f"{name}: {what}")
    theirs: list[Numbers] = [{"value": row[3]} for row in _rows()]
    lab = Lab(context)
    if lab.processes():
        _lab_crossovers(lab, problems, views)
        theirs.extend({} for _ in range(len(problems) - len(theirs)))
    return Result(problems, theirs, views)


def _published(name: str, along: str, fixed: int, at: int) -> Numbers:
    """Who is ahead in a cell of a figure, by the published crossover."""
    found = [row[3] for row in _rows() if row[:3] == (name, along, fixed)]
    return {"ahead": 1.0 if at >= found[0] else -1.0} if found else {}


def _cells(times: Times, machine: Machine, calls: list[tuple[int, int]]) -> list[Numbers]:
    """Milliseconds of calls, each with its processes and bytes."""
    found = [times(machine, p, size) for p, size in calls]
    return [{name: 1e3 * seconds for name, seconds in each.items()} for each in found]


def _figure(context: Context, figure: str, done: Callable[[], None]) -> Result:
    document = published("paznikov")
    name, along, panels = document["figures"][figure]
    machine = network(document["networks"][name])
    unit, bytes_ = document["units"][name]
    xs = range(2, 41, 2) if along == "size" else range(8, document["max_processes"][name] + 1, 8)
    cells = [(fixed, x) for fixed in panels for x in xs]
    calls = [(p, size * bytes_) for p, size in (cell if along == "size" else cell[::-1] for cell in cells)]
    machines = [machine] + ([_fitted(context)] if name == ETHERNET else [])
    views = []
    for each in machines:
        where = f"LogGP on {name}, {1e6 * each.latency:.0f} us" + (", fitted" if each is not machine else "")
        assumed = [_assumed(name)] if each is machine else []
        views.append(View("own simulator", where, context.result(_cells, simulated, each, calls), assumed))
    theirs = _cells(closed_form, machine, calls)
    for numbers, (fixed, x) in zip(theirs, cells, strict=True):
        numbers["tree, LogP"] = 1e3 * logp(machine, fixed if along == "size" else x)
    done()
    views.append(View("closed form", "the paper's LogP and LogGP", theirs, [_assumed(name)]))
    lines = [("simulated", views[-2].numbers), ("LogGP", theirs)]
    bare = [fixed for fixed in panels if (name, along, fixed) not in {row[:3] for row in _rows()}]
    if bare:
        listed = ", ".join(map(str, bare))
        views[0].notes.append(f"The paper has no crossover for p = {listed}, so those problems have no verdict.")
    lab = Lab(context)
    found = [lab.cell(*call) if name == ETHERNET else None for call in calls]
    if any(found):
        views.append(lab.view(found))
        lines.append(("lab", views[-1].numbers))
    plots = [
        Plot(
            f"Figure {figure}: " + (f"p = {fixed}" if along == "size" else f"{fixed} {unit}"),
            unit if along == "size" else "processes", "ms",
            {f"{contender}, {source}": points for source, numbers in lines for contender in CONTENDERS
             if (points := [(x, each[contender]) for (panel, x), each in zip(cells, numbers, strict=True)
                            if panel == fixed and contender in each])},
            log_x=False, log_y=False,
        )
        for fixed in panels
    ]  # fmt: skip
    label = "p = {}, {} " + unit if along == "size" else "{1} processes, {0} " + unit
    return Result([label.format(*cell) for cell in cells],
                  [_published(name, along, *cell) for cell in cells], views, plots)  # fmt: skip


def _measured(lab: Lab, done: Callable[[], None]) -> Result:
    cells = list(lab.lines)
    notes = [
        "The tree is the paper's system, `paznikov:protocol=windows`; beside it its order with Tutti's "
        "notifications. Means, with the 95 % interval of the factor by Student's t.",
        "Ranks share 2 cores: between small messages they wait for a core, which no prediction has.",
    ]
    views = [lab.view(cells, notes)]
    views += [View("own simulator", f"{model}, machine measured in the lab",
                   [lab.predictions(cell, model) for cell in cells], lab.note(cells)) for model in MODELS]  # fmt: skip
    done()
    shapes = list(dict.fromkeys(cell[:2] for cell in cells))
    plots = [
        Plot(f"{ranks} ranks on {nodes} nodes", "bytes", "ms", {
            # A line of its own: "tree, x" would be points of the tree's.
            name.replace(", notif", " by notif"): points for name in (*MEASURED, *(f"{name}, LogGP" for name in CONTENDERS))
            if (points := [(cell[2], numbers[name]) for cell, numbers in zip(cells, views[0].numbers, strict=True)
                           if cell[:2] == (nodes, ranks) and name in numbers])
        })
        for nodes, ranks in shapes
    ]  # fmt: skip
    problems = [f"p = {ranks} on {count(nodes, 'node')}, {size:,} bytes" for nodes, ranks, size in cells]
    return Result(problems, [{} for _ in cells], views, plots)


def tables(context: Context) -> list[Table]:
    """All crossovers, figures 9 to 12, and what the lab measured."""
    made = [
        Table("paznikov", "crossovers", "Sizes and processes from which the tree is ahead", None,
              "crossover", 3, lambda done: _crossovers(context, done))
    ]  # fmt: skip
    for number, (name, along, _) in published("paznikov")["figures"].items():
        made.append(
            Table("paznikov", f"figure-{number}", f"Figure {number}: broadcast by {along}, {name}",
                  CONTENDERS, "ms", 1,
                  lambda done, f=number: _figure(context, f, done), AHEAD)  # type: ignore[misc]
        )  # fmt: skip
    lab = Lab(context)
    if lab.lines:
        made.append(Table("paznikov", "lab", "Broadcasts on emulated nodes", CONTENDERS, "ms", 1,
                          lambda done: _measured(lab, done)))  # fmt: skip
    return made

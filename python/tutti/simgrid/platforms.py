"""Platform files for SimGrid: networks of given shapes, and machines of papers.

A platform is written as ``SHAPE:NODES[:KEY=VALUE,..]`` or as the name of a machine. Latencies and
bandwidths of one link are parameters, so that no measured machine is implied. SimGrid shares the
bandwidth of a link among the messages that cross it at the same time.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, field
from xml.sax.saxutils import quoteattr

from tutti.refusal import Refusal

MAX_NODES = 100_000

_RATES = {"": 1.0, "K": 1e3, "M": 1e6, "G": 1e9, "T": 1e12}
_TIMES = {"ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1.0}


@dataclass(frozen=True)
class Link:
    """A link: seconds, and bytes per second."""

    latency: float
    bandwidth: float

    def xml(self, prefix: str) -> str:
        """The attributes of a cluster's links."""
        return f'{prefix}bw="{self.bandwidth:.6g}Bps" {prefix}lat="{self.latency:.6g}s"'


@dataclass(frozen=True)
class Platform:
    """A machine that SimGrid simulates.

    Attributes:
        name: the text that describes it.
        nodes: the number of nodes that ranks may use.
        overhead: seconds that each message occupies its sender and its receiver.
        xml: the platform file.
        cores: ranks of a node, if the machine fixes it.
    """

    name: str
    nodes: int
    overhead: float
    xml: str
    prefix: str = "node-"
    cores: int | None = None

    def hosts(self, ranks: int, ppn: int) -> list[str]:
        """The host of each rank: node after node.

        Raises:
            Refusal: the platform has fewer nodes.
        """
        needed = -(-ranks // ppn)
        if needed > self.nodes:
            raise Refusal(
                f"--platform {self.name}: {ranks} ranks with --ppn {ppn} need {needed} nodes; "
                f"it has {self.nodes}"
            )
        return [f"{self.prefix}{rank // ppn}" for rank in range(ranks)]


@dataclass(frozen=True)
class _Shape:
    """A shape of networks: its further parameters with their defaults, and what it is."""

    about: str
    defaults: dict[str, str] = field(default_factory=dict)


SHAPES = {
    "switch": _Shape("one switch that never blocks"),
    "two-switches": _Shape(
        "two switches with half of the nodes each, joined by a trunk", {"trunk": "12.5G"}
    ),
    "fat-tree": _Shape(
        "leaf switches under top switches; taper: links of a leaf to nodes over links to the top",
        {"leaf": "16", "taper": "1"},
    ),
    "dragonfly": _Shape(
        "groups of chassis of routers, all joined in pairs at each level",
        {"groups": "0", "chassis": "2", "routers": "4", "per-router": "2"},
    ),
    "torus": _Shape(
        "a 3-dimensional torus, also as torus:4x4x8; limiter: what all links of a node carry "
        "together, in both directions (default: no limit)",
        {"limiter": ""},
    ),
}
"""The shapes by name."""

COMMON = {
    "bandwidth": "12.5G",
    "latency": "0.5us",
    "overhead": "0.3us",
    "memory-bandwidth": "8G",
    "memory-latency": "0.2us",
}
"""Parameters of every shape: a node's link, a message's cost at a processor, and messages inside a
node."""

MACHINES = {
    "gbe48": "switch:48:bandwidth=125M,latency=13.5us,overhead=2us,memory-bandwidth=5G,"
    "memory-latency=0.4us",
    "gbe30-two-switches": "two-switches:30:trunk=125M,bandwidth=125M,latency=13.5us,overhead=2us,"
    "memory-bandwidth=5G,memory-latency=0.4us",
    "gbe30-two-switches-10g": "two-switches:30:trunk=1.25G,bandwidth=125M,latency=13.5us,"
    "overhead=2us,memory-bandwidth=5G,memory-latency=0.4us",
    "gbe18x8": "switch:18:bandwidth=125M,latency=13.5us,overhead=2us,memory-bandwidth=4G,"
    "memory-latency=0.35us",
    "qdr6x8": "switch:6:bandwidth=3.2G,latency=0.75us,overhead=0.5us,memory-bandwidth=4G,"
    "memory-latency=0.35us",
    "qdr36x16": "switch:36:bandwidth=3.2G,latency=0.75us,overhead=0.5us,memory-bandwidth=5G,"
    "memory-latency=0.3us",
    "vsc3-100x16": "fat-tree:100:leaf=24,taper=2,bandwidth=6.4G,latency=0.35us,overhead=0.4us,"
    "memory-bandwidth=5G,memory-latency=0.3us",
    "vsc3-200x16": "fat-tree:200:leaf=24,taper=2,bandwidth=6.4G,latency=0.35us,overhead=0.4us,"
    "memory-bandwidth=5G,memory-latency=0.3us",
    "vsc3-400x16": "fat-tree:400:leaf=24,taper=2,bandwidth=6.4G,latency=0.35us,overhead=0.4us,"
    "memory-bandwidth=5G,memory-latency=0.3us",
    "xe6-64x32": "torus:4x4x4:bandwidth=4.7G,latency=0.1us,overhead=0.5us,memory-bandwidth=5G,"
    "memory-latency=0.3us,limiter=6G",
    "xe6-2048x32": "torus:16x16x8:bandwidth=4.7G,latency=0.1us,overhead=0.5us,memory-bandwidth=5G,"
    "memory-latency=0.3us,limiter=6G",
    "xe6-2744x24": "torus:14x14x14:bandwidth=4.7G,latency=0.1us,overhead=0.5us,memory-bandwidth=5G,"
    "memory-latency=0.3us,limiter=6G",
}
"""The machines of the papers as shapes, with the ranks per node in their names; approximations by
published link rates, not measurements."""


def _number(text: str, key: str, units: dict[str, float]) -> float:
    """A positive number with a unit."""
    match = re.fullmatch(r"([0-9]+(?:\.[0-9]+)?)\s*([A-Za-z]*)", text)
    if match is None or match[2] not in units or float(match[1]) <= 0:
        listed = ", ".join(unit for unit in units if unit)
        wanted = f"a positive number with {listed}" if listed else "a positive number"
        raise Refusal(f"--platform: {key}={text}: expected {wanted}")
    return float(match[1]) * units[match[2]]


def _whole(text: str, key: str, lowest: int = 1) -> int:
    if not text.isdecimal() or not lowest <= int(text) <= MAX_NODES:
        raise Refusal(f"--platform: {key}={text}: expected a whole number from {lowest} "
                      f"to {MAX_NODES:,}")  # fmt: skip
    return int(text)


def _parameters(shape: str, text: str) -> dict[str, str]:
    values = {**COMMON, **SHAPES[shape].defaults}
    for part in filter(None, text.split(",")):
        key, _, value = part.partition("=")
        if key not in values or not value:
            raise Refusal(
                f"--platform: {shape} has no parameter {part!r}; "
                f"valid parameters: {', '.join(sorted(values))} (as key=value)"
            )
        values[key] = value
    return values


def _document(body: str) -> str:
    return (
        "<?xml version='1.0'?>\n"
        '<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">\n'
        f'<platform version="4.1">\n{body}\n</platform>\n'
    )


def _cluster(name: str, first: int, nodes: int, link: Link, memory: Link, more: str = "") -> str:
    return (
        f' <cluster id={quoteattr(name)} prefix="node-" suffix="" radical="{first}-'
        f'{first + nodes - 1}" speed="1Gf" {link.xml("")} sharing_policy="SPLITDUPLEX" '
        f"{memory.xml('loopback_')}{more}/>"
    )


def _two_switches(nodes: int, link: Link, memory: Link, trunk: float) -> str:
    half = -(-nodes // 2)
    if nodes < 2:
        raise Refusal(f"--platform two-switches:{nodes}: expected at least 2 nodes")
    route = (
        '  <zoneRoute src="{0}" dst="{1}" gw_src="switch-{0}" gw_dst="switch-{1}" '
        'symmetrical="NO"><link_ctn id="trunk" direction="{2}"/></zoneRoute>'
    )
    return "\n".join(
        (
            ' <zone id="machine" routing="Full">',
            _cluster("a", 0, half, link, memory, ' router_id="switch-a"'),
            _cluster("b", half, nodes - half, link, memory, ' router_id="switch-b"'),
            f'  <link id="trunk" bandwidth="{trunk:.6g}Bps" latency="{link.latency:.6g}s" '
            'sharing_policy="SPLITDUPLEX"/>',
            route.format("a", "b", "UP"),
            route.format("b", "a", "DOWN"),
            " </zone>",
        )
    )


def _topology(kind: str, parameters: str) -> str:
    return f' topology="{kind}" topo_parameters="{parameters}"'


def _fat_tree(nodes: int, values: dict[str, str]) -> tuple[int, str]:
    """Nodes, rounded up to full leaves, and the attributes."""
    leaf = min(_whole(values["leaf"], "leaf"), nodes)
    taper = _number(values["taper"], "taper", {"": 1.0})
    if taper < 1:
        raise Refusal(f"--platform: taper={values['taper']}: expected at least 1 (1: no taper)")
    leaves = -(-nodes // leaf)
    tops = max(1, round(leaf / taper))
    return leaves * leaf, _topology("FAT_TREE", f"2;{leaf},{leaves};1,{tops};1,1")


def _dragonfly(nodes: int, values: dict[str, str]) -> tuple[int, str]:
    chassis, routers, each = (
        _whole(values[key], key) for key in ("chassis", "routers", "per-router")
    )
    groups = _whole(values["groups"], "groups", 0)
    groups = groups or max(2, -(-nodes // (chassis * routers * each)))
    total = groups * chassis * routers * each
    if total < nodes:
        raise Refusal(f"--platform dragonfly:{nodes}: {groups} groups of {chassis} chassis of "
                      f"{routers} routers with {each} nodes each have {total} nodes")  # fmt: skip
    return total, _topology("DRAGONFLY", f"{groups},1;{chassis},1;{routers},1;{each}")


def _sides(nodes: int) -> tuple[int, int, int]:
    """The most cubic box of exactly so many nodes."""
    best = (nodes, 1, 1)
    for a in range(1, round(nodes ** (1 / 3)) + 1):
        if nodes % a:
            continue
        rest = nodes // a
        b = next(b for b in range(math.isqrt(rest), 0, -1) if rest % b == 0)
        best = min(best, (rest // b, b, a), key=lambda box: max(box) / min(box))
    return best


def _torus(text: str, limiter: str) -> tuple[int, str]:
    """Nodes and the attributes; the limiter is a rate, or empty for none."""
    sides = text.split("x")
    if len(sides) not in (1, 3):
        raise Refusal(f"--platform torus:{text}: expected a number of nodes or 3 sides as 4x4x8")
    box = [_whole(side, "torus") for side in sides]
    if len(box) == 1:
        box = list(_sides(box[0]))
    if math.prod(box) > MAX_NODES:
        raise Refusal(f"--platform torus:{text}: expected at most {MAX_NODES:,} nodes")
    limit = f' limiter_link="{_number(limiter, "limiter", _RATES):.6g}Bps"' if limiter else ""
    return math.prod(box), _topology("TORUS", ",".join(map(str, box))) + limit


def platform(text: str) -> Platform:
    """The platform that a text describes.

    Args:
        text: ``SHAPE:NODES[:KEY=VALUE,..]`` with a shape of SHAPES, such as
            ``fat-tree:1024:taper=4``, or a name of MACHINES.

    Raises:
        Refusal: the text names no shape, a parameter that the shape lacks, or a bad value.
    """
    described = MACHINES.get(text, text)
    shape, _, rest = described.partition(":")
    count, _, parameters = rest.partition(":")
    if shape not in SHAPES or not count:
        raise Refusal(
            f"--platform {text}: expected SHAPE:NODES with a shape of {', '.join(SHAPES)}, "
            f"or a machine of {', '.join(MACHINES)}"
        )
    values = _parameters(shape, parameters)
    link = Link(_number(values["latency"], "latency", _TIMES),
                _number(values["bandwidth"], "bandwidth", _RATES))  # fmt: skip
    memory = Link(_number(values["memory-latency"], "memory-latency", _TIMES),
                  _number(values["memory-bandwidth"], "memory-bandwidth", _RATES))  # fmt: skip
    if shape == "torus":
        nodes, topology = _torus(count, values["limiter"])
    else:
        nodes, topology = _whole(count, shape), ""
    if shape == "fat-tree":
        built, topology = _fat_tree(nodes, values)
    elif shape == "dragonfly":
        built, topology = _dragonfly(nodes, values)
    else:
        built = nodes
    if shape == "two-switches":
        trunk = _number(values["trunk"], "trunk", _RATES)
        body = _two_switches(nodes, link, memory, trunk)
    else:
        body = _cluster("machine", 0, built, link, memory, topology)
    overhead = _number(values["overhead"], "overhead", _TIMES)
    cores = re.search(r"x([0-9]+)$", text)
    return Platform(
        text, nodes, overhead, _document(body),
        cores=int(cores[1]) if text in MACHINES and cores else None,
    )  # fmt: skip

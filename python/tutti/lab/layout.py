"""What a lab consists of, and the commands that make it."""

from __future__ import annotations

import ipaddress
import re
from dataclasses import dataclass

from tutti.console import Refusal

PREFIX = "tuttilab-"
"""Begins the name of everything that a lab makes on the machine."""

OWN_NAMES = re.compile(re.escape(PREFIX) + r"[nspud]\d+")
"""Namespaces n, switches s, ports p, and the upper and lower ends u and d of uplinks."""

MAX_PORTS = 1000
"""Of a switch; Linux bridges have 1024."""

FRAME = 1514 / 1448
"""Bytes on the wire for a byte of payload: Ethernet, IP and TCP with time stamps, 1500 of MTU."""

_RATE = re.compile(r"(\d+(?:\.\d+)?)([kmg])bit")

Command = list[str]


def parse_rate(text: str, option: str) -> int:
    """Bits per second of "1gbit", "2.5gbit", "100mbit" or "64kbit"; Refusal for anything else."""
    match = _RATE.fullmatch(text.lower())
    bits = int(float(match[1]) * {"k": 1e3, "m": 1e6, "g": 1e9}[match[2]]) if match else 0
    if bits < 8000:
        raise Refusal(f"{option} {text}: a rate looks like 1gbit, 2.5gbit or 100mbit")
    return bits


def show_rate(bits: int) -> str:
    """A rate in words: "1 Gbit/s"."""
    for unit, size in (("G", 1e9), ("M", 1e6)):
        if bits >= size:
            return f"{bits / size:g} {unit}bit/s"
    return f"{bits / 1e3:g} kbit/s"


@dataclass(frozen=True)
class Layout:
    """The nodes, 1 to `nodes`, and how they are joined.

    One switch joins all nodes. Of several, each joins as many nodes as the others, give or take
    one, in sequence, and an uplink leads from it to a core switch that has no nodes.
    """

    nodes: int
    rate: int
    """Of a node's link, in bits per second, each way."""
    switches: int = 1
    uplink: int = 0
    """Of the link between a switch and the core, in bits per second, each way."""
    network: str = "10.77.0.0/16"

    def check(self) -> None:
        """Raises Refusal where the numbers make no lab."""
        if self.nodes < 1:
            raise Refusal(f"a lab of {self.nodes} nodes: it has one node or more")
        if not 1 <= self.switches <= self.nodes:
            raise Refusal(f"--switches {self.switches}: from 1 to the number of nodes")
        ports = -(-self.nodes // self.switches)
        if max(ports, self.switches) >= MAX_PORTS:
            raise Refusal(f"{ports} nodes at a switch: it has {MAX_PORTS} ports; see --switches")
        try:
            network = ipaddress.IPv4Network(self.network)
        except ValueError as error:
            raise Refusal(f"--network {self.network}: {error}") from None
        room = network.num_addresses - 3  # but the network's, the machine's and broadcast
        if self.nodes > room:
            raise Refusal(f"--network {self.network} has room for {max(room, 0)} nodes only")

    @property
    def host_address(self) -> str:
        """Of the machine itself, at the core switch: the last address of the network."""
        return str(ipaddress.IPv4Network(self.network)[-2])

    @property
    def core(self) -> str:
        """The interface of the switch that the machine itself is at."""
        return f"{PREFIX}s0"

    def address(self, node: int) -> str:
        """Of a node, counted from the first address of the network."""
        return str(ipaddress.IPv4Network(self.network)[node])

    def name(self, node: int) -> str:
        """The host name of a node."""
        return f"node{node}"

    def namespace(self, node: int) -> str:
        """The network namespace of a node."""
        return f"{PREFIX}n{node}"

    def switch_of(self, node: int) -> int:
        """The switch that a node is at: 0 where there is one, else 1 to `switches`."""
        return 0 if self.switches == 1 else (node - 1) * self.switches // self.nodes + 1

    @property
    def _bits(self) -> int:
        return ipaddress.IPv4Network(self.network).prefixlen

    def core_commands(self) -> list[Command]:
        """Make the switch that the machine itself is at."""
        return [
            ["ip", "link", "add", self.core, "type", "bridge"],
            ["ip", "addr", "add", f"{self.host_address}/{self._bits}", "dev", self.core],
            ["ip", "link", "set", self.core, "up"],
        ]

    def switch_commands(self, switch: int) -> list[Command]:
        """Make one of several switches and its uplink."""
        bridge, up, down = (f"{PREFIX}{kind}{switch}" for kind in "sud")
        return [
            ["ip", "link", "add", bridge, "type", "bridge"],
            ["ip", "link", "set", bridge, "up"],
            ["ip", "link", "add", up, "type", "veth", "peer", "name", down],
            ["ip", "link", "set", up, "master", self.core, "up"],
            ["ip", "link", "set", down, "master", bridge, "up"],
            *_shape([], up, self.uplink or self.rate),
            *_shape([], down, self.uplink or self.rate),
        ]

    def node_commands(self, node: int) -> list[Command]:
        """Make a node and its link."""
        space, port = self.namespace(node), f"{PREFIX}p{node}"
        bridge = f"{PREFIX}s{self.switch_of(node)}"
        inside = ["ip", "-n", space]
        return [
            ["ip", "netns", "add", space],
            ["ip", "link", "add", port, "type", "veth", "peer", "name", "eth0", "netns", space],
            ["ip", "link", "set", port, "master", bridge, "up"],
            [*inside, "addr", "add", f"{self.address(node)}/{self._bits}", "dev", "eth0"],
            [*inside, "link", "set", "lo", "up"],
            [*inside, "link", "set", "eth0", "up"],
            *_shape(["-n", space], "eth0", self.rate),
            *_shape([], port, self.rate),
        ]

    def steps(self) -> list[tuple[str, list[Command]]]:
        """All that makes the lab, in sequence: what each step makes, and its commands."""
        made = [("core switch", self.core_commands())]
        if self.switches > 1:
            made += [(f"switch {s}", self.switch_commands(s)) for s in range(1, self.switches + 1)]
        return made + [(self.name(n), self.node_commands(n)) for n in range(1, self.nodes + 1)]

    def settings(self) -> dict[str, int]:
        """The least values of the kernel's limits of neighbours, which all nodes share."""
        pairs = (self.nodes + 1) ** 2
        limits = {"gc_thresh1": 2 * pairs, "gc_thresh2": 3 * pairs, "gc_thresh3": 4 * pairs}
        return {f"net/ipv4/neigh/default/{name}": limit for name, limit in limits.items()}

    def files(self) -> dict[str, str]:
        """Tables of the nodes: `nodes` for the node shell, `hosts` for the programs."""
        every = range(1, self.nodes + 1)
        hosts = "".join(f"{self.address(n)} {self.name(n)}\n" for n in every)
        nodes = "".join(f"{self.address(n)} {self.name(n)} {self.namespace(n)}\n" for n in every)
        return {"hosts": "127.0.0.1 localhost\n" + hosts, "nodes": nodes}

    def scatter_time(self, ranks: list[int], size: int) -> float:
        """Seconds that the wire needs for a scatter of `size` bytes from the first rank.

        `ranks` are those of node 1, 2, ..; the root is on node 1. The slowest link counts: the
        root's own, its switch's uplink, or that of another switch. No delays.
        """
        total = sum(ranks)

        def share(keep: list[bool]) -> float:
            return size * 8 * FRAME * sum(r for r, k in zip(ranks, keep, strict=True) if k) / total

        switches = [self.switch_of(node) for node in range(1, len(ranks) + 1)]
        times = [share([node > 0 for node in range(len(ranks))]) / self.rate]
        for switch in set(switches) if self.switches > 1 else ():
            crosses = switch != switches[0]
            inside = [(s == switch) == crosses for s in switches]
            times.append(share(inside) / (self.uplink or self.rate))
        return max(times)


def removal(names: list[tuple[str, str]]) -> list[Command]:
    """The commands that remove namespaces and interfaces, given as (kind, name).

    The upper end of a link goes with its lower end, and a node's port with its namespace, so a
    command may find its interface gone.
    """
    spaces = [["ip", "netns", "del", name] for kind, name in names if kind == "namespace"]
    return spaces + [["ip", "link", "del", name] for kind, name in names if kind == "interface"]


def _shape(where: list[str], interface: str, rate: int) -> list[Command]:
    """Give one end of a link its rate."""
    # What a packet lacks in the bucket it leaves as a debt, so that packets of many frames keep the
    # rate; those, as of adapters that segment, cost the machine a tenth of single frames. None of
    # them takes more than a millisecond and a quarter, but for a frame.
    packet = min(max(rate // 8 // 800, 1600), 32768)
    # A bucket below a quarter of a millisecond of traffic cannot keep the rate.
    burst = max(32768, rate // 8 // 4000)
    tc = ["tc", *where]
    limit = ["rate", f"{rate}bit", "burst", f"{burst}b", "cburst", f"{burst}b"]
    to = ["dev", interface]
    return [
        ["ip", *where, "link", "set", *to, "gso_max_size", str(packet)],
        [*tc, "qdisc", "add", *to, "root", "handle", "1:", "htb", "default", "1"],
        [*tc, "class", "add", *to, "parent", "1:", "classid", "1:1", "htb", *limit,
         "quantum", "65536"],
        [*tc, "qdisc", "add", *to, "parent", "1:1", "pfifo", "limit", "4000"],
    ]

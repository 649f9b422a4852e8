"""The nodes, switches and links of a lab, and the commands that make them."""

from __future__ import annotations

import ipaddress
import re
from dataclasses import dataclass

from tutti.console import Refusal

PREFIX = "tuttilab-"
"""The prefix of all names that a lab makes on the machine."""

OWN_NAMES = re.compile(re.escape(PREFIX) + r"[nspud]\d+")
"""Namespaces n, switches s, ports p, and the core's end u and the switch's end d of uplinks."""

MAX_PORTS = 1000
"""The limit of ports per switch; Linux bridges have 1024."""

FRAME = 1514 / 1448
"""Bytes on the wire per byte of payload: Ethernet, IP and TCP with timestamps, MTU 1500."""

_RATE = re.compile(r"(\d+(?:\.\d+)?)([kmg])bit")

Command = list[str]


def parse_rate(text: str, option: str) -> int:
    """Bits per second of a text such as "2.5gbit", "100mbit" or "64kbit"; else raises Refusal."""
    match = _RATE.fullmatch(text.lower())
    bits = int(float(match[1]) * {"k": 1e3, "m": 1e6, "g": 1e9}[match[2]]) if match else 0
    if bits < 8000:
        raise Refusal(f"{option} {text}: expected a rate such as 1gbit, 2.5gbit or 100mbit; at least 8kbit")
    return bits


def show_rate(bits: int) -> str:
    """A rate as text: "1 Gbit/s"."""
    for unit, size in (("G", 1e9), ("M", 1e6)):
        if bits >= size:
            return f"{bits / size:g} {unit}bit/s"
    return f"{bits / 1e3:g} kbit/s"


@dataclass(frozen=True)
class Layout:
    """The nodes, 1 to `nodes`, and their links.

    A single switch joins all nodes. Several switches share the nodes evenly, in order, and each
    has an uplink to a core switch, which has no nodes.
    """

    nodes: int
    rate: int
    """The rate of each node's link, in bits per second and direction."""
    switches: int = 1
    uplink: int = 0
    """The rate of each uplink, in bits per second and direction; 0: that of a node's link."""
    network: str = "10.77.0.0/16"

    def check(self) -> None:
        """Raises Refusal if a lab cannot have these numbers."""
        if self.nodes < 1:
            raise Refusal(f"{self.nodes} nodes: expected at least 1")
        if not 1 <= self.switches <= self.nodes:
            raise Refusal(f"--switches {self.switches}: expected 1 to {self.nodes}, the number of nodes")
        at_a_switch = -(-self.nodes // self.switches)
        for number, what in ((at_a_switch, "nodes at a switch"), (self.switches, "switches at the core switch")):
            if number >= MAX_PORTS:
                raise Refusal(f"{number} {what}: expected fewer than its {MAX_PORTS} ports; see --switches")
        try:
            network = ipaddress.IPv4Network(self.network)
        except ValueError as error:
            raise Refusal(f"--network {self.network}: {error}") from None
        room = network.num_addresses - 3  # without those of network, machine and broadcast
        if self.nodes > room:
            raise Refusal(f"--network {self.network} has addresses for {max(room, 0)} nodes; expected {self.nodes}")

    @property
    def host_address(self) -> str:
        """The address of the machine at the core switch: the last one of the network."""
        return str(ipaddress.IPv4Network(self.network)[-2])

    @property
    def core(self) -> str:
        """The interface of the core switch, to which the machine itself is connected."""
        return f"{PREFIX}s0"

    def address(self, node: int) -> str:
        """The address of a node; node 1 has the first one of the network."""
        return str(ipaddress.IPv4Network(self.network)[node])

    def name(self, node: int) -> str:
        """The host name of a node."""
        return f"node{node}"

    def namespace(self, node: int) -> str:
        """The network namespace of a node."""
        return f"{PREFIX}n{node}"

    def switch_of(self, node: int) -> int:
        """The switch of a node: 0 with a single switch, else 1 to `switches`."""
        return 0 if self.switches == 1 else (node - 1) * self.switches // self.nodes + 1

    @property
    def _bits(self) -> int:
        return ipaddress.IPv4Network(self.network).prefixlen

    def core_commands(self) -> list[Command]:
        """The commands that make the core switch."""
        return [
            ["ip", "link", "add", self.core, "type", "bridge"],
            ["ip", "addr", "add", f"{self.host_address}/{self._bits}", "dev", self.core],
            ["ip", "link", "set", self.core, "up"],
        ]

    def switch_commands(self, switch: int) -> list[Command]:
        """The commands that make one of several switches and its uplink."""
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
        """The commands that make a node and its link."""
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
        """The steps that make the lab, in order: a name and commands each."""
        made = [("core switch", self.core_commands())]
        if self.switches > 1:
            made += [(f"switch {s}", self.switch_commands(s)) for s in range(1, self.switches + 1)]
        return made + [(self.name(n), self.node_commands(n)) for n in range(1, self.nodes + 1)]

    def settings(self) -> dict[str, int]:
        """Minimum values of the kernel's limits of neighbour entries, which all nodes share."""
        pairs = (self.nodes + 1) ** 2
        limits = {"gc_thresh1": 2 * pairs, "gc_thresh2": 3 * pairs, "gc_thresh3": 4 * pairs}
        return {f"net/ipv4/neigh/default/{name}": limit for name, limit in limits.items()}

    def files(self) -> dict[str, str]:
        """The tables of nodes: `nodes` for the node shell, `hosts` for programs."""
        every = range(1, self.nodes + 1)
        hosts = "".join(f"{self.address(n)} {self.name(n)}\n" for n in every)
        nodes = "".join(f"{self.address(n)} {self.name(n)} {self.namespace(n)}\n" for n in every)
        return {"hosts": "127.0.0.1 localhost\n" + hosts, "nodes": nodes}

    def scatter_time(self, ranks: list[int], size: int) -> float:
        """Seconds that the links need for a scatter of `size` bytes from rank 0 on node 1.

        `ranks` has the number of ranks of each node. The slowest link determines the time: that of
        the root's node, or the uplink of a switch. Delays are neglected.
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

    Removing one end of a link removes the other end, and removing a namespace removes the port of
    its node, so a command may fail because its interface has gone.
    """
    spaces = [["ip", "netns", "del", name] for kind, name in names if kind == "namespace"]
    return spaces + [["ip", "link", "del", name] for kind, name in names if kind == "interface"]


def _shape(where: list[str], interface: str, rate: int) -> list[Command]:
    """The commands that limit the rate of one end of a link."""
    # Packets of many frames, as from adapters that segment, cost the machine 10 % of the work of
    # single frames. They keep the rate, because the token bucket carries a deficit over. Unless it
    # is a single frame, no packet takes longer than 1.25 ms.
    packet = min(max(rate // 8 // 800, 1600), 32768)
    # A bucket smaller than 0.25 ms of traffic cannot keep the rate.
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

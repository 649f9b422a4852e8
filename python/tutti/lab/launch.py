"""The commands that start a program on nodes of the lab, for each MPI."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from random import Random

from tutti.console import Refusal
from tutti.lab.layout import Layout
from tutti.lab.mpi import Mpi

MAPPINGS = ("block", "round-robin", "shuffled")

POLLS = 10
"""Looks of MPICH that find nothing before it sleeps: a barrier of 8 ranks on 2 cores takes 0.9 ms so,
34 ms where it only polls."""

BRANCHES = 1024
"""Launchers shall start every node themselves, for the node shell works on the machine alone."""


@dataclass(frozen=True)
class ProcessMapping:
    """How many ranks each node has, and how they are numbered."""

    ranks: tuple[int, ...]
    """Of node 1, 2, ..; a node may have none."""
    mapping: str = "block"

    @property
    def total(self) -> int:
        return sum(self.ranks)

    @property
    def nodes(self) -> int:
        """Nodes that have ranks."""
        return sum(ranks > 0 for ranks in self.ranks)

    def nodes_of_ranks(self) -> list[int]:
        """The node of each rank, the nodes counted from 1.

        Block fills one node after the other; round-robin gives each node with room one rank,
        again and again; shuffled:N puts each rank anywhere, in the same way for the same N.
        """
        pairs = [(i, node) for node, ranks in enumerate(self.ranks, 1) for i in range(ranks)]
        nodes = [node for _, node in (sorted(pairs) if self.mapping == "round-robin" else pairs)]
        if self.mapping.startswith("shuffled"):
            Random(self.mapping).shuffle(nodes)
        return nodes


def place(
    layout: Layout, nodes: int | None, per_node: int, ranks: str | None, mapping: str
) -> ProcessMapping:
    """The placement that options ask for: `per_node` on each node, or the list `ranks`.

    Raises:
        Refusal: the options contradict one another, or the lab.
    """
    if mapping not in MAPPINGS and not re.fullmatch(r"shuffled:\d+", mapping):
        raise Refusal(f"--mapping {mapping}: {' or '.join(MAPPINGS)}[:N]")
    if ranks is not None:
        if nodes is not None or per_node != 1:
            raise Refusal("--ranks says it all: leave --nodes and --ranks-per-node away")
        words = ranks.split(",")
        if not all(word.isdigit() for word in words) or not any(int(word) for word in words):
            raise Refusal(f"--ranks {ranks}: a number for each node, such as 1,4,2")
        placed = ProcessMapping(tuple(int(word) for word in words), mapping)
    else:
        count = layout.nodes if nodes is None else nodes
        if count < 1 or per_node < 1:
            raise Refusal(f"{count} nodes of {per_node} ranks: at least one of each")
        placed = ProcessMapping((per_node,) * count, mapping)
    if len(placed.ranks) > layout.nodes:
        raise Refusal(f"{len(placed.ranks)} nodes are asked for, the lab has {layout.nodes}")
    return placed


def check(mpi: Mpi, placement: ProcessMapping) -> None:
    """Raises Refusal where an MPI is known not to get through a run."""
    if mpi.family == "mpich" and mpi.major < 5 and placement.nodes > 1:
        if "ofi" in mpi.devices and "ucx" not in mpi.devices:
            return
        raise Refusal(
            f"{mpi} over UCX was seen to hang in MPI_Finalize between nodes of the lab (5 of 5 "
            "runs): use it on one node, or take MPICH 5, Open MPI or Intel MPI"
        )


@dataclass(frozen=True)
class Site:
    """Where the files of a lab are that launchers read."""

    shell: str
    """The node shell, which stands for ssh."""
    hosts: str
    """The node of each rank, a line each: what `hosts_of_ranks` says."""


def hosts_of_ranks(layout: Layout, placement: ProcessMapping) -> str:
    """The file that puts every rank where the placement has it."""
    return "".join(f"{layout.address(node)}\n" for node in placement.nodes_of_ranks())


def command(mpi: Mpi, layout: Layout, placement: ProcessMapping, site: Site) -> list[str]:
    """The launcher with its options; the program's words follow."""
    options = {"openmpi": _openmpi, "mpich": _mpich, "intel": _intel}[mpi.family]
    count = ["-n", str(placement.total)]
    return [mpi.mpirun, *options(mpi, layout, placement, site), *count]


def environment(mpi: Mpi, given: Mapping[str, str]) -> dict[str, str]:
    """Variables beside those that are `given`; launcher and nodes inherit them."""
    if mpi.family == "openmpi":
        return {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
    if mpi.family == "intel":
        return {"I_MPI_HYDRA_BRANCH_COUNT": str(BRANCHES)}
    sleep = "MPIR_CVAR_CH4_PROGRESS_THROTTLE"
    if mpi.major < 5 or sleep in given:
        return {}
    return {sleep: "1", f"{sleep}_NO_PROGRESS_COUNT": str(POLLS)}


def _each(word: str, values: dict[str, str]) -> list[str]:
    return [part for name, value in values.items() for part in (word, name, value)]


def _openmpi(mpi: Mpi, layout: Layout, _: ProcessMapping, site: Site) -> list[str]:
    new = mpi.major >= 5
    plm = "ssh" if new else "rsh"
    runtime = {
        "plm": plm,
        f"plm_{plm}_agent": site.shell,
        f"plm_{plm}_no_tree_spawn": "1",
        "prte_if_include" if new else "oob_tcp_if_include": layout.network,
    }
    transport = {
        "pml": "ob1",
        "btl": f"tcp,{'sm' if new else 'vader'},self",
        "btl_tcp_if_include": "eth0",
        "osc": "^ucx",
        # All nodes share the machine's cores: a rank that waits must let others run.
        "mpi_yield_when_idle": "1",
    }
    return [
        *_each("--prtemca" if new else "--mca", runtime), *_each("--mca", transport),
        "--bind-to", "none", "--map-by", "seq", "--hostfile", site.hosts,
    ]  # fmt: skip


def _mpich(_: Mpi, layout: Layout, placement: ProcessMapping, site: Site) -> list[str]:
    used = [node for node, ranks in enumerate(placement.ranks, 1) if ranks]
    places = {node: str(place) for place, node in enumerate(used)}
    options = [
        "-launcher", "ssh", "-launcher-exec", site.shell, "-iface", layout.core,
        "-hosts", ",".join(layout.address(node) for node in used),
    ]  # fmt: skip
    if len(used) > 1:  # MPICH 4, which is used on one node only, knows no -rankmap
        options += ["-rankmap", ",".join(places[node] for node in placement.nodes_of_ranks())]
    provider = {"MPIR_CVAR_CH4_NETMOD": "ofi", "FI_PROVIDER": "tcp", "FI_TCP_IFACE": "eth0"}
    return options + _each("-genv", provider)


def _intel(_: Mpi, layout: Layout, __: ProcessMapping, site: Site) -> list[str]:
    variables = {
        "I_MPI_FABRICS": "shm:ofi",
        "FI_PROVIDER": "tcp",
        "FI_TCP_IFACE": "eth0",
        "I_MPI_PIN": "0",
        "I_MPI_WAIT_MODE": "1",
    }
    return [
        "-bootstrap", "ssh", "-bootstrap-exec", site.shell, "-iface", layout.core,
        "-machinefile", site.hosts, *_each("-genv", variables),
    ]  # fmt: skip

"""The launcher commands that start a program on nodes of the lab, for each MPI."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from random import Random

from tutti import _engine
from tutti.console import Refusal
from tutti.mpis import Mpi
from tutti_lab.layout import Layout

MAPPINGS = ("block", "round-robin", "shuffled")

POLLS = 10
"""Polls without progress before MPICH sleeps. A barrier of 8 ranks on 2 cores then takes 0.9 ms;
with polling alone it takes 34 ms."""

BRANCHES = 1024
"""Children of a launcher, enough for all nodes: launchers start every node themselves, because the
node shell works on the host machine only."""


@dataclass(frozen=True)
class ProcessMapping:
    """The number of ranks on each node, and how they are numbered."""

    ranks: tuple[int, ...]
    """By node from node 1 on; may be 0."""
    mapping: str = "block"

    @property
    def total(self) -> int:
        return sum(self.ranks)

    @property
    def nodes(self) -> int:
        """The number of nodes that have ranks."""
        return sum(ranks > 0 for ranks in self.ranks)

    def nodes_of_ranks(self) -> list[int]:
        """The node of each rank, from 1 on.

        `block` fills one node after the other. `round-robin` repeatedly gives one rank to each
        node that has room. `shuffled:N` assigns ranks at random, with the seed N.
        """
        pairs = [(i, node) for node, ranks in enumerate(self.ranks, 1) for i in range(ranks)]
        nodes = [node for _, node in (sorted(pairs) if self.mapping == "round-robin" else pairs)]
        if self.mapping.startswith("shuffled"):
            Random(self.mapping).shuffle(nodes)
        return nodes


def map_processes(
    layout: Layout, nodes: int | None, per_node: int, ranks: str | None, mapping: str
) -> ProcessMapping:
    """The process mapping of the options: `per_node` ranks on each node, or the list `ranks`.

    Raises:
        Refusal: the options contradict one another or the lab.
    """
    if mapping not in MAPPINGS and not re.fullmatch(r"shuffled:\d+", mapping):
        raise Refusal(
            f"--mapping {mapping}: expected {', '.join(MAPPINGS)} or shuffled:SEED"
            + _engine.did_you_mean(mapping.split(":")[0], list(MAPPINGS))
        )
    if ranks is not None:
        if nodes is not None or per_node != 1:
            raise Refusal("--ranks excludes --nodes and --ranks-per-node")
        words = ranks.split(",")
        if not all(word.isdecimal() for word in words) or not any(int(word) for word in words):
            raise Refusal(f"--ranks {ranks}: expected a number for each node, such as 1,4,2")
        processes = ProcessMapping(tuple(int(word) for word in words), mapping)
    else:
        count = layout.nodes if nodes is None else nodes
        if count < 1 or per_node < 1:
            raise Refusal(f"{count} nodes of {per_node} ranks: expected at least 1 of each")
        processes = ProcessMapping((per_node,) * count, mapping)
    if len(processes.ranks) > layout.nodes:
        raise Refusal(f"{len(processes.ranks)} nodes requested; the lab has {layout.nodes}")
    return processes


def check(mpi: Mpi, processes: ProcessMapping) -> None:
    """Raises Refusal if the MPI is known to hang with this process mapping."""
    if mpi.family == "mpich" and mpi.major < 5 and processes.nodes > 1:
        if "ofi" in mpi.devices and "ucx" not in mpi.devices:
            return
        raise Refusal(
            f"{mpi} over UCX hangs in MPI_Finalize between nodes of the lab (5 of 5 runs); use one "
            "node, or MPICH 5, Open MPI or Intel MPI"
        )


@dataclass(frozen=True)
class Site:
    """The paths of the files that launchers use."""

    shell: str
    """The node shell, which launchers run instead of ssh."""
    hosts: str
    """The file with the text of `hosts_of_ranks`."""


def hosts_of_ranks(layout: Layout, processes: ProcessMapping) -> str:
    """The text of a host file: the address of each rank's node, one per line."""
    return "".join(f"{layout.address(node)}\n" for node in processes.nodes_of_ranks())


def command(mpi: Mpi, layout: Layout, processes: ProcessMapping, site: Site) -> list[str]:
    """The launcher with its options; the program and its arguments follow."""
    options = {"openmpi": _openmpi, "mpich": _mpich, "intel": _intel}[mpi.family]
    count = ["-n", str(processes.total)]
    return [mpi.mpirun, *options(mpi, layout, processes, site), *count]


def environment(mpi: Mpi, given: Mapping[str, str]) -> dict[str, str]:
    """Variables to add to the environment `given`; launcher and nodes inherit them."""
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
        # All nodes share the machine's cores, so waiting ranks must yield.
        "mpi_yield_when_idle": "1",
    }
    return [
        *_each("--prtemca" if new else "--mca", runtime), *_each("--mca", transport),
        "--bind-to", "none", "--map-by", "seq", "--hostfile", site.hosts,
    ]  # fmt: skip


def _mpich(_: Mpi, layout: Layout, processes: ProcessMapping, site: Site) -> list[str]:
    used = [node for node, ranks in enumerate(processes.ranks, 1) if ranks]
    indices = {node: str(index) for index, node in enumerate(used)}
    options = [
        "-launcher", "ssh", "-launcher-exec", site.shell, "-iface", layout.core,
        "-hosts", ",".join(layout.address(node) for node in used),
    ]  # fmt: skip
    if len(used) > 1:  # MPICH 4 lacks -rankmap, but runs on one node only
        options += ["-rankmap", ",".join(indices[node] for node in processes.nodes_of_ranks())]
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

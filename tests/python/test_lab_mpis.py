"""The launchers that tutti lab finds, and its command lines for each MPI."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lab_mpis import INTEL, LAYOUT, MPICH4, MPICH5, OPENMPI4, OPENMPI5, launcher
from tutti import mpis
from tutti.console import Refusal
from tutti_lab import launch
from tutti_lab.launch import ProcessMapping, Site


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("mpirun (Open MPI) 5.0.11\n", ("openmpi", "5.0.11")),
        ("mpirun.openmpi (OpenRTE) 4.1.4\n", ("openmpi", "4.1.4")),
        ("Open MPI v4.1.4, package: Debian OpenMPI, ident: 4.1.4", ("openmpi", "4.1.4")),
        ("HYDRA build details:\n    Version:      4.0.2\n", ("mpich", "4.0.2")),
        ("MPICH Version:\t5.0.2\nMPICH Device:\tch4:ofi\n", ("mpich", "5.0.2")),
        ("Intel(R) MPI Library for Linux* OS, Version 2021.18.1 Build 1", ("intel", "2021.18.1")),
        ("Intel(R) MPI Library 2021.18.1 for Linux* OS\n", ("intel", "2021.18.1")),
        ("slurm 23.02", None),
    ],
)
def test_an_mpi_is_known_by_what_it_says(text, expected):
    assert mpis.recognise(text) == expected


def test_block_and_round_robin():
    assert ProcessMapping((1, 3, 2)).nodes_of_ranks() == [1, 2, 2, 2, 3, 3]
    assert ProcessMapping((1, 3, 2), "round-robin").nodes_of_ranks() == [1, 2, 3, 2, 3, 2]


def test_shuffled_is_alike_for_one_number_and_another_for_another():
    ranks = (1,) * 8
    one = ProcessMapping(ranks, "shuffled:1").nodes_of_ranks()
    assert one == ProcessMapping(ranks, "shuffled:1").nodes_of_ranks() != sorted(one)
    assert one != ProcessMapping(ranks, "shuffled:2").nodes_of_ranks()


@given(st.lists(st.integers(0, 5), min_size=1).filter(any), st.sampled_from(launch.MAPPINGS))
def test_every_node_has_its_ranks_however_they_are_mapped(ranks, mapping):
    nodes = ProcessMapping(tuple(ranks), mapping).nodes_of_ranks()
    assert [nodes.count(node) for node in range(1, len(ranks) + 1)] == ranks


SITE = Site("/lab/nodesh", "/lab/ranks")
UNEVEN = ProcessMapping((1, 0, 2), "round-robin")


def test_the_file_of_hosts_names_the_node_of_each_rank():
    assert launch.hosts_of_ranks(LAYOUT, UNEVEN) == "10.77.0.1\n10.77.0.3\n10.77.0.3\n"


def line(which: mpis.Mpi, processes: ProcessMapping = UNEVEN) -> str:
    return " ".join(launch.command(which, LAYOUT, processes, SITE))


def test_the_command_of_open_mpi_4():
    assert line(OPENMPI4) == (
        "/usr/bin/mpirun --mca plm rsh --mca plm_rsh_agent /lab/nodesh "
        "--mca plm_rsh_no_tree_spawn 1 --mca oob_tcp_if_include 10.77.0.0/16 --mca pml ob1 "
        "--mca btl tcp,vader,self --mca btl_tcp_if_include eth0 --mca osc ^ucx "
        "--mca mpi_yield_when_idle 1 --bind-to none --map-by seq --hostfile /lab/ranks -n 3"
    )
    assert launch.environment(OPENMPI4, {})["OMPI_ALLOW_RUN_AS_ROOT"] == "1"


def test_the_command_of_open_mpi_5():
    assert line(OPENMPI5) == (
        "/opt/bin/mpirun --prtemca plm ssh --prtemca plm_ssh_agent /lab/nodesh "
        "--prtemca plm_ssh_no_tree_spawn 1 --prtemca prte_if_include 10.77.0.0/16 --mca pml ob1 "
        "--mca btl tcp,sm,self --mca btl_tcp_if_include eth0 --mca osc ^ucx "
        "--mca mpi_yield_when_idle 1 --bind-to none --map-by seq --hostfile /lab/ranks -n 3"
    )


def test_the_command_of_mpich_5():
    # -rankmap counts the hosts that are named, from 0: node 3 is the second of them.
    assert line(MPICH5) == (
        "/opt/bin/mpiexec -launcher ssh -launcher-exec /lab/nodesh -iface tuttilab-s0 "
        "-hosts 10.77.0.1,10.77.0.3 -rankmap 0,1,1 -genv MPIR_CVAR_CH4_NETMOD ofi "
        "-genv FI_PROVIDER tcp -genv FI_TCP_IFACE eth0 -n 3"
    )


def test_mpich_5_sleeps_while_it_waits_unless_the_user_says_otherwise():
    sleep = "MPIR_CVAR_CH4_PROGRESS_THROTTLE"
    assert launch.environment(MPICH5, {})[sleep] == "1"
    assert sleep not in launch.environment(MPICH5, {sleep: "0"})
    assert launch.environment(MPICH4, {}) == {}


def test_mpich_4_gets_one_node_and_no_option_that_it_lacks():
    launch.check(MPICH4, ProcessMapping((0, 4)))
    assert "-hosts 10.77.0.2 -genv" in line(MPICH4, ProcessMapping((0, 4)))
    with pytest.raises(Refusal, match="MPICH 4.0.2 over UCX hangs in MPI_Finalize"):
        launch.check(MPICH4, ProcessMapping((1, 1)))
    launch.check(replace(MPICH4, devices="ch4:ofi"), ProcessMapping((1, 1)))
    for other in (MPICH5, INTEL, OPENMPI4, OPENMPI5):
        launch.check(other, ProcessMapping((1, 1)))


def test_the_command_of_intel_mpi():
    assert line(INTEL) == (
        "/opt/bin/mpiexec.hydra -bootstrap ssh -bootstrap-exec /lab/nodesh -iface tuttilab-s0 "
        "-machinefile /lab/ranks -genv I_MPI_FABRICS shm:ofi -genv FI_PROVIDER tcp "
        "-genv FI_TCP_IFACE eth0 -genv I_MPI_PIN 0 -genv I_MPI_WAIT_MODE 1 -n 3"
    )
    assert int(launch.environment(INTEL, {})["I_MPI_HYDRA_BRANCH_COUNT"]) >= 1000


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ((None, 1, None), (1, 1, 1)),
        ((2, 4, None), (4, 4)),
        ((None, 1, "1,0,2"), (1, 0, 2)),
        ((None, 1, "5"), (5,)),
    ],
)
def test_process_mappings(words, expected):
    assert launch.map_processes(LAYOUT, *words, "block").ranks == expected


@pytest.mark.parametrize(
    ("words", "text"),
    [
        ((4, 1, None, "block"), "4 nodes requested; the lab has 3"),
        ((0, 1, None, "block"), "at least 1 of each"),
        ((1, 0, None, "block"), "at least 1 of each"),
        ((2, 1, "1,1", "block"), "--ranks excludes"),
        ((None, 1, "1,x", "block"), "a number for each node"),
        ((None, 1, "0,0", "block"), "a number for each node"),
        ((None, 1, "1,1,1,1", "block"), "4 nodes requested"),
        ((None, 1, None, "spiral"), "--mapping spiral: expected block, round-robin, shuffled"),
    ],
)
def test_wrong_process_mappings_are_refused(words, text):
    with pytest.raises(Refusal, match=text):
        launch.map_processes(LAYOUT, *words)


def test_the_launcher_beside_the_library_is_taken(tmp_path, monkeypatch):
    other = launcher(tmp_path / "other", "mpirun", "mpirun (Open MPI) 4.1.4")
    own = launcher(tmp_path / "own/bin", "mpirun", "mpirun (Open MPI) 5.0.11")
    monkeypatch.setenv("PATH", f"{other.parent}:/usr/bin:/bin")
    library = tmp_path / "own/lib/libmpi.so.40"
    found = mpis.find("./app", None, lambda _: library, lambda _: "Open MPI v5.0.11, package")
    assert (found.mpirun, found.version, found.mpicc()) == (str(own), "5.0.11", None)
    found = mpis.find("./app", str(other))
    assert (found.family, found.major, found.mpirun) == ("openmpi", 4, str(other))


@pytest.mark.parametrize(("said", "folder"), [("2021.1", "old"), ("2021.1.1", "old"), ("2021.18.2", "new"), ("2021.10", "")])
def test_a_launcher_of_another_release_is_not_taken(tmp_path, monkeypatch, said, folder):
    for name, version in (("new", "2021.18"), ("old", "2021.1.1")):
        launcher(tmp_path / name, "mpirun", f"Intel(R) MPI Library for Linux* OS, Version {version} Build 1")
    monkeypatch.setenv("PATH", f"{tmp_path}/new:{tmp_path}/old:/usr/bin:/bin")

    def found() -> str:
        library = tmp_path / "lib/libmpi.so.12"
        return mpis.find("./app", None, lambda _: library, lambda _: f"Intel(R) MPI Library {said} for Linux* OS").mpirun

    if folder:
        assert found() == str(tmp_path / folder / "mpirun")
    else:
        with pytest.raises(Refusal, match=f"is Intel MPI {said}, but its launcher was not found"):
            found()


def test_what_is_not_found_is_named(tmp_path, monkeypatch):
    silent = launcher(tmp_path, "mpirun", "hello")
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    nothing = [
        (("./app", None, lambda _: None), "./app is not linked to an MPI; choose one by --mpi"),
        (("./app", "lam"), "--mpi lam: expected openmpi, mpich, intel"),
        (("./app", "intel"), "--mpi intel: no launcher of Intel MPI on PATH"),
        (("./app", str(silent)), "expected a launcher of Open MPI, MPICH or Intel MPI"),
        (("./app", None, lambda _: tmp_path / "libmpi.so", lambda _: ""), "is an unknown MPI"),
        (
            ("./app", None, lambda _: tmp_path / "libmpi.so", lambda _: "Open MPI v9.9.9"),
            "is Open MPI 9.9.9, but its launcher was not found",
        ),
    ]
    for arguments, text in nothing:
        with pytest.raises(Refusal, match=text):
            mpis.find(*arguments)

"""tutti lab: a real lab of 3 nodes as root; for other users, the refusal."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import installed as there
import pytest
from tutti_lab import command as commands
from tutti_lab import machine, session, state
from tutti_lab.layout import Layout

LAYOUT = Layout(3, 10**9)

PROGRAM = """
#include <mpi.h>
#include <stdio.h>
#include <unistd.h>
int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  char name[MPI_MAX_PROCESSOR_NAME]; int rank, length, near, all[16]; MPI_Comm node;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Get_processor_name(name, &length);
  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
  MPI_Comm_size(node, &near);
  MPI_Gather(&rank, 1, MPI_INT, all, 1, MPI_INT, 0, MPI_COMM_WORLD);
  printf("%d %s %d\\n", rank, name, near);
  fflush(stdout);
  if (argc > 1) sleep(1000);
  MPI_Finalize();
  return 0;
}
"""


@pytest.fixture
def program(tmp_path) -> Path:
    openmpi = next(found for found in there.mpis() if found.flavour == "openmpi")
    source = tmp_path / "who.c"
    source.write_text(PROGRAM)
    there.run(openmpi.mpicc, source, "-o", tmp_path / "who")
    return tmp_path / "who"


def surroundings() -> dict[str, str]:
    """The environment for `python -m tutti` with the package of this test."""
    package = str(Path(commands.__file__).parents[1])
    libraries = str(there.PREFIX / "lib")
    return there.environment(PYTHONPATH=package, TUTTI_LIBRARY_DIR=libraries)


def tutti(*words, limit=120, of=("lab",)):
    return subprocess.run(
        [sys.executable, "-m", "tutti", *of, *map(str, words)],
        env=surroundings(),
        capture_output=True,
        text=True,
        timeout=limit,
        stdin=subprocess.DEVNULL,
    )


def good(*words) -> str:
    done = tutti(*words)
    assert done.returncode == 0, f"{words}\n{done.stdout}\n{done.stderr}"
    return done.stdout


def ranks_in(text: str) -> list[str]:
    return sorted(line for line in text.splitlines() if " node" in line)


def staying(program: Path) -> subprocess.Popen:
    """A run with ranks on all nodes, which does not end by itself."""
    words = ["run", "--native", "--", program, "stay"]
    run = subprocess.Popen(
        [sys.executable, "-m", "tutti", "lab", *map(str, words)],
        env=surroundings(),
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    assert run.stdout is not None and " node" in run.stdout.readline()
    parsed = json.loads(good("status", "--json"))
    assert parsed["used_by"] == run.pid and all(row["processes"] for row in parsed["nodes"])
    return run


def interrupted(program: Path, number: int) -> subprocess.Popen:
    """A run that gets a signal before it ends."""
    run = staying(program)
    run.send_signal(number)
    run.wait(30)
    return run


def node_is_a_machine_of_its_own() -> None:
    """All that identifies a machine to an MPI differs between nodes, and from the host."""
    shell = str(state.FOLDER / "nodesh")
    ask = "hostname; cat /proc/sys/kernel/random/boot_id; readlink /proc/self/ns/net"
    seen = [machine.output([shell, "-x", "-o", "A=b", f"node{n}", ask]) for n in (1, 2)]
    own = machine.output(["sh", "-c", ask])
    for one, two, here in zip(*(text.splitlines() for text in (*seen, own)), strict=True):
        assert len({one, two, here}) == 3
    space = ["readlink", "/proc/self/ns/ipc"]
    assert machine.output([shell, "node1", *space]) != machine.output(space)
    # Memory is shared by name within a node only.
    leave = "touch /dev/shm/tutti-test; ls /dev/shm"
    assert machine.output([shell, "10.77.0.1", leave]) == "tutti-test\n"
    assert not Path("/dev/shm/tutti-test").exists()
    assert subprocess.run([shell, "node2", "exit 7"]).returncode == 7
    assert subprocess.run([shell, "node9", "true"], stderr=subprocess.DEVNULL).returncode == 2


def what_stays_is_killed() -> None:
    """A daemon in a separate session does not outlive the run that has started it."""
    shell = str(state.FOLDER / "nodesh")
    begin = "begun=$(mktemp -u); mkfifo $begun"
    daemon = 'setsid sh -c "echo > $begun; exec sleep 1000" >/dev/null 2>&1 &'
    words = [shell, "node2", f"{begin}; {daemon} read line < $begun; rm $begun"]
    ended = session.run(words, LAYOUT, os.environ, 20)
    assert (ended.status, ended.killed) == (0, 1)
    assert machine.processes(["tuttilab-n2"]) == {"tuttilab-n2": []}


def three_nodes(program: Path) -> None:
    """Tests all commands on a lab of 3 nodes."""
    assert ranks_in(good("run", "--native", "--ranks-per-node", 2, "--", program)) == [
        "0 node1 2", "1 node1 2", "2 node2 2", "3 node2 2", "4 node3 2", "5 node3 2",
    ]  # fmt: skip
    words = ("--ranks", "1,0,2", "--mapping", "round-robin")
    under = tutti("run", *words, "--report", "-", "--", program)
    assert ranks_in(under.stdout) == ["0 node1 1", "1 node3 2", "2 node3 2"]
    assert "3 ranks on 2 nodes" in under.stderr  # so says Tutti, which all of them have loaded
    late = tutti("run", "--native", "--timeout", "2", "--", program, "stay")
    assert late.returncode == session.TIMED_OUT and "stopped after 2 s" in late.stderr
    assert interrupted(program, signal.SIGINT).returncode == 130
    assert json.loads(good("status", "--json"))["leftovers"] == []
    # Nobody cleans up after SIGKILL: status shows what is left, and the next run removes it.
    interrupted(program, signal.SIGKILL)
    assert json.loads(good("status", "--json"))["leftovers"]
    assert len(ranks_in(good("run", "--native", "--", program))) == 3
    measured = json.loads(tutti("check", "--json").stdout)
    assert [line["measured"] for line in measured if line["what"].startswith("nodes")] == [3, 3]


def a_tuning_holds_for_the_nodes(rules: Path) -> None:
    """As a report page advises for runs in the lab."""
    mpirun = "tutti lab run --mpi openmpi --nodes 2 --mapping block --"
    words = ["--mpirun", mpirun, "--collective", "barrier", "--budget", "10s", "--output", rules]
    done = tutti("tune", *words, of=())
    assert done.returncode == 0, done.stdout + done.stderr
    assert "They hold for 2 ranks on 2 nodes with openmpi" in done.stdout
    made = json.loads(rules.read_text())["rules"]
    assert made and {(one["collective"], one["p"], one["nodes"]) for one in made} == {("barrier", 2, 2)}


def leave_a_lab_alone() -> None:
    """Skips where a complete lab would be removed; what an incomplete one has left is a failure."""
    found = state.load()
    if found and found.complete:
        pytest.skip("this machine has a lab; tutti lab down removes it")
    assert not machine.existing(), "a lab's leftovers; tutti lab down removes them"


def down_ends_the_run(program: Path) -> None:
    """The run has ended, so no cleanup of its own reaches the nodes of a later lab."""
    run = staying(program)
    done = tutti("down")
    assert done.returncode == 2 and f"in use by process {run.pid}" in done.stderr
    assert good("down", "--force") == "removed\n"
    assert run.wait(30) == 130


@pytest.mark.skipif(os.geteuid() == 0, reason="root is not refused")
def test_other_users_are_refused():
    done = tutti("up", "3")
    assert done.returncode == 2 and "needs root to make 3 nodes" in done.stderr


def need_root() -> None:
    if os.geteuid() != 0:
        pytest.skip("needs root")


def test_a_lab_of_three_nodes(program, tmp_path, monkeypatch):
    need_root()
    leave_a_lab_alone()
    temporary = tmp_path / "tmp"
    temporary.mkdir()
    monkeypatch.setenv("TMPDIR", str(temporary))
    settings = {name: Path("/proc/sys", name).read_text() for name in LAYOUT.settings()}
    try:
        good("up", "3", "--rate", "100mbit", "--switches", "2", "--uplink", "50mbit")
        parsed = json.loads(good("status", "--json"))
        assert parsed["complete"] and [row["switch"] for row in parsed["nodes"]] == [1, 1, 2]
        node_is_a_machine_of_its_own()
        what_stays_is_killed()
        three_nodes(program)
        a_tuning_holds_for_the_nodes(tmp_path / "rules.json")
        assert list(temporary.iterdir()) == []
        down_ends_the_run(program)
    finally:
        tutti("down", "--force")
    assert machine.existing() == [] and not state.FOLDER.exists()
    assert list(temporary.iterdir()) == []
    assert settings == {name: Path("/proc/sys", name).read_text() for name in settings}


def test_what_a_crash_leaves_is_removed(command):
    need_root()
    leave_a_lab_alone()
    bystander = "tuttilabX-n1"  # nearly a lab's name
    machine.output(["ip", "netns", "add", bystander])
    try:
        for step in Layout(2, 10**9).steps()[:2]:
            for words in step[1][:3]:
                machine.output(words)
        state.State(Layout(2, 10**9)).save()
        assert "the lab is not complete" in command("lab", "status").out
        assert "a lab or its leftovers exist" in command("lab", "up", "2").err
        state.forget()
        assert "left over" in command("lab", "status").out
        assert command("lab", "down").out == "removed\n"
        assert machine.existing() == []
        assert (machine.NAMESPACES / bystander).exists()
    finally:
        machine.output(["ip", "netns", "del", bystander])

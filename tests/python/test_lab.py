"""tutti lab: its plans, its runs and its refusals."""

from __future__ import annotations

import json
import os
import re
import subprocess
import time
from contextlib import nullcontext
from pathlib import Path

import pytest
import typer
from lab_mpis import GBIT, LAYOUT, OPENMPI4, launcher
from reporting import late_rank, line_of, write_report
from tutti import mpis
from tutti.console import Refusal
from tutti_lab import checks, machine, session, state
from tutti_lab import command as commands
from tutti_lab.launch import ProcessMapping
from tutti_lab.layout import Layout

# ---- the command


def test_dry_runs_print_commands_and_need_no_root(command, folder, monkeypatch):
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    done = command("lab", "up", "2", "--rate", "100mbit", "--dry-run")
    lines = done.out.splitlines()
    shape = "htb rate 100000000bit burst 32768b cburst 32768b quantum 65536"
    assert done.status == 0 and done.err == ""
    assert lines[0].startswith("sysctl -w net.ipv4.neigh.default.gc_thresh1=18 ")
    assert "ip link add tuttilab-s0 type bridge" in lines
    assert "ip addr add 10.77.255.254/16 dev tuttilab-s0" in lines
    assert lines[-14:] == [
        "ip netns add tuttilab-n2",
        "ip link add tuttilab-p2 type veth peer name eth0 netns tuttilab-n2",
        "ip link set tuttilab-p2 master tuttilab-s0 up",
        "ip -n tuttilab-n2 addr add 10.77.0.2/16 dev eth0",
        "ip -n tuttilab-n2 link set lo up",
        "ip -n tuttilab-n2 link set eth0 up",
        "ip -n tuttilab-n2 link set dev eth0 gso_max_size 15625",
        "tc -n tuttilab-n2 qdisc add dev eth0 root handle 1: htb default 1",
        f"tc -n tuttilab-n2 class add dev eth0 parent 1: classid 1:1 {shape}",
        "tc -n tuttilab-n2 qdisc add dev eth0 parent 1:1 pfifo limit 4000",
        "ip link set dev tuttilab-p2 gso_max_size 15625",
        "tc qdisc add dev tuttilab-p2 root handle 1: htb default 1",
        f"tc class add dev tuttilab-p2 parent 1: classid 1:1 {shape}",
        "tc qdisc add dev tuttilab-p2 parent 1:1 pfifo limit 4000",
    ]
    assert not folder.exists()


def test_a_dry_run_of_down_removes_nothing_and_needs_no_root(command, folder, monkeypatch):
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    there = [("interface", "tuttilab-s0"), ("namespace", "tuttilab-n1")]
    monkeypatch.setattr(machine, "existing", lambda: there)
    done = command("lab", "down", "--dry-run")
    assert (done.status, done.err) == (0, "")
    assert done.out.splitlines() == ["ip netns del tuttilab-n1", "ip link del tuttilab-s0"]


def test_an_unreadable_state_is_removed(command, folder, quiet_machine, monkeypatch):
    monkeypatch.setattr(machine, "require", lambda work: None)
    folder.mkdir()
    (folder / "state.json").write_text("{")
    assert command("lab", "down").out == "removed\n" and not folder.exists()


def test_who_is_not_root_is_told_what_root_would_do(command, folder, monkeypatch):
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    monkeypatch.setattr(machine, "existing", lambda: [("namespace", "tuttilab-n1")])
    done = command("lab", "up", "3")
    assert (done.status, done.out) == (2, "")
    assert done.err == (
        "tutti: tutti lab needs root to make 3 nodes as network namespaces; "
        "--dry-run shows the commands\n"
    )
    assert "needs root to remove 1" in command("lab", "down").err


def test_what_is_not_there_is_said(command, folder, quiet_machine):
    assert "no lab" in command("lab", "run", "--", "true").err
    assert "no lab" in command("lab", "check").err
    assert command("lab", "status").out == "no lab\n"
    assert command("lab", "down").out == "no lab\n"
    assert json.loads(command("lab", "status", "--json").out)["lab"] is None
    assert command("lab", "run").err.startswith("tutti: lab run needs a COMMAND")


def test_wrong_words_are_refused(command, folder, quiet_machine):
    state.State(LAYOUT, complete=True).save()
    for words, text in (
        (("up", "3", "--rate", "fast"), "expected a rate such as 1gbit"),
        (("up", "3", "--uplink", "1gbit"), "needs --switches"),
        (("up", "3"), "a lab or its leftovers exist"),
        (("run", "--", "no-such-program"), "no-such-program: no such program"),
        (("run", "--", "true"), "true is not linked to an MPI"),
        (("run", "--native", "--report", "-", "--", "true"), "excludes --native"),
        (("run", "--nodes", "4", "--", "true"), "the lab has 3"),
    ):
        done = command("lab", *words)
        assert done.status == 2 and text in done.err, words


def test_a_network_that_the_machine_is_in_is_refused(command, folder, quiet_machine):
    done = command("lab", "up", "3", "--network", "192.168.0.0/16")
    assert done.status == 2 and "eth0 is in 192.168.0.0/24; choose another network" in done.err


def test_networks_behind_a_gateway_are_not_the_machines_own(monkeypatch):
    routes = [{"dst": "default", "gateway": "192.168.0.1", "dev": "eth0"},
              {"dst": "192.168.0.0/24", "dev": "eth0"},
              {"dst": "0.0.0.0/1", "gateway": "10.8.0.1", "dev": "tun0"}]  # fmt: skip
    monkeypatch.setattr(machine, "output", lambda words: json.dumps(routes))
    assert machine.other_networks() == [("eth0", "192.168.0.0/24")]


def test_the_dry_run_of_a_run_shows_the_whole_command(command, folder, quiet_machine, installed,
                                                      tmp_path, monkeypatch):  # fmt: skip
    launcher(tmp_path / "bin", "mpirun", "mpirun (Open MPI) 4.1.4")
    monkeypatch.setenv("PATH", f"{tmp_path}/bin:{os.environ['PATH']}")
    state.State(LAYOUT, complete=True).save()
    words = ("lab", "run", "--nodes", "2", "--mpi", "openmpi", "--dry-run")
    under = command(*words, "--", "true", "--program's own")
    printing, running = under.out.splitlines()
    where = str(folder / "ranks")
    assert printing == f"printf '%s\\n' 10.77.0.1 10.77.0.2 > {where}" and f"--hostfile {where}" in running
    folder.joinpath("ranks").write_text("of another run")
    subprocess.run(["sh", "-c", printing], check=True)
    assert folder.joinpath("ranks").read_text() == "10.77.0.1\n10.77.0.2\n"
    assert f"LD_PRELOAD={installed}/lib/libtutti.so" in under.out
    assert "mpirun -x LD_PRELOAD --mca plm rsh" in under.out
    assert under.out.endswith(" -n 2 true '--program'\"'\"'s own'\n")
    assert "LD_PRELOAD" not in command(*words, "--native", "--", "true").out
    page = command(*words, "--report", str(tmp_path / "run.html"), "--", "true").out
    assert re.search(rf"TUTTI_REPORT={tmp_path}/\.run\.html\.\d+\.json", page), "data of the page"


@pytest.mark.parametrize("target", ["r.json", "r.html", "-"])
def test_a_run_delivers_its_report(command, folder, quiet_machine, installed, tmp_path, monkeypatch, target):
    monkeypatch.chdir(tmp_path)
    launcher(tmp_path / "bin", "mpirun", "mpirun (Open MPI) 4.1.4")
    monkeypatch.setenv("PATH", f"{tmp_path}/bin:{os.environ['PATH']}")
    state.State(LAYOUT, complete=True).save()
    monkeypatch.setattr(machine, "require", lambda work: None)
    monkeypatch.setattr(session, "alone_in", lambda layout: nullcontext({}))
    monkeypatch.setattr(session, "run", lambda *_: session.Ended(0))
    words = ("lab", "run", "--mpi", "openmpi", "--report", target, "--", "true")
    assert "no report was written: " in command(*words).err

    def run(_words, _layout, environment, _limit):
        file = Path(write_report(tmp_path, line_of(late_rank(2, 3, 1))))
        file.rename(environment["TUTTI_REPORT"].replace("%p", "7"))
        return session.Ended(0)

    monkeypatch.setattr(session, "run", run)
    done = command(*words)
    assert done.status == 0 and "tutti run --compare" not in done.err
    assert {"r.json": "", "r.html": "tutti: report: ", "-": "gather"}[target] in done.err
    assert sorted(tmp_path.glob("*r.*")) == ([] if target == "-" else [tmp_path / target])


def test_the_checks_judge():
    seen = {"names": 2, "groups": 1, "bytes": 8 << 20, "seconds": 0.05}
    layout, processes = Layout(2, GBIT), ProcessMapping((1, 1))
    names, groups, scatter = checks.judge(layout, processes, seen)
    assert names.good and not groups.good and "another number of nodes" in groups.advice
    # 4 MiB with headers at 1 Gbit/s are 35 ms.
    assert scatter.meant == pytest.approx(35.08, rel=1e-3) and not scatter.good
    assert checks.judge(layout, processes, {**seen, "seconds": 0.036})[2].good
    with pytest.raises(Refusal, match="wrong data"):
        checks.judge(layout, processes, {**seen, "seconds": -1})


@pytest.mark.parametrize("good", [True, False])
def test_a_check_fails_if_a_value_differs(command, folder, quiet_machine, monkeypatch, good):
    state.State(LAYOUT, complete=True).save()
    link = checks.Line("a link", 900, 1000, "Mbit/s", good, "" if good else "too slow")
    monkeypatch.setattr(checks, "links", lambda *_: [link])
    monkeypatch.setattr(checks, "nodes", lambda *_: [])
    monkeypatch.setattr(machine, "require", lambda work: None)
    monkeypatch.setattr(mpis, "find", lambda *_: OPENMPI4)
    shown = command("lab", "check")
    assert shown.status == (0 if good else 1)
    assert "0.90" in shown.out and ("too slow" in shown.out) == (not good)
    shown = command("lab", "check", "--json")
    assert shown.status == (0 if good else 1)
    (parsed,) = json.loads(shown.out)
    assert (parsed["good"], parsed["ratio"]) == (good, 0.9)


# ---- a run is always ended


def test_a_run_ends_with_its_time(quiet_machine):
    began = time.monotonic()
    ended = session.run(["sleep", "60"], LAYOUT, os.environ, 0.2)
    assert ended.status == session.TIMED_OUT and ended.timed_out and time.monotonic() - began < 10


@pytest.mark.parametrize("program", ["ends", "is stopped"])
def test_only_a_run_that_takes_too_long_is_said_to_be_stopped(capsys, quiet_machine, program):
    words, limit = (["sh", "-c", "exit 124"], 20) if program == "ends" else (["sleep", "60"], 0.2)
    with pytest.raises(typer.Exit) as ended:
        commands._finish(session.run(words, LAYOUT, os.environ, limit), limit)
    assert ended.value.exit_code == 124
    assert capsys.readouterr().err == ("" if program == "ends" else "tutti: stopped after 0.2 s (--timeout)\n")


def test_a_run_hands_on_status_and_output(quiet_machine):
    ended = session.run(["sh", "-c", "echo $X; exit 3"], LAYOUT, {**os.environ, "X": "y"}, 20, True)
    assert (ended.status, ended.output, ended.killed) == (3, "y\n", 0)
    assert session.run(["sh", "-c", "kill -9 $$"], LAYOUT, os.environ, 20).status == 128 + 9


def test_what_a_run_said_before_its_time_was_up_is_kept(quiet_machine):
    ended = session.run(["sh", "-c", "echo waiting; exec sleep 60"], LAYOUT, os.environ, 5, True)
    assert (ended.timed_out, ended.output) == (True, "waiting\n")

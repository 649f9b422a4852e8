"""Platforms and jobs of `tutti simgrid`; they need no SimGrid."""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree

import pytest
from tutti.refusal import Refusal
from tutti.simgrid import platforms, running


def clusters(text: str) -> list[ElementTree.Element]:
    document = ElementTree.fromstring(platforms.platform(text).xml)
    return list(document.iter("cluster"))


@pytest.mark.parametrize("text", list(platforms.MACHINES) + [
    "switch:8", "two-switches:9", "fat-tree:1024", "fat-tree:100:leaf=24,taper=4", "dragonfly:64",
    "dragonfly:100:groups=5,chassis=5,routers=2,per-router=2", "torus:4x4x8", "torus:60",
])  # fmt: skip
def test_a_platform_has_the_requested_nodes(text):
    made = platforms.platform(text)
    names = set()
    for cluster in clusters(text):
        first, last = map(int, cluster.get("radical").split("-"))
        names |= {f"{cluster.get('prefix')}{node}" for node in range(first, last + 1)}
    assert set(made.hosts(made.nodes * 3, 3)) <= names


def test_topologies_multiply_to_the_nodes_of_the_file():
    assert clusters("torus:60")[0].get("topo_parameters") == "5,4,3"
    assert clusters("torus:7")[0].get("topo_parameters") == "7,1,1"
    # 24 nodes on each of 5 leaves; taper 2 halves the links to the top.
    tree = clusters("fat-tree:100:leaf=24,taper=2")[0]
    assert tree.get("topo_parameters") == "2;24,5;1,12;1,1"
    assert tree.get("radical") == "0-119"
    fly = clusters("dragonfly:64")[0]
    assert fly.get("topo_parameters") == "4,1;2,1;4,1;2"


def test_two_switches_share_the_nodes_and_a_trunk():
    first, second = clusters("two-switches:9:trunk=1G,latency=2us")
    assert (first.get("radical"), second.get("radical")) == ("0-4", "5-8")
    text = platforms.platform("two-switches:9:trunk=1G,latency=2us").xml
    assert '<link id="trunk" bandwidth="1e+09Bps" latency="2e-06s"' in text


@pytest.mark.parametrize(("text", "expected"), [
    ("", "expected SHAPE:NODES"),
    ("ring:8", "expected SHAPE:NODES with a shape of switch, two-switches, fat-tree"),
    ("switch", "expected SHAPE:NODES"),
    ("switch:0", "switch=0: expected a whole number from 1"),
    ("switch:many", "switch=many: expected a whole number"),
    ("switch:8:taper=2", "switch has no parameter 'taper=2'; valid parameters: bandwidth"),
    ("switch:8:bandwidth", "switch has no parameter 'bandwidth'"),
    ("switch:8:bandwidth=fast", "bandwidth=fast: expected a positive number with K, M, G, T"),
    ("switch:8:latency=0us", "latency=0us: expected a positive number with ns, us, ms, s"),
    ("fat-tree:64:taper=0.5", "taper=0.5: expected at least 1"),
    ("dragonfly:64:groups=2", "2 groups of 2 chassis of 4 routers with 2 nodes each have 32 nodes"),
    ("torus:4x4", "expected a number of nodes or 3 sides"),
    ("torus:100x100x100", "expected at most 100,000 nodes"),
    ("two-switches:1", "expected at least 2 nodes"),
])  # fmt: skip
def test_bad_platforms_say_what_is_accepted(text, expected):
    with pytest.raises(Refusal) as refused:
        platforms.platform(text)
    assert expected in str(refused.value)


def test_more_ranks_than_a_platform_holds_are_refused():
    with pytest.raises(Refusal, match="9 ranks with --ppn 2 need 5 nodes; it has 4"):
        platforms.platform("switch:4").hosts(9, 2)


def test_the_command_writes_a_platform(command, tmp_path):
    file = tmp_path / "tree.xml"
    done = command("simgrid", "--platform", "fat-tree:64:taper=4", "--output", str(file))
    assert (done.status, done.out) == (0, "")
    assert "FAT_TREE" in file.read_text()
    both = command("simgrid", "--platform", "switch:2", "--output", str(file), "--", "./app")
    assert both.status == 2
    assert "runs nothing; omit ./app" in both.err
    for unused in (["--ppn", "2"], ["--native"], ["--cfg", "bad"]):
        done = command("simgrid", "--platform", "switch:2", "--output", str(file), *unused)
        assert done.status == 2 and f"--output {file} excludes {unused[0]}" in done.err


@pytest.mark.parametrize(("words", "expected"), [
    ((), "--platform is missing"),
    (("--platform", "switch:2"), "no program; e.g. tutti simgrid"),
    (("--platform", "switch:2", "--selector", "lam", "--", "./app"), "--selector lam: expected ompi"),
])  # fmt: skip
def test_bad_commands_say_what_is_accepted(command, words, expected):
    done = command("simgrid", *words)
    assert done.status == 2
    assert expected in done.err


@pytest.mark.parametrize(("words", "ranks", "ppn"), [
    (("fat-tree:64:taper=2", "--ppn", "16"), 1024, 16),
    (("gbe48",), 48, 1),
    (("vsc3-100x16",), 1600, 16),
    (("vsc3-100x16", "--ppn", "2", "--ranks", "5"), 5, 2),
])  # fmt: skip
def test_ranks_fill_the_nodes_unless_their_number_is_given(command, monkeypatch, words, ranks, ppn):
    jobs = []
    monkeypatch.setattr(running, "run", lambda job: jobs.append(job) or 7)
    assert command("simgrid", "--platform", *words, "--", "./app", "--ppn").status == 7
    (job,) = jobs
    assert (job.ranks, job.ppn, list(job.command)) == (ranks, ppn, ["./app", "--ppn"])


def settings_of(**changes) -> dict[str, str]:
    """SimGrid's settings for a program on 2 nodes."""
    job = running.Job(("app",), platforms.platform("switch:2"), 2, 1, **changes)
    words = running.options(job, Path("hosts"))
    given = [word.removeprefix("--cfg=") for word in words if word.startswith("--cfg=")]
    return dict(word.split(":", 1) for word in given)


def test_a_selector_chooses_for_the_mpis_own_collectives():
    assert settings_of()["smpi/coll-selector"] == "ompi"
    assert settings_of()["smpi/reduce_scatter"] == "mpich", "its own deadlocks"
    for selector in ("mpich", "mvapich2", "impi", "default"):
        given = settings_of(selector=selector)
        assert given["smpi/coll-selector"] == selector and "smpi/reduce_scatter" not in given


def test_given_settings_replace_those_of_the_command():
    assert settings_of()["smpi/simulate-computation"] == "no"
    given = settings_of(settings=("smpi/simulate-computation:yes", "smpi/other:1:2"))
    assert (given["smpi/simulate-computation"], given["smpi/other"]) == ("yes", "1:2")
    for wrong in ("smpi/np", "Smpi/np:2", ":2"):
        with pytest.raises(Refusal, match=f"--cfg {wrong}: expected KEY:VALUE"):
            settings_of(settings=(wrong,))


@pytest.mark.parametrize(("script", "limit", "text"), [
    ("echo first >&2; echo last >&2; exit 3", 60, "app on switch:2: status 3: last"),
    ("exec sleep 60", 0.1, "app on switch:2: not done after 0 s"),
])  # fmt: skip
def test_a_program_without_a_result_is_named(monkeypatch, tmp_path, script, limit, text):
    monkeypatch.setattr(running, "command_of", lambda job, folder: (["sh", "-c", script], {}))
    monkeypatch.setattr(running.tempfile, "tempdir", str(tmp_path))
    with pytest.raises(Refusal) as refused:
        running.output(running.Job(("app",), platforms.platform("switch:2"), 2, 1), timeout=limit)
    assert str(refused.value) == text
    assert not list(tmp_path.iterdir())


def test_a_signal_to_end_reaches_the_simulator(monkeypatch, tmp_path):
    script = "trap 'exit 9' TERM; kill -TERM $PPID; while :; do sleep 0.02; done"
    monkeypatch.setattr(running, "command_of", lambda job, folder: (["sh", "-c", script], {}))
    monkeypatch.setattr(running.tempfile, "tempdir", str(tmp_path))
    job = running.Job(("app",), platforms.platform("switch:2"), 2, 1)
    assert running.run(job) == 9
    assert not list(tmp_path.iterdir())


def test_the_signal_that_ended_a_simulation_is_named(monkeypatch, capfd):
    monkeypatch.setattr(running, "command_of", lambda job, folder: (["sh", "-c", "kill -FPE $$"], {}))
    job = running.Job(("./app",), platforms.platform("switch:2"), 2, 1)
    assert running.run(job) == 136
    assert capfd.readouterr().err == "tutti: ./app: status 136: SIGFPE (Floating point exception)\n"
    with pytest.raises(Refusal, match=r"^./app on switch:2: status 136: SIGFPE \(Floating"):
        running.output(job)

"""Scripts of bench/ that measure: what they run, skip and refuse."""

from __future__ import annotations

import contextlib
import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import typer
from installed import ROOT

sys.path.append(str(ROOT / "bench"))

import compare_builds
import lab_fft
import lab_grid
import lab_job
import lab_levels
import lab_place
import lab_programs
import lab_rma
import lab_selection
import lab_traff
import scale_cost
import simgrid_auto
from tutti import mpis
from tutti.refusal import Refusal
from tutti_lab.layout import Layout
from tutti_lab.state import State


def benchmark(known: list[str], fault: str = ""):
    """A tutti-bench that knows some algorithms and takes 2 ranks or more."""

    def start(prefix: Path, ranks: int, words: list[str]) -> subprocess.CompletedProcess[str]:
        names = [after for word, after in zip(words, words[1:], strict=False) if word == "--algorithm"]
        refused = [f"tutti-bench: --algorithm {name}: unknown" for name in names if name not in known]
        text = "1 rank, so there is nothing to compare" if ranks == 1 else fault or "".join(refused[:1])
        return subprocess.CompletedProcess([], 2 if text else 0, "", text)

    return start


def test_builds_are_compared_with_the_algorithms_that_both_know(monkeypatch):
    monkeypatch.setattr(compare_builds, "start", benchmark(["native", "bruck:k=4"]))
    known = compare_builds.known_to(Path("/p"), 4, "alltoall", ["native", "new", "bruck:k=4", "newer"])
    assert known == ["native", "bruck:k=4"]


def test_a_build_that_fails_otherwise_is_no_list_of_algorithms(monkeypatch):
    monkeypatch.setattr(compare_builds, "start", benchmark(["native"], "tutti-bench: no memory"))
    for ranks, text in ((4, "no memory"), (1, "nothing to compare")):
        with pytest.raises(typer.BadParameter, match=text):
            compare_builds.known_to(Path("/p"), ranks, "alltoall", ["native"])
    monkeypatch.setattr(compare_builds, "start", benchmark([], "tutti-bench: unknown command"))
    assert compare_builds.known_to(Path("/p"), 4, "alltoall", ["native"]) == []


@pytest.mark.parametrize(
    ("digests", "rounds"),
    [
        (["a1 digest b2", "a1 digest b2", "a1 digest b2"], 1),
        (["a1", "b2", "a1"], 0),
        (["a1 digest b2", "b2 digest a1", "a1 digest b2"], 0),
        (["a1", "a1", "a1", "a1", "b2", "a1"], 1),
    ],
)
def test_a_round_with_different_results_is_no_measurement(tmp_path, monkeypatch, digests, rounds):
    outputs = iter(digests)
    monkeypatch.setattr(lab_job.state, "load", lambda: None)
    monkeypatch.setattr(lab_programs, "run",
                        lambda *_: {"output": f"total 1 s, digest {next(outputs)}", "tuning": {}})  # fmt: skip
    file = tmp_path / "program.json"
    with pytest.raises((typer.Exit, StopIteration)):  # no outputs are left after equal ones
        lab_programs.measure(file, ["./a"], rounds=3)
    kept = json.loads(file.read_text())["runs"]["native"] if file.exists() else []
    assert len(kept) == rounds


def test_every_other_round_is_in_reverse_order(tmp_path, monkeypatch):
    ran = []
    monkeypatch.setattr(lab_job.state, "load", lambda: State(Layout(4, 10**8), complete=True))
    links = {"rate": "100 Mbit/s", "switches": "1", "uplink": "100 Mbit/s"}
    monkeypatch.setattr(mpis, "find", lambda program, chosen: OPENMPI4)
    monkeypatch.setattr(lab_fft, "run", lambda program, nodes, name, *_: ran.append(name) or [1, 1, 1, 1])
    lab_fft.measure(Path("fft"), tmp_path / "fft.json", nodes=8, iterations=4, rounds=2)
    assert ran == [*lab_fft.ROWS, *reversed(lab_fft.ROWS)]
    document = json.loads((tmp_path / "fft.json").read_text())
    assert list(document["times"]) == list(lab_fft.ROWS)
    assert document["metadata"] == {"library": "Open MPI 4.1.4"} | links
    ran.clear()

    def run(words, place, contender, rules):
        ran.append(contender)
        assert place[-2:] == ["--timeout", "60"]
        return {"output": "total 1.5 s", "tuning": {}}

    monkeypatch.setattr(lab_programs, "run", run)
    lab_programs.measure(tmp_path / "program.json", ["./a"], rounds=3, limit=60)
    turn = ["native", "auto", lab_programs.REPORTED]
    assert ran == [*turn, *reversed(turn), *turn]
    document = json.loads((tmp_path / "program.json").read_text())
    assert list(document["runs"]) == turn and document["metadata"] == {"mapping": "block"} | links


def test_what_exploring_cost_is_told_by_collective_and_class():
    case = {"collective": "bcast", "bytes": [5, 8], "selected": "linear", "calls": 100, "explored": 4,
            "exploring": 0.02, "saved": 0.5, "candidates": [{"median": 0.001}, {"median": 0.0005}]}  # fmt: skip
    report = {
        "calls": [{"collective": "bcast", "elapsed": {"sum": 1.5}}, {"collective": "bcast", "elapsed": {"sum": 0.5}},
                  {"collective": "scan", "elapsed": {"sum": 0.1}}],
        "tuning": {"exploring": 0.06, "method": "median", "cases": [case],
                   "collectives": [{"collective": "bcast", "exploring": 0.06}]},
    }  # fmt: skip
    kept = lab_programs.exploration(report)
    assert kept["exploring"] == 0.06 and "method" not in kept
    assert kept["collectives"][0] == {"collective": "bcast", "seconds": 2.0, "exploring": 0.06}
    runs = {"native": [{"seconds": 3.0, "tuning": {}}], lab_programs.REPORTED: [{"seconds": 2.0, "tuning": kept}]}
    rows = lab_programs.losses([{"words": ["a"], "nodes": 8, "per_node": 1, "runs": runs}])
    assert "| `a` | bcast | 2.00 | 60.0 (60.0) | 3.0 % | 5 to 8 B | 100 | 4 | 20.00 | 20.0 % | `linear` |" in rows
    assert "| `a` | scan | 0.10 | 0.0 (0.0) | 0.0 % |  |  |  |  |  |  |" in rows
    assert lab_programs.exploration({}) == {}


def test_a_part_without_sizes_is_left_out(tmp_path, monkeypatch):
    monkeypatch.setenv("TUTTI_DISTANCES", "")
    ran = {}
    monkeypatch.setattr(lab_place, "run_in_lab", lambda path, words, **job: ran.update({path.name: words}))
    lab_place.measure(tmp_path, seeds="1", largest=16)
    assert list(ran) == ["lab-distances-openmpi-8.json", "lab-place-openmpi-8-1-small.json"]
    words = ran["lab-place-openmpi-8-1-small.json"]
    assert words[words.index("--bytes") + 1] == "8192,32768,131072"


# What exists

OPENMPI4 = mpis.Mpi("openmpi", "4.1.4", "/usr/bin/mpirun")
MPICH5 = mpis.Mpi("mpich", "5.0.2", "/opt/bin/mpiexec")
RESULTS = {"metadata": {"library": "Open MPI v4.1.4, package: Debian OpenMPI", "repetitions": "10"}}
MEASURE = {
    "lab-gather-%s-8-1000mbit-0ms.json": lambda *of, **by: lab_grid.measure(
        "gather", *of, nodes=8, rate=1000, delays="0", **by
    ),
    "lab-levels-%s-2x1-bcast.json": lambda *of, **by: lab_levels.measure(
        *of, shapes="2x1", collectives="bcast", **by
    ),
    "lab-place-%s-8-1-small.json": lambda *of, **by: lab_place.measure(*of, seeds="1", largest=16, **by),
    "lab-rma-%s-2x1.json": lambda *of, **by: lab_rma.measure(*of, shapes="2x1", **by),
    "lab-traff-scatterv-%s-2x1.json": lambda *of, **by: lab_traff.measure(
        *of, shape="2x1", command=["scatterv"], repetitions=10, **by
    ),
    "selection-%s-8x1-bcast.json": lambda *of, **by: lab_selection.measure(*of, collective=["bcast"], **by),
}
"""By the name of a file with results: the script that measures it."""


@pytest.fixture
def lab(monkeypatch):
    """A lab of 1 Gbit/s in which every job writes RESULTS."""
    for name in ("TUTTI_DISTANCES", "TUTTI_MACHINE"):
        monkeypatch.setenv(name, "")
    monkeypatch.setattr(lab_job.state, "load", lambda: State(Layout(48, 10**9), complete=True))
    for module in (lab_grid, lab_job, lab_levels, lab_place, lab_rma, lab_selection, lab_traff):
        monkeypatch.setattr(module, "run_in_lab", lambda path, *_, **__: path.write_text(json.dumps(RESULTS)))


@pytest.mark.parametrize("name", MEASURE)
def test_files_are_named_after_the_mpi_and_those_of_another_one_are_refused(lab, tmp_path, monkeypatch, name):
    MEASURE[name](tmp_path, mpi="mpich")
    MEASURE[name](tmp_path, mpi="/opt/bin/mpiexec", label="mpich5")
    assert (tmp_path / (name % "mpich")).is_file() and (tmp_path / (name % "mpich5")).is_file()
    others = [path.name for path in tmp_path.iterdir() if "mpich" not in path.name]
    machines = sorted(path.name for path in tmp_path.glob("machine-*"))
    assert not others and all(machine.endswith("-1000mbit") for machine in machines)
    assert len(machines) == (0 if name.startswith(("lab-place", "lab-traff", "selection")) else 2)
    with pytest.raises(typer.BadParameter, match="expected a --label beside --mpi /opt/bin/mpiexec"):
        MEASURE[name](tmp_path, mpi="/opt/bin/mpiexec")
    is_free = name.startswith("selection")  # its page divides the names otherwise
    with contextlib.nullcontext() if is_free else pytest.raises(typer.BadParameter, match="without -"):
        MEASURE[name](tmp_path, mpi="/opt/bin/mpiexec", label="mpich-5")
    monkeypatch.setattr(mpis, "find", lambda program, chosen: MPICH5)
    with pytest.raises(typer.BadParameter, match="with library Open MPI 4.1.4, not MPICH 5.0.2; expected another"):
        MEASURE[name](tmp_path, mpi="mpich")


def test_results_of_other_options_are_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(mpis, "find", lambda program, chosen: OPENMPI4)
    path = tmp_path / "results.json"
    assert not lab_job.is_measured(path, "openmpi", repetitions=10)
    path.write_text(json.dumps(RESULTS))
    assert lab_job.is_measured(path, "openmpi", repetitions=10, settle=500), "older files lack some"
    with pytest.raises(typer.BadParameter, match="measured with repetitions 10, not 25; expected another"):
        lab_job.is_measured(path, "openmpi", repetitions=25)

    def find(program, chosen):
        raise Refusal("no launcher of MPICH on PATH")

    monkeypatch.setattr(mpis, "find", find)
    with pytest.raises(typer.BadParameter, match="no launcher of MPICH"):
        lab_job.is_measured(path, "mpich")


@pytest.mark.parametrize("name", ["results.json", "lab-distances-openmpi-8.json"])
@pytest.mark.parametrize(
    ("other", "text"),
    [
        (Layout(4, 10**9, 2, 10**8), ""),
        (Layout(4, 10**8, 2, 10**8), "rate 1 Gbit/s, not 100 Mbit/s"),
        (Layout(4, 10**9), "switches 2, not 1"),
        (Layout(4, 10**9, 2), "uplink 100 Mbit/s, not 1 Gbit/s"),
    ],
)
def test_results_of_a_lab_with_other_links_are_refused(tmp_path, monkeypatch, name, other, text):
    monkeypatch.setattr(mpis, "find", lambda program, chosen: OPENMPI4)
    monkeypatch.setattr(lab_job.state, "load", lambda: State(other, complete=True))
    links = {"rate": "1 Gbit/s", "switches": "2", "uplink": "100 Mbit/s"}
    document = {"metadata": {**RESULTS["metadata"], **links}}
    if "distances" in name:
        document = {"schema": "tutti-distances-1", "metadata": links}
    path = tmp_path / name
    path.write_text(json.dumps(document))
    with pytest.raises(typer.BadParameter, match=text) if text else contextlib.nullcontext():
        assert lab_job.is_measured(path, "openmpi")


def test_the_rate_of_the_grid_is_that_of_the_lab(lab, tmp_path):
    with pytest.raises(Refusal, match="--rate 100: the lab's links have 1 Gbit/s"):
        lab_grid.measure("gather", tmp_path, nodes=8, delays="0")
    assert not list(tmp_path.iterdir())


def test_a_command_that_is_not_of_the_paper_is_refused(tmp_path):
    with pytest.raises(typer.BadParameter, match="--command bcast: expected gatherv, scatterv, guidelines"):
        lab_traff.measure(tmp_path, command=["gatherv", "bcast"])


def test_without_a_lab_no_machine_is_measured(tmp_path, monkeypatch):
    monkeypatch.setattr(lab_job.state, "load", lambda: None)
    with pytest.raises(Refusal, match="no lab; make one"):
        lab_job.use_machine(tmp_path, "mpich", "2x1", "tutti-bench", nodes=2)


def test_machines_of_labs_with_other_links_are_others(lab, tmp_path, monkeypatch):
    for layout in (Layout(8, 10**8), Layout(8, 10**8, 2), Layout(8, 10**8, 2, 10**7)):
        monkeypatch.setattr(lab_job.state, "load", lambda layout=layout: State(layout, complete=True))
        lab_job.use_machine(tmp_path, "mpich", "8x1", "tutti-bench", nodes=8)
    names = ["100mbit", "100mbit-2x100mbit", "100mbit-2x10mbit"]
    assert {path.name for path in tmp_path.iterdir()} == {f"machine-mpich-8x1-{name}" for name in names}


# The selection


def test_headings_name_the_platform_where_two_would_be_alike():
    tree = {"library": "SMPI", "platform": "fat-tree:8:taper=2"}
    torus = {"library": "SMPI", "platform": "torus:8"}
    mpi = {"library": "Open MPI v4.1.4, package"}
    groups = {"fat-tree-8x6": tree, "torus-8x6": torus, "fat-tree-4x2": tree, "openmpi-8x1": mpi,
              "openmpi-8x1-rules": mpi, "openmpi-8x1-alone": mpi}  # fmt: skip
    assert list(lab_selection.titles(groups).values()) == [
        "Simulated by SimGrid, fat-tree (`fat-tree:8:taper=2`), 8x6",
        "Simulated by SimGrid, torus (`torus:8`), 8x6",
        "Simulated by SimGrid, 4x2",
        "Open MPI v4.1.4, 8x1",
        "Open MPI v4.1.4, 8x1, rules of `tutti tune`",
        "Open MPI v4.1.4, 8x1, beside native only",
    ]


def test_results_of_another_platform_are_refused(tmp_path, monkeypatch):
    monkeypatch.setenv("TUTTI_MACHINE", "")
    ran = []
    monkeypatch.setattr(lab_selection, "run_simulated", lambda path, *rest, **job: ran.append(path.name))
    kept = tmp_path / "selection-fat-tree-8x1-scan.json"
    kept.write_text(json.dumps({"metadata": {"platform": "fat-tree:8"}}))

    def measure(platform: str) -> None:
        lab_selection.measure(tmp_path, platform=platform, collective=["bcast", "scan"])

    measure("fat-tree")
    assert ran == ["selection-fat-tree-8x1-bcast.json"]
    with pytest.raises(typer.BadParameter, match="with platform fat-tree:8, not fat-tree:8:taper=4"):
        measure("fat-tree:taper=4")
    assert len(ran) == 1, "nothing is measured"


# What SimGrid's selections are compared with


@pytest.mark.parametrize("retry", [False, True])
def test_failed_samples_are_measured_again_if_that_is_wanted(tmp_path, monkeypatch, retry):
    group = ("switch:2", 1, "bcast", "8,16")
    monkeypatch.setattr(simgrid_auto, "plan", lambda: [group])
    monkeypatch.setattr(simgrid_auto, "SELECTORS", ("ompi",))
    commits = []
    monkeypatch.setattr(simgrid_auto, "commit", lambda: commits.append(1) or "abc")
    measured = []

    def measure(program, group, selector, sizes, limit, library):
        measured.append((sizes, library))
        return {}

    monkeypatch.setattr(simgrid_auto, "measure", measure)
    file = tmp_path / "samples.json"
    file.write_text(json.dumps({simgrid_auto.key(group, "ompi", "8"): "crashed"}))
    monkeypatch.setattr(simgrid_auto.running, "check", lambda word: None)
    assert simgrid_auto.main(["run", *(["--retry"] if retry else []), "program", str(file)]) == 0
    assert measured == ([("8", "abc")] if retry else []) + [("16", "abc")]
    assert len(commits) == 1
    assert simgrid_auto.key(group, "ompi", "8") in json.loads(file.read_text())


def test_outside_a_checkout_nothing_is_measured(tmp_path, monkeypatch):
    monkeypatch.setattr(simgrid_auto, "SOURCE", tmp_path)
    monkeypatch.setattr(simgrid_auto.running, "check", lambda word: None)
    with pytest.raises(SystemExit, match="expected a checkout of Tutti"):
        simgrid_auto.run("program", tmp_path / "samples.json", 1, retry=False)
    assert not list(tmp_path.iterdir())


def test_a_program_that_cannot_start_leaves_no_samples(tmp_path, monkeypatch):
    monkeypatch.setattr(simgrid_auto.running, "smpimain", Path)
    monkeypatch.setattr(simgrid_auto.running, "front", Path)
    with pytest.raises(Refusal, match="/none/tutti-selection: no such program"):
        simgrid_auto.run("/none/tutti-selection", tmp_path / "samples.json", 1, retry=False)
    assert not list(tmp_path.iterdir())


# Costs on many ranks


@pytest.mark.parametrize("ranks", ["64", "64,64", "64,x"])
def test_fewer_than_two_numbers_of_ranks_have_no_growth(tmp_path, monkeypatch, ranks):
    monkeypatch.setattr(scale_cost, "SAMPLES", tmp_path / "samples.json")
    with pytest.raises(Refusal, match=f"RANKS {ranks}: expected"):
        scale_cost.main(["run", str(tmp_path), ranks])
    assert not list(tmp_path.iterdir())


def test_the_tables_of_costs_have_what_was_measured():
    found = json.loads(scale_cost.SAMPLES.read_text())
    assert "\n".join(scale_cost.sections(found)) in scale_cost.PAGE.read_text()


def test_growth_follows_the_law_of_the_two_largest_numbers_of_ranks():
    ranks = [256, 1024]
    for name, values in {
        "constant": [500.0, 501.0],
        "log p": [800.0, 1000.0],
        "p": [1000 + 12.0 * p for p in ranks],
    }.items():
        assert scale_cost.law(ranks, values) == name
    assert scale_cost.at(4096, ranks, [800.0, 1000.0]) == pytest.approx(1200)
    assert scale_cost.at(4096, ranks, [1000 + 12.0 * p for p in ranks]) == pytest.approx(50152)


# results.sh


def test_each_mpi_runs_its_own_benchmark(tmp_path):
    script = tmp_path / "bench" / "results.sh"
    programs = tmp_path / "build" / "bin"
    script.parent.mkdir()
    programs.mkdir(parents=True)
    shutil.copy(ROOT / "bench" / "results.sh", script)
    (script.parent / "results.py").touch()
    for mpi in ("mpich", "openmpi"):
        (programs / f"tutti-bench-{mpi}").touch()
        (programs / f"tutti-bench-{mpi}").chmod(0o755)
    settings = {"PATH": "/usr/bin:/bin", "RESULTS_RUN": "echo"}
    shown = subprocess.run(["sh", script, tmp_path / "build"], env=settings, capture_output=True,
                           text=True, check=True).stdout  # fmt: skip
    for mpi in ("mpich", "openmpi"):
        lines = [line for line in shown.splitlines() if line.endswith(f"-{mpi}.json")]
        assert len(lines) == 4 and all(f"/tutti-bench-{mpi} " in line for line in lines)


@pytest.mark.parametrize("words", [[], ["."], ["/none/build"]])
def test_a_folder_without_a_build_is_refused(tmp_path, words):
    shown = subprocess.run(["sh", ROOT / "bench" / "results.sh", *words], capture_output=True, text=True,
                           check=False, cwd=tmp_path)  # fmt: skip
    assert shown.returncode == 2
    assert f"no bin/tutti-bench-mpich or tutti-bench-openmpi in {(words or ['.'])[0]}; expected" in shown.stderr

"""What a report page advises."""

from __future__ import annotations

import shlex

from reporting import late_rank, line_of, tuning
from tutti import pages, reports
from tutti.advice import Known, advice_of, nonblocking_calls
from tutti.site_totals import totals_of


def advice(*lines: dict, **known) -> list[str]:
    sites = [reports.Site(n, line, None) for n, line in enumerate(lines, 1)]
    values = {"command": ["mpirun", "-n", "4", "./app"], "ranks": 4, **known}
    return [one.command for one in advice_of(totals_of(sites), Known("run.html", **values))]


MOVING = {"calls": 3, "waiting": 0.01, "held": 0.0, "moving": 0.115}


def test_advice_is_a_command_to_paste(tmp_path):
    moving = line_of(late_rank(2, 3, 1), parts=MOVING)
    waits = {**moving, "parts": {"calls": 3, "waiting": 0.12, "held": 0.0, "moving": 0.001}}
    assert advice(moving) == [
        "tutti tune --mpirun 'mpirun -n 4' --report run.html --budget 10m\n"
        "tutti run --rules rules.json -- mpirun -n 4 ./app",
        "tutti run --compare -- mpirun -n 4 ./app",
    ]
    assert advice(waits)[0] == "tutti explain --report run.html --site 1"
    assert advice(moving, seconds=100.0)[0].startswith("tutti run --compare"), "too little to gain"
    assert "-- mpirun -n 4 ./app" in advice(moving, command=[])[0]
    ringing = {**moving, "algorithm": "ring"}
    (tmp_path / "hosts").touch()
    (tmp_path / "app").touch(mode=0o755)
    lists = ["mpirun", "--hostfile", str(tmp_path / "hosts"), "-n", "4", str(tmp_path / "app")]
    assert f"--mpirun '{shlex.join(lists[:-1])}' " in advice(moving, command=lists)[0]
    export = ["mpirun", "-x", "LD_LIBRARY_PATH=/opt/lib", "-n", "4", str(tmp_path / "app")]
    assert f"--mpirun '{shlex.join(export[:-1])}' " in advice(moving, command=export)[0]
    for words, start in {
        "flux run -n 2 ls -in x": "flux run -n 2",
        "srun --chdir=/scratch -n 2 ./none/app": "srun --chdir=/scratch -n 2",
        "mpirun -n 2 ls : -n 2 ls": "mpirun -n 4",
        "mpirun -n 2 none": "mpirun -n 4",
    }.items():
        assert f"--mpirun '{start}' " in advice(moving, command=words.split())[0]
    lab = ["tutti", "lab", "run", "--nodes", "4", "--"]
    assert advice(moving, command=["./app"], lab=lab) == [
        "tutti tune --mpirun 'tutti lab run --nodes 4 --' --report run.html --budget 10m\n"
        "TUTTI_RULES=rules.json tutti lab run --nodes 4 -- ./app",
    ]
    assert advice(ringing) == ["tutti run --compare -- mpirun -n 4 ./app"]
    assert advice() == []


def test_what_tutti_tune_refuses_is_not_advised():
    moving = line_of(late_rank(2, 3, 1), parts=MOVING)
    compare = ["tutti run --compare -- mpirun -n 4 ./app"]
    assert advice(moving, is_partial=True) == advice({**moving, "collective": "rma_bcast"}) == compare


def test_calls_without_time_are_no_waits():
    none = {"elapsed": {"mean": 0.0, "sum": 0.0}, "algorithm": "ring"}
    assert advice(line_of(late_rank(2, 3, 1), **none)) == ["tutti run --compare -- mpirun -n 4 ./app"]


def test_advice_says_what_nonblocking_calls_lack():
    moving = line_of(late_rank(2, 3, 1), parts=MOVING)
    counted = [{"function": "MPI_Ibcast", "calls": 30}, {"function": "MPI_Ineighbor_alltoall", "calls": 99},
               {"function": "MPI_Neighbor_allgather", "calls": 99}, {"function": "MPI_Igather", "calls": 6}]  # fmt: skip
    assert nonblocking_calls({"not_handled": counted}) == 36
    assert nonblocking_calls({}) == nonblocking_calls({"not_handled": None}) == 0
    assert advice(moving, nonblocking=12) == advice(moving), "3 blocking calls of 4 ranks are as many"
    assert advice(moving, nonblocking=13) == ["", *advice(moving)]
    (alone,) = advice_of([], Known("run.html", nonblocking=1))
    assert alone.why.startswith("100 % of the collective calls are nonblocking") and not alone.command


def test_on_the_terminal_advice_may_have_no_command(capsys):
    counted = [{"function": "MPI_Ibcast", "calls": 8}]
    pages._print_next([{"calls": [], "not_handled": counted, "ranks": 4}], ["mpirun"], 1.0, ())
    shown = capsys.readouterr().err
    assert shown.startswith("\nNext: 100 % of the collective calls") and shown.endswith("TUTTI_Gather_init.\n")


def test_advice_names_the_candidate_that_could_save_most():
    moving = line_of(late_rank(2, 3, 1), parts=MOVING)
    (case,) = tuning()["cases"]
    assert len(advice(moving, cases=[case])) == 2, "the selected one needs no request"
    table = {"candidate": "hierarchical(ring,leaders=2)", "seconds": 0.1, "why": "too few calls"}
    first = advice(moving, cases=[case, {**case, "on_table": table}])[0]
    assert first == (
        "tutti run --compare --allgather 'hierarchical(ring,leaders=2)' -- mpirun -n 4 ./app"
    )
    little = {**case, "on_table": {**table, "seconds": 0.001}}
    assert len(advice(moving, cases=[little])) == 2

"""Tuning for the calls of a report, with a simulated tutti-bench."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from reporting import late_rank, line_of, write_report
from simulated_bench import JOB, Bench, Machine, linear
from tutti import _engine, tuning_run
from tutti.cli import app
from tutti.commands.tune_report import program_of
from tutti.refusal import Refusal
from tutti.tuning import Tuner
from tutti.tuning_blocks import class_end
from tutti.tuning_calls import calls_of, check_ranks, replays_of
from tutti.tuning_cells import Cell, Measured
from tutti.tuning_rules import rules_of
from typer.testing import CliRunner


def size_of(size: int, calls: int, seconds: float, **changes: Any) -> dict[str, Any]:
    one = {"p": 8, "bytes": size, "calls": calls, "irregularity": 1.0, "seconds": seconds, "root": -1}
    return one | changes


def line(collective: str, *sizes: dict[str, Any], site: str = "app: main", **changes: Any) -> Any:
    calls = sum(size["calls"] for size in sizes)
    seconds = sum(1e-3 * size["calls"] * size["p"] / 8 for size in sizes)
    made = {"calls": calls, "elapsed": {"mean": 1e-3, "sum": seconds}, "moving": {"mean": 5e-4}, **changes}
    return line_of(None, collective=collective, site=site, sizes=list(sizes), **made)


def report_of(*lines: Any) -> list[dict[str, Any]]:
    return [{"format": 2, "ranks": 8, "mpi": "Open MPI v4.1.4", "calls": list(lines)}]


def test_lines_of_one_site_count_together_whatever_ran() -> None:
    native = line("bcast", size_of(1000, 30, 0.03), algorithm="native")
    tried = line("bcast", size_of(1024, 10, 0.01), algorithm="chain")
    (calls,) = calls_of(report_of(native, tried))
    assert (calls.calls, calls.bytes, calls.most) == (40, 1006, 1024)
    assert calls.seconds == pytest.approx(40e-3)
    assert calls.moved == pytest.approx(30 * 5e-4)


def test_a_line_is_divided_by_the_times_of_its_sizes() -> None:
    calls = calls_of(report_of(line("bcast", size_of(8, 10, 0.1), size_of(4096, 30, 0.3))))
    assert [(one.bytes, round(one.seconds, 9)) for one in calls] == [(4096, 0.03), (8, 0.01)]


def test_sizes_that_a_line_does_not_list_have_their_share_of_its_time() -> None:
    rest = {"calls": 10, "rank_seconds": 8 * 0.1}
    report = report_of(line("bcast", size_of(8, 30, 0.3), elapsed={"mean": 1e-3, "sum": 0.04}, other_sizes=rest))
    listed, others = calls_of(report)
    assert (listed.calls, listed.seconds) == (30, pytest.approx(0.03))
    assert (others.calls, others.seconds) == (10, pytest.approx(0.01))
    assert listed.is_tunable() and not others.is_tunable()
    assert [one.calls for one in replays_of([listed, others], 8, ["bcast"])] == [30]


def test_calls_on_fewer_ranks_count_by_their_share_of_the_ranks() -> None:
    (calls,) = calls_of(report_of(line("bcast", size_of(8, 100, 0.1, p=4))))
    assert calls.seconds == pytest.approx(100 * 1e-3 * 4 / 8)


def test_what_takes_less_than_one_percent_is_left_out() -> None:
    calls = calls_of(
        report_of(
            line("bcast", size_of(8, 985, 1.0)),
            line("reduce", size_of(8, 6, 1.0)),
            line("reduce", size_of(8, 6, 1.0), site="app: other"),
            line("gather", size_of(8, 3, 1.0)),
        )
    )
    found = replays_of(calls, 8, ["bcast", "reduce", "gather"])
    # The two sites of the reduce have 1.2 % together.
    assert [(one.collective, len(one.sites)) for one in found] == [("bcast", 1), ("reduce", 2)]
    assert replays_of(calls, 8, ["gather"]) == []
    assert replays_of(calls, 4, ["bcast"]) == []


def test_calls_without_data_and_one_sided_ones_are_left_out() -> None:
    calls = calls_of(
        report_of(
            line("bcast", size_of(0, 10, 1.0)),
            line("rma_bcast", size_of(8, 10, 1.0)),
            line("barrier", size_of(0, 10, 1.0)),
            line("allreduce", size_of(8, 10, 1.0, p=1)),
        )
    )
    found = replays_of(calls, 8, _engine.collectives())
    assert [(one.collective, one.size) for one in found] == [("barrier", 0)]
    assert found[0].words(8, 0, -1) == []


def test_sizes_of_a_class_are_one_cell_whose_rule_holds_for_the_class() -> None:
    assert [class_end(size) for size in (0, 1, 2, 3, 4, 5, 1024, 1025)] == [0, 1, 2, 4, 4, 8, 1024, 2048]
    calls = calls_of(report_of(line("bcast", *(size_of(n, 1, 1.0) for n in (1, 2, 3, 1030, 1050)))))
    found = {one.size: one.cell().span for one in replays_of(calls, 8, ["bcast"])}
    assert found == {4: (1, 4), 1040: (1025, 2048)}
    calls = calls_of(report_of(line("bcast", *(size_of(n, 1, 1.0) for n in (8, 9, 32, 33)))))
    found = {one.size: one.cell().span for one in replays_of(calls, 8, ["bcast"])}
    assert found == {8: (5, 8), 12: (9, 16), 32: (17, 32), 36: (33, 64)}


def test_other_numbers_of_ranks_are_refused_by_name() -> None:
    calls = calls_of(report_of(line("bcast", size_of(8, 9, 1.0), size_of(8, 9, 1.0, p=4))))
    check_ranks(calls, 8, 8)
    check_ranks(calls, 4, 8)
    with pytest.raises(Refusal, match=r"--mpirun starts 2 ranks, .* ran 8; .* starts 8, or 4 "):
        check_ranks(calls, 2, 8)


def replay_of(collective: str, size: int, **changes: Any) -> Any:
    calls = calls_of(report_of(line(collective, size_of(size, 10, 1.0, **changes))))
    (found,) = replays_of(calls, 8, [collective])
    return found


def test_the_roots_of_the_calls_are_replayed_by_their_shares() -> None:
    first = line("bcast", size_of(64, 10, 1.0, root=3))
    second = line("bcast", size_of(64, 20, 1.0, root=5), algorithm="chain")
    (found,) = replays_of(calls_of(report_of(first, second)), 8, ["bcast"])
    assert found.main.roots() == [(3, 0.25), (5, 0.75)]
    assert found.words(8, 64, 5) == ["--block", "16", "--root", "5"]
    (root,) = replay_of("allreduce", 64).main.roots()
    assert replay_of("allreduce", 64).words(8, 64, root[0]) == ["--block", "16"]


@pytest.mark.parametrize(
    ("calls_of_roots", "replayed"),
    [
        ([[2, 30]], [(2, 1.0)]),
        ([[7, 3], [0, 97]], [(0, 1.0)]),  # rare ones do not count
        ([[6, 50], [1, 50]], [(1, 0.5), (6, 0.5)]),
        ([[root, 5] for root in range(8)], [(1, 0.25), (3, 0.25), (5, 0.25), (7, 0.25)]),
    ],
)
def test_at_most_four_roots_stand_for_all(
    calls_of_roots: list[list[int]], replayed: list[tuple[int, float]]
) -> None:
    number = sum(calls for _, calls in calls_of_roots)
    size = size_of(64, number, 1.0, root=calls_of_roots[0][0], roots=calls_of_roots)
    (calls,) = calls_of(report_of(line("bcast", size)))
    assert calls.roots() == replayed


def test_runs_of_several_roots_share_the_time_of_a_size() -> None:
    """Of a budget of 50 s the only size has 30 s; a call takes 0.1 s, and a run begins after 1 s."""
    numbers = []
    for roots in ([[2, 10]], [[0, 3], [2, 2], [4, 3], [6, 2]]):
        machine = Machine({"native": linear(1e5, 0)}, seconds=1)
        cell = replace(replay_of("bcast", 64, root=roots[0][0], roots=roots).cell(), seconds=0.1)
        tuner = Tuner(JOB, machine, {"bcast": {64: cell}}, budget=50, start_up=1, clock=lambda: 0.0)
        tuner.run()
        assert cell.runs == len(roots) == Tuner._between(128, cell).runs
        numbers.append(len(machine.runs[0][2]) - 1)
    # Into 30 / 4 - 1 s fit 9 times 5 + 2 calls: those of native and of 8 candidates.
    assert numbers[0] > numbers[1] == 8


def test_each_root_has_the_arrivals_of_its_own_calls() -> None:
    late = late_rank(8, 8, 2, 0.002)
    late[::2] = late_rank(8, 4, 5, 0.003)
    one = line_of(late, collective="bcast", sizes=[size_of(64, 8, 1.0, root=5)])
    one["pattern"]["roots"] = [5, 2] * 4
    (calls,) = calls_of(report_of(one))
    assert calls.roots() == [(2, 0.5), (5, 0.5)]
    assert [call[2] for call in calls.delays(2)] == [0.002] * 4
    assert [call[5] for call in calls.delays(5)] == [0.003] * 4


def test_times_of_several_roots_count_by_their_shares() -> None:
    def row(time: float, ran: str, number: int) -> dict[str, Any]:
        names = {"native": "", "chain": ran}
        lines = [{"name": name, "ran": ran, "samples_us": [time] * number} for name, ran in names.items()]
        return {"bytes": 64, "algorithms": lines}

    both = tuning_run.joined([(0.25, row(100.0, "chain: ", 3)), (0.75, row(20.0, "native: why", 2))])
    assert both["bytes"] == 64
    assert [line["samples_us"] for line in both["algorithms"]] == [[40.0, 40.0]] * 2
    assert both["algorithms"][1]["ran"] == "native: why", "it did not run everywhere"


@pytest.mark.parametrize("collective", ["gatherv", "alltoallv", "allgatherv"])
@pytest.mark.parametrize("irregularity", [1.0, 1.5, 2.0, 3.0, 5.0])
def test_the_distribution_has_the_irregularity_and_the_mean_of_the_calls(
    collective: str, irregularity: float
) -> None:
    words = replay_of(collective, 40000, irregularity=irregularity).words(8, 40000, -1)
    options = dict(zip(words[::2], words[1::2], strict=True))
    blocks = _engine.distribute(
        options["--distribution"], 8, int(options["--block"]), int(options["--seed"]),
        int(options["--rho"]),
    )  # fmt: skip
    mean = sum(blocks) / 8
    assert max(blocks) / mean == pytest.approx(irregularity, rel=0.25)
    assert mean == pytest.approx(10000, rel=0.1)
    if irregularity == 1:
        assert options["--distribution"] == "same"


def test_arrivals_are_replayed_if_they_are_farther_apart_than_a_sleep_is_precise() -> None:
    def delays(late: float, ranks: int = 8) -> list[list[float]]:
        one = line_of(late_rank(ranks, 100, 2, late), sizes=[size_of(64, 100, 1.0)])
        one["spread"]["median"] = late
        return calls_of(report_of(one))[0].delays(0)

    assert len(delays(0.002)) == 32
    assert delays(0.002)[0][2] == 0.002
    assert delays(0.0001) == []
    assert delays(0.002, ranks=4) == []  # the pattern is of another communicator


def test_a_report_without_sizes_or_ranks_is_refused() -> None:
    old = line("bcast")
    del old["sizes"]
    with pytest.raises(Refusal, match="no message sizes; .* run the program again"):
        calls_of(report_of(old))
    (unnumbered,) = report_of(line("bcast", size_of(8, 9, 1.0)))
    del unnumbered["ranks"]
    with pytest.raises(Refusal, match="no number of ranks; .* run the program again"):
        calls_of([unnumbered])


def cells_of(*won: tuple[int, tuple[int, int], str]) -> Tuner:
    """Cells with spans that a candidate has won."""
    cells = {}
    for size, span, name in won:
        cell = cells[size] = Cell(size, span=span)
        for one, time in (("native", 10.0), ("chain", 20.0), ("linear", 20.0), (name, 5.0)):
            if one != "native" or name != "native":
                cell.lines[one] = Measured(one, tuple([time] * 30))
        if name == "native":
            cell.lines["native"] = Measured("native", (10.0,) * 30)
    return Tuner(JOB, lambda *_: [], {"bcast": cells}, clock=lambda: 0.0)


def spans_of(tuner: Tuner) -> list[tuple[str, str]]:
    return [(rule["bytes"], rule["use"]) for rule in rules_of(tuner, "", "")]


@pytest.mark.parametrize(
    ("changes", "text"),
    [({"calls": []}, "the report has no calls that took time"), ({"partial": True}, "partial, of single processes;")],
)
def test_a_report_without_calls_or_of_single_processes_is_refused(
    tmp_path: Path, changes: dict[str, Any], text: str
) -> None:
    path = tmp_path / "r.json"
    path.write_text(2 * json.dumps({**report_of(line("bcast", size_of(8, 9, 1.0)))[0], **changes}))
    with pytest.raises(Refusal, match=f"--report {path}: {text}"):
        program_of(path, JOB, ["bcast"])


def test_rules_cover_sizes_between_two_cells_only_if_one_algorithm_won_both() -> None:
    same = cells_of((100, (65, 128), "chain"), (4000, (2049, 4096), "chain"))
    assert spans_of(same) == [("65..4K", "chain")]
    other = cells_of((100, (65, 128), "chain"), (4000, (2049, 4096), "linear"))
    assert spans_of(other) == [("65..128", "chain"), ("2049..4K", "linear")]


def test_a_class_of_the_program_precedes_that_of_a_bisection() -> None:
    found = cells_of(
        (40, (33, 64), "chain"), (64, (33, 64), "native"), (200, (129, 256), "native")
    )  # fmt: skip
    assert spans_of(found) == [("33..64", "chain"), ("65..256", "native")]


# The command, with a simulated tutti-bench.


class Program(Bench):
    """Ranks that come apart make every time 1 ms longer, but not what follows the last arrival."""

    def __call__(self, words: list[str], settings: dict[str, str]) -> dict[str, Any]:
        found = super().__call__(words, settings)
        if "--delay" in words:
            late = Path(words[words.index("--delay") + 1].removeprefix("recorded:"))
            assert late.read_text().count("\n") == 10
            for one in (one for row in found["rows"] for one in row["algorithms"]):
                one["after_last_arrival_us"] = one["samples_us"]
                one["samples_us"] = [1000 + time for time in one["samples_us"]]
        return found


@pytest.fixture
def bench(monkeypatch: pytest.MonkeyPatch) -> Program:
    times = {"native": linear(10, 1e-3), "chain": linear(5, 0.5e-3), "auto": linear(5, 0.5e-3)}
    made = Program(Machine(times))
    made.ran = "chain: rules: measured"
    monkeypatch.setattr(tuning_run, "under", lambda mpirun: made)
    return made


def report(folder: Path) -> str:
    late = line_of(
        late_rank(8, 10, 2), collective="bcast", site="app: step+0x1", calls=10,
        sizes=[size_of(4096, 10, 0.1, root=2)], elapsed={"mean": 0.01, "sum": 0.1}, moving={"mean": 0.001},
    )  # fmt: skip
    late["pattern"]["roots"] = [2] * 10
    small = line("bcast", size_of(64, 9, 0.1, root=2), size_of(64, 9, 0.1, p=4), site="app: init")
    return write_report(folder, late, small, ranks=8)


def invoke(folder: Path, *words: str) -> Any:
    options = ["--mpirun", "mpirun -n 8", "--report", report(folder)]
    output = ["--output", str(folder / "rules.json")]
    return CliRunner().invoke(app, ["tune", *options, *output, *words], env={"COLUMNS": "80"})


def test_the_command_writes_rules_for_the_calls_of_the_program(
    bench: Program, tmp_path: Path
) -> None:
    done = invoke(tmp_path, "--json", "--budget", "10m")
    assert done.exit_code == 0, done.output
    rules = _engine.rules_from_text((tmp_path / "rules.json").read_text(), "").all
    assert [(rule.collective, rule.bytes, rule.use) for rule in rules] == [("bcast", "33..4K", "chain")]
    told = json.loads(done.stdout)
    assert [one["roots"] for one in told["sites"]] == [[2], [2]]
    sites = [(one["site"], one["bytes"], one["arrivals"], one["chosen"]) for one in told["sites"]]
    assert sites == [
        ("app: step+0x1", 4096, "recorded", "chain"), ("app: init", 64, "together", "chain"),
    ]  # fmt: skip
    # Native takes twice as long: half of 10 ms and of 9 times 0.5 ms is saved.
    assert told["saved_seconds"] == pytest.approx(0.5 * (10e-3 + 9 * 0.5e-3), rel=0.05)
    # Ten calls of 10 ms, 9 of 1 ms, 9 of 1 ms on half of the ranks.
    assert told["seconds"] == pytest.approx(0.1 + 9e-3 + 9e-3 / 2)
    runs = [words for words in bench.runs if words[0] == "bcast"]
    assert all(words[words.index("--root") + 1] == "2" for words in runs)
    assert all(("--delay" in words) == (words[words.index("--block") + 1] == "1024") for words in runs)
    assert {path.name for path in tmp_path.iterdir()} == {"report.json", "rules.json"}


def test_an_algorithm_has_to_be_faster_over_all_roots(
    bench: Program, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With root 2 chain takes half of the time, with root 6 five times as long."""

    def run(words: list[str], settings: dict[str, str]) -> dict[str, Any]:
        found = bench(words, settings)
        if "--root" in words and words[words.index("--root") + 1] == "6":
            for one in (one for row in found["rows"] for one in row["algorithms"]):
                if one["name"] in ("chain", "auto"):
                    one["samples_us"] = [10 * time for time in one["samples_us"]]
        return found

    monkeypatch.setattr(tuning_run, "under", lambda mpirun: run)
    size = size_of(4096, 10, 0.1, root=2, roots=[[2, 5], [6, 5]])
    path = write_report(tmp_path, line("bcast", size), ranks=8)
    output = tmp_path / "rules.json"
    words = ["tune", "--mpirun", "mpirun -n 8", "--report", path, "--output", str(output)]
    done = CliRunner().invoke(app, words)
    assert done.exit_code == 0, done.output
    assert [rule.use for rule in _engine.rules_from_text(output.read_text(), "").all] == ["native"]
    roots = {words[words.index("--root") + 1] for words in bench.runs if "--root" in words}
    assert roots == {"2", "6"}
    checked = [words[words.index("--root") + 1] for words in bench.runs if "auto" in words]
    assert checked == ["2", "6"]


def test_a_folder_of_the_user_is_kept(bench: Program, tmp_path: Path) -> None:
    folder = tmp_path / "rules.json.arrivals"
    folder.mkdir()
    (folder / "mine").touch()
    assert invoke(tmp_path).exit_code == 0
    assert list(folder.iterdir()) == [folder / "mine"]


def test_the_command_prints_a_table_of_80_columns(bench: Program, tmp_path: Path) -> None:
    done = invoke(tmp_path)
    assert done.exit_code == 0, done.output
    lines = done.stdout.splitlines()
    # The names of files, which are copied, stay whole.
    assert max(len(line) for line in lines if str(tmp_path) not in line) <= 80
    assert lines[-1] == f"To use them: TUTTI_RULES={tmp_path / 'rules.json'}"
    assert lines[0].split() == ["call", "site", "collective", "size", "share", "chosen", "speedup"]
    assert lines[1].split()[:7] == ["app:", "step+0x1", "bcast", "4,096", "88", "%", "chain"]
    assert "Calls on communicators of 4 ranks (4.0 % of the time) are skipped" in done.stdout
    assert "The program saves about 7." in done.stdout
    assert "Replayed calls are unlike the program's: bcast" in done.stdout
    said = " ".join(done.stdout.split())
    assert "The report is of MPICH 4; the rules hold for openmpi 4.1.4." in said


def test_the_command_says_what_it_leaves_out(bench: Program, tmp_path: Path) -> None:
    sites = [line("bcast", size_of(64, 9, 0.1), site=f"app: f{n}") for n in range(21)]
    path = write_report(tmp_path, *sites, line("rma_bcast", size_of(64, 9, 0.1)), ranks=8)
    words = ["--mpirun", "mpirun -n 8", "--report", path, "--output", str(tmp_path / "r.json")]
    done = CliRunner().invoke(app, ["tune", *words])
    assert done.exit_code == 0, done.output
    said = " ".join(done.stdout.split())
    assert ".. and 1 more line; --json has all." in said
    # One of 22 sites with equal times.
    assert "Other calls take 4.5 % of the time and are not tuned." in said


def test_where_nothing_is_faster_the_command_promises_nothing(
    bench: Program, tmp_path: Path
) -> None:
    bench.machine.times = {"native": linear(10, 1e-3), "auto": linear(10, 1e-3)}
    bench.ran = "native: rules: measured"
    done = invoke(tmp_path)
    assert done.exit_code == 0, done.output
    said = " ".join(done.stdout.split())
    assert "The rules change nothing in the" in said and "Nothing is faster than the MPI's own" in said
    assert "The program saves" not in said


def test_candidates_by_arrival_need_recorded_arrivals_and_the_thread(
    bench: Program, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("TUTTI_BACKGROUND", raising=False)
    invoke(tmp_path)
    assert bench.runs and not any("earliest" in words for words in bench.runs)
    monkeypatch.setenv("TUTTI_BACKGROUND", "on")
    invoke(tmp_path)
    assert any("earliest" in words for words in bench.runs)
    monkeypatch.setenv("TUTTI_BACKGROUND", "maybe")
    with pytest.raises(Refusal, match="invalid TUTTI_BACKGROUND=maybe: .*on"):
        _ = program_of(Path(write_report(tmp_path, line("bcast", size_of(64, 9, 0.1)), ranks=8)), JOB, ["bcast"]).with_arrivals
    monkeypatch.setenv("TUTTI_BACKGROUND", "on")
    bench.runs.clear()
    together = line("bcast", size_of(64, 9, 0.1))
    path = write_report(tmp_path, together, ranks=8)
    words = ["--mpirun", "mpirun -n 8", "--report", path, "--output", str(tmp_path / "r.json")]
    assert CliRunner().invoke(app, ["tune", *words]).exit_code == 0
    assert bench.runs and not any("earliest" in words for words in bench.runs)


def test_an_interrupted_tuning_of_a_report_is_resumed(bench: Program, tmp_path: Path) -> None:
    bench.fail_after = 3
    assert invoke(tmp_path).exit_code != 0
    before = [words for words in bench.runs if words[0] == "bcast"][:2]
    bench.fail_after, bench.runs = -1, []
    assert invoke(tmp_path, "--resume").exit_code == 0
    assert not any(words in bench.runs for words in before)  # nothing is measured again
    bench.fail_after = 3
    assert invoke(tmp_path).exit_code != 0
    changed = tmp_path / "report.json"
    changed.write_text(changed.read_text() + " ")
    bench.fail_after = -1
    plain = ["tune", "--mpirun", "mpirun -n 8", "--output", str(tmp_path / "rules.json"), "--resume"]
    for words in (plain, [*plain, "--report", str(changed)]):
        assert "has report" in str(CliRunner().invoke(app, words).exception)


@pytest.mark.parametrize(
    ("words", "text"),
    [
        (["--bytes", "8..64"], "--bytes 8..64 and --report exclude each other"),
        (["--collective", "barrier"], "no calls of barrier on 8 ranks take 1 % or more"),
    ],
)
def test_bad_options_are_named(
    bench: Program, tmp_path: Path, words: list[str], text: str
) -> None:
    assert text in str(invoke(tmp_path, *words).exception)


def test_a_launcher_with_other_ranks_is_refused(bench: Program, tmp_path: Path) -> None:
    path = Path(write_report(tmp_path, line("bcast", size_of(64, 9, 0.1, p=4))))
    words = ["--mpirun", "mpirun -n 8", "--report", str(path), "--output", str(tmp_path / "r.json")]
    done = CliRunner().invoke(app, ["tune", *words])
    assert "--mpirun starts 8 ranks, but the program of --report ran 4" in str(done.exception)


def test_an_existing_default_output_is_kept(
    bench: Program, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    words = ["tune", "--mpirun", "mpirun -n 8", "--collective", "bcast", "--bytes", "8..64"]
    assert CliRunner().invoke(app, words).exit_code == 0
    assert (tmp_path / "rules.json").exists()
    done = CliRunner().invoke(app, words)
    assert "rules.json exists; name the rules file" in str(done.exception)


def test_only_calls_of_the_own_algorithm_can_save_time() -> None:
    native = line("bcast", size_of(64, 30, 0.03))
    tried = line("bcast", size_of(64, 10, 0.01), algorithm="chain")
    unknown = line("bcast", size_of(64, 10, 0.01), site="app: other", moving=None)
    calls = calls_of(report_of(native, tried, unknown))
    assert [one.seconds for one in calls] == pytest.approx([40e-3, 10e-3])
    assert [one.moved for one in calls] == pytest.approx([30 * 5e-4, 10e-3])
    assert calls[0].moving == pytest.approx(5e-4)


def test_each_size_moves_data_for_the_same_share_of_its_time() -> None:
    both = line("bcast", size_of(8, 990, 0.1), size_of(1 << 22, 10, 0.9))
    large, small = calls_of(report_of(both))
    assert (large.moved, small.moved) == pytest.approx((0.5 * large.seconds, 0.5 * small.seconds))
    assert large.moving == pytest.approx(0.5 * 0.9 / 10)


def test_the_time_of_a_call_is_the_mean_over_its_own_ranks() -> None:
    (calls,) = calls_of(report_of(line("bcast", size_of(64, 100, 0.1, p=4))))
    assert calls.a_call == pytest.approx(1e-3)
    assert calls.moving == pytest.approx(5e-4)

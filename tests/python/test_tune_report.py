"""`tutti tune --report` with a simulated tutti-bench."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from program_calls import line, size_of
from reporting import late_rank, line_of, write_report
from simulated_bench import JOB, Bench, Machine, linear
from tutti import _engine, tuning_run
from tutti.cli import app
from tutti.commands import tune_report
from tutti.commands.tune_report import program_of
from tutti.refusal import Refusal
from typer.testing import CliRunner


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
    assert {path.name for path in tmp_path.iterdir()} == {"report.json", "rules.json", "rules.json.state"}


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


def test_a_loss_is_no_negative_saving(bench: Program, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Rules may stay that a check does not refute beyond doubt."""
    monkeypatch.setattr(tune_report, "saved", lambda *_: -0.012)
    assert "The program loses about 12.0 ms of 114 ms in collectives (11 %), by" in " ".join(invoke(tmp_path).stdout.split())


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


@pytest.mark.parametrize("option", ["--output", "--plot"])
def test_no_output_replaces_the_report(bench: Program, tmp_path: Path, option: str) -> None:
    path = Path(report(tmp_path)).rename(tmp_path / "report.svg")
    former = path.read_bytes()
    words = ["--mpirun", "mpirun -n 8", "--report", str(path), "--output", str(tmp_path / "r.json"), option, str(path)]
    done = CliRunner().invoke(app, ["tune", *words])
    assert str(done.exception) == f"{option} {path}: is the report to read; expected another file"
    assert path.read_bytes() == former and not bench.runs


def test_where_no_calls_matter_the_error_lists_no_collectives(bench: Program, tmp_path: Path) -> None:
    short = line("bcast", size_of(64, 9, 1e-9), site="app: f", elapsed={"mean": 1e-9, "sum": 9e-9})
    sites = [short, line("rma_bcast", size_of(64, 9, 0.1))]
    path = write_report(tmp_path, *sites, ranks=8)
    words = ["--mpirun", "mpirun -n 8", "--report", path, "--output", str(tmp_path / "r.json")]
    done = CliRunner().invoke(app, ["tune", *words])
    assert ": no calls on 8 ranks take 1 % or more of the time" in str(done.exception)


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

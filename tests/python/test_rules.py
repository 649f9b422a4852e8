"""Rules files as the command sees them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from tutti import _engine, rules
from tutti.cli import app, main
from tutti.commands.run import check_settings
from tutti.refusal import Refusal


def write(path: Path, *lines: str) -> Path:
    text = ",\n".join("{" + line + "}" for line in lines)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f'{{"schema": "tutti-rules-1", "date": "2026-11-22", "rules": [\n{text}\n]}}')
    return path


def invoke(*words: str) -> Any:
    return CliRunner().invoke(app, list(words))


@pytest.fixture(autouse=True)
def _no_files(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("TUTTI_RULES", raising=False)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))


def test_files_are_merged_in_the_sequence_of_their_search(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    assert rules.files() == []
    users = write(tmp_path / "config/tutti/rules.json", '"collective": "bcast", "use": "chain"')
    assert rules.files() == [users]
    named = write(tmp_path / "mine.json", '"collective": "bcast", "bytes": 8, "use": "linear"')
    monkeypatch.setenv("TUTTI_RULES", str(named))
    assert rules.files() == [named, users]
    shown = json.loads(invoke("rules", "show", "--json").stdout)
    assert [(rule["use"], rule["source"]) for rule in shown] == [
        ("linear", "mine.json"),
        ("chain", "rules.json"),
    ]
    monkeypatch.setenv("TUTTI_RULES", "none")
    assert rules.files() == []


def test_what_runs_have_learned_is_shown(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert "TUTTI_LEARN=keep" in str(invoke("rules", "show", "--learned").exception)
    evidence = '{"native_us": 8, "choice_us": 4, "calls": 16, "date": "2026-01-02"}'
    line = f'"collective": "bcast", "bytes": "513..1K", "network": "cxi", "use": "chain", "evidence": {evidence}'
    file = write(tmp_path / "tutti" / _engine.kept_rules_name, line)
    assert str(file) in str(invoke("rules", "show").exception)
    (shown,) = json.loads(invoke("rules", "show", "--learned", "--json").stdout)
    assert (shown["use"], shown["calls"], shown["network"]) == ("chain", 16, "cxi")
    assert "cxi" in invoke("rules", "show", "--learned").stdout
    named = write(tmp_path / "mine.json", '"collective": "bcast", "use": "linear"')
    assert "expected no FILE" in str(invoke("rules", "show", "--learned", str(named)).exception)
    monkeypatch.setenv("TUTTI_RULES", str(named))
    text = invoke("rules", "show").stdout.replace("\n", "")
    assert "linear" in text and "--learned" in text and "chain" not in text


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("TUTTI_RULES", ["rules", "show"]),
        ("TUTTI_RULES", ["info"]),
        ("TUTTI_LIBRARY_DIR", ["rules", "show"]),
        ("XDG_CONFIG_HOME", ["info"]),
        ("XDG_CACHE_HOME", ["rules", "show", "--learned"]),
        ("TUTTI_CACHE_DIR", ["rules", "show", "--learned"]),
        ("HOME", ["rules", "show", "--learned"]),
    ],
)
def test_a_variable_that_is_not_utf_8_is_named(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, name: str, words: list[str]
) -> None:
    folder = tmp_path / "\udcff"
    (folder / "tutti").mkdir(parents=True)
    write(folder / "tutti/rules.json", '"collective": "bcast", "use": "chain"')
    (folder / "libtutti.so").touch()
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.setenv(name, str(folder))
    assert str(invoke(*words).exception) == f"invalid {name}={folder}: expected UTF-8"


def test_rules_stay_when_others_are_appended() -> None:
    text = '{"schema": "tutti-rules-1", "rules": [{"collective": "bcast", "use": "%s"}]}'
    read = _engine.rules_from_text(text % "chain", "a.json")
    first, more = read.all[0], _engine.rules_from_text(text % "linear", "b.json")
    for _ in range(64):
        read.extend(more)
    assert (first.use, first.source, len(read.all)) == ("chain", "a.json", 65)


def test_the_sites_file_is_beside_the_library(tmp_path: Path) -> None:
    (tmp_path / "lib/x86_64-linux-gnu").mkdir(parents=True)
    site = write(tmp_path / "share/tutti/rules.json", '"collective": "bcast", "use": "chain"')
    for folder in ("lib", "lib/x86_64-linux-gnu"):
        (found,) = _engine.rule_files("", str(tmp_path / folder))
        assert Path(found).resolve() == site.resolve()


def test_a_file_is_read_up_to_the_size_that_the_library_reads(tmp_path: Path) -> None:
    file = write(tmp_path / "large.json", '"collective": "bcast", "use": "chain"')
    with file.open("a") as text:
        text.write(" " * (2 << 20))
    check_settings({"TUTTI_RULES": str(file)})
    with file.open("r+") as text:
        text.truncate((64 << 20) + 1)
    with pytest.raises(Refusal, match="large.json: is larger than 67108864 bytes"):
        check_settings({"TUTTI_RULES": str(file)})


def test_check_names_what_is_wrong(tmp_path: Path) -> None:
    bad = write(tmp_path / "bad.json", '"collective": "bcast", "use": "chian"')
    done = invoke("rules", "check", str(bad))
    assert "bad.json: line 2: use \"chian\"" in str(done.exception)
    assert "chain" in str(done.exception)


def test_check_remarks_what_has_no_effect(tmp_path: Path) -> None:
    folder = tmp_path / "a folder whose name is longer than a line of a terminal, as those of tests may be"
    folder.mkdir()
    file = write(
        folder / "x.json",
        '"collective": "bcast", "byte": 8, "use": "chain"',
        '"collective": "bcast", "bytes": "1K..1M", "use": "linear"',
    )
    text = invoke("rules", "check", str(file)).stdout
    assert "2 rules, valid" in text
    assert 'unknown field "byte" is ignored; did you mean bytes?' in text
    assert "bcast, 1K..1M bytes, linear: never decides" in text


def never(tmp_path: Path, *lines: str) -> list[str]:
    """What `tutti rules check` remarks about these rules."""
    (read,) = json.loads(invoke("rules", "check", str(write(tmp_path / "x.json", *lines)), "--json").stdout)
    return read["remarks"]


def test_a_rule_never_decides_after_a_wider_one(tmp_path: Path) -> None:
    wide, narrow = '"collective": "bcast", "use": "native"', '"collective": "bcast", "p": 4, "use": "chain"'
    assert never(tmp_path, wide, narrow) == [
        "bcast, 0..inf bytes, p 4, chain: never decides, because native for 0..inf bytes comes first"
    ]
    assert never(tmp_path, narrow, wide) == []


@pytest.mark.parametrize(
    ("wide", "narrow"),
    [
        ('"p": "4..16"', '"p": 8'),
        ('"nodes": "2..inf"', '"nodes": "2..4"'),
        ('"ranks_per_node": "1..8"', '"ranks_per_node": 8'),
        ('"commutative": true, "p": 4', '"commutative": true, "p": 4'),
        ('"p": 4', '"commutative": true, "p": 4'),
        ('"mpi": "openmpi"', '"mpi": "openmpi", "version": "4.1"'),
        ('"p": 4', '"p": 4, "network": "cxi"'),
        ('"mpi": "openmpi", "version": "4.1"', '"mpi": "openmpi", "version": "4.1.4"'),
        ('"bytes": "1K..inf"', '"bytes": "4K..8K", "p": 4'),
        ('"irregularity": "1..4"', '"p": 4'),  # the vectors of a reduce have one size
    ],
)
def test_a_wider_rule_contains_each_key(tmp_path: Path, wide: str, narrow: str) -> None:
    first, second = (f'"collective": "reduce", {keys}, "use": "native"' for keys in (wide, narrow))
    assert len(never(tmp_path, first, second)) == 1
    if wide != narrow:
        assert never(tmp_path, second, first) == []


@pytest.mark.parametrize(
    "keys", ['"p": 8', '"mpi": "mpich"', '"version": "4.10"', '"network": "cxi.2"', '"commutative": false']
)
def test_a_rule_with_other_keys_decides(tmp_path: Path, keys: str) -> None:
    former = ('"collective": "reduce", "p": 4, "mpi": "openmpi", "version": "4.1", "network": "cxi", '
              '"commutative": true, "use": "native"')  # fmt: skip
    given = {"p": '"p": 4', "mpi": '"mpi": "openmpi"', "version": '"version": "4.1"', "network": '"network": "cxi"',
             "commutative": '"commutative": true'}  # fmt: skip
    given[keys.split('"')[1]] = keys
    assert never(tmp_path, former, f'"collective": "reduce", {", ".join(given.values())}, "use": "native"') == []


@pytest.mark.parametrize("collective", ["gatherv", "scatterv", "alltoallv"])
def test_a_rule_that_needs_unknown_sizes_never_decides(tmp_path: Path, collective: str) -> None:
    sized = f'"collective": "{collective}", "bytes": "8", "use": "linear"'
    (remark,) = never(tmp_path, sized, f'"collective": "{collective}", "use": "linear"')
    assert remark.endswith(f"never decides, because most ranks do not know the sizes of a {collective}: omit bytes")


@pytest.mark.parametrize("collective", ["gatherv", "scatterv", "alltoallv"])
def test_a_rule_that_needs_unknown_blocks_never_decides(tmp_path: Path, collective: str) -> None:
    (remark,) = never(tmp_path, f'"collective": "{collective}", "irregularity": "2..inf", "use": "linear"')
    assert remark.endswith(f"because most ranks do not know the sizes of a {collective}: omit irregularity")


def test_a_rule_for_irregular_blocks_never_decides_where_all_are_equal(tmp_path: Path) -> None:
    both = [f'"collective": "{name}", "irregularity": "2..inf", "use": "ring"' for name in ("allgather", "allgatherv")]
    (remark,) = never(tmp_path, *both)
    assert remark.endswith("allgather, 0..inf bytes, irregularity 2..inf, ring: never decides, because "
                           "no allgather has irregularity 2..inf")  # fmt: skip


def test_rules_differ_by_irregularity(tmp_path: Path) -> None:
    narrow, wide = (f'"collective": "allgatherv", {keys}"use": "{use}"'
                    for keys, use in (('"irregularity": "1..2", ', "ring"), ("", "bruck")))  # fmt: skip
    assert never(tmp_path, narrow, wide) == []
    assert len(never(tmp_path, wide, narrow)) == 1
    left, right = write(tmp_path / "a.json", narrow, wide), write(tmp_path / "b.json", wide)
    (found,) = json.loads(invoke("rules", "diff", str(left), str(right), "--json").stdout)
    assert (found["keys"], found["left"], found["right"]) == ("irregularity 1..2", "ring", "bruck")


def test_diff_compares_decisions(tmp_path: Path) -> None:
    left = write(tmp_path / "a.json", '"collective": "bcast", "bytes": "1K..inf", "use": "chain"')
    right = write(
        tmp_path / "b.json",
        '"collective": "bcast", "bytes": "4K..8K", "use": "chain"',
        '"collective": "bcast", "bytes": "1K..inf", "use": "linear"',
    )
    done = invoke("rules", "diff", str(left), str(right), "--json")
    assert done.exit_code == 1
    assert [(d["bytes"], d["left"], d["right"]) for d in json.loads(done.stdout)] == [
        ("1K..4095", "chain", "linear"),
        ("8193..inf", "chain", "linear"),
    ]
    assert invoke("rules", "diff", str(left), str(left)).exit_code == 0


def test_diff_says_where_a_file_has_no_rule(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("COLUMNS", "500")  # the heads are names of files
    left = write(tmp_path / "a.json", '"collective": "bcast", "bytes": "1K..inf", "use": "chain"')
    right = write(tmp_path / "b.json", '"collective": "bcast", "use": "chain"')
    done = invoke("rules", "diff", str(left), str(right))
    assert done.exit_code == 1
    (row,) = done.stdout.splitlines()[1:]
    assert row.split() == ["bcast", "0..1023", "no", "rule", "chain"]
    assert invoke("rules", "diff", str(left), str(left)).stdout == "The files decide alike.\n"


def test_show_says_what_a_rule_gains_and_where(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    file = write(
        tmp_path / "x.json",
        '"collective": "bcast", "p": 8, "bytes": "32K..4M", "mpi": "openmpi", "version": "4.1", '
        '"use": "circulant:parts=8", "evidence": {"native_us": 812.4, "choice_us": 400.1}',
        '"collective": "bcast", "use": "native"',
    )
    _, *rows = invoke("rules", "show", str(file)).stdout.splitlines()
    first, second = (" ".join(row.split()) for row in rows)
    times = "812.4 us 400.1 us 2.03"
    assert f"bcast 32K..4M circulant:parts=8 {times} p 8, mpi openmpi, version 4.1 " in first
    assert second.startswith("bcast all native ")


def test_show_says_what_a_rule_gains_at_its_sizes(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    sizes = (
        '{"bytes": 1024, "native_us": 20, "native_interval_us": [19, 21], "choice_us": 10}, '
        '{"bytes": 65536, "native_us": 500, "choice_us": 100}'
    )
    evidence = f'"evidence": {{"native_us": 20, "choice_us": 10, "calls": 30, "sizes": [{sizes}]}}'
    file = write(tmp_path / "x.json", f'"collective": "bcast", "use": "chain", {evidence}')
    row = invoke("rules", "show", str(file)).stdout.splitlines()[1]
    assert "bcast all chain 20.0 us 10.0 us 2.00 to 5.00 " in " ".join(row.split()) + " "
    (shown,) = json.loads(invoke("rules", "show", str(file), "--json").stdout)
    assert shown["sizes"][0]["native_interval_us"] == [19, 21]
    assert (shown["sizes"][1]["bytes"], shown["sizes"][1]["choice_interval_us"]) == (65536, None)
    assert (shown["native_interval_us"], shown["calls"], shown["irregularity"]) == (None, 30, "0..inf")


def test_explain_finds_rules_of_any_network(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    file = write(tmp_path / "x.json", '"collective": "bcast", "network": "cxi", "use": "chain"')
    monkeypatch.setenv("TUTTI_RULES", str(file))
    text = invoke("explain", "bcast", "--ranks", "8", "--block", "64K").stdout
    assert "holds for network cxi" in " ".join(text.split())


def test_explain_finds_rules_by_irregularity(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    even, uneven = '"irregularity": 1, "use": "ring"', '"irregularity": "2..inf", "use": "bruck"'
    file = write(tmp_path / "x.json", *(f'"collective": "allgatherv", {keys}' for keys in (even, uneven)))
    monkeypatch.setenv("TUTTI_RULES", str(file))
    uses = [rules.rule_for("allgatherv", sizes, "") for sizes in ([8] * 4, [8, 8, 8, 9], [0] * 4)]
    assert [rule and rule.use for rule in uses] == ["ring", "bruck", "ring"]


def test_diff_counts_rules_with_wider_keys(tmp_path: Path) -> None:
    wide, narrow = '"collective": "bcast", "use": "native"', '"collective": "bcast", "p": 4, "use": "chain"'
    one = write(tmp_path / "a.json", wide)
    same = write(tmp_path / "b.json", wide, narrow, '"collective": "gatherv", "bytes": 8, "use": "linear"')
    assert invoke("rules", "diff", str(one), str(same)).exit_code == 0
    other = write(tmp_path / "c.json", narrow, wide)
    (found,) = json.loads(invoke("rules", "diff", str(one), str(other), "--json").stdout)
    assert (found["keys"], found["left"], found["right"]) == ("p 4", "native", "chain")


def bcast(uses: dict[str, str]) -> list[str]:
    """Rules of broadcasts: what their keys, as JSON, use."""
    return [f'"collective": "bcast", {keys}, "use": "{use}"' for keys, use in uses.items()]


def differences(tmp_path: Path, left: list[str], right: list[str]) -> list[tuple[str, str, str]]:
    files = [write(tmp_path / f"{at}.json", *lines) for at, lines in enumerate((left, right))]
    found = json.loads(invoke("rules", "diff", *map(str, files), "--json").stdout)
    return [(one["keys"], one["left"], one["right"]) for one in found]


@pytest.mark.parametrize("key", ["p", "nodes", "ranks_per_node"])
def test_diff_cuts_ranges_at_the_bounds_of_both_files(tmp_path: Path, key: str) -> None:
    rules = bcast({f'"{key}": "1..6"': "chain", f'"{key}": "5..10"': "linear"})
    assert differences(tmp_path, rules, rules[::-1]) == [(f"{key} 5..6", "chain", "linear")]
    whole = bcast({f'"{key}": "4..8"': "chain"})
    halves = bcast({f'"{key}": "4..6"': "chain", f'"{key}": "7..8"': "chain"})
    assert differences(tmp_path, whole, halves) == []


def test_diff_counts_each_value_of_the_other_keys(tmp_path: Path) -> None:
    own = {'"mpi": "openmpi"': "chain"}
    left, right = (bcast({**own, '"p": "1..inf"': use}) for use in ("native", "linear"))
    assert differences(tmp_path, left, right) == [("any other mpi", "native", "linear")]
    newest, newer = '"version": "4.1.4"', '"version": "4.1"'
    both = bcast({newest: "chain", newer: "linear"})
    assert differences(tmp_path, both, both[::-1]) == [("version 4.1.4", "chain", "linear")]
    networks = [bcast({'"network": "cxi"': "chain", '"p": "1..inf"': use}) for use in ("chain", "native")]
    assert differences(tmp_path, *networks) == [("any other network", "chain", "native")]


def test_what_a_rule_says_of_its_origin_is_no_markup(tmp_path: Path) -> None:
    keys = '"network": "[/net]", "evidence": {"date": "[/day]", "source": "[/file]"}'
    file = write(tmp_path / "x.json", f'"collective": "bcast", "use": "chain", {keys}')
    text = invoke("rules", "show", str(file)).stdout
    assert all(word in text for word in ("[/net]", "[/day]", "[/file]"))


def test_explain_passes_over_an_invalid_file_as_programs_do(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    users = write(tmp_path / "config/tutti/rules.json", '"collective": "bcast", "use": "chian"')
    assert main(["explain", "bcast", "--ranks", "4"]) == 0
    assert f"a rules file is ignored: {users}: line 2: use" in capsys.readouterr().err
    monkeypatch.setenv("TUTTI_RULES", str(users))
    assert main(["explain", "bcast", "--ranks", "4"]) == 2


def test_explain_shows_the_rule(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    file = write(
        tmp_path / "mine.json",
        '"collective": "bcast", "p": 8, "bytes": "1K..inf", "mpi": "openmpi", "version": "4.1", '
        '"use": "circulant:parts=8", "evidence": {"native_us": 300, "choice_us": 100}',
    )
    monkeypatch.setenv("TUTTI_RULES", str(file))
    words = ["explain", "bcast", "--ranks", "8", "--json", "--block"]
    told = json.loads(invoke(*words, "64K").stdout)
    assert told["algorithm"] == told["drawn"] == "circulant:parts=8"
    assert "measured 3x faster than the MPI's own (mine.json, 2026-11-22)" in told["reason"]
    assert "rule" not in json.loads(invoke(*words, "8").stdout)
    assert "rule" not in json.loads(invoke(*words, "64K", "--mpi", "mpich").stdout)
    refused = invoke(*words, "64K", "--mpi", "mvapich")
    assert "--mpi mvapich: expected openmpi or mpich" in str(refused.exception)
    text = invoke("explain", "bcast", "--ranks", "8", "--block", "64K").stdout
    assert "holds for p 8, mpi openmpi, version 4.1" in " ".join(text.split())


def test_no_files_are_said_to_be_missing() -> None:
    assert "TUTTI_RULES is not set" in str(invoke("rules", "show").exception)

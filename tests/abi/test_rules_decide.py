"""Rules decide calls of programs, and reports say which rule did."""

from __future__ import annotations

import json

import pytest
from conftest import FRONT, ROOT


def file_of(path, *rules):
    """A rules file."""
    content = {"schema": "tutti-rules-1", "date": "2026-11-22", "rules": list(rules)}
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(content))
    return path


def rule(collective, use, **keys):
    """One rule; it was measured to be twice as fast."""
    return {"collective": collective, "use": use, "evidence": {"native_us": 8, "choice_us": 4}} | keys


def calls(outcome):
    """What the report says of each collective, with the reasons."""
    outcome.check_correct()
    told = {}
    for line in outcome.report["calls"]:
        told.setdefault(line["collective"], set()).add(f"{line['algorithm']}: {line['reason']}")
    return told


NO_RULE = "native: rules: none for this message size"
MEASURED = "rules: measured 2x faster than the MPI's own (site.json, 2026-11-22)"


def test_a_rule_decides_by_message_size_and_is_reported(mpi, tmp_path):
    file = file_of(
        tmp_path / "site.json",
        rule("bcast", "circulant:parts=4", bytes="1K..inf", p=3, mpi=mpi.name),
        rule("allgather", "hierarchical(native,leaders=1)", bytes="1K..inf"),
        rule("allreduce", "recursive_doubling"),
    )
    told = calls(mpi.run(mpi.compile("rules.c"), settings={"TUTTI_RULES": str(file)}))
    assert told["bcast"] == {NO_RULE, f"circulant:parts=4: {MEASURED}"}
    assert told["allgather"] == {NO_RULE, f"hierarchical(native,leaders=1): {MEASURED}"}
    assert told["allreduce"] == {f"recursive_doubling: {MEASURED}"}


def test_a_report_counts_each_size_with_its_times(mpi, tmp_path):
    """3 calls of 8 B, and 3 of 64 KiB."""
    large = {"bytes": 65536, "native_us": 1000, "native_interval_us": [900, 1100],
             "choice_us": 200, "choice_interval_us": [150, 250]}  # fmt: skip
    both = rule("bcast", "circulant:parts=4")
    both["evidence"]["sizes"] = [{"bytes": 8, "native_us": 10, "choice_us": 5}, large]
    file = file_of(tmp_path / "site.json", both)
    outcome = mpi.run(mpi.compile("rules.c"), settings={"TUTTI_RULES": str(file)})
    told = calls(outcome)
    assert told["bcast"] == {f"circulant:parts=4: {MEASURED}"}
    cases = [case for case in outcome.report["tuning"]["cases"] if case["collective"] == "bcast"]
    few, many = sorted(cases, key=lambda case: case["bytes"][0])
    assert (few["bytes"], many["bytes"]) == ([0, 724], [725, None])  # 8 * 90.5, 64 Ki / 90.5
    assert (few["calls"], many["calls"]) == (3, 3)
    assert few["saved"] == pytest.approx(3 * 5e-6) and few["saved_interval"] is None
    assert many["saved"] == pytest.approx(3 * 800e-6)
    assert many["saved_interval"] == pytest.approx([3 * 650e-6, 3 * 950e-6])
    assert many["candidates"][1]["interval"] == pytest.approx([150e-6, 250e-6])
    assert outcome.report["tuning"]["saved"] >= many["saved"]


IRREGULAR = "irregular.c"


def irregular_rules(path, **uses):
    """Rules for blocks of which the largest is more than twice the mean one."""
    found = (rule(name, use, irregularity="3..inf") for name, use in uses.items())
    return {"TUTTI_RULES": str(file_of(path, *found))}


@pytest.mark.parametrize("report", [True, False], ids=["reported", "passing"])
@pytest.mark.parametrize("np", [3, 4])
def test_rules_decide_by_irregularity(mpi, tmp_path, np, report):
    settings = irregular_rules(tmp_path / "site.json", allgatherv="ring", reduce_scatter="ring")
    program = mpi.compile(IRREGULAR, f"-I{ROOT}/include", FRONT)
    outcome = mpi.run(program, "400", "native: rules: none", "ring: rules: ", np=np,
                      settings=settings, report=report)  # fmt: skip
    outcome.check_correct()
    if report:
        cases = [case for case in outcome.report["tuning"]["cases"] if case["collective"] == "allgatherv"]
        assert [case["calls"] for case in cases] == [100]
        assert cases[0]["evidence"].endswith(", irregularity 3..inf")


def test_rules_decide_by_irregularity_through_nodes(mpi, tmp_path):
    uses = dict.fromkeys(("allgatherv", "reduce_scatter"), "hierarchical(native,leaders=1)")
    settings = irregular_rules(tmp_path / "site.json", **uses) | {"TUTTI_NODE": "2"}
    program = mpi.compile(IRREGULAR, f"-I{ROOT}/include", FRONT)
    outcome = mpi.run(program, "400", "native: rules: none", "hierarchical(native,leaders=1): rules: ",
                      np=4, settings=settings, report=False)  # fmt: skip
    outcome.check_correct()


@pytest.mark.parametrize(
    "keys",
    [{"p": "4..inf"}, {"mpi": "intel"}, {"version": "1"}, {"nodes": "2..inf"},
     {"ranks_per_node": "1..2"}],
)  # fmt: skip
def test_a_rule_for_other_jobs_decides_nothing(mpi, tmp_path, keys):
    file = file_of(tmp_path / "site.json", rule("bcast", "chain", **keys))
    told = calls(mpi.run(mpi.compile("rules.c"), settings={"TUTTI_RULES": str(file)}))
    assert all("rules" not in text for text in told["bcast"])


def test_emulated_nodes_count(mpi, tmp_path):
    file = file_of(tmp_path / "site.json", rule("bcast", "chain", nodes=2, ranks_per_node=2))
    settings = {"TUTTI_RULES": str(file), "TUTTI_NODE": "1,2"}
    assert calls(mpi.run(mpi.compile("rules.c"), settings=settings))["bcast"] == {f"chain: {MEASURED}"}


def test_a_setting_comes_before_rules(mpi, tmp_path):
    file = file_of(tmp_path / "site.json", rule("bcast", "chain"))
    settings = {"TUTTI_RULES": str(file), "TUTTI_BCAST": "binomial"}
    (text,) = calls(mpi.run(mpi.compile("rules.c"), settings=settings))["bcast"]
    assert text.startswith("binomial: ")


def test_a_rule_cuts_no_vector_of_a_user_defined_operation(mpi, tmp_path):
    file = file_of(tmp_path / "site.json", rule("allreduce", "ring"))
    told = calls(mpi.run(mpi.compile("rules.c"), "own", settings={"TUTTI_RULES": str(file)}))
    assert told["allreduce"] == {
        f"ring: {MEASURED}",
        "native: rules: not ring, because it would split the vectors of a user-defined operation "
        "(site.json, 2026-11-22)",
    }


@pytest.mark.parametrize("use", ["ring", "recursive_doubling", "native", "hierarchical(native)"])
def test_reproducible_reductions_ignore_rules(mpi, tmp_path, use):
    file = file_of(tmp_path / "site.json", rule("allreduce", use))
    settings = {"TUTTI_RULES": str(file), "TUTTI_REPRODUCIBLE": "on"}
    (text,) = calls(mpi.run(mpi.compile("rules.c"), settings=settings))["allreduce"]
    assert text.startswith("reduce_bcast: ")


def test_the_memory_limit_holds(mpi, tmp_path):
    file = file_of(tmp_path / "site.json", rule("allreduce", "recursive_doubling"))
    settings = {"TUTTI_RULES": str(file), "TUTTI_MEMORY": "1K"}
    (text,) = calls(mpi.run(mpi.compile("rules.c"), settings=settings))["allreduce"]
    assert text.startswith("native: recursive_doubling") and "TUTTI_MEMORY" in text


def test_no_thread_is_started_for_a_rule(mpi, tmp_path):
    file = file_of(tmp_path / "site.json", rule("bcast", "binomial:runner=background"))
    (text,) = calls(mpi.run(mpi.compile("rules.c"), settings={"TUTTI_RULES": str(file)}))["bcast"]
    assert text.startswith("native: rules: not ") and "TUTTI_BACKGROUND is off" in text


@pytest.mark.parametrize("use", ["linear_sync", "hierarchical(native,leaders=1)"])
def test_persistent_calls_follow_rules(mpi, tmp_path, use):
    file = file_of(tmp_path / "site.json", rule("gatherv", use))
    program = mpi.compile("persistent.c", f"-I{ROOT}/include")
    told = calls(mpi.run(program, settings={"TUTTI_RULES": str(file)}))
    assert told["gatherv"] == {f"{use}: {MEASURED}"}


def test_rank_0_decides_for_all(mpi, tmp_path):
    """Hosts may have different files: those of rank 0 hold, and no rank hangs."""
    mine = file_of(tmp_path / "site.json", rule("bcast", "chain"), rule("allgather", "ring"))
    file_of(tmp_path / "other.json", rule("bcast", "linear", bytes="8..100"))
    program = mpi.compile("rules.c")
    rank = "${PMI_RANK:-$OMPI_COMM_WORLD_RANK}"
    script = tmp_path / "wrapper.sh"
    script.write_text(
        f'[ "{rank}" = 0 ] && export TUTTI_RULES={mine} || export TUTTI_RULES={tmp_path}/other.json\n'
        f"exec {program}\n"
    )
    told = calls(mpi.run("sh", script, settings={}))
    assert told["bcast"] == {f"chain: {MEASURED}"}
    assert told["allgather"] == {f"ring: {MEASURED}"}


def test_the_users_file_comes_after_the_named_one(mpi, tmp_path):
    file_of(tmp_path / "tutti/rules.json", rule("bcast", "chain"), rule("allgather", "ring"))
    named = file_of(tmp_path / "site.json", rule("bcast", "binomial"))
    program = mpi.compile("rules.c")
    settings = {"XDG_CONFIG_HOME": str(tmp_path)}
    both = calls(mpi.run(program, settings=settings | {"TUTTI_RULES": str(named)}))
    assert both["bcast"] == {f"binomial: {MEASURED}"}
    assert both["allgather"] == {f"ring: {MEASURED.replace('site', 'rules')}"}
    none = calls(mpi.run(program, settings=settings | {"TUTTI_RULES": "none"}))
    assert all("rules" not in text for text in none["bcast"])


def test_a_bad_file_of_the_user_is_ignored_with_one_line(mpi, tmp_path):
    bad = tmp_path / "tutti/rules.json"
    bad.parent.mkdir()
    bad.write_text("{")
    outcome = mpi.run(mpi.compile("rules.c"), settings={"XDG_CONFIG_HOME": str(tmp_path)})
    calls(outcome)
    (line,) = (line for line in outcome.err.splitlines() if str(bad) in line)
    assert "is ignored: line 1:" in line


def test_a_bad_file_that_is_named_is_an_error(mpi, tmp_path):
    file = file_of(tmp_path / "site.json", rule("bcast", "chian"))
    outcome = mpi.run(mpi.compile("rules.c"), settings={"TUTTI_RULES": str(file)})
    assert outcome.status != 0
    (line,) = (line for line in outcome.err.splitlines() if str(file) in line)
    assert f"invalid TUTTI_RULES={file}: line 1: use \"chian\"" in line


def test_rules_split_no_vector_of_the_programs_operations_without_a_duplicate(mpi, tmp_path):
    """Tutti duplicates 256 communicators at a time, and asks the MPI about operations on these only."""
    file = file_of(
        tmp_path / "site.json",
        rule("bcast", "linear"),
        rule("allreduce", "ring", bytes="8..1K"),
        rule("allreduce", "hierarchical(native,leaders=1)", bytes="1K..inf"),
    )
    outcome = mpi.run(mpi.compile("many_comms.c"), settings={"TUTTI_RULES": str(file)}, report=False)
    outcome.check_correct()

"""Rules hold on the network on which they were tuned, as tutti-bench and the library name it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from installed import Mpi, environment, mpis
from simulated_bench import Machine, linear, tuned
from tutti import tuning_run
from tutti.tuning_rules import rules_of, to_text


@pytest.mark.parametrize("nodes", ["1,2", "round_robin:2"])
@pytest.mark.parametrize("mpi", mpis(), ids=str)
def test_rules_hold_where_they_were_tuned(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, mpi: Mpi, nodes: str
) -> None:
    for name, value in environment(TUTTI_NODE=nodes).items():
        monkeypatch.setenv(name, value)
    run = tuning_run.under(f"{mpi.mpirun} -n 3")
    tuner = tuned(Machine({"native": linear(10, 1e-3), "chain": linear(5, 0.5e-3)}), "bcast")
    tuner.job = job = tuning_run.job_of(run)
    assert (job.ranks, job.nodes, job.ranks_per_node) == (3, 2, 2)
    assert job.network == f"emulated {nodes}"
    file = tmp_path / "rules.json"
    file.write_text(to_text(rules_of(tuner, "2026-11-22", "tutti tune"), "2026-11-22", "tutti tune"))

    def ran() -> str:
        """What the library runs with these rules, and why."""
        words = ["bcast", "--block", "16", "--algorithm", "auto", "--repetitions", "5"]
        lines = run(words, {"TUTTI_RULES": str(file)})["rows"][0]["algorithms"]
        (text,) = (line["ran"] for line in lines if line["name"] == "auto")
        return str(text)

    assert ran().startswith("chain: rules: measured ")
    content = json.loads(file.read_text())
    for rule in content["rules"]:
        rule["network"] = "cxi"
    file.write_text(json.dumps(content))
    assert "rules" not in ran()

"""The JSON Schema of rules files says what their reader accepts."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

import pytest
from installed import ROOT
from simulated_bench import Machine, linear, tuned
from test_docs import FENCE, PAGES
from tutti import _engine
from tutti.tuning_rules import rules_of, to_text

SCHEMA = json.loads((ROOT / "docs/generated/rules.schema.json").read_text())
KINDS = {"object": dict, "array": list, "string": str, "boolean": bool, "integer": int, "number": (int, float)}


def faults(value: Any, schema: dict[str, Any] = SCHEMA) -> Iterator[str]:
    """Why a value does not fit, by those keywords of JSON Schema that the file has."""
    if "$ref" in schema:
        schema = SCHEMA["definitions"][schema["$ref"].rsplit("/", 1)[1]]
    if "anyOf" in schema and all(any(faults(value, one)) for one in schema["anyOf"]):
        yield f"{value} fits nothing"
    if "const" in schema and value != schema["const"] or value not in schema.get("enum", [value]):
        yield f"unknown {value}"
    kind = KINDS.get(schema.get("type", ""), object)
    if not isinstance(value, kind) or (isinstance(value, bool) and kind not in (bool, object)):
        yield f"{value} is no {kind}"
    elif isinstance(value, dict):
        yield from (f"no {name}" for name in schema.get("required", ()) if name not in value)
        for name, inner in value.items():
            if name not in schema["properties"]:
                yield f"unknown {name}"
            else:
                yield from faults(inner, schema["properties"][name])
    elif isinstance(value, list):
        if not schema.get("minItems", 0) <= len(value) <= schema.get("maxItems", len(value)):
            yield f"{len(value)} items"
        for inner in value:
            yield from faults(inner, schema["items"])
    elif isinstance(value, str) and not re.search(schema.get("pattern", ""), value):
        yield f"{value} has another form"
    elif isinstance(value, (int, float)) and value < schema.get("minimum", value):
        yield f"{value} is too small"


def test_what_pages_and_tunings_write_fits() -> None:
    texts = [match[2] for page in PAGES for match in FENCE.finditer(page.read_text())]
    texts = [text for text in texts if '"tutti-rules-1"' in text]
    tuner = tuned(Machine({"native": linear(10, 1e-3), "chain": linear(5, 0.25e-3)}), "bcast")
    texts.append(to_text(rules_of(tuner, "2026-11-22", "tutti tune"), "2026-11-22", "tutti tune"))
    texts.append(_engine.rules_from_text(texts[-1], "x.json").text())
    assert len(texts) > 3
    for text in texts:
        assert list(faults(json.loads(text))) == []


RULE = {
    "collective": "allreduce", "p": 8, "nodes": "2..inf", "ranks_per_node": "1K..2G", "bytes": "0", "irregularity": 1,
    "commutative": True, "mpi": "other", "version": "4", "network": "cxi", "use": "ring",
    "evidence": {
        "native_us": 1.5, "native_interval_us": [1, 2], "choice_us": 1, "choice_interval_us": [0, 1.5], "calls": 3,
        "sizes": [{"bytes": 8, "native_us": 2, "choice_us": 1, "native_interval_us": [1, 2], "choice_interval_us": [1, 1]}],
        "date": "2026-11-22", "command": "tutti tune", "source": "x.json",
    },
}  # fmt: skip
"""All fields."""


def read(rule: dict[str, Any]) -> tuple[bool, list[str]]:
    """Does the reader accept a rule without a remark, and what is wrong by the schema?"""
    content = {"schema": "tutti-rules-1", "rules": [rule]}
    try:
        accepted = not _engine.rules_from_text(json.dumps(content), "x.json").remarks
    except ValueError:
        accepted = False
    return accepted, list(faults(content))


def test_the_schema_has_every_field() -> None:
    assert read(RULE) == (True, [])
    definitions = SCHEMA["definitions"]
    evidence: Any = RULE["evidence"]
    for name, value in {"Rule": RULE, "RuleEvidence": evidence, "SizedRuleTimes": evidence["sizes"][0]}.items():
        assert set(definitions[name]["properties"]) == set(value)
    assert definitions["Rule"]["properties"]["bytes"]["description"] == "message size"


@pytest.mark.parametrize(
    "wrong",
    [
        {"collective": "rma_bcast"}, {"collective": "bcst"}, {"p": 1.5}, {"p": "8.."}, {"nodes": "inf"}, {"bytes": "64X"},
        {"bytes": -1}, {"commutative": 1}, {"mpi": "OpenMPI"}, {"network": 1}, {"use": None}, {"byte": 8},
        {"evidence": {"native_us": -1}}, {"evidence": {"network": "cxi"}}, {"evidence": {"choice_interval_us": [1]}},
        {"evidence": {"sizes": [{"bytes": "8"}]}},
    ],
    ids=json.dumps,
)  # fmt: skip
def test_reader_and_schema_refuse_the_same(wrong: dict[str, Any]) -> None:
    accepted, found = read(RULE | wrong)
    assert not accepted and found


@pytest.mark.parametrize("name", ["collective", "use"])
def test_reader_and_schema_require_the_same(name: str) -> None:
    accepted, found = read({key: value for key, value in RULE.items() if key != name})
    assert not accepted and found == [f"no {name}"]

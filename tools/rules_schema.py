"""The JSON Schema of rules files, from the fields that the reader in src/select/rules_text.cpp visits, their types in
rules.hpp, and their meaning in docs/tuning.md. Unlike the reader it refuses unknown fields, which are mostly misspelled."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

NUMBER = {"type": "integer", "minimum": 0}
TIME = {"type": "number", "minimum": 0}
TEXT = {"type": "string"}
SIZE = "[0-9]+[KMG]?"
TYPES: dict[str, dict[str, Any]] = {
    "NumberRange": {"anyOf": [NUMBER, {**TEXT, "pattern": f"^{SIZE}([.][.]({SIZE}|inf))?$"}]},
    "std::optional<bool>": {"type": "boolean"},
    "std::string": TEXT,
    "Setting": TEXT,
    "Bytes": NUMBER,
    "std::optional<long>": NUMBER,
    "std::optional<double>": TIME,
    "std::optional<RuleInterval>": {"type": "array", "items": TIME, "minItems": 2, "maxItems": 2},
    "std::vector<SizedRuleTimes>": {"type": "array", "items": {"$ref": "#/definitions/SizedRuleTimes"}},
    "RuleEvidence": {"$ref": "#/definitions/RuleEvidence"},
}
"""The values of a field by its type in C++."""


def members_of(header: str) -> dict[str, dict[str, str]]:
    """The types of the members of each struct, by name."""
    found: dict[str, dict[str, str]] = {}
    for name, base, body in re.findall(r"^struct (\w+)(?: : (\w+))? \{(.*?)^\};", header, re.M | re.S):
        own = re.findall(r"^  (\S+) (\w+)(?: = [^;]*)?;", body, re.M)
        found[name] = found.get(base, {}) | {member: kind for kind, member in own}
    return found


def visited(reader: str, structs: dict[str, dict[str, str]]) -> dict[str, list[str]]:
    """The fields of each struct in the sequence in which they are written."""
    found: dict[str, list[str]] = {}
    pattern = r"^requires (\S+ ?\S*)\nvoid for_each_\w+\(.*?\{(.*?)^\}"
    for condition, body in re.findall(pattern, reader, re.M | re.S):
        struct = next(word for word in re.findall(r"\w+", condition) if word in structs)
        parts = re.findall(r'visit\("(\w+)"|(for_each_time)', body)
        found[struct] = [one for name, _ in parts for one in ([name] if name else found["RuleTimes"])]
    return found


def words_of(reader: str, array: str) -> list[str]:
    """The texts of a constexpr array."""
    body = re.search(rf"\b{array} = \{{(.*?)\}};", reader, re.S)
    if not body:
        raise SystemExit(f"src/select/rules_text.cpp: {array} not found")
    return re.findall(r'"(\w+)"', body[1])


def meanings_of(page: str) -> dict[str, str]:
    """What docs/tuning.md says of each field."""
    found = {}
    for names, text in re.findall(r"^\| ((?:`\w+`(?:, )?)+) \| (.*) \|$", page.split("\n## Which files")[0], re.M):
        meaning = re.sub(r"`| \(\[.*?\]\(.*?\)\)|, defined below|; required", "", text)
        found |= dict.fromkeys(re.findall(r"\w+", names), meaning)
    return found


def rules_schema(root: Path, collectives: list[str]) -> str:
    """The text of the schema; `collectives` are the names that rules may have."""
    reader = (root / "src/select/rules_text.cpp").read_text()
    header = (root / "src/select/rules.hpp").read_text()
    meanings = meanings_of((root / "docs/tuning.md").read_text())
    structs = members_of(header)
    fields = visited(reader, structs)
    special = {"collective": {"enum": collectives}, "mpi": {"enum": words_of(reader, "mpi_names")}}

    def object_of(properties: dict[str, Any], required: list[str]) -> dict[str, Any]:
        needed = {"required": required} if required else {}
        return {"type": "object", "properties": properties, "additionalProperties": False, **needed}

    def definition(struct: str) -> dict[str, Any]:
        properties = {}
        for name in fields[struct]:
            if name not in meanings:
                raise SystemExit(f"docs/tuning.md: the table of {struct} has no row for {name}")
            kind = special.get(name) or TYPES[structs[struct][name]]
            properties[name] = {"description": meanings[name]} | kind
        return object_of(properties, ["collective", "use"] if struct == "Rule" else [])

    (schema,) = re.findall(r'rules_schema = "(.*?)"', header)
    of_file = {"schema": {"const": schema}, "rules": {"type": "array", "items": {"$ref": "#/definitions/Rule"}}}
    made = {
        "$schema": "http://json-schema.org/draft-07/schema#",
        "$comment": "Written by tools/gen_docs.py from src/select/rules_text.cpp; change that and run it again.",
        "title": "Rules of Tutti",
        **object_of({name: of_file.get(name, TEXT) for name in words_of(reader, "file_fields")}, ["schema"]),
        "definitions": {name: definition(name) for name in ("Rule", "RuleEvidence", "SizedRuleTimes")},
    }
    return json.dumps(made, indent=1) + "\n"

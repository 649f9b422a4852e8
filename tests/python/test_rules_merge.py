"""`tutti rules merge`: rules of several tunings in one file, and which of them can decide."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from test_rules import invoke, never, write
from tutti import rules


def merged(output: Path, *files: Path) -> list[tuple[str, str, str]]:
    """Keys, message sizes and choices of the rules that the command writes."""
    done = invoke("rules", "merge", *map(str, files), "--output", str(output))
    assert done.exit_code == 0, done.exception
    return [(rules.text_of(rule), rule.bytes, rule.use) for rule in rules.read(output).all]


def test_rules_of_the_first_file_are_tried_first(tmp_path: Path) -> None:
    large = write(tmp_path / "768.json", '"collective": "bcast", "p": 768, "use": "chain"')
    small = write(tmp_path / "384.json", '"collective": "bcast", "p": "1..768", "use": "linear"')
    output = tmp_path / "rules.json"
    assert merged(output, large, small) == [("p 768", "0..inf", "chain"), ("p 1..768", "0..inf", "linear")]
    assert merged(output, small, large) == [("p 1..768", "0..inf", "linear")], "chain never decides"
    evidence = [(rule.source, rule.date) for rule in rules.read(output).all]
    assert evidence == [("384.json", "2026-11-22")], "a rule keeps its origin"


def test_the_output_may_be_one_of_the_files(tmp_path: Path) -> None:
    site = write(tmp_path / "rules.json", '"collective": "bcast", "p": 4, "use": "chain"',
                 '"collective": "gather", "p": 4, "use": "native"')  # fmt: skip
    new = write(tmp_path / "new.json", '"collective": "bcast", "p": 4, "use": "native"')
    expected = [("p 4", "0..inf", "native")] * 2
    assert merged(site, new, site) == expected
    text = site.read_text()
    assert merged(site, new, site) == expected and site.read_text() == text, "again changes nothing"
    assert json.loads(text)["rules"][1]["collective"] == "gather"


def sizes(*uses: str) -> list[str]:
    """Rules for up to 1 KiB, above that, and so on by factors of 1,024, in JSON."""
    ends = ["0", "1K", "1M", "inf"]
    return [f'"collective": "bcast", "p": 4, "bytes": "{ends[at]}..{ends[at + 1]}", "use": "{use}"'
            for at, use in enumerate(uses)]  # fmt: skip


@pytest.mark.parametrize(
    ("former", "stays"),
    [
        ('"p": 4, "bytes": "512..2K"', False),
        ('"p": 4, "bytes": "512..1M"', False),
        ('"p": 4, "bytes": "512..2M"', True),
        ('"p": 4', True),
        ('"p": "4..5", "bytes": "512..2K"', True),
    ],
)
def test_a_rule_goes_if_several_before_decide_all_its_sizes(
    tmp_path: Path, former: str, stays: bool
) -> None:
    lines = [*sizes("chain", "linear"), f'"collective": "bcast", {former}, "use": "native"']
    remarks = never(tmp_path, *lines)
    assert [text.split("because ")[1] for text in remarks] == (
        [] if stays else ["rules before it decide all its message sizes"]
    )
    new, old = write(tmp_path / "new.json", *lines[:2]), write(tmp_path / "old.json", lines[2])
    assert len(merged(tmp_path / "rules.json", new, old)) == 2 + stays


def test_sizes_between_rules_are_not_decided(tmp_path: Path) -> None:
    outer = [sizes("chain", "linear", "native")[at] for at in (2, 0)]
    assert never(tmp_path, *outer, '"collective": "bcast", "p": 4, "bytes": "512..2M", "use": "native"') == []
    assert never(tmp_path, outer[0], '"collective": "bcast", "p": 4, "use": "native"') == []


def test_what_is_lost_or_missing_is_said(tmp_path: Path) -> None:
    one = write(tmp_path / "a.json", '"collective": "bcast", "byte": 8, "use": "chain"')
    output = tmp_path / "rules.json"
    done = invoke("rules", "merge", str(one), str(one), "--output", str(output))
    line = "line 2: unknown field \"byte\" is ignored; did you mean bytes?"
    assert done.stderr.splitlines() == [f"tutti: {one}: {line}"] * 2
    assert done.stdout == f"{output}: 1 rule of 2 files; without 1 rule that would never decide\n"
    missing = tmp_path / "none.json"
    done = invoke("rules", "merge", str(one), str(missing), "--output", str(output))
    assert "none.json: cannot be read" in str(done.exception)
    assert len(rules.read(output).all) == 1, "the former file stays"

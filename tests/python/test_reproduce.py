"""Reproduced tables: published numbers, the cache, verdicts, and the pages."""

from __future__ import annotations

import pytest
from tutti import Machine, simulated_tables
from tutti.reproduce import page, traff
from tutti.reproduce.cache import Cache
from tutti.reproduce.tables import Comparison, Section, Table, winner


def section(*pairs: tuple[float, float]) -> Section:
    """Problems by their published factor and the one here."""
    rows = [Comparison(f"problem {i}", (a, 1.0), (b, 1.0)) for i, (a, b) in enumerate(pairs)]
    return Section("own simulator", "a machine", ("linear", "tree"), rows, ["a note & more"])


def test_all_tables_of_traff_have_all_problems():
    tables = simulated_tables.paper()["tables"]
    assert [int(number) for number in tables] == list(range(1, 12))
    assert {table["ranks"] for table in tables.values()} == {560, 1600, 3200, 6400}
    for table in tables.values():
        for rows in table["rows"].values():
            assert [len(row) for row in rows] == [10] * 5
            # A minimum is at most 0.1 us above its average, and a padded total at least the total.
            for m, padded, *times in rows:
                assert m <= padded
                assert all(low <= mean + 0.1 for mean, low in zip(times[::2], times[1::2], strict=True))


def test_a_winner_needs_10_percent():
    assert winner(1.2, "linear", "tree") == "tree"
    assert winner(1.05, "linear", "tree") == "even"
    assert winner(0.8, "linear", "tree") == "linear"


def test_a_verdict_names_the_problems_whose_winner_differs():
    assert section((2, 3), (1, 1.05)).verdict() == (
        "same winner in 2 of 2; tree wins 1 published and 1 here: agrees"
    )
    verdict = section((2, 3), (0.5, 1.5)).verdict()
    assert verdict.startswith("same winner in 1 of 2; tree wins 1 published and 2 here.")
    assert verdict.endswith("They differ in problem 1 (published 0.50, here 1.50)")


def test_results_are_kept_by_content(tmp_path):
    calls = []

    def compute() -> dict[str, int]:
        calls.append(1)
        return {"value": len(calls)}

    first = Cache(tmp_path)
    assert first.get(["a", 1], compute) == {"value": 1}
    assert first.get(["a", 2], compute) == {"value": 2}
    again = Cache(tmp_path)
    assert again.get(["a", 1], compute) == {"value": 1}
    assert (again.hits, again.misses, len(calls)) == (1, 0, 2)


def test_an_interrupted_result_is_not_kept(tmp_path):
    def interrupted() -> None:
        raise KeyboardInterrupt

    cache = Cache(tmp_path)
    with pytest.raises(KeyboardInterrupt):
        cache.get("a", interrupted)
    assert cache.get("a", lambda: 7) == 7


def test_the_page_needs_no_other_file():
    table = Table("traff", "table-3", "Table 3 <of> a paper", 1, lambda done: [])
    text = page.html([(table, [section((2, 3), (0.5, 1.5))])])
    assert "Table 3 &lt;of&gt; a paper" in text
    assert "a note &amp; more" in text
    assert text.count("class=differs") == 1
    assert text.count("<circle") == 2
    assert "http" not in text
    assert "src=" not in text


def test_the_summary_has_a_line_for_each_method():
    table = Table("traff", "table-3", "Table 3", 1, lambda done: [])
    text = page.markdown([(table, [section((2, 8), (8, 2)), section((0.5, 1.5))])])
    assert "| Table 3 | own simulator | 2 of 2 | 4.00 | 4.00 |" in text
    assert "| Table 3 | own simulator | 0 of 1 | 0.50 | 1.50 |" in text
    assert "[measured in the lab](arrival-lab.md)" in text


def test_a_linear_gather_pays_the_gap_or_the_bytes():
    machine = Machine()
    machine.latency, machine.per_byte, machine.gap = 2e-6, 1e-9, 1e-6
    # Rank 0 is the root; 500 bytes take less than the gap, 4000 more, and nothing costs nothing.
    seconds = traff._closed_linear([9, 500, 4000, 0], 0, machine)
    assert seconds == pytest.approx(2e-6 + 1e-6 + 4e-6)


def test_the_command_writes_both_pages_and_resumes(command, tmp_path):
    words = ("reproduce", "traff", "table-3", "--simgrid-ranks", "0",
             "--output", str(tmp_path / "out"), "--cache", str(tmp_path / "cache"))  # fmt: skip
    first = command(*words)
    assert first.status == 0
    assert "Table 3: MPI_Gatherv and TUW_Gatherv, p = 560, Open MPI" in first.out
    assert "0 of 30 results were known" in first.out
    html = (tmp_path / "out" / "reproduced.html").read_text()
    assert "TUW_Gatherv wins 11 published" in html
    assert "30 of 30 results were known" in command(*words).out
    assert (tmp_path / "out" / "reproduced.html").read_text() == html


@pytest.mark.parametrize(("words", "expected"), [
    (("lamport",), "unknown paper lamport; expected traff, parsons"),
    (("traff", "table-12"), "traff has no table-12; expected table-1, table-2"),
])  # fmt: skip
def test_unknown_tables_are_refused(command, words, expected):
    done = command("reproduce", *words)
    assert done.status == 2
    assert expected in done.err

"""Crossovers of published series beside those of other sources."""

from __future__ import annotations

import json

import pytest
from reproducing import factors, pair, result_of
from tutti_reproduce import page
from tutti_reproduce.context import Numbers
from tutti_reproduce.tables import Course, Result, Sweep, View


def swept(published: list[Numbers], *here: list[Numbers], xs: tuple[float, ...] = (1, 10, 100)) -> Result:
    """A result whose problems are one series over xs."""
    result = result_of(published, *here)
    return Result(result.problems, result.published, result.views,
                  sweeps=[Sweep("bytes", [("all", x) for x in xs])])  # fmt: skip


def course_of(numbers: list[Numbers], sweep: Sweep | None = None) -> Course | None:
    return pair().courses(sweep or swept(numbers).sweeps[0], numbers)["all"]


def test_a_crossover_is_where_the_factor_is_1_on_the_logarithmic_axis():
    # From 4 to 1/4 over one decade: 1 in its middle, 10^1.5.
    assert course_of(factors(4, 4, 0.25)) == Course("tree", [(pytest.approx(10**1.5), "linear")])
    # Even at 10, but on the tree's side: between 4^(1/4) at 10 and 1/4, 1 at a fifth of the decade.
    found = course_of(factors(4, 1.05, 1 / 1.05**4))
    assert found == Course("tree", [(pytest.approx(10**1.2), "linear")])
    sweep = Sweep("bytes", [("all", 1), ("all", 10), ("all", 100)], log=False)
    assert course_of(factors(4, 4, 0.25), sweep) == Course("tree", [(pytest.approx(55), "linear")])


def test_a_course_names_who_wins_where():
    assert str(course_of(factors(3, 1, 3))) == "none (tree)"
    assert str(course_of(factors(1, 1, 1.05))) == "none (even)"
    assert str(course_of(factors(0.5, 2, 0.5))) == "linear, tree from 3.16, linear from 31.6"
    assert str(Course("tree", [(7224.5, "linear"), (2097152, "tree")])) == "tree, linear from 7,220, tree from 2,100,000"
    assert course_of([{}, {"factor": 2.0}, {}]) is None


def test_where_only_the_winner_is_known_the_crossover_is_in_the_middle():
    found = course_of([{"ahead": -1.0}, {"ahead": 1.0}, {"ahead": 1.0}])
    assert found == Course("linear", [(pytest.approx(10**0.5), "tree")])


def test_problems_of_several_series_may_be_mixed_or_outside():
    sweep = Sweep("bytes", [("b", 100), ("a", 1), None, ("b", 1), ("a", 100)])
    found = pair().courses(sweep, factors(0.5, 2, 7, 2, 2))
    assert {name: str(course) for name, course in found.items()} == {
        "b": "tree, linear from 10", "a": "none (tree)"}  # fmt: skip


@pytest.mark.parametrize(("here", "agree"), [
    (factors(4, 4, 0.25), True),
    (factors(4, 2, 0.25), True),  # 21.5 instead of 31.6.
    (factors(4, 1.2, 0.25), False),  # 13.5: more than a factor of 1.5 apart.
    (factors(4, 4, 4), False),
    (factors(0.25, 4, 4), False),
])  # fmt: skip
def test_crossovers_agree_if_winners_follow_each_other_at_near_numbers(here, agree):
    result = swept(factors(4, 4, 0.25), here)
    assert pair().compared_courses(result, result.views[0]) == ([agree], [])
    assert f"crossovers agree in {int(agree)} of 1 series" in pair().verdict(result, result.views[0])


@pytest.mark.parametrize(("here", "text"), [
    (factors(3, 3, 3), "; no series has a crossover, and in 1 of 1 the same contender wins throughout"),
    (factors(0.3, 0.3, 0.3), "; no series has a crossover, and in 0 of 1 the same contender wins throughout"),
    (factors(3, 3, 0.3), "; crossovers agree in 0 of 1 series that have one"),
])  # fmt: skip
def test_a_series_without_a_crossover_is_none_that_agrees(here, text):
    result = swept(factors(4, 4, 4), here)
    assert pair().verdict(result, result.views[0]).endswith(text)
    both = swept(factors(4, 4, 0.25), here)
    two = Result(both.problems * 2, [*both.published, *result.published], [View("own simulator", "x", here * 2)],
                 sweeps=[Sweep("bytes", [(name, x) for name in "ab" for x in (1, 10, 100)])])  # fmt: skip
    assert tuple(map(len, pair().compared_courses(two, two.views[0]))) == ((2, 0) if "agree in" in text else (1, 1))


def test_pages_show_crossovers_beside_the_published():
    result = swept(factors(4, 4, 0.25), factors(4, 2, 0.25), factors(2, 2, 2))
    text = page.markdown([(pair(), result)])
    assert "| along bytes | published | (a) | (b) |" in text
    assert "| all | tree, linear from 31.6 | tree, linear from 21.5 | none (tree) ✗ |" in text
    shown = page.html([(pair(), result)])
    assert "<td>tree, linear from 21.5</td><td class=differs>none (tree)</td>" in shown
    (table,) = json.loads(page.document([(pair(), result)]))["tables"]
    assert table["crossovers"] == [{"along": "bytes", "series": {
        "all": ["tree, linear from 31.6", "tree, linear from 21.5", "none (tree)"]}}]  # fmt: skip

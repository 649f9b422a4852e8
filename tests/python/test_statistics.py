"""The rank test against an exact count, intervals, and the guidelines on planted times."""

from __future__ import annotations

import json
import math
import random
import time
from itertools import combinations
from statistics import mean

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tutti.guidelines import judge
from tutti.statistics import median_interval, quotient_interval, rank_test


def exact(left, right):
    """The share of all ways to pick the left values whose U is at least this great."""
    values = [*left, *right]

    def u_of(picked):
        mine = [values[i] for i in picked]
        others = [value for i, value in enumerate(values) if i not in picked]
        return sum((a > b) + (a == b) / 2 for a in mine for b in others)

    seen = u_of(set(range(len(left))))
    all_u = [u_of(set(pick)) for pick in combinations(range(len(values)), len(left))]
    return sum(u >= seen for u in all_u) / len(all_u)


@given(
    st.lists(st.integers(0, 1000), min_size=5, max_size=6, unique=True),
    st.lists(st.integers(1001, 2000), min_size=5, max_size=6, unique=True),
    st.randoms(),
)
def test_is_close_to_the_exact_count(low, high, random):
    mixed = [*low, *high]
    random.shuffle(mixed)
    left, right = mixed[: len(low)], mixed[len(low) :]
    assert rank_test(left, right) == pytest.approx(exact(left, right), abs=0.02)


def test_a_worked_example():
    # U = 25 of 25, mean 12.5, sd sqrt(25 / 12 * 11) = 4.787: z = (25 - 12.5 - 0.5) / 4.787 = 2.507.
    assert rank_test([6, 7, 8, 9, 10], [1, 2, 3, 4, 5]) == pytest.approx(0.00609, abs=1e-5)


def test_equal_samples_leave_all_doubt():
    assert rank_test([3.0] * 9, [3.0] * 9) == 1.0
    assert rank_test([1, 2, 3, 4], [1, 2, 3, 4]) > 0.4
    with pytest.raises(ValueError, match="samples of 0 and 1"):
        rank_test([], [1.0])


@given(st.lists(st.floats(0, 1e6), min_size=8, max_size=30), st.floats(0.001, 1e3))
def test_does_not_depend_on_the_unit(values, unit):
    half = len(values) // 2
    scaled = [value * unit for value in values]
    ties_kept = len(set(values)) == len(set(scaled))
    if ties_kept:
        assert rank_test(values[:half], values[half:]) == pytest.approx(
            rank_test(scaled[:half], scaled[half:])
        )


def result_of(gather, gatherv, distribution="same"):
    samples = {"native gather": gather, "native gatherv": gatherv}
    lines = [{"name": name, "samples_us": times} for name, times in samples.items()]
    return {
        "metadata": {},
        "rows": [{"distribution": distribution, "block": 1, "total_elements": 4,
                  "largest_elements": 1, "algorithms": lines}],
        "guidelines": [
            {
                "guideline": 1,
                "library": "native",
                "left": "native gather",
                "right": "native gatherv",
                "equal_blocks_only": True,
            }
        ],
    }


def test_a_planted_violation_is_found():
    slow, fast = [20.0 + i % 7 for i in range(30)], [10.0 + i % 7 for i in range(30)]
    (verdict,) = judge(result_of(slow, fast))
    assert verdict.broken and verdict.ratio == pytest.approx(23 / 13)
    assert not judge(result_of(fast, slow))[0].broken
    assert not judge(result_of(fast, fast))[0].broken


def test_a_clear_but_tiny_excess_is_no_violation():
    fast = [100.0 + i * 0.01 for i in range(40)]
    slow = [value * 1.02 for value in fast]
    (verdict,) = judge(result_of(slow, fast))
    assert verdict.doubt < 1e-6 and not verdict.broken


@pytest.mark.parametrize(
    ("changes", "fault"),
    [
        ({"rows": []}, "rows: expected at least 1"),
        ({"guidelines": []}, "guidelines: expected at least 1"),
        ({"metadata": {"ranks": "x"}}, "metadata.ranks: expected a number, not x"),
    ],
)
def test_results_without_a_test_are_refused(command, tmp_path, changes, fault):
    file = tmp_path / "results.json"
    result = {"schema": "tutti-bench/1", **result_of([2.0] * 9, [1.0] * 9), **changes}
    file.write_text(json.dumps(result))
    shown = command("check", "--results", str(file))
    text = f"tutti: {file}: expected results of tutti-bench guidelines: {fault}\n"
    assert (shown.status, shown.err) == (2, text)


@pytest.mark.parametrize("n", [1, 2, 5, 6, 7, 40, 1100, 3001])
def test_the_interval_of_a_median_has_binomial_ends(n):
    # The true median is outside of [v(k), v(n-1-k)] with probability 2 P(B <= k).
    outside = lambda k: 2 * sum(math.comb(n, i) for i in range(k + 1)) / 2**n  # noqa: E731
    found = median_interval([float(i) for i in range(n)])
    k = int(found.low)
    assert (found.median, found.high) == ((n - 1) / 2, n - 1 - k)
    assert k == 0 or outside(k) <= 0.05
    assert k + 1 >= n // 2 or outside(k + 1) > 0.05


def test_the_interval_of_many_values_takes_no_time():
    values = [float(i) for i in range(10000)]
    start = time.process_time()  # other tests run beside this one
    assert (median_interval(values).low, median_interval(values).high) == (4901.0, 5098.0)
    assert time.process_time() - start < 2


def test_equal_blocks_only():
    assert judge(result_of([2.0] * 9, [1.0] * 9, "spikes")) == []


def test_an_interval_of_paired_quotients() -> None:
    assert quotient_interval([2.0, 4.0, 6.0], [1.0, 2.0, 3.0]) == 0
    # Quotient 1; differences 1, -1, 1, -1 have a deviation of 2 / sqrt(3), the second mean is 10.
    width = quotient_interval([11, 9, 11, 9], [10, 10, 10, 10])
    assert width == pytest.approx(3.182 * 2 / math.sqrt(3) / 2 / 10)
    assert quotient_interval([1.0], [2.0]) == math.inf
    with pytest.raises(ValueError, match="shorter"):
        quotient_interval([1.0, 2.0], [2.0])


def test_the_interval_of_a_quotient_holds_it_in_95_of_100_samples() -> None:
    chance = random.Random(1)
    held = 0
    for _ in range(2000):
        second = [chance.gauss(10, 1) for _ in range(4)]
        first = [1.2 * each + chance.gauss(0, 0.5) for each in second]
        held += abs(mean(first) / mean(second) - 1.2) <= quotient_interval(first, second)
    assert 0.93 < held / 2000 < 0.97

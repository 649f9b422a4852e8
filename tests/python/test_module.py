"""The module: lists, explanations, simulation, verification and their errors."""

from __future__ import annotations

import ast
import doctest
import math
import re
import subprocess
import sys
from pathlib import Path

import pytest
import tutti
from hypothesis import given, settings
from hypothesis import strategies as st
from tutti import _engine
from tutti.console import Refusal
from tutti.workload import arrivals_of, machine_of, root_of

FIGURE = [1, 0, 2, 3, 4, 2, 0, 0, 1, 7, 5]
ROOT = Path(__file__).resolve().parents[2]

calls = st.integers(1, 24).flatmap(
    lambda p: st.tuples(
        st.lists(st.integers(0, 5000), min_size=p, max_size=p), st.integers(0, p - 1)
    )
)
irregular = st.sampled_from(
    [(a.collective, a.name) for a in tutti.algorithms() if a.collective in ("gatherv", "scatterv")]
)
every = st.sampled_from([(a.collective, a.name) for a in tutti.algorithms()])


def test_the_lists_are_those_of_the_source():
    source = (ROOT / "src/algorithms/list.inc").read_text()
    lines = re.findall(r"^TUTTI_ALGORITHM(_FORMS)?\(", source, re.MULTILINE)
    assert len(tutti.algorithms()) == sum(2 if forms else 1 for forms in lines)
    assert "ordered_tree" in {a.name for a in tutti.algorithms()}


@pytest.mark.parametrize(("keep", "said"), [("dict", "freed\n"), ("to_the_end", "")])
def test_memory_in_use_outlives_the_modules_of_python(keep, said):
    program = f"""
from tutti.c_api import to_the_end
class Memory:
    def __del__(self): print("freed")
holder = {keep}({{1: Memory()}})
"""
    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert ended.stdout == said


def test_every_papers_name_means_an_algorithm():
    for alias in tutti.aliases():
        name, _, settings = alias.specification.partition(":")
        keys = [setting.partition("=")[0] for setting in settings.split(",") if setting]
        able = [
            a.collective
            for a in tutti.algorithms()
            if a.name == name and all(key in a.parameters for key in keys)
        ]
        assert able
        for collective in able:
            assert _engine.setting(collective, alias.name.lower()) == alias.specification


def test_explains_the_papers_example():
    parsed = tutti.explain("gatherv", FIGURE, 9, algorithm="ordered_tree")
    assert parsed.tree.splitlines()[2] == "   +- 3:12 -+- 2:2"
    assert parsed.choice.reason == "requested"
    assert [len(messages) for messages in parsed.rounds] == [3, 2, 1, 1]
    assert parsed.irregularity == pytest.approx(7 * 11 / 25)
    assert {c.algorithm for c in parsed.contenders} == {
        a.name for a in tutti.algorithms() if a.collective == "gatherv"
    }


def test_explains_what_runs_between_nodes_by_its_flat_algorithm():
    """Without nodes only that has a schedule."""
    named = tutti.explain("gatherv", FIGURE, 9, algorithm="hierarchical(knomial)")
    assert (named.choice.algorithm, named.call.algorithm) == ("hierarchical(knomial,leaders=1)", "knomial")
    native = tutti.explain("gatherv", FIGURE, 9, algorithm="hierarchical(native)")
    fastest = min(native.contenders, key=lambda contender: contender.seconds)
    assert native.call.algorithm == fastest.algorithm


def test_draws_the_fastest_proposal_where_nothing_is_measured():
    parsed = tutti.explain("gatherv", FIGURE, 9)
    assert parsed.choice.algorithm == "native"
    assert parsed.choice.candidates == []
    assert parsed.call.algorithm == parsed.contenders[0].algorithm
    assert parsed.explored[0] == "native"
    assert set(parsed.explored[1:]) <= set(_engine.useful("gatherv", 11))


@given(calls, irregular)
def test_every_byte_reaches_the_root_and_no_time_beats_the_bound(case, algorithm):
    (sizes, root), (collective, name) = case, algorithm
    call = tutti.Call(collective, sizes, root, name)
    inward = collective.startswith("gather")
    at_root = sum(m.bytes for m in call.messages() if (m.target if inward else m.source) == root)
    assert at_root == sum(sizes) - sizes[root]
    assert call.simulate().run_time >= call.lower_bound() * (1 - 1e-9)


@given(calls, every, st.integers(0, 3))
def test_no_time_of_any_collective_beats_its_bound(case, algorithm, late):
    (sizes, root), (collective, name) = case, algorithm
    if not _engine.is_irregular(collective):
        sizes = [sizes[0]] * len(sizes)
    arrivals = [1e-5 * (rank * late % 7) for rank in range(len(sizes))]
    call = tutti.Call(collective, sizes, root, name, expected=arrivals)
    assert max(call.simulate(arrivals).exits) >= call.lower_bound(arrivals) * (1 - 1e-9)


@given(calls)
def test_sizes_travel_in_few_steps(case):
    sizes, root = case
    rounds = (len(sizes) - 1).bit_length()
    price = tutti.Call("gatherv", sizes, root, "ordered_tree:promote=off").knowledge_price()
    assert price.steps <= max(2 * rounds - 1, 0)
    assert tutti.Call("gatherv", sizes, root, "binomial").knowledge_price().steps <= rounds
    assert tutti.Call("gatherv", sizes, root, "linear").knowledge_price().messages == 0


@pytest.mark.parametrize(
    "call",
    [
        lambda sizes: tutti.explain("gatherv", sizes),
        lambda sizes: _engine.HierarchicalProblem("gatherv", sizes, "2x2"),
    ],
    ids=["flat", "hierarchical"],
)
def test_sizes_whose_sum_no_integer_holds_are_refused(call):
    text = "sizes: 18446744073709551616 bytes in all; expected at most 2\\^62"
    with pytest.raises(ValueError, match=text):
        call([1 << 62] * 4)


def test_one_late_rank_is_simulated_as_in_the_closed_form():
    machine = tutti.Machine()
    machine.latency, machine.per_byte = 2.0, 1.0  # algorithms.md 1.1: P = 8, m = 1, D = 30
    late = [30.0 if rank == 1 else 0.0 for rank in range(8)]
    flat = tutti.simulate("gather", [1] * 8, algorithm="binomial", machine=machine)
    assert flat.run_time == 13  # 3 alpha + 7 m beta
    one_late = tutti.simulate("gather", [1] * 8, algorithm="linear", machine=machine, arrivals=late)
    assert one_late.run_time == 33  # D + alpha + m beta: the others are served meanwhile
    assert one_late.spread == 30


def test_arrivals_may_be_an_array():
    numpy = pytest.importorskip("numpy")
    late = numpy.array([0.0, 30.0])
    assert tutti.simulate("gather", [1, 1], algorithm="linear", arrivals=late).spread == 30


@pytest.mark.parametrize(("parameter", "value", "fault"), [
    ("latency", float("nan"), "nan s: expected a finite time of at least 0"),
    ("gap", -1.0, "-1.000000 s: expected a finite time of at least 0"),
    ("per_byte", 0.0, "per_byte 0: expected more than 0 s"),
])  # fmt: skip
def test_a_machine_without_times_is_refused(parameter, value, fault):
    machine = tutti.Machine()
    setattr(machine, parameter, value)
    with pytest.raises(ValueError, match=fault):
        tutti.simulate("gather", [1] * 8, algorithm="binomial", machine=machine)


def test_verify_finds_nothing_and_reports_progress():
    shares = []
    result = tutti.verify(5, 0, threads=2, algorithm="ring", progress=lambda done, at: shares.append(done))
    assert result.cases > 1_000 and result.failures == []
    assert shares == sorted(shares) and shares[-1] <= 1.0


def test_verify_sees_the_same_cases_with_any_number_of_threads():
    counts = {tutti.verify(4, 0, threads=threads, algorithm="ring").cases for threads in (1, 2, 5)}
    assert len(counts) == 1


def test_the_example_of_the_package_is_right():
    assert doctest.testmod(tutti).failed == 0 and doctest.testmod(tutti).attempted > 0


def test_a_notebook_shows_the_timeline_of_an_explanation():
    call = tutti.explain("gatherv", sizes=[1, 0, 2, 3], root=3)
    drawing = call._repr_svg_()
    assert drawing.startswith("<svg") and call.title in drawing


@pytest.mark.parametrize(("text", "root"), [("first", 0), ("half", 280), ("last", 560), ("17", 17)])
def test_a_root_is_a_rank_or_a_place(text, root):
    assert root_of(text, 561) == root


def test_the_machine_comes_from_where_the_library_takes_it(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.delenv("TUTTI_MACHINE", raising=False)
    built_in = tutti.Machine().latency
    assert machine_of(None).latency == built_in
    (tmp_path / "tutti").mkdir()
    (tmp_path / "tutti/machine").write_text("latency 5e-6\n")
    assert machine_of(None).latency == 5e-6
    (tmp_path / "machine").write_text("latency 6e-6\n")
    monkeypatch.setenv("TUTTI_CACHE_DIR", str(tmp_path))
    assert machine_of(None).latency == 6e-6
    monkeypatch.setenv("TUTTI_CACHE_DIR", "")
    assert machine_of(None).latency == 5e-6
    named = tmp_path / "named"
    named.write_text("latency 7e-6\n")
    monkeypatch.setenv("TUTTI_MACHINE", str(named))
    assert machine_of(None).latency == 7e-6
    assert machine_of(Path("built-in")).latency == built_in
    monkeypatch.setenv("TUTTI_MACHINE", "/none")
    with pytest.raises(Refusal, match="TUTTI_MACHINE=/none: cannot be read: No such file"):
        machine_of(None)


def test_a_user_without_a_home_folder_has_no_measured_machine(monkeypatch):
    for name in ("TUTTI_CACHE_DIR", "XDG_CACHE_HOME", "HOME", "TUTTI_MACHINE"):
        monkeypatch.delenv(name, raising=False)
    assert machine_of(None).latency == tutti.Machine().latency


@pytest.mark.parametrize(
    ("pattern", "times"),
    [
        ("together", [0, 0, 0]),
        ("one-late:2ms", [0, 0, 2e-3]),
        ("one-late:1s:0", [1, 0, 0]),
        ("ramp:4us", [0, 2e-6, 4e-6]),
        ("1us,0us,1.5ms", [1e-6, 0, 1.5e-3]),
    ],
)
def test_arrival_patterns(pattern, times):
    assert arrivals_of(pattern, 3) == pytest.approx(times)


def test_random_arrivals_depend_on_their_seed_alone():
    times = arrivals_of("random:1ms:7", 50)
    assert times == arrivals_of("random:1ms:7", 50) != arrivals_of("random:1ms:8", 50)
    assert 0 <= min(times) < max(times) <= 1e-3


def machine_with(**values: float) -> tutti.Machine:
    machine = tutti.Machine()
    for name, value in values.items():
        setattr(machine, name, value)
    return machine


@pytest.mark.parametrize(
    ("wrong", "text"),
    [
        (lambda: tutti.Call("sort", [1]), "unknown collective 'sort'"),
        (lambda: tutti.Call("allgather", [1, 2], 0, "ring"), "try allgatherv"),
        (lambda: tutti.Call("reduce_scatter_block", [1, 2], 0, "ring"), "try reduce_scatter"),
        (lambda: tutti.Call("gatherv", []), "at least one rank"),
        (lambda: tutti.Call("gatherv", [1, -2]), "size -2 of rank 1"),
        (lambda: tutti.Call("gather", [1, 2], 0, "linear"), "try gatherv"),
        (lambda: tutti.Call("gatherv", [1, 2], 2), "root 2: expected a rank from 0 to 1"),
        (lambda: tutti.Call("gatherv", [1], 0, "nonsense"), "gatherv has no algorithm 'nonsense'"),
        (lambda: tutti.Call("gatherv", [1, 2]).simulate([0.0]), "1 arrivals: expected one for each of 2 ranks"),
        (lambda: tutti.schedule("gatherv", [1, 2], 5), "rank 5: expected 0 to 1"),
        (lambda: tutti.distribute("gauss", 4, 1), "unknown distribution 'gauss'"),
        (lambda: tutti.distribute("same", 0, 1), "ranks 0"),
        (lambda: tutti.distribute("decreasing", 3, 2**62), "expected at most 2^62"),
        (lambda: tutti.distribute("spikes", 2, 2**60), "expected at most 2^62"),
        (lambda: _engine.explored("allgather", 0, 8, 1, _engine.Machine()), "ranks 0"),
        (lambda: _engine.explored("allgather", 4, -8, 1, _engine.Machine()), "block -8"),
        (lambda: _engine.explored("allgather", 4, 8, 1, machine_with(latency=math.nan)), "machine: nan s"),
        (lambda: _engine.explored("gather", 2, 8, 1, _engine.Machine(), [0.0, math.inf]), "arrivals: expected finite"),
        (lambda: _engine.DelayPredictor(-1), "ranks -1"),
        (lambda: _engine.DelayPredictor(2).take([0.0, math.inf]), "arrivals: expected finite"),
        (lambda: _engine.HierarchicalProblem("scan", [8] * 4, "2x2"), "scan has no hierarchical form"),
        (lambda: _engine.HierarchicalProblem("alltoall", [2**58] * 16, "4x4"), "expected at most 2^62"),
        (lambda: _engine.HierarchicalProblem("alltoall", [8] * 16, "4x4", machine=machine_with(latency=math.nan)),
         "machine: nan s"),
        (lambda: _engine.hierarchical_estimate("allgather", 4, 4, 8, machine_with(latency=math.nan)), "machine: nan s"),
        (lambda: tutti.Call("reduce_scatter", [2**58] * 16), "expected at most 2^62"),
        (lambda: tutti.verify(0), "ranks up to 0"),
        (lambda: tutti.verify(3, algorithm="bogus"), "unknown algorithm 'bogus'"),
        (lambda: _engine.bytes_from("3X"), "invalid size '3X'"),
        (lambda: _engine.machine_from_text("latency fast"), "line 1"),
    ],
)
def test_errors_name_the_value(wrong, text):
    with pytest.raises(ValueError, match=None) as caught:
        wrong()
    assert text in str(caught.value)


def test_schedule_of_a_rank_is_text():
    assert tutti.schedule("gatherv", FIGURE, 5, root=9).splitlines()[1] == "0 send 4 [5,6) 2"
    with pytest.raises(IndexError, match="rank 11: expected 0 to 10"):
        tutti.Call("gatherv", FIGURE).schedule(11)


@settings(deadline=None)
@given(st.sampled_from(tutti.distributions()), st.integers(1, 40), st.integers(0, 1000))
def test_distributions_have_a_size_for_each_rank(name, ranks, block):
    sizes = tutti.distribute(name, ranks, block)
    assert len(sizes) == ranks and min(sizes) >= 0
    assert sizes == tutti.distribute(name, ranks, block)


def members(stub):
    """All functions and members of classes, with their arguments' names."""
    found = set()
    for node in ast.walk(ast.parse(stub.read_text())):
        inside = node.body if isinstance(node, (ast.ClassDef, ast.Module)) else []
        for one in inside:
            if isinstance(one, ast.FunctionDef):
                names = tuple(argument.arg for argument in one.args.args)
                found.add((getattr(node, "name", ""), one.name, names))
    return found


def test_the_stub_is_that_of_the_engine(tmp_path):
    made = tmp_path / "_engine.pyi"
    subprocess.run(
        [sys.executable, "-m", "nanobind.stubgen", "-q", "-m", "tutti._engine", "-o", str(made)],
        check=True,
    )
    assert members(made) == members(ROOT / "python/tutti/_engine.pyi")


def test_a_call_that_expects_arrivals_is_ordered_by_them():
    expected = [0.0, 30e-3, 0.0, 10e-3]
    call = tutti.Call("scatter", [8] * 4, algorithm="SLIN", expected=expected)
    assert call.order == [0, 2, 3, 1]
    with pytest.raises(ValueError, match="3 arrivals: expected one for each of 4"):
        tutti.Call("scatter", [8] * 4, expected=[0.0, 1.0, 2.0])


def test_expected_arrivals_enter_what_auto_explores():
    late = [0.0] * 4 + [3e-3] + [0.0] * 3
    together = tutti.explain("scatter", [1 << 20] * 8)
    apart = tutti.explain("scatter", [1 << 20] * 8, arrivals=late)
    hidden = tutti.explain("scatter", [1 << 20] * 8, arrivals=late, background=True)
    assert not any("arrival" in name for name in together.explored)
    assert "binomial:order=arrival" in apart.explored
    assert not any("background" in name for name in apart.explored)
    assert "runner=background" in hidden.explored[1], "the first after native"
    assert hidden.choice.algorithm == "native", "nobody has measured anything"
    assert hidden.seconds == pytest.approx(3e-3)
    assert all(c.seconds >= hidden.lower_bound for c in hidden.contenders)
    reduction = tutti.explain("allreduce", [8] * 8, arrivals=late, background=True)
    assert not any("background" in name for name in reduction.explored)


def test_prices_follow_their_models():
    """A gather of 2 ranks is one message of 101 bytes."""
    machine = tutti.Machine()
    machine.latency, machine.per_byte, machine.overhead, machine.gap = 5e-6, 1e-8, 1e-6, 2e-6
    call = tutti.Call("gather", [101, 101], 0, "linear", machine)
    assert call.price("hockney") == pytest.approx(5e-6 + 101e-8)
    assert call.price("logp") == pytest.approx(5e-6)
    assert call.price() == call.price("loggp") == pytest.approx(5e-6 + 100e-8)
    assert call.price("hockney", [0, 3e-6]) == pytest.approx(8e-6 + 101e-8)
    with pytest.raises(ValueError, match="model logg: expected hockney, overlapped, logp or loggp"):
        call.price("logg")
    with pytest.raises(ValueError, match="1 arrivals: expected one for each of 2 ranks"):
        call.price(arrivals=[0])

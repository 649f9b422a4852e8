"""The published numbers and the models of each paper."""

from __future__ import annotations

import json
import math
import shutil
from types import SimpleNamespace

import pytest
import tutti
from browser import in_chromium
from installed import ROOT
from reproducing import context, named, needs_simgrid, run
from tutti import Machine
from tutti._engine import distribute
from tutti.simgrid import platforms
from tutti_reproduce import bhowmik, page, parsons, paznikov, proficz, simulated, traff, traff_lab
from tutti_reproduce.context import Numbers, published
from tutti_reproduce.tables import View, network


@pytest.fixture(scope="module")
def computed(tmp_path_factory):
    """The cache folder of the user in which these tests keep what the tables share."""
    return tmp_path_factory.mktemp("computed")


@pytest.fixture
def kept(computed):
    """Where the command would keep results."""
    return computed / "tutti/reproduce"


# Träff


def test_all_tables_of_traff_have_all_problems():
    tables = published("traff")["tables"]
    assert [int(number) for number in tables] == list(range(1, 12))
    assert {table["ranks"] for table in tables.values()} == {560, 1600, 3200, 6400}
    for table in tables.values():
        for rows in table["rows"].values():
            assert [len(row) for row in rows] == [10] * 5
            # A minimum is at most 0.1 us above its average, and a padded total at least the total.
            for m, padded, *times in rows:
                assert m <= padded
                assert all(low <= mean + 0.1 for mean, low in zip(times[::2], times[1::2], strict=True))
    assert sum(distribute("decreasing", 560, 100)) == tables["1"]["rows"]["decreasing"][2][0] == 56400


def test_a_linear_gather_pays_the_gap_or_the_bytes():
    machine = Machine()
    machine.latency, machine.per_byte, machine.gap = 2e-6, 1e-9, 1e-6
    # Rank 0 is the root; 500 bytes take less than the gap, 4000 more, and nothing costs nothing.
    seconds = traff.closed_linear([9, 500, 4000, 0], 0, machine)
    assert seconds == pytest.approx(2e-6 + 1e-6 + 4e-6)


def test_no_gather_is_faster_than_its_bound():
    for distribution in ("decreasing", "two_blocks"):
        times = traff.problem(60, distribution, 100, Machine())
        del times["gap"]  # Start-ups overlap there; the bound's model has none that do.
        assert times["bound"] == min(times.values())
        assert times["TUW_Gatherv"] < times["guideline (2)"]


# Paznikov


def test_the_closed_form_is_the_paper_s():
    # L = 5, o = 2, g = 4, o_r = 3 and P = 8: 3 stages of 2 + 8 + 5 + 3, and 7; 10 more a stage for 1000 G.
    machine = network({"latency": 9e-6, "overhead": 2e-6, "gap": 4e-6, "polling": 3e-6, "per_byte": 1e-8})
    assert paznikov.logp(machine, 8) == pytest.approx(61e-6)
    assert paznikov.closed_form(machine, 8, 1001)["tree"] == pytest.approx(91e-6)
    assert paznikov.closed_form(machine, 8, 1001)["linear"] == pytest.approx((7 * 12 + 5 + 2) * 1e-6)


@pytest.mark.parametrize(("p", "stages"), [(2, 1), (3, 2), (8, 6), (64, 21), (24, 11)])
def test_the_printed_tree_has_k_choose_2_stages(p, stages):
    assert paznikov.depth(p) == stages


def test_crossovers_are_the_least_sizes_and_processes():
    def times(_: Machine, p: int, m: int) -> Numbers:
        return {"linear": p * m, "tree": 3 * m + 100}

    machine = Machine()
    assert paznikov.size_ahead(times, machine, 5, 1000) == 51  # 5 m > 3 m + 100
    assert paznikov.size_ahead(times, machine, 3, 1000) == math.inf
    assert paznikov.processes_ahead(times, machine, 10, 48) == 14  # 10 p > 130
    assert paznikov.processes_ahead(times, machine, 1, 48) == math.inf


def test_one_latency_explains_the_crossovers_over_ethernet(tmp_path):
    table = named(paznikov.tables(context(tmp_path)), "crossovers")
    result = run(table)
    fitted = result.views[-1].numbers
    ethernet = [i for i, problem in enumerate(result.problems) if problem.startswith("Gigabit")]
    assert len(ethernet) == 6
    for i in ethernet:
        assert fitted[i]["value"] == pytest.approx(result.published[i]["value"], rel=0.15)


# Bhowmik & Bodele


def test_the_order_of_figure_1_is_the_paper_s():
    assert bhowmik.figure_1() == published("bhowmik")["order"]


def test_a_ring_in_blocks_gains_nothing_and_doubling_does(tmp_path):
    tables = bhowmik.tables(context(tmp_path))
    ring, doubling = (run(named(tables, name)) for name in ("figure-2", "figure-5"))

    def gains(view: View) -> list[float]:
        return [each["default"] / each["reordered"] for each in view.numbers]

    blocks, round_robin, shuffled = ring.views
    assert gains(blocks) == pytest.approx([1.0] * 10)
    assert min(gains(round_robin)) > 1.4
    assert min(gains(shuffled)) > 1.1
    blocks, round_robin, shuffled = doubling.views
    assert min(gains(blocks)) > 1.12
    assert gains(round_robin) == pytest.approx([1.0] * 10)
    for view in (*ring.views, *doubling.views):
        assert all(each["order=distance"] <= 1.001 * each["reordered"] for each in view.numbers)


@pytest.mark.parametrize(("copied", "text"), [
    (("1-small",), "means of 1 numbering."),
    (("1-small", "6-small"), "means of 2 numberings."),
    (("1-small", "6-small", "1-large"), "means of 1 to 2 numberings."),
])  # fmt: skip
def test_the_numberings_of_the_lab_are_counted(tmp_path, copied, text):
    for name in copied:
        shutil.copy(ROOT / f"docs/results/lab-place-openmpi-8-{name}.json", tmp_path)
    view = bhowmik._lab(context(tmp_path / "cache", tmp_path), "ring", 8, [1, 256])
    assert view and view.notes == [f"Medians; {text}"]


# All


@pytest.mark.parametrize(("paper", "name"), [
    (traff, "table-1"), (proficz, "example"), (paznikov, "figure-12"), (bhowmik, "figure-4"),
    (parsons, "averages"), (parsons, "senders"), (traff_lab, "lab-gatherv"), (traff_lab, "lab-scatterv"),
])  # fmt: skip
def test_the_published_results_are_those_of_the_command(paper, name, kept):
    results = ROOT / "docs" / "results"
    table = named(paper.tables(context(kept, results)), name)
    (now,) = json.loads(page.document([(table, run(table))]))["tables"]
    tables = json.loads((results / "reproduced.json").read_text())["tables"]
    (former,) = [each for each in tables if (each["paper"], each["name"]) == (now["paper"], name)]
    ours = [view for view in former["views"] if view["source"] != "SimGrid"]
    assert [view["machine"] for view in ours] == [view["machine"] for view in now["views"]]
    for old, new in zip(ours, now["views"], strict=True):
        for before, after in zip(old["numbers"], new["numbers"], strict=True):
            assert after == pytest.approx(before, rel=1e-3)


def test_times_are_minima_and_means_by_contender():
    lines = [{"name": "native", "min_us": 1.0, "mean_us": 2.0}, {"name": "linear", "min_us": 3.0, "mean_us": 4.0}]
    found = simulated.times_of({"rows": [{"algorithms": lines}]}, {"MPI_Gatherv": "native"})
    assert found == [{"MPI_Gatherv": 1.0, "MPI_Gatherv, avg": 2.0}]


@pytest.mark.parametrize("folder", ["bin", "lib/x86_64-linux-gnu/simgrid"])
def test_results_depend_on_the_library_of_simgrid(tmp_path, folder):
    library = tmp_path / "lib/x86_64-linux-gnu/libsimgrid.so.3"
    (tmp_path / folder).mkdir(parents=True)
    library.parent.mkdir(parents=True, exist_ok=True)
    library.touch()
    library.with_suffix("").symlink_to(library)
    assert simulated._libraries(tmp_path / folder / "smpimain") == [library]
    assert simulated._libraries(tmp_path / "other/bin/smpimain") == []


def test_results_depend_on_the_files_that_settings_name(tmp_path, monkeypatch):
    files = {setting.name for setting in tutti.settings() if "a file" in setting.accepted}
    assert files == {*simulated.READ, "TUTTI_REPORT"}
    runs = []
    program = tmp_path / "program"
    running = SimpleNamespace(front=lambda: program, smpimain=lambda: program, program=lambda name: program,
                              __file__=__file__)  # fmt: skip
    monkeypatch.setattr(simulated, "running", running)
    monkeypatch.setattr(simulated, "times", lambda *words: runs.append(1) or [{"native": len(runs)}])
    file = tmp_path / "file"
    for number, name in enumerate(simulated.READ):
        monkeypatch.setenv(name, str(file))
        for content in ("one", "one", "two"):
            file.write_text(name + content)
            simulated.bench(context(tmp_path / "cache"), [], {}, platforms.platform("switch:2"), 2, 1)
        assert len(runs) == 2 * (number + 1), name


@needs_simgrid
def test_orders_by_distance_gain_in_simgrid_where_the_paper_says(tmp_path):
    result = run(named(bhowmik.tables(context(tmp_path, simgrid_ranks=4)), "figure-4"))
    in_blocks, round_robin, at_random = (view for view in result.views if view.source == "SimGrid")
    low, high = published("bhowmik")["gain"]
    for numbers in in_blocks.numbers[1:]:
        assert low <= numbers["default"] / numbers["reordered"] <= high
    # The natural order is the paper's: messages to the other switch come first.
    for numbers in round_robin.numbers:
        assert numbers["default"] == pytest.approx(numbers["reordered"], rel=0.02)
    assert all(each["default"] > each["reordered"] for each in at_random.numbers)


# Pages


SCRIPT = """
  page.querySelectorAll("details").forEach(each => each.open = true);
  found.outside = [...page.querySelectorAll("svg")].filter(svg => {
    const frame = svg.getBoundingClientRect();
    return [...svg.querySelectorAll("text")].some(each => {
      const box = each.getBoundingClientRect();
      return box.left < frame.left - 1 || box.right > frame.right + 1 || box.bottom > frame.bottom + 1;
    });
  }).length;
"""


def test_the_page_fits_in_chromium(command, tmp_path, computed, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(computed))
    command("reproduce", "parsons", "--simgrid-ranks", "0", "--output", str(tmp_path))
    for width in (1280, 400):
        found = in_chromium(tmp_path / "reproduced.html", width, SCRIPT)
        assert found["outside"] == "0", f"a label is cut at {width} pixels"
        assert int(found["width"]) <= width, "the page scrolls sideways"

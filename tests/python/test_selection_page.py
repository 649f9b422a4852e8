"""The page on what `auto` selects: what stands out, what it says in short, how old samples are."""

import json
import sys

import pytest
from installed import ROOT

sys.path.append(str(ROOT / "bench"))

import lab_selection
import selection_cells

ENOUGH, FEW = 25, 5


def contender(name, microseconds, calls=ENOUGH, ran=""):
    samples = [microseconds] * calls
    return {"name": name, "samples_us": samples, "after_last_arrival_us": samples,
            "median_us": microseconds, "ran": f"{ran}: why"}  # fmt: skip


def row(collective, size, native, auto, ran, calls=ENOUGH, **others):
    lines = [contender("native", native, calls), contender("auto", auto, calls, ran),
             contender("native", native, calls),
             *(contender(name, time, calls) for name, time in others.items())]  # fmt: skip
    return {"collective": collective, "distribution": "same", "block": size, "element_bytes": 1,
            "algorithms": lines}  # fmt: skip


ROWS = [row("bcast", 8, 100, 200, "native", linear=110),
        row("bcast", 1 << 20, 9000, 3000, "chain", chain=3000),
        row("bcast", 1024, 900, 900, "native", ring=450),
        row("bcast", 2048, 900, 300, "ring", FEW, ring=300)]  # fmt: skip


@pytest.fixture
def found():
    return list(selection_cells.cells({"rows": ROWS}))


def test_what_stands_out_is_named_above_the_table(found):
    lines = selection_cells.highlights(found)
    assert lines[::2] == [
        "**Gains of 1.3 and more**: bcast 1 MiB 3.0.",
        "**The same, but too few calls, or an interval with 1**: bcast 2 KiB 3.0.",
        "**Missed: fastest 1.3 times what ran, or more**: bcast 1 KiB 2.0 (`ring`).",
        "**Slower beyond doubt**: bcast 8 B 0.50 (0.50 to 0.50).",
    ]


def test_what_the_figures_say_in_short(found):
    lines = selection_cells.in_short({"here": found}, {"there": found}, found)
    text = " ".join(" ".join(lines).split())
    assert "Calls of 5 ms or more are 3.0 times as fast" in text
    assert "Calls below 0.7 ms take 2.00 of native's time" in text
    assert "Slower beyond doubt are 1 of 1 of them (1 of 1 with here), the worst 0.50." in text
    assert "as in a program, they take 2.00. There 1 of 4 cells in all are slower beyond doubt: 0.50." in text


def test_each_table_says_how_old_its_samples_are(tmp_path):
    def write(collective, date, rows):
        metadata = {"library": "Open MPI v4.1.4, x", "date": f"{date}T01:00:00Z"}
        document = {"schema": "tutti-bench/1", "metadata": metadata, "rows": rows}
        (tmp_path / f"selection-openmpi-8x1-{collective}.json").write_text(json.dumps(document))

    older = row("scan", 8, 100, 100, "native", FEW, linear=100)
    for line in older["algorithms"]:
        del line["after_last_arrival_us"]
    write("bcast", "2026-11-29", ROWS)
    write("scan", "2026-11-25", [older])
    page = tmp_path / "page.md"
    page.write_text(lab_selection.lab_page.MARKER + "\n")
    lab_selection.page(tmp_path, page)
    text = page.read_text()
    assert f"| Open MPI v4.1.4, 8x1 | scan | 2026-11-25; {lab_selection.OLDER} | 5 |" in text
    assert "| Open MPI v4.1.4, 8x1 | bcast | 2026-11-29 | 5 to 25 |" in text

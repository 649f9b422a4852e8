"""`tutti report`: waiting times as table and drawing, and recorded arrivals for tutti-bench."""

from __future__ import annotations

import json
import struct
import sys
from io import BytesIO, TextIOWrapper
from pathlib import Path

import pytest
from installed import BUILD, PREFIX, ROOT, mpis, run
from reporting import late_rank, line_of, write_report
from tutti import heatmap, pages, report_page, report_text, reports, source_lines
from tutti.console import Refusal, console

OTHER = {"collective": "scatter", "site": "app: setup+0x20"}


def test_a_report_says_who_is_late_and_what_that_costs(command, tmp_path):
    name = write_report(tmp_path, line_of(None, **OTHER), line_of(late_rank(4, 10, 2)))
    out = command("report", name).out
    assert out.startswith("Tutti 0.1.0, MPICH 4, 4 ranks on 1 node\ntimes: all ranks read the same clock")
    assert "rank 2 is last in 90 % of 10 calls, 41.0 ms behind the first" in out
    assert "12.3 ms" in out  # waiting, in the table of lines
    rows = [line.split() for line in out.splitlines()]
    assert "behind the first  " not in out, "the sentence has the mean of late calls"
    # rank, last in, mean delay, waiting, held, moving: rank 0 is the root, which waits.
    assert ["0", "10", "%", "0.00", "us", "36.9", "ms", "0.00", "us", "1.00", "ms"] in rows
    assert ["2", "90", "%", "36.9", "ms", "0.00", "us", "0.00", "us", "1.00", "ms"] in rows
    (drawn,) = [line for line in out.splitlines() if line.startswith("rank 2 |")]
    assert drawn.endswith("█    |")  # the tenth call is not late
    assert command("report", name, "--site", "scatter").out.count("app: main") == 0


def test_a_report_says_how_far_expectations_were_off(command, tmp_path):
    line = line_of([[0.0, 0.01], [0.0, 0.02]])
    line["pattern"]["ahead"] = [[None, None], [0.0, -0.004]]
    out = command("report", write_report(tmp_path, line)).out
    assert "predicted 1 call: mean error 2.00 ms (10.0 ms if all" in out
    assert "last rank in 100 %" in " ".join(out.split())
    assert "16.0 ms" in out, "what was expected of rank 1"
    line["pattern"]["progress_hint"] = [[None, None], [0.003, 0.005]]
    rows = [row.split() for row in command("report", write_report(tmp_path, line)).out.splitlines()]
    assert any(row[:1] == ["1"] and row[-2:] == ["5.00", "ms"] for row in rows)
    line["pattern"]["ahead"] = None
    assert "predicted" not in command("report", write_report(tmp_path, line)).out


def test_long_reports_show_the_worst(command, tmp_path):
    lines = [line_of(late_rank(20, 5, 3, 0.01 * n), site=f"app: f{n}+0x1") for n in range(1, 6)]
    name = write_report(tmp_path, *lines)
    out = command("report", name).out
    assert "5: gather at app: f5" in out and "1: gather at app: f1" not in out
    assert ".. and 2 more lines with arrivals" in out and "of 20 ranks" in out
    full = command("report", name, "--full").out
    assert "1: gather at app: f1" in full and ".. and" not in full


def test_a_single_rank_has_no_arrivals(command, tmp_path):
    lines = [line_of(late_rank(1, 5, 0), site=f"app: f{n}+0x1") for n in range(5)]
    name = write_report(tmp_path, *lines, ranks=1)
    assert "with arrivals" not in command("report", name).out
    assert "Who is late?" not in report_page.render(reports.read(Path(name)), "run.html")
    for words in (("explain", "--report", name), ("report", name, "--picture", str(tmp_path / "a.svg"))):
        shown = command(*words)
        assert shown.status == 2 and "no line of the report has recorded arrivals of 2 or more ranks" in shown.err


def test_columns_never_merge(command, tmp_path, monkeypatch):
    monkeypatch.setenv("COLUMNS", "40")
    call = line_of(None, collective="reduce_scatter", calls=123_456_789, bytes=1 << 50,
                   irregularity={"mean": 12345.67, "max": 1}, elapsed={"mean": 1, "sum": 1})  # fmt: skip
    lines = command("report", write_report(tmp_path, call)).out.splitlines()
    (row,) = [line.split() for line in lines if "reduce_scatter" in line]
    assert row[:6] == ["1", "reduce_scatter", "123456789", "1.00", "PiB", "12345.67"]
    (head,) = [line.split() for line in lines if "collective" in line and "calls" in line]
    assert head[-3:] == ["waiting", "held", "moving"], "the head is folded like the rows"


def test_a_report_without_calls_says_so(command, tmp_path):
    assert "No collective was recorded." in command("report", write_report(tmp_path)).out
    assert "No collective" not in command("report", write_report(tmp_path, line_of(None))).out


def test_lines_are_found_in_linear_time(tmp_path, monkeypatch):
    """Each comparison of a line costs 1; a line belongs to one of the reports."""
    looked = []

    class Calls(list):
        def __iter__(self):
            for one in list.__iter__(self):
                looked.append(1)
                yield one

    monkeypatch.setattr(report_text, "_lines", lambda *_: None)
    parts = [{"calls": Calls(line_of(None) for _ in range(200))} for _ in range(2)]
    report_text.print_reports(console(), parts, written=0)
    assert len(looked) < 10 * 400


def test_parts_and_lines_without_patterns_are_shown(command, tmp_path):
    path = tmp_path / "parts.json"
    own = {"format": 2, "partial": True, "view": "the calls of process 5", "mpi": "MPICH 4"}
    part = json.dumps({**own, "calls": [line_of(None)]})
    path.write_text(part + "\n" + part + "\n")
    out = command("report", str(path)).out
    assert out.count("partial: the calls of process 5") == 2 and "\n2  gather" in out


@pytest.mark.parametrize(("ranks", "calls"), [(2, 1), (1000, 130), (3, 100_000)])
def test_the_picture_can_be_read_with_few_and_many(command, tmp_path, ranks, calls):
    pytest.importorskip("matplotlib")
    late = max(0, ranks - 2)
    name = write_report(tmp_path, line_of(late_rank(ranks, calls, late)), line_of(None, **OTHER))
    picture = tmp_path / "arrivals.png"
    shown = command("report", name, "--picture", str(picture), "--site", "1")
    assert shown.status == 0, shown.err
    data = picture.read_bytes()
    assert data.startswith(b"\x89PNG") and b"IEND" in data[-12:]
    assert struct.unpack(">II", data[16:24]) == (1500, 645)  # 10 x 4.3 inches, 150 dots each


def test_the_picture_shows_the_data(tmp_path):
    pytest.importorskip("matplotlib")
    from matplotlib import pyplot
    from tutti.arrival_picture import figure_of

    long = f"app: void work<std::vector<{'int' * 30}> >(double const*, int)+0x1"
    lines = line_of(late_rank(4, 10, 2)), line_of(None), line_of(late_rank(1000, 8, 700), site=long)
    sites = reports.sites_of(reports.read(Path(write_report(tmp_path, *lines))))
    figure = figure_of("title of the whole", sites)
    small, parts, large, _, *bars = figure.axes
    grid = small.images[0].get_array()
    assert grid.shape == (4, 10)
    assert list(grid[2]) == pytest.approx([41.0] * 9 + [0.0]) and float(grid[1].max()) == 0
    assert small.images[0].get_clim() == (0, 41.0)
    assert bars[0].get_ylabel() == "behind the first, ms"
    assert small.images[0].get_cmap().name == "cividis"
    assert "41.0 ms behind the first" in small.get_title(loc="left")
    assert "1: gather at app: main+0x10, native" in small.get_title(loc="left")
    assert "3: gather at app: void work+0x1, native" in large.get_title(loc="left")
    assert small.get_ylabel() == "rank" and small.get_xlabel() == "gather number"
    assert small.get_ylim() == (3.5, -0.5)  # rank 0 is on top
    # Ticks are the calls' own numbers: every second call was kept.
    assert small.xaxis.get_major_formatter()(3, 0) == "6"
    assert parts.get_xlabel() == "mean time in a call, ms"
    waiting = parts.collections[0].get_paths()[0].vertices
    assert waiting[:, 0].max() == pytest.approx(36.9)
    many = large.images[0].get_array()
    assert many.shape == (300, 8) and many.max() == pytest.approx(41.0), "one rank can be seen"
    assert many[:, 0].argmax() == 700 * 300 // 1000
    pyplot.close(figure)


def test_the_picture_as_svg_has_its_words_as_text_and_is_always_the_same(command, tmp_path):
    pytest.importorskip("matplotlib")
    name = write_report(tmp_path, line_of(late_rank(4, 10, 2)))
    for file in ("a.svg", "b.svg"):
        assert command("report", name, "--picture", str(tmp_path / file)).status == 0
    text = (tmp_path / "a.svg").read_text()
    assert "41.0 ms behind the first" in text and "MPICH 4, 4 ranks" in text
    assert text == (tmp_path / "b.svg").read_text()


def test_the_picture_has_dollars_as_text(tmp_path):
    """Matplotlib reads what is between two of them as mathematics."""
    pytest.importorskip("matplotlib")
    from tutti.arrival_picture import draw

    line = line_of(late_rank(4, 3, 2), site="app: f$1$_{+0x1", late="$ORIGIN_ and $x^")
    sites = reports.sites_of(reports.read(Path(write_report(tmp_path, line))))
    draw("MPI $a_$", sites, tmp_path / "a.svg")
    text = (tmp_path / "a.svg").read_text()
    for words in ("f$1$_{+0x1", "$ORIGIN_ and $x^", "MPI $a_$"):
        assert words in text


def test_grids_keep_the_latest_rank_and_the_mean_over_calls():
    delays = [[0, 0, 8, 0], [0, 0, 4, 0], [1, 0, 0, 0], [3, 0, 0, 0]]  # by call
    assert heatmap.grid_of(delays, 2, 2) == [[0, 2], [6, 0]]
    assert heatmap.grid_of(delays, 9, 9)[2] == [8, 4, 0, 0]
    assert heatmap.edges(10, 4) == [0, 2, 5, 7, 10]
    assert heatmap.top_of([[1.0] * 200 + [100.0]]) == 1.0, "one far cell does not hide the others"
    assert heatmap.top_of([[0.0, 5.0]]) == 5.0 and heatmap.top_of([[0.0]]) > 0


def test_the_picture_of_characters_fits_and_bins_ranks():
    lines = heatmap.text_of(late_rank(1000, 500, 999), 80, shades=heatmap.SHADES_ASCII)
    assert all(len(line) <= 80 for line in lines) and len(lines) == 18
    assert lines[0].startswith("   rank 0-61 |") and lines[15].startswith("rank 937-999 |")
    assert set(lines[0].split("|")[1]) == {" "} and "#" in lines[15]
    assert "a column is" in lines[16] and "[#] " in lines[17]


def test_the_picture_of_characters_has_the_letters_of_its_stream(tmp_path, monkeypatch):
    report = reports.read(Path(write_report(tmp_path, line_of(late_rank(4, 10, 2)))))
    monkeypatch.setattr(sys, "stdout", TextIOWrapper(BytesIO(), encoding="ascii"))
    monkeypatch.setattr(sys, "stderr", TextIOWrapper(BytesIO(), encoding="utf-8"))
    for error in (True, False):
        out = console(error=error)
        report_text.print_reports(out, report, written=0)
        out.file.flush()
        assert ("\u2588" in out.file.buffer.getvalue().decode()) == error


def test_a_pattern_is_what_tutti_bench_reads(command, tmp_path):
    name = write_report(tmp_path, line_of(None, **OTHER), line_of(late_rank(4, 3, 2)))
    out = command("report", name, "--pattern", "2").out
    assert out == (ROOT / "tests" / "golden" / "recorded_delays.csv").read_text()
    file = tmp_path / "pattern.csv"
    assert command("report", name, "--pattern", "main", "-o", str(file)).out == ""
    assert file.read_text() == out


@pytest.mark.parametrize("mpi", mpis()[-1:] or [None], ids=str)
def test_a_recorded_pattern_is_emulated_and_recorded_again(command, mpi, tmp_path):
    assert mpi, f"no build for an MPI in {BUILD}; run ./test, or set TUTTI_BUILD"
    name = write_report(tmp_path, line_of([[0.0, 0.06, 0.03], [0.0, 0.03, 0.06]]))
    pattern, again = tmp_path / "pattern.csv", tmp_path / "again.json"
    assert command("report", name, "--pattern", "1", "-o", str(pattern)).status == 0
    run(mpi.mpirun, "-n", 3, PREFIX / "bin" / "tutti-bench", "gather", "--delay",
        f"recorded:{pattern}", "--algorithm", "linear", "--block", "8", "--repetitions", "8",
        TUTTI_REPORT=str(again))  # fmt: skip
    sites = reports.sites_of(reports.read(again))
    (recorded,) = [site for site in sites if site.fields["algorithm"] == "linear"]
    assert recorded.pattern is not None and len(recorded.pattern.ranks) == 3
    # Between measured calls there are calls without blocks, without delays, in which any rank may be
    # last where cores are busy. In the pattern rank 0 is never the last one.
    emulated = [late for late in recorded.pattern.delays if max(late) > max(0.02, late[0])]
    assert len(emulated) >= 4, recorded.pattern.delays


def test_an_error_lists_some_lines(command, tmp_path):
    path = write_report(tmp_path, *(line_of(None, site=f"app: f{n}") for n in range(20)))
    for words in (["--site", "99"], ["--pattern", "gather"]):
        shown = command("report", path, *words)
        assert shown.status == 2 and shown.err.endswith("; 8: gather at app: f7; and 12 more, which tutti report lists\n")


@pytest.mark.parametrize(
    ("words", "text"),
    [
        (["--site", "9"], "--site 9: no line matches: 1: gather at app: main+0x10; 2: scatter"),
        (["--pattern", "app"], "--pattern app: several lines match"),
        (["--pattern", "2"], "--pattern 2: no recorded arrivals: unknown: clocks of 2"),
        (["-o", "x"], "--output x needs --pattern SITE"),
        (["--pattern", "1", "-o", "/none/x"], "--output /none/x: No such file"),
        (["--picture", "/none/x.svg"], "--picture /none/x.svg: "),
        (["--picture", "/tmp/x.frob"], "--picture /tmp/x.frob: expected a file name that ends in .svg, .png or"),
        (["--picture", "x"], "--picture x: expected a file name that ends in .svg, .png or .pdf"),
        (["--picture", "/tmp/x.svg", "--site", "2"], "has recorded arrivals"),
    ],
)
def test_errors_are_one_line(command, tmp_path, words, text):
    pytest.importorskip("matplotlib")
    name = write_report(tmp_path, line_of(late_rank(4, 3, 2)), line_of(None, **OTHER))
    shown = command("report", name, *words)
    assert shown.status == 2 and text in shown.err
    assert shown.err.count("\n") == 1 and shown.err.startswith("tutti: ")


def test_json_has_only_the_lines_of_a_site(command, tmp_path):
    name = write_report(tmp_path, line_of(late_rank(4, 3, 2)), line_of(None, **OTHER))
    for words, collectives in (([], ["gather", "scatter"]), (["--site", "2"], ["scatter"])):
        parsed = json.loads(command("report", name, "--json", *words).out)
        assert [line["collective"] for line in parsed["calls"]] == collectives and parsed["format"] == 2


def test_a_collective_names_all_its_lines(command, tmp_path):
    """A call site has a line for each algorithm that ran there."""
    longer = line_of(late_rank(4, 3, 2), algorithm="ring", seconds={"mean": 0.1, "max": 0.1})
    longer["pattern"]["waiting"] = [9.0] * 4
    name = write_report(tmp_path, line_of(late_rank(4, 3, 1)), longer,
                        line_of(None, **{**OTHER, "collective": "gatherv"}))  # fmt: skip
    out = command("report", name, "--site", "gather").out
    assert out.count("at app: main+0x10") == 3, "two lines, and one with its arrivals"
    assert "ring: no gain" in out and "native: no gain" in out and "gatherv" not in out
    sites = reports.sites_of(reports.read(Path(name)))
    assert reports.find(sites, "gather", "--site").fields["algorithm"] == "ring"


def test_a_report_without_any_pattern_is_refused_where_one_is_needed():
    with pytest.raises(Refusal, match="has recorded arrivals"):
        reports.find_pattern([], None, "--site")


def test_a_program_that_was_built_after_its_report_has_other_lines(tmp_path):
    program = tmp_path / "app"
    program.touch()
    built = program.stat().st_mtime
    report = {"program": str(program), "calls": []}
    assert source_lines.program_of(report, built) == [program]
    assert source_lines.program_of(report, built - 1) == []
    report["wall"] = 10
    assert source_lines.program_of(report, built + 9) == [], "it was built while the program ran"
    assert source_lines.program_of(report, built + 10) == [program]
    assert source_lines.program_of({"calls": []}, built) == []


def test_a_report_that_nobody_reads_leaves_the_exit_status():
    def deliver(*_: object) -> None:
        raise BrokenPipeError

    assert pages.run(["sh", "-c", "exit 5"], {}, ["sh"], deliver) == 5


def test_a_page_suggests_commands_with_its_path(command, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "out").mkdir()
    parts = {"calls": 3, "waiting": 0.12, "held": 0.0, "moving": 0.001}
    report = write_report(tmp_path, line_of(late_rank(2, 3, 1), parts=parts))
    for page in ("out/run.html", str(tmp_path / "out" / "run.html")):
        assert command("report", report, "--html", page).status == 0
        assert "--report out/run.html " in Path(page).read_text()

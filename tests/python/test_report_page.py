"""The HTML page of a report: its content, its safety, and its looks in a browser."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from browser import in_chromium
from installed import BUILD, ROOT, environment, mpis
from report_pages import SAMPLE, Page, rendered
from reporting import late_rank, line_of, tuning, write_report
from tutti import drawing, pages, reports, source_lines
from tutti.site_totals import totals_of

EVIL = "<script>alert(1)</script>&\"'"


def sample_with_tuning(folder: Path) -> Path:
    report = json.loads(SAMPLE.read_text())
    path = folder / "tuned.json"
    path.write_text(json.dumps({**report, "tuning": tuning()}))
    return path


def test_a_real_report_becomes_a_page_that_needs_no_network(command, tmp_path):
    page = tmp_path / "run.html"
    assert command("report", str(SAMPLE), "--html", str(page)).status == 0
    text = page.read_text()
    parsed = Page(text)
    sites = totals_of(reports.sites_of(reports.read(SAMPLE)))
    rows = [attributes for tag, attributes in parsed.tags if tag == "tr"]
    assert len(rows) == len(sites) + 1, "a row for each call site, and the head"
    for total in sites:
        assert total.site in parsed.all_text("script") and total.collective in parsed.all_text()
    assert not re.search(r"(?:https?:)?//[a-z]", text.split(reports.PAGE_START)[0], re.I)
    named = {name for _, attributes in parsed.tags for name in attributes}
    assert not named & {"src", "srcset", "action", "data", "background", "poster"}
    links = [attributes["href"] for _, attributes in parsed.tags if "href" in attributes]
    assert links and all(link and link.startswith("#") for link in links)
    ids = {attributes.get("id") for _, attributes in parsed.tags}
    assert {link[1:] for link in links if link} <= ids
    (policy,) = [one["content"] for _, one in parsed.tags if "http-equiv" in one]
    assert policy and policy.startswith("default-src 'none'")
    assert parsed.count("link") == 0 and "url(" not in text and "@import" not in text


def test_the_page_is_read_like_the_report(command, tmp_path):
    page = tmp_path / "run.html"
    command("report", str(SAMPLE), "--html", str(page))
    assert reports.read(page) == reports.read(SAMPLE)
    both = [command("report", str(file), "--json").out for file in (page, SAMPLE)]
    assert both[0] == both[1] != ""


def test_a_page_replaces_no_former_one(command, tmp_path):
    page, kept = tmp_path / "run.html", tmp_path / "run.html.1"
    page.write_text("former")
    shown = command("report", str(SAMPLE), "--html", str(page))
    assert shown.status == 0 and f"tutti: kept the former report as {kept}\n" in shown.err
    assert kept.read_text() == "former" and reports.read(page) == reports.read(SAMPLE)


def test_names_are_escaped(tmp_path):
    line = line_of(late_rank(3, 4, 1), site=f"app: {EVIL}+0x1", reason=EVIL, algorithm=EVIL)
    path = Path(write_report(tmp_path, line))
    report = json.loads(path.read_text())
    path.write_text(json.dumps({**report, "mpi": EVIL, "clock": EVIL}))
    text = rendered(path, command=["mpirun", EVIL])
    parsed = Page(text)
    assert parsed.count("script") == 2, "the data and the page's own"
    assert EVIL in parsed.all_text() and "<script>alert" not in text
    page = tmp_path / "evil.html"
    page.write_text(text)
    assert reports.read(page)[0]["mpi"] == EVIL


def test_candidates_show_their_measured_times(tmp_path):
    text = rendered(sample_with_tuning(tmp_path), seconds=2.5, command=["mpirun", "-n", "4", "./a"])
    words = Page(text).all_text("script", "style")
    assert "81.0 ms saved against the MPI's own" in words
    assert "3.00 ms spent exploring candidates" in words
    assert "allgather, 65 bytes and more, 4 ranks" in words
    assert "Saved 81.0 ms (interval: -4.00 ms to 100 ms) against the MPI's own" in words
    assert "1.80 ms to 2.50 ms" in words
    assert "1 candidate not measured" in words and "unexplored: bruck" in words
    assert "Still to gain: 10.0 ms with ring (calls before it was selected)" in words
    assert "mpirun -n 4 ./a" in words and "of 2.50 s for the whole command" in words
    assert "no measured candidates" in Page(rendered(SAMPLE)).all_text()


def test_a_report_without_calls_or_times_is_a_page_too(tmp_path):
    empty = Page(rendered(Path(write_report(tmp_path))))
    assert "No collective was recorded" in empty.all_text()
    untimed = Page(rendered(Path(write_report(tmp_path, line_of(None)))))
    assert untimed.count("table") == 1 and "Who is late?" not in untimed.all_text()


def test_the_heat_map_has_the_colours_of_its_cells():
    top = 9.0
    paths = dict(drawing.cells_by_colour([[0, 0, 9, 9], [9, 1, 0, 20]], top))
    assert paths == {
        drawing.COLOURS[9]: "M2 0h2v1h-2zM0 1h1v1h-1zM3 1h1v1h-1z",
        drawing.COLOURS[1]: "M1 1h1v1h-1z",
    }


def test_bars_of_many_ranks_keep_the_latest(tmp_path):
    (site,) = reports.sites_of(
        reports.read(Path(write_report(tmp_path, line_of(late_rank(1000, 10, 700, 0.02)))))
    )
    assert site.pattern is not None
    profile = drawing.profile(site.pattern)
    assert profile.count == 128 and profile.top == "18.0 ms"
    assert profile.paths == [("delay", f"M{700 * 128 // 1000} 0.0000h1v1.0000h-1z")]
    heat = drawing.heat_map(site.pattern)
    assert (heat.rows, heat.columns) == (64, 10)
    assert heat.note == "A cell covers up to 16 ranks."


def test_call_sites_have_the_line_of_the_call(command, tmp_path):
    cc = shutil.which("cc")
    if not cc or not shutil.which("addr2line"):
        pytest.skip("needs a C compiler and binutils")
    source, program = tmp_path / "app.c", tmp_path / "app"
    source.write_text("int f(int a);\nint g(int a) {\n  a += 1;\n  return 2 +\n    f(a);\n}\n"
                      "int f(int a) { return a; }\nint main(void) { return g(1); }\n")  # fmt: skip
    subprocess.run([cc, "-g", "-O0", "-o", program, source], check=True)
    listed = subprocess.run(
        ["objdump", "-d", "--no-show-raw-insn", "--disassemble=g", program],
        capture_output=True, text=True, check=True,
    ).stdout  # fmt: skip
    steps = re.findall(r"^ +([0-9a-f]+):\t(\w+)", listed, re.MULTILINE)
    call = next(at for at, (_, name) in enumerate(steps) if name in ("call", "callq", "bl"))
    site = f"app: g+{hex(int(steps[call + 1][0], 16) - int(steps[0][0], 16))}"
    offset = f"app+{hex(int(steps[call + 1][0], 16))}"
    assert source_lines.lines_of([site, offset, "other: g+0x1", "C API"], [program]) == {
        site: f"{source}:5",
        offset: f"{source}:5",
    }
    report = {"calls": [{"site": offset, "other_sites": ["C API", offset]}],
              "tuning": {"cases": [{"sites": [{"site": offset}]}]}, "modules": [str(program)]}  # fmt: skip
    source_lines.name_functions(report, program.stat().st_mtime - 1)
    assert report["calls"][0]["site"] == offset, "the program has changed since"
    source_lines.name_functions(report, program.stat().st_mtime)
    assert report["calls"] == [{"site": site, "other_sites": ["C API", site]}]
    assert report["tuning"]["cases"][0]["sites"] == [{"site": site}]
    name = write_report(tmp_path, line_of(late_rank(2, 3, 1), site=site))
    page = tmp_path / "run.html"
    command("report", name, "--html", str(page), "--program", str(program))
    assert "app.c:5" in Page(page.read_text()).all_text("script")
    (tmp_path / "libtool").mkdir()
    script = tmp_path / "libtool" / "app"
    script.write_text("#!/bin/sh\n")
    assert source_lines.lines_of([site], [script, program]) == {site: f"{source}:5"}


def test_calls_in_functions_without_a_symbol_have_no_name(tmp_path):
    cc = shutil.which("cc")
    if not cc or not shutil.which("nm"):
        pytest.skip("needs a C compiler and binutils")
    source, module = tmp_path / "m.c", tmp_path / "libm.so"
    source.write_text("int f(void) { return 1; }\n__attribute__((noinline, used)) static int g(int a) {\n"
                      "  volatile int b[9] = {a};\n  return b[a] * b[0] + b[2];\n}\n")  # fmt: skip
    subprocess.run([cc, "-shared", "-fPIC", "-s", "-o", module, source], check=True)
    listed = subprocess.run(["nm", "-DS", module], capture_output=True, text=True, check=True).stdout
    start, size = re.search(r"^(\w+) (\w+) T f$", listed, re.MULTILINE).groups()
    end = int(start, 16) + int(size, 16)
    sites = [f"libm.so+{offset:#x}" for offset in (int(start, 16), end, end + 1, end + 20)]
    report = {"calls": [{"site": site} for site in sites], "modules": [str(module)]}
    source_lines.name_functions(report, module.stat().st_mtime)
    assert [line["site"] for line in report["calls"]] == [
        sites[0], f"libm.so: f+{int(size, 16):#x}", *sites[2:],
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("words", "text"),
    [
        (["--html", "/none/x.html"], "--html /none/x.html: No such file"),
        (["--program", "a"], "--program a needs --html FILE"),
        (["--html", "/tmp/x.html", "--program", "/none"], "--program /none: no such file"),
        (["--html", "/tmp/x.html", "--full"], "--html /tmp/x.html excludes --full"),
        (["--pattern", "1", "--json"], "--pattern 1 excludes --json"),
        (["--json", "--candidates"], "--json excludes --candidates"),
        (["--json", "--full"], "--json excludes --full"),
        (["--pattern", "1", "--candidates"], "--pattern 1 excludes --candidates"),
    ],
)
def test_errors_are_one_line(command, words, text):
    shown = command("report", str(SAMPLE), *words)
    assert shown.status == 2 and text in shown.err and shown.err.count("\n") == 1


@pytest.mark.parametrize("words", [["--html"], ["--picture"], ["--pattern", "1", "--output"]])
def test_no_output_replaces_the_report(command, tmp_path, words):
    report = shutil.copy(SAMPLE, tmp_path / "r.json")
    shown = command("report", str(report), *words, str(report))
    assert shown.status == 2 and "is the report to read; expected another file" in shown.err
    assert report.read_text() == SAMPLE.read_text() and len(list(tmp_path.iterdir())) == 1


@pytest.mark.parametrize("mpi", mpis()[-1:] or [None], ids=str)
def test_tutti_run_writes_the_page_of_a_program(command, mpi, tmp_path, monkeypatch):
    assert mpi, "no build for an MPI; run ./test, or set TUTTI_BUILD"
    for name, value in environment().items():
        monkeypatch.setenv(name, value)
    page = tmp_path / "run.html"
    program = BUILD / "bin" / f"late_rank-{mpi.flavour}"
    start = ["run", "--report", str(page), "--", str(mpi.mpirun), "-n", "2"]
    shown = command(*start, str(program), "-s", "4", "-c", "5")  # else it sleeps for 20 s
    assert shown.status == 0 and f"report: {page}" in shown.err
    assert os.listdir(tmp_path) == ["run.html"], "the JSON is in the page"
    assert str(program) in Page(page.read_text()).all_text("script")
    assert reports.read(page)[0]["ranks"] == 2
    page.unlink()
    failed = command(*start, "sh", "-c", "exit 3")
    assert failed.status == 3 and not page.exists()
    assert "no report was written: the program ended with status 3" in failed.err


def test_on_the_terminal_the_last_report_is_shown_and_nothing_stays(command, installed, tmp_path, monkeypatch):
    folder = tmp_path / "100%done"
    folder.mkdir()
    monkeypatch.chdir(folder)
    former = write_report(tmp_path, line_of(None, collective="scatter"))
    # As the library reads the name: %p is the process, %% a percent sign.
    script = f"""write() {{
          file="$(echo "$TUTTI_REPORT" | sed "s/%p/$1/; s/%%/%/g")"
          cp "$2" "$file" && touch -d "$3" "$file"
        }}
        write 1 {SAMPLE} 2026-01-02"""
    two = f"{script}\nwrite 2 {former} 2026-01-01"
    shown = command("run", "--report", "-", "--", "sh", "-c", two)
    assert "tutti: this is the last of 2 reports" in shown.err
    assert "gatherv" in shown.err and "MPICH 4" not in shown.err, "the last by its time"
    assert "\nNext: " in shown.err and "\n  tutti run --compare -- sh -c " in shown.err
    one = command("run", "--report", "-", "--", "sh", "-c", script)
    assert "gatherv" in one.err and "this is the last" not in one.err
    assert "no report was written" in command("run", "--report", "-", "--", "true").err
    assert not os.listdir(folder)


def test_reports_of_further_programs_are_named_after_the_page(tmp_path):
    page = tmp_path / "run.html"
    for suffix in ("", ".1"):
        written = pages._data_of(page)
        written.with_name(written.name + suffix).write_text(SAMPLE.read_text())
    assert "run.html.json.1" in pages.finish(page, ["mpirun"], None, 0)
    assert sorted(os.listdir(tmp_path)) == ["run.html", "run.html.json.1"], "nothing hidden stays"


def test_a_device_is_no_missing_report(command, installed, monkeypatch):
    assert pages.delivery({"TUTTI_REPORT": "/dev/null"}) is None


def test_a_page_that_fails_keeps_the_report_and_the_exit_status(command, installed, tmp_path):
    page = tmp_path / "run.html"
    script = f'cp {SAMPLE} "$TUTTI_REPORT"; mkdir {page}; exit 5'
    shown = command("run", "--report", str(page), "--", "sh", "-c", script)
    kept = tmp_path / "run.html.json"
    assert shown.status == 5
    assert f"tutti: --report {page}: Is a directory; the report is in {kept}\n" in shown.err
    assert reports.read(kept) == reports.read(SAMPLE)
    assert not [name for name in os.listdir(tmp_path) if name.startswith(".")]


def test_a_report_that_cannot_be_read_leaves_the_exit_status(command, installed, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    script = 'echo x > "$(echo "$TUTTI_REPORT" | sed "s/%p/1/; s/%%/%/g")"; exit 5'
    shown = command("run", "--report", "-", "--", "sh", "-c", script)
    kept = tmp_path / "tutti.1.json"
    assert shown.status == 5 and "neither JSON nor a page" in shown.err
    assert f"; the report is in {kept}\n" in shown.err
    assert kept.read_text() == "x\n" and not list(tmp_path.glob(".*"))


@pytest.mark.parametrize("error", [KeyboardInterrupt, RuntimeError, BrokenPipeError])
@pytest.mark.parametrize(("target", "name"), [("-", "tutti.1.json"), ("run.html", "run.html.json")])
def test_a_delivery_that_ends_early_keeps_the_report(command, installed, tmp_path, monkeypatch, capfd, target, name, error):
    """A run of an hour has no other report."""
    monkeypatch.chdir(tmp_path)

    def end(*_, **__):
        raise error

    monkeypatch.setattr(pages, "print_reports", end)
    monkeypatch.setattr(pages, "write_page", end)
    script = f'cp {SAMPLE} "$(echo "$TUTTI_REPORT" | sed "s/%p/1/; s/%%/%/g")"'
    try:
        shown = command("run", "--report", target, "--", "sh", "-c", script).err
    except error:
        shown = capfd.readouterr().err
    assert reports.read(tmp_path / name) == reports.read(SAMPLE) and not list(tmp_path.glob(".*"))
    assert f"the report is in {tmp_path / name}\n" in shown
    documented = name.replace("run.html", "PAGE").replace("1", "PID")
    assert f"`{documented}`" in (ROOT / "docs/for-administrators.md").read_text()


def test_a_page_shows_a_program_whose_name_is_not_utf_8(command, installed, tmp_path):
    program = tmp_path / os.fsdecode(b"caf\xe9")
    program.write_text(f'#!/bin/sh\ncp {SAMPLE} "$TUTTI_REPORT"\n')
    program.chmod(0o755)
    page = tmp_path / "run.html"
    shown = command("run", "--report", str(page), "--", str(program))
    assert shown.status == 0 and f"report: {page}" in shown.err, shown.err
    assert "caf\\udce9" in page.read_text()


SCRIPT = """
  const head = page.querySelectorAll("#calls th")[4];
  head.querySelector("button").click();
  head.querySelector("button").click();
  const rows = [...page.querySelectorAll("#calls tbody tr")];
  const values = rows.map(row => +row.cells[4].dataset.value);
  const isSorted = values.every((v, i) => !i || v >= values[i - 1]);
  found.sorted = head.ariaSort + isSorted;
  found.small = [...page.querySelectorAll(".plot svg")]
    .filter(one => one.getBoundingClientRect().width < 150).length;
"""


def sample_with_crossovers(folder: Path) -> Path:
    """As sample_with_tuning, with the MPI's own being the fastest for small messages."""
    report = json.loads(sample_with_tuning(folder).read_text())
    (large,) = report["tuning"]["cases"]
    small = {**large, "bytes": [1, 64], "selected": "native"}
    small["candidates"] = [{**one, "median": one["median"] and 0.003 - one["median"]}
                           for one in large["candidates"]]  # fmt: skip
    report["tuning"]["cases"] = [large, small]
    report["notes"], report["wall"] = ["something is odd"], 3.2
    report["not_handled"] = [{"function": "MPI_Ibcast", "calls": 12000}]
    path = folder / "crossing.json"
    path.write_text(json.dumps(report))
    return path


def test_the_page_shows_crossovers_and_what_is_not_handled(tmp_path):
    def words(path: Path) -> str:
        return " ".join(Page(rendered(path)).all_text("script", "style").split())

    text = words(sample_with_crossovers(tmp_path))
    crossing = text[text.index("Crossovers The fastest measured") :]
    assert "allgather, 4 ranks" in crossing
    assert crossing.index("1 to 64 bytes native 1.00") < crossing.index(
        "65 bytes and more ring 2.00"
    )
    assert "Not handled: 12,000 MPI_Ibcast" in text and "Note: something is odd." in text
    assert "of 3.20 s from the start of a rank to MPI_Finalize" in text
    assert "Crossovers" not in words(sample_with_tuning(tmp_path))
    advice = "of the collective calls are nonblocking, which Tutti leaves to the MPI."
    assert text.index("What to try next") < text.index(advice)
    path = sample_with_crossovers(tmp_path)
    path.write_text(json.dumps(json.loads(path.read_text()) | {"calls": []}))
    assert "What to try next" in words(path) and f"100 % {advice}" in words(path)


def test_candidates_have_the_source_lines_of_their_calls(tmp_path, monkeypatch):
    monkeypatch.setattr(source_lines, "lines_of", lambda *_: {"app: main+0x10": "/src/app.c:7"})
    words = Page(rendered(sample_with_tuning(tmp_path))).all_text("script")
    assert "At app.c:7 (app: main+0x10)." in words


@pytest.mark.parametrize("width", [1280, 400])
def test_the_page_fits_and_sorts_in_chromium(tmp_path, width):
    (tmp_path / "run.html").write_text(rendered(sample_with_crossovers(tmp_path)))
    found = in_chromium(tmp_path / "run.html", width, SCRIPT)
    assert found["sorted"] == "ascendingtrue"
    assert int(found["width"]) <= width, "the page scrolls sideways"
    assert found["small"] == "0"


def test_a_page_and_a_picture_at_once(command, tmp_path):
    pytest.importorskip("matplotlib")
    path = write_report(tmp_path, line_of(late_rank(4, 6, 2)))
    page, picture = tmp_path / "run.html", tmp_path / "arrivals.svg"
    assert not command("report", path, "--html", str(page), "--picture", str(picture)).out
    assert page.exists() and picture.exists()

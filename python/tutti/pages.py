"""Writes report pages, and runs programs for them."""

from __future__ import annotations

import contextlib
import glob
import os
import sys
import textwrap
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from tutti import _engine, reports, source_lines, supervised, unseen
from tutti.advice import advice_on
from tutti.console import console, count, expanded, literal, why_not_writable, write
from tutti.programs import programs_in
from tutti.refusal import Refusal
from tutti.report_text import print_reports


def target_of(settings: Mapping[str, str]) -> str:
    """What TUTTI_REPORT is, in the settings or else in the environment; empty if it is not set."""
    return settings.get("TUTTI_REPORT", os.environ.get("TUTTI_REPORT", ""))


def is_page(settings: Mapping[str, str]) -> bool:
    """Does TUTTI_REPORT, in the settings or else in the environment, name an HTML page?"""
    return target_of(settings).lower().endswith((".html", ".htm"))


def page_of(settings: dict[str, str]) -> Path | None:
    """The HTML page that TUTTI_REPORT names, in the settings or else in the environment.

    The library then writes its report for the page as JSON: the settings name that file instead.

    Raises:
        Refusal: the page cannot be written.
    """
    if not is_page(settings):
        return None
    target = target_of(settings)
    page = expanded(target).absolute()
    if reason := why_not_writable(page):
        raise Refusal(f"--report {target}: {reason}")
    settings["TUTTI_REPORT"] = literal(_data_of(page))
    return page


def _data_of(page: Path) -> Path:
    """The file of the report that a page shows. Rank 0, which may run on another node, writes it,
    so it is in the page's folder."""
    return page.with_name(f".{page.name}.{os.getpid()}.json")


def write_page(
    parts: Sequence[dict[str, Any]],
    page: Path,
    written: float,
    command: Sequence[str] = (),
    seconds: float | None = None,
    programs: Sequence[Path] = (),
    option: str = "--html",
    lab: Sequence[str] = (),
) -> None:
    """Writes the page of the reports, which `option` names; `written` is the time of their file.
    `lab`: see finish. Raises Refusal if a program is missing or that fails."""
    from tutti import report_page  # imports Jinja2, which other commands do not need

    for program in programs:
        if not program.is_file():
            raise Refusal(f"--program {program}: no such file")
    own = dict.fromkeys(program for part in parts for program in source_lines.program_of(part, written))
    run = report_page.Run(command, seconds, [*programs, *own], lab)
    text = report_page.render(parts, _as_typed(page), run)
    if kept := _engine.keep_former(str(page)):
        print(f"tutti: kept the former report as {kept}", file=sys.stderr)
    write(page, text, option)


def _as_typed(page: Path) -> str:
    """The path of a page, for commands in the current folder."""
    try:
        return str(page.relative_to(Path.cwd()))
    except (ValueError, OSError):  # it is in another folder, or the current one has been removed
        return str(page)


def finish(
    page: Path, command: Sequence[str], seconds: float | None, status: int, lab: Sequence[str] = ()
) -> str:
    """Writes the page from the report that the library wrote for it, and removes that report. It
    stays, under a name of the page's, if the page cannot be written.

    Args:
        page: what page_of returned.
        command: the command as the user typed it.
        seconds: how long it took; None if unknown.
        status: its exit status.
        lab: the words before the command that started it in the lab; empty elsewhere.

    Returns:
        What to tell the user: the page's path, or why there is no page.
    """
    data = _data_of(page)
    if not data.is_file():
        return f"--report {page}: no report was written: {_why(command, status)}"
    further = _show_former(data, page)
    try:
        with _delivered({data: page.with_name(f"{page.name}.json")}):
            parts = reports.read(data)
            written = data.stat().st_mtime
            programs = [file for file in programs_in(command)
                        if all(source_lines.is_unchanged(file, part, written) for part in parts)]  # fmt: skip
            write_page(parts, page, written, command, seconds, programs, "--report", lab)
    except Refusal as error:
        return f"{error}{further}"
    return f"report: {page}{further}"


@contextlib.contextmanager
def _delivered(reports_of_library: Mapping[Path, Path]) -> Iterator[None]:
    """Removes the files that the library wrote, once the user has what they contain. If that fails or is
    interrupted, they get their names in the mapping, as a long run may have no other report; the error,
    or a line beside it, has the last name."""
    try:
        yield
    except BaseException as error:
        kept = ""
        for data, name in reports_of_library.items():
            kept = f"the report is in {_renamed(data, name)}"
        if isinstance(error, (Refusal, ValueError, OSError)) and not isinstance(error, BrokenPipeError):
            raise Refusal(f"{error}; {kept}") from None
        with contextlib.suppress(OSError):  # the terminal may be gone
            print(f"tutti: {kept}", file=sys.stderr)
        raise
    for data in reports_of_library:
        data.unlink(missing_ok=True)


def _renamed(data: Path, name: Path) -> Path:
    """Gives a file that the library wrote a name for the user."""
    _engine.keep_former(str(name))
    return data.replace(name)


def _show_former(data: Path, page: Path) -> str:
    """Names the reports of further programs, or of ranks that ran alone, after the page; the library
    kept each under a hidden name. Returns the end of the message."""
    former = sorted(data.parent.glob(f"{glob.escape(data.name)}.*"))
    for one in former:
        _renamed(one, page.with_name(f"{page.name}.json{one.suffix}"))
    return f" (the last; {len(former)} before it: {page.name}.json.1 ..)" if former else ""


Deliver = Callable[[Sequence[str], supervised.Outcome], None]
"""Delivers the report of a command, as the user typed it, once it has ended; or says why there is
none. Raises Refusal if that fails."""


def delivery(settings: dict[str, str], lab: Sequence[str] = ()) -> Deliver | None:
    """How the report that TUTTI_REPORT requests reaches the user; None if the library does it all.

    Where the command turns the library's report into another form, the settings name a file for
    the library instead. `lab`: see finish.
    """
    page = page_of(settings)
    if page is not None:
        return partial(_deliver_page, page, lab)
    target = settings.get("TUTTI_REPORT", "none")
    if target in ("", "none") or "%" in target:
        return None
    if target != "-":
        file = Path(target)
        if file.exists() and not file.is_file():
            return None  # a device, which does not show whether it was written
        return partial(_deliver_file, file, supervised.stamp_of(file))
    folder = _current_folder()
    if folder is None:
        return None
    # Rank 0, which may run on another node, writes it: in the current folder. The command prints
    # it, as the library knows no source lines.
    data = _data_of(folder / "tutti")
    # Ranks that run alone write one each, as do the programs of a script.
    settings["TUTTI_REPORT"] = literal(data.with_suffix("")) + ".%p.json"
    return partial(_deliver_text, data, lab)


def _current_folder() -> Path | None:
    """The current folder, if the library can write a report there."""
    try:
        folder = Path.cwd()
    except OSError:  # it has been removed
        return None
    return None if why_not_writable(folder / f".tutti.{os.getpid()}.json") else folder


def run(
    start: Sequence[str],
    environment: Mapping[str, str],
    command: Sequence[str],
    deliver: Deliver,
) -> int:
    """Runs a program and delivers its report. Returns the program's exit status.

    Args:
        start: the command to execute.
        environment: the variables that Tutti sets for it.
        command: the command as the user typed it.
        deliver: what delivery returned.

    Raises:
        Refusal: the command cannot start.
    """
    outcome = supervised.run(start, environment)
    conclude(deliver, command, outcome)
    return outcome.status


def conclude(deliver: Deliver, command: Sequence[str], outcome: supervised.Outcome) -> None:
    """Delivers the report of a command that has ended; prints why if that fails."""
    try:
        deliver(command, outcome)
    except BrokenPipeError:  # nobody reads the report any more
        pass
    except (Refusal, ValueError, OSError) as error:
        print(f"tutti: {error}", file=sys.stderr)


def _deliver_page(
    page: Path, lab: Sequence[str], command: Sequence[str], outcome: supervised.Outcome
) -> None:
    if outcome.status != 0 and _data_of(page).is_file():
        print(f"tutti: the program ended with status {outcome.status}", file=sys.stderr)
    message = finish(page, command, outcome.seconds, outcome.status, lab)
    print(f"tutti: {message}", file=sys.stderr)


def _deliver_text(
    data: Path, lab: Sequence[str], command: Sequence[str], outcome: supervised.Outcome
) -> None:
    written = sorted(data.parent.glob(f"{glob.escape(data.stem)}.*.json"), key=_time_of)
    if not written:
        print(f"tutti: no report was written: {_why(command, outcome.status)}", file=sys.stderr)
        return
    names = [data.with_name(f"tutti{one.name.removeprefix(data.stem)}") for one in written]
    with _delivered(dict(zip(written, names, strict=True))):
        parts = reports.read(written[-1])
        print_reports(console(error=True), parts, written=written[-1].stat().st_mtime)
        _print_next(parts, command, outcome.seconds, lab)
        if len(written) > 1:
            print(f"tutti: this is the last of {count(len(written), 'report')}, of ranks that ran alone or "
                  "of several programs; --report FILE keeps all", file=sys.stderr)  # fmt: skip


def _print_next(
    parts: list[dict[str, Any]], command: Sequence[str], seconds: float, lab: Sequence[str]
) -> None:
    """Prints the first advice that needs no file of the report."""
    for one in advice_on(parts, "run.html", command, seconds, lab):
        if not one.command or one.command.startswith("tutti run --compare"):
            line = f"\n  {one.command}" if one.command else ""
            print(f"\n{textwrap.fill(f'Next: {one.why}', 80)}{line}", file=sys.stderr)
            return


def _time_of(file: Path) -> int:
    return file.stat().st_mtime_ns


def _deliver_file(
    file: Path,
    former: tuple[int, int] | None,
    command: Sequence[str],
    outcome: supervised.Outcome,
) -> None:
    if supervised.stamp_of(file) == former:
        why = _why(command, outcome.status)
        print(f"tutti: --report {file}: no report was written: {why}", file=sys.stderr)


def _why(command: Sequence[str], status: int) -> str:
    """Why there is no report of a command with this exit status."""
    if status != 0:
        return f"the program ended with status {status}"
    return unseen.why(command)

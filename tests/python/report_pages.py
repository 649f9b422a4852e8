"""Pages of reports, and their elements."""

from html.parser import HTMLParser
from pathlib import Path

from tutti import report_page, reports

SAMPLE = Path(__file__).with_name("sample_report.json")
"""The report of examples/particles: 4 ranks on Open MPI, 2,000 particles, 12 snapshots."""
VOID = {"meta", "br", "path", "rect"}


class Page(HTMLParser):
    """The elements of a page; fails where one is not closed."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.texts: list[tuple[str, str]] = []
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag):
        if tag not in VOID:
            assert self.open.pop() == tag, tag

    def handle_data(self, data):
        self.texts.append((self.open[-1] if self.open else "", data))

    def count(self, tag: str) -> int:
        return sum(name == tag for name, _ in self.tags)

    def all_text(self, *skipped: str) -> str:
        return " ".join(" ".join(text.split()) for tag, text in self.texts if tag not in skipped)


def rendered(path: Path, **run) -> str:
    return report_page.render(reports.read(path), "run.html", report_page.Run(**run))

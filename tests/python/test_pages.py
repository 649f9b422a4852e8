"""All links in README and docs lead to existing files and headings."""

import re

import pytest
from installed import ROOT

LINK = re.compile(r'\]\(([^)\s]+)\)|(?:src|href)="([^"]+)"')
CODE = re.compile(r"```.*?```", re.DOTALL)
PAGES = [
    str(page.relative_to(ROOT))
    for pattern in ("*.md", "docs/**/*.md", "examples/**/*.md")
    for page in sorted(ROOT.glob(pattern))
]


def text_of(page):
    return CODE.sub("", page.read_text())


def anchors(page):
    """The anchors of the headings of a page."""
    headings = re.findall(r"^#+ (.*)$", text_of(page), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("name", PAGES)
def test_links_lead_somewhere(name):
    page = ROOT / name
    for link in ("".join(found) for found in LINK.findall(text_of(page))):
        if link.startswith(("http:", "https:")):
            continue
        path, _, anchor = link.partition("#")
        target = page.parent / path if path else page
        assert target.exists(), link
        assert not anchor or target.suffix != ".md" or anchor in anchors(target), link


def test_every_decision_is_listed():
    folder = ROOT / "docs" / "decisions"
    listed = text_of(folder / "README.md")
    for page in folder.glob("*.md"):
        assert page.name == "README.md" or f"({page.name})" in listed, page.name

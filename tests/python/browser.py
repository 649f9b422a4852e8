"""Pages in headless Chromium."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

PROBE = """<body><iframe src="{page}" style="width:{width}px;height:900px;border:0"></iframe>
<script>onload = () => {{
  const page = document.querySelector("iframe").contentDocument;
  const found = document.body.dataset;
  {script}
  found.width = page.documentElement.scrollWidth;
}};</script>"""


def in_chromium(page: Path, width: int, script: str) -> dict[str, str]:
    """Opens a page in a frame of this many pixels, and runs a script there.

    Args:
        page: an HTML file; its folder gets the files of the browser.
        width: of the frame.
        script: JavaScript that reads the document `page` and sets members of `found`.

    Returns:
        What the script has set, and as "width" the pixels that the page needs.
    """
    names = ("chromium", "chromium-browser", "google-chrome")
    browser = next((name for name in names if shutil.which(name)), None)
    if browser is None:
        pytest.skip("no Chromium on this machine")
    probe = page.with_name("probe.html")
    probe.write_text(PROBE.format(page=page.name, width=width, script=script))
    done = subprocess.run(
        [browser, "--headless", "--no-sandbox", "--disable-gpu",
         f"--user-data-dir={page.parent}/browser", "--allow-file-access-from-files",
         "--virtual-time-budget=3000", "--window-size=1400,1000", "--dump-dom", probe.as_uri()],
        capture_output=True, text=True, timeout=120, check=True, stdin=subprocess.DEVNULL,
    )  # fmt: skip
    (body,) = re.findall("<body[^>]*>", done.stdout)
    return dict(re.findall(r'data-(\w+)="([^"]*)"', body))

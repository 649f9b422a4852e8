"""The SVG elements of the drawings."""

from __future__ import annotations

import math
from html import escape

_STYLES = (
    "text{font-family:Helvetica,Arial,sans-serif;fill:#1f2933}"
    ".title{font-size:15px;font-weight:bold}.note{font-size:11px;fill:#616e7c}"
    ".tick,.bytes{font-size:11px;text-anchor:middle}"
    ".name{font-size:12px;font-weight:bold;text-anchor:middle}.on{fill:white}"
    ".rank{fill:#e8eef4;stroke:#52606d;stroke-width:1.2}.root{fill:#1f2933}"
    ".side{text-anchor:end}"
)
_LIGHT, _DARK = (0xA8, 0xD8, 0xD2), (0x08, 0x3D, 0x77)


def element(name: str, **attributes: float | str) -> str:
    """An empty element; numbers are coordinates, rounded to 0.1 pixels.

    `_` stands for `-` in the names of attributes.
    """
    shown = {
        key.replace("_", "-"): value if isinstance(value, str) else f"{value:.1f}"
        for key, value in attributes.items()
    }
    return f"<{name} " + " ".join(f"{key}='{value}'" for key, value in shown.items()) + "/>\n"


def text(x: float, y: float, style: str, words: str) -> str:
    """Words at a place; `style` names classes of the drawing's styles."""
    words = escape(words, quote=True).replace("&#x27;", "&apos;")
    return f"<text x='{x:.1f}' y='{y:.1f}' class='{style}'>{words}</text>\n"


def drawing(width: float, height: float, content: str) -> str:
    """A whole drawing with the shared styles on a white background."""
    return (
        f"<svg xmlns='http://www.w3.org/2000/svg' width='{width:.1f}' height='{height:.1f}' "
        f"viewBox='0 0 {width:.1f} {height:.1f}'>\n<style>{_STYLES}</style>\n"
        f"<rect width='100%' height='100%' fill='white'/>\n{content}</svg>\n"
    )


def colour(position: float) -> str:
    """A colour from a scale of equal steps of lightness; 0 is the lightest, 1 the darkest."""
    position = min(max(position, 0.0), 1.0)
    channels = (
        math.floor(light + (dark - light) * position + 0.5)
        for light, dark in zip(_LIGHT, _DARK, strict=True)
    )
    return "#" + "".join(f"{channel:02x}" for channel in channels)

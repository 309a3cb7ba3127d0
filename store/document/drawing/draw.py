"""Drawings (SVG) as pictures of pixels, for those who show no drawings, such as mail clients."""

import tempfile
from pathlib import Path

from store.document.rendering import compile_in

TEMPLATE = """#set page(width: auto, height: auto, margin: 0pt, fill: none)
#image("drawing.svg", width: {width}, height: {height}pt, fit: "contain")"""
PIXELS_PER_INCH = 72.0
"""One pixel for each point of the page."""


def draw_png(content: bytes, height: int, width: int | None = None) -> bytes:
    """A drawing as PNG of this height in pixels, and of this width or as wide as it is, transparent where nothing is drawn.

    Raises RenderingFailed. A hostile drawing can occupy a core for hours: draw those of strangers with
    `store.document.drawing.upload`.
    """
    template = TEMPLATE.format(width="auto" if width is None else f"{width}pt", height=height)
    with tempfile.TemporaryDirectory(prefix="coffret-drawing-") as name:
        folder = Path(name)
        (folder / "drawing.svg").write_bytes(content)
        return compile_in(folder, template.encode(), format="png", ppi=PIXELS_PER_INCH)

"""Drawings (SVG) as pictures of pixels, for those who show no drawings, such as mail clients."""

import tempfile
from pathlib import Path

from store.document.rendering import compile_in

TEMPLATE = '#set page(width: auto, height: auto, margin: 0pt, fill: none)\n#image("drawing.svg", height: {height}pt)'
PIXELS_PER_INCH = 72.0
"""One pixel for each point of the page."""


def draw_png(content: bytes, height: int) -> bytes:
    """A drawing as PNG of this height in pixels, transparent where nothing is drawn. Raises RenderingFailed."""
    with tempfile.TemporaryDirectory(prefix="coffret-drawing-") as name:
        folder = Path(name)
        (folder / "drawing.svg").write_bytes(content)
        return compile_in(folder, TEMPLATE.format(height=height).encode(), format="png", ppi=PIXELS_PER_INCH)

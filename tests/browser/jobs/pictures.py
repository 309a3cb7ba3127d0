"""Pictures of the back office in the documentation."""

import io
import os
from pathlib import Path

from PIL import Image
from playwright.async_api import Page

FOLDER = Path(__file__).parents[3] / "docs" / "pictures"
COLOURS = 64
"""Pages have few colours, so that a picture with a palette is a third of the size."""


async def illustrate(page: Page, name: str) -> None:
    """Tell that the documentation shows this page; with `WRITE_DOCS` take the picture."""
    file = FOLDER / f"{name}.png"
    if os.environ.get("WRITE_DOCS"):
        await page.evaluate("scrollTo(0, 0)")
        with Image.open(io.BytesIO(await page.screenshot())) as picture:
            picture.convert("RGB").quantize(COLOURS).save(file, optimize=True)
    assert file.exists(), f"docs/pictures/{name}.png is missing: WRITE_DOCS=1 takes it"

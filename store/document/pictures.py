"""Prepares a document's pictures for print: upright, no larger than visible, in formats that a PDF supports."""

import io
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeAlias

import structlog
from PIL import Image, ImageOps

from store.media.images import DECODER_ERRORS

log = structlog.get_logger(__name__)
Pictures: TypeAlias = Mapping[str, bytes]
"""`cover` and `logo`, each as stored: JPEG, PNG, WebP, or SVG for a logo."""
MAX_SIZES = {"cover": (1800, 1800), "logo": (900, 360)}
"""Maximum sizes in pixels; a cover has 220 pixels per inch on paper."""
MAX_PIXELS = 50_000_000
QUALITY = 84
MAX_LOGO_RATIO = 5.0
"""The maximum width of a logo, as a multiple of its height."""


@dataclass(frozen=True, slots=True)
class PrintPicture:
    """A picture file, and its width divided by its height."""

    name: str
    content: bytes
    aspect_ratio: float


def prepare_pictures(pictures: Pictures) -> dict[str, PrintPicture]:
    """Prepare pictures for print; files that are not valid pictures are left out."""
    ready: dict[str, PrintPicture] = {}
    for name, content in pictures.items():
        try:
            ready[name] = _prepare_picture(name, content)
        except (*DECODER_ERRORS, Image.DecompressionBombError) as error:
            log.warning("a picture is left out of a document", picture=name, because=str(error)[:200])
    return ready


def _prepare_picture(name: str, content: bytes) -> PrintPicture:
    if is_drawing(content):
        return PrintPicture(f"{name}.svg", content, MAX_LOGO_RATIO / 2)
    with Image.open(io.BytesIO(content), formats=("JPEG", "PNG", "WEBP")) as opened:
        if opened.width * opened.height > MAX_PIXELS:
            raise ValueError(f"A picture of {opened.width} by {opened.height} pixels.")
        picture = ImageOps.exif_transpose(opened)
        picture.thumbnail(MAX_SIZES[name], Image.Resampling.LANCZOS)
    written = io.BytesIO()
    if name == "cover":
        _on_white(picture).save(written, "JPEG", quality=QUALITY, optimize=True)
        return PrintPicture(f"{name}.jpg", written.getvalue(), picture.width / picture.height)
    picture.convert("RGBA").save(written, "PNG")
    return PrintPicture(f"{name}.png", written.getvalue(), min(MAX_LOGO_RATIO, picture.width / picture.height))


DRAWING = re.compile(rb"(?:\xef\xbb\xbf)?\s*<(?:svg\b|\?xml|!--|!DOCTYPE\s+svg\b)")
"""How an SVG begins."""


def is_drawing(content: bytes) -> bool:
    """True if a file is an SVG, or another XML file."""
    return DRAWING.match(content) is not None


def _on_white(picture: Image.Image) -> Image.Image:
    """A picture whose transparent parts are white."""
    if picture.mode == "RGB":
        return picture
    whole = picture.convert("RGBA")
    paper = Image.new("RGBA", whole.size, "white")
    return Image.alpha_composite(paper, whole).convert("RGB")

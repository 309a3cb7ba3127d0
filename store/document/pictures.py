"""Pictures of a document, made ready for paper: upright, no larger than can be seen, of kinds that a PDF takes."""

import io
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeAlias

import structlog
from PIL import Image, ImageOps

from store.media.images import DAMAGED

log = structlog.get_logger(__name__)
Pictures: TypeAlias = Mapping[str, bytes]
"""`cover` and `logo`, each as it is kept: JPEG, PNG, WebP, or SVG for a logo."""
LARGEST = {"cover": (1800, 1800), "logo": (900, 360)}
"""In pixels: a cover as wide as the paper has 220 of them to the inch."""
MOST_PIXELS = 50_000_000
QUALITY = 84
WIDEST_LOGO = 5.0
"""Of its height."""


@dataclass(frozen=True, slots=True)
class Picture:
    """A picture as a file, and its width for a height of one."""

    name: str
    content: bytes
    shape: float


def prepared(pictures: Pictures) -> dict[str, Picture]:
    """Pictures for paper; what is none is left out."""
    ready: dict[str, Picture] = {}
    for name, content in pictures.items():
        try:
            ready[name] = _prepared(name, content)
        except (*DAMAGED, Image.DecompressionBombError) as error:
            log.warning("a picture is left out of a document", picture=name, because=str(error)[:200])
    return ready


def _prepared(name: str, content: bytes) -> Picture:
    if content.lstrip()[:5] in {b"<svg ", b"<?xml"}:
        return Picture(f"{name}.svg", content, WIDEST_LOGO / 2)
    with Image.open(io.BytesIO(content), formats=("JPEG", "PNG", "WEBP")) as opened:
        if opened.width * opened.height > MOST_PIXELS:
            raise ValueError(f"A picture of {opened.width} by {opened.height} pixels.")
        picture = ImageOps.exif_transpose(opened)
        picture.thumbnail(LARGEST[name], Image.Resampling.LANCZOS)
    written = io.BytesIO()
    if name == "cover":
        _on_white(picture).save(written, "JPEG", quality=QUALITY, optimize=True)
        return Picture(f"{name}.jpg", written.getvalue(), picture.width / picture.height)
    picture.convert("RGBA").save(written, "PNG")
    return Picture(f"{name}.png", written.getvalue(), min(WIDEST_LOGO, picture.width / picture.height))


def _on_white(picture: Image.Image) -> Image.Image:
    """A picture without holes: what is transparent is white."""
    if picture.mode == "RGB":
        return picture
    whole = picture.convert("RGBA")
    paper = Image.new("RGBA", whole.size, "white")
    return Image.alpha_composite(paper, whole).convert("RGB")

"""The pictures of a pass as PNG files: the logo on a white tile, or the first letter of the name; the cover as a square."""

import io
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import structlog
from PIL import Image, ImageDraw, ImageFont, ImageOps

from store.document import font_coverage
from store.document.sheet import SheetBrand
from store.media.images import DECODER_ERRORS

log = structlog.get_logger(__name__)
SCALES = {"": 1, "@2x": 2, "@3x": 3}
"""The endings of file names, and how many pixels a point has."""
ICON, THUMBNAIL = 29, 90
"""The sides of the icon and of the cover, in points."""
LOGO = (160, 50)
"""The largest width and the height of the logo, in points."""
MARGIN = 0.1
"""The white around a logo, as a part of the height of its tile."""
FONT = Path(font_coverage.__file__).parent / "fonts" / "Inter_600SemiBold.ttf"


@dataclass(frozen=True, slots=True)
class Artwork:
    """The pictures of a pass by their file names, and whether the logo is a shop's own."""

    files: Mapping[str, bytes]
    has_logo: bool


def artwork_of(brand: SheetBrand, pictures: Mapping[str, bytes]) -> Artwork:
    """The pictures of a pass. `pictures` are `logo` and `cover` as stored, where there are any; what Pillow cannot read,
    such as a drawing, is left out.
    """
    logo, cover = (_open_picture(name, pictures.get(name)) for name in ("logo", "cover"))
    files: dict[str, bytes] = {}
    for ending, scale in SCALES.items():
        side, (width, height) = ICON * scale, (LOGO[0] * scale, LOGO[1] * scale)
        if logo is None:
            files[f"icon{ending}.png"] = _png(_letter(brand, side))
            files[f"logo{ending}.png"] = _png(_letter(brand, height))
        else:
            files[f"icon{ending}.png"] = _png(_tile(logo, side, side))
            files[f"logo{ending}.png"] = _png(_tile(logo, width, height))
        if cover is not None:
            square = (THUMBNAIL * scale, THUMBNAIL * scale)
            files[f"thumbnail{ending}.png"] = _png(ImageOps.fit(cover, square, Image.Resampling.LANCZOS))
    return Artwork(files, has_logo=logo is not None)


def _open_picture(name: str, content: bytes | None) -> Image.Image | None:
    if content is None:
        return None
    try:
        with Image.open(io.BytesIO(content), formats=("JPEG", "PNG", "WEBP")) as opened:
            return ImageOps.exif_transpose(opened).convert("RGBA")
    except (*DECODER_ERRORS, Image.DecompressionBombError) as error:
        log.info("a picture is left out of a pass", picture=name, because=str(error)[:200])
        return None


def _tile(logo: Image.Image, width: int, height: int) -> Image.Image:
    """A logo on white, as the shop's pages have it: it would not be readable on every colour."""
    edge = max(1, round(height * MARGIN))
    shown = ImageOps.contain(logo, (width - 2 * edge, height - 2 * edge), Image.Resampling.LANCZOS)
    tile = Image.new("RGBA", (max(shown.width + 2 * edge, height), height), "white")
    tile.alpha_composite(shown, ((tile.width - shown.width) // 2, (height - shown.height) // 2))
    return tile


def _letter(brand: SheetBrand, side: int) -> Image.Image:
    """The first letter of the name, in the colour of the brand on that of its text."""
    tile = Image.new("RGBA", (side, side), brand.accent_ink)
    letter = next((character for character in brand.name if character.isalnum()), "\N{BULLET}").upper()
    font = ImageFont.truetype(FONT, round(side * 0.62))
    ImageDraw.Draw(tile).text((side / 2, side / 2), letter, brand.accent, font, anchor="mm")
    return tile


def _png(picture: Image.Image) -> bytes:
    written = io.BytesIO()
    picture.save(written, "PNG", optimize=True)
    return written.getvalue()

"""Makes the files of a message's pictures: small JPEGs, and logos as PNG, drawn ones too."""

import io
from collections.abc import Callable, Mapping

from PIL import Image, ImageChops, ImageOps

from store.document.drawing.draw import draw_png
from store.document.pictures import is_drawing
from store.document.rendering import RenderingFailed
from store.media.images import DECODER_ERRORS

UNREADABLE = (*DECODER_ERRORS, Image.DecompressionBombError, RenderingFailed)
"""What is raised for a file that is no picture."""
LOGO_HEIGHT, LOGO_WIDTH = 88, 520
"""Twice the size that it is shown at, for screens of high density."""
COVER_WIDTH = 1040
COVER_RATIOS = (1.4, 2.0)
"""The least and the largest width of a cover, as a multiple of its height; more than that is cut off at the edges."""
MAX_COVER_BYTES = 110_000
QUALITIES = (80, 70, 60, 45, 30)
THUMBNAIL_SIDE = 128
DARKEST = 150
"""The lightness, from 0 to 255, below which a grey is not readable on a dark ground."""
DULLEST, BRIGHTENING = 115, 0.45
"""The lightness below which a colour is not readable on a dark ground, and how much white it gets then."""
OPAQUE, MOST_OPAQUE = 250, 0.6
"""From which value a pixel covers what is behind it, and the share of such pixels beyond which a logo has a ground."""
GREYEST = 40
"""The difference of its channels below which a colour counts as grey."""


def picture_file(use: str, content: bytes) -> tuple[bytes, str]:
    """The file of a picture for its use (a `PictureUse`), and its type below `image/`. Raises UNREADABLE."""
    return MAKERS[use](content)


def _logo(content: bytes) -> tuple[bytes, str]:
    """The logo, transparent where it is."""
    return _png(_open_logo(content))


def _dark_logo(content: bytes) -> tuple[bytes, str]:
    """The logo for a dark ground: of a transparent one, black and dark greys become light, and dark colours brighter."""
    logo = _open_logo(content)
    alpha = logo.getchannel("A")
    if sum(alpha.histogram()[OPAQUE:]) > MOST_OPAQUE * logo.width * logo.height:
        return _png(logo)  # it has a ground of its own, perhaps with round corners
    red, green, blue, _ = logo.split()
    lightest = ImageChops.lighter(ImageChops.lighter(red, green), blue)
    darkest = ImageChops.darker(ImageChops.darker(red, green), blue)
    grey = ImageChops.subtract(lightest, darkest).point([255 if value < GREYEST else 0 for value in range(256)])
    dark = lightest.point([255 if value < DARKEST else 0 for value in range(256)])
    light = ImageOps.invert(logo.convert("RGB"))
    colours = logo.convert("RGB")
    dull = colours.convert("L").point([255 if value < DULLEST else 0 for value in range(256)])
    bright = Image.blend(colours, Image.new("RGB", logo.size, "white"), BRIGHTENING)
    mixed = Image.composite(light, Image.composite(bright, colours, dull), ImageChops.darker(grey, dark))
    mixed.putalpha(alpha)
    return _png(mixed)


def _cover(content: bytes) -> tuple[bytes, str]:
    """A picture over the whole width, of the best quality that fits."""
    picture = _open_picture(content)
    ratio = min(max(picture.width / picture.height, COVER_RATIOS[0]), COVER_RATIOS[1])
    width = min(COVER_WIDTH, picture.width)
    picture = ImageOps.fit(picture, (width, max(1, round(width / ratio))), Image.Resampling.LANCZOS)
    made = b""
    for quality in QUALITIES:
        made = _jpeg(picture, quality)
        if len(made) <= MAX_COVER_BYTES:
            break
    return made, "jpeg"


def _thumbnail(content: bytes) -> tuple[bytes, str]:
    picture = _open_picture(content)
    square = ImageOps.fit(picture, (THUMBNAIL_SIDE, THUMBNAIL_SIDE), Image.Resampling.LANCZOS)
    return _jpeg(square, QUALITIES[0]), "jpeg"


MAKERS: Mapping[str, Callable[[bytes], tuple[bytes, str]]] = {
    "logo": _logo,
    "dark_logo": _dark_logo,
    "cover": _cover,
    "thumbnail": _thumbnail,
}


def _open_logo(content: bytes) -> Image.Image:
    if is_drawing(content):
        content = draw_png(content, LOGO_HEIGHT)
    logo = _open(content).convert("RGBA")
    return ImageOps.contain(logo, (LOGO_WIDTH, LOGO_HEIGHT), Image.Resampling.LANCZOS)


def _open_picture(content: bytes) -> Image.Image:
    """A picture on white."""
    if is_drawing(content):
        content = draw_png(content, COVER_WIDTH)
    picture = _open(content).convert("RGBA")
    return Image.alpha_composite(Image.new("RGBA", picture.size, "white"), picture).convert("RGB")


def _open(content: bytes) -> Image.Image:
    with Image.open(io.BytesIO(content), formats=("JPEG", "PNG", "WEBP")) as opened:
        opened.load()
        return ImageOps.exif_transpose(opened)


def _png(picture: Image.Image) -> tuple[bytes, str]:
    written = io.BytesIO()
    picture.save(written, "PNG", optimize=True)
    return written.getvalue(), "png"


def _jpeg(picture: Image.Image, quality: int) -> bytes:
    written = io.BytesIO()
    picture.save(written, "JPEG", quality=quality, optimize=True, progressive=True)
    return written.getvalue()

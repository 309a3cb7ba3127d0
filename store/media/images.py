"""Uploaded pictures: what they are is seen by decoding them, and what is kept of them was drawn anew by us."""

import asyncio
import io
import re
import struct
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from PIL import Image, ImageCms, ImageOps, UnidentifiedImageError

from schema.media import SIDES, MediaSize

FORMATS = ("PNG", "JPEG", "WEBP", "GIF", "AVIF")
LOSSLESS = frozenset({"PNG", "GIF"})
"""What drawings come as. They stay sharp to the pixel, as long as they are not so large that packing them takes seconds."""
MOST_LOSSLESS = 1_000_000
MOST_PIXELS = 50_000_000
LONGEST_SIDE = 12_000
MOST_SCANS = 100
"""Of a JPEG: cameras and programs write one to a dozen, and each goes over the whole picture, however little it says."""
_MARKER = re.compile(rb"\xff+([^\x00\x01\xd0-\xd7\xff])", re.DOTALL)
"""Of a part of a JPEG; within what is drawn there are none but those that are left out here."""
_SCAN, _END = b"\xda", b"\xd9"
CONTENT_TYPE = "image/webp"
QUALITY = 85
FILM_BRANDS = frozenset({b"heic", b"heix", b"heim", b"heis", b"hevc", b"mif1", b"msf1"})
"""What pictures of some telephones begin as, which no browser but theirs shows."""
AT_ONCE = 2
"""Pictures being decoded: each can take 400 MB for a moment."""
DAMAGED = (
    ArithmeticError,
    EOFError,
    LookupError,
    MemoryError,
    OSError,
    RuntimeError,
    SyntaxError,
    TypeError,
    ValueError,
    struct.error,
)
"""What Pillow raises over bytes that are not what they begin as."""

Image.MAX_IMAGE_PIXELS = MOST_PIXELS  # of the whole process: twice as many are refused before anything is allocated
_SRGB = ImageCms.createProfile("sRGB")
_THREADS = ThreadPoolExecutor(AT_ONCE, thread_name_prefix="pictures")


class BadPicture(ValueError):
    """A file that cannot be used as a picture. The message says why, for whoever sent it."""


@dataclass(frozen=True, slots=True)
class Picture:
    """A picture as it is kept: WebP in sRGB, upright, with nothing in it but pixels."""

    sizes: Mapping[MediaSize, bytes]
    width: int
    height: int


async def read_picture(content: bytes) -> Picture:
    """What is kept of an uploaded file; BadPicture where it is none that can be used. Decoded in a thread, two at once."""
    return await asyncio.get_running_loop().run_in_executor(_THREADS, picture_of, content)


def picture_of(content: bytes) -> Picture:
    """The same, here and now. Of what moves, the first picture is taken."""
    try:
        kind, image = _decoded(content)
        lossless = kind in LOSSLESS and image.width * image.height <= MOST_LOSSLESS
        sizes = {}
        width, height = image.size
        for size, side in SIDES.items():
            image.thumbnail((side, side), Image.Resampling.LANCZOS)
            sizes[size] = _written(image, lossless=lossless)
            if size is MediaSize.FULL:
                width, height = image.size
    except (Image.DecompressionBombError, Image.DecompressionBombWarning) as error:
        raise _too_many_pixels() from error
    except UnidentifiedImageError as error:
        found = "a HEIC" if content[8:12] in FILM_BRANDS else "no picture"
        raise BadPicture(f"This file is {found}: send a PNG, JPEG, WebP, GIF or AVIF.") from error
    except BadPicture:
        raise
    except DAMAGED as error:
        raise BadPicture("This picture is damaged: parts of it are missing or cannot be read.") from error
    return Picture(sizes, width, height)


def _decoded(content: bytes) -> tuple[str, Image.Image]:
    """The kind of a picture, and its pixels: upright, in RGB or RGBA, at most as large as the largest size kept."""
    with _opened(content) as seen:
        if seen.width * seen.height > MOST_PIXELS or max(seen.size) > LONGEST_SIDE:
            raise _too_many_pixels()
        kind = seen.format or ""
        if kind == "JPEG" and _scans(content) > MOST_SCANS:
            raise BadPicture("This JPEG is made to take long: save it anew.")
        seen.verify()
    with _opened(content) as image:  # verifying has used the first one up
        side = SIDES[MediaSize.FULL]
        image.draft(None, (side, side))  # a JPEG is decoded no larger than it is wanted
        image.load()
        return kind, _in_srgb(_upright(_with_whole_colours(image), side))


def _scans(jpeg: bytes) -> int:
    """How often a JPEG goes over its picture. What its parts hold and what stands behind its end, such as a film, is none of it."""
    found, at = 0, 2
    while (marker := _MARKER.search(jpeg, at)) and marker[1] != _END:
        found += marker[1] == _SCAN
        at = marker.end() + int.from_bytes(jpeg[marker.end() : marker.end() + 2], "big")
    return found


def _opened(content: bytes) -> Image.Image:
    return Image.open(io.BytesIO(content), formats=FORMATS)


def _too_many_pixels() -> BadPicture:
    most = f"{MOST_PIXELS // 1_000_000} megapixels"
    return BadPicture(f"This picture is too large: at most {most}, and {LONGEST_SIDE:,} pixels a side.")


def _with_whole_colours(image: Image.Image) -> Image.Image:
    """The same picture without palette, and with 8 bits for each channel, so that it can be made smaller."""
    if image.mode.startswith("I;16"):
        image = image.point(lambda value: value * (1 / 256)).convert("L")
    if image.has_transparency_data:
        return image.convert("RGBA")
    return image if image.mode in {"L", "RGB", "CMYK"} else image.convert("RGB")


def _upright(image: Image.Image, side: int) -> Image.Image:
    """The picture as it was held. What a camera wrote beside it counts as nothing where it cannot be read."""
    image.thumbnail((side, side), Image.Resampling.LANCZOS)
    try:
        return ImageOps.exif_transpose(image)
    except DAMAGED:
        return image


def _in_srgb(image: Image.Image) -> Image.Image:
    """The colours as every screen shows them. A profile that cannot be used counts as none."""
    profile = image.info.get("icc_profile")
    alpha = image.getchannel("A") if image.mode == "RGBA" else None
    opaque = image.convert("RGB") if alpha else image
    if profile:
        try:
            own = ImageCms.ImageCmsProfile(io.BytesIO(profile))
            opaque = ImageCms.profileToProfile(opaque, own, _SRGB, outputMode="RGB") or opaque
        except (ImageCms.PyCMSError, OSError):
            opaque = opaque.convert("RGB")
    opaque = opaque.convert("RGB")
    if alpha:
        opaque.putalpha(alpha)
    opaque.info.clear()  # where it was taken, and by whom; a writer would put some of it back
    return opaque


def _written(image: Image.Image, *, lossless: bool) -> bytes:
    file = io.BytesIO()
    image.save(file, "WEBP", lossless=lossless, quality=QUALITY, method=2 if lossless else 4)
    return file.getvalue()

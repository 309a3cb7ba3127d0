"""Uploaded pictures: they are identified by decoding them, and only our own re-encoding is stored."""

import asyncio
import io
import re
import struct
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from PIL import Image, ImageCms, ImageOps, UnidentifiedImageError

from schema.core.message_names import TemplatedMessage
from schema.media import LONGEST_SIDES, MediaSize

FORMATS = ("PNG", "JPEG", "WEBP", "GIF", "AVIF")
LOSSLESS = frozenset({"PNG", "GIF"})
"""Formats of drawings. They stay lossless unless they are so large that compression takes seconds."""
MAX_LOSSLESS_BYTES = 1_000_000
MAX_PIXELS = 50_000_000
MAX_SIDE = 12_000
MAX_SCANS = 100
"""Maximum number of scans in a JPEG. Cameras and programs write up to a dozen, and decoding each one covers the
whole picture, however little data it has."""
_MARKER = re.compile(rb"\xff+([^\x00\x01\xd0-\xd7\xff])", re.DOTALL)
"""The marker of a JPEG segment. Image data contains only the markers that are excluded here."""
_SCAN, _END = b"\xda", b"\xd9"
QUALITY = 85
HEIF_BRANDS = frozenset({b"heic", b"heix", b"heim", b"heis", b"hevc", b"mif1", b"msf1"})
"""The brands of HEIC files, as some telephones write them; only these telephones' own browsers show them."""
MAX_THREADS = 2
"""Number of pictures decoded at once; each can take 400 MB for a moment."""
DECODER_ERRORS = (
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
"""Errors that Pillow raises for malformed files."""

Image.MAX_IMAGE_PIXELS = MAX_PIXELS  # for the whole process: twice as many are refused before allocation
_SRGB = ImageCms.createProfile("sRGB")
_THREADS = ThreadPoolExecutor(MAX_THREADS, thread_name_prefix="pictures")


class InvalidPicture(ValueError):
    """A file cannot be used as a picture. The message says why, for the uploader."""


@dataclass(frozen=True, slots=True)
class ProcessedPicture:
    """A picture as it is stored: WebP in sRGB, upright, without metadata."""

    sizes: Mapping[MediaSize, bytes]
    width: int
    height: int


async def read_picture(content: bytes) -> ProcessedPicture:
    """Process an uploaded file in a thread, two files at once. InvalidPicture if it cannot be used."""
    return await asyncio.get_running_loop().run_in_executor(_THREADS, process_picture, content)


def process_picture(content: bytes) -> ProcessedPicture:
    """`read_picture` in the calling thread. Of an animation, the first frame is used."""
    try:
        kind, image = _decode(content)
        lossless = kind in LOSSLESS and image.width * image.height <= MAX_LOSSLESS_BYTES
        sizes = {}
        width, height = image.size
        for size, side in LONGEST_SIDES.items():
            image.thumbnail((side, side), Image.Resampling.LANCZOS)
            sizes[size] = _encode(image, lossless=lossless)
            if size is MediaSize.FULL:
                width, height = image.size
    except (Image.DecompressionBombError, Image.DecompressionBombWarning) as error:
        raise _too_many_pixels() from error
    except UnidentifiedImageError as error:
        format_name = "a HEIC" if content[8:12] in HEIF_BRANDS else "no picture"
        raise InvalidPicture(
            TemplatedMessage("This file is {kind}: send a PNG, JPEG, WebP, GIF, AVIF or SVG.", kind=format_name)
        ) from error
    except InvalidPicture:
        raise
    except DECODER_ERRORS as error:
        raise InvalidPicture("This picture is damaged: parts of it are missing or cannot be read.") from error
    return ProcessedPicture(sizes, width, height)


def _decode(content: bytes) -> tuple[str, Image.Image]:
    """The format of a picture and its pixels: upright, in RGB or RGBA, at most as large as the largest stored size."""
    with _open(content) as seen:
        if seen.width * seen.height > MAX_PIXELS or max(seen.size) > MAX_SIDE:
            raise _too_many_pixels()
        kind = seen.format or ""
        if kind == "JPEG" and _count_scans(content) > MAX_SCANS:
            raise InvalidPicture("This JPEG would take long to decode: save it again.")
        seen.verify()
    with _open(content) as image:  # `verify` makes an image unusable
        side = LONGEST_SIDES[MediaSize.FULL]
        image.draft(None, (side, side))  # decodes a JPEG at a reduced size if that suffices
        image.load()
        return kind, _in_srgb(_upright(_with_whole_colours(image), side))


def _count_scans(jpeg: bytes) -> int:
    """The number of scans of a JPEG.

    The content of its segments, and data after its end such as a video, do not count.
    """
    count, at = 0, 2
    while (marker := _MARKER.search(jpeg, at)) and marker[1] != _END:
        count += marker[1] == _SCAN
        at = marker.end() + int.from_bytes(jpeg[marker.end() : marker.end() + 2], "big")
    return count


def _open(content: bytes) -> Image.Image:
    return Image.open(io.BytesIO(content), formats=FORMATS)


def _too_many_pixels() -> InvalidPicture:
    most = f"{MAX_PIXELS // 1_000_000} megapixels"
    return InvalidPicture(
        TemplatedMessage(
            "This picture is too large: at most {most}, and {side} pixels a side.", most=most, side=f"{MAX_SIDE:,}"
        )
    )


def _with_whole_colours(image: Image.Image) -> Image.Image:
    """The picture without a palette and with 8 bits per channel, so that it can be resized."""
    if image.mode.startswith("I;16"):
        image = image.point(lambda value: value * (1 / 256)).convert("L")
    if image.has_transparency_data:
        return image.convert("RGBA")
    return image if image.mode in {"L", "RGB", "CMYK"} else image.convert("RGB")


def _upright(image: Image.Image, side: int) -> Image.Image:
    """The picture rotated as its EXIF data say. Unreadable EXIF data are ignored."""
    image.thumbnail((side, side), Image.Resampling.LANCZOS)
    try:
        return ImageOps.exif_transpose(image)
    except DECODER_ERRORS:
        return image


def _in_srgb(image: Image.Image) -> Image.Image:
    """The picture converted to sRGB. An unusable colour profile is ignored."""
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
    opaque.info.clear()  # metadata such as place and author, which an encoder would partly write again
    return opaque


def _encode(image: Image.Image, *, lossless: bool) -> bytes:
    file = io.BytesIO()
    image.save(file, "WEBP", lossless=lossless, quality=QUALITY, method=2 if lossless else 4)
    return file.getvalue()

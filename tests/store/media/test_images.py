"""Pictures that are what they say, and those that are not: whatever comes in, what is kept was drawn by us, or nothing is."""

import contextlib
import io
import random
import struct
import warnings
import zipfile
import zlib
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from PIL import Image, ImageCms, PngImagePlugin

from schema.media import LONGEST_SIDES, MediaSize
from store.media.images import InvalidPicture, ProcessedPicture, process_picture

FULL, THUMB = MediaSize.FULL, MediaSize.THUMB
SECRET = "48.8584 N 2.2945 E, taken by Ada"
HTML = b"<!doctype html><script>alert(document.domain)</script>"


def drawn(width: int = 40, height: int = 30, mode: str = "RGB", colour: Any = (200, 30, 30)) -> Image.Image:
    """A picture, blue in its upper left corner."""
    image = Image.new("RGB", (width, height), colour)
    image.paste((20, 20, 220), (0, 0, max(width // 2, 1), max(height // 2, 1)))
    return image.convert(mode)


def saved(image: Image.Image, kind: str, **more: Any) -> bytes:
    """A file of a kind."""
    file = io.BytesIO()
    image.save(file, kind, **more)
    return file.getvalue()


def decode(picture: ProcessedPicture, size: MediaSize = FULL) -> Image.Image:
    """What is kept, as a browser decodes it; nothing but pixels is in it."""
    image = Image.open(io.BytesIO(picture.sizes[size]))
    image.load()
    assert (image.format, len(image.getexif()), getattr(image, "n_frames", 1)) == ("WEBP", 0, 1)
    assert not {"exif", "xmp", "icc_profile"} & set(image.info)
    return image


def alike(colour: Any, expected: tuple[int, ...], within: int = 24) -> bool:
    """Whether two colours are the same to an eye."""
    return all(abs(one - other) <= within for one, other in zip(colour, expected, strict=False))


@pytest.mark.parametrize("kind", ["PNG", "JPEG", "WEBP", "GIF", "AVIF"])
@pytest.mark.parametrize("mode", ["1", "L", "P", "RGB"])
def test_every_kind_is_kept_as_one(kind: str, mode: str) -> None:
    image = drawn(64, 48, mode)
    takes = {"JPEG": ("L", "RGB"), "WEBP": ("RGB",), "AVIF": ("RGB",)}.get(kind, (mode,))
    picture = process_picture(saved(image if mode in takes else image.convert("RGB"), kind))
    assert (picture.width, picture.height) == (64, 48)
    for size in MediaSize:
        assert decode(picture, size).size == (64, 48)  # nothing is enlarged
    if mode == "RGB":
        assert alike(decode(picture).convert("RGB").getpixel((8, 8)), (20, 20, 220), 40)
        assert alike(decode(picture).convert("RGB").getpixel((56, 40)), (200, 30, 30), 40)


def test_each_size_fits_its_side_and_keeps_its_shape() -> None:
    picture = process_picture(saved(drawn(5000, 2500), "JPEG"))
    assert {size: decode(picture, size).size for size in MediaSize} == {
        size: (side, side // 2) for size, side in LONGEST_SIDES.items()
    }
    assert (picture.width, picture.height) == (3840, 1920)
    assert decode(process_picture(saved(drawn(1, 1), "PNG"))).size == (1, 1)
    assert decode(process_picture(saved(drawn(12_000, 1), "PNG")), THUMB).size == (320, 1)


@pytest.mark.parametrize("orientation", range(1, 9))
@pytest.mark.parametrize("kind", ["JPEG", "PNG", "WEBP", "AVIF"])
def test_a_picture_is_turned_upright(orientation: int, kind: str) -> None:
    upright = drawn(40, 20)
    undo = {2: 0, 3: 3, 4: 1, 5: 5, 6: 2, 7: 6, 8: 4}  # how a camera held so has stored it
    stored = upright if orientation == 1 else upright.transpose(Image.Transpose(undo[orientation]))
    exif = Image.Exif()
    exif[0x0112] = orientation
    found = decode(process_picture(saved(stored, kind, exif=exif)))
    assert found.size == (40, 20)
    assert alike(found.convert("RGB").getpixel((4, 4)), (20, 20, 220), 50)
    assert alike(found.convert("RGB").getpixel((36, 16)), (200, 30, 30), 50)


def test_nothing_that_was_written_beside_the_pixels_is_kept() -> None:
    exif = Image.Exif()
    exif[0x010E] = SECRET
    exif.get_ifd(0x8825)[1] = "N"
    told = PngImagePlugin.PngInfo()
    told.add_text("Comment", SECRET)
    told.add_itxt("XML:com.adobe.xmp", f"<x:xmpmeta>{SECRET}</x:xmpmeta>")
    files = [
        saved(drawn(), "JPEG", exif=exif, comment=SECRET.encode(), xmp=SECRET.encode()),
        saved(drawn(), "PNG", pnginfo=told, exif=exif),
        saved(drawn(), "WEBP", exif=exif.tobytes(), xmp=SECRET.encode()),
        saved(drawn(), "GIF", comment=SECRET.encode()),
    ]
    for content in files:
        assert SECRET.encode() in content
        for kept in process_picture(content).sizes.values():
            assert SECRET.encode() not in kept
            assert b"EXIF" not in kept
            assert b"XMP" not in kept


def zipped() -> bytes:
    """An archive with a page in it."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("index.html", HTML)
    return file.getvalue()


@pytest.mark.parametrize("tail", [HTML, zipped(), b"<?php system($_GET[0]);", b"\0" * 100])
@pytest.mark.parametrize("kind", ["PNG", "JPEG", "GIF"])
def test_what_is_more_than_a_picture_leaves_the_rest_behind(kind: str, tail: bytes) -> None:
    for kept in process_picture(saved(drawn(), kind) + tail).sizes.values():
        assert tail[:12] not in kept
        assert kept[:4] == b"RIFF"
        assert struct.unpack("<I", kept[4:8])[0] == len(kept) - 8  # nothing stands behind it


def lying() -> dict[str, bytes]:
    """Files that are no pictures, whatever they say."""
    png, jpeg = saved(drawn(), "PNG"), saved(drawn(), "JPEG")
    pdf = saved(drawn(), "PDF")
    return {
        "nothing": b"",
        "text": b"a picture of a terrace",
        "page": HTML,
        "svg": b'<svg xmlns="http://www.w3.org/2000/svg" onload="alert(1)"><rect width="9" height="9"/></svg>',
        "svg as xml": b'<?xml version="1.0"?><svg xmlns="http://www.w3.org/2000/svg"/>',
        "gif that is a script": b"GIF89a/*" + HTML + b"*/=1;",
        "png by its first bytes": png[:8] + HTML,
        "jpeg by its first bytes": jpeg[:4] + HTML,
        "bmp": saved(drawn(), "BMP"),
        "tiff": saved(drawn(), "TIFF"),
        "ico": saved(drawn(), "ICO"),
        "postscript": saved(drawn(), "EPS"),
        "pdf": pdf,
        "zip": zipped(),
        "half a png": png[: len(png) // 2],
        "half a jpeg": saved(drawn(400, 300), "JPEG")[:900],
        "a png without its pixels": png.replace(b"IDAT", b"iDAT"),
        "a png whose sum is wrong": png[:-20] + bytes([png[-20] ^ 1]) + png[-19:],
        "half a webp": saved(drawn(400, 300), "WEBP", quality=95)[:300],
        "half an avif": saved(drawn(400, 300), "AVIF")[:300],
        "heic": b"\0\0\0\x18ftypheic\0\0\0\0mif1heic" + bytes(200),
    }


@pytest.mark.parametrize("name", lying())
def test_what_is_no_whole_picture_is_refused(name: str) -> None:
    with pytest.raises(InvalidPicture, match="a HEIC" if name == "heic" else r"no picture|damaged"):
        process_picture(lying()[name])


def png_that_claims(width: int, height: int) -> bytes:
    """A PNG of a few bytes whose header says how large it is."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    return (
        b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(b"\0" * 99)) + chunk(b"IEND", b"")
    )


def gif_that_claims(width: int, height: int) -> bytes:
    """A small GIF whose only frame claims to be large."""
    screen = b"GIF89a" + struct.pack("<HHBBB", 1, 1, 0x80, 0, 0) + bytes(6)
    return screen + b"," + struct.pack("<HHHHB", 0, 0, width, height, 0) + b"\x02\x02\x4c\x01\x00;"


@pytest.mark.parametrize(
    "content",
    [
        png_that_claims(12_001, 1),
        png_that_claims(8_000, 8_000),
        png_that_claims(30_000, 30_000),
        png_that_claims(2**31 - 1, 2**31 - 1),
        gif_that_claims(65_535, 65_535),
        gif_that_claims(9_000, 9_000),
    ],
    ids=["long", "64 megapixels", "900 megapixels", "largest", "gif frame", "gif frame of 81 megapixels"],
)
def test_a_bomb_is_refused_before_it_is_decoded(content: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    def decode(*_: object) -> None:
        pytest.fail("It was decoded.")

    monkeypatch.setattr("PIL.ImageFile.ImageFile.load", decode)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", Image.DecompressionBombWarning)  # as in production, where it is no error
        with pytest.raises(InvalidPicture, match=r"too large|damaged"):
            process_picture(content)


def test_a_jpeg_that_goes_over_its_picture_without_end_is_refused() -> None:
    jpeg = saved(drawn(400, 300), "JPEG", progressive=True)
    last = jpeg.rindex(b"\xff\xda")
    again = jpeg[last:-2]
    assert decode(process_picture(jpeg[:last] + again * 20 + jpeg[-2:])).size == (400, 300)
    with pytest.raises(InvalidPicture, match="take long"):
        process_picture(jpeg[:last] + again * 100 + jpeg[-2:])


def test_what_a_telephone_adds_to_a_jpeg_is_no_scan() -> None:
    jpeg = saved(drawn(), "JPEG", comment=b"\xff\xda" * 200)
    assert decode(process_picture(jpeg + b"\xff\xda" * 200)).size == (40, 30)
    hidden = saved(drawn(), "JPEG", comment=b"\xff\xd9", progressive=True)
    last = hidden.rindex(b"\xff\xda")
    with pytest.raises(InvalidPicture, match="take long"):  # an end that is told in a comment is none
        process_picture(hidden[:last] + hidden[last:-2] * 100 + hidden[-2:])


def test_what_a_camera_wrote_wrong_costs_no_picture() -> None:
    for kind in ("JPEG", "PNG", "WEBP"):
        assert decode(process_picture(saved(drawn(), kind, exif=b"Exif\0\0nonsense"))).size == (40, 30)


def test_of_what_moves_the_first_picture_is_kept() -> None:
    frames = [drawn(20, 20, colour=(0, 0, 0)), *(drawn(20, 20, colour=(shade, 255, shade)) for shade in range(40))]
    for kind in ("GIF", "WEBP", "PNG", "AVIF"):
        content = saved(frames[0], kind, save_all=True, append_images=frames[1:])
        assert alike(decode(process_picture(content)).convert("RGB").getpixel((15, 15)), (0, 0, 0), 40)


def profile_of_other_colours() -> bytes:
    """An sRGB profile whose red is blue and whose blue is red."""
    profile = bytearray(ImageCms.ImageCmsProfile(ImageCms.createProfile("sRGB")).tobytes())
    (count,) = struct.unpack_from(">I", profile, 128)
    tags = {
        tag: (at, size) for tag, at, size in (struct.unpack_from(">4sII", profile, 132 + 12 * n) for n in range(count))
    }
    (red, size), (blue, _) = tags[b"rXYZ"], tags[b"bXYZ"]
    profile[red : red + size], profile[blue : blue + size] = profile[blue : blue + size], profile[red : red + size]
    return bytes(profile)


@pytest.mark.parametrize("kind", ["PNG", "JPEG", "WEBP", "AVIF"])
def test_colours_of_another_profile_become_those_that_it_means(kind: str) -> None:
    found = decode(process_picture(saved(drawn(), kind, icc_profile=profile_of_other_colours())))
    assert alike(found.getpixel((38, 28)), (30, 30, 200), 12)


def test_colours_are_those_of_every_screen() -> None:
    cyan = saved(Image.new("CMYK", (20, 20), (255, 0, 0, 0)), "JPEG", quality=95)
    assert alike(decode(process_picture(cyan)).getpixel((9, 9)), (0, 255, 255), 40)

    grey = Image.new("I;16", (20, 20), 32_768)
    assert alike(decode(process_picture(saved(grey, "PNG"))).getpixel((9, 9)), (128, 128, 128), 4)

    lab = ImageCms.ImageCmsProfile(ImageCms.createProfile("LAB")).tobytes()  # is none of RGB pictures
    srgb = ImageCms.ImageCmsProfile(ImageCms.createProfile("sRGB")).tobytes()
    for profile in (srgb, lab, b"no profile at all"):
        found = decode(process_picture(saved(drawn(), "PNG", icc_profile=profile)))
        assert alike(found.getpixel((38, 28)), (200, 30, 30), 4)


def test_what_is_clear_stays_clear() -> None:
    clear = Image.new("RGBA", (20, 20), (10, 200, 10, 0))
    clear.paste((200, 30, 30, 255), (0, 0, 10, 20))
    palette = Image.new("P", (20, 20), 0)
    palette.putpalette([0, 0, 0, 255, 0, 0])
    palette.paste(1, (0, 0, 10, 20))
    for content in (saved(clear, "PNG"), saved(clear, "WEBP"), saved(palette, "PNG", transparency=0), saved(palette, "GIF", transparency=0),
                    saved(clear.convert("LA"), "PNG"), saved(clear, "AVIF")):  # fmt: skip
        found = decode(process_picture(content))
        assert found.mode == "RGBA"
        assert found.getpixel((15, 10))[3] < 10  # type: ignore[index]
        assert found.getpixel((4, 10))[3] > 245  # type: ignore[index]


SEEDS: list[Callable[[], bytes]] = [
    lambda: saved(drawn(), "PNG"),
    lambda: saved(drawn(mode="P"), "PNG", transparency=1),
    lambda: saved(drawn(), "JPEG", exif=_exif()),
    lambda: saved(drawn().convert("CMYK"), "JPEG"),
    lambda: saved(drawn(), "JPEG", progressive=True),
    lambda: saved(drawn(), "GIF"),
    lambda: saved(drawn(), "WEBP", exif=_exif()),
    lambda: saved(drawn(mode="RGBA"), "WEBP", lossless=True),
    lambda: saved(drawn(), "AVIF"),
]


def _exif() -> Image.Exif:
    exif = Image.Exif()
    exif[0x0112] = 6
    return exif


@settings(max_examples=400, derandomize=True, suppress_health_check=[HealthCheck.too_slow])
@given(
    seed=st.sampled_from(SEEDS),
    at=st.randoms(use_true_random=False),
    harm=st.sampled_from(["flip", "cut", "more", "noise"]),
)
@pytest.mark.filterwarnings("ignore::UserWarning", "ignore::PIL.Image.DecompressionBombWarning")
def test_any_harm_done_to_a_file_makes_it_a_picture_or_a_refusal(
    seed: Callable[[], bytes], at: random.Random, harm: str
) -> None:
    content = bytearray(seed())
    if harm == "cut":
        del content[at.randrange(len(content)) :]
    elif harm == "more":
        content[(place := at.randrange(len(content))) : place] = at.randbytes(at.randrange(1, 200))
    elif harm == "noise":
        place = at.randrange(len(content))
        content[place : place + 16] = at.randbytes(16)
    else:
        for _ in range(at.randrange(1, 4)):
            content[at.randrange(len(content))] ^= 1 << at.randrange(8)
    with contextlib.suppress(InvalidPicture):
        picture = process_picture(bytes(content))
        for size, side in LONGEST_SIDES.items():
            assert max(decode(picture, size).size) <= side


@given(st.binary(max_size=300))
def test_no_bytes_do_harm(content: bytes) -> None:
    with pytest.raises(InvalidPicture):
        process_picture(content)

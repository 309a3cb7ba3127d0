"""The characters that the fonts of documents cover. Others cannot be printed, and PDF/A forbids missing glyphs."""

import functools
import struct
from collections.abc import Iterator
from pathlib import Path

FONTS = Path(__file__).with_name("fonts")


@functools.cache
def printable_characters() -> frozenset[int]:
    """The code points that at least one of the fonts can print."""
    return frozenset(point for font in FONTS.glob("*.ttf") for point in _characters(font.read_bytes()))


def _characters(font: bytes) -> Iterator[int]:
    """The code points of a TrueType font, from its `cmap` table: the subtable of format 12 if there is one, else of
    format 4.
    """
    start = _table(font, b"cmap")
    (count,) = struct.unpack_from(">H", font, start + 2)
    offsets = [struct.unpack_from(">HHI", font, start + 4 + 8 * entry)[2] for entry in range(count)]
    formats = {struct.unpack_from(">H", font, start + offset)[0]: start + offset for offset in offsets}
    return _format_4_characters(font, formats[12]) if 12 in formats else _format_12_characters(font, formats[4])


def _table(font: bytes, table_name: bytes) -> int:
    (count,) = struct.unpack_from(">H", font, 4)
    for entry in range(count):
        tag, _, offset, _ = struct.unpack_from(">4sIII", font, 12 + 16 * entry)
        if tag == table_name:
            return int(offset)
    raise ValueError(f"A font without a table {table_name!r}.")


def _format_4_characters(font: bytes, at: int) -> Iterator[int]:
    (groups,) = struct.unpack_from(">I", font, at + 12)
    for group in range(groups):
        first, last, _ = struct.unpack_from(">III", font, at + 16 + 12 * group)
        yield from range(first, last + 1)


def _format_12_characters(font: bytes, at: int) -> Iterator[int]:
    (doubled,) = struct.unpack_from(">H", font, at + 6)
    segments = doubled // 2
    ends = struct.unpack_from(f">{segments}H", font, at + 14)
    starts = struct.unpack_from(f">{segments}H", font, at + 16 + doubled)
    for first, last in zip(starts, ends, strict=True):
        if last != 0xFFFF:
            yield from range(first, last + 1)

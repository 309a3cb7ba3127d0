"""Checks and draws a drawing of a stranger, as a process of its own with limits: `python -m store.document.drawing.program`
reads an SVG and writes a PNG. Whatever the drawing does, only this process ends. Its temporary files are in `TMPDIR`, which
who starts it removes.
"""

import math
import resource
import sys

from store.document.drawing.check import DrawingSize, check_drawing
from store.document.drawing.draw import draw_png
from store.document.rendering import RenderingFailed
from store.media.images import InvalidPicture

CPU_SECONDS = 5
MEMORY_BYTES = 2 * 1024**3
LONGEST_SIDE = 2_000
MOST_PIXELS = 1_000_000
"""As large as a picture can be and stay lossless: sharp on pages, in print and in mail."""
ROUNDING = 1e-6
REFUSED, OUT_OF_MEMORY = 3, 4
"""The exit status for a drawing that cannot be used, with the reason on the standard error stream, and for one that needs
more memory than the limit. Some allocations end by SIGABRT instead.
"""


def main() -> None:
    """Draw what comes in. Ends with a status above, or by a signal at a limit."""
    resource.setrlimit(resource.RLIMIT_CPU, (CPU_SECONDS, CPU_SECONDS))
    if sys.platform == "linux":  # elsewhere the kernel knows no such limit, or refuses it
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    try:
        picture = _draw(sys.stdin.buffer.read())
    except InvalidPicture as error:
        sys.stderr.write(str(error))
        sys.exit(REFUSED)
    except MemoryError:
        sys.exit(OUT_OF_MEMORY)
    sys.stdout.buffer.write(picture)


def _draw(content: bytes) -> bytes:
    width, height = _pixels_of(check_drawing(content))
    try:
        return draw_png(content, height, width)
    except RenderingFailed as error:
        raise InvalidPicture("This SVG cannot be drawn: save it as plain SVG.") from error


def _pixels_of(size: DrawingSize) -> tuple[int, int]:
    """Width and height in pixels: as large as the limits allow."""
    factor = min(
        LONGEST_SIDE / max(size.width, size.height),
        math.sqrt(MOST_PIXELS) / math.sqrt(size.width) / math.sqrt(size.height),
    )
    return max(1, int(size.width * factor + ROUNDING)), max(1, int(size.height * factor + ROUNDING))


if __name__ == "__main__":
    main()

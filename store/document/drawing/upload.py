"""Drawings (SVG) that strangers upload, made pictures of pixels."""

import asyncio
import math
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import structlog

from store.document.drawing import program
from store.document.drawing.check import DrawingSize, check_drawing
from store.media.images import InvalidPicture

LONGEST_SIDE = 2_000
MOST_PIXELS = 1_000_000
"""As large as a picture can be and stay lossless: sharp on pages, in print and in mail."""
ROUNDING = 1e-6
WAITING_SECONDS = 60
"""How long a drawing may take, whatever else the machine does; its own limit is the processor's time."""
ENVIRONMENT = ("PATH", "PYTHONPATH", "LD_LIBRARY_PATH", "TMPDIR")
"""What the process needs of the environment. It gets no secrets."""
_THREADS = ThreadPoolExecutor(2, thread_name_prefix="drawings")
"""Each waits for one process."""
log = structlog.get_logger(__name__)


async def draw_upload(content: bytes) -> bytes:
    """An uploaded drawing as PNG, transparent where nothing is drawn. Raises InvalidPicture if it cannot be used."""
    return await asyncio.get_running_loop().run_in_executor(_THREADS, draw_upload_sync, content)


def draw_upload_sync(content: bytes) -> bytes:
    """`draw_upload` in the calling thread."""
    width, height = _pixels_of(check_drawing(content))
    environment = {name: os.environ[name] for name in ENVIRONMENT if name in os.environ}
    command = [sys.executable, "-P", "-m", program.__name__, str(width), str(height)]
    try:
        drawn = subprocess.run(  # noqa: S603 - our own program
            command, input=content, capture_output=True, timeout=WAITING_SECONDS, check=False, cwd="/", env=environment
        )
    except subprocess.TimeoutExpired as error:
        raise _too_complex() from error
    if drawn.returncode == 0:
        return drawn.stdout
    log.info("drawing refused", status=drawn.returncode, told=drawn.stderr[-500:].decode(errors="replace"))
    if drawn.returncode == program.REFUSED:
        raise InvalidPicture("This SVG cannot be drawn: save it as plain SVG.")
    raise _too_complex()


def _too_complex() -> InvalidPicture:
    return InvalidPicture("This SVG takes too long to draw, or too much memory: simplify it.")


def _pixels_of(size: DrawingSize) -> tuple[int, int]:
    """Width and height in pixels: as large as the limits allow."""
    factor = min(
        LONGEST_SIDE / max(size.width, size.height),
        math.sqrt(MOST_PIXELS) / math.sqrt(size.width) / math.sqrt(size.height),
    )
    return max(1, int(size.width * factor + ROUNDING)), max(1, int(size.height * factor + ROUNDING))

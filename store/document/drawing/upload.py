"""Drawings (SVG) that strangers upload, made pictures of pixels."""

import asyncio
import os
import signal
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor

import structlog

from schema.core.errors import Unavailable
from store.document.drawing import program
from store.media.images import InvalidPicture

WAITING_SECONDS = 60
"""How long a drawing may take, whatever else the machine does; its own limit is the processor's time."""
ENVIRONMENT = ("PATH", "PYTHONPATH", "LD_LIBRARY_PATH")
"""What the process needs of the environment. It gets no secrets."""
AT_A_LIMIT = frozenset({program.OUT_OF_MEMORY, -signal.SIGKILL, -signal.SIGXCPU, -signal.SIGABRT})
"""How the process ends at one of its limits."""
_THREADS = ThreadPoolExecutor(2, thread_name_prefix="drawings")
"""Each waits for one process."""
log = structlog.get_logger(__name__)


async def draw_upload(content: bytes) -> bytes:
    """An uploaded drawing as PNG, transparent where nothing is drawn. Raises InvalidPicture if it cannot be used, and
    Unavailable if the fault is not the drawing's.
    """
    return await asyncio.get_running_loop().run_in_executor(_THREADS, draw_upload_sync, content)


def draw_upload_sync(content: bytes) -> bytes:
    """`draw_upload` in the calling thread."""
    try:
        drawn = _run_program(content)
    except (OSError, subprocess.TimeoutExpired) as error:
        log.exception("drawing failed")
        raise _unavailable() from error
    if drawn.returncode == 0:
        return drawn.stdout
    told = drawn.stderr.decode(errors="replace")
    if drawn.returncode == program.REFUSED:
        raise InvalidPicture(told)
    if drawn.returncode in AT_A_LIMIT:
        log.info("drawing ended at a limit", status=drawn.returncode)
        raise InvalidPicture("This SVG takes too long to draw, or too much memory: simplify it.")
    log.error("drawing failed", status=drawn.returncode, told=told[-2000:])
    raise _unavailable()


def _run_program(content: bytes) -> "subprocess.CompletedProcess[bytes]":
    """The end of the process that draws. Its folder is removed however it ends."""
    command = [sys.executable, "-P", "-m", program.__name__]
    environment = {name: os.environ[name] for name in ENVIRONMENT if name in os.environ}
    with tempfile.TemporaryDirectory(prefix="coffret-drawing-") as folder:
        return subprocess.run(  # noqa: S603 - our own program
            command,
            input=content,
            capture_output=True,
            timeout=WAITING_SECONDS,
            check=False,
            cwd="/",
            env=environment | {"TMPDIR": folder},
        )


def _unavailable() -> Unavailable:
    return Unavailable(what="The program that draws SVG pictures")

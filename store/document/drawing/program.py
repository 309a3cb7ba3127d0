"""Draws a drawing of a stranger, as a process of its own with limits: `python -m store.document.drawing.program WIDTH HEIGHT`
reads an SVG and writes a PNG. Whatever the drawing does, only this process ends.
"""

import resource
import sys

from store.document.drawing.draw import draw_png
from store.document.rendering import RenderingFailed

CPU_SECONDS = 5
MEMORY_BYTES = 2 * 1024**3
REFUSED = 3
"""The exit status for a drawing that cannot be drawn."""


def main() -> None:
    """Draw what comes in. Ends with `REFUSED`, or by a signal at a limit."""
    resource.setrlimit(resource.RLIMIT_CPU, (CPU_SECONDS, CPU_SECONDS))
    if sys.platform == "linux":  # elsewhere the kernel knows no such limit, or refuses it
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    width, height = map(int, sys.argv[1:])
    try:
        picture = draw_png(sys.stdin.buffer.read(), height, width)
    except RenderingFailed:
        sys.exit(REFUSED)
    sys.stdout.buffer.write(picture)


if __name__ == "__main__":
    main()

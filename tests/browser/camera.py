"""A camera for Chromium: a film of a QR code on a table."""

import io
from pathlib import Path

import segno
from PIL import Image

WIDTH, HEIGHT = 640, 480
FRAMES = 5


def film_of(text: str, file: Path) -> tuple[str, ...]:
    """Write the film of a QR code, held askew, as YUV4MPEG2; returns the arguments with which Chromium shows it."""
    png = io.BytesIO()
    segno.make(text, error="m", micro=False).save(png, kind="png", scale=6, border=4)
    code = Image.open(png).convert("L").rotate(11, expand=True, fillcolor=255)
    table = Image.new("L", (WIDTH, HEIGHT), 90)
    table.paste(code, ((WIDTH - code.width) // 2, (HEIGHT - code.height) // 2))
    grey = bytes([128]) * (WIDTH * HEIGHT // 2)
    frame = b"FRAME\n" + table.tobytes() + grey
    file.write_bytes(f"YUV4MPEG2 W{WIDTH} H{HEIGHT} F10:1 Ip A1:1 C420jpeg\n".encode() + frame * FRAMES)
    return (
        "--use-fake-device-for-media-stream",
        "--use-fake-ui-for-media-stream",
        f"--use-file-for-fake-video-capture={file}",
    )

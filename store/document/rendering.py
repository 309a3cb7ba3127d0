"""From a sheet to a PDF: typst, in threads of its own, where it sees its template, the sheet and nothing else."""

import asyncio
import datetime as dt
import functools
import hashlib
import io
import tempfile
from concurrent.futures import ThreadPoolExecutor
from importlib.metadata import version
from pathlib import Path
from typing import Any

import orjson
import segno
import structlog
import typst
from prometheus_client import Histogram

from store.document.font_coverage import FONTS
from store.document.pictures import Picture, Pictures, prepared
from store.document.sheet import Sheet

TEMPLATE = Path(__file__).with_name("sheet.typ")
STANDARDS: "list[typst.PDFStandard]" = ["a-2a", "ua-1"]
"""PDF/A-2a for keeping, PDF/UA-1 for whoever has it read aloud."""
QUIET_ZONE = 2
"""Light modules around the QR code, besides the white of the paper."""
log = structlog.get_logger(__name__)
SECONDS = Histogram("coffret_document_seconds", "Time to make a document.")
PANICS = "pyo3_runtime"
"""Where the error of a compiler that gives up comes from, which is no Exception."""
_THREADS = ThreadPoolExecutor(max_workers=2, thread_name_prefix="documents")
"""At most so many documents are made at once: each takes a core while it lasts."""


class NotMade(Exception):
    """A document could not be made; the message says why, for whoever runs the installation."""


async def pdf_of(sheet: Sheet, pictures: Pictures, made_on: dt.datetime) -> bytes:
    """A sheet as PDF. The same sheet, pictures and time give the same bytes. NotMade where it cannot be made."""
    with SECONDS.time():
        return await asyncio.get_running_loop().run_in_executor(_THREADS, set_in_type, sheet, pictures, made_on)


def set_in_type(sheet: Sheet, pictures: Pictures, made_on: dt.datetime) -> bytes:
    """The same, at once: it takes a core for a while."""
    shown = prepared(pictures)
    how: dict[str, Any] = {"format": "pdf", "pdf_standards": STANDARDS, "timestamp": int(made_on.timestamp())}
    try:
        return compiled(sheet, shown, **how)
    except NotMade as error:
        if not shown:
            raise
        log.warning("a document is made without pictures", because=str(error)[:300])
    return compiled(sheet, {}, **how)


def compiled(sheet: Sheet, pictures: dict[str, Picture], **how: Any) -> bytes:
    """A sheet as the compiler writes it: `how` says in which format. Of several pictures of pages the first."""
    with tempfile.TemporaryDirectory(prefix="coffret-document-") as name:
        folder = Path(name)
        logo = pictures.get("logo")
        data = sheet.data() | {
            "cover": _written(folder, pictures.get("cover")),
            "logo": _written(folder, logo),
            "logo_width": logo.shape if logo else 1,
        }
        (folder / "sheet.json").write_bytes(orjson.dumps(data))
        (folder / "code.svg").write_bytes(_qr(sheet.scanned))
        places: dict[str, Any] = {"root": folder, "package_path": folder, "package_cache_path": folder}
        try:
            compiler = typst.Compiler(TEMPLATE.read_bytes(), font_paths=_fonts(), ignore_system_fonts=True, **places)
            made = compiler.compile(**how)
        except typst.TypstError as error:
            raise NotMade(error.diagnostic) from error
        except BaseException as error:
            if type(error).__module__ != PANICS:
                raise
            raise NotMade(f"The compiler gave up: {error}") from error
    return made[0] if isinstance(made, list) else made or b""


def _written(folder: Path, picture: Picture | None) -> str | None:
    if picture is None:
        return None
    (folder / picture.name).write_bytes(picture.content)
    return picture.name


@functools.cache
def _fonts() -> typst.Fonts:
    return typst.Fonts(include_system_fonts=False, include_embedded_fonts=False, font_paths=[FONTS])


def _qr(text: str) -> bytes:
    written = io.BytesIO()
    segno.make_qr(text, error="m").save(written, kind="svg", border=QUIET_ZONE, scale=4, svgns=True)
    return written.getvalue()


@functools.cache
def edition() -> str:
    """Names the template, the fonts' folder and the compiler: where it changes, documents are made anew."""
    fonts = ",".join(f"{font.name}:{font.stat().st_size}" for font in sorted(FONTS.glob("*.ttf")))
    return hashlib.sha256(TEMPLATE.read_bytes() + f"{fonts}:{version('typst')}:{STANDARDS}".encode()).hexdigest()

"""Renders a document to PDF with typst, in separate threads; typst can read only its template, the document's data
and its pictures.
"""

import asyncio
import datetime as dt
import functools
import hashlib
import io
import tempfile
from concurrent.futures import ThreadPoolExecutor
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

import orjson
import structlog
from prometheus_client import Histogram

from store.document.font_coverage import FONTS
from store.document.typeset import TypesetDocument

if TYPE_CHECKING:  # a process that renders no documents does without the compiler and without Pillow
    import typst

    from store.document.pictures import Pictures, PrintPicture

TEMPLATES = Path(__file__).parent
QUIET_ZONE = 2
"""Light modules around the QR code, in addition to the white of the paper."""
log = structlog.get_logger(__name__)
RENDER_SECONDS = Histogram("coffret_document_seconds", "Time to render a document.")
PANIC_MODULE = "pyo3_runtime"
"""The module of the compiler's panic, which is not an Exception."""
_THREADS = ThreadPoolExecutor(max_workers=2, thread_name_prefix="documents")
"""The maximum number of documents rendered at once; each occupies a core."""


_PREVIEW_THREAD = ThreadPoolExecutor(max_workers=1, thread_name_prefix="previews")
"""Of its own, so that documents that are paid for do not wait for those that are being typed."""


class RenderingFailed(Exception):
    """A document could not be rendered; the message says why, for the operator."""


async def render_pdf(sheet: TypesetDocument, pictures: "Pictures", rendered_on: dt.datetime) -> bytes:
    """Render a document as PDF. The same document, pictures and time give the same bytes. RenderingFailed if it cannot be
    rendered.
    """
    with RENDER_SECONDS.time():
        return await asyncio.get_running_loop().run_in_executor(_THREADS, render_pdf_sync, sheet, pictures, rendered_on)


async def render_png(sheet: TypesetDocument, pictures: "Pictures", pixels_per_inch: float) -> bytes:
    """The first page of a document as a picture. RenderingFailed if it cannot be rendered."""

    def render() -> bytes:
        from store.document.pictures import prepare_pictures

        return compile_sheet(sheet, prepare_pictures(pictures), format="png", ppi=pixels_per_inch)

    with RENDER_SECONDS.time():
        return await asyncio.get_running_loop().run_in_executor(_PREVIEW_THREAD, render)


def render_pdf_sync(sheet: TypesetDocument, pictures: "Pictures", rendered_on: dt.datetime) -> bytes:
    """`render_pdf` in the calling thread; it occupies a core for a while."""
    from store.document.pictures import prepare_pictures

    shown = prepare_pictures(pictures)
    how: dict[str, Any] = {
        "format": "pdf",
        "pdf_standards": list(sheet.pdf_standards),
        "timestamp": int(rendered_on.timestamp()),
    }
    try:
        return compile_sheet(sheet, shown, **how)
    except RenderingFailed as error:
        if not shown:
            raise
        log.warning("a document is rendered without pictures", because=str(error)[:300])
    return compile_sheet(sheet, {}, **how)


def compile_sheet(sheet: TypesetDocument, pictures: dict[str, "PrintPicture"], **how: Any) -> bytes:
    """Compile a document in the format that `how` names. Of several page images, the first is returned."""
    with tempfile.TemporaryDirectory(prefix="coffret-document-") as name:
        folder = Path(name)
        logo = pictures.get("logo")
        data = sheet.data() | {
            "cover": _write_picture(folder, pictures.get("cover")),
            "logo": _write_picture(folder, logo),
            "logo_width": logo.aspect_ratio if logo else 1,
        }
        (folder / "sheet.json").write_bytes(orjson.dumps(data))
        if sheet.scanned:
            (folder / "code.svg").write_bytes(_qr(sheet.scanned))
        return compile_in(folder, _template(sheet.template), **how)


def compile_in(folder: Path, template: bytes, **how: Any) -> bytes:
    """Compile a template that reads nothing but the files of this folder. Raises RenderingFailed."""
    import typst

    places: dict[str, Any] = {"root": folder, "package_path": folder, "package_cache_path": folder}
    try:
        compiler = typst.Compiler(template, font_paths=_fonts(), ignore_system_fonts=True, **places)
        made = compiler.compile(**how)
    except typst.TypstError as error:
        raise RenderingFailed(error.diagnostic) from error
    except BaseException as error:
        if type(error).__module__ != PANIC_MODULE:
            raise
        raise RenderingFailed(f"The compiler gave up: {error}") from error
    return made[0] if isinstance(made, list) else made or b""


@functools.cache
def _template(name: str) -> bytes:
    """A template, with what all templates share before it."""
    return (TEMPLATES / "house.typ").read_bytes() + (TEMPLATES / name).read_bytes()


def _write_picture(folder: Path, picture: "PrintPicture | None") -> str | None:
    if picture is None:
        return None
    (folder / picture.name).write_bytes(picture.content)
    return picture.name


@functools.cache
def _fonts() -> "typst.Fonts":
    import typst

    return typst.Fonts(include_system_fonts=False, include_embedded_fonts=False, font_paths=[FONTS])


def _qr(text: str) -> bytes:
    import segno

    written = io.BytesIO()
    segno.make_qr(text, error="m").save(written, kind="svg", border=QUIET_ZONE, scale=4, svgns=True)
    return written.getvalue()


@functools.cache
def renderer_version(template: str, standards: tuple[str, ...]) -> str:
    """Identifies the template, the fonts, the compiler and its standards: when it changes, documents are rendered again."""
    fonts = ",".join(f"{font.name}:{font.stat().st_size}" for font in sorted(FONTS.glob("*.ttf")))
    return hashlib.sha256(_template(template) + f"{fonts}:{version('typst')}:{standards}".encode()).hexdigest()

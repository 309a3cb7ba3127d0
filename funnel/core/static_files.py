"""Static files. Their URLs contain a digest, so that browsers cache them permanently."""

import gzip
import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path

from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response

FOLDER = Path(__file__).parents[1] / "static"
PREFIX = "/static/funnel/"
FONTS = FOLDER / "fonts"
FONT_TYPE = "font/woff2"
CONTENT_TYPES = {".css": "text/css; charset=utf-8", ".js": "text/javascript; charset=utf-8", ".woff2": FONT_TYPE}
CACHE_FOREVER = "public, max-age=31536000, immutable"


@dataclass(frozen=True, slots=True)
class Asset:
    """A static file, plain and compressed. Fonts are compressed already."""

    content_type: str
    plain: bytes
    compressed: bytes | None

    def response(self, request: Request) -> Response:
        headers = {"Cache-Control": CACHE_FOREVER, "X-Content-Type-Options": "nosniff", "Vary": "Accept-Encoding"}
        if self.compressed and accepts_gzip(request):
            return Response(
                self.compressed, headers=headers | {"Content-Encoding": "gzip"}, media_type=self.content_type
            )
        return Response(self.plain, headers=headers, media_type=self.content_type)


@cache
def read_asset(file: Path) -> Asset:
    """A static file as it was at the first call in this process."""
    plain, kind = file.read_bytes(), CONTENT_TYPES[file.suffix]
    return Asset(kind, plain, None if kind == FONT_TYPE else gzip.compress(plain, mtime=0))


class Assets:
    """All style sheets, scripts and fonts of the pages, read once."""

    def __init__(self, files: Sequence[Path] = (), prefix: str = PREFIX) -> None:
        """`files` are those of other pages, which are served below `prefix`."""
        self._served: dict[str, Asset] = {}
        self._paths: dict[str, str] = {}
        for file in files or [*sorted(FOLDER.iterdir()), *sorted(FONTS.iterdir())]:
            if file.suffix in CONTENT_TYPES:
                asset = read_asset(file)
                name = _name_with_digest(file, asset.plain)
                self._served[name] = asset
                self._paths[file.name] = prefix + name

    def path(self, name: str) -> str:
        """The URL of a file: `/static/funnel/funnel.1f2e3d4c5b6a.css` for `funnel.css`."""
        return self._paths[name]

    async def serve(self, request: Request) -> Response:
        asset = self._served.get(request.path_params["name"])
        return PlainTextResponse("Not found", 404) if asset is None else asset.response(request)


def _name_with_digest(file: Path, content: bytes) -> str:
    return f"{file.stem}.{digest(content)}{file.suffix}"


@lru_cache
def font_path(name: str) -> str:
    """The URL of a font: `/static/funnel/jost.1f2e3d4c5b6a.woff2` for `jost`."""
    file = FONTS / f"{name}.woff2"
    return PREFIX + _name_with_digest(file, file.read_bytes())


def digest(content: bytes) -> str:
    """The part of a URL that identifies a file's content."""
    return hashlib.sha256(content).hexdigest()[:12]


def accepts_gzip(request: Request) -> bool:
    return "gzip" in request.headers.get("accept-encoding", "")

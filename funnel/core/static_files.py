"""Static files and brand style sheets. Their URLs contain a digest, so that browsers cache them permanently."""

import gzip
import hashlib
import re
from dataclasses import dataclass
from pathlib import Path

from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response

from schema.checkout.brand import Brand
from store.core.brand_colours import build_brand, dark_accent_colours

FOLDER = Path(__file__).parents[1] / "static"
PREFIX = "/static/funnel/"
CONTENT_TYPES = {".css": "text/css; charset=utf-8", ".js": "text/javascript; charset=utf-8"}
CACHE_FOREVER = "public, max-age=31536000, immutable"
COLOUR = re.compile(r"#[0-9a-fA-F]{6}")
FALLBACK_COLOUR = "#1f4e5f"


@dataclass(frozen=True, slots=True)
class Asset:
    """A static file, plain and compressed."""

    content_type: str
    plain: bytes
    compressed: bytes

    def response(self, request: Request) -> Response:
        headers = {"Cache-Control": CACHE_FOREVER, "X-Content-Type-Options": "nosniff", "Vary": "Accept-Encoding"}
        if accepts_gzip(request):
            return Response(
                self.compressed, headers=headers | {"Content-Encoding": "gzip"}, media_type=self.content_type
            )
        return Response(self.plain, headers=headers, media_type=self.content_type)


class Assets:
    """All files of `funnel/static`, read once."""

    def __init__(self) -> None:
        self._served: dict[str, Asset] = {}
        self._paths: dict[str, str] = {}
        for file in sorted(FOLDER.iterdir()):
            if file.suffix in CONTENT_TYPES:
                self._add(file)

    def _add(self, file: Path) -> None:
        plain = file.read_bytes()
        name = f"{file.stem}.{digest(plain)}{file.suffix}"
        self._served[name] = Asset(CONTENT_TYPES[file.suffix], plain, gzip.compress(plain, mtime=0))
        self._paths[file.name] = PREFIX + name

    def path(self, name: str) -> str:
        """The URL of a file: `/static/funnel/funnel.1f2e3d4c5b6a.css` for `funnel.css`."""
        return self._paths[name]

    async def serve(self, request: Request) -> Response:
        asset = self._served.get(request.path_params["name"])
        return PlainTextResponse("Not found", 404) if asset is None else asset.response(request)


def digest(content: bytes) -> str:
    """The part of a URL that identifies a file's content."""
    return hashlib.sha256(content).hexdigest()[:12]


def accepts_gzip(request: Request) -> bool:
    return "gzip" in request.headers.get("accept-encoding", "")


def brand_sheet(brand: Brand) -> bytes:
    """A partner's colours as a style sheet, also for dark pages. Invalid colours are replaced by the defaults."""
    accent, ink, text = (
        colour if COLOUR.fullmatch(colour) else fallback
        for colour, fallback in (
            (brand.accent, FALLBACK_COLOUR),
            (brand.accent_ink, "#ffffff"),
            (brand.accent_text, FALLBACK_COLOUR),
        )
    )
    light = _accent_rule(accent, ink, text)
    dark = _accent_rule(*dark_accent_colours(accent))
    return f"{light}\n@media screen and (prefers-color-scheme:dark){{{dark}}}\n".encode()


def _accent_rule(accent: str, ink: str, text: str) -> str:
    return f":root{{--accent:{accent};--accent-ink:{ink};--accent-text:{text}}}"


def colours_path(accent: str) -> str:
    """The path of the style sheet derived from an accent colour (`#rrggbb`), at the service's own host."""
    return f"/onboarding/colours/{accent.removeprefix('#').lower()}.css"


def brand_path(brand: Brand) -> str:
    """The path of a partner's brand style sheet on its own host."""
    return f"/ecommerce/shop/brand.{digest(brand_sheet(brand))}.css"


async def colours(request: Request) -> Response:
    """The style sheet derived from a colour. An invalid colour gets the default."""
    colour = f"#{request.path_params['accent']}"
    brand = build_brand("", colour if COLOUR.fullmatch(colour) else FALLBACK_COLOUR)
    headers = {"Cache-Control": CACHE_FOREVER, "X-Content-Type-Options": "nosniff"}
    return Response(brand_sheet(brand), headers=headers, media_type=CONTENT_TYPES[".css"])

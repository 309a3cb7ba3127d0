"""The style sheet, the script and the partner's colours: named after their content, so that browsers keep them for good."""

import gzip
import hashlib
import re
from dataclasses import dataclass
from pathlib import Path

from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response

from schema.checkout.checkout import Brand

FOLDER = Path(__file__).parents[1] / "static"
PREFIX = "/static/funnel/"
KINDS = {".css": "text/css; charset=utf-8", ".js": "text/javascript; charset=utf-8"}
FOR_GOOD = "public, max-age=31536000, immutable"
COLOUR = re.compile(r"#[0-9a-fA-F]{6}")
FALLBACK = "#1f4e5f"


@dataclass(frozen=True, slots=True)
class Asset:
    """A file as it is served, plain and compressed."""

    kind: str
    plain: bytes
    compressed: bytes

    def response(self, request: Request) -> Response:
        """The file, compressed where the browser can take it."""
        headers = {"Cache-Control": FOR_GOOD, "X-Content-Type-Options": "nosniff", "Vary": "Accept-Encoding"}
        if accepts_gzip(request):
            return Response(self.compressed, headers=headers | {"Content-Encoding": "gzip"}, media_type=self.kind)
        return Response(self.plain, headers=headers, media_type=self.kind)


class Assets:
    """All files of `funnel/static`, read once."""

    def __init__(self) -> None:
        self._served: dict[str, Asset] = {}
        self._paths: dict[str, str] = {}
        for file in sorted(FOLDER.iterdir()):
            if file.suffix in KINDS:
                self._add(file)

    def _add(self, file: Path) -> None:
        plain = file.read_bytes()
        name = f"{file.stem}.{digest(plain)}{file.suffix}"
        self._served[name] = Asset(KINDS[file.suffix], plain, gzip.compress(plain, mtime=0))
        self._paths[file.name] = PREFIX + name

    def path(self, name: str) -> str:
        """Where a file is served: `/static/funnel/funnel.1f2e3d4c5b6a.css` for `funnel.css`."""
        return self._paths[name]

    async def serve(self, request: Request) -> Response:
        """Answer a request for a file."""
        asset = self._served.get(request.path_params["name"])
        return PlainTextResponse("Not found", 404) if asset is None else asset.response(request)


def digest(content: bytes) -> str:
    """What names a file after its content."""
    return hashlib.sha256(content).hexdigest()[:12]


def accepts_gzip(request: Request) -> bool:
    """Whether the browser takes compressed answers."""
    return "gzip" in request.headers.get("accept-encoding", "")


def brand_sheet(brand: Brand) -> bytes:
    """A partner's colours as a style sheet. A colour that is none becomes ours."""
    accent, ink, text = (
        colour if COLOUR.fullmatch(colour) else fallback
        for colour, fallback in ((brand.accent, FALLBACK), (brand.accent_ink, "#ffffff"), (brand.accent_text, FALLBACK))
    )
    return f":root{{--accent:{accent};--accent-ink:{ink};--accent-text:{text}}}\n".encode()


def colours_path(accent: str) -> str:
    """Where the colours that follow from one (`#rrggbb`) are served at the service's own address."""
    return f"/onboarding/colours/{accent.removeprefix('#').lower()}.css"


def brand_path(brand: Brand) -> str:
    """Where a partner's colours are served, on its own host."""
    return f"/ecommerce/shop/brand.{digest(brand_sheet(brand))}.css"

"""The documentation as HTML pages, rendered from the OpenAPI description and served without third parties."""

import asyncio
import functools
import gzip
import hashlib
import pathlib
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

import orjson
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute
from starlette.routing import Route as StarletteRoute

from rest_compat.docs.paths import group_path
from rest_compat.http.route import RestRoute
from rest_compat.openapi.reference import ReferenceOf
from rest_compat.openapi.schemas import Json

if TYPE_CHECKING:
    from rest_compat.docs.pages import DocsPages

STATIC = pathlib.Path(__file__).parents[1] / "static"
POLICY = (
    "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self' data:; connect-src 'self'; form-action 'self'; base-uri 'none'; "
    "frame-ancestors 'none'"
)
HEADERS = {
    "Content-Security-Policy": POLICY,
    "Cache-Control": "no-cache",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "Vary": "Accept-Encoding, Host",
}
IDE, OPENAPI, OVERVIEW, GUIDE = "/graphql/", "/openapi.json", "/docs/", "/docs/integrate/"
SCHEMA, SCHEMA_FILE = "/docs/graphql/", "/graphql/schema.graphql"
LONGEST_SEARCH = 200
CACHE_FOREVER = "public, max-age=31536000, immutable"
SdlOf: TypeAlias = Callable[[], str]
CACHED_HOSTS = 8
"""Rendered pages are cached for this number of base URLs."""


@dataclass(frozen=True)
class CompressedFile:
    """A response body, plain and gzip-compressed."""

    plain: bytes
    compressed: bytes
    content_type: str

    @classmethod
    def of(cls, plain: bytes, kind: str) -> "CompressedFile":
        return cls(plain, gzip.compress(plain, 6, mtime=0), kind)

    def response(self, request: Request, headers: Mapping[str, str]) -> Response:
        """The compressed body if the client accepts gzip, else the plain one."""
        if "gzip" in request.headers.get("accept-encoding", ""):
            return Response(
                self.compressed, headers={**headers, "Content-Encoding": "gzip"}, media_type=self.content_type
            )
        return Response(self.plain, headers=dict(headers), media_type=self.content_type)


FILES: Mapping[str, CompressedFile] = {
    name: CompressedFile.of((STATIC / name).read_bytes(), kind)
    for name, kind in (("docs.css", "text/css"), ("docs.js", "text/javascript"))
}


def path_of(name: str) -> str:
    """The URL of a file. It contains a hash of the content, so that browsers can cache it forever."""
    stem, _, ending = name.partition(".")
    return f"/docs/{stem}.{hashlib.sha256(FILES[name].plain).hexdigest()[:12]}.{ending}"


@dataclass(frozen=True)
class DocsOptions:
    """Facts about the service that the documentation shows."""

    address: str = ""
    """Base URL of the service; empty: the base URL of the request."""
    sdl: SdlOf | None = None
    """Returns the GraphQL schema; None if it is not published."""
    ide: bool = False
    """Whether GraphiQL is served."""
    service_name: str = "coffret"
    """The name of the service in paths."""


class Documentation:
    """`/openapi.json` and the pages under `/docs/`.

    They are rendered in a thread on the first request, because most processes never serve them.
    """

    def __init__(
        self,
        document: Callable[[], Json],
        groups: Mapping[str, Sequence[RestRoute]],
        reference_of: ReferenceOf,
        options: DocsOptions,
    ) -> None:
        for route in (route for routes in groups.values() for route in routes):
            reference_of(route)  # raises at start if a route has no text
        files = {name: path_of(name) for name in FILES}
        self.paths = [OPENAPI, OVERVIEW, GUIDE, *(group_path(name) for name in groups)]
        self.address, self.sdl = options.address, options.sdl
        self.paths += [] if self.sdl is None else [SCHEMA, SCHEMA_FILE]
        graph = {"ide": IDE} if options.ide else {}
        graph |= {} if self.sdl is None else {"page": SCHEMA, "file": SCHEMA_FILE}
        self.document = functools.cache(document)
        self.pages = functools.cache(functools.partial(self._make_pages, groups, reference_of, files, graph))
        self.render_cached = functools.lru_cache(maxsize=CACHED_HOSTS * len(self.paths))(self.render)

    def _make_pages(
        self,
        groups: Mapping[str, Sequence[RestRoute]],
        reference_of: ReferenceOf,
        files: Mapping[str, str],
        schema: Mapping[str, str],
    ) -> "DocsPages":
        from rest_compat.docs.pages import DocsPages  # with Markdown and highlighting, at the first visit

        return DocsPages(self.document(), groups, reference_of, files, schema)

    def render(self, base: str, path: str, asked: str = "") -> CompressedFile:
        """The content of a path for clients that use this base URL."""
        if path == OPENAPI:
            return CompressedFile.of(orjson.dumps({**self.document(), "servers": [{"url": base}]}), "application/json")
        if self.sdl is not None and path == SCHEMA_FILE:
            return CompressedFile.of(self.sdl().encode(), "text/plain")
        pages = self.pages()
        if self.sdl is not None and path == SCHEMA:
            return CompressedFile.of(pages.schema(base, self.sdl()).encode(), "text/html")
        if path == OVERVIEW:
            page = pages.overview(base, asked)
        else:
            page = pages.guide(base) if path == GUIDE else pages.group(base, path)
        return CompressedFile.of(page.encode(), "text/html")

    async def answer(self, request: Request, *, path: str) -> Response:
        """Answer a request. Search results are rendered for each request; other pages are cached by base URL."""
        base = self.address or str(request.base_url).rstrip("/")
        asked = request.query_params.get("q", "").strip()[:LONGEST_SEARCH]
        if path == OVERVIEW and asked:
            html = await asyncio.to_thread(self.render, base, path, asked)
        else:
            html = await asyncio.to_thread(self.render_cached, base, path)
        return html.response(request, HEADERS)


def documentation(
    document: Callable[[], Json],
    groups: Mapping[str, Sequence[RestRoute]],
    reference_of: ReferenceOf,
    options: DocsOptions,
) -> list[BaseRoute]:
    """The routes of the documentation."""
    made = Documentation(document, groups, reference_of, options)
    pages = [
        StarletteRoute(each, functools.partial(made.answer, path=path))
        for path in made.paths
        for each in dict.fromkeys([path, path.rstrip("/")])
    ]
    return [*pages, *(StarletteRoute(path_of(name), _serve_file(served)) for name, served in FILES.items())]


def _serve_file(served: CompressedFile) -> Callable[[Request], Awaitable[Response]]:
    async def answer(request: Request) -> Response:
        return served.response(request, {**HEADERS, "Cache-Control": CACHE_FOREVER, "Vary": "Accept-Encoding"})

    return answer

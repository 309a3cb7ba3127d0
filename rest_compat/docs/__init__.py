"""The documentation as pages: the OpenAPI description, rendered here, without anybody else's servers."""

import asyncio
import functools
import gzip
import hashlib
import pathlib
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import orjson
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute
from starlette.routing import Route as StarletteRoute

from rest_compat.docs.pages import Group, Pages
from rest_compat.http.route import Route
from rest_compat.openapi.reference import ReferenceOf
from rest_compat.openapi.schemas import Json

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
FOR_GOOD = "public, max-age=31536000, immutable"
SdlOf: TypeAlias = Callable[[], str]
HOSTS_KEPT = 8
"""For so many addresses of this service pages are kept as they were rendered."""


@dataclass(frozen=True)
class Served:
    """A body, plain and compressed."""

    plain: bytes
    compressed: bytes
    kind: str

    @classmethod
    def of(cls, plain: bytes, kind: str) -> "Served":
        """Compress it."""
        return cls(plain, gzip.compress(plain, 6, mtime=0), kind)

    def response(self, request: Request, headers: Mapping[str, str]) -> Response:
        """Compressed, for whom can take it."""
        if "gzip" in request.headers.get("accept-encoding", ""):
            return Response(self.compressed, headers={**headers, "Content-Encoding": "gzip"}, media_type=self.kind)
        return Response(self.plain, headers=dict(headers), media_type=self.kind)


FILES: Mapping[str, Served] = {
    name: Served.of((STATIC / name).read_bytes(), kind)
    for name, kind in (("docs.css", "text/css"), ("docs.js", "text/javascript"))
}


def path_of(name: str) -> str:
    """Where a file is served: named after its content, so that browsers keep it for good."""
    stem, _, ending = name.partition(".")
    return f"/docs/{stem}.{hashlib.sha256(FILES[name].plain).hexdigest()[:12]}.{ending}"


@dataclass(frozen=True)
class DocsOptions:
    """What the documentation tells of the service beside the operations."""

    address: str = ""
    """Where clients reach the service; empty: where whoever reads reached it."""
    sdl: SdlOf | None = None
    """The schema of the graph, where it is shown."""
    ide: bool = False
    """Whether a browser can explore the graph."""


class Documentation:
    """`/openapi.json`, and the pages under `/docs/`. All is made when somebody first asks, beside other requests: most
    processes are never asked.
    """

    def __init__(
        self,
        document: Callable[[], Json],
        groups: Mapping[str, Sequence[Route]],
        reference_of: ReferenceOf,
        options: DocsOptions,
    ) -> None:
        for route in (route for routes in groups.values() for route in routes):
            reference_of(route)  # stops the start where one has no words
        files = {name: path_of(name) for name in FILES}
        self.paths = [OPENAPI, OVERVIEW, GUIDE, *(Group(name, ()).path for name in groups)]
        self.address, self.sdl = options.address, options.sdl
        self.paths += [] if self.sdl is None else [SCHEMA, SCHEMA_FILE]
        graph = {"ide": IDE} if options.ide else {}
        graph |= {} if self.sdl is None else {"page": SCHEMA, "file": SCHEMA_FILE}
        self.document = functools.cache(document)
        self.pages = functools.cache(lambda: Pages(self.document(), groups, reference_of, files, graph))
        self.kept = functools.lru_cache(maxsize=HOSTS_KEPT * len(self.paths))(self.made)

    def made(self, base: str, path: str, asked: str = "") -> Served:
        """What a path answers to those who reached this service at an address."""
        if path == OPENAPI:
            return Served.of(orjson.dumps({**self.document(), "servers": [{"url": base}]}), "application/json")
        if self.sdl is not None and path == SCHEMA_FILE:
            return Served.of(self.sdl().encode(), "text/plain")
        pages = self.pages()
        if self.sdl is not None and path == SCHEMA:
            return Served.of(pages.schema(base, self.sdl()).encode(), "text/html")
        if path == OVERVIEW:
            page = pages.overview(base, asked)
        else:
            page = pages.guide(base) if path == GUIDE else pages.group(base, path)
        return Served.of(page.encode(), "text/html")

    async def answer(self, request: Request, *, path: str) -> Response:
        """Answer a request. What is searched for is made each time, the rest once for an address."""
        base = self.address or str(request.base_url).rstrip("/")
        asked = request.query_params.get("q", "").strip()[:LONGEST_SEARCH]
        if path == OVERVIEW and asked:
            made = await asyncio.to_thread(self.made, base, path, asked)
        else:
            made = await asyncio.to_thread(self.kept, base, path)
        return made.response(request, HEADERS)


def documentation(
    document: Callable[[], Json],
    groups: Mapping[str, Sequence[Route]],
    reference_of: ReferenceOf,
    options: DocsOptions,
) -> list[BaseRoute]:
    """All there is to mount."""
    made = Documentation(document, groups, reference_of, options)
    pages = [
        StarletteRoute(each, functools.partial(made.answer, path=path))
        for path in made.paths
        for each in dict.fromkeys([path, path.rstrip("/")])
    ]
    return [*pages, *(StarletteRoute(path_of(name), _file(served)) for name, served in FILES.items())]


def _file(served: Served) -> Callable[[Request], Awaitable[Response]]:
    async def answer(request: Request) -> Response:
        return served.response(request, {**HEADERS, "Cache-Control": FOR_GOOD, "Vary": "Accept-Encoding"})

    return answer

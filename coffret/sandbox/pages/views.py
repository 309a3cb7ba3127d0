"""The hosted pages over HTTP: routes, rendering and headers. The pages contain no scripts."""

import pathlib
from collections.abc import Awaitable, Callable
from urllib.parse import parse_qsl, urlsplit

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles

from coffret.sandbox.core import Sandbox
from coffret.sandbox.database import SandboxSession
from coffret.sandbox.pages import identity, sca, steps
from coffret.sandbox.pages.texts import LANGUAGES
from coffret.sandbox.pages.visits import HostedPageRequest, PageRedirect, PageResponse

HERE = pathlib.Path(__file__).parent
HEADERS = {
    # form-action allows any http URL: forms redirect to the shop, whose URL each payment sets.
    "Content-Security-Policy": "default-src 'none'; style-src 'self'; img-src 'self'; base-uri 'none'; "
    "frame-ancestors 'none'; form-action 'self' http: https:",
    "Cache-Control": "no-store",
    "Referrer-Policy": "same-origin",
    "X-Content-Type-Options": "nosniff",
}
STEPS: tuple[tuple[str, str, Callable[[SandboxSession, HostedPageRequest], PageResponse]], ...] = (
    ("GET", "/pay/{token}", steps.show_card),
    ("POST", "/pay/{token}", steps.pay),
    ("POST", "/pay/{token}/cancel", steps.cancel),
    ("GET", "/pay/{token}/challenge", steps.show_challenge),
    ("POST", "/pay/{token}/challenge", steps.answer),
    ("GET", "/pay/{token}/left", steps.show_left),
    ("GET", "/identity/{token}", identity.show),
    ("POST", "/identity/{token}", identity.decide),
    ("GET", "/sca", sca.show),
    ("POST", "/sca", sca.answer),
)


TEMPLATES = Environment(
    loader=FileSystemLoader(HERE / "templates"),
    autoescape=True,
    undefined=StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
)


def routes(sandbox: Sandbox) -> list[Route | Mount]:
    """Routes of all hosted pages and of their style sheet."""
    base = urlsplit(sandbox.settings.root).path

    def endpoint(
        step: Callable[[SandboxSession, HostedPageRequest], PageResponse],
    ) -> Callable[[Request], Awaitable[Response]]:
        async def handle_visit(request: Request) -> Response:
            return to_response(base, await sandbox.run(step, await visit(request, base)))

        return handle_visit

    pages: list[Route | Mount] = [Route(path, endpoint(step), methods=[method]) for method, path, step in STEPS]
    return [*pages, Mount("/static", StaticFiles(directory=HERE / "static"))]


async def visit(request: Request, base: str) -> HostedPageRequest:
    """Parse a request."""
    typed = parse_qsl((await request.body()).decode("utf-8", "replace")) if request.method == "POST" else []
    return HostedPageRequest(
        base=base,
        token=request.path_params.get("token", ""),
        query=dict(request.query_params),
        accepted=request.headers.get("accept-language", "").split(","),
        typed=dict(typed),
    )


def to_response(base: str, answer: PageResponse) -> Response:
    """Turn a page response into an HTTP response."""
    if isinstance(answer, PageRedirect):
        return RedirectResponse(answer.url, 303, headers=HEADERS)
    context = {"t": answer.texts, "base": base, "languages": LANGUAGES, "kept": "", **answer.values}
    return HTMLResponse(TEMPLATES.get_template(answer.template).render(context), answer.status, HEADERS)

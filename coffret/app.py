"""The application: puts the rooms together."""

import contextlib
from collections.abc import AsyncIterator, Sequence

import httpx
import structlog
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Mount
from starlette.types import ASGIApp, Lifespan

from coffret import demo_shop, mail_preview, start_page
from coffret.commands.command_error import CommandError
from coffret.development import time_control
from coffret.http import documents, health, media, provider_notifications, rate_limiting
from coffret.http.cors import Cors
from coffret.http.hosts import Hosts, OwnHosts, Table
from coffret.http.hsts import Hsts
from coffret.http.middleware import RequestId, TrustedProxies, header
from coffret.http.tracing import Traced
from coffret.services import SANDBOX_PATH, House, background, make_sandbox, open_house
from funnel.core.pages import Pages
from funnel.routes import routes as funnel_routes
from resolvers.core.context import Context, Services
from rest_compat.docs import DocsOptions
from rest_compat.http.errors import refusal
from rest_compat.routes import rest_routes
from schema.core.errors import AppError
from schema.graph.bounds import Limits
from schema.graph.server import Graph
from schema.graph.trusted import ManifestError, read_manifest
from schema.graph.view import View
from schema.root import schema, sdl
from store.core import tracing
from store.core.settings import Settings

log = structlog.get_logger(__name__)


async def context_of(request: Request) -> Context:
    """Who asks, from where, and with what to answer. Raises Unauthenticated for a credential that is not good,
    then TooManyRequests.

    An `Idempotency-Key` is left to the transports: each refuses a malformed one in its own words.
    """
    scope = request.scope
    services: Services = scope["app"].state.house.services
    credential = header(scope, b"authorization")
    caller = await services.callers.by_header(None if credential is None else credential.decode("latin-1"))
    address = scope["client"][0] if scope.get("client") else ""
    await rate_limiting.count(scope, services.limits, caller, address)
    return Context(services=services, caller=caller, request_id=scope["state"]["request_id"], address=address)


async def refused(_request: Request, error: Exception) -> Response:
    """The answer to an error of the catalogue where no transport has told it, such as a picture's while the database is away."""
    assert isinstance(error, AppError)
    answer = refusal(error)
    return Response(answer.body, answer.status, {name.decode(): value.decode() for name, value in answer.headers})


def tells_schema(settings: Settings) -> bool:
    """Whether strangers may know the schema: not in production where only trusted documents are answered."""
    return settings.development or not settings.graphql_trusted_only


def graph(settings: Settings) -> Graph:
    """What answers GraphQL. CommandError when the file of trusted documents cannot be read.

    Where only trusted documents are answered, introspection is for development.
    """
    introspection = settings.development if settings.introspection is None else settings.introspection
    try:
        trusted = read_manifest(settings.graphql_documents) if settings.graphql_documents else {}
    except ManifestError as error:
        raise CommandError(f"{error} Correct COFFRET_GRAPHQL_DOCUMENTS.") from None
    return Graph(
        schema,
        limits=Limits(
            depth=settings.graphql_depth,
            aliases=settings.graphql_aliases,
            tokens=settings.graphql_tokens,
            cost=settings.graphql_cost,
        ),
        introspection=introspection and tells_schema(settings),
        trusted=trusted,
        trusted_only=settings.graphql_trusted_only,
    )


def graphql(settings: Settings) -> View:
    """The GraphQL endpoint."""
    made = graph(settings)
    for document_id, problem in made.documents.broken.items():
        log.error("a trusted document cannot be answered", document_id=document_id, because=problem)
    return View(made, context_of, ide=ide(settings) and tells_schema(settings))


def ide(settings: Settings) -> bool:
    """Whether browsers get GraphiQL, where the schema is told."""
    return settings.development if settings.graphiql is None else settings.graphiql


def routes_of(settings: Settings, sandbox: ASGIApp | None = None) -> list[Table]:
    """All that is answered, each table with the hosts that it is for. `sandbox` is the payment provider's, where there is one."""
    own, pages = OwnHosts(settings), Pages(reload=settings.development)
    funnel = funnel_routes(settings, pages)
    told = tells_schema(settings)
    options = DocsOptions(settings.base_url.rstrip("/"), sdl if told else None, ide=told and ide(settings))
    rest, *reference = rest_routes(context_of, options)
    tables = (  # tried in this order, so what is asked most stands first
        (Hosts.API, [rest, *graphql(settings).routes()]),
        (Hosts.ANY, health.ROUTES),
        (Hosts.SERVICE, time_control.routes(settings)),
        (Hosts.API, provider_notifications.ROUTES),
        (Hosts.API, reference),
        (Hosts.ANY, media.ROUTES),
        (Hosts.ANY, documents.routes(settings, pages)),
        (Hosts.SERVICE, mail_preview.routes(settings)),
        (Hosts.SERVICE, start_page.routes(settings)),
        (Hosts.ANY, funnel.of_shops),
        (Hosts.ANY, funnel.static),
        (Hosts.SERVICE, funnel.of_service),
        (Hosts.SHOPS, demo_shop.routes(settings, funnel.nothing_here)),
        (Hosts.SERVICE, [] if sandbox is None else [Mount(SANDBOX_PATH, sandbox)]),
        (Hosts.SHOPS, funnel.unknown),
    )
    return [Table(hosts, routes, own) for hosts, routes in tables]


def assembled(settings: Settings, tables: Sequence[Table], lifespan: Lifespan[Starlette] | None = None) -> Starlette:
    """The application: the tables, and what stands before every request."""
    middleware = [
        Middleware(RequestId),
        *([Middleware(TrustedProxies, proxies=settings.trusted_proxies)] if settings.trusted_proxies else []),
        *([Middleware(Hsts, seconds=settings.hsts_seconds)] if settings.hsts_seconds else []),
        *([Middleware(Cors, origins=settings.cors_origins)] if settings.cors_origins else []),
    ]
    if tracing.live() is not None:
        middleware.append(Middleware(Traced))
    return Starlette(routes=tables, middleware=middleware, exception_handlers={AppError: refused}, lifespan=lifespan)


def create_app(settings: Settings, *, run_background: bool = True) -> Starlette:
    """The application of one process. Its lifespan opens what the settings name, and closes it.

    `run_background=False` leaves the worker out: tests then say themselves when jobs run.
    """

    async def deliver(url: str) -> int:
        """A notification of the sandbox, without leaving the process."""
        async with httpx.AsyncClient(transport=httpx.ASGITransport(app, raise_app_exceptions=False)) as client:
            return (await client.get(url)).status_code

    sandbox = make_sandbox(settings, deliver)

    @contextlib.asynccontextmanager
    async def lifespan(_app: Starlette) -> AsyncIterator[None]:
        async with contextlib.AsyncExitStack() as stack:
            house: House = await stack.enter_async_context(open_house(settings, sandbox))
            app.state.house = house
            if run_background:
                await stack.enter_async_context(background(house))
            yield

    app = assembled(settings, routes_of(settings, sandbox), lifespan)
    return app

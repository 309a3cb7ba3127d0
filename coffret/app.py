"""The application: puts the rooms together."""

import contextlib
from collections.abc import AsyncIterator

import httpx
import structlog
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Mount

from coffret import documents, limiting, mailbox, media, notifications, storefront, time_control, watching
from coffret.command_error import CommandError
from coffret.cors import Cors
from coffret.middleware import KnownHosts, RequestId, TrustedProxies, header
from coffret.services import SANDBOX_PATH, House, background, make_sandbox, open_house
from coffret.traced import Traced
from funnel.routes import routes as funnel_routes
from resolvers.context import Context, Services
from rest_compat.errors import refusal
from rest_compat.routes import rest_routes
from schema.errors import AppError
from schema.graph.bounds import Limits
from schema.graph.server import Graph
from schema.graph.trusted import ManifestError, read_manifest
from schema.graph.view import View
from schema.root import schema
from store import tracing
from store.settings import Settings

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
    await limiting.count(scope, services.limits, caller, address)
    return Context(services=services, caller=caller, request_id=scope["state"]["request_id"], address=address)


async def refused(_request: Request, error: Exception) -> Response:
    """The answer to an error of the catalogue where no transport has told it, such as a picture's while the database is away."""
    assert isinstance(error, AppError)
    answer = refusal(error)
    return Response(answer.body, answer.status, {name.decode(): value.decode() for name, value in answer.headers})


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
        introspection=introspection and (settings.development or not settings.graphql_trusted_only),
        trusted=trusted,
        trusted_only=settings.graphql_trusted_only,
    )


def graphql(settings: Settings) -> View:
    """The GraphQL endpoint."""
    made = graph(settings)
    for document_id, problem in made.documents.broken.items():
        log.error("a trusted document cannot be answered", document_id=document_id, because=problem)
    ide = settings.development if settings.graphiql is None else settings.graphiql
    return View(made, context_of, ide=ide and (settings.development or not settings.graphql_trusted_only))


def routes_of(settings: Settings) -> list[BaseRoute]:
    """All that is answered here."""
    return [  # tried in this order, so what is asked most stands first
        *rest_routes(context_of),
        *graphql(settings).routes(),
        *watching.ROUTES,
        *time_control.routes(settings),
        *notifications.ROUTES,
        *media.ROUTES,
        *documents.ROUTES,
        *mailbox.routes(settings),
        *funnel_routes(settings),
        *storefront.routes(settings),
    ]


def create_app(settings: Settings, *, run_background: bool = True) -> Starlette:
    """The application of one process. Its lifespan opens what the settings name, and closes it.

    `run_background=False` leaves the worker out: tests then say themselves when jobs run.
    """

    async def deliver(url: str) -> int:
        """A notification of the sandbox, without leaving the process."""
        async with httpx.AsyncClient(transport=httpx.ASGITransport(app, raise_app_exceptions=False)) as client:
            return (await client.get(url)).status_code

    sandbox = make_sandbox(settings, deliver)
    routes = routes_of(settings)
    if sandbox is not None:
        routes.append(Mount(SANDBOX_PATH, sandbox))

    @contextlib.asynccontextmanager
    async def lifespan(_app: Starlette) -> AsyncIterator[None]:
        async with contextlib.AsyncExitStack() as stack:
            house: House = await stack.enter_async_context(open_house(settings, sandbox))
            app.state.house = house
            if run_background:
                await stack.enter_async_context(background(house))
            yield

    middleware = [
        Middleware(RequestId),
        *([Middleware(TrustedProxies, proxies=settings.trusted_proxies)] if settings.trusted_proxies else []),
        Middleware(KnownHosts, settings=settings),
        *([Middleware(Cors, origins=settings.cors_origins)] if settings.cors_origins else []),
    ]
    if tracing.live() is not None:
        middleware.append(Middleware(Traced))
    app = Starlette(routes=routes, middleware=middleware, exception_handlers={AppError: refused}, lifespan=lifespan)
    return app

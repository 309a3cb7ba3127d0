"""Builds the ASGI application of one process from its route tables."""

import contextlib
from collections.abc import AsyncIterator, Sequence

import httpx
import structlog
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Mount
from starlette.types import ASGIApp, Lifespan

from admin.routes import routes as admin_routes
from coffret.command_error import CommandError
from coffret.http import (
    documents,
    health,
    icon,
    media,
    personal_data,
    provider_notifications,
    rate_limiting,
    settlements,
)
from coffret.http.cors import Cors
from coffret.http.hosts import HostMatcher, HostRoutes, HostScope
from coffret.http.hsts import Hsts
from coffret.http.middleware import RequestId, TrustedProxies, header_of
from coffret.http.tracing import TracingMiddleware
from coffret.services import SANDBOX_PATH, Container, make_sandbox, open_container, run_background_tasks
from funnel.core.page_handler import PageEndpoint
from funnel.core.pages import PageTemplates
from funnel.routes import routes as funnel_routes
from resolvers.core.context import Context
from resolvers.core.services import Services
from rest_compat.docs import DocsOptions
from rest_compat.http.errors import error_response
from rest_compat.router import rest_routes
from schema.core.errors import AppError
from schema.graph.bounds import QueryLimits
from schema.graph.server import GraphQLServer
from schema.graph.trusted import ManifestError, read_manifest
from schema.graph.view import GraphQLView
from schema.root import schema, sdl
from store.core.settings import Settings
from store.core.telemetry import tracing

log = structlog.get_logger(__name__)


async def context_of(request: Request) -> Context:
    """Build the request's context: caller, client address, request id. Raises Unauthenticated for an invalid credential
    and TooManyRequests above the request limit.

    The transports read `Idempotency-Key` themselves: each has its own error message for a malformed one.
    """
    scope = request.scope
    services: Services = scope["app"].state.container.services
    address = scope["client"][0] if scope.get("client") else ""
    user_agent = header_of(scope, b"user-agent") or b""
    context = Context(services, None, scope["state"]["request_id"], address, user_agent=user_agent.decode("latin-1"))
    scope["state"]["context"] = context  # also for requests that are refused below: the API log records them
    credential = header_of(scope, b"authorization")
    context.caller = await services.authenticator.authenticate_header(
        None if credential is None else credential.decode("latin-1")
    )
    await rate_limiting.check_request_limit(scope, services.limits, context.caller, address)
    return context


async def handle_error(_request: Request, error: Exception) -> Response:
    """Render an AppError that no transport caught, such as the one of a picture while the database is unavailable."""
    assert isinstance(error, AppError)
    answer = error_response(error)
    return Response(answer.body, answer.status, {name.decode(): value.decode() for name, value in answer.headers})


def allows_introspection(settings: Settings) -> bool:
    """False in production when only trusted documents are executed."""
    return settings.development or not settings.graphql_trusted_only


def build_graph(settings: Settings) -> GraphQLServer:
    """Build the GraphQL server. Raises CommandError if the file of trusted documents cannot be read.

    If only trusted documents are executed, introspection works in development only.
    """
    introspection = settings.development if settings.introspection is None else settings.introspection
    try:
        trusted = read_manifest(settings.graphql_documents) if settings.graphql_documents else {}
    except ManifestError as error:
        raise CommandError(f"{error} Correct COFFRET_GRAPHQL_DOCUMENTS.") from None
    return GraphQLServer(
        schema,
        limits=QueryLimits(
            depth=settings.graphql_depth,
            aliases=settings.graphql_aliases,
            tokens=settings.graphql_tokens,
            cost=settings.graphql_cost,
        ),
        introspection=introspection and allows_introspection(settings),
        trusted=trusted,
        trusted_only=settings.graphql_trusted_only,
    )


def graphql_view(settings: Settings) -> GraphQLView:
    made = build_graph(settings)
    for document_id, problem in made.documents.broken_trusted.items():
        log.error("a trusted document cannot be executed", document_id=document_id, because=problem)
    return GraphQLView(made, context_of, ide=serves_graphiql(settings) and allows_introspection(settings))


def serves_graphiql(settings: Settings) -> bool:
    """True if browsers get GraphiQL. `graphql_view` also requires introspection."""
    return settings.development if settings.graphiql is None else settings.graphiql


def routes_of(settings: Settings, sandbox: ASGIApp | None = None) -> list[HostRoutes]:
    """Route tables, each with its host scope. `sandbox` is the ASGI application of the sandbox provider."""
    own, pages = HostMatcher(settings), PageTemplates(reload=settings.development)
    funnel = funnel_routes(settings, pages)
    told = allows_introspection(settings)
    options = DocsOptions(
        settings.base_url.rstrip("/"),
        sdl if told else None,
        ide=told and serves_graphiql(settings),
        service_name=settings.service_name,
    )
    rest, *reference = rest_routes(context_of, options)
    tables: Sequence[tuple[HostScope, Sequence[BaseRoute]]] = (  # tried in this order: the busiest routes come first
        (HostScope.API, [rest, *graphql_view(settings).routes()]),
        (HostScope.ANY, media.ROUTES),
        (HostScope.ANY, funnel.static_routes),
        (HostScope.ANY, funnel.shop_routes),
        (HostScope.ANY, funnel.link_routes),
        (HostScope.ANY, health.ROUTES),
        (HostScope.API, provider_notifications.ROUTES),
        (HostScope.API, reference),
        (HostScope.SERVICE, settlements.ROUTES),
        (HostScope.SERVICE, admin_routes(settings)),
        (HostScope.SERVICE, personal_data.ROUTES),
        (HostScope.SERVICE, icon.routes(settings)),
        (HostScope.ANY, documents.routes(settings, pages)),
        *development_routes(settings, funnel.start_endpoint),
        (HostScope.SERVICE, funnel.service_routes),
        (HostScope.SERVICE, [] if sandbox is None else [Mount(SANDBOX_PATH, sandbox)]),
        (HostScope.STOREFRONTS, funnel.fallback_routes),
    )
    return [HostRoutes(hosts, routes, own) for hosts, routes in tables]


def development_routes(settings: Settings, elsewhere: PageEndpoint) -> list[tuple[HostScope, Sequence[BaseRoute]]]:
    """Route tables that only a development installation serves; `elsewhere` answers on hosts without a demo shop."""
    if not settings.development:
        return []
    from coffret import demo_shop, mail_preview, start_page  # with the demo data and the sandbox: production needs none
    from coffret.development import time_control

    service = [*time_control.routes(settings), *mail_preview.routes(settings), *start_page.routes(settings)]
    return [(HostScope.SERVICE, service), (HostScope.STOREFRONTS, demo_shop.routes(settings, elsewhere))]


def assemble(
    settings: Settings, tables: Sequence[HostRoutes], lifespan: Lifespan[Starlette] | None = None
) -> Starlette:
    """Put the route tables behind the middleware."""
    middleware = [
        Middleware(RequestId),
        *([Middleware(TrustedProxies, proxies=settings.trusted_proxies)] if settings.trusted_proxies else []),
        *([Middleware(Hsts, seconds=settings.hsts_seconds)] if settings.hsts_seconds else []),
        *([Middleware(Cors, origins=settings.cors_origins)] if settings.cors_origins else []),
    ]
    if tracing.current_telemetry() is not None:
        middleware.append(Middleware(TracingMiddleware))
    return Starlette(
        routes=tables, middleware=middleware, exception_handlers={AppError: handle_error}, lifespan=lifespan
    )


def create_app(settings: Settings, *, run_background: bool = True) -> Starlette:
    """Create the application of one process. Its lifespan opens and closes the services that the settings name.

    With `run_background=False` no worker runs: tests run the jobs themselves.
    """

    async def deliver(url: str) -> int:
        """Deliver a notification of the sandbox inside this process."""
        async with httpx.AsyncClient(transport=httpx.ASGITransport(app, raise_app_exceptions=False)) as client:
            return (await client.get(url)).status_code

    sandbox = make_sandbox(settings, deliver)

    @contextlib.asynccontextmanager
    async def lifespan(_app: Starlette) -> AsyncIterator[None]:
        async with contextlib.AsyncExitStack() as stack:
            container: Container = await stack.enter_async_context(open_container(settings, sandbox))
            app.state.container = container
            if run_background:
                await stack.enter_async_context(run_background_tasks(container))
            yield

    app = assemble(settings, routes_of(settings, sandbox), lifespan)
    return app

"""Answers the REST interface: the application behind each route of the table, and the documentation of all."""

import functools
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from starlette.routing import BaseRoute, Match, NoMatchFound
from starlette.types import ASGIApp, Receive, Scope, Send

from resolvers.core.http_endpoint import ContextOf
from resolvers.core.lists.listing import Listing, Lookup
from rest_compat.docs import DocsOptions, documentation
from rest_compat.http.endpoint import Endpoint
from rest_compat.http.errors import method_not_allowed_response, not_found_response
from rest_compat.http.lists import ListEndpoint
from rest_compat.http.operations import LookupEndpoint, OperationEndpoint
from rest_compat.http.paths import PathTable
from rest_compat.http.route import RestRoute
from rest_compat.openapi.document import openapi_document
from rest_compat.openapi.reference import reference_of
from rest_compat.routes import groups_of_service

DEFAULT_DOCS = DocsOptions()


class RestRouter(BaseRoute):
    """All REST routes as one route.

    It answers every path under `/api/`, including paths that no route has.
    """

    def __init__(self, routes: Iterable[tuple[RestRoute, Endpoint]]) -> None:
        self.table = PathTable((route.verbs, route.path, target) for route, target in routes)

    def matches(self, scope: Scope) -> tuple[Match, Scope]:
        if scope["type"] != "http":
            return Match.NONE, {}
        path: str = scope["path"]
        root: str = scope.get("root_path", "")
        match = self.table.find(path.removeprefix(root))
        if match is None and not path.startswith(f"{root}/api/"):
            return Match.NONE, {}
        return Match.FULL, {"endpoint": self, "rest": match}

    async def handle(self, scope: Scope, receive: Receive, send: Send) -> None:
        response: ASGIApp
        if scope["rest"] is None:
            response = not_found_response()
        else:
            by_method, scope["path_texts"] = scope["rest"]
            response = by_method.get(scope["method"]) or method_not_allowed_response(scope["method"], by_method)
        await response(scope, receive, send)

    def url_path_for(self, name: str, /, **path_params: Any) -> Any:
        """Raises NoMatchFound: REST routes have no names."""
        raise NoMatchFound(name, path_params)


def endpoint(route: RestRoute, context_of: ContextOf) -> Endpoint:
    names = [segment[1:-1] for segment in route.path.split("/") if segment.startswith("{")]
    match route.operation:
        case Listing():
            return ListEndpoint(route, context_of, names)
        case Lookup():
            return LookupEndpoint(route, context_of, names)
        case _:
            return OperationEndpoint(route, context_of, names)


@functools.lru_cache(maxsize=1)
def endpoints_of(context_of: ContextOf, service_name: str) -> Mapping[str, Sequence[tuple[RestRoute, Endpoint]]]:
    """Each route with its endpoint, by group. To compile them takes long, and they hold nothing of an application: all
    applications of a process share them.
    """
    groups = groups_of_service(service_name)
    return {group: [(route, endpoint(route, context_of)) for route in routes] for group, routes in groups.items()}


def rest_routes(context_of: ContextOf, options: DocsOptions = DEFAULT_DOCS) -> list[BaseRoute]:
    """The routes of the API and of its documentation.

    `context_of` builds the context of a request and raises Unauthenticated for an invalid token.
    """
    groups, answering = groups_of_service(options.service_name), endpoints_of(context_of, options.service_name)
    rest = RestRouter([pair for pairs in answering.values() for pair in pairs])
    return [rest, *documentation(lambda: openapi_document(answering, reference_of), groups, reference_of, options)]

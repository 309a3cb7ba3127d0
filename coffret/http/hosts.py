"""Host scopes of route tables: on which hosts a table is served."""

import enum
import functools
from collections.abc import Iterable, Iterator, Sequence

from starlette.routing import BaseRoute, Match
from starlette.types import Receive, Scope, Send

from coffret.http.middleware import header_of
from rest_compat.http.responses import json_response
from store.core.settings import Settings


class HostScope(enum.Enum):
    """On which hosts a table of routes is served."""

    API = enum.auto()
    """The service's own hosts; refused with 400 on all others. In development each `*.localhost` is an own host."""
    SERVICE = enum.auto()
    """The service's own hosts; not found on all others."""
    STOREFRONTS = enum.auto()
    """All hosts but the service's own. The endpoint looks up the shop of the host."""
    ANY = enum.auto()
    """All hosts. The endpoint looks up the shop of the host or ignores the host."""


class HostMatcher:
    """Distinguishes the service's own hosts from all others."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings

    def serves(self, hosts: HostScope, header: bytes) -> bool:
        """True if tables of this scope are served at the host in a `Host` header."""
        host = header.decode("latin-1").lower()
        own = self._settings.is_own_host(host)
        match hosts:
            case HostScope.API:
                return own or (self._settings.development and host.partition(":")[0].endswith(".localhost"))
            case HostScope.SERVICE:
                return own
            case HostScope.STOREFRONTS:
                return not own
            case HostScope.ANY:
                return True


class HostRoutes(BaseRoute):
    """Routes of one host scope."""

    def __init__(self, hosts: HostScope, routes: Iterable[BaseRoute], own: HostMatcher) -> None:
        self.hosts = hosts
        self.routes = list(routes)
        self._is_served = functools.lru_cache(maxsize=1024)(functools.partial(own.serves, hosts))

    def matches(self, scope: Scope) -> tuple[Match, Scope]:
        """Match a request's path and host.

        The matched route is in the scope as `routed`; None if the host is refused.
        """
        found: tuple[Match, Scope] = Match.NONE, {}
        for route in self.routes:
            match, more = route.matches(scope)
            if match is Match.NONE or (match is Match.PARTIAL and found[0] is Match.PARTIAL):
                continue
            found = match, {**more, "routed": route}
            if match is Match.FULL:
                break
        if found[0] is Match.NONE or self._is_served(header_of(scope, b"host") or b""):
            return found
        return (Match.FULL, {"routed": None}) if self.hosts is HostScope.API else (Match.NONE, {})

    async def handle(self, scope: Scope, receive: Receive, send: Send) -> None:
        route: BaseRoute | None = scope["routed"]
        if route is None:
            await json_response({"detail": "This host is not served here."}, 400)(scope, receive, send)
        else:
            await route.handle(scope, receive, send)


def all_routes(tables: Sequence[BaseRoute]) -> Iterator[BaseRoute]:
    for table in tables:
        yield from table.routes if isinstance(table, HostRoutes) else (table,)

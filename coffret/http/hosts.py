"""Which hosts a table of routes is for. Each table says so where the application is put together; nothing else decides it."""

import enum
import functools
import re
from collections.abc import Iterable, Iterator, Sequence

from starlette.routing import BaseRoute, Match
from starlette.types import Receive, Scope, Send

from coffret.http.middleware import header
from rest_compat.http.responses import as_json
from store.core.settings import Settings

LOOPBACK = frozenset({"localhost", "127.0.0.1", "[::1]"})


class Hosts(enum.Enum):
    """Where a table of routes is served."""

    API = enum.auto()
    """On the service's own hosts; refused on all others. In development every `*.localhost` is one of its own."""
    SERVICE = enum.auto()
    """On the service's own hosts; on others there is no such address."""
    SHOPS = enum.auto()
    """On all but the service's own: what answers looks up whose host it is."""
    ANY = enum.auto()
    """On all: what answers looks up whose host it is, or does not care."""


class OwnHosts:
    """Tells the service's own hosts from all others."""

    def __init__(self, settings: Settings) -> None:
        self._development = settings.development
        self._names = settings.own_hosts | (LOOPBACK if settings.development else frozenset())

    def serves(self, hosts: Hosts, header: bytes) -> bool:
        """Whether what is for these hosts is served at the one that a `Host` header names."""
        host = header.decode("latin-1").lower()
        name = re.sub(r":\d+$", "", host)
        own = host in self._names or name in self._names
        match hosts:
            case Hosts.API:
                return own or (self._development and name.endswith(".localhost"))
            case Hosts.SERVICE:
                return own
            case Hosts.SHOPS:
                return not own
            case Hosts.ANY:
                return True


class Table(BaseRoute):
    """Routes that are for the same hosts."""

    def __init__(self, hosts: Hosts, routes: Iterable[BaseRoute], own: OwnHosts) -> None:
        self.hosts = hosts
        self.routes = list(routes)
        self._serves = functools.lru_cache(maxsize=1024)(functools.partial(own.serves, hosts))

    def matches(self, scope: Scope) -> tuple[Match, Scope]:
        """Whether a request is for one of the routes, at its host. The route is told as `routed`."""
        found: tuple[Match, Scope] = Match.NONE, {}
        for route in self.routes:
            match, more = route.matches(scope)
            if match is Match.NONE or (match is Match.PARTIAL and found[0] is Match.PARTIAL):
                continue
            found = match, {**more, "routed": route}
            if match is Match.FULL:
                break
        if found[0] is Match.NONE or self._serves(header(scope, b"host") or b""):
            return found
        return (Match.FULL, {"routed": None}) if self.hosts is Hosts.API else (Match.NONE, {})

    async def handle(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer the request by its route, or refuse it."""
        route: BaseRoute | None = scope["routed"]
        if route is None:
            await as_json({"detail": "This host is not served here."}, 400).send(send)
        else:
            await route.handle(scope, receive, send)


def every_route(tables: Sequence[BaseRoute]) -> Iterator[BaseRoute]:
    """The routes of all tables, in their order."""
    for table in tables:
        yield from table.routes if isinstance(table, Table) else (table,)

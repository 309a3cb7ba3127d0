"""Which routes are answered at which hosts: held over the whole table, in production and in development."""

import re
from collections.abc import Iterator

import httpx
import pytest
from starlette.routing import BaseRoute, Match, Mount, Route
from starlette.types import Scope

from coffret.app import create_app, routes_of
from coffret.http.hosts import HostRoutes, HostScope
from coffret.sandbox import close
from funnel.checkout.storefronts import STOREFRONTS
from funnel.redemption.request import ROOT
from rest_compat.router import RestRouter
from rest_compat.routes import ROUTES
from store.core.settings import Settings
from tests.coffret.conftest import running
from tests.fixtures.shop import open_shop, sandbox_and_provider
from tests.servers.production import NOBODYS_HOST, SERVICE_HOST, SHOP_HOST, production_settings

FOREIGN = (SHOP_HOST, NOBODYS_HOST, f"{SERVICE_HOST}.example.net", "")
SAMPLES = {"uuid": "3f2504e0-4f89-41d3-9a0c-0305e82c3301", "int": "1", "path": "some/where"}
WRITTEN_FOR = {
    HostScope.API: (True, False),
    HostScope.SERVICE: (True, False),
    HostScope.STOREFRONTS: (False, True),
    HostScope.ANY: (True, True),
}
"""Whether a table is served at the service's own host, and at any other."""


def paths(route: BaseRoute) -> Iterator[tuple[str, str]]:
    """Methods and paths that a route is for, with something in each place."""
    if isinstance(route, RestRouter):
        for each in ROUTES:
            for verb in each.verbs:
                yield verb, re.sub(r"{\w+}", "x", each.path)
        yield "GET", "/api/nowhere/"
    elif isinstance(route, Mount):
        yield "GET", f"{route.path}/"
    else:
        assert isinstance(route, Route), route
        path = re.sub(r"{\w+:?(\w*)}", lambda place: SAMPLES.get(place[1], "x"), route.path)
        for method in route.methods or {"GET"}:
            yield method, path


def find_table(tables: list[HostRoutes], host: str, method: str, path: str) -> tuple[HostRoutes, Scope] | None:
    """The table that a request is answered by, and what it found."""
    scope = {"type": "http", "method": method, "path": path, "headers": [(b"host", host.encode())], "root_path": ""}
    for table in tables:
        match, more = table.matches(scope)
        if match is Match.FULL:
            return table, more
    return None


def every_request(tables: list[HostRoutes]) -> Iterator[tuple[HostRoutes, str, str]]:
    for table in tables:
        for route in table.routes:
            for method, path in paths(route):
                yield table, method, path


@pytest.mark.parametrize("settings", [Settings(), production_settings()], ids=["development", "production"])
def test_every_route_is_served_at_the_hosts_that_its_table_is_for(settings: Settings) -> None:
    tables = routes_of(settings)
    asked = list(every_request(tables))
    assert len(asked) > 150
    assert {table.hosts for table, _, _ in asked} >= {HostScope.API, HostScope.SERVICE, HostScope.ANY}
    own = settings.public_url.partition("://")[2]
    for table, method, path in asked:
        at_own, elsewhere = WRITTEN_FOR[table.hosts]
        for host, wanted in ((own, at_own), *((foreign, elsewhere) for foreign in FOREIGN)):
            found = find_table(tables, host, method, path)
            if wanted:
                assert found is not None, (host, path)
                assert WRITTEN_FOR[found[0].hosts][host != own], (host, path)
                assert found[1]["routed"] is not None, (host, path)
            elif table.hosts is HostScope.API:
                assert found == (table, {"routed": None}) or (found is not None and found[1]["routed"] is None), path
            else:
                assert found is None or found[0].hosts is not table.hosts, (host, path)


def test_nothing_is_mounted_without_saying_where() -> None:
    for settings in (Settings(), production_settings()):
        assert {type(route) for route in create_app(settings).routes} == {HostRoutes}


async def test_a_shop_is_open_at_its_own_domain_in_production(production: Settings) -> None:
    sandbox, provider = sandbox_and_provider()
    async with running(production) as (app, client):
        await open_shop(app.state.container.services, sandbox, SHOP_HOST)
        for host, status in ((SHOP_HOST, 200), (SHOP_HOST.upper(), 200), (NOBODYS_HOST, 404), (SERVICE_HOST, 404)):
            for path in ("/vouchers/shop/", "/giftcards/shop/", f"{ROOT}log-in/"):
                answer = await client.get(path, headers={"Host": host})
                begins = status == 200 and path.startswith(
                    "/giftcards/"
                )  # with an empty basket, at an address of its own
                assert answer.status_code == (303 if begins else status), (host, path)
                if begins:
                    assert answer.headers["location"].startswith("/shop/customization/?new=1&cart=")
                else:
                    assert answer.headers["content-type"] == "text/html; charset=utf-8", (host, path)
                    assert ("The Shop" in answer.text) is (status == 200), (host, path)
        for counter in STOREFRONTS.values():
            answer = await client.get(f"{counter.root_path}/nowhere", headers={"Host": SHOP_HOST})
            assert (answer.status_code, "The Shop" in answer.text) == (404, True)
    await provider.aclose()
    await close(sandbox)


async def test_the_services_own_pages_have_an_icon(production: Settings) -> None:
    async with running(production) as (_, client):
        icon = await client.get("/favicon.ico", headers={"Host": SERVICE_HOST})
        elsewhere = await client.get("/favicon.ico", headers={"Host": NOBODYS_HOST})
    assert (icon.status_code, icon.headers["content-type"]) == (200, "image/svg+xml")
    assert "</text>" in icon.text
    assert elsewhere.status_code == 404


async def test_the_documentation_names_the_public_address_whatever_it_was_asked_by(production: Settings) -> None:
    async with running(production) as (_, client):
        at_own = {"Host": SERVICE_HOST}
        assert (await client.get("/openapi.json", headers=at_own)).json()["servers"] == [{"url": production.base_url}]
        page = (await client.get("/docs/integrate/", headers=at_own)).text
        assert production.base_url in page
        assert f"http://{SERVICE_HOST}" not in page
        assert 'href="/graphql/"' not in page, "no browser is answered there"


@pytest.mark.parametrize("path", ["/api/", "/api/permissions/", "/graphql", "/graphql/", "/docs/", "/openapi.json"])
@pytest.mark.parametrize("host", FOREIGN)
async def test_the_api_is_refused_at_every_other_host(production: Settings, path: str, host: str) -> None:
    async with running(production) as (_, client):
        for method in ("GET", "POST"):
            answer: httpx.Response = await client.request(method, path, headers={"Host": host})
            assert (answer.status_code, answer.json()) == (400, {"detail": "This host is not served here."})
            assert "x-request-id" in answer.headers

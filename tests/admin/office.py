"""The back office in this process, and the people who work in it."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx

from admin.graph.schema_types import list_order_of
from admin.resources.resource import Resource
from coffret.app import create_app
from store.core.settings import Settings
from store.database.embedded_postgres import EmbeddedPostgres
from store.partner.partners import MarketplaceRow
from tests.described import HELD
from tests.fixtures.tenants import Tenants
from tests.funnel.checkout.customer import Customer
from tests.funnel.checkout.page import Element, fields_of
from tests.servers.coffret_programs import DataDirectories

ROOT, LOG_IN = "/admin/", "/admin/log-in/"
COOKIE = "coffret-admin"
DEMO_STAFF = ("a", "b", "market a", "market b", "master")
"""Users in the demo data: of two partners, of their marketplace, of another one, and of the platform."""

UNLIMITED: dict[str, Any] = {"rate_limit": "off", "rate_limit_pages": "off", "rate_limit_forms": "off"}
"""For tests that open hundreds of pages."""


class Office:
    """The back office over a database with tenants, in which everybody has a browser of their own."""

    def __init__(self, tenants: Tenants) -> None:
        self.tenants = tenants
        self._browsers: dict[str, Customer] = {}

    def browser(self, who: str | None) -> Customer:
        """The browser of somebody who has logged in; of nobody without a name."""
        if (known := self._browsers.get(who or "")) is not None:
            return known
        transport = httpx.ASGITransport(self.tenants.app, client=("192.0.2.7", 1234))
        http = httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1:8000", follow_redirects=False)
        if who is not None:
            http.cookies.set(COOKIE, self.tenants.tokens[who])
        made = self._browsers[who or ""] = Customer(http)
        return made

    async def open(self, who: str | None, path: str) -> Customer:
        """Open a page."""
        return await self.browser(who).open(path)

    async def csrf(self, who: str | None) -> str:
        """What a form of somebody has to have: it is on every page."""
        staff = await self.open(who, ROOT)
        return staff.page.all("input", name="csrf")[0].attributes["value"]

    async def choose(self, who: str, list_url: str, action: str, *keys: object, **more: str) -> Customer:
        """Send the form of a list with these rows and what is to be done with them."""
        fields = {"csrf": await self.csrf(who), "action": action, "all": "1", "page": " ".join(map(str, keys))}
        return await self.browser(who).post(f"{list_url}bulk/", fields | more)

    async def keys(self, who: str, resource: Resource, first: int = 100) -> list[str] | None:
        """The keys of what the GraphQL list gives somebody; None without its permission."""
        order = next(iter(list_order_of(resource.query).values))
        query = f"{{ {resource.query}(first: {first}, orderBy: {order}) {{ nodes {{ {resource.key} }} }} }}"
        answer = await self.tenants.graphql(who, query)
        if "errors" in answer:
            assert [each["extensions"]["code"] for each in answer["errors"]] == ["FORBIDDEN"], answer
            return None
        return [str(node[resource.key]) for node in answer["data"][resource.query]["nodes"]]

    async def close(self) -> None:
        """Close all browsers."""
        for browser in self._browsers.values():
            await browser.http.aclose()


def rows(staff: Customer, resource: Resource) -> list[str]:
    """The keys of the rows of a list, which their links lead to."""
    links = [row.one("a").attributes["href"] for row in staff.page.all("th", scope="row")]
    prefix = f"{ROOT}{resource.slug}/"
    assert all(link.startswith(prefix) for link in links)
    return [link.removeprefix(prefix).rstrip("/") for link in links]


def change_form(staff: Customer) -> Element:
    """The form of a change."""
    return staff.page.one("form", class_="change")


def typed(staff: Customer) -> dict[str, str]:
    """What the form of a change sends as it stands."""
    return fields_of(change_form(staff), staff.page)


async def send(staff: Customer, **changes: str) -> Customer:
    """Change fields of the form on the page, and send it. `__` stands for the dots in their names."""
    form = change_form(staff)
    fields = typed(staff) | {name.replace("__", "."): value for name, value in changes.items()}
    return await staff.post(str(staff.response.url.join(form.attributes["action"])), fields)


def errors(staff: Customer) -> dict[str, str]:
    """What is wrong with the fields of a form, by their names."""
    found = {}
    for told in staff.page.all("p", class_="wrong"):
        around = next(each for each in (told.inside("div"), told.inside("fieldset")) if each is not None)
        id = told.attributes["id"].removesuffix("-wrong")
        named = [each for each in around if each.attributes.get("id") == id]
        found[named[0].attributes.get("name", id) if named else id] = told.text
    return found


def notices(staff: Customer) -> Sequence[str]:
    """The messages at the top of the page."""
    return [told.text for told in staff.page.all("p", class_="notice") if "hidden" not in told.attributes]


@asynccontextmanager
async def demo_office(directories: DataDirectories, folder: Path) -> AsyncIterator[Office]:
    """The back office over the demo data, with staff of two partners, of two marketplaces and of the platform."""
    with directories.copied(demo=True) as data, EmbeddedPostgres(data, fast=True) as url:
        settings: dict[str, Any] = {"database_url": url, "data_dir": folder, "funnel_scheme": "http"}
        app = create_app(Settings(**settings, **UNLIMITED), run_background=False)
        transport = httpx.ASGITransport(app)
        async with (
            app.router.lifespan_context(app),
            httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1:8000", event_hooks=HELD) as client,
        ):
            office = Office(Tenants(app, client))
            await _employ(office.tenants)
            yield office
            await office.close()


async def _employ(tenants: Tenants) -> None:
    first, second, *_ = await tenants.rows("SELECT id, marketplace_id FROM partner ORDER BY id")
    await tenants.user("a", "partner", partner_id=first[0])
    await tenants.user("b", "partner", partner_id=second[0])
    await tenants.user("market a", "marketplace", marketplace_id=first[1])
    other = await tenants.add(MarketplaceRow(name="Other", currency="EUR", time_zone="Europe/Paris"))
    await tenants.user("market b", "marketplace", marketplace_id=other.id)
    await tenants.user("master", "master")

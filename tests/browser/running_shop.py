"""A running Coffret with demo data, seen from outside: the shop's API, the provider's control plane, the database."""

import asyncio
import re
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from signal import SIGTERM
from typing import Any, TypeVar

import httpx
from sqlalchemy import text
from sqlmodel import col, select
from starlette.applications import Starlette

from store.core.clock import clock
from store.database.db import Database
from store.database.embedded_postgres import EmbeddedPostgres
from store.delivery import DeliveryModeRow
from store.kv import open_kv
from store.partner.partners import PartnerRow
from store.providers.mangopay import Mangopay
from tests.fixtures.shop import Shop, services_over
from tests.servers.coffret_programs import Program
from tests.servers.ports import free_port

Json = dict[str, Any]
T = TypeVar("T")

ORDERS = """
query Orders($cart: UUID!) {
  orders(filter: {cartId: $cart}) {
    nodes {
      number status language message buyer { email } delivery { kind address { city } }
      total { amount } discountTotal { amount } deliveryTotal { amount } giftCardTotal { amount } cardTotal { amount }
      products { productId quantity total { amount } name { en } variant { name { en } choices { en } } }
      discounts { code amount { amount } }
      payments { status sources { kind amount { amount } } }
    }
  }
}
"""


@dataclass(kw_only=True)
class RunningShop(Shop):
    """The first demo shop. Rows are written straight into its database, all else goes through the running program."""

    program: Program
    http: httpx.AsyncClient
    """Reaches the program, with the shop's token."""

    @property
    def domain(self) -> str:
        """The host of the shop, with the port."""
        return self.partner.site_domain

    @property
    def home(self) -> str:
        """The demo's storefront."""
        return f"http://{self.domain}/"

    async def control(self, method: str, path: str, body: Any = None) -> httpx.Response:
        """Tell the running sandbox something."""
        answer = await self.http.request(method, f"/_provider/_sb{path}", json=body)
        answer.raise_for_status()
        return answer

    async def pass_time(self, **time: float) -> None:
        """Let so many minutes, seconds or hours go by, for the program and its provider alike."""
        seconds = sum(value * {"seconds": 1, "minutes": 60, "hours": 3600}[unit] for unit, value in time.items())
        await self.control("POST", "/clock", {"advance": seconds})

    async def hand_over(self, *items: Json, return_url: str = "", id: str | None = None) -> Json:
        """Save a cart as a shop's server does; answers it."""
        body: Json = {"items": list(items), "return_url": return_url} | ({"id": id} if id else {})
        answer = await self.http.post("/api/v2/ecommerce/cart/", json=body)
        assert answer.status_code == (200 if id else 201), answer.text
        cart: Json = answer.json()
        return cart

    async def orders(self, cart: Json) -> list[Json]:
        """The orders made of a cart, as GraphQL tells them."""
        answer = await self.http.post("/graphql/", json={"query": ORDERS, "variables": {"cart": cart["id"]}})
        said = answer.json()
        assert "errors" not in said, said
        nodes: list[Json] = said["data"]["orders"]["nodes"]
        return nodes

    async def order(self, cart: Json) -> Json:
        """The one order made of a cart, waited for; its products are in the database once, and no money is missing."""
        await self.until(lambda: self.orders(cart))
        (order,) = await self.orders(cart)
        lines = "SELECT count(*) FROM order_product p JOIN shop_order o ON o.id = p.order_id WHERE o.cart_id = :cart"
        assert await self.one(lines, cart=cart["id"]) == len(order["products"])
        completed = "SELECT count(*) FROM checkout_attempt WHERE cart_id = :cart AND state = 'completed'"
        assert await self.one(completed, cart=cart["id"]) == 1
        await self.check_ledger()
        return order

    async def state(self, cart: Json) -> str:
        """The state of the last payment of a cart; empty without one."""
        last = "SELECT max(state) FROM checkout_attempt WHERE cart_id = :cart AND created_on = (SELECT max(created_on) FROM checkout_attempt WHERE cart_id = :cart)"
        return await self.one(last, cart=cart["id"]) or ""

    async def stock(self, product_id: int) -> int:
        """What is left of a product."""
        return int(await self.one("SELECT stock FROM product WHERE id = :id", id=product_id))

    async def charges(self) -> int:
        """How many times cards were charged so far."""
        return int((await self.control("GET", "/stats")).json()["charged"])

    async def check_ledger(self) -> None:
        """All money at the provider is accounted for."""
        said = (await self.control("GET", "/ledger/check")).json()
        assert said["balanced"], said

    async def rows(self, statement: str, **parameters: Any) -> list[tuple[Any, ...]]:
        """Rows out of the database."""
        return [tuple(row) for row in await self.services.db.rows(text(statement), parameters)]

    async def until(self, true: Callable[[], Awaitable[T]], seconds: float = 60) -> T:
        """Wait for something that nobody tells; answers it."""
        async with asyncio.timeout(seconds):
            while not (found := await true()):
                await asyncio.sleep(0.05)
        return found

    async def withdraw(self) -> None:
        """Take the products that tests have added off the shelves, where other tests would meet them, and to the end of the
        lists of staff, whose first page would soon have nothing else.
        """
        withdrawn = """
            UPDATE product SET is_active = false, ranking = 1000 WHERE partner_id = :id AND picture_url = ''
            RETURNING id
        """
        await self.rows(withdrawn, id=self.partner.id)

    async def demo_product(self, name: str) -> int:
        """The id of a product of the demo data, by its English name."""
        return int(await self.one("SELECT id FROM product WHERE name->>'en' = :name", name=name))


@asynccontextmanager
async def running(data: Path) -> AsyncIterator[RunningShop]:
    """A program on a data directory with demo data, and the shop around it."""
    async with AsyncExitStack() as stack:
        url = stack.enter_context(EmbeddedPostgres(data, fast=True))
        program = Program(data, free_port(), COFFRET_DEMO="true", COFFRET_LOG_LEVEL="WARNING")
        stack.callback(program.end, SIGTERM)
        program.wait_until_ready(until="-d '")
        (token,) = re.findall(r"Token (coffret_\S+)'", program.read_output())
        origin = f"http://127.0.0.1:{program.port}"
        headers = {"Authorization": f"Token {token}"}
        http = await stack.enter_async_context(httpx.AsyncClient(base_url=origin, headers=headers, timeout=30))
        provider = Mangopay(
            base_url=f"{origin}/_provider", client_id="sandbox", api_key="sandbox", hook_secret="unused"
        )
        stack.push_async_callback(provider.aclose)
        db = Database(url)
        stack.push_async_callback(db.aclose)
        async with db.sessions() as session:
            partner = (await session.exec(select(PartnerRow).order_by(col(PartnerRow.id)))).all()[0]
            modes = await session.exec(select(DeliveryModeRow).where(col(DeliveryModeRow.partner_id) == partner.id))
            by_kind = {mode.kind: mode.id for mode in modes}
        services = services_over(db, open_kv("", clock), provider)
        yield RunningShop(services, Starlette(), partner, by_kind, program=program, http=http)

"""What is measured, each beside what it costs at least."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import urlsplit

import orjson

from tests.bench import connection, network_cards, payments, vouchers
from tests.bench.drive import Call, CallInTurns
from tests.bench.floors import PATH, Bare, Floor, Query, RedisRead, RedisWrite, Rows
from tests.bench.installation import Installation
from tests.bench.voucher_floors import Vouchers

CARTS = "/api/v2/ecommerce/cart/"


@dataclass(frozen=True)
class Aim:
    """How near a floor a case should come."""

    floor: type[Floor]
    percent: int


@dataclass(frozen=True)
class Case:
    """A request to measure, what it costs at least, and how near it should come to that."""

    name: str
    call: Call
    floors: Sequence[Floor]
    aim: Aim | None = None
    even: bool = False
    """Whether none of many requests at once should take much longer than the others."""
    over_sockets: bool = True
    """Whether it is measured over sockets too, where one request is repeated."""

    def possible(self, installation: Installation) -> list[Floor]:
        """The floors that there can be here."""
        return [floor for floor in self.floors if installation.means.redis is not None or not floor.needs_redis]

    def aimed_at(self, installation: Installation) -> Floor | None:
        """The floor of the aim, where there can be one."""
        return next(
            (floor for floor in self.possible(installation) if self.aim and isinstance(floor, self.aim.floor)), None
        )

    async def beside(self, installation: Installation) -> Mapping[Floor, Call]:
        """The same request to each of the floors."""
        calls = {}
        for floor in self.possible(installation):
            await floor.lay(installation.means)
            app = floor.app(installation.means)
            calls[floor] = replace(self.call, app=app, path=PATH, query="", status=floor.status)
        return calls


async def token_check(installation: Installation) -> Case:
    """Who a token belongs to and what it may do, read anew."""
    call = Call(installation.app, "GET", "/api/permissions/", installation.headers())
    answer = (await call.once()).body
    return Case("token check", call, [Bare(answer), Query(answer)])


async def cart_create(installation: Installation) -> Case:
    """A cart of three lines, made anew each time."""
    headers = {**installation.headers(), "content-type": "application/json"}
    call = Call(installation.app, "POST", CARTS, headers, orjson.dumps(installation.shop.cart), status=201)
    answer = (await call.once()).body
    return Case(
        "cart create",
        call,
        [Bare(answer, status=201), RedisWrite(answer, status=201)],
        Aim(RedisWrite, 50),
    )


async def cart_read(installation: Installation) -> Case:
    """That cart."""
    cart = orjson.loads((await (await cart_create(installation)).call.once()).body)
    call = Call(installation.app, "GET", f"{CARTS}{cart['id']}/", installation.headers())
    answer = (await call.once()).body
    return Case("cart read", call, [Bare(answer), RedisRead(answer)], Aim(RedisRead, 60), even=True)


GRAPHQL = "/graphql/"
CART = """
query Cart($id: UUID!) {
  ecommerceCart(id: $id) {
    id items { productId quantity variantId attributeValues { attributeId value } } returnUrl funnelUrl lastModified
  }
}
"""
PRODUCT = """
query Product($id: Int!) {
  product(id: $id) { id name { en fr } price { amount currency } vatRate stock isActive pictureUrl updatedOn }
}
"""


def graphql_call(installation: Installation, query: str, partner: int = 0, **variables: Any) -> Call:
    """A GraphQL request of the first partner, or of the second."""
    headers = {**installation.headers(partner), "content-type": "application/json"}
    return Call(installation.app, "POST", GRAPHQL, headers, orjson.dumps({"query": query, "variables": variables}))


async def graphql_cart(installation: Installation) -> Case:
    """The cart of `cart read`, by GraphQL."""
    cart = orjson.loads((await (await cart_create(installation)).call.once()).body)
    call = graphql_call(installation, CART, id=cart["id"])
    answer = (await call.once()).body
    return Case("GraphQL cart read", call, [Bare(answer), RedisRead(answer), Query(answer)], Aim(Query, 30))


async def graphql_product(installation: Installation) -> Case:
    """One row of PostgreSQL, by GraphQL."""
    call = graphql_call(installation, PRODUCT, id=installation.shop.cart["items"][0]["product_id"])
    answer = (await call.once()).body
    return Case("GraphQL product read", call, [Bare(answer), Query(answer)], Aim(Query, 30))


async def graphql_connection(installation: Installation) -> Case:
    """100 products of 15 values."""
    call = graphql_call(installation, connection.QUERY, partner=1)
    answer = (await call.once()).body
    return Case("GraphQL 100 × 15", call, [connection.floor(installation.partner_with_many, answer)], Aim(Rows, 30))


VOUCHERS = 2000
"""That the large partner has here; see `tests.bench.scale` for what more of them cost."""


async def rest_vouchers(installation: Installation) -> Case:
    """A numbered page of 100 whole vouchers, with its count."""
    partner_id, zone, token = await vouchers.lay(installation, VOUCHERS)
    headers = {"authorization": f"Token {token}"}
    call = Call(installation.app, "GET", "/api/vouchers/", headers, query=f"page_size={vouchers.LENGTH}")
    floor = vouchers.rest_floor(installation, partner_id, zone, (await call.once()).body)
    return Case("REST vouchers, 100 whole", call, [floor], Aim(Vouchers, 35))


async def graphql_vouchers(installation: Installation) -> Case:
    """100 vouchers of 15 values."""
    partner_id, _, token = await vouchers.lay(installation, VOUCHERS)
    headers = {"authorization": f"Token {token}", "content-type": "application/json"}
    body = orjson.dumps({"query": vouchers.QUERY, "variables": {"first": vouchers.LENGTH}})
    call = Call(installation.app, "POST", GRAPHQL, headers, body)
    return Case(
        "GraphQL vouchers, 100 × 15",
        call,
        [vouchers.graphql_floor(partner_id, (await call.once()).body)],
        Aim(Rows, 45),
    )


PAYMENTS = 2000


async def rest_payments(installation: Installation) -> Case:
    """A numbered page of 100 whole payments, with its count."""
    partner_id, token = await payments.lay(installation, PAYMENTS)
    headers = {"authorization": f"Token {token}"}
    call = Call(installation.app, "GET", "/api/payments/", headers, query=f"page_size={payments.LENGTH}")
    floor = payments.rest_floor(installation, partner_id, (await call.once()).body)
    return Case("REST payments, 100 whole", call, [floor], Aim(payments.Payments, 80))


async def graphql_payments(installation: Installation) -> Case:
    """100 payments of 15 values."""
    partner_id, token = await payments.lay(installation, PAYMENTS)
    headers = {"authorization": f"Token {token}", "content-type": "application/json"}
    body = orjson.dumps({"query": payments.QUERY, "variables": {"first": payments.LENGTH}})
    call = Call(installation.app, "POST", GRAPHQL, headers, body)
    floor = payments.graphql_floor(partner_id, (await call.once()).body)
    return Case("GraphQL payments, 100 × 15", call, [floor], Aim(Rows, 80))


async def voucher_by_code(installation: Installation) -> Case:
    """A whole voucher by its code."""
    _, _, token = await vouchers.lay(installation, VOUCHERS)
    headers = {"authorization": f"Token {token}"}
    page = orjson.loads((await Call(installation.app, "GET", "/api/vouchers/", headers).once()).body)
    call = Call(installation.app, "GET", f"/api/vouchers/{page['results'][0]['code']}/", headers)
    answer = (await call.once()).body
    return Case("REST voucher by code", call, [Bare(answer), Query(answer)])


async def network_card_use(installation: Installation) -> Case:
    """A usage of one network gift card, which everybody uses at once, by GraphQL."""
    return await _usages(installation, "use of one network gift card", 1, "HOT")


async def network_cards_use(installation: Installation) -> Case:
    """Usages of ten thousand network gift cards, one after the other."""
    return await _usages(installation, "use of 10,000 network gift cards", network_cards.CARDS, "MANY")


async def _usages(installation: Installation, name: str, number: int, prefix: str) -> Case:
    cards = await network_cards.lay(installation, number, prefix)
    headers, bodies = {**installation.headers(), "content-type": "application/json"}, cards.bodies()
    call = CallInTurns(installation.app, "POST", GRAPHQL, headers, bodies[0], bodies=bodies)
    answer = (await call.once()).body
    assert orjson.loads(answer)["data"]["useNetworkGiftCard"]["userErrors"] == [], answer
    floor, aim = await network_cards.floor(installation, cards, answer), Aim(network_cards.Usages, 40)
    return Case(name, call, [floor], aim, over_sockets=False)


async def funnel_page(installation: Installation) -> Case:
    """The first page of the checkout, for a customer who comes with a cart of three lines."""
    cart = orjson.loads((await (await cart_create(installation)).call.once()).body)
    address = urlsplit(cart["funnel_url"])
    headers = {"host": address.netloc, "accept": "text/html", "accept-language": "en"}
    call = Call(installation.app, "GET", address.path, headers, query=address.query)
    answer = await call.once()
    kind = dict(answer.headers)[b"content-type"].decode()
    return Case("funnel first page", call, [Bare(answer.body, kind), Query(answer.body, kind)])


CASES: Sequence[Callable[[Installation], Awaitable[Case]]] = (
    token_check,
    cart_create,
    cart_read,
    graphql_cart,
    graphql_product,
    graphql_connection,
    graphql_vouchers,
    rest_vouchers,
    graphql_payments,
    rest_payments,
    voucher_by_code,
    network_card_use,
    network_cards_use,
    funnel_page,
)

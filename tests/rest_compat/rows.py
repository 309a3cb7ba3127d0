"""Every documented route over rows that there are, and the keys of what is sent."""

import contextlib
import functools
import pathlib
from collections.abc import AsyncIterator, Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, TypeAlias

import httpx

from resolvers.network.gift_card_usages import use_network_gift_card
from resolvers.payment.payouts.documents import generate_payout_pdf, generate_payout_xls
from rest_compat.http.route import RestRoute
from rest_compat.routes import ROUTES
from schema.core.permission import AccessRule
from schema.network.box import OfferStatus
from schema.payment.payment import PaymentStatus
from store.core.clock import clock
from store.media.media import MediaRow
from store.payment.requests import PaymentRequestRow
from tests.changes import Direct
from tests.described import description, resolved
from tests.fixtures.box import new_box, new_offer
from tests.fixtures.invoice import stored_invoice
from tests.fixtures.network import link, network_card
from tests.fixtures.network_voucher import used_voucher
from tests.fixtures.payment.payment import stored_payment
from tests.fixtures.payment.payout import put_into_payout
from tests.fixtures.tenants import Tenants, open_tenants
from tests.fixtures.voucher import sell, voucher_of
from tests.servers.databases import Databases

Where: TypeAlias = tuple[str | int, ...]
"""The path of a key in a body."""
WRITES = [(route, verb) for route in ROUTES for verb in route.verbs if verb != "GET"]
READS = [(route, verb) for route in ROUTES for verb in route.verbs if verb == "GET"]


@dataclass(frozen=True)
class Rows:
    """Tenants, and a row for each route that is about one."""

    tenants: Tenants
    rows: Mapping[str, object]
    """Beginning of a route's path -> what its parameter is."""

    def address(self, route: RestRoute, id: object = None) -> str:
        """The path of a route, about a row that there is unless told."""
        id = id or self.rows.get(route.path.partition("{")[0])
        return "/".join(str(id) if part.startswith("{") else part for part in route.path.split("/"))

    async def send(self, route: RestRoute, verb: str, **options: Any) -> httpx.Response:
        """Ask as somebody who may."""
        who = "a1" if route.operation.permission is AccessRule.PARTNER else "master"
        headers = {"Authorization": f"Token {self.tenants.tokens[who]}", **options.pop("headers", {})}
        return await self.tenants.client.request(verb, self.address(route), headers=headers, **options)


@contextlib.asynccontextmanager
async def open_rows(databases: Databases, folder: pathlib.Path) -> AsyncIterator[Rows]:
    """Whatever a request can be about."""
    async with databases.one() as url, open_tenants(url, folder) as tenants:
        sold, own = await sell(tenants, "a1"), tenants.owned["a1"]
        voucher = await tenants.add(voucher_of(sold))
        picture: dict[str, Any] = {
            "content_type": "image/webp",
            "size": 10,
            "width": 4,
            "height": 3,
            "digest": "0" * 64,
        }
        media = await tenants.add(MediaRow(partner_id=own.partner, name="A picture", **picture))
        await tenants.user("powerless", "partner", [], partner_id=own.partner)
        shop = {"Authorization": f"Token {tenants.tokens['a1']}"}
        cart = await tenants.client.post("/api/v2/ecommerce/cart/", json={"items": []}, headers=shop)
        payment = await stored_payment(tenants, status=PaymentStatus.OK)
        request = await tenants.add(
            PaymentRequestRow(
                partner_id=own.partner, code="7K4P", request_amount=Decimal("10.00"), expires_on=clock.now()
            )
        )
        card = await network_card(tenants)
        await link(tenants, "a1")
        used = {"code": card.code, "value": "10.00", "partner_id": own.partner}
        assert (await Direct(tenants).change("a1", use_network_gift_card, **used)).done
        box = await new_box(tenants)
        await new_offer(tenants, box, "a1", OfferStatus.ACCEPTED)
        network_voucher = await used_voucher(tenants, box)
        payout = await put_into_payout(tenants.services, own.partner, is_validated=False)
        for generate in (generate_payout_pdf, generate_payout_xls):
            assert (await Direct(tenants).change("a1", generate, id=payout)).done
        rows = {
            "/api/boxes/": box.id,
            "/api/networkvouchers_by_code/": network_voucher.code,
            "/api/networkvouchers_by_email/": network_voucher.gifter_email,
            "/api/payments/": payment.id,
            "/api/payment_requests/": request.id,
            "/api/payout_requests/": payout,
            "/api/invoices/": (await stored_invoice(tenants, "a1")).id,
            "/api/wallets/": await tenants.one("SELECT uuid FROM wallet ORDER BY id LIMIT 1"),
            "/api/payment_hub/partner/": own.partner_uuid,
            "/api/v2/ecommerce/cart/": cart.json()["id"],
            "/api/medias/": media.id,
            "/api/voucher_prototypes/": sold.stay.id,
            "/api/voucher_options/": sold.robe.id,
            "/api/voucher_option_links/": await tenants.one("SELECT max(id) FROM voucher_option_link"),
            "/api/voucher_option_categories/": own.voucher_option_category,
            "/api/giftcards/": own.gift_card,
            "/api/giftcards_by_code/": await tenants.one(
                "SELECT max(code) FROM gift_card WHERE partner_id IS NOT NULL"
            ),
            "/api/networkgiftcards/": card.code,
            "/api/networkgiftcards_by_code/": card.code,
            "/api/networkgiftcards_by_email/": card.gifter_email,
            "/api/networkgiftcard_usages/": await tenants.one("SELECT max(id) FROM network_gift_card_usage"),
            "/api/vouchers/": voucher.code,
        }
        yield Rows(tenants, rows)


def body_keys(route: RestRoute, verb: str) -> list[tuple[Where, Mapping[str, Any]]]:
    """The keys of a body, at every depth, each with its schema."""
    body = description()["paths"][route.path][verb.lower()].get("requestBody")
    return [] if body is None else list(keys_of(next(iter(body["content"].values()))["schema"]))


def keys_of(schema: Mapping[str, Any], *at: str | int) -> Iterator[tuple[Where, Mapping[str, Any]]]:
    """The keys of what a schema describes, at every depth, each with its own schema."""
    schema = resolved(schema)
    inner = [one for one in schema.get("anyOf", ()) if one != {"type": "null"}]
    if inner:
        for one in inner:
            yield from keys_of(one, *at)
    elif "properties" in schema:
        for key, of in schema["properties"].items():
            yield from keys_of(of, *at, key)
    elif schema.get("type") == "array":
        yield from keys_of(schema["items"], *at, 0)
    elif schema.get("type") == "object":
        yield from keys_of(schema["additionalProperties"], *at, "3")
    else:
        yield at, schema


def holding(value: Any, where: Where) -> Any:
    """A body with one value in it."""
    for step in reversed(where):
        value = [value] if isinstance(step, int) else {step: value}
    return value


def at(body: Any, where: Where) -> Any:
    """What a body of errors says of a key."""
    found = functools.reduce(lambda inner, step: inner[step], where, body)
    return found["non_field_errors"] if isinstance(found, dict) else found

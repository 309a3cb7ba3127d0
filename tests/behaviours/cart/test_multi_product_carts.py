"""Multi-product carts over both transports: their keys, what is refused, and whose shop they open."""

import datetime as dt
import json
from collections.abc import Mapping
from typing import Any
from urllib.parse import parse_qs, urlsplit
from uuid import UUID

import pytest
import pytest_asyncio

from rest_compat.resources.cart import MULTI_PRODUCT_CART
from schema.core.permission import Permission
from schema.core.text import Text
from schema.network.box import OfferStatus
from schema.partner.partner import PartnerStatus
from store.gift_card.designs import GiftCardDesignRow
from tests.fixtures.box import new_box, new_offer
from tests.fixtures.network import link
from tests.fixtures.tenants import Tenants
from tests.transports import BAD_TOKEN, NO_TOKEN, Answer, OverGraphQL, OverRest, Transport

pytestmark = pytest.mark.asyncio(loop_scope="module")

PATH = "/api/multi_product_cart/"
FIELDS = """id partnerUuid checkoutUrl expiresOn items {
    giftCards { amount { amount currency } quantity designId design { name { en } } }
    boxes { boxId quantity box { name { en } } } }"""
Sold = Mapping[str, int]


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def sold(tenants: Tenants) -> Sold:
    """The ids of a box and a design on sale, and of those that are not."""
    await link(tenants, "a1", "b1")
    await tenants.execute("UPDATE partner SET is_network_shop = true WHERE id = :id", id=tenants.partners["a2"].id)
    await tenants.user("careless", "partner", [Permission.VIEW_ORDER], partner_id=tenants.partners["a1"].id)
    market = tenants.marketplaces["a"].id
    box, unaccepted, off = await new_box(tenants), await new_box(tenants), await new_box(tenants, is_active=False)
    elsewhere = await new_box(tenants, market="b")
    for each, seller in ((box, "a1"), (off, "a1"), (elsewhere, "b1")):
        await new_offer(tenants, each, seller, OfferStatus.ACCEPTED)
    ids = {"box": box.id, "unaccepted": unaccepted.id, "off": off.id, "elsewhere": elsewhere.id}
    partner = tenants.partners["a1"].id
    for name, active, owner in (
        ("design", True, None),
        ("old design", False, None),
        ("partner's design", True, partner),
    ):
        design = GiftCardDesignRow(marketplace_id=market, partner_id=owner, name=Text(en=name), is_active=active)
        row = await tenants.add(design)
        ids[name] = row.id
    return ids


def content(sold: Sold, *, amount: Any = 50, quantity: Any = 2, box: str = "box", design: str = "design") -> Any:
    return {
        "network_giftcards": [{"amount": amount, "quantity": quantity, "themed_pdf_id": sold[design]}],
        "network_vouchers": [{"id": sold[box], "quantity": 1}],
    }


def uuid_of(tenants: Tenants, name: str) -> str:
    """The uuid of a partner, or of a marketplace."""
    row = tenants.marketplaces[name.removeprefix("market ")] if " " in name else tenants.partners[name]
    return str(row.uuid)


async def create(transport: Transport, who: str, of: str, data: Any, key: str | None = None) -> tuple[Answer, str]:
    """Create a cart; the answer, and the address of the checkout."""
    partner_uuid = uuid_of(transport.tenants, of)
    if isinstance(transport, OverRest):
        body = json.dumps({"partner_uuid": partner_uuid, "data": data})
        response = await transport.tenants.client.post(PATH, content=body, headers=transport.headers(who, key))
        if not response.is_success:
            return transport.to_answer(response), ""
        assert response.status_code == 201
        assert list(response.json()) == list(MULTI_PRODUCT_CART.keys) == ["id", "partner_uuid", "data"]
        address, _, rel = response.headers["link"].partition(">; ")
        assert rel == 'rel="checkout"'
        return transport.to_answer(response), address.removeprefix("<")
    assert isinstance(transport, OverGraphQL)
    items = {
        "giftCards": [
            {"amount": card["amount"], "quantity": card["quantity"], "designId": card["themed_pdf_id"]}
            for card in data.get("network_giftcards", ())
        ],
        "boxes": [{"boxId": box["id"], "quantity": box["quantity"]} for box in data.get("network_vouchers", ())],
    }
    query = f"""mutation ($input: CreateMultiProductCartInput!) {{ createMultiProductCart(input: $input) {{
        multiProductCart {{ {FIELDS} }} userErrors {{ field code message }} }} }}"""
    answer = await transport.changed(query, who, {"partnerUuid": partner_uuid, "items": items}, key)
    return answer, answer.result["checkoutUrl"] if answer.done else ""


@pytest.mark.parametrize(
    ("who", "of", "shop"), [("market a", "market a", "a2"), ("a1", "a1", "a1"), ("a1", "market a", "a2")]
)
async def test_a_cart_opens_in_the_shop_that_it_names(
    transport: Transport, sold: Sold, who: str, of: str, shop: str
) -> None:
    tenants = transport.tenants
    answer, address = await create(transport, who, of, content(sold))
    assert answer.done, answer
    opened = urlsplit(address)
    assert (opened.netloc, opened.path) == (tenants.partners[shop].site_domain, "/network/shop/customization/")
    id = UUID(answer.result["id"])
    assert parse_qs(opened.query) == {"cart": [str(id)]}
    if transport.name == "rest":
        assert answer.result == {
            "id": str(id),
            "partner_uuid": uuid_of(tenants, of),
            "data": {
                "network_giftcards": [{"amount": 50.0, "quantity": 2, "themed_pdf_id": sold["design"]}],
                "network_vouchers": [{"id": sold["box"], "quantity": 1}],
            },
        }
    else:
        (card,), (box,) = answer.result["items"]["giftCards"], answer.result["items"]["boxes"]
        assert card["design"] == {"name": {"en": "design"}}
        assert (card["amount"], card["quantity"]) == ({"amount": "50.00", "currency": "EUR"}, 2)
        assert box == {"boxId": sold["box"], "quantity": 1, "box": {"name": {"en": "Spa day for two"}}}
    stored = await tenants.services.multi_product_carts.get(tenants.partners[shop].id, id)
    assert stored is not None
    assert [choice.quantity for choice in stored.content.choices] == [2, 1]


async def test_a_cart_lives_for_two_hours(transport: Transport, sold: Sold) -> None:
    tenants = transport.tenants
    answer, _ = await create(transport, "a1", "a1", content(sold))
    partner, id = tenants.partners["a1"].id, UUID(answer.result["id"])
    tenants.services.clock.advance(dt.timedelta(minutes=119))
    assert await tenants.services.multi_product_carts.get(partner, id) is not None
    assert await tenants.services.multi_product_carts.get(tenants.partners["a2"].id, id) is None
    tenants.services.clock.advance(dt.timedelta(minutes=2))
    assert await tenants.services.multi_product_carts.get(partner, id) is None


async def test_a_retry_creates_no_second_cart(transport: Transport, sold: Sold) -> None:
    key = f"multi-{transport.name}"
    first, address = await create(transport, "a1", "a1", content(sold), key)
    again, address_again = await create(transport, "a1", "a1", content(sold), key)
    assert (again.result, address_again, again.replayed) == (first.result, address, True)
    other, _ = await create(transport, "a1", "a1", content(sold, amount=51), key)
    assert (other.status, other.code.lower()) == (409, "idempotency_mismatch")


@pytest.mark.parametrize(
    ("changes", "places"),
    [
        ({"amount": 0}, {"data.network_giftcards.0.amount", "items.gift_cards.0.amount"}),
        ({"amount": 5000}, {"data.network_giftcards.0.amount", "items.gift_cards.0.amount"}),
        ({"quantity": 0}, {"data.network_giftcards.0.quantity", "items.gift_cards.0.quantity"}),
        ({"quantity": 101}, {"data.network_giftcards.0.quantity", "items.gift_cards.0.quantity"}),
        ({"design": "old design"}, {"data.network_giftcards.0.themed_pdf_id", "items.gift_cards.0.design_id"}),
        ({"design": "partner's design"}, {"data.network_giftcards.0.themed_pdf_id", "items.gift_cards.0.design_id"}),
        ({"box": "off"}, {"data.network_vouchers.0.id", "items.boxes.0.box_id"}),
        ({"box": "unaccepted"}, {"data.network_vouchers.0.id", "items.boxes.0.box_id"}),
        ({"box": "elsewhere"}, {"data.network_vouchers.0.id", "items.boxes.0.box_id"}),
    ],
)
async def test_what_is_not_sold(transport: Transport, sold: Sold, changes: dict[str, Any], places: set[str]) -> None:
    answer, _ = await create(transport, "a1", "a1", content(sold, **changes))
    assert answer.status == 400
    assert len(answer.fields) == 1
    assert answer.fields < places, answer


@pytest.mark.parametrize("quantities", [[100, 100, 1], [1] * 21])
async def test_a_cart_has_a_limit(transport: Transport, sold: Sold, quantities: list[int]) -> None:
    vouchers = [{"id": sold["box"], "quantity": quantity} for quantity in quantities[:3]]
    cards = [{"amount": 50, "quantity": quantity, "themed_pdf_id": None} for quantity in quantities[3:]]
    answer, _ = await create(transport, "a1", "a1", {"network_vouchers": vouchers, "network_giftcards": cards})
    assert (answer.status, answer.fields) == (400, {"data" if transport.name == "rest" else "items"})


async def test_an_empty_cart(transport: Transport, sold: Sold) -> None:
    assert sold
    answer, _ = await create(transport, "a1", "a1", {})
    assert (answer.status, answer.fields) == (400, {"data" if transport.name == "rest" else "items"})


@pytest.mark.parametrize(
    ("who", "of"), [("a1", "a2"), ("a1", "b1"), ("market a", "market b"), ("market b", "market b")]
)
async def test_shops_that_are_not_there(transport: Transport, sold: Sold, who: str, of: str) -> None:
    """Other tenants' shops, and a network without a shop of its own."""
    answer, _ = await create(transport, who, of, content(sold))
    assert (answer.status, answer.fields) == (400, {"partner_uuid"})


async def test_who_may_create(transport: Transport, sold: Sold) -> None:
    for who, status in ((NO_TOKEN, 401), (BAD_TOKEN, 401), ("careless", 403)):
        answer, _ = await create(transport, who, "a1", content(sold))
        assert answer.status == status, (who, answer)


async def test_a_partner_that_does_not_sell(transport: Transport, sold: Sold) -> None:
    tenants, change = transport.tenants, "UPDATE partner SET status = :status WHERE id = :id"
    partner = tenants.partners["a1"]
    await tenants.execute(change, status=PartnerStatus.INACTIVE.value, id=partner.id)
    try:
        cards = {"network_giftcards": content(sold)["network_giftcards"]}
        answer, _ = await create(transport, "a1", "a1", cards)
        assert (answer.status, answer.code.lower()) == (409, "partner_inactive")
    finally:
        await tenants.execute(change, status=partner.status.value, id=partner.id)


async def test_a_partner_sells_only_what_it_takes_part_in(transport: Transport, sold: Sold) -> None:
    tenants, change = transport.tenants, "UPDATE partner SET linked_to_ngc_settings = :linked WHERE id = :id"
    await tenants.execute(change, linked=False, id=tenants.partners["a1"].id)
    try:
        answer, _ = await create(transport, "a1", "a1", content(sold))
        assert (answer.status, len(answer.fields)) == (400, 1)
    finally:
        await tenants.execute(change, linked=True, id=tenants.partners["a1"].id)

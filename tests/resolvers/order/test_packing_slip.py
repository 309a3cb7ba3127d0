"""The packing slip of an order: what it has and has not, in each language, and who gets its address."""

import io
import re
from typing import Any

import pytest
from pypdf import PdfReader

from resolvers.document import signed_document_url
from resolvers.order.orders import order
from resolvers.order.packing_slip import FOLDER, find_packing_slip
from schema.checkout.basket import Giftee
from schema.checkout.checkout import ProductChoice
from schema.core.errors import NotFound
from schema.core.permission import Permission
from schema.coupon.coupon import ReceptionMode
from schema.delivery.delivery import DeliveryKind
from schema.validation.languages import LANGUAGES
from tests.fixtures.basket import Experiences, bought, for_two
from tests.fixtures.payment.order_refund import ordered, refunded
from tests.fixtures.shop import BUYER, Shop
from tests.fixtures.tenants import Tenants

ADDRESS = "query ($id: Int!) { order(id: $id) { packingSlipUrl fulfilment { state trackingUrl sentOn } } }"
TITLES = {
    "en": "Packing slip 1",
    "fr": "Bon de livraison 1",
    "de": "Packzettel 1",
    "es": "Albarán 1",
    "it": "Distinta di imballaggio 1",
    "nl": "Pakbon 1",
    "pt": "Guia de embalagem 1",
    "ca": "Albarà 1",
}


async def slip_of(shop: Shop) -> list[str]:
    """The text of each page of the packing slip of the newest order."""
    id = await shop.one("SELECT max(id) FROM shop_order")
    url = signed_document_url(shop.services, FOLDER, [id], "pdf")
    file = await find_packing_slip(shop.services, url.rpartition("/")[2].removesuffix(".pdf"))
    assert file.media_type == "application/pdf"
    pages = PdfReader(io.BytesIO(file.content)).pages
    return [re.sub(r"\s+", " ", page.extract_text()) for page in pages]


async def test_it_has_lines_options_quantities_and_the_address_and_no_price(shop: Shop) -> None:
    candle = await shop.product("20.00", weight_grams=300)
    large = await shop.variant(candle, "31.00")
    choices = [ProductChoice(candle.id, 2, large.id)]
    await ordered(shop, *choices, delivery=DeliveryKind.HOME_DELIVERY)
    await shop.execute("UPDATE shop_order SET message = 'Bon anniversaire, Claire !'")
    (page,) = await slip_of(shop)
    for told in ("Packing slip 1", "Candle", "Large", "2 pieces", BUYER.city, "Bon anniversaire, Claire", "France"):
        assert told in page, told
    assert not re.search(r"€|EUR|31|62", page)


async def test_what_is_refunded_is_not_packed(shop: Shop) -> None:
    candle, honey = await shop.product("20.00"), await shop.product("8.00")
    await ordered(shop, ProductChoice(candle.id, 3), ProductChoice(honey.id, 1))
    assert "4 pieces" in (await slip_of(shop))[0]
    await refunded(shop, (0, 2), 1)
    assert "1 piece" in (await slip_of(shop))[0], "it is rendered anew"


@pytest.mark.parametrize("language", LANGUAGES)
async def test_it_speaks_the_buyers_language(shop: Shop, language: str) -> None:
    await ordered(shop, ProductChoice((await shop.product("20.00")).id, 1))
    await shop.execute("UPDATE shop_order SET language = :language", language=language)
    assert TITLES[language] in (await slip_of(shop))[0]


async def test_each_giftee_has_a_sheet(shop: Shop, sold: Experiences) -> None:
    def to(name: str) -> Any:
        home = {"address_line_1": "3 rue Haute", "postal_code": "74000", "city": "Annecy", "country": "FR"}
        return for_two(sold, giftee=Giftee(first_name=name, last_name="Martin", **home))

    await bought(shop, to("Zoe"), to("Max"), to("Zoe"), reception=ReceptionMode.POSTAL_MAIL_TO_BENEFICIARY)
    first, second = await slip_of(shop)
    for page, name, parcel, pieces in ((first, "Zoe", "1 of 2", "2 pieces"), (second, "Max", "2 of 2", "1 piece")):
        assert f"{name} Martin" in page
        assert f"Parcel {parcel}" in page
        assert pieces in page
        assert "74000 Annecy" in page
        assert "France" in page
    codes = await shop.one("SELECT json_agg(code) FROM voucher")
    assert not any(code in first + second for code in codes)


async def test_a_forged_address_and_an_order_without_fulfilment_have_none(shop: Shop, sold: Experiences) -> None:
    await bought(shop, for_two(sold))
    with pytest.raises(NotFound):
        await slip_of(shop)
    with pytest.raises(NotFound):
        await find_packing_slip(shop.services, "bm90aGluZw.c2lnbmVk")
    shown = await (await order(shop.manager, await shop.one("SELECT id FROM shop_order"))).object()
    assert shown.fulfilment() is None


# ---- over GraphQL

MOVES = {
    "markOrderReady": ("click_and_collect", "to_prepare", "READY_TO_COLLECT"),
    "markOrderCollected": ("click_and_collect", "ready_to_collect", "COLLECTED"),
    "markOrderSent": ("home_delivery", "to_prepare", "SENT"),
    "markOrderDelivered": ("home_delivery", "sent", "DELIVERED"),
    "cancelOrderFulfilment": ("home_delivery", "to_prepare", "CANCELLED"),
    "reopenOrderFulfilment": ("home_delivery", "cancelled", "TO_PREPARE"),
}


def mutation(name: str) -> str:
    return (
        f"mutation ($id: Int!) {{ done: {name}(input: {{id: $id}}) {{ order {{ fulfilment {{ state }} }} "
        "userErrors { code } } }"
    )


async def as_to(tenants: Tenants, kind: str, state: str) -> None:
    statement = "UPDATE shop_order SET delivery_kind = :kind, fulfilment_state = :state"
    await tenants.execute(statement, kind=kind, state=state)


async def state_of(tenants: Tenants) -> str:
    return str(
        await tenants.one("SELECT fulfilment_state FROM shop_order WHERE id = :id", id=tenants.owned["a1"].order)
    )


@pytest.mark.parametrize("name", MOVES)
async def test_who_may_move_an_order(tenants: Tenants, name: str) -> None:
    kind, old, new = MOVES[name]
    await as_to(tenants, kind, old)
    order_id, of = tenants.owned["a1"].order, tenants.partners["a1"]
    await tenants.user("packer", "partner", [Permission.VIEW_ORDER, Permission.MANAGE_ORDER], partner_id=of.id)
    await tenants.user("reader", "partner", [Permission.VIEW_ORDER], partner_id=of.id)
    for who, code in (("b1", "NOT_FOUND"), ("market b", "NOT_FOUND"), ("reader", "FORBIDDEN")):
        body = await tenants.graphql(who, mutation(name), id=order_id)
        told = [error["extensions"]["code"] for error in body.get("errors", ())] or [
            error["code"] for error in body["data"]["done"]["userErrors"]
        ]
        assert told == [code], who
        assert await state_of(tenants) == old
    audited = await tenants.one("SELECT count(*) FROM audit_entry")
    body = await tenants.graphql("packer", mutation(name), id=order_id)
    assert body["data"] == {"done": {"order": {"fulfilment": {"state": new}}, "userErrors": []}}
    assert await tenants.one("SELECT count(*) FROM audit_entry") == audited + 1


async def test_the_address_is_told_with_the_order(tenants: Tenants) -> None:
    order_id = tenants.owned["a1"].order
    body = await tenants.graphql("a1", ADDRESS, id=order_id)
    assert body["data"] == {"order": {"packingSlipUrl": None, "fulfilment": None}}
    await as_to(tenants, "home_delivery", "to_prepare")
    seen = (await tenants.graphql("a1", ADDRESS, id=order_id))["data"]["order"]
    assert seen["packingSlipUrl"].startswith(f"{tenants.services.public_url}/documents/packing-slips/")
    assert seen["fulfilment"] == {"state": "TO_PREPARE", "trackingUrl": None, "sentOn": None}
    assert (await tenants.graphql("b1", ADDRESS, id=order_id))["data"] == {"order": None}

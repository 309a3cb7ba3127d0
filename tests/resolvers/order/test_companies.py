"""Orders of companies: what is kept for the invoice, who reads it, and that it outlives the data of the buyer."""

import dataclasses
from typing import Any

import pytest
from sqlalchemy.exc import IntegrityError

from resolvers.personal_data import operations
from resolvers.personal_data.operations import find_personal_data_file
from schema.checkout.checkout import ProductChoice
from schema.delivery.delivery import DeliveryKind
from schema.personal_data.input import ErasePersonalData, ExportPersonalData
from store.payment.snapshot import BUYER as STORED_BUYER
from tests.fixtures.shop import BUYER, COMPANY, Shop
from tests.resolvers.order.test_by_token import answer, nobody
from tests.resolvers.order.test_orders import order_of
from tests.resolvers.payment.refunds.test_over_graphql import answer as over_graphql

BILLING = "billing { companyName vatId line1 line2 postalCode city country }"
AT_TOKEN = "query ($t: String!) { orderByToken(token: $t) { billing { companyName vatId address country } } }"
HOME, ADA = DeliveryKind.HOME_DELIVERY, "ada@example.com"


async def sold(shop: Shop, **more: Any) -> int:
    return await order_of(shop, ProductChoice((await shop.product("20.00")).id, 1), **more)


async def read(shop: Shop, order: int) -> Any:
    found = await over_graphql(shop, f"query ($id: Int!) {{ order(id: $id) {{ pageUrl {BILLING} }} }}", id=order)
    return found["data"]["order"]


def told_of(buyer: dict[str, str]) -> dict[str, str]:
    return {"companyName": "Analytical Engines", "vatId": "FR40303265045", "line2": "", **buyer}


OWN = told_of({"line1": "2 quai du Lac", "postalCode": "74000", "city": "Annecy", "country": "FR"})


@pytest.mark.parametrize("delivery", [HOME, DeliveryKind.CLICK_AND_COLLECT])
async def test_the_company_is_kept_with_the_order(shop: Shop, delivery: DeliveryKind) -> None:
    order = await read(shop, await sold(shop, buyer=COMPANY, delivery=delivery))
    assert order["billing"] == OWN
    token = order["pageUrl"].split("/")[-2]
    seen = (await answer(nobody(shop), AT_TOKEN, t=token))["orderByToken"]["billing"]
    assert seen == {
        "companyName": "Analytical Engines",
        "vatId": "FR40303265045",
        "address": ["2 quai du Lac", "74000 Annecy"],
        "country": "FR",
    }


async def test_a_company_without_an_address_is_where_its_order_goes(shop: Shop) -> None:
    buyer = dataclasses.replace(BUYER, company_name="Analytical Engines", vat_id="FR40303265045")
    order = await read(shop, await sold(shop, buyer=buyer, delivery=HOME))
    expected = {"line1": "1 rue des Lilas", "postalCode": "75011", "city": "Paris", "country": "FR"}
    assert order["billing"] == told_of(expected)


async def test_a_person_is_no_company(shop: Shop) -> None:
    order = await read(shop, await sold(shop))
    assert order["billing"] is None
    token = order["pageUrl"].split("/")[-2]
    assert (await answer(nobody(shop), AT_TOKEN, t=token))["orderByToken"] == {"billing": None}


def test_what_is_stored_of_a_person_has_no_keys_of_a_company() -> None:
    """The fingerprint of an attempt that an older release stored stays the same."""
    assert "company_name" not in STORED_BUYER.dump(BUYER)
    assert STORED_BUYER.read(STORED_BUYER.dump(COMPANY)) == COMPANY


async def test_a_company_is_stored_whole(shop: Shop) -> None:
    order = await sold(shop, buyer=COMPANY)
    with pytest.raises(IntegrityError, match="whole_billing"):
        await shop.execute("UPDATE shop_order SET billing_city = NULL WHERE id = :id", id=order)


# ---- personal data


async def test_it_is_exported_with_the_data_of_its_buyer(shop: Shop) -> None:
    await sold(shop, buyer=COMPANY)
    data = await operations.export_personal_data(shop.manager, ExportPersonalData(email=ADA))
    for billing in (data.orders[0].billing, data.checkouts[0].billing):
        assert billing is not None
        assert billing.address is not None
        assert (billing.company_name, billing.vat_id) == ("Analytical Engines", "FR40303265045")
        assert (billing.address.line_1, billing.address.country) == ("2 quai du Lac", "FR")
    token = data.file_url.rpartition("/")[2].removesuffix(".json")
    assert b"Analytical Engines" in (await find_personal_data_file(shop.context, token))[1]


async def test_the_invoice_stays_when_the_buyer_is_erased(shop: Shop) -> None:
    order = await sold(shop, buyer=COMPANY)
    await shop.execute("UPDATE mail SET state = 'sent', due_on = NULL")
    await shop.execute("UPDATE shop_order SET fulfilment_state = 'collected'")
    result = await operations.erase_personal_data(shop.manager, ErasePersonalData(email=ADA))
    assert (result.orders, result.checkouts) == (1, 1)
    assert (await read(shop, order))["billing"] == OWN
    elsewhere = "SELECT concat((SELECT string_agg(buyer::text, '') FROM checkout_attempt), "
    elsewhere += "(SELECT string_agg(content::text, '') FROM mail), (SELECT string_agg(data::text, '') FROM event))"
    left = await shop.one(elsewhere)
    for gone in ("Analytical", "FR40303265045", "quai du Lac", "Annecy"):
        assert gone not in left, gone

"""The invoice of an order that a company has bought: what it says in the place of a receipt."""

import dataclasses
from decimal import Decimal
from typing import Any

import httpx
import pytest

from resolvers.payment.checkout import payment
from schema.checkout.checkout import Buyer, ProductChoice
from schema.validation.languages import LANGUAGES
from store.document.addresses import DocumentKind, document_path
from tests.coffret.http.test_receipts import read
from tests.fixtures.basket import bought, card_of
from tests.fixtures.document import words
from tests.fixtures.shop import BUYER, COMPANY, Shop

NO_INVOICE = "It is not an invoice."


async def paid(shop: Shop, *choices: ProductChoice, buyer: Buyer = COMPANY, **more: Any) -> str:
    """Buy something by bank card; answers the token of its receipt."""
    key, seen = await shop.ready(*choices, buyer=buyer, **more)
    started = await shop.start(key, seen)
    await shop.pay(started)
    await payment.settle_payment(shop.context, key.session_id, started.attempt_id)
    return str(await shop.one("SELECT document_token FROM payment ORDER BY created_on DESC LIMIT 1"))


async def test_it_has_what_an_invoice_must_have(app_shop: Shop, client: httpx.AsyncClient) -> None:
    await app_shop.execute(
        "UPDATE partner SET name = 'Shop SAS', hq_address_line_1 = '12 chemin du Lac', hq_postal_code = '74000', "
        "hq_city = 'Annecy', vat_id = 'FR44732829320', siret_number = '73282932000074'"
    )
    candle = await app_shop.product("20.00", vat_rate=Decimal("20.00"))
    honey = await app_shop.product("10.55", vat_rate=Decimal("5.50"))
    token = await paid(app_shop, ProductChoice(candle.id, 3), ProductChoice(honey.id, 1))
    said = await read(client, token)
    day = await app_shop.one(
        "SELECT to_char(created_on AT TIME ZONE 'Europe/Paris', 'FMDD FMMonth YYYY') FROM shop_order"
    )
    for part in (
        "INVOICE Amount paid €70.55",
        "From The Shop Shop SAS 12 chemin du Lac 74000 Annecy France",
        "Company number 73282932000074 VAT number FR44732829320",
        "Billed to Analytical Engines 2 quai du Lac 74000 Annecy France VAT number FR40303265045 Ada Martin",
        "3 × Candle 3 × €20.00 · VAT 20% €60.00",
        "Candle VAT 5.5% €10.55",
        "Total without VAT €60.00 VAT 5.5% on €10.00 €0.55 VAT 20% on €50.00 €10.00 Total €70.55",
        f"Invoice number 1 Date of issue {day} Payment number",
    ):
        assert part in said, (part, said)
    for part in (NO_INVOICE, "Receipt", "bears no VAT"):
        assert part not in said, part
    answer = await client.get(document_path(DocumentKind.RECEIPT, token))
    assert "Invoice The Shop.pdf" in answer.headers["content-disposition"]


async def test_persons_keep_the_receipt(app_shop: Shop, client: httpx.AsyncClient) -> None:
    candle = await app_shop.product("20.00")
    said = await read(client, await paid(app_shop, ProductChoice(candle.id, 1), buyer=BUYER))
    assert "RECEIPT Amount paid" in said
    assert NO_INVOICE in said
    assert "VAT number" not in said


async def test_gift_cards_are_sold_without_vat(app_shop: Shop, client: httpx.AsyncClient) -> None:
    await bought(app_shop, card_of("50.00"), buyer=COMPANY)
    said = await read(client, str(await app_shop.one("SELECT document_token FROM payment")))
    assert "Gift card €50.00 Total without VAT €50.00 Total €50.00" in said
    assert "The sale of gift cards bears no VAT" in said


@pytest.mark.parametrize("language", LANGUAGES)
async def test_it_is_written_in_eight_languages(app_shop: Shop, client: httpx.AsyncClient, language: str) -> None:
    candle = await app_shop.product("20.00", vat_rate=Decimal("20.00"))
    token = await paid(app_shop, ProductChoice(candle.id, 1), buyer=dataclasses.replace(COMPANY, vat_id=""))
    await app_shop.execute("UPDATE payment SET language = :language", language=language)
    said = words((await client.get(document_path(DocumentKind.RECEIPT, token))).content)
    assert "Analytical Engines" in said
    assert "FR40303265045" not in said
    for part in ("Invoice number", "Total without VAT", "Billed to"):
        assert (part in said) is (language == "en"), part

"""Receipts at their addresses: what they say, in the language of the payment, and of which payments there are none."""

import datetime as dt
import io
from decimal import Decimal
from typing import Any

import httpx
import pytest
from pypdf import PdfReader

from resolvers.payment.checkout import payment
from schema.checkout.checkout import ProductChoice
from schema.payment.payment import PaymentStatus, RefundOrigin, RefundState
from schema.validation.languages import LANGUAGES
from store.core.codes import document_token
from store.document.addresses import DocumentKind, document_path
from store.payment.payments import PaymentRow, RefundRow
from tests.fixtures.document import words
from tests.fixtures.payment.hosted_payment import stored_payment
from tests.fixtures.shop import Shop

OK = PaymentStatus.OK


async def read(client: httpx.AsyncClient, token: str) -> str:
    answer = await client.get(document_path(DocumentKind.RECEIPT, token))
    assert answer.status_code == 200, answer.text
    return words(answer.content).replace("\xa0", " ").replace("\u202f", " ")


async def refund(shop: Shop, of: PaymentRow, amount: str, state: RefundState) -> None:
    values: dict[str, Any] = {"partner_id": shop.partner.id, "currency": "EUR", "origin": RefundOrigin.STAFF}
    row = RefundRow(
        payment_id=of.id,
        state=state,
        refund_amount=Decimal(amount),
        created_on=dt.datetime(2026, 12, 3, 12, tzinfo=dt.UTC),
        **values,
    )
    await shop.add(row)
    if state is not RefundState.FAILED:
        spent = "UPDATE payment SET refunded_amount = refunded_amount + :amount WHERE id = :id"
        await shop.execute(spent, amount=Decimal(amount), id=of.id)


async def test_it_says_who_has_paid_what_to_whom(app_shop: Shop, client: httpx.AsyncClient) -> None:
    await app_shop.execute(
        "UPDATE partner SET name = 'Shop SAS', hq_address_line_1 = '12 chemin du Lac', hq_postal_code = '74000', "
        "hq_city = 'Annecy', vat_id = 'FR44732829320', siret_number = '73282932000074'"
    )
    row = await stored_payment(
        app_shop, "90.00", status=OK, description="Deposit for May\nSee you!", discount_amount=Decimal("10.00")
    )
    answer = await client.get(document_path(DocumentKind.RECEIPT, row.document_token))
    assert answer.headers["content-type"] == "application/pdf"
    assert "Receipt The Shop.pdf" in answer.headers["content-disposition"]
    assert answer.headers["x-robots-tag"] == "noindex, nofollow"
    said = words(answer.content)
    for part in (
        "RECEIPT Amount paid €90.00 Paid on",
        "Paid to The Shop Shop SAS 12 chemin du Lac 74000 Annecy France",
        "Company number 73282932000074 VAT number FR44732829320",
        "Paid by Ada Martin ada@example.com",
        "What was paid for Deposit for May See you!",
        "Price €100.00 Discount −€10.00 Total €90.00",
        "Paid with Bank card €90.00",
        f"Payment number {row.id}",
        "It is not an invoice.",
        "hello@shop.example · shop.example",
    ):
        assert part in said, (part, said)
    assert "Refund" not in said


@pytest.mark.parametrize(
    ("method", "name"),
    [("card", "Bank card"), ("american_express", "American Express"), ("bancontact", "Bancontact"), ("ideal", "iDEAL")],
)
async def test_it_names_what_was_paid_with(app_shop: Shop, client: httpx.AsyncClient, method: str, name: str) -> None:
    row = await stored_payment(app_shop, status=OK)
    await app_shop.execute("UPDATE payment_transaction SET method = :method", method=method)
    assert f"Paid with {name}" in await read(client, row.document_token)


async def test_it_tells_what_was_refunded_so_far(app_shop: Shop, client: httpx.AsyncClient) -> None:
    row = await stored_payment(app_shop, status=OK)
    assert "Refunds" not in await read(client, row.document_token)
    await refund(app_shop, row, "30.00", RefundState.DONE)
    await refund(app_shop, row, "15.50", RefundState.PENDING)
    await refund(app_shop, row, "1.00", RefundState.FAILED)
    said = await read(client, row.document_token)
    assert "Refunded on 3 December 2026 −€30.00 Refund of 3 December 2026, on its way −€15.50" in said
    assert "Paid after refunds €54.50" in said
    assert "€1.00" not in said
    assert "REFUNDED" not in said
    await refund(app_shop, row, "54.50", RefundState.DONE)
    assert "REFUNDED" in await read(client, row.document_token)


async def test_an_order_is_told_line_by_line(app_shop: Shop, client: httpx.AsyncClient) -> None:
    candle = await app_shop.product("20.00", vat_rate=Decimal("20.00"))
    large = await app_shop.variant(candle, "30.00")
    card = await app_shop.gift_card("5.00")
    coupon = await app_shop.coupon()
    key, seen = await app_shop.ready(ProductChoice(candle.id, 2, large.id), codes=(card.code, coupon.code))
    started = await app_shop.start(key, seen)
    await app_shop.pay(started)
    await payment.settle_payment(app_shop.context, key.session_id, started.attempt_id)
    token = await app_shop.one("SELECT document_token FROM payment")
    said = await read(client, token)
    for part in (
        "Order number 1",
        "2 × Candle Large €60.00 Coupon WELCOME10 −€6.00 Total Including VAT of 20% on €45.00: €9.00 €54.00",
        f"Paid with Gift card ending in {card.code[-4:]} €5.00 Bank card €49.00",
    ):
        assert part in said, (part, said)
    assert card.code not in said


@pytest.mark.parametrize("language", LANGUAGES)
async def test_it_is_written_in_the_language_of_the_payment(
    app_shop: Shop, client: httpx.AsyncClient, language: str
) -> None:
    row = await stored_payment(app_shop, status=OK, language=language)
    answer = await client.get(document_path(DocumentKind.RECEIPT, row.document_token))
    document = PdfReader(io.BytesIO(answer.content))
    root: Any = document.trailer["/Root"]
    assert root["/Lang"] == language
    assert len(document.pages) == 1
    assert "<pdfuaid:part>1</pdfuaid:part>" in root["/Metadata"].get_object().get_data().decode()
    if language != "en":
        assert "It is not an invoice." not in words(answer.content)


async def test_a_long_one_goes_on_over_the_page(app_shop: Shop, client: httpx.AsyncClient) -> None:
    row = await stored_payment(app_shop, status=OK, description="A line of what was paid for.\n" * 16)
    for amount in range(1, 10):
        await refund(app_shop, row, f"{amount}.00", RefundState.DONE)
    answer = await client.get(document_path(DocumentKind.RECEIPT, row.document_token))
    assert len(PdfReader(io.BytesIO(answer.content)).pages) == 2


@pytest.mark.parametrize("status", [PaymentStatus.IN_PROGRESS, PaymentStatus.ERROR, PaymentStatus.CANCELLED])
async def test_what_is_not_paid_has_none(app_shop: Shop, client: httpx.AsyncClient, status: PaymentStatus) -> None:
    row = await stored_payment(app_shop, status=status)
    assert (await client.get(document_path(DocumentKind.RECEIPT, row.document_token))).status_code == 404
    await app_shop.execute("UPDATE payment SET status = 'ok'")
    assert (await client.get(document_path(DocumentKind.RECEIPT, row.document_token))).status_code == 200


async def test_nobody_guesses_one(app_shop: Shop, client: httpx.AsyncClient) -> None:
    await stored_payment(app_shop, status=OK)
    for token in (document_token(), "x", "%00", "a" * 64):
        assert (await client.get(document_path(DocumentKind.RECEIPT, token))).status_code == 404

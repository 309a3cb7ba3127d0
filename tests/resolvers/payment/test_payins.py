"""Creating card payments: one payer at the provider for each e-mail address, whatever gets lost."""

import asyncio
import datetime as dt
import uuid
from dataclasses import replace
from typing import Any

import pytest
from sqlalchemy import text
from sqlmodel import select
from sqlmodel.ext.asyncio.session import AsyncSession

from resolvers.payment.payins import PayinOrder, create_payin
from schema.checkout.checkout import PaymentAttemptStatus, ProductChoice
from schema.payment_method import PaymentMethod
from store.core.clock import clock
from store.core.settings import Settings
from store.payment.payers import PayerRow
from store.providers.errors import InvalidRequest, PayerRefused, UnknownOutcome
from store.providers.mangopay import Mangopay
from store.providers.money import MinorAmount
from store.providers.transactions import Payer, PayinRequest, Transaction, TransactionStatus
from tests.fixtures.shop import RETURN, Shop

NEW_PAYER = "POST /sca/users/natural"
NEW_PAYIN = "POST /payins/card/web"


async def calls(shop: Shop, name: str) -> int:
    """How often the provider was called."""
    counts = (await shop.control("GET", "/stats")).json()["calls"]
    return int(counts.get(name, 0))


async def payers(shop: Shop) -> list[PayerRow]:
    """The stored payers."""
    async with shop.services.db.sessions() as db:
        return list((await db.exec(select(PayerRow))).all())


async def add_fault(shop: Shop, **fault: Any) -> None:
    """Make a coming call of the provider fail."""
    answer = await shop.control("POST", "/faults", fault)
    assert answer.status_code == 200, answer.text


def order_of(shop: Shop, email: str = "ada@example.com") -> PayinOrder:
    """A card payment of ten euros."""
    return PayinOrder(
        reference=str(uuid.uuid4()),
        payer=Payer("Ada", "Martin", email),
        wallet_id=shop.partner.provider_wallet_id,
        amount=MinorAmount("EUR", 1000),
        fee=MinorAmount("EUR", 0),
        return_url=RETURN,
        language="en",
        statement="shop",
        method=PaymentMethod.CARD,
        key=uuid.uuid4(),
        sent_at=clock.now(),
    )


class StoredPayin:
    """A row of an order."""

    def __init__(self, order: PayinOrder) -> None:
        self.payin_key = order.key

    async def lock(self, db: AsyncSession) -> "StoredPayin":
        """The row, locked until the end of the transaction."""
        await (await db.connection()).execute(text("SELECT pg_advisory_xact_lock(1)"))
        return self


async def never(_db: AsyncSession) -> StoredPayin:
    """For payments that are not refused."""
    raise AssertionError


async def test_an_address_has_one_payer_whatever_its_case(shop: Shop) -> None:
    first = await create_payin(shop.services, order_of(shop), never)
    second = await create_payin(shop.services, order_of(shop, " Ada@Example.COM"), never)
    other = await create_payin(shop.services, order_of(shop, "bea@example.com"), never)
    assert first.payer_id == second.payer_id != other.payer_id
    assert await calls(shop, NEW_PAYER) == 2
    assert len({first.id, second.id, other.id}) == 3


async def test_the_address_is_not_stored(shop: Shop) -> None:
    await create_payin(shop.services, order_of(shop), never)
    (row,) = await payers(shop)
    assert b"ada" not in row.email_digest
    assert row.account == "sandbox"


async def test_live_and_sandbox_have_payers_of_their_own(shop: Shop) -> None:
    def account(host: str) -> str:
        more = {"mangopay_base_url": f"https://{host}", "mangopay_client_id": "c", "mangopay_api_key": "k"}
        return Settings.model_validate({"provider": "mangopay", **more}).provider_account

    assert account("api.mangopay.com") == "mangopay:api.mangopay.com:c"
    await create_payin(shop.services, order_of(shop), never)
    await shop.execute("UPDATE payer SET account = :account", account=account("api.sandbox.mangopay.com"))
    await create_payin(shop.services, order_of(shop), never)
    assert len({row.provider_id for row in await payers(shop)}) == 2


async def test_twenty_payments_at_once_make_one_payer(shop: Shop) -> None:
    made = await asyncio.gather(*(create_payin(shop.services, order_of(shop), never) for _ in range(20)))
    assert len({payin.payer_id for payin in made}) == 1
    assert len({payin.id for payin in made}) == 20
    (row,) = await payers(shop)
    assert row.provider_id == made[0].payer_id


async def test_a_payer_whose_answer_was_lost_is_found_again(shop: Shop) -> None:
    for _ in range(2):
        await add_fault(shop, path="/sca/users/natural", kind="drop", when="after")
    made = await create_payin(shop.services, order_of(shop), never)
    assert made.status is TransactionStatus.PENDING
    assert len(await payers(shop)) == 1


async def test_a_payer_of_which_nothing_was_heard_is_the_one_that_the_next_payment_has(shop: Shop) -> None:
    await add_fault(shop, path="/sca/users/natural", kind="drop", when="after")
    await add_fault(shop, path="/responses/*", kind="drop", times=25)
    with pytest.raises(UnknownOutcome):
        await create_payin(shop.services, order_of(shop), never)
    (stored,) = await payers(shop)
    assert stored.provider_id == ""
    assert (await shop.control("DELETE", "/faults")).status_code == 200
    made = await create_payin(shop.services, order_of(shop), never)
    (found,) = await payers(shop)
    assert (found.key, found.provider_id) == (stored.key, made.payer_id)


async def test_a_key_that_the_provider_has_forgotten_is_replaced(shop: Shop) -> None:
    await create_payin(shop.services, order_of(shop), never)
    await shop.execute("UPDATE payer SET provider_id = ''")
    (before,) = await payers(shop)
    clock.advance(dt.timedelta(hours=23, minutes=30))
    again = await create_payin(shop.services, order_of(shop), never)
    (after,) = await payers(shop)
    assert after.key != before.key
    assert after.provider_id == again.payer_id


async def test_a_refused_payer_uses_up_its_key(shop: Shop) -> None:
    with pytest.raises(InvalidRequest):
        await create_payin(shop.services, order_of(shop, "nonsense"), never)
    (before,) = await payers(shop)
    with pytest.raises(InvalidRequest):
        await create_payin(shop.services, order_of(shop, "nonsense"), never)
    (after,) = await payers(shop)
    assert (before.key, before.provider_id) != (after.key, "") == (after.key, after.provider_id)


async def close_payer(shop: Shop, id: str) -> None:
    """Close a payer's account at the provider."""
    answer = await shop.control("POST", f"/users/{id}", {"status": "CLOSED"})
    assert answer.status_code == 200, answer.text


async def test_a_closed_payer_is_replaced_once(shop: Shop) -> None:
    first = await create_payin(shop.services, order_of(shop), never)
    await close_payer(shop, first.payer_id)
    order = order_of(shop)
    stored = StoredPayin(order)
    second = await create_payin(shop.services, order, stored.lock)
    assert second.payer_id != first.payer_id
    assert stored.payin_key != order.key
    assert await calls(shop, NEW_PAYER) == 2
    assert (await create_payin(shop.services, order_of(shop), never)).payer_id == second.payer_id


async def test_a_closed_payer_is_replaced_once_by_many(shop: Shop) -> None:
    first = await create_payin(shop.services, order_of(shop), never)
    await close_payer(shop, first.payer_id)
    order = order_of(shop)
    stored = StoredPayin(order)
    made = await asyncio.gather(*(create_payin(shop.services, order, stored.lock) for _ in range(5)))
    assert len({payin.id for payin in made}) == 1
    assert stored.payin_key != order.key
    (row,) = await payers(shop)
    assert row.provider_id == made[0].payer_id


async def test_a_request_that_comes_late_takes_the_key_that_another_has_stored(shop: Shop) -> None:
    first = await create_payin(shop.services, order_of(shop), never)
    await close_payer(shop, first.payer_id)
    order = order_of(shop)
    stored = StoredPayin(order)
    made = await create_payin(shop.services, order, stored.lock)
    late = await create_payin(shop.services, order, stored.lock)
    assert late.id == made.id
    assert await calls(shop, NEW_PAYER) == 2


async def test_a_payer_that_the_account_does_not_have_is_replaced(shop: Shop) -> None:
    await create_payin(shop.services, order_of(shop), never)
    await shop.execute("UPDATE payer SET provider_id = 'user_of_another_account'")
    order = order_of(shop)
    made = await create_payin(shop.services, order, StoredPayin(order).lock)
    assert made.status is TransactionStatus.PENDING


async def test_another_refusal_does_not_blame_the_payer(shop: Shop) -> None:
    order = replace(order_of(shop), wallet_id="wallet_of_nobody")
    stored = StoredPayin(order)
    with pytest.raises(InvalidRequest) as unknown:
        await create_payin(shop.services, order, stored.lock)
    assert not isinstance(unknown.value, PayerRefused)
    assert stored.payin_key == order.key
    assert await calls(shop, NEW_PAYER) == 1


async def test_a_checkout_pays_although_its_payer_was_closed(shop: Shop) -> None:
    candle = await shop.product(stock=5)
    key, seen = await shop.ready(ProductChoice(candle.id, 1))
    first = await shop.start(key, seen)
    await close_payer(shop, await shop.one("SELECT payer_id FROM checkout_attempt"))
    other, seen = await shop.ready(ProductChoice(candle.id, 1))
    second = await shop.start(other, seen)
    assert second.status is PaymentAttemptStatus.WAITING
    assert second.redirect_url
    assert second.redirect_url != first.redirect_url
    assert await shop.one("SELECT count(DISTINCT payer_id) FROM checkout_attempt") == 2


async def test_five_tabs_begin_one_payment_although_the_payer_was_closed(shop: Shop) -> None:
    first = await create_payin(shop.services, order_of(shop), never)
    await close_payer(shop, first.payer_id)
    key, seen = await shop.ready(ProductChoice((await shop.product()).id, 1))
    started = await asyncio.gather(*(shop.start(key, seen) for _ in range(5)))
    assert len({each.redirect_url for each in started}) == 1
    charges = (await shop.control("GET", "/stats")).json()["charges"]
    assert len(charges) == 2, "the first pay-in, and one of the checkout"


async def test_three_attempts_of_an_address_have_one_payer(shop: Shop) -> None:
    candle = await shop.product()
    for _ in range(3):
        key, seen = await shop.ready(ProductChoice(candle.id, 1))
        await shop.start(key, seen)
    assert await calls(shop, NEW_PAYER) == 1
    assert await calls(shop, NEW_PAYIN) == 3


async def test_the_bank_statement_names_the_shop(shop: Shop, monkeypatch: pytest.MonkeyPatch) -> None:
    sent: list[PayinRequest] = []
    create_payment = Mangopay.create_payment

    async def spy(provider: Mangopay, request: PayinRequest, **named: Any) -> Transaction:
        sent.append(request)
        return await create_payment(provider, request, **named)

    monkeypatch.setattr(Mangopay, "create_payment", spy)
    key, seen = await shop.ready(ProductChoice((await shop.product()).id, 1))
    await shop.start(key, seen)
    assert [request.statement for request in sent] == ["shop"]

"""What is erased by itself: of old orders, of checkouts that came to nothing, and of the audit log."""

import asyncio
import datetime as dt
from collections.abc import Awaitable
from typing import Any

import pytest

from resolvers.payment.refunds.order_refunds import refund_order
from resolvers.personal_data.operations import erase_personal_data
from resolvers.personal_data.retention import erase_old_data
from schema.checkout.basket import Giftee
from schema.checkout.checkout import ProductChoice
from schema.personal_data.errors import PersonalDataInUse
from schema.personal_data.input import ErasePersonalData
from store.core.clock import clock
from store.order.orders import OrderRow, lock_order
from store.personal_data.emptied import CUSTOMER
from store.personal_data.retention import erase_order
from store.personal_data.rows import lock_rows, rows_of_order
from tests.fixtures.basket import bought, columns, experiences, for_two
from tests.fixtures.payment.order_refund import ordered, refund_wish
from tests.fixtures.payment.payment_request import asked as payment_asked
from tests.fixtures.shop import DECLINED_CARD, Shop
from tests.resolvers.personal_data.test_operations import ADA, GRACE, delivered, mixed_orders

REFUSED = PersonalDataInUse.__name__


async def grown_old(shop: Shop, table: str, days: int) -> None:
    moment = clock.now() - dt.timedelta(days=days)
    await shop.execute(f"UPDATE {table} SET created_on = :moment", moment=moment)  # noqa: S608 - a name from a test


async def names(shop: Shop) -> list[tuple[Any, ...]]:
    return await columns(shop, "shop_order", "buyer_last_name")


async def test_old_orders_lose_their_people(shop: Shop) -> None:
    await mixed_orders(shop)
    await erase_old_data(shop.services)
    await grown_old(shop, "shop_order", 99)
    shop.services.settings.personal_data_days = 100
    await erase_old_data(shop.services)
    assert await names(shop) == [("Martin",)] * 3
    await grown_old(shop, "shop_order", 101)
    await erase_old_data(shop.services)
    assert await names(shop) == [("",)] * 3
    assert await columns(shop, "voucher", "gifter_email", "giftee_email", "message") == [("", None, None)]
    assert await columns(shop, "customer", "email", "first_name") == [("", "")] * 2
    assert await columns(shop, "shop_order", "address_line_1", "country") == [("", "FR"), (None, None), (None, None)]
    told = await columns(shop, "audit_entry", "operation", "input", "actor")
    expected = {"checkouts": 0, "orders": 3}
    assert [entry for entry in told if entry[0] == "erase_old_personal_data"] == [
        ("erase_old_personal_data", expected, "program")
    ]
    await erase_old_data(shop.services)
    assert await columns(shop, "audit_entry", "operation", "input", "actor") == told


async def with_goods(shop: Shop, percentage: str | None = None) -> None:
    """An order of goods alone that was collected; with a coupon, without a payment."""
    product = ProductChoice((await shop.product("20.00")).id, 1)
    if percentage is None:
        await ordered(shop, product)
    else:
        await shop.coupon("GIFT", percentage)
        key, seen = await shop.ready(product, codes=("GIFT",))
        assert (await shop.start(key, seen)).redirect_url is None
    await shop.execute("UPDATE shop_order SET fulfilment_state = 'collected' WHERE delivery_kind = 'click_and_collect'")
    await delivered(shop)


@pytest.mark.parametrize(("percentage", "payments"), [(None, 1), ("100.00", 0)])
async def test_the_buyers_of_goods_go_as_customers_too(shop: Shop, percentage: str | None, payments: int) -> None:
    await with_goods(shop, percentage)
    assert await shop.count("payment") == payments
    assert await columns(shop, "customer", "email") == [(ADA,)]
    await grown_old(shop, "shop_order", 101)
    shop.services.settings.personal_data_days = 100
    await erase_old_data(shop.services)
    assert await columns(shop, "customer", *CUSTOMER) == [("", "", "", None)]


async def test_customers_with_newer_orders_stay_as_long_as_these(shop: Shop) -> None:
    sold = await experiences(shop)
    await bought(shop, for_two(sold, giftee=Giftee(first_name="Grace", email=GRACE)))
    await grown_old(shop, "shop_order", 101)
    await with_goods(shop)
    shop.services.settings.personal_data_days = 100
    await erase_old_data(shop.services)
    assert await names(shop) == [("",), ("Martin",)]
    assert sorted(await columns(shop, "customer", "email")) == [("",), (ADA,)], "Grace has nothing else"
    await grown_old(shop, "shop_order", 101)
    await erase_old_data(shop.services)
    assert await columns(shop, "customer", *CUSTOMER) == [("", "", "", None)] * 2


async def test_a_customer_who_buys_at_that_moment_stays(shop: Shop) -> None:
    await with_goods(shop)
    await with_goods(shop)
    await shop.execute("UPDATE shop_order SET buyer_email = 'other@example.com' WHERE number = 2")
    async with shop.services.db.sessions() as db, db.begin():
        order = await db.get(OrderRow, await shop.one("SELECT min(id) FROM shop_order"))
        assert order is not None
        person_rows = await rows_of_order(db, order)
        assert [row.email for row in person_rows.customers] == [ADA]
        await shop.execute("UPDATE shop_order SET buyer_email = :ada WHERE number = 2", ada=ADA)
        assert await lock_rows(db, person_rows)
        assert list(person_rows.customers) == []


async def test_without_the_setting_orders_stay(shop: Shop) -> None:
    await mixed_orders(shop)
    await grown_old(shop, "shop_order", 4000)
    await erase_old_data(shop.services)
    assert await names(shop) == [("Martin",)] * 3


async def test_an_open_matter_is_tried_again_another_night(shop: Shop) -> None:
    await mixed_orders(shop)
    await grown_old(shop, "shop_order", 101)
    shop.services.settings.personal_data_days = 100
    await shop.execute("UPDATE shop_order SET fulfilment_state = 'to_prepare' WHERE number = 1")
    await erase_old_data(shop.services)
    assert await names(shop) == [("Martin",), ("",), ("",)]
    await delivered(shop)
    await erase_old_data(shop.services)
    assert await names(shop) == [("",)] * 3


async def test_a_checkout_that_failed_is_forgotten_early(shop: Shop) -> None:
    key, seen = await shop.ready(ProductChoice((await shop.product("20.00")).id, 1))
    await shop.pay(await shop.start(key, seen), DECLINED_CARD)
    await shop.execute("UPDATE checkout_attempt SET state = 'failed', check_on = NULL, held = false")
    await grown_old(shop, "checkout_attempt", 29)
    await erase_old_data(shop.services)
    assert (await columns(shop, "checkout_attempt", "buyer->>'email'"))[0] == (ADA,)
    fingerprint = await columns(shop, "checkout_attempt", "fingerprint", "total_amount")
    await grown_old(shop, "checkout_attempt", 31)
    await erase_old_data(shop.services)
    assert await columns(shop, "checkout_attempt", "buyer->>'email'", "buyer->>'country'") == [("", "FR")]
    assert await columns(shop, "checkout_attempt", "fingerprint", "total_amount") == fingerprint


async def test_a_checkout_that_runs_is_left(shop: Shop) -> None:
    key, seen = await shop.ready(ProductChoice((await shop.product("20.00")).id, 1))
    await shop.start(key, seen)
    await grown_old(shop, "checkout_attempt", 400)
    await erase_old_data(shop.services)
    assert await columns(shop, "checkout_attempt", "buyer->>'email'") == [(ADA,)]


async def test_the_log_forgets_customers_and_keeps_what_was_done(shop: Shop) -> None:
    await payment_asked(shop, description="Deposit")
    entries = await columns(shop, "audit_entry", "operation", "subject_id", "occurred_on")
    shop.services.settings.personal_data_days = 100
    await erase_old_data(shop.services)
    assert ADA in str(await columns(shop, "audit_entry", "input"))
    clock.advance(dt.timedelta(days=101))
    await erase_old_data(shop.services)
    (input,) = (await columns(shop, "audit_entry", "input"))[0]
    assert input["customer"] == {"first_name": "***", "last_name": "***", "email": "***"}
    assert (input["amount"], input["description"]) == ("250.00", "Deposit")
    assert (await columns(shop, "audit_entry", "operation", "subject_id", "occurred_on"))[: len(entries)] == entries


async def outcomes(*calls: Awaitable[Any]) -> list[Any]:
    ended = await asyncio.gather(*calls, return_exceptions=True)
    return [type(each).__name__ if isinstance(each, BaseException) else each for each in ended]


async def test_twenty_at_once_erase_it_once(shop: Shop) -> None:
    await mixed_orders(shop)
    input = ErasePersonalData(email=ADA)
    ended = await outcomes(*(erase_personal_data(shop.manager, input) for _ in range(20)))
    assert {each for each in ended if isinstance(each, str)} <= {REFUSED}
    done = [each for each in ended if not isinstance(each, str)]
    assert [each.orders for each in done].count(3) == 1
    assert {each.orders for each in done} <= {0, 3}
    assert await names(shop) == [("",)] * 3


async def test_it_is_refunded_or_erased_first(shop: Shop) -> None:
    product = (await shop.product("20.00")).id
    for _ in range(6):
        await ordered(shop, ProductChoice(product, 1))
        await shop.execute("UPDATE shop_order SET fulfilment_state = 'collected'")
        await shop.execute("UPDATE mail SET state = 'sent', due_on = NULL")
        wish, order = await refund_wish(shop, 0), await shop.one("SELECT max(id) FROM shop_order")
        back, erased = await outcomes(
            refund_order(shop.manager, wish), erase_personal_data(shop.manager, ErasePersonalData(email=ADA))
        )
        assert not isinstance(back, str), back
        is_erased = await shop.one("SELECT buyer_email = '' FROM shop_order WHERE id = :id", id=order)
        assert is_erased == (erased != REFUSED)
        await shop.execute("UPDATE refund SET state = 'done'")


async def test_the_schedule_gives_way_to_who_changes_an_order(shop: Shop) -> None:
    await mixed_orders(shop)
    id = await shop.one("SELECT min(id) FROM shop_order")
    async with shop.services.db.sessions() as other, other.begin():
        await lock_order(other, id)
        async with shop.services.db.sessions() as db, db.begin():
            assert await erase_order(db, id, clock.now()) is None
    async with shop.services.db.sessions() as db, db.begin():
        assert await erase_order(db, id, clock.now()) is not None
    async with shop.services.db.sessions() as db, db.begin():
        assert await erase_order(db, id, clock.now()) is None

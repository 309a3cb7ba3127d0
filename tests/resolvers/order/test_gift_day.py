"""Presents that wait for their day: sent now, on another day, or to another address."""

import asyncio
import dataclasses
import datetime as dt
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from resolvers.order.gift_day import reschedule_gift, send_gift_now
from resolvers.order.gifts import resend_gift
from resolvers.order.page import find_order_page
from schema.core.errors import InvalidInput, NotFound
from schema.coupon.coupon import ReceptionMode
from schema.order.errors import GiftNotWaiting
from store.core.clock import clock
from tests.fixtures.basket import GIFTEE, Experiences, bought, card_of, columns, for_two, sale_coupon
from tests.fixtures.network_sale import network_goods
from tests.fixtures.shop import Shop

PARIS = ZoneInfo("Europe/Paris")
BUYER_EMAIL, NEW = "ada@example.com", "new@example.com"


def days_ahead(days: int) -> dt.date:
    return clock.now().astimezone(PARIS).date() + dt.timedelta(days=days)


def moment(day: dt.date, time: dt.time = dt.time(8)) -> dt.datetime:
    return dt.datetime.combine(day, time, PARIS)


async def ordered(shop: Shop, *choices: Any, **more: Any) -> str:
    """The token of the page of an order whose presents are e-mailed to the giftees."""
    await shop.execute("UPDATE marketplace SET time_zone = 'Europe/Paris'")
    outcome = await bought(shop, *choices, reception=ReceptionMode.GIFTEE_EMAIL, **more)
    assert outcome.order_path is not None
    return outcome.order_path.split("/")[2]


async def card_waits(shop: Shop, days: int = 30) -> str:
    return await ordered(shop, card_of("50.00", giftee=GIFTEE, send_on=days_ahead(days)))


async def queued(shop: Shop, kind: str = "gift_card") -> set[tuple[Any, ...]]:
    """The recipient, the moment and the number of items of each message that waits."""
    rows = await columns(shop, "mail", "kind", "state", "recipient", "due_on", "jsonb_array_length(content -> 'items')")
    return {row[2:] for row in rows if row[:2] == (kind, "queued")}


async def last_day(shop: Shop, table: str = "gift_card") -> dt.date:
    day: dt.date = await shop.one(f"SELECT (expires_on AT TIME ZONE 'Europe/Paris')::date FROM {table}")  # noqa: S608
    return day


# ---- another day


async def test_its_messages_move_with_it(shop: Shop) -> None:
    token, day = await card_waits(shop), days_ahead(60)
    await reschedule_gift(shop.context, token, 0, GIFTEE.email, day, dt.time(18, 30))
    at = moment(day, dt.time(18, 30))
    assert await queued(shop) == {(GIFTEE.email, at, 1), (BUYER_EMAIL, at, 1)}
    page = await find_order_page(shop.context, token)
    item = page.lines[0].issued_item
    assert item is not None
    assert (item.send_on, item.is_waiting, item.is_sendable) == (at, True, False)


async def test_without_a_time_it_is_the_morning(shop: Shop) -> None:
    token, day = await card_waits(shop), days_ahead(60)
    await reschedule_gift(shop.context, token, 0, GIFTEE.email, day, None)
    assert await columns(shop, "gift_card", "send_on") == [(moment(day),)]


async def test_a_corrected_address_keeps_the_day(shop: Shop, sold: Experiences) -> None:
    day = days_ahead(30)
    token = await ordered(shop, for_two(sold, send_on=day))
    before = await last_day(shop, "voucher")
    await reschedule_gift(shop.context, token, 0, f" {NEW} ", day, dt.time(8))
    assert await queued(shop, "voucher") == {(NEW, moment(day), 1), (BUYER_EMAIL, moment(day), 1)}
    assert await last_day(shop, "voucher") == before
    assert await shop.one("SELECT c.normal_email FROM voucher v JOIN customer c ON c.id = v.giftee_id") == NEW
    assert await shop.one("SELECT count(*) FROM event WHERE type = 'voucher.extended'") == 0


async def test_the_buyers_own_address_gets_one_message(shop: Shop) -> None:
    token, day = await card_waits(shop), days_ahead(30)
    await reschedule_gift(shop.context, token, 0, BUYER_EMAIL, day, dt.time(8))
    assert await queued(shop) == {(BUYER_EMAIL, moment(day), 1)}
    await reschedule_gift(shop.context, token, 0, NEW, day, dt.time(8))
    assert await queued(shop) == {(NEW, moment(day), 1), (BUYER_EMAIL, moment(day), 1)}


async def test_what_is_as_before_changes_nothing(shop: Shop) -> None:
    token = await card_waits(shop)
    before = await columns(shop, "mail", "id", "due_on", "content")
    await reschedule_gift(shop.context, token, 0, GIFTEE.email, days_ahead(30), None)
    assert await columns(shop, "mail", "id", "due_on", "content") == before


async def test_one_of_several_leaves_the_message_and_comes_back(shop: Shop) -> None:
    """The message greets whom its first present is for."""
    day, later = days_ahead(30), days_ahead(40)
    other = dataclasses.replace(GIFTEE, first_name="Tom")
    cards = card_of("50.00", giftee=GIFTEE, send_on=day), card_of("60.00", giftee=other, send_on=day)
    token = await ordered(shop, *cards)
    assert await queued(shop) == {(GIFTEE.email, moment(day), 2), (BUYER_EMAIL, moment(day), 2)}
    greeted = "SELECT content ->> 'first_name' FROM mail WHERE kind = 'gift_card' AND recipient = :to AND due_on = :due"
    for _ in range(2):
        await reschedule_gift(shop.context, token, 0, GIFTEE.email, later, None)
        assert await queued(shop) == {
            (to, moment(when), 1) for to in (GIFTEE.email, BUYER_EMAIL) for when in (day, later)
        }
        assert await shop.one(greeted, to=GIFTEE.email, due=moment(day)) == "Tom"
        await reschedule_gift(shop.context, token, 0, GIFTEE.email, day, None)
        assert await queued(shop) == {(GIFTEE.email, moment(day), 2), (BUYER_EMAIL, moment(day), 2)}
        assert await shop.one(greeted, to=GIFTEE.email, due=moment(day)) == "Grace"


async def test_it_does_not_join_another_address_or_another_order(shop: Shop) -> None:
    day = days_ahead(30)
    other = dataclasses.replace(GIFTEE, email="other@example.com")
    cards = card_of("50.00", giftee=GIFTEE, send_on=days_ahead(20)), card_of("60.00", giftee=other, send_on=day)
    token = await ordered(shop, *cards)
    await ordered(shop, card_of("70.00", giftee=GIFTEE, send_on=day))
    await reschedule_gift(shop.context, token, 0, GIFTEE.email, day, None)
    counts = await columns(shop, "mail", "kind", "jsonb_array_length(content -> 'items')", "due_on")
    assert [row for row in counts if row[0] == "gift_card"] == [("gift_card", 1, moment(day))] * 6


async def test_what_is_the_networks_moves_too(shop: Shop) -> None:
    goods, day = await network_goods(shop), days_ahead(30)
    later = days_ahead(90)
    token = await ordered(
        shop, goods.cards("50.00", giftee=GIFTEE, send_on=day), goods.boxes(giftee=GIFTEE, send_on=day)
    )
    for position, kind in enumerate(("network_gift_card", "network_voucher")):
        table = "gift_card" if position == 0 else "network_voucher"
        before = await last_day(shop, table)
        await reschedule_gift(shop.context, token, position, NEW, later, None)
        assert await queued(shop, kind) == {(NEW, moment(later), 1), (BUYER_EMAIL, moment(later), 1)}
        assert (await last_day(shop, table) - before).days in range(58, 63)
        assert await shop.one("SELECT count(*) FROM event WHERE type = :type", type=f"{kind}.extended") == 1


# ---- the validity


async def test_its_validity_counts_from_the_new_day(shop: Shop) -> None:
    token, farthest = await card_waits(shop), days_ahead(200)
    for day in (farthest, days_ahead(2), farthest, days_ahead(3)):
        await reschedule_gift(shop.context, token, 0, GIFTEE.email, day, None)
        end = await last_day(shop)
        assert (end.year - farthest.year, end.month) == (1, farthest.month), "never earlier, and never later than that"
    assert await shop.one("SELECT count(*) FROM event WHERE type = 'gift_card.extended'") == 1


async def test_a_coupons_period_counts_from_the_new_day(shop: Shop) -> None:
    await sale_coupon(shop, new_validity_period="P90D")
    token = await ordered(shop, card_of("50.00", giftee=GIFTEE, send_on=days_ahead(30)), codes=("SPA10",))
    await reschedule_gift(shop.context, token, 0, GIFTEE.email, days_ahead(60), None)
    assert await last_day(shop) == days_ahead(60) + dt.timedelta(days=90)


@pytest.mark.parametrize("days", [300, 50])
async def test_a_coupons_last_day_stays(shop: Shop, days: int) -> None:
    last = days_ahead(days)
    await sale_coupon(shop, new_validity_period=last.isoformat())
    token = await ordered(shop, card_of("50.00", giftee=GIFTEE, send_on=days_ahead(30)), codes=("SPA10",))
    await reschedule_gift(shop.context, token, 0, GIFTEE.email, days_ahead(60), None)
    assert await last_day(shop) == last


async def test_what_staff_have_extended_is_not_shortened(shop: Shop) -> None:
    token = await card_waits(shop)
    extended = dt.datetime.combine(days_ahead(900), dt.time(23, 59, 59), PARIS)
    await shop.execute("UPDATE gift_card SET expires_on = :end", end=extended)
    await send_gift_now(shop.context, token, 0, GIFTEE.email)
    assert await last_day(shop) == extended.date()


async def test_it_does_not_end_earlier_after_the_seller_has_shortened_it(shop: Shop, sold: Experiences) -> None:
    token = await ordered(shop, for_two(sold, send_on=days_ahead(30)))
    before = await last_day(shop, "voucher")
    await shop.execute("UPDATE voucher_prototype SET validity_months = 3")
    for days in (100, 20, 100):
        await reschedule_gift(shop.context, token, 0, GIFTEE.email, days_ahead(days), None)
        assert await last_day(shop, "voucher") == before


async def test_what_never_ends_goes_on_so(shop: Shop) -> None:
    token = await card_waits(shop)
    await shop.execute("UPDATE gift_card SET expires_on = NULL")
    await reschedule_gift(shop.context, token, 0, GIFTEE.email, days_ahead(60), None)
    assert await columns(shop, "gift_card", "expires_on") == [(None,)]


# ---- now


async def test_it_is_sent_now_and_ends_as_before(shop: Shop) -> None:
    token = await card_waits(shop, 90)
    before = await last_day(shop)
    await send_gift_now(shop.context, token, 0, GIFTEE.email)
    assert await last_day(shop) == before
    page = await find_order_page(shop.context, token)
    item = page.lines[0].issued_item
    assert item is not None
    assert (item.send_on, item.is_waiting, item.is_sendable) == (None, False, True)
    await resend_gift(shop.context, token, 0, NEW)


@pytest.mark.parametrize("attempt", range(3))
async def test_ten_days_at_once_leave_one(shop: Shop, attempt: int) -> None:
    token = await card_waits(shop)
    moves = [reschedule_gift(shop.context, token, 0, GIFTEE.email, days_ahead(40 + n), None) for n in range(10)]
    await asyncio.gather(*moves)
    (at,) = (await columns(shop, "gift_card", "send_on"))[0]
    assert await queued(shop) == {(GIFTEE.email, at, 1), (BUYER_EMAIL, at, 1)}


# ---- what is refused


@pytest.mark.parametrize(
    "change",
    [
        "status = 'cncld'",
        "status = 'used', remaining_amount = 0",
        "status = 'using', remaining_amount = 49.99",
        "frozen_on = now()",
        "status = 'exprd'",
        "expires_on = now() - interval '1 day'",
    ],
)
async def test_what_is_used_or_gone_stays(shop: Shop, change: str) -> None:
    token = await card_waits(shop)
    await shop.execute(f"UPDATE gift_card SET {change}")  # noqa: S608
    before = await queued(shop)
    with pytest.raises(GiftNotWaiting):
        await send_gift_now(shop.context, token, 0, NEW)
    with pytest.raises(GiftNotWaiting):
        await reschedule_gift(shop.context, token, 0, NEW, days_ahead(60), None)
    assert await queued(shop) == before
    assert await shop.one("SELECT giftee_email FROM gift_card") == GIFTEE.email


@pytest.mark.parametrize(
    ("email", "days", "time", "places"),
    [
        (GIFTEE.email, -1, None, ["send_on"]),
        (GIFTEE.email, 366, None, ["send_on"]),
        (GIFTEE.email, 0, dt.time(0), ["send_at"]),
        (GIFTEE.email, None, None, ["send_on"]),
        ("x", 366, None, ["email", "send_on"]),
        ("", 60, None, ["email"]),
    ],
)
async def test_what_is_wrong_is_told_at_its_field(
    shop: Shop, email: str, days: int | None, time: dt.time | None, places: list[str]
) -> None:
    token = await card_waits(shop)
    day = None if days is None else days_ahead(days)
    with pytest.raises(InvalidInput) as refused:
        await reschedule_gift(shop.context, token, 0, email, day, time)
    assert [problem.path for problem in refused.value.problems] == [(place,) for place in places]
    assert await columns(shop, "gift_card", "send_on", "giftee_email") == [(moment(days_ahead(30)), GIFTEE.email)]


@pytest.mark.parametrize("day", [dt.date.min, dt.date.max])
async def test_a_day_at_the_end_of_time_is_refused(shop: Shop, day: dt.date) -> None:
    token = await card_waits(shop)
    with pytest.raises(InvalidInput):
        await reschedule_gift(shop.context, token, 0, GIFTEE.email, day, dt.time(23, 59))


async def test_the_farthest_day_is_taken(shop: Shop) -> None:
    """It is within a year of the order: a present cannot be put off for ever, and its validity with it."""
    token, farthest = await card_waits(shop, 300), days_ahead(365)
    await reschedule_gift(shop.context, token, 0, GIFTEE.email, farthest, None)
    clock.advance(dt.timedelta(days=200))
    with pytest.raises(InvalidInput) as refused:
        await reschedule_gift(shop.context, token, 0, GIFTEE.email, farthest + dt.timedelta(days=2), None)
    assert [(each.path, each.code) for each in refused.value.problems] == [(("send_on",), "OUT_OF_RANGE")]
    await reschedule_gift(shop.context, token, 0, NEW, farthest, None)


async def test_what_is_no_present_is_not_found(shop: Shop) -> None:
    token = await card_waits(shop)
    for position in (1, 10**6):
        with pytest.raises(NotFound):
            await send_gift_now(shop.context, token, position, NEW)
    with pytest.raises(NotFound):
        await send_gift_now(shop.context, f"{token}x", 0, NEW)

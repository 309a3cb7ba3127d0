"""Presents that their buyers send again: each to one address, however often the button is pressed."""

import asyncio
import dataclasses
import datetime as dt
from zoneinfo import ZoneInfo

import pytest

from resolvers.order.gifts import resend_gift
from resolvers.order.page import find_order_page
from resolvers.payment.refunds.order_refunds import refund_order
from schema.core.errors import InvalidInput, NotFound
from schema.coupon.coupon import ReceptionMode
from store.core.clock import clock
from tests.fixtures.basket import GIFTEE, Experiences, bought, card_of, columns, for_two
from tests.fixtures.network_sale import NetworkGoods, network_goods
from tests.fixtures.payment.order_refund import refund_wish
from tests.fixtures.shop import Shop


async def token_of(shop: Shop, *choices: object, **more: object) -> str:
    """The token of the page of an order that is e-mailed to the giftees."""
    outcome = await bought(shop, *choices, reception=ReceptionMode.GIFTEE_EMAIL, **more)  # type: ignore[arg-type]
    return outcome.order_path.split("/")[2]


async def recipients(shop: Shop, kind: str) -> list[str]:
    found = await shop.one("SELECT json_agg(recipient ORDER BY id) FROM mail WHERE kind = :kind", kind=kind)
    return list(found or [])


async def test_ten_at_once_send_one(shop: Shop) -> None:
    token = await token_of(shop, card_of("50.00", giftee=GIFTEE))
    before = await recipients(shop, "gift_card")
    await asyncio.gather(*(resend_gift(shop.context, token, 0, "new@example.com") for _ in range(10)))
    assert await recipients(shop, "gift_card") == [*before, "new@example.com", "ada@example.com"]
    assert await shop.one("SELECT giftee_email FROM gift_card") == "new@example.com"


async def test_a_card_that_is_spent_from_stays_where_it_is(shop: Shop) -> None:
    token = await token_of(shop, card_of("50.00", giftee=GIFTEE))
    await shop.execute("UPDATE gift_card SET remaining_amount = 49.99, status = 'using'")
    with pytest.raises(NotFound):
        await resend_gift(shop.context, token, 0, "new@example.com")
    assert await shop.one("SELECT giftee_email FROM gift_card") == GIFTEE.email


async def test_what_is_the_networks_is_sent_again_by_the_network(shop: Shop) -> None:
    goods: NetworkGoods = await network_goods(shop)
    token = await token_of(shop, goods.cards("50.00", giftee=GIFTEE), goods.boxes(giftee=GIFTEE))
    for position, kind in enumerate(("network_gift_card", "network_voucher")):
        before = await recipients(shop, kind)
        await resend_gift(shop.context, token, position, "new@example.com")
        assert await recipients(shop, kind) == [*before, "new@example.com", "ada@example.com"]


async def test_what_waits_for_its_day_is_not_sent_before(shop: Shop) -> None:
    goods = await network_goods(shop)
    day = clock.now().date() + dt.timedelta(days=10)
    token = await token_of(shop, goods.cards("50.00", giftee=GIFTEE, send_on=day))
    with pytest.raises(NotFound):
        await resend_gift(shop.context, token, 0, "new@example.com")
    clock.advance(dt.timedelta(days=12))
    await resend_gift(shop.context, token, 0, "new@example.com")


@pytest.mark.parametrize("attempt", range(5))
async def test_sent_again_while_it_is_refunded_it_goes_nowhere_or_before(shop: Shop, attempt: int) -> None:
    """Each waits for the other, and neither for both: the refund is made, and what it withdraws is sent no more."""
    token = await token_of(shop, card_of("50.00", giftee=GIFTEE), card_of("60.00", giftee=GIFTEE))
    wish = await refund_wish(shop, 0, 1)
    sent, refunded, late = await asyncio.gather(
        resend_gift(shop.context, token, 0, "new@example.com"),
        refund_order(shop.manager, wish),
        resend_gift(shop.context, token, 1, "new@example.com"),
        return_exceptions=True,
    )
    assert not isinstance(refunded, BaseException)
    assert all(result is None or isinstance(result, NotFound) for result in (sent, late))
    assert await shop.one("SELECT count(*) FROM refund") == 1
    assert await shop.one("SELECT array_agg(DISTINCT status) FROM gift_card") == ["cncld"]
    for position in (0, 1):
        with pytest.raises(NotFound):
            await resend_gift(shop.context, token, position, "new@example.com")


async def test_presents_of_one_order_are_sent_each_at_its_time(shop: Shop) -> None:
    await shop.execute("UPDATE marketplace SET time_zone = 'Europe/Paris'")
    zone, day = ZoneInfo("Europe/Paris"), clock.now().date() + dt.timedelta(days=40)
    evening = {"send_on": day, "send_at": dt.time(18, 30)}
    other = dataclasses.replace(GIFTEE, email="other@example.com")
    chosen = (
        card_of("50.00", giftee=GIFTEE, **evening),
        card_of("60.00", giftee=GIFTEE, send_on=day),
        card_of("70.00", giftee=other),
    )
    token = await token_of(shop, *chosen)
    page = await find_order_page(shop.context, token)
    sending = [line.issued_item.send_on for line in page.lines if line.issued_item]
    at = dt.datetime.combine(day, dt.time(18, 30), zone)
    assert sending == [at, at.replace(hour=8, minute=0), None]
    mails = await columns(shop, "mail", "recipient", "due_on", "jsonb_array_length(content -> 'items')")
    presents = {(to, due) for to, due, count in mails if count == 1}
    assert {(GIFTEE.email, at), (GIFTEE.email, sending[1]), ("ada@example.com", at)} <= presents
    ends = dict(await columns(shop, "gift_card", "value_amount::int", "(expires_on AT TIME ZONE 'Europe/Paris')::date"))
    assert ends[50] == ends[60] > ends[70], "they are valid from the day on which they are sent"


async def test_only_what_is_mailed_to_a_giftee_waits(shop: Shop, sold: Experiences) -> None:
    day = clock.now().date() + dt.timedelta(days=40)
    await bought(shop, for_two(sold, send_on=day))
    await bought(shop, for_two(sold, send_on=day, self_gifted=True), reception=ReceptionMode.GIFTEE_EMAIL)
    assert await columns(shop, "voucher", "send_on") == [(None,), (None,)]
    waiting = "SELECT count(*) FROM mail WHERE due_on > now() + interval '1 day'"
    assert await shop.one(waiting) == 0
    await bought(shop, for_two(sold, send_on=day), reception=ReceptionMode.GIFTEE_EMAIL)
    assert await shop.one(waiting) == 2, "the present, and the message that it was sent"
    (first, _, last) = await columns(shop, "voucher", "expires_on")
    assert last[0] - first[0] > dt.timedelta(days=35)


@pytest.mark.parametrize(
    ("days", "time", "place"),
    [(-1, None, "send_on"), (366, None, "send_on"), (0, dt.time(0), "send_at")],
)
async def test_a_time_that_is_over_or_far_away_is_refused(
    shop: Shop, days: int, time: dt.time | None, place: str
) -> None:
    await shop.execute("UPDATE marketplace SET time_zone = 'UTC'")
    day = clock.now().date() + dt.timedelta(days=days)
    with pytest.raises(InvalidInput) as refused:
        await bought(shop, card_of("50.00", giftee=GIFTEE, send_on=day, send_at=time))
    assert [problem.path for problem in refused.value.problems] == [(place,)]
    assert await shop.count("checkout_attempt") == 0

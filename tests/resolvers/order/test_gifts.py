"""Presents that their buyers send again: each to one address, however often the button is pressed."""

import asyncio
import datetime as dt

import pytest

from resolvers.order.gifts import send_gift
from resolvers.payment.refunds.order_refunds import refund_order
from schema.core.errors import NotFound
from schema.coupon.coupon import ReceptionMode
from store.core.clock import clock
from tests.fixtures.basket import GIFTEE, bought, card_of
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
    await asyncio.gather(*(send_gift(shop.context, token, 0, "new@example.com") for _ in range(10)))
    assert await recipients(shop, "gift_card") == [*before, "new@example.com", "ada@example.com"]
    assert await shop.one("SELECT giftee_email FROM gift_card") == "new@example.com"


async def test_a_card_that_is_spent_from_stays_where_it_is(shop: Shop) -> None:
    token = await token_of(shop, card_of("50.00", giftee=GIFTEE))
    await shop.execute("UPDATE gift_card SET remaining_amount = 49.99, status = 'using'")
    with pytest.raises(NotFound):
        await send_gift(shop.context, token, 0, "new@example.com")
    assert await shop.one("SELECT giftee_email FROM gift_card") == GIFTEE.email


async def test_what_is_the_networks_is_sent_again_by_the_network(shop: Shop) -> None:
    goods: NetworkGoods = await network_goods(shop)
    token = await token_of(shop, goods.cards("50.00", giftee=GIFTEE), goods.boxes(giftee=GIFTEE))
    for position, kind in enumerate(("network_gift_card", "network_voucher")):
        before = await recipients(shop, kind)
        await send_gift(shop.context, token, position, "new@example.com")
        assert await recipients(shop, kind) == [*before, "new@example.com", "ada@example.com"]


async def test_what_waits_for_its_day_is_not_sent_before(shop: Shop) -> None:
    goods = await network_goods(shop)
    day = clock.now().date() + dt.timedelta(days=10)
    token = await token_of(shop, goods.cards("50.00", giftee=GIFTEE, send_on=day))
    with pytest.raises(NotFound):
        await send_gift(shop.context, token, 0, "new@example.com")
    clock.advance(dt.timedelta(days=12))
    await send_gift(shop.context, token, 0, "new@example.com")


@pytest.mark.parametrize("attempt", range(5))
async def test_sent_again_while_it_is_refunded_it_goes_nowhere_or_before(shop: Shop, attempt: int) -> None:
    """Each waits for the other, and neither for both: the refund is made, and what it withdraws is sent no more."""
    token = await token_of(shop, card_of("50.00", giftee=GIFTEE), card_of("60.00", giftee=GIFTEE))
    wish = await refund_wish(shop, 0, 1)
    sent, refunded, late = await asyncio.gather(
        send_gift(shop.context, token, 0, "new@example.com"),
        refund_order(shop.manager, wish),
        send_gift(shop.context, token, 1, "new@example.com"),
        return_exceptions=True,
    )
    assert not isinstance(refunded, BaseException)
    assert all(result is None or isinstance(result, NotFound) for result in (sent, late))
    assert await shop.one("SELECT count(*) FROM refund") == 1
    assert await shop.one("SELECT array_agg(DISTINCT status) FROM gift_card") == ["cncld"]
    for position in (0, 1):
        with pytest.raises(NotFound):
            await send_gift(shop.context, token, position, "new@example.com")

"""Orders that several members of staff move at once, or that are refunded meanwhile."""

import asyncio
from collections import Counter
from collections.abc import Awaitable
from typing import Any

from resolvers.order.fulfilment import cancel_order_fulfilment, mark_order_collected, mark_order_sent
from resolvers.payment.refunds.order_refunds import refund_order
from schema.core.errors import InvalidTransition
from schema.order.input import CancelOrderFulfilment, MarkOrderCollected, MarkOrderSent
from tests.fixtures.basket import columns
from tests.fixtures.payment.dispute import books_are_right
from tests.fixtures.payment.order_refund import refund_wish
from tests.fixtures.shop import Shop
from tests.resolvers.order.test_fulfilment import COLLECT, SEND, events, mail_kinds, to_fulfil

REFUSED = InvalidTransition.__name__


async def outcomes(*calls: Awaitable[Any]) -> list[str]:
    ended = await asyncio.gather(*calls, return_exceptions=True)
    return [type(each).__name__ if isinstance(each, BaseException) else "done" for each in ended]


async def test_twenty_at_once_send_it_once(shop: Shop) -> None:
    id = await to_fulfil(shop, SEND)
    ended = await outcomes(*(mark_order_sent(shop.manager, MarkOrderSent(id=id, carrier="X")) for _ in range(20)))
    assert ended == ["done"] * 20
    assert (len(await events(shop)), await mail_kinds(shop)) == (1, ["order_sent"])


async def test_it_is_collected_or_cancelled(shop: Shop) -> None:
    id = await to_fulfil(shop, COLLECT)
    calls = [
        call
        for _ in range(8)
        for call in (
            mark_order_collected(shop.manager, MarkOrderCollected(id=id)),
            cancel_order_fulfilment(shop.manager, CancelOrderFulfilment(id=id)),
        )
    ]
    ended = await outcomes(*calls)
    ((state,),) = await columns(shop, "shop_order", "fulfilment_state")
    won, lost = (ended[::2], ended[1::2]) if state == "collected" else (ended[1::2], ended[::2])
    assert (Counter(won), Counter(lost)) == ({"done": 8}, {REFUSED: 8})
    assert [one["state"] for one in await events(shop)] == [state]


async def test_it_is_sent_before_its_refund_or_not_at_all(shop: Shop) -> None:
    for _ in range(6):
        id = await to_fulfil(shop, SEND)
        wish = await refund_wish(shop, 0, include_delivery=True)
        sent, back = await outcomes(
            mark_order_sent(shop.manager, MarkOrderSent(id=id)), refund_order(shop.manager, wish)
        )
        assert back == "done"
        state = await shop.one("SELECT fulfilment_state FROM shop_order WHERE id = :id", id=id)
        assert (sent, state) in {("done", "sent"), (REFUSED, "cancelled")}
    assert len(await mail_kinds(shop)) == await shop.one(
        "SELECT count(*) FROM shop_order WHERE fulfilment_state = 'sent'"
    )
    await books_are_right(shop)

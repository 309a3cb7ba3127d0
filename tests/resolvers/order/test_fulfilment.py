"""The fulfilment of orders: the moves that staff make, what the buyer is told, and what refunds do to it."""

import datetime as dt
from typing import Any

import pytest
from pydantic import ValidationError
from sqlalchemy import text

from resolvers.core.lists.listing import PageArguments
from resolvers.order import fulfilment, orders
from resolvers.order.orders import OrderFilter
from resolvers.order.page import find_order_page
from resolvers.payment.refunds.order_refunds import preview_order_refund
from resolvers.payment.refunds.refunds import refund_payment
from schema.checkout.checkout import ProductChoice
from schema.core.errors import InvalidTransition
from schema.coupon.coupon import ReceptionMode
from schema.delivery.delivery import DeliveryKind
from schema.event import EventType
from schema.order.errors import NothingToFulfil
from schema.order.fulfilment import FulfilmentState as State
from schema.order.input import (
    CancelOrderFulfilment,
    MarkOrderCollected,
    MarkOrderDelivered,
    MarkOrderReady,
    MarkOrderSent,
    ReopenOrderFulfilment,
)
from schema.order.page_fulfilment import OrderPageFulfilment
from schema.payment.input import PreviewOrderRefund, RefundPayment
from store.core.clock import clock
from store.order.links import order_path
from store.order.orders import OrderRow
from tests.fixtures.basket import Experiences, bought, columns, for_two
from tests.fixtures.payment.order_refund import ordered, refund_wish, refunded
from tests.fixtures.shop import Shop

COLLECT, SEND = DeliveryKind.CLICK_AND_COLLECT, DeliveryKind.HOME_DELIVERY
URL = "https://carrier.example/6A1"
MOVES: dict[State, tuple[Any, Any]] = {
    State.READY_TO_COLLECT: (fulfilment.mark_order_ready, MarkOrderReady),
    State.COLLECTED: (fulfilment.mark_order_collected, MarkOrderCollected),
    State.SENT: (fulfilment.mark_order_sent, MarkOrderSent),
    State.DELIVERED: (fulfilment.mark_order_delivered, MarkOrderDelivered),
    State.CANCELLED: (fulfilment.cancel_order_fulfilment, CancelOrderFulfilment),
    State.TO_PREPARE: (fulfilment.reopen_order_fulfilment, ReopenOrderFulfilment),
}
ALLOWED = {
    COLLECT: {
        State.TO_PREPARE: {State.READY_TO_COLLECT, State.COLLECTED, State.CANCELLED},
        State.READY_TO_COLLECT: {State.COLLECTED, State.CANCELLED},
        State.COLLECTED: set[State](),
        State.CANCELLED: {State.TO_PREPARE},
    },
    SEND: {
        State.TO_PREPARE: {State.SENT, State.CANCELLED},
        State.SENT: {State.DELIVERED},
        State.DELIVERED: set[State](),
        State.CANCELLED: {State.TO_PREPARE},
    },
}
MAILS = {State.READY_TO_COLLECT: "order_ready", State.SENT: "order_sent", State.CANCELLED: "order_cancelled"}


async def to_fulfil(shop: Shop, kind: DeliveryKind, quantity: int = 2) -> int:
    """An order of candles, paid by card; answers its id."""
    candle = await shop.product("20.00", weight_grams=300)
    await ordered(shop, ProductChoice(candle.id, quantity), delivery=kind)
    return int(await shop.one("SELECT max(id) FROM shop_order"))


async def move(shop: Shop, id: int, state: State, **more: Any) -> OrderRow:
    resolver, wish = MOVES[state]
    row = await resolver(shop.manager, wish(id=id, **more))
    assert isinstance(row, OrderRow)
    return row


async def mail_kinds(shop: Shop) -> list[str]:
    """The kinds of mail about fulfilment, in their order."""
    found = await columns(shop, "mail", "kind")
    return [kind for (kind,) in found if kind in MAILS.values()]


async def events(shop: Shop) -> list[dict[str, Any]]:
    statement = text("SELECT data FROM event WHERE type = :type ORDER BY id")
    return [row[0] for row in await shop.services.db.rows(statement, {"type": EventType.ORDER_FULFILMENT_CHANGED})]


async def seen_by_buyer(shop: Shop, id: int) -> OrderPageFulfilment | None:
    uuid = await shop.one("SELECT uuid FROM shop_order WHERE id = :id", id=id)
    page = await find_order_page(shop.context, order_path(shop.services.settings, uuid).split("/")[2])
    return page.fulfilment


# ---- moves


@pytest.mark.parametrize("new", MOVES)
@pytest.mark.parametrize(("kind", "old"), [(kind, old) for kind, states in ALLOWED.items() for old in states])
async def test_a_move_is_made_or_refused_and_a_second_one_changes_nothing(
    shop: Shop, kind: DeliveryKind, old: State, new: State
) -> None:
    id = await to_fulfil(shop, kind)
    await shop.execute("UPDATE shop_order SET fulfilment_state = :old", old=old.value)
    if new is old:
        assert (await move(shop, id, new)).fulfilment_state is old
    elif new in ALLOWED[kind][old]:
        for _ in range(2):
            assert (await move(shop, id, new)).fulfilment_state is new
    else:
        with pytest.raises(InvalidTransition):
            await move(shop, id, new)
    moved = new is not old and new in ALLOWED[kind][old]
    assert await columns(shop, "shop_order", "fulfilment_state") == [(new.value if moved else old.value,)]
    assert await mail_kinds(shop) == ([MAILS[new]] if moved and new in MAILS else [])
    assert [(one["old_state"], one["state"]) for one in await events(shop)] == ([(old, new)] if moved else [])


async def test_an_order_begins_to_be_prepared_and_keeps_the_times_of_its_moves(shop: Shop) -> None:
    id = await to_fulfil(shop, COLLECT)
    assert await columns(shop, "shop_order", "fulfilment_state") == [("to_prepare",)]
    ready = (await move(shop, id, State.READY_TO_COLLECT)).fulfilment_ready_on
    clock.advance(dt.timedelta(hours=5))
    order = await move(shop, id, State.COLLECTED)
    assert ready is not None
    assert order.fulfilment_collected_on is not None
    assert order.fulfilment_ready_on == ready
    assert dt.timedelta(hours=5) <= order.fulfilment_collected_on - ready < dt.timedelta(hours=5, minutes=1)


async def test_a_reopened_order_forgets_its_times(shop: Shop) -> None:
    id = await to_fulfil(shop, COLLECT)
    for state in (State.READY_TO_COLLECT, State.CANCELLED, State.TO_PREPARE):
        order = await move(shop, id, state)
    assert (order.fulfilment_ready_on, order.fulfilment_cancelled_on) == (None, None)


async def test_a_parcel_is_sent_with_what_is_known_and_corrected(shop: Shop) -> None:
    id = await to_fulfil(shop, SEND)
    await move(shop, id, State.SENT)
    order = await move(shop, id, State.SENT, carrier=" Colissimo ", tracking_url=URL)
    assert (order.fulfilment_carrier, order.fulfilment_tracking_number, order.fulfilment_tracking_url) == (
        *("Colissimo", None),
        URL,
    )
    await move(shop, id, State.SENT, carrier="Colissimo")
    await move(shop, id, State.SENT, tracking_number="6A1")
    assert await mail_kinds(shop) == ["order_sent"] * 3
    assert [(one["old_state"], one["state"], one["tracking_number"]) for one in await events(shop)] == [
        ("to_prepare", "sent", None),
        ("sent", "sent", None),
        ("sent", "sent", "6A1"),
    ]
    content = await shop.one("SELECT content FROM mail WHERE kind = 'order_sent' ORDER BY id DESC LIMIT 1")
    assert (content["carrier"], content["tracking_number"], content["tracking_url"]) == ("Colissimo", "6A1", URL)
    assert [line["quantity"] for line in content["lines"]] == [2]


async def test_a_delivered_parcel_is_not_sent_again(shop: Shop) -> None:
    id = await to_fulfil(shop, SEND)
    await move(shop, id, State.SENT)
    await move(shop, id, State.DELIVERED)
    with pytest.raises(InvalidTransition):
        await move(shop, id, State.SENT, carrier="Other")
    assert await columns(shop, "shop_order", "fulfilment_carrier") == [(None,)]


@pytest.mark.parametrize("url", ["http://carrier.example/", "javascript:alert(1)", "carrier.example", "https://"])
def test_the_link_of_a_carrier_is_https(url: str) -> None:
    with pytest.raises(ValidationError):
        MarkOrderSent(id=1, tracking_url=url)


async def test_what_is_sent_by_e_mail_has_no_fulfilment(shop: Shop, sold: Experiences) -> None:
    await bought(shop, for_two(sold))
    id = await shop.one("SELECT id FROM shop_order")
    for state in MOVES:
        with pytest.raises(NothingToFulfil):
            await move(shop, id, state)
    assert await columns(shop, "shop_order", "fulfilment_state") == [(None,)]
    assert await seen_by_buyer(shop, id) is None
    assert (await mail_kinds(shop), await events(shop)) == ([], [])


async def test_vouchers_by_post_are_sent_with_their_order(shop: Shop, sold: Experiences) -> None:
    await bought(shop, for_two(sold), reception=ReceptionMode.EXPEDITION)
    id = await shop.one("SELECT id FROM shop_order")
    assert await columns(shop, "voucher", "expedition_status") == [("to_send",)]
    await move(shop, id, State.SENT)
    assert await columns(shop, "voucher", "expedition_status", "expedition_date IS NOT NULL") == [("sent", True)]


async def test_a_refunded_voucher_is_not_sent_with_the_others(shop: Shop, sold: Experiences) -> None:
    await bought(shop, for_two(sold), for_two(sold), reception=ReceptionMode.EXPEDITION)
    id = await shop.one("SELECT id FROM shop_order")
    await refunded(shop, (0, 1))
    await move(shop, id, State.SENT)
    states = await columns(shop, "voucher", "expedition_status", "refunded_on IS NOT NULL")
    assert sorted(states) == [("sent", False), ("to_send", True)]


# ---- the list


async def test_orders_are_listed_by_their_state(shop: Shop) -> None:
    first, second = await to_fulfil(shop, COLLECT), await to_fulfil(shop, SEND)
    await move(shop, second, State.SENT)
    for state, expected in ((State.TO_PREPARE, [first]), (State.SENT, [second]), (State.DELIVERED, [])):
        found = await orders.orders(shop.manager, PageArguments(), OrderFilter(fulfilment_state=state))
        assert [row.id for row in await found.rows.objects()] == expected


# ---- refunds


async def test_a_refund_of_all_cancels_what_is_not_handed_over(shop: Shop) -> None:
    id = await to_fulfil(shop, COLLECT)
    await move(shop, id, State.READY_TO_COLLECT)
    await refunded(shop, (0, 1))
    assert await columns(shop, "shop_order", "fulfilment_state") == [("ready_to_collect",)]
    await refunded(shop, 0)
    assert await columns(shop, "shop_order", "fulfilment_state", "status") == [("cancelled", "paid")]
    assert await mail_kinds(shop) == ["order_ready"], "the mail about the refund says it"
    with pytest.raises(NothingToFulfil):
        await move(shop, id, State.TO_PREPARE)


async def test_a_preview_of_a_refund_cancels_nothing(shop: Shop) -> None:
    await to_fulfil(shop, COLLECT)
    wish = PreviewOrderRefund(**(await refund_wish(shop, 0)).model_dump())
    await preview_order_refund(shop.manager, wish)
    assert await columns(shop, "shop_order", "fulfilment_state") == [("to_prepare",)]


async def test_a_refund_of_the_whole_payment_cancels_and_tells(shop: Shop) -> None:
    await to_fulfil(shop, SEND)
    ((payment, amount),) = await columns(shop, "payment", "id", "payment_amount")
    await refund_payment(shop.manager, RefundPayment(id=payment, amount=amount))
    assert await columns(shop, "shop_order", "fulfilment_state") == [("cancelled",)]
    assert await mail_kinds(shop) == ["order_cancelled"]
    assert await shop.one("SELECT content->'is_refunded' FROM mail WHERE kind = 'order_cancelled'") is True


async def test_what_is_sent_stays_sent_when_it_is_refunded(shop: Shop) -> None:
    id = await to_fulfil(shop, SEND)
    await move(shop, id, State.SENT)
    await refunded(shop, 0, include_delivery=True)
    assert await columns(shop, "shop_order", "fulfilment_state") == [("sent",)]


# ---- what the buyer sees


async def test_the_page_tells_the_steps(shop: Shop) -> None:
    id = await to_fulfil(shop, COLLECT)
    seen = await seen_by_buyer(shop, id)
    assert seen is not None
    assert [(step.state, step.is_reached, step.is_current) for step in seen.steps] == [
        (State.TO_PREPARE, True, True),
        (State.READY_TO_COLLECT, False, False),
        (State.COLLECTED, False, False),
    ]
    await move(shop, id, State.COLLECTED)
    seen = await seen_by_buyer(shop, id)
    assert seen is not None
    assert [step.state for step in seen.steps] == [State.TO_PREPARE, State.COLLECTED]
    assert seen.moment is not None


async def test_delivery_is_a_step_once_it_is_known(shop: Shop) -> None:
    id = await to_fulfil(shop, SEND)
    await move(shop, id, State.SENT, carrier="Colissimo", tracking_url=URL)
    seen = await seen_by_buyer(shop, id)
    assert seen is not None
    assert [step.state for step in seen.steps] == [State.TO_PREPARE, State.SENT]
    assert (seen.carrier, seen.tracking_number, seen.tracking_url) == ("Colissimo", "", URL)
    await move(shop, id, State.DELIVERED)
    seen = await seen_by_buyer(shop, id)
    assert seen is not None
    assert [step.state for step in seen.steps] == [State.TO_PREPARE, State.SENT, State.DELIVERED]

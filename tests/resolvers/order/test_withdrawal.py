"""What buyers ask for on the page of their order: until when, for which pieces, and what they and the shop are told."""

import datetime as dt
from dataclasses import replace
from decimal import Decimal
from typing import Any
from uuid import UUID
from zoneinfo import ZoneInfo

import pytest

from resolvers.order.page import find_order_page
from resolvers.order.withdrawal import (
    cancel_refund_request,
    find_refund_form,
    find_seller,
    request_refund,
    review_refund_request,
)
from resolvers.voucher.updates import update_voucher
from schema.checkout.checkout import ProductChoice
from schema.core.errors import AppError, InvalidInput, NotFound, TooManyRequests
from schema.delivery.delivery import DeliveryKind
from schema.mail import MailKind
from schema.order.errors import RefundRequested, WithdrawalClosed
from schema.order.page_requests import Obstacle
from schema.voucher.input import UpdateVoucher
from schema.voucher.voucher import VoucherState
from store.core.clock import clock
from store.mail.content import content_of
from store.mail.link_content import RefundRequestContent
from tests.fixtures.basket import Experiences, bought, card_of, columns, for_two
from tests.fixtures.payment.order_refund import ordered, refunded
from tests.fixtures.payment.refund_request import (
    REFUND,
    WITHDRAWAL,
    asked,
    buyer_wish,
    declined,
    mails_of,
    request_events,
    token_of,
)
from tests.fixtures.shop import Shop

CANDLES = 3


async def with_candles(shop: Shop, delivery: DeliveryKind = DeliveryKind.HOME_DELIVERY) -> None:
    """An order of three candles at 20.00, sent for 5.00."""
    await ordered(shop, ProductChoice((await shop.product("20.00")).id, CANDLES), delivery=delivery)


async def refused(shop: Shop, error: type[AppError], *arguments: Any, **more: Any) -> AppError:
    """It is refused by the review too, and changes nothing."""
    before = [await shop.count(table) for table in ("refund_request", "mail", "event")]
    wish = buyer_wish(*arguments, **more)
    with pytest.raises(error):
        await review_refund_request(shop.context, await token_of(shop), wish)
    with pytest.raises(error) as raised:
        await request_refund(shop.context, await token_of(shop), wish)
    assert [await shop.count(table) for table in ("refund_request", "mail", "event")] == before
    return raised.value


# ---- what is asked for


async def test_a_withdrawal_is_kept_told_and_confirmed(shop: Shop) -> None:
    await with_candles(shop)
    id = await asked(shop, {0: 2}, name="  Ada\tMartin ", reason="Too large\r\n", email="ada@other.example")
    request = await columns(
        shop, "refund_request", "id", "kind", "state", "customer_name", "reason", "includes_delivery"
    )
    assert request == [(id, "withdrawal", "pending", "Ada Martin", "Too large", False)]
    assert await columns(shop, "refund_request_line", "quantity") == [(2,)]
    assert await mails_of(shop) == [
        ("request_receipt", "ada@example.com"),
        ("request_receipt", "ada@other.example"),
        ("new_request", shop.partner.agency_email),
    ]
    about = content_of(
        MailKind.REQUEST_RECEIPT, await shop.one("SELECT content FROM mail WHERE kind = 'request_receipt' LIMIT 1")
    )
    assert isinstance(about, RefundRequestContent)
    assert (about.number, about.customer_name, about.lines[0].quantity) == (1, "Ada Martin", 2)
    assert about.requested_on == await shop.one("SELECT requested_on FROM refund_request")
    ((kind, data),) = await request_events(shop)
    assert (kind, data["id"], data["state"], data["lines"][0]["quantity"]) == (
        "refund_request.created",
        id,
        "pending",
        2,
    )
    assert await shop.count("refund") == 0


async def test_all_that_is_left_is_withdrawn_with_its_delivery(shop: Shop) -> None:
    await with_candles(shop)
    await refunded(shop, (0, 1))
    token = await token_of(shop)
    assert (await review_refund_request(shop.context, token, buyer_wish({0: 1}))).amount == Decimal("20.00")
    review = await review_refund_request(shop.context, token, buyer_wish({0: 2}))
    assert (review.amount, review.includes_delivery) == (Decimal("45.00"), True)
    await asked(shop, {0: 2})
    assert await columns(shop, "refund_request", "includes_delivery") == [(True,)]


async def test_no_piece_is_asked_for_twice(shop: Shop) -> None:
    await with_candles(shop)
    await asked(shop, {0: 2})
    await refused(shop, InvalidInput, {0: 2})
    first = await shop.one("SELECT min(id) FROM refund_request")
    await asked(shop, {0: 1})
    await refused(shop, RefundRequested, {0: 1})
    token = await token_of(shop)
    await cancel_refund_request(shop.context, token, first)
    await cancel_refund_request(shop.context, token, first)
    await asked(shop, {0: 2})
    assert await columns(shop, "refund_request", "state") == [("cancelled",), ("pending",), ("pending",)]
    assert [kind for kind, _ in await request_events(shop)].count("refund_request.cancelled") == 1


async def test_what_is_sent_twice_is_one_request(shop: Shop) -> None:
    await with_candles(shop)
    wish, token = buyer_wish({0: 3}), await token_of(shop)
    ids = [await request_refund(shop.context, token, wish) for _ in range(2)]
    assert ids == [await shop.one("SELECT id FROM refund_request")] * 2
    assert len(await mails_of(shop)) == 2


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"name": " "}, ("name", "REQUIRED")),
        ({"name": "x" * 161}, ("name", "TOO_LONG")),
        ({"email": "ada"}, ("email", "INVALID_EMAIL")),
        ({"reason": "x" * 1001}, ("reason", "TOO_LONG")),
        ({"quantities": {0: 0}}, ("lines", "REQUIRED")),
        ({"quantities": {0: -1, 1: 1}}, ("lines", "OUT_OF_RANGE")),
        ({"quantities": {0: 4}}, ("lines", "OUT_OF_RANGE")),
        ({"quantities": {7: 1}}, ("lines", "OUT_OF_RANGE")),
    ],
)
async def test_what_cannot_be_asked_for_is_told_at_its_field(
    shop: Shop, change: dict[str, Any], problem: tuple[str, str]
) -> None:
    await with_candles(shop)
    error = await refused(shop, InvalidInput, **change)
    assert [(each.path[-1], each.code) for each in error.problems] == [problem]


async def test_several_problems_are_told_together(shop: Shop) -> None:
    await with_candles(shop)
    error = await refused(shop, InvalidInput, name="", email="", quantities={0: 0})
    assert [each.path[-1] for each in error.problems] == ["name", "email", "lines"]


async def test_it_is_limited_for_each_order(shop: Shop) -> None:
    await with_candles(shop)
    token = await token_of(shop)
    for _ in range(10):
        await cancel_refund_request(shop.context, token, await asked(shop))
    with pytest.raises(TooManyRequests):
        await asked(shop)


@pytest.mark.parametrize("token", ["x", "", "WyJ4Il0.c2ln"])
async def test_a_forged_link_asks_for_nothing(shop: Shop, token: str) -> None:
    await with_candles(shop)
    for call in (
        find_refund_form(shop.context, token),
        find_seller(shop.context, token),
        review_refund_request(shop.context, token, buyer_wish()),
        request_refund(shop.context, token, buyer_wish()),
        cancel_refund_request(shop.context, token, 1),
    ):
        with pytest.raises(NotFound):
            await call


async def test_a_request_is_taken_back_by_the_link_of_its_order_only(shop: Shop) -> None:
    await with_candles(shop)
    id = await asked(shop)
    await with_candles(shop)
    with pytest.raises(NotFound):
        await cancel_refund_request(shop.context, await token_of(shop), id)
    assert await columns(shop, "refund_request", "state") == [("pending",)]


async def test_an_answer_cannot_be_taken_back(shop: Shop) -> None:
    await with_candles(shop)
    id = await asked(shop)
    await declined(shop, id)
    await cancel_refund_request(shop.context, await token_of(shop), id)
    assert await columns(shop, "refund_request", "state") == [("declined",)]


# ---- until when


PARIS = ZoneInfo("Europe/Paris")
"""Where the marketplace is."""


def coming_monday() -> dt.datetime:
    """Noon of the next Monday in Paris, a day away at least."""
    day = clock.now().astimezone(PARIS).date() + dt.timedelta(days=2)
    return dt.datetime.combine(day + dt.timedelta(days=-day.weekday() % 7), dt.time(12), PARIS)


@pytest.mark.parametrize(
    ("days", "state", "last_day"),
    [
        (14, "to_prepare", None),
        (14, "sent", 21),
        (14, "delivered", 14),
        (4, "delivered", 4),
        (5, "delivered", 7),
        (6, "delivered", 7),
    ],
    ids=["not sent", "a week after it was sent", "delivered", "a Friday", "a Saturday", "a Sunday"],
)
async def test_the_period_of_goods_begins_when_the_buyer_has_them(
    shop: Shop, days: int, state: str, last_day: int | None
) -> None:
    """It ends with a day in Paris, and not on a weekend."""
    await with_candles(shop)
    monday = coming_monday()
    await shop.execute("UPDATE partner SET withdrawal_days = :days", days=days)
    await shop.execute(
        "UPDATE shop_order SET fulfilment_state = :state, fulfilment_sent_on = :at", state=state, at=monday
    )
    if state == "delivered":
        await shop.execute("UPDATE shop_order SET fulfilment_delivered_on = :at", at=monday)
    offer = (await find_refund_form(shop.context, await token_of(shop))).offer
    assert offer is not None
    assert offer.kind is WITHDRAWAL
    day = last_day and monday.date() + dt.timedelta(days=last_day + 1)
    assert offer.ends_on == (day and dt.datetime.combine(day, dt.time(), PARIS))


async def test_the_period_of_vouchers_begins_with_the_contract_and_ends(shop: Shop, sold: Experiences) -> None:
    await bought(shop, for_two(sold))
    token = await token_of(shop)
    offer = (await find_refund_form(shop.context, token)).offer
    assert offer is not None
    assert offer.ends_on is not None
    assert dt.timedelta(days=13) < offer.ends_on - clock.now() < dt.timedelta(days=18)
    clock.advance(offer.ends_on - clock.now() - dt.timedelta(minutes=5))
    assert (await find_refund_form(shop.context, token)).offer == offer
    clock.advance(dt.timedelta(minutes=10))
    assert (await find_refund_form(shop.context, token)).offer is None
    assert (await find_order_page(shop.context, token)).request_offer is None
    await refused(shop, WithdrawalClosed)
    await refused(shop, WithdrawalClosed, kind=REFUND)
    await shop.execute("UPDATE partner SET takes_refund_requests = true")
    await refused(shop, WithdrawalClosed)
    await asked(shop, kind=REFUND)
    assert await columns(shop, "refund_request", "kind", "includes_delivery") == [("refund", False)]


async def test_a_shop_without_a_right_of_withdrawal_has_none(shop: Shop, sold: Experiences) -> None:
    await bought(shop, for_two(sold))
    await shop.execute("UPDATE partner SET withdrawal_days = 0")
    assert (await find_refund_form(shop.context, await token_of(shop))).offer is None
    await refused(shop, WithdrawalClosed)


@pytest.mark.parametrize("status", ["refunded", "disputed", "charged_back"])
async def test_nothing_is_asked_for_of_an_order_whose_money_is_gone(shop: Shop, status: str) -> None:
    await with_candles(shop)
    await shop.execute("UPDATE shop_order SET status = :status", status=status)
    await refused(shop, WithdrawalClosed)


# ---- which pieces


async def test_what_was_used_refunded_or_asked_for_already_says_so(shop: Shop, sold: Experiences) -> None:
    await bought(shop, *(for_two(sold) for _ in range(5)))
    codes = [code for (code,) in await columns(shop, "voucher", "code")]
    await update_voucher(shop.manager, UpdateVoucher(code=codes[0], state=VoucherState.USED))
    await refunded(shop, 1)
    await asked(shop, {2: 1})
    await shop.execute("UPDATE voucher SET expires_on = now() - interval '1 day' WHERE code = :code", code=codes[3])
    form = await find_refund_form(shop.context, await token_of(shop))
    expected = [Obstacle.USED, Obstacle.REFUNDED, Obstacle.REQUESTED, Obstacle.EXPIRED, None]
    assert [line.obstacle for line in form.lines] == expected
    assert [line.quantity for line in form.lines] == [0, 0, 0, 0, 1]
    for at in (0, 1, 3):
        await refused(shop, InvalidInput, {at: 1})
    await refused(shop, RefundRequested, {2: 1})
    await asked(shop, {4: 1})


async def test_a_gift_card_that_was_spent_from_stays_sold(shop: Shop) -> None:
    await bought(shop, card_of("50.00"))
    await shop.execute("UPDATE gift_card SET remaining_amount = 40, status = 'using'")
    form = await find_refund_form(shop.context, await token_of(shop))
    assert [line.obstacle for line in form.lines] == [Obstacle.USED]
    await refused(shop, InvalidInput)


async def test_what_nothing_was_paid_for_is_not_refunded(shop: Shop) -> None:
    free = await shop.product("0.00")
    await ordered(shop, ProductChoice(free.id, 1), ProductChoice((await shop.product("20.00")).id, 1))
    error = await refused(shop, InvalidInput, {0: 1})
    assert [each.code for each in error.problems] == ["NOTHING_TO_REFUND"]


# ---- the page


async def test_the_page_shows_what_was_asked_for_and_answered(shop: Shop) -> None:
    await with_candles(shop)
    id = await asked(shop, {0: 3}, reason="Too large")
    token = await token_of(shop)
    page = await find_order_page(shop.context, token)
    (request,) = page.requests
    assert (request.state, request.reason, request.lines[0][1], page.request_offer) == ("pending", "Too large", 3, None)
    await declined(shop, id, "They were made for you.")
    page = await find_order_page(shop.context, token)
    assert (page.requests[0].state, page.requests[0].answer) == ("declined", "They were made for you.")
    assert page.request_offer is not None, "a declined withdrawal can be sent again"


async def test_the_model_form_names_the_seller(shop: Shop) -> None:
    await with_candles(shop)
    await shop.execute(
        "UPDATE partner SET name = 'Les Bains SARL', hq_address_line_1 = '4 rue des Herbes', hq_postal_code = '69002',"
        " hq_city = 'Lyon', hq_country_code = 'FR'"
    )
    seller = await find_seller(shop.context, await token_of(shop))
    assert (seller.name, seller.address, seller.country) == ("Les Bains SARL", ("4 rue des Herbes", "69002 Lyon"), "FR")


async def test_a_key_of_another_order_is_no_key(shop: Shop) -> None:
    key = UUID(int=7)
    for _ in range(2):
        await with_candles(shop)
        await request_refund(shop.context, await token_of(shop), replace(buyer_wish(), key=key))
    assert await shop.count("refund_request") == 2

"""Lines of a basket that are received in different ways: what each way costs, and what follows from a choice."""

import uuid
from dataclasses import replace
from decimal import Decimal

import pytest

from schema.checkout.basket import BasketChoice, GiftCardChoice, Giftee
from schema.checkout.checkout import ShopKind
from schema.coupon.coupon import ReceptionMode
from schema.delivery.delivery import DeliveryKind
from store.checkout.edits import CheckoutEdits
from store.checkout.pricing.order import PricedOrder, PricingInput, price_order
from store.checkout.quotes import Quote
from tests.store.checkout.baskets import coupon, mode
from tests.store.checkout.test_basket_pricing import TARGETS, basket

PRINT, MAIL, POST, TO_GIFTEE, ON_SITE = (
    ReceptionMode.PRINT_AT_HOME,
    ReceptionMode.GIFTEE_EMAIL,
    ReceptionMode.EXPEDITION,
    ReceptionMode.POSTAL_MAIL_TO_BENEFICIARY,
    ReceptionMode.ON_SITE,
)
HOME = mode(DeliveryKind.HOME_DELIVERY, ("FR", None, "5.00"), ("BE", None, "12.00"), id=1)
EXPRESS = mode(DeliveryKind.HOME_DELIVERY, ("", None, "20.00"), id=2)
COLLECT = mode(DeliveryKind.CLICK_AND_COLLECT, ("", None, "3.00"), id=3)
GRACE = Giftee("Grace", "Hopper", "grace@example.com", "", "2 rue du Lac", "", "1000", "Bruxelles", "BE")


def card(reception: ReceptionMode | None = None) -> GiftCardChoice:
    return GiftCardChoice(Decimal(50), giftee=GRACE, reception=reception)


def asked(
    *receptions: ReceptionMode | None, usual: ReceptionMode | None = PRINT, opened: int | None = None
) -> PricingInput:
    """A basket of gift cards that are received in these ways."""
    priced = basket([card(one) for one in receptions], deliveries=[HOME, EXPRESS, COLLECT], reception=usual)
    return priced if opened is None else replace(priced, open_line=list(priced.choices)[opened])


def prices(result: PricedOrder) -> dict[tuple[ReceptionMode, int | None], str]:
    return {(option.mode, option.delivery_id): str(option.delivery.price) for option in result.receptions}


@pytest.mark.parametrize(
    ("receptions", "kind", "price", "to_giftees"),
    [
        ((None, MAIL), DeliveryKind.DIGITAL, "0.00", False),
        ((MAIL, POST), DeliveryKind.HOME_DELIVERY, "5.00", False),
        ((MAIL, TO_GIFTEE), DeliveryKind.HOME_DELIVERY, "12.00", True),
        ((POST, TO_GIFTEE, TO_GIFTEE), DeliveryKind.HOME_DELIVERY, "17.00", False),
        ((None, ON_SITE), DeliveryKind.CLICK_AND_COLLECT, "3.00", False),
    ],
)
def test_an_order_costs_the_delivery_of_what_is_not_mailed(
    receptions: tuple[ReceptionMode | None, ...], kind: DeliveryKind, price: str, to_giftees: bool
) -> None:
    result = price_order(asked(*receptions))
    delivery = result.delivery
    assert delivery is not None
    assert (delivery.kind, delivery.price, delivery.to_giftees) == (kind, Decimal(price), to_giftees)
    assert (result.totals.delivery, result.ready) == (Decimal(price), True)
    assert result.reception is None, "there is not one way for all"


def test_a_line_costs_what_it_adds_to_the_delivery_of_the_others() -> None:
    alone, beside = price_order(asked(MAIL, opened=0)), price_order(asked(MAIL, POST, opened=0))
    assert prices(alone) == {
        (PRINT, None): "0.00",
        (MAIL, None): "0.00",
        (POST, 1): "5.00",
        (TO_GIFTEE, 1): "12.00",
        (POST, 2): "20.00",
        (TO_GIFTEE, 2): "20.00",
        (ON_SITE, 3): "3.00",
    }
    assert prices(beside) == {
        (PRINT, None): "0.00",
        (MAIL, None): "0.00",
        (POST, 1): "0.00",
        (TO_GIFTEE, 1): "12.00",
        (POST, 2): "15.00",
        (TO_GIFTEE, 2): "35.00",
        (ON_SITE, 3): "0.00",
    }
    moved = {option.delivery_id for option in beside.receptions if option.moves_others}
    assert (moved, {option.moves_others for option in alone.receptions}) == ({2, 3}, {False})
    assert beside.reception is not None
    assert beside.reception.mode is MAIL


def test_while_one_line_has_no_way_the_order_has_no_delivery() -> None:
    result = price_order(asked(POST, None, usual=None))
    assert (result.delivery, result.totals.delivery) == (None, None)


def test_attempts_tell_the_ways_that_differ_from_the_first() -> None:
    for receptions, told in (((None, None), [None, None]), ((MAIL, None, MAIL), [None, PRINT, None])):
        priced = asked(*receptions)
        quote = Quote.of(priced)
        purchases = [line.purchase for line in quote.attempt_lines()]
        assert [bought.reception for bought in purchases if bought] == told
        assert quote.reception is (receptions[0] or PRINT)


def test_a_coupon_for_a_way_is_for_the_lines_that_go_it() -> None:
    posted = coupon(targets=TARGETS, percentage="10", reception_modes=[POST, TO_GIFTEE])
    result = price_order(replace(asked(POST, MAIL, TO_GIFTEE), codes=[posted]))
    assert result.reduction.by_line == (Decimal("5.00"), Decimal("0.00"), Decimal("5.00"))
    mailed = price_order(replace(asked(MAIL, PRINT), codes=[posted]))
    assert (mailed.reduction.total, mailed.codes[0].applies) == (Decimal(0), False)


# ---- choosing --------------------------------------------------------------------------------------------------------


def test_a_coupon_frees_collecting_only_where_it_is_for_it() -> None:
    frees = coupon(targets=TARGETS, percentage="10", free_click_and_collect=True, reception_modes=[MAIL])
    result = price_order(replace(asked(MAIL, ON_SITE), codes=[frees]))
    assert (result.totals.delivery, result.reduction.total) == (Decimal("3.00"), Decimal("5.00"))
    both = coupon(targets=TARGETS, percentage="10", free_click_and_collect=True, reception_modes=[MAIL, ON_SITE])
    assert price_order(replace(asked(MAIL, ON_SITE), codes=[both])).totals.delivery == Decimal("0.00")


def edits_of(
    *receptions: ReceptionMode | None, usual: ReceptionMode | None = PRINT
) -> tuple[CheckoutEdits, list[uuid.UUID]]:
    lines: dict[uuid.UUID, BasketChoice] = {uuid.uuid4(): card(one) for one in receptions}
    return CheckoutEdits(1, ShopKind.GIFT_CARDS, lines=lines, reception=usual), list(lines)


def ways(edits: CheckoutEdits) -> list[ReceptionMode | None]:
    return [line.reception or edits.reception for line in edits.lines.values()]


def test_a_choice_for_all_replaces_those_of_lines() -> None:
    edits, _ = edits_of(MAIL, None, POST)
    edits.receive(ON_SITE, 3)
    assert (ways(edits), edits.reception, edits.delivery_id) == ([ON_SITE] * 3, ON_SITE, 3)
    assert {line.reception for line in edits.lines.values()} == {None}


def test_a_choice_for_the_only_line_is_that_of_the_lines_to_come() -> None:
    edits, (only,) = edits_of(None, usual=None)
    edits.receive(POST, 1, only)
    assert (edits.reception, edits.delivery_id, edits.lines[only].reception) == (POST, 1, None)


@pytest.mark.parametrize(
    ("before", "chosen", "after"),
    [
        ((None, None), (MAIL, None), [MAIL, PRINT]),
        ((None, POST), (MAIL, None), [MAIL, POST]),
        ((None, TO_GIFTEE), (POST, 1), [POST, TO_GIFTEE]),
        ((None, POST, TO_GIFTEE, MAIL), (ON_SITE, 3), [ON_SITE, ON_SITE, ON_SITE, MAIL]),
        ((None, ON_SITE, None), (TO_GIFTEE, 1), [TO_GIFTEE, TO_GIFTEE, PRINT]),
    ],
)
def test_what_is_posted_or_collected_of_an_order_goes_one_way(
    before: tuple[ReceptionMode | None, ...],
    chosen: tuple[ReceptionMode, int | None],
    after: list[ReceptionMode],
) -> None:
    edits, ids = edits_of(*before)
    edits.delivery_id = 9
    edits.receive(*chosen, ids[0])
    assert ways(edits) == after
    assert edits.delivery_id == (chosen[1] or 9)


def test_what_nobody_has_an_address_for_is_posted_to_its_buyer() -> None:
    edits, (first, second) = edits_of(None, ON_SITE)
    edits.lines[second] = replace(edits.lines[second], giftee=replace(GRACE, city=""))
    edits.receive(POST, 1, first)
    assert ways(edits) == [POST, POST]


def test_the_first_choice_is_that_of_lines_without_one() -> None:
    edits, ids = edits_of(None, None, usual=None)
    edits.receive(MAIL, None, ids[1])
    assert (ways(edits), edits.reception) == ([MAIL, MAIL], MAIL)

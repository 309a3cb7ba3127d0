"""What a basket comes to: whatever is in it, and whatever coupons there are, the sums add up to the cent."""

import uuid
from collections.abc import Sequence
from decimal import Decimal
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from schema.catalogue.prototype import VoucherPrototypeType
from schema.checkout.basket import (
    BasketProblem,
    GiftCardChoice,
    Giftee,
    OfferedOption,
    OfferedOptionCategory,
    OfferedPrototype,
    VoucherChoice,
)
from schema.checkout.gift_card_offer import OfferedGiftCards
from schema.core.text import Text
from schema.coupon.coupon import CouponTarget, ReceptionMode
from schema.delivery.delivery import DeliveryKind
from schema.validation.numbers import LARGEST_AMOUNT
from store.catalogue.offers import ShopPrototype
from store.checkout.offers import ShopDelivery
from store.checkout.pricing.order import PricingInput, price_order
from store.checkout.quotes import Quote
from store.coupon.coupons import CouponRow
from store.gift_card.gift_cards import UsableCard
from store.payment.snapshot import VoucherPurchase
from tests.store.checkout.baskets import card, coupon, mode

OFFER = OfferedGiftCards((), Decimal("10.00"), Decimal("1000.00"), 12)
TARGETS = [CouponTarget.VOUCHERS, CouponTarget.GIFT_CARDS]


def sold(id: int, price: Decimal, option: Decimal, vat: str = "20.00") -> ShopPrototype:
    """A meal for one, at an option's price more with it, and 10.00 for each adult more."""
    extra = OfferedOption(id, Text(en="Wine"), Text(), option, countable=True, default_count=1)
    offered = OfferedPrototype(
        id=id,
        slug=f"meal-{id}",
        type=VoucherPrototypeType.STANDARD,
        name=Text(en="Meal"),
        description=Text(),
        long_description=Text(),
        rent_conditions=Text(),
        how_to_book_html=Text(),
        is_highlight=False,
        universe=Text(),
        price_from=price,
        price_varies=True,
        stay_price=price,
        price_scope=1,
        adults_price=Decimal("10.00"),
        children_price=None,
        baby_price=None,
        min_capacity=1,
        max_capacity=0,
        nb_nights=0,
        fewest_nights=1,
        most_nights=365,
        validity_months=12,
        last_active_day=None,
        pictures=(),
        categories=(OfferedOptionCategory(None, Text(), Text(), 0, None, (extra,)),),
        included=(),
    )
    return ShopPrototype(offered, True, Decimal(vat))


def basket(
    choices: Sequence[VoucherChoice | GiftCardChoice],
    prototypes: Sequence[ShopPrototype] = (),
    codes: Sequence[CouponRow | UsableCard] = (),
    deliveries: Sequence[ShopDelivery] = (),
    reception: ReceptionMode | None = ReceptionMode.PRINT_AT_HOME,
    **more: Any,
) -> PricingInput:
    """A basket of a buyer in France."""
    values: dict[str, Any] = {
        "delivery_id": None,
        "country": "FR",
        "email": "ada@example.com",
        "currency": "EUR",
        "gift_cards": OFFER,
        **more,
    }
    return PricingInput(
        choices={uuid.uuid4(): choice for choice in choices},
        prototypes={prototype.offered.id: prototype for prototype in prototypes},
        deliveries=deliveries,
        reception=reception,
        codes=codes,
        **values,
    )


def test_free_collection_and_a_price_of_two_letters() -> None:
    home = mode(DeliveryKind.HOME_DELIVERY, ("FR", None, "5.00"), ("BE", None, "12.00"), id=1)
    collect = mode(DeliveryKind.CLICK_AND_COLLECT, ("", None, "3.00"), id=2)
    to = [Giftee("A", "B", "", "", "1", "", "2", "C", country) for country in ("FR", "BE", "FR")]
    choices = [GiftCardChoice(Decimal(50), giftee=giftee) for giftee in to]
    by_post = ReceptionMode.POSTAL_MAIL_TO_BENEFICIARY
    posted = price_order(basket(choices, deliveries=[home, collect], reception=by_post))
    assert posted.totals.delivery == Decimal("17.00")  # two go to the same address
    assert [option.mode for option in posted.receptions] == [
        ReceptionMode.PRINT_AT_HOME,
        ReceptionMode.GIFTEE_EMAIL,
        ReceptionMode.EXPEDITION,
        by_post,
        ReceptionMode.ON_SITE,
    ]
    frees = coupon(targets=TARGETS, free_click_and_collect=True)
    on_site = price_order(basket(choices, codes=[frees], deliveries=[home, collect], reception=ReceptionMode.ON_SITE))
    assert (on_site.totals.delivery, on_site.totals.total) == (Decimal(0), Decimal("135.00"))


def test_lines_without_a_price_cost_nothing_and_stand_in_the_way() -> None:
    gone = VoucherChoice(9)
    changed = VoucherChoice(1, children=1)
    result = price_order(basket([gone, changed, VoucherChoice(1)], [sold(1, Decimal("20.00"), Decimal(0))]))
    assert [line.problem for line in result.gifts] == [BasketProblem.NOT_SOLD, BasketProblem.CHOICE_CHANGED, None]
    assert (result.totals.total, result.ready) == (Decimal("20.00"), False)


def test_no_order_and_no_value_is_more_than_an_amount_can_be() -> None:
    half = sold(1, Decimal("5000000000.00"), Decimal("9999999999.99"))
    choices = [VoucherChoice(1), VoucherChoice(1, options={1: 2}), VoucherChoice(1), VoucherChoice(1)]
    result = price_order(basket(choices, [half]))
    much = BasketProblem.TOO_MUCH
    assert [line.problem for line in result.gifts] == [None, much, much, much]
    assert (result.totals.total, result.ready) == (Decimal("5000000000.00"), False)
    doubles = coupon(targets=TARGETS, increases_value=True, amount="5000000000.00")
    raised = price_order(basket(choices[:1], [half], [doubles]))
    assert (raised.gifts[0].value, raised.codes[0].applies) == (Decimal("5000000000.00"), False)
    fits = coupon(targets=TARGETS, increases_value=True, amount="4999999999.99")
    assert price_order(basket(choices[:1], [half], [fits, fits])).gifts[0].value == LARGEST_AMOUNT


money = st.decimals(0, 500, places=2)
vouchers = st.builds(
    VoucherChoice,
    prototype_id=st.integers(1, 3),
    adults=st.integers(1, 4),
    options=st.dictionaries(st.just(0), st.just(0), max_size=0),
)
values = st.builds(GiftCardChoice, value=st.decimals(10, 1000, places=2))
coupons = st.builds(
    lambda number, percentage, amount, more: coupon(
        number, str(percentage), amount=None if amount is None else str(amount), targets=TARGETS, **more
    ),
    st.integers(1, 5),
    st.decimals(0, 100, places=2),
    st.none() | money,
    st.fixed_dictionaries(
        {"increases_value": st.booleans(), "increases_value_repeatedly": st.booleans()},
        optional={"voucher_prototype_ids": st.just([1]), "minimum_product_price_amount": money},
    ),
)


@settings(max_examples=200, deadline=None)
@given(
    st.lists(vouchers, min_size=1, max_size=6)
    | st.lists(values, min_size=1, max_size=6)
    | st.lists(vouchers | values, min_size=2, max_size=6),
    st.lists(st.tuples(money, money), min_size=3, max_size=3),
    st.lists(coupons, max_size=3, unique_by=lambda c: c.id),
    st.lists(
        st.builds(card, st.integers(6, 9), st.decimals(0, 300, places=2).map(str)), max_size=2, unique_by=lambda c: c.id
    ),
    st.integers(0, 2),
)
def test_sums_add_up_to_the_cent(
    choices: list[VoucherChoice | GiftCardChoice],
    prices: list[tuple[Decimal, Decimal]],
    reductions: list[CouponRow],
    cards: list[UsableCard],
    wine: int,
) -> None:
    prototypes = [sold(id, *price) for id, price in enumerate(prices, 1)]
    wanted = [
        VoucherChoice(choice.prototype_id, choice.adults, options={choice.prototype_id: wine})
        if isinstance(choice, VoucherChoice)
        else choice
        for choice in choices
    ]
    asked = basket(wanted, prototypes, [*reductions, *cards])
    quote = Quote.of(asked)
    totals, lines = quote.totals, quote.attempt_lines()
    made = [purchase for line in lines if (purchase := line.voucher or line.gift_card)]
    assert totals.products == sum(line.total for line in lines)
    assert totals.total == totals.products - totals.discount == totals.gift_cards + totals.by_card
    assert sum(each.paid for each in made) == totals.total
    assert sum(code.amount for code in quote.codes) == totals.discount + totals.gift_cards
    assert sum(each.value for each in made) == totals.products + sum(code.added_value for code in quote.codes)
    for line, each in zip(lines, made, strict=True):
        assert 0 <= each.paid <= line.total <= each.value
        if isinstance(each, VoucherPurchase):
            left = each.paid - each.paid_rent  # what is paid for its options
            assert 0 <= each.paid_rent <= each.rent
            assert 0 <= left <= line.total - each.rent
    of_vouchers = sum(each.paid for each in made if isinstance(each, VoucherPurchase))
    assert sum(vat.gross for vat in totals.vat) == of_vouchers
    assert totals.gift_cards <= of_vouchers, "gift cards do not pay for gift cards"

"""What a bag of vouchers or gift cards costs. Pure: what is chosen and what is sold in, amounts out."""

import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal

from schema.checkout.basket import (
    BagChoice,
    BagLine,
    BagProblem,
    Giftee,
    OfferedGiftCards,
    ReceptionOption,
    VoucherChoice,
)
from schema.checkout.checkout import AppliedCode, DeliveryOption, ShopKind, Totals
from schema.core.resource import Text
from schema.coupon.coupon import ReceptionMode
from schema.delivery import DeliveryKind
from store.catalogue.offers import SoldPrototype
from store.checkout.basket_lines import gift_card_line, voucher_line
from store.checkout.offers import Delivery
from store.checkout.pricing import Carriage, Parcel, Sold, bill, delivery_option, fit_together, has_a_price
from store.coupon.coupons import CouponRow
from store.coupon.rules import ZERO, Reduction, Terms, Ware, reduce
from store.gift_card.gift_cards import UsableCard
from store.order.texts import RECEPTIONS

BY_MAIL = (ReceptionMode.PRINT_AT_HOME, ReceptionMode.GIFTEE_EMAIL)
BY_DELIVERY = {
    DeliveryKind.HOME_DELIVERY: (ReceptionMode.EXPEDITION, ReceptionMode.POSTAL_MAIL_TO_BENEFICIARY),
    DeliveryKind.CLICK_AND_COLLECT: (ReceptionMode.ON_SITE,),
    DeliveryKind.DIGITAL: (),
}
"""The ways of reception that cost what a delivery mode of a kind costs."""
ADDRESS = ("address_line_1", "address_line_2", "postal_code", "city", "country")
NEEDED = ("first_name", "last_name", "address_line_1", "postal_code", "city", "country")
"""What must be told of whom it is posted to."""
WITHOUT_PRICE = frozenset({BagProblem.NOT_SOLD, BagProblem.CHOICE_CHANGED, BagProblem.TOO_MUCH})


@dataclass(frozen=True, slots=True)
class BagBasket:
    """Everything the price of a bag depends on."""

    kind: ShopKind
    choices: Mapping[uuid.UUID, BagChoice]
    prototypes: Mapping[int, SoldPrototype]
    gift_cards: OfferedGiftCards | None
    """None where no gift cards are sold."""
    deliveries: Sequence[Delivery]
    reception: ReceptionMode | None
    delivery_id: int | None
    country: str
    email: str
    codes: Sequence[CouponRow | UsableCard]
    currency: str


@dataclass(frozen=True, slots=True)
class PricedBag:
    """What it comes to. `reduction` is of the lines that have a price, in their order."""

    lines: tuple[BagLine, ...]
    receptions: tuple[ReceptionOption, ...]
    reception: ReceptionOption | None
    codes: tuple[AppliedCode, ...]
    totals: Totals
    reduction: Reduction

    @property
    def ready(self) -> bool:
        """Whether there is something in it, and nothing that stands in its way."""
        return bool(self.lines) and all(line.problem is None for line in self.lines)


def price_bag(basket: BagBasket) -> PricedBag:
    """Price a bag."""
    lines = [_needing(line, basket.reception) for line in _lines(basket)]
    priced = [line for line in lines if line.problem not in WITHOUT_PRICE]
    coupons = [code for code in basket.codes if isinstance(code, CouponRow)]
    reduction = reduce([_ware(line) for line in priced], coupons, _terms(basket))
    worth = sum((line.total for line in priced), ZERO) - reduction.total
    receptions = tuple(_receptions(basket, priced, worth, reduction))
    chosen = _chosen(basket, receptions)
    sold = [Sold(line.total, _vat_rate(line, basket)) for line in priced]
    rates = {delivery.mode.id: delivery.mode.vat_rate for delivery in basket.deliveries}
    carriage = Carriage(
        chosen.delivery.price if chosen else None, rates.get(chosen.delivery.id, ZERO) if chosen else ZERO
    )
    totals, codes = bill(sold, reduction, carriage, basket.codes, basket.currency)
    added = {line.id: more for line, more in zip(priced, reduction.added, strict=True)}
    valued = tuple(replace(line, value=line.value + added.get(line.id, ZERO)) for line in lines)
    return PricedBag(valued, receptions, chosen, codes, totals, reduction)


# ---- lines ------------------------------------------------------------------------------------------------------------


def _lines(basket: BagBasket) -> list[BagLine]:
    """The lines, each priced; without a price where they would come to more than an order can."""
    lines = [_line(id, choice, basket) for id, choice in basket.choices.items()]
    return [
        line if fits else replace(line, rent=ZERO, options=(), total=ZERO, value=ZERO, problem=BagProblem.TOO_MUCH)
        for line, fits in zip(lines, fit_together([line.total for line in lines]), strict=True)
    ]


def _line(id: uuid.UUID, choice: BagChoice, basket: BagBasket) -> BagLine:
    if isinstance(choice, VoucherChoice):
        return voucher_line(id, choice, basket.prototypes.get(choice.prototype_id))
    return gift_card_line(id, choice, basket.gift_cards)


def _needing(line: BagLine, reception: ReceptionMode | None) -> BagLine:
    """The line with what its way of reception misses."""
    giftee = line.choice.giftee
    if line.problem is not None:
        return line
    if reception is ReceptionMode.GIFTEE_EMAIL and not giftee.email and not line.choice.self_gifted:
        return replace(line, problem=BagProblem.GIFTEE_EMAIL_MISSING)
    if reception is ReceptionMode.POSTAL_MAIL_TO_BENEFICIARY and not all(getattr(giftee, name) for name in NEEDED):
        return replace(line, problem=BagProblem.GIFTEE_ADDRESS_MISSING)
    return line


def _ware(line: BagLine) -> Ware:
    return Ware(line.prototype.id if line.prototype else None, line.total, line.total)


def _vat_rate(line: BagLine, basket: BagBasket) -> Decimal | None:
    return basket.prototypes[line.prototype.id].vat_rate if line.prototype else None


def _terms(basket: BagBasket) -> Terms:
    mode = basket.reception
    return Terms(
        kind=basket.kind,
        email=basket.email,
        targets=None,
        receptions=None if mode is None else frozenset({mode}),
        collected=None if mode is None else mode is ReceptionMode.ON_SITE,
        collecting_costs=any(
            has_a_price(delivery)
            for delivery in basket.deliveries
            if delivery.mode.kind is DeliveryKind.CLICK_AND_COLLECT
        ),
    )


# ---- reception --------------------------------------------------------------------------------------------------------


def _receptions(
    basket: BagBasket, lines: Sequence[BagLine], worth: Decimal, reduction: Reduction
) -> Sequence[ReceptionOption]:
    """The ways there are: by mail always, the others once for each delivery mode that they cost as."""
    found = [_option(mode, None, _free(mode)) for mode in BY_MAIL]
    for delivery in basket.deliveries:
        for mode in BY_DELIVERY[delivery.mode.kind]:
            parcels = _parcels(mode, basket, lines)
            offered = delivery_option(delivery, parcels, worth, reduction, physical=False)
            to_giftees = mode is ReceptionMode.POSTAL_MAIL_TO_BENEFICIARY
            found.append(_option(mode, delivery.mode.id, replace(offered, to_giftees=to_giftees)))
    return found


def _parcels(mode: ReceptionMode, basket: BagBasket, lines: Sequence[BagLine]) -> Sequence[Parcel]:
    """One letter to the buyer, or one to each address; paper weighs nothing that a rate would tell."""
    if mode is not ReceptionMode.POSTAL_MAIL_TO_BENEFICIARY:
        return [Parcel(basket.country, 0)]
    addresses = dict.fromkeys(_address(line.choice.giftee) for line in lines)
    return [Parcel(address[-1], 0) for address in addresses] or [Parcel("", 0)]


def _address(giftee: Giftee) -> tuple[str, ...]:
    return tuple(getattr(giftee, name) for name in ("first_name", "last_name", *ADDRESS))


def _free(mode: ReceptionMode) -> DeliveryOption:
    return DeliveryOption(
        id=0,
        kind=DeliveryKind.DIGITAL,
        name=RECEPTIONS[mode],
        description=Text(),
        price=ZERO,
        free_above=None,
        countries=(),
    )


def _option(mode: ReceptionMode, delivery_id: int | None, delivery: DeliveryOption) -> ReceptionOption:
    return ReceptionOption(
        mode=mode,
        delivery_id=delivery_id,
        delivery=delivery,
        needs_buyer_address=mode is ReceptionMode.EXPEDITION,
        needs_giftee_address=mode is ReceptionMode.POSTAL_MAIL_TO_BENEFICIARY,
        needs_giftee_email=mode is ReceptionMode.GIFTEE_EMAIL,
    )


def _chosen(basket: BagBasket, receptions: Sequence[ReceptionOption]) -> ReceptionOption | None:
    """The way that is chosen, while it can be had; of several delivery modes the first, unless one was named."""
    fitting = [
        option
        for option in receptions
        if option.mode is basket.reception
        and option.delivery.is_available
        and basket.delivery_id in (None, option.delivery_id)
    ]
    return fitting[0] if fitting else None

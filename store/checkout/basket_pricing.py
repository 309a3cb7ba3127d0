"""Pricing of a basket of vouchers, gift cards or network products. Pure functions."""

import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal

from schema.checkout.basket import (
    BasketChoice,
    BasketLine,
    BasketProblem,
    BoxChoice,
    GiftCardChoice,
    NetworkChoice,
    NetworkGiftCardChoice,
    ReceptionOption,
    VoucherChoice,
)
from schema.checkout.checkout import CheckoutKind, DeliveryOption, Totals
from schema.checkout.codes import AppliedCode
from schema.checkout.gift_card_offer import OfferedGiftCards
from schema.checkout.network_offer import OfferedBox
from schema.coupon.coupon import CouponTarget, ReceptionMode
from schema.delivery.delivery import DeliveryKind
from store.catalogue.offers import ShopPrototype
from store.checkout.basket_lines import gift_card_line, voucher_line
from store.checkout.network_lines import box_line, network_card_line
from store.checkout.offers import ShopDelivery
from store.checkout.pricing import (
    PricedLine,
    ShippingCost,
    compute_totals,
    has_shipping_cost,
    lines_within_limit,
)
from store.checkout.receptions import BasketReception, has_address
from store.coupon.coupons import CouponRow
from store.coupon.rules import ZERO, CouponContext, DiscountableLine, Reduction, apply_coupons
from store.gift_card.gift_cards import UsableCard

_TARGETS: Mapping[type[BasketChoice], CouponTarget] = {
    VoucherChoice: CouponTarget.VOUCHERS,
    GiftCardChoice: CouponTarget.GIFT_CARDS,
    NetworkGiftCardChoice: CouponTarget.NETWORK_GIFT_CARDS,
    BoxChoice: CouponTarget.NETWORK_VOUCHERS,
}
UNPRICED_PROBLEMS = frozenset({BasketProblem.NOT_SOLD, BasketProblem.CHOICE_CHANGED, BasketProblem.TOO_MUCH})


@dataclass(frozen=True, slots=True)
class BasketPricingInput:
    """All inputs of a basket's price."""

    kind: CheckoutKind
    choices: Mapping[uuid.UUID, BasketChoice]
    prototypes: Mapping[int, ShopPrototype]
    gift_cards: OfferedGiftCards | None
    """None if the partner sells no gift cards."""
    deliveries: Sequence[ShopDelivery]
    reception: ReceptionMode | None
    """How lines are received that do not say so."""
    delivery_id: int | None
    country: str
    email: str
    codes: Sequence[CouponRow | UsableCard]
    currency: str
    network_cards: OfferedGiftCards | None = None
    """None if the shop sells no gift cards of its network."""
    boxes: Mapping[int, OfferedBox] = field(default_factory=dict)
    open_line: uuid.UUID | None = None
    """The line whose ways of reception are asked for; None for all."""
    network_takes_coupons: bool = True
    """Whether coupons are for the network's lines too: those of the network's own shop, as the network bears them."""


@dataclass(frozen=True, slots=True)
class PricedBasket:
    """A priced basket. `reduction` covers the lines that have a price, in their order."""

    lines: tuple[BasketLine, ...]
    receptions: tuple[ReceptionOption, ...]
    reception: ReceptionOption | None
    delivery: DeliveryOption | None
    """The delivery of all lines; None while it is unknown how one is received, and if none is available."""
    codes: tuple[AppliedCode, ...]
    totals: Totals
    reduction: Reduction

    @property
    def ready(self) -> bool:
        """True if the basket has at least one line and every line can be ordered."""
        return bool(self.lines) and all(line.problem is None for line in self.lines)

    def coupons_of(self, line_id: uuid.UUID) -> Sequence[CouponRow]:
        """The coupons that apply to a line."""
        priced = (line.id for line in self.lines if line.problem not in UNPRICED_PROBLEMS)
        return next((coupons for id, coupons in zip(priced, self.reduction.coupons, strict=True) if id == line_id), ())


def price_basket(pricing_input: BasketPricingInput) -> PricedBasket:
    lines = [_received(line, pricing_input.reception) for line in _lines(pricing_input)]
    priced = [line for line in lines if line.problem not in UNPRICED_PROBLEMS]
    coupons = [code for code in pricing_input.codes if isinstance(code, CouponRow)]
    reduction = apply_coupons(
        [_discountable_line(line, pricing_input) for line in priced], coupons, _coupon_context(pricing_input, priced)
    )
    worth = sum((line.total for line in priced), ZERO) - reduction.total
    received = _reception(pricing_input, priced, worth, reduction)
    receptions, delivery = received.options(pricing_input.open_line), received.delivery()
    sold = [_sold_line(line, pricing_input) for line in priced]
    rates = {each.id: each.vat_rate for each in pricing_input.deliveries}
    shipping_cost = ShippingCost(
        delivery.price if delivery else None, rates.get(delivery.id, ZERO) if delivery else ZERO
    )
    totals, codes = compute_totals(sold, reduction, shipping_cost, pricing_input.codes, pricing_input.currency)
    added = {line.id: more for line, more in zip(priced, reduction.added, strict=True)}
    valued = tuple(replace(line, value=line.value + added.get(line.id, ZERO)) for line in lines)
    chosen = received.chosen(receptions, pricing_input.open_line)
    return PricedBasket(valued, receptions, chosen, delivery, codes, totals, reduction)


# ---- lines ------------------------------------------------------------------------------------------------------------


def _lines(pricing_input: BasketPricingInput) -> list[BasketLine]:
    """The priced lines. A line beyond the largest possible order amount gets the problem TOO_MUCH and no price."""
    lines = [_line(id, choice, pricing_input) for id, choice in pricing_input.choices.items()]
    return [
        line
        if fits
        else replace(line, base_price=ZERO, options=(), total=ZERO, value=ZERO, problem=BasketProblem.TOO_MUCH)
        for line, fits in zip(lines, lines_within_limit([line.total for line in lines]), strict=True)
    ]


def _line(id: uuid.UUID, choice: BasketChoice, pricing_input: BasketPricingInput) -> BasketLine:
    if isinstance(choice, VoucherChoice):
        return voucher_line(id, choice, pricing_input.prototypes.get(choice.prototype_id))
    if isinstance(choice, NetworkGiftCardChoice):
        return network_card_line(id, choice, pricing_input.network_cards)
    if isinstance(choice, BoxChoice):
        return box_line(id, choice, pricing_input.boxes.get(choice.box_id))
    return gift_card_line(id, choice, pricing_input.gift_cards)


def _received(line: BasketLine, usual: ReceptionMode | None) -> BasketLine:
    """The line with its way of reception, and with a problem if that needs giftee data that are missing."""
    giftee, reception = line.choice.giftee, line.choice.reception or usual
    line = replace(line, reception=reception)
    if line.problem is not None:
        return line
    if reception is ReceptionMode.GIFTEE_EMAIL and not giftee.email and not line.choice.self_gifted:
        return replace(line, problem=BasketProblem.GIFTEE_EMAIL_MISSING)
    if reception is ReceptionMode.POSTAL_MAIL_TO_BENEFICIARY and not has_address(giftee):
        return replace(line, problem=BasketProblem.GIFTEE_ADDRESS_MISSING)
    return line


def _discountable_line(line: BasketLine, pricing_input: BasketPricingInput) -> DiscountableLine:
    is_of_network = isinstance(line.choice, NetworkChoice)
    takes_coupons = not is_of_network or pricing_input.network_takes_coupons
    unit_price = line.base_price if is_of_network else line.total
    prototype_id = line.prototype.id if line.prototype else None
    target = _TARGETS[type(line.choice)]
    return DiscountableLine(prototype_id, unit_price, line.total, target, line.reception, takes_coupons)


def _sold_line(line: BasketLine, pricing_input: BasketPricingInput) -> PricedLine:
    vat_rate = pricing_input.prototypes[line.prototype.id].vat_rate if line.prototype else None
    return PricedLine(line.total, vat_rate, takes_gift_cards=isinstance(line.choice, VoucherChoice))


def _coupon_context(pricing_input: BasketPricingInput, lines: Sequence[BasketLine]) -> CouponContext:
    modes = {line.reception for line in lines}
    return CouponContext(
        kind=pricing_input.kind,
        email=pricing_input.email,
        targets=None,
        receptions=None,
        collected=None if None in modes else ReceptionMode.ON_SITE in modes,
        collecting_costs=any(
            has_shipping_cost(delivery)
            for delivery in pricing_input.deliveries
            if delivery.kind is DeliveryKind.CLICK_AND_COLLECT
        ),
    )


def _reception(
    pricing_input: BasketPricingInput, lines: Sequence[BasketLine], worth: Decimal, reduction: Reduction
) -> BasketReception:
    return BasketReception(
        lines=lines,
        usual=pricing_input.reception,
        deliveries=pricing_input.deliveries,
        delivery_id=pricing_input.delivery_id,
        country=pricing_input.country,
        worth=worth,
        reduction=reduction,
    )

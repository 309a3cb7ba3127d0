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
    Giftee,
    NetworkGiftCardChoice,
    ReceptionOption,
    VoucherChoice,
)
from schema.checkout.checkout import CheckoutKind, DeliveryOption, Totals
from schema.checkout.codes import AppliedCode
from schema.checkout.gift_card_offer import OfferedGiftCards
from schema.checkout.network_offer import OfferedBox
from schema.core.text import Text
from schema.coupon.coupon import CouponTarget, ReceptionMode
from schema.delivery.delivery import DeliveryKind
from store.catalogue.offers import ShopPrototype
from store.checkout.basket_lines import gift_card_line, voucher_line
from store.checkout.network_lines import box_line, network_card_line
from store.checkout.offers import ShopDelivery
from store.checkout.pricing import (
    PricedLine,
    Shipment,
    ShippingCost,
    compute_totals,
    delivery_option,
    has_shipping_cost,
    lines_within_limit,
)
from store.core.localization.sale_texts import RECEPTION_NAMES
from store.coupon.coupons import CouponRow
from store.coupon.rules import ZERO, CouponContext, DiscountableLine, Reduction, apply_coupons
from store.gift_card.gift_cards import UsableCard

EMAIL_MODES = (ReceptionMode.PRINT_AT_HOME, ReceptionMode.GIFTEE_EMAIL)
MODES_BY_DELIVERY_KIND = {
    DeliveryKind.HOME_DELIVERY: (ReceptionMode.EXPEDITION, ReceptionMode.POSTAL_MAIL_TO_BENEFICIARY),
    DeliveryKind.CLICK_AND_COLLECT: (ReceptionMode.ON_SITE,),
    DeliveryKind.DIGITAL: (),
}
"""Reception modes that are priced by a delivery mode of this kind."""
ADDRESS_FIELDS = ("address_line_1", "address_line_2", "postal_code", "city", "country")
REQUIRED_ADDRESS_FIELDS = ("first_name", "address_line_1", "postal_code", "city", "country")
"""Fields of a giftee that postal delivery requires."""
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
    delivery_id: int | None
    country: str
    email: str
    codes: Sequence[CouponRow | UsableCard]
    currency: str
    network_cards: OfferedGiftCards | None = None
    """None if the shop sells no gift cards of its network."""
    boxes: Mapping[int, OfferedBox] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class PricedBasket:
    """A priced basket. `reduction` covers the lines that have a price, in their order."""

    lines: tuple[BasketLine, ...]
    receptions: tuple[ReceptionOption, ...]
    reception: ReceptionOption | None
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
    lines = [_with_reception_problem(line, pricing_input.reception) for line in _lines(pricing_input)]
    priced = [line for line in lines if line.problem not in UNPRICED_PROBLEMS]
    coupons = [code for code in pricing_input.codes if isinstance(code, CouponRow)]
    reduction = apply_coupons([_discountable_line(line) for line in priced], coupons, _coupon_context(pricing_input))
    worth = sum((line.total for line in priced), ZERO) - reduction.total
    receptions = tuple(_receptions(pricing_input, priced, worth, reduction))
    chosen = _chosen_reception(pricing_input, receptions)
    sold = [_sold_line(line, pricing_input) for line in priced]
    rates = {delivery.id: delivery.vat_rate for delivery in pricing_input.deliveries}
    shipping_cost = ShippingCost(
        chosen.delivery.price if chosen else None, rates.get(chosen.delivery.id, ZERO) if chosen else ZERO
    )
    totals, codes = compute_totals(sold, reduction, shipping_cost, pricing_input.codes, pricing_input.currency)
    added = {line.id: more for line, more in zip(priced, reduction.added, strict=True)}
    valued = tuple(replace(line, value=line.value + added.get(line.id, ZERO)) for line in lines)
    return PricedBasket(valued, receptions, chosen, codes, totals, reduction)


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


def _with_reception_problem(line: BasketLine, reception: ReceptionMode | None) -> BasketLine:
    """The line, with a problem if the reception mode needs giftee data that are missing."""
    giftee = line.choice.giftee
    if line.problem is not None:
        return line
    if reception is ReceptionMode.GIFTEE_EMAIL and not giftee.email and not line.choice.self_gifted:
        return replace(line, problem=BasketProblem.GIFTEE_EMAIL_MISSING)
    if reception is ReceptionMode.POSTAL_MAIL_TO_BENEFICIARY and not all(
        getattr(giftee, name) for name in REQUIRED_ADDRESS_FIELDS
    ):
        return replace(line, problem=BasketProblem.GIFTEE_ADDRESS_MISSING)
    return line


def _discountable_line(line: BasketLine) -> DiscountableLine:
    is_of_network = isinstance(line.choice, NetworkGiftCardChoice | BoxChoice)
    unit_price = line.base_price if is_of_network else line.total
    prototype_id = line.prototype.id if line.prototype else None
    return DiscountableLine(prototype_id, unit_price, line.total, _TARGETS[type(line.choice)])


def _sold_line(line: BasketLine, pricing_input: BasketPricingInput) -> PricedLine:
    vat_rate = pricing_input.prototypes[line.prototype.id].vat_rate if line.prototype else None
    return PricedLine(line.total, vat_rate, takes_gift_cards=isinstance(line.choice, VoucherChoice))


def _coupon_context(pricing_input: BasketPricingInput) -> CouponContext:
    mode = pricing_input.reception
    return CouponContext(
        kind=pricing_input.kind,
        email=pricing_input.email,
        targets=None,
        receptions=None if mode is None else frozenset({mode}),
        collected=None if mode is None else mode is ReceptionMode.ON_SITE,
        collecting_costs=any(
            has_shipping_cost(delivery)
            for delivery in pricing_input.deliveries
            if delivery.kind is DeliveryKind.CLICK_AND_COLLECT
        ),
    )


# ---- reception --------------------------------------------------------------------------------------------------------


def _receptions(
    pricing_input: BasketPricingInput, lines: Sequence[BasketLine], worth: Decimal, reduction: Reduction
) -> Sequence[ReceptionOption]:
    """The reception options: the e-mail modes, and one for each mode of each delivery mode."""
    options = [_reception_option(mode, None, _free_delivery(mode)) for mode in EMAIL_MODES]
    for delivery in pricing_input.deliveries:
        for mode in MODES_BY_DELIVERY_KIND[delivery.kind]:
            shipments = _shipments(mode, pricing_input, lines)
            offered = delivery_option(delivery, shipments, worth, reduction, physical=False)
            to_giftees = mode is ReceptionMode.POSTAL_MAIL_TO_BENEFICIARY
            options.append(_reception_option(mode, delivery.id, replace(offered, to_giftees=to_giftees)))
    return options


def _shipments(
    mode: ReceptionMode, pricing_input: BasketPricingInput, lines: Sequence[BasketLine]
) -> Sequence[Shipment]:
    """One shipment to the buyer, or one to each distinct giftee address. Paper counts as 0 grams; a box has a weight."""
    if mode is not ReceptionMode.POSTAL_MAIL_TO_BENEFICIARY:
        return [Shipment(pricing_input.country, sum(map(_weight, lines)))]
    addresses: dict[tuple[str, ...], int] = {}
    for line in lines:
        address = _address(line.choice.giftee)
        addresses[address] = addresses.get(address, 0) + _weight(line)
    return [Shipment(address[-1], grams) for address, grams in addresses.items()] or [Shipment("", 0)]


def _weight(line: BasketLine) -> int:
    """The weight of a line in grams."""
    return line.box.weight_grams * line.quantity if line.box else 0


def _address(giftee: Giftee) -> tuple[str, ...]:
    return tuple(getattr(giftee, name) for name in ("first_name", "last_name", *ADDRESS_FIELDS))


def _free_delivery(mode: ReceptionMode) -> DeliveryOption:
    return DeliveryOption(
        id=0,
        kind=DeliveryKind.DIGITAL,
        name=RECEPTION_NAMES[mode],
        description=Text(),
        price=ZERO,
        free_above=None,
        countries=(),
    )


def _reception_option(mode: ReceptionMode, delivery_id: int | None, delivery: DeliveryOption) -> ReceptionOption:
    return ReceptionOption(
        mode=mode,
        delivery_id=delivery_id,
        delivery=delivery,
        needs_buyer_address=mode is ReceptionMode.EXPEDITION,
        needs_giftee_address=mode is ReceptionMode.POSTAL_MAIL_TO_BENEFICIARY,
        needs_giftee_email=mode is ReceptionMode.GIFTEE_EMAIL,
    )


def _chosen_reception(
    pricing_input: BasketPricingInput, receptions: Sequence[ReceptionOption]
) -> ReceptionOption | None:
    """The chosen reception option if it is available.

    Of several delivery modes it is the first, unless one was selected.
    """
    fitting = [
        option
        for option in receptions
        if option.mode is pricing_input.reception
        and option.delivery.is_available
        and pricing_input.delivery_id in (None, option.delivery_id)
    ]
    return fitting[0] if fitting else None

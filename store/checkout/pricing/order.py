"""Pricing of an order: goods, and vouchers and gift cards of the partner or of its network. Pure functions."""

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
    NetworkGiftCardChoice,
    ReceptionOption,
    VoucherChoice,
)
from schema.checkout.checkout import CheckoutEstimate, CheckoutLine, DeliveryOption, ProductChoice, Totals
from schema.checkout.codes import AppliedCode
from schema.checkout.gift_card_offer import OfferedGiftCards
from schema.checkout.network_offer import OfferedBox
from schema.coupon.coupon import CouponTarget, ReceptionMode
from schema.delivery.delivery import DeliveryKind
from store.catalogue.offers import ShopPrototype
from store.checkout.basket_lines import gift_card_line, voucher_line
from store.checkout.network_lines import box_line, network_card_line
from store.checkout.offers import ShopDelivery, ShopProduct
from store.checkout.pricing.delivery import has_shipping_cost
from store.checkout.pricing.goods import is_orderable, lines_within_limit, price_lines, weight_of
from store.checkout.pricing.receptions import (
    GoodsParcel,
    OrderReception,
    has_address,
    mode_beside_goods,
    mode_of_goods,
)
from store.checkout.pricing.totals import PricedLine, ShippingCost, compute_totals
from store.coupon.coupons import CouponRow
from store.coupon.rules import (
    GOODS,
    RECEPTION_MODES,
    ZERO,
    CouponContext,
    DiscountableLine,
    Reduction,
    apply_coupons,
)
from store.gift_card.gift_cards import UsableCard

TARGETS: Mapping[type[BasketChoice], CouponTarget] = {
    VoucherChoice: CouponTarget.VOUCHERS,
    GiftCardChoice: CouponTarget.GIFT_CARDS,
    NetworkGiftCardChoice: CouponTarget.NETWORK_GIFT_CARDS,
    BoxChoice: CouponTarget.NETWORK_VOUCHERS,
}
UNPRICED_PROBLEMS = frozenset({BasketProblem.NOT_SOLD, BasketProblem.CHOICE_CHANGED, BasketProblem.TOO_MUCH})


@dataclass(frozen=True, slots=True, kw_only=True)
class PricingInput:
    """All inputs of an order's price."""

    deliveries: Sequence[ShopDelivery]
    delivery_id: int | None
    country: str
    email: str
    codes: Sequence[CouponRow | UsableCard]
    currency: str
    goods: Sequence[ProductChoice] | None = None
    """None for a basket, which has none."""
    products: Mapping[int, ShopProduct] = field(default_factory=dict)
    choices: Mapping[uuid.UUID, BasketChoice] = field(default_factory=dict)
    """The vouchers and gift cards."""
    prototypes: Mapping[int, ShopPrototype] = field(default_factory=dict)
    gift_cards: OfferedGiftCards | None = None
    """None if the partner sells no gift cards."""
    network_cards: OfferedGiftCards | None = None
    """None if the shop sells no gift cards of its network."""
    boxes: Mapping[int, OfferedBox] = field(default_factory=dict)
    reception: ReceptionMode | None = None
    """How vouchers and gift cards are received that do not say so."""
    open_line: uuid.UUID | None = None
    """The voucher or gift card whose ways of reception are asked for; None for all."""
    network_takes_coupons: bool = True
    """Whether coupons are for the network's lines too: those of the network's own shop, as the network bears them."""

    @property
    def delivery(self) -> ShopDelivery | None:
        """The chosen delivery mode."""
        return next((each for each in self.deliveries if each.id == self.delivery_id), None)


@dataclass(frozen=True, slots=True)
class PricedOrder:
    """A priced order. `reduction` covers the goods that can be ordered, and then the vouchers and gift cards that have a
    price, in their order.
    """

    lines: tuple[CheckoutLine, ...]
    """The goods."""
    gifts: tuple[BasketLine, ...]
    """The vouchers and gift cards."""
    deliveries: tuple[DeliveryOption, ...]
    """The ways to receive the goods; empty without goods."""
    receptions: tuple[ReceptionOption, ...]
    """The ways to receive the open voucher or gift card, or all."""
    reception: ReceptionOption | None
    delivery: DeliveryOption | None
    """The delivery of the order; None while it is unknown how a part is received, and if none is available."""
    codes: tuple[AppliedCode, ...]
    totals: Totals
    reduction: Reduction
    expected: CheckoutEstimate | None = None
    """The estimate that includes goods with missing choices; None if there are none."""

    @property
    def orderable_lines(self) -> tuple[CheckoutLine, ...]:
        return tuple(line for line in self.lines if is_orderable(line))

    @property
    def ready(self) -> bool:
        """True if there is something to order, and every voucher and gift card can be ordered. Goods that cannot are left
        out.
        """
        return bool(self.orderable_lines or self.gifts) and all(line.problem is None for line in self.gifts)

    def coupons_of(self, line_id: uuid.UUID) -> Sequence[CouponRow]:
        """The coupons that apply to a voucher or gift card."""
        coupons = self.reduction.coupons[len(self.orderable_lines) :]
        return next((each for gift, each in zip(_priced(self.gifts), coupons, strict=True) if gift.id == line_id), ())


def price_order(pricing_input: PricingInput) -> PricedOrder:
    lines = price_lines(pricing_input.goods or (), pricing_input.products)
    good = [line for line in lines if is_orderable(line)]
    gifts = _gifts(pricing_input, good)
    # If there is nothing to order, the delivery options are those of all goods.
    parts = good if good or gifts else [line for line in lines if line.product]
    has_goods = bool(parts) or (pricing_input.goods is not None and not gifts)
    priced = _price(pricing_input, good, gifts, _parcel(pricing_input, good, parts) if has_goods else None)
    return replace(priced, lines=lines, expected=_estimate(pricing_input, lines))


def _estimate(pricing_input: PricingInput, lines: Sequence[CheckoutLine]) -> CheckoutEstimate | None:
    """The total including the fixable lines; None without such lines, or beyond the largest possible order amount."""
    expected = [line for line in lines if is_orderable(line) or line.is_fixable]
    as_wanted = [replace(line, total=(line.unit_price or ZERO) * line.choice.quantity) for line in expected]
    beside = _gifts(pricing_input, as_wanted)
    totals = [line.total for line in as_wanted] + [line.total for line in _priced(beside)]
    if not any(line.is_fixable for line in expected) or not all(lines_within_limit(totals)):
        return None
    priced = _price(pricing_input, as_wanted, beside, _parcel(pricing_input, as_wanted, as_wanted))
    is_minimum = any(line.is_starting_price for line in expected)
    return CheckoutEstimate(priced.deliveries, priced.codes, priced.totals, is_minimum=is_minimum)


def _price(
    pricing_input: PricingInput,
    goods: Sequence[CheckoutLine],
    lines: Sequence[BasketLine],
    parcel: GoodsParcel | None,
) -> PricedOrder:
    """The price of these goods, vouchers and gift cards. The parcel is None if there are no goods to deliver."""
    gifts = _priced(lines)
    coupons = [code for code in pricing_input.codes if isinstance(code, CouponRow)]
    context = _coupon_context(pricing_input, gifts, has_goods=parcel is not None)
    discountable = [_discountable_goods(line, pricing_input) for line in goods] + [
        *(_discountable_gift(line, pricing_input) for line in gifts)
    ]
    reduction = apply_coupons(discountable, coupons, context)
    received = _reception(pricing_input, parcel, gifts, _worth(goods, gifts, reduction), reduction)
    delivery, receptions = received.delivery(), received.options(pricing_input.open_line)
    sold = _taxed(pricing_input, goods, gifts)
    rates = {each.id: each.vat_rate for each in pricing_input.deliveries}
    shipping = ShippingCost(delivery.price if delivery else None, rates.get(delivery.id, ZERO) if delivery else ZERO)
    totals, codes = compute_totals(sold, reduction, shipping, pricing_input.codes, pricing_input.currency)
    added = {line.id: more for line, more in zip(gifts, reduction.added[len(goods) :], strict=True)}
    return PricedOrder(
        lines=tuple(goods),
        gifts=tuple(replace(line, value=line.value + added.get(line.id, ZERO)) for line in lines),
        deliveries=received.deliveries_of_goods(),
        receptions=receptions,
        reception=received.chosen(receptions, pricing_input.open_line),
        delivery=delivery,
        codes=codes,
        totals=totals,
        reduction=reduction,
    )


def _reception(
    pricing_input: PricingInput,
    parcel: GoodsParcel | None,
    gifts: Sequence[BasketLine],
    worth: Decimal,
    reduction: Reduction,
) -> OrderReception:
    return OrderReception(
        goods=parcel,
        lines=gifts,
        usual=pricing_input.reception,
        deliveries=pricing_input.deliveries,
        delivery_id=pricing_input.delivery_id,
        country=pricing_input.country,
        worth=worth,
        reduction=reduction,
    )


def _worth(goods: Sequence[CheckoutLine], gifts: Sequence[BasketLine], reduction: Reduction) -> Decimal:
    """What counts for free delivery: what is paid for the lines, of an order with goods without prepaid money and without
    what is the network's.
    """
    counted = [True for _ in goods] + [not goods or isinstance(line.choice, VoucherChoice) for line in gifts]
    totals = [line.total for line in goods] + [line.total for line in gifts]
    paid = (total - off for total, off in zip(totals, reduction.by_line, strict=True))
    return sum((amount for amount, counts in zip(paid, counted, strict=True) if counts), ZERO)


# ---- goods ------------------------------------------------------------------------------------------------------------


def _parcel(pricing_input: PricingInput, good: Sequence[CheckoutLine], goods: Sequence[CheckoutLine]) -> GoodsParcel:
    physical = any(line.product and line.product.is_physical for line in goods)
    return GoodsParcel(weight_of(good, pricing_input.products), physical)


def _discountable_goods(line: CheckoutLine, pricing_input: PricingInput) -> DiscountableLine:
    mode = pricing_input.delivery
    receptions = RECEPTION_MODES[mode.kind] if mode else None
    return DiscountableLine(line.choice.product_id, line.unit_price or ZERO, line.total, GOODS, receptions)


# ---- vouchers and gift cards ------------------------------------------------------------------------------------------


def _gifts(pricing_input: PricingInput, goods: Sequence[CheckoutLine]) -> list[BasketLine]:
    """The priced lines beside these goods. A line beyond the largest possible order amount gets the problem TOO_MUCH and no
    price.
    """
    lines = [_line(id, choice, pricing_input) for id, choice in pricing_input.choices.items()]
    fitting = lines_within_limit([line.total for line in lines], sum((line.total for line in goods), ZERO))
    goods_mode = mode_of_goods(pricing_input.deliveries, pricing_input.delivery_id) if goods else None
    return [
        _received(line if fits else _without_price(line), pricing_input.reception, goods_mode)
        for line, fits in zip(lines, fitting, strict=True)
    ]


def _without_price(line: BasketLine) -> BasketLine:
    return replace(line, base_price=ZERO, options=(), total=ZERO, value=ZERO, problem=BasketProblem.TOO_MUCH)


def _priced(lines: Sequence[BasketLine]) -> list[BasketLine]:
    return [line for line in lines if line.problem not in UNPRICED_PROBLEMS]


def _line(id: uuid.UUID, choice: BasketChoice, pricing_input: PricingInput) -> BasketLine:
    if isinstance(choice, VoucherChoice):
        return voucher_line(id, choice, pricing_input.prototypes.get(choice.prototype_id))
    if isinstance(choice, NetworkGiftCardChoice):
        return network_card_line(id, choice, pricing_input.network_cards)
    if isinstance(choice, BoxChoice):
        return box_line(id, choice, pricing_input.boxes.get(choice.box_id))
    return gift_card_line(id, choice, pricing_input.gift_cards)


def _received(line: BasketLine, usual: ReceptionMode | None, goods: ReceptionMode | None) -> BasketLine:
    """The line with its way of reception, and with a problem if that needs giftee data that are missing."""
    giftee, reception = line.choice.giftee, mode_beside_goods(line.choice.reception or usual, line.choice.giftee, goods)
    line = replace(line, reception=reception)
    if line.problem is not None:
        return line
    if reception is ReceptionMode.GIFTEE_EMAIL and not giftee.email and not line.choice.self_gifted:
        return replace(line, problem=BasketProblem.GIFTEE_EMAIL_MISSING)
    if reception is ReceptionMode.POSTAL_MAIL_TO_BENEFICIARY and not has_address(giftee):
        return replace(line, problem=BasketProblem.GIFTEE_ADDRESS_MISSING)
    return line


def _discountable_gift(line: BasketLine, pricing_input: PricingInput) -> DiscountableLine:
    is_of_network = line.choice.is_of_network
    unit_price = line.base_price if is_of_network else line.total
    prototype_id = line.prototype.id if line.prototype else None
    targets = {TARGETS[type(line.choice)]} if not is_of_network or pricing_input.network_takes_coupons else set()
    receptions = frozenset({line.reception}) if line.reception else None
    return DiscountableLine(prototype_id, unit_price, line.total, frozenset(targets), receptions)


def _taxed(
    pricing_input: PricingInput, goods: Sequence[CheckoutLine], gifts: Sequence[BasketLine]
) -> Sequence[PricedLine]:
    rates = {id: offer.vat_rate for id, offer in pricing_input.prototypes.items()}
    return [
        *(PricedLine(line.total, pricing_input.products[line.choice.product_id].vat_rate) for line in goods),
        *(
            PricedLine(
                line.total,
                rates[line.prototype.id] if line.prototype else None,
                takes_gift_cards=isinstance(line.choice, VoucherChoice),
            )
            for line in gifts
        ),
    ]


def _coupon_context(pricing_input: PricingInput, gifts: Sequence[BasketLine], *, has_goods: bool) -> CouponContext:
    modes = {line.reception for line in gifts}
    if has_goods:
        modes.add(mode_of_goods(pricing_input.deliveries, pricing_input.delivery_id))
    collecting = [each for each in pricing_input.deliveries if each.kind is DeliveryKind.CLICK_AND_COLLECT]
    chosen = [each for each in collecting if each.id == pricing_input.delivery_id]
    return CouponContext(
        email=pricing_input.email,
        collected=None if None in modes else ReceptionMode.ON_SITE in modes,
        collecting_costs=any(has_shipping_cost(delivery) for delivery in chosen or collecting),
    )

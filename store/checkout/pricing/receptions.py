"""How the parts of an order are received, and what their delivery costs. Pure functions.

What is handed over or sent of an order goes by one delivery mode; the rest is e-mailed. Goods go by the chosen delivery mode.
A voucher or gift card says how it is received, or goes the way of the others; what is not e-mailed goes with the goods.
"""

import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import TypeAlias

from schema.checkout.basket import BasketLine, Giftee, ReceptionOption
from schema.checkout.checkout import DeliveryOption
from schema.core.text import Text
from schema.coupon.coupon import ReceptionMode
from schema.delivery.delivery import DeliveryKind
from store.checkout.offers import ShopDelivery
from store.checkout.pricing.delivery import Shipment, delivery_option
from store.core.localization.sale_texts import BY_EMAIL_NAME, RECEPTION_NAMES
from store.coupon.rules import RECEPTION_MODES, ZERO, Reduction

BY_EMAIL = 0
"""The id of the delivery of vouchers and gift cards by e-mail, which needs no delivery mode."""
EMAIL_MODES = (ReceptionMode.PRINT_AT_HOME, ReceptionMode.GIFTEE_EMAIL)
REQUIRED_ADDRESS_FIELDS = ("first_name", "address_line_1", "postal_code", "city", "country")
"""Fields of a giftee that postal delivery requires."""
ADDRESS_FIELDS = ("address_line_1", "address_line_2", "postal_code", "city", "country")
_DELIVERY_KINDS: Mapping[ReceptionMode | None, DeliveryKind] = {
    mode: kind for kind, modes in RECEPTION_MODES.items() if kind is not DeliveryKind.DIGITAL for mode in modes
}
"""The kind of delivery of what is not e-mailed."""
TO_GIFTEES = ReceptionMode.POSTAL_MAIL_TO_BENEFICIARY
WAYS_OF_GOODS: Mapping[DeliveryKind, ReceptionMode] = {
    DeliveryKind.DIGITAL: ReceptionMode.PRINT_AT_HOME,
    DeliveryKind.CLICK_AND_COLLECT: ReceptionMode.ON_SITE,
    DeliveryKind.HOME_DELIVERY: ReceptionMode.EXPEDITION,
}
"""How goods are received, by the kind of their delivery mode."""


@dataclass(frozen=True, slots=True)
class GoodsParcel:
    """The goods of an order."""

    weight: int
    """In grams."""
    is_physical: bool


Part: TypeAlias = BasketLine | GoodsParcel | None
Ways: TypeAlias = Sequence[tuple[Part, ReceptionMode | None]]
"""How each part of an order is received; of an empty basket, how it is. A mode is None while it is not chosen."""


def has_address(giftee: Giftee) -> bool:
    """Whether something can be posted to a giftee."""
    return all(getattr(giftee, name) for name in REQUIRED_ADDRESS_FIELDS)


def mode_beside(mode: ReceptionMode | None, giftee: Giftee, chosen: ReceptionMode) -> ReceptionMode | None:
    """How another line is received once one is received as `chosen`: if that is posted, nothing is collected, and vice
    versa. What is collected no longer is posted to its giftee, whose address is known, or else to the buyer.
    """
    kind = _DELIVERY_KINDS.get(chosen)
    if kind is None or _DELIVERY_KINDS.get(mode, kind) is kind:
        return mode
    if kind is DeliveryKind.CLICK_AND_COLLECT:
        return ReceptionMode.ON_SITE
    return TO_GIFTEES if has_address(giftee) else ReceptionMode.EXPEDITION


def mode_beside_goods(mode: ReceptionMode | None, giftee: Giftee, goods: ReceptionMode | None) -> ReceptionMode | None:
    """How a line is received of an order with goods: e-mailed if they are, and else as `mode_beside` says."""
    if mode is None or goods is None or mode.is_by_email:
        return mode
    if not goods.is_by_email:
        return mode_beside(mode, giftee, goods)
    return ReceptionMode.GIFTEE_EMAIL if mode is TO_GIFTEES and giftee.email else ReceptionMode.PRINT_AT_HOME


@dataclass(frozen=True, slots=True)
class OrderReception:
    """How an order is received."""

    goods: GoodsParcel | None
    lines: Sequence[BasketLine]
    """The vouchers and gift cards that have a price."""
    usual: ReceptionMode | None
    """How they are received that do not say so, and an empty basket."""
    deliveries: Sequence[ShopDelivery]
    delivery_id: int | None
    country: str
    worth: Decimal
    """What is paid for the lines: free delivery depends on it."""
    reduction: Reduction

    @property
    def _ways(self) -> Ways:
        ways = [*self._goods(mode_of_goods(self.deliveries, self.delivery_id)), *self._received()]
        return ways or [(None, self.usual)]

    def _goods(self, mode: ReceptionMode | None) -> Ways:
        return [(self.goods, mode)] if self.goods else []

    def _received(self) -> Ways:
        return [(line, line.reception) for line in self.lines]

    def delivery(self) -> DeliveryOption | None:
        """The delivery of all parts; None while it is unknown how one is received, and if none is available."""
        return self._delivery(self._ways)

    def deliveries_of_goods(self) -> tuple[DeliveryOption, ...]:
        """The ways to receive the goods. Lines that are not e-mailed follow them. Nothing for an order without goods."""
        return tuple(
            self._offer(delivery, self._ways_with_goods(delivery)) for delivery in self.deliveries if self.goods
        )

    def _ways_with_goods(self, delivery: ShopDelivery) -> Ways:
        mode = WAYS_OF_GOODS[delivery.kind]
        choices = (line.choice for line in self.lines)
        modes = (mode_beside_goods(choice.reception or self.usual, choice.giftee, mode) for choice in choices)
        return [*self._goods(mode), *zip(self.lines, modes, strict=True)]

    def options(self, open_line: uuid.UUID | None) -> tuple[ReceptionOption, ...]:
        """The ways to receive the open line, or all: the e-mail modes, and one for each mode of each delivery mode. Nothing
        for goods alone.
        """
        opened = [part for part, _ in self._ways if _is_opened(part, open_line)]
        if not opened:
            return ()
        others = [(part, mode) for part, mode in self._ways if not _is_opened(part, open_line)]
        without = self._delivery(others) if others else None
        options = [_option(mode, None, _by_email({mode})) for mode in EMAIL_MODES]
        for delivery in self.deliveries:
            for mode in sorted(mode for mode in RECEPTION_MODES[delivery.kind] if not mode.is_by_email):
                beside = [
                    (line, mode_beside(other, line.choice.giftee, mode))
                    for line, other in others
                    if isinstance(line, BasketLine)
                ]
                goods = self._goods(WAYS_OF_GOODS[delivery.kind])
                offered = self._offer(delivery, [*goods, *beside, *((part, mode) for part in opened)])
                options.append(_option(mode, delivery.id, _added_to(without, offered), _moves(without, offered)))
        return tuple(options)

    def chosen(self, options: Sequence[ReceptionOption], open_line: uuid.UUID | None) -> ReceptionOption | None:
        """The chosen one of the options, if it is available. Of several delivery modes the first, unless one was selected."""
        modes = {mode for part, mode in self._ways if _is_opened(part, open_line)}
        fitting = (
            option
            for option in options
            if modes == {option.mode}
            and option.delivery.is_available
            and (option.delivery_id is None or self.delivery_id in (None, option.delivery_id))
        )
        return next(fitting, None)

    def _delivery(self, ways: Ways) -> DeliveryOption | None:
        modes = {mode for _, mode in ways if mode is not None}
        if any(mode is None for _, mode in ways):
            return None
        kind = next((_DELIVERY_KINDS[mode] for mode in modes if mode in _DELIVERY_KINDS), None)
        if kind is None and not any(isinstance(part, GoodsParcel) for part, _ in ways):
            return _by_email(modes)
        kind = kind or DeliveryKind.DIGITAL
        fitting = (each for each in self.deliveries if each.kind is kind and self.delivery_id in (None, each.id))
        offered = (self._offer(delivery, ways) for delivery in fitting)
        return next((option for option in offered if option.is_available), None)

    def _offer(self, delivery: ShopDelivery, ways: Ways) -> DeliveryOption:
        """The delivery of goods, and of what is not e-mailed."""
        physical = any(isinstance(part, GoodsParcel) and part.is_physical for part, _ in ways)
        option = delivery_option(delivery, self._shipments(ways), self.worth, self.reduction, physical=physical)
        modes = {mode for _, mode in ways}
        return replace(option, to_giftees=TO_GIFTEES in modes and ReceptionMode.EXPEDITION not in modes)

    def _shipments(self, ways: Ways) -> Sequence[Shipment]:
        """One shipment to the buyer or to the shop, and one to each distinct giftee address. Paper counts as 0 grams; a box
        has a weight.
        """
        to_buyer = [part for part, mode in ways if mode in {ReceptionMode.EXPEDITION, ReceptionMode.ON_SITE}]
        addresses: dict[tuple[str, ...], int] = {}
        for part, mode in ways:
            if mode is TO_GIFTEES:
                address = _address(part.choice.giftee if isinstance(part, BasketLine) else Giftee())
                addresses[address] = addresses.get(address, 0) + _weight(part)
        sent = [Shipment(self.country, sum(map(_weight, to_buyer)))] if to_buyer else []
        return [*sent, *(Shipment(address[-1], grams) for address, grams in addresses.items())]


def mode_of_goods(deliveries: Sequence[ShopDelivery], delivery_id: int | None) -> ReceptionMode | None:
    """How goods are received by the chosen delivery mode; None while none is chosen, and if it is gone."""
    return next((WAYS_OF_GOODS[each.kind] for each in deliveries if each.id == delivery_id), None)


def _is_opened(part: Part, open_line: uuid.UUID | None) -> bool:
    return part is None or (isinstance(part, BasketLine) and open_line in (None, part.id))


def _added_to(without: DeliveryOption | None, offered: DeliveryOption) -> DeliveryOption:
    """The option, with what it adds to the price of the delivery that other lines have anyway."""
    if without is None or without.price is None or offered.price is None:
        return offered
    return replace(offered, price=max(offered.price - without.price, ZERO))


def _moves(without: DeliveryOption | None, offered: DeliveryOption) -> bool:
    return without is not None and without.id not in {BY_EMAIL, offered.id}


def _weight(part: Part) -> int:
    """The weight of a part in grams."""
    if isinstance(part, GoodsParcel):
        return part.weight
    return part.box.weight_grams * part.quantity if part and part.box else 0


def _address(giftee: Giftee) -> tuple[str, ...]:
    return tuple(getattr(giftee, name) for name in ("first_name", "last_name", *ADDRESS_FIELDS))


def _by_email(modes: set[ReceptionMode]) -> DeliveryOption:
    return DeliveryOption(
        id=BY_EMAIL,
        kind=DeliveryKind.DIGITAL,
        name=RECEPTION_NAMES[next(iter(modes))] if len(modes) == 1 else BY_EMAIL_NAME,
        description=Text(),
        price=ZERO,
        free_above=None,
        countries=(),
    )


def _option(
    mode: ReceptionMode, delivery_id: int | None, delivery: DeliveryOption, moves_others: bool = False
) -> ReceptionOption:
    return ReceptionOption(
        mode=mode,
        delivery_id=delivery_id,
        delivery=delivery,
        needs_buyer_address=mode is ReceptionMode.EXPEDITION,
        needs_giftee_address=mode is ReceptionMode.POSTAL_MAIL_TO_BENEFICIARY,
        needs_giftee_email=mode is ReceptionMode.GIFTEE_EMAIL,
        moves_others=moves_others,
    )

"""Vouchers, gift cards and network products in the checkout: plain values without database rows. Amounts are decimals."""

import datetime as dt
import uuid
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from enum import StrEnum
from typing import ClassVar, TypeAlias
from zoneinfo import ZoneInfo

from schema.catalogue.prototype import VoucherPrototypeType
from schema.checkout.checkout import DeliveryOption, ShopKind
from schema.checkout.contact import Contact
from schema.checkout.gift_card_offer import OfferedDesign
from schema.checkout.network_offer import OfferedBox
from schema.core.text import Text
from schema.coupon.coupon import ReceptionMode
from schema.media import ResponsivePicture

MORNING = dt.time(8)
"""When a gift is e-mailed on its day, if the customer names no time."""


@dataclass(frozen=True, slots=True)
class OfferedOption:
    """An option of an experience. `countable` options can be chosen more than once."""

    id: int
    name: Text
    description: Text
    price: Decimal
    countable: bool
    default_count: int
    """The initial count when the customer adds it."""


@dataclass(frozen=True, slots=True)
class OfferedOptionCategory:
    """The options of one category, with the minimum and maximum of the sum of their counts. `id` is None for options
    without a category.
    """

    id: int | None
    name: Text
    description: Text
    minimum: int
    maximum: int | None
    options: tuple[OfferedOption, ...]


@dataclass(frozen=True, slots=True)
class IncludedOption:
    """An option that is included in the price of an experience."""

    id: int
    name: Text
    description: Text
    count: int


@dataclass(frozen=True, slots=True)
class OfferedPrototype:
    """An experience as the shop sells it now. The price of an additional person is None if that person is not
    allowed.
    """

    id: int
    slug: str
    type: VoucherPrototypeType
    name: Text
    description: Text
    long_description: Text
    rent_conditions: Text
    how_to_book_html: Text
    is_highlight: bool
    universe: Text
    price_from: Decimal
    """The lowest price of a voucher, without options."""
    price_varies: bool
    """True if more persons or nights, or an option that must be chosen, raise the price."""
    stay_price: Decimal
    price_scope: int
    """The number of persons included in the stay price."""
    adults_price: Decimal | None
    children_price: Decimal | None
    baby_price: Decimal | None
    min_capacity: int
    max_capacity: int
    """The maximum number of persons; 0 for any number."""
    nb_nights: int
    """For a stay the minimum of nights, for a fixed stay the number of nights, else 0."""
    fewest_nights: int
    """The minimum number of nights that can be bought."""
    most_nights: int
    validity_months: int
    last_active_day: dt.date | None
    pictures: tuple[ResponsivePicture, ...]
    """The cover is first."""
    categories: tuple[OfferedOptionCategory, ...]
    included: tuple[IncludedOption, ...]

    @property
    def min_persons(self) -> int:
        """The minimum number of persons, at least one."""
        return max(self.min_capacity, 1)


@dataclass(frozen=True, slots=True)
class Giftee(Contact):
    """The person a gift is for. The address is required only if the gift is posted to the giftee."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Gift:
    """For whom something is bought, with what words, and when it is sent."""

    self_gifted: bool = False
    giftee: Giftee = Giftee()
    from_gifter: str = ""
    """The name printed after "from"; empty for the buyer's name."""
    message: str = ""
    send_on: dt.date | None = None
    """The day on which it is e-mailed to the giftee; None for as soon as it is paid."""
    send_at: dt.time | None = None
    """The time of that day, in the time zone of the marketplace; None for the morning. It means nothing without a day."""
    reception: ReceptionMode | None = None
    """How it is received; None for the way of the order."""
    is_of_network: ClassVar[bool] = False
    """Whether the partner's network sells it, and not the partner."""

    def sending_moment(self, zone: ZoneInfo) -> dt.datetime | None:
        """When it is e-mailed to the giftee; None for as soon as it is paid."""
        return None if self.send_on is None else dt.datetime.combine(self.send_on, self.send_at or MORNING, zone)


@dataclass(frozen=True, slots=True)
class VoucherChoice(Gift):
    """A voucher as chosen by the customer. `nights` applies only to stays; 0 means the minimum."""

    prototype_id: int
    adults: int = 1
    children: int = 0
    babies: int = 0
    nights: int = 0
    options: Mapping[int, int] = field(default_factory=dict)
    """Option id -> count."""


@dataclass(frozen=True, slots=True)
class GiftCardChoice(Gift):
    """A gift card as chosen by the customer."""

    value: Decimal
    design_id: int | None = None


@dataclass(frozen=True, slots=True)
class NetworkGiftCardChoice(Gift):
    """Gift cards of the network as chosen by the customer, `quantity` alike."""

    is_of_network = True

    amount: Decimal
    """The value of each."""
    design_id: int | None = None
    quantity: int = 1


@dataclass(frozen=True, slots=True)
class BoxChoice(Gift):
    """Boxes of the network as chosen by the customer, `quantity` alike. Each is one network voucher."""

    is_of_network = True

    box_id: int
    quantity: int = 1


NetworkChoice: TypeAlias = NetworkGiftCardChoice | BoxChoice
BasketChoice: TypeAlias = VoucherChoice | GiftCardChoice | NetworkChoice


def quantity_of(choice: BasketChoice) -> int:
    """How many alike a choice is; 1 for anything but network products."""
    return choice.quantity if isinstance(choice, NetworkGiftCardChoice | BoxChoice) else 1


def content_of(choices: Iterable[BasketChoice], *, has_goods: bool = False) -> ShopKind:
    """What an order of these choices has, beside goods or without. Of none, the partner's vouchers."""
    kinds = {_CONTENTS[type(choice)] for choice in choices} | ({ShopKind.PRODUCTS} if has_goods else set())
    return ShopKind.MIXED if len(kinds) > 1 else kinds.pop() if kinds else ShopKind.VOUCHERS


_CONTENTS: Mapping[type[BasketChoice], ShopKind] = {
    VoucherChoice: ShopKind.VOUCHERS,
    GiftCardChoice: ShopKind.GIFT_CARDS,
    NetworkGiftCardChoice: ShopKind.NETWORK,
    BoxChoice: ShopKind.NETWORK,
}


class BasketProblem(StrEnum):
    """Why a line of a basket cannot be ordered."""

    NOT_SOLD = "not_sold"
    """The shop does not sell it, or no longer sells it."""
    CHOICE_CHANGED = "choice_changed"
    """The chosen persons, nights, options or value are no longer offered; the customer has to choose again."""
    TOO_MUCH = "too_much"
    """Together with the lines before it, it exceeds the maximum amount of an order."""
    GIFTEE_EMAIL_MISSING = "giftee_email_missing"
    """It is e-mailed to the giftee, but the giftee's e-mail address is missing."""
    GIFTEE_ADDRESS_MISSING = "giftee_address_missing"
    """It is posted to the giftee, but the giftee's name or address is incomplete."""


@dataclass(frozen=True, slots=True)
class PricedOption:
    option: OfferedOption
    count: int
    total: Decimal


@dataclass(frozen=True, slots=True)
class BasketLine:
    """One voucher or gift card of a basket, or several network products alike, priced by the shop. It costs 0 if a problem
    prevents pricing.
    """

    id: uuid.UUID
    choice: BasketChoice
    prototype: OfferedPrototype | None
    """The experience; None for gift cards, and if the shop does not sell it."""
    nights: int
    """The nights of the voucher: chosen, or fixed by the experience."""
    base_price: Decimal
    """The price of the experience for these persons and nights, the value of a gift card, or the price of one box."""
    options: tuple[PricedOption, ...]
    total: Decimal
    """base_price + options, times the quantity, before coupons."""
    value: Decimal
    """The value of all of the line: the total plus what coupons add."""
    problem: BasketProblem | None = None
    box: OfferedBox | None = None
    """The box; None for anything else, and if the shop does not sell it."""
    design: OfferedDesign | None = None
    """The design of a gift card; None for anything else, and for one without a design."""
    reception: ReceptionMode | None = None
    """How it is received, by its own choice or that of the order; None if nothing is chosen."""

    @property
    def quantity(self) -> int:
        """How many alike; 1 for anything but network products."""
        return quantity_of(self.choice)


@dataclass(frozen=True, slots=True)
class ReceptionOption:
    """A way to receive one line, or all. Postal modes are repeated for each home delivery mode of the partner."""

    mode: ReceptionMode
    delivery_id: int | None
    """The delivery mode that sets its price; None if it needs none."""
    delivery: DeliveryOption
    """Its name, price and countries, for display. Its id is 0 if it needs no delivery mode. The price of one line among
    others is what its choice adds to the delivery of the order.
    """
    needs_buyer_address: bool
    needs_giftee_address: bool
    needs_giftee_email: bool
    moves_others: bool
    """Whether lines that are posted or collected in another way follow: an order has one delivery mode."""

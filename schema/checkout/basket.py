"""What the shops of vouchers and gift cards show a customer and take from one: plain values, no rows. Amounts are decimals."""

import datetime as dt
import uuid
from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from enum import StrEnum
from typing import TypeAlias

from schema.catalogue.prototype import VoucherPrototypeType
from schema.checkout.checkout import Checkout, Contact, DeliveryOption
from schema.core.resource import Text
from schema.coupon.coupon import ReceptionMode
from schema.media import SIDES

# ---- what is offered --------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Picture:
    """A picture of an experience, in pixels as it was uploaded."""

    uuid: uuid.UUID
    width: int
    height: int

    def path(self, size: str) -> str:
        """Where it is served in a size (`thumb`, `card`, `cover`, `full`), as a path of this service."""
        return f"/media/{self.uuid}/{size}.webp"

    @property
    def sources(self) -> str:
        """All its sizes for a `srcset`, each with its width, smallest first; those that would be the same picture, once."""
        longest = max(self.width, self.height, 1)
        widths = {self.width * min(side, longest) // longest: size for size, side in SIDES.items()}
        return ", ".join(f"{self.path(size)} {width}w" for width, size in sorted(widths.items()))


@dataclass(frozen=True, slots=True)
class OfferedOption:
    """Something that can be added to an experience. `countable`: more than once."""

    id: int
    name: Text
    description: Text
    price: Decimal
    countable: bool
    proposed: int
    """How many to begin with, where the customer adds it."""


@dataclass(frozen=True, slots=True)
class OfferedCategory:
    """Options of one category, with how many of them must and may be chosen, all counted. `id` is None for those of none."""

    id: int | None
    name: Text
    description: Text
    minimum: int
    maximum: int | None
    options: tuple[OfferedOption, ...]


@dataclass(frozen=True, slots=True)
class IncludedOption:
    """An option that comes with an experience, at no further price."""

    id: int
    name: Text
    description: Text
    count: int


@dataclass(frozen=True, slots=True)
class OfferedPrototype:
    """An experience as the shop sells it now. Prices of further persons are None where there may be none of them."""

    id: int
    type: VoucherPrototypeType
    name: Text
    description: Text
    long_description: Text
    rent_conditions: Text
    how_to_book_html: Text
    is_highlight: bool
    universe: Text
    price_from: Decimal
    """The least that a voucher costs, options left out."""
    stay_price: Decimal
    price_scope: int
    """How many persons the stay price is for."""
    adults_price: Decimal | None
    children_price: Decimal | None
    baby_price: Decimal | None
    min_capacity: int
    max_capacity: int
    """The most persons; 0: any number."""
    nb_nights: int
    """Of a stay the fewest nights, of a fixed stay all of them, else 0."""
    validity_months: int
    last_active_day: dt.date | None
    pictures: tuple[Picture, ...]
    """The cover first."""
    categories: tuple[OfferedCategory, ...]
    included: tuple[IncludedOption, ...]

    @property
    def fewest(self) -> int:
        """The fewest persons, at least one."""
        return max(self.min_capacity, 1)


@dataclass(frozen=True, slots=True)
class OfferedGiftCards:
    """Gift cards as the shop sells them: the values proposed, and between which values any other may be."""

    suggested: tuple[Decimal, ...]
    minimum: Decimal
    maximum: Decimal
    validity_months: int


# ---- what a customer chooses ------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Giftee(Contact):
    """Whom it is for. The address is needed only where it is posted there."""


@dataclass(frozen=True, slots=True)
class VoucherChoice:
    """A voucher as the customer wants it. `nights` counts only for a stay; 0 is the fewest."""

    prototype_id: int
    adults: int = 1
    children: int = 0
    babies: int = 0
    nights: int = 0
    options: Mapping[int, int] = field(default_factory=dict)
    """How many of each option, by id."""
    self_gifted: bool = False
    giftee: Giftee = Giftee()
    to_giftee: str = ""
    """The name that stands after "for"; empty: the giftee's."""
    from_gifter: str = ""
    """The name that stands after "from"; empty: the buyer's."""
    message: str = ""


@dataclass(frozen=True, slots=True)
class GiftCardChoice:
    """A gift card as the customer wants it."""

    value: Decimal
    self_gifted: bool = False
    giftee: Giftee = Giftee()
    message: str = ""


BagChoice: TypeAlias = VoucherChoice | GiftCardChoice


class BagProblem(StrEnum):
    """Why a line of a bag cannot be ordered as it stands."""

    NOT_SOLD = "not_sold"
    """The shop does not sell it (any more)."""
    CHOICE_CHANGED = "choice_changed"
    """Persons, nights, options or value are no longer what the shop offers: choose again."""
    TOO_MUCH = "too_much"
    """With what is before it in the bag it comes to more than an order can."""
    GIFTEE_EMAIL_MISSING = "giftee_email_missing"
    """It goes by e-mail to whom it is for, whose address is not told."""
    GIFTEE_ADDRESS_MISSING = "giftee_address_missing"
    """It goes by post to whom it is for, and name or address are not told in full."""


@dataclass(frozen=True, slots=True)
class ChosenOption:
    """An option of a line, priced."""

    option: OfferedOption
    count: int
    total: Decimal


@dataclass(frozen=True, slots=True)
class BagLine:
    """One voucher or gift card of a bag, priced by the shop; with a problem that the price depends on it costs 0."""

    id: uuid.UUID
    choice: BagChoice
    prototype: OfferedPrototype | None
    """The experience; None for gift cards, and for what the shop does not sell."""
    nights: int
    """Those of the voucher: chosen, or the experience's own."""
    rent: Decimal
    """The price of the experience for these persons and nights, or the value of a gift card."""
    options: tuple[ChosenOption, ...]
    total: Decimal
    """rent + options, before coupons."""
    value: Decimal
    """What it is worth: total, and what coupons add."""
    problem: BagProblem | None = None


@dataclass(frozen=True, slots=True)
class ReceptionOption:
    """A way in which it reaches its recipient. Those by post are there once for each of the partner's home deliveries."""

    mode: ReceptionMode
    delivery_id: int | None
    """The delivery mode that it costs as; None where it needs none."""
    delivery: DeliveryOption
    """Its name, price and countries as the steps show them. Its id is 0 where it needs no delivery mode."""
    needs_buyer_address: bool
    needs_giftee_address: bool
    needs_giftee_email: bool


@dataclass(frozen=True, slots=True)
class BagCheckout(Checkout):
    """All that any step of a shop of vouchers or gift cards shows: `lines` and `offered` are empty, the bag is here.

    `deliveries` holds the chosen way alone, so that what shows a chosen delivery shows it.
    """

    bag: tuple[BagLine, ...] = ()
    receptions: tuple[ReceptionOption, ...] = ()
    reception: ReceptionOption | None = None
    """The one chosen, while it can be had."""
    gift_cards: OfferedGiftCards | None = None
    """What gift cards may be worth; None in the shop of vouchers, and where none are sold at the moment."""

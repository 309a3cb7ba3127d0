"""What the holder of a network's gift card or voucher sees on its page."""

import datetime as dt
from dataclasses import dataclass
from decimal import Decimal
from enum import StrEnum

from schema.checkout.brand import Brand
from schema.core.text import Text
from schema.media import ResponsivePicture


class HolderPageState(StrEnum):
    """What the holder can do."""

    USABLE = "usable"
    NOT_BEGUN = "not_begun"
    """It can be used from a later day."""
    PAUSED = "paused"
    """Its network, or a dispute, keeps it from being used for now."""
    USED = "used"
    """Nothing is left."""


@dataclass(frozen=True, slots=True)
class PartnerSearch:
    """What the holder looks for among the partners, and which page of them. Empty texts find all."""

    name: str = ""
    place: str = ""
    page: int = 1

    @property
    def is_filtered(self) -> bool:
        return bool(self.name or self.place)


@dataclass(frozen=True, slots=True)
class HolderOffer:
    """What a partner offers for a voucher."""

    name: Text
    description: Text
    terms_of_use: Text


@dataclass(frozen=True, slots=True, kw_only=True)
class AcceptingPartner:
    """A partner that accepts the gift card or voucher. Texts are empty if unknown."""

    id: int
    name: str
    address: str
    """Street and number."""
    postal_code: str
    city: str
    country_code: str
    website: str
    phone: str
    offers: tuple[HolderOffer, ...] = ()


@dataclass(frozen=True, slots=True)
class AcceptingPartners:
    """A page of the partners that match a search."""

    search: PartnerSearch
    match_count: int
    pages: int
    partners: tuple[AcceptingPartner, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class HolderMovement:
    """A usage, its cancellation, or what a refund gave back of it."""

    moment: dt.datetime
    partner: str
    amount: Decimal
    """Negative for a usage, positive for what a partner has given back."""
    offer: Text
    """The name of the offer of a voucher; empty if unknown."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HolderBalance:
    """What is left of a gift card."""

    currency: str
    value: Decimal
    remaining: Decimal
    is_splittable: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class HolderUsages:
    """How often a voucher can be used."""

    total: int
    remaining: int
    days_after_first_usage: int
    """0 for any number."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HolderPage:
    """The page of a gift card, which has a `balance`, or of a voucher, which has `usages`. It contains no code."""

    state: HolderPageState
    brand: Brand
    path: str
    language: str
    time_zone: str
    name: Text
    """The name of the box, or of the design; empty if there is none."""
    summary: Text
    description: Text
    picture: ResponsivePicture | None
    picture_url: str
    """The path of the picture of a design; empty if there is none."""
    giftee: str
    gifter: str
    message: str
    code_end: str
    """The last characters of the code."""
    starts_on: dt.datetime | None
    """None if it has begun."""
    ends_on: dt.datetime | None
    """The end of the last day on which it can be used; None: no limit."""
    document_url: str
    apple_pass_path: str
    """The path of its pass for Apple Wallet; empty without a key that signs it."""
    google_pass_path: str
    """The path of its pass for Google Wallet; empty likewise."""
    balance: HolderBalance | None = None
    usages: HolderUsages | None = None
    movements: tuple[HolderMovement, ...]
    """The newest first."""
    partners: AcceptingPartners

"""The network of the demo data, loaded from the folder `content/network/`: its shop, its further partners, the designs of
its gift cards and its boxes. A mistake raises a `ValueError` that names the file.
"""

from collections.abc import Mapping
from dataclasses import field
from typing import Annotated

from pydantic import AfterValidator, ConfigDict, Field
from pydantic.dataclasses import dataclass

from coffret.demo.content import (
    FOLDER,
    Amount,
    Count,
    DemoAddress,
    DemoCoupon,
    DemoTheme,
    Key,
    Percent,
    read_bytes,
    read_toml,
)
from schema.gift_occasion import GiftOccasion

_CONFIG = ConfigDict(extra="forbid")
NETWORK = FOLDER / "network"
LANGUAGES = ("en", "fr", "de")
"""The languages of these texts. Customers who read another one see English."""


def _require_languages(texts: dict[str, str]) -> dict[str, str]:
    if tuple(texts) != LANGUAGES or not all(map(str.strip, texts.values())):
        raise ValueError(f"needs a text in each of {' '.join(LANGUAGES)}, in this order")
    return texts


NetworkTexts = Annotated[dict[str, str], AfterValidator(_require_languages)]
Colour = Annotated[str, Field(pattern="^#[0-9a-f]{6}$")]
PositiveAmount = Annotated[Amount, Field(gt=0)]


@dataclass(frozen=True, config=_CONFIG)
class NetworkPartner:
    """A partner that takes part in the network. It has offers for boxes of its universes."""

    key: Key
    commercial_name: str
    name: str
    short_name: str
    accent_colour: Colour
    phone: str
    language: Annotated[str, Field(pattern="^[a-z]{2}$")]
    universes: tuple[Key, ...]
    tags: tuple[str, ...]
    address: DemoAddress
    vat_id: str = ""


@dataclass(frozen=True, config=_CONFIG)
class DemoNetworkShop:
    """The partner that stands for the network: its shop's brand, and the values of gift cards that it suggests."""

    name: str
    commercial_name: str
    short_name: str
    accent_colour: Colour
    theme: DemoTheme
    email: str
    phone: str
    language: Annotated[str, Field(pattern="^[a-z]{2}$")]
    suggested: tuple[PositiveAmount, ...]
    minimum: PositiveAmount
    maximum: PositiveAmount
    validity_months: Count
    address: DemoAddress
    coupon: DemoCoupon


@dataclass(frozen=True, config=_CONFIG)
class DemoInvoicer:
    """What is printed on the invoices of the network."""

    company_name: str
    address_line_1: str
    postal_code: str
    city: str
    country_code: str
    registration_number: str
    vat_id: str
    number_prefix: str


@dataclass(frozen=True, config=_CONFIG)
class NetworkTerms:
    """What the network has set for its gift cards, or for its vouchers."""

    validity_months: Count
    management_fee: Amount
    commission_rate: Percent
    vat_rate: Percent
    books_breakage: bool


@dataclass(frozen=True, config=_CONFIG)
class NetworkDesign:
    """A design of gift cards. `picture` is a path in the content, without its ending."""

    picture: str
    accent_colour: Colour
    name: NetworkTexts
    short_description: NetworkTexts
    description: NetworkTexts
    occasion: GiftOccasion | None = None
    is_active: bool = True


@dataclass(frozen=True, config=_CONFIG)
class NetworkBox:
    """A box. Partners of its universe have offers for it; `images` are pictures of the first partners."""

    key: Key
    universe: Key
    price: PositiveAmount
    price_scope: Count
    images: tuple[Key, ...]
    name: NetworkTexts
    short_description: NetworkTexts
    max_usages: Count = 1
    max_days_after_first_usage: Count = 0
    is_highlight: bool = False
    is_active: bool = True


@dataclass(frozen=True, config=_CONFIG)
class DemoNetwork:
    """The network. `pictures` are those of its designs."""

    shop: DemoNetworkShop
    invoicing: DemoInvoicer
    gift_cards: NetworkTerms
    vouchers: NetworkTerms
    designs: tuple[NetworkDesign, ...]
    pictures: tuple[bytes, ...] = field(repr=False)
    partners: tuple[NetworkPartner, ...]
    boxes: tuple[NetworkBox, ...]
    details: Mapping[Key, NetworkTexts]
    """What boxes of a universe have in common."""
    terms_of_use: NetworkTexts
    rejection_reason: str


@dataclass(frozen=True, config=_CONFIG)
class _NetworkFile:
    shop: DemoNetworkShop
    invoicing: DemoInvoicer
    gift_cards: NetworkTerms
    vouchers: NetworkTerms
    designs: tuple[NetworkDesign, ...]


@dataclass(frozen=True, config=_CONFIG)
class _PartnersFile:
    partners: tuple[NetworkPartner, ...]


@dataclass(frozen=True, config=_CONFIG)
class _BoxesFile:
    boxes: tuple[NetworkBox, ...]
    details: dict[Key, NetworkTexts]
    terms_of_use: NetworkTexts
    rejection_reason: str


def load_network() -> DemoNetwork:
    """Load and validate the network. Raises ValueError."""
    network = read_toml(_NetworkFile, NETWORK / "network.toml")
    boxes = read_toml(_BoxesFile, NETWORK / "boxes.toml")
    return DemoNetwork(
        shop=network.shop,
        invoicing=network.invoicing,
        gift_cards=network.gift_cards,
        vouchers=network.vouchers,
        designs=network.designs,
        pictures=tuple(read_bytes(FOLDER / f"{design.picture}.webp") for design in network.designs),
        partners=read_toml(_PartnersFile, NETWORK / "partners.toml").partners,
        boxes=boxes.boxes,
        details=boxes.details,
        terms_of_use=boxes.terms_of_use,
        rejection_reason=boxes.rejection_reason,
    )

"""The shops of the demo data, loaded from the folder `content/` beside this module: texts, prices, pictures.

Each partner has a folder with `partner.toml`, `attributes.toml`, `delivery.toml`, `codes.toml`, `products/<key>.toml`,
`pictures/<key>.webp`, `logo.svg` and `symbol.svg`. A mistake raises a `ValueError` that names the file.
"""

import tomllib
from collections.abc import Mapping
from dataclasses import field, replace
from decimal import Decimal
from pathlib import Path
from typing import Annotated, Any, TypeVar

from pydantic import AfterValidator, BeforeValidator, ConfigDict, Field, StrictInt, TypeAdapter, ValidationError
from pydantic.dataclasses import dataclass

from schema.coupon.coupon import CouponTarget
from schema.delivery.delivery import DeliveryKind
from schema.theme import CornerRadius, HeadingFont
from schema.validation.languages import LANGUAGES

T = TypeVar("T")

FOLDER = Path(__file__).with_name("content")
PARTNERS = ("maison-valserene", "table-cardamine")
"""The partners' folders, in the order of insertion."""

_CONFIG = ConfigDict(extra="forbid")


def _require_string(value: object) -> object:
    if not isinstance(value, str | Decimal):
        raise ValueError('write amounts in quotes, such as "26.00"')  # noqa: TRY004  pydantic collects ValueError only
    return value


def _require_all_languages(texts: dict[str, str]) -> dict[str, str]:
    if tuple(texts) != LANGUAGES:
        raise ValueError(f"needs exactly the languages {' '.join(LANGUAGES)}, in this order")
    if empty := [language for language, text in texts.items() if not text.strip()]:
        raise ValueError(f"is empty in {', '.join(empty)}")
    return texts


Texts = Annotated[dict[str, str], AfterValidator(_require_all_languages)]
"""Texts by language code, for all languages."""
Amount = Annotated[Decimal, BeforeValidator(_require_string), Field(ge=0, max_digits=12, decimal_places=2)]
"""EUR, VAT included."""
Percent = Annotated[Decimal, BeforeValidator(_require_string), Field(ge=0, le=100, max_digits=5, decimal_places=2)]
Count = Annotated[StrictInt, Field(ge=0)]
Grams = Annotated[StrictInt, Field(ge=0)]
Country = Annotated[str, Field(pattern="^[A-Z]{2}$")]
"""ISO 3166 alpha-2."""
Key = Annotated[str, Field(pattern="^[a-z0-9]+(-[a-z0-9]+)*$")]
"""Identifies an object within its partner. Stable between runs."""


@dataclass(frozen=True, config=_CONFIG)
class DemoPicture:
    """A picture: WebP for a product, SVG for a logo."""

    name: str
    content: bytes = field(repr=False)


@dataclass(frozen=True, config=_CONFIG)
class DemoAttributeValue:
    """One value of an attribute: the value in carts, and the label for customers."""

    value: Key
    label: Texts


@dataclass(frozen=True, config=_CONFIG)
class DemoAttribute:
    """A product attribute to choose. It affects neither price nor stock."""

    key: Key
    name: Texts
    is_required: bool
    values: Annotated[tuple[DemoAttributeValue, ...], Field(min_length=2)]


@dataclass(frozen=True, config=_CONFIG)
class DemoVariant:
    """A product variant. `stock` is None if it is not tracked."""

    key: Key
    name: Texts
    price: Amount
    weight_grams: Grams
    stock: Count | None = None
    is_active: bool = True


@dataclass(frozen=True, config=_CONFIG)
class DemoProduct:
    """A product with a picture in 4:3. With variants, its price is that of the cheapest active variant."""

    key: Key
    ranking: Count
    name: Texts
    description: Texts
    price: Amount
    vat_rate: Percent
    weight_grams: Grams
    picture: DemoPicture
    stock: Count | None = None
    is_active: bool = True
    variants: tuple[DemoVariant, ...] = ()
    attributes: tuple[DemoAttribute, ...] = ()

    @property
    def is_physical(self) -> bool:
        """True if the product must be collected or shipped. Products without weight are sent by e-mail."""
        return self.weight_grams > 0


@dataclass(frozen=True, config=_CONFIG)
class DemoAddress:
    """The address of a partner."""

    line: str
    postal_code: str
    city: str
    country: Country

    def __str__(self) -> str:
        return f"{self.line}, {self.postal_code} {self.city}"


@dataclass(frozen=True, config=_CONFIG)
class DemoBand:
    """The delivery price up to a weight."""

    max_weight_grams: Grams
    price: Amount


@dataclass(frozen=True, config=_CONFIG)
class DemoZone:
    """Countries with the same delivery prices, lightest band first. Heavier orders are not delivered."""

    countries: tuple[Country, ...]
    bands: tuple[DemoBand, ...]


@dataclass(frozen=True, config=_CONFIG)
class DemoRate:
    """The delivery price to a country, up to a weight."""

    country: Country
    max_weight_grams: Grams
    price: Amount


@dataclass(frozen=True, config=_CONFIG)
class DemoDelivery:
    """A delivery mode of a partner. `free_above` is None if delivery is never free by value."""

    kind: DeliveryKind
    name: Texts
    description: Texts
    vat_rate: Percent
    free_above: Amount | None = None
    opening_hours: Texts | None = None
    address: DemoAddress | None = None
    """Where goods are collected."""
    zones: tuple[DemoZone, ...] = ()

    @property
    def rates(self) -> tuple[DemoRate, ...]:
        """The rates of all zones, per country."""
        return tuple(
            DemoRate(country, band.max_weight_grams, band.price)
            for zone in self.zones
            for country in zone.countries
            for band in zone.bands
        )

    @property
    def details(self) -> dict[str, str]:
        """The text for customers: description, opening hours and address."""
        hours, address = self.opening_hours or {}, f"{self.address}." if self.address else ""
        return {
            language: " ".join(filter(None, (text, hours.get(language), address)))
            for language, text in self.description.items()
        }


@dataclass(frozen=True, config=_CONFIG)
class DemoCoupon:
    """A coupon with a percentage or an amount.

    Days are relative to the creation of the demo data. `minimum` is the minimum value of the products.
    """

    code: Annotated[str, Field(pattern="^[A-Z0-9]{4,20}$")]
    starts_in_days: StrictInt
    ends_in_days: StrictInt | None = None
    percentage: Annotated[Amount, Field(gt=0, le=100)] | None = None
    amount: Annotated[Amount, Field(gt=0)] | None = None
    minimum: Amount | None = None
    max_usages: Count | None = None
    usage_count: Count = 0
    targets: tuple[CouponTarget, ...] = (CouponTarget.ECOMMERCE, CouponTarget.CLICK_AND_COLLECT)


@dataclass(frozen=True, config=_CONFIG)
class DemoGiftCard:
    """A gift card to issue; its code is generated. With a negative `expires_in_days` it has already expired."""

    key: Key
    value: Annotated[Amount, Field(gt=0)]
    gifter_first_name: str
    gifter_last_name: str
    expires_in_days: StrictInt


@dataclass(frozen=True, config=_CONFIG)
class DemoGiftCardOffer:
    """The gift cards that a shop sells."""

    suggested: tuple[Annotated[Amount, Field(gt=0)], ...]
    minimum: Annotated[Amount, Field(gt=0)]
    maximum: Annotated[Amount, Field(gt=0)]
    validity_months: Annotated[StrictInt, Field(ge=1, le=120)]


@dataclass(frozen=True, config=_CONFIG)
class DemoTheme:
    """How a shop looks. `hero` is the key of one of its pictures; empty for none."""

    heading_font: HeadingFont
    corner_radius: CornerRadius
    page_tint: Annotated[str, Field(pattern="^(#[0-9a-f]{6})?$")]
    headline: Texts
    hero: str = ""


@dataclass(frozen=True, config=_CONFIG)
class DemoPartner:
    """A partner with the contents of its shop. Products are ordered by ranking."""

    key: Key
    commercial_name: str
    name: str
    short_name: str
    tagline: Texts
    accent_colour: Annotated[str, Field(pattern="^#[0-9a-f]{6}$")]
    theme: DemoTheme
    email: str
    phone: str
    language: Annotated[str, Field(pattern="^[a-z]{2}$")]
    gift_card_offer: DemoGiftCardOffer
    address: DemoAddress
    logo: DemoPicture
    """Symbol and name, for page headers."""
    symbol: DemoPicture
    """The symbol alone, square."""
    products: tuple[DemoProduct, ...]
    delivery: tuple[DemoDelivery, ...]
    coupons: tuple[DemoCoupon, ...]
    gift_cards: tuple[DemoGiftCard, ...]


@dataclass(frozen=True, config=_CONFIG)
class DemoContent:
    partners: tuple[DemoPartner, ...]


@dataclass(frozen=True, config=_CONFIG)
class _AttributesFile:
    attributes: tuple[DemoAttribute, ...]


@dataclass(frozen=True, config=_CONFIG)
class _DeliveryFile:
    delivery: tuple[DemoDelivery, ...]


@dataclass(frozen=True, config=_CONFIG)
class _CodesFile:
    coupons: tuple[DemoCoupon, ...]
    gift_cards: tuple[DemoGiftCard, ...]


def load_content() -> DemoContent:
    """Load and validate the demo content. Raises ValueError."""
    return DemoContent(tuple(load_partner(FOLDER / key) for key in PARTNERS))


def load_partner(folder: Path) -> DemoPartner:
    """Load and validate a partner's folder. Raises ValueError that names the invalid file."""
    attributes = {a.key: a for a in read_toml(_AttributesFile, folder / "attributes.toml").attributes}
    products = [_product(path, attributes) for path in sorted((folder / "products").glob("*.toml"))]
    codes = read_toml(_CodesFile, folder / "codes.toml")
    partner = read_toml(
        DemoPartner,
        folder / "partner.toml",
        key=folder.name,
        logo=_picture(folder / "logo.svg"),
        symbol=_picture(folder / "symbol.svg"),
        products=sorted(products, key=lambda product: product.ranking),
        delivery=read_toml(_DeliveryFile, folder / "delivery.toml").delivery,
        coupons=codes.coupons,
        gift_cards=codes.gift_cards,
    )
    return replace(partner, delivery=tuple(_with_address(partner.address, mode) for mode in partner.delivery))


def _with_address(address: DemoAddress, mode: DemoDelivery) -> DemoDelivery:
    return replace(mode, address=address) if mode.kind is DeliveryKind.CLICK_AND_COLLECT else mode


def _product(path: Path, known: Mapping[str, DemoAttribute]) -> DemoProduct:
    wanted = _toml(path).get("attributes", [])
    if unknown := [key for key in wanted if key not in known]:
        raise ValueError(f"{path}: attributes.toml has no {', '.join(unknown)}.")
    picture = _picture(path.parent.parent / "pictures" / f"{path.stem}.webp")
    return read_toml(DemoProduct, path, key=path.stem, picture=picture, attributes=[known[key] for key in wanted])


def read_toml(kind: type[T], path: Path, **from_elsewhere: object) -> T:
    """Read a TOML file into a dataclass; `from_elsewhere` adds fields that the file does not contain.

    Raises ValueError.
    """
    try:
        return TypeAdapter(kind).validate_python(_toml(path) | from_elsewhere)
    except ValidationError as error:
        raise ValueError(f"{path}: {error}") from error


def _toml(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, tomllib.TOMLDecodeError) as error:
        raise ValueError(f"{path}: {error}") from error


def _picture(path: Path) -> DemoPicture:
    return DemoPicture(path.name, read_bytes(path))


def read_bytes(path: Path) -> bytes:
    """The content of a file. Raises ValueError."""
    try:
        return path.read_bytes()
    except OSError as error:
        raise ValueError(f"{path}: {error}") from error

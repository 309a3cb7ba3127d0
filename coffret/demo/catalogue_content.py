"""The voucher catalogues of the demo partners, loaded from the folder `content/` beside this module.

`sorting.toml` is the marketplace's taxonomy. Each partner has `vouchers.toml`, `designs.toml`, `prototypes/<key>.toml`, and
for each picture a folder `media/<key>/` with all sizes, rendered in advance so that the first start is fast. A mistake raises a
`ValueError` that names the file.
"""

from dataclasses import field
from pathlib import Path
from typing import Annotated

from pydantic import ConfigDict, Field, StrictInt
from pydantic.dataclasses import dataclass

from coffret.demo.content import FOLDER, Amount, Count, Key, Percent, Texts, read_toml
from schema.catalogue.prototype import VoucherPrototypeType
from schema.gift_occasion import GiftOccasion
from schema.media import MediaSize
from schema.voucher.voucher import VoucherState

_CONFIG = ConfigDict(extra="forbid")


@dataclass(frozen=True, config=_CONFIG)
class DemoTaxon:
    """A universe or an environment."""

    key: Key
    name: Texts


@dataclass(frozen=True, config=_CONFIG)
class DemoPriceRange:
    """A price range. `maximum` is None if it is open-ended."""

    name: Texts
    minimum: Amount
    maximum: Amount | None = None


@dataclass(frozen=True, config=_CONFIG)
class DemoTaxonomy:
    """The marketplace's taxonomy of its partners' vouchers."""

    universes: tuple[DemoTaxon, ...]
    environments: tuple[DemoTaxon, ...]
    price_ranges: tuple[DemoPriceRange, ...]


@dataclass(frozen=True, config=_CONFIG)
class DemoMedia:
    """A picture in all sizes, as WebP. The original is the cover size."""

    key: Key
    files: dict[MediaSize, bytes] = field(repr=False)


@dataclass(frozen=True, config=_CONFIG)
class DemoCategory:
    """A category of options."""

    key: Key
    name: Texts
    description: Texts
    min_options: Count | None = None
    max_options: Count | None = None


@dataclass(frozen=True, config=_CONFIG)
class DemoOption:
    key: Key
    name: Texts
    description: Texts
    price: Amount
    category: Key | None = None
    countable: bool = False
    is_global: bool = False


@dataclass(frozen=True, config=_CONFIG)
class DemoOptionLink:
    """An option of a prototype: included in its price, or offered in addition."""

    key: Key
    count: Count
    included: bool


@dataclass(frozen=True, config=_CONFIG)
class DemoPrototype:
    """A voucher prototype. A rate of None is not sold."""

    key: Key
    ranking: Count
    type: VoucherPrototypeType
    name: Texts
    description: Texts
    long_description: Texts
    universe: Key
    environment: Key
    price_scope: Count
    min_capacity: Count
    max_capacity: Count
    stay_price: Amount
    vat_rate: Percent
    images: tuple[Key, ...]
    nb_nights: Count = 0
    adults_price: Amount | None = None
    children_price: Amount | None = None
    baby_price: Amount | None = None
    is_highlight: bool = False
    options: tuple[DemoOptionLink, ...] = ()


@dataclass(frozen=True, config=_CONFIG)
class DemoOptionCount:
    """An option with its count."""

    key: Key
    count: Count


@dataclass(frozen=True, config=_CONFIG)
class DemoVoucher:
    """A sold voucher; its code is generated."""

    prototype: Key
    state: VoucherState
    sold_days_ago: Annotated[StrictInt, Field(ge=0)]
    adults: Count
    language: Annotated[str, Field(pattern="^[a-z]{2}$")]
    gifter_first_name: str
    gifter_last_name: str
    gifter_email: str
    children: Count = 0
    nights: Count = 0
    options: tuple[DemoOptionCount, ...] = ()
    giftee_first_name: str | None = None
    giftee_last_name: str | None = None
    giftee_email: str | None = None
    message: str | None = None


@dataclass(frozen=True, config=_CONFIG)
class DemoDesign:
    """A design of gift cards. `picture` is the key of a picture of the partner."""

    picture: Key
    accent_colour: Annotated[str, Field(pattern="^#[0-9a-f]{6}$")]
    name: Texts
    short_description: Texts
    occasion: GiftOccasion | None = None
    is_active: bool = True


@dataclass(frozen=True, config=_CONFIG)
class DemoCatalogue:
    """A partner's voucher catalogue, its sold vouchers, and the designs of its gift cards by ranking. Prototypes are ordered
    by ranking.
    """

    rent_conditions: Texts
    how_to_book_html: Texts
    categories: tuple[DemoCategory, ...]
    options: tuple[DemoOption, ...]
    vouchers: tuple[DemoVoucher, ...]
    prototypes: tuple[DemoPrototype, ...]
    designs: tuple[DemoDesign, ...]
    media: tuple[DemoMedia, ...]


@dataclass(frozen=True, config=_CONFIG)
class _DesignsFile:
    designs: tuple[DemoDesign, ...]


def load_taxonomy() -> DemoTaxonomy:
    """Load and validate the taxonomy. Raises ValueError."""
    return read_toml(DemoTaxonomy, FOLDER / "sorting.toml")


def load_catalogue(partner: str) -> DemoCatalogue:
    """Load and validate the catalogue in a partner's folder. Raises ValueError that names the invalid file."""
    folder = FOLDER / partner
    prototypes = [read_toml(DemoPrototype, path, key=path.stem) for path in (folder / "prototypes").glob("*.toml")]
    return read_toml(
        DemoCatalogue,
        folder / "vouchers.toml",
        prototypes=sorted(prototypes, key=lambda prototype: prototype.ranking),
        designs=read_toml(_DesignsFile, folder / "designs.toml").designs,
        media=[_media(path) for path in sorted((folder / "media").iterdir())],
    )


def _media(folder: Path) -> DemoMedia:
    try:
        drawn = [size for size in MediaSize if size is not MediaSize.FULL]
        files: dict[MediaSize, bytes] = {size: (folder / f"{size}.webp").read_bytes() for size in drawn}
    except OSError as error:
        raise ValueError(f"{folder}: {error}") from error
    return DemoMedia(folder.name, {**files, MediaSize.FULL: files[MediaSize.COVER]})

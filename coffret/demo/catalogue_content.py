"""What the partners of the demo data sell as vouchers, read from the folder `content/` beside this module.

`sorting.toml` is the marketplace's. Each partner has `vouchers.toml`, `prototypes/<key>.toml`, and of each picture a folder
`media/<key>/` with its sizes, made beforehand so that a first start need not draw them. A mistake raises a `ValueError`
that names the file.
"""

from dataclasses import field
from pathlib import Path
from typing import Annotated

from pydantic import ConfigDict, Field, StrictInt
from pydantic.dataclasses import dataclass

from coffret.demo.content import FOLDER, Amount, Count, Key, Percent, Texts, read
from schema.catalogue.prototype import VoucherPrototypeType
from schema.media import MediaSize
from schema.voucher.voucher import VoucherState

_CONFIG = ConfigDict(extra="forbid")


@dataclass(frozen=True, config=_CONFIG)
class DemoSorting:
    """A universe or an environment."""

    key: Key
    name: Texts


@dataclass(frozen=True, config=_CONFIG)
class DemoPriceRange:
    """A range of prices; `maximum` is None where it has no end."""

    name: Texts
    minimum: Amount
    maximum: Amount | None = None


@dataclass(frozen=True, config=_CONFIG)
class DemoSortings:
    """How the marketplace sorts what its partners sell."""

    universes: tuple[DemoSorting, ...]
    environments: tuple[DemoSorting, ...]
    price_ranges: tuple[DemoPriceRange, ...]


@dataclass(frozen=True, config=_CONFIG)
class DemoMedia:
    """A picture in its sizes, as WebP. What is kept largest is its cover."""

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
    """An option."""

    key: Key
    name: Texts
    description: Texts
    price: Amount
    category: Key | None = None
    countable: bool = False
    is_global: bool = False


@dataclass(frozen=True, config=_CONFIG)
class DemoOptionLink:
    """An option of a prototype: included in its price, or offered with it."""

    key: Key
    count: Count
    included: bool


@dataclass(frozen=True, config=_CONFIG)
class DemoPrototype:
    """A prototype. A price that is None is not sold."""

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
class DemoChoice:
    """So many of an option."""

    key: Key
    count: Count


@dataclass(frozen=True, config=_CONFIG)
class DemoVoucher:
    """A voucher that was sold, without a code."""

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
    options: tuple[DemoChoice, ...] = ()
    giftee_first_name: str | None = None
    giftee_last_name: str | None = None
    giftee_email: str | None = None
    message: str | None = None


@dataclass(frozen=True, config=_CONFIG)
class DemoCatalogue:
    """What a partner sells as vouchers, prototypes in the order of their ranking, and what it has sold."""

    rent_conditions: Texts
    how_to_book_html: Texts
    categories: tuple[DemoCategory, ...]
    options: tuple[DemoOption, ...]
    vouchers: tuple[DemoVoucher, ...]
    prototypes: tuple[DemoPrototype, ...]
    media: tuple[DemoMedia, ...]


def load_sortings() -> DemoSortings:
    """Read and check how the marketplace sorts; raises ValueError where the file is not as it should be."""
    return read(DemoSortings, FOLDER / "sorting.toml")


def load_catalogue(partner: str) -> DemoCatalogue:
    """Read and check what a partner sells as vouchers, by the name of its folder; raises ValueError naming a bad file."""
    folder = FOLDER / partner
    prototypes = [read(DemoPrototype, path, key=path.stem) for path in (folder / "prototypes").glob("*.toml")]
    return read(
        DemoCatalogue,
        folder / "vouchers.toml",
        prototypes=sorted(prototypes, key=lambda prototype: prototype.ranking),
        media=[_media(path) for path in sorted((folder / "media").iterdir())],
    )


def _media(folder: Path) -> DemoMedia:
    try:
        drawn = [size for size in MediaSize if size is not MediaSize.FULL]
        files: dict[MediaSize, bytes] = {size: (folder / f"{size}.webp").read_bytes() for size in drawn}
    except OSError as error:
        raise ValueError(f"{folder}: {error}") from error
    return DemoMedia(folder.name, {**files, MediaSize.FULL: files[MediaSize.COVER]})

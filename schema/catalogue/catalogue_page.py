"""The catalogue page of the voucher shop: results, filters and facets, as plain values without database rows."""

from dataclasses import dataclass
from decimal import Decimal
from enum import StrEnum

from schema.catalogue.prototype import VoucherPrototypeType
from schema.core.text import Text
from schema.media import ResponsivePicture


class CatalogueSort(StrEnum):
    """The order of the experiences."""

    FEATURED = "chosen"
    """The shop's own order: highlights first, then by ranking."""
    CHEAPEST = "cheapest"
    MOST_EXPENSIVE = "dearest"
    NEWEST = "newest"


@dataclass(frozen=True, slots=True)
class CatalogueQuery:
    """The customer's filters and page; None means no filter."""

    universe_id: int | None = None
    environment_id: int | None = None
    price_range_id: int | None = None
    sort: CatalogueSort = CatalogueSort.FEATURED
    page: int = 1
    """Starts at 1."""

    @property
    def is_filtered(self) -> bool:
        return any(id is not None for id in (self.universe_id, self.environment_id, self.price_range_id))


@dataclass(frozen=True, slots=True)
class Facet:
    """A universe, environment or price range to filter by, with the number of matches under the other filters."""

    id: int
    name: Text
    count: int


@dataclass(frozen=True, slots=True)
class PrototypeCard:
    """An experience as shown in the list."""

    id: int
    slug: str
    type: VoucherPrototypeType
    name: Text
    description: Text
    is_highlight: bool
    universe: Text
    price_from: Decimal
    """The lowest price of a voucher, without options."""
    price_varies: bool
    """True if more persons or nights raise the price."""
    price_scope: int
    """The number of persons included in the price."""
    nb_nights: int
    cover: ResponsivePicture | None


@dataclass(frozen=True, slots=True)
class CataloguePage:
    query: CatalogueQuery
    """The applied query: filters without any match on sale are removed, and a page beyond the end becomes the last
    page.
    """
    currency: str
    total: int
    """The number of experiences on sale."""
    match_count: int
    """The number of experiences that match the filters."""
    pages: int
    universes: tuple[Facet, ...]
    environments: tuple[Facet, ...]
    price_ranges: tuple[Facet, ...]
    prototypes: tuple[PrototypeCard, ...]
    """The experiences on this page."""

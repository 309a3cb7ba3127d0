"""The public pages of a shop: what it sells, the page of one experience, and the list of all pages."""

import datetime as dt
from dataclasses import dataclass

from schema.checkout.basket import OfferedPrototype
from schema.core.text import Text


@dataclass(frozen=True, slots=True)
class ShopSections:
    """What a shop sells at present on pages of its own."""

    experiences: bool
    gift_cards: bool
    network: bool


@dataclass(frozen=True, slots=True)
class ShopPlace:
    """Where a shop is. Every line may be empty."""

    address_line_1: str
    address_line_2: str
    postal_code: str
    city: str
    country: str
    """ISO 3166 code."""

    @property
    def lines(self) -> tuple[str, ...]:
        """The lines of the address that are filled, without the country."""
        lines = (self.address_line_1, self.address_line_2, f"{self.postal_code} {self.city}".strip())
        return tuple(line for line in lines if line)


@dataclass(frozen=True, slots=True)
class ExperiencePage:
    """The page of an experience."""

    experience: OfferedPrototype
    is_on_sale: bool
    environment: Text | None
    place: ShopPlace
    currency: str


@dataclass(frozen=True, slots=True)
class ExperienceEntry:
    """An experience on sale in the sitemap."""

    slug: str
    updated_on: dt.datetime

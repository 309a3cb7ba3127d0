"""The window of a shop of experiences: what it shows, and what that can be narrowed down to. Plain values, no rows."""

from dataclasses import dataclass
from decimal import Decimal
from enum import StrEnum

from schema.catalogue.prototype import VoucherPrototypeType
from schema.checkout.basket import Picture
from schema.core.resource import Text


class WindowOrder(StrEnum):
    """What comes first in a window."""

    CHOSEN = "chosen"
    """What the shop puts there: highlights, then by ranking."""
    CHEAPEST = "cheapest"
    DEAREST = "dearest"
    NEWEST = "newest"


@dataclass(frozen=True, slots=True)
class WindowChoice:
    """What a customer wants to see. None: any."""

    universe_id: int | None = None
    environment_id: int | None = None
    price_range_id: int | None = None
    order: WindowOrder = WindowOrder.CHOSEN
    page: int = 1
    """From 1."""

    @property
    def is_narrow(self) -> bool:
        """Whether it leaves anything out."""
        return any(id is not None for id in (self.universe_id, self.environment_id, self.price_range_id))


@dataclass(frozen=True, slots=True)
class Drawer:
    """A universe, environment or price range of what is sold, and how many there are with all else that was chosen."""

    id: int
    name: Text
    count: int


@dataclass(frozen=True, slots=True)
class ShownPrototype:
    """An experience as the window shows it."""

    id: int
    type: VoucherPrototypeType
    name: Text
    description: Text
    is_highlight: bool
    universe: Text
    price_from: Decimal
    """The least that a voucher costs, options left out."""
    price_scope: int
    """How many persons the price is for."""
    nb_nights: int
    cover: Picture | None


@dataclass(frozen=True, slots=True)
class ShopWindow:
    """One page of a window."""

    choice: WindowChoice
    """What was followed: what nothing on sale has is left out, and a page that is not there is the last."""
    currency: str
    total: int
    """How many experiences are on sale."""
    found: int
    """How many of them are wanted."""
    pages: int
    universes: tuple[Drawer, ...]
    environments: tuple[Drawer, ...]
    price_ranges: tuple[Drawer, ...]
    prototypes: tuple[ShownPrototype, ...]
    """Those of the page."""

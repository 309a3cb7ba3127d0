"""What a shop sells of its network, as its customers see it: plain values without database rows. Amounts are decimals."""

from dataclasses import dataclass
from decimal import Decimal

from schema.checkout.gift_card_offer import OfferedGiftCards
from schema.core.text import Text
from schema.media import ResponsivePicture


@dataclass(frozen=True, slots=True)
class OfferedBox:
    """A box of the network on sale."""

    id: int
    name: Text
    short_description: Text
    long_description: Text
    is_highlight: bool
    price: Decimal
    price_scope: int
    """The number of persons included in the price."""
    weight_grams: int
    max_usages: int
    max_days_after_first_usage: int
    """0 for any number."""
    partners_count: int
    """How many partners accept its vouchers now."""
    pictures: tuple[ResponsivePicture, ...]
    """The cover is first."""


@dataclass(frozen=True, slots=True)
class NetworkWindow:
    """What a shop sells of its network."""

    currency: str
    cards: OfferedGiftCards | None
    """None if it sells no gift cards of the network."""
    boxes: tuple[OfferedBox, ...]
    """Highlights first, then by ranking."""

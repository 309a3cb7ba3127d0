"""The gift cards that a shop sells, its own or those of its network, as its customers see them: plain values without database
rows. Amounts are decimals.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal

from schema.core.text import Text
from schema.gift_occasion import GiftOccasion


@dataclass(frozen=True, slots=True, kw_only=True)
class OfferedDesign:
    """A design of gift cards. `picture_url` and `thumb_url` are the paths of its picture, as a card and in small; empty if it
    has no picture.
    """

    id: int
    name: Text
    occasion: GiftOccasion | None
    short_description: Text
    description: Text
    picture_url: str
    thumb_url: str
    accent_colour: str


@dataclass(frozen=True, slots=True)
class OfferedGiftCards:
    """Suggested values, the range of other values, and the designs by ranking."""

    suggested: tuple[Decimal, ...]
    minimum: Decimal
    maximum: Decimal
    validity_months: int
    designs: tuple[OfferedDesign, ...] = ()

    def design(self, id: int | None) -> OfferedDesign | None:
        """The design with this id, if it can be chosen."""
        return next((design for design in self.designs if design.id == id), None)

    @property
    def usual_value(self) -> Decimal:
        """The value that is chosen at first: the one in the middle of the suggested ones."""
        suggested = self.suggested or (self.minimum,)
        return suggested[len(suggested) // 2]

    def designs_by_occasion(self) -> Mapping[GiftOccasion | None, list[OfferedDesign]]:
        """The designs of each occasion, in the order in which the occasions first appear."""
        groups: dict[GiftOccasion | None, list[OfferedDesign]] = {}
        for design in self.designs:
            groups.setdefault(design.occasion, []).append(design)
        return groups

"""Baskets of vouchers and gift cards, or of network products, stored in the customer's session until a payment starts."""

import uuid
from dataclasses import dataclass, field, replace

from schema.checkout.basket import BasketChoice, Giftee
from schema.checkout.checkout import CheckoutNotice, ShopKind
from schema.coupon.coupon import ReceptionMode
from store.checkout.receptions import mode_beside

MAX_BASKETS = 4


@dataclass(slots=True)
class BasketEdits:
    """A basket: its lines by id, and how they are received that do not say so themselves."""

    last_modified: int
    """Creation time in milliseconds; it never changes. Payments of different contents differ by their fingerprint."""
    kind: ShopKind
    """One of the contents of its kind of checkout: baskets of older releases had one each."""
    lines: dict[uuid.UUID, BasketChoice] = field(default_factory=dict)
    reception: ReceptionMode | None = None
    delivery_id: int | None = None
    """The delivery mode of what is posted or collected; None for the first that fits."""
    country: str = ""
    codes: list[str] = field(default_factory=list)
    notices: list[CheckoutNotice] = field(default_factory=list)

    def receive(self, mode: ReceptionMode, delivery_id: int | None, line_id: uuid.UUID | None = None) -> None:
        """Receive a line, or all, in this way. If it is posted or collected, so are the others that were not e-mailed: an
        order has one delivery mode.
        """
        if line_id is None or self.lines.keys() <= {line_id}:
            modes: dict[uuid.UUID, ReceptionMode | None] = dict.fromkeys(self.lines, mode)
            self.reception, self.delivery_id = mode, delivery_id
        else:
            modes = {
                id: mode_beside(line.reception or self.reception, line.giftee, mode) for id, line in self.lines.items()
            }
            modes[line_id] = mode
            self.reception = mode_beside(self.reception, Giftee(), mode) or mode
            self.delivery_id = self.delivery_id if mode.is_by_email else delivery_id
        for id, line in self.lines.items():
            own = modes[id] if modes[id] is not self.reception else None
            self.lines[id] = replace(line, reception=own)

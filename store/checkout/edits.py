"""What a customer has chosen in a checkout, stored in the customer's session until a payment starts."""

import uuid
from dataclasses import dataclass, field, replace

from schema.checkout.basket import BasketChoice, Giftee
from schema.checkout.checkout import CheckoutNotice, ProductChoice, ShopKind
from schema.coupon.coupon import ReceptionMode
from store.checkout.pricing.receptions import mode_beside


@dataclass(slots=True)
class CheckoutEdits:
    """The contents of a basket, or the customer's changes to a cart and what was added to it: goods, and vouchers and gift
    cards by the id of their line.
    """

    last_modified: int
    """The version of the cart, in milliseconds. Of a basket the time of its creation, which never changes: payments of
    different contents differ by their fingerprint.
    """
    kind: ShopKind = ShopKind.PRODUCTS
    """One of the contents of its kind of checkout: baskets of older releases had one each."""
    choices: list[ProductChoice] = field(default_factory=list)
    lines: dict[uuid.UUID, BasketChoice] = field(default_factory=dict)
    reception: ReceptionMode | None = None
    """How vouchers and gift cards are received that do not say so themselves."""
    delivery_id: int | None = None
    """The delivery mode of goods, and of all that is posted or collected. Without goods None is the first that fits."""
    country: str = ""
    codes: list[str] = field(default_factory=list)
    notices: list[CheckoutNotice] = field(default_factory=list)

    @property
    def has_goods(self) -> bool:
        return any(choice.quantity for choice in self.choices)

    @property
    def is_delivery_of_goods(self) -> bool:
        """Whether the delivery mode of a cart is chosen for its goods. Presents alone say how they are received."""
        return self.has_goods or not self.lines

    def receive(self, mode: ReceptionMode, delivery_id: int | None, line_id: uuid.UUID | None = None) -> None:
        """Receive a line, or all, in this way. If it is posted or collected, so are the others that were not e-mailed, and
        goods: an order has one delivery mode.
        """
        is_all = line_id is None or self.lines.keys() <= {line_id}
        if not mode.is_by_email or (is_all and not self.has_goods):
            self.delivery_id = delivery_id
        if line_id is None or is_all:
            modes: dict[uuid.UUID, ReceptionMode | None] = dict.fromkeys(self.lines, mode)
            self.reception = mode
        else:
            modes = {
                id: mode_beside(line.reception or self.reception, line.giftee, mode) for id, line in self.lines.items()
            }
            modes[line_id] = mode
            self.reception = mode_beside(self.reception, Giftee(), mode) or mode
        for id, line in self.lines.items():
            own = modes[id] if modes[id] is not self.reception else None
            self.lines[id] = replace(line, reception=own)

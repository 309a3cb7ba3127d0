"""The customer's checkout state. It is stored in the customer's session only, until a payment starts."""

import uuid
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import orjson
from pydantic import TypeAdapter

from schema.cart.cart import Cart
from schema.checkout.basket import BasketChoice
from schema.checkout.checkout import Buyer, CheckoutKind, CheckoutNotice, ProductChoice
from store.checkout.edits import CheckoutEdits
from store.checkout.sessions import NEW_VERSION, Sessions

MAX_CARTS = 10
MAX_BASKETS = 4
MAX_TRIES = 20


@dataclass(slots=True)
class CustomerSession:
    """A customer's session: the buyer, the edits of each cart, and the baskets.

    The latest carts and baskets come last.
    """

    buyer: Buyer | None = None
    carts: dict[uuid.UUID, CheckoutEdits] = field(default_factory=dict)
    bags: dict[uuid.UUID, CheckoutEdits] = field(default_factory=dict)

    def cart_edits(self, cart: Cart, ordered: int | None = None) -> CheckoutEdits:
        """The customer's edits of this cart.

        They start as the cart's items, and again after the shop has replaced the cart. What the customer has added stays,
        unless it is in the order of the version before; `ordered` is the version that became an order.
        """
        edits = self.carts.get(cart.id)
        if edits is None or edits.last_modified != cart.last_modified:
            choices = [ProductChoice(i.product_id, i.quantity, i.variant_id, i.attribute_values) for i in cart.items]
            before = edits
            edits = CheckoutEdits(cart.last_modified, choices=choices, country=self._country)
            if before is not None:
                edits.codes, edits.reception = before.codes, before.reception
                edits.lines = before.lines if before.last_modified != ordered else {}
                edits.notices = [CheckoutNotice.CART_REPLACED]
            self.carts[cart.id] = edits
            for old in list(self.carts)[:-MAX_CARTS]:
                del self.carts[old]
        return edits

    def basket(
        self, id: uuid.UUID, kind: CheckoutKind, begun: int, lines: Mapping[uuid.UUID, BasketChoice] | None = None
    ) -> CheckoutEdits:
        """The basket; a new one with these lines, created at `begun` (milliseconds), if there is none of this id and
        kind.
        """
        basket = self.bags.get(id)
        if basket is None or basket.kind not in kind.contents:
            basket = CheckoutEdits(begun, kind.contents[0], lines=dict(lines or {}), country=self._country)
            self.bags[id] = basket
            for old in list(self.bags)[:-MAX_BASKETS]:
                del self.bags[old]
        return basket

    @property
    def _country(self) -> str:
        return self.buyer.country if self.buyer else ""


SESSION = TypeAdapter(CustomerSession)


class CustomerSessions:
    """The customers' sessions, with optimistic locking."""

    def __init__(self, sessions: Sessions) -> None:
        self.sessions = sessions

    async def load(self, partner_id: int, session_id: str) -> CustomerSession:
        """The stored session; a new one if there is none."""
        stored = await self.sessions.load(partner_id, session_id)
        return decode_session(stored.value) if stored else CustomerSession()

    async def change(
        self, partner_id: int, session_id: str, change: Callable[[CustomerSession], None]
    ) -> CustomerSession:
        """Apply a change to a customer's session, and again to its latest version after a concurrent write.

        `change` may therefore run several times. Raises RuntimeError after MAX_TRIES conflicts.
        """
        for _ in range(MAX_TRIES):
            stored = await self.sessions.load(partner_id, session_id)
            customer, version = (
                (decode_session(stored.value), stored.version) if stored else (CustomerSession(), NEW_VERSION)
            )
            change(customer)
            if await self.sessions.save(partner_id, session_id, encode_session(customer), version) is not None:
                return customer
        raise RuntimeError("The customer's session has too many concurrent changes.")


def encode_session(customer: CustomerSession) -> bytes:
    return orjson.dumps(customer, default=str, option=orjson.OPT_NON_STR_KEYS)  # `str`: amounts


def decode_session(data: bytes) -> CustomerSession:
    return SESSION.validate_json(data)

"""What a customer has told the checkout, kept in the customer's session and nowhere else until an order is begun."""

import uuid
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import orjson

from schema.cart.cart import Cart
from schema.checkout.checkout import Buyer, Choice, Notice, ShopKind
from store.checkout.baskets import KEPT_BAGS, BagEdits, bag_from
from store.checkout.sessions import NEW, Sessions

KEPT_CARTS = 10
TRIES = 20


@dataclass(slots=True)
class CartEdits:
    """What a customer made of one cart."""

    last_modified: int
    choices: list[Choice]
    delivery_id: int | None = None
    country: str = ""
    codes: list[str] = field(default_factory=list)
    notices: list[Notice] = field(default_factory=list)


@dataclass(slots=True)
class Customer:
    """A customer's session: who buys, what was made of each cart, and what is in each bag; latest last."""

    buyer: Buyer | None = None
    carts: dict[uuid.UUID, CartEdits] = field(default_factory=dict)
    bags: dict[uuid.UUID, BagEdits] = field(default_factory=dict)

    def edits(self, cart: Cart) -> CartEdits:
        """What was made of this cart; begins with the cart itself, and again when the shop has replaced it."""
        edits = self.carts.get(cart.id)
        if edits is None or edits.last_modified != cart.last_modified:
            choices = [Choice(i.product_id, i.quantity, i.variant_id, i.attribute_values) for i in cart.items]
            replaced = [Notice.CART_REPLACED] if edits else []
            codes = edits.codes if edits else []
            edits = CartEdits(cart.last_modified, choices, codes=codes, notices=replaced)
            if edits.country == "" and self.buyer:
                edits.country = self.buyer.country
            self.carts[cart.id] = edits
            for old in list(self.carts)[:-KEPT_CARTS]:
                del self.carts[old]
        return edits

    def bag(self, id: uuid.UUID, kind: ShopKind, begun: int) -> BagEdits:
        """A bag; an empty one, begun at this millisecond, when there is none of this id and kind."""
        bag = self.bags.get(id)
        if bag is None or bag.kind is not kind:
            bag = BagEdits(begun, kind, country=self.buyer.country if self.buyer else "")
            self.bags[id] = bag
            for old in list(self.bags)[:-KEPT_BAGS]:
                del self.bags[old]
        return bag


class Customers:
    """The sessions of customers, changed by one request at a time."""

    def __init__(self, sessions: Sessions) -> None:
        self.sessions = sessions

    async def load(self, partner_id: int, session_id: str) -> Customer:
        """The session as it is; a new one when there is none."""
        found = await self.sessions.load(partner_id, session_id)
        return decoded(found.value) if found else Customer()

    async def change(self, partner_id: int, session_id: str, change: Callable[[Customer], None]) -> Customer:
        """Change the session of a customer; of two changes at once, one is made after the other."""
        for _ in range(TRIES):
            found = await self.sessions.load(partner_id, session_id)
            customer, version = (decoded(found.value), found.version) if found else (Customer(), NEW)
            change(customer)
            if await self.sessions.save(partner_id, session_id, encoded(customer), version) is not None:
                return customer
        raise RuntimeError("A customer's session keeps changing under our hands.")


def encoded(customer: Customer) -> bytes:
    """As it is stored."""
    return orjson.dumps(customer, default=str, option=orjson.OPT_NON_STR_KEYS)  # `str`: amounts


def decoded(data: bytes) -> Customer:
    """As it was stored."""
    raw: dict[str, Any] = orjson.loads(data)
    buyer = Buyer(**raw["buyer"]) if raw["buyer"] else None
    carts = {uuid.UUID(k): _edits(v) for k, v in raw["carts"].items()}
    return Customer(buyer, carts, {uuid.UUID(k): bag_from(v) for k, v in raw.get("bags", {}).items()})


def _edits(raw: dict[str, Any]) -> CartEdits:
    choices = [choice_from(c) for c in raw.pop("choices")]
    notices = [Notice(n) for n in raw.pop("notices")]
    return CartEdits(choices=choices, notices=notices, **raw)


def choice_from(raw: dict[str, Any]) -> Choice:
    """A choice from its JSON form, whose object keys are text."""
    values = {int(k): v for k, v in raw.pop("attribute_values").items()}
    return Choice(attribute_values=values, **raw)

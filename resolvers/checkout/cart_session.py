"""A customer at the checkout of a shop's cart."""

import datetime as dt
from dataclasses import dataclass, replace

from sqlmodel.ext.asyncio.session import AsyncSession

from resolvers.checkout.session import Desk, shared_view
from resolvers.core.operation import Call
from resolvers.payment.completion import holds_end
from schema.cart.cart import Cart
from schema.checkout.checkout import Checkout, CheckoutLine, LineProblem
from store.checkout.customer_state import CartEdits, Customer
from store.checkout.offers import load_deliveries, load_products
from store.checkout.placement import Source
from store.checkout.pricing import Basket, price
from store.checkout.quotes import CartQuote
from store.checkout.reading import held_elsewhere, wanted_products

SHORT = (LineProblem.OUT_OF_STOCK, LineProblem.NOT_ENOUGH_STOCK)


@dataclass(frozen=True)
class CartDesk(Desk):
    """A customer with a cart that a shop has handed over."""

    cart: Cart

    @property
    def source(self) -> Source:
        """The cart."""
        return Source(self.cart.id, self.cart.last_modified, self.cart.return_url)

    def edits_in(self, customer: Customer) -> CartEdits:
        """What a customer made of the cart."""
        return customer.edits(self.cart)

    @property
    def edits(self) -> CartEdits:
        """What this customer made of the cart."""
        return self.edits_in(self.customer)

    async def quote(self, call: Call, db: AsyncSession, *, others: bool = False) -> CartQuote:
        """What the chosen products come to."""
        products = await load_products(db, self.partner.id, wanted_products(self.edits.choices), others=others)
        basket = Basket(
            choices=self.edits.choices,
            products=self.own.given_back(products),
            deliveries=await load_deliveries(db, self.partner.id),
            delivery_id=self.edits.delivery_id,
            country=self.country,
            email=self.email,
            codes=await self.codes(call, db),
            currency=self.currency,
        )
        return CartQuote.of(basket, price(basket))

    async def view(self, call: Call, db: AsyncSession) -> Checkout:
        """All that a step shows."""
        quote = await self.quote(call, db, others=True)
        return Checkout(
            **shared_view(call, self, quote),
            lines=await self._held(db, quote.priced.lines),
            offered=tuple(s.offered for s in quote.basket.products.values() if s.is_active),
            deliveries=quote.priced.deliveries,
            delivery_id=self.edits.delivery_id,
            expected=quote.priced.expected,
        )

    async def _held(self, db: AsyncSession, lines: tuple[CheckoutLine, ...]) -> tuple[CheckoutLine, ...]:
        """The lines, with until when those are held that only another browser's payment for this cart has taken."""
        if not any(line.problem in SHORT for line in lines):
            return lines
        until: dict[tuple[int, int | None], dt.datetime] = {}
        for holds, attempt in await held_elsewhere(db, self.partner.id, self.key):
            until |= {of: max(holds_end(attempt), until.get(of, holds_end(attempt))) for of in holds.stock}
        return tuple(
            replace(line, held_until=until.get((line.choice.product_id, line.variant.id if line.variant else None)))
            if line.problem in SHORT
            else line
            for line in lines
        )

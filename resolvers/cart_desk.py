"""A customer at the checkout of a shop's cart."""

from dataclasses import dataclass

from sqlmodel.ext.asyncio.session import AsyncSession

from resolvers.desks import Desk, shared_view
from resolvers.operation import Call
from schema.cart import Cart
from schema.checkout import Checkout
from store.checkout import wanted_products
from store.customers import CartEdits, Customer
from store.ordering import Source
from store.pricing import Basket, price
from store.quotes import CartQuote
from store.shop import load_deliveries, load_products


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
            lines=quote.priced.lines,
            offered=tuple(s.offered for s in quote.basket.products.values() if s.is_active),
            deliveries=quote.priced.deliveries,
            delivery_id=self.edits.delivery_id,
        )

"""The checkout session of a cart of products."""

import datetime as dt
from dataclasses import dataclass, replace

from resolvers.checkout.session import CheckoutSession, shared_view
from resolvers.core.operation import Call
from schema.cart.cart import Cart
from schema.checkout.checkout import Checkout, CheckoutLine, LineProblem
from store.checkout.customer_state import CartEdits, CustomerSession
from store.checkout.offers import load_deliveries, load_products
from store.checkout.placement import CheckoutSource
from store.checkout.pricing import CartPricingInput, presumed_country, price_cart
from store.checkout.quotes import CartQuote
from store.checkout.reading import product_ids_of, reservations_elsewhere, stock_held_by_others
from store.database.transaction_reader import DatabaseReader
from store.payment.attempts import reservations_end

STOCK_PROBLEMS = (LineProblem.OUT_OF_STOCK, LineProblem.NOT_ENOUGH_STOCK)


@dataclass(frozen=True)
class CartCheckoutSession(CheckoutSession):
    """The checkout session of a cart that the partner's shop sent."""

    cart: Cart

    @property
    def source(self) -> CheckoutSource:
        return CheckoutSource(self.cart.id, self.cart.last_modified, self.cart.return_url)

    def edits_in(self, customer: CustomerSession) -> CartEdits:
        return customer.cart_edits(self.cart)

    @property
    def edits(self) -> CartEdits:
        return self.edits_in(self.customer)

    async def quote(self, call: Call, db: DatabaseReader, *, others: bool = False) -> CartQuote:
        """The priced cart. With `others`, it also loads other active products of the shop, to offer them."""
        products = await load_products(db, self.shop.partner_id, product_ids_of(self.edits.choices), others=others)
        deliveries = await load_deliveries(db, self.shop.partner_id)
        basket = CartPricingInput(
            choices=self.edits.choices,
            products=self.own_reservations.without_reservations(products),
            deliveries=deliveries,
            delivery_id=self.edits.delivery_id,
            country=self.country or presumed_country(deliveries, self.shop.country),
            email=self.email,
            codes=await self.codes(call, db),
            currency=self.currency,
        )
        return CartQuote.from_priced(basket, price_cart(basket))

    async def view(self, call: Call, db: DatabaseReader) -> Checkout:
        quote = await self.quote(call, db, others=True)
        return Checkout(
            **shared_view(call, self, quote),
            lines=await self._with_reserved_until(db, quote.priced.lines),
            offered_products=tuple(s.offered for s in quote.pricing_input.products.values() if s.is_active),
            deliveries=quote.priced.deliveries,
            delivery_id=self.edits.delivery_id,
            estimate=quote.priced.expected,
        )

    async def _with_reserved_until(
        self, db: DatabaseReader, lines: tuple[CheckoutLine, ...]
    ) -> tuple[CheckoutLine, ...]:
        """The lines, with `reserved_until` where another browser's payment for this cart reserves the missing stock, and
        `is_held_by_others` where payments for other carts do.
        """
        if not any(line.problem in STOCK_PROBLEMS for line in lines):
            return lines
        until: dict[tuple[int, int | None], dt.datetime] = {}
        for holds, attempt in await reservations_elsewhere(db, self.shop.partner_id, self.key):
            until |= {
                of: max(reservations_end(attempt), until.get(of, reservations_end(attempt))) for of in holds.stock
            }
        held = await stock_held_by_others(db, self.shop.partner_id, self.key)

        def with_holders(line: CheckoutLine) -> CheckoutLine:
            of = line.choice.product_id, line.variant.id if line.variant else None
            is_held = 0 < held.get(of, 0) >= line.choice.quantity - (line.available or 0)
            return replace(line, reserved_until=until.get(of), is_held_by_others=is_held)

        return tuple(with_holders(line) if line.problem in STOCK_PROBLEMS else line for line in lines)

"""A customer in the shop of vouchers or of gift cards."""

from dataclasses import dataclass

from sqlmodel.ext.asyncio.session import AsyncSession

from resolvers.checkout.session import Desk, shared_view
from resolvers.core.operation import Call
from schema.checkout.basket import BagCheckout, OfferedGiftCards, VoucherChoice
from schema.checkout.checkout import ShopKind
from store.catalogue.offers import SoldPrototype, load_prototypes
from store.checkout.basket_pricing import BagBasket, price_bag
from store.checkout.baskets import BagEdits
from store.checkout.customer_state import Customer
from store.checkout.offers import load_deliveries
from store.checkout.placement import Source
from store.checkout.quotes import BagQuote
from store.gift_card.offer import offer_of


@dataclass(frozen=True)
class BagDesk(Desk):
    """A customer with a bag. `begun` is this millisecond, for a bag that is not there yet."""

    begun: int

    @property
    def source(self) -> Source:
        """The bag."""
        return Source(self.key.cart_id, self.edits.last_modified)

    def edits_in(self, customer: Customer) -> BagEdits:
        """What is in a customer's bag."""
        return customer.bag(self.key.cart_id, self.key.kind, self.begun)

    @property
    def edits(self) -> BagEdits:
        """What is in this customer's bag."""
        return self.edits_in(self.customer)

    @property
    def gift_cards(self) -> OfferedGiftCards | None:
        """The gift cards that are sold; None in the shop of vouchers, and where there are none at the moment."""
        return offer_of(self.partner) if self.key.kind is ShopKind.GIFT_CARDS else None

    async def prototypes(self, call: Call, db: AsyncSession) -> dict[int, SoldPrototype]:
        """The experiences in the bag."""
        if self.key.kind is not ShopKind.VOUCHERS:
            return {}
        wanted = {c.prototype_id for c in self.edits.lines.values() if isinstance(c, VoucherChoice)}
        today = call.services.clock.now().astimezone(self.zone).date()
        return await load_prototypes(db, self.partner.id, today, sorted(wanted))

    async def quote(self, call: Call, db: AsyncSession) -> BagQuote:
        """What the bag comes to."""
        basket = BagBasket(
            kind=self.key.kind,
            choices=self.edits.lines,
            prototypes=await self.prototypes(call, db),
            gift_cards=self.gift_cards,
            deliveries=await load_deliveries(db, self.partner.id),
            reception=self.edits.reception,
            delivery_id=self.edits.delivery_id,
            country=self.country,
            email=self.email,
            codes=await self.codes(call, db),
            currency=self.currency,
        )
        return BagQuote.of(basket, price_bag(basket))

    async def view(self, call: Call, db: AsyncSession) -> BagCheckout:
        """All that a step shows."""
        quote = await self.quote(call, db)
        priced, chosen = quote.priced, quote.priced.reception
        return BagCheckout(
            **shared_view(call, self, quote),
            lines=(),
            offered=(),
            deliveries=(chosen.delivery,) if chosen else (),
            delivery_id=chosen.delivery.id if chosen else None,
            bag=priced.lines,
            receptions=priced.receptions,
            reception=chosen,
            gift_cards=quote.basket.gift_cards,
        )

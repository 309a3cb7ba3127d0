"""The checkout session of a basket of vouchers, gift cards or network products."""

import uuid
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from resolvers.checkout.session import CheckoutSession, shared_view
from resolvers.core.operation import Call
from schema.checkout.basket import BasketCheckout, BasketChoice, BoxChoice, NetworkChoice, VoucherChoice
from schema.checkout.checkout import CheckoutKind
from schema.checkout.gift_card_offer import OfferedGiftCards
from schema.checkout.network_offer import OfferedBox
from store.catalogue.offers import ShopPrototype, load_prototypes
from store.checkout.basket_pricing import BasketPricingInput, price_basket
from store.checkout.baskets import BasketEdits
from store.checkout.customer_state import CustomerSession
from store.checkout.designs import load_designs
from store.checkout.network_offers import load_boxes, load_network_cards
from store.checkout.offers import load_deliveries
from store.checkout.placement import CheckoutSource
from store.checkout.pricing import presumed_country
from store.checkout.quotes import BasketQuote
from store.coupon.coupons import CouponRow
from store.database.transaction_reader import DatabaseReader
from store.gift_card.designs import designs_of_partner
from store.gift_card.gift_cards import UsableCard


@dataclass(frozen=True)
class BasketCheckoutSession(CheckoutSession):
    """The checkout session of a basket. `now_ms` is the time in milliseconds, the version of a basket that is not
    stored yet; `new_lines` is what such a basket begins with, from a multi-product cart.
    """

    now_ms: int
    new_lines: Mapping[uuid.UUID, BasketChoice] = field(default_factory=dict)
    open_line: uuid.UUID | None = None
    """The line whose ways of reception are shown; None for all."""

    @property
    def source(self) -> CheckoutSource:
        return CheckoutSource(self.key.cart_id, self.edits.last_modified)

    def edits_in(self, customer: CustomerSession) -> BasketEdits:
        return customer.basket(self.key.cart_id, self.key.kind, self.now_ms, self.new_lines)

    @property
    def edits(self) -> BasketEdits:
        return self.edits_in(self.customer)

    async def gift_cards(self, db: DatabaseReader) -> OfferedGiftCards | None:
        """The gift card offer; None in the network's shop, and if the partner sells no gift cards."""
        offer = self.shop.gift_cards if self.key.kind is CheckoutKind.BASKET else None
        if offer is None:
            return None
        async with db.read_sessions() as session:
            return replace(offer, designs=await load_designs(session, designs_of_partner(self.shop.partner_id)))

    async def find_usable_codes(self, call: Call, db: DatabaseReader, codes: list[str]) -> list[CouponRow | UsableCard]:
        """Coupons on network products are those of the network's own shop: the network bears them."""
        if self.key.kind is CheckoutKind.NETWORK and not self.shop.network.is_own:
            return []
        return await super().find_usable_codes(call, db, codes)

    async def prototypes(self, call: Call, db: DatabaseReader) -> dict[int, ShopPrototype]:
        """The prototypes in the basket, by id; empty in the network's shop."""
        if self.key.kind is not CheckoutKind.BASKET:
            return {}
        ids = {c.prototype_id for c in self.edits.lines.values() if isinstance(c, VoucherChoice)}
        today = call.services.clock.now().astimezone(self.zone).date()
        async with db.read_sessions() as session:
            return await load_prototypes(session, self.shop.partner_id, today, sorted(ids))

    async def network_offer(self, db: DatabaseReader) -> tuple[OfferedGiftCards | None, dict[int, OfferedBox]]:
        """The network's gift cards, and the boxes in the basket by id; nothing beside what is only the partner's own."""
        chosen = self.edits.lines.values()
        ids = {c.box_id for c in chosen if isinstance(c, BoxChoice)}
        if self.key.kind is CheckoutKind.BASKET and not any(isinstance(c, NetworkChoice) for c in chosen):
            return None, {}
        async with db.read_sessions() as session:
            cards = await load_network_cards(session, self.shop.network)
            return cards, await load_boxes(session, self.shop.network, sorted(ids))

    async def quote(self, call: Call, db: DatabaseReader) -> BasketQuote:
        network_cards, boxes = await self.network_offer(db)
        deliveries = await load_deliveries(db, self.shop.partner_id)
        basket = BasketPricingInput(
            kind=self.key.kind,
            choices=self.edits.lines,
            prototypes=await self.prototypes(call, db),
            gift_cards=await self.gift_cards(db),
            deliveries=deliveries,
            reception=self.edits.reception,
            delivery_id=self.edits.delivery_id,
            country=self.country or presumed_country(deliveries, self.shop.country),
            email=self.email,
            codes=await self.codes(call, db),
            currency=self.currency,
            network_cards=network_cards,
            boxes=boxes,
            open_line=self.open_line,
            network_takes_coupons=self.shop.network.is_own,
        )
        return BasketQuote.from_priced(basket, price_basket(basket))

    async def view(self, call: Call, db: DatabaseReader) -> BasketCheckout:
        quote = await self.quote(call, db)
        priced, chosen = quote.priced, quote.delivery
        return BasketCheckout(
            **shared_view(call, self, quote),
            lines=(),
            offered_products=(),
            deliveries=(chosen,) if chosen else (),
            delivery_id=chosen.id if chosen else None,
            basket_lines=priced.lines,
            receptions=priced.receptions,
            reception=priced.reception,
            gift_cards=quote.pricing_input.gift_cards,
            network_cards=quote.pricing_input.network_cards,
        )

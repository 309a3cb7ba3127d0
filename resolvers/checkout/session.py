"""The checkout session of a customer: its data, its quote, what its pages show, and the furthest step."""

import dataclasses
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from zoneinfo import ZoneInfo

from resolvers.checkout.buyer import missing_of, needs_address
from resolvers.checkout.reserved_stock import with_holders
from resolvers.core.operation import Call
from resolvers.partner.payment_methods import methods_for, token_methods_for
from resolvers.partner.selling import may_sell
from schema.cart.cart import Cart
from schema.checkout.basket import BasketChoice, BoxChoice, GiftCardChoice, VoucherChoice
from schema.checkout.checkout import CheckoutKey, CheckoutKind, CheckoutNotice, CheckoutStep
from schema.checkout.codes import AppliedCode, CodeKind
from schema.checkout.gift_card_offer import OfferedGiftCards
from schema.checkout.network_offer import OfferedBox
from schema.checkout.view import Checkout
from schema.coupon.coupon import CouponTarget
from schema.payment_method import PaymentMethod
from store.catalogue.offers import ShopPrototype, load_prototypes
from store.checkout.customer_state import CustomerSession
from store.checkout.designs import load_designs
from store.checkout.edits import CheckoutEdits
from store.checkout.network_offers import load_boxes, load_network_cards
from store.checkout.offers import ShopProduct, load_deliveries, load_products
from store.checkout.placement import CheckoutSource
from store.checkout.pricing.delivery import presumed_country
from store.checkout.pricing.order import PricingInput
from store.checkout.quotes import Quote
from store.checkout.reading import OwnReservations, product_ids_of, usable_codes
from store.checkout.shops import CheckoutShop
from store.core.codes import format_code, normalize
from store.core.settings import Settings
from store.coupon.coupons import CouponRow
from store.coupon.rules import GOODS
from store.database.transaction_reader import DatabaseReader
from store.gift_card.designs import designs_of_partner
from store.gift_card.gift_cards import UsableCard
from store.payment.attempts import LIVE, AttemptRow, AttemptState

FAILURE_NOTICES = {
    "cancelled_by_buyer": CheckoutNotice.PAYMENT_CANCELLED,
    "expired": CheckoutNotice.PAYMENT_EXPIRED,
    "limit": CheckoutNotice.PAYMENT_OVER_LIMIT,
    "card_invalid": CheckoutNotice.CARD_NOT_VALID,
    "authentication_failed": CheckoutNotice.PAYMENT_NOT_CONFIRMED,
    "provider_technical": CheckoutNotice.PAYMENT_FAILED,
    "unknown": CheckoutNotice.PAYMENT_FAILED,
}
"""Notices by failure reason. Any other reason is shown as a declined card: who holds a lost one is not told so."""
OWN_GIFTS = frozenset({CouponTarget.VOUCHERS, CouponTarget.GIFT_CARDS})
OF_NETWORK = frozenset({CouponTarget.NETWORK_GIFT_CARDS, CouponTarget.NETWORK_VOUCHERS})


@dataclass(frozen=True)
class CheckoutSession:
    """One customer at one checkout, before pricing."""

    key: CheckoutKey
    shop: CheckoutShop
    customer: CustomerSession
    attempt: AttemptRow | None
    """The latest payment attempt of this browser for this cart or basket."""
    now_ms: int
    """The time in milliseconds: the version of a basket that is not stored yet."""
    cart: Cart | None = None
    """The cart that the partner's shop sent; None for a basket."""
    new_lines: Mapping[uuid.UUID, BasketChoice] = field(default_factory=dict)
    """What a basket begins with that is not stored yet, from a multi-product cart."""
    open_line: uuid.UUID | None = None
    """The voucher or gift card whose ways of reception are shown; None for all."""
    chooses_gifts: bool = False
    """Whether vouchers and gift cards are chosen now, so that what is offered of them is loaded."""

    @property
    def source(self) -> CheckoutSource:
        """The cart or basket, at its current version."""
        if self.cart is None:
            return CheckoutSource(self.key.cart_id, self.edits.last_modified)
        return CheckoutSource(self.cart.id, self.cart.last_modified, self.cart.return_url, is_cart=True)

    def edits_in(self, customer: CustomerSession) -> CheckoutEdits:
        """The customer's changes to the cart, or the contents of the basket."""
        if self.cart is not None:
            attempt = self.attempt
            is_ordered = attempt is not None and attempt.state is AttemptState.COMPLETED
            return customer.cart_edits(self.cart, attempt.cart_last_modified if attempt and is_ordered else None)
        return customer.basket(self.key.cart_id, self.key.kind, self.now_ms, self.new_lines)

    @property
    def edits(self) -> CheckoutEdits:
        return self.edits_in(self.customer)

    @property
    def currency(self) -> str:
        return self.shop.currency

    @property
    def zone(self) -> ZoneInfo:
        """The time zone of the marketplace."""
        return ZoneInfo(self.shop.time_zone)

    @property
    def own_reservations(self) -> OwnReservations:
        """The reservations of this customer's live payment."""
        return OwnReservations.of(self.attempt)

    @property
    def ordered_attempt(self) -> AttemptRow | None:
        """The completed payment attempt, if it ordered the current version; else None."""
        attempt = self.attempt
        if attempt is None or attempt.state is not AttemptState.COMPLETED:
            return None
        is_last = self.cart is None or attempt.has_ordered(self.cart.last_modified)
        return attempt if is_last else None

    @property
    def email(self) -> str:
        """The buyer's e-mail address; empty while unknown."""
        return self.customer.buyer.email if self.customer.buyer else ""

    @property
    def country(self) -> str:
        """The country that the customer wants delivery to: the one chosen last, else the buyer's; empty while unknown."""
        return self.edits.country or (self.customer.buyer.country if self.customer.buyer else "")

    def payment_methods(self, settings: Settings) -> tuple[PaymentMethod, ...]:
        """What the customer can pay with, who is presumed to live where the shop is."""
        return methods_for(settings, self.shop.payment_methods, self.currency, self.country or self.shop.country)

    def token_methods(self, settings: Settings) -> tuple[PaymentMethod, ...]:
        """Which of Apple Pay and Google Pay the customer can pay with, in a browser that has them."""
        return token_methods_for(settings, self.shop.payment_methods) if self.shop.takes_cards else ()

    # ---- what is on sale

    async def find_usable_codes(
        self, call: Call, db: DatabaseReader, codes: Sequence[str]
    ) -> list[CouponRow | UsableCard]:
        """The coupons and gift cards of these codes that can be used here. Coupons on network products are those of the
        network's own shop: the network bears them.
        """
        is_of_network = self.key.kind is CheckoutKind.NETWORK
        if is_of_network and not self.shop.network.is_own:
            return []
        now, own = call.services.clock.now(), self.own_reservations
        return await usable_codes(
            db, self.shop.partner_id, codes, now, own, self._coupon_targets, takes_gift_cards=not is_of_network
        )

    @property
    def _coupon_targets(self) -> frozenset[CouponTarget]:
        """What coupons can be for: what is bought here, or can be."""
        if self.key.kind is CheckoutKind.NETWORK:
            return OF_NETWORK
        gifts = OWN_GIFTS | OF_NETWORK if self.shop.network.is_own and self._has_network_lines else OWN_GIFTS
        if self.cart is None:
            return gifts
        return GOODS | gifts if self.edits.lines else GOODS

    async def gift_cards(self, db: DatabaseReader) -> OfferedGiftCards | None:
        """The gift card offer; None in the network's shop, and if the partner sells no gift cards."""
        offer = self.shop.gift_cards if self.key.kind is not CheckoutKind.NETWORK else None
        is_asked = self.cart is None or self.chooses_gifts or self._has(GiftCardChoice)
        if offer is None or not is_asked:
            return None
        async with db.read_sessions() as session:
            return dataclasses.replace(
                offer, designs=await load_designs(session, designs_of_partner(self.shop.partner_id))
            )

    async def _products(self, db: DatabaseReader, *, others: bool) -> Mapping[int, ShopProduct]:
        """The goods of the cart, as far as this customer can have them; nothing for a basket."""
        if self.cart is None:
            return {}
        ids = product_ids_of(self.edits.choices)
        products = await load_products(db, self.shop.partner_id, ids, others=others)
        return self.own_reservations.without_reservations(products)

    async def _prototypes(self, call: Call, db: DatabaseReader) -> Mapping[int, ShopPrototype]:
        """The prototypes of the vouchers, by id."""
        ids = {choice.prototype_id for choice in self.edits.lines.values() if isinstance(choice, VoucherChoice)}
        if not ids:
            return {}
        today = call.services.clock.now().astimezone(self.zone).date()
        async with db.read_sessions() as session:
            return await load_prototypes(session, self.shop.partner_id, today, sorted(ids))

    async def _network_offer(self, db: DatabaseReader) -> tuple[OfferedGiftCards | None, dict[int, OfferedBox]]:
        """The network's gift cards, and the chosen boxes by id; nothing where only what is the partner's own is chosen."""
        offers = self.key.kind is CheckoutKind.NETWORK or (self.chooses_gifts and self.shop.network.sells_anything)
        if not offers and not self._has_network_lines:
            return None, {}
        ids = {choice.box_id for choice in self.edits.lines.values() if isinstance(choice, BoxChoice)}
        async with db.read_sessions() as session:
            cards = await load_network_cards(session, self.shop.network)
            return cards, await load_boxes(session, self.shop.network, sorted(ids))

    @property
    def _has_network_lines(self) -> bool:
        return any(choice.is_of_network for choice in self.edits.lines.values())

    def _has(self, kind: type[BasketChoice]) -> bool:
        return any(isinstance(choice, kind) for choice in self.edits.lines.values())

    # ---- prices

    async def quote(self, call: Call, db: DatabaseReader, *, others: bool = False) -> Quote:
        """The priced choice, at current prices and stock. With `others`, it also loads other active products of the shop,
        to offer them.
        """
        edits = self.edits
        products = await self._products(db, others=others)
        network_cards, boxes = await self._network_offer(db)
        deliveries = await load_deliveries(db, self.shop.partner_id)
        return Quote.of(
            PricingInput(
                goods=None if self.cart is None else edits.choices,
                products=products,
                choices=edits.lines,
                prototypes=await self._prototypes(call, db),
                gift_cards=await self.gift_cards(db),
                network_cards=network_cards,
                boxes=boxes,
                deliveries=deliveries,
                delivery_id=edits.delivery_id,
                reception=edits.reception,
                country=self.country or presumed_country(deliveries, self.shop.country),
                email=self.email,
                codes=await self.find_usable_codes(call, db, edits.codes),
                currency=self.currency,
                open_line=self.open_line,
                network_takes_coupons=self.shop.network.is_own,
            )
        )

    async def view(self, call: Call, db: DatabaseReader) -> Checkout:
        """What the pages show of any step."""
        quote = await self.quote(call, db, others=self.cart is not None)
        priced, delivery = quote.priced, quote.delivery
        live = self.attempt if self.attempt and self.attempt.state in LIVE else None
        link_lives = (
            live is not None and live.link_expires_on is not None and call.services.clock.now() < live.link_expires_on
        )
        methods = self.payment_methods(call.services.settings)
        last = self.attempt.payment_method if self.attempt else None
        is_of_goods = self.cart is not None and self.edits.is_delivery_of_goods
        return Checkout(
            key=self.key,
            brand=self.shop.brand,
            currency=self.currency,
            lines=await with_holders(db, self.shop.partner_id, self.key, priced.lines),
            offered_products=tuple(s.offered for s in quote.pricing_input.products.values() if s.is_active),
            basket_lines=priced.gifts,
            deliveries=priced.deliveries or ((delivery,) if delivery and not is_of_goods else ()),
            delivery_id=self.edits.delivery_id if is_of_goods else delivery.id if delivery else None,
            delivery=delivery,
            receptions=priced.receptions,
            reception=priced.reception,
            gift_cards=quote.pricing_input.gift_cards,
            network_cards=quote.pricing_input.network_cards,
            country=quote.country,
            buyer=self.customer.buyer,
            codes=tuple(_grouped_code(code) for code in quote.codes),
            totals=quote.totals,
            furthest_step=furthest_step(self, quote),
            notices=notices_of(self, quote, sells=may_sell(call.services, self.shop.status)),
            has_return_url=bool(self.source.return_url),
            payment_methods=methods,
            payment_method=last if last in methods else methods[0],
            token_methods=self.token_methods(call.services.settings),
            seller_country=self.shop.country,
            pending_payment_id=live.id if live else None,
            pending_payment_url=live.redirect_url if live and link_lives else None,
            estimate=priced.expected,
        )


def furthest_step(session: CheckoutSession, quote: Quote) -> CheckoutStep:
    delivery = quote.delivery
    if not quote.ready or delivery is None:
        return CheckoutStep.CUSTOMIZATION
    buyer = session.customer.buyer
    if buyer is None or missing_of(buyer, delivery) or delivery.price is None:
        return CheckoutStep.INFORMATION
    if needs_address(delivery) and buyer.country != session.country:
        return CheckoutStep.INFORMATION  # delivery was priced for another country than that of the address
    return CheckoutStep.PAYMENT


def notices_of(session: CheckoutSession, quote: Quote, *, sells: bool) -> tuple[CheckoutNotice, ...]:
    """The notices to show to the customer."""
    notices = list(session.edits.notices) if sells else [CheckoutNotice.SHOP_CLOSED]
    applied = {normalize(code.code) for code in quote.codes}
    if any(normalize(code) not in applied for code in session.edits.codes):
        notices.append(CheckoutNotice.CODE_NO_LONGER_VALID)
    attempt = session.attempt
    if attempt is not None and attempt.state is AttemptState.FAILED and attempt.failure_reason:
        notices.append(FAILURE_NOTICES.get(attempt.failure_reason, CheckoutNotice.PAYMENT_DECLINED))
    if attempt is not None and attempt.state in (AttemptState.REFUNDING, AttemptState.REFUNDED):
        notices.append(CheckoutNotice.PAYMENT_REFUNDED)
    return tuple(notices)


def _grouped_code(code: AppliedCode) -> AppliedCode:
    return dataclasses.replace(code, code=format_code(code.code)) if code.kind is CodeKind.GIFT_CARD else code

"""The checkout session of a customer, for every kind of checkout: its data, its quote, and the furthest step."""

import dataclasses
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any
from zoneinfo import ZoneInfo

from resolvers.checkout.buyer import missing_of, needs_address
from resolvers.core.operation import Call
from resolvers.partner.payment_methods import methods_for, token_methods_for
from resolvers.partner.selling import may_sell
from schema.checkout.checkout import Checkout, CheckoutKey, CheckoutKind, CheckoutNotice, CheckoutStep
from schema.checkout.codes import AppliedCode, CodeKind
from schema.payment_method import PaymentMethod
from store.checkout.baskets import BasketEdits
from store.checkout.customer_state import CartEdits, CustomerSession
from store.checkout.placement import CheckoutSource
from store.checkout.quotes import Quote
from store.checkout.reading import OwnReservations, usable_codes
from store.checkout.shops import CheckoutShop
from store.core.codes import format_code, normalize
from store.core.settings import Settings
from store.coupon.coupons import CouponRow
from store.database.transaction_reader import DatabaseReader
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


@dataclass(frozen=True)
class CheckoutSession(ABC):
    """One customer at one checkout, before pricing."""

    key: CheckoutKey
    shop: CheckoutShop
    customer: CustomerSession
    attempt: AttemptRow | None
    """The latest payment attempt of this browser for this cart or basket."""

    @property
    @abstractmethod
    def source(self) -> CheckoutSource:
        """The cart or basket, at its current version."""

    @abstractmethod
    def edits_in(self, customer: CustomerSession) -> CartEdits | BasketEdits:
        """The customer's edits of the cart, or the contents of the basket."""

    @abstractmethod
    async def quote(self, call: Call, db: DatabaseReader) -> Quote:
        """The priced choice, at current prices and stock."""

    @abstractmethod
    async def view(self, call: Call, db: DatabaseReader) -> Checkout:
        """The published view of a checkout step."""

    @property
    def edits(self) -> CartEdits | BasketEdits:
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
        is_last = self.key.kind is not CheckoutKind.CART or attempt.has_ordered(self.source.last_modified)
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

    async def codes(self, call: Call, db: DatabaseReader) -> list[CouponRow | UsableCard]:
        """The usable coupons and gift cards among the codes that the customer added."""
        return await self.find_usable_codes(call, db, self.edits.codes)

    async def find_usable_codes(self, call: Call, db: DatabaseReader, codes: list[str]) -> list[CouponRow | UsableCard]:
        """The coupons and gift cards of these codes that can be used here."""
        now = call.services.clock.now()
        return await usable_codes(db, self.shop.partner_id, codes, now, self.own_reservations, self.key.kind)


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


def shared_view(call: Call, session: CheckoutSession, quote: Quote) -> dict[str, Any]:
    """The fields of `Checkout` that are the same for every kind of checkout, as keyword arguments."""
    live = session.attempt if session.attempt and session.attempt.state in LIVE else None
    link_lives = (
        live is not None and live.link_expires_on is not None and call.services.clock.now() < live.link_expires_on
    )
    methods = session.payment_methods(call.services.settings)
    last = session.attempt.payment_method if session.attempt else None
    return {
        "key": session.key,
        "brand": session.shop.brand,
        "currency": session.currency,
        "country": quote.country,
        "buyer": session.customer.buyer,
        "codes": tuple(_grouped_code(code) for code in quote.codes),
        "totals": quote.totals,
        "furthest_step": furthest_step(session, quote),
        "notices": notices_of(session, quote, sells=may_sell(call.services, session.shop.status)),
        "has_return_url": bool(session.source.return_url),
        "payment_methods": methods,
        "payment_method": last if last in methods else methods[0],
        "token_methods": session.token_methods(call.services.settings),
        "seller_country": session.shop.country,
        "pending_payment_id": live.id if live else None,
        "pending_payment_url": live.redirect_url if live and link_lives else None,
    }


def _grouped_code(code: AppliedCode) -> AppliedCode:
    return dataclasses.replace(code, code=format_code(code.code)) if code.kind is CodeKind.GIFT_CARD else code

"""A customer at a checkout, whatever it sells: what is known, what it comes to, how far it may go."""

import dataclasses
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any
from zoneinfo import ZoneInfo

from sqlmodel.ext.asyncio.session import AsyncSession

from resolvers.checkout.buyer import missing_of, needs_address
from resolvers.core.operation import Call
from resolvers.partner.selling import may_sell
from schema.checkout.checkout import AppliedCode, Checkout, CheckoutKey, CodeKind, Notice, ShopKind, Step
from store.checkout.baskets import BagEdits
from store.checkout.customer_state import CartEdits, Customer
from store.checkout.placement import Source
from store.checkout.quotes import Quote
from store.checkout.reading import OwnHolds, usable_codes
from store.core.codes import grouped, normal
from store.coupon.coupons import CouponRow
from store.gift_card.gift_cards import UsableCard
from store.partner.brand import brand_of
from store.partner.partners import MarketplaceRow, PartnerRow
from store.payment import LIVE, AttemptRow, AttemptState

FAILURES = {
    "cancelled_by_buyer": Notice.PAYMENT_CANCELLED,
    "expired": Notice.PAYMENT_EXPIRED,
    "provider_technical": Notice.PAYMENT_FAILED,
    "unknown": Notice.PAYMENT_FAILED,
}
"""What a customer is told about a failure; whatever is not here is a declined card."""


@dataclass(frozen=True)
class Desk(ABC):
    """One customer at one checkout: what is known before anything is priced."""

    key: CheckoutKey
    partner: PartnerRow
    marketplace: MarketplaceRow
    customer: Customer
    attempt: AttemptRow | None
    """The last payment of this browser for this cart or bag."""

    @property
    @abstractmethod
    def source(self) -> Source:
        """What is bought out of."""

    @abstractmethod
    def edits_in(self, customer: Customer) -> CartEdits | BagEdits:
        """What a customer's session holds of it."""

    @abstractmethod
    async def quote(self, call: Call, db: AsyncSession) -> Quote:
        """What the customer has chosen comes to, with the shop as it is now."""

    @abstractmethod
    async def view(self, call: Call, db: AsyncSession) -> Checkout:
        """All that a step shows."""

    @property
    def edits(self) -> CartEdits | BagEdits:
        """What this customer made of it."""
        return self.edits_in(self.customer)

    @property
    def currency(self) -> str:
        """The currency of all amounts."""
        return self.marketplace.currency

    @property
    def zone(self) -> ZoneInfo:
        """Where days begin and end."""
        return ZoneInfo(self.marketplace.time_zone)

    @property
    def own(self) -> OwnHolds:
        """What this customer's running payment holds."""
        return OwnHolds.of(self.attempt)

    @property
    def order(self) -> AttemptRow | None:
        """The payment that has become an order of what is here."""
        attempt = self.attempt
        if attempt is None or attempt.state is not AttemptState.COMPLETED:
            return None
        is_last = self.key.kind is not ShopKind.PRODUCTS or attempt.ordered(self.source.last_modified)
        return attempt if is_last else None

    @property
    def email(self) -> str:
        """The buyer's; empty while it is not known."""
        return self.customer.buyer.email if self.customer.buyer else ""

    @property
    def country(self) -> str:
        """The country that delivery is priced for: the one chosen last, else the buyer's."""
        return self.edits.country or (self.customer.buyer.country if self.customer.buyer else "")

    async def codes(self, call: Call, db: AsyncSession) -> list[CouponRow | UsableCard]:
        """The coupons and gift cards that the customer added, as far as they can be used."""
        return await self.usable(call, db, self.edits.codes)

    async def usable(self, call: Call, db: AsyncSession, codes: list[str]) -> list[CouponRow | UsableCard]:
        """The coupons and gift cards behind codes, as far as they can be used here."""
        now = call.services.clock.now()
        return await usable_codes(db, self.partner.id, codes, now, self.own, self.key.kind)


def reached(desk: Desk, quote: Quote) -> Step:
    """The furthest step that can be opened."""
    delivery = quote.delivery
    if not quote.ready or delivery is None:
        return Step.CUSTOMIZATION
    buyer = desk.customer.buyer
    if buyer is None or missing_of(buyer, delivery) or delivery.price is None:
        return Step.INFORMATION
    if needs_address(delivery) and buyer.country != desk.country:
        return Step.INFORMATION  # the address is not where delivery was priced to
    return Step.PAYMENT


def notices_of(desk: Desk, quote: Quote, *, sells: bool) -> tuple[Notice, ...]:
    """What the customer should know."""
    found = list(desk.edits.notices) if sells else [Notice.SHOP_CLOSED]
    applied = {normal(code.code) for code in quote.codes}
    if any(normal(code) not in applied for code in desk.edits.codes):
        found.append(Notice.CODE_NO_LONGER_VALID)
    attempt = desk.attempt
    if attempt is not None and attempt.state is AttemptState.FAILED and attempt.failure_reason:
        found.append(FAILURES.get(attempt.failure_reason, Notice.PAYMENT_DECLINED))
    if attempt is not None and attempt.state in (AttemptState.REFUNDING, AttemptState.REFUNDED):
        found.append(Notice.PAYMENT_REFUNDED)
    return tuple(found)


def shared_view(call: Call, desk: Desk, quote: Quote) -> dict[str, Any]:
    """What every step shows, by the names of `Checkout`, whatever is sold."""
    live = desk.attempt if desk.attempt and desk.attempt.state in LIVE else None
    link_lives = (
        live is not None and live.link_expires_on is not None and call.services.clock.now() < live.link_expires_on
    )
    return {
        "key": desk.key,
        "brand": brand_of(desk.partner),
        "currency": desk.currency,
        "country": desk.country,
        "buyer": desk.customer.buyer,
        "codes": tuple(_shown(code) for code in quote.codes),
        "totals": quote.totals,
        "reached": reached(desk, quote),
        "notices": notices_of(desk, quote, sells=may_sell(call.services, desk.partner.status)),
        "has_return_url": bool(desk.source.return_url),
        "pending_attempt": live.id if live else None,
        "pending_url": live.redirect_url if live and link_lives else None,
    }


def _shown(code: AppliedCode) -> AppliedCode:
    return dataclasses.replace(code, code=grouped(code.code)) if code.kind is CodeKind.GIFT_CARD else code

"""The checkout, as its customer uses it: look, choose, say who buys, add codes. Paying is in `resolvers.payment`."""

import dataclasses
from collections.abc import Awaitable, Sequence
from dataclasses import dataclass

from sqlmodel.ext.asyncio.session import AsyncSession

from resolvers.buyers import missing_of, validated
from resolvers.guessing import look_up
from resolvers.operation import Call, operation
from schema.cart import Cart
from schema.checkout import (
    AppliedCode,
    Buyer,
    Checkout,
    CheckoutKey,
    Choice,
    CodeKind,
    DeliveryOption,
    Notice,
    Step,
    Totals,
)
from schema.delivery import DeliveryKind
from schema.errors import CartNotFound, InvalidInput, NotFound, Problem
from schema.numbers import LARGEST_AMOUNT
from schema.permission import Rule
from store.attempts import LIVE, AttemptRow, AttemptState
from store.brand import brand_of
from store.checkout import OwnHolds, latest_attempt, usable_codes, wanted_products
from store.codes import grouped, mistyped, normal
from store.customers import CartEdits, Customer, Customers
from store.pricing import Basket, Priced, price
from store.shop import load_deliveries, load_products
from store.tenancy import MarketplaceRow, PartnerRow

MOST_CODES = 10
MOST_QUANTITY = 9999
MOST_LINES = 200
NOT_USABLE = Problem(("code",), "CODE_NOT_USABLE", "This code cannot be used here. Check how it is written.")

FAILURES = {
    "cancelled_by_buyer": Notice.PAYMENT_CANCELLED,
    "expired": Notice.PAYMENT_EXPIRED,
    "provider_technical": Notice.PAYMENT_FAILED,
    "unknown": Notice.PAYMENT_FAILED,
}
"""What a customer is told about a failure; whatever is not here is a declined card."""


@dataclass(frozen=True)
class Desk:
    """One customer at one checkout: what is known before anything is priced."""

    partner: PartnerRow
    currency: str
    cart: Cart
    customer: Customer
    edits: CartEdits
    attempt: AttemptRow | None

    @property
    def own(self) -> OwnHolds:
        """What this customer's running payment holds."""
        return OwnHolds.of(self.attempt)


async def live_cart(call: Call, key: CheckoutKey) -> Cart:
    """The cart, while it lives and is this partner's."""
    partner_id = call.caller.partner_id
    cart = await call.services.carts.get(partner_id, key.cart_id) if partner_id is not None else None
    if cart is None:
        raise CartNotFound
    return cart


async def desk_of(call: Call, db: AsyncSession, key: CheckoutKey, customer: Customer | None = None) -> Desk:
    """Everything about a customer at a checkout but the prices."""
    cart = await live_cart(call, key)
    if customer is None:
        customer = await Customers(call.services.customers).load(cart.partner_id, key.session_id)
    partner = await db.get(PartnerRow, cart.partner_id)
    marketplace = await db.get(MarketplaceRow, partner.marketplace_id) if partner else None
    if partner is None or marketplace is None:
        raise CartNotFound
    attempt = await latest_attempt(db, cart.partner_id, key)
    return Desk(partner, marketplace.currency, cart, customer, customer.edits(cart), attempt)


async def priced(call: Call, db: AsyncSession, desk: Desk, *, others: bool) -> tuple[Basket, Priced]:
    """Price what the customer has chosen, with the shop as it is now."""
    edits, buyer = desk.edits, desk.customer.buyer
    products = await load_products(db, desk.partner.id, wanted_products(edits.choices), others=others)
    basket = Basket(
        choices=edits.choices,
        products=desk.own.given_back(products),
        deliveries=await load_deliveries(db, desk.partner.id),
        delivery_id=edits.delivery_id,
        country=country_of(desk),
        email=buyer.email if buyer else "",
        codes=await usable_codes(db, desk.partner.id, edits.codes, call.services.clock.now(), desk.own),
        currency=desk.currency,
    )
    return basket, price(basket)


def country_of(desk: Desk) -> str:
    """The country that delivery is priced for: the one chosen last, else the buyer's."""
    return desk.edits.country or (desk.customer.buyer.country if desk.customer.buyer else "")


def delivery_of(desk: Desk, result: Priced) -> DeliveryOption | None:
    """The chosen delivery, while it can be had."""
    return next((o for o in result.deliveries if o.id == desk.edits.delivery_id and o.is_available), None)


def reached(desk: Desk, result: Priced) -> Step:
    """The furthest step that can be opened."""
    delivery = delivery_of(desk, result)
    if not result.good or delivery is None or _too_much(result.totals):
        return Step.CUSTOMIZATION
    buyer = desk.customer.buyer
    if buyer is None or missing_of(buyer, delivery) or delivery.price is None:
        return Step.INFORMATION
    if delivery.kind is DeliveryKind.HOME_DELIVERY and buyer.country != country_of(desk):
        return Step.INFORMATION  # the address is not where delivery was priced to
    return Step.PAYMENT


def _too_much(totals: Totals) -> bool:
    """Whether it is more than an order can hold."""
    return max(totals.products, totals.total) > LARGEST_AMOUNT


def notices_of(desk: Desk, result: Priced) -> tuple[Notice, ...]:
    """What the customer should know."""
    found = list(desk.edits.notices)
    applied = {normal(code.code) for code in result.codes}
    if any(normal(code) not in applied for code in desk.edits.codes):
        found.append(Notice.CODE_NO_LONGER_VALID)
    attempt = desk.attempt
    if attempt is not None and attempt.state is AttemptState.FAILED and attempt.failure_reason:
        found.append(FAILURES.get(attempt.failure_reason, Notice.PAYMENT_DECLINED))
    if attempt is not None and attempt.state in (AttemptState.REFUNDING, AttemptState.REFUNDED):
        found.append(Notice.PAYMENT_REFUNDED)
    return tuple(found)


async def view(call: Call, db: AsyncSession, key: CheckoutKey, desk: Desk) -> Checkout:
    """All that a step shows."""
    basket, result = await priced(call, db, desk, others=True)
    live = desk.attempt if desk.attempt and desk.attempt.state in LIVE else None
    link_lives = (
        live is not None and live.link_expires_on is not None and call.services.clock.now() < live.link_expires_on
    )
    return Checkout(
        key=key,
        brand=brand_of(desk.partner),
        currency=desk.currency,
        lines=result.lines,
        offered=tuple(s.offered for s in basket.products.values() if s.is_active),
        deliveries=result.deliveries,
        delivery_id=desk.edits.delivery_id,
        country=basket.country,
        buyer=desk.customer.buyer,
        codes=tuple(_shown(code) for code in result.codes),
        totals=result.totals,
        reached=reached(desk, result),
        notices=notices_of(desk, result),
        has_return_url=bool(desk.cart.return_url),
        pending_attempt=live.id if live else None,
        pending_url=live.redirect_url if live and link_lives else None,
    )


def _shown(code: AppliedCode) -> AppliedCode:
    return dataclasses.replace(code, code=grouped(code.code)) if code.kind is CodeKind.GIFT_CARD else code


@operation(Rule.CUSTOMER, transaction=False)
async def open_checkout(call: Call, key: CheckoutKey) -> Checkout:
    """Show the checkout of a cart as it stands. Raises CartNotFound for a cart that is unknown, foreign or expired."""
    async with call.services.db.sessions() as db:
        return await view(call, db, key, await desk_of(call, db, key))


@operation(Rule.CUSTOMER, transaction=False)
async def price_items(
    call: Call, key: CheckoutKey, items: Sequence[Choice], delivery_id: int | None, country: str = ""
) -> Checkout:
    """Show what a choice would come to, and keep nothing of it."""
    async with call.services.db.sessions() as db:
        desk = await desk_of(call, db, key)
        _choose(desk.edits, items, delivery_id, country)
        return await view(call, db, key, desk)


@operation(Rule.CUSTOMER, transaction=False)
async def choose_items(
    call: Call, key: CheckoutKey, items: Sequence[Choice], delivery_id: int | None, country: str = ""
) -> Checkout:
    """Keep what the customer wants, and how it is to be delivered. InvalidInput when it is more than one order can hold."""

    def change(_customer: Customer, edits: CartEdits) -> None:
        _choose(edits, items, delivery_id, country)

    async with call.services.db.sessions() as db:
        desk = await desk_of(call, db, key)
        change(desk.customer, desk.edits)
        chosen = await view(call, db, key, desk)
    if _too_much(chosen.totals):
        raise InvalidInput.at("items", "This is more than can be ordered at once. Take less of it.", "TOO_MANY")
    await Customers(call.services.customers).change(desk.partner.id, key, desk.cart, change)
    return chosen


def _choose(edits: CartEdits, items: Sequence[Choice], delivery_id: int | None, country: str) -> None:
    if len(items) > MOST_LINES:
        raise InvalidInput.at("items", f"A cart has at most {MOST_LINES} lines.", "TOO_MANY")
    for position, item in enumerate(items):
        if not 0 <= item.quantity <= MOST_QUANTITY:
            raise InvalidInput.at(("items", position, "quantity"), f"Choose from 0 to {MOST_QUANTITY}.", "OUT_OF_RANGE")
    edits.choices = list(items)
    edits.delivery_id = delivery_id
    edits.country = country.upper()[:2]
    edits.notices = []


@operation(Rule.CUSTOMER, transaction=False)
async def identify_buyer(call: Call, key: CheckoutKey, buyer: Buyer) -> Checkout:
    """Keep who buys and where it goes. Raises InvalidInput with a problem for each field, by the names of `Buyer`."""
    cart = await live_cart(call, key)
    customers = Customers(call.services.customers)
    async with call.services.db.sessions() as db:
        desk = await desk_of(call, db, key)
        _, result = await priced(call, db, desk, others=False)
        delivery = delivery_of(desk, result)
        checked = validated(buyer, delivery, desk.partner.hq_country_code)
        desk.customer.buyer = checked
        desk.edits.country = checked.country or desk.edits.country
        if delivery is not None:
            await _deliverable(call, db, desk)

        def change(customer: Customer, edits: CartEdits) -> None:
            customer.buyer = checked
            edits.country = checked.country or edits.country

        customer = await customers.change(cart.partner_id, key, cart, change)
        return await view(call, db, key, await desk_of(call, db, key, customer))


async def _deliverable(call: Call, db: AsyncSession, desk: Desk) -> None:
    _, result = await priced(call, db, desk, others=False)
    if delivery_of(desk, result) is None:
        raise InvalidInput.at(
            "country", "This delivery does not go to this country. Choose another one.", "NOT_DELIVERED"
        )


@operation(Rule.CUSTOMER, transaction=False)
async def apply_code(call: Call, key: CheckoutKey, code: str) -> Checkout:
    """Add a coupon or gift card. Unknown, foreign, expired and used ones get one and the same answer.

    TooManyRequests for whoever tries too many.
    """
    wanted = normal(code)
    if not wanted or mistyped(wanted):
        await live_cart(call, key)
        raise InvalidInput(NOT_USABLE)
    async with call.services.db.sessions() as db:
        desk = await desk_of(call, db, key)
        known = {normal(c) for c in desk.edits.codes}
        if len(known) >= MOST_CODES and wanted not in known:
            raise InvalidInput.at("code", f"At most {MOST_CODES} codes can be used at once.", "TOO_MANY")
        now = call.services.clock.now()

        def look() -> Awaitable[Sequence[object]]:
            return usable_codes(db, desk.partner.id, [wanted], now, desk.own)

        if not await look_up(call.context, "code at the checkout", look):
            raise InvalidInput(NOT_USABLE)

        def change(_customer: Customer, edits: CartEdits) -> None:
            if wanted not in edits.codes:
                edits.codes.append(wanted)

        customer = await Customers(call.services.customers).change(desk.partner.id, key, desk.cart, change)
        return await view(call, db, key, await desk_of(call, db, key, customer))


@operation(Rule.CUSTOMER, transaction=False)
async def remove_code(call: Call, key: CheckoutKey, code: str) -> Checkout:
    """Take a coupon or gift card off again."""

    def change(_customer: Customer, edits: CartEdits) -> None:
        edits.codes = [c for c in edits.codes if c != normal(code)]

    cart = await live_cart(call, key)
    customer = await Customers(call.services.customers).change(cart.partner_id, key, cart, change)
    async with call.services.db.sessions() as db:
        return await view(call, db, key, await desk_of(call, db, key, customer))


def partner_of(call: Call) -> int:
    """The partner whose checkout this is."""
    partner_id = call.caller.partner_id
    if partner_id is None:
        raise NotFound(thing="shop")
    return partner_id

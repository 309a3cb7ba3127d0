"""The checkout, as its customer uses it: look, choose, say who buys, add codes. Paying is in `resolvers.payment.payment`.

All but choosing is the same whatever is sold: a key says of which kind its cart or bag is.
"""

from collections.abc import Awaitable, Callable, Sequence

from sqlmodel.ext.asyncio.session import AsyncSession

from resolvers.checkout.basket_session import BagDesk
from resolvers.checkout.buyer import chosen_country, validated
from resolvers.checkout.cart_session import CartDesk
from resolvers.checkout.session import Desk
from resolvers.core.brute_force import look_up
from resolvers.core.operation import Call, operation
from resolvers.partner.selling import may_sell
from schema.checkout.checkout import Buyer, Checkout, CheckoutKey, Choice, LineProblem, ShopKind
from schema.core.errors import CartNotFound, InvalidInput, NotFound, PartnerInactive, Problem
from schema.core.permission import Rule
from store.checkout.customer_state import CartEdits, Customer, Customers
from store.checkout.reading import latest_attempt
from store.core.codes import mistyped, normal
from store.partner.partners import MarketplaceRow, PartnerRow
from store.payment import LIVE

MOST_CODES = 10
MOST_QUANTITY = 9999
MOST_LINES = 200
NOT_USABLE = Problem(("code",), "CODE_NOT_USABLE", "This code cannot be used here. Check how it is written.")


async def desk_of(
    call: Call, db: AsyncSession, key: CheckoutKey, customer: Customer | None = None, *, ordered: bool = False
) -> Desk:
    """Everything about a customer at a checkout but the prices. Raises CartNotFound for a cart that is not there,
    PartnerInactive where the partner does not sell (any more).

    A bag that has become an order is not there any more; but with `ordered` it is, for whoever wants its order.
    """
    if key.kind is ShopKind.PRODUCTS:
        return await cart_desk(call, db, key, customer)
    return await bag_desk(call, db, key, customer, ordered=ordered)


async def cart_desk(call: Call, db: AsyncSession, key: CheckoutKey, customer: Customer | None = None) -> CartDesk:
    """A customer with a cart, while it lives and is this partner's. Raises CartNotFound."""
    partner_id = call.caller.partner_id
    known = partner_id is not None and key.kind is ShopKind.PRODUCTS
    cart = await call.services.carts.get(partner_id, key.cart_id) if partner_id is not None and known else None
    if cart is None:
        raise CartNotFound
    partner, marketplace = await _shop(db, cart.partner_id)
    customer = customer or await _session(call, partner, key)
    desk = CartDesk(key, partner, marketplace, customer, await latest_attempt(db, partner.id, key), cart)
    _refuse_closed(call, desk)
    return desk


async def bag_desk(
    call: Call, db: AsyncSession, key: CheckoutKey, customer: Customer | None = None, *, ordered: bool = False
) -> BagDesk:
    """A customer with a bag; raises CartNotFound once that is an order, unless it is wanted `ordered`."""
    if call.caller.partner_id is None or key.kind is ShopKind.PRODUCTS:
        raise CartNotFound
    partner, marketplace = await _shop(db, call.caller.partner_id)
    customer = customer or await _session(call, partner, key)
    begun = int(call.services.clock.now().timestamp() * 1000)
    desk = BagDesk(key, partner, marketplace, customer, await latest_attempt(db, partner.id, key), begun)
    if desk.order is not None and not ordered:
        raise CartNotFound
    _refuse_closed(call, desk)
    return desk


def _refuse_closed(call: Call, desk: Desk) -> None:
    """Raise PartnerInactive where the partner does not sell, but to a customer who is paying, or has paid."""
    paying = desk.attempt is not None and desk.attempt.state in LIVE
    if not paying and desk.order is None and not may_sell(call.services, desk.partner.status):
        raise PartnerInactive


async def _shop(db: AsyncSession, partner_id: int) -> tuple[PartnerRow, MarketplaceRow]:
    partner = await db.get(PartnerRow, partner_id)
    marketplace = await db.get(MarketplaceRow, partner.marketplace_id) if partner else None
    if partner is None or marketplace is None:
        raise CartNotFound
    return partner, marketplace


async def _session(call: Call, partner: PartnerRow, key: CheckoutKey) -> Customer:
    return await Customers(call.services.customers).load(partner.id, key.session_id)


async def changed(call: Call, desk: Desk, change: Callable[[Customer], None]) -> Customer:
    """Change the session of a customer; of two changes at once, one is made after the other."""
    return await Customers(call.services.customers).change(desk.partner.id, desk.key.session_id, change)


@operation(Rule.CUSTOMER, transaction=False)
async def open_checkout(call: Call, key: CheckoutKey) -> Checkout:
    """Show the checkout of a cart or bag as it stands; of a bag it is a `BagCheckout`.

    Raises CartNotFound for a cart that is unknown, foreign or expired, and a bag that has become an order; PartnerInactive
    where the partner does not sell.
    """
    async with call.services.db.sessions() as db:
        return await (await desk_of(call, db, key)).view(call, db)


@operation(Rule.CUSTOMER, transaction=False)
async def price_items(
    call: Call, key: CheckoutKey, items: Sequence[Choice], delivery_id: int | None, country: str = ""
) -> Checkout:
    """Show what a choice would come to, and keep nothing of it."""
    async with call.services.db.sessions() as db:
        desk = await cart_desk(call, db, key)
        _choose(desk.edits, items, delivery_id, country)
        return await desk.view(call, db)


@operation(Rule.CUSTOMER, transaction=False)
async def choose_items(
    call: Call, key: CheckoutKey, items: Sequence[Choice], delivery_id: int | None, country: str = ""
) -> Checkout:
    """Keep what the customer wants, and how it is to be delivered. InvalidInput when it is more than one order can hold, and
    on `country` for one that there is not.
    """
    async with call.services.db.sessions() as db:
        desk = await cart_desk(call, db, key)
        _choose(desk.edits, items, delivery_id, country)
        chosen = await desk.view(call, db)
    refuse_too_much(chosen)

    def change(customer: Customer) -> None:
        _choose(desk.edits_in(customer), items, delivery_id, country)

    await changed(call, desk, change)
    return chosen


def refuse_too_much(chosen: Checkout) -> None:
    """Raise InvalidInput for more than an order can hold."""
    if any(line.problem is LineProblem.TOO_MUCH for line in chosen.lines):
        raise InvalidInput.at("items", "This is more than can be ordered at once. Take less of it.", "TOO_MANY")


def _choose(edits: CartEdits, items: Sequence[Choice], delivery_id: int | None, country: str) -> None:
    if len(items) > MOST_LINES:
        raise InvalidInput.at("items", f"A cart has at most {MOST_LINES} lines.", "TOO_MANY")
    for position, item in enumerate(items):
        if not 0 <= item.quantity <= MOST_QUANTITY:
            raise InvalidInput.at(("items", position, "quantity"), f"Choose from 0 to {MOST_QUANTITY}.", "OUT_OF_RANGE")
    to = chosen_country(country)
    edits.choices = list(items)
    edits.delivery_id = delivery_id
    edits.country = to
    edits.notices = []


@operation(Rule.CUSTOMER, transaction=False)
async def identify_buyer(call: Call, key: CheckoutKey, buyer: Buyer) -> Checkout:
    """Keep who buys and where it goes. Raises InvalidInput with a problem for each field, by the names of `Buyer`."""
    async with call.services.db.sessions() as db:
        desk = await desk_of(call, db, key)
        delivery = (await desk.quote(call, db)).delivery
        checked = validated(buyer, delivery, desk.partner.hq_country_code)

        def change(customer: Customer) -> None:
            customer.buyer = checked
            edits = desk.edits_in(customer)
            edits.country = checked.country or edits.country

        change(desk.customer)
        if delivery is not None:
            await _deliverable(call, db, desk)
        customer = await changed(call, desk, change)
        return await (await desk_of(call, db, key, customer)).view(call, db)


async def _deliverable(call: Call, db: AsyncSession, desk: Desk) -> None:
    if (await desk.quote(call, db)).delivery is None:
        raise InvalidInput.at(
            "country", "This delivery does not go to this country. Choose another one.", "NOT_DELIVERED"
        )


@operation(Rule.CUSTOMER, transaction=False)
async def apply_code(call: Call, key: CheckoutKey, code: str) -> Checkout:
    """Add a coupon or gift card. Unknown, foreign, expired and used ones get one and the same answer.

    TooManyRequests for whoever tries too many.
    """
    wanted = normal(code)
    async with call.services.db.sessions() as db:
        desk = await desk_of(call, db, key)
        if not wanted or mistyped(wanted):
            raise InvalidInput(NOT_USABLE)
        known = {normal(c) for c in desk.edits.codes}
        if len(known) >= MOST_CODES and wanted not in known:
            raise InvalidInput.at("code", f"At most {MOST_CODES} codes can be used at once.", "TOO_MANY")

        def look() -> Awaitable[Sequence[object]]:
            return desk.usable(call, db, [wanted])

        if not await look_up(call.context, "code at the checkout", look):
            raise InvalidInput(NOT_USABLE)

        def change(customer: Customer) -> None:
            codes = desk.edits_in(customer).codes
            if wanted not in codes:
                codes.append(wanted)

        customer = await changed(call, desk, change)
        return await (await desk_of(call, db, key, customer)).view(call, db)


@operation(Rule.CUSTOMER, transaction=False)
async def remove_code(call: Call, key: CheckoutKey, code: str) -> Checkout:
    """Take a coupon or gift card off again."""
    async with call.services.db.sessions() as db:
        desk = await desk_of(call, db, key)

        def change(customer: Customer) -> None:
            edits = desk.edits_in(customer)
            edits.codes = [c for c in edits.codes if c != normal(code)]

        customer = await changed(call, desk, change)
        return await (await desk_of(call, db, key, customer)).view(call, db)


def partner_of(call: Call) -> int:
    """The partner whose checkout this is."""
    partner_id = call.caller.partner_id
    if partner_id is None:
        raise NotFound(thing="shop")
    return partner_id

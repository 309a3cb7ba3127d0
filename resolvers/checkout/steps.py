"""The checkout steps: show, choose items, identify the buyer, add codes. Payment: `resolvers.payment.checkout.payment`.

All steps but the choice of items are the same for every kind of checkout; the `CheckoutKey` has the kind.
"""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from uuid import UUID

from resolvers.checkout.buyer import check_buyer, chosen_country, validate_buyer
from resolvers.checkout.session import CheckoutSession
from resolvers.core.brute_force import throttled_lookup
from resolvers.core.operation import Call, operation
from resolvers.partner.selling import may_sell
from schema.checkout.basket import NetworkChoice
from schema.checkout.checkout import Buyer, CheckoutKey, CheckoutKind, LineProblem, ProductChoice
from schema.checkout.view import Checkout
from schema.core.errors import CartNotFound, InvalidInput, NotFound, PartnerInactive, Problem
from schema.core.message_names import TemplatedMessage
from schema.core.permission import AccessRule
from store.checkout.customer_state import CustomerSession, CustomerSessions
from store.checkout.edits import CheckoutEdits
from store.checkout.shops import CheckoutShop, load_shop
from store.core.codes import is_mistyped, normalize
from store.database.transaction_reader import DatabaseReader
from store.payment.attempts import LIVE, AttemptRow

MOST_CODES = 10
MOST_QUANTITY = 9999
MOST_LINES = 200
NOT_DELIVERED = Problem(("country",), "NOT_DELIVERED", "This delivery does not go to this country. Choose another one.")
NOT_USABLE = Problem(("code",), "CODE_NOT_USABLE", "This code cannot be used here. Check how it is written.")


async def load_session(
    call: Call, db: DatabaseReader, key: CheckoutKey, customer: CustomerSession | None = None, *, ordered: bool = False
) -> CheckoutSession:
    """The checkout session, without prices. Raises CartNotFound for a cart that is unknown, expired or of another partner,
    PartnerInactive if the partner may not sell.

    A basket that has become an order raises CartNotFound, unless `ordered` is set.
    """
    partner_id = call.caller.partner_id
    if partner_id is None:
        raise CartNotFound
    cart = await call.services.carts.get(partner_id, key.cart_id) if key.kind is CheckoutKind.CART else None
    if cart is None and key.kind is CheckoutKind.CART:
        raise CartNotFound
    shop, attempt = await _load_shop(db, partner_id, key)
    customer = customer or await _load_customer(call, shop, key)
    begun = int(call.services.clock.now().timestamp() * 1000)
    new_lines = await _new_lines(call, shop, key, customer)
    session = CheckoutSession(key, shop, customer, attempt, begun, cart, new_lines)
    if cart is None and session.ordered_attempt is not None and not ordered:
        raise CartNotFound
    _check_selling(call, session)
    return session


async def _load_cart_session(call: Call, db: DatabaseReader, key: CheckoutKey) -> CheckoutSession:
    """The session of a cart. Raises CartNotFound for a basket, too."""
    if key.kind is not CheckoutKind.CART:
        raise CartNotFound
    return await load_session(call, db, key)


async def _new_lines(
    call: Call, shop: CheckoutShop, key: CheckoutKey, customer: CustomerSession
) -> Mapping[UUID, NetworkChoice]:
    """The lines of the multi-product cart with the id of a basket that this browser does not have yet."""
    if key.kind is not CheckoutKind.NETWORK or key.cart_id in customer.bags:
        return {}
    cart = await call.services.multi_product_carts.get(shop.partner_id, key.cart_id)
    return {} if cart is None else cart.content.lines(cart.id)


def _check_selling(call: Call, session: CheckoutSession) -> None:
    """Raise PartnerInactive if the partner may not sell, except to a customer who is paying or has paid."""
    paying = session.attempt is not None and session.attempt.state in LIVE
    if not paying and session.ordered_attempt is None and not may_sell(call.services, session.shop.status):
        raise PartnerInactive


async def _load_shop(db: DatabaseReader, partner_id: int, key: CheckoutKey) -> tuple[CheckoutShop, AttemptRow | None]:
    found = await load_shop(db, partner_id, key)
    if found is None:
        raise CartNotFound
    return found


async def _load_customer(call: Call, shop: CheckoutShop, key: CheckoutKey) -> CustomerSession:
    return await CustomerSessions(call.services.customer_sessions).load(shop.partner_id, key.session_id)


async def change_customer(
    call: Call, session: CheckoutSession, change: Callable[[CustomerSession], None]
) -> CustomerSession:
    """Change the stored customer session. Concurrent changes are applied one after the other."""
    return await CustomerSessions(call.services.customer_sessions).change(
        session.shop.partner_id, session.key.session_id, change
    )


@operation(AccessRule.CUSTOMER, transaction=False)
async def open_checkout(call: Call, key: CheckoutKey) -> Checkout:
    """Show the checkout of a cart or basket.

    Raises CartNotFound for a cart that is unknown, expired or of another partner, and for a basket that has become an
    order; PartnerInactive if the partner may not sell.
    """
    db = call.services.db
    return await (await load_session(call, db, key)).view(call, db)


@operation(AccessRule.CUSTOMER, transaction=False)
async def price_items(
    call: Call, key: CheckoutKey, items: Sequence[ProductChoice], delivery_id: int | None, country: str = ""
) -> Checkout:
    """Show the checkout with these items and this delivery, without saving anything."""
    db = call.services.db
    session = await _load_cart_session(call, db, key)
    _apply_choice(session.edits, items, delivery_id, country)
    return await session.view(call, db)


@operation(AccessRule.CUSTOMER, transaction=False)
async def choose_items(
    call: Call, key: CheckoutKey, items: Sequence[ProductChoice], delivery_id: int | None, country: str = ""
) -> Checkout:
    """Save the chosen items and the delivery. Raises InvalidInput at `items` if they exceed what one order can hold,
    and at `country` for an unknown country.
    """
    db = call.services.db
    session = await _load_cart_session(call, db, key)
    _apply_choice(session.edits, items, delivery_id, country)
    chosen = await session.view(call, db)
    check_quantity_limit(chosen)

    def change(customer: CustomerSession) -> None:
        _apply_choice(session.edits_in(customer), items, delivery_id, country)

    await change_customer(call, session, change)
    return chosen


def check_quantity_limit(chosen: Checkout) -> None:
    """Raise InvalidInput for more than an order can hold."""
    if any(line.problem is LineProblem.TOO_MUCH for line in chosen.lines):
        raise InvalidInput.at("items", "This is more than can be ordered at once. Take less of it.", "TOO_MANY")


def _apply_choice(edits: CheckoutEdits, items: Sequence[ProductChoice], delivery_id: int | None, country: str) -> None:
    if len(items) > MOST_LINES:
        raise InvalidInput.at(
            "items", TemplatedMessage("A cart has at most {most} lines.", most=MOST_LINES), "TOO_MANY"
        )
    for position, item in enumerate(items):
        if not 0 <= item.quantity <= MOST_QUANTITY:
            raise InvalidInput.at(
                ("items", position, "quantity"),
                TemplatedMessage("Choose from 0 to {most}.", most=MOST_QUANTITY),
                "OUT_OF_RANGE",
            )
    to = chosen_country(country)
    edits.choices, edits.notices = list(items), []
    if edits.is_delivery_of_goods:
        edits.delivery_id, edits.country = delivery_id, to


@operation(AccessRule.CUSTOMER, transaction=False)
async def identify_buyer(call: Call, key: CheckoutKey, buyer: Buyer) -> Checkout:
    """Save the buyer and the delivery address. Raises InvalidInput with a problem for each field, by the field names of
    `Buyer`.
    """
    db = call.services.db
    session = await load_session(call, db, key)
    delivery = (await session.quote(call, db)).delivery
    checked = validate_buyer(buyer, delivery, session.shop.country)

    def change(customer: CustomerSession) -> None:
        customer.buyer = checked
        edits = session.edits_in(customer)
        edits.country = checked.country or edits.country

    change(session.customer)
    if delivery is not None:
        await _check_deliverable(call, db, session)
    customer = await change_customer(call, session, change)
    return await (await load_session(call, db, key, customer)).view(call, db)


@operation(AccessRule.CUSTOMER, transaction=False)
async def preview_buyer(call: Call, key: CheckoutKey, buyer: Buyer) -> tuple[Checkout, Sequence[Problem]]:
    """Show the checkout as if this were the buyer, and what `identify_buyer` would refuse, without saving anything."""
    db = call.services.db
    session = await load_session(call, db, key)
    delivery = (await session.quote(call, db)).delivery
    checked, problems = check_buyer(buyer, delivery, session.shop.country)
    known = {problem.path[0] for problem in problems}
    if checked.country and "country" not in known:
        session.edits.country = checked.country
        if delivery is not None and (await session.quote(call, db)).delivery is None:
            problems = [*problems, NOT_DELIVERED]
    return await session.view(call, db), problems


async def _check_deliverable(call: Call, db: DatabaseReader, session: CheckoutSession) -> None:
    if (await session.quote(call, db)).delivery is None:
        raise InvalidInput(NOT_DELIVERED)


@operation(AccessRule.CUSTOMER, transaction=False)
async def apply_code(call: Call, key: CheckoutKey, code: str) -> Checkout:
    """Add a coupon or gift card code. Unknown, expired and used codes, and codes of other partners, all get the same
    error.

    Raises TooManyRequests after too many failed attempts.
    """
    normal_code = normalize(code)
    db = call.services.db
    session = await load_session(call, db, key)
    if not normal_code or is_mistyped(normal_code):
        raise InvalidInput(NOT_USABLE)
    known = {normalize(c) for c in session.edits.codes}
    if len(known) >= MOST_CODES and normal_code not in known:
        raise InvalidInput.at(
            "code", TemplatedMessage("At most {most} codes can be used at once.", most=MOST_CODES), "TOO_MANY"
        )

    def look() -> Awaitable[Sequence[object]]:
        return session.find_usable_codes(call, db, [normal_code])

    if not await throttled_lookup(call.context, "code at the checkout", look):
        raise InvalidInput(NOT_USABLE)

    def change(customer: CustomerSession) -> None:
        codes = session.edits_in(customer).codes
        if normal_code not in codes:
            codes.append(normal_code)

    customer = await change_customer(call, session, change)
    return await (await load_session(call, db, key, customer)).view(call, db)


@operation(AccessRule.CUSTOMER, transaction=False)
async def remove_code(call: Call, key: CheckoutKey, code: str) -> Checkout:
    """Remove a coupon or gift card code."""
    db = call.services.db
    session = await load_session(call, db, key)

    def change(customer: CustomerSession) -> None:
        edits = session.edits_in(customer)
        edits.codes = [c for c in edits.codes if c != normalize(code)]

    customer = await change_customer(call, session, change)
    return await (await load_session(call, db, key, customer)).view(call, db)


def partner_of(call: Call) -> int:
    """The id of the partner whose checkout this is. Raises NotFound if there is none."""
    partner_id = call.caller.partner_id
    if partner_id is None:
        raise NotFound(thing="shop")
    return partner_id

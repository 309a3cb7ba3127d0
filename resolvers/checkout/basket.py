"""Vouchers, gift cards and network products in a checkout: show, choose them, and how they are received.

Buyer, codes and payment are the same for every kind of checkout: see `resolvers.checkout.steps` and
`resolvers.payment.checkout.payment`; the `CheckoutKey` has the kind.
"""

import dataclasses
import uuid
from collections.abc import Sequence

from sqlmodel.ext.asyncio.session import AsyncSession

from resolvers.checkout.buyer import chosen_country
from resolvers.checkout.giftee import clean_choice
from resolvers.checkout.network_shop import find_sold_box
from resolvers.checkout.session import CheckoutSession
from resolvers.checkout.steps import change_customer, load_session, partner_of
from resolvers.core.operation import Call, operation
from resolvers.partner.selling import require_selling
from schema.checkout.basket import (
    BasketChoice,
    BoxChoice,
    GiftCardChoice,
    NetworkChoice,
    NetworkGiftCardChoice,
    OfferedPrototype,
    quantity_of,
)
from schema.checkout.checkout import CheckoutKey, CheckoutKind
from schema.checkout.view import Checkout
from schema.core.errors import GiftCardsNotSold, InvalidInput, NotFound, Problem
from schema.core.message_names import TemplatedMessage
from schema.core.permission import AccessRule
from schema.coupon.coupon import ReceptionMode
from schema.network.multi_product_cart import MOST_PIECES
from schema.validation.numbers import LARGEST_ID
from store.catalogue.offers import ShopPrototype, load_prototypes
from store.checkout.basket_lines import gift_card_problems, sending_problems, voucher_problems
from store.checkout.customer_state import CustomerSession
from store.checkout.edits import CheckoutEdits
from store.checkout.network_lines import network_card_problems, quantity_problems
from store.checkout.network_offers import load_network_cards
from store.database.transaction_reader import DatabaseReader
from store.voucher.payment import zone_of

MOST_LINES = 20
NOT_SOLD = Problem(("prototype_id",), "NOT_OFFERED", "This is not sold here.")
BOX_NOT_SOLD = Problem(("box_id",), NOT_SOLD.code, NOT_SOLD.message)


@operation(AccessRule.CUSTOMER, transaction=False)
async def open_basket(call: Call, key: CheckoutKey) -> Checkout:
    """Show a basket. An id that is not used in this browser is an empty basket.

    Raises CartNotFound for a basket that has become an order, PartnerInactive if the partner may not sell.
    """
    db = call.services.db
    return await (await load_open_session(call, db, key)).view(call, db)


@operation(AccessRule.CUSTOMER, transaction=False)
async def open_prototype(call: Call, prototype_id: int) -> OfferedPrototype:
    """A prototype as sold in the shop. Raises NotFound if it is not on sale, PartnerInactive if the partner may not
    sell.
    """
    async with call.services.db.read_sessions() as db:
        await require_selling(call.services, db, partner_of(call))
        sold = await _find_sold_prototype(call, db, partner_of(call), prototype_id)
    if sold is None:
        raise NotFound(thing="experience")
    return sold.offered


@operation(AccessRule.CUSTOMER, transaction=False)
async def price_line(
    call: Call,
    key: CheckoutKey,
    line_id: uuid.UUID | None,
    choice: BasketChoice | None,
    reception: tuple[ReceptionMode, int | None] | None = None,
    country: str = "",
) -> Checkout:
    """Show the basket as if it had this line, and as if the line, or all, were received in this way, without saving
    anything.

    Without a line or a reception mode, the saved ones are used. Raises InvalidInput and GiftCardsNotSold like
    `put_line`.
    """
    db = call.services.db
    session = dataclasses.replace(await load_open_session(call, db, key), open_line=line_id)
    edits = session.edits
    if line_id is not None and choice is not None:
        add_line(edits, line_id, await _validate_choice(call, db, session, line_id, choice))
    if reception is not None:
        edits.receive(*reception, line_id)
        edits.country = chosen_country(country) or edits.country
    return await session.view(call, db)


@operation(AccessRule.CUSTOMER, transaction=False)
async def put_line(call: Call, key: CheckoutKey, line_id: uuid.UUID, choice: BasketChoice) -> Checkout:
    """Add a voucher or gift card to the basket, or replace the line with this id. Submitting a form twice adds one
    line.

    Raises InvalidInput with a problem for each field, by the field names of the choice: `adults`, `nights`, `value`, `design_id`,
    `message`, `(options, <id>)`, `(categories, <id>)` (0 for options without a category), `(giftee, email)`; `items`
    for a full basket. Raises GiftCardsNotSold for a gift card if the shop sells none.
    """
    db = call.services.db
    session = await load_open_session(call, db, key)
    checked = await _validate_choice(call, db, session, line_id, choice)
    add_line(session.edits, line_id, checked)

    def change(customer: CustomerSession) -> None:
        add_line(session.edits_in(customer), line_id, checked)

    customer = await change_customer(call, session, change)
    return await (await load_open_session(call, db, key, customer)).view(call, db)


@operation(AccessRule.CUSTOMER, transaction=False)
async def remove_line(call: Call, key: CheckoutKey, line_id: uuid.UUID) -> Checkout:
    """Remove a line from the basket. No effect if it is not there."""

    db = call.services.db
    session = await load_session(call, db, key)

    def change(customer: CustomerSession) -> None:
        session.edits_in(customer).lines.pop(line_id, None)

    customer = await change_customer(call, session, change)
    return await (await load_open_session(call, db, key, customer)).view(call, db)


@operation(AccessRule.CUSTOMER, transaction=False)
async def choose_reception(
    call: Call,
    key: CheckoutKey,
    mode: ReceptionMode,
    delivery_id: int | None = None,
    country: str = "",
    line_id: uuid.UUID | None = None,
) -> Checkout:
    """Save how a line, or all of the basket, is received. An order has one delivery mode: if a line is posted or collected,
    others that are, too, are so in the same way. `country` prices postal delivery to the buyer before the address is known.

    Raises InvalidInput at `reception` for a mode that the shop does not offer, or not in that country, and at `country`
    for an unknown country.
    """

    db = call.services.db
    session = dataclasses.replace(await load_open_session(call, db, key), open_line=line_id)

    def change(customer: CustomerSession) -> None:
        edits = session.edits_in(customer)
        edits.receive(mode, delivery_id, line_id)
        edits.country = chosen_country(country) or edits.country

    change(session.customer)
    if (await session.quote(call, db)).priced.reception is None:
        raise InvalidInput.at("reception", "It cannot be received in this way. Choose another one.", "NOT_OFFERED")
    customer = await change_customer(call, session, change)
    return await (await load_open_session(call, db, key, customer)).view(call, db)


async def load_open_session(
    call: Call, db: DatabaseReader, key: CheckoutKey, customer: CustomerSession | None = None
) -> CheckoutSession:
    """The session, with what the shop offers. Raises NotFound in the shop of a network that sells nothing of it."""
    session = dataclasses.replace(await load_session(call, db, key, customer), chooses_gifts=True)
    if key.kind is CheckoutKind.NETWORK and not session.shop.network.sells_anything:
        raise NotFound(thing="shop of the network")
    return session


def add_line(edits: CheckoutEdits, line_id: uuid.UUID, choice: BasketChoice) -> None:
    """Add a line, or replace the one with this id. Raises InvalidInput if there is no room for it."""
    if line_id not in edits.lines and len(edits.lines) >= MOST_LINES:
        raise InvalidInput.at(
            "items", TemplatedMessage("At most {most} can be bought at once.", most=MOST_LINES), "TOO_MANY"
        )
    others = (line for id, line in edits.lines.items() if id != line_id)
    if sum(map(quantity_of, (*others, choice))) > MOST_PIECES:
        raise InvalidInput.at(
            "quantity", TemplatedMessage("At most {most} can be bought at once.", most=MOST_PIECES), "TOO_MANY"
        )
    edits.lines[line_id] = choice


async def _validate_choice(
    call: Call, db: DatabaseReader, session: CheckoutSession, line_id: uuid.UUID, choice: BasketChoice
) -> BasketChoice:
    """The choice with cleaned texts. Raises InvalidInput if it cannot be ordered. A time of sending that the line has
    already may be over: it is then sent at once.
    """
    cleaned, problems = clean_choice(choice, session.shop.country)
    before = session.edits.lines.get(line_id)
    if before is None or (before.send_on, before.send_at) != (cleaned.send_on, cleaned.send_at):
        problems += sending_problems(cleaned, call.services.clock.now().astimezone(session.zone))
    problems += await _problems(call, db, session, cleaned)
    if problems:
        raise InvalidInput(*problems)
    return cleaned


async def _problems(
    call: Call, db: DatabaseReader, session: CheckoutSession, choice: BasketChoice
) -> Sequence[Problem]:
    if isinstance(choice, GiftCardChoice):
        offer = await session.gift_cards(db)
        if offer is None:
            raise GiftCardsNotSold
        return gift_card_problems(choice, offer)
    if isinstance(choice, NetworkGiftCardChoice | BoxChoice):
        return await _network_problems(db, session, choice)
    async with db.read_sessions() as reading:
        sold = await _find_sold_prototype(call, reading, session.shop.partner_id, choice.prototype_id)
    return voucher_problems(choice, sold) if sold and session.key.kind is not CheckoutKind.NETWORK else [NOT_SOLD]


async def _network_problems(db: DatabaseReader, session: CheckoutSession, choice: NetworkChoice) -> Sequence[Problem]:
    async with db.read_sessions() as reading:
        if isinstance(choice, BoxChoice):
            is_sold = bool(await find_sold_box(reading, session.shop.network, choice.box_id))
            return quantity_problems(choice) if is_sold else [BOX_NOT_SOLD]
        cards = await load_network_cards(reading, session.shop.network)
    return network_card_problems(choice, cards) if cards else [NOT_SOLD]


async def _find_sold_prototype(
    call: Call, db: AsyncSession, partner_id: int, prototype_id: int
) -> ShopPrototype | None:
    """The prototype, if it is on sale; else None."""
    if not 0 < prototype_id <= LARGEST_ID:
        return None
    today = call.services.clock.now().astimezone(await zone_of(db, partner_id)).date()
    prototypes = await load_prototypes(db, partner_id, today, [prototype_id])
    sold = prototypes.get(prototype_id)
    return sold if sold and sold.is_on_sale else None

"""The shops of vouchers and gift cards, as their customers use them: look, fill a bag, choose how it is received.

Who buys, codes and payment are the same for every kind of shop: `resolvers.checkout.steps` and `resolvers.payment.payment`, with a key of
the shop's kind.
"""

import uuid
from collections.abc import Sequence

from sqlmodel.ext.asyncio.session import AsyncSession

from resolvers.checkout.basket_session import BagDesk
from resolvers.checkout.buyer import chosen_country
from resolvers.checkout.giftee import tidied
from resolvers.checkout.steps import bag_desk, changed, partner_of, refuse_too_much
from resolvers.core.operation import Call, operation
from resolvers.partner.selling import require_selling
from schema.checkout.basket import BagCheckout, BagChoice, GiftCardChoice, OfferedPrototype
from schema.checkout.checkout import CheckoutKey, ShopKind
from schema.core.errors import GiftCardsNotSold, InvalidInput, NotFound, Problem
from schema.core.permission import Rule
from schema.coupon.coupon import ReceptionMode
from schema.validation.numbers import LARGEST_ID
from store.catalogue.offers import SoldPrototype, load_prototypes
from store.checkout.basket_lines import gift_card_problems, voucher_problems
from store.checkout.baskets import BagEdits
from store.checkout.customer_state import Customer
from store.voucher.activation import zone_of

MOST_LINES = 20
NOT_SOLD = Problem(("prototype_id",), "NOT_OFFERED", "This is not sold here.")


@operation(Rule.CUSTOMER, transaction=False)
async def open_bag(call: Call, key: CheckoutKey) -> BagCheckout:
    """Show a bag as it stands; an id that this browser has put nothing under is an empty bag.

    Raises CartNotFound for one that has become an order, GiftCardsNotSold as long as the shop sells none, PartnerInactive as
    long as the partner sells nothing at all.
    """
    async with call.services.db.sessions() as db:
        return await (await _open(call, db, key)).view(call, db)


@operation(Rule.CUSTOMER, transaction=False)
async def open_prototype(call: Call, prototype_id: int) -> OfferedPrototype:
    """An experience as the shop sells it. NotFound where it does not, PartnerInactive where the partner sells nothing."""
    async with call.services.db.sessions() as db:
        await require_selling(call.services, db, partner_of(call))
        sold = await _prototype(call, db, partner_of(call), prototype_id)
    if sold is None:
        raise NotFound(thing="experience")
    return sold.offered


@operation(Rule.CUSTOMER, transaction=False)
async def price_line(
    call: Call,
    key: CheckoutKey,
    line_id: uuid.UUID | None,
    choice: BagChoice | None,
    reception: tuple[ReceptionMode, int | None] | None = None,
    country: str = "",
) -> BagCheckout:
    """Show what the bag would come to with this line, received in this way, and keep nothing of it.

    Without a line or a way to receive it, those that are kept. Raises InvalidInput and GiftCardsNotSold as `put_line`.
    """
    async with call.services.db.sessions() as db:
        desk = await _open(call, db, key)
        edits = desk.edits
        if reception is not None:
            edits.reception, edits.delivery_id = reception
            edits.country = chosen_country(country) or edits.country
        if line_id is not None and choice is not None:
            _put(edits, line_id, await _checked(call, db, desk, choice))
        return await desk.view(call, db)


@operation(Rule.CUSTOMER, transaction=False)
async def put_line(call: Call, key: CheckoutKey, line_id: uuid.UUID, choice: BagChoice) -> BagCheckout:
    """Put a voucher or gift card into the bag, or change the one of this id: the same form sent twice is one line.

    Raises InvalidInput with a problem for each field, by the names of the choice: `adults`, `nights`, `value`, `message`,
    `(options, <id>)`, `(categories, <id>)` (0 for options of no category), `(giftee, email)`; `items` for a full bag.
    GiftCardsNotSold as long as the shop sells no gift cards.
    """
    async with call.services.db.sessions() as db:
        desk = await _open(call, db, key)
        checked = await _checked(call, db, desk, choice)
        _put(desk.edits, line_id, checked)
        refuse_too_much(await desk.view(call, db))

        def change(customer: Customer) -> None:
            _put(desk.edits_in(customer), line_id, checked)

        customer = await changed(call, desk, change)
        return await (await bag_desk(call, db, key, customer)).view(call, db)


@operation(Rule.CUSTOMER, transaction=False)
async def remove_line(call: Call, key: CheckoutKey, line_id: uuid.UUID) -> BagCheckout:
    """Take a line out of the bag. One that is not there is left out already."""

    async with call.services.db.sessions() as db:
        desk = await bag_desk(call, db, key)

        def change(customer: Customer) -> None:
            desk.edits_in(customer).lines.pop(line_id, None)

        customer = await changed(call, desk, change)
        return await (await bag_desk(call, db, key, customer)).view(call, db)


@operation(Rule.CUSTOMER, transaction=False)
async def choose_reception(
    call: Call, key: CheckoutKey, mode: ReceptionMode, delivery_id: int | None = None, country: str = ""
) -> BagCheckout:
    """Keep how the bag reaches its recipients. `country` prices what goes by post to the buyer before the address is known.

    InvalidInput on `reception` for a way that the shop does not offer, or not to that country, on `country` for one that there
    is not; GiftCardsNotSold as `put_line`.
    """

    async with call.services.db.sessions() as db:
        desk = await _open(call, db, key)

        def change(customer: Customer) -> None:
            edits = desk.edits_in(customer)
            edits.reception, edits.delivery_id = mode, delivery_id
            edits.country = chosen_country(country) or edits.country

        change(desk.customer)
        if (await desk.quote(call, db)).reception is not mode:
            raise InvalidInput.at("reception", "It cannot be received in this way. Choose another one.", "NOT_OFFERED")
        customer = await changed(call, desk, change)
        return await (await bag_desk(call, db, key, customer)).view(call, db)


async def _open(call: Call, db: AsyncSession, key: CheckoutKey) -> BagDesk:
    """A customer in a shop that is open."""
    desk = await bag_desk(call, db, key)
    if key.kind is ShopKind.GIFT_CARDS and desk.gift_cards is None:
        raise GiftCardsNotSold
    return desk


def _put(edits: BagEdits, line_id: uuid.UUID, choice: BagChoice) -> None:
    if line_id not in edits.lines and len(edits.lines) >= MOST_LINES:
        raise InvalidInput.at("items", f"At most {MOST_LINES} can be bought at once.", "TOO_MANY")
    edits.lines[line_id] = choice


async def _checked(call: Call, db: AsyncSession, desk: BagDesk, choice: BagChoice) -> BagChoice:
    """A choice, tidied; InvalidInput for one that cannot be had."""
    kept, problems = tidied(choice, desk.partner.hq_country_code)
    problems += await _problems(call, db, desk, kept)
    if problems:
        raise InvalidInput(*problems)
    return kept


async def _problems(call: Call, db: AsyncSession, desk: BagDesk, choice: BagChoice) -> Sequence[Problem]:
    if isinstance(choice, GiftCardChoice):
        return gift_card_problems(choice, desk.gift_cards) if desk.gift_cards else [NOT_SOLD]
    sold = await _prototype(call, db, desk.partner.id, choice.prototype_id)
    return voucher_problems(choice, sold) if sold and desk.key.kind is ShopKind.VOUCHERS else [NOT_SOLD]


async def _prototype(call: Call, db: AsyncSession, partner_id: int, prototype_id: int) -> SoldPrototype | None:
    """A prototype while the shop sells it."""
    if not 0 < prototype_id <= LARGEST_ID:
        return None
    today = call.services.clock.now().astimezone(await zone_of(db, partner_id)).date()
    found = await load_prototypes(db, partner_id, today, [prototype_id])
    sold = found.get(prototype_id)
    return sold if sold and sold.is_sold else None

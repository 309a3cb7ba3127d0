"""The money on gift cards: every movement is an entry, and what is left is their sum, cached on the card under its lock."""

from decimal import Decimal

from sqlmodel.ext.asyncio.session import AsyncSession

from schema.gift_card.gift_card import GiftCardMovementKind
from store.gift_card.gift_cards import GiftCardEntryRow, GiftCardHoldRow, GiftCardRow
from store.gift_card.states import EXPIRED, USED, USING, move
from store.payment import AttemptRow

HOLD, RELEASE, CAPTURE = GiftCardMovementKind.HOLD, GiftCardMovementKind.RELEASE, GiftCardMovementKind.CAPTURE


def take_off(db: AsyncSession, card: GiftCardRow, holder: AttemptRow | GiftCardHoldRow, amount: Decimal) -> None:
    """Hold an amount, which the card, locked, has."""
    _enter(db, card, holder, HOLD, -amount)


def put_back(db: AsyncSession, card: GiftCardRow, holder: AttemptRow | GiftCardHoldRow, amount: Decimal) -> None:
    """Let the amount of a hold go."""
    _enter(db, card, holder, RELEASE, amount)
    if card.status is USED:
        move(card, USING)


def spend_held(
    db: AsyncSession, card: GiftCardRow, holder: AttemptRow | GiftCardHoldRow, held: Decimal, spent: Decimal
) -> None:
    """Make a hold final: what was spent of it is gone, the rest is back. A card whose time is over stays so while anything is left."""
    _enter(db, card, holder, RELEASE, held)
    _enter(db, card, holder, CAPTURE, -spent)
    if not card.remaining_amount:
        move(card, USED)
    elif card.status is not EXPIRED:
        move(card, USING)


def _enter(
    db: AsyncSession,
    card: GiftCardRow,
    holder: AttemptRow | GiftCardHoldRow,
    kind: GiftCardMovementKind,
    amount: Decimal,
) -> None:
    card.remaining_amount += amount
    row = GiftCardEntryRow(
        partner_id=card.partner_id, gift_card_id=card.id, currency=card.currency, kind=kind, amount=amount
    )
    if isinstance(holder, AttemptRow):
        row.attempt_id, row.round = holder.id, holder.round
    else:
        row.hold_id, row.reference = holder.id, holder.reference
    db.add(row)

"""Movements of gift card balances. Each movement is an entry; the card, locked, caches their sum."""

from decimal import Decimal

from sqlmodel.ext.asyncio.session import AsyncSession

from schema.gift_card.gift_card import GiftCardMovementKind
from store.gift_card.gift_cards import GiftCardEntryRow, GiftCardHoldRow, GiftCardRow
from store.gift_card.states import EXPIRED, USED, USING, transition
from store.payment.attempts import AttemptRow

HOLD, RELEASE, CAPTURE = GiftCardMovementKind.HOLD, GiftCardMovementKind.RELEASE, GiftCardMovementKind.CAPTURE


def debit_card(db: AsyncSession, card: GiftCardRow, holder: AttemptRow | GiftCardHoldRow, amount: Decimal) -> None:
    """Hold an amount. The card must be locked and have that balance."""
    _write_entry(db, card, holder, HOLD, -amount)


def restore_to_card(db: AsyncSession, card: GiftCardRow, holder: AttemptRow | GiftCardHoldRow, amount: Decimal) -> None:
    """Release the amount of a hold."""
    _write_entry(db, card, holder, RELEASE, amount)
    if card.status is USED:
        transition(card, USING)


def finalize_hold(
    db: AsyncSession, card: GiftCardRow, holder: AttemptRow | GiftCardHoldRow, held: Decimal, spent: Decimal
) -> None:
    """Release a hold and capture what was spent. An expired card keeps its status while it has a balance."""
    _write_entry(db, card, holder, RELEASE, held)
    _write_entry(db, card, holder, CAPTURE, -spent)
    if not card.remaining_amount:
        transition(card, USED)
    elif card.status is not EXPIRED:
        transition(card, USING)


def _write_entry(
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

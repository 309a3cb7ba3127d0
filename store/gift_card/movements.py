"""Movements of gift card balances. Each is a journal of the ledger; the locked card repeats the balance.

The functions change the card and return the journals, which the caller posts together.
"""

import datetime as dt
from decimal import Decimal

from schema.ledger import LedgerJournalKind as Kind
from store.gift_card.gift_cards import GiftCardHoldRow, GiftCardRow
from store.gift_card.states import EXPIRED, USED, USING, transition
from store.ledger.accounts import LedgerAccount, card_account, card_held, issued_value
from store.ledger.posting import Journal, credit, debit
from store.payment.attempts import AttemptRow
from store.payment.payments import PaymentRow
from store.providers.money import MinorAmount

Holder = AttemptRow | GiftCardHoldRow | PaymentRow


def issue_value(card: GiftCardRow) -> Journal:
    """Credit a new card of a partner with its value. The card must have its id."""
    owner, amount = issued_value(card.issuing_partner_id), minor(card, card.value_amount)
    return _journal(card, Kind.ISSUE, "gift_card", str(card.id), amount, owner, card.created_on)


def import_value(card: GiftCardRow, now: dt.datetime) -> Journal:
    """Credit a card that another system issued with what is left of it, at the time of its import. It must have its id."""
    owner, amount = issued_value(card.issuing_partner_id), minor(card, card.remaining_amount)
    return _journal(card, Kind.ISSUE, "gift_card", str(card.id), amount, owner, now)


def debit_card(card: GiftCardRow, holder: Holder, amount: Decimal) -> Journal:
    """Hold an amount. The card must be locked and have that balance."""
    card.remaining_amount -= amount
    return _of_holder(card, Kind.HOLD, holder, -minor(card, amount), card_held(card.id))


def restore_to_card(card: GiftCardRow, holder: Holder, amount: Decimal) -> Journal:
    """Release the amount of a hold."""
    if card.status is USED:
        transition(card, USING)
    return _release(card, holder, amount)


def finalize_hold(card: GiftCardRow, holder: Holder, held: Decimal, spent: Decimal) -> tuple[Journal, Journal]:
    """Release a hold and capture what was spent. An expired card keeps its status while it has a balance."""
    released = _release(card, holder, held)
    card.remaining_amount -= spent
    if not card.remaining_amount:
        transition(card, USED)
    elif card.status is not EXPIRED:
        transition(card, USING)
    return released, _of_holder(card, Kind.CAPTURE, holder, -minor(card, spent), issued_value(card.issuing_partner_id))


def return_spent(
    card: GiftCardRow, amount: Decimal, source_kind: str, source_id: str, now: dt.datetime | None = None
) -> Journal:
    """Credit a spent amount back to its locked card. An expired card stays expired."""
    card.remaining_amount += amount
    if card.status is USED:
        transition(card, USING)
    return _journal(
        card, Kind.REVERSAL, source_kind, source_id, minor(card, amount), issued_value(card.issuing_partner_id), now
    )


def minor(card: GiftCardRow, amount: Decimal) -> int:
    return MinorAmount.of(amount, card.currency).minor


def _release(card: GiftCardRow, holder: Holder, amount: Decimal) -> Journal:
    card.remaining_amount += amount
    return _of_holder(card, Kind.RELEASE, holder, minor(card, amount), card_held(card.id))


def _of_holder(card: GiftCardRow, kind: Kind, holder: Holder, change: int, other: LedgerAccount) -> Journal:
    if isinstance(holder, GiftCardHoldRow):
        return _journal(card, kind, "gift_card_hold", hold_id(holder), change, other)
    source = "checkout_attempt" if isinstance(holder, AttemptRow) else "payment"
    return _journal(card, kind, source, f"{hold_id(holder)}:{card.id}", change, other)


def hold_id(holder: Holder) -> str:
    """What tells a hold from others: of a checkout or payment, with how often it has held."""
    return str(holder.id) if isinstance(holder, GiftCardHoldRow) else f"{holder.id}:{holder.round}"


def _journal(
    card: GiftCardRow,
    kind: Kind,
    source_kind: str,
    source_id: str,
    change: int,
    other: LedgerAccount,
    recorded_on: dt.datetime | None = None,
) -> Journal:
    """A change of the card's balance: positive amounts come from the other account."""
    return Journal(
        book_id=card.book_id,
        partner_id=card.partner_id,
        kind=kind,
        source_kind=source_kind,
        source_id=source_id,
        entries=(debit(other, change), credit(card_account(card.id), change)),
        recorded_on=recorded_on,
    )

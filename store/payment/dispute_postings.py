"""The journals of disputes: what a bank took, what is kept back of the partner's earnings, and how it ended.

What a settlement does not bring back stays below zero in the repudiation wallet, as at the provider: the marketplace
pays it in there, and the partner owes it.
"""

import datetime as dt
from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Decimal

from sqlmodel.ext.asyncio.session import AsyncSession

from schema.ledger import LedgerAccountRole as Role
from schema.ledger import LedgerJournalKind as Kind
from schema.payment.dispute import DisputeState
from schema.validation.numbers import CENT
from store.ledger.accounts import LedgerAccount, partner_earnings, wallet_money
from store.ledger.balances import lock_balance
from store.ledger.posting import Entry, Journal, credit, debit
from store.payment.disputes import DisputeRow
from store.payment.payments import PaymentRow, PaymentSourceRow
from store.payment.refund_amounts import commission_back, left_of
from store.providers.money import MinorAmount

NOTHING = Decimal("0.00")
REPUDIATION_WALLET = LedgerAccount(Role.REPUDIATION_WALLET)
DISPUTE_LOSS = LedgerAccount(Role.DISPUTE_LOSS)


@dataclass(frozen=True, slots=True)
class Loss:
    """A loss, and who bears it. `partner` and `commission` are the whole of `amount`."""

    amount: Decimal
    partner: Decimal
    """The part that was the partner's earnings."""
    commission: Decimal
    """The part that was commission: the marketplace's own loss."""


def commission_in_dispute(payment: PaymentRow, source: PaymentSourceRow, amount: Decimal) -> Decimal:
    """The commission in a disputed amount, of what refunds have left of it."""
    return commission_back(payment, source, min(amount, left_of(source)))[0]


def loss_of(dispute: DisputeRow, amount: Decimal) -> Loss:
    """The parts of a loss of an amount of a dispute: commission is lost in proportion."""
    share = amount / dispute.dispute_amount
    commission = (dispute.commission_amount * share).quantize(CENT, ROUND_HALF_UP)
    return Loss(amount, amount - commission, commission)


def due_settlement(dispute: DisputeRow) -> Decimal:
    """What of the loss is to be taken from the partner's wallet: the partner's part, as far as it is kept back.

    The provider settles lost disputes only: what was not contested of one that was won, the partner owes.
    """
    if dispute.state is not DisputeState.LOST:
        return NOTHING
    return min(dispute.held_amount, loss_of(dispute, dispute.lost_amount).partner)


async def taken_journal(db: AsyncSession, payment: PaymentRow, dispute: DisputeRow) -> Journal:
    """The bank took the money. The partner's part is kept back as far as the earnings go: sets `held_amount`."""
    earnings = partner_earnings(payment.partner_id)
    balance = MinorAmount(payment.currency, await lock_balance(db, payment.book_id, earnings)).decimal
    dispute.held_amount = min(loss_of(dispute, dispute.dispute_amount).partner, balance)
    entries = (
        _debit(payment, _in_dispute(payment), dispute.dispute_amount),
        _debit(payment, earnings, dispute.held_amount),
        _credit(payment, REPUDIATION_WALLET, dispute.dispute_amount),
        _credit(payment, _held(payment), dispute.held_amount),
    )
    return _journal(payment, dispute, Kind.DISPUTE, entries, dispute.taken_on)


def returned_journal(payment: PaymentRow, dispute: DisputeRow, now: dt.datetime) -> Journal:
    """The money came back, or the part of it that was contested; what was kept back is the partner's again."""
    entries = (
        _debit(payment, REPUDIATION_WALLET, dispute.returned_amount),
        _debit(payment, _held(payment), dispute.held_amount),
        _credit(payment, _in_dispute(payment), dispute.returned_amount),
        _credit(payment, partner_earnings(payment.partner_id), dispute.held_amount),
    )
    return _journal(payment, dispute, Kind.DISPUTE_WON, entries, now)


def lost_journal(payment: PaymentRow, dispute: DisputeRow, moved: Decimal, now: dt.datetime) -> Journal:
    """What did not come back is lost, and `moved` of it was taken from the partner's wallet.

    Of what is kept back, more than that is the partner's again. More than is kept back comes out of the earnings: that
    happens only if somebody settles at the provider.
    """
    loss, held = loss_of(dispute, dispute.lost_amount), dispute.held_amount
    owed = max(loss.partner - moved, NOTHING)
    entries = (
        _debit(payment, REPUDIATION_WALLET, moved),
        _debit(payment, _held(payment), held),
        _debit(payment, LedgerAccount(Role.OWED_BY_PARTNER, payment.partner_id), owed),
        _debit(payment, DISPUTE_LOSS, loss.amount - moved - owed),
        _credit(payment, _in_dispute(payment), loss.amount),
        _credit(payment, _wallet(payment), moved),
        _credit(payment, partner_earnings(payment.partner_id), held - moved),
    )
    return _journal(payment, dispute, Kind.DISPUTE_LOST, entries, now)


def _in_dispute(payment: PaymentRow) -> LedgerAccount:
    return LedgerAccount(Role.IN_DISPUTE, owner_uuid=payment.id)


def _held(payment: PaymentRow) -> LedgerAccount:
    return LedgerAccount(Role.PARTNER_HELD, payment.partner_id)


def _wallet(payment: PaymentRow) -> LedgerAccount:
    assert payment.wallet_id is not None, "money by bank card goes into a wallet"
    return wallet_money(payment.wallet_id)


def _debit(payment: PaymentRow, account: LedgerAccount, amount: Decimal) -> Entry:
    return debit(account, MinorAmount.of(amount, payment.currency).minor)


def _credit(payment: PaymentRow, account: LedgerAccount, amount: Decimal) -> Entry:
    return credit(account, MinorAmount.of(amount, payment.currency).minor)


def _journal(
    payment: PaymentRow, dispute: DisputeRow, kind: Kind, entries: tuple[Entry, ...], recorded_on: dt.datetime | None
) -> Journal:
    return Journal(
        book_id=payment.book_id,
        partner_id=payment.partner_id,
        kind=kind,
        source_kind="dispute",
        source_id=str(dispute.id),
        entries=entries,
        recorded_on=recorded_on,
    )

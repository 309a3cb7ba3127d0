"""The journals of disputes: what a bank took, what is kept back of the owner's earnings, and how it ended.

The owner is the partner; of a refill, and of what a network sells, the marketplace. A partner's share of such a payment has its
own part of each amount, by what is left of both. What a settlement does not bring back stays below zero in the
repudiation wallet, as at the provider: the platform pays it in there, and the owner owes it.
"""

import datetime as dt
from dataclasses import dataclass, replace
from decimal import ROUND_HALF_UP, Decimal

from sqlmodel import col, select
from sqlmodel.ext.asyncio.session import AsyncSession

from schema.ledger import LedgerAccountRole as Role
from schema.ledger import LedgerJournalKind as Kind
from schema.payment.dispute import DisputeState
from schema.validation.numbers import CENT
from store.core.clock import now
from store.ledger.accounts import LedgerAccount, network_earnings
from store.ledger.balances import lock_balance
from store.ledger.posting import Entry, Journal, credit, debit
from store.ledger.rows import LedgerJournalRow
from store.payment.disputes import DisputeRow
from store.payment.payments import PaymentRow, PaymentSourceRow
from store.payment.postings import (
    owner_accounts,
    owner_partner_id,
    payable_with,
    taken_from,
    wallet_of,
)
from store.payment.refund_amounts import commission_back, left_of, part_of_share
from store.providers.money import MinorAmount

NOTHING = Decimal("0.00")
SOURCE = "dispute"
"""The kind of source of these journals."""
REPUDIATION_WALLET = LedgerAccount(Role.REPUDIATION_WALLET)
DISPUTE_LOSS = LedgerAccount(Role.DISPUTE_LOSS)
SUSPENSE = LedgerAccount(Role.SUSPENSE)


@dataclass(frozen=True, slots=True)
class Settlement:
    """A settlement that has happened at the provider."""

    id: str
    amount: Decimal
    executed_on: dt.datetime


@dataclass(frozen=True, slots=True)
class Loss:
    """A loss, and who bears it. `owner`, `partner` and `commission` are the whole of `amount`."""

    amount: Decimal
    owner: Decimal
    """The part that was the earnings of whose wallet it is: the partner's, or the marketplace's funds."""
    partner: Decimal
    """The part that was a partner's share in the marketplace's wallet, without commission."""
    commission: Decimal
    """The part that was commission: the marketplace's own loss."""

    def owed(self, settled: Decimal) -> Decimal:
        """What the owner owes when this much of its own is settled."""
        return max(self.owner - settled, NOTHING)

    def unrecovered(self, settled: Decimal) -> Decimal:
        """The commission that is lost when this much of the owner's is settled."""
        return max(self.owner + self.commission - max(settled, self.owner), NOTHING)


def share_in_dispute(payment: PaymentRow, source: PaymentSourceRow, amount: Decimal) -> Decimal:
    """The partner's share in a disputed amount, by what refunds have left of it."""
    return part_of_share(payment, source, min(amount, left_of(source)))


def commission_in_dispute(payment: PaymentRow, source: PaymentSourceRow, amount: Decimal) -> Decimal:
    """The commission in a disputed amount, of what refunds have left of it."""
    disputed = min(amount, left_of(source))
    return commission_back(payment, source, disputed, part_of_share(payment, source, disputed))[0]


def loss_of(dispute: DisputeRow, amount: Decimal) -> Loss:
    """The parts of a loss of an amount of a dispute: commission, and the share of a partner, are lost in proportion."""
    lost = amount / dispute.dispute_amount
    commission = (dispute.commission_amount * lost).quantize(CENT, ROUND_HALF_UP)
    share = (dispute.partner_share_amount * lost).quantize(CENT, ROUND_HALF_UP)
    partner = max(share - commission, NOTHING)
    return Loss(amount, amount - commission - partner, partner, commission)


def _held_of_owner(dispute: DisputeRow) -> Decimal:
    return dispute.held_amount - dispute.partner_share_held_amount


def due_settlement(dispute: DisputeRow) -> Decimal:
    """What of the loss is to be taken from the wallet: the owner's and the partner's parts, as far as they are kept back.

    The provider settles lost disputes only: what was not contested of one that was won, the owner owes.
    """
    if dispute.state is not DisputeState.LOST:
        return NOTHING
    loss = loss_of(dispute, dispute.lost_amount)
    return min(_held_of_owner(dispute), loss.owner) + min(dispute.partner_share_held_amount, loss.partner)


async def taken_journal(db: AsyncSession, payment: PaymentRow, dispute: DisputeRow) -> Journal:
    """The bank took the money. Each owner's part is kept back as far as the earnings go: sets `held_amount`, and what of it
    is of a partner's share.
    """
    accounts, loss = owner_accounts(payment), loss_of(dispute, dispute.dispute_amount)
    held = min(loss.owner, await _balance(db, payment, accounts.earnings))
    of_share = loss.partner and min(loss.partner, await _balance(db, payment, network_earnings(payment.partner_id)))
    dispute.held_amount, dispute.partner_share_held_amount = held + of_share, of_share
    entries = (
        _debit(payment, _in_dispute(payment), dispute.dispute_amount),
        _debit(payment, accounts.earnings, held),
        _debit(payment, network_earnings(payment.partner_id), of_share),
        _credit(payment, REPUDIATION_WALLET, dispute.dispute_amount),
        _credit(payment, accounts.held, held),
        _credit(payment, _network_held(payment), of_share),
    )
    return _journal(payment, dispute, Kind.DISPUTE, entries, dispute.taken_on)


def returned_journal(payment: PaymentRow, dispute: DisputeRow, now: dt.datetime) -> Journal:
    """The money came back, or the part of it that was contested; what was kept back is the owners' again."""
    accounts, held, of_share = owner_accounts(payment), _held_of_owner(dispute), dispute.partner_share_held_amount
    entries = (
        _debit(payment, REPUDIATION_WALLET, dispute.returned_amount),
        _debit(payment, accounts.held, held),
        _debit(payment, _network_held(payment), of_share),
        _credit(payment, _in_dispute(payment), dispute.returned_amount),
        _credit(payment, accounts.earnings, held),
        _credit(payment, network_earnings(payment.partner_id), of_share),
    )
    return _journal(payment, dispute, Kind.DISPUTE_WON, entries, now)


async def lost_journal(
    db: AsyncSession, payment: PaymentRow, dispute: DisputeRow, moved: Decimal, now: dt.datetime
) -> Journal:
    """What did not come back is lost, and `moved` of it was taken from the wallet: sets what of that was a partner's share.

    Of what is kept back, more than that is the owner's again. More than is kept back happens only if somebody settles at
    the provider: it comes out of the earnings of whose wallet it is, and what they do not cover is missing in the wallet.
    """
    loss, held, accounts = loss_of(dispute, dispute.lost_amount), _held_of_owner(dispute), owner_accounts(payment)
    of_share, share_moved = dispute.partner_share_held_amount, _moved_of_share(dispute, loss, moved)
    dispute.partner_share_settled_amount, own = share_moved, moved - share_moved
    entries = (
        _debit(payment, REPUDIATION_WALLET, moved),
        _debit(payment, accounts.held, held),
        _debit(payment, _network_held(payment), of_share),
        _debit(payment, accounts.owed, loss.owed(own)),
        _debit(payment, _owed_by_partner(payment), loss.partner - share_moved),
        _debit(payment, DISPUTE_LOSS, loss.unrecovered(own)),
        *await taken_from(db, payment, _minor(payment, max(own - held, NOTHING))),
        _credit(payment, _in_dispute(payment), loss.amount),
        _credit(payment, wallet_of(payment), moved),
        _credit(payment, accounts.earnings, max(held - own, NOTHING)),
        _credit(payment, network_earnings(payment.partner_id), of_share - share_moved),
        _credit(payment, SUSPENSE, max(own - loss.owner - loss.commission, NOTHING)),
    )
    return _journal(payment, dispute, Kind.DISPUTE_LOST, entries, now)


def _moved_of_share(dispute: DisputeRow, loss: Loss, moved: Decimal) -> Decimal:
    """What of a settlement was a partner's share: its part of what is kept back, and no more than it has lost."""
    of_share = min(dispute.partner_share_held_amount, loss.partner)
    if not of_share or moved >= dispute.held_amount:
        return of_share
    part = (moved * dispute.partner_share_held_amount / dispute.held_amount).quantize(CENT, ROUND_HALF_UP)
    return min(part, of_share)


async def settlement_journal(
    db: AsyncSession, payment: PaymentRow, dispute: DisputeRow, settlement: Settlement
) -> Journal:
    """A settlement that is not awaited: somebody made it at the provider. It is of whose wallet it is.

    It comes out of the owner's earnings as `taken_from` says. Of a loss that is accounted for already, the owner owes as
    much less, and beyond that less commission is lost. More than was lost cannot be explained, nor can any of it while
    nothing is.
    """
    lost = NOTHING if dispute.settled_on is None else dispute.lost_amount
    loss, accounts, moved = loss_of(dispute, lost), owner_accounts(payment), settlement.amount
    before = dispute.settled_amount - dispute.partner_share_settled_amount
    after = before + moved
    taken = await taken_from(db, payment, _minor(payment, moved))  # first: earnings are locked before what is owed
    owed = await _balance(db, payment, accounts.owed)
    less_owed = min(loss.owed(before) - loss.owed(after), owed)
    less_lost = loss.unrecovered(before) - loss.unrecovered(after)
    entries = (
        _debit(payment, REPUDIATION_WALLET, moved),
        *taken,
        _credit(payment, wallet_of(payment), moved),
        _credit(payment, accounts.owed, less_owed),
        _credit(payment, DISPUTE_LOSS, less_lost),
        _credit(payment, SUSPENSE, moved - less_owed - less_lost),
    )
    journal = _journal(payment, dispute, Kind.SETTLEMENT, entries, settlement.executed_on)
    return replace(journal, source_id=_settlement_source(dispute, settlement))


async def is_settlement_posted(
    db: AsyncSession, payment: PaymentRow, dispute: DisputeRow, settlement: Settlement
) -> bool:
    """True if `settlement_journal` of this settlement is posted already."""
    table = LedgerJournalRow
    query = select(table.id).where(
        col(table.book_id) == payment.book_id,
        col(table.source_kind) == SOURCE,
        col(table.source_id) == _settlement_source(dispute, settlement),
        col(table.kind) == Kind.SETTLEMENT,
    )
    return (await db.exec(query)).first() is not None


def _settlement_source(dispute: DisputeRow, settlement: Settlement) -> str:
    return f"{dispute.id}:{settlement.id}"


def _in_dispute(payment: PaymentRow) -> LedgerAccount:
    return LedgerAccount(Role.IN_DISPUTE, owner_uuid=payment.id)


def _network_held(payment: PaymentRow) -> LedgerAccount:
    return LedgerAccount(Role.NETWORK_HELD, payment.partner_id)


def _owed_by_partner(payment: PaymentRow) -> LedgerAccount:
    return LedgerAccount(Role.OWED_BY_PARTNER, payment.partner_id)


async def _balance(db: AsyncSession, payment: PaymentRow, account: LedgerAccount) -> Decimal:
    """The balance of an account, which is locked."""
    return MinorAmount(payment.currency, await lock_balance(db, payment.book_id, account)).decimal


def _minor(payment: PaymentRow, amount: Decimal) -> int:
    return MinorAmount.of(amount, payment.currency).minor


def _debit(payment: PaymentRow, account: LedgerAccount, amount: Decimal) -> Entry:
    return debit(account, _minor(payment, amount))


def _credit(payment: PaymentRow, account: LedgerAccount, amount: Decimal) -> Entry:
    return credit(account, _minor(payment, amount))


def _journal(
    payment: PaymentRow, dispute: DisputeRow, kind: Kind, entries: tuple[Entry, ...], recorded_on: dt.datetime | None
) -> Journal:
    return Journal(
        book_id=payment.book_id,
        partner_id=owner_partner_id(payment),
        kind=kind,
        source_kind=SOURCE,
        source_id=str(dispute.id),
        entries=entries,
        recorded_on=recorded_on,
        payable_at=payable_with(payment, recorded_on or now()),
    )

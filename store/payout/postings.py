"""The journals of payout requests: what is reserved, what leaves the wallets, and what comes back."""

import datetime as dt
from dataclasses import dataclass
from decimal import Decimal

from sqlalchemy import text
from sqlmodel.ext.asyncio.session import AsyncSession

from schema.ledger import LedgerAccountRole as Role
from schema.ledger import LedgerJournalKind as Kind
from store.ledger.accounts import LedgerAccount, network_earnings, partner_earnings, wallet_money
from store.ledger.balances import lock_balance
from store.ledger.posting import Entry, Journal, credit, debit
from store.payout.requests import PayoutRequestRow
from store.providers.money import MinorAmount

SOURCE = "payout_request"
"""The kind of source of these journals."""
FEES_WALLET, SUSPENSE = LedgerAccount(Role.FEES_WALLET), LedgerAccount(Role.SUSPENSE)
DEBTS = text("""
    SELECT role, balance * side AS balance FROM ledger_account
    WHERE book_id = :book_id AND owner_id = :partner_id AND role IN ('owed_by_partner', 'recovery_due', 'partner_shortfall')
""")


@dataclass(frozen=True, slots=True)
class PartnerAccounts:
    """The accounts of a partner that payouts move."""

    own: LedgerAccount
    network: LedgerAccount
    own_reserved: LedgerAccount
    network_reserved: LedgerAccount
    recovery_due: LedgerAccount
    owed: LedgerAccount
    shortfall: LedgerAccount

    @classmethod
    def of(cls, partner_id: int) -> "PartnerAccounts":
        return cls(
            partner_earnings(partner_id),
            network_earnings(partner_id),
            LedgerAccount(Role.PARTNER_RESERVED, partner_id),
            LedgerAccount(Role.NETWORK_RESERVED, partner_id),
            LedgerAccount(Role.RECOVERY_DUE, partner_id),
            LedgerAccount(Role.OWED_BY_PARTNER, partner_id),
            LedgerAccount(Role.PARTNER_SHORTFALL, partner_id),
        )


@dataclass(frozen=True, slots=True)
class PartnerBalances:
    """The balances of a partner in minor units, locked."""

    own: int
    network: int
    recovery_due: int
    """What is kept of its earnings for what it owes."""
    owed: int
    """What it owes beside that."""
    shortfall: int


async def lock_balances(db: AsyncSession, book_id: int, partner_id: int) -> PartnerBalances:
    """Lock what a partner has earned, and then what it owes."""
    of = PartnerAccounts.of(partner_id)
    own, network = [await lock_balance(db, book_id, account) for account in (of.own, of.network)]
    due, owed, shortfall = [await lock_balance(db, book_id, each) for each in (of.recovery_due, of.owed, of.shortfall)]
    return PartnerBalances(own, network, due, max(owed - due, 0), shortfall)


async def debt_of(db: AsyncSession, book_id: int, partner_id: int) -> int:
    """What a partner owes, beside what is kept for it already, in minor units. Locks nothing."""
    values = {"book_id": book_id, "partner_id": partner_id}
    found: dict[str, int] = {
        row.role: row.balance for row in (await (await db.connection()).execute(DEBTS, values)).all()
    }
    owed, due, shortfall = (
        found.get(role, 0) for role in (Role.OWED_BY_PARTNER, Role.RECOVERY_DUE, Role.PARTNER_SHORTFALL)
    )
    return max(owed - due, 0) + shortfall


def recovery_journal(book_id: int, partner_id: int, balances: PartnerBalances, due: int, source_id: str) -> Journal:
    """What a partner owes is taken of what is due to it, in minor units.

    What lies in the marketplace's wallet stays there. What lies in the partner's own makes good what is missing there, and
    is kept there until the next payout takes it to the wallet of fees.
    """
    of = PartnerAccounts.of(partner_id)
    of_network = min(balances.owed, balances.network, max(due, 0))
    made_good = min(balances.shortfall, balances.own, max(due - of_network, 0))
    kept = min(balances.owed - of_network, balances.own - made_good, max(due - of_network - made_good, 0))
    entries = (
        debit(of.network, of_network),
        debit(of.own, made_good + kept),
        credit(of.owed, of_network),
        credit(of.shortfall, made_good),
        credit(of.recovery_due, kept),
    )
    return Journal(
        book_id=book_id,
        partner_id=partner_id,
        kind=Kind.RECOVERY,
        source_kind="recovery",
        source_id=source_id,
        entries=entries,
    )


def validated_journal(payout: PayoutRequestRow) -> Journal:
    """The amount is reserved: its part of the network in the marketplace's wallet, the rest in the partner's."""
    of, network = PartnerAccounts.of(payout.partner_id), _minor(payout, payout.network_amount)
    own = _minor(payout, payout.payout_amount) - network
    entries = (
        debit(of.own, own),
        debit(of.network, network),
        credit(of.own_reserved, own),
        credit(of.network_reserved, network),
    )
    return _journal(payout, Kind.PAYOUT_VALIDATED, entries)


def settled_journal(payout: PayoutRequestRow, from_wallet: int, to_wallet: int, at: dt.datetime | None) -> Journal:
    """The part of the network was transferred from the marketplace's wallet to the partner's."""
    of, network = PartnerAccounts.of(payout.partner_id), _minor(payout, payout.network_amount)
    entries = (
        debit(wallet_money(to_wallet), network),
        debit(of.network_reserved, network),
        credit(wallet_money(from_wallet), network),
        credit(of.own_reserved, network),
    )
    return _journal(payout, Kind.PAYOUT_SETTLED, entries, at)


async def paid_journal(db: AsyncSession, payout: PayoutRequestRow, wallet_id: int, at: dt.datetime | None) -> Journal:
    """The payout left the partner's wallet, with what is recovered. What is not owed any more cannot be explained."""
    of = PartnerAccounts.of(payout.partner_id)
    amount, recovered = _minor(payout, payout.payout_amount), _minor(payout, payout.recovered_amount)
    await lock_balance(db, payout.book_id, of.recovery_due)  # before what is owed, as `lock_balances` does
    owed = min(recovered, await lock_balance(db, payout.book_id, of.owed))
    entries = (
        debit(of.own_reserved, amount),
        debit(of.recovery_due, recovered),
        debit(FEES_WALLET, recovered),
        credit(wallet_money(wallet_id), amount + recovered),
        credit(of.owed, owed),
        credit(SUSPENSE, recovered - owed),
    )
    return _journal(payout, Kind.PAYOUT_PAID, entries, at)


def failed_journal(payout: PayoutRequestRow) -> Journal:
    """The payout failed: what was reserved is the partner's again, where it lies."""
    of, network = PartnerAccounts.of(payout.partner_id), _minor(payout, payout.network_amount)
    left = network if payout.settled_on is None else 0
    own = _minor(payout, payout.payout_amount) - left
    entries = (
        debit(of.own_reserved, own),
        debit(of.network_reserved, left),
        credit(of.own, own),
        credit(of.network, left),
    )
    return _journal(payout, Kind.PAYOUT_FAILED, entries)


@dataclass(frozen=True, slots=True)
class ReturnedPayout:
    """What the bank sent back, as the provider tells it: `fee` of the amount comes from the wallet of fees."""

    id: str
    amount: Decimal
    fee: Decimal
    executed_on: dt.datetime


def returned_journal(payout: PayoutRequestRow, wallet_id: int, back: ReturnedPayout) -> Journal:
    """The bank sent the payout back: it is earned again, and what was recovered is owed again."""
    of = PartnerAccounts.of(payout.partner_id)
    amount, fee = _minor(payout, back.amount), _minor(payout, back.fee)
    entries = (
        debit(wallet_money(wallet_id), amount),
        debit(of.owed, fee),
        credit(FEES_WALLET, fee),
        credit(of.own, amount),
    )
    return _journal(payout, Kind.PAYOUT_RETURNED, entries, back.executed_on, back.id)


def _minor(payout: PayoutRequestRow, amount: Decimal) -> int:
    return MinorAmount.of(amount, payout.currency).minor


def _journal(
    payout: PayoutRequestRow,
    kind: Kind,
    entries: tuple[Entry, ...],
    recorded_on: dt.datetime | None = None,
    discriminator: str = "",
) -> Journal:
    return Journal(
        book_id=payout.book_id,
        partner_id=payout.partner_id,
        kind=kind,
        source_kind=SOURCE,
        source_id=f"{payout.id}:{discriminator}" if discriminator else str(payout.id),
        entries=entries,
        recorded_on=recorded_on,
    )

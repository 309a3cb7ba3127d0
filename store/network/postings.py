"""The journals of a network's gift cards and vouchers: what the network owes for them, and what partners earn."""

import datetime as dt
from collections.abc import Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Protocol

from sqlmodel.ext.asyncio.session import AsyncSession

from schema.ledger import LedgerAccountRole as Role
from schema.ledger import LedgerJournalKind as Kind
from schema.partner.network_settings import UsageFeePayer
from store.core.clock import now
from store.ledger.accounts import LedgerAccount, network_earnings
from store.ledger.balances import lock_balance
from store.ledger.posting import Entry, Journal, credit, debit
from store.providers.money import MinorAmount

FUNDS, OWED = LedgerAccount(Role.MARKETPLACE_FUNDS), LedgerAccount(Role.OWED_BY_MARKETPLACE)
SHORTFALL = LedgerAccount(Role.FUNDS_SHORTFALL)
COMMISSION, MANAGEMENT_FEES = LedgerAccount(Role.COMMISSION), LedgerAccount(Role.MANAGEMENT_FEES)
VAT, PROMOTION = LedgerAccount(Role.VAT_ON_COMMISSION), LedgerAccount(Role.PROMOTION)
BREAKAGE = LedgerAccount(Role.BREAKAGE)
NOTHING = Decimal("0.00")


@dataclass(frozen=True, slots=True)
class NetworkLiability:
    """What a network owes for one gift card or voucher: its account, and what names it as a source."""

    account: LedgerAccount
    book_id: int
    currency: str
    source_kind: str
    id: int

    def minor(self, amount: Decimal) -> int:
        return MinorAmount.of(amount, self.currency).minor

    def journal(self, kind: Kind, entries: tuple[Entry, ...], discriminator: str = "") -> Journal:
        """A journal about it as a whole. `discriminator` tells those apart that can happen several times."""
        source_id = f"{self.id}:{discriminator}" if discriminator else str(self.id)
        return Journal(
            book_id=self.book_id, kind=kind, source_kind=self.source_kind, source_id=source_id, entries=entries
        )


class PostedUsage(Protocol):
    """A usage as it is posted."""

    id: int
    partner_id: int
    value_amount: Decimal
    management_fee_amount: Decimal
    management_fee_vat_amount: Decimal
    commission_amount: Decimal
    commission_vat_amount: Decimal
    fees_paid_by: UsageFeePayer
    net_amount: Decimal
    used_on: dt.datetime
    freeze_payout_date: dt.datetime | None


async def issue_journal(db: AsyncSession, liability: NetworkLiability, amount: Decimal) -> Journal:
    """A network owes the value of a gift card or voucher: out of its funds as far as they go, and what they do not cover
    it has to pay in.
    """
    (journal,) = await issue_journals(db, [(liability, amount)])
    return journal


async def issue_journals(db: AsyncSession, issued: Sequence[tuple[NetworkLiability, Decimal]]) -> Sequence[Journal]:
    """The same for several of one book, each with its value: the funds go to the first ones."""
    journals = list[Journal]()
    funds = await lock_balance(db, issued[0][0].book_id, FUNDS) if issued else 0
    for liability, amount in issued:
        value = liability.minor(amount)
        covered = min(value, funds)
        funds -= covered
        entries = debit(FUNDS, covered), debit(OWED, value - covered), credit(liability.account, value)
        journals.append(liability.journal(Kind.ISSUE, entries))
    return journals


async def void_journal(
    db: AsyncSession,
    liability: NetworkLiability,
    amount: Decimal,
    discriminator: str = "",
    *,
    refunded: Decimal = NOTHING,
) -> Journal:
    """A network owes it no more: it has so much less to pay in, and what it had paid in are its funds again. `refunded` is
    what goes back to its buyer next: so much of it are funds first.
    """
    value = liability.minor(amount)
    kept = min(value, liability.minor(refunded))
    released = await _release(db, liability, value - kept)
    return liability.journal(
        Kind.VOID, (debit(liability.account, value), *released, credit(FUNDS, kept)), discriminator
    )


async def _release(db: AsyncSession, liability: NetworkLiability, value: int) -> tuple[Entry, Entry, Entry]:
    """The entries of what a network owes no more: it makes good what is missing in its wallet, then what it has to pay in,
    as a refill does, and the rest are its funds.
    """
    await lock_balance(db, liability.book_id, FUNDS)
    made_good = min(value, await lock_balance(db, liability.book_id, SHORTFALL))
    paid = min(value - made_good, await lock_balance(db, liability.book_id, OWED))
    return credit(SHORTFALL, made_good), credit(OWED, paid), credit(FUNDS, value - made_good - paid)


def breakage_journal(
    liability: NetworkLiability, amount: Decimal, expired_on: dt.datetime, returned_by: str = ""
) -> Journal:
    """What has expired is booked as income; or what has come back since, by what `returned_by` names."""
    value = liability.minor(amount)
    entries = (debit(liability.account, value), credit(BREAKAGE, value))
    at = _at(expired_on)
    return liability.journal(Kind.BREAKAGE, entries, f"{at}:{returned_by}" if returned_by else at)


def breakage_reversal_journal(liability: NetworkLiability, amount: Decimal, expired_on: dt.datetime) -> Journal:
    """What had expired and was booked as income is owed again. `expired_on` is when it had expired."""
    value = liability.minor(amount)
    entries = (debit(BREAKAGE, value), credit(liability.account, value))
    return liability.journal(Kind.BREAKAGE_REVERSAL, entries, _at(expired_on))


def _at(moment: dt.datetime) -> str:
    return str(round(moment.timestamp()))


def usage_journal(liability: NetworkLiability, usage: PostedUsage) -> Journal:
    """A usage: what was owed to the holder, the partner has earned, less the fees if the partner pays them."""
    fees = _fees(liability, usage)
    value, net = liability.minor(usage.value_amount), liability.minor(usage.net_amount)
    entries = (debit(liability.account, value), credit(network_earnings(usage.partner_id), net), *fees)
    return _of_usage(liability, usage, Kind.CAPTURE, entries, _payable_at(usage))


async def usage_reversal_journal(db: AsyncSession, liability: NetworkLiability, usage: PostedUsage) -> Journal:
    """A usage is cancelled. What the partner has no longer earned, because it was paid out, the partner owes."""
    earnings, net = network_earnings(usage.partner_id), liability.minor(usage.net_amount)
    covered = min(net, await lock_balance(db, liability.book_id, earnings))
    entries = (
        debit(earnings, covered),
        debit(LedgerAccount(Role.OWED_BY_PARTNER, usage.partner_id), net - covered),
        *(Entry(entry.account, -entry.amount) for entry in _fees(liability, usage)),
        credit(liability.account, liability.minor(usage.value_amount)),
    )
    return _of_usage(liability, usage, Kind.REVERSAL, entries, max(now(), _payable_at(usage)))


def _payable_at(usage: PostedUsage) -> dt.datetime:
    """When a usage counts for payouts."""
    return usage.freeze_payout_date or usage.used_on


async def part_return_journal(
    db: AsyncSession, liability: NetworkLiability, part: PostedUsage, refund_part: str
) -> Journal:
    """A part of a usage goes back with a refund of its payment. The refund's part is the source."""
    reversal = await usage_reversal_journal(db, liability, part)
    return replace(reversal, source_kind="refund", source_id=refund_part)


def _fees(liability: NetworkLiability, usage: PostedUsage) -> tuple[Entry, ...]:
    """The fees of a usage as income and VAT, and as an expense if the marketplace pays them."""
    commission, commission_vat = liability.minor(usage.commission_amount), liability.minor(usage.commission_vat_amount)
    fee, fee_vat = liability.minor(usage.management_fee_amount), liability.minor(usage.management_fee_vat_amount)
    return (
        debit(PROMOTION, commission + fee if usage.fees_paid_by is UsageFeePayer.MARKETPLACE else 0),
        credit(COMMISSION, commission - commission_vat),
        credit(MANAGEMENT_FEES, fee - fee_vat),
        credit(VAT, commission_vat + fee_vat),
    )


def _of_usage(
    liability: NetworkLiability, usage: PostedUsage, kind: Kind, entries: tuple[Entry, ...], payable_at: dt.datetime
) -> Journal:
    return Journal(
        book_id=liability.book_id,
        partner_id=usage.partner_id,
        kind=kind,
        source_kind=f"network_{liability.source_kind.removeprefix('network_')}_usage",
        source_id=str(usage.id),
        entries=entries,
        payable_at=payable_at,
    )

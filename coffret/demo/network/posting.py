"""The journals of many gift cards and vouchers of the demo network: those that selling and using them one by one posts."""

import datetime as dt
from dataclasses import dataclass, replace
from decimal import Decimal

import asyncpg

from schema.ledger import LedgerJournalKind as Kind
from store.ledger.posting import Entry, Journal, credit, debit
from store.network.postings import (
    FUNDS,
    OWED,
    SHORTFALL,
    NetworkLiability,
    PostedUsage,
    breakage_journal,
    usage_journal,
)

LOCK = """
    SELECT role, balance * side AS balance FROM ledger_account
    WHERE book_id = $1 AND role = ANY($2::text[]) AND owner_id IS NULL ORDER BY id FOR NO KEY UPDATE
"""


@dataclass(slots=True)
class NetworkFunds:
    """What a network has paid in, has to pay in, and lacks in its wallet, in one book and in minor units. It moves with each
    journal.
    """

    funds: int = 0
    owed: int = 0
    shortfall: int = 0

    def issue(self, liability: NetworkLiability, amount: Decimal, at: dt.datetime) -> Journal:
        """The network owes the value of a gift card or voucher, as `issue_journal` posts it."""
        value = liability.minor(amount)
        covered = min(value, self.funds)
        self.funds, self.owed = self.funds - covered, self.owed + value - covered
        entries = (debit(FUNDS, covered), debit(OWED, value - covered), credit(liability.account, value))
        return replace(liability.journal(Kind.ISSUE, entries), recorded_on=at)

    def void(self, liability: NetworkLiability, amount: Decimal, at: dt.datetime) -> Journal:
        """It owes it no more, as `void_journal` posts it."""
        value = liability.minor(amount)
        made_good = min(value, self.shortfall)
        paid = min(value - made_good, self.owed)
        rest = value - made_good - paid
        self.shortfall, self.owed, self.funds = self.shortfall - made_good, self.owed - paid, self.funds + rest
        entries = credit(SHORTFALL, made_good), credit(OWED, paid), credit(FUNDS, rest)
        return replace(liability.journal(Kind.VOID, (debit(liability.account, value), *entries)), recorded_on=at)


async def lock_funds(db: asyncpg.Connection, book_id: int) -> NetworkFunds:
    """Lock the accounts of a network's funds, and read them."""
    roles = [account.role.value for account in (FUNDS, OWED, SHORTFALL)]
    balances = dict(await db.fetch(LOCK, book_id, roles))
    return NetworkFunds(*(balances.get(role, 0) for role in roles))


def usage_journals(
    liability: NetworkLiability, usage: PostedUsage, used_on: dt.datetime, cancelled_on: dt.datetime | None
) -> list[Journal]:
    """The journals of a usage, and of its cancellation before anything was paid out."""
    used = replace(usage_journal(liability, usage), recorded_on=used_on)
    if cancelled_on is None:
        return [used]
    back = tuple(Entry(entry.account, -entry.amount) for entry in used.entries)
    return [used, replace(used, kind=Kind.REVERSAL, entries=back, recorded_on=cancelled_on)]


def breakage(liability: NetworkLiability, amount: Decimal, expired_on: dt.datetime) -> Journal:
    """What has expired is booked as income."""
    return replace(breakage_journal(liability, amount, expired_on), recorded_on=expired_on)

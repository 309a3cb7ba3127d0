"""The chart of accounts. A debit is positive, a credit negative; an account is natural on one of both sides."""

import datetime as dt
from dataclasses import dataclass, field
from uuid import UUID

from schema.ledger import LedgerAccountRole as Role

DEBIT_SIDE = frozenset(
    {
        Role.WALLET,
        Role.FEES_WALLET,
        Role.REPUDIATION_WALLET,
        Role.OWED_BY_PARTNER,
        Role.OWED_BY_MARKETPLACE,
        Role.PARTNER_SHORTFALL,
        Role.DISPUTE_DEBT,
        Role.FUNDS_SHORTFALL,
        Role.IN_DISPUTE,
        Role.DISPUTE_LOSS,
        Role.PROMOTION,
        Role.ISSUED,
    }
)
"""Assets and expenses, and the contra of gift cards; all others are liabilities and income."""
FLOORED = frozenset(
    {
        Role.OWED_BY_PARTNER,
        Role.OWED_BY_MARKETPLACE,
        Role.PARTNER_SHORTFALL,
        Role.DISPUTE_DEBT,
        Role.FUNDS_SHORTFALL,
        Role.IN_DISPUTE,
        Role.PARTNER,
        Role.PARTNER_NETWORK,
        Role.PARTNER_HELD,
        Role.PARTNER_RESERVED,
        Role.NETWORK_RESERVED,
        Role.NETWORK_HELD,
        Role.RECOVERY_DUE,
        Role.CARD,
        Role.CARD_HELD,
        Role.NETWORK_VOUCHER,
        Role.REFUND_DUE,
        Role.COMMISSION_BACK,
        Role.MARKETPLACE_FUNDS,
        Role.FUNDS_HELD,
    }
)
"""Accounts that could be overspent: their balance is kept in their row, which is locked, and never goes below zero."""
CLEARED = {
    Role.REFUND_DUE: dt.timedelta(days=7),
    Role.COMMISSION_BACK: dt.timedelta(days=7),
    Role.IN_DISPUTE: dt.timedelta(days=120),
    Role.PARTNER_RESERVED: dt.timedelta(days=14),
    Role.NETWORK_RESERVED: dt.timedelta(days=14),
}
"""Accounts that come back to zero when what they count is over, each with how long that may take. A refund is tried for
four days before a person has to see to it; the provider examines a payout for up to seven.
"""


@dataclass(frozen=True, slots=True)
class LedgerAccount:
    """An account of a book, by what it counts and whose it is."""

    role: Role
    owner_id: int | None = None
    """The id of a partner, wallet or gift card, as the role tells."""
    owner_uuid: UUID | None = None
    """The id of a payment or transaction."""
    is_of_marketplace: bool = field(default=False, compare=False)
    """True if what it counts lies in the marketplace's wallet, though the journal may be a partner's."""

    @property
    def side(self) -> int:
        """1 if debits raise its balance, -1 if credits do."""
        return 1 if self.role in DEBIT_SIDE else -1

    @property
    def has_floor(self) -> bool:
        return self.role in FLOORED

    def partner_id(self, journal_partner_id: int | None) -> int | None:
        """Whose money it counts: what has an owner, that of the partner whom the journal that opens it is about. What has
        none is the marketplace's, or shared by all.
        """
        has_owner = self.owner_id is not None or self.owner_uuid is not None
        return journal_partner_id if has_owner and not self.is_of_marketplace else None


def card_account(gift_card_id: int) -> LedgerAccount:
    return LedgerAccount(Role.CARD, gift_card_id)


def card_held(gift_card_id: int) -> LedgerAccount:
    return LedgerAccount(Role.CARD_HELD, gift_card_id)


def issued_value(partner_id: int) -> LedgerAccount:
    return LedgerAccount(Role.ISSUED, partner_id)


def network_earnings(partner_id: int) -> LedgerAccount:
    return LedgerAccount(Role.PARTNER_NETWORK, partner_id)


def partner_earnings(partner_id: int) -> LedgerAccount:
    return LedgerAccount(Role.PARTNER, partner_id)


def wallet_money(wallet_id: int) -> LedgerAccount:
    return LedgerAccount(Role.WALLET, wallet_id)

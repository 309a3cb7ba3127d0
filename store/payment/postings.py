"""The journals of payments and refunds by bank card: where the money lies, and whose it is."""

import datetime as dt
from dataclasses import dataclass, replace
from decimal import Decimal
from uuid import UUID

from sqlmodel.ext.asyncio.session import AsyncSession

from schema.ledger import LedgerAccountRole as Role
from schema.ledger import LedgerJournalKind as Kind
from store.core.clock import now
from store.ledger.accounts import LedgerAccount, network_earnings, partner_earnings, wallet_money
from store.ledger.balances import lock_balance
from store.ledger.posting import Entry, Journal, credit, debit
from store.payment.payments import PaymentRow, PaymentTransactionRow
from store.providers.money import MinorAmount

FEES_WALLET = LedgerAccount(Role.FEES_WALLET)
COMMISSION = LedgerAccount(Role.COMMISSION)
VAT = LedgerAccount(Role.VAT_ON_COMMISSION)
OWED_BY_MARKETPLACE = LedgerAccount(Role.OWED_BY_MARKETPLACE)


@dataclass(frozen=True, slots=True)
class OwnerAccounts:
    """The accounts of whose money a payment by bank card is."""

    earnings: LedgerAccount
    """What is the owner's, in the wallet."""
    held: LedgerAccount
    """What is kept back of it while a dispute is open."""
    owed: LedgerAccount
    """What the owner owes the platform."""
    shortfall: LedgerAccount
    """What is missing in the wallet."""


def owner_accounts(payment: PaymentRow) -> OwnerAccounts:
    """The accounts of whose wallet a payment went to: the partner's; of a refill or of what a network sells, the
    marketplace's. What is in it of a partner is apart: `network_earnings`.
    """
    if payment.is_for_marketplace:
        return OwnerAccounts(
            LedgerAccount(Role.MARKETPLACE_FUNDS),
            LedgerAccount(Role.FUNDS_HELD),
            LedgerAccount(Role.DISPUTE_DEBT),
            LedgerAccount(Role.FUNDS_SHORTFALL),
        )
    id = payment.partner_id
    return OwnerAccounts(
        partner_earnings(id),
        LedgerAccount(Role.PARTNER_HELD, id),
        LedgerAccount(Role.OWED_BY_PARTNER, id),
        LedgerAccount(Role.PARTNER_SHORTFALL, id),
    )


def owner_partner_id(payment: PaymentRow) -> int | None:
    """The partner whose money a payment is, or a share of it; None if all is the marketplace's."""
    return None if payment.is_for_marketplace and not payment.partner_share_amount else payment.partner_id


async def lock_owners(db: AsyncSession, payment: PaymentRow) -> None:
    """Lock what both owners of a payment have in the marketplace's wallet, in the order in which all lock it: the partner's
    earnings, also if its share of the bank card's part is nothing, then the marketplace's funds. Call it once, before anything
    is posted: an account may be opened meanwhile. Does nothing for a payment of one owner.
    """
    if payment.is_mixed:
        await lock_balance(db, payment.book_id, network_earnings(payment.partner_id))
        await lock_balance(db, payment.book_id, owner_accounts(payment).earnings)


def payable_with(payment: PaymentRow, at: dt.datetime) -> dt.datetime | None:
    """When what follows a payment counts for payouts: not before the payment does. None: when it is recorded."""
    frozen_until = payment.freeze_payout_date
    return frozen_until if frozen_until is not None and frozen_until > at else None


def wallet_of(payment: PaymentRow) -> LedgerAccount:
    """The wallet that a payment by bank card went to."""
    assert payment.wallet_id is not None, "money by bank card goes into a wallet"
    return replace(wallet_money(payment.wallet_id), is_of_marketplace=payment.is_for_marketplace)


@dataclass(frozen=True, slots=True)
class CardAmounts:
    """The parts of a movement by bank card, in minor units."""

    wallet: int
    """In or out of the wallet."""
    partner: int
    """What of that is the partner's share, in the marketplace's wallet."""
    fees: int
    """In or out of the wallet of fees: commission with VAT."""
    vat: int

    @classmethod
    def of(cls, transaction: PaymentTransactionRow) -> "CardAmounts":
        def minor(amount: Decimal) -> int:
            return MinorAmount.of(amount, transaction.currency).minor

        fees, share = minor(transaction.commission_amount), minor(transaction.partner_share_amount)
        wallet = minor(transaction.transaction_amount) - fees
        return cls(wallet, share - fees if share else 0, fees, minor(transaction.commission_vat_amount))

    @property
    def owner(self) -> int:
        """What is of whose wallet it is."""
        return self.wallet - self.partner

    @property
    def income(self) -> int:
        """Commission without VAT."""
        return self.fees - self.vat


async def payin_journal(db: AsyncSession, payment: PaymentRow, payin: PaymentTransactionRow) -> Journal:
    """A pay-in has succeeded. A refill makes good what is missing in the marketplace's wallet, and pays what is owed for
    gift cards and vouchers of the network, before it adds to the marketplace's funds. What a network sells adds to its
    funds, and is issued out of them in the same transaction; else it is refunded out of them. The share of the partner that
    has sold it is its earnings in the network.
    """
    amounts, accounts = CardAmounts.of(payin), owner_accounts(payment)
    missing = await _lock_shortfall(db, payment, accounts) if payment.is_refill else 0
    made_good = min(missing, amounts.wallet)
    owed = await lock_balance(db, payment.book_id, OWED_BY_MARKETPLACE) if payment.is_refill else 0
    settled = min(owed, amounts.wallet - made_good)
    entries = (
        debit(wallet_of(payment), amounts.wallet),
        debit(FEES_WALLET, amounts.fees),
        credit(accounts.earnings, amounts.owner - made_good - settled),
        credit(network_earnings(payment.partner_id), amounts.partner),
        credit(accounts.shortfall, made_good),
        credit(OWED_BY_MARKETPLACE, settled),
        credit(COMMISSION, amounts.income),
        credit(VAT, amounts.vat),
    )
    kind = Kind.REFILL if payment.is_refill else Kind.PAYMENT
    return _journal(payment, kind, "payment", str(payment.id), entries, payin.executed_on)


async def _lock_shortfall(db: AsyncSession, payment: PaymentRow, accounts: OwnerAccounts) -> int:
    """What is missing in the owner's wallet. The earnings are locked first, as `taken_from` does."""
    await lock_balance(db, payment.book_id, accounts.earnings)
    return await lock_balance(db, payment.book_id, accounts.shortfall)


def refund_journal(payment: PaymentRow, part: PaymentTransactionRow) -> Journal:
    """A refund is promised: the money is no longer the owners', and has not left the wallet. A partner's share is taken of
    its earnings in the network only: what was paid out lies in the marketplace's wallet no more.
    """
    amounts = CardAmounts.of(part)
    entries = (
        debit(owner_accounts(payment).earnings, amounts.owner),
        debit(network_earnings(payment.partner_id), amounts.partner),
        *_promised(payment, part),
    )
    return _of_part(payment, part, Kind.REFUND, entries)


def _promised(payment: PaymentRow, part: PaymentTransactionRow) -> tuple[Entry, ...]:
    """The entries of a promised refund, but for whose money it was."""
    amounts = CardAmounts.of(part)
    return (
        debit(COMMISSION, amounts.income),
        debit(VAT, amounts.vat),
        credit(_refund_due(payment, part), amounts.wallet),
        credit(LedgerAccount(Role.COMMISSION_BACK, part.id), amounts.fees),
    )


def _refund_due(payment: PaymentRow, part: PaymentTransactionRow) -> LedgerAccount:
    return LedgerAccount(Role.REFUND_DUE, part.id, is_of_marketplace=payment.is_for_marketplace)


def refund_paid_journal(payment: PaymentRow, part: PaymentTransactionRow) -> Journal:
    """A promised refund was executed."""
    amounts = CardAmounts.of(part)
    entries = (
        debit(_refund_due(payment, part), amounts.wallet),
        debit(LedgerAccount(Role.COMMISSION_BACK, part.id), amounts.fees),
        credit(wallet_of(payment), amounts.wallet),
        credit(FEES_WALLET, amounts.fees),
    )
    return _of_part(payment, part, Kind.REFUND_PAID, entries)


def refund_failed_journal(payment: PaymentRow, part: PaymentTransactionRow) -> Journal:
    """A promised refund failed for good: what it had taken is the owners' again."""
    amounts = CardAmounts.of(part)
    entries = (
        credit(owner_accounts(payment).earnings, amounts.owner),
        credit(network_earnings(payment.partner_id), amounts.partner),
        *(Entry(entry.account, -entry.amount) for entry in _promised(payment, part)),
    )
    return _of_part(payment, part, Kind.REFUND_FAILED, entries)


async def taken_from(db: AsyncSession, payment: PaymentRow, amount: int) -> tuple[Entry, Entry]:
    """The entries of what has left the wallet at the provider: out of the owner's earnings as far as they go, and what
    they do not cover is missing in the wallet.
    """
    accounts = owner_accounts(payment)
    covered = min(amount, await lock_balance(db, payment.book_id, accounts.earnings))
    return debit(accounts.earnings, covered), debit(accounts.shortfall, amount - covered)


async def provider_refund_journals(
    db: AsyncSession, payment: PaymentRow, part: PaymentTransactionRow
) -> tuple[Journal, Journal]:
    """A refund that has happened at the provider: what the owner's earnings do not cover is missing in the wallet, but what
    those of a partner's share do not, the partner owes.
    """
    amounts = CardAmounts.of(part)
    earnings = network_earnings(payment.partner_id)
    covered = min(amounts.partner, await lock_balance(db, payment.book_id, earnings))
    entries = (
        *await taken_from(db, payment, amounts.owner),
        debit(earnings, covered),
        debit(LedgerAccount(Role.OWED_BY_PARTNER, payment.partner_id), amounts.partner - covered),
        *_promised(payment, part),
    )
    return _of_part(payment, part, Kind.REFUND, entries), refund_paid_journal(payment, part)


def _of_part(payment: PaymentRow, part: PaymentTransactionRow, kind: Kind, entries: tuple[Entry, ...]) -> Journal:
    return _journal(payment, kind, "refund", f"{_refund_id(part)}:{part.id}", entries, part.executed_on)


def _refund_id(part: PaymentTransactionRow) -> UUID:
    assert part.refund_id is not None, "a part of a refund names it"
    return part.refund_id


def _journal(
    payment: PaymentRow,
    kind: Kind,
    source_kind: str,
    source_id: str,
    entries: tuple[Entry, ...],
    recorded_on: dt.datetime | None,
) -> Journal:
    return Journal(
        book_id=payment.book_id,
        partner_id=owner_partner_id(payment),
        kind=kind,
        source_kind=source_kind,
        source_id=source_id,
        entries=entries,
        recorded_on=recorded_on if kind is not Kind.REFUND else None,
        payable_at=payment.freeze_payout_date if kind is Kind.PAYMENT else payable_with(payment, now()),
    )

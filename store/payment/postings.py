"""The journals of payments and refunds by bank card: where the money lies, and whose it is."""

import datetime as dt
from dataclasses import dataclass, replace
from decimal import Decimal
from uuid import UUID

from sqlmodel.ext.asyncio.session import AsyncSession

from schema.ledger import LedgerAccountRole as Role
from schema.ledger import LedgerJournalKind as Kind
from store.ledger.accounts import LedgerAccount, partner_earnings, wallet_money
from store.ledger.balances import lock_balance
from store.ledger.posting import Entry, Journal, credit, debit
from store.payment.payments import PaymentRow, PaymentTransactionRow
from store.providers.money import MinorAmount

FEES_WALLET = LedgerAccount(Role.FEES_WALLET)
COMMISSION = LedgerAccount(Role.COMMISSION)
VAT = LedgerAccount(Role.VAT_ON_COMMISSION)
FUNDS = LedgerAccount(Role.MARKETPLACE_FUNDS)


@dataclass(frozen=True, slots=True)
class CardAmounts:
    """The parts of a movement by bank card, in minor units."""

    wallet: int
    """In or out of the partner's wallet."""
    fees: int
    """In or out of the wallet of fees: commission with VAT."""
    vat: int

    @classmethod
    def of(cls, transaction: PaymentTransactionRow) -> "CardAmounts":
        def minor(amount: Decimal) -> int:
            return MinorAmount.of(amount, transaction.currency).minor

        fees = minor(transaction.commission_amount)
        return cls(minor(transaction.transaction_amount) - fees, fees, minor(transaction.commission_vat_amount))

    @property
    def income(self) -> int:
        """Commission without VAT."""
        return self.fees - self.vat


def payin_journal(payment: PaymentRow, payin: PaymentTransactionRow) -> Journal:
    """A pay-in has succeeded."""
    amounts = CardAmounts.of(payin)
    entries = (
        debit(_wallet(payment), amounts.wallet),
        debit(FEES_WALLET, amounts.fees),
        credit(_earnings(payment), amounts.wallet),
        credit(COMMISSION, amounts.income),
        credit(VAT, amounts.vat),
    )
    kind = Kind.REFILL if payment.is_refill else Kind.PAYMENT
    return _journal(payment, kind, "payment", str(payment.id), entries, payin.executed_on)


def refund_journal(payment: PaymentRow, part: PaymentTransactionRow) -> Journal:
    """A refund is promised: the money is no longer the partner's, and has not left the wallet."""
    amounts = CardAmounts.of(part)
    entries = (
        debit(_earnings(payment), amounts.wallet),
        debit(COMMISSION, amounts.income),
        debit(VAT, amounts.vat),
        credit(LedgerAccount(Role.REFUND_DUE, part.id), amounts.wallet),
        credit(LedgerAccount(Role.COMMISSION_BACK, part.id), amounts.fees),
    )
    return _of_part(payment, part, Kind.REFUND, entries)


def refund_paid_journal(payment: PaymentRow, part: PaymentTransactionRow) -> Journal:
    """A promised refund was executed."""
    amounts = CardAmounts.of(part)
    entries = (
        debit(LedgerAccount(Role.REFUND_DUE, part.id), amounts.wallet),
        debit(LedgerAccount(Role.COMMISSION_BACK, part.id), amounts.fees),
        credit(_wallet(payment), amounts.wallet),
        credit(FEES_WALLET, amounts.fees),
    )
    return _of_part(payment, part, Kind.REFUND_PAID, entries)


def refund_failed_journal(payment: PaymentRow, part: PaymentTransactionRow) -> Journal:
    """A promised refund failed for good: the opposite of `refund_journal`."""
    entries = tuple(Entry(entry.account, -entry.amount) for entry in refund_journal(payment, part).entries)
    return _of_part(payment, part, Kind.REFUND_FAILED, entries)


async def provider_refund_journals(
    db: AsyncSession, payment: PaymentRow, part: PaymentTransactionRow
) -> tuple[Journal, Journal]:
    """A refund that has happened at the provider: what the partner's earnings do not cover is missing in its wallet."""
    promised = refund_journal(payment, part)
    earnings = _earnings(payment)
    amount = CardAmounts.of(part).wallet
    covered = min(amount, await lock_balance(db, payment.book_id, earnings))
    shortfall = LedgerAccount(Role.PARTNER_SHORTFALL, payment.partner_id)
    if payment.is_refill:  # a person has to find out how a marketplace's wallet could fall short
        shortfall = LedgerAccount(Role.SUSPENSE)
    entries = (debit(earnings, covered), debit(shortfall, amount - covered), *promised.entries[1:])
    return replace(promised, entries=entries), refund_paid_journal(payment, part)


def _earnings(payment: PaymentRow) -> LedgerAccount:
    """Whose money a payment is: the partner's; of a refill, the marketplace's."""
    return FUNDS if payment.is_refill else partner_earnings(payment.partner_id)


def _wallet(payment: PaymentRow) -> LedgerAccount:
    assert payment.wallet_id is not None, "money by bank card goes into a wallet"
    return wallet_money(payment.wallet_id)


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
        partner_id=None if payment.is_refill else payment.partner_id,
        kind=kind,
        source_kind=source_kind,
        source_id=source_id,
        entries=entries,
        recorded_on=recorded_on if kind is not Kind.REFUND else None,
    )

"""The journals of what nobody can explain: it stands in suspense, wallet by wallet, until a person explains it or its own
process records it after all.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import text
from sqlmodel import col, select
from sqlmodel.ext.asyncio.session import AsyncSession

from schema.ledger import LedgerAccountRole as Role
from schema.ledger import LedgerJournalKind as Kind
from store.ledger.accounts import LedgerAccount, partner_earnings, wallet_money
from store.ledger.balances import lock_balance
from store.ledger.posting import Entry, Journal, credit, debit
from store.ledger.wallets import WalletRow
from store.providers.money import MinorAmount
from store.reconciliation.rows import ProviderMovementRow

MOVEMENT, EXPLANATION = "provider_movement", "suspense"
"""The kinds of source of these journals: a movement, and a journal that has put something into suspense."""
FEES_WALLET, SUSPENSE = LedgerAccount(Role.FEES_WALLET), LedgerAccount(Role.SUSPENSE)
IN_SUSPENSE = text(f"""
    SELECT j.id, j.book_id, j.partner_id, a.owner_id AS wallet_id, sum(e.amount)::bigint AS amount,
        EXISTS (SELECT 1 FROM ledger_journal x WHERE x.source_kind = '{EXPLANATION}' AND x.source_id = j.id::text) AS is_explained
    FROM ledger_journal j JOIN ledger_entry e ON e.journal_id = j.id
    JOIN ledger_account a ON a.id = e.account_id AND a.role = 'suspense'
    WHERE j.id = ANY(:ids) GROUP BY j.id, a.id ORDER BY j.id, a.id
""")  # noqa: S608 - of SQL in this file
RECORDED = "recorded"
"""Ends the source of a journal that takes back what another has put into suspense."""
OF_MOVEMENTS = text(f"""
    SELECT j.id, EXISTS (
        SELECT 1 FROM ledger_journal x WHERE x.source_kind = '{EXPLANATION}' AND x.source_id = concat(j.id, '\\:{RECORDED}')
    ) AS is_taken_back
    FROM ledger_journal j
    WHERE j.source_kind = '{MOVEMENT}' AND split_part(j.source_id, ':', 1) = ANY(CAST(:ids AS text[]))
""")  # noqa: S608 - of SQL in this file


@dataclass(frozen=True, slots=True)
class Suspended:
    """A part of a journal that stands in suspense: of a wallet, or without one of the whole book."""

    journal_id: int
    book_id: int
    partner_id: int | None
    wallet_id: int | None
    amount: int
    """In minor units, debits positive."""
    is_explained: bool

    @property
    def account(self) -> LedgerAccount:
        """Where it stands."""
        return LedgerAccount(Role.SUSPENSE, self.wallet_id)

    @property
    def wallet(self) -> LedgerAccount:
        """The money that it is about."""
        return FEES_WALLET if self.wallet_id is None else wallet_money(self.wallet_id)


async def suspense_journals(db: AsyncSession, movement: ProviderMovementRow) -> list[Journal]:
    """What a movement has changed is in suspense, for each wallet apart: two may be of two books. It may have been there
    before, and been taken back since.

    Fees go with the debited wallet, or else with the credited one, if they are in its currency.
    """
    before = len(await _of_movements(db, [movement.provider_id]))
    debited = MinorAmount.of(movement.debited_amount, movement.currency).minor
    credited = MinorAmount.of(movement.credited_amount, movement.credited_currency).minor
    fees = MinorAmount.of(movement.fees_amount, movement.currency).minor
    credited_fees = fees if movement.credited_currency == movement.currency else 0
    legs = (
        (movement.debited_wallet_id, -debited, fees),
        (movement.credited_wallet_id, credited, credited_fees),
    )
    wallets = await _wallets(db, [id for id, *_ in legs if id is not None])
    journals: list[Journal] = []
    for id, amount, fees_with_it in legs:
        if id not in wallets:
            continue
        wallet, own_fees = wallets[id], 0 if journals else fees_with_it
        entries = (
            debit(wallet_money(wallet.id), amount),
            credit(LedgerAccount(Role.SUSPENSE, wallet.id), amount),
            debit(FEES_WALLET, own_fees),
            credit(SUSPENSE, own_fees),
        )
        source_id = f"{movement.provider_id}:{wallet.id}" + (f":{before}" if before else "")
        journals.append(_journal(wallet.book_id, wallet.partner_id, Kind.UNEXPLAINED, MOVEMENT, source_id, entries))
    return journals


async def _wallets(db: AsyncSession, ids: Sequence[str]) -> dict[str | None, WalletRow]:
    """Wallets by the provider's ids. One that was a test partner's has a row in two books: the newest is that of today."""
    query = select(WalletRow).where(col(WalletRow.provider_wallet_id).in_(ids)).order_by(col(WalletRow.id))
    return {row.provider_wallet_id: row for row in (await db.exec(query)).all()}


async def journals_of_movements(db: AsyncSession, provider_ids: Sequence[str]) -> Sequence[int]:
    """The ids of the journals that have put these movements into suspense and were not taken back."""
    return [row.id for row in await _of_movements(db, provider_ids) if not row.is_taken_back]


async def _of_movements(db: AsyncSession, provider_ids: Sequence[str]) -> Sequence[Any]:
    return (await (await db.connection()).execute(OF_MOVEMENTS, {"ids": list(provider_ids)})).all()


async def explained_journals(db: AsyncSession, journal_ids: Sequence[int]) -> list[Journal]:
    """A person has explained what these journals have put into suspense: what is of a wallet is its owner's, and the rest is
    commission. What an owner has not got is missing in its wallet, as after refunds at the provider.
    """
    journals = []
    for first, *more in (await _suspended(db, journal_ids)).values():
        if first.is_explained:
            continue
        entries = [
            entry
            for part in (first, *more)
            for entry in (credit(part.account, part.amount), *await _owned(db, part, -part.amount))
        ]
        journals.append(_explanation(first, entries))
    return journals


async def recorded_journals(db: AsyncSession, journal_ids: Sequence[int]) -> list[Journal]:
    """Its own process has recorded a movement after all: what these journals have put into suspense is taken back; from its
    owner, if a person had explained it.
    """
    journals = []
    for first, *more in (await _suspended(db, journal_ids)).values():
        entries: list[Entry] = []
        for part in (first, *more):
            owned = await _owned(db, part, part.amount) if part.is_explained else (credit(part.account, part.amount),)
            entries += (debit(part.wallet, part.amount), *owned)
        journals.append(_explanation(first, entries, f":{RECORDED}"))
    return journals


async def _suspended(db: AsyncSession, journal_ids: Sequence[int]) -> Mapping[int, list[Suspended]]:
    """What journals have put into suspense, by journal."""
    parts: dict[int, list[Suspended]] = defaultdict(list)
    for row in (await (await db.connection()).execute(IN_SUSPENSE, {"ids": list(journal_ids)})).all():
        parts[row.id].append(Suspended(*row))
    return parts


async def _owned(db: AsyncSession, part: Suspended, amount: int) -> tuple[Entry, ...]:
    """The entries that credit the owner of a part: what is missing in its wallet is made good first."""
    if part.wallet_id is None:
        return (credit(LedgerAccount(Role.COMMISSION), amount),)
    theirs, missing = LedgerAccount(Role.MARKETPLACE_FUNDS), LedgerAccount(Role.FUNDS_SHORTFALL)
    if part.partner_id is not None:
        theirs, missing = partner_earnings(part.partner_id), LedgerAccount(Role.PARTNER_SHORTFALL, part.partner_id)
    held, lacking = [await lock_balance(db, part.book_id, account) for account in (theirs, missing)]
    own = max(amount, -held) if amount < 0 else max(amount - lacking, 0)
    return credit(theirs, own), credit(missing, amount - own)


def _explanation(part: Suspended, entries: Sequence[Entry], matter: str = "") -> Journal:
    return _journal(
        part.book_id, part.partner_id, Kind.EXPLAINED, EXPLANATION, f"{part.journal_id}{matter}", tuple(entries)
    )


def _journal(
    book_id: int, partner_id: int | None, kind: Kind, source_kind: str, source_id: str, entries: tuple[Entry, ...]
) -> Journal:
    return Journal(
        book_id=book_id,
        partner_id=partner_id,
        kind=kind,
        source_kind=source_kind,
        source_id=source_id,
        entries=entries,
    )

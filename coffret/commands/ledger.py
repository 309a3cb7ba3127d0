"""`coffret ledger …`: proves the ledger, explains it, and exports it."""

import csv
import datetime as dt
import enum
import pathlib
from collections.abc import Sequence
from uuid import UUID

from rich.console import Console
from rich.markup import escape
from rich.table import Table
from sqlmodel import col, or_, select
from sqlmodel.ext.asyncio.session import AsyncSession

from coffret.command_error import CommandError
from coffret.commands.environment import read_settings
from coffret.commands.installation import open_database
from store.core.clock import clock
from store.core.codes import normalize
from store.core.csv_cells import safe_cell
from store.gift_card.gift_cards import GiftCardRow
from store.ledger.accounts import card_account, card_held, wallet_money
from store.ledger.export import COLUMNS, exported_lines
from store.ledger.journals import JournalEntry, LedgerSubject, entries_of, journals_of
from store.ledger.plan import ACCOUNT_PLAN
from store.ledger.rows import LedgerBookRow, LedgerJournalRow
from store.ledger.verification.rule import RuleResult
from store.ledger.verification.run import ProofScope, verify_ledger
from store.ledger.wallets import WalletRow
from store.partner.partners import MarketplaceRow
from store.payment.journals import subjects_of_payments
from store.payment.payments import PaymentRow
from store.payout.lines import ExplainedLine, PayoutContents
from store.payout.postings import SOURCE as PAYOUT_SOURCE
from store.payout.requests import PayoutRequestRow


class LedgerThing(enum.StrEnum):
    """What can be explained."""

    PAYMENT = "payment"
    CARD = "card"
    PAYOUT = "payout"
    WALLET = "wallet"


# ---- verify


async def verify(book_ids: Sequence[int], since: dt.date | None) -> bool:
    """Print each rule of the proof; returns whether all of them hold. Raises CommandError for an unknown book."""
    async with open_database(read_settings()) as db:
        async with db.sessions() as session:
            books = set((await session.exec(select(LedgerBookRow.id))).all())
        if unknown := set(book_ids) - books:
            raise CommandError(f"There is no book {min(unknown)}.")
        results = await verify_ledger(db, clock.now(), ProofScope(tuple(book_ids) or None, since))
    console = Console(highlight=False)
    console.print(results_table(results))
    broken = sum(not result.holds for result in results)
    told = f"[red]{broken} of {len(results)} rules are broken.[/]" if broken else f"All {len(results)} rules hold."
    console.print(told)
    return not broken


def results_table(results: Sequence[RuleResult]) -> Table:
    table = Table(box=None, pad_edge=False, header_style="bold")
    for heading in ("rule", "", "what must hold, and what breaks it"):
        table.add_column(heading, overflow="fold")
    for result in results:
        more = [f"… and {result.offenders - len(result.sample)} more"] if result.offenders > len(result.sample) else []
        state = "[green]OK[/]" if result.holds else f"[red]{result.offenders}[/]"
        told = [result.rule.title, *(f"  {escape(line)}" for line in (*result.sample, *more))]
        table.add_row(result.rule.name, state, "\n".join(told))
    return table


# ---- explain


async def explain(thing: LedgerThing, key: str) -> None:
    """Print the journals about a payment (uuid), a gift card (code, else id), a payout request (id) or a wallet (uuid or
    id); and what a payout request is the sum of.
    """
    async with open_database(read_settings()) as db, db.sessions() as session:
        subject = await _subject(session, thing, key)
        journals = (await journals_of(session, {key: subject}))[key]
        entries = await entries_of(session, [journal.id for journal in journals])
        lines = await PayoutContents.of_request(int(key)).lines(session) if thing is LedgerThing.PAYOUT else []
    console = Console(highlight=False)
    console.print(statement_table(journals, entries) if journals else f"No journal is about this {thing}.")
    if lines:
        console.print("\nIt is the sum of:", lines_table(lines), sep="\n")


async def _subject(db: AsyncSession, thing: LedgerThing, key: str) -> LedgerSubject:
    """What is to be explained. Raises CommandError if there is no such thing."""
    if thing is LedgerThing.PAYMENT:
        if (uuid := _uuid(key)) is None:
            raise CommandError("A payment is named by its uuid.")
        if await db.get(PaymentRow, uuid) is None:
            raise CommandError(f"There is no payment {key}.")
        return (await subjects_of_payments(db, [uuid]))[uuid]
    if thing is LedgerThing.CARD:
        by_id = [col(GiftCardRow.id) == int(key)] if _is_id(key) else []
        has_code = col(GiftCardRow.normal_code) == normalize(key)
        found = select(GiftCardRow.id).where(or_(has_code, *by_id)).order_by(has_code.desc())
        ids = (await db.exec(found)).all()
        if not ids:
            raise CommandError(f"There is no gift card with the code or id {key}.")
        return _of_card(ids[0])
    if thing is LedgerThing.PAYOUT:
        if not _is_id(key) or await db.get(PayoutRequestRow, int(key)) is None:
            raise CommandError(f"There is no payout request with the id {key}.")
        return LedgerSubject(((PAYOUT_SOURCE, key),))
    uuid = _uuid(key)
    if uuid is None and not _is_id(key):
        raise CommandError("A wallet is named by its uuid or its id.")
    condition = col(WalletRow.uuid) == uuid if uuid is not None else col(WalletRow.id) == int(key)
    row = (await db.exec(select(WalletRow).where(condition))).one_or_none()
    if row is None:
        raise CommandError(f"There is no wallet {key}.")
    card_id = (await db.exec(select(GiftCardRow.id).where(col(GiftCardRow.wallet_id) == row.id))).one_or_none()
    return LedgerSubject(accounts=(wallet_money(row.id),)) if card_id is None else _of_card(card_id)


def _of_card(id: int) -> LedgerSubject:
    return LedgerSubject(accounts=(card_account(id), card_held(id)))


def _uuid(key: str) -> UUID | None:
    try:
        return UUID(key)
    except ValueError:
        return None


def _is_id(key: str) -> bool:
    return key.isascii() and key.isdigit() and int(key) < 2**31


def statement_table(journals: Sequence[LedgerJournalRow], entries: dict[int, list[JournalEntry]]) -> Table:
    """Journals as a bookkeeper reads them. A balance is that of the account, on its natural side."""
    table = Table(box=None, pad_edge=False, header_style="bold")
    for heading in ("date", "journal", "event", "account"):
        table.add_column(heading, overflow="fold")
    for heading in ("debit", "credit", "balance"):
        table.add_column(heading, justify="right", no_wrap=True)
    for journal in journals:
        event = f"{journal.kind.description} ({journal.source_kind} {journal.source_id})"
        first = [f"{journal.effective_on}", str(journal.id), escape(event)]
        for entry in entries[journal.id]:
            account = f"{ACCOUNT_PLAN[entry.role].code} {ACCOUNT_PLAN[entry.role].name}"
            amounts = (entry.debit, entry.credit, entry.balance)
            told = ("" if amount is None else f"{amount.decimal} {amount.currency}" for amount in amounts)
            table.add_row(*first, " ".join(filter(None, (account, entry.owner))), *told)
            first = ["", "", ""]
    return table


def lines_table(lines: Sequence[ExplainedLine]) -> Table:
    """The lines of a payout request, each with what it is made of and why it is in this one."""
    table = Table(box=None, pad_edge=False, header_style="bold")
    for heading in ("day", "journal", "event", "why it is in this payout"):
        table.add_column(heading, overflow="fold")
    table.add_column("amount", justify="right", no_wrap=True)
    for line in lines:
        event = f"{line.kind.description} ({line.source_kind} {line.source_id})"
        made_of = f"{line.gross:f} less {line.fees:f} of fees." if line.fees else ""
        former = [f"It was in {each.id} ({each.status})." for each in line.former]
        why = " ".join(filter(None, (made_of, line.reason.description, line.details, *former)))
        amount = f"{line.net:f} {line.currency}"
        table.add_row(f"{line.day}", str(line.journal_id), escape(event), escape(why), amount)
    return table


# ---- export


async def export(first: dt.date, last: dt.date, marketplace: str, output: pathlib.Path) -> None:
    """Write the journals of a period, both days included, to a CSV file. Raises CommandError.

    The file is written beside its name and then renamed: it is complete, or not there.
    """
    if last < first:
        raise CommandError(f"{last} is before {first}.")
    part = output.with_name(f"{output.name}.part")
    async with open_database(read_settings()) as db, db.sessions() as session:
        marketplace_id = await _marketplace_id(session, marketplace) if marketplace else None
        try:
            count = await _write(session, first, last, marketplace_id, part)
            part.replace(output)
        except OSError as error:
            raise CommandError(f"{output} cannot be written: {error.strerror}.") from None
    Console(highlight=False).print(f"Wrote {count} entries to {escape(str(output))}.", soft_wrap=True)


async def _write(
    db: AsyncSession, first: dt.date, last: dt.date, marketplace_id: int | None, path: pathlib.Path
) -> int:
    count = 0
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(COLUMNS)
        async for line in exported_lines(db, first, last, marketplace_id):
            writer.writerow(map(safe_cell, line))
            count += 1
    return count


async def _marketplace_id(db: AsyncSession, name_or_id: str) -> int:
    """The id of a marketplace by its id or its name. Raises CommandError."""
    by_id = [col(MarketplaceRow.id) == int(name_or_id)] if _is_id(name_or_id) else []
    found = or_(col(MarketplaceRow.name) == name_or_id, *by_id)
    ids = (await db.exec(select(MarketplaceRow.id).where(found))).all()
    if len(ids) != 1:
        raise CommandError(f"{len(ids) or 'No'} marketplaces are named {name_or_id}: use the id.")
    return ids[0]

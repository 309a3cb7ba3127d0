"""Erases the data of a person, or of an order: rows are locked, checked, and emptied of what the law does not ask for."""

import datetime as dt
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from sqlalchemy import update
from sqlmodel import col, select
from sqlmodel.ext.asyncio.session import AsyncSession

from schema.personal_data.errors import PersonalDataInUse
from schema.personal_data.export import PersonalDataErasure
from store.customer import CustomerRow
from store.database.loaders import is_any_of
from store.document.addresses import DocumentKind, document_key
from store.network.gift_cards import NetworkGiftCardUsageRow
from store.network.vouchers import NetworkVoucherRow, NetworkVoucherUsageRow
from store.order.orders import OrderRow
from store.payment.attempts import AttemptRow
from store.personal_data.audit_log import erase_from_log
from store.personal_data.emptied import (
    ErasedTexts,
    emptied_rows,
    is_erased_whole,
)
from store.personal_data.obstacles import BEING_CHANGED, find_obstacles
from store.personal_data.rows import PersonKey, PersonRows, lock_rows, rows_of_person
from store.personal_data.scrubbing import PersonalTexts
from store.personal_data.traces import erase_traces
from store.voucher.vouchers import VoucherRentalRow, VoucherRow

NoteRow: TypeAlias = VoucherRentalRow | NetworkGiftCardUsageRow | NetworkVoucherUsageRow
NOTED_IN: Mapping[type[Any], type[NoteRow]] = {
    VoucherRow: VoucherRentalRow,
    NetworkVoucherRow: NetworkVoucherUsageRow,
}
"""Where staff note something about each. Gift cards are noted where a network's are used."""
OWNER_OF_NOTE: Mapping[type[NoteRow], str] = {
    VoucherRentalRow: "voucher_id",
    NetworkGiftCardUsageRow: "gift_card_id",
    NetworkVoucherUsageRow: "network_voucher_id",
}


@dataclass(frozen=True, slots=True)
class ErasedPerson:
    """What was erased, and what is left to delete outside the database."""

    result: PersonalDataErasure
    document_keys: Sequence[str]
    """The keys of rendered documents in the file store."""
    session_digests: Sequence[str]
    """The digests of the ids of the sessions in which the person went to pay."""


async def erase_person(db: AsyncSession, person: PersonKey, now: dt.datetime) -> ErasedPerson:
    """Erase what a partner keeps about a person, in the open transaction. Repeating it changes nothing.

    Raises PersonalDataInUse, before anything is changed, while something is not paid, delivered or decided.
    """
    person_rows = await rows_of_person(db, person)
    if not await lock_rows(db, person_rows):
        raise PersonalDataInUse(reasons=BEING_CHANGED)
    reasons = await find_obstacles(db, person_rows, now)
    if reasons:
        raise PersonalDataInUse(reasons="; ".join(reasons))
    counts, texts = await erase_rows(db, person_rows, now)
    personal = PersonalTexts(person.email, texts.texts)
    audit_entries = await erase_from_log(db, person, personal, person_rows, await notes_of(db, person_rows))
    traces = await erase_traces(db, person, personal, person_rows)
    result = PersonalDataErasure(
        partner_id=person.partner_id,
        erased_on=now,
        **counts,
        mails=traces.mails,
        events=traces.events,
        audit_entries=audit_entries,
        stored_responses=traces.stored_responses,
    )
    sessions = [attempt.session_digest for attempt in person_rows.attempts if person_rows.is_buyer(attempt)]
    return ErasedPerson(result, document_keys_of(person_rows), sessions)


def document_keys_of(person_rows: PersonRows) -> Sequence[str]:
    """The keys of the rendered documents that name people."""
    kinds = {VoucherRow: DocumentKind.VOUCHER, NetworkVoucherRow: DocumentKind.NETWORK_VOUCHER}
    gifts = [document_key(kinds.get(type(gift), DocumentKind.GIFT_CARD), gift.id) for gift in person_rows.gifts]
    return [*gifts, *(document_key(DocumentKind.RECEIPT, payment.id) for payment in person_rows.payments)]


async def erase_rows(
    db: AsyncSession, person_rows: PersonRows, now: dt.datetime
) -> tuple[Mapping[str, int], ErasedTexts]:
    """Empty locked rows, and mark orders, and checkouts that became none. Returns how many of each kind had something to
    erase, and the erased texts.
    """
    texts, counts = ErasedTexts(), {}
    for kind, rows in emptied_rows(person_rows).items():
        for row, left in rows:
            texts.add(row, left)
            await _empty(db, row, left, _marks(person_rows, row, now))
        counts[kind] = sum(1 for _, left in rows if left)
    texts.texts += await _erase_notes(db, person_rows)
    return counts, texts


def _marks(person_rows: PersonRows, row: Any, now: dt.datetime) -> Mapping[str, Any]:
    if isinstance(row, OrderRow) or (isinstance(row, AttemptRow) and is_erased_whole(person_rows, row)):
        return {"personal_data_erased_on": now}
    return {}


async def _empty(db: AsyncSession, row: Any, left: Mapping[str, Any], marks: Mapping[str, Any]) -> None:
    """Write what is left of a row. Past the session, whose changes the audit log would keep."""
    values = {**left, **{name: value for name, value in marks.items() if left or getattr(row, name) is None}}
    if values:
        table = type(row)
        statement = update(table).where(table.__table__.c.id == row.id).values(values)
        await db.exec(statement.execution_options(synchronize_session=False))


async def notes_of(db: AsyncSession, person_rows: PersonRows) -> Sequence[NoteRow]:
    """The bookings and usages of gift cards and vouchers, which have notes of staff."""
    ids: dict[Any, list[int]] = {kind: [] for kind in OWNER_OF_NOTE}
    for gift in person_rows.gifts:
        ids[NOTED_IN.get(type(gift), NetworkGiftCardUsageRow)].append(gift.id)
    found: list[NoteRow] = []
    for kind, owners in ids.items():
        owner = kind.__table__.c[OWNER_OF_NOTE[kind]]
        found += (await db.exec(select(kind).where(is_any_of(owner, owners)).order_by(kind.id))).all()
    return found


async def _erase_notes(db: AsyncSession, person_rows: PersonRows) -> Sequence[str]:
    """Empty what staff have noted about the gift cards and vouchers, and the names of giftees without an address. Returns the
    notes.
    """
    notes = await notes_of(db, person_rows)
    texts = [note.comment for note in notes]
    for kind in OWNER_OF_NOTE:
        ids = [note.id for note in notes if isinstance(note, kind) and note.comment]
        await db.exec(update(kind).where(is_any_of(col(kind.id), ids)).values(comment=""))
    vouchers = [gift for gift in person_rows.gifts if isinstance(gift, VoucherRow)]
    unnamed = [v.giftee_id for v in vouchers if v.giftee_id is not None and not v.giftee_email]
    alone = is_any_of(col(CustomerRow.id), unnamed), col(CustomerRow.normal_email).is_(None)
    await db.exec(update(CustomerRow).where(*alone).values(first_name="", last_name=""))
    return texts

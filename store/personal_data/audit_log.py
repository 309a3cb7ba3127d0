"""Personal data in the audit log. Entries stay; the data in them are replaced, which the database lets nothing else do."""

import datetime as dt
from collections.abc import Collection, Sequence
from typing import Any

from sqlalchemy import ARRAY, String, and_, bindparam, exists, func, or_, select, text, true, update
from sqlmodel import col
from sqlmodel import select as select_rows
from sqlmodel.ext.asyncio.session import AsyncSession

from schema.audit import AuditActor
from store.audit.change_tracking import resource_of
from store.audit.entries import AuditEntryRow
from store.core.telemetry.logs import MASK
from store.personal_data import emptied
from store.personal_data.rows import GIFTEE, GIFTER, GiftRow, PersonKey, PersonRows
from store.personal_data.scrubbing import PersonalTexts, mask_fields
from store.personal_data.traces import contains, of_person

COLUMNS = frozenset(
    {
        *(*emptied.ORDER, *emptied.CUSTOMER_OF_PAYMENT, *emptied.CUSTOMER, *emptied.OF_GIFTER, *emptied.OF_GIFTEE),
        *("message", "customer_name", "reason", "answer", "recipient", "comment"),
    }
)
NAMES_IN_INPUT = frozenset(
    {*COLUMNS, "phone", "phone_number", "address", "buyer", "customer", "gifter", "giftee", "gifter_details"}
    | {"giftee_details", "name", "wired_phone", "mobile_phone"}
)
"""The names under which operations take personal data."""
OF_GIFTER_IN_INPUT = frozenset({*emptied.OF_GIFTER, "buyer", "customer", "gifter", "gifter_details"})
OF_GIFTEE_IN_INPUT = frozenset({*emptied.OF_GIFTEE, "giftee", "giftee_details"})
RESOURCES = frozenset(
    {"Customer", "GiftCard", "Mail", "NetworkGiftCard", "NetworkVoucher", "Order", "Payment", "PaymentRequest"}
    | {"RefundRequest", "Voucher"}
)
"""The resources with personal data of customers."""
ALLOW = text("SELECT set_config('coffret.audit_erase', 'on', true)")


async def entries_about(
    db: AsyncSession, person: PersonKey, texts: PersonalTexts, resources: Collection[tuple[str, str]] = ()
) -> Sequence[AuditEntryRow]:
    """The entries that contain the address, or are about one of these resources (type, id); oldest first."""
    row = AuditEntryRow
    about = _of_resources(resources) if resources else ~true()
    told = or_(contains(row.input, texts.needle), contains(row.changes, texts.needle), about)
    query = select_rows(row).where(of_person(row, person), told).order_by(col(row.id))
    return (await db.exec(query)).all()


async def erase_from_log(
    db: AsyncSession, person: PersonKey, texts: PersonalTexts, person_rows: PersonRows, notes: Sequence[object]
) -> int:
    """Replace the data of a person in the log; returns the number of changed entries. `notes` are rows in which staff have
    noted something about what the person gave or received.
    """
    whole = {
        (kind, str(row.id)): _others_in(row, person_rows)
        for rows in (*person_rows.groups(), notes)
        for row in rows
        for kind in _names_of(row)
    }
    changed = 0
    for entry in await entries_about(db, person, texts, whole):
        input_left, changes = entry.input, list(entry.changes)
        subject = entry.subject_type, entry.subject_id
        if subject in whole:
            input_left = mask_fields(entry.input, NAMES_IN_INPUT, MASK, whole[subject])
        for at, each in enumerate(changes):
            resource = each.get("resource"), each.get("id")
            if resource in whole:
                changes[at] = texts.scrub(mask_fields(each, COLUMNS, MASK, whole[resource]), MASK)
        if subject in whole:
            input_left, changes = texts.scrub(input_left, MASK), texts.scrub(changes, MASK)
        elif texts.has_email([input_left, changes]):
            input_left, changes = texts.scrub_found(input_left, MASK), texts.scrub_found(changes, MASK)
        elif changes == entry.changes:
            continue
        changed += await _replace(db, entry, input_left, changes)
    return changed


def _others_in(row: Any, person_rows: PersonRows) -> Collection[str]:
    """The names of what an entry about a row has of other people: of who gives, or of who receives."""
    if not isinstance(row, GiftRow):
        return ()
    roles = person_rows.roles(row)
    if GIFTER not in roles:
        return OF_GIFTER_IN_INPUT
    return OF_GIFTEE_IN_INPUT if GIFTEE not in roles and row.giftee_email else ()


async def erase_old_from_log(
    db: AsyncSession, since: dt.datetime | None, before: dt.datetime, most: int
) -> dt.datetime | None:
    """Replace the data of customers in at most `most` entries from `since` on that are older than `before`, whoever they are
    about. Returns from when on there are more; None if there are none.
    """
    row = AuditEntryRow
    query = select_rows(row).where(col(row.occurred_on) < before, col(row.occurred_on) >= since if since else true())
    entries = (await db.exec(query.order_by(col(row.occurred_on), col(row.id)).limit(most))).all()
    for entry in entries:
        is_about_customers = (
            entry.actor is AuditActor.CUSTOMER
            or entry.subject_type in RESOURCES
            or any(each.get("resource") in RESOURCES for each in entry.changes)
        )
        if is_about_customers:
            changes = [
                mask_fields(each, COLUMNS, MASK) if each.get("resource") in RESOURCES else each
                for each in entry.changes
            ]
            await _replace(db, entry, mask_fields(entry.input, NAMES_IN_INPUT, MASK), changes)
    if len(entries) < most:
        return None
    last = entries[-1].occurred_on
    return last if since is None or last > since else last + dt.timedelta(microseconds=1)


def _names_of(row: Any) -> Sequence[str]:
    """The resources that entries name for a row. A gift card of a network is read as another one than it is changed as."""
    kind = resource_of(row)
    if kind is None:
        return ()
    return (kind, "NetworkGiftCard") if kind == "GiftCard" else (kind,)


async def _replace(db: AsyncSession, entry: AuditEntryRow, input_left: Any, changes: Any) -> bool:
    """Write what is left of an entry. Customers also leave their network address. False if nothing changes."""
    address = "" if entry.actor is AuditActor.CUSTOMER else entry.address
    if (input_left, changes, address) == (entry.input, entry.changes, entry.address):
        return False
    await db.exec(ALLOW)  # type: ignore[call-overload]  # a text, which SQLModel's declarations lack
    values = {"input": input_left, "changes": changes, "address": address}
    await db.exec(update(AuditEntryRow).where(col(AuditEntryRow.id) == entry.id).values(values))
    return True


def _of_resources(resources: Collection[tuple[str, str]]) -> Any:
    """Whether an entry is about one of these resources, or has changed it."""
    row, ordered = AuditEntryRow, sorted(resources)
    kinds = bindparam(None, [kind for kind, _ in ordered], type_=ARRAY(String))
    ids = bindparam(None, [id for _, id in ordered], type_=ARRAY(String))
    erased = func.unnest(kinds, ids).table_valued("kind", "id", name="erased").render_derived()
    change = func.jsonb_array_elements(col(row.changes)).table_valued("value", name="change")
    element = change.c.value
    of_change = and_(element.op("->>")("resource") == erased.c.kind, element.op("->>")("id") == erased.c.id)
    in_changes = exists(select(1).select_from(change.join(erased, of_change)))
    is_subject = exists(
        select(1).select_from(erased).where(col(row.subject_type) == erased.c.kind, col(row.subject_id) == erased.c.id)
    )
    return or_(is_subject, in_changes)

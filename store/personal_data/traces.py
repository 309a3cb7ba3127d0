"""Personal data outside the rows of orders: in mails, events, filters, answers of webhook endpoints, stored responses, and
refused requests.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

import orjson
from sqlalchemy import (
    ARRAY,
    ColumnElement,
    String,
    Text,
    and_,
    bindparam,
    cast,
    delete,
    exists,
    func,
    or_,
    select,
    update,
)
from sqlmodel import col
from sqlmodel import select as select_rows
from sqlmodel.ext.asyncio.session import AsyncSession

from schema.mail import MailKind
from store.account.users import TokenRow, UserRow
from store.audit.api_requests import ApiRequestRow
from store.database.loaders import is_any_of
from store.event.events import EventRow
from store.export.exports import ExportRow
from store.export.saved_filters import SavedFilterRow
from store.idempotency import StoredResponseRow
from store.mail.rows import MailRow
from store.partner.partners import PartnerRow
from store.personal_data.reach import ABOUT_LOG_INS, ISSUED_IN, events_about, is_to, mails_about
from store.personal_data.rows import PersonKey, PersonRows, kind_of
from store.personal_data.scrubbing import PersonalTexts
from store.webhook.rows import WebhookAttemptRow, WebhookDeliveryRow


@dataclass(frozen=True, slots=True)
class ErasedTraces:
    """How many rows were changed or deleted."""

    mails: int
    events: int
    stored_responses: int


def contains(column: Any, needle: str) -> ColumnElement[bool]:
    """Whether the text of a column contains a text that is in lower case, in any case."""
    return func.strpos(func.lower(cast(column, Text)), needle) > 0


def of_person(row: Any, person: PersonKey) -> ColumnElement[bool]:
    """Rows of the partner; for the shop of a network, those of the network without a partner too."""
    of_partner = col(row.partner_id) == person.partner_id
    if person.network_id is None:
        return of_partner
    return or_(of_partner, and_(col(row.partner_id).is_(None), col(row.marketplace_id) == person.network_id))


async def mails_to(db: AsyncSession, person: PersonKey) -> Sequence[MailRow]:
    """The mails to a person as a buyer or giftee, oldest first."""
    query = select_rows(MailRow).where(of_person(MailRow, person), is_to(person.email))
    return (await db.exec(query.order_by(col(MailRow.id)))).all()


async def events_with(db: AsyncSession, person: PersonKey, texts: PersonalTexts) -> Sequence[EventRow]:
    """The events that contain the address, oldest first."""
    query = select_rows(EventRow).where(of_person(EventRow, person), contains(EventRow.data, texts.needle))
    events = (await db.exec(query.order_by(col(EventRow.id)))).all()
    return [event for event in events if texts.has_email(event.data)]


async def erase_traces(
    db: AsyncSession, person: PersonKey, texts: PersonalTexts, person_rows: PersonRows
) -> ErasedTraces:
    """Erase what is left of a person in these tables, in the open transaction."""
    events = await _erase_events(db, person, texts, person_rows)
    await _erase_filters(db, person, texts)
    await _erase_requests(db, person, texts)
    return ErasedTraces(
        mails=await _erase_mails(db, person, texts, person_rows),
        events=len(events),
        stored_responses=await _erase_responses(db, person, texts) + await _erase_answers(db, person, texts, events),
    )


async def _erase_mails(db: AsyncSession, person: PersonKey, texts: PersonalTexts, person_rows: PersonRows) -> int:
    """Delete the mails to the person, and change those to others about it."""
    to_person = await mails_to(db, person)
    await db.exec(delete(MailRow).where(col(MailRow.id).in_([mail.id for mail in to_person])))
    columns = (MailRow.content, MailRow.subject, MailRow.last_error)
    told = or_(*(contains(column, texts.needle) for column in columns), mails_about(person_rows))
    told = and_(told, col(MailRow.kind).not_in(ABOUT_LOG_INS))
    query = select_rows(MailRow).where(of_person(MailRow, person), told).order_by(col(MailRow.id))
    others = (await db.exec(query.with_for_update())).all()
    gifts = {(ISSUED_IN[kind_of(gift)], gift.id) for gift in person_rows.gifts}
    changed = 0
    for mail in others:
        content, error = _left_of_content(mail, texts, gifts), texts.scrub(mail.last_error)
        if (content, error) != (mail.content, mail.last_error):
            values = {"content": content, "subject": "", "last_error": error}
            await db.exec(update(MailRow).where(col(MailRow.id) == mail.id).values(values))
            changed += 1
    return len(to_person) + changed


def _left_of_content(mail: MailRow, texts: PersonalTexts, gifts: Collection[tuple[MailKind, int]]) -> Any:
    """The content of a mail without a person. Of a mail that brings several presents those of other people stay."""
    left = texts.scrub(mail.content)
    if mail.kind in ISSUED_IN.values():
        items = zip(mail.content["items"], left["items"], strict=True)
        left["items"] = [after if (mail.kind, before["id"]) in gifts else before for before, after in items]
    return left


async def _erase_events(
    db: AsyncSession, person: PersonKey, texts: PersonalTexts, person_rows: PersonRows
) -> Sequence[int]:
    """Empty the person's data in events. Returns the ids of those that had some."""
    told = or_(contains(EventRow.data, texts.needle), events_about(person_rows))
    query = select_rows(EventRow).where(of_person(EventRow, person), told).order_by(col(EventRow.id))
    about = [event for event in (await db.exec(query)).all() if texts.occur_in(event.data)]
    for event in about:
        await db.exec(update(EventRow).where(col(EventRow.id) == event.id).values(data=texts.scrub(event.data)))
    return [event.id for event in about]


async def _erase_answers(db: AsyncSession, person: PersonKey, texts: PersonalTexts, event_ids: Sequence[int]) -> int:
    """Empty what webhook endpoints have answered if they have sent the data back."""
    row, message = WebhookAttemptRow, WebhookDeliveryRow
    delivered = select(col(message.id)).join(EventRow, col(EventRow.id) == col(message.event_id))
    needle = func.unnest(bindparam(None, texts.needles, type_=ARRAY(String))).column_valued("needle")
    texts_in = exists(select(1).where(func.strpos(func.lower(row.answer + row.error), needle) > 0))
    told = or_(
        and_(col(row.delivery_id).in_(delivered.where(is_any_of(col(message.event_id), event_ids))), texts_in),
        and_(
            col(row.delivery_id).in_(delivered.where(of_person(EventRow, person))),
            or_(contains(row.answer, texts.needle), contains(row.error, texts.needle)),
        ),
    )
    ids = (await db.exec(select_rows(row.id).where(told).order_by(col(row.id)).with_for_update())).all()
    await db.exec(update(row).where(is_any_of(col(row.id), ids)).values(answer="", error=""))
    return len(ids)


def _users_with_sight(person: PersonKey) -> Any:
    """The ids of the partner's users, of users of its marketplace, and of those who see everything."""
    user = UserRow
    marketplace = (
        select(col(PartnerRow.marketplace_id)).where(col(PartnerRow.id) == person.partner_id).scalar_subquery()
    )
    is_above = or_(col(user.marketplace_id) == marketplace, col(user.marketplace_id).is_(None))
    return select(col(user.id)).where(
        or_(col(user.partner_id) == person.partner_id, and_(col(user.partner_id).is_(None), is_above))
    )


async def _erase_filters(db: AsyncSession, person: PersonKey, texts: PersonalTexts) -> None:
    """Delete the saved filters that have the address, and empty those of exports that have ended."""
    users, kept, export = _users_with_sight(person), SavedFilterRow, ExportRow
    of_users = col(kept.user_id).in_(users), or_(contains(kept.filter, texts.needle), contains(kept.name, texts.needle))
    filters = (await db.exec(select_rows(kept).where(*of_users).order_by(col(kept.id)).with_for_update())).all()
    with_email = [each.id for each in filters if texts.has_email([each.name, each.filter])]
    await db.exec(delete(kept).where(col(kept.id).in_(with_email)))
    of_users = col(export.user_id).in_(users), contains(export.filter, texts.needle)
    over = select_rows(export).where(*of_users, col(export.ended_on).is_not(None)).order_by(col(export.id))
    with_email = [each.id for each in (await db.exec(over.with_for_update())).all() if texts.has_email(each.filter)]
    await db.exec(update(export).where(col(export.id).in_(with_email)).values(filter={}))


async def _erase_requests(db: AsyncSession, person: PersonKey, texts: PersonalTexts) -> None:
    """Delete the refused requests that have the address: those of the partner and of users who see its data, and those
    that belong to nobody.
    """
    row = ApiRequestRow
    of_users = or_(col(row.user_id).in_(_users_with_sight(person)), col(row.user_id).is_(None))
    told = or_(contains(row.path, texts.needle), contains(row.messages, texts.needle))
    query = select_rows(row).where(or_(of_person(row, person), of_users), told).order_by(col(row.id))
    requests = (await db.exec(query.with_for_update())).all()
    with_email = [each.id for each in requests if texts.has_email([each.path, each.messages])]
    await db.exec(delete(row).where(col(row.id).in_(with_email)))


async def _erase_responses(db: AsyncSession, person: PersonKey, texts: PersonalTexts) -> int:
    """Change the responses that are stored for repetitions of requests: those to the partner's users, to users of its
    marketplace and to those who see everything.
    """
    row = StoredResponseRow
    of_users = select(col(TokenRow.id)).where(col(TokenRow.user_id).in_(_users_with_sight(person)))
    answer = func.convert_from(col(row.answer), "UTF8")
    query = select_rows(row).where(col(row.token_id).in_(of_users), contains(answer, texts.needle))
    in_order = query.order_by(col(row.token_id), col(row.key))  # as any other erasure, so that they cannot deadlock
    stored = (await db.exec(in_order.with_for_update())).all()
    changed = 0
    for each in stored:
        head, _, body = bytes(each.answer or b"").partition(b"\n")
        content = orjson.loads(body)
        if texts.has_email(content):
            same = col(row.token_id) == each.token_id, col(row.key) == each.key
            scrubbed = head + b"\n" + orjson.dumps(texts.scrub_found(content))
            await db.exec(update(row).where(*same).values(answer=scrubbed))
            changed += 1
    return changed

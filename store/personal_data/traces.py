"""Personal data outside the rows of orders: in mails, events, answers of webhook endpoints, and stored responses."""

from collections.abc import Mapping, Sequence
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
from schema.personal_data.export import PersonalGiftKind
from store.account.users import TokenRow, UserRow
from store.event.events import EventRow
from store.idempotency import StoredResponseRow
from store.mail.rows import MailRow
from store.partner.partners import PartnerRow
from store.personal_data.rows import GiftRow, PersonKey, kind_of
from store.personal_data.scrubbing import PersonalTexts
from store.webhook.rows import WebhookAttemptRow, WebhookDeliveryRow

_GIFT_MAILS: Mapping[PersonalGiftKind, MailKind] = {
    PersonalGiftKind.VOUCHER: MailKind.VOUCHER,
    PersonalGiftKind.GIFT_CARD: MailKind.GIFT_CARD,
    PersonalGiftKind.NETWORK_GIFT_CARD: MailKind.NETWORK_GIFT_CARD,
    PersonalGiftKind.NETWORK_VOUCHER: MailKind.NETWORK_VOUCHER,
}


@dataclass(frozen=True, slots=True)
class ErasedTraces:
    """How many rows were changed or deleted."""

    mails: int
    events: int
    stored_responses: int


def contains_any(column: Any, needles: Sequence[str]) -> ColumnElement[bool]:
    """Whether the text of a column contains one of these texts, in any case."""
    needle = func.unnest(bindparam(None, list(needles), type_=ARRAY(String))).column_valued("needle")
    return exists(select(1).where(func.strpos(func.lower(cast(column, Text)), needle) > 0))


def of_person(row: Any, person: PersonKey) -> ColumnElement[bool]:
    """Rows of the partner; for the shop of a network, those of the network without a partner too."""
    of_partner = col(row.partner_id) == person.partner_id
    if person.network_id is None:
        return of_partner
    return or_(of_partner, and_(col(row.partner_id).is_(None), col(row.marketplace_id) == person.network_id))


def brings(gift: GiftRow) -> ColumnElement[bool]:
    """Whether a mail is about a gift card or voucher."""
    return (col(MailRow.kind) == _GIFT_MAILS[kind_of(gift)]) & col(MailRow.content).contains(
        {"items": [{"id": gift.id}]}
    )


async def mails_to(db: AsyncSession, person: PersonKey) -> Sequence[MailRow]:
    """The mails to a person, oldest first."""
    query = select_rows(MailRow).where(of_person(MailRow, person), func.lower(col(MailRow.recipient)) == person.email)
    return (await db.exec(query.order_by(col(MailRow.id)))).all()


async def events_about(db: AsyncSession, person: PersonKey, needles: Sequence[str]) -> Sequence[EventRow]:
    """The events that contain one of these texts, oldest first."""
    query = select_rows(EventRow).where(of_person(EventRow, person), contains_any(EventRow.data, needles))
    return (await db.exec(query.order_by(col(EventRow.id)))).all()


async def erase_traces(
    db: AsyncSession, person: PersonKey, texts: PersonalTexts, gifts: Sequence[GiftRow]
) -> ErasedTraces:
    """Erase what is left of a person in these tables, in the open transaction."""
    return ErasedTraces(
        mails=await _erase_mails(db, person, texts, gifts),
        events=await _erase_events(db, person, texts),
        stored_responses=await _erase_responses(db, person, texts) + await _erase_answers(db, person, texts),
    )


async def _erase_mails(db: AsyncSession, person: PersonKey, texts: PersonalTexts, gifts: Sequence[GiftRow]) -> int:
    """Delete the mails to the person, and change those to others about it."""
    to_person = await mails_to(db, person)
    await db.exec(delete(MailRow).where(col(MailRow.id).in_([mail.id for mail in to_person])))
    told = or_(
        *(contains_any(column, texts.needles) for column in (MailRow.content, MailRow.subject, MailRow.last_error)),
        *map(brings, gifts),
    )
    others = (await db.exec(select_rows(MailRow).where(of_person(MailRow, person), told).with_for_update())).all()
    changed = 0
    for mail in others:
        content, error = texts.scrub(mail.content), texts.scrub(mail.last_error)
        if (content, error) != (mail.content, mail.last_error):
            values = {"content": content, "subject": "", "last_error": error}
            await db.exec(update(MailRow).where(col(MailRow.id) == mail.id).values(values))
            changed += 1
    return len(to_person) + changed


async def _erase_events(db: AsyncSession, person: PersonKey, texts: PersonalTexts) -> int:
    events = await events_about(db, person, texts.needles)
    about = [event for event in events if texts.occur_in(event.data)]
    for event in about:
        await db.exec(update(EventRow).where(col(EventRow.id) == event.id).values(data=texts.scrub(event.data)))
    return len(about)


async def _erase_answers(db: AsyncSession, person: PersonKey, texts: PersonalTexts) -> int:
    """Empty what webhook endpoints have answered if they have sent the data back."""
    row, message = WebhookAttemptRow, WebhookDeliveryRow
    of_events = (
        select(col(message.id))
        .join(EventRow, col(EventRow.id) == col(message.event_id))
        .where(of_person(EventRow, person))
    )
    told = or_(contains_any(row.answer, texts.needles), contains_any(row.error, texts.needles))
    emptied = update(row).where(col(row.delivery_id).in_(of_events), told).values(answer="", error="")
    return int((await db.exec(emptied)).rowcount)


async def _erase_responses(db: AsyncSession, person: PersonKey, texts: PersonalTexts) -> int:
    """Change the responses that are stored for repetitions of requests: those to the partner's users, to users of its
    marketplace and to those who see everything.
    """
    row, user = StoredResponseRow, UserRow
    marketplace = (
        select(col(PartnerRow.marketplace_id)).where(col(PartnerRow.id) == person.partner_id).scalar_subquery()
    )
    of_users = (
        select(col(TokenRow.id))
        .join(user, col(user.id) == col(TokenRow.user_id))
        .where(
            or_(
                col(user.partner_id) == person.partner_id,
                and_(
                    col(user.partner_id).is_(None),
                    or_(col(user.marketplace_id) == marketplace, col(user.marketplace_id).is_(None)),
                ),
            )
        )
    )
    answer = func.convert_from(col(row.answer), "UTF8")
    query = select_rows(row).where(col(row.token_id).in_(of_users), contains_any(answer, texts.needles))
    stored = (await db.exec(query.with_for_update())).all()
    changed = 0
    for each in stored:
        head, _, body = bytes(each.answer or b"").partition(b"\n")
        content = orjson.loads(body)
        if texts.occur_in(content):
            same = col(row.token_id) == each.token_id, col(row.key) == each.key
            scrubbed = head + b"\n" + orjson.dumps(texts.scrub(content))
            await db.exec(update(row).where(*same).values(answer=scrubbed))
            changed += 1
    return changed

"""Messages that tell of another one, and so go after it: that a present was sent, after the present."""

from collections.abc import Sequence

from sqlalchemy import ColumnElement, func
from sqlalchemy.orm import aliased
from sqlmodel import col, select
from sqlmodel.ext.asyncio.session import AsyncSession

from schema.mail import MailState
from store.mail.content import GiftRole
from store.mail.rows import MailRow

FIRST, FOLLOWER = (f":{role.value}:" for role in (GiftRole.FOR_GIFTEE, GiftRole.SENT_TO_GIFTEE))
"""What the deduplication keys of the two messages about one present differ in."""


def is_held_back() -> ColumnElement[bool]:
    """Whether a message of the table tells of one that still waits to be sent."""
    first = aliased(MailRow)
    told_of = col(first.once) == func.replace(col(MailRow.once), FOLLOWER, FIRST)
    waits = col(first.state) == MailState.QUEUED
    return select(first.id).where(told_of, col(first.id) != col(MailRow.id), waits).exists()


async def lock_followers(db: AsyncSession, mail: MailRow) -> Sequence[MailRow]:
    """Lock the queued messages that tell of this one: one at most."""
    if mail.once is None or FIRST not in mail.once:
        return ()
    query = select(MailRow).where(
        col(MailRow.once) == mail.once.replace(FIRST, FOLLOWER, 1), col(MailRow.state) == MailState.QUEUED
    )
    return (await db.exec(query.with_for_update())).all()

"""Queued messages about presents that wait for their day: found, locked, and an item taken out."""

import datetime as dt
from collections.abc import Collection, Mapping, Sequence

from sqlmodel import col, or_, select
from sqlmodel.ext.asyncio.session import AsyncSession

from schema.mail import MailKind, MailState
from store.mail.content import GiftContent, GiftRole
from store.mail.rows import MailRow

PRESENT_ROLES = frozenset({GiftRole.BOUGHT, GiftRole.FOR_GIFTEE})
"""The roles of messages that bring the present itself."""
COMPLETE = ([GiftRole.BOUGHT], [GiftRole.FOR_GIFTEE, GiftRole.SENT_TO_GIFTEE])
"""The roles of the messages about a present, in alphabetical order."""


async def lock_waiting_mails(
    db: AsyncSession, kind: MailKind, item_ids: Collection[int], due_on: dt.datetime
) -> Sequence[MailRow]:
    """Lock the messages about these items that wait for this moment, by ascending id.

    A message that a worker has claimed is not among them. The claim is one statement: it waits for this lock, and takes
    the message only if it is still due then.
    """
    if not item_ids:
        return []
    table = MailRow
    about = or_(*(col(table.content).contains({"items": [{"id": id}]}) for id in sorted(item_ids)))
    waiting = col(table.state) == MailState.QUEUED, col(table.due_on) == due_on, col(table.tries) == 0
    query = select(table).where(*waiting, col(table.kind) == kind, about).order_by(col(table.id))
    return (await db.exec(query.with_for_update().execution_options(populate_existing=True))).all()


async def take_out_of_mails(
    db: AsyncSession, kind: MailKind, item_id: int, due_on: dt.datetime, first_names: Mapping[int, str]
) -> bool:
    """Take an item out of the messages that wait for this moment, and delete those that have no other. False, and nothing
    is changed, if they do not wait any more: a worker has claimed one of them.

    `first_names` are the giftees' first names by item: a message to a giftee greets that of its first item.
    """
    mails = await lock_waiting_mails(db, kind, [item_id], due_on)
    contents = [GiftContent.model_validate(mail.content) for mail in mails]
    if sorted(content.role for content in contents) not in COMPLETE:
        return False
    for mail, content in zip(mails, contents, strict=True):
        left = tuple(item for item in content.items if item.id != item_id)
        if not left:
            await db.delete(mail)
            continue
        greeted = first_names[left[0].id] if content.role is GiftRole.FOR_GIFTEE else content.first_name
        changed = content.model_copy(update={"items": left, "first_name": greeted})
        mail.content = changed.model_dump(mode="json", exclude_none=True)
    await db.flush()
    return True

"""What is written to people, and the messages that were."""

import datetime as dt
from typing import Annotated
from uuid import uuid4

from pydantic import Field
from sqlmodel import col, select
from sqlmodel.ext.asyncio.session import AsyncSession

from resolvers.core.listing import Listing, Lookup, OfPartner, Where
from resolvers.core.operation import Call, operation
from resolvers.core.scoping import find
from schema.core.permission import Permission
from schema.core.resource import ClosedSet, Fields, closed_set, writable_as
from schema.mail import Mail, MailKind, MailState
from store.mail.content import RefundContent, lines_of, order_content
from store.mail.outbox import post, prompt
from store.mail.rows import MailRow
from store.order.orders import OrderRow
from store.partner.partners import MarketplaceRow, PartnerRow
from store.payment import AttemptRow
from store.providers.base import MinorAmount


@closed_set
class MailSort(ClosedSet):
    """How to order messages."""

    NEWEST = "-created_on", "The newest first."
    OLDEST = "created_on", "The oldest first."


@writable_as(Mail)
class MailFilter(OfPartner):
    """Which messages. Both ends of a period belong to it."""

    state: Annotated[MailState | None, Where("state")] = None
    kind: Annotated[MailKind | None, Where("kind")] = None
    recipient: Annotated[str | None, Where("recipient")] = None
    created_from: Annotated[dt.datetime | None, Where("created_on", ">=")] = Field(
        default=None, description="Written at this time or later."
    )
    created_until: Annotated[dt.datetime | None, Where("created_on", "<=")] = Field(
        default=None, description="Written at this time or earlier."
    )


@writable_as(Mail)
class ResendMail(Fields):
    """A message to send again."""

    id: int


mails = Listing(Mail, MailFilter, MailSort, Permission.VIEW_MAIL, "The messages you see, newest first.")
mail = Lookup(Mail, "id", "mail", Permission.VIEW_MAIL, "A message by its id.")


@operation(Permission.VIEW_MAIL)
async def resend_mail(call: Call, input: ResendMail) -> Mail:
    """Send a message again, sent or failed. One that waits is left alone: it is sent anyway."""
    row = await find(call.db, call.caller, MailRow, "mail", lock=True, id=input.id)
    if row.state is MailState.QUEUED:
        return row
    if row.state is MailState.SENT:  # another letter: of two with one Message-ID mail programs show one
        row.message_id = f"<{uuid4()}@{row.message_id.strip('>').partition('@')[2]}>"
    row.state, row.tries, row.last_error = MailState.QUEUED, 0, ""
    row.due_on, row.sent_on = call.services.clock.now(), None
    await call.db.flush()
    await prompt(call.db, row.id, 0)
    return row


# ---- what is told when ------------------------------------------------------------------------------------------------


async def tell_of_order(db: AsyncSession, order: OrderRow, attempt: AttemptRow) -> None:
    """Confirm an order to its buyer, and tell the partner of it."""
    partner, time_zone = await _partner(db, order.partner_id)
    about = order_content(order, attempt, time_zone).model_dump()
    buyer, once = (order.buyer_email, order.language), str(order.uuid)
    told = ((MailKind.ORDER_CONFIRMATION, *buyer), (MailKind.NEW_ORDER, partner.agency_email, partner.language))
    for kind, to, language in told:
        await post(db, kind, to=to, language=language, partner_id=partner.id, about=about, once=once)


async def tell_of_refund(db: AsyncSession, attempt: AttemptRow, charged: MinorAmount) -> None:
    """Tell whoever paid that there is no order, and that the card gets all of it back."""
    about = RefundContent(
        first_name=attempt.buyer["first_name"],
        amount=charged.decimal,
        currency=charged.currency,
        lines=lines_of(attempt),
    ).model_dump()
    await post(
        db,
        MailKind.PAYMENT_REFUNDED,
        to=attempt.buyer["email"],
        language=attempt.language,
        partner_id=attempt.partner_id,
        about=about,
        once=str(attempt.id),
    )


async def _partner(db: AsyncSession, partner_id: int) -> tuple[PartnerRow, str]:
    """A partner, and the time zone its customers live by."""
    query = select(PartnerRow, MarketplaceRow.time_zone).join(
        MarketplaceRow, col(MarketplaceRow.id) == col(PartnerRow.marketplace_id)
    )
    return (await db.exec(query.where(col(PartnerRow.id) == partner_id))).one()

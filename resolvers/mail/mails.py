"""Messages sent by e-mail: list, resending, and the mails about orders and refunds."""

import datetime as dt
from typing import Annotated
from uuid import uuid4

from pydantic import Field
from sqlmodel.ext.asyncio.session import AsyncSession

from resolvers.core.lists.filters import OfPartner, Where
from resolvers.core.lists.listing import Listing, Lookup
from resolvers.core.operation import Call, operation
from resolvers.core.scoping import find_visible
from schema.core.columns import DescribedEnum, graphql_enum
from schema.core.inputs import graphql_input_for
from schema.core.permission import Permission
from schema.core.resource import SchemaModel
from schema.mail import Mail, MailKind, MailState
from store.account.staff import STAFF_LANGUAGE
from store.mail.content import (
    RefundContent,
)
from store.mail.link_content import OrderLinkContent
from store.mail.orders import order_content, order_lines_of
from store.mail.outbox import enqueue_mail, schedule_delivery
from store.mail.rows import MailRow
from store.order.orders import OrderRow
from store.partner.partners import MarketplaceRow, partner_with_time_zone
from store.payment.attempts import AttemptRow
from store.providers.money import MinorAmount


@graphql_enum
class MailSort(DescribedEnum):
    """Sort order of messages."""

    NEWEST = "-created_on", "The newest first."
    OLDEST = "created_on", "The oldest first."


@graphql_input_for(Mail)
class MailFilter(OfPartner):
    """Filter for messages. Periods include both ends."""

    state: Annotated[MailState | None, Where("state")] = None
    kind: Annotated[MailKind | None, Where("kind")] = None
    recipient: Annotated[str | None, Where("recipient")] = None
    created_from: Annotated[dt.datetime | None, Where("created_on", ">=")] = Field(
        default=None, description="Only messages created at or after this time."
    )
    created_until: Annotated[dt.datetime | None, Where("created_on", "<=")] = Field(
        default=None, description="Only messages created at or before this time."
    )


@graphql_input_for(Mail)
class ResendMail(SchemaModel):
    """Send a message again."""

    id: int


mails = Listing(Mail, MailFilter, MailSort, Permission.VIEW_MAIL, "The messages visible to you, newest first.")
mail = Lookup(Mail, "id", "mail", Permission.VIEW_MAIL, "A message by its id.")


@operation(Permission.VIEW_MAIL)
async def resend_mail(call: Call, input: ResendMail) -> Mail:
    """Send a message again that was sent or has failed. A message that is still queued stays unchanged."""
    row = await find_visible(call.db, call.caller, MailRow, "mail", lock=True, id=input.id)
    if row.state is MailState.QUEUED:
        return row
    if row.state is MailState.SENT:  # a new Message-ID: mail programs show only one of two messages with the same id
        row.message_id = f"<{uuid4()}@{row.message_id.strip('>').partition('@')[2]}>"
    row.state, row.tries, row.last_error = MailState.QUEUED, 0, ""
    row.due_on, row.sent_on = call.services.clock.now(), None
    await call.db.flush()
    await schedule_delivery(call.db, row.id, 0)
    return row


# ---- mails about orders


async def queue_order_mails(db: AsyncSession, order: OrderRow, attempt: AttemptRow) -> None:
    """Queue the order confirmation for the buyer and the new order mail for the partner. The network is told too what of
    its own is posted or collected: it has the documents to print.
    """
    partner, time_zone = await partner_with_time_zone(db, order.partner_id)
    about = order_content(order, attempt, time_zone).model_dump()
    buyer, once = (order.buyer_email, order.language), str(order.uuid)
    recipients = [
        (MailKind.ORDER_CONFIRMATION, *buyer, once),
        (MailKind.NEW_ORDER, partner.agency_email, partner.language, once),
    ]
    of_network = [line.purchase for line in attempt.lines if line.is_of_network and line.purchase is not None]
    if any(not attempt.reception_of(bought).is_by_email for bought in of_network):
        network = await db.get_one(MarketplaceRow, partner.marketplace_id)
        if network.email.lower() != partner.agency_email.lower():
            recipients.append((MailKind.NEW_ORDER, network.email, STAFF_LANGUAGE, f"{once}:network"))
    for kind, to, language, key in recipients:
        await enqueue_mail(db, kind, to=to, language=language, partner_id=partner.id, about=about, unique_key=key)


async def queue_order_link(db: AsyncSession, order: OrderRow, unique_key: str) -> None:
    """Queue the mail with the link to the page of an order, for its buyer."""
    _, time_zone = await partner_with_time_zone(db, order.partner_id)
    about = OrderLinkContent(
        number=order.number,
        ordered_on=order.created_on,
        time_zone=time_zone,
        first_name=order.buyer_first_name,
        order_page=order.uuid,
    )
    await enqueue_mail(
        db,
        MailKind.ORDER_LINK,
        to=order.buyer_email,
        language=order.language,
        partner_id=order.partner_id,
        about=about.model_dump(),
        unique_key=unique_key,
    )


async def queue_refund_mail(db: AsyncSession, attempt: AttemptRow, charged: MinorAmount) -> None:
    """Queue the mail that informs the buyer that there is no order and that the card is refunded in full."""
    about = RefundContent(
        first_name=attempt.buyer.first_name,
        amount=charged.decimal,
        currency=charged.currency,
        lines=order_lines_of(attempt),
    ).model_dump()
    await enqueue_mail(
        db,
        MailKind.PAYMENT_REFUNDED,
        to=attempt.buyer.email,
        language=attempt.language,
        partner_id=attempt.partner_id,
        about=about,
        unique_key=str(attempt.id),
    )

"""Messages as rows. The content is stored as data and rendered when the message is sent."""

from typing import Any, cast

from sqlalchemy import Column, Computed, Index, String, Table, text
from sqlmodel import Field

from schema.core.columns import json_column
from schema.mail import Mail, MailKind
from store.core.row import CreatedOn
from store.database.text_search import GENERATED_COLUMN


class MailRow(CreatedOn, Mail, table=True):
    """A message of a partner, of a marketplace, or of the installation."""

    __tablename__ = "mail"
    __table_args__ = (
        Index("mail_created_on_idx", "created_on"),
        Index("mail_created_on_list_idx", "partner_id", "created_on", "id"),
        Index("mail_due_on_idx", "due_on", postgresql_where=text("state = 'queued'")),
    )
    partner_id: int | None = Field(default=None, foreign_key="partner.id", index=True)
    marketplace_id: int | None = Field(default=None, foreign_key="marketplace.id", index=True)
    content: dict[str, Any] = json_column("The data that its template shows.")
    once: str | None = Field(
        default=None, max_length=200, unique=True, description="The deduplication key: there is one message per key."
    )
    message_id: str = Field(default="", max_length=320, description="Its Message-ID, from the first try on.")


KINDS_ABOUT_ORDERS = frozenset(
    {
        *(MailKind.ORDER_CONFIRMATION, MailKind.NEW_ORDER, MailKind.ORDER_LINK),
        *(MailKind.ORDER_READY, MailKind.ORDER_SENT, MailKind.ORDER_CANCELLED, MailKind.ORDER_REFUNDED),
        *(MailKind.REQUEST_RECEIPT, MailKind.NEW_REQUEST, MailKind.REQUEST_DECLINED),
        *(MailKind.DISPUTE_OPENED, MailKind.DISPUTE_ENDED),
    }
)
"""Mails with an `order_number`: that of an order of their partner. What other kinds have there is another number."""
_MAILS = cast("Table", MailRow.__table__)  # type: ignore[attr-defined]  # SQLModel's type stubs lack __table__
_NUMBER = Column(
    "order_number",
    String,
    Computed("coalesce(content ->> 'order_number', content ->> 'number')", persisted=True),
    nullable=True,
)
_NUMBER.info = dict(GENERATED_COLUMN)
_MAILS.append_column(_NUMBER)
Index("mail_order_idx", _MAILS.c.partner_id, _NUMBER)

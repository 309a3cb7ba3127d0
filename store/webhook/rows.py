"""Endpoints, messages and tries as rows."""

import datetime as dt
from uuid import UUID, uuid4

from sqlalchemy import BigInteger, CheckConstraint, Index, UniqueConstraint, text
from sqlmodel import Field

from schema.core.columns import datetime_column, enum_type
from schema.event import LONGEST_TYPE, EventType
from schema.webhook.webhook import WebhookAttempt, WebhookDelivery, WebhookEndpoint
from store.core.row import CreatedOn


class WebhookEndpointRow(CreatedOn, WebhookEndpoint, table=True):
    """An endpoint of a partner or, without one, of a whole marketplace.

    The secret is not stored: `store.order.signing_secrets` derives it from the salt and the installation's secret. A
    worker that sends to an endpoint holds its lease, by the database's clock, which is the same for all and is never
    moved.
    """

    __tablename__ = "webhook_endpoint"
    __table_args__ = (
        Index("webhook_endpoint_id_list_idx", "partner_id", "id"),
        Index("webhook_endpoint_of_marketplace_idx", "marketplace_id", "id"),
        Index("webhook_endpoint_leased_idx", "host", postgresql_where=text("leased_by IS NOT NULL")),
        CheckConstraint("NOT is_active OR disabled_reason IS NULL", name="active_for_no_reason"),
        CheckConstraint("num_nulls(leased_by, leased_until) IN (0, 2)", name="whole_lease"),
    )
    partner_id: int | None = Field(default=None, foreign_key="partner.id")
    marketplace_id: int = Field(foreign_key="marketplace.id")
    uuid: UUID = Field(default_factory=uuid4, unique=True)
    host: str = Field(max_length=253)
    secret_salt: bytes
    previous_secret_salt: bytes | None = Field(default=None)
    leased_by: UUID | None = Field(default=None)
    leased_until: dt.datetime | None = datetime_column("When the lease ends.", default=None, nullable=True)


class WebhookDeliveryRow(CreatedOn, WebhookDelivery, table=True):
    """A message. There is at most one per event and endpoint; the owner of the endpoint owns it."""

    __tablename__ = "webhook_delivery"
    __table_args__ = (
        UniqueConstraint("endpoint_id", "event_id", name="webhook_delivery_message_key"),
        Index("webhook_delivery_id_list_idx", "partner_id", "id"),
        Index("webhook_delivery_of_marketplace_idx", "marketplace_id", "id"),
        Index("webhook_delivery_of_endpoint_idx", "endpoint_id", "id"),
        Index("webhook_delivery_line_idx", "endpoint_id", "event_id", postgresql_where=text("state = 'waiting'")),
    )
    partner_id: int | None = Field(default=None, foreign_key="partner.id")
    marketplace_id: int = Field(foreign_key="marketplace.id")
    id: int = Field(default=None, sa_type=BigInteger, primary_key=True)
    endpoint_id: int = Field(foreign_key="webhook_endpoint.id", ondelete="CASCADE")
    event_id: int = Field(foreign_key="event.id", ondelete="CASCADE", index=True, sa_type=BigInteger)
    event_type: EventType = Field(sa_type=enum_type(EventType, LONGEST_TYPE))


class WebhookAttemptRow(WebhookAttempt, table=True):
    """One try to deliver a message."""

    __tablename__ = "webhook_attempt"
    id: int = Field(default=None, sa_type=BigInteger, primary_key=True)
    delivery_id: int = Field(foreign_key="webhook_delivery.id", ondelete="CASCADE", index=True, sa_type=BigInteger)

"""Endpoints, messages and tries, as rows."""

import datetime as dt
from uuid import UUID, uuid4

from sqlalchemy import BigInteger, CheckConstraint, Enum, Index, UniqueConstraint, text
from sqlmodel import Field

from schema.core.resource import moment
from schema.event import LONGEST_TYPE, EventType
from schema.webhook.webhook import WebhookAttempt, WebhookDelivery, WebhookEndpoint
from store.core.clock import now


class WebhookEndpointRow(WebhookEndpoint, table=True):
    """An endpoint, of a partner or (without one) of a whole marketplace.

    No secret is kept: `store.order.signing_secrets` makes it of its salt and of the installation's own secret. Whoever sends to
    an endpoint holds its lease, by the database's clock: that one runs alike for all, and is never moved.
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
    id: int = Field(default=None, primary_key=True)
    uuid: UUID = Field(default_factory=uuid4, unique=True)
    host: str = Field(max_length=253)
    created_on: dt.datetime = moment("When it was made.", default_factory=now)
    secret_salt: bytes
    previous_secret_salt: bytes | None = Field(default=None)
    leased_by: UUID | None = Field(default=None)
    leased_until: dt.datetime | None = moment("Until when it is ours alone.", default=None, nullable=True)


class WebhookDeliveryRow(WebhookDelivery, table=True):
    """A message. At most one for an event and an endpoint; owned by the owner of its endpoint."""

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
    event_type: EventType = Field(
        sa_type=Enum(EventType, native_enum=False, length=LONGEST_TYPE, values_callable=lambda e: [m.value for m in e])
    )
    created_on: dt.datetime = moment("When it was first put in line.", default_factory=now)


class WebhookAttemptRow(WebhookAttempt, table=True):
    """A try."""

    __tablename__ = "webhook_attempt"
    id: int = Field(default=None, sa_type=BigInteger, primary_key=True)
    delivery_id: int = Field(foreign_key="webhook_delivery.id", ondelete="CASCADE", index=True, sa_type=BigInteger)

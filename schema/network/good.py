"""What the gift cards and the vouchers of a network have in common."""

import datetime as dt
from typing import Any
from uuid import UUID

from sqlmodel import Field

from schema.core.columns import datetime_column, id_column
from schema.core.derived import derived, masked_code_field, restricted_column
from schema.core.gift_columns import from_gifter_column, send_on_column
from schema.core.resource import SchemaModel, embedded, relation
from schema.gift_card.gift_card import GiftCardGiftee, GiftCardGifter
from schema.network.usage import OF_NETWORK


class NetworkGoodFields(SchemaModel):
    """Something that a network has sold, and that its holder uses at partners."""

    id: int = id_column("Its id.")
    uuid: UUID = Field(description="Its uuid.")
    code: str = Field(max_length=40, description="The code printed on it, in groups of four characters.")
    masked_code = masked_code_field()
    created_on: dt.datetime = datetime_column("When it was issued.")
    starts_on: dt.datetime | None = datetime_column(
        "When it can be used for the first time; null: at once.", default=None, nullable=True
    )
    expires_on: dt.datetime | None = datetime_column("When it expires; null if never.", default=None, nullable=True)
    is_active: bool = Field(default=True, description="Whether its network lets it be used.")
    frozen_on: dt.datetime | None = datetime_column(
        "Since when it cannot be used because the payment of its order is disputed; null normally.",
        default=None,
        nullable=True,
    )
    gifter_details = embedded(GiftCardGifter, "Who gives it.")
    giftee_details = embedded(GiftCardGiftee, "Who receives it.")
    from_gifter: str | None = from_gifter_column()
    message: str | None = Field(default=None, max_length=1000, description="The gifter's message; null if none.")
    send_on: dt.datetime | None = send_on_column()
    language: str = Field(default="en", max_length=2, description="The language of its mail and document.")
    visible_order_id = restricted_column(
        int,
        "order_id",
        OF_NETWORK,
        "The id of the order it was sold with; null if none, and for partners.",
        name="orderId",
    )
    order = relation(
        "schema.order.order:Order",
        by="order_id",
        description="The order it was sold with; null if none, and for partners.",
        nullable=True,
        field_permission=OF_NETWORK,
    )


def document_url_field() -> Any:
    return derived(
        str | None,
        ("status", "document_token"),
        "The URL of its printable PDF document. The URL cannot be guessed; it needs no authentication. Null before it is "
        "paid and after it was cancelled.",
    )


def holder_url_field() -> Any:
    return derived(
        str | None,
        ("status", "uuid"),
        "The URL of the page for its holder, which needs no authentication and contains no code: what is left, where it can "
        "be used, and its document. Null before it is paid, after it was cancelled, and for users of a partner.",
    )

"""Pictures of a partner's catalogue, as rows. Their bytes are in the file store."""

import datetime as dt
from uuid import UUID, uuid4

from sqlalchemy import Index
from sqlmodel import Field

from schema.media import Media
from schema.values import moment
from store.clock import now


class MediaRow(Media, table=True):
    """A picture. `digest` is the SHA-256 of the bytes kept, in hexadecimal."""

    __tablename__ = "media"
    __table_args__ = (
        Index("media_created_on_list_idx", "partner_id", "created_on", "id"),
        Index("media_name_list_idx", "partner_id", "name", "id"),
    )
    partner_id: int = Field(foreign_key="partner.id", index=True)
    id: int = Field(default=None, primary_key=True)
    uuid: UUID = Field(default_factory=uuid4, unique=True)
    digest: str = Field(max_length=64)
    created_on: dt.datetime = moment("When it was uploaded.", default_factory=now)
    updated_on: dt.datetime = moment("When it last changed.", default_factory=now, sa_column_kwargs={"onupdate": now})

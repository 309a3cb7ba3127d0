"""Pictures that a partner shows of what it sells."""

import datetime as dt
from uuid import UUID

import strawberry
from sqlmodel import Field

from schema.values import Fields, moment


@strawberry.pydantic.type(description="A picture of what a partner sells.")
class Media(Fields):
    """A picture."""

    id: int = Field(description="Its id.")
    uuid: UUID = Field(description="Its uuid, which its address is made of.")
    name: str = Field(max_length=200, description="What it is called; only its partner sees that.")
    created_on: dt.datetime = moment("When it was uploaded.")
    updated_on: dt.datetime = moment("When it last changed.")
    archived_on: dt.datetime | None = moment("When it was put away; null: it can be used.", default=None, nullable=True)
    content_type: str = Field(max_length=40, description="What its bytes are: `image/jpeg`, `image/png`, `image/webp`.")
    size: int = Field(description="Its size in bytes, as it is kept.")
    width: int = Field(description="Its width in pixels.")
    height: int = Field(description="Its height in pixels.")

"""Pictures that a partner shows of what it sells."""

import datetime as dt
from collections.abc import Mapping
from enum import StrEnum
from typing import Annotated
from uuid import UUID

import strawberry
from sqlmodel import Field
from starlette.datastructures import UploadFile
from strawberry.file_uploads import Upload

from schema.core.derived import derived
from schema.core.ownership import FOR_WHOM, of_partner
from schema.core.resource import Fields, moment, writable_as
from schema.validation.characters import up_to


class MediaSize(StrEnum):
    """The sizes that a picture is kept in, and the names of their files."""

    THUMB = "thumb"
    CARD = "card"
    COVER = "cover"
    FULL = "full"


SIDES: Mapping[MediaSize, int] = {
    MediaSize.FULL: 3840,
    MediaSize.COVER: 1920,
    MediaSize.CARD: 800,
    MediaSize.THUMB: 320,
}
"""The longest side of each size, in pixels, largest first; what is smaller is not enlarged."""


@strawberry.pydantic.type(description="A picture of what a partner sells.")
class Media(Fields):
    """A picture."""

    id: int = Field(description="Its id.")
    uuid: UUID = Field(description="Its uuid, which its address is made of.")
    name: str = Field(max_length=200, description="What it is called; only its partner sees that.")
    created_on: dt.datetime = moment("When it was uploaded.")
    updated_on: dt.datetime = moment("When it last changed.")
    archived_on: dt.datetime | None = moment(
        "When it was put away; null: it can be used. What was made with it before goes on showing it.",
        default=None,
        nullable=True,
    )
    content_type: str = Field(max_length=40, description="What its files are, whatever was uploaded: `image/webp`.")
    size: int = Field(description="The size of its largest file, in bytes.")
    width: int = Field(description="The width of its largest file, in pixels.")
    height: int = Field(description="The height of its largest file, in pixels.")
    thumb_url = derived(str, ("uuid",), "Where it is found with at most 320 pixels a side, for lists.")
    card_url = derived(str, ("uuid",), "Where it is found with at most 800 pixels a side, for one of several products.")
    cover_url = derived(str, ("uuid",), "Where it is found with at most 1,920 pixels a side, for the top of a page.")
    full_url = derived(str, ("uuid",), "Where it is found as large as it is kept, at most 3,840 pixels a side.")
    partner = of_partner()


MediaName = Annotated[str, up_to(200, least=1)]


@writable_as(Media)
class CreateMedia(Fields):
    """A picture to keep."""

    model_config = {"arbitrary_types_allowed": True}
    partner_uuid: UUID | None = Field(default=None, description=FOR_WHOM)
    name: MediaName
    file: Annotated[UploadFile, strawberry.field(graphql_type=Upload)] = Field(
        description="A PNG, JPEG, WebP, GIF or AVIF of at most 10 MiB, 50 megapixels and 12,000 pixels a side."
    )


@writable_as(Media)
class UpdateMedia(Fields):
    """Another name for a picture."""

    id: int
    name: MediaName


@writable_as(Media)
class ArchiveMedia(Fields):
    """A picture to put away."""

    id: int

"""Pictures of what a partner sells."""

import datetime as dt
import uuid
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated
from uuid import UUID, uuid4

import strawberry
from sqlmodel import Field
from starlette.datastructures import UploadFile
from strawberry.file_uploads import Upload

from schema.core.columns import datetime_column, id_column
from schema.core.derived import derived
from schema.core.inputs import graphql_input_for
from schema.core.ownership import PARTNER_DESCRIPTION, partner_relation
from schema.core.resource import SchemaModel
from schema.validation.characters import line_up_to


class MediaSize(StrEnum):
    """The stored sizes of a picture; also the names of their files."""

    THUMB = "thumb"
    CARD = "card"
    COVER = "cover"
    FULL = "full"


LONGEST_SIDES: Mapping[MediaSize, int] = {
    MediaSize.FULL: 3840,
    MediaSize.COVER: 1920,
    MediaSize.CARD: 800,
    MediaSize.THUMB: 320,
}
"""The longest side of each size, in pixels, largest first. Smaller pictures are not enlarged."""


@strawberry.pydantic.type(description="A picture of what a partner sells.")
class Media(SchemaModel):
    id: int = id_column("The picture's id.")
    uuid: UUID = Field(default_factory=uuid4, unique=True, description="The picture's uuid, which is part of its URLs.")
    name: str = Field(max_length=200, description="The picture's name, visible only to its partner.")
    created_on: dt.datetime = datetime_column("When it was uploaded.")
    updated_on: dt.datetime = datetime_column("When it was last updated.")
    archived_on: dt.datetime | None = datetime_column(
        "When it was archived; null if it is available. Objects that already use it still show it.",
        default=None,
        nullable=True,
    )
    content_type: str = Field(
        max_length=40, description="The media type of its files: `image/webp`, whatever was uploaded."
    )
    size: int = Field(description="The size of its largest file, in bytes.")
    width: int = Field(description="The width of its largest file, in pixels.")
    height: int = Field(description="The height of its largest file, in pixels.")
    thumb_url = derived(str, ("uuid",), "The URL of the picture with at most 320 pixels a side, for lists.")
    card_url = derived(str, ("uuid",), "The URL of the picture with at most 800 pixels a side, for product cards.")
    cover_url = derived(str, ("uuid",), "The URL of the picture with at most 1,920 pixels a side, for page headers.")
    full_url = derived(str, ("uuid",), "The URL of the largest stored picture, at most 3,840 pixels a side.")
    partner = partner_relation()


MediaName = Annotated[str, line_up_to(200, min_length=1)]


@graphql_input_for(Media)
class CreateMedia(SchemaModel):
    """Upload a picture."""

    model_config = {"arbitrary_types_allowed": True}
    partner_uuid: UUID | None = Field(default=None, description=PARTNER_DESCRIPTION)
    name: MediaName
    file: Annotated[UploadFile, strawberry.field(graphql_type=Upload)] = Field(
        description="A PNG, JPEG, WebP, GIF or AVIF of at most 10 MiB, 50 megapixels and 12,000 pixels a side, or an SVG of at most "
        "1,000 kB that refers to no other file."
    )


@graphql_input_for(Media)
class UpdateMedia(SchemaModel):
    """Rename a picture."""

    id: int
    name: MediaName


@graphql_input_for(Media)
class ArchiveMedia(SchemaModel):
    """Archive a picture."""

    id: int


def picture_srcset(path: str) -> str:
    """The value of an HTML `srcset` for a picture in landscape format of the media library; empty for other paths."""
    folder, _, name = path.rpartition("/")
    if name.removesuffix(".webp") not in set(MediaSize):
        return ""
    sizes = MediaSize.CARD, MediaSize.COVER
    return ", ".join(f"{folder}/{size}.webp {LONGEST_SIDES[size]}w" for size in sizes)


@dataclass(frozen=True, slots=True)
class ResponsivePicture:
    """A picture of an experience; width and height are of the upload, in pixels."""

    uuid: uuid.UUID
    width: int
    height: int

    def path(self, size: str) -> str:
        """The path of one size: `thumb`, `card`, `cover` or `full`."""
        return f"/media/{self.uuid}/{size}.webp"

    @property
    def srcset(self) -> str:
        """The value of an HTML `srcset`: every distinct size with its width, smallest first."""
        longest = max(self.width, self.height, 1)
        widths = {self.width * min(side, longest) // longest: size for size, side in LONGEST_SIDES.items()}
        return ", ".join(f"{self.path(size)} {width}w" for width, size in sorted(widths.items()))

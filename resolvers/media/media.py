"""Pictures that partners upload: list, upload, rename and archive."""

import hashlib
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated
from uuid import UUID, uuid4

from pydantic import Field
from sqlalchemy import ColumnElement, exists
from sqlmodel import col, select
from starlette.datastructures import UploadFile

from resolvers.core.computed_fields import derives
from resolvers.core.context import Context
from resolvers.core.input_mapping import ById, owner_of
from resolvers.core.lists.filters import OfPartner, Where
from resolvers.core.lists.listing import Listing, Lookup
from resolvers.core.operation import Call, operation
from schema.core.columns import DescribedEnum, graphql_enum
from schema.core.errors import InvalidInput, MediaInUse, ProblemPath
from schema.core.inputs import graphql_input_for
from schema.core.permission import Permission
from schema.media import ArchiveMedia, CreateMedia, Media, MediaSize, UpdateMedia
from schema.order.order import OrderProduct
from schema.product.product import Product
from store.catalogue.catalogue import PrototypeImageRow
from store.gift_card.designs import GiftCardDesignRow
from store.media.media import CONTENT_TYPE, MediaRow, lock_media_for_use, media_key_of, media_path_of, parse_media_path
from store.network.boxes import BoxImageRow
from store.partner.partners import PartnerRow
from store.product.products import ProductRow

if TYPE_CHECKING:
    from store.media.images import ProcessedPicture


@graphql_enum
class MediaSort(DescribedEnum):
    """Sort order of pictures."""

    NEWEST = "-created_on", "The newest first."
    OLDEST = "created_on", "The oldest first."
    NAME = "name", "By name, from A to Z."
    NAME_DESCENDING = "-name", "By name, from Z to A."


@graphql_input_for(Media)
class MediaFilter(OfPartner):
    """Filter for pictures."""

    name_contains: Annotated[str | None, Where("name", "contains")] = Field(
        default=None, description="Only pictures whose name contains this, ignoring case and accents."
    )
    archived: Annotated[bool | None, Where("archived_on", "set")] = Field(
        default=None, description="Only archived pictures, or only pictures that are not archived."
    )
    ids: Annotated[list[int] | None, Where("id", "in")] = Field(
        default=None, description="Only pictures with one of these ids."
    )


media = Listing(Media, MediaFilter, MediaSort, Permission.VIEW_CATALOGUE, "The pictures visible to you, newest first.")
media_by_id = Lookup(Media, "id", "media", Permission.VIEW_CATALOGUE, "A picture by its id.")


def _size_url(size: MediaSize) -> Callable[[Context, UUID], str]:
    return lambda context, uuid: public_url_of(context, media_path_of(uuid, size))


for _size in MediaSize:
    derives(Media, f"{_size}_url")(_size_url(_size))


_media = ById(MediaRow, "media")


@operation(Permission.MANAGE_CATALOGUE, transaction=False)
async def create_media(call: Call, input: CreateMedia) -> Media:
    """Upload a picture. It is re-encoded, upright and in sRGB, without its metadata. Of an animation only the first
    frame is stored. A drawing (SVG) is made a picture of pixels, transparent where nothing is drawn.
    """
    partner = await _owner(call, input.partner_uuid)
    picture = await _picture(input.file)
    full = picture.sizes[MediaSize.FULL]
    row = MediaRow(
        partner_id=partner.id,
        uuid=uuid4(),
        name=input.name,
        content_type=CONTENT_TYPE,
        size=len(full),
        width=picture.width,
        height=picture.height,
        digest=hashlib.sha256(full).hexdigest(),
    )
    # Files before the row, so that no row lacks its files; the sweep deletes files without a row.
    for size, content in picture.sizes.items():
        await call.services.files.put(media_key_of(row.uuid, size), content, CONTENT_TYPE)
    async with call.services.db.sessions() as db, db.begin():
        db.add(row)
        await db.flush()
        await call.store_response(db, row)
    return row


async def _owner(call: Call, partner_uuid: UUID | None) -> PartnerRow:
    """The partner, read in its own transaction, so that none stays open while the picture is decoded."""
    async with call.services.db.sessions() as db:
        return await owner_of(replace(call, transaction=db), partner_uuid)


async def _picture(file: UploadFile) -> "ProcessedPicture":
    from store.document.drawing.upload import draw_upload  # Pillow: many processes never get a picture
    from store.document.pictures import is_drawing
    from store.media.images import InvalidPicture, read_picture

    try:
        content = await file.read()
        return await read_picture(await draw_upload(content) if is_drawing(content) else content)
    except InvalidPicture as error:
        raise InvalidInput.at("file", error.args[0]) from error


@operation(Permission.MANAGE_CATALOGUE, exists=_media)
async def update_media(call: Call, input: UpdateMedia) -> Media:
    """Rename a picture. A picture in use by a product, a prototype, a box, a design, a logo or a start page is refused with
    `MEDIA_IN_USE`.
    """
    row = await _lock_unused(call, input.id)
    row.name = input.name
    await call.db.flush()
    return row


@operation(Permission.MANAGE_CATALOGUE, exists=_media)
async def archive_media(call: Call, input: ArchiveMedia) -> Media:
    """Archive a picture, so that it can no longer be chosen. Existing orders still show it. A picture in use by a
    product, a prototype, a box, a design, a logo or a start page is refused with `MEDIA_IN_USE`.
    """
    row = await _lock_unused(call, input.id)
    row.archived_on = row.archived_on or call.services.clock.now()
    await call.db.flush()
    return row


async def _lock_unused(call: Call, media_id: int) -> MediaRow:
    """A picture, locked against new uses. Raises MediaInUse if a product, a prototype, a box, a design, a logo or a start page
    uses it."""
    row = await _media.find(call, media_id, lock=True)
    paths = [media_path_of(row.uuid, size) for size in MediaSize]
    image = exists().where(col(PrototypeImageRow.media_id) == row.id)
    boxed = exists().where(col(BoxImageRow.media_id) == row.id)
    shown = exists().where(col(ProductRow.partner_id) == row.partner_id, col(ProductRow.picture_url).in_(paths))
    look = exists().where(
        col(PartnerRow.id) == row.partner_id,
        col(PartnerRow.logo_url).in_(paths) | col(PartnerRow.hero_picture_url).in_(paths),
    )
    design = exists().where(col(GiftCardDesignRow.picture_url).in_(paths))
    if (await call.db.exec(select(image | boxed | shown | look | design))).one():
        raise MediaInUse
    return row


def public_url_of(context: Context, path: str) -> str:
    """The public URL of a path on this service; empty for an empty path."""
    return path and f"{context.services.public_url}{path}"


for _kind in (Product, OrderProduct):
    derives(_kind, "picture_address")(public_url_of)


async def path_of_picture(call: Call, partner_id: int, address: str, at: str | ProblemPath = "picture_url") -> str:
    """The stored path of a picture, from its URL or path. The picture stays locked until the end of the transaction.

    Raises InvalidInput at the field `at` if the partner has no such picture or it is archived. Pictures of demo data
    have paths of another form, and are not checked.
    """
    path = await _usable_path(call, address, col(MediaRow.partner_id) == partner_id)
    if path is None:
        raise InvalidInput.at(at, "This partner has no usable picture with this URL.")
    return path


async def path_of_network_picture(call: Call, marketplace_id: int, address: str) -> str:
    """`path_of_picture` for a picture of any partner of a marketplace, which has no pictures of its own."""
    partners = select(col(PartnerRow.id)).where(col(PartnerRow.marketplace_id) == marketplace_id)
    path = await _usable_path(call, address, col(MediaRow.partner_id).in_(partners))
    if path is None:
        raise InvalidInput.at("picture_url", "No partner of this marketplace has a usable picture with this URL.")
    return path


async def _usable_path(call: Call, address: str, owners: ColumnElement[bool]) -> str | None:
    """The stored path of a picture; None if no owner has it, and if it is archived."""
    path = address.removeprefix(call.services.public_url)
    shown = parse_media_path(path)
    is_unusable = shown is not None and not await lock_media_for_use(call.db, owners, shown[0])
    return None if path.startswith("http") or is_unusable else path

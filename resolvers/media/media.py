"""Pictures that partners upload."""

import hashlib
from collections.abc import Callable
from dataclasses import replace
from typing import Annotated
from uuid import UUID, uuid4

from pydantic import Field
from sqlalchemy import exists
from sqlmodel import col, select
from starlette.datastructures import UploadFile

from resolvers.core.computed_fields import derives
from resolvers.core.context import Context
from resolvers.core.input_mapping import ById, owner_of
from resolvers.core.listing import Listing, Lookup, OfPartner, Where
from resolvers.core.operation import Call, operation
from schema.core.errors import InvalidInput, MediaInUse
from schema.core.permission import Permission
from schema.core.resource import ClosedSet, closed_set, writable_as
from schema.media import ArchiveMedia, CreateMedia, Media, MediaSize, UpdateMedia
from schema.order import OrderProduct
from schema.product.product import Product
from store.catalogue.catalogue import PrototypeImageRow
from store.media.images import CONTENT_TYPE, BadPicture, Picture, read_picture
from store.media.media import MediaRow, key_of, lock_for_use, path_of, read_path
from store.partner.partners import PartnerRow
from store.product.products import ProductRow


@closed_set
class MediaSort(ClosedSet):
    """How to order pictures."""

    NEWEST = "-created_on", "The newest first."
    OLDEST = "created_on", "The oldest first."
    NAME = "name", "By name, from A to Z."
    NAME_DESCENDING = "-name", "By name, from Z to A."


@writable_as(Media)
class MediaFilter(OfPartner):
    """Which pictures."""

    name_contains: Annotated[str | None, Where("name", "contains")] = Field(
        default=None, description="Those whose name holds this, whatever the case and the accents."
    )
    archived: Annotated[bool | None, Where("archived_on", "set")] = Field(
        default=None, description="Those that were put away, or those that were not."
    )
    ids: Annotated[list[int] | None, Where("id", "in")] = Field(default=None, description="Those with these ids.")


media = Listing(Media, MediaFilter, MediaSort, Permission.VIEW_CATALOGUE, "The pictures you see, newest first.")
media_by_id = Lookup(Media, "id", "media", Permission.VIEW_CATALOGUE, "A picture by its id.")


def _address(size: MediaSize) -> Callable[[Context, UUID], str]:
    return lambda context, uuid: address_of(context, path_of(uuid, size))


for _size in MediaSize:
    derives(Media, f"{_size}_url")(_address(_size))


_media = ById(MediaRow, "media")


@operation(Permission.MANAGE_CATALOGUE, transaction=False)
async def create_media(call: Call, input: CreateMedia) -> Media:
    """Keep a picture. It is drawn anew, upright and in sRGB, without what cameras write beside it; of an animation, its
    first frame is kept.
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
    for size, content in picture.sizes.items():  # before the row: what it names is there, or the sweep takes it
        await call.services.files.put(key_of(row.uuid, size), content, CONTENT_TYPE)
    async with call.services.db.sessions() as db, db.begin():
        db.add(row)
        await db.flush()
        await call.keep(db, row)
    return row


async def _owner(call: Call, partner_uuid: UUID | None) -> PartnerRow:
    """Whom it is for, looked up in a transaction of its own: none stays open while a picture is decoded."""
    async with call.services.db.sessions() as db:
        return await owner_of(replace(call, transaction=db), partner_uuid)


async def _picture(file: UploadFile) -> Picture:
    try:
        return await read_picture(await file.read())
    except BadPicture as error:
        raise InvalidInput.at("file", str(error)) from error


@operation(Permission.MANAGE_CATALOGUE, exists=_media)
async def update_media(call: Call, input: UpdateMedia) -> Media:
    """Give a picture another name, as long as no product uses it."""
    row = await _unused(call, input.id)
    row.name = input.name
    await call.db.flush()
    return row


@operation(Permission.MANAGE_CATALOGUE, exists=_media)
async def archive_media(call: Call, input: ArchiveMedia) -> Media:
    """Put a picture away that no product uses. It can be used no more; where it was shown before, it still is."""
    row = await _unused(call, input.id)
    row.archived_on = row.archived_on or call.services.clock.now()
    await call.db.flush()
    return row


async def _unused(call: Call, media_id: int) -> MediaRow:
    """A picture, locked so that no product takes it meanwhile. MediaInUse where one does already."""
    row = await _media.find(call, media_id, lock=True)
    paths = [path_of(row.uuid, size) for size in MediaSize]
    image = exists().where(col(PrototypeImageRow.media_id) == row.id)
    shown = exists().where(col(ProductRow.partner_id) == row.partner_id, col(ProductRow.picture_url).in_(paths))
    logo = exists().where(col(PartnerRow.id) == row.partner_id, col(PartnerRow.logo_url).in_(paths))
    if (await call.db.exec(select(image | shown | logo))).one():
        raise MediaInUse
    return row


def address_of(context: Context, path: str) -> str:
    """Where a path on this service is found; empty where there is none."""
    return path and f"{context.services.public_url}{path}"


for _kind in (Product, OrderProduct):
    derives(_kind, "picture_address")(address_of)


async def path_of_picture(call: Call, partner_id: int, address: str, at: str = "picture_url") -> str:
    """The path of a picture, as it is kept, of its address here or its path. Refuses, `at` a field, one that is none of
    the partner's, or was put away; until the end nobody changes the other.

    Pictures that are not uploaded but laid in with demo data have paths of another kind, and are nobody's.
    """
    path = address.removeprefix(call.services.public_url)
    shown = read_path(path)
    if path.startswith("http") or (shown is not None and not await lock_for_use(call.db, partner_id, shown[0])):
        raise InvalidInput.at(at, "No picture of this partner that can be used has this address.")
    return path

"""Boxes of marketplaces: lists, creation and updates."""

from collections.abc import Mapping, Sequence
from typing import Annotated

from pydantic import Field
from sqlmodel import col, select

from resolvers.core.caller import Role
from resolvers.core.computed_fields import computes
from resolvers.core.context import Context
from resolvers.core.input_mapping import (
    ById,
    apply,
    collect_marketplace,
    require_name,
    text_of,
    values_of,
)
from resolvers.core.lists.filters import OfMarketplace, Where
from resolvers.core.lists.listing import Listing, Lookup
from resolvers.core.operation import Call, operation
from schema.core.columns import DescribedEnum, graphql_enum
from schema.core.errors import InvalidInput, MarketplaceOnly
from schema.core.input_errors import ProblemCollector
from schema.core.inputs import graphql_input_for
from schema.core.message_names import TemplatedMessage
from schema.core.permission import Permission
from schema.core.text import Text
from schema.network.box import Box, BoxProduct
from schema.network.box_input import CreateBox, UpdateBox
from schema.validation.numbers import RowId
from store.catalogue.catalogue import PriceRangeRow
from store.network.box_parts import (
    check_box_images,
    images_of_box,
    partners_by_uuid,
    set_box_images,
    set_box_partners,
)
from store.network.boxes import BoxRow
from store.network.offers import products_of

NOT_COLUMNS = ("marketplace_uuid", "image_ids", "cover_image", "partner_uuids")


@graphql_enum
class BoxSort(DescribedEnum):
    """Sort order of boxes."""

    NEWEST = "-created_on", "The newest first."
    OLDEST = "created_on", "The oldest first."
    RANKING = "ranking", "By ranking, lowest first."
    PRICE = "price_amount", "Lowest price first."
    PRICE_DESCENDING = "-price_amount", "Highest price first."


@graphql_input_for(Box)
class BoxFilter(OfMarketplace):
    """Filter for boxes."""

    name_contains: Annotated[str | None, Where("name", "says")] = Field(
        default=None, description="Only boxes whose name contains this, in any language, ignoring case and accents."
    )
    is_active: Annotated[bool | None, Where("is_active")] = Field(
        default=None, description="Only boxes that are on sale, or only others."
    )
    is_highlight: Annotated[bool | None, Where("is_highlight")] = None
    price_range_id: Annotated[RowId | None, Where("price_range_id")] = None
    ids: Annotated[list[RowId] | None, Where("id", "in")] = Field(
        default=None, description="Only boxes with one of these ids."
    )


boxes = Listing(
    Box,
    BoxFilter,
    BoxSort,
    Permission.VIEW_CATALOGUE,
    "The boxes of your marketplace, newest first. A partner sees those on sale, and those that it has an offer for.",
)
box = Lookup(Box, "id", "box", Permission.VIEW_CATALOGUE, "A box by its id.")


class _BoxById(ById[BoxRow]):
    """Finds a box that the caller may change: users of a partner only read them."""

    async def find(self, call: Call, id: int, *, lock: bool = False) -> BoxRow:
        _require_marketplace(call)
        return await super().find(call, id, lock=lock)


_box = _BoxById(BoxRow, "box")


def _require_marketplace(call: Call) -> None:
    if call.caller.role is Role.PARTNER:
        raise MarketplaceOnly


@computes(Box, "products")
async def box_products(context: Context, ids: Sequence[int]) -> Mapping[int, list[BoxProduct]]:
    """The prototypes of the offers of boxes that count."""
    async with context.db.read_sessions() as db:
        found = await products_of(db, ids)
    return {id: found.get(id, []) for id in ids}


@operation(Permission.MANAGE_CATALOGUE)
async def create_box(call: Call, input: CreateBox) -> Box:
    """Create a box of a marketplace, in its currency. Users of a partner cannot."""
    _require_marketplace(call)
    findings = ProblemCollector()
    marketplace = await collect_marketplace(findings, call, input)
    with findings.collect():
        require_name(text_of(input.name))
    with findings.collect():
        await _check_price_range(call, marketplace.id, input.price_range_id)
    with findings.collect():
        await check_box_images(call.db, marketplace.id, input.image_ids)
    with findings.collect():
        _check_cover(input.cover_image, len(input.image_ids))
    with findings.collect():
        partners = await partners_by_uuid(call.db, marketplace.id, input.partner_uuids)
    findings.raise_problems()
    now = call.services.clock.now()
    texts = {name: Text() for name in ("short_description", "long_description")}
    row = BoxRow(
        **{**texts, **values_of(input, NOT_COLUMNS)},
        marketplace_id=marketplace.id,
        currency=marketplace.currency,
        created_on=now,
        updated_on=now,
    )
    call.db.add(row)
    await call.db.flush()
    await set_box_images(call.db, row, input.image_ids, input.cover_image)
    await set_box_partners(call.db, row, partners)
    return row


@operation(Permission.MANAGE_CATALOGUE, exists=_box)
async def update_box(call: Call, input: UpdateBox) -> Box:
    """Update a box. Users of a partner cannot. Offers of partners that it no longer admits do not count any more; they come
    back with the partner.
    """
    row = await _box.find(call, input.id, lock=True)
    findings = ProblemCollector()
    old_range = row.price_range_id
    with call.db.no_autoflush:
        apply(row, input, skip=NOT_COLUMNS)
        with findings.collect():
            require_name(row.name)
        with findings.collect():
            if row.price_range_id != old_range:
                await _check_price_range(call, row.marketplace_id, row.price_range_id)
        with findings.collect():
            images, cover = await _new_images(call, row, input, findings)
        with findings.collect():
            partners = None
            if input.partner_uuids is not None:
                partners = await partners_by_uuid(call.db, row.marketplace_id, input.partner_uuids.value)
        findings.raise_problems()
    changed = await set_box_images(call.db, row, images, cover)
    if partners is not None:
        changed = await set_box_partners(call.db, row, partners) or changed
    if changed:
        row.updated_on = call.services.clock.now()
    await call.db.flush()
    return row


async def _new_images(
    call: Call, row: BoxRow, input: UpdateBox, findings: ProblemCollector
) -> tuple[Sequence[int], int]:
    """The pictures that an update leaves, checked, and the position of the cover."""
    there, cover = await images_of_box(call.db, row)
    images = there if input.image_ids is None else input.image_ids.value
    if images != there:
        with findings.collect():
            await check_box_images(call.db, row.marketplace_id, images, there)
    if input.cover_image is None:
        return images, cover if cover <= len(images) else 1
    _check_cover(input.cover_image.value, len(images))
    return images, input.cover_image.value


def _check_cover(position: int, images: int) -> None:
    """Raise InvalidInput for a cover that is none of the pictures."""
    if position > max(images, 1):
        raise InvalidInput.at(
            "cover_image",
            TemplatedMessage("Send the position of a picture: 1 to {most}.", most=max(images, 1)),
            "OUT_OF_RANGE",
        )


async def _check_price_range(call: Call, marketplace_id: int, id: int | None) -> None:
    """Raise InvalidInput unless the price range is the marketplace's."""
    if id is None:
        return
    query = select(PriceRangeRow.id).where(
        col(PriceRangeRow.id) == id, col(PriceRangeRow.marketplace_id) == marketplace_id
    )
    if (await call.db.exec(query)).first() is None:
        raise InvalidInput.at("price_range_id", "The marketplace has no price range with this id.")

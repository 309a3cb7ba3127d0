"""The prototypes of a partner: what its vouchers are made from."""

from collections.abc import Mapping, Sequence
from typing import Annotated, Any

from pydantic import Field
from sqlalchemy import and_
from sqlmodel import col, select

from resolvers.core.computed_fields import computes
from resolvers.core.context import Context
from resolvers.core.input_mapping import ById, apply, currency_of, needs, owner_among, text_of, values_of
from resolvers.core.listing import Listing, Lookup, OfPartner, Where
from resolvers.core.operation import Call, operation
from schema.catalogue.prototype import VoucherPrototype, VoucherPrototypeType
from schema.catalogue.prototype_input import CreateVoucherPrototype, UpdateVoucherPrototype
from schema.core.errors import InvalidInput
from schema.core.input_errors import Findings
from schema.core.permission import Permission
from schema.core.resource import ClosedSet, Text, closed_set, writable_as
from schema.validation.numbers import MoneyAmount, RowId
from store.catalogue.catalogue import EnvironmentRow, PrototypeImageRow, UniverseRow, VoucherPrototypeRow
from store.catalogue.prototype_images import check_images, images_of, put_images
from store.database.loaders import among
from store.media.media import MediaRow
from store.partner.partners import PartnerRow

SAID = ("name", "description", "long_description")
"""The texts that there are in at least one language."""
SORTED_BY: Mapping[str, Any] = {"universe_id": UniverseRow, "environment_id": EnvironmentRow}
NOT_COLUMNS = ("image_ids",)


@closed_set
class VoucherPrototypeSort(ClosedSet):
    """How to order prototypes."""

    RANKING = "ranking", "By ranking, lowest first."
    NEWEST = "-created_on", "The newest first."
    OLDEST = "created_on", "The oldest first."
    PRICE = "stay_price_amount", "The cheapest first."
    PRICE_DESCENDING = "-stay_price_amount", "The dearest first."


@writable_as(VoucherPrototype)
class VoucherPrototypeFilter(OfPartner):
    """Which prototypes."""

    name_contains: Annotated[str | None, Where("name", "says")] = Field(
        default=None, description="Whose name holds this in some language, whatever the case and the accents."
    )
    is_active: Annotated[bool | None, Where("is_active")] = None
    is_highlight: Annotated[bool | None, Where("is_highlight")] = None
    type: Annotated[VoucherPrototypeType | None, Where("type")] = None
    universe_id: Annotated[RowId | None, Where("universe_id")] = None
    environment_id: Annotated[RowId | None, Where("environment_id")] = None
    price_at_least: Annotated[MoneyAmount | None, Where("stay_price_amount", ">=")] = Field(
        default=None, description="Which cost this or more."
    )
    price_at_most: Annotated[MoneyAmount | None, Where("stay_price_amount", "<=")] = Field(
        default=None, description="Which cost this or less."
    )
    price_below: Annotated[MoneyAmount | None, Where("stay_price_amount", "<")] = Field(
        default=None, description="Which cost less than this, such as the `maximum` of a price range."
    )
    ids: Annotated[list[RowId] | None, Where("id", "in")] = Field(default=None, description="Those with these ids.")


voucher_prototypes = Listing(
    VoucherPrototype,
    VoucherPrototypeFilter,
    VoucherPrototypeSort,
    Permission.VIEW_CATALOGUE,
    "The prototypes of the partners you see, best ranked first.",
)
voucher_prototype = Lookup(
    VoucherPrototype, "id", "voucher prototype", Permission.VIEW_CATALOGUE, "A prototype by its id."
)


_prototype = ById(VoucherPrototypeRow, "voucher prototype")


@operation(Permission.MANAGE_CATALOGUE)
async def create_voucher_prototype(call: Call, input: CreateVoucherPrototype) -> VoucherPrototype:
    """Add an experience that vouchers are made from."""
    findings = Findings()
    partner = await owner_among(findings, call, input)
    for name in SAID:
        with findings.of_one():
            _check_said(name, text_of(getattr(input, name)))
    for name in SORTED_BY:
        with findings.of_one():
            await _check_sorted(call, name, getattr(input, name), partner)
    with findings.of_one():
        await check_images(call.db, partner.id, input.image_ids)
    with findings.of_one():
        row = _row(input)
        _settle_nights(row, told=input.nb_nights is not None)
        with findings.of_one():
            _check_capacity(row)
        with findings.of_one():
            _check_nights(row)
    with findings.of_one():
        cover = _cover(input.cover_image, len(input.image_ids), told=True)
    findings.tell()
    row.partner_id, row.currency, row.cover_image = partner.id, await currency_of(call, partner), cover
    call.db.add(row)
    await call.db.flush()
    await put_images(call.db, row, input.image_ids)
    await call.db.flush()
    return row


@operation(Permission.MANAGE_CATALOGUE, exists=_prototype)
async def update_voucher_prototype(call: Call, input: UpdateVoucherPrototype) -> VoucherPrototype:
    """Change an experience. Vouchers that were sold keep the name, the texts and the price of their day."""
    row = await _prototype.find(call, input.id, lock=True)
    partner = await call.db.get_one(PartnerRow, row.partner_id)
    findings = Findings()
    with findings.of_one():
        if input.partner_uuid is not None and input.partner_uuid.value != partner.uuid:
            raise InvalidInput.at("partner_uuid", "A prototype cannot be moved to another partner.")
    before = {name: getattr(row, name) for name in SORTED_BY}
    with call.db.no_autoflush:
        apply(row, input, skip=NOT_COLUMNS)
        for name in SAID:
            with findings.of_one():
                _check_said(name, getattr(row, name))
        for name in SORTED_BY:
            if getattr(row, name) != before[name]:
                with findings.of_one():
                    await _check_sorted(call, name, getattr(row, name), partner)
        with findings.of_one():
            needs(input.min_capacity, input.max_capacity)
            _check_capacity(row)
        with findings.of_one():
            needs(input.type)
            _settle_nights(row, told=input.nb_nights is not None)
            _check_nights(row)
        there = await images_of(call.db, row)
        with findings.of_one():
            images = there if input.image_ids is None else input.image_ids.value
            with findings.of_one():
                if images != there:
                    await check_images(call.db, partner.id, images, there)
            with findings.of_one():
                row.cover_image = _cover(row.cover_image, len(images), told=input.cover_image is not None)
        findings.tell()
        if images != there and await put_images(call.db, row, images):
            row.updated_on = call.services.clock.now()
    await call.db.flush()
    return row


@computes(VoucherPrototype, "cover")
async def covers(context: Context, ids: Sequence[int]) -> Mapping[int, Any]:
    """The cover of each prototype."""
    prototype, image = VoucherPrototypeRow, PrototypeImageRow
    query = (
        select(col(prototype.id), MediaRow)
        .join(
            image,
            and_(
                col(image.voucher_prototype_id) == col(prototype.id), col(image.position) == col(prototype.cover_image)
            ),
        )
        .join(MediaRow, col(MediaRow.id) == col(image.media_id))
        .where(among(prototype.__table__.c.id, ids))  # type: ignore[attr-defined]
    )
    async with context.db.sessions() as db:
        return dict((await db.exec(query)).all())


# ---- what a prototype can be


def _row(input: CreateVoucherPrototype) -> VoucherPrototypeRow:
    """What was sent of a prototype, which is nobody's yet."""
    nothing = {name: Text() for name in ("rent_conditions", "how_to_book_html", "pdf_description")}
    return VoucherPrototypeRow(**{**nothing, **values_of(input, skip=NOT_COLUMNS)})


def _check_said(name: str, text: Text) -> None:
    """Refuse a text that is empty in every language."""
    if not any(text.model_dump().values()):
        raise InvalidInput.at(name, "Say this in at least one language.", "REQUIRED")


def _check_capacity(row: VoucherPrototypeRow) -> None:
    """Refuse a largest number of persons that is below the smallest."""
    if row.max_capacity and row.max_capacity < row.min_capacity:
        told = f"Send {row.min_capacity} or more, or 0 for any number."
        raise InvalidInput.at("max_capacity", told, "OUT_OF_RANGE")


def _check_nights(row: VoucherPrototypeRow) -> None:
    """Refuse nights of what has none."""
    if row.type is VoucherPrototypeType.STANDARD and row.nb_nights:
        raise InvalidInput.at("nb_nights", "What is standard has no nights: send 0, or another type.")


async def _check_sorted(call: Call, name: str, id: int | None, partner: PartnerRow) -> None:
    """Refuse a universe or an environment that new prototypes cannot name."""
    if id is not None and not await _is_there(call, SORTED_BY[name], id, partner):
        raise InvalidInput.at(name, f"The marketplace has no active {name.removesuffix('_id')} with this id.")


async def _is_there(call: Call, kind: Any, id: int, partner: PartnerRow) -> bool:
    query = select(kind.id).where(kind.id == id, kind.marketplace_id == partner.marketplace_id, kind.is_active)
    return (await call.db.exec(query)).first() is not None


def _settle_nights(row: VoucherPrototypeRow, *, told: bool) -> None:
    """Nights that nobody told of: a stay has one, what is standard none."""
    if row.type is VoucherPrototypeType.STANDARD:
        row.nb_nights = row.nb_nights if told else 0
    elif not row.nb_nights:
        row.nb_nights = 1


def _cover(position: int, images: int, *, told: bool) -> int:
    """A cover that there is no picture for: a mistake, where it was told; else the first is it."""
    if position <= max(images, 1):
        return position
    if told:
        raise InvalidInput.at("cover_image", f"Send the position of a picture: 1 to {max(images, 1)}.", "OUT_OF_RANGE")
    return 1

"""The prototypes of a partner: what its vouchers are made from."""

from collections.abc import Mapping, Sequence
from typing import Annotated, Any

from pydantic import Field
from sqlalchemy import and_
from sqlmodel import col, select

from resolvers.changes import ById, apply, currency_of, owner_of, values_of
from resolvers.computed import computes
from resolvers.context import Context
from resolvers.listing import Filter, Listing, Lookup, Where
from resolvers.operation import Call, operation
from schema.errors import InvalidInput, Problem
from schema.numbers import MoneyAmount, RowId
from schema.permission import Permission
from schema.values import ClosedSet, Text, closed_set, writable_as
from schema.voucher_prototype import VoucherPrototype, VoucherPrototypeType
from schema.voucher_prototype_input import CreateVoucherPrototype, UpdateVoucherPrototype
from store.catalogue import EnvironmentRow, PrototypeImageRow, UniverseRow, VoucherPrototypeRow
from store.media import MediaRow
from store.prototype_images import images_of, put_images
from store.rows import among
from store.tenancy import PartnerRow

SAID = ("name", "description", "long_description")
"""The texts that there are in at least one language."""
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
class VoucherPrototypeFilter(Filter):
    """Which prototypes."""

    name_contains: Annotated[str | None, Where("name", "says")] = Field(
        default=None, description="Whose name holds this in some language, in capitals or not."
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
    partner = await owner_of(call, input.partner_uuid)
    nothing = {name: Text() for name in ("rent_conditions", "how_to_book_html", "pdf_description")}
    row = VoucherPrototypeRow(
        partner_id=partner.id,
        currency=await currency_of(call, partner),
        **{**nothing, **values_of(input, skip=NOT_COLUMNS)},
    )
    _settle_nights(row, told=input.nb_nights is not None)
    await _check(call, row, partner, sorted_anew={"universe_id", "environment_id"})
    call.db.add(row)
    await call.db.flush()
    await put_images(call.db, row, input.image_ids)
    _settle_cover(row, len(input.image_ids), told=True)
    await call.db.flush()
    return row


@operation(Permission.MANAGE_CATALOGUE, exists=_prototype)
async def update_voucher_prototype(call: Call, input: UpdateVoucherPrototype) -> VoucherPrototype:
    """Change an experience. Vouchers that were sold keep the name, the texts and the price of their day."""
    row = await _prototype.find(call, input.id, lock=True)
    partner = await call.db.get_one(PartnerRow, row.partner_id)
    if input.partner_uuid is not None and input.partner_uuid.value != partner.uuid:
        raise InvalidInput.at("partner_uuid", "A prototype cannot be moved to another partner.")
    before = {name: getattr(row, name) for name in ("universe_id", "environment_id")}
    with call.db.no_autoflush:
        apply(row, input, skip=NOT_COLUMNS)
        _settle_nights(row, told=input.nb_nights is not None)
        await _check(call, row, partner, sorted_anew={name for name in before if getattr(row, name) != before[name]})
        if input.image_ids is not None and await put_images(call.db, row, input.image_ids.value):
            row.updated_on = call.services.clock.now()
        _settle_cover(row, len(await images_of(call.db, row)), told=input.cover_image is not None)
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


async def _check(call: Call, row: VoucherPrototypeRow, partner: PartnerRow, sorted_anew: set[str]) -> None:
    """Refuse what no prototype can be; all that is wrong is told at once."""
    wrong = [
        Problem((name,), "REQUIRED", "Say this in at least one language.")
        for name in SAID
        if not any(getattr(row, name).model_dump().values())
    ]
    if row.max_capacity and row.max_capacity < row.min_capacity:
        wrong.append(Problem(("max_capacity",), "INVALID", f"Send {row.min_capacity} or more, or 0 for any number."))
    if row.type is VoucherPrototypeType.STANDARD and row.nb_nights:
        wrong.append(Problem(("nb_nights",), "INVALID", "What is standard has no nights: send 0, or another type."))
    kinds: Mapping[str, Any] = {"universe_id": UniverseRow, "environment_id": EnvironmentRow}
    for name in sorted(sorted_anew):
        id = getattr(row, name)
        if id is not None and not await _is_there(call, kinds[name], id, partner):
            kind = name.removesuffix("_id")
            wrong.append(Problem((name,), "INVALID", f"The marketplace has no active {kind} with this id."))
    if wrong:
        raise InvalidInput(*wrong)


async def _is_there(call: Call, kind: Any, id: int, partner: PartnerRow) -> bool:
    query = select(kind.id).where(kind.id == id, kind.marketplace_id == partner.marketplace_id, kind.is_active)
    return (await call.db.exec(query)).first() is not None


def _settle_nights(row: VoucherPrototypeRow, *, told: bool) -> None:
    """Nights that nobody told of: a stay has one, what is standard none."""
    if row.type is VoucherPrototypeType.STANDARD:
        row.nb_nights = row.nb_nights if told else 0
    elif not row.nb_nights:
        row.nb_nights = 1


def _settle_cover(row: VoucherPrototypeRow, images: int, *, told: bool) -> None:
    """A cover that there is no picture for: a mistake, where it was told; else the first is it."""
    if row.cover_image <= max(images, 1):
        return
    if told:
        raise InvalidInput.at("cover_image", f"Send the position of a picture: 1 to {max(images, 1)}.")
    row.cover_image = 1

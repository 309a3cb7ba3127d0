"""Voucher prototypes: the experiences that a partner sells as vouchers."""

from collections.abc import Mapping, Sequence
from typing import Annotated, Any

from pydantic import Field
from sqlalchemy import and_
from sqlmodel import col, select

from resolvers.core.computed_fields import computes
from resolvers.core.context import Context
from resolvers.core.input_mapping import ById, apply, collect_owner, currency_of, depends_on, text_of, values_of
from resolvers.core.lists.filters import OfPartner, Where
from resolvers.core.lists.listing import Listing, Lookup
from resolvers.core.operation import Call, operation
from schema.catalogue.prototype import VoucherPrototype, VoucherPrototypeType
from schema.catalogue.prototype_input import CreateVoucherPrototype, UpdateVoucherPrototype
from schema.core.columns import DescribedEnum, graphql_enum
from schema.core.errors import InvalidInput
from schema.core.input_errors import ProblemCollector
from schema.core.inputs import graphql_input_for
from schema.core.message_names import TemplatedMessage
from schema.core.permission import Permission
from schema.core.text import Text
from schema.validation.numbers import MoneyAmount, RowId
from store.catalogue.catalogue import EnvironmentRow, PrototypeImageRow, UniverseRow, VoucherPrototypeRow
from store.catalogue.prototype_images import check_images, images_of, set_images
from store.catalogue.slugs import change_slug, free_slug
from store.checkout.shops import experience_url
from store.database.loaders import is_any_of
from store.media.media import MediaRow
from store.partner.partners import PartnerRow

REQUIRED_TEXTS = ("name", "description", "long_description")
"""Texts that are required in at least one language."""
TAXONOMY_COLUMNS: Mapping[str, Any] = {"universe_id": UniverseRow, "environment_id": EnvironmentRow}
NOT_COLUMNS = ("image_ids", "slug")


@graphql_enum
class VoucherPrototypeSort(DescribedEnum):
    """Sort order of prototypes."""

    RANKING = "ranking", "By ranking, lowest first."
    NEWEST = "-created_on", "The newest first."
    OLDEST = "created_on", "The oldest first."
    PRICE = "stay_price_amount", "Lowest price first."
    PRICE_DESCENDING = "-stay_price_amount", "Highest price first."


@graphql_input_for(VoucherPrototype)
class VoucherPrototypeFilter(OfPartner):
    """Filter for prototypes."""

    name_contains: Annotated[str | None, Where("name", "says")] = Field(
        default=None,
        description="Only prototypes whose name contains this, in any language, ignoring case and accents.",
    )
    is_active: Annotated[bool | None, Where("is_active")] = None
    is_highlight: Annotated[bool | None, Where("is_highlight")] = None
    type: Annotated[VoucherPrototypeType | None, Where("type")] = None
    universe_id: Annotated[RowId | None, Where("universe_id")] = None
    environment_id: Annotated[RowId | None, Where("environment_id")] = None
    price_at_least: Annotated[MoneyAmount | None, Where("stay_price_amount", ">=")] = Field(
        default=None, description="Only prototypes with a price of at least this."
    )
    price_at_most: Annotated[MoneyAmount | None, Where("stay_price_amount", "<=")] = Field(
        default=None, description="Only prototypes with a price of at most this."
    )
    price_below: Annotated[MoneyAmount | None, Where("stay_price_amount", "<")] = Field(
        default=None, description="Only prototypes with a price below this, such as the `maximum` of a price range."
    )
    ids: Annotated[list[RowId] | None, Where("id", "in")] = Field(
        default=None, description="Only prototypes with one of these ids."
    )


voucher_prototypes = Listing(
    VoucherPrototype,
    VoucherPrototypeFilter,
    VoucherPrototypeSort,
    Permission.VIEW_CATALOGUE,
    "The prototypes visible to you, by ranking, lowest first.",
)
voucher_prototype = Lookup(
    VoucherPrototype, "id", "voucher prototype", Permission.VIEW_CATALOGUE, "A prototype by its id."
)


_prototype = ById(VoucherPrototypeRow, "voucher prototype")


@operation(Permission.MANAGE_CATALOGUE)
async def create_voucher_prototype(call: Call, input: CreateVoucherPrototype) -> VoucherPrototype:
    """Create a voucher prototype."""
    findings = ProblemCollector()
    partner = await collect_owner(findings, call, input)
    for name in REQUIRED_TEXTS:
        with findings.collect():
            _check_text(name, text_of(getattr(input, name)))
    for name in TAXONOMY_COLUMNS:
        with findings.collect():
            await _check_taxonomy(call, name, getattr(input, name), partner)
    with findings.collect():
        await check_images(call.db, partner.id, input.image_ids)
    with findings.collect():
        row = _row(input)
        _default_nights(row, is_explicit=input.nb_nights is not None)
        with findings.collect():
            _check_capacity(row)
        with findings.collect():
            _check_nights(row)
    with findings.collect():
        cover = _cover(input.cover_image, len(input.image_ids), is_explicit=True)
    findings.raise_problems()
    row.partner_id, row.currency, row.cover_image = partner.id, await currency_of(call, partner), cover
    row.slug = input.slug or await free_slug(call.db, partner.id, row.name)
    call.db.add(row)
    await call.db.flush()
    await set_images(call.db, row, input.image_ids)
    await call.db.flush()
    return row


@operation(Permission.MANAGE_CATALOGUE, exists=_prototype)
async def update_voucher_prototype(call: Call, input: UpdateVoucherPrototype) -> VoucherPrototype:
    """Update a voucher prototype. Vouchers already sold keep the name, texts and price at the time of sale."""
    row = await _prototype.find(call, input.id, lock=True)
    partner = await call.db.get_one(PartnerRow, row.partner_id)
    findings = ProblemCollector()
    with findings.collect():
        if input.partner_uuid is not None and input.partner_uuid.value != partner.uuid:
            raise InvalidInput.at("partner_uuid", "A prototype cannot be moved to another partner.")
    before = {name: getattr(row, name) for name in TAXONOMY_COLUMNS}
    with call.db.no_autoflush:
        apply(row, input, skip=NOT_COLUMNS)
        for name in REQUIRED_TEXTS:
            with findings.collect():
                _check_text(name, getattr(row, name))
        for name in TAXONOMY_COLUMNS:
            if getattr(row, name) != before[name]:
                with findings.collect():
                    await _check_taxonomy(call, name, getattr(row, name), partner)
        with findings.collect():
            depends_on(input.min_capacity, input.max_capacity)
            _check_capacity(row)
        with findings.collect():
            depends_on(input.type)
            _default_nights(row, is_explicit=input.nb_nights is not None)
            _check_nights(row)
        with findings.collect():
            await _change_slug(call, row, input)
        there = await images_of(call.db, row)
        with findings.collect():
            images = there if input.image_ids is None else input.image_ids.value
            with findings.collect():
                if images != there:
                    await check_images(call.db, partner.id, images, there)
            with findings.collect():
                row.cover_image = _cover(row.cover_image, len(images), is_explicit=input.cover_image is not None)
        findings.raise_problems()
        if images != there and await set_images(call.db, row, images):
            row.updated_on = call.services.clock.now()
    await call.db.flush()
    return row


@computes(VoucherPrototype, "cover")
async def covers(context: Context, ids: Sequence[int]) -> Mapping[int, Any]:
    """The cover picture of each prototype."""
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
        .where(is_any_of(prototype.__table__.c.id, ids))  # type: ignore[attr-defined]
    )
    async with context.db.read_sessions() as db:
        return dict((await db.exec(query)).all())


@computes(VoucherPrototype, "url")
async def urls(context: Context, ids: Sequence[int]) -> Mapping[int, Any]:
    """The URL of the page of each prototype."""
    prototype = VoucherPrototypeRow
    query = (
        select(col(prototype.id), PartnerRow.site_domain, prototype.slug)
        .join(PartnerRow, col(PartnerRow.id) == col(prototype.partner_id))
        .where(is_any_of(col(prototype.id), ids))
    )
    async with context.db.read_sessions() as db:
        rows = (await db.exec(query)).all()
    settings = context.services.settings
    return {id: experience_url(settings, site_domain, slug) for id, site_domain, slug in rows}


# ---- validation


async def _change_slug(call: Call, row: VoucherPrototypeRow, input: UpdateVoucherPrototype) -> None:
    """Give the prototype the slug of the input, if it has one. Raises AlreadyTaken."""
    if input.slug is not None and input.slug.value is not None:
        await change_slug(call.db, row, input.slug.value)


def _row(input: CreateVoucherPrototype) -> VoucherPrototypeRow:
    """The row of a new prototype, without its partner."""
    nothing = {name: Text() for name in ("rent_conditions", "how_to_book_html", "pdf_description")}
    return VoucherPrototypeRow(**{**nothing, **values_of(input, skip=NOT_COLUMNS)})


def _check_text(name: str, text: Text) -> None:
    if not any(text.model_dump().values()):
        raise InvalidInput.at(name, "Send this text in at least one language.", "REQUIRED")


def _check_capacity(row: VoucherPrototypeRow) -> None:
    """Raise InvalidInput if the maximum capacity is below the minimum; 0 means unlimited."""
    if row.max_capacity and row.max_capacity < row.min_capacity:
        message = TemplatedMessage("Send {least} or more, or 0 for any number.", least=row.min_capacity)
        raise InvalidInput.at("max_capacity", message, "OUT_OF_RANGE")


def _check_nights(row: VoucherPrototypeRow) -> None:
    if row.type is VoucherPrototypeType.STANDARD and row.nb_nights:
        raise InvalidInput.at("nb_nights", "A prototype of type `STANDARD` has no nights: send 0, or another type.")


async def _check_taxonomy(call: Call, name: str, id: int | None, partner: PartnerRow) -> None:
    """Raise InvalidInput unless the universe or environment is active and belongs to the partner's marketplace."""
    if id is not None and not await _is_there(call, TAXONOMY_COLUMNS[name], id, partner):
        raise InvalidInput.at(
            name, TemplatedMessage("The marketplace has no active {what} with this id.", what=name.removesuffix("_id"))
        )


async def _is_there(call: Call, kind: Any, id: int, partner: PartnerRow) -> bool:
    query = select(kind.id).where(kind.id == id, kind.marketplace_id == partner.marketplace_id, kind.is_active)
    return (await call.db.exec(query)).first() is not None


def _default_nights(row: VoucherPrototypeRow, *, is_explicit: bool) -> None:
    """Default number of nights: 1 for a stay, 0 for a standard prototype."""
    if row.type is VoucherPrototypeType.STANDARD:
        row.nb_nights = row.nb_nights if is_explicit else 0
    elif not row.nb_nights:
        row.nb_nights = 1


def _cover(position: int, images: int, *, is_explicit: bool) -> int:
    """The position of the cover picture. If it is out of range: InvalidInput if it was sent explicitly, else 1."""
    if position <= max(images, 1):
        return position
    if is_explicit:
        raise InvalidInput.at(
            "cover_image",
            TemplatedMessage("Send the position of a picture: 1 to {most}.", most=max(images, 1)),
            "OUT_OF_RANGE",
        )
    return 1

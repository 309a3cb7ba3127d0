"""The voucher prototypes that a partner's shop offers, with pictures and options."""

import datetime as dt
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal

from sqlalchemy import ColumnElement, and_, or_
from sqlmodel import col, select
from sqlmodel.ext.asyncio.session import AsyncSession

from schema.checkout.basket import IncludedOption, OfferedOption, OfferedOptionCategory, OfferedPrototype
from schema.core.text import Text
from schema.media import ResponsivePicture
from store.catalogue.catalogue import (
    PrototypeImageRow,
    UniverseRow,
    VoucherOptionCategoryRow,
    VoucherOptionLinkRow,
    VoucherOptionRow,
    VoucherPrototypeRow,
)
from store.catalogue.prices import MAX_NIGHTS, PrototypeRates, fewest_nights, lowest_price, price_varies
from store.database.loaders import is_any_of
from store.media.media import MediaRow


@dataclass(frozen=True, slots=True)
class ShopPrototype:
    """A prototype as offered to customers, with internal data for pricing."""

    offered: OfferedPrototype
    is_on_sale: bool
    vat_rate: Decimal

    @property
    def rates(self) -> PrototypeRates:
        offered = self.offered
        return PrototypeRates(offered.stay_price, offered.adults_price, offered.children_price, offered.baby_price)


def is_on_sale(row: VoucherPrototypeRow, today: dt.date) -> bool:
    """`today` is the current day in the marketplace's time zone."""
    return row.is_active and (row.last_active_day is None or today <= row.last_active_day)


def on_sale_condition(today: dt.date | ColumnElement[dt.date]) -> ColumnElement[bool]:
    """`is_on_sale` as an SQL condition."""
    table = VoucherPrototypeRow
    return and_(col(table.is_active), or_(col(table.last_active_day).is_(None), col(table.last_active_day) >= today))


async def load_prototypes(
    db: AsyncSession, partner_id: int, today: dt.date, prototype_ids: Sequence[int]
) -> dict[int, ShopPrototype]:
    """Prototypes by id, on sale or not. `today` is the current day in the marketplace's time zone."""
    if not prototype_ids:
        return {}
    table = VoucherPrototypeRow
    query = (
        select(table, col(UniverseRow.name), lowest_price())
        .join(UniverseRow, col(UniverseRow.id) == col(table.universe_id))
        .where(col(table.partner_id) == partner_id, is_any_of(col(table.id), prototype_ids))
        .order_by(col(table.id))
    )
    rows = (await db.exec(query)).all()
    ids = [row.id for row, _, _ in rows]
    pictures, options = await _pictures(db, ids), await _options(db, partner_id, ids)
    return {
        row.id: ShopPrototype(
            _offered_prototype(row, universe, price_from, pictures[row.id], options.get(row.id, ((), ()))),
            is_on_sale(row, today),
            row.vat_rate,
        )
        for row, universe, price_from in rows
    }


def _offered_prototype(
    row: VoucherPrototypeRow,
    universe: Text,
    price_from: Decimal,
    pictures: Sequence[tuple[int, ResponsivePicture]],
    options: tuple[tuple[OfferedOptionCategory, ...], tuple[IncludedOption, ...]],
) -> OfferedPrototype:
    categories, included = options
    cover_first = sorted(pictures, key=lambda placed: (placed[0] != row.cover_image, placed[0]))
    return OfferedPrototype(
        id=row.id,
        slug=row.slug,
        type=row.type,
        name=row.name,
        description=row.description,
        long_description=row.long_description,
        rent_conditions=row.rent_conditions,
        how_to_book_html=row.how_to_book_html,
        is_highlight=row.is_highlight,
        universe=universe,
        price_from=price_from,
        price_varies=price_varies(row, PrototypeRates.from_row(row)) or any(map(_costs_more, categories)),
        stay_price=row.stay_price_amount,
        price_scope=row.price_scope,
        adults_price=row.adults_price_amount,
        children_price=row.children_price_amount,
        baby_price=row.baby_price_amount,
        min_capacity=row.min_capacity,
        max_capacity=row.max_capacity,
        nb_nights=row.nb_nights,
        fewest_nights=fewest_nights(row),
        most_nights=MAX_NIGHTS,
        validity_months=row.validity_months,
        last_active_day=row.last_active_day,
        pictures=tuple(picture for _, picture in cover_first),
        categories=categories,
        included=included,
    )


def _costs_more(category: OfferedOptionCategory) -> bool:
    """True if the options that must be chosen of a category are not all free."""
    return category.minimum > 0 and any(option.price for option in category.options)


async def _pictures(db: AsyncSession, prototypes: Sequence[int]) -> Mapping[int, list[tuple[int, ResponsivePicture]]]:
    image = PrototypeImageRow
    query = (
        select(image.voucher_prototype_id, image.position, MediaRow)
        .join(MediaRow, col(MediaRow.id) == col(image.media_id))
        .where(is_any_of(col(image.voucher_prototype_id), prototypes))
        .order_by(col(image.position))
    )
    pictures: defaultdict[int, list[tuple[int, ResponsivePicture]]] = defaultdict(list)
    for prototype_id, position, media in await db.exec(query):
        pictures[prototype_id].append((position, ResponsivePicture(media.uuid, media.width, media.height)))
    return pictures


# ---- options ----------------------------------------------------------------------------------------------------------

Options = Mapping[int, tuple[tuple[OfferedOptionCategory, ...], tuple[IncludedOption, ...]]]


async def _options(db: AsyncSession, partner_id: int, prototypes: Sequence[int]) -> Options:
    """The optional options of each prototype by category, and its included options."""
    links = (
        await db.exec(
            select(VoucherOptionLinkRow).where(is_any_of(col(VoucherOptionLinkRow.voucher_prototype_id), prototypes))
        )
    ).all()
    option, category = VoucherOptionRow, VoucherOptionCategoryRow
    query = (
        select(option, category)
        .join(category, col(category.id) == col(option.category_id), isouter=True)
        .where(col(option.partner_id) == partner_id)
        .where(or_(col(option.is_global), is_any_of(col(option.id), [link.option_id for link in links])))
        .order_by(col(option.ranking), col(option.id))
    )
    rows = [(made, group) for made, group in (await db.exec(query)).all()]
    linked = {(link.voucher_prototype_id, link.option_id): link for link in links}
    return {
        prototype_id: _options_of_prototype(rows, {o: link for (p, o), link in linked.items() if p == prototype_id})
        for prototype_id in prototypes
    }


async def load_with_option(db: AsyncSession, partner_id: int, today: dt.date, option_id: int) -> ShopPrototype | None:
    """The first prototype that has an option, with this option only, on sale or not; None if none has it."""
    option, category, link, table = (
        VoucherOptionRow,
        VoucherOptionCategoryRow,
        VoucherOptionLinkRow,
        VoucherPrototypeRow,
    )
    is_linked = and_(col(link.option_id) == col(option.id), col(link.voucher_prototype_id) == col(table.id))
    query = (
        select(option, category, link, table.id)
        .join(category, col(category.id) == col(option.category_id), isouter=True)
        .join(table, col(table.partner_id) == col(option.partner_id))
        .join(link, is_linked, isouter=True)
        .where(col(option.id) == option_id, col(option.partner_id) == partner_id)
        .where(or_(col(option.is_global), col(link.id).is_not(None)))
        .order_by(col(table.is_active).desc(), col(table.ranking), col(table.id))
        .limit(1)
    )
    first = (await db.exec(query)).first()
    if first is None:
        return None
    row, group, linked, prototype_id = first
    links = {row.id: linked} if linked is not None else {}
    categories, included = _options_of_prototype([(row, group)], links, on_sale_only=False)
    prototype = (await load_prototypes(db, partner_id, today, [prototype_id]))[prototype_id]
    return replace(prototype, offered=replace(prototype.offered, categories=categories, included=included))


def _options_of_prototype(
    rows: Sequence[tuple[VoucherOptionRow, VoucherOptionCategoryRow | None]],
    links: Mapping[int, VoucherOptionLinkRow],
    *,
    on_sale_only: bool = True,
) -> tuple[tuple[OfferedOptionCategory, ...], tuple[IncludedOption, ...]]:
    included: list[IncludedOption] = []
    groups: dict[int | None, VoucherOptionCategoryRow | None] = {}
    offered: defaultdict[int | None, list[OfferedOption]] = defaultdict(list)
    for row, category in rows:
        link = links.get(row.id)
        if link is not None and link.included:
            included.append(IncludedOption(row.id, row.name, row.description, link.count))
        elif (link or row.is_global) and (not on_sale_only or _is_on_sale(row, category)):
            proposed = link.count if link and row.countable else 1
            price = row.selling_price_amount
            groups[row.category_id] = category
            offered[row.category_id].append(
                OfferedOption(row.id, row.name, row.description, price, row.countable, proposed)
            )
    ordered = sorted(groups.values(), key=lambda c: (c is None, c.ranking if c else 0, c.id if c else 0))
    return tuple(_category(category, offered[category.id if category else None]) for category in ordered), tuple(
        included
    )


def _is_on_sale(row: VoucherOptionRow, category: VoucherOptionCategoryRow | None) -> bool:
    return row.is_active and (category is None or category.is_active)


def _category(row: VoucherOptionCategoryRow | None, options: Sequence[OfferedOption]) -> OfferedOptionCategory:
    """The category, its minimum lowered to the number of options that this prototype has."""
    if row is None:
        return OfferedOptionCategory(None, Text(), Text(), 0, None, tuple(options))
    least = row.min_number_options or 0
    if not any(option.countable for option in options):
        least = min(least, len(options))
    return OfferedOptionCategory(row.id, row.name, row.description, least, row.max_number_options, tuple(options))

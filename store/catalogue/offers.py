"""A partner's shop of experiences as its customers see it: what is sold today, with its pictures and options."""

import datetime as dt
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal

from sqlalchemy import ColumnElement, and_, or_
from sqlmodel import col, select
from sqlmodel.ext.asyncio.session import AsyncSession

from schema.checkout.basket import IncludedOption, OfferedCategory, OfferedOption, OfferedPrototype, Picture
from schema.core.resource import Text
from store.catalogue.catalogue import (
    PrototypeImageRow,
    UniverseRow,
    VoucherOptionCategoryRow,
    VoucherOptionLinkRow,
    VoucherOptionRow,
    VoucherPrototypeRow,
)
from store.catalogue.prices import Rates, lowest_price
from store.database.loaders import among
from store.media.media import MediaRow


@dataclass(frozen=True, slots=True)
class SoldPrototype:
    """An experience with what only the shop needs to know."""

    offered: OfferedPrototype
    is_sold: bool
    vat_rate: Decimal

    @property
    def rates(self) -> Rates:
        """What it costs."""
        offered = self.offered
        return Rates(offered.stay_price, offered.adults_price, offered.children_price, offered.baby_price)


def is_sold(row: VoucherPrototypeRow, today: dt.date) -> bool:
    """Whether a prototype is sold on a day of its marketplace."""
    return row.is_active and (row.last_active_day is None or today <= row.last_active_day)


def on_sale(today: dt.date) -> ColumnElement[bool]:
    """The same of each row of the table."""
    table = VoucherPrototypeRow
    return and_(col(table.is_active), or_(col(table.last_active_day).is_(None), col(table.last_active_day) >= today))


async def load_prototypes(
    db: AsyncSession, partner_id: int, today: dt.date, wanted: Sequence[int]
) -> dict[int, SoldPrototype]:
    """Prototypes by id, whatever their state. `today` is the day at the partner's marketplace."""
    if not wanted:
        return {}
    table = VoucherPrototypeRow
    query = (
        select(table, col(UniverseRow.name), lowest_price())
        .join(UniverseRow, col(UniverseRow.id) == col(table.universe_id))
        .where(col(table.partner_id) == partner_id, among(col(table.id), wanted))
        .order_by(col(table.id))
    )
    rows = (await db.exec(query)).all()
    ids = [row.id for row, _, _ in rows]
    pictures, options = await _pictures(db, ids), await _options(db, partner_id, ids)
    return {
        row.id: SoldPrototype(
            _offered(row, universe, price_from, pictures[row.id], options.get(row.id, ((), ()))),
            is_sold(row, today),
            row.vat_rate,
        )
        for row, universe, price_from in rows
    }


def _offered(
    row: VoucherPrototypeRow,
    universe: Text,
    price_from: Decimal,
    pictures: Sequence[tuple[int, Picture]],
    options: tuple[tuple[OfferedCategory, ...], tuple[IncludedOption, ...]],
) -> OfferedPrototype:
    categories, included = options
    cover_first = sorted(pictures, key=lambda placed: (placed[0] != row.cover_image, placed[0]))
    return OfferedPrototype(
        id=row.id,
        type=row.type,
        name=row.name,
        description=row.description,
        long_description=row.long_description,
        rent_conditions=row.rent_conditions,
        how_to_book_html=row.how_to_book_html,
        is_highlight=row.is_highlight,
        universe=universe,
        price_from=price_from,
        stay_price=row.stay_price_amount,
        price_scope=row.price_scope,
        adults_price=row.adults_price_amount,
        children_price=row.children_price_amount,
        baby_price=row.baby_price_amount,
        min_capacity=row.min_capacity,
        max_capacity=row.max_capacity,
        nb_nights=row.nb_nights,
        validity_months=row.validity_months,
        last_active_day=row.last_active_day,
        pictures=tuple(picture for _, picture in cover_first),
        categories=categories,
        included=included,
    )


async def _pictures(db: AsyncSession, prototypes: Sequence[int]) -> Mapping[int, list[tuple[int, Picture]]]:
    image = PrototypeImageRow
    query = (
        select(image.voucher_prototype_id, image.position, MediaRow)
        .join(MediaRow, col(MediaRow.id) == col(image.media_id))
        .where(among(col(image.voucher_prototype_id), prototypes))
        .order_by(col(image.position))
    )
    found: defaultdict[int, list[tuple[int, Picture]]] = defaultdict(list)
    for prototype_id, position, media in await db.exec(query):
        found[prototype_id].append((position, Picture(media.uuid, media.width, media.height)))
    return found


# ---- options ----------------------------------------------------------------------------------------------------------

Options = Mapping[int, tuple[tuple[OfferedCategory, ...], tuple[IncludedOption, ...]]]


async def _options(db: AsyncSession, partner_id: int, prototypes: Sequence[int]) -> Options:
    """What can be added to each prototype, by category, and what comes with it."""
    links = (
        await db.exec(
            select(VoucherOptionLinkRow).where(among(col(VoucherOptionLinkRow.voucher_prototype_id), prototypes))
        )
    ).all()
    option, category = VoucherOptionRow, VoucherOptionCategoryRow
    query = (
        select(option, category)
        .join(category, col(category.id) == col(option.category_id), isouter=True)
        .where(col(option.partner_id) == partner_id)
        .where(or_(col(option.is_global), among(col(option.id), [link.option_id for link in links])))
        .order_by(col(option.ranking), col(option.id))
    )
    rows = [(made, group) for made, group in (await db.exec(query)).all()]
    linked = {(link.voucher_prototype_id, link.option_id): link for link in links}
    return {
        prototype_id: _of_prototype(rows, {o: link for (p, o), link in linked.items() if p == prototype_id})
        for prototype_id in prototypes
    }


def _of_prototype(
    rows: Sequence[tuple[VoucherOptionRow, VoucherOptionCategoryRow | None]], links: Mapping[int, VoucherOptionLinkRow]
) -> tuple[tuple[OfferedCategory, ...], tuple[IncludedOption, ...]]:
    included: list[IncludedOption] = []
    groups: dict[int | None, VoucherOptionCategoryRow | None] = {}
    offered: defaultdict[int | None, list[OfferedOption]] = defaultdict(list)
    for row, category in rows:
        link = links.get(row.id)
        if link is not None and link.included:
            included.append(IncludedOption(row.id, row.name, row.description, link.count))
        elif (link or row.is_global) and row.is_active and (category is None or category.is_active):
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


def _category(row: VoucherOptionCategoryRow | None, options: Sequence[OfferedOption]) -> OfferedCategory:
    """A category, never asking for more than there is: of a prototype that has few of its options, fewer are enough."""
    if row is None:
        return OfferedCategory(None, Text(), Text(), 0, None, tuple(options))
    least = row.min_number_options or 0
    if not any(option.countable for option in options):
        least = min(least, len(options))
    return OfferedCategory(row.id, row.name, row.description, least, row.max_number_options, tuple(options))

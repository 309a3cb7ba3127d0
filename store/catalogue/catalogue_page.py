"""The filtered and paged list of a shop's prototypes. The number of SQL statements does not depend on their number."""

import dataclasses
import datetime as dt
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from sqlalchemy import ARRAY, ColumnElement, Integer, Subquery, and_, func, or_, true
from sqlalchemy.dialects.postgresql import distinct_on
from sqlalchemy.orm import load_only
from sqlmodel import col, select
from sqlmodel.ext.asyncio.session import AsyncSession

from schema.catalogue.catalogue_page import CataloguePage, CatalogueQuery, CatalogueSort, Facet, PrototypeCard
from schema.media import ResponsivePicture
from store.catalogue.catalogue import EnvironmentRow, PriceRangeRow, PrototypeImageRow, UniverseRow, VoucherPrototypeRow
from store.catalogue.offers import on_sale_condition
from store.catalogue.prices import PrototypeRates, lowest_price, price_varies
from store.database.loaders import is_any_of
from store.media.media import MediaRow
from store.partner.partners import MarketplaceRow

PAGE_SIZE: Final = 24
PROTOTYPE_COLUMNS: Final = ("id", "slug", "type", "name", "description", "is_highlight", "price_scope", "nb_nights")
RATE_COLUMNS: Final = (
    *("min_capacity", "max_capacity", "stay_price_amount"),
    *("adults_price_amount", "children_price_amount", "baby_price_amount"),
)
"""The columns read for a card, and those that tell whether its price varies. The long texts of a prototype can be a hundred times larger."""


@dataclass(frozen=True, slots=True)
class FacetCount:
    """The number of prototypes on sale with the same universe, environment and price ranges."""

    universe_id: int
    environment_id: int | None
    price_range_ids: tuple[int, ...]
    count: int

    def matches(self, choice: CatalogueQuery) -> bool:
        """True if the filters of the query select them."""
        return (
            choice.universe_id in {None, self.universe_id}
            and choice.environment_id in {None, self.environment_id}
            and (choice.price_range_id is None or choice.price_range_id in self.price_range_ids)
        )


async def load_catalogue_page(
    db: AsyncSession, marketplace: MarketplaceRow, partner_id: int, today: dt.date, query: CatalogueQuery
) -> CataloguePage:
    """The page of a partner's prototypes on sale that match the query. Filters with unknown ids are ignored.

    The price of a prototype is its lowest voucher price, for display and for the price range filter.
    """
    counts = await _facet_counts(db, marketplace.id, partner_id, today)
    universes = await _rows_by_id(db, UniverseRow, {facet.universe_id for facet in counts})
    environments = await _rows_by_id(db, EnvironmentRow, {facet.environment_id for facet in counts} - {None})
    ranges = await _rows_by_id(db, PriceRangeRow, {id for facet in counts for id in facet.price_range_ids})
    choice = dataclasses.replace(
        query,
        universe_id=query.universe_id if query.universe_id in universes else None,
        environment_id=query.environment_id if query.environment_id in environments else None,
        price_range_id=query.price_range_id if query.price_range_id in ranges else None,
    )
    match_count = _total_count(counts, choice)
    pages = max(-(-match_count // PAGE_SIZE), 1)
    choice = dataclasses.replace(choice, page=min(max(choice.page, 1), pages))
    price_range = ranges[choice.price_range_id] if choice.price_range_id is not None else None
    return CataloguePage(
        query=choice,
        currency=marketplace.currency,
        total=_total_count(counts, CatalogueQuery()),
        match_count=match_count,
        pages=pages,
        universes=_facets(counts, universes, lambda row_id: dataclasses.replace(choice, universe_id=row_id)),
        environments=_facets(counts, environments, lambda row_id: dataclasses.replace(choice, environment_id=row_id)),
        price_ranges=_facets(counts, ranges, lambda row_id: dataclasses.replace(choice, price_range_id=row_id)),
        prototypes=await _page(db, partner_id, today, choice, price_range),
    )


# ---- facets ----------------------------------------------------------------------------------------------------------


async def _facet_counts(db: AsyncSession, marketplace_id: int, partner_id: int, today: dt.date) -> Sequence[FacetCount]:
    table = VoucherPrototypeRow
    sold = (
        select(table.universe_id, table.environment_id, lowest_price().label("price"))
        .where(col(table.partner_id) == partner_id, on_sale_condition(today))
        .subquery("sold")
    )
    sorted_in = select(sold.c.universe_id, sold.c.environment_id, _ranges(sold, marketplace_id).label("ranges"))
    counts = sorted_in.subquery("facets")
    same = counts.c.universe_id, counts.c.environment_id, counts.c.ranges
    rows = await db.exec(select(*same, func.count()).group_by(*same))
    return [FacetCount(universe, environment, tuple(ranges), count) for universe, environment, ranges, count in rows]


def _ranges(sold: Subquery, marketplace_id: int) -> ColumnElement[Any]:
    """The ids of the active price ranges that contain the price, as an SQL array."""
    table = PriceRangeRow
    ids = select(col(table.id)).where(
        col(table.marketplace_id) == marketplace_id, col(table.is_active), _is_in_range(table, sold.c.price)
    )
    return func.array(ids.order_by(col(table.id)).correlate(sold).scalar_subquery(), type_=ARRAY(Integer))


def _is_in_range(table: type[PriceRangeRow] | PriceRangeRow, price: Any) -> ColumnElement[bool]:
    """SQL condition: the price is in a range, either that of each table row or that of one loaded row."""
    least, most = table.minimum_amount, table.maximum_amount
    if isinstance(table, PriceRangeRow):
        return and_(price >= least, true() if most is None else price < most)
    return and_(price >= least, or_(col(most).is_(None), price < most))


async def _rows_by_id(db: AsyncSession, table: Any, ids: set[Any]) -> Mapping[int, Any]:
    """Rows by id, ordered by ranking."""
    query = select(table).where(is_any_of(col(table.id), sorted(ids))).order_by(col(table.ranking), col(table.id))
    return {row.id: row for row in await db.exec(query)}


def _total_count(counts: Sequence[FacetCount], choice: CatalogueQuery) -> int:
    return sum(facet.count for facet in counts if facet.matches(choice))


def _facets(
    counts: Sequence[FacetCount], rows: Mapping[int, Any], opened: Callable[[int], CatalogueQuery]
) -> tuple[Facet, ...]:
    return tuple(Facet(id, row.name, _total_count(counts, opened(id))) for id, row in rows.items())


# ---- page ------------------------------------------------------------------------------------------------------------


async def _page(
    db: AsyncSession, partner_id: int, today: dt.date, choice: CatalogueQuery, price_range: PriceRangeRow | None
) -> tuple[PrototypeCard, ...]:
    table, price = VoucherPrototypeRow, lowest_price()
    tests = [col(table.partner_id) == partner_id, on_sale_condition(today)]
    if choice.universe_id is not None:
        tests.append(col(table.universe_id) == choice.universe_id)
    if choice.environment_id is not None:
        tests.append(col(table.environment_id) == choice.environment_id)
    if price_range is not None:
        tests.append(_is_in_range(price_range, price))
    query = (
        select(table, col(UniverseRow.name), price)
        .join(UniverseRow, col(UniverseRow.id) == col(table.universe_id))
        .options(load_only(*(getattr(table, name) for name in (*PROTOTYPE_COLUMNS, *RATE_COLUMNS))))
        .where(*tests)
        .order_by(*_order_columns(choice.sort, price))
        .limit(PAGE_SIZE)
        .offset((choice.page - 1) * PAGE_SIZE)
    )
    rows = (await db.exec(query)).all()
    covers = await _covers(db, [row.id for row, _, _ in rows])
    return tuple(
        PrototypeCard(
            **{name: getattr(row, name) for name in PROTOTYPE_COLUMNS},
            universe=universe,
            price_from=price_from,
            price_varies=price_varies(row, PrototypeRates.from_row(row)),
            cover=covers.get(row.id),
        )
        for row, universe, price_from in rows
    )


def _order_columns(order: CatalogueSort, price: ColumnElement[Any]) -> Sequence[Any]:
    table = VoucherPrototypeRow
    as_arranged = (col(table.is_highlight).desc(), col(table.ranking), col(table.id))
    return {
        CatalogueSort.FEATURED: as_arranged,
        CatalogueSort.CHEAPEST: (price, *as_arranged),
        CatalogueSort.MOST_EXPENSIVE: (price.desc(), *as_arranged),
        CatalogueSort.NEWEST: (col(table.created_on).desc(), col(table.id).desc()),
    }[order]


async def _covers(db: AsyncSession, prototypes: Sequence[int]) -> Mapping[int, ResponsivePicture]:
    """The cover picture of each prototype, else its first picture."""
    image, prototype = PrototypeImageRow, VoucherPrototypeRow
    is_another = col(image.position) != col(prototype.cover_image)
    query = (
        select(image.voucher_prototype_id, MediaRow.uuid, MediaRow.width, MediaRow.height)
        .join(prototype, col(prototype.id) == col(image.voucher_prototype_id))
        .join(MediaRow, col(MediaRow.id) == col(image.media_id))
        .where(is_any_of(col(image.voucher_prototype_id), prototypes))
        .ext(distinct_on(col(image.voucher_prototype_id)))
        .order_by(col(image.voucher_prototype_id), is_another, col(image.position))
    )
    return {id: ResponsivePicture(uuid, width, height) for id, uuid, width, height in await db.exec(query)}

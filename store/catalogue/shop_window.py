"""The window of a shop of experiences, read with as many statements for hundreds of them as for few."""

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

from schema.catalogue.shop_window import Drawer, ShopWindow, ShownPrototype, WindowChoice, WindowOrder
from schema.checkout.basket import Picture
from store.catalogue.catalogue import EnvironmentRow, PriceRangeRow, PrototypeImageRow, UniverseRow, VoucherPrototypeRow
from store.catalogue.offers import on_sale
from store.catalogue.prices import lowest_price
from store.database.loaders import among
from store.media.media import MediaRow
from store.partner.partners import MarketplaceRow

ON_A_PAGE: Final = 24
SHOWN: Final = ("id", "type", "name", "description", "is_highlight", "price_scope", "nb_nights")
"""What is read of a prototype: its long texts can be a hundred times the rest."""


@dataclass(frozen=True, slots=True)
class Pile:
    """How many experiences on sale have the same universe and environment and are in the same price ranges."""

    universe_id: int
    environment_id: int | None
    price_range_ids: tuple[int, ...]
    count: int

    def suits(self, choice: WindowChoice) -> bool:
        """Whether they are wanted."""
        return (
            choice.universe_id in {None, self.universe_id}
            and choice.environment_id in {None, self.environment_id}
            and (choice.price_range_id is None or choice.price_range_id in self.price_range_ids)
        )


async def load_window(
    db: AsyncSession, marketplace: MarketplaceRow, partner_id: int, today: dt.date, wanted: WindowChoice
) -> ShopWindow:
    """What a partner sells on a day of its marketplace, as far as it is wanted.

    Prices are the least that a voucher costs, which is what the window says: a price range is looked for among them.
    """
    piles = await _piles(db, marketplace.id, partner_id, today)
    universes = await _names(db, UniverseRow, {pile.universe_id for pile in piles})
    environments = await _names(db, EnvironmentRow, {pile.environment_id for pile in piles} - {None})
    ranges = await _names(db, PriceRangeRow, {id for pile in piles for id in pile.price_range_ids})
    choice = dataclasses.replace(
        wanted,
        universe_id=wanted.universe_id if wanted.universe_id in universes else None,
        environment_id=wanted.environment_id if wanted.environment_id in environments else None,
        price_range_id=wanted.price_range_id if wanted.price_range_id in ranges else None,
    )
    found = _count(piles, choice)
    pages = max(-(-found // ON_A_PAGE), 1)
    choice = dataclasses.replace(choice, page=min(max(choice.page, 1), pages))
    price_range = ranges[choice.price_range_id] if choice.price_range_id is not None else None
    return ShopWindow(
        choice=choice,
        currency=marketplace.currency,
        total=_count(piles, WindowChoice()),
        found=found,
        pages=pages,
        universes=_drawers(piles, universes, lambda row_id: dataclasses.replace(choice, universe_id=row_id)),
        environments=_drawers(piles, environments, lambda row_id: dataclasses.replace(choice, environment_id=row_id)),
        price_ranges=_drawers(piles, ranges, lambda row_id: dataclasses.replace(choice, price_range_id=row_id)),
        prototypes=await _page(db, partner_id, today, choice, price_range),
    )


# ---- what there is -----------------------------------------------------------------------------------------------------


async def _piles(db: AsyncSession, marketplace_id: int, partner_id: int, today: dt.date) -> Sequence[Pile]:
    table = VoucherPrototypeRow
    sold = (
        select(table.universe_id, table.environment_id, lowest_price().label("price"))
        .where(col(table.partner_id) == partner_id, on_sale(today))
        .subquery("sold")
    )
    sorted_in = select(sold.c.universe_id, sold.c.environment_id, _ranges(sold, marketplace_id).label("ranges"))
    piles = sorted_in.subquery("piles")
    same = piles.c.universe_id, piles.c.environment_id, piles.c.ranges
    found = await db.exec(select(*same, func.count()).group_by(*same))
    return [Pile(universe, environment, tuple(ranges), count) for universe, environment, ranges, count in found]


def _ranges(sold: Subquery, marketplace_id: int) -> ColumnElement[Any]:
    """The ids of the price ranges that a price is in."""
    table = PriceRangeRow
    ids = select(col(table.id)).where(
        col(table.marketplace_id) == marketplace_id, col(table.is_active), _within(table, sold.c.price)
    )
    return func.array(ids.order_by(col(table.id)).correlate(sold).scalar_subquery(), type_=ARRAY(Integer))


def _within(table: type[PriceRangeRow] | PriceRangeRow, price: Any) -> ColumnElement[bool]:
    """Whether a price is in a range: that of each row of the table, or that of one."""
    least, most = table.minimum_amount, table.maximum_amount
    if isinstance(table, PriceRangeRow):
        return and_(price >= least, true() if most is None else price < most)
    return and_(price >= least, or_(col(most).is_(None), price < most))


async def _names(db: AsyncSession, table: Any, ids: set[Any]) -> Mapping[int, Any]:
    """Rows of a marketplace's table by id, in its order."""
    query = select(table).where(among(col(table.id), sorted(ids))).order_by(col(table.ranking), col(table.id))
    return {row.id: row for row in await db.exec(query)}


def _count(piles: Sequence[Pile], choice: WindowChoice) -> int:
    return sum(pile.count for pile in piles if pile.suits(choice))


def _drawers(
    piles: Sequence[Pile], rows: Mapping[int, Any], opened: Callable[[int], WindowChoice]
) -> tuple[Drawer, ...]:
    return tuple(Drawer(id, row.name, _count(piles, opened(id))) for id, row in rows.items())


# ---- what is shown -----------------------------------------------------------------------------------------------------


async def _page(
    db: AsyncSession, partner_id: int, today: dt.date, choice: WindowChoice, price_range: PriceRangeRow | None
) -> tuple[ShownPrototype, ...]:
    table, price = VoucherPrototypeRow, lowest_price()
    tests = [col(table.partner_id) == partner_id, on_sale(today)]
    if choice.universe_id is not None:
        tests.append(col(table.universe_id) == choice.universe_id)
    if choice.environment_id is not None:
        tests.append(col(table.environment_id) == choice.environment_id)
    if price_range is not None:
        tests.append(_within(price_range, price))
    query = (
        select(table, col(UniverseRow.name), price)
        .join(UniverseRow, col(UniverseRow.id) == col(table.universe_id))
        .options(load_only(*(getattr(table, name) for name in SHOWN)))
        .where(*tests)
        .order_by(*_first(choice.order, price))
        .limit(ON_A_PAGE)
        .offset((choice.page - 1) * ON_A_PAGE)
    )
    rows = (await db.exec(query)).all()
    covers = await _covers(db, [row.id for row, _, _ in rows])
    return tuple(
        ShownPrototype(
            **{name: getattr(row, name) for name in SHOWN},
            universe=universe,
            price_from=price_from,
            cover=covers.get(row.id),
        )
        for row, universe, price_from in rows
    )


def _first(order: WindowOrder, price: ColumnElement[Any]) -> Sequence[Any]:
    table = VoucherPrototypeRow
    as_arranged = (col(table.is_highlight).desc(), col(table.ranking), col(table.id))
    return {
        WindowOrder.CHOSEN: as_arranged,
        WindowOrder.CHEAPEST: (price, *as_arranged),
        WindowOrder.DEAREST: (price.desc(), *as_arranged),
        WindowOrder.NEWEST: (col(table.created_on).desc(), col(table.id).desc()),
    }[order]


async def _covers(db: AsyncSession, prototypes: Sequence[int]) -> Mapping[int, Picture]:
    """The cover of each, else its first picture."""
    image, prototype = PrototypeImageRow, VoucherPrototypeRow
    is_another = col(image.position) != col(prototype.cover_image)
    query = (
        select(image.voucher_prototype_id, MediaRow.uuid, MediaRow.width, MediaRow.height)
        .join(prototype, col(prototype.id) == col(image.voucher_prototype_id))
        .join(MediaRow, col(MediaRow.id) == col(image.media_id))
        .where(among(col(image.voucher_prototype_id), prototypes))
        .ext(distinct_on(col(image.voucher_prototype_id)))
        .order_by(col(image.voucher_prototype_id), is_another, col(image.position))
    )
    return {id: Picture(uuid, width, height) for id, uuid, width, height in await db.exec(query)}

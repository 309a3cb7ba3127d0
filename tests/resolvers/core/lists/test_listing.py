"""Lists: every row once in each direction, over null keys and ties; what a caller sees; what is refused."""

import dataclasses
import enum
import json
from collections.abc import Callable, Sequence
from typing import Annotated, Any

import pytest
from sqlalchemy import MetaData, select, text

from resolvers.core.lists.filters import Filter, Where
from resolvers.core.lists.listing import Listing, Lookup, PageArguments
from schema.core.errors import AppError, Forbidden, InvalidInput, NotFound, Unauthenticated
from schema.core.permission import Permission
from store.database.db import Database
from store.database.loaders import column
from store.database.related_rows import related_rows
from tests.example_cards import METADATA, Card, CardFilter, CardOrder, CardRow, card, cards, context, fill
from tests.selections import selection_of
from tests.statements import fetched


@pytest.fixture
def more_tables() -> MetaData:
    """The tables of the example."""
    return METADATA


@pytest.fixture
async def db(database: Database) -> Database:
    await fill(database)
    return database


def expected(order: CardOrder, rows: int = 250) -> list[int]:
    """The ids in order, worked out in Python: no value counts as the greatest."""
    keys: dict[str, Callable[[int], Any]] = {
        "created_at": lambda i: i // 3,
        "expires_at": lambda i: (i % 3 == 0, 0 if i % 3 == 0 else (i // 3) + (30 + i % 5) * 1440),
        "status": lambda i: i % 4 == 3,
        "rate": lambda i: i % 10,
        "id": lambda i: i,
    }
    key = keys[order.lstrip("-")]
    return [i + 1 for i in sorted(range(rows), key=lambda i: (key(i), i), reverse=order.startswith("-"))]


async def walk(db: Database, order: CardOrder, size: int, *, back: bool) -> list[int]:
    seen: list[int] = []
    at: str | None = None
    while True:
        window = PageArguments(last=size, before=at) if back else PageArguments(size, after=at)
        rows = (await cards(context(db), window, order=order)).rows
        cut = await rows.fetch_slice(())
        page = [row[1] for row in cut.rows]
        seen = page + seen if back else seen + page
        assert await rows.has_next(cut.has_more) is (at is not None if back else cut.has_more)
        assert await rows.has_previous(cut.has_more) is (cut.has_more if back else at is not None)
        assert page == [row.id for row in await rows.objects()]
        if not cut.has_more:
            return seen
        at = rows.order.cursor(*cut.rows[0 if back else -1][:2])


async def test_every_row_once_in_order(db: Database) -> None:
    for order in CardOrder:
        for back in (False, True):
            assert await walk(db, order, 37, back=back) == expected(order), (order, back)


async def test_between_two_cursors(db: Database) -> None:
    for order in (CardOrder.EXPIRING_FIRST, CardOrder.EXPIRING_LAST, CardOrder.NEWEST, CardOrder.ID):
        ids = expected(order)
        head = (await cards(context(db), PageArguments(100), order=order)).rows
        tail = (await cards(context(db), PageArguments(last=100), order=order)).rows
        first = head.order.cursor(*(await head.page(()))[80][:2])
        last = head.order.cursor(*(await tail.page(()))[20][:2])
        inside = ids[81:170]
        for window, wanted in (
            (PageArguments(10, after=first, before=last), inside[:10]),
            (PageArguments(last=10, after=first, before=last), inside[-10:]),
            (PageArguments(100, after=first, before=last), inside),
            (PageArguments(100, after=last, before=first), []),
        ):
            rows = (await cards(context(db), window, order=order)).rows
            cut = await rows.fetch_slice(())
            assert [row[1] for row in cut.rows] == wanted
            assert await rows.has_next(cut.has_more)
            assert await rows.has_previous(cut.has_more)


async def test_only_what_the_caller_sees(db: Database) -> None:
    theirs = (await cards(context(db, partner_id=2), PageArguments(100))).rows
    assert [row[1] for row in await theirs.page(())] == list(range(260, 250, -1))
    assert await theirs.count() == 10
    ours = (await cards(context(db), PageArguments(100))).rows
    assert await ours.count() == 250
    row, _ = await (await card(own := context(db), 1)).fetch(selection_of("code"), own.loaders.load)
    assert row[2] == "100%_0"
    foreign = await card(others := context(db, partner_id=2), 1)
    with pytest.raises(NotFound, match="No such card"):
        await foreign.fetch(selection_of("code"), others.loaders.load)
    with pytest.raises(NotFound, match="No such card"):
        await foreign.object()


async def test_rows_of_one_parent(db: Database) -> None:
    rows = (await cards(context(db), PageArguments(100), of={"issuer_id": 3})).rows
    assert {row[2] for row in await rows.page(("issuer_id",))} == {3}
    assert await rows.count() == 50


async def test_permission_comes_first(db: Database) -> None:
    asking = context(db, 1, Permission.VIEW_ORDER)
    with pytest.raises(Forbidden):
        await cards(asking, PageArguments(1000))
    with pytest.raises(Forbidden):
        await card(asking, 1)
    with pytest.raises(Unauthenticated):
        await cards(dataclasses.replace(asking, caller=None), PageArguments(1000))


FILTERS: Sequence[tuple[dict[str, Any], Callable[[int], bool]]] = [
    ({}, lambda i: True),
    ({"status": "b"}, lambda i: i % 4 == 3),
    ({"statuses": ["a", "b"]}, lambda i: True),
    ({"statuses": []}, lambda i: False),
    ({"code": "C00007"}, lambda i: i == 7),
    ({"code_contains": "c0000"}, lambda i: 0 < i < 10),
    ({"code_contains": "%_"}, lambda i: i % 50 == 0),
    ({"code_contains": "\\"}, lambda i: False),
    ({"issued_after": "2026-01-01T01:00:00Z"}, lambda i: i >= 180),
    ({"issued_before": "2026-01-01T02:00:00+01:00"}, lambda i: i <= 182),
    ({"ids": [5, 6, 7], "status": "b"}, lambda i: i in {4, 5, 6} and i % 4 == 3),
]


async def test_filters(db: Database) -> None:
    for asked, kept in [*FILTERS, *FILTERS]:  # the second time with the statements kept
        rows = (await cards(context(db), PageArguments(100), CardFilter(**asked), CardOrder.ID)).rows
        wanted = [i + 1 for i in range(250) if kept(i)]
        assert [row[1] for row in await rows.page(())] == wanted[:100], asked
        assert await rows.count() == len(wanted)


async def test_a_kept_statement_takes_each_value_anew(db: Database) -> None:
    for code, id in (("C00007", 8), ("C00008", 9)):
        rows = (await cards(context(db), PageArguments(), CardFilter(code=code))).rows
        assert [row[1] for row in await rows.page(())] == [id]
    before = len(db.statements.cache)
    await (await cards(context(db, partner_id=2), PageArguments(), CardFilter(code="C00009"))).rows.page(())
    assert len(db.statements.cache) == before


async def test_numbered_pages(db: Database) -> None:
    rows = (await cards(context(db), PageArguments(100, page=3), order=CardOrder.ID)).rows
    cut = await rows.fetch_slice(())
    assert [row[1] for row in cut.rows] == list(range(201, 251))
    assert await rows.has_previous(cut.has_more)
    assert not await rows.has_next(cut.has_more)


@pytest.mark.parametrize(
    "window",
    [PageArguments(90), PageArguments(last=90), PageArguments(90, page=2)],
    ids=["first", "last", "numbered"],
)
@pytest.mark.parametrize("order", CardOrder)
async def test_a_page_reads_the_single_rows_that_its_rows_are_related_to(
    db: Database, order: CardOrder, window: PageArguments
) -> None:
    issuers, asking = related_rows(Card, "issuer", ("slug", "name")), context(db)
    columns = ("code", "issuer_id", "created_at")
    for _ in range(2 if window.page is None else 1):  # the page, and for cursors the next
        plan = (await cards(asking, window, order=order)).rows
        plain = await plan.fetch_slice(columns)
        with fetched(db) as statements:
            joined = await plan.fetch_slice(columns, (issuers,))
        assert len(statements) == 1
        assert (list(joined.rows), joined.has_more) == ([tuple(row) for row in plain.rows], plain.has_more)
        keys = [row[3] for row in plain.rows]
        loaded = await asking.loaders.load(issuers.relation, keys, issuers.columns)
        (found,) = joined.related.values()
        assert {key: found[key] for key in loaded} == {key: [tuple(row)] for key, row in loaded.items()}
        at = plan.order.cursor(*plain.rows[-1 if window.last is None else 0][:2])
        window = PageArguments(90, after=at) if window.last is None else PageArguments(last=90, before=at)


async def test_rows_are_plain_data(db: Database) -> None:
    rows = (await cards(context(db), PageArguments(1), order=CardOrder.ID)).rows
    (row,) = await rows.page(("status", "title", "message"))
    assert row[2:] == ("a", {"en": "Gift", "fr": "Cadeau"}, None)
    assert type(row[2]) is str


def problem(error: pytest.ExceptionInfo[AppError]) -> tuple[Any, str]:
    (told,) = error.value.problems
    return told.path, told.message


async def test_refused_windows(db: Database) -> None:
    newest = (await cards(context(db), PageArguments(3))).rows
    *_, row = await newest.page(())
    cursor = newest.order.cursor(*row[:2])
    good = await cards(context(db), PageArguments(after=cursor), order=CardOrder.OLDEST)
    assert len(await good.rows.page(())) == 2  # the same column turned around: still a place in the list
    for window, path, words in (
        (PageArguments(0), ("first",), "1 to 100"),
        (PageArguments(101), ("first",), "1 to 100"),
        (PageArguments(last=-1), ("last",), "1 to 100"),
        (PageArguments(1, last=1), ("last",), "not for both"),
        (PageArguments(after="zzz"), ("after",), "another list"),
        (PageArguments(before="WzFd"), ("before",), "another list"),
        (PageArguments(before=""), ("before",), "another list"),
    ):
        with pytest.raises(InvalidInput) as refused:
            await cards(context(db), window)
        assert problem(refused)[0] == path
        assert words in problem(refused)[1]
    with pytest.raises(InvalidInput) as refused:
        await cards(context(db), PageArguments(after=cursor), order=CardOrder.RATE)
    assert problem(refused) == (("after",), "This cursor belongs to another list.")


async def test_an_id_beyond_the_column_is_refused(db: Database) -> None:
    for id in (2**31, 2**62):
        cursor = cards.orders[CardOrder.ID].cursor(id, id)
        rows = (await cards(context(db), PageArguments(after=cursor), order=CardOrder.ID)).rows
        with pytest.raises(InvalidInput):
            await rows.page(())


async def test_page_10000_costs_what_page_1_costs(db: Database) -> None:
    async with db.engine.begin() as connection:
        await connection.execute(
            text(
                "INSERT INTO example_card (id, uuid, code, status, title, nights, gifted, weight, rate, issued_on, created_at,"
                " expires_at, partner_id, issuer_id, currency, pin_hash) SELECT 1000 + n, gen_random_uuid(), 'X' || n, 'a', '{}', 1,"
                " false, 1, 1, now(), now() + n * interval '1 s', CASE WHEN n % 10 > 0 THEN now() + n * interval '1 s' END,"
                " 1, 1, 'EUR', '' FROM generate_series(1, 30000) AS n"
            )
        )
        await connection.execute(text("ANALYZE example_card"))
    with fetched(db) as ran:
        for order in (CardOrder.NEWEST, CardOrder.EXPIRING_FIRST, CardOrder.EXPIRING_LAST):
            (deep,) = await _row_at(db, order, 29_000)
            await (await cards(context(db), PageArguments(20, after=deep), order=order)).rows.page(("code",))
            await (await cards(context(db), PageArguments(last=20, before=deep), order=order)).rows.page(("code",))
    assert len(ran) == 6
    for sql, arguments in ran:
        ((plan,),) = await db.fetch(f"EXPLAIN (ANALYZE, FORMAT JSON) {sql}", *arguments)
        plan = plan[0]
        assert "Index" in json.dumps(plan)
        assert _rows_touched(plan["Plan"]) < 200, json.dumps(plan, indent=1)


async def _row_at(db: Database, order: CardOrder, place: int) -> list[str]:
    key, id = cards.orders[order].columns
    found = await db.rows(
        select(key, id)
        .where(column(CardRow, "partner_id") == 1)
        .order_by(*cards.orders[order].clauses())
        .offset(place)
        .limit(1)
    )
    return [cards.orders[order].cursor(*row) for row in found]


def _rows_touched(plan: dict[str, Any]) -> float:
    removed = plan.get("Rows Removed by Filter", 0) + plan.get("Rows Removed by Index Recheck", 0)
    own = plan["Actual Rows"] * plan["Actual Loops"] + removed
    return float(max([own, *(_rows_touched(p) for p in plan.get("Plans", []))]))


class WrongOrder(enum.StrEnum):
    NOWHERE = "-nowhere"


class TextOrder(enum.StrEnum):
    TITLE = "title"


class WrongFilter(Filter):
    code: Annotated[str | None, Where("kode")] = None


class WrongTest(Filter):
    code: Annotated[str | None, Where("code", "like")] = None


class WrongKind(Filter):
    nights: Annotated[str | None, Where("nights", "contains")] = None


@pytest.mark.parametrize(
    ("filter", "order", "error"),
    [
        (CardFilter, WrongOrder, KeyError),
        (CardFilter, TextOrder, TypeError),
        (WrongFilter, CardOrder, KeyError),
        (WrongTest, CardOrder, LookupError),
        (WrongKind, CardOrder, TypeError),
    ],
)
def test_a_wrong_declaration_stops_the_start(
    filter: type[Filter], order: type[enum.StrEnum], error: type[Exception]
) -> None:
    with pytest.raises(error):
        Listing(Card, filter, order, Permission.VIEW_GIFT_CARD, "Cards.")
    with pytest.raises(KeyError):
        Lookup(Card, "kode", "card", Permission.VIEW_GIFT_CARD, "A card.")

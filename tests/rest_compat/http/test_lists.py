"""Lists over REST: the seven keys, pages and their links, filters, order, whole arrays, one row."""

import datetime as dt
from collections.abc import AsyncIterator, Callable
from typing import Any

import httpx
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlalchemy import MetaData, text
from starlette.datastructures import URL

from resolvers.core.context import Context
from rest_compat.http.page import Page
from rest_compat.http.parameters import Ordering, between, exactly, since, until
from rest_compat.http.route import ResponseEnvelope, RestRoute
from rest_compat.shapes.keys import FieldKey, decimal_string, number, or_null, per_language
from rest_compat.shapes.shape import Nested, ResourceShape
from rest_compat.shapes.writers import enum_codes
from schema.core.permission import Permission
from store.database.db import Database
from store.partner.partners import MarketplaceRow
from tests.example_cards import METADATA, Card, CardStatus, Use, card, cards, context, fill
from tests.rest_compat.clients import client_of, made_up
from tests.statements import fetched

USE = ResourceShape("Use", Use, {"id": "id", "label": "label", "by": "issuer.slug"})
CARD = ResourceShape(
    "Card",
    Card,
    {
        "id": "id",
        "uuid": "uuid",
        "code": "code",
        "state": "status",
        "state_number": FieldKey("status", enum_codes(CardStatus, {CardStatus.ACTIVE: 1, CardStatus.BLOCKED: 2})),
        **per_language("title"),
        "message": "message",
        "note": or_null("message"),
        "nb_nights": "nights",
        "self_gifted": "gifted",
        "issued_on": "issued_on",
        "creation_date": "created_at",
        "expiration_date": or_null("expires_at"),
        "ends": "expires_at",
        "value": decimal_string("balance.amount"),
        "price": number("balance.amount"),
        "currency": "balance.currency",
        "issuer": "issuer.slug",
        "issuer_name": "issuer.name.fr",
        "uses": Nested("uses", USE),
    },
)
QUERY = (
    exactly("status", "status", "One status."),
    exactly("code", "code", "Its code."),
    since("created_on__gte", "issued_after", "From."),
    until("created_on__lte", "issued_before", "To."),
    between("created_on__range", "issued_after", "issued_before", "Between."),
)
ORDERING = Ordering({"created_on": "created_at", "status": "status", "rate": "rate"})
ROUTES = [
    RestRoute("GET", "/api/cards/", cards, CARD, ResponseEnvelope.PAGE, query=QUERY, ordering=ORDERING),
    RestRoute(
        "GET", "/api/all_cards/", cards, ResourceShape("Id", Card, {"id": "id"}), ResponseEnvelope.ARRAY, query=QUERY
    ),
    RestRoute("GET", "/api/cards/{id}/", card, CARD),
]
KEYS = ["count", "previous", "has_previous", "has_next", "current_page", "page_range", "results"]


@pytest.fixture
def more_tables() -> MetaData:
    """The tables of the example."""
    return METADATA


@pytest.fixture
async def client(database: Database) -> AsyncIterator[httpx.AsyncClient]:
    """A client over 250 cards of partner 1, in a marketplace on Paris time."""
    await fill(database)
    async with database.sessions() as session, session.begin():
        session.add(MarketplaceRow(id=1, name="Network", time_zone="Europe/Paris"))
    async with client_of(made_up(ROUTES, lambda: context(database))) as client:
        yield client


async def ids(client: httpx.AsyncClient, query: str = "") -> list[int]:
    """The ids of a page."""
    response = await client.get(f"/api/cards/?page_size=100&{query}")
    assert response.status_code == 200, response.text
    return [row["id"] for row in response.json()["results"]]


# ---- pages


async def test_a_page_has_exactly_the_seven_keys(client: httpx.AsyncClient) -> None:
    response = await client.get("/api/cards")
    page = response.json()
    assert list(page) == KEYS
    assert page["count"] == 250
    assert (page["previous"], page["has_previous"], page["has_next"], page["current_page"]) == (None, False, True, 1)
    assert page["page_range"] == list(range(1, 14))
    assert [row["id"] for row in page["results"]] == list(range(250, 230, -1))
    links = response.headers["link"]
    assert links == (
        '<http://api.test/api/cards?page=1>; rel="first", <http://api.test/api/cards?page=13>; rel="last", '
        '<http://api.test/api/cards?page=2>; rel="next"'
    )


async def test_pages_are_linked_with_the_rest_of_the_query(client: httpx.AsyncClient) -> None:
    response = await client.get("/api/cards/?status=a&page=2&page_size=50")
    page = response.json()
    assert page["previous"] == "http://api.test/api/cards/?status=a&page_size=50&page=1"
    assert page["has_previous"] is page["has_next"] is True
    assert page["count"] == 188
    assert 'page_size=50&page=3>; rel="next"' in response.headers["link"]
    assert 'page_size=50&page=1>; rel="prev"' in response.headers["link"]
    assert 'page_size=50&page=4>; rel="last"' in response.headers["link"]
    last = (await client.get("/api/cards/?status=a&page=4&page_size=50")).json()
    assert (last["has_next"], last["count"], len(last["results"])) == (False, 188, 38)


async def test_all_pages_together_are_the_list(client: httpx.AsyncClient) -> None:
    seen = [
        row["id"]
        for n in range(1, 9)
        for row in (await client.get(f"/api/cards/?page={n}&page_size=33")).json()["results"]
    ]
    assert seen == list(range(250, 0, -1))


async def test_beyond_the_last_page_is_404_and_an_empty_list_has_one(client: httpx.AsyncClient) -> None:
    for page in ("4", "1000000", "9" * 30):
        response = await client.get(f"/api/cards/?page_size=100&page={page}")
        assert (response.status_code, response.json()) == (404, {"detail": "No such page."})
    empty = (await client.get("/api/cards/?code=nothing")).json()
    assert (empty["count"], empty["page_range"], empty["results"], empty["has_next"]) == (0, [1], [], False)


@pytest.mark.parametrize(
    ("query", "key"),
    [("page=0", "page"), ("page=-1", "page"), ("page=x", "page"), ("page=1.5", "page"), ("page=٣", "page"), ("page_size=0", "page_size"), ("page_size=101", "page_size"), ("page_size=all", "page_size"), ("status=z", "status"), ("ordering=pin_hash", "ordering"), ("ordering=-status", "ordering"), ("created_on__gte=soon", "created_on__gte"), ("created_on__lte=2026-02-30", "created_on__lte"), ("created_on__gte=0001-01-01", "created_on__gte"), ("created_on__range=2026-01-01", "created_on__range"), ("created_on__range=2026-01-01,x", "created_on__range"), ("code=%00", "code")],
)  # fmt: skip
async def test_a_malformed_parameter_is_a_400_at_its_name(client: httpx.AsyncClient, query: str, key: str) -> None:
    response = await client.get(f"/api/cards/?{query}")
    assert response.status_code == 400
    assert list(response.json()) == [key]


async def test_all_that_is_wrong_is_told_at_once(client: httpx.AsyncClient) -> None:
    response = await client.get("/api/cards/?page=x&status=z&ordering=z&created_on__range=z")
    assert set(response.json()) == {"page", "status", "ordering", "created_on__range"}


async def test_unknown_and_empty_parameters_are_ignored(client: httpx.AsyncClient) -> None:
    assert len(await ids(client, "colour=red&status=&ordering=&page=&created_on__gte=&%00=%00")) == 100


async def test_the_permission_goes_before_the_parameters(client: httpx.AsyncClient, database: Database) -> None:
    nobody: Callable[[], Context] = lambda: context(database, 1, Permission.VIEW_ORDER)  # noqa: E731
    async with client_of(made_up(ROUTES, nobody)) as stranger:
        for path in ("/api/cards/?page=x", "/api/all_cards/", "/api/cards/x/", "/api/cards/1/"):
            assert (await stranger.get(path)).status_code == 403


def test_the_window_of_pages_is_100_wide() -> None:
    def window(number: int, count: int) -> list[int]:
        return Page(URL("http://x/"), number, 1, count).page_range()

    assert window(1, 100) == window(100, 100) == list(range(1, 101))
    assert window(1, 500) == window(51, 500) == list(range(1, 101))
    assert window(52, 500) == list(range(2, 102))
    assert window(250, 500) == list(range(200, 300))
    assert window(451, 500) == window(500, 500) == list(range(401, 501))
    assert window(1, 0) == [1]


NAMES = st.sampled_from(["page", "page_size", "ordering", "status", "code", "other"]) | st.sampled_from(
    [f"created_on__{test}" for test in ("gte", "lte", "range")]
)
TEXTS = st.text(max_size=12) | st.sampled_from(
    ["1", "2026-01-01", "9999-12-31", "0001-01-01T00:00:00+14:00", "a,b", "-created_on"]
)


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(query=st.dictionaries(NAMES, TEXTS, max_size=4))
async def test_any_query_is_answered_or_refused_by_name(client: httpx.AsyncClient, query: dict[str, str]) -> None:
    for path in ("/api/cards/", "/api/all_cards/"):
        response = await client.get(path, params=query)
        assert response.status_code in {200, 400, 404}, response.text
        if response.status_code == 400:
            assert set(response.json()) <= set(query)


# ---- filters and order


async def test_filters(client: httpx.AsyncClient) -> None:
    assert await ids(client, "code=C00003") == [4]
    assert all(id % 4 == 0 for id in await ids(client, "status=b"))
    assert await ids(client, "ordering=created_on") == list(range(1, 101))
    assert await ids(client, "ordering=-created_on") == list(range(250, 150, -1))


async def test_bounds_include_both_ends(client: httpx.AsyncClient) -> None:
    # Three cards a minute from 2026-01-01T00:00Z on.
    assert await ids(client, "created_on__lte=2026-01-01T00:01:00Z") == [6, 5, 4, 3, 2, 1]
    assert await ids(client, "created_on__gte=2026-01-01T01:23:00Z") == [250]
    assert await ids(client, "created_on__range=2026-01-01T00:01:00Z,2026-01-01T00:01:00Z") == [6, 5, 4]
    assert await ids(client, "created_on__range=2026-01-01T00:02:00Z,2026-01-01T00:01:00Z") == []
    minute, later = "created_on__range=2026-01-01T00:01:00Z,2026-01-01T00:01:00Z", "2026-01-01T01:00:00Z"
    assert await ids(client, f"created_on__gte={later}&{minute}") == []
    assert await ids(client, f"{minute}&created_on__gte=2026-01-01&created_on__lte={later}") == [6, 5, 4]


async def test_times_without_an_offset_are_in_the_marketplaces_zone(client: httpx.AsyncClient) -> None:
    assert await ids(client, "created_on__lte=2026-01-01T01:00:00") == [3, 2, 1]
    assert await ids(client, "created_on__lte=2026-01-01 01:00:00") == [3, 2, 1]
    assert await ids(client, "created_on__lte=2026-01-01T01:00:00%2B01:00") == [3, 2, 1]
    assert await ids(client, "created_on__lte=2026-01-01T01:00:00+01:00") == [3, 2, 1]  # the + arrives as a space


async def test_a_date_alone_includes_its_whole_day(client: httpx.AsyncClient, database: Database) -> None:
    # In Paris 2026-01-02 begins at 2026-01-01T23:00Z.
    async with database.engine.begin() as connection:
        for id, moment in (
            (1, "2026-01-01T22:59:59.999999Z"),
            (2, "2026-01-01T23:00:00Z"),
            (3, "2026-01-02T22:59:59.999999Z"),
            (4, "2026-01-02T23:00:00Z"),
        ):
            await connection.execute(
                text("update example_card set created_at = :at where id = :id"),
                {"at": dt.datetime.fromisoformat(moment), "id": id},
            )
    assert await ids(client, "created_on__range=2026-01-02,2026-01-02") == [3, 2]
    assert await ids(client, "created_on__gte=2026-01-02") == [4, 3, 2]
    assert 4 not in await ids(client, "created_on__lte=2026-01-02")
    assert (await ids(client, "created_on__lte=2026-01-02"))[:3] == [3, 2, 1]


# ---- whole arrays


async def test_an_array_is_complete_and_cut_only_on_demand(client: httpx.AsyncClient) -> None:
    response = await client.get("/api/all_cards/")
    assert response.headers["content-type"] == "application/json"
    assert "link" not in response.headers
    assert [row["id"] for row in response.json()] == list(range(250, 0, -1))
    small = await client.get("/api/all_cards/?created_on__lte=2026-01-01T00:00:00Z")
    assert small.json() == [{"id": 3}, {"id": 2}, {"id": 1}]
    assert (await client.get("/api/all_cards/?code=nothing")).json() == []
    cut = await client.get("/api/all_cards/?page_size=30&page=2")
    assert [row["id"] for row in cut.json()] == list(range(220, 190, -1))
    assert 'rel="next"' in cut.headers["link"]
    assert (await client.head("/api/all_cards/")).content == b""


async def test_a_failure_before_the_first_part_is_a_500(client: httpx.AsyncClient, database: Database) -> None:
    async def broken(*_: Any) -> Any:
        raise ZeroDivisionError

    database.statements.fetch = broken
    assert (await client.get("/api/all_cards/")).status_code == 500


async def test_a_failure_half_way_breaks_the_answer_off(client: httpx.AsyncClient, database: Database) -> None:
    fetch, asked = database.fetch, 0

    async def breaking(*arguments: Any) -> Any:
        nonlocal asked
        asked += 1
        if asked == 2:
            raise ZeroDivisionError
        return await fetch(*arguments)

    database.statements.fetch = breaking
    with pytest.raises(ZeroDivisionError):  # the server closes the connection: the client sees that it is incomplete
        await client.get("/api/all_cards/")


# ---- rows in their shape


async def test_a_row_is_written_as_documented(client: httpx.AsyncClient) -> None:
    response = await client.get("/api/cards/2/")
    row = response.json()
    assert list(row) == list(CARD.keys)
    assert row == {
        "id": 2,
        "uuid": "00000000-0000-0000-0000-000000000001",
        "code": "C00001",
        "state": "a",
        "state_number": 1,
        "title_en": "Gift",
        "title_fr": "Cadeau",
        **{f"title_{at}": "" for at in ("es", "it", "de", "nl", "ca", "pt")},
        "message": "m1",
        "note": "m1",
        "nb_nights": 1,
        "self_gifted": True,
        "issued_on": "2026-01-01",
        "creation_date": "2026-01-01T00:00:00.000000Z",
        "expiration_date": "2026-02-01T00:00:00.000000Z",
        "ends": "2026-02-01T00:00:00.000000Z",
        "value": "10.00",
        "price": 10.0,
        "currency": "EUR",
        "issuer": "i1",
        "issuer_name": "Émetteur 1",
        "uses": [{"id": 3, "label": "u2", "by": ""}, {"id": 4, "label": "u3", "by": "i3"}],
    }
    assert b'"price":10.00' in response.content
    page = (await client.get("/api/cards/?code=C00001")).json()
    assert page["results"] == [row]


async def test_where_there_is_nothing_a_string_is_empty_and_the_rest_is_null(
    client: httpx.AsyncClient, database: Database
) -> None:
    async with database.engine.begin() as connection:
        await connection.execute(text("update example_card set issuer_id = 99, expires_at = null where id = 1"))
        await connection.execute(text("update example_issuer set name = null where id = 2"))
    row = (await client.get("/api/cards/1/")).json()
    assert list(row) == list(CARD.keys)
    assert (row["message"], row["note"]) == ("", None)
    assert (row["ends"], row["expiration_date"]) == ("", None)
    assert (row["issuer"], row["issuer_name"]) == ("", "")
    assert (await client.get("/api/cards/2/")).json()["issuer_name"] == ""


async def test_another_tenants_row_does_not_exist(client: httpx.AsyncClient) -> None:
    for id in ("251", "999"):
        response = await client.get(f"/api/cards/{id}/")
        assert (response.status_code, response.json()) == (404, {"detail": "No such card."})


async def test_a_page_costs_one_statement_a_level_however_many_keys(
    client: httpx.AsyncClient, database: Database
) -> None:
    with fetched(database) as seen:
        assert (await client.get("/api/cards/?page_size=100&ordering=created_on")).status_code == 200
    # the page with its issuers, its count, uses, and the issuers of uses
    assert len(seen) == 4

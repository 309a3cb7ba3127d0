"""Lists on the wire: pages, their headers, order and filters."""

from collections.abc import AsyncIterator

import pytest

from tests.coffret.sandbox.world import World, running


@pytest.fixture
async def world() -> AsyncIterator[World]:
    async with running() as world:
        yield world


async def test_lists_have_pages(world: World) -> None:
    for _ in range(23):
        await world.payin()
    first = await world.call("GET", "/wallets/wallet/transactions")
    assert len(first.json()) == 10
    assert (first.headers["X-Number-Of-Pages"], first.headers["X-Number-Of-Items"]) == ("3", "23")
    rels = [part.split("; ")[1] for part in first.headers["Link"].split(", ")]
    assert rels == ['rel="first"', 'rel="next"', 'rel="last"']
    following = first.headers["Link"].split(", ")[1].split(">")[0].lstrip("<")
    second = await world.http.get(following, headers={"Authorization": f"Bearer {world.token}"})
    third = await world.call("GET", "/wallets/wallet/transactions?page=3&per_page=10")
    ids = [item["Id"] for answer in (first, second, third) for item in answer.json()]
    assert len(set(ids)) == 23
    newest = await world.read("/wallets/wallet/transactions?per_page=100&Sort=CreationDate:DESC")
    assert [item["Id"] for item in newest] == ids[::-1]
    assert await world.read("/wallets/wallet/transactions?page=4") == []


async def test_lists_refuse_what_they_cannot_do(world: World) -> None:
    await world.seed()
    for query in (
        "page=0",
        "page=x",
        "per_page=101",
        "per_page=0",
        "Sort=Amount:ASC",
        "Status=OPEN",
        "BeforeDate=tomorrow",
    ):
        answer = await world.call("GET", f"/wallets/wallet/transactions?{query}")
        assert (answer.status_code, list(answer.json()["errors"])) == (400, [query.split("=")[0]])


async def test_lists_filter(world: World) -> None:
    paid, open_ = await world.paid(), await world.payin()
    await world.advance(10)
    refund = await world.made(f"/payins/{paid['Id']}/refunds", {"AuthorId": paid["AuthorId"]})
    cases = {
        "Status=SUCCEEDED": [paid, refund],
        "Status=SUCCEEDED,CREATED": [paid, open_, refund],
        "Status=SUCCEEDED&Status=CREATED": [paid, open_, refund],
        "Nature=REFUND": [refund],
        "Type=PAYIN": [paid, open_],
        "ResultCode=000000": [paid, refund],
        f"AfterDate={refund['CreationDate']}": [refund],
        f"BeforeDate={refund['CreationDate'] - 1}": [paid, open_],
    }
    for query, expected in cases.items():
        found = await world.read(f"/wallets/wallet/transactions?{query}")
        assert sorted(item["Id"] for item in found) == sorted(item["Id"] for item in expected), query
    assert [item["Id"] for item in await world.read(f"/users/{paid['AuthorId']}/transactions")] == [
        paid["Id"],
        refund["Id"],
    ]

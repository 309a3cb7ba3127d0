"""Lists on the wire: pages, their headers, order and filters."""

from collections.abc import AsyncIterator

import pytest

from tests.coffret.sandbox.mangopay_api import MangopayApi, running


@pytest.fixture
async def api() -> AsyncIterator[MangopayApi]:
    async with running() as api:
        yield api


async def test_lists_have_pages(api: MangopayApi) -> None:
    for _ in range(23):
        await api.payin()
    first = await api.call("GET", "/wallets/wallet/transactions")
    assert len(first.json()) == 10
    assert (first.headers["X-Number-Of-Pages"], first.headers["X-Number-Of-Items"]) == ("3", "23")
    rels = [part.split("; ")[1] for part in first.headers["Link"].split(", ")]
    assert rels == ['rel="first"', 'rel="next"', 'rel="last"']
    following = first.headers["Link"].split(", ")[1].split(">")[0].lstrip("<")
    second = await api.http.get(following, headers={"Authorization": f"Bearer {api.token}"})
    third = await api.call("GET", "/wallets/wallet/transactions?page=3&per_page=10")
    ids = [item["Id"] for answer in (first, second, third) for item in answer.json()]
    assert len(set(ids)) == 23
    newest = await api.read("/wallets/wallet/transactions?per_page=100&Sort=CreationDate:DESC")
    assert [item["Id"] for item in newest] == ids[::-1]
    assert await api.read("/wallets/wallet/transactions?page=4") == []
    assert [item["Id"] for item in await api.read("/wallets/wallet/transactions?page=0")] == ids[:10]


async def test_lists_refuse_what_they_cannot_do(api: MangopayApi) -> None:
    await api.seed()
    for query in (
        "page=x",
        "per_page=101",
        "per_page=0",
        "Sort=Amount:ASC",
        "Status=OPEN",
        "BeforeDate=tomorrow",
    ):
        answer = await api.call("GET", f"/wallets/wallet/transactions?{query}")
        assert (answer.status_code, list(answer.json()["errors"])) == (400, [query.split("=")[0]])


async def test_lists_filter(api: MangopayApi) -> None:
    paid, open_ = await api.paid(), await api.payin()
    await api.advance(10)
    refund = await api.create(f"/payins/{paid['Id']}/refunds", {"AuthorId": paid["AuthorId"]})
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
        found = await api.read(f"/wallets/wallet/transactions?{query}")
        assert sorted(item["Id"] for item in found) == sorted(item["Id"] for item in expected), query
    assert [item["Id"] for item in await api.read(f"/users/{paid['AuthorId']}/transactions")] == [
        paid["Id"],
        refund["Id"],
    ]

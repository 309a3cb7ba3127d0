"""The platform: its data and its wallets."""

from collections.abc import AsyncIterator

import pytest

from tests.coffret.sandbox.mangopay_api import MangopayApi, running


@pytest.fixture
async def api() -> AsyncIterator[MangopayApi]:
    async with running() as api:
        yield api


async def test_the_platform_is_read_and_changed(api: MangopayApi) -> None:
    client = await api.read("/clients")
    assert (client["ClientId"], client["PrimaryThemeColour"]) == ("sandbox", None)
    change = {"PrimaryThemeColour": "#0A5C36", "TechEmails": ["ops@example.com"]}
    assert (await api.call("PUT", "/clients", change)).json() == {**client, **change}
    assert await api.read("/clients") == {**client, **change}
    answer = await api.call("PUT", "/clients", {"PrimaryThemeColour": "green"})
    assert (answer.status_code, list(answer.json()["errors"])) == (400, ["PrimaryThemeColour"])


async def test_fees_are_in_the_platforms_wallet(api: MangopayApi) -> None:
    paid = await api.paid()
    fees = await api.read("/clients/wallets/FEES/EUR")
    assert (fees["Id"], fees["FundsType"], fees["Balance"]) == ("FEES_EUR", "FEES", {"Currency": "EUR", "Amount": 250})
    credit = await api.read("/clients/wallets/CREDIT/EUR")
    assert credit["Balance"]["Amount"] == 0
    assert await api.read("/clients/wallets") == [fees, credit]
    assert await api.read("/clients/wallets/fees?page=0") == [fees]
    for path, found in (
        ("/clients/wallets/FEES/EUR/transactions", [paid["Id"]]),
        ("/clients/wallets/FEES/GBP/transactions", []),
        ("/clients/wallets/CREDIT/EUR/transactions", []),
        ("/clients/transactions", [paid["Id"]]),
    ):
        assert [item["Id"] for item in await api.read(path)] == found
    assert (await api.call("GET", "/clients/wallets/OTHER")).status_code == 404

"""Conversions between currencies: prices, quotes, wallets of users and of the platform."""

from collections.abc import AsyncIterator
from typing import Any

import pytest

from tests.coffret.sandbox.mangopay_api import Json, MangopayApi, running


@pytest.fixture
async def api() -> AsyncIterator[MangopayApi]:
    async with running() as api:
        yield api


async def wallets(api: MangopayApi) -> Json:
    """A partner's wallet with 22.50 EUR and an empty one in pounds, as fields of a conversion."""
    await api.paid()
    sterling = await api.create("/wallets", {"Owners": ["partner"], "Description": "Pounds", "Currency": "GBP"})
    return {"AuthorId": "partner", "DebitedWalletId": "wallet", "CreditedWalletId": sterling["Id"]}


def funds(amount: int | None, **more: Any) -> Json:
    """From euros to pounds."""
    debited = {"Currency": "EUR", **({"Amount": amount} if amount else {})}
    return {"DebitedFunds": debited, "CreditedFunds": {"Currency": "GBP"}, **more}


async def test_money_changes_its_currency(api: MangopayApi) -> None:
    between = await wallets(api)
    fees = {"Currency": "EUR", "Amount": 100}
    done = await api.create("/conversions/instant-conversion", {**between, **funds(1100, Fees=fees)})
    assert (done["Status"], done["Type"]) == ("SUCCEEDED", "CONVERSION")
    assert done["CreditedFunds"] == {"Currency": "GBP", "Amount": 846}  # 10.00 EUR at 0.85 less half a percent
    assert (await api.read("/wallets/wallet"))["Balance"]["Amount"] == 1150
    assert (await api.read(f"/wallets/{between['CreditedWalletId']}"))["Balance"]["Amount"] == 846
    assert await api.read(f"/conversions/{done['Id']}") == done
    assert (await api.read("/wallets/wallet/transactions?Type=CONVERSION"))[0]["Id"] == done["Id"]


async def test_the_credited_amount_determines_the_debited_one(api: MangopayApi) -> None:
    between = await wallets(api)
    body = {"DebitedFunds": {"Currency": "EUR"}, "CreditedFunds": {"Currency": "GBP", "Amount": 846}}
    done = await api.create("/conversions/instant-conversion", {**between, **body})
    assert done["DebitedFunds"]["Amount"] == 1000


async def test_a_quote_holds_its_price_once(api: MangopayApi) -> None:
    between = await wallets(api)
    quote = await api.create("/conversions/quote", funds(1000, Duration=300))
    body = {**between, "QuoteId": quote["Id"]}
    done = await api.create("/conversions/quoted-conversion", body)
    assert (done["Status"], done["CreditedFunds"]) == ("SUCCEEDED", quote["CreditedFunds"])
    again = await api.call("POST", "/conversions/quoted-conversion", body)
    assert (again.status_code, list(again.json()["errors"])) == (400, ["QuoteId"])


async def test_a_quote_expires(api: MangopayApi) -> None:
    between = await wallets(api)
    quote = await api.create("/conversions/quote", funds(1000, Duration=90))
    await api.advance(91)
    assert (await api.read(f"/conversions/quote/{quote['Id']}"))["Status"] == "EXPIRED"
    answer = await api.call("POST", "/conversions/quoted-conversion", {**between, "QuoteId": quote["Id"]})
    assert answer.status_code == 400


async def test_more_than_a_wallet_holds_is_not_converted(api: MangopayApi) -> None:
    between = await wallets(api)
    done = await api.create("/conversions/instant-conversion", {**between, **funds(2251)})
    assert (done["Status"], done["ResultCode"]) == ("FAILED", "001001")
    assert (await api.read("/wallets/wallet"))["Balance"]["Amount"] == 2250


NO_AMOUNT, ALL_FEES = funds(None), funds(1, Fees={"Currency": "EUR", "Amount": 1})
SAME = {**funds(100), "CreditedFunds": {"Currency": "EUR"}}


@pytest.mark.parametrize(
    ("body", "field"),
    [(NO_AMOUNT, "DebitedFunds.Amount"), (ALL_FEES, "Fees.Amount"), (SAME, "CreditedFunds.Currency")],
)
async def test_what_has_no_price(api: MangopayApi, body: Json, field: str) -> None:
    answer = await api.call("POST", "/conversions/quote", {**body, "Duration": 300})
    assert (answer.status_code, list(answer.json()["errors"])) == (400, [field])


async def test_the_platform_converts_its_fees(api: MangopayApi) -> None:
    await api.paid()
    body = {"DebitedWalletType": "FEES", "CreditedWalletType": "FEES", **funds(200)}
    done = await api.create("/clients/conversions/instant-conversion", body)
    assert (done["Status"], done["DebitedWalletId"], done["CreditedWalletId"]) == ("SUCCEEDED", "FEES_EUR", "FEES_GBP")
    assert (await api.read("/clients/wallets/FEES/EUR"))["Balance"]["Amount"] == 50
    assert (await api.read("/clients/wallets/FEES/GBP"))["Balance"]["Amount"] == done["CreditedFunds"]["Amount"]


async def test_the_rate_is_below_the_markets(api: MangopayApi) -> None:
    rate = await api.read("/conversions/rate/EUR/GBP")
    assert float(rate["ClientRate"]) < float(rate["MarketRate"])
    assert (await api.call("GET", "/conversions/rate/EUR/XXX")).status_code == 400

"""Intents: payments at another provider, told step by step, with splits and settlement files."""

from collections.abc import AsyncIterator
from typing import Any

import httpx
import pytest

from tests.coffret.sandbox.mangopay_api import Json, MangopayApi, running

PATH = "/payins/intents"
EXTERNAL = {"ExternalProcessingDate": 1728133765, "ExternalProviderReference": "tx-1", "ExternalProviderName": "Stripe"}


@pytest.fixture
async def api() -> AsyncIterator[MangopayApi]:
    async with running() as api:
        await api.seed()
        yield api


async def ask(api: MangopayApi, method: str, path: str, body: Any = None) -> httpx.Response:
    """A call of the newer interface."""
    return await api.call(method, f"{PATH}{path}", body, version="V3.0")


async def done(api: MangopayApi, path: str, body: Any, method: str = "POST") -> Json:
    """A call that works."""
    answer = await ask(api, method, path, body)
    assert answer.status_code == 200, answer.text
    told: Json = answer.json()
    return told


async def authorized(api: MangopayApi) -> Json:
    """An intent of 10.00 EUR with two lines."""
    lines = [
        {"Seller": {"WalletId": "wallet", "AuthorId": "partner"}, "Sku": sku, "Quantity": 1, "UnitAmount": amount}
        for sku, amount in (("voucher", 700), ("wine", 300))
    ]
    body = {"Amount": 1000, "Currency": "EUR", "ExternalData": EXTERNAL, "LineItems": lines}
    return await done(api, "", body)


async def captured(api: MangopayApi) -> Json:
    """An intent of which all is captured."""
    return await done(api, f"/{(await authorized(api))['Id']}/captures", {"ExternalData": EXTERNAL})


def part(intent: Json, line: int, amount: int) -> Json:
    """The body of an action on a part of a line."""
    lines = [{"Id": intent["LineItems"][line]["Id"], "Amount": amount}]
    return {"Amount": amount, "LineItems": lines, "ExternalData": EXTERNAL}


async def test_a_part_is_captured_and_the_rest_cancelled(api: MangopayApi) -> None:
    intent = await authorized(api)
    some = await done(api, f"/{intent['Id']}/captures", part(intent, 0, 500))
    assert (some["Status"], some["Capture"]["Amount"]) == ("CAPTURED", 500)
    over = await ask(api, "POST", f"/{intent['Id']}/captures", part(intent, 0, 201))
    assert (over.status_code, list(over.json()["Errors"])) == (400, ["LineItems"])
    rest = await done(api, f"/{intent['Id']}/cancel", {})
    assert [line["CanceledAmount"] for line in rest["LineItems"]] == [200, 300]
    nothing = await ask(api, "POST", f"/{intent['Id']}/captures", {})
    assert (nothing.status_code, list(nothing.json()["Errors"])) == (400, ["Status"])


async def test_a_refund_is_reversed(api: MangopayApi) -> None:
    intent = await captured(api)
    refunded = await done(api, f"/{intent['Id']}/refunds", {"ExternalData": EXTERNAL})
    assert (refunded["Status"], refunded["AvailableAmountToSplit"]) == ("REFUNDED", 0)
    path = f"/{intent['Id']}/refunds/{refunded['Refund']['Id']}/reverse"
    back = await done(api, path, {"ExternalData": EXTERNAL})
    assert (back["Status"], back["AvailableAmountToSplit"]) == ("REFUND_REVERSED", 1000)
    assert (await ask(api, "POST", path, {})).status_code == 400


async def test_a_dispute_is_decided(api: MangopayApi) -> None:
    intent = await captured(api)
    path = f"/{intent['Id']}/captures/{intent['Capture']['Id']}/disputes"
    disputed = await done(api, path, {"ExternalData": EXTERNAL})
    assert disputed["Status"] == "DISPUTED"
    decided = await done(api, f"{path}/{disputed['Dispute']['Id']}/decision", {"Decision": "DEFENDED"}, "PUT")
    assert (decided["Decision"], decided["Dispute"]["Status"]) == ("DEFENDED", "DEFENDED")
    assert (await ask(api, "POST", f"/{intent['Id']}/captures/none/disputes", {})).status_code == 404


async def test_a_captured_line_is_split(api: MangopayApi) -> None:
    intent = await captured(api)
    path, line = f"/{intent['Id']}/splits", intent["LineItems"][0]["Id"]
    [split] = (await done(api, path, {"Splits": [{"LineItemId": line, "SplitAmount": 600}]}))["Splits"]
    assert (split["Status"], split["WalletId"]) == ("CREATED", "wallet")
    over = await ask(api, "POST", path, {"Splits": [{"LineItemId": line, "SplitAmount": 101}]})
    assert list(over.json()["Errors"]) == ["SplitAmount"]
    one = f"{path}/{split['Id']}"
    changed = await done(api, one, {"LineItemId": line, "Description": "For the house"}, "PUT")
    assert (changed["Description"], changed["SplitAmount"]) == ("For the house", 600)
    refused = await ask(api, "POST", f"{one}/execute")
    assert "[AVAILABLE, REJECTED]" in refused.json()["Errors"]["Split"]
    assert (await done(api, f"{one}/reverse", {}))["Status"] == "REVERSED"
    assert (await done(api, f"/{intent['Id']}", None, "GET"))["AvailableAmountToSplit"] == 1000


async def test_nothing_is_split_before_it_is_captured(api: MangopayApi) -> None:
    intent = await authorized(api)
    body = {"Splits": [{"LineItemId": intent["LineItems"][0]["Id"], "SplitAmount": 1}]}
    assert (await ask(api, "POST", f"/{intent['Id']}/splits", body)).status_code == 400


async def test_a_settlement_file_is_sent_to_its_address(api: MangopayApi) -> None:
    settlement = await done(api, "/settlements", {"FileName": "july.csv"})
    path = f"/settlements/{settlement['SettlementId']}"
    assert settlement["Status"] == "PENDING_UPLOAD"
    assert (await api.http.put(settlement["UploadUrl"], content=b"a,b")).status_code == 200
    assert (await done(api, path, None, "GET"))["Status"] == "UPLOADED"
    assert (await done(api, f"{path}/cancel", {}))["Status"] == "CANCELLED"
    assert (await api.http.put(settlement["UploadUrl"], content=b"a,b")).status_code == 400
    assert (await api.http.put("http://sandbox.test/_provider/uploads/none", content=b"a,b")).status_code == 404


async def test_amounts_and_lines_agree(api: MangopayApi) -> None:
    lines = [{"Quantity": 1, "UnitAmount": 999}]
    body = {"Amount": 1000, "Currency": "EUR", "ExternalData": EXTERNAL, "LineItems": lines}
    assert list((await ask(api, "POST", "", body)).json()["Errors"]) == ["Amount"]

"""Pay-ins with a card in Apple Pay or Google Pay."""

import json
from collections.abc import AsyncIterator

import pytest

from coffret.sandbox.payments.token_payins import BY_TOKEN
from tests.coffret.sandbox.mangopay_api import CHALLENGE, SHOP, SUCCESS, Json, MangopayApi, payin_body, running
from tests.coffret.sandbox.payments.test_cards import SECURE

DECLINED, LATE = "4970109000000106", "4970109000001104"


@pytest.fixture
async def api() -> AsyncIterator[MangopayApi]:
    async with running() as api:
        await api.seed()
        yield api


async def body(api: MangopayApi, **changes: object) -> Json:
    """The body of a pay-in of either method, but for its token."""
    without = {name: value for name, value in payin_body(await api.payer()).items() if name not in WEB_ONLY}
    return {**without, **changes}


WEB_ONLY = ("CardType", "Culture", "ReturnURL")


async def apple(api: MangopayApi, card: str = SUCCESS, method: str = "applepay") -> Json:
    token = {"TransactionId": "1", "Network": "VISA", "TokenData": json.dumps({"sandboxCard": card})}
    return await api.create(f"/payins/{method}/direct", await body(api, PaymentData=token))


async def google(api: MangopayApi, card: str = SUCCESS, **more: object) -> Json:
    data = json.dumps({"sandboxCard": card, **more})
    return await api.create("/payins/payment-methods/googlepay", await body(api, PaymentData=data, **SECURE))


async def balance(api: MangopayApi) -> int:
    return int((await api.read("/wallets/wallet"))["Balance"]["Amount"])


@pytest.mark.parametrize(("method", "type"), BY_TOKEN.items())
async def test_a_card_on_a_device_is_charged_at_once(api: MangopayApi, method: str, type: str) -> None:
    payin = await apple(api, method=method)
    assert (payin["Status"], payin["PaymentType"], payin["ExecutionType"]) == ("SUCCEEDED", type, "DIRECT")
    assert await balance(api) == 2250
    assert "PaymentData" not in payin, "the token is kept nowhere"


@pytest.mark.parametrize("token", ["{}", "no JSON", '["a list"]', '{"sandboxCard": 7}'])
async def test_tokens_that_the_sandbox_cannot_read_are_charged(api: MangopayApi, token: str) -> None:
    data = {"TransactionId": "1", "Network": "VISA", "TokenData": token}
    assert (await api.create("/payins/applepay/direct", await body(api, PaymentData=data)))["Status"] == "SUCCEEDED"


async def test_google_pay_without_a_challenge(api: MangopayApi) -> None:
    payin = await google(api, authMethod="CRYPTOGRAM_3DS")
    assert (payin["Status"], payin["PaymentType"], payin["ExecutionType"]) == ("SUCCEEDED", "GOOGLE_PAY", "DIRECT")
    assert (payin["SecureModeNeeded"], payin["SecureModeRedirectURL"]) == (False, None)
    assert await balance(api) == 2250


@pytest.mark.parametrize(("card", "more"), [(CHALLENGE, {}), (SUCCESS, {"authMethod": "PAN_ONLY"})])
@pytest.mark.parametrize(("choice", "code"), [("confirm", "000000"), ("refuse", "101301")])
async def test_the_bank_asks_for_a_confirmation(
    api: MangopayApi, card: str, more: Json, choice: str, code: str
) -> None:
    payin = await google(api, card, **more)
    assert (payin["Status"], payin["SecureModeNeeded"]) == ("CREATED", True)
    answer = await api.http.post(payin["SecureModeRedirectURL"], data={"choice": choice, "code": "000000"})
    assert answer.headers["location"] == f"{SHOP}&transactionId={payin['Id']}"
    assert (await api.read(f"/payins/{payin['Id']}"))["ResultCode"] == code


async def test_a_device_has_asked_already(api: MangopayApi) -> None:
    assert (await apple(api, CHALLENGE))["Status"] == "SUCCEEDED"


@pytest.mark.parametrize("pay", [apple, google])
async def test_a_bank_declines_or_takes_its_time(api: MangopayApi, pay: type) -> None:
    declined = await pay(api, DECLINED)
    assert (declined["Status"], declined["ResultCode"]) == ("FAILED", "101101")
    late = await pay(api, LATE)
    assert late["Status"] == "CREATED"
    await api.advance(31)
    assert (await api.read(f"/payins/{late['Id']}"))["Status"] == "SUCCEEDED"
    assert await balance(api) == 2250


async def test_what_is_refused(api: MangopayApi) -> None:
    for path, given, wrong in (
        ("/payins/applepay/direct", {}, {"PaymentData"}),
        ("/payins/applepay/direct", {"PaymentData": {"TransactionId": "1"}}, {"PaymentData.Network"}),
        ("/payins/payment-methods/googlepay", {"PaymentData": "{}"}, {"IpAddress", "BrowserInfo"}),
        ("/payins/payment-methods/googlepay", {**SECURE, "PaymentData": {}}, {"PaymentData"}),
    ):
        answer = await api.call("POST", path, await body(api, **given))
        assert answer.status_code == 400
        assert wrong <= {*answer.json()["errors"]}
    assert await balance(api) == 0

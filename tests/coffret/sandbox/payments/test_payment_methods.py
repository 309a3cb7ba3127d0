"""Pay-ins with other methods than cards."""

from collections.abc import AsyncIterator
from typing import Any

import pytest

from coffret.sandbox.payments.payment_methods import METHODS, OLDER
from tests.coffret.sandbox.mangopay_api import SHOP, Json, MangopayApi, payin_body, running


@pytest.fixture
async def api() -> AsyncIterator[MangopayApi]:
    async with running() as api:
        await api.seed()
        yield api


async def body(api: MangopayApi, **changes: Any) -> Json:
    """The body of a pay-in with every method."""
    without = {name: value for name, value in payin_body(await api.payer()).items() if name != "CardType"}
    return {name: value for name, value in {**without, **changes}.items() if value is not None}


@pytest.mark.parametrize("method", METHODS)
async def test_the_buyer_confirms_on_the_page_of_the_method(api: MangopayApi, method: str) -> None:
    payin = await api.create(f"/payins/payment-methods/{method}", await body(api))
    assert (payin["Status"], payin["ExecutionType"]) == ("CREATED", "WEB")
    assert payin["PaymentType"] == METHODS[method]
    assert (await api.http.get(payin["RedirectURL"])).status_code == 200
    answer = await api.http.post(payin["RedirectURL"], data={"choice": "confirm", "code": "000000"})
    assert answer.headers["location"] == f"{SHOP}&transactionId={payin['Id']}"
    assert (await api.read(f"/payins/{payin['Id']}"))["ResultCode"] == "000000"
    assert (await api.read("/wallets/wallet"))["Balance"]["Amount"] == 2250
    refund = await api.create(f"/payins/{payin['Id']}/refunds", {"AuthorId": payin["AuthorId"]})
    assert refund["Status"] == "SUCCEEDED"


@pytest.mark.parametrize(
    ("decision", "code"),
    [({"challenge": "confirm"}, "000000"), ({"challenge": "refuse"}, "101301"), ({}, "101002")],
)
async def test_the_buyer_answers_on_the_phone(api: MangopayApi, decision: Json, code: str) -> None:
    payin = await api.create("/payins/payment-methods/mbway", await body(api, ReturnURL=None, Phone="351#269458236"))
    assert not {"RedirectURL", "ReturnURL"} & {*payin}
    paid = await api.control("POST", f"/payins/{payin['Id']}/pay", decision)
    assert paid["ResultCode"] == code


@pytest.mark.parametrize(("method", "seconds"), [("bancontact", 3600), ("ideal", 1800), ("twint", 900)])
async def test_a_page_that_nobody_answers_expires(api: MangopayApi, method: str, seconds: int) -> None:
    payin = await api.create(f"/payins/payment-methods/{method}", await body(api))
    await api.advance(seconds - 60)
    await api.log_in()
    assert (await api.read(f"/payins/{payin['Id']}"))["Status"] == "CREATED"
    await api.advance(61)
    assert (await api.read(f"/payins/{payin['Id']}"))["Status"] == "FAILED"


async def test_what_is_refused(api: MangopayApi) -> None:
    for culture, status in (("NL", 200), ("ES", 400)):
        answer = await api.call("POST", "/payins/payment-methods/bancontact", await body(api, Culture=culture))
        assert answer.status_code == status
    for method, changes in (("ideal", {"ReturnURL": None}), ("mbway", {"ReturnURL": None})):
        answer = await api.call("POST", f"/payins/payment-methods/{method}", await body(api, **changes))
        assert (answer.status_code, list(answer.json()["errors"])) == (400, ["ReturnURL"])
    assert (await api.call("POST", "/payins/payment-methods/invented", await body(api))).status_code == 501


@pytest.mark.parametrize(("method", "type"), OLDER.items())
async def test_the_older_addresses_of_methods(api: MangopayApi, method: str, type: str) -> None:
    payin = await api.create(f"/payins/{method}/web", await body(api))
    assert (payin["Status"], payin["PaymentType"]) == ("CREATED", type)
    paid = await api.control("POST", f"/payins/{payin['Id']}/pay", {"challenge": "confirm"})
    assert (paid["Status"], (await api.read("/wallets/wallet"))["Balance"]["Amount"]) == ("SUCCEEDED", 2250)


async def test_an_ideal_payment_by_the_older_page(api: MangopayApi) -> None:
    payin = await api.payin(CardType="IDEAL", Bic="RBRBNL21")
    assert (payin["PaymentType"], payin["BankName"]) == ("CARD", "RegioBank")
    answer = await api.http.post(payin["RedirectURL"], data={"choice": "confirm", "code": "000000"})
    assert answer.headers["location"] == f"{SHOP}&transactionId={payin['Id']}"
    assert (await api.read(f"/payins/{payin['Id']}"))["Status"] == "SUCCEEDED"


async def test_what_the_provider_knows_of_methods(api: MangopayApi) -> None:
    known = await api.create("/payment-methods/metadata", {"Type": "BIN", "Bin": "497010"})
    assert (known["IssuerCountryCode"], known["BinData"][0]["Brand"]) == ("FR", "VISA")
    assert (await api.call("POST", "/payment-methods/metadata", {"Type": "BIN", "Bin": "424242"})).status_code == 400
    path = "/payment-methods/openbanking/metadata/supported-banks"
    [germany] = (await api.read(f"{path}?CountryCodes=DE&per_page=2"))["SupportedBanks"]["Countries"]
    assert (germany["Country"], len(germany["Banks"])) == ("DE", 2)
    path = "/payins/payment-methods/paypal/data-collection"
    kept = await api.create(path, {"sender_first_name": "Jane"})
    assert (await api.read(f"{path}/{kept['dataCollectionId']}"))["sender_first_name"] == "Jane"

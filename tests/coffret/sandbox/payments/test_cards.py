"""Registered cards: registration by way of the tokeniser, payment, validation, deactivation."""

from collections.abc import AsyncIterator
from typing import Any

import pytest

from tests.coffret.sandbox.mangopay_api import CHALLENGE, SHOP, SUCCESS, Json, MangopayApi, running

BROWSER: Json = {
    "AcceptHeader": "text/html",
    "JavaEnabled": False,
    "JavascriptEnabled": True,
    "Language": "FR-FR",
    "ColorDepth": 24,
    "ScreenHeight": 1800,
    "ScreenWidth": 400,
    "TimeZoneOffset": "+60",
    "UserAgent": "Mozilla/5.0",
}
SECURE: Json = {"SecureModeReturnURL": SHOP, "IpAddress": "192.0.2.1", "BrowserInfo": BROWSER}


@pytest.fixture
async def api() -> AsyncIterator[MangopayApi]:
    async with running() as api:
        await api.seed()
        yield api


async def tokenise(api: MangopayApi, registration: Json, number: str = SUCCESS, **changes: str) -> str:
    """What the tokeniser answers the buyer's browser."""
    form = {
        "data": registration["PreregistrationData"],
        "accessKeyRef": registration["AccessKey"],
        "cardNumber": number,
        "cardExpirationDate": f"12{(api.clock.now().year + 1) % 100}",
        "cardCvx": "123",
        **changes,
    }
    answer = await api.http.post(registration["CardRegistrationURL"], data=form)
    assert (answer.status_code, answer.headers["Access-Control-Allow-Origin"]) == (200, "*")
    return answer.text


async def register(api: MangopayApi, user: str, number: str = SUCCESS) -> Json:
    """A card of a user."""
    registration = await api.create("/cardregistrations", {"UserId": user, "Currency": "EUR"})
    path = f"/cardregistrations/{registration['Id']}"
    data = await tokenise(api, registration, number)
    done = (await api.call("PUT", path, {"RegistrationData": data})).json()
    assert (done["Status"], done["ResultCode"]) == ("VALIDATED", "000000")
    assert await api.read(path) == done
    card: Json = await api.read(f"/cards/{done['CardId']}")
    return card


def payment(card: Json, **changes: Any) -> Json:
    """The body of a direct pay-in."""
    return {
        "AuthorId": card["UserId"],
        "CreditedWalletId": "wallet",
        "DebitedFunds": {"Currency": "EUR", "Amount": 2500},
        "Fees": {"Currency": "EUR", "Amount": 250},
        "CardId": card["Id"],
        **SECURE,
        **changes,
    }


async def balance(api: MangopayApi) -> int:
    amount: int = (await api.read("/wallets/wallet"))["Balance"]["Amount"]
    return amount


async def test_a_registered_card_pays_at_once(api: MangopayApi) -> None:
    card = await register(api, await api.payer())
    assert (card["Alias"], card["Active"], card["Validity"]) == ("497010XXXXXX1119", True, "UNKNOWN")
    paid = await api.create("/payins/card/direct", payment(card))
    assert (paid["Status"], paid["ResultCode"], paid["ExecutionType"]) == ("SUCCEEDED", "000000", "DIRECT")
    assert (paid["SecureModeNeeded"], paid["SecureModeRedirectURL"]) == (False, None)
    assert await api.read(f"/payins/{paid['Id']}") == paid
    assert await balance(api) == 2250
    for path in (f"/cards/{card['Id']}/transactions", f"/cards/fingerprints/{card['Fingerprint']}/transactions"):
        assert [item["Id"] for item in await api.read(path)] == [paid["Id"]]
    refund = await api.create(f"/payins/{paid['Id']}/refunds", {"AuthorId": card["UserId"]})
    assert (refund["Status"], await balance(api)) == ("SUCCEEDED", 0)


@pytest.mark.parametrize(("number", "mode"), [(CHALLENGE, "DEFAULT"), (SUCCESS, "FORCE")])
@pytest.mark.parametrize(("choice", "code"), [("confirm", "000000"), ("refuse", "101301")])
async def test_the_bank_asks_the_buyer(api: MangopayApi, number: str, mode: str, choice: str, code: str) -> None:
    card = await register(api, await api.payer(), number)
    payin = await api.create("/payins/card/direct", payment(card, SecureMode=mode))
    assert (payin["Status"], payin["SecureModeNeeded"]) == ("CREATED", True)
    page = await api.http.get(payin["SecureModeRedirectURL"])
    assert page.status_code == 200
    answer = await api.http.post(payin["SecureModeRedirectURL"], data={"choice": choice, "code": "000000"})
    assert answer.headers["location"] == f"{SHOP}&transactionId={payin['Id']}"
    assert (await api.read(f"/payins/{payin['Id']}"))["ResultCode"] == code


async def test_a_challenge_that_nobody_answers_expires(api: MangopayApi) -> None:
    card = await register(api, await api.payer(), CHALLENGE)
    payin = await api.create("/payins/card/direct", payment(card))
    await api.advance(901)
    assert (await api.read(f"/payins/{payin['Id']}"))["ResultCode"] == "101304"


@pytest.mark.parametrize(
    ("number", "code"),
    [
        ("4970109000000106", "101101"),
        ("4970109000000809", "000000"),
        ("4970109000000908", "000000"),
        ("4970109000001302", "009101"),
    ],
)
async def test_every_card_has_its_end(api: MangopayApi, number: str, code: str) -> None:
    card = await register(api, await api.payer(), number)
    assert (await api.create("/payins/card/direct", payment(card)))["ResultCode"] == code


async def test_a_late_result(api: MangopayApi) -> None:
    card = await register(api, await api.payer(), "4970109000001104")
    payin = await api.create("/payins/card/direct", payment(card))
    assert (payin["Status"], payin["SecureModeNeeded"]) == ("CREATED", False)
    await api.advance(31)
    assert (await api.read(f"/payins/{payin['Id']}"))["Status"] == "SUCCEEDED"


@pytest.mark.parametrize(
    ("changes", "answered", "code"),
    [
        ({"cardNumber": "4111111111111111"}, "errorCode=02625", "105202"),
        ({"cardNumber": "4970109000001401"}, "errorCode=02625", "105202"),
        ({"cardExpirationDate": "0120"}, "errorCode=02626", "105203"),
        ({"cardCvx": "12"}, "errorCode=02627", "105204"),
        ({"accessKeyRef": "wrong"}, "errorCode=09101", "105206"),
        ({"accessKeyRef": "fälsch"}, "errorCode=09101", "105206"),
        ({"data": "wrong"}, "errorCode=09101", "105206"),
    ],
)
async def test_the_tokeniser_refuses(api: MangopayApi, changes: dict[str, str], answered: str, code: str) -> None:
    registration = await api.create("/cardregistrations", {"UserId": await api.payer(), "Currency": "EUR"})
    assert await tokenise(api, registration, **changes) == answered
    path = f"/cardregistrations/{registration['Id']}"
    failed = (await api.call("PUT", path, {"RegistrationData": answered})).json()
    assert (failed["Status"], failed["ResultCode"], failed["CardId"]) == ("ERROR", code, None)
    again = await api.call("PUT", path, {"RegistrationData": answered})
    assert (again.status_code, list(again.json()["errors"])) == (400, ["RegistrationData"])


async def test_registration_data_of_nothing(api: MangopayApi) -> None:
    registration = await api.create("/cardregistrations", {"UserId": await api.payer(), "Currency": "EUR"})
    path = f"/cardregistrations/{registration['Id']}"
    failed = (await api.call("PUT", path, {"RegistrationData": "data=None"})).json()
    assert (failed["Status"], failed["CardId"]) == ("ERROR", None)


async def test_a_card_is_deactivated_for_good(api: MangopayApi) -> None:
    user = await api.payer()
    card, kept = await register(api, user), await register(api, user)
    assert card["Fingerprint"] == kept["Fingerprint"]
    off = (await api.call("PUT", f"/cards/{card['Id']}", {"Active": False})).json()
    assert off == {**card, "Active": False}
    assert (await api.call("PUT", f"/cards/{card['Id']}", {"Active": True})).status_code == 400
    assert (await api.create("/payins/card/direct", payment(card)))["ResultCode"] == "101106"
    for path, found in (
        (f"/users/{user}/cards", [off, kept]),
        (f"/users/{user}/cards?Active=true", [kept]),
        (f"/users/{user}/cards?Active=false", [off]),
        (f"/cards/fingerprints/{card['Fingerprint']}", [off, kept]),
    ):
        assert await api.read(path) == found


async def test_a_card_of_somebody_else_does_not_pay(api: MangopayApi) -> None:
    card = await register(api, await api.payer())
    for body, field in (
        (payment(card, AuthorId=await api.payer()), "CardId"),
        (payment(card, CardId="none"), "CardId"),
        ({name: value for name, value in payment(card).items() if name != "BrowserInfo"}, "BrowserInfo"),
    ):
        answer = await api.call("POST", "/payins/card/direct", body)
        assert (answer.status_code, list(answer.json()["errors"])) == (400, [field])


@pytest.mark.parametrize(("number", "validity"), [(SUCCESS, "VALID"), ("4970109000000304", "INVALID")])
async def test_a_card_is_validated(api: MangopayApi, number: str, validity: str) -> None:
    card = await register(api, await api.payer(), number)
    path = f"/cards/{card['Id']}/validation"
    done = await api.create(path, {"AuthorId": card["UserId"], "PaymentCategory": "TelephoneOrder", **SECURE})
    assert (done["Validity"], done["PaymentCategory"]) == (validity, "TelephoneOrder")
    assert await api.read(f"{path}/{done['Id']}") == done
    assert (await api.read(f"/cards/{card['Id']}"))["Validity"] == validity
    other = await api.call("POST", path, {"AuthorId": await api.payer(), **SECURE})
    assert (other.status_code, list(other.json()["errors"])) == (400, ["AuthorId"])


async def test_the_validation_with_a_challenge_is_not_modelled(api: MangopayApi) -> None:
    card = await register(api, await api.payer(), CHALLENGE)
    answer = await api.call("POST", f"/cards/{card['Id']}/validation", {"AuthorId": card["UserId"], **SECURE})
    assert answer.status_code == 501

"""Bank accounts over the wire: what is refused, who authenticates, and when money can be sent there."""

import copy
import functools
import re
from collections.abc import AsyncIterator
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

from tests.coffret.sandbox.mangopay_api import Json, MangopayApi, running
from tests.coffret.sandbox.owners import ADDRESS, BANK_ACCOUNT, IBAN, assert_refused, list_events, owner

EVENTS = ["RECIPIENT_ACTIVE", "RECIPIENT_CANCELED", "RECIPIENT_DEACTIVATED"]
INDIVIDUAL: Json = {
    **{name: value for name, value in BANK_ACCOUNT.items() if name != "BusinessRecipient"},
    "RecipientType": "Individual",
    "IndividualRecipient": {"FirstName": "Joana", "LastName": "Dupont", "Address": ADDRESS},
}
INTERNATIONAL: Json = {
    **{name: value for name, value in BANK_ACCOUNT.items() if name != "LocalBankTransfer"},
    "PayoutMethodType": "InternationalBankTransfer",
    "InternationalBankTransfer": {"AccountNumber": IBAN},
}
REAL_EMAIL = "joana@example.com"


@pytest.fixture
async def api() -> AsyncIterator[MangopayApi]:
    async with running() as api:
        yield api


def german(last: int, check: int) -> Json:
    """A body with one of the sandbox's own accounts."""
    return {
        **BANK_ACCOUNT,
        "Country": "DE",
        "LocalBankTransfer": {"EUR": {"IBAN": f"DE{check:02}{last:018}"}},
    }


async def enrolled(api: MangopayApi) -> str:
    """An owner that authenticates, and has."""
    user = await owner(api, email=REAL_EMAIL)
    action = (await api.read(f"/sca/users/{user}"))["PendingUserAction"]
    await conclude(api, action, "succeed")
    return user


async def conclude(api: MangopayApi, action: Json, outcome: str) -> None:
    """End the session that an action leads to."""
    token = parse_qs(urlsplit(action["RedirectUrl"]).query)["token"][0]
    await api.control("POST", f"/sca/{token}", {"outcome": outcome})


async def create_recipient(api: MangopayApi, user: str, body: Json = BANK_ACCOUNT) -> Json:
    """A recipient."""
    return await api.create(f"/users/{user}/recipients", body)


async def read(api: MangopayApi, recipient: Json) -> Json:
    """The recipient now."""
    result: Json = await api.read(f"/recipients/{recipient['Id']}")
    return result


async def count(api: MangopayApi, user: str) -> int:
    """How many recipients a user has."""
    return len(await api.read(f"/users/{user}/recipients?RecipientScope=ALL"))


async def test_whoever_authenticates_makes_it_usable(api: MangopayApi) -> None:
    user = await enrolled(api)
    recipient = await create_recipient(api, user, {**BANK_ACCOUNT, "Tag": "partner 7"})
    assert recipient["Id"].startswith("rec_")
    assert recipient["PendingUserAction"]["RedirectUrl"].startswith("http://sandbox.test/_provider/sca?token=")
    assert recipient == {
        **BANK_ACCOUNT,
        "Id": recipient["Id"],
        "UserId": user,
        "Tag": "partner 7",
        "Status": "PENDING",
        "CreationDate": int(api.clock.timestamp()),
        "BusinessRecipient": {
            "BusinessName": "Maison Soleil",
            "Address": {**ADDRESS, "AddressLine2": None, "Region": None},
        },
        "IndividualRecipient": None,
        "LocalBankTransfer": {"EUR": {"IBAN": IBAN, "BIC": "BNPAFRPP"}},
        "InternationalBankTransfer": None,
        "RecipientVerificationOfPayee": recipient["RecipientVerificationOfPayee"],
        "PendingUserAction": recipient["PendingUserAction"],
    }
    assert await read(api, recipient) == recipient
    await conclude(api, recipient["PendingUserAction"], "succeed")
    assert await read(api, recipient) == {**recipient, "Status": "ACTIVE", "PendingUserAction": None}
    assert await list_events(api, *EVENTS) == [("RECIPIENT_ACTIVE", recipient["Id"])]


@pytest.mark.parametrize("how", ["failed", "late"])
async def test_without_authentication_it_is_cancelled_for_good(api: MangopayApi, how: str) -> None:
    user = await enrolled(api)
    recipient = await create_recipient(api, user)
    if how == "failed":
        await conclude(api, recipient["PendingUserAction"], "fail")
    else:
        await api.advance(595)
        assert (await read(api, recipient))["Status"] == "PENDING"
        await api.advance(6)
    assert await read(api, recipient) == {**recipient, "Status": "CANCELED", "PendingUserAction": None}
    assert await list_events(api, *EVENTS) == [("RECIPIENT_CANCELED", recipient["Id"])]
    again = await create_recipient(api, user)
    assert again["Id"] != recipient["Id"]
    await conclude(api, again["PendingUserAction"], "succeed")
    assert (await read(api, again))["Status"] == "ACTIVE"
    assert (await read(api, recipient))["Status"] == "CANCELED"


async def test_an_email_that_goes_around_authentication(api: MangopayApi) -> None:
    user = await owner(api)
    await api.hook(*EVENTS)
    recipient = await create_recipient(api, user)
    assert (recipient["Status"], recipient["PendingUserAction"]) == ("PENDING", None)
    assert (await read(api, recipient))["Status"] == "ACTIVE"
    await api.advance(1)
    assert await api.notices() == [("RECIPIENT_ACTIVE", recipient["Id"])]


async def test_accounts_for_pay_ins_need_no_authentication(api: MangopayApi) -> None:
    for user in (await api.payer(), await enrolled(api)):
        recipient = await create_recipient(api, user, {**INDIVIDUAL, "RecipientScope": "PAYIN"})
        assert (recipient["Status"], recipient["PendingUserAction"]) == ("PENDING", None)
        assert (await read(api, recipient))["Status"] == "ACTIVE"


async def test_consent_stands_for_authentication(api: MangopayApi) -> None:
    user = await enrolled(api)
    body = {**BANK_ACCOUNT, "ScaContext": "USER_NOT_PRESENT"}
    answer = await api.call("POST", f"/users/{user}/recipients", body)
    await assert_refused(api, answer, 403, "forbidden_ressource")
    assert await count(api, user) == 0
    consent = await api.create(f"/sca/users/{user}/consent", {})
    await conclude(api, consent["PendingUserAction"], "succeed")
    recipient = await create_recipient(api, user, body)
    assert recipient["PendingUserAction"] is None
    assert (await read(api, recipient))["Status"] == "ACTIVE"


async def test_payers_are_not_paid_out(api: MangopayApi) -> None:
    payer = await api.payer()
    for path in ("recipients", "recipients/validate"):
        answer = await api.call("POST", f"/users/{payer}/{path}", BANK_ACCOUNT)
        await assert_refused(api, answer, 400, "param_error", "RecipientScope")
    assert await count(api, payer) == 0


async def test_an_account_is_for_payouts_unless_it_says_more(api: MangopayApi) -> None:
    body = {name: value for name, value in INDIVIDUAL.items() if name != "RecipientScope"}
    for user in (await api.payer(), await owner(api)):
        assert (await create_recipient(api, user, body))["RecipientScope"] == "PAYOUT"


async def test_whoever_has_not_enrolled_authenticates_for_an_account(api: MangopayApi) -> None:
    pending = await owner(api, email=REAL_EMAIL)
    recipient = await create_recipient(api, pending)
    assert recipient["Status"] == "PENDING"
    await conclude(api, recipient["PendingUserAction"], "succeed")
    assert (await read(api, recipient))["Status"] == "ACTIVE"


async def test_an_account_in_pounds_sterling(api: MangopayApi) -> None:
    user = await owner(api)
    body = {**BANK_ACCOUNT, "Currency": "GBP", "Country": "GB"}
    for number in ({}, {"GBP": {"SortCode": "2000", "AccountNumber": "55779911"}}):
        answer = await api.call("POST", f"/users/{user}/recipients", {**body, "LocalBankTransfer": number})
        assert (answer.status_code, answer.json()["Type"]) == (400, "param_error")
    number = {"GBP": {"SortCode": "200000", "AccountNumber": "55779911"}}
    recipient = await create_recipient(api, user, {**body, "LocalBankTransfer": number})
    assert recipient["LocalBankTransfer"] == number
    assert "RecipientVerificationOfPayee" not in recipient
    query = "payoutMethodType=LocalBankTransfer&recipientType=Business&currency=GBP&country=GB"
    assert set((await api.read(f"/recipients/schema?{query}"))["LocalBankTransfer"]["GBP"]) == set(number["GBP"])


def changed(body: Json, field: str, value: Any) -> Json:
    """The body with another value in a dotted field, or without it when the value is none."""
    copied = copy.deepcopy(body)
    *path, last = field.split(".")
    place = functools.reduce(lambda value, part: value[part], path, copied)
    if value is None:
        del place[last]
    else:
        place[last] = value
    return copied


@pytest.mark.parametrize(
    ("body", "field", "value"),
    [
        *(
            (BANK_ACCOUNT, field, None)
            for field in BANK_ACCOUNT
            if field not in {"RecipientScope", "LocalBankTransfer"}
        ),
        (BANK_ACCOUNT, "DisplayName", ""),
        (BANK_ACCOUNT, "DisplayName", "x" * 51),
        (BANK_ACCOUNT, "DisplayName", "Maison\nSoleil"),
        *((BANK_ACCOUNT, "DisplayName", f"Maison {sign} Soleil") for sign in "&,'/"),
        (BANK_ACCOUNT, "PayoutMethodType", "Pigeon"),
        (BANK_ACCOUNT, "RecipientType", "Robot"),
        (BANK_ACCOUNT, "Currency", "XYZ"),
        (BANK_ACCOUNT, "Country", "France"),
        (BANK_ACCOUNT, "RecipientScope", "BOTH"),
        (BANK_ACCOUNT, "BusinessRecipient.BusinessName", None),
        (BANK_ACCOUNT, "BusinessRecipient.Address", None),
        (BANK_ACCOUNT, "BusinessRecipient.Address.City", None),
        (BANK_ACCOUNT, "LocalBankTransfer.EUR.IBAN", None),
        (BANK_ACCOUNT, "LocalBankTransfer.EUR.IBAN", "FR7630004000031234567890144"),
        (BANK_ACCOUNT, "LocalBankTransfer.EUR.IBAN", "no account"),
        (BANK_ACCOUNT, "LocalBankTransfer.EUR.IBAN", "DE89370400440532013000"),
        (BANK_ACCOUNT, "ScaContext", "ASLEEP"),
        (INDIVIDUAL, "IndividualRecipient", None),
        (INDIVIDUAL, "IndividualRecipient.LastName", None),
        (INTERNATIONAL, "InternationalBankTransfer.AccountNumber", None),
        (INTERNATIONAL, "InternationalBankTransfer.AccountNumber", "FR7630004000031234567890144"),
    ],
)
async def test_a_wrong_account_is_refused(api: MangopayApi, body: Json, field: str, value: Any) -> None:
    user = await owner(api)
    for path in ("recipients", "recipients/validate"):
        answer = await api.call("POST", f"/users/{user}/{path}", changed(body, field, value))
        await assert_refused(api, answer, 400, "param_error", field)
    assert await count(api, user) == 0
    assert await list_events(api, *EVENTS) == []


@pytest.mark.parametrize(
    ("body", "field"),
    [
        (changed(BANK_ACCOUNT, "LocalBankTransfer", None), "LocalBankTransfer.EUR.IBAN"),
        (changed(BANK_ACCOUNT, "LocalBankTransfer.EUR", None), "LocalBankTransfer.EUR.IBAN"),
        (changed(INTERNATIONAL, "InternationalBankTransfer", None), "InternationalBankTransfer.AccountNumber"),
        ({**BANK_ACCOUNT, "RecipientType": "Individual"}, "IndividualRecipient"),
        ({**BANK_ACCOUNT, "Country": "TN"}, "PayoutMethodType"),
        (german(5, 95), "LocalBankTransfer.EUR.IBAN"),
    ],
)
async def test_what_does_not_fit_together_is_refused(api: MangopayApi, body: Json, field: str) -> None:
    user = await owner(api)
    answer = await api.call("POST", f"/users/{user}/recipients", body)
    await assert_refused(api, answer, 400, "param_error", field)
    assert await count(api, user) == 0


@pytest.mark.parametrize(("country", "currency"), [("US", "EUR"), ("PL", "PLN")])
async def test_ways_of_payment_that_are_not_modelled_say_so(api: MangopayApi, country: str, currency: str) -> None:
    user = await owner(api)
    account = {"IBAN": IBAN} if currency == "EUR" else {"AccountNumber": "31926819"}
    body = {**BANK_ACCOUNT, "LocalBankTransfer": {currency: account}, "Country": country, "Currency": currency}
    answer = await api.call("POST", f"/users/{user}/recipients", body)
    await assert_refused(api, answer, 501, "not_modelled_by_sandbox")
    assert await count(api, user) == 0


async def test_what_validation_lets_pass_can_be_made(api: MangopayApi) -> None:
    user = await owner(api)
    for body in (BANK_ACCOUNT, INDIVIDUAL, INTERNATIONAL, {**BANK_ACCOUNT, "RecipientScope": "PAYIN"}, german(1, 9)):
        answer = await api.call("POST", f"/users/{user}/recipients/validate", body)
        assert (answer.status_code, answer.content) == (200, b""), answer.text
    assert await count(api, user) == 0
    for body in (BANK_ACCOUNT, INDIVIDUAL, INTERNATIONAL, german(1, 9)):
        await create_recipient(api, user, body)
    assert await count(api, user) == 4


@pytest.mark.parametrize(("last", "check", "match"), [(1, 9, "MATCH"), (4, 25, "NO_MATCH")])
async def test_the_bank_is_asked_for_the_holders_name(api: MangopayApi, last: int, check: int, match: str) -> None:
    recipient = await create_recipient(api, await owner(api), german(last, check))
    payee = recipient["RecipientVerificationOfPayee"]
    assert payee["RecipientVerificationCheck"] == match
    assert payee["RecipientVerificationId"]
    assert payee["RecipientVerificationMessage"]
    assert (await read(api, recipient))["RecipientVerificationOfPayee"] == payee


async def test_an_international_account(api: MangopayApi) -> None:
    recipient = await create_recipient(api, await owner(api), INTERNATIONAL)
    assert recipient["InternationalBankTransfer"] == {"AccountNumber": IBAN, "BIC": "BNPAFRPP"}
    assert recipient["LocalBankTransfer"] is None
    assert "RecipientVerificationOfPayee" not in recipient


async def test_deactivated_for_good(api: MangopayApi) -> None:
    recipient = await create_recipient(api, await owner(api))
    path = f"/recipients/{recipient['Id']}"
    for body in ({}, {"Status": "ACTIVE"}):
        await assert_refused(api, await api.call("PUT", path, body), 400, "param_error", "Status")
    assert (await read(api, recipient))["Status"] == "ACTIVE"
    answer = await api.call("PUT", path, {"Status": "DEACTIVATED"})
    assert (answer.status_code, answer.json()["Status"]) == (200, "DEACTIVATED")
    await assert_refused(api, await api.call("PUT", path, {"Status": "DEACTIVATED"}), 400, "param_error", "Status")
    assert await list_events(api, *EVENTS) == [
        ("RECIPIENT_ACTIVE", recipient["Id"]),
        ("RECIPIENT_DEACTIVATED", recipient["Id"]),
    ]


async def test_what_waits_is_not_deactivated(api: MangopayApi) -> None:
    recipient = await create_recipient(api, await enrolled(api))
    answer = await api.call("PUT", f"/recipients/{recipient['Id']}", {"Status": "DEACTIVATED"})
    await assert_refused(api, answer, 400, "param_error", "Status")
    assert await read(api, recipient) == recipient


async def test_lists_tell_less_and_newest_first(api: MangopayApi) -> None:
    user = await owner(api)
    first = await create_recipient(api, user)
    pay_in = await create_recipient(api, user, {**BANK_ACCOUNT, "RecipientScope": "PAYIN"})
    await api.advance(2)
    last = await create_recipient(api, user, INTERNATIONAL)

    async def list_recipients(query: str = "") -> list[str]:
        return [item["Id"] for item in await api.read(f"/users/{user}/recipients{query}")]

    assert await list_recipients() == [last["Id"], first["Id"]]
    assert await list_recipients("?RecipientScope=PAYIN") == [pay_in["Id"]]
    assert await list_recipients("?RecipientScope=ALL&Sort=CreationDate:ASC") == [first["Id"], pay_in["Id"], last["Id"]]
    (brief, *_) = await api.read(f"/users/{user}/recipients")
    assert brief == {
        name: (await read(api, last))[name]
        for name in (
            "Id",
            "CreationDate",
            "DisplayName",
            "PayoutMethodType",
            "RecipientType",
            "Currency",
            "Country",
            "UserId",
            "Status",
            "RecipientScope",
        )
    }
    answer = await api.call("GET", f"/users/{user}/recipients?RecipientScope=BOTH")
    await assert_refused(api, answer, 400, "param_error", "RecipientScope")


async def test_what_is_not_known_is_not_found(api: MangopayApi) -> None:
    for method, path, body in (
        ("GET", "/recipients/rec_none", None),
        ("PUT", "/recipients/rec_none", {"Status": "DEACTIVATED"}),
        ("GET", "/users/none/recipients", None),
        ("POST", "/users/none/recipients", BANK_ACCOUNT),
        ("POST", "/users/none/recipients/validate", BANK_ACCOUNT),
    ):
        await assert_refused(api, await api.call(method, path, body), 404, "ressource_not_found")


@pytest.mark.parametrize("names", [("payoutMethodType", "recipientType", "currency", "country"), None])
async def test_the_schema_says_what_is_needed(api: MangopayApi, names: tuple[str, ...] | None) -> None:
    names = names or ("PayoutMethodType", "RecipientType", "Currency", "Country")
    query = dict(zip(names, ("LocalBankTransfer", "Individual", "EUR", "FR"), strict=True))
    answer = await api.call("GET", "/recipients/schema", params=query)
    schema = answer.json()
    assert set(schema) >= {"DisplayName", "Currency", "Country", "IndividualRecipient", "LocalBankTransfer"}
    assert "BusinessRecipient" not in schema
    assert schema["Currency"]["AllowedValues"] == ["EUR"]
    assert schema["IndividualRecipient"]["Address"]["City"]["Required"] is True
    assert schema["IndividualRecipient"]["Address"]["AddressLine2"]["Required"] is False
    iban = schema["LocalBankTransfer"]["EUR"]["IBAN"]
    assert re.fullmatch(iban["Pattern"], IBAN)
    assert not re.fullmatch(iban["Pattern"], "DE89370400440532013000")


async def test_the_schema_of_an_international_account(api: MangopayApi) -> None:
    query = "payoutMethodType=InternationalBankTransfer&recipientType=Business&currency=EUR&country=TN"
    schema = await api.read(f"/recipients/schema?{query}")
    assert set(schema["InternationalBankTransfer"]) == {"AccountNumber", "BIC"}
    assert set(schema["BusinessRecipient"]) == {"BusinessName", "Address"}


@pytest.mark.parametrize(
    ("country", "methods"),
    [("FR", ["LocalBankTransfer", "InternationalBankTransfer"]), ("TN", ["InternationalBankTransfer"])],
)
async def test_ways_of_payment(api: MangopayApi, country: str, methods: list[str]) -> None:
    found = await api.read(f"/recipients/payout-methods?country={country}&currency=EUR")
    assert found == {"AvailablePayoutMethods": methods}


async def test_questions_that_lack_something(api: MangopayApi) -> None:
    answer = await api.call("GET", "/recipients/payout-methods", params={"country": "FR"})
    await assert_refused(api, answer, 400, "param_error", "Currency")
    answer = await api.call("GET", "/recipients/schema", params={"country": "FR", "currency": "EUR"})
    await assert_refused(api, answer, 400, "param_error", "PayoutMethodType", "RecipientType")
    answer = await api.call("GET", "/recipients/payout-methods", params={"country": "US", "currency": "EUR"})
    await assert_refused(api, answer, 501, "not_modelled_by_sandbox")

"""Users after they were made: changed, made owners, blocked, closed, read."""

from collections.abc import AsyncIterator, Mapping
from typing import Any

import httpx
import pytest

from tests.coffret.sandbox.mangopay_api import PAYER, Json, MangopayApi, running
from tests.coffret.sandbox.people import (
    ADDRESS,
    COMPANY,
    EMAIL,
    NATURAL,
    PERSON,
    enrolled,
    list_events,
    owner,
    page_of,
    token_of,
    walk,
)

ASKED, CLOSED = "USER_ACCOUNT_VALIDATION_ASKED", "USER_ACCOUNT_CLOSED"
LEGAL_PAYER: Mapping[str, Any] = {
    "UserCategory": "PAYER",
    "TermsAndConditionsAccepted": False,
    "LegalPersonType": "BUSINESS",
    "Name": "Maison Lune",
    "Email": "contact@lune.example",
    "LegalRepresentative": {"FirstName": "Luc", "LastName": "Lune"},
}


@pytest.fixture
async def api() -> AsyncIterator[MangopayApi]:
    async with running() as api:
        yield api


async def put(api: MangopayApi, path: str, body: Mapping[str, Any]) -> Json:
    """A PUT that works."""
    answer = await api.call("PUT", path, dict(body))
    assert answer.status_code == 200, answer.text
    result: Json = answer.json()
    return result


def wrong(answer: httpx.Response, *fields: str) -> None:
    """A refusal that names these fields."""
    assert (answer.status_code, answer.json()["Type"]) == (400, "param_error"), answer.text
    assert sorted(answer.json()["errors"]) == sorted(fields)


async def test_what_is_not_sent_stays(api: MangopayApi) -> None:
    user = await enrolled(api)
    person = {**user["LegalRepresentative"], "CountryOfResidence": "BE"}
    changed = await put(
        api,
        f"/sca/users/legal/{user['Id']}",
        {"Tag": "partner 7", "LegalRepresentative": {"CountryOfResidence": "BE"}},
    )
    assert changed == {**user, "Tag": "partner 7", "LegalRepresentative": person}
    assert await api.read(f"/sca/users/{user['Id']}") == changed
    assert await list_events(api, ASKED) == [(ASKED, user["Id"])]


@pytest.mark.parametrize(
    "change", [{"Email": "new@maison.example"}, {"PhoneNumber": "0612345678"}, {"PhoneNumberCountry": "FR"}]
)
async def test_another_contact_has_to_enrol_again(api: MangopayApi, change: Mapping[str, str]) -> None:
    user = await enrolled(api)
    changed = await put(api, f"/sca/users/legal/{user['Id']}", {"LegalRepresentative": change})
    assert changed["UserStatus"] == "PENDING_USER_ACTION"
    assert await list_events(api, ASKED) == [(ASKED, user["Id"])] * 2
    if "Email" not in change:
        await walk(api, page_of(changed))
    else:
        await api.control("POST", f"/sca/{token_of(changed)}", {"outcome": "succeed"})
    assert (await api.read(f"/sca/users/{user['Id']}"))["UserStatus"] == "ACTIVE"


async def test_a_payer_s_contact_changes_freely(api: MangopayApi) -> None:
    payer = await api.payer()
    changed = await put(api, f"/sca/users/natural/{payer}", {"Email": "new@example.com"})
    assert (changed["Email"], changed["UserStatus"], changed["PendingUserAction"]) == (
        "new@example.com",
        "ACTIVE",
        None,
    )


async def test_the_company_s_own_address_changes_freely(api: MangopayApi) -> None:
    user = await enrolled(api)
    changed = await put(api, f"/sca/users/legal/{user['Id']}", {"Email": "new@maison.example"})
    assert (changed["Email"], changed["UserStatus"]) == ("new@maison.example", "ACTIVE")


@pytest.mark.parametrize(
    "change",
    [
        {"LegalRepresentative": {"LastName": "Noir"}},
        {"LegalRepresentative": {"Birthday": 86400}},
        {"LegalPersonType": "SOLETRADER"},
    ],
)
async def test_another_identity_is_not_proven(api: MangopayApi, change: Mapping[str, Any]) -> None:
    user = await enrolled(api)
    check = await api.create(
        f"/users/{user['Id']}/identity-verifications", {"ReturnUrl": "https://shop.example/k/abcdefgh"}
    )
    await api.control("POST", f"/identity-verifications/{check['Id']}", {"outcome": "validate"})
    assert (await api.read(f"/sca/users/{user['Id']}"))["KYCLevel"] == "REGULAR"
    changed = await put(api, f"/sca/users/legal/{user['Id']}", change)
    assert (changed["KYCLevel"], changed["UserStatus"]) == ("LIGHT", "ACTIVE")
    assert (await api.read(f"/identity-verifications/{check['Id']}"))["Status"] == "OUT_OF_DATE"
    assert await list_events(api, "USER_KYC_LIGHT") == [("USER_KYC_LIGHT", user["Id"])]


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"Name": ""}, "Name"),
        ({"LegalRepresentative": {"Email": "nobody"}}, "LegalRepresentative.Email"),
        ({"LegalRepresentative": {"Birthday": 1.5}}, "LegalRepresentative.Birthday"),
        ({"LegalRepresentative": {"Nationality": "fr"}}, "LegalRepresentative.Nationality"),
        ({"LegalRepresentative": {"firstName": "Ann"}}, "firstName"),
        ({"LegalRepresentative": None}, "LegalRepresentative"),
        ({"HeadquartersAddress": {"Country": "US"}}, "Region"),
        ({"HeadquartersAddress": None}, "HeadquartersAddress"),
        ({"CompanyNumber": None}, "CompanyNumber"),
        ({"LegalPersonType": "CLUB"}, "LegalPersonType"),
        ({"TermsAndConditionsAccepted": False}, "TermsAndConditionsAccepted"),
        ({"UserCategory": "PAYER"}, "UserCategory"),
        ({"Tag": "x" * 256}, "Tag"),
        ({"name": "Other"}, "name"),
    ],
)
async def test_a_change_is_checked_like_a_new_user(api: MangopayApi, change: Mapping[str, Any], field: str) -> None:
    user = await owner(api)
    wrong(await api.call("PUT", f"/sca/users/legal/{user['Id']}", dict(change)), field)
    assert await api.read(f"/sca/users/{user['Id']}") == user


async def test_changes_of_nobody(api: MangopayApi) -> None:
    user = await owner(api)
    for method, path in (
        ("PUT", "/sca/users/legal/none"),
        ("PUT", f"/sca/users/natural/{user['Id']}"),
        ("PUT", f"/sca/users/natural/{user['Id']}/category"),
        ("DELETE", f"/users/natural/{user['Id']}"),
        ("DELETE", "/users/legal/none"),
        ("GET", "/users/none/Regulatory"),
        ("GET", "/users/none"),
        ("GET", f"/users/natural/{user['Id']}"),
    ):
        answer = await api.call(method, path, {})
        assert (answer.status_code, answer.json()["Type"]) == (404, "ressource_not_found"), path
    assert await api.read(f"/sca/users/legal/{user['Id']}") == user


async def test_a_payer_becomes_an_owner(api: MangopayApi) -> None:
    payer = await api.payer()
    more = {key: PERSON[key] for key in ("Birthday", "Nationality", "CountryOfResidence")}
    terms = {"UserCategory": "OWNER", "TermsAndConditionsAccepted": True}
    path = f"/sca/users/natural/{payer}/category"
    before = await api.read(f"/users/{payer}")
    wrong(await api.call("PUT", path, more), "UserCategory", "TermsAndConditionsAccepted")
    wrong(await api.call("PUT", path, {**more, **terms, "UserCategory": "PAYER"}), "UserCategory")
    wrong(
        await api.call("PUT", path, {**more, **terms, "TermsAndConditionsAccepted": False}),
        "TermsAndConditionsAccepted",
    )
    wrong(await api.call("PUT", path, terms), "Birthday", "Nationality", "CountryOfResidence")
    assert await api.read(f"/users/{payer}") == before
    made = await put(api, path, {**more, **terms, "Email": EMAIL})
    assert (made["UserCategory"], made["UserStatus"]) == ("OWNER", "PENDING_USER_ACTION")
    assert made["TermsAndConditionsAcceptedDate"] >= made["CreationDate"]
    await walk(api, page_of(made))
    assert (await api.read(f"/users/{payer}"))["UserStatus"] == "ACTIVE"
    wrong(await api.call("PUT", path, {**more, **terms}), "UserCategory")


async def test_a_company_that_pays_becomes_an_owner(api: MangopayApi) -> None:
    payer = await api.create("/sca/users/legal", LEGAL_PAYER)
    assert payer["UserStatus"] == "ACTIVE"
    terms = {"UserCategory": "OWNER", "TermsAndConditionsAccepted": True}
    path = f"/sca/users/legal/{payer['Id']}/category"
    needed = [f"LegalRepresentative.{name}" for name in ("Email", "Birthday", "Nationality", "CountryOfResidence")]
    wrong(await api.call("PUT", path, terms), *needed, "HeadquartersAddress", "CompanyNumber")
    more = {"LegalRepresentative": PERSON, "HeadquartersAddress": ADDRESS, "CompanyNumber": "987654321"}
    made = await put(api, path, {**terms, **more})
    assert made["LegalRepresentative"]["FirstName"] == "Anne"
    assert made["PendingUserAction"]


async def test_an_owner_s_representative_is_known(api: MangopayApi) -> None:
    for name in ("Email", "Birthday", "Nationality", "CountryOfResidence"):
        person = {key: value for key, value in PERSON.items() if key != name}
        wrong(
            await api.call("POST", "/sca/users/legal", {**COMPANY, "LegalRepresentative": person}),
            f"LegalRepresentative.{name}",
        )
    assert await api.read("/users") == []


async def test_blocked_and_unblocked(api: MangopayApi) -> None:
    user = await enrolled(api)
    path = f"/users/{user['Id']}/Regulatory"
    never = {"KycInformation": {"LastKycDate": None, "KycRenewalDeadline": None}}
    nothing = {"ActionCode": None, "ScopeBlocked": {"Inflows": False, "Outflows": False}, **never}
    assert await api.read(path) == nothing
    for block, scope in (
        ({"outflows": True, "code": "008705"}, {"Inflows": False, "Outflows": True}),
        ({"inflows": True, "outflows": True, "code": "008705"}, {"Inflows": True, "Outflows": True}),
    ):
        await api.control("POST", f"/users/{user['Id']}", {"block": block})
        assert await api.read(path) == {"ActionCode": "008705", "ScopeBlocked": scope, **never}
    await api.control("POST", f"/users/{user['Id']}", {"block": {}})
    assert await api.read(f"/users/{user['Id']}/regulatory/") == nothing
    for way in ("INFLOWS", "OUTFLOWS"):
        for event in (f"USER_{way}_BLOCKED", f"USER_{way}_UNBLOCKED"):
            assert await list_events(api, event) == [(event, user["Id"])]


async def test_closed_for_good(api: MangopayApi) -> None:
    user = await enrolled(api)
    wallet = await api.create("/wallets", {"Owners": [user["Id"]], "Description": "Main", "Currency": "EUR"})
    link = await api.create(f"/sca/users/{user['Id']}/enrollment", {})
    closed = await api.call("DELETE", f"/users/legal/{user['Id']}")
    assert (closed.status_code, closed.json()["UserStatus"]) == (200, "CLOSED")
    assert (await api.read(f"/users/{user['Id']}"))["UserStatus"] == "CLOSED"
    assert (await api.read(f"/users/{user['Id']}/Regulatory"))["ScopeBlocked"] == {"Inflows": True, "Outflows": True}
    for event in (CLOSED, "USER_INFLOWS_BLOCKED", "USER_OUTFLOWS_BLOCKED"):
        assert await list_events(api, event) == [(event, user["Id"])]
    assert (await api.http.get(page_of(link))).status_code == 410
    for method, path, body in (
        ("DELETE", f"/users/legal/{user['Id']}", None),
        ("PUT", f"/sca/users/legal/{user['Id']}", {"Tag": "x"}),
        ("POST", f"/sca/users/{user['Id']}/enrollment", {}),
        ("POST", f"/sca/users/{user['Id']}/consent", {}),
        ("POST", "/wallets", {"Owners": [user["Id"]], "Description": "Other", "Currency": "EUR"}),
        ("PUT", f"/wallets/{wallet['Id']}", {"Description": "Other"}),
    ):
        answer = await api.call(method, path, body)
        assert (answer.status_code, answer.json()["Type"]) == (400, "user_closed"), path
    assert (await api.read(f"/wallets/{wallet['Id']}"))["Description"] == "Main"


async def test_no_money_is_left_behind(api: MangopayApi) -> None:
    await api.paid()
    answer = await api.call("DELETE", "/users/legal/partner")
    assert (answer.status_code, answer.json()["Type"]) == (403, "forbidden_ressource")
    assert (await api.read("/users/partner"))["UserStatus"] == "ACTIVE"
    assert await list_events(api, CLOSED) == []


async def test_who_is_closed_is_not_paid(api: MangopayApi) -> None:
    payer = await api.payer()
    await api.call("DELETE", f"/users/natural/{payer}")
    await api.seed()
    body = {"AuthorId": payer, "CreditedWalletId": "wallet", "ReturnURL": "https://shop.example/"}
    money = {"DebitedFunds": {"Currency": "EUR", "Amount": 100}, "Fees": {"Currency": "EUR", "Amount": 0}}
    card = {"CardType": "CB_VISA_MASTERCARD", "Culture": "EN"}
    answer = await api.call("POST", "/payins/card/web", {**body, **money, **card})
    assert answer.json()["Type"] == "user_closed"
    await api.control("POST", "/users/partner", {"status": "CLOSED"})
    answer = await api.call("POST", "/payins/card/web", {**body, **money, **card, "AuthorId": await api.payer()})
    assert answer.json()["Type"] == "user_closed"


async def test_lists(api: MangopayApi) -> None:
    made = [
        await api.create("/sca/users/natural", PAYER),
        await owner(api),
        await api.create("/sca/users/natural", NATURAL),
    ]
    assert [user["Id"] for user in await api.read("/users")] == [user["Id"] for user in made]
    page = await api.call("GET", "/users?per_page=2&page=2&Sort=CreationDate:ASC")
    assert [user["Id"] for user in page.json()] == [made[2]["Id"]]
    assert page.headers["X-Number-Of-Items"] == "3"


async def test_the_control_plane_sets_what_a_user_is(api: MangopayApi) -> None:
    made = await owner(api)
    path = f"/users/{made['Id']}"
    shown = await api.control("GET", path)
    assert shown["user"] == made
    assert [session["token"] for session in shown["sessions"]] == [token_of(made)]
    active = await api.control("POST", path, {"status": "ACTIVE", "kyc_level": "REGULAR"})
    assert (active["user"]["UserStatus"], active["user"]["KYCLevel"]) == ("ACTIVE", "REGULAR")
    pending = await api.control("POST", path, {"status": "PENDING_USER_ACTION"})
    assert pending["user"]["PendingUserAction"]
    assert len(pending["sessions"]) == 2
    assert (await api.control("POST", path, {}))["user"] == pending["user"]
    await api.control("POST", path, {"status": "CLOSED"})
    for body, status in (
        ({"status": "ACTIVE"}, 400),
        ({"status": "GONE"}, 400),
        ({"kyc_level": "HIGH"}, 400),
        ({"block": {"code": "soon"}}, 400),
        ({"nothing": 1}, 400),
    ):
        assert (await api.http.post(f"/_sb{path}", json=body)).status_code == status
    assert (await api.control("GET", path))["user"]["UserStatus"] == "CLOSED"
    assert (await api.http.post("/_sb/users/none", json={})).status_code == 404


async def test_the_control_plane_ends_sessions(api: MangopayApi) -> None:
    made = await owner(api)
    path = f"/sca/{token_of(made)}"
    left = await api.control("POST", path, {"outcome": "leave"})
    assert (left["outcome"], left["stage"], left["purpose"]) == (None, "terms", "enrolment")
    assert left["url"] == made["PendingUserAction"]["RedirectUrl"]
    done = await api.control("POST", path, {"outcome": "succeed"})
    assert done["outcome"] == "succeeded"
    assert (await api.http.post(f"/_sb{path}", json={"outcome": "fail"})).status_code == 409
    assert (await api.http.post(f"/_sb{path}", json={"outcome": "win"})).status_code == 400
    assert (await api.http.post("/_sb/sca/none", json={"outcome": "fail"})).status_code == 404
    assert (await api.read(f"/sca/users/{made['Id']}"))["UserStatus"] == "ACTIVE"
    named = (await api.control("GET", "/"))["control_plane"]
    for line in ("GET /_sb/sca", "GET /_sb/sca/{token}", "POST /_sb/sca/{token}", "POST /_sb/users/{id}"):
        assert line in named

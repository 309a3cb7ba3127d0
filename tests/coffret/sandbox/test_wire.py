"""The sandbox's wire protocol: token, routes, refusals, lists, headers."""

import base64
from collections.abc import AsyncIterator
from typing import Any

import httpx
import pytest

from coffret.sandbox import SandboxRefused, SandboxSettings, sandbox_app
from coffret.sandbox.app import VERSIONS
from store.core.clock import Clock
from tests.coffret.sandbox.mangopay_api import HOOK, PAYER, MangopayApi, payin_body, running

ADDRESS = {"AddressLine1": "1 rue X", "City": "Paris", "PostalCode": "75001", "Country": "FR"}
LEGAL = {
    "UserCategory": "OWNER",
    "TermsAndConditionsAccepted": True,
    "LegalPersonType": "BUSINESS",
    "Name": "Maison Soleil",
    "Email": "contact@example.com",
    "CompanyNumber": "123456789",
    "LegalRepresentative": {
        "FirstName": "Ada",
        "LastName": "Owner",
        "Email": "ada@example.com",
        "Birthday": 0,
        "Nationality": "FR",
        "CountryOfResidence": "FR",
    },
    "HeadquartersAddress": ADDRESS,
}


@pytest.fixture
async def api() -> AsyncIterator[MangopayApi]:
    async with running(seed=7) as api:
        yield api


def refusal_errors(answer: httpx.Response, status: int, type: str) -> Any:
    """An error body in the provider's shape; answers its `errors`, which the newer interface spells otherwise."""
    assert answer.status_code == status, answer.text
    body = answer.json()
    errors = "Errors" if "/V3.0/" in str(answer.request.url) else "errors"
    assert set(body) == {"Message", "Type", "Id", "Date", errors}
    assert body["Type"] == type
    assert isinstance(body["Date"], float)
    assert body["Id"].endswith(f"#{int(body['Date'])}")
    return body[errors]


def test_refuses_production() -> None:
    with pytest.raises(SandboxRefused, match="does not run in production"):
        sandbox_app(SandboxSettings(public_url="http://localhost", clock=Clock()), production=True)


async def token(api: MangopayApi, **form: str) -> httpx.Response:
    basic = base64.b64encode(b"sandbox:sandbox").decode()
    return await api.http.post("/v2.01/oauth/token", data=form, headers={"Authorization": f"Basic {basic}"})


async def test_token_lives_for_its_time(api: MangopayApi) -> None:
    body = (await token(api, grant_type="client_credentials")).json()
    assert body == {"access_token": body["access_token"], "token_type": "Bearer", "expires_in": 3600}
    api.token = body["access_token"]
    await api.advance(3599)
    assert (await api.call("GET", "/hooks")).status_code == 200
    await api.advance(2)
    answer = await api.call("GET", "/hooks")
    refusal_errors(answer, 401, "unauthorized")
    assert "PendingUserAction" not in answer.headers["WWW-Authenticate"]


@pytest.mark.parametrize(
    "authorization", ["", "Basic !!!", "Basic " + base64.b64encode(b"sandbox:wrong").decode(), "Bearer x"]
)
async def test_wrong_secret_gets_no_token(api: MangopayApi, authorization: str) -> None:
    answer = await api.http.post(
        "/v2.01/oauth/token", data={"grant_type": "client_credentials"}, headers={"Authorization": authorization}
    )
    assert (answer.status_code, answer.json()) == (401, {"error": "invalid_client"})
    assert answer.headers["WWW-Authenticate"] == "Basic"


async def test_token_needs_its_form(api: MangopayApi) -> None:
    assert refusal_errors(await token(api, grant_type="password"), 400, "param_error") == {
        "grant_type": "The field grant_type must be client_credentials."
    }
    basic = base64.b64encode(b"sandbox:sandbox").decode()
    answer = await api.http.post("/v2.01/oauth/token", json={}, headers={"Authorization": f"Basic {basic}"})
    refusal_errors(answer, 415, "unsupported_media_type")


async def test_the_token_form_of_the_sdk_for_php(api: MangopayApi) -> None:
    basic = base64.b64encode(b"sandbox:sandbox").decode()
    form = '--x\r\nContent-Disposition: form-data; name="grant_type"\r\n\r\nclient_credentials\r\n--x--\r\n'
    headers = {"Authorization": f"Basic {basic}", "Content-Type": "application/x-www-form-urlencoded"}
    answer = await api.http.post("/v2.01/oauth/token", content=form, headers=headers)
    assert (answer.status_code, answer.json()["token_type"]) == (200, "Bearer")


async def test_languages_are_written_in_any_case(api: MangopayApi) -> None:
    assert (await api.payin(Culture="fr"))["Culture"] == "FR"


async def test_expired_tokens_and_counted_calls(api: MangopayApi) -> None:
    await api.read("/hooks")
    assert await api.control("POST", "/tokens/expire") == {"expired": 1}
    refusal_errors(await api.call("GET", "/hooks"), 401, "unauthorized")
    await api.log_in()
    await api.read("/hooks/")
    stats = await api.control("GET", "/stats")
    assert stats["token_calls"] == 2
    assert stats["calls"]["GET /hooks"] == 2


async def test_token_of_another_client(api: MangopayApi) -> None:
    await api.log_in()
    answer = await api.http.get("/v2.01/other/hooks", headers={"Authorization": f"Bearer {api.token}"})
    refusal_errors(answer, 403, "forbidden_ressource")


async def test_unknown_route_wrong_method_and_unmodelled(api: MangopayApi) -> None:
    refusal_errors(await api.call("GET", "/nothing"), 404, "ressource_not_found")
    answer = await api.call("PUT", "/events")
    refusal_errors(answer, 405, "method_not_allowed")
    assert answer.headers["Allow"] == "GET"
    answer = await api.call("POST", "/extended-preauthorizations/card/direct", {}, key="a" * 16)
    refusal_errors(answer, 501, "not_modelled_by_sandbox")
    assert "POST /extended-preauthorizations/card/direct" in answer.json()["Message"]
    refusal_errors(await api.call("GET", f"/responses/{'a' * 16}"), 400, "correlationid_not_found")


@pytest.mark.parametrize("version", VERSIONS)
async def test_every_unmodelled_route_says_so(api: MangopayApi, version: str) -> None:
    unmodelled = [
        endpoint for endpoint in VERSIONS[version].endpoints if not endpoint.is_modelled and not endpoint.public
    ]
    assert unmodelled
    for endpoint in unmodelled:
        path = endpoint.path.replace("{", "").replace("}", "")
        refusal_errors(await api.call(endpoint.method, path, {}, version=version), 501, "not_modelled_by_sandbox")


async def test_paths_ignore_case_and_final_slash(api: MangopayApi) -> None:
    id = await api.payer()
    assert (await api.read(f"/SCA/Users/NATURAL/{id}/"))["Id"] == id
    refusal_errors(await api.call("GET", f"/sca/users/natural/{id.lower()}"), 404, "ressource_not_found")


async def test_body_must_be_a_json_object(api: MangopayApi) -> None:
    await api.log_in()
    headers = {"Authorization": f"Bearer {api.token}"}
    for content, kind, status in (
        (b"{", "application/json", 400),
        (b"[]", "application/json", 400),
        (b"a=b", "text/plain", 415),
    ):
        answer = await api.http.post(
            "/v2.01/sandbox/sca/users/natural", content=content, headers={**headers, "Content-Type": kind}
        )
        assert answer.status_code == status, answer.text
    assert (await api.control("GET", "/stats"))["calls"]["POST /sca/users/natural"] == 3


async def test_natural_payer(api: MangopayApi) -> None:
    made = await api.create("/sca/users/natural", {**PAYER, "Tag": "buyer"})
    assert made["Id"].startswith("user_m_")
    assert len(made["Id"]) == len("user_m_") + 26
    assert made["CreationDate"] == int(api.clock.timestamp())
    assert {
        name: made[name]
        for name in ("PersonType", "UserCategory", "UserStatus", "KYCLevel", "Tag", "PendingUserAction")
    } == {
        "PersonType": "NATURAL",
        "UserCategory": "PAYER",
        "UserStatus": "ACTIVE",
        "KYCLevel": "LIGHT",
        "Tag": "buyer",
        "PendingUserAction": None,
    }
    assert await api.read(f"/sca/users/{made['Id']}") == made == await api.read(f"/sca/users/natural/{made['Id']}")
    refusal_errors(await api.call("GET", f"/sca/users/legal/{made['Id']}"), 404, "ressource_not_found")


async def test_owner_waits_for_authentication(api: MangopayApi) -> None:
    made = await api.create("/sca/users/legal", LEGAL)
    assert made["UserStatus"] == "PENDING_USER_ACTION"
    page = await api.http.get(made["PendingUserAction"]["RedirectUrl"] + "&returnUrl=https://shop.example/")
    assert page.status_code == 200
    representative = {**LEGAL["LegalRepresentative"], "Email": "ada+accept@example.com"}  # type: ignore[dict-item]
    active = await api.create("/sca/users/legal", {**LEGAL, "LegalRepresentative": representative})
    assert active["UserStatus"] == "ACTIVE"
    assert await api.read(f"/sca/users/legal/{active['Id']}") == active


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"FirstName": None}, "FirstName"),
        ({"Email": "nobody"}, "Email"),
        ({"UserCategory": "BUYER"}, "UserCategory"),
        ({"Tag": "x" * 256}, "Tag"),
        ({"UserCategory": "OWNER"}, "TermsAndConditionsAccepted"),
        (
            {"UserCategory": "OWNER", "TermsAndConditionsAccepted": True, "Birthday": 0, "Nationality": "FR"},
            "CountryOfResidence",
        ),
        ({"firstName": "Ada"}, "firstName"),
        ({"Address": {**ADDRESS, "Country": "US"}}, "Region"),
        ({"Address": {**ADDRESS, "Country": "fr"}}, "Address.Country"),
    ],
)
async def test_natural_user_refused(api: MangopayApi, change: dict[str, Any], field: str) -> None:
    errors = refusal_errors(await api.call("POST", "/sca/users/natural", {**PAYER, **change}), 400, "param_error")
    assert list(errors) == [field]


async def test_business_needs_its_number(api: MangopayApi) -> None:
    body = {name: value for name, value in LEGAL.items() if name != "CompanyNumber"}
    assert list(refusal_errors(await api.call("POST", "/sca/users/legal", body), 400, "param_error")) == [
        "CompanyNumber"
    ]
    assert (await api.create("/sca/users/legal", {**body, "LegalPersonType": "SOLETRADER"}))["CompanyNumber"] is None


async def test_missing_fields_are_all_named(api: MangopayApi) -> None:
    errors = refusal_errors(await api.call("POST", "/payins/card/web", {}), 400, "param_error")
    assert errors["CreditedWalletId"] == "The CreditedWalletId field is required."
    assert set(errors) == {"AuthorId", "CreditedWalletId", "DebitedFunds", "Fees", "ReturnURL", "CardType", "Culture"}


async def test_wallet(api: MangopayApi) -> None:
    owner = await api.payer()
    made = await api.create("/wallets", {"Owners": [owner], "Description": "Purse", "Currency": "EUR", "Tag": "w"})
    assert made == {
        "Id": made["Id"],
        "Owners": [owner],
        "Currency": "EUR",
        "Balance": {"Currency": "EUR", "Amount": 0},
        "FundsType": "DEFAULT",
        "CreationDate": made["CreationDate"],
        "Description": "Purse",
        "Tag": "w",
    }
    assert made["Id"].startswith("wlt_m_")
    assert await api.read(f"/wallets/{made['Id']}") == made
    assert await api.read(f"/users/{owner}/wallets") == [made]
    assert await api.read(f"/wallets/{made['Id']}/transactions") == []
    refusal_errors(await api.call("GET", "/wallets/none"), 404, "ressource_not_found")
    for owners in ([], [owner, owner], ["none"]):
        body = {"Owners": owners, "Description": "Purse", "Currency": "EUR"}
        assert list(refusal_errors(await api.call("POST", "/wallets", body), 400, "param_error")) == ["Owners"]
    assert len(await api.read(f"/users/{owner}/wallets")) == 1


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"DebitedFunds": {"Currency": "EUR", "Amount": 25.0}}, "DebitedFunds.Amount"),
        ({"DebitedFunds": {"Currency": "EUR", "Amount": "2500"}}, "DebitedFunds.Amount"),
        ({"DebitedFunds": {"Currency": "EUR", "Amount": True}}, "DebitedFunds.Amount"),
        ({"DebitedFunds": {"Currency": "EUR", "Amount": 0}}, "DebitedFunds.Amount"),
        ({"DebitedFunds": {"Currency": "EUR", "Amount": -1}}, "DebitedFunds.Amount"),
        ({"DebitedFunds": {"Currency": "eur", "Amount": 2500}}, "DebitedFunds.Currency"),
        ({"DebitedFunds": {"currency": "EUR", "Amount": 2500}}, "currency"),
        (
            {"DebitedFunds": {"Currency": "GBP", "Amount": 2500}, "Fees": {"Currency": "GBP", "Amount": 0}},
            "CreditedWalletId",
        ),
        ({"Fees": {"Currency": "GBP", "Amount": 0}}, "Fees.Currency"),
        ({"Fees": {"Currency": "EUR", "Amount": -1}}, "Fees.Amount"),
        ({"Fees": {"Currency": "EUR", "Amount": 2501}}, "Fees.Amount"),
        ({"AuthorId": "none"}, "AuthorId"),
        ({"CreditedWalletId": "none"}, "CreditedWalletId"),
        ({"ReturnURL": "javascript:alert(1)"}, "ReturnURL"),
        ({"ReturnURL": "/relative"}, "ReturnURL"),
        ({"CardType": "VISA"}, "CardType"),
        ({"Culture": "CA"}, "Culture"),
        ({"SecureMode": "NEVER"}, "SecureMode"),
        ({"StatementDescriptor": "far too long for it"}, "StatementDescriptor"),
        ({"FlowDescriptor": {"Beneficiaries": [{"UserId": "none"}]}}, "FlowDescriptor.Beneficiaries.0.UserId"),
        ({"FlowDescriptor": {"Beneficiaries": [{"UserId": "partner"}] * 6}}, "FlowDescriptor.Beneficiaries"),
    ],
)
async def test_web_payin_refused(api: MangopayApi, change: dict[str, Any], field: str) -> None:
    await api.seed()
    author = await api.payer()
    errors = refusal_errors(
        await api.call("POST", "/payins/card/web", {**payin_body(author), **change}), 400, "param_error"
    )
    assert list(errors) == [field]
    assert await api.read(f"/users/{author}/transactions") == []


async def test_rate_limit_headers(api: MangopayApi) -> None:
    used = []
    for _ in range(2):
        answer = await api.call("GET", "/hooks")
        used.append([int(value) for value in answer.headers["x-ratelimit"].split(", ")])
        left = [int(value) for value in answer.headers["x-ratelimit-remaining"].split(", ")]
        assert [sum(pair) for pair in zip(used[-1], left, strict=True)] == [2300, 4500, 8800, 105600]
        assert len(answer.headers["x-ratelimit-reset"].split(", ")) == 4
    assert used[1] == [value + 1 for value in used[0]]
    await api.advance(16 * 60)
    answer = await api.call("GET", "/hooks")
    assert [int(value) for value in answer.headers["x-ratelimit"].split(", ")][:2] == [1, used[1][1] + 1]


async def test_hooks(api: MangopayApi) -> None:
    made = await api.create(
        "/hooks", {"EventType": "PAYIN_NORMAL_FAILED", "Url": HOOK, "Tag": "t", "Email": "ops@example.com"}
    )
    assert made == {
        "Id": made["Id"],
        "Tag": "t",
        "CreationDate": made["CreationDate"],
        "Url": HOOK,
        "Status": "ENABLED",
        "Validity": "UNKNOWN",
        "EventType": "PAYIN_NORMAL_FAILED",
        "Email": "ops@example.com",
    }
    assert await api.read(f"/hooks/{made['Id']}") == made
    again = await api.call("POST", "/hooks", {"EventType": "PAYIN_NORMAL_FAILED", "Url": HOOK})
    assert list(refusal_errors(again, 400, "param_error")) == ["EventType"]
    assert await api.read("/hooks") == [made]
    changed = (await api.call("PUT", f"/hooks/{made['Id']}", {"Status": "DISABLED", "Url": HOOK + "2"})).json()
    assert changed == {**made, "Status": "DISABLED", "Url": HOOK + "2"} == await api.read(f"/hooks/{made['Id']}")
    refusal_errors(await api.call("PUT", "/hooks/none", {}), 404, "ressource_not_found")
    for body, field in (
        ({"EventType": "SOMETHING", "Url": HOOK}, "EventType"),
        ({"EventType": "KYC_CREATED", "Url": "ftp://x"}, "Url"),
        ({"EventType": "KYC_CREATED", "Url": "https://x/" + "y" * 255}, "Url"),
        ({"EventType": "KYC_CREATED"}, "Url"),
    ):
        assert list(refusal_errors(await api.call("POST", "/hooks", body), 400, "param_error")) == [field]
    assert len(await api.read("/hooks")) == 1


async def test_events(api: MangopayApi) -> None:
    payin = await api.payin()
    await api.control("POST", f"/payins/{payin['Id']}/pay", {"card": "4970109000000106"})
    found = await api.read("/events?EventType=PAYIN_NORMAL_FAILED")
    assert found == [{"ResourceId": payin["Id"], "EventType": "PAYIN_NORMAL_FAILED", "Date": found[0]["Date"]}]
    assert await api.read("/events?EventType=PAYIN_NORMAL_SUCCEEDED") == []
    await api.advance(60)
    later = await api.payin()
    events = await api.read("/events?EventType=PAYIN_NORMAL_CREATED&Sort=Date:DESC")
    assert [event["ResourceId"] for event in events] == [later["Id"], payin["Id"]]
    assert len(await api.read(f"/events?EventType=PAYIN_NORMAL_CREATED&AfterDate={found[0]['Date'] + 30}")) == 1
    refusal_errors(await api.call("GET", "/events"), 400, "param_error")
    refusal_errors(await api.call("GET", "/events?EventType=NONE"), 400, "param_error")
    await api.advance(46 * 86400)
    await api.log_in()
    assert await api.read("/events?EventType=PAYIN_NORMAL_CREATED") == []
    too_old = f"/events?EventType=PAYIN_NORMAL_CREATED&AfterDate={found[0]['Date']}"
    assert list(refusal_errors(await api.call("GET", too_old), 400, "param_error")) == ["AfterDate"]


async def test_same_seed_same_ids() -> None:
    ids = []
    for seed in (1, 1, 2):
        async with running(seed=seed) as api:
            ids.append((await api.payer())[-16:])
    assert ids[0] == ids[1] != ids[2]

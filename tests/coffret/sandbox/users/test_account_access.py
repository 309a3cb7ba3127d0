"""Who may look at an owner's wallets and movements, and wallets that change."""

import re
from collections.abc import AsyncIterator
from urllib.parse import quote

import httpx
import pytest

from tests.coffret.sandbox.mangopay_api import Json, MangopayApi, running
from tests.coffret.sandbox.people import BACK, enrolled, list_events, owner, step, token_of

DAY = 24 * 3600


@pytest.fixture
async def api() -> AsyncIterator[MangopayApi]:
    async with running() as api:
        yield api


async def account(api: MangopayApi, user: Json) -> tuple[str, tuple[str, ...]]:
    """A wallet of a user, and every address that shows what is in it."""
    wallet = await api.create("/wallets", {"Owners": [user["Id"]], "Description": "Main", "Currency": "EUR"})
    assert wallet["Balance"] == {"Currency": "EUR", "Amount": 0}
    id = wallet["Id"]
    return id, (
        f"/wallets/{id}",
        f"/wallets/{id}/transactions",
        f"/users/{user['Id']}/wallets",
        f"/users/{user['Id']}/transactions",
    )


def authentication_page(answer: httpx.Response) -> str:
    """The page that an owner is asked to authenticate at, for the client."""
    assert answer.status_code == 401, answer.text
    assert answer.json()["errors"] is None
    match = re.fullmatch(
        r"PendingUserAction RedirectUrl=http://sandbox\.test/_provider(/sca\?token=\w+)",
        answer.headers["WWW-Authenticate"],
    )
    assert match, answer.headers
    return f"{match[1]}&returnUrl={quote(BACK)}"


async def authenticate(api: MangopayApi, page: str) -> None:
    """Do what the page asks of somebody who is enrolled."""
    await step(api, page, "pin", {"pin": "135790"})
    assert (await step(api, page, "code")).headers["Location"] == BACK


async def test_an_owner_authenticates_once_in_180_days(api: MangopayApi) -> None:
    user = await enrolled(api)
    _, paths = await account(api, user)
    for path in paths:
        for query in ("", "?ScaContext=USER_PRESENT"):
            page = authentication_page(await api.call("GET", path + query))
    await authenticate(api, page)
    opened = (await api.control("GET", f"/users/{user['Id']}"))["access_until"]
    for path in paths:
        assert (await api.call("GET", path)).status_code == 200
    await api.advance(opened - api.clock.timestamp() - 1)
    await api.log_in()
    assert (await api.call("GET", paths[0])).status_code == 200
    await api.advance(1)
    authentication_page(await api.call("GET", paths[0]))
    assert await list_events(api, "SCA_ENROLLMENT_EXPIRED", "SCA_ENROLLMENT_FAILED") == []


@pytest.mark.parametrize("outcome", ["fail", "expire", "leave"])
async def test_whoever_does_not_authenticate_sees_nothing(api: MangopayApi, outcome: str) -> None:
    user = await enrolled(api)
    id, _ = await account(api, user)
    page = authentication_page(await api.call("GET", f"/wallets/{id}"))
    token = page.split("token=")[1].split("&")[0]
    session = await api.control("POST", f"/sca/{token}", {"outcome": outcome})
    assert (session["purpose"], session["user_id"]) == ("account_access", user["Id"])
    authentication_page(await api.call("GET", f"/wallets/{id}"))
    assert (await api.read(f"/sca/users/{user['Id']}/sca-status"))["IsEnrolled"] is True


async def test_the_platform_alone_needs_consent(api: MangopayApi) -> None:
    user = await enrolled(api)
    _, paths = await account(api, user)
    for path in paths:
        answer = await api.call("GET", f"{path}?ScaContext=USER_NOT_PRESENT")
        assert (answer.status_code, answer.json()["Type"]) == (403, "forbidden_ressource")
    assert (await api.control("GET", "/sca"))["sessions"] == []
    consent = await api.create(f"/sca/users/{user['Id']}/consent", {})
    await api.control("POST", f"/sca/{token_of(consent)}", {"outcome": "succeed"})
    for path in paths:
        assert (await api.call("GET", f"{path}?ScaContext=USER_NOT_PRESENT")).status_code == 200
    authentication_page(await api.call("GET", paths[0]))


async def test_while_pending_nobody_sees_the_account(api: MangopayApi) -> None:
    user = await owner(api)
    _, paths = await account(api, user)
    for path in paths:
        for query in ("", "?ScaContext=USER_NOT_PRESENT"):
            answer = await api.call("GET", path + query)
            assert (answer.status_code, answer.json()["Type"]) == (403, "forbidden_ressource")
    assert len((await api.control("GET", "/sca"))["sessions"]) == 1


async def test_payers_and_the_bypass_are_never_asked(api: MangopayApi) -> None:
    await api.seed()
    payer = await api.read(f"/users/{await api.payer()}")
    for paths in ((await account(api, payer))[1], ("/wallets/wallet", "/users/partner/wallets")):
        for path in paths:
            for query in ("", "?ScaContext=USER_NOT_PRESENT"):
                assert (await api.call("GET", path + query)).status_code == 200
    assert (await api.control("GET", "/sca"))["sessions"] == []


async def test_a_seeded_owner_has_authenticated(api: MangopayApi) -> None:
    seed = {"user_id": "partner", "wallet_id": "wallet", "name": "Maison Soleil", "email": "anne@maison.example"}
    await api.control("POST", "/seed", seed)
    assert (await api.read("/sca/users/partner/sca-status"))["IsEnrolled"] is True
    assert (await api.call("GET", "/wallets/wallet")).status_code == 200
    await api.advance(180 * DAY)
    await api.log_in()
    authentication_page(await api.call("GET", "/wallets/wallet"))


async def test_a_context_that_there_is_not(api: MangopayApi) -> None:
    await api.seed()
    for path in ("/wallets/wallet", "/users/partner/transactions"):
        answer = await api.call("GET", f"{path}?ScaContext=PRESENT")
        assert (answer.status_code, list(answer.json()["errors"])) == (400, ["ScaContext"])
    for path in ("/wallets/none", "/users/none/wallets", "/users/none/transactions", "/wallets/none/transactions"):
        assert (await api.call("GET", path)).status_code == 404


async def test_wallets_change_without_authentication(api: MangopayApi) -> None:
    user = await owner(api)
    id, _ = await account(api, user)
    answer = await api.call("PUT", f"/wallets/{id}", {"Tag": "partner 7"})
    assert (answer.status_code, answer.json()["Tag"], answer.json()["Description"]) == (200, "partner 7", "Main")
    answer = await api.call("PUT", f"/wallets/{id}", {"Description": "Savings"})
    assert (answer.json()["Tag"], answer.json()["Description"]) == ("partner 7", "Savings")
    for body, field in (({"Description": ""}, "Description"), ({"tag": "x"}, "tag"), ({"Tag": 7}, "Tag")):
        refused = await api.call("PUT", f"/wallets/{id}", body)
        assert (refused.status_code, list(refused.json()["errors"])) == (400, [field])
    assert (await api.call("PUT", "/wallets/none", {})).status_code == 404
    await api.control("POST", f"/users/{user['Id']}", {"status": "ACTIVE"})
    consent = await api.call("GET", f"/wallets/{id}")
    await authenticate(api, authentication_page(consent))
    shown = await api.read(f"/wallets/{id}")
    assert (shown["Tag"], shown["Description"]) == ("partner 7", "Savings")


async def test_an_answer_that_asks_is_counted_like_any_other(api: MangopayApi) -> None:
    user = await enrolled(api)
    id, _ = await account(api, user)
    answer = await api.call("GET", f"/wallets/{id}")
    assert len(answer.headers["x-ratelimit-remaining"].split(",")) == 4
    assert answer.headers["content-type"].startswith("application/json")

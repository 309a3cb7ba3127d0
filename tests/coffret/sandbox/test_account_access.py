"""Who may look at an owner's wallets and movements, and wallets that change."""

import re
from collections.abc import AsyncIterator
from urllib.parse import quote

import httpx
import pytest

from tests.coffret.sandbox.people import BACK, enrolled, owner, step, token_of, told
from tests.coffret.sandbox.world import Json, World, running

DAY = 24 * 3600


@pytest.fixture
async def world() -> AsyncIterator[World]:
    async with running() as world:
        yield world


async def account(world: World, user: Json) -> tuple[str, tuple[str, ...]]:
    """A wallet of a user, and every address that shows what is in it."""
    wallet = await world.made("/wallets", {"Owners": [user["Id"]], "Description": "Main", "Currency": "EUR"})
    assert wallet["Balance"] == {"Currency": "EUR", "Amount": 0}
    id = wallet["Id"]
    return id, (
        f"/wallets/{id}",
        f"/wallets/{id}/transactions",
        f"/users/{user['Id']}/wallets",
        f"/users/{user['Id']}/transactions",
    )


def asked(answer: httpx.Response) -> str:
    """The page that an owner is asked to authenticate at, for the client."""
    assert answer.status_code == 401, answer.text
    assert answer.json()["errors"] is None
    match = re.fullmatch(
        r"PendingUserAction RedirectUrl=http://sandbox\.test/_provider(/sca\?token=\w+)",
        answer.headers["WWW-Authenticate"],
    )
    assert match, answer.headers
    return f"{match[1]}&returnUrl={quote(BACK)}"


async def authenticate(world: World, page: str) -> None:
    """Do what the page asks of somebody who is enrolled."""
    await step(world, page, "pin", {"pin": "135790"})
    assert (await step(world, page, "code")).headers["Location"] == BACK


async def test_an_owner_authenticates_once_in_180_days(world: World) -> None:
    user = await enrolled(world)
    _, paths = await account(world, user)
    for path in paths:
        for query in ("", "?ScaContext=USER_PRESENT"):
            page = asked(await world.call("GET", path + query))
    await authenticate(world, page)
    opened = (await world.control("GET", f"/users/{user['Id']}"))["access_until"]
    for path in paths:
        assert (await world.call("GET", path)).status_code == 200
    await world.advance(opened - world.clock.timestamp() - 1)
    await world.log_in()
    assert (await world.call("GET", paths[0])).status_code == 200
    await world.advance(1)
    asked(await world.call("GET", paths[0]))
    assert await told(world, "SCA_ENROLLMENT_EXPIRED", "SCA_ENROLLMENT_FAILED") == []


@pytest.mark.parametrize("outcome", ["fail", "expire", "leave"])
async def test_whoever_does_not_authenticate_sees_nothing(world: World, outcome: str) -> None:
    user = await enrolled(world)
    id, _ = await account(world, user)
    page = asked(await world.call("GET", f"/wallets/{id}"))
    token = page.split("token=")[1].split("&")[0]
    session = await world.control("POST", f"/sca/{token}", {"outcome": outcome})
    assert (session["purpose"], session["user_id"]) == ("account_access", user["Id"])
    asked(await world.call("GET", f"/wallets/{id}"))
    assert (await world.read(f"/sca/users/{user['Id']}/sca-status"))["IsEnrolled"] is True


async def test_the_platform_alone_needs_consent(world: World) -> None:
    user = await enrolled(world)
    _, paths = await account(world, user)
    for path in paths:
        answer = await world.call("GET", f"{path}?ScaContext=USER_NOT_PRESENT")
        assert (answer.status_code, answer.json()["Type"]) == (403, "forbidden_ressource")
    assert (await world.control("GET", "/sca"))["sessions"] == []
    consent = await world.made(f"/sca/users/{user['Id']}/consent", {})
    await world.control("POST", f"/sca/{token_of(consent)}", {"outcome": "succeed"})
    for path in paths:
        assert (await world.call("GET", f"{path}?ScaContext=USER_NOT_PRESENT")).status_code == 200
    asked(await world.call("GET", paths[0]))


async def test_while_pending_nobody_sees_the_account(world: World) -> None:
    user = await owner(world)
    _, paths = await account(world, user)
    for path in paths:
        for query in ("", "?ScaContext=USER_NOT_PRESENT"):
            answer = await world.call("GET", path + query)
            assert (answer.status_code, answer.json()["Type"]) == (403, "forbidden_ressource")
    assert len((await world.control("GET", "/sca"))["sessions"]) == 1


async def test_payers_and_the_bypass_are_never_asked(world: World) -> None:
    await world.seed()
    payer = await world.read(f"/users/{await world.payer()}")
    for paths in ((await account(world, payer))[1], ("/wallets/wallet", "/users/partner/wallets")):
        for path in paths:
            for query in ("", "?ScaContext=USER_NOT_PRESENT"):
                assert (await world.call("GET", path + query)).status_code == 200
    assert (await world.control("GET", "/sca"))["sessions"] == []


async def test_a_seeded_owner_has_authenticated(world: World) -> None:
    seed = {"user_id": "partner", "wallet_id": "wallet", "name": "Maison Soleil", "email": "anne@maison.example"}
    await world.control("POST", "/seed", seed)
    assert (await world.read("/sca/users/partner/sca-status"))["IsEnrolled"] is True
    assert (await world.call("GET", "/wallets/wallet")).status_code == 200
    await world.advance(180 * DAY)
    await world.log_in()
    asked(await world.call("GET", "/wallets/wallet"))


async def test_a_context_that_there_is_not(world: World) -> None:
    await world.seed()
    for path in ("/wallets/wallet", "/users/partner/transactions"):
        answer = await world.call("GET", f"{path}?ScaContext=PRESENT")
        assert (answer.status_code, list(answer.json()["errors"])) == (400, ["ScaContext"])
    for path in ("/wallets/none", "/users/none/wallets", "/users/none/transactions", "/wallets/none/transactions"):
        assert (await world.call("GET", path)).status_code == 404


async def test_wallets_change_without_authentication(world: World) -> None:
    user = await owner(world)
    id, _ = await account(world, user)
    answer = await world.call("PUT", f"/wallets/{id}", {"Tag": "partner 7"})
    assert (answer.status_code, answer.json()["Tag"], answer.json()["Description"]) == (200, "partner 7", "Main")
    answer = await world.call("PUT", f"/wallets/{id}", {"Description": "Savings"})
    assert (answer.json()["Tag"], answer.json()["Description"]) == ("partner 7", "Savings")
    for body, field in (({"Description": ""}, "Description"), ({"tag": "x"}, "tag"), ({"Tag": 7}, "Tag")):
        refused = await world.call("PUT", f"/wallets/{id}", body)
        assert (refused.status_code, list(refused.json()["errors"])) == (400, [field])
    assert (await world.call("PUT", "/wallets/none", {})).status_code == 404
    await world.control("POST", f"/users/{user['Id']}", {"status": "ACTIVE"})
    consent = await world.call("GET", f"/wallets/{id}")
    await authenticate(world, asked(consent))
    shown = await world.read(f"/wallets/{id}")
    assert (shown["Tag"], shown["Description"]) == ("partner 7", "Savings")


async def test_an_answer_that_asks_is_counted_like_any_other(world: World) -> None:
    user = await enrolled(world)
    id, _ = await account(world, user)
    answer = await world.call("GET", f"/wallets/{id}")
    assert len(answer.headers["x-ratelimit-remaining"].split(",")) == 4
    assert answer.headers["content-type"].startswith("application/json")

"""Sessions of strong authentication: how long they live, what each end leaves behind, what a race can not do."""

import asyncio
from collections.abc import AsyncIterator

import pytest

from tests.coffret.sandbox.people import (
    COMPANY,
    EMAIL,
    NATURAL,
    PERSON,
    enrolled,
    owner,
    page_of,
    step,
    token_of,
    told,
    walk,
)
from tests.coffret.sandbox.world import PAYER, Json, World, running

ASKED, ACTIVATED = "USER_ACCOUNT_VALIDATION_ASKED", "USER_ACCOUNT_ACTIVATED"
SUCCEEDED, FAILED, EXPIRED = (f"SCA_ENROLLMENT_{end}" for end in ("SUCCEEDED", "FAILED", "EXPIRED"))


@pytest.fixture
async def world() -> AsyncIterator[World]:
    async with running() as world:
        yield world


async def status(world: World, id: str) -> str:
    user: Json = await world.read(f"/sca/users/{id}")
    return str(user["UserStatus"])


async def test_an_owner_enrols_and_is_active(world: World) -> None:
    made = await owner(world)
    assert made["UserStatus"] == "PENDING_USER_ACTION"
    assert made["PendingUserAction"]["RedirectUrl"].startswith("http://sandbox.test/_provider/sca?token=")
    assert await world.read(f"/sca/users/{made['Id']}") == made
    before = await world.read(f"/sca/users/{made['Id']}/sca-status")
    assert before == {
        "UserStatus": "PENDING_USER_ACTION",
        "IsEnrolled": False,
        "LastEnrollmentDate": None,
        "LastConsentCollectionDate": None,
        "ConsentScope": dict.fromkeys(
            ("ContactInformationUpdate", "RecipientRegistration", "Transfer", "ViewAccountInformation"), "INACTIVE"
        ),
    }
    await world.advance(30)
    answer = await walk(world, page_of(made))
    assert answer is not None
    assert answer.status_code == 303
    user = await world.read(f"/sca/users/{made['Id']}")
    assert (user["UserStatus"], user["PendingUserAction"]) == ("ACTIVE", None)
    after = await world.read(f"/sca/users/{made['Id']}/sca-status")
    assert (after["UserStatus"], after["IsEnrolled"]) == ("ACTIVE", True)
    assert 29 <= after["LastEnrollmentDate"] - made["CreationDate"] <= 32
    assert await told(world, ASKED, ACTIVATED, SUCCEEDED, FAILED, EXPIRED) == [
        (ASKED, made["Id"]),
        (ACTIVATED, made["Id"]),
        (SUCCEEDED, made["Id"]),
    ]


@pytest.mark.parametrize(("seconds", "works"), [(599, True), (601, False)])
async def test_a_session_lives_ten_minutes(world: World, seconds: float, works: bool) -> None:
    made = await owner(world)
    token = token_of(made)
    session = await world.control("GET", f"/sca/{token}")
    await walk(world, page_of(made), until="code")
    await world.advance(session["expires_at"] - 600 + seconds - world.clock.timestamp())
    page = await world.http.get(page_of(made))
    assert page.status_code == (200 if works else 410)
    assert ("This link has expired" in page.text) is not works
    answer = await step(world, page_of(made), "code")
    assert answer.status_code == (303 if works else 410)
    assert await status(world, made["Id"]) == ("ACTIVE" if works else "PENDING_USER_ACTION")
    assert await told(world, EXPIRED, SUCCEEDED) == [(SUCCEEDED if works else EXPIRED, made["Id"])]


async def test_what_expires_unseen_is_told_at_its_moment(world: World) -> None:
    made = await owner(world)
    session = await world.control("GET", f"/sca/{token_of(made)}")
    await world.advance(3000)
    (event,) = await world.read(f"/events?EventType={EXPIRED}")
    assert (event["ResourceId"], event["Date"]) == (made["Id"], int(session["expires_at"]))
    user = await world.read(f"/sca/users/{made['Id']}")
    assert (user["UserStatus"], user["PendingUserAction"]) == ("PENDING_USER_ACTION", None)


async def test_a_new_link_leaves_the_old_one_good(world: World) -> None:
    made = await owner(world)
    await world.advance(300)
    other = await world.made(f"/sca/users/{made['Id']}/enrollment", {})
    assert token_of(other) != token_of(made)
    sessions = (await world.control("GET", f"/sca?user={made['Id']}"))["sessions"]
    assert [session["token"] for session in sessions] == [token_of(made), token_of(other)]
    await world.advance(299)
    await walk(world, page_of(made))
    assert await status(world, made["Id"]) == "ACTIVE"
    await walk(world, page_of(other))
    assert await told(world, ACTIVATED, SUCCEEDED) == [(ACTIVATED, made["Id"]), *[(SUCCEEDED, made["Id"])] * 2]


async def test_the_new_link_outlives_the_old_one(world: World) -> None:
    made = await owner(world)
    await world.advance(300)
    other = await world.made(f"/sca/users/{made['Id']}/enrollment", {})
    await world.advance(301)
    assert (await world.http.get(page_of(made))).status_code == 410
    await walk(world, page_of(other))
    assert await status(world, made["Id"]) == "ACTIVE"


async def test_a_new_enrolment_never_changes_the_status(world: World) -> None:
    user = await enrolled(world)
    for outcome, event in (("fail", FAILED), ("expire", EXPIRED)):
        again = await world.made(f"/sca/users/{user['Id']}/enrollment", {})
        assert await status(world, user["Id"]) == "ACTIVE"
        await world.control("POST", f"/sca/{token_of(again)}", {"outcome": outcome})
        assert await status(world, user["Id"]) == "ACTIVE"
        assert await told(world, event) == [(event, user["Id"])]
    assert (await world.read(f"/sca/users/{user['Id']}/sca-status"))["IsEnrolled"] is True
    assert len(await told(world, ASKED)) == 1


async def test_after_a_failure_another_try_succeeds(world: World) -> None:
    made = await owner(world)
    page = page_of(made)
    await walk(world, page, until="code")
    for _ in range(2):
        assert (await step(world, page, "code", {"code": "111111"})).status_code == 400
    assert (await step(world, page, "code", {"code": "111111"})).status_code == 303
    assert await status(world, made["Id"]) == "PENDING_USER_ACTION"
    assert (await step(world, page, "code")).status_code == 410
    assert await told(world, ACTIVATED, SUCCEEDED, FAILED) == [(FAILED, made["Id"])]
    again = await world.made(f"/sca/users/{made['Id']}/enrollment", {})
    await walk(world, page_of(again))
    assert await status(world, made["Id"]) == "ACTIVE"


@pytest.mark.parametrize("kind", ["legal", "natural"])
async def test_accept_in_the_address_goes_around_it(world: World, kind: str) -> None:
    person = {**PERSON, "Email": "anne+accept@maison.example"}
    body = {**COMPANY, "LegalRepresentative": person} if kind == "legal" else {**NATURAL, **person}
    made = await world.made(f"/sca/users/{kind}", body)
    assert (made["UserStatus"], made["PendingUserAction"]) == ("ACTIVE", None)
    assert await told(world, ASKED, ACTIVATED) == [(ACTIVATED, made["Id"])]
    assert (await world.read(f"/sca/users/{made['Id']}/sca-status"))["IsEnrolled"] is True
    assert (await world.made(f"/sca/users/{made['Id']}/enrollment", {}))["PendingUserAction"] is None
    assert (await world.control("GET", "/sca"))["sessions"] == []


async def test_accept_in_the_company_s_address_does_not(world: World) -> None:
    assert (await owner(world, Email="accept@maison.example"))["UserStatus"] == "PENDING_USER_ACTION"


async def test_consent_to_be_acted_for(world: World) -> None:
    user = await enrolled(world)
    asked = await world.made(f"/sca/users/{user['Id']}/consent", {})
    page = page_of(asked)
    shown = await world.http.get(page)
    assert "Let the platform act for you" in shown.text
    assert "Step 1 of 3" in shown.text
    assert (await step(world, page, "consents", {})).status_code == 400
    await step(world, page, "consents", {"consent_proxy": "yes"})
    await step(world, page, "pin", {"pin": "135790"})
    scope = (await world.read(f"/sca/users/{user['Id']}/sca-status"))["ConsentScope"]
    assert set(scope.values()) == {"INACTIVE"}
    await step(world, page, "code")
    after = await world.read(f"/sca/users/{user['Id']}/sca-status")
    assert set(after["ConsentScope"].values()) == {"ACTIVE"}
    assert after["LastConsentCollectionDate"] >= user["CreationDate"]


async def test_who_can_not_authenticate(world: World) -> None:
    payer = await world.payer()
    for call in ("enrollment", "consent"):
        answer = await world.call("POST", f"/sca/users/{payer}/{call}", {})
        assert (answer.status_code, list(answer.json()["errors"])) == (400, ["UserCategory"])
        assert (await world.call("POST", f"/sca/users/none/{call}", {})).status_code == 404
    assert (await world.call("GET", f"/sca/users/{payer}/sca-status")).json()["Type"] == "ressource_not_found"
    assert (await world.call("GET", "/sca/users/none/sca-status")).status_code == 404
    pending = await owner(world)
    assert (await world.call("POST", f"/sca/users/{pending['Id']}/consent", {})).status_code == 403
    assert len((await world.control("GET", "/sca"))["sessions"]) == 1


async def test_a_key_makes_one_session(world: World) -> None:
    made = await owner(world)
    path, key = f"/sca/users/{made['Id']}/enrollment", "enrol-once-0000001"
    first = await world.made(path, {}, key=key)
    assert (await world.call("POST", path, {}, key=key)).json()["Type"] == "idempotent_creation_conflict"
    kept = await world.read(f"/responses/{key}")
    assert (kept["StatusCode"], kept["Resource"]) == ("200", first)
    assert len((await world.control("GET", "/sca"))["sessions"]) == 2
    payer = await world.payer()
    refused = await world.call("POST", f"/sca/users/{payer}/enrollment", {}, key="enrol-refused-0001")
    stored = await world.read("/responses/enrol-refused-0001")
    assert (stored["StatusCode"], stored["Resource"]) == ("400", refused.json())
    await world.advance(24 * 3600 + 1)
    await world.log_in()
    gone = await world.call("GET", f"/responses/{key}")
    assert (gone.status_code, gone.json()["Type"]) == (400, "correlationid_not_found")


async def test_two_at_once_end_a_session_once(world: World) -> None:
    made = await owner(world)
    page = page_of(made)
    await walk(world, page, until="code")
    answers = await asyncio.gather(*(step(world, page, "code") for _ in range(8)))
    assert sorted(answer.status_code for answer in answers) == [303, *[410] * 7]
    assert await told(world, ACTIVATED, SUCCEEDED, FAILED) == [(ACTIVATED, made["Id"]), (SUCCEEDED, made["Id"])]


async def test_wrong_codes_at_once_are_all_counted(world: World) -> None:
    made = await owner(world)
    page = page_of(made)
    await walk(world, page, until="code")
    answers = await asyncio.gather(*(step(world, page, "code", {"code": "9"}) for _ in range(5)))
    assert sorted(answer.status_code for answer in answers) == [303, 400, 400, 410, 410]
    assert await told(world, FAILED) == [(FAILED, made["Id"])]


async def test_a_step_of_another_tab_changes_nothing(world: World) -> None:
    made = await owner(world)
    page = page_of(made)
    await walk(world, page, until="email")
    old = await step(world, page, "terms")
    assert old.status_code == 303
    assert (await world.control("GET", f"/sca/{token_of(made)}"))["stage"] == "email"
    ahead = await step(world, page, "code")
    assert ahead.status_code == 303
    assert (await world.control("GET", f"/sca/{token_of(made)}"))["stage"] == "email"
    assert await status(world, made["Id"]) == "PENDING_USER_ACTION"


async def test_the_address_is_the_one_that_is_known_now(world: World) -> None:
    made = await owner(world)
    page = page_of(made)
    await walk(world, page, until="email")
    person = {"Email": "someone.else@maison.example"}
    await world.call("PUT", f"/sca/users/legal/{made['Id']}", {"LegalRepresentative": person})
    assert (await step(world, page, "email", {"email": EMAIL})).status_code == 400
    assert (await step(world, page, "email", {"email": "Someone.Else@maison.example "})).status_code == 303


async def test_payers_never_authenticate(world: World) -> None:
    made = await world.made("/sca/users/natural", PAYER)
    assert (made["UserStatus"], made["PendingUserAction"]) == ("ACTIVE", None)

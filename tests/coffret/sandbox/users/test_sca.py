"""Sessions of strong authentication: how long they live, what each end leaves behind, what a race can not do."""

import asyncio
from collections.abc import AsyncIterator

import pytest

from tests.coffret.sandbox.mangopay_api import PAYER, Json, MangopayApi, running
from tests.coffret.sandbox.people import (
    COMPANY,
    EMAIL,
    NATURAL,
    PERSON,
    enrolled,
    list_events,
    owner,
    page_of,
    step,
    token_of,
    walk,
)

ASKED, ACTIVATED = "USER_ACCOUNT_VALIDATION_ASKED", "USER_ACCOUNT_ACTIVATED"
SUCCEEDED, FAILED, EXPIRED = (f"SCA_ENROLLMENT_{end}" for end in ("SUCCEEDED", "FAILED", "EXPIRED"))


@pytest.fixture
async def api() -> AsyncIterator[MangopayApi]:
    async with running() as api:
        yield api


async def status(api: MangopayApi, id: str) -> str:
    user: Json = await api.read(f"/sca/users/{id}")
    return str(user["UserStatus"])


async def test_an_owner_enrols_and_is_active(api: MangopayApi) -> None:
    made = await owner(api)
    assert made["UserStatus"] == "PENDING_USER_ACTION"
    assert made["PendingUserAction"]["RedirectUrl"].startswith("http://sandbox.test/_provider/sca?token=")
    assert await api.read(f"/sca/users/{made['Id']}") == made
    before = await api.read(f"/sca/users/{made['Id']}/sca-status")
    assert before == {
        "UserStatus": "PENDING_USER_ACTION",
        "IsEnrolled": False,
        "LastEnrollmentDate": None,
        "LastConsentCollectionDate": None,
        "ConsentScope": dict.fromkeys(
            ("ContactInformationUpdate", "RecipientRegistration", "Transfer", "ViewAccountInformation"), "INACTIVE"
        ),
    }
    await api.advance(30)
    answer = await walk(api, page_of(made))
    assert answer is not None
    assert answer.status_code == 303
    user = await api.read(f"/sca/users/{made['Id']}")
    assert (user["UserStatus"], user["PendingUserAction"]) == ("ACTIVE", None)
    after = await api.read(f"/sca/users/{made['Id']}/sca-status")
    assert (after["UserStatus"], after["IsEnrolled"]) == ("ACTIVE", True)
    assert 29 <= after["LastEnrollmentDate"] - made["CreationDate"] <= 32
    assert await list_events(api, ASKED, ACTIVATED, SUCCEEDED, FAILED, EXPIRED) == [
        (ASKED, made["Id"]),
        (ACTIVATED, made["Id"]),
        (SUCCEEDED, made["Id"]),
    ]


@pytest.mark.parametrize(("seconds", "works"), [(599, True), (601, False)])
async def test_a_session_lives_ten_minutes(api: MangopayApi, seconds: float, works: bool) -> None:
    made = await owner(api)
    token = token_of(made)
    session = await api.control("GET", f"/sca/{token}")
    await walk(api, page_of(made), until="code")
    await api.advance(session["expires_at"] - 600 + seconds - api.clock.timestamp())
    page = await api.http.get(page_of(made))
    assert page.status_code == (200 if works else 410)
    assert ("This link has expired" in page.text) is not works
    answer = await step(api, page_of(made), "code")
    assert answer.status_code == (303 if works else 410)
    assert await status(api, made["Id"]) == ("ACTIVE" if works else "PENDING_USER_ACTION")
    assert await list_events(api, EXPIRED, SUCCEEDED) == [(SUCCEEDED if works else EXPIRED, made["Id"])]


async def test_what_expires_unseen_is_told_at_its_moment(api: MangopayApi) -> None:
    made = await owner(api)
    session = await api.control("GET", f"/sca/{token_of(made)}")
    await api.advance(3000)
    (event,) = await api.read(f"/events?EventType={EXPIRED}")
    assert (event["ResourceId"], event["Date"]) == (made["Id"], int(session["expires_at"]))
    user = await api.read(f"/sca/users/{made['Id']}")
    assert (user["UserStatus"], user["PendingUserAction"]) == ("PENDING_USER_ACTION", None)


async def test_a_new_link_leaves_the_old_one_good(api: MangopayApi) -> None:
    made = await owner(api)
    await api.advance(300)
    other = await api.create(f"/sca/users/{made['Id']}/enrollment", {})
    assert token_of(other) != token_of(made)
    sessions = (await api.control("GET", f"/sca?user={made['Id']}"))["sessions"]
    assert [session["token"] for session in sessions] == [token_of(made), token_of(other)]
    await api.advance(299)
    await walk(api, page_of(made))
    assert await status(api, made["Id"]) == "ACTIVE"
    await walk(api, page_of(other))
    assert await list_events(api, ACTIVATED, SUCCEEDED) == [(ACTIVATED, made["Id"]), *[(SUCCEEDED, made["Id"])] * 2]


async def test_the_new_link_outlives_the_old_one(api: MangopayApi) -> None:
    made = await owner(api)
    await api.advance(300)
    other = await api.create(f"/sca/users/{made['Id']}/enrollment", {})
    await api.advance(301)
    assert (await api.http.get(page_of(made))).status_code == 410
    await walk(api, page_of(other))
    assert await status(api, made["Id"]) == "ACTIVE"


async def test_a_new_enrolment_never_changes_the_status(api: MangopayApi) -> None:
    user = await enrolled(api)
    for outcome, event in (("fail", FAILED), ("expire", EXPIRED)):
        again = await api.create(f"/sca/users/{user['Id']}/enrollment", {})
        assert await status(api, user["Id"]) == "ACTIVE"
        await api.control("POST", f"/sca/{token_of(again)}", {"outcome": outcome})
        assert await status(api, user["Id"]) == "ACTIVE"
        assert await list_events(api, event) == [(event, user["Id"])]
    assert (await api.read(f"/sca/users/{user['Id']}/sca-status"))["IsEnrolled"] is True
    assert len(await list_events(api, ASKED)) == 1


async def test_after_a_failure_another_try_succeeds(api: MangopayApi) -> None:
    made = await owner(api)
    page = page_of(made)
    await walk(api, page, until="code")
    for _ in range(2):
        assert (await step(api, page, "code", {"code": "111111"})).status_code == 400
    assert (await step(api, page, "code", {"code": "111111"})).status_code == 303
    assert await status(api, made["Id"]) == "PENDING_USER_ACTION"
    assert (await step(api, page, "code")).status_code == 410
    assert await list_events(api, ACTIVATED, SUCCEEDED, FAILED) == [(FAILED, made["Id"])]
    again = await api.create(f"/sca/users/{made['Id']}/enrollment", {})
    await walk(api, page_of(again))
    assert await status(api, made["Id"]) == "ACTIVE"


@pytest.mark.parametrize("kind", ["legal", "natural"])
async def test_accept_in_the_address_goes_around_it(api: MangopayApi, kind: str) -> None:
    person = {**PERSON, "Email": "anne+accept@maison.example"}
    body = {**COMPANY, "LegalRepresentative": person} if kind == "legal" else {**NATURAL, **person}
    made = await api.create(f"/sca/users/{kind}", body)
    assert (made["UserStatus"], made["PendingUserAction"]) == ("ACTIVE", None)
    assert await list_events(api, ASKED, ACTIVATED) == [(ACTIVATED, made["Id"])]
    assert (await api.read(f"/sca/users/{made['Id']}/sca-status"))["IsEnrolled"] is True
    assert (await api.create(f"/sca/users/{made['Id']}/enrollment", {}))["PendingUserAction"] is None
    assert (await api.control("GET", "/sca"))["sessions"] == []


async def test_accept_in_the_company_s_address_does_not(api: MangopayApi) -> None:
    assert (await owner(api, Email="accept@maison.example"))["UserStatus"] == "PENDING_USER_ACTION"


async def test_consent_to_be_acted_for(api: MangopayApi) -> None:
    user = await enrolled(api)
    asked = await api.create(f"/sca/users/{user['Id']}/consent", {})
    page = page_of(asked)
    shown = await api.http.get(page)
    assert "Let the platform act for you" in shown.text
    assert "Step 1 of 3" in shown.text
    assert (await step(api, page, "consents", {})).status_code == 400
    await step(api, page, "consents", {"consent_proxy": "yes"})
    await step(api, page, "pin", {"pin": "135790"})
    scope = (await api.read(f"/sca/users/{user['Id']}/sca-status"))["ConsentScope"]
    assert set(scope.values()) == {"INACTIVE"}
    await step(api, page, "code")
    after = await api.read(f"/sca/users/{user['Id']}/sca-status")
    assert set(after["ConsentScope"].values()) == {"ACTIVE"}
    assert after["LastConsentCollectionDate"] >= user["CreationDate"]


async def test_who_can_not_authenticate(api: MangopayApi) -> None:
    payer = await api.payer()
    for call in ("enrollment", "consent"):
        answer = await api.call("POST", f"/sca/users/{payer}/{call}", {})
        assert (answer.status_code, list(answer.json()["errors"])) == (400, ["UserCategory"])
        assert (await api.call("POST", f"/sca/users/none/{call}", {})).status_code == 404
    assert (await api.call("GET", f"/sca/users/{payer}/sca-status")).json()["Type"] == "ressource_not_found"
    assert (await api.call("GET", "/sca/users/none/sca-status")).status_code == 404
    never_asked = await api.create("/users/natural", dict(PERSON))
    assert (await api.call("POST", f"/sca/users/{never_asked['Id']}/consent", {})).status_code == 403
    assert (await api.control("GET", "/sca"))["sessions"] == []


async def test_a_key_makes_one_session(api: MangopayApi) -> None:
    made = await owner(api)
    path, key = f"/sca/users/{made['Id']}/enrollment", "enrol-once-0000001"
    first = await api.create(path, {}, key=key)
    assert (await api.call("POST", path, {}, key=key)).json()["Type"] == "idempotent_creation_conflict"
    kept = await api.read(f"/responses/{key}")
    assert (kept["StatusCode"], kept["Resource"]) == ("200", first)
    assert len((await api.control("GET", "/sca"))["sessions"]) == 2
    payer = await api.payer()
    refused = await api.call("POST", f"/sca/users/{payer}/enrollment", {}, key="enrol-refused-0001")
    stored = await api.read("/responses/enrol-refused-0001")
    assert (stored["StatusCode"], stored["Resource"]) == ("400", refused.json())
    await api.advance(24 * 3600 + 1)
    await api.log_in()
    gone = await api.call("GET", f"/responses/{key}")
    assert (gone.status_code, gone.json()["Type"]) == (400, "correlationid_not_found")


async def test_two_at_once_end_a_session_once(api: MangopayApi) -> None:
    made = await owner(api)
    page = page_of(made)
    await walk(api, page, until="code")
    answers = await asyncio.gather(*(step(api, page, "code") for _ in range(8)))
    assert sorted(answer.status_code for answer in answers) == [303, *[410] * 7]
    assert await list_events(api, ACTIVATED, SUCCEEDED, FAILED) == [(ACTIVATED, made["Id"]), (SUCCEEDED, made["Id"])]


async def test_wrong_codes_at_once_are_all_counted(api: MangopayApi) -> None:
    made = await owner(api)
    page = page_of(made)
    await walk(api, page, until="code")
    answers = await asyncio.gather(*(step(api, page, "code", {"code": "9"}) for _ in range(5)))
    assert sorted(answer.status_code for answer in answers) == [303, 400, 400, 410, 410]
    assert await list_events(api, FAILED) == [(FAILED, made["Id"])]


async def test_a_step_of_another_tab_changes_nothing(api: MangopayApi) -> None:
    made = await owner(api)
    page = page_of(made)
    await walk(api, page, until="email")
    old = await step(api, page, "terms")
    assert old.status_code == 303
    assert (await api.control("GET", f"/sca/{token_of(made)}"))["stage"] == "email"
    ahead = await step(api, page, "code")
    assert ahead.status_code == 303
    assert (await api.control("GET", f"/sca/{token_of(made)}"))["stage"] == "email"
    assert await status(api, made["Id"]) == "PENDING_USER_ACTION"


async def test_the_address_is_the_one_that_is_known_now(api: MangopayApi) -> None:
    made = await owner(api)
    page = page_of(made)
    await walk(api, page, until="email")
    person = {"Email": "someone.else@maison.example"}
    await api.call("PUT", f"/sca/users/legal/{made['Id']}", {"LegalRepresentative": person})
    assert (await step(api, page, "email", {"email": EMAIL})).status_code == 400
    assert (await step(api, page, "email", {"email": "Someone.Else@maison.example "})).status_code == 303


async def test_payers_never_authenticate(api: MangopayApi) -> None:
    made = await api.create("/sca/users/natural", PAYER)
    assert (made["UserStatus"], made["PendingUserAction"]) == ("ACTIVE", None)

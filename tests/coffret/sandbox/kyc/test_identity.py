"""Hosted identity verification over the wire: sessions, their time, every end, and what each does to the user."""

from collections.abc import AsyncIterator
from typing import Any

import pytest

from coffret.sandbox.kyc.checks import CheckRefusalReason
from tests.coffret.sandbox.mangopay_api import Json, MangopayApi, running
from tests.coffret.sandbox.owners import assert_refused, level, list_events, owner

RETURN = "https://shop.example/k/abcdefgh"
WEEK = 7 * 24 * 3600
LONG = 365 * 24 * 3600
PERSON_CHECKS = ["IDENTITY_DOCUMENT_VERIFICATION", "IDV_NAME_MATCH_CHECK", "IDV_AGE_CHECK"]
CHECKS = {
    "NATURAL": PERSON_CHECKS,
    "SOLETRADER": ["BUSINESS_VERIFICATION", *PERSON_CHECKS],
    "ORGANIZATION": ["BUSINESS_VERIFICATION", "BUSINESS_INSIGHTS_MATCH", *PERSON_CHECKS],
    "BUSINESS": ["BUSINESS_VERIFICATION", "BUSINESS_INSIGHTS_MATCH", "PERSONS_SIGNIFICANT_CONTROL", *PERSON_CHECKS],
}
EVENTS = [
    f"IDENTITY_VERIFICATION_{name}"
    for name in ("PENDING", "VALIDATED", "FAILED", "INCONCLUSIVE", "EXPIRED", "OUTDATED")
]
LEVELS = ["USER_KYC_REGULAR", "USER_KYC_LIGHT"]


@pytest.fixture
async def api() -> AsyncIterator[MangopayApi]:
    async with running(token_lifetime=LONG) as api:
        yield api


async def open_session(api: MangopayApi, kind: str = "BUSINESS", **changes: Any) -> Json:
    """A session of a new owner."""
    user = await owner(api, kind)
    return await api.create(f"/users/{user}/identity-verifications", {"ReturnUrl": RETURN, **changes})


async def decided(api: MangopayApi, id: str, outcome: str, **more: Any) -> Json:
    """A session that went on."""
    result: Json = await api.control("POST", f"/identity-verifications/{id}", {"outcome": outcome, **more})
    return result


async def test_a_session_is_made_and_read(api: MangopayApi) -> None:
    made = await open_session(api, Tag="partner 7")
    assert made["Id"].startswith("idnver_")
    assert made["HostedUrl"].startswith("http://sandbox.test/_provider/identity/")
    assert (made["Status"], made["ReturnUrl"], made["Tag"], made["Checks"]) == ("PENDING", RETURN, "partner 7", [])
    assert made["CreationDate"] == made["LastUpdate"] == int(api.clock.timestamp())
    assert await api.read(f"/identity-verifications/{made['Id']}") == made
    assert await list_events(api, *EVENTS) == [("IDENTITY_VERIFICATION_PENDING", made["Id"])]


async def test_a_list_tells_less_than_the_session(api: MangopayApi) -> None:
    made = await open_session(api)
    other = await api.create(f"/users/{made['UserId']}/identity-verifications", {"ReturnUrl": RETURN})
    await open_session(api)
    await decided(api, other["Id"], "validate")
    listed = await api.read(f"/users/{made['UserId']}/identity-verifications?Sort=CreationDate:DESC")
    assert [item["Id"] for item in listed] == [other["Id"], made["Id"]]
    assert set(made) - set(listed[0]) == {"HostedUrl", "ReturnUrl", "Checks", "PSCs"}
    validated = await api.read(f"/users/{made['UserId']}/identity-verifications?Status=VALIDATED")
    assert [item["Id"] for item in validated] == [other["Id"]]


@pytest.mark.parametrize("kind", ["PAYER", "PARTNERSHIP"])
async def test_not_everybody_can_prove_an_identity(api: MangopayApi, kind: str) -> None:
    user = await api.payer() if kind == "PAYER" else await owner(api, kind)
    answer = await api.call("POST", f"/users/{user}/identity-verifications", {"ReturnUrl": RETURN})
    await assert_refused(api, answer, 400, "param_error", "UserId")
    assert await api.read(f"/users/{user}/identity-verifications") == []


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({}, "ReturnUrl"),
        ({"ReturnUrl": ""}, "ReturnUrl"),
        ({"ReturnUrl": "shop.example/k/1"}, "ReturnUrl"),
        ({"ReturnUrl": f"{RETURN:x<51}"}, "ReturnUrl"),
        ({"ReturnURL": RETURN}, "ReturnURL"),
        ({"ReturnUrl": RETURN, "Tag": "x" * 256}, "Tag"),
    ],
)
async def test_a_wrong_body_is_refused(api: MangopayApi, body: Json, field: str) -> None:
    user = await owner(api)
    answer = await api.call("POST", f"/users/{user}/identity-verifications", body)
    await assert_refused(api, answer, 400, "param_error", field)
    assert await api.read(f"/users/{user}/identity-verifications") == []


async def test_fifty_characters_to_return_to(api: MangopayApi) -> None:
    assert len((await open_session(api, ReturnUrl=f"{RETURN:x<50}"))["ReturnUrl"]) == 50


async def test_a_feature_that_is_not_activated(api: MangopayApi) -> None:
    user = await owner(api)
    assert await api.control("POST", "/switches", {"identity_verification": False}) == {
        "kyc_policy": "payout_only",
        "identity_verification": False,
        "reports_are_made": True,
    }
    answer = await api.call("POST", f"/users/{user}/identity-verifications", {"ReturnUrl": RETURN})
    await assert_refused(api, answer, 403, "forbidden_ressource")
    await api.control("POST", "/switches", {"identity_verification": True})
    assert await api.read(f"/users/{user}/identity-verifications") == []
    await api.create(f"/users/{user}/identity-verifications", {"ReturnUrl": RETURN})


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("GET", "/identity-verifications/idnver_none"),
        ("GET", "/users/none/identity-verifications"),
        ("POST", "/users/none/identity-verifications"),
    ],
)
async def test_what_is_not_known_is_not_found(api: MangopayApi, method: str, path: str) -> None:
    answer = await api.call(method, path, {"ReturnUrl": RETURN} if method == "POST" else None)
    await assert_refused(api, answer, 404, "ressource_not_found")


async def test_seven_days_to_hand_it_in(api: MangopayApi) -> None:
    first, second = await open_session(api), await open_session(api)
    await api.advance(WEEK - 5)
    assert (await api.read(f"/identity-verifications/{first['Id']}"))["Status"] == "PENDING"
    await decided(api, first["Id"], "validate")
    await api.advance(6)
    expired = await api.read(f"/identity-verifications/{second['Id']}")
    assert (expired["Status"], expired["Checks"]) == ("EXPIRED", [])
    assert second["CreationDate"] + WEEK <= expired["LastUpdate"] <= second["CreationDate"] + WEEK + 1
    assert (await api.read(f"/identity-verifications/{first['Id']}"))["Status"] == "VALIDATED"
    assert await list_events(api, "IDENTITY_VERIFICATION_EXPIRED") == [("IDENTITY_VERIFICATION_EXPIRED", second["Id"])]
    assert await level(api, second["UserId"]) == "LIGHT"


@pytest.mark.parametrize("kind", CHECKS)
async def test_validated(api: MangopayApi, kind: str) -> None:
    made = await open_session(api, kind)
    await api.hook(*EVENTS, *LEVELS)
    done = await decided(api, made["Id"], "validate")
    assert done == await api.read(f"/identity-verifications/{made['Id']}")
    assert done["Status"] == "VALIDATED"
    assert [check["Type"] for check in done["Checks"]] == CHECKS[kind]
    assert {check["CheckStatus"] for check in done["Checks"]} == {"VALIDATED"}
    assert all(check["CheckId"] and check["Reasons"] == [] for check in done["Checks"])
    assert await level(api, made["UserId"]) == "REGULAR"
    assert await api.notices() == [
        ("IDENTITY_VERIFICATION_VALIDATED", made["Id"]),
        ("USER_KYC_REGULAR", made["UserId"]),
    ]


def data_of(session: Json) -> dict[str, str]:
    return {item["Type"]: item["Value"] for check in session["Checks"] for item in check["Data"]}


async def test_verified_data_overwrite_a_persons(api: MangopayApi) -> None:
    made = await open_session(api, "NATURAL")
    done = await decided(api, made["Id"], "validate", data={"LAST_NAME": "DUPOND", "BIRTHDATE": "665539200"})
    assert data_of(done) == {
        "FIRST_NAME": "JOANA",
        "LAST_NAME": "DUPOND",
        "BIRTHDATE": "665539200",
        "NATIONALITY": "FR",
    }
    user = await api.read(f"/sca/users/{made['UserId']}")
    assert (user["FirstName"], user["LastName"], user["Birthday"]) == ("JOANA", "DUPOND", 665539200)


async def test_verified_data_overwrite_a_companys(api: MangopayApi) -> None:
    made = await open_session(api)
    done = await decided(api, made["Id"], "validate", data={"COMPANY_NAME": "Maison Soleil SAS"})
    assert data_of(done) == {
        "COMPANY_NAME": "Maison Soleil SAS",
        "COMPANY_NUMBER": "123456789",
        "LEGAL_REPRESENTATIVE_FIRST_NAME": "JOANA",
        "LEGAL_REPRESENTATIVE_LAST_NAME": "DUPONT",
        "LEGAL_REPRESENTATIVE_BIRTHDATE": "665452800",
        "LEGAL_REPRESENTATIVE_NATIONALITY": "FR",
    }
    user = await api.read(f"/sca/users/{made['UserId']}")
    assert (user["Name"], user["CompanyNumber"]) == ("Maison Soleil SAS", "123456789")
    person = user["LegalRepresentative"]
    assert (person["FirstName"], person["LastName"], person["Email"]) == ("JOANA", "DUPONT", "joana+accept@example.com")
    assert user["HeadquartersAddress"]["City"] == "Paris"


@pytest.mark.parametrize("reason", CheckRefusalReason)
async def test_refused_for_a_reason(api: MangopayApi, reason: CheckRefusalReason) -> None:
    made = await open_session(api)
    before = await api.read(f"/sca/users/{made['UserId']}")
    done = await decided(api, made["Id"], "refuse", reason=reason)
    assert done["Status"] == "REFUSED"
    *_, document = done["Checks"]
    assert (document["Type"], document["CheckStatus"]) == ("IDENTITY_DOCUMENT_VERIFICATION", "REFUSED")
    assert [item["Type"] for item in document["Reasons"]] == [reason]
    assert all(item["Value"] for item in document["Reasons"])
    assert await list_events(api, *EVENTS[1:]) == [("IDENTITY_VERIFICATION_FAILED", made["Id"])]
    assert await api.read(f"/sca/users/{made['UserId']}") == before


@pytest.mark.parametrize(("then", "end"), [("validate", "VALIDATED"), ("refuse", "REFUSED")])
async def test_a_review_takes_a_minute(api: MangopayApi, then: str, end: str) -> None:
    made = await open_session(api)
    more = {"reason": "DOCUMENT_FALSIFIED", "comment": "The stamp is from next year."} if then == "refuse" else {}
    looked_at = await decided(api, made["Id"], f"review_{then}", **more)
    assert {check["Type"]: check["CheckStatus"] for check in looked_at["Checks"]} == {
        "BUSINESS_VERIFICATION": "REVIEW",
        "IDENTITY_DOCUMENT_VERIFICATION": "VALIDATED",
    }
    await api.advance(55)
    assert (await api.read(f"/identity-verifications/{made['Id']}"))["Status"] == "REVIEW"
    assert await level(api, made["UserId"]) == "LIGHT"
    await api.advance(6)
    done = await api.read(f"/identity-verifications/{made['Id']}")
    assert done["Status"] == end
    kept = {check["Type"]: check["CheckId"] for check in done["Checks"]}
    assert {check["Type"]: check["CheckId"] for check in looked_at["Checks"]}.items() <= kept.items()
    assert await level(api, made["UserId"]) == ("REGULAR" if then == "validate" else "LIGHT")
    said = [reason["Value"] for check in done["Checks"] for reason in check["Reasons"]]
    assert said == (["The stamp is from next year."] if then == "refuse" else [])
    assert (await list_events(api, *EVENTS[1:]))[-1] == ("IDENTITY_VERIFICATION_INCONCLUSIVE", made["Id"])


async def test_a_review_without_an_end_waits(api: MangopayApi) -> None:
    made = await open_session(api)
    await decided(api, made["Id"], "review")
    await api.advance(2 * WEEK)
    assert (await api.read(f"/identity-verifications/{made['Id']}"))["Status"] == "REVIEW"
    assert (await decided(api, made["Id"], "validate"))["Status"] == "VALIDATED"
    assert await level(api, made["UserId"]) == "REGULAR"


async def test_whoever_becomes_a_partnership_meanwhile(api: MangopayApi) -> None:
    made = await open_session(api)
    await decided(api, made["Id"], "review_validate")
    path = f"/sca/users/legal/{made['UserId']}"
    changed = await api.call("PUT", path, {"LegalPersonType": "PARTNERSHIP"})
    assert changed.json()["LegalPersonType"] == "PARTNERSHIP", changed.text
    await api.advance(61)
    assert (await api.read(f"/identity-verifications/{made['Id']}"))["Status"] == "VALIDATED"


async def test_a_planned_review_can_be_cut_short_once(api: MangopayApi) -> None:
    made = await open_session(api)
    await decided(api, made["Id"], "review_validate")
    await decided(api, made["Id"], "refuse", reason="FACE_MATCH_FAIL")
    await api.advance(120)
    assert (await api.read(f"/identity-verifications/{made['Id']}"))["Status"] == "REFUSED"


async def test_out_of_date(api: MangopayApi) -> None:
    made = await open_session(api)
    second = await api.create(f"/users/{made['UserId']}/identity-verifications", {"ReturnUrl": RETURN})
    for id in (made["Id"], second["Id"]):
        await decided(api, id, "validate")
    assert await list_events(api, *LEVELS) == [("USER_KYC_REGULAR", made["UserId"])]
    assert (await decided(api, made["Id"], "out_of_date"))["Status"] == "OUT_OF_DATE"
    assert await level(api, made["UserId"]) == "REGULAR", "the other session still proves it"
    await decided(api, second["Id"], "out_of_date")
    assert await level(api, made["UserId"]) == "LIGHT"
    assert await list_events(api, "IDENTITY_VERIFICATION_OUTDATED", "USER_KYC_LIGHT") == [
        ("IDENTITY_VERIFICATION_OUTDATED", made["Id"]),
        ("IDENTITY_VERIFICATION_OUTDATED", second["Id"]),
        ("USER_KYC_LIGHT", made["UserId"]),
    ]


ENDS: dict[str, Json] = {
    "validate": {"outcome": "validate"},
    "refuse": {"outcome": "refuse", "reason": "DOCUMENT_UNREADABLE"},
    "review": {"outcome": "review"},
    "expire": {"outcome": "expire"},
    "out_of_date": {"outcome": "out_of_date"},
}
FOLLOWS = {(), ("validate",), ("refuse",), ("review",), ("expire",), ("review", "validate"), ("review", "refuse")} | {
    ("validate", "out_of_date"),
    ("review", "validate", "out_of_date"),
}


@pytest.mark.parametrize("before", sorted(FOLLOWS), ids=">".join)
async def test_only_what_follows_happens(api: MangopayApi, before: tuple[str, ...]) -> None:
    for name, decision in ENDS.items():
        made = await open_session(api)
        for earlier in before:
            await decided(api, made["Id"], **ENDS[earlier])
        at = await api.read(f"/identity-verifications/{made['Id']}")
        answer = await api.http.post(f"/_sb/identity-verifications/{made['Id']}", json=decision)
        assert answer.status_code == (200 if (*before, name) in FOLLOWS else 409), (name, answer.text)
        if answer.status_code == 409:
            assert await api.read(f"/identity-verifications/{made['Id']}") == at


@pytest.mark.parametrize(
    ("kind", "decision", "status"),
    [
        ("NATURAL", {"outcome": "review"}, 409),
        ("NATURAL", {"outcome": "review_validate"}, 409),
        ("NATURAL", {"outcome": "validate", "data": {"COMPANY_NAME": "x"}}, 409),
        ("BUSINESS", {"outcome": "validate", "data": {"FIRST_NAME": "x"}}, 409),
        ("NATURAL", {"outcome": "validate", "data": {"BIRTHDATE": "yesterday"}}, 400),
        ("NATURAL", {"outcome": "validate", "data": {"LAST_NAME": ""}}, 400),
        ("BUSINESS", {"outcome": "refuse"}, 400),
        ("BUSINESS", {"outcome": "review_refuse"}, 400),
        ("BUSINESS", {"outcome": "refuse", "reason": "BAD_MOOD"}, 400),
        ("BUSINESS", {"outcome": "forget"}, 400),
        ("BUSINESS", {}, 400),
    ],
)
async def test_a_decision_that_makes_no_sense(api: MangopayApi, kind: str, decision: Json, status: int) -> None:
    made = await open_session(api, kind)
    answer = await api.http.post(f"/_sb/identity-verifications/{made['Id']}", json=decision)
    assert answer.status_code == status, answer.text
    assert await api.read(f"/identity-verifications/{made['Id']}") == made
    assert await level(api, made["UserId"]) == "LIGHT"


async def test_the_control_plane_finds_no_such_session(api: MangopayApi) -> None:
    for method in ("GET", "POST"):
        answer = await api.http.request(method, "/_sb/identity-verifications/none", json={"outcome": "validate"})
        assert answer.status_code == 404


async def test_state_outlives_a_restart_and_a_reset_forgets(tmp_path: Any) -> None:
    path = tmp_path / "sandbox.db"
    async with running(path) as api:
        made = await open_session(api)
        await decided(api, made["Id"], "review_validate")
    async with running(path, clock=api.clock) as api:
        await api.advance(61)
        assert (await api.read(f"/identity-verifications/{made['Id']}"))["Status"] == "VALIDATED"
        await api.control("POST", "/switches", {"identity_verification": False})
        await api.control("POST", "/reset")
        api.token = ""
        assert (await api.call("GET", f"/identity-verifications/{made['Id']}")).status_code == 404
        assert (await api.control("GET", "/switches"))["identity_verification"] is True

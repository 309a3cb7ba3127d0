"""Owners of the sandbox, and their way through the pages of strong authentication without a browser."""

from collections.abc import Mapping
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

import httpx

from tests.coffret.sandbox.mangopay_api import Json, MangopayApi

BACK = "https://shop.example/onboarding/abc/return/?from=provider"
EMAIL = "anne.roux@maison.example"
ADDRESS: Mapping[str, Any] = {
    "AddressLine1": "1 rue du Port",
    "City": "Marseille",
    "PostalCode": "13002",
    "Country": "FR",
}
PERSON: Mapping[str, Any] = {
    "FirstName": "Anne",
    "LastName": "Roux",
    "Email": EMAIL,
    "Birthday": 0,
    "Nationality": "FR",
    "CountryOfResidence": "FR",
}
COMPANY: Mapping[str, Any] = {
    "UserCategory": "OWNER",
    "TermsAndConditionsAccepted": True,
    "LegalPersonType": "BUSINESS",
    "Name": "Maison Soleil",
    "Email": "contact@maison.example",
    "CompanyNumber": "123456789",
    "LegalRepresentative": PERSON,
    "HeadquartersAddress": ADDRESS,
}
NATURAL: Mapping[str, Any] = {**PERSON, "UserCategory": "OWNER", "TermsAndConditionsAccepted": True}
STEPS: tuple[tuple[str, Mapping[str, str]], ...] = (
    ("terms", {"terms": "yes"}),
    ("consents", {"consent_person": "yes", "consent_data": "yes"}),
    ("passkey", {}),
    ("email", {"email": EMAIL}),
    ("pin", {"pin": "135790", "pin_again": "135790"}),
    ("phone", {"phone": "06 12 34 56 78"}),
    ("code", {"code": "000000"}),
)
"""The steps of an enrolment in order, with what is typed."""


async def owner(api: MangopayApi, **changes: Any) -> Json:
    """A company that has to enrol."""
    return await api.create("/sca/users/legal", {**COMPANY, **changes})


def token_of(created: Json) -> str:
    """The token of the session that an answer leads to."""
    url: str = created["PendingUserAction"]["RedirectUrl"]
    return parse_qs(urlsplit(url).query)["token"][0]


def page_of(created: Json, **query: str) -> str:
    """Where the session's page is, for the client, with the way back unless `query` says otherwise."""
    return "/sca?" + urlencode({"token": token_of(created), **(query or {"returnUrl": BACK})})


async def step(api: MangopayApi, page: str, stage: str, typed: Mapping[str, str] | None = None) -> httpx.Response:
    """Send a step's form."""
    return await api.http.post(page, data={"stage": stage, **(dict(STEPS)[stage] if typed is None else typed)})


async def walk(api: MangopayApi, page: str, until: str = "") -> httpx.Response | None:
    """Take every step right, as far as the one that is named; answers what the last one answered."""
    answer = None
    for stage, _ in STEPS:
        if stage == until:
            break
        answer = await step(api, page, stage)
    return answer


async def enrolled(api: MangopayApi, **changes: Any) -> Json:
    """A company that has enrolled."""
    made = await owner(api, **changes)
    await api.control("POST", f"/sca/{token_of(made)}", {"outcome": "succeed"})
    user: Json = await api.read(f"/sca/users/{made['Id']}")
    return user


async def list_events(api: MangopayApi, *event_types: str) -> list[tuple[str, str]]:
    """Type and resource of every event of these types that there was, in order."""
    found = []
    for event_type in event_types:
        listed = await api.read(f"/events?EventType={event_type}")
        found += [(event["EventType"], event["ResourceId"]) for event in listed]
    return found

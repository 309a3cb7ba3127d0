"""Owners of every kind for the sandbox's tests, and what happened to them."""

from typing import Any

from tests.coffret.sandbox.mangopay_api import Json, MangopayApi

ADDRESS = {"AddressLine1": "1 rue du Test", "City": "Paris", "PostalCode": "75001", "Country": "FR"}
PERSON = {
    "FirstName": "Joana",
    "LastName": "Dupont",
    "Birthday": 665452800,
    "Nationality": "FR",
    "CountryOfResidence": "FR",
}
OWNER = {"UserCategory": "OWNER", "TermsAndConditionsAccepted": True}
IBAN = "FR7630004000031234567890143"
BANK_ACCOUNT: Json = {
    "DisplayName": "Maison Soleil",
    "PayoutMethodType": "LocalBankTransfer",
    "RecipientType": "Business",
    "Currency": "EUR",
    "Country": "FR",
    "RecipientScope": "PAYOUT",
    "BusinessRecipient": {"BusinessName": "Maison Soleil", "Address": ADDRESS},
    "LocalBankTransfer": {"EUR": {"IBAN": IBAN}},
}
KINDS = ("NATURAL", "SOLETRADER", "ORGANIZATION", "PARTNERSHIP", "BUSINESS")


def owner_body(kind: str, *, email: str = "joana+accept@example.com", **changes: Any) -> tuple[str, Json]:
    """The call that creates an owner of this kind, and its body. By its e-mail it is active at once."""
    if kind == "NATURAL":
        return "/sca/users/natural", {**OWNER, **PERSON, "Email": email, **changes}
    return "/sca/users/legal", {
        **OWNER,
        "LegalPersonType": kind,
        "Name": "Maison Soleil",
        "Email": "office@example.com",
        "CompanyNumber": "123456789",
        "HeadquartersAddress": ADDRESS,
        "LegalRepresentative": {**PERSON, "Email": email},
        **changes,
    }


async def owner(api: MangopayApi, kind: str = "BUSINESS", **changes: Any) -> str:
    """An owner's id."""
    path, body = owner_body(kind, **changes)
    id: str = (await api.create(path, body))["Id"]
    return id


async def level(api: MangopayApi, user: str) -> str:
    """How far a user is identified."""
    known: str = (await api.read(f"/sca/users/{user}"))["KYCLevel"]
    return known


async def list_events(api: MangopayApi, *event_types: str) -> list[tuple[str, str]]:
    """Events of these types that the provider lists: type and resource, type by type."""
    listed = [event for type in event_types for event in await api.read(f"/events?EventType={type}")]
    return [(event["EventType"], event["ResourceId"]) for event in listed]


async def assert_refused(api: MangopayApi, answer: Any, status: int, type: str, *fields: str) -> None:
    """The answer is this refusal and names these fields. A 404 names none of the call."""
    assert answer.status_code == status, answer.text
    body = answer.json()
    assert body["Type"] == type
    assert sorted(body["errors"] or {}) == (["RessourceNotFound"] if status == 404 else sorted(fields))

"""Somebody who is paid, as we ask for it and as the provider answers."""

import datetime as dt
from typing import Any

from store.providers.accounts import AccountRequest, Address, DestinationRequest, LegalKind, Representative
from tests.store.providers.mangopay.account import CREATED

MOMENT = dt.datetime.fromtimestamp(CREATED, dt.UTC)
BACK = "https://shop.example/onboarding/a token/return/?a=1&b=é"
ENCODED_BACK = "https%3A%2F%2Fshop.example%2Fonboarding%2Fa%20token%2Freturn%2F%3Fa%3D1%26b%3D%C3%A9"
SCA = "https://sca.provider.test/?token=abc"

ADDRESS = Address(line_1="4 rue de la Paix", city="Paris", postal_code="75002", country="FR")
PERSON = Representative(
    first_name="Ana",
    last_name="Puig",
    email="ana@example.com",
    birthday=dt.date(1966, 2, 28),
    nationality="ES",
    residence="FR",
    phone="+33611223344",
)
REQUEST = AccountRequest(
    reference="partner-7",
    kind=LegalKind.BUSINESS,
    name="Maison Soleil",
    email="hello@soleil.example",
    representative=PERSON,
    headquarters=ADDRESS,
    company_number="552100554",
)
BANK = DestinationRequest(
    account_id="user_m_2",
    holder="Maison Soleil",
    holder_is_business=True,
    address=ADDRESS,
    iban="FR7630004000031234567890143",
    currency="EUR",
    label="Main account",
)


def legal_user(**more: Any) -> dict[str, Any]:
    """A legal person whose representative has still to authenticate."""
    return {
        "Id": "user_m_2",
        "Tag": "partner-7",
        "CreationDate": CREATED,
        "PersonType": "LEGAL",
        "UserCategory": "OWNER",
        "LegalPersonType": "BUSINESS",
        "Name": "Maison Soleil",
        "Email": "hello@soleil.example",
        "LegalRepresentative": {"FirstName": "Ana", "LastName": "Puig", "Email": "ana@example.com", "Birthday": -1},
        "KYCLevel": "LIGHT",
        "UserStatus": "PENDING_USER_ACTION",
        "PendingUserAction": {"RedirectUrl": SCA},
    } | more


def natural_user(**more: Any) -> dict[str, Any]:
    """A natural person who has still to authenticate."""
    return {
        "Id": "user_m_3",
        "Tag": "partner-7",
        "CreationDate": CREATED,
        "PersonType": "NATURAL",
        "UserCategory": "OWNER",
        "FirstName": "Ana",
        "LastName": "Puig",
        "Email": "ana@example.com",
        "KYCLevel": "LIGHT",
        "UserStatus": "PENDING_USER_ACTION",
        "PendingUserAction": {"RedirectUrl": SCA},
    } | more


def session(**more: Any) -> dict[str, Any]:
    """A session in which an identity is proven."""
    return {
        "Id": "idv_1",
        "Tag": None,
        "CreationDate": CREATED,
        "HostedUrl": "https://idv.provider.test/1",
        "ReturnUrl": "https://shop.example/k/abcdefgh",
        "Status": "PENDING",
        "UserId": "user_m_2",
        "LastUpdate": CREATED,
        "Checks": [],
    } | more


def document(**more: Any) -> dict[str, Any]:
    """A document without files."""
    return {
        "Id": "kyc_1",
        "Tag": "document-9",
        "CreationDate": CREATED,
        "UserId": "user_m_2",
        "Type": "REGISTRATION_PROOF",
        "Status": "CREATED",
        "RefusedReasonType": None,
        "RefusedReasonMessage": None,
        "ProcessedDate": None,
        "Flags": [],
    } | more


def recipient(**more: Any) -> dict[str, Any]:
    """A bank account that its owner has still to authenticate for."""
    return {
        "Id": "rec_1",
        "UserId": "user_m_2",
        "Status": "PENDING",
        "DisplayName": "Main account",
        "PayoutMethodType": "LocalBankTransfer",
        "RecipientType": "Business",
        "RecipientScope": "PAYOUT",
        "Currency": "EUR",
        "Country": "FR",
        "LocalBankTransfer": {"EUR": {"IBAN": "FR7630004000031234567890143"}},
        "PendingUserAction": {"RedirectUrl": SCA},
        "RecipientVerificationOfPayee": None,
    } | more

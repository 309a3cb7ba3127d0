"""Creates owners and wallets with given ids for demonstrations and tests."""

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from coffret.sandbox.database import SandboxSession
from coffret.sandbox.payments import wallets
from coffret.sandbox.users import enrolment, users
from coffret.sandbox.wire.bodies import Currency

Id = Annotated[str, Field(min_length=1, max_length=128)]


class Seed(BaseModel):
    """A legal owner with one wallet. The owner is enrolled, has granted account access and has proven its identity.

    With `kyc_level` LIGHT the identity is not proven.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    user_id: Id
    wallet_id: Id
    name: Annotated[str, Field(min_length=1, max_length=255)]
    email: str = "accept@example.com"
    currency: Currency = "EUR"
    kyc_level: Literal["LIGHT", "REGULAR"] = "REGULAR"


def create_seed(session: SandboxSession, seed: Seed) -> dict[str, Any]:
    """Create the owner and the wallet unless they exist. Returns both."""
    if not session.row("SELECT 1 FROM user WHERE id = ?", seed.user_id):
        users.add(session, seed.user_id, users.LEGAL, seed.name, owner(session, seed))
        session.change(
            "INSERT INTO enrolment (user_id, enrolled_at, access_until) VALUES (?, ?, ?)",
            seed.user_id,
            int(session.now),
            session.now + enrolment.ACCESS_LASTS,
        )
    if not session.row("SELECT 1 FROM wallet WHERE id = ?", seed.wallet_id):
        wallets.add(session, seed.wallet_id, seed.user_id, seed.currency, description=f"Wallet of {seed.name}"[:255])
    return {
        "user": users.present(session, seed.user_id),
        "wallet": wallets.present(session, wallets.find(session, seed.wallet_id)),
    }


def owner(session: SandboxSession, seed: Seed) -> dict[str, Any]:
    """The owner's body, as registration would have written it."""
    address = {
        "AddressLine1": "1 rue du Test",
        "AddressLine2": None,
        "City": "Paris",
        "Region": None,
        "PostalCode": "75001",
        "Country": "FR",
    }
    return {
        "UserCategory": "OWNER",
        "TermsAndConditionsAccepted": True,
        "TermsAndConditionsAcceptedDate": int(session.now),
        "CreationDate": int(session.now),
        "LegalPersonType": "BUSINESS",
        "Name": seed.name,
        "Email": seed.email,
        "CompanyNumber": "123456789",
        "HeadquartersAddress": address,
        "LegalRepresentativeAddress": None,
        "LegalRepresentative": {
            "FirstName": "Demo",
            "LastName": "Partner",
            "Email": seed.email,
            "Birthday": 0,
            "Nationality": "FR",
            "CountryOfResidence": "FR",
            "PhoneNumber": None,
            "PhoneNumberCountry": None,
        },
        "KYCLevel": seed.kyc_level,
        "UserStatus": "ACTIVE",
        "PendingUserAction": None,
        "Tag": None,
    }

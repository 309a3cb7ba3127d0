"""Bank accounts that the payment provider can send a partner's money to."""

import datetime as dt
from uuid import UUID

import strawberry
from sqlmodel import Field

from schema.core.ownership import of_partner
from schema.core.resource import ClosedSet, Fields, choice, closed_set, moment, writable

PAYEE_CHECK_LENGTH = 100
"""Characters that are kept of what is said of a holder's name."""


@closed_set
class BankAccountStatus(ClosedSet):
    """Whether money can be sent to a bank account."""

    CREATED = "created", "The provider has not answered yet: register it again."
    PENDING = "pending", "The representative has to confirm it at `redirectUrl`."
    ACTIVE = "active", "Money can be sent to it."
    CANCELLED = "cancelled", "It was not confirmed, or not in time: register it again."
    DEACTIVATED = "deactivated", "Another one has taken its place."
    UNKNOWN = "unknown", "The provider says something that we do not know: nothing is sent to it."


@strawberry.pydantic.type(description="A bank account that the payment provider knows, or is to know.")
class RegisteredBankAccount(Fields):
    """A bank account that the payment provider knows, or is to know."""

    id: int = Field(description="Its id.")
    status: BankAccountStatus = choice(
        BankAccountStatus, "Whether money can be sent to it.", default=BankAccountStatus.CREATED
    )
    iban_end: str = Field(max_length=4, description="The last four characters of its IBAN.")
    holder: str = Field(max_length=255, description="Whom it belongs to, as the bank is told.")
    payee_check: str = Field(
        default="",
        max_length=PAYEE_CHECK_LENGTH,
        description="What the bank says of its holder's name, in the provider's words (`MATCH`, `NO_MATCH`, …); empty: "
        "nothing.",
    )
    redirect_url: str | None = Field(
        default=None,
        max_length=2048,
        description="Where the representative confirms it, within ten minutes; null: there is nothing to confirm.",
    )
    redirect_expires_on: dt.datetime | None = moment(
        "Until when that works; null: there is nothing to confirm.", default=None, nullable=True
    )
    created_on: dt.datetime = moment("When it was registered.")
    partner = of_partner("The partner that is paid to it.")


@writable
class RegisterBankAccount(Fields):
    """Whose bank account is to be registered: the IBAN that the partner has."""

    partner_uuid: UUID = Field(description="The uuid of the partner.")

"""Bank accounts for payouts, as registered with the payment provider."""

import datetime as dt
from uuid import UUID

import strawberry
from sqlmodel import Field

from schema.core.columns import DescribedEnum, datetime_column, enum_column, graphql_enum, id_column
from schema.core.inputs import graphql_input
from schema.core.ownership import partner_relation
from schema.core.resource import SchemaModel

PAYEE_CHECK_LENGTH = 100
"""Stored characters of the bank's answer about the holder's name."""


@graphql_enum
class BankAccountStatus(DescribedEnum):
    """Whether money can be sent to a bank account."""

    CREATED = "created", "The provider has not answered yet. Register it again."
    PENDING = "pending", "The representative has to confirm it at `redirectUrl`."
    ACTIVE = "active", "Money can be sent to it."
    CANCELLED = "cancelled", "It was not confirmed, or not in time. Register it again."
    DEACTIVATED = "deactivated", "Another account has replaced it."
    UNKNOWN = "unknown", "The provider returned an unknown status. Nothing is sent to it."


@strawberry.pydantic.type(
    description="A bank account that is registered with the payment provider, or is being registered."
)
class RegisteredBankAccount(SchemaModel):
    id: int = id_column("The bank account's id.")
    status: BankAccountStatus = enum_column(
        BankAccountStatus, "Whether money can be sent to it.", default=BankAccountStatus.CREATED
    )
    iban_end: str = Field(max_length=4, description="The last four characters of its IBAN.")
    holder: str = Field(max_length=255, description="The holder's name, as sent to the bank.")
    payee_check: str = Field(
        default="",
        max_length=PAYEE_CHECK_LENGTH,
        description="The result of the bank's check of the holder's name, as the provider returns it (`MATCH`, "
        "`NO_MATCH`, …); empty if there is none.",
    )
    redirect_url: str | None = Field(
        default=None,
        max_length=2048,
        description="Where the representative confirms it, within ten minutes; null if there is nothing to confirm.",
    )
    redirect_expires_on: dt.datetime | None = datetime_column(
        "When `redirectUrl` expires; null if there is nothing to confirm.", default=None, nullable=True
    )
    created_on: dt.datetime = datetime_column("When it was registered.")
    partner = partner_relation("The partner whose payouts go to it.")


@graphql_input
class RegisterBankAccount(SchemaModel):
    """Register the partner's IBAN as a bank account."""

    partner_uuid: UUID = Field(description="The uuid of the partner.")

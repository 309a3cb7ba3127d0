"""The payment capability of a partner, and the requirements that disable it."""

import datetime as dt

import strawberry
from pydantic import BaseModel
from pydantic import Field as PydanticField

from schema.core.columns import DescribedEnum, graphql_enum


@graphql_enum
class RequirementCode(DescribedEnum):
    """What a partner has to provide."""

    MISSING_DATA = "missing_data", "A field that the provider requires is empty."
    DATA_REFUSED = "data_refused", "The provider refused the value of a field."
    AUTHENTICATION = "authentication", "The legal representative has to authenticate at the provider."
    REPRESENTATIVE_CHANGED = (
        "representative_changed",
        ("The representative's e-mail address has changed, so the representative has to authenticate again."),
    )
    ACTIVATION_FAILED = "activation_failed", "The last activation failed. Start another one."
    IDENTITY_NOT_VERIFIED = "identity_not_verified", "The partner's identity is not verified yet."
    IDENTITY_RENEWAL = (
        "identity_renewal",
        "The identity has to be verified again before the deadline; after it the partner is no longer identified.",
    )
    OWNER_NOT_VERIFIED = "owner_not_verified", "An owner of the company has not verified their own identity yet."
    DOCUMENT_REFUSED = "document_refused", "A document or identity check was refused. Submit a new one."
    DOCUMENT_OUTDATED = "document_outdated", "An accepted document has to be renewed."
    BANK_ACCOUNT_MISSING = "bank_account_missing", "There is no bank account for payouts."
    BANK_ACCOUNT_AUTHENTICATION = (
        "bank_account_authentication",
        "The legal representative has to authenticate to confirm a bank account.",
    )
    PAYEE_MISMATCH = (
        "payee_mismatch",
        "The bank knows the holder by another name. Correct the IBAN or the name, or payouts may be returned.",
    )
    INFLOWS_BLOCKED = "inflows_blocked", "The provider does not let the partner receive money."
    OUTFLOWS_BLOCKED = "outflows_blocked", "The provider blocks payouts to the partner."


@strawberry.pydantic.type(description="Something a partner has to provide, and how to do it.")
class Requirement(BaseModel):
    code: RequirementCode = PydanticField(description="What is required.")
    field: str | None = PydanticField(
        default=None,
        description="The field it is about, as named in `updatePartner`, such as `registration.siretNumber`; "
        "null if none.",
    )
    person: str | None = PydanticField(
        default=None, description="The name of the owner it is about; null if it is about the partner."
    )
    action: str = PydanticField(
        description="What to do: a URL for the representative or the owner, or an operation; `contactProvider` if only the "
        "provider can help."
    )
    deadline: dt.datetime | None = PydanticField(default=None, description="The deadline; null if none is known.")


@graphql_enum
class CapabilityStatus(DescribedEnum):
    """Whether a partner can receive payments."""

    ACTIVE = "active", "It can receive payments."
    PENDING = "pending", "Not yet: the partner or the provider has to act first."
    DISABLED = "disabled", "It cannot receive payments; `disabledReason` gives the reason."


@graphql_enum
class DisabledCapabilityReason(DescribedEnum):
    """Why a partner cannot receive payments."""

    NOT_STARTED = "not_started", "Its payments were never activated."
    REQUIREMENTS = "requirements", "It has to provide something first: see `requirements`."
    PROCESSING = "processing", "The provider is processing what the representative submitted."
    FAILED = "failed", "Its activation failed."
    BLOCKED = "blocked", "The provider does not let it receive money."
    CLOSED = "closed", "The provider's account was closed."
    PARTNER_INACTIVE = (
        "partner_inactive",
        "The only obstacle is its own `status`, which does not allow sales.",
    )


@strawberry.pydantic.type(description="Whether a partner can receive payments, and what it has to provide.")
class PaymentCapability(BaseModel):
    status: CapabilityStatus = PydanticField(description="Whether it can receive card payments.")
    disabled_reason: DisabledCapabilityReason | None = PydanticField(
        default=None, description="Why it cannot; null if it can."
    )
    requirements: list[Requirement] = PydanticField(
        default_factory=list,
        description="What it has to provide, most urgent first; also filled while payments continue.",
    )

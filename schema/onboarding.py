"""Onboarding: how a partner comes to be paid, what is still needed for it, and what its representative is asked."""

import datetime as dt
from dataclasses import dataclass
from enum import StrEnum
from uuid import UUID

import strawberry
from pydantic import BaseModel
from pydantic import Field as Plain
from sqlmodel import Field

from schema.core.resource import ClosedSet, Fields, closed_set, writable

# ---- the process


@closed_set
class ActivationStatus(ClosedSet):
    """Where the activation of a partner's payments stands. The last two are final."""

    PENDING_USER_ACTION = "PENDING_USER_ACTION", "The legal representative has something to do, at `pendingUserAction`."
    PROCESSING = "PROCESSING", "The representative is done, and the rest is being set up."
    COMPLETED = "COMPLETED", "The partner can be paid."
    FAILED = "FAILED", "It came to nothing; `failure` says why. Activating again starts a new process."


@closed_set
class ActivationFailureReason(ClosedSet):
    """Why an activation came to nothing."""

    DATA_REFUSED = (
        "data_refused",
        "The provider does not take what it was told of the partner: correct it, then activate again.",
    )
    NOT_AUTHENTICATED = (
        "not_authenticated",
        "The representative did not get through the provider's authentication: activate again for a new session.",
    )
    ACCOUNT_BLOCKED = (
        "account_blocked",
        "The provider lets this partner receive nothing: ask the provider, then activate again.",
    )
    ACCOUNT_CLOSED = "account_closed", "The provider's account was closed: activating again asks for another one."
    KIND_CHANGED = "kind_changed", "The kind of company was changed: activating again asks for another account."
    OUTCOME_UNKNOWN = (
        "outcome_unknown",
        "It is not known what the provider has made: somebody has to look there, and say so by `settleActivation`.",
    )


@strawberry.pydantic.type(description="Why an activation came to nothing, and the way out.")
class ActivationFailure(BaseModel):
    """Why an activation came to nothing."""

    reason: ActivationFailureReason = Plain(description="Why, for programs.")
    message: str = Plain(description="Why, for people, in the provider's words where there are any.")
    field: str | None = Plain(
        default=None, description="The field of the partner that has to be corrected; null: none."
    )
    action: str = Plain(description="What to do: an operation, such as `updatePartner`, or an address.")
    request_id: str | None = Plain(
        default=None, description="What the provider's support knows the refusal by; null: nothing."
    )


@strawberry.pydantic.type(description="The activation of a partner's payments.")
class PaymentActivation(BaseModel):
    """The activation of a partner's payments."""

    id: UUID = Plain(description="Names the process, for support. It stays while the process is not final.")
    status: ActivationStatus = Plain(description="Where it stands.")
    pending_user_action: str | None = Plain(
        default=None,
        description="Where the representative goes: the provider's site, for about ten minutes, or the onboarding page "
        "when something is missing. Null unless `PENDING_USER_ACTION`.",
    )
    failure: ActivationFailure | None = Plain(default=None, description="Why it failed; null unless `FAILED`.")


@writable
class ActivatePayments(Fields):
    """Whose payments are activated."""

    partner_uuid: UUID = Field(description="The uuid of the partner.")


@writable
class SettleActivation(Fields):
    """What became of the account of a partner."""

    partner_uuid: UUID = Field(description="The uuid of the partner.")
    account_id: str = Field(
        default="", max_length=128, description="The account's id at the provider; empty: the provider has none."
    )


@writable
class SendOnboardingLink(Fields):
    """Whose representative is written to."""

    partner_uuid: UUID = Field(description="The uuid of the partner.")
    language: str | None = Field(
        default=None, max_length=2, description="The language to write in, such as `fr`; by default the partner's."
    )


@strawberry.pydantic.type(description="The onboarding page of a partner.")
class OnboardingLink(BaseModel):
    """The onboarding page of a partner."""

    url: str = Plain(description="Its address, which can be sent to the representative at any time.")
    recipient: str = Plain(description="Where it was sent; empty: nowhere.")


# ---- what a partner can do, and what it lacks


@closed_set
class RequirementCode(ClosedSet):
    """What is needed of a partner."""

    MISSING_DATA = "missing_data", "A field that the provider needs is empty."
    DATA_REFUSED = "data_refused", "The provider does not take the value of a field."
    AUTHENTICATION = "authentication", "The legal representative has to authenticate at the provider."
    REPRESENTATIVE_CHANGED = (
        "representative_changed",
        "The representative's e-mail address was changed: the representative has to authenticate anew.",
    )
    ACTIVATION_FAILED = "activation_failed", "The last activation came to nothing: begin another."
    IDENTITY_NOT_VERIFIED = "identity_not_verified", "Nobody has proven the partner's identity yet."
    DOCUMENT_REFUSED = "document_refused", "A document or an identity check was refused: hand it in anew."
    DOCUMENT_OUTDATED = "document_outdated", "A document that was good has to be renewed."
    BANK_ACCOUNT_MISSING = "bank_account_missing", "There is no bank account to pay out to."
    BANK_ACCOUNT_AUTHENTICATION = (
        "bank_account_authentication",
        "The legal representative has to authenticate for a bank account.",
    )
    PAYEE_MISMATCH = (
        "payee_mismatch",
        "The bank knows the account's holder by another name: correct IBAN or name, or payouts may come back.",
    )
    INFLOWS_BLOCKED = "inflows_blocked", "The provider lets the partner receive nothing."
    OUTFLOWS_BLOCKED = "outflows_blocked", "The provider lets the partner be paid out nothing."


@strawberry.pydantic.type(description="Something that is needed of a partner, and how it is met.")
class Requirement(BaseModel):
    """Something that is needed of a partner, and how it is met."""

    code: RequirementCode = Plain(description="What is needed.")
    field: str | None = Plain(
        default=None,
        description="The field it is about, as `updatePartner` names it, such as `registration.siretNumber`; null: none.",
    )
    action: str = Plain(
        description="What meets it: an address that the representative opens, or an operation; `contactProvider` where only the provider helps."
    )
    deadline: dt.datetime | None = Plain(default=None, description="Until when; null: no date is known.")


@closed_set
class CapabilityStatus(ClosedSet):
    """Whether a partner can be paid."""

    ACTIVE = "active", "It can."
    PENDING = "pending", "Not yet: somebody, or the provider, has something to do first."
    DISABLED = "disabled", "It cannot; `disabledReason` says why."


@closed_set
class DisabledCapabilityReason(ClosedSet):
    """Why a partner cannot be paid."""

    NOT_STARTED = "not_started", "Its payments were never activated."
    REQUIREMENTS = "requirements", "Something is needed of it first: see `requirements`."
    PROCESSING = "processing", "What the representative did is being worked on."
    FAILED = "failed", "Its activation came to nothing."
    BLOCKED = "blocked", "The provider lets it receive nothing."
    CLOSED = "closed", "The provider's account was closed."
    PARTNER_INACTIVE = (
        "partner_inactive",
        "Nothing is in the way but its own `status`, which says that it does not sell.",
    )


@strawberry.pydantic.type(description="Whether a partner can be paid, and what is needed of it.")
class PaymentCapability(BaseModel):
    """Whether a partner can be paid, and what is needed of it."""

    status: CapabilityStatus = Plain(description="Whether it can be paid by card.")
    disabled_reason: DisabledCapabilityReason | None = Plain(default=None, description="Why not; null: it can.")
    requirements: list[Requirement] = Plain(
        default_factory=list, description="What is needed, also where payments go on meanwhile; the most urgent first."
    )


# ---- the onboarding page


class OnboardingStep(StrEnum):
    """What the page shows."""

    DETAILS = "details"
    """A form for what is `asked`."""
    AUTHENTICATION = "authentication"
    """A button that leads to the provider."""
    PROCESSING = "processing"
    """Nothing to do but wait: the page loads itself again."""
    COMPLETED = "completed"
    """The partner can be paid; there may be `requirements` left."""
    FAILED = "failed"
    """It came to nothing, and the representative can do nothing about it; `failure` says why."""


class OnboardingField(StrEnum):
    """What the representative may be asked: columns of the partner, and fields of `OnboardingDetails`."""

    COMPANY_TYPE = "company_type"
    NAME = "name"
    SIRET_NUMBER = "siret_number"
    LEGAL_REPRESENTATIVE_FIRST_NAME = "legal_representative_first_name"
    LEGAL_REPRESENTATIVE_LAST_NAME = "legal_representative_last_name"
    LEGAL_REPRESENTATIVE_EMAIL = "legal_representative_email"
    LEGAL_REPRESENTATIVE_BIRTHDAY = "legal_representative_birthday"
    LEGAL_REPRESENTATIVE_NATIONALITY = "legal_representative_nationality"
    LEGAL_REPRESENTATIVE_COUNTRY_OF_RESIDENCE = "legal_representative_country_of_residence"
    HQ_ADDRESS_LINE_1 = "hq_address_line_1"
    HQ_POSTAL_CODE = "hq_postal_code"
    HQ_CITY = "hq_city"
    HQ_REGION = "hq_region"
    HQ_COUNTRY = "hq_country"
    AGENCY_EMAIL = "agency_email"


@dataclass(frozen=True, slots=True)
class OnboardingDetails:
    """What the representative typed, as it was typed; empty: not given.

    `company_type` is a value of `CompanyType`, the birthday `YYYY-MM-DD`, countries ISO 3166 alpha-2.
    """

    company_type: str = ""
    name: str = ""
    siret_number: str = ""
    legal_representative_first_name: str = ""
    legal_representative_last_name: str = ""
    legal_representative_email: str = ""
    legal_representative_birthday: str = ""
    legal_representative_nationality: str = ""
    legal_representative_country_of_residence: str = ""
    hq_address_line_1: str = ""
    hq_postal_code: str = ""
    hq_city: str = ""
    hq_region: str = ""
    hq_country: str = ""
    agency_email: str = ""


class OnboardingTask(StrEnum):
    """What a representative does on the page once payments are active."""

    PROVE_IDENTITY = "prove_identity"
    NAME_BANK_ACCOUNT = "name_bank_account"
    CONFIRM_BANK_ACCOUNT = "confirm_bank_account"


@dataclass(frozen=True, slots=True)
class BeginTask:
    """What the representative is about to do at the provider."""

    task: OnboardingTask


@dataclass(frozen=True, slots=True)
class BankDetails:
    """Where money goes to, as it was typed; empty: not given."""

    iban: str = ""
    bic: str = ""


@dataclass(frozen=True, slots=True)
class Onboarding:
    """All that the page shows. Of what is stored about people it has nothing."""

    partner_uuid: UUID
    partner_name: str
    """What customers know the partner by."""
    marketplace_name: str
    iban_end: str
    """The last four characters of the partner's IBAN; empty: it has none."""
    accent: str
    logo_url: str
    language: str
    """The partner's, for a browser that names none of ours."""
    step: OnboardingStep
    asked: tuple[OnboardingField, ...]
    """What the form asks for: what is missing, and what the provider did not take."""
    refused: OnboardingField | None
    """The one of `asked` that the provider did not take."""
    needs_company_number: bool | None
    """Whether a company number is needed; None while the kind of company is not known."""
    status: ActivationStatus | None
    """Of the activation; None: it was never begun."""
    activation_id: UUID | None
    failure: ActivationFailure | None
    requirements: tuple[Requirement, ...]
    path: str
    """Where this page is now, from the root: the address changes with the representative's e-mail address."""


@dataclass(frozen=True, slots=True)
class Authentication:
    """Where the representative is sent now: the provider's site."""

    url: str
    expires_at: dt.datetime

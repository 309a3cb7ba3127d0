"""Onboarding: the page on which a partner's representative activates payments, and the link to it."""

import datetime as dt
from dataclasses import dataclass
from enum import StrEnum
from uuid import UUID

import strawberry
from pydantic import BaseModel
from pydantic import Field as PydanticField
from sqlmodel import Field

from schema.activation import ActivationFailure, ActivationStatus
from schema.core.columns import DescribedEnum
from schema.core.inputs import graphql_input
from schema.core.resource import SchemaModel
from schema.kyc.capability import Requirement
from schema.theme import BrandTheme


@graphql_input
class SendOnboardingLink(SchemaModel):
    """Send the onboarding link to a partner's legal representative."""

    partner_uuid: UUID = Field(description="The uuid of the partner.")
    language: str | None = Field(
        default=None,
        max_length=2,
        description="The language of the message, such as `fr`; the partner's language by default.",
    )


@strawberry.pydantic.type(description="The onboarding page of a partner.")
class OnboardingLink(BaseModel):
    url: str = PydanticField(description="Its URL, which can be sent to the representative at any time.")
    recipient: str = PydanticField(description="The e-mail address it was sent to; empty if it was not sent.")


class OnboardingStep(StrEnum):
    """The step that the page shows."""

    DETAILS = "details"
    """A form for `asked_fields`."""
    AUTHENTICATION = "authentication"
    """A button that leads to the provider."""
    PROCESSING = "processing"
    """A waiting page that reloads itself."""
    COMPLETED = "completed"
    """The partner can receive payments; there may be `requirements` left."""
    FAILED = "failed"
    """It failed and the representative cannot fix it; `failure` gives the reason."""


class OnboardingField(StrEnum):
    """A field of the form: a column of the partner and a field of `OnboardingDetails`."""

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
    """What the representative typed, unchanged; empty if not given.

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
    """A task of the representative once payments are active."""

    PROVE_IDENTITY = "prove_identity"
    NAME_BANK_ACCOUNT = "name_bank_account"
    CONFIRM_BANK_ACCOUNT = "confirm_bank_account"


@dataclass(frozen=True, slots=True)
class BeginTask:
    """The task that the representative is about to do at the provider."""

    task: OnboardingTask


@dataclass(frozen=True, slots=True)
class BankDetailsForm:
    """The bank account for payouts, as typed; empty if not given."""

    iban: str = ""
    bic: str = ""


@dataclass(frozen=True, slots=True)
class Onboarding:
    """The data of the onboarding page. It contains no stored personal data."""

    partner_uuid: UUID
    partner_name: str
    """The partner's commercial name."""
    marketplace_name: str
    iban_end: str
    """The last four characters of the partner's IBAN; empty if it has none."""
    accent: str
    theme: BrandTheme
    logo_url: str
    language: str
    """The partner's language, for browsers that accept no supported one."""
    step: OnboardingStep
    asked_fields: tuple[OnboardingField, ...]
    """What the form asks for: missing fields, and fields that the provider refused."""
    refused_field: OnboardingField | None
    """The one of `asked_fields` that the provider refused."""
    needs_company_number: bool | None
    """Whether a company number is required; None while the company type is unknown."""
    status: ActivationStatus | None
    """The status of the activation; None if it was never started."""
    activation_id: UUID | None
    failure: ActivationFailure | None
    requirements: tuple[Requirement, ...]
    path: str
    """The current path of this page. It changes with the representative's e-mail address."""


@dataclass(frozen=True, slots=True)
class AuthenticationRedirect:
    """The provider's page that the representative is redirected to."""

    url: str
    expires_at: dt.datetime


class ProviderReturnPurpose(DescribedEnum):
    """Why a person was sent to the provider."""

    IDENTITY = "identity", "To prove an identity."
    BANK_ACCOUNT = "bank_account", "To confirm a bank account."


class ProviderReturnStatus(DescribedEnum):
    """The result, as shown on the page that the person returns to."""

    OPEN = "open", "It is not done yet."
    WAITING = "waiting", "It is being examined."
    DONE = "done", "It is done."
    FAILED = "failed", "It was refused, or not done in time. It can be retried."


@dataclass(frozen=True, slots=True)
class ProviderReturn:
    """The page that is shown to a person who returns from the provider."""

    path: str
    """The end of the page's path."""
    purpose: ProviderReturnPurpose
    status: ProviderReturnStatus
    action_url: str | None
    """Where to continue at the provider; None once that is no longer possible."""
    partner_name: str
    """The partner's commercial name."""
    accent: str
    theme: BrandTheme
    logo_url: str
    language: str
    """The partner's language, for browsers that accept no supported one."""


@dataclass(frozen=True, slots=True)
class ProviderReturnRetry:
    """A retry; `path` is the end of the path of the page that reported the failure."""

    path: str

"""Who a partner is, as far as its payment provider has been shown: documents, identity checks, and the level they make."""

import datetime as dt
from dataclasses import dataclass
from uuid import UUID

import strawberry
from pydantic import BaseModel
from sqlmodel import Field

from schema.core.resource import ClosedSet, Fields, closed_set, writable


@closed_set
class KycDocumentType(ClosedSet):
    """What a document proves."""

    IDENTITY_PROOF = "IDENTITY_PROOF", "Who the legal representative is: a passport, an identity card."
    REGISTRATION_PROOF = "REGISTRATION_PROOF", "That the company is registered: an extract of the register."
    ARTICLES_OF_ASSOCIATION = "ARTICLES_OF_ASSOCIATION", "What the company has agreed on: its articles."
    SHAREHOLDER_DECLARATION = "SHAREHOLDER_DECLARATION", "To whom the company belongs."
    ADDRESS_PROOF = "ADDRESS_PROOF", "Where somebody lives."


@closed_set
class KycCheckStatus(ClosedSet):
    """Where a document or an identity check stands."""

    CREATED = "CREATED", "A document that was not handed in completely: send it again."
    VALIDATION_ASKED = "VALIDATION_ASKED", "A document that is being examined."
    PENDING = "PENDING", "An identity check that was opened, and not done yet."
    REVIEW = "REVIEW", "An identity check that somebody at the provider looks at."
    VALIDATED = "VALIDATED", "It is accepted."
    REFUSED = "REFUSED", "It is refused; the reasons say why."
    EXPIRED = "EXPIRED", "An identity check that nobody did in time."
    OUT_OF_DATE = "OUT_OF_DATE", "It was accepted once, and has to be renewed."
    UNKNOWN = "UNKNOWN", "The provider says something that we do not know: it counts as not accepted."


@closed_set
class KycRefusalReason(ClosedSet):
    """Why a document or an identity check was refused, in words that do not depend on the provider."""

    UNREADABLE = "unreadable", "It cannot be read."
    NOT_ACCEPTED = "not_accepted", "It is not of a kind that is accepted."
    HAS_EXPIRED = "has_expired", "It was no longer valid."
    INCOMPLETE = "incomplete", "Something of it is missing, such as a page or its back."
    MISSING = "missing", "It is missing."
    USER_DATA_MISMATCH = "user_data_mismatch", "It does not say the same of the representative as the partner's data."
    ACCOUNT_DATA_MISMATCH = "account_data_mismatch", "It does not say the same of the company as the partner's data."
    FALSIFIED = "falsified", "It was taken for a forgery."
    UNDERAGE = "underage", "The person is not of age."
    SPECIFIC_CASE = "specific_case", "Ask the provider: it is a case of its own."
    FACE_MISMATCH = "face_mismatch", "The face is not that of the document."
    UNKNOWN = "unknown", "Something else: see the provider's own code and text."


@closed_set
class KycCheckKind(ClosedSet):
    """How somebody showed who they are."""

    DOCUMENT = "document", "By a document that was handed in."
    IDENTITY_CHECK = "identity_check", "On a page of the provider."


@closed_set
class KycStatus(ClosedSet):
    """Whether a partner is identified."""

    OK = "ok", "It is: the provider has validated it, and it can be paid out."
    ERROR = "error", "It is not, or not yet; `detail` says why."


@strawberry.pydantic.type(description="Why something was refused.")
class KycRefusal(BaseModel):
    """Why something was refused."""

    reason: KycRefusalReason = Field(description="In our words.")
    code: str = Field(description="The provider's own code, as received: `DOCUMENT_UNREADABLE`.")
    message: str = Field(description="What the provider says of it, as received; empty: nothing.")


@strawberry.pydantic.type(description="The latest document of its type, or the latest identity check.")
class KycCheck(BaseModel):
    """The latest document of its type, or the latest identity check."""

    kind: KycCheckKind = Field(description="What it is.")
    id: int | None = Field(description="Its id; null: there is none, it was never handed in.")
    partner_id: int = Field(description="The id of the partner that it is about.")
    partner_uuid: UUID = Field(description="The uuid of that partner.")
    document_type: KycDocumentType = Field(description="What it proves.")
    status: KycCheckStatus | None = Field(description="Where it stands; null: it is missing.")
    refused_reason: str = Field(
        description="The provider's own code of the first reason it was refused for, `DOCUMENT_MISSING` for one that is "
        "missing; empty: it was not refused."
    )
    refusals: list[KycRefusal] = Field(description="Every reason it was refused for.")
    created_on: dt.datetime | None = Field(description="When it was handed in or opened; null: never.")


@strawberry.pydantic.type(description="Whether a partner is identified, and what is in the way.")
class Kyc(BaseModel):
    """Whether a partner is identified, and what is in the way."""

    partner_id: int = Field(description="The id of the partner.")
    partner_uuid: UUID = Field(description="Its uuid.")
    status: KycStatus = Field(description="Whether it is identified.")
    detail: str = Field(description="The same in a sentence, with the way out.")
    checked_on: dt.datetime | None = Field(description="When the provider last told; null: never.")
    errors: list[KycCheck] = Field(description="What is refused or missing; empty when it is identified.")
    checks: list[KycCheck] = Field(
        description="The latest document of each type and the latest identity check, whatever became of them."
    )


@strawberry.pydantic.type(description="A page of the payment provider on which the representative proves an identity.")
class IdentityVerification(BaseModel):
    """A page of the payment provider on which the representative proves an identity."""

    id: int = Field(description="Its id.")
    status: KycCheckStatus = Field(description="Where it stands.")
    redirect_url: str = Field(description="Where to send the representative.")
    expires_on: dt.datetime = Field(description="Until when it can be used: for seven days.")


@writable
class OpenIdentityVerification(Fields):
    """Whose identity is to be proven."""

    partner_uuid: UUID = Field(description="The uuid of the partner.")


class ReturnedFrom(ClosedSet):
    """What somebody was sent to the provider for."""

    IDENTITY = "identity", "To prove an identity."
    BANK_ACCOUNT = "bank_account", "To confirm a bank account."


class Stage(ClosedSet):
    """How that stands, in the words of the page they come back to."""

    OPEN = "open", "It is not done yet."
    WAITING = "waiting", "It is being examined."
    DONE = "done", "It is done."
    FAILED = "failed", "It was refused, or not done in time: it can be tried again."


@dataclass(frozen=True, slots=True)
class Returned:
    """What the page shows to somebody who comes back from the provider."""

    path: str
    """The end of the page's address."""
    of: ReturnedFrom
    stage: Stage
    action_url: str | None
    """Where to go on at the provider, while that can be done."""
    partner_name: str
    """What customers know the partner by."""
    accent: str
    logo_url: str
    language: str
    """The partner's, for a browser that names none of ours."""


@dataclass(frozen=True, slots=True)
class TryAgain:
    """What is to be tried again: the end of the address of the page that says it failed."""

    path: str

"""The identification (KYC) of a partner at its payment provider: documents, identity checks and the resulting level."""

import datetime as dt
from uuid import UUID

import strawberry
from pydantic import BaseModel
from sqlmodel import Field

from schema.core.columns import DescribedEnum, graphql_enum


@graphql_enum
class KycDocumentType(DescribedEnum):
    """What a document proves."""

    IDENTITY_PROOF = "IDENTITY_PROOF", "The identity of the legal representative: a passport or an identity card."
    REGISTRATION_PROOF = "REGISTRATION_PROOF", "The registration of the company: an extract of the register."
    ARTICLES_OF_ASSOCIATION = "ARTICLES_OF_ASSOCIATION", "The company's articles of association."
    SHAREHOLDER_DECLARATION = "SHAREHOLDER_DECLARATION", "The owners of the company."
    ADDRESS_PROOF = "ADDRESS_PROOF", "A person's address."


@graphql_enum
class KycCheckStatus(DescribedEnum):
    """The status of a document or an identity check."""

    CREATED = "CREATED", "A document that was not submitted completely. Send it again."
    VALIDATION_ASKED = "VALIDATION_ASKED", "A document that is being examined."
    PENDING = "PENDING", "An identity check that is open and not done yet."
    REVIEW = "REVIEW", "An identity check that is under manual review at the provider."
    VALIDATED = "VALIDATED", "It is accepted."
    REFUSED = "REFUSED", "It is refused; `refusals` gives the reasons."
    EXPIRED = "EXPIRED", "An identity check that was not done in time."
    OUT_OF_DATE = "OUT_OF_DATE", "It was accepted and has to be renewed."
    UNKNOWN = "UNKNOWN", "The provider returned an unknown status. It counts as not accepted."


@graphql_enum
class KycRefusalReason(DescribedEnum):
    """Why a document or an identity check was refused, independent of the provider."""

    UNREADABLE = "unreadable", "It cannot be read."
    NOT_ACCEPTED = "not_accepted", "This type of document is not accepted."
    HAS_EXPIRED = "has_expired", "It has expired."
    INCOMPLETE = "incomplete", "A part of it is missing, such as a page or the back."
    MISSING = "missing", "It is missing."
    USER_DATA_MISMATCH = "user_data_mismatch", "It does not match the partner's data about the representative."
    ACCOUNT_DATA_MISMATCH = "account_data_mismatch", "It does not match the partner's data about the company."
    FALSIFIED = "falsified", "It was considered a forgery."
    UNDERAGE = "underage", "The person is not of age."
    SPECIFIC_CASE = "specific_case", "A special case: contact the provider."
    FACE_MISMATCH = "face_mismatch", "The face does not match the document."
    UNKNOWN = "unknown", "Another reason: see the provider's own code and message."


@graphql_enum
class KycCheckKind(DescribedEnum):
    """The kind of an identification check."""

    DOCUMENT = "document", "A submitted document."
    IDENTITY_CHECK = "identity_check", "A verification on a page of the provider."


@graphql_enum
class KycStatus(DescribedEnum):
    """Whether a partner is identified."""

    OK = "ok", "The provider has validated it, and payouts are possible."
    ERROR = "error", "It is not validated, or not yet; `detail` gives the reason."


@strawberry.pydantic.type(description="Why a document or an identity check was refused.")
class KycRefusal(BaseModel):
    reason: KycRefusalReason = Field(description="The reason, independent of the provider.")
    code: str = Field(description="The provider's own code, as received: `DOCUMENT_UNREADABLE`.")
    message: str = Field(description="The provider's own message, as received; empty if none.")


@strawberry.pydantic.type(description="The latest document of its type, or the latest identity check.")
class KycCheck(BaseModel):
    kind: KycCheckKind = Field(description="Whether it is a document or an identity check.")
    id: int | None = Field(description="Its id; null if it was never submitted.")
    partner_id: int = Field(description="The id of the partner it is about.")
    partner_uuid: UUID = Field(description="The uuid of the partner it is about.")
    document_type: KycDocumentType = Field(description="What it proves.")
    status: KycCheckStatus | None = Field(description="The status; null if it is missing.")
    refused_reason: str = Field(
        description="The provider's own code of the first refusal, `DOCUMENT_MISSING` if it is missing; empty if "
        "it was not refused."
    )
    refusals: list[KycRefusal] = Field(description="All reasons for the refusal.")
    created_on: dt.datetime | None = Field(description="When it was submitted or opened; null if never.")


@strawberry.pydantic.type(description="Whether a partner is identified, and what is missing.")
class Kyc(BaseModel):
    partner_id: int = Field(description="The partner's id.")
    partner_uuid: UUID = Field(description="The partner's uuid.")
    status: KycStatus = Field(description="Whether it is identified.")
    detail: str = Field(description="The status in a sentence, with what to do.")
    checked_on: dt.datetime | None = Field(description="When the provider last reported the status; null if never.")
    errors: list[KycCheck] = Field(description="What is refused or missing; empty if the partner is identified.")
    checks: list[KycCheck] = Field(
        description="The latest document of each type and the latest identity check, whatever their status."
    )

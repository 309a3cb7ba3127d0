"""Documents that identify a partner, on their way to its payment provider."""

import datetime as dt
from typing import Annotated
from uuid import UUID

import strawberry
from sqlalchemy import Enum
from sqlmodel import Field
from starlette.datastructures import UploadFile
from strawberry.file_uploads import Upload

from schema.core.ownership import of_partner
from schema.core.resource import Fields, choice, moment, writable_as
from schema.kyc.kyc import KycCheckStatus, KycDocumentType
from schema.validation.characters import lines_up_to

DOCUMENT_TYPE = Enum(KycDocumentType, native_enum=False, length=30, values_callable=lambda e: [m.value for m in e])
"""How it is stored."""


@strawberry.pydantic.type(description="A document that was passed on to the payment provider. Its file is not kept.")
class KycDocument(Fields):
    """A document that was passed on to the payment provider."""

    id: int = Field(description="Its id.")
    document_type: KycDocumentType = Field(sa_type=DOCUMENT_TYPE, description="What it proves.")
    comment: str = Field(default="", max_length=1000, description="What was said of it. The provider is not told.")
    status: KycCheckStatus = choice(KycCheckStatus, "Where it stands.", default=KycCheckStatus.CREATED)
    media_type: str = Field(
        default="", max_length=40, description="`application/pdf`, `image/png`, …; empty: not known."
    )
    size: int | None = Field(default=None, description="Of its file, in bytes; null: not known.")
    created_on: dt.datetime = moment("When it was handed in.")
    processed_on: dt.datetime | None = moment(
        "When the provider had examined it; null: it has not.", default=None, nullable=True
    )
    partner = of_partner("The partner that it is about.")


@writable_as(KycDocument)
class PushKycDocument(Fields):
    """A document to pass on to the payment provider."""

    model_config = {"arbitrary_types_allowed": True}
    partner_uuid: UUID = Field(description="The uuid of the partner that it is about.")
    document_type: KycDocumentType
    comment: Annotated[str, lines_up_to(1000, least=1)] = Field(description="What it is, for whoever looks at it here.")
    file: Annotated[UploadFile, strawberry.field(graphql_type=Upload)] = Field(
        description="A PDF, PNG, JPEG or GIF of 1 kB to 7 MB."
    )

"""Identification documents of partners, submitted to the payment provider."""

import datetime as dt
from typing import Annotated
from uuid import UUID

import strawberry
from sqlalchemy import Enum
from sqlmodel import Field
from starlette.datastructures import UploadFile
from strawberry.file_uploads import Upload

from schema.core.columns import datetime_column, enum_column, id_column
from schema.core.inputs import graphql_input_for
from schema.core.ownership import partner_relation
from schema.core.resource import SchemaModel
from schema.kyc.kyc import KycCheckStatus, KycDocumentType
from schema.validation.characters import multiline_up_to

DOCUMENT_TYPE_ENUM = Enum(KycDocumentType, native_enum=False, length=30, values_callable=lambda e: [m.value for m in e])


@strawberry.pydantic.type(description="A document that was submitted to the payment provider. Its file is not stored.")
class KycDocument(SchemaModel):
    id: int = id_column("The document's id.")
    document_type: KycDocumentType = Field(sa_type=DOCUMENT_TYPE_ENUM, description="What it proves.")
    comment: str = Field(default="", max_length=1000, description="Your own comment. It is not sent to the provider.")
    status: KycCheckStatus = enum_column(KycCheckStatus, "The document's status.", default=KycCheckStatus.CREATED)
    media_type: str = Field(
        default="", max_length=40, description="`application/pdf`, `image/png`, …; empty if unknown."
    )
    size: int | None = Field(default=None, description="The size of its file in bytes; null if unknown.")
    created_on: dt.datetime = datetime_column("When it was submitted.")
    processed_on: dt.datetime | None = datetime_column(
        "When the provider finished examining it; null if not yet.", default=None, nullable=True
    )
    partner = partner_relation("The partner it is about.")


@graphql_input_for(KycDocument)
class PushKycDocument(SchemaModel):
    """Submit a document to the payment provider."""

    model_config = {"arbitrary_types_allowed": True}
    partner_uuid: UUID = Field(description="The uuid of the partner it is about.")
    document_type: KycDocumentType
    comment: Annotated[str, multiline_up_to(1000, min_length=1)] = Field(
        description="Your own comment; it is not sent to the provider."
    )
    file: Annotated[UploadFile, strawberry.field(graphql_type=Upload)] = Field(
        description="A PDF, PNG, JPEG or GIF of 1 kB to 7 MB."
    )

"""The legal texts that a partner publishes. Each publication is a version that stays readable for ever."""

import datetime as dt
from uuid import UUID, uuid4

import strawberry
from sqlmodel import Field

from schema.core.columns import DescribedEnum, datetime_column, enum_column, graphql_enum, id_column
from schema.core.derived import derived
from schema.core.ownership import partner_relation
from schema.core.resource import SchemaModel
from schema.core.text import Text, translated_text_column

LEGAL_PATH = "/legal/"
"""Below it is the page of each version, by its uuid."""


@graphql_enum
class LegalDocumentKind(DescribedEnum):
    """What a legal text is about."""

    TERMS = "terms", "The terms of sale, which buyers accept when they order."
    PRIVACY = "privacy", "How personal data are used."
    WITHDRAWAL = "withdrawal", "The buyer's right of withdrawal."
    IMPRINT = "imprint", "Who the seller is."


@strawberry.pydantic.type(
    description="A version of a legal text of a partner. It never changes: a change is published as the next version."
)
class LegalDocument(SchemaModel):
    id: int = id_column("The version's id.")
    uuid: UUID = Field(default_factory=uuid4, unique=True, description="The version's uuid, which is part of its URL.")
    kind: LegalDocumentKind = enum_column(LegalDocumentKind, "What it is about.")
    content: Text = translated_text_column(
        "The text, as HTML. In a language it has either a text or a `website`.", default_factory=Text
    )
    website: Text = translated_text_column(
        "The address of the text on the partner's own site, in each language that has one.", default_factory=Text
    )
    created_on: dt.datetime = datetime_column("When it was published.")
    replaced_on: dt.datetime | None = datetime_column(
        "When it was replaced or retired; null while it is in force.", default=None, nullable=True
    )
    page_url = derived(str, ("uuid",), "The URL of the page that shows this version, also once it is replaced.")
    partner = partner_relation()

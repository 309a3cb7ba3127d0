"""Inputs that publish and retire legal texts."""

from typing import Annotated
from uuid import UUID

from pydantic import Field

from schema.core.inputs import graphql_input_for
from schema.core.ownership import PARTNER_DESCRIPTION
from schema.core.resource import SchemaModel
from schema.core.text import TextInput
from schema.core.text_input import html_per_language, web_address_per_language
from schema.legal.legal_document import LegalDocument, LegalDocumentKind
from schema.validation.numbers import RowId

MOST_CHARACTERS = 100_000


@graphql_input_for(LegalDocument)
class PublishLegalDocument(SchemaModel):
    """Publish the next version of a legal text. Omitted languages stay as they are in the current version; null removes
    a language. A language is sent as a text or as the address of one: the other is then removed.
    """

    partner_uuid: UUID | None = Field(default=None, description=PARTNER_DESCRIPTION)
    kind: LegalDocumentKind
    content: Annotated[TextInput, html_per_language(MOST_CHARACTERS)] | None = Field(
        default=None,
        description="The text, as HTML without scripts, styles and pictures. Plain text becomes paragraphs.",
    )
    website: Annotated[TextInput, web_address_per_language] | None = Field(
        default=None, description="The address of the text on the partner's own site."
    )


@graphql_input_for(LegalDocument)
class RetireLegalDocument(SchemaModel):
    """Retire a legal text, without a next version."""

    id: RowId

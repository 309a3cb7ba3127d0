"""Translated texts: one JSONB column, one GraphQL type with a field per language."""

from typing import Annotated, Any

import pydantic
import strawberry
from pydantic import AfterValidator, BaseModel
from sqlalchemy import Dialect
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.types import TypeDecorator
from sqlmodel import Field

from schema.validation.characters import clean_text
from schema.validation.languages import LANGUAGES


@strawberry.pydantic.type(description="A text in each published language.")
class Text(BaseModel):
    en: str | None = pydantic.Field(default=None, description="English.")
    fr: str | None = pydantic.Field(default=None, description="French.")
    es: str | None = pydantic.Field(default=None, description="Spanish.")
    it: str | None = pydantic.Field(default=None, description="Italian.")
    de: str | None = pydantic.Field(default=None, description="German.")
    nl: str | None = pydantic.Field(default=None, description="Dutch.")
    ca: str | None = pydantic.Field(default=None, description="Catalan.")
    pt: str | None = pydantic.Field(default=None, description="Portuguese.")

    def in_language(self, language: str) -> str:
        """The text in this language; else in English; else in any language; else empty."""
        return getattr(self, language) or self.en or next((t for t in self.model_dump().values() if t), "")

    def merge(self, changes: "TextInput") -> "Text":
        """This text with the changed languages; null and blank remove a language."""
        sent = {k: v.value for k in LANGUAGES if (v := getattr(changes, k)) is not None}
        return self.model_copy(update={k: v if v and v.strip() else None for k, v in sent.items()})


MultilineText = Annotated[str, AfterValidator(clean_text)]
"""A text of several lines, with invalid characters removed."""


@strawberry.pydantic.input(
    description="A text in one or more languages. Omitted languages stay unchanged; null removes a language."
)
class TextInput(BaseModel):
    """A text in one or more languages. Omitted languages stay unchanged; null removes a language."""

    # It does not inherit from `Text`: graphql-core would fill in `= null`, and omitted languages would look sent.

    en: strawberry.Maybe[MultilineText | None] = pydantic.Field(description="English.")
    fr: strawberry.Maybe[MultilineText | None] = pydantic.Field(description="French.")
    es: strawberry.Maybe[MultilineText | None] = pydantic.Field(description="Spanish.")
    it: strawberry.Maybe[MultilineText | None] = pydantic.Field(description="Italian.")
    de: strawberry.Maybe[MultilineText | None] = pydantic.Field(description="German.")
    nl: strawberry.Maybe[MultilineText | None] = pydantic.Field(description="Dutch.")
    ca: strawberry.Maybe[MultilineText | None] = pydantic.Field(description="Catalan.")
    pt: strawberry.Maybe[MultilineText | None] = pydantic.Field(description="Portuguese.")


class TextColumn(TypeDecorator[Text]):
    impl = JSONB
    cache_ok = True

    def process_bind_param(self, value: Text | None, dialect: Dialect) -> Any:  # noqa: ARG002
        return None if value is None else value.model_dump(exclude_none=True)

    def process_result_value(self, value: Any, dialect: Dialect) -> Text | None:  # noqa: ARG002
        return None if value is None else Text(**value)


def translated_text_column(description: str, **options: Any) -> Any:
    """A translated text: one JSONB column, one GraphQL type with a field per language."""
    return Field(sa_type=TextColumn, description=description, **options)

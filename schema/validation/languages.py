"""The eight supported languages."""

from typing import Annotated

from pydantic import AfterValidator

from schema.validation.templated_errors import templated_error

LANGUAGES = ("en", "fr", "es", "it", "de", "nl", "ca", "pt")


def _language(value: str) -> str:
    if value not in LANGUAGES:
        raise templated_error("language", "Send one of {languages}.", languages=", ".join(LANGUAGES))
    return value


Language = Annotated[str, AfterValidator(_language)]

"""Translated texts as inputs: limited in length, in at least one language, optionally HTML."""

import re
from collections.abc import Callable, Mapping
from typing import TypeAlias

import strawberry
from pydantic import AfterValidator, TypeAdapter, ValidationError
from pydantic_core import InitErrorDetails, PydanticCustomError

from schema.core.text import TextInput
from schema.validation.characters import clean_line
from schema.validation.contact import WebAddress
from schema.validation.html import clean_html
from schema.validation.languages import LANGUAGES
from schema.validation.templated_errors import templated_error

_WEB_ADDRESS = TypeAdapter(WebAddress)
_WHOLE_ADDRESS = re.compile(r"https?://[^/\s][^\s\\]*", re.IGNORECASE)
"""Browsers read what lacks the slashes as a path of the page."""
LanguageErrors: TypeAlias = Mapping[str, PydanticCustomError]
"""Language -> the problem of its text."""

MARKUP_FACTOR, MOST_TAGS = 5, 1000
"""Limits for HTML before cleaning, which takes time: its length as a multiple of the stored length, and the number
of tags, closing tags included.
"""


def text_per_language(longest: int) -> AfterValidator:
    """A text, limited in characters per language."""
    return AfterValidator(_validator_of(lambda said: _too_long(said, longest)))


def line_per_language(longest: int) -> AfterValidator:
    """A text in one line, limited in characters per language."""

    def clean_and_check(texts: TextInput) -> TextInput:
        written = _clean_lines(texts)
        _raise_language_errors(texts, _too_long(_texts_by_language(written), longest))
        return written

    return AfterValidator(clean_and_check)


def html_per_language(longest: int) -> AfterValidator:
    """Sanitized HTML, limited in characters per language after cleaning, tags included."""

    def sanitize(texts: TextInput) -> TextInput:
        said = _texts_by_language(texts)
        _raise_language_errors(texts, _too_long(said, longest * MARKUP_FACTOR) or _too_much_markup(said))
        kept = _map_texts(texts, clean_html)
        left = _texts_by_language(kept)
        # the result has to pass the same checks when it is sent again
        _raise_language_errors(texts, _too_long(left, longest) or _too_much_markup(left))
        return kept

    return AfterValidator(sanitize)


def _validator_of(check: Callable[[Mapping[str, str]], LanguageErrors]) -> Callable[[TextInput], TextInput]:
    def run_check(texts: TextInput) -> TextInput:
        _raise_language_errors(texts, check(_texts_by_language(texts)))
        return texts

    return run_check


def _texts_by_language(texts: TextInput) -> Mapping[str, str]:
    return {at: told.value for at in LANGUAGES if (told := getattr(texts, at)) is not None and told.value}


def _too_long(said: Mapping[str, str], longest: int) -> LanguageErrors:
    error = templated_error("text_too_long", "Use at most {most} characters.", most=longest)
    return {at: error for at, text in said.items() if len(text) > longest}


def _too_much_markup(said: Mapping[str, str]) -> LanguageErrors:
    error = templated_error("too_much_markup", "Use at most {most} tags.", most=MOST_TAGS)
    return {at: error for at, text in said.items() if text.count("<") > MOST_TAGS}


def _raise_language_errors(texts: TextInput, wrong: LanguageErrors) -> None:
    """Raise a validation error with the problem of each language."""
    if wrong:
        told = [InitErrorDetails(type=error, loc=(at,), input=getattr(texts, at)) for at, error in wrong.items()]
        raise ValidationError.from_exception_data(type(texts).__name__, told)


def _map_texts(texts: TextInput, change: Callable[[str], str]) -> TextInput:
    """Apply a function to the text of each language that was sent."""
    told = {at: said for at in LANGUAGES if (said := getattr(texts, at)) is not None}
    return TextInput(**{at: strawberry.Some(said.value and change(said.value)) for at, said in told.items()})


def _clean_lines(texts: TextInput) -> TextInput:
    return _map_texts(texts, clean_line)


unlimited_line_per_language = AfterValidator(_clean_lines)
"""A text in one line per language, of any length."""


def _check_addresses(texts: TextInput) -> TextInput:
    wrong: dict[str, PydanticCustomError] = {}
    cleaned = _clean_lines(texts)
    for language, address in _texts_by_language(cleaned).items():
        try:
            _WEB_ADDRESS.validate_python(address)
        except ValidationError as error:
            told = error.errors()[0]
            wrong[language] = PydanticCustomError("url", told["msg"])
        else:
            if not _WHOLE_ADDRESS.fullmatch(address):
                wrong[language] = PydanticCustomError("url", "Send an address that starts with http:// or https://.")
    _raise_language_errors(texts, wrong)
    return cleaned


web_address_per_language = AfterValidator(_check_addresses)
"""The address of a web page per language."""

"""Translated texts as clients send them: of a length, said in at least one language, perhaps HTML."""

from collections.abc import Callable, Mapping
from typing import TypeAlias

import strawberry
from pydantic import AfterValidator, ValidationError
from pydantic_core import InitErrorDetails, PydanticCustomError

from schema.html import clean
from schema.languages import LANGUAGES
from schema.values import TextInput

Wrong: TypeAlias = Mapping[str, PydanticCustomError]
"""Language -> what is wrong with the text in it."""

MOST_MARKUP, MOST_TAGS = 5, 1000
"""HTML is sent at most so many times as long as it may be kept, with at most so many tags, those that close others included:
cleaning takes time."""


def up_to_each(longest: int) -> AfterValidator:
    """A text of at most so many characters a language."""
    return AfterValidator(_checked(lambda said: _too_long(said, longest)))


def html_up_to_each(longest: int) -> AfterValidator:
    """HTML, cleaned; of at most so many characters a language, tags included, once it is."""

    def cleaned(sent: TextInput) -> TextInput:
        said = _said(sent)
        _refuse(sent, _too_long(said, longest * MOST_MARKUP) or _too_much_markup(said))
        kept = TextInput(**{at: _cleaned(getattr(sent, at)) for at in LANGUAGES if getattr(sent, at) is not None})
        left = _said(kept)
        _refuse(sent, _too_long(left, longest) or _too_much_markup(left))  # or it could not be sent back
        return kept

    return AfterValidator(cleaned)


def _checked(check: Callable[[Mapping[str, str]], Wrong]) -> Callable[[TextInput], TextInput]:
    def checked(sent: TextInput) -> TextInput:
        _refuse(sent, check(_said(sent)))
        return sent

    return checked


def _said(sent: TextInput) -> Mapping[str, str]:
    return {at: told.value for at in LANGUAGES if (told := getattr(sent, at)) is not None and told.value}


def _too_long(said: Mapping[str, str], longest: int) -> Wrong:
    most = {"most": longest}
    error = PydanticCustomError("text_too_long", "Use at most {most} characters.", most)
    return {at: error for at, text in said.items() if len(text) > longest}


def _too_much_markup(said: Mapping[str, str]) -> Wrong:
    error = PydanticCustomError("too_much_markup", "Use at most {most} tags.", {"most": MOST_TAGS})
    return {at: error for at, text in said.items() if text.count("<") > MOST_TAGS}


def _refuse(sent: TextInput, wrong: Wrong) -> None:
    """Tell at each language what is wrong with it."""
    if wrong:
        told = [InitErrorDetails(type=error, loc=(at,), input=getattr(sent, at)) for at, error in wrong.items()]
        raise ValidationError.from_exception_data(type(sent).__name__, told)


def _cleaned(sent: strawberry.Some[str | None]) -> strawberry.Some[str | None]:
    return strawberry.Some(sent.value and clean(sent.value))

"""Translated texts as clients send them: of a length, said in at least one language, perhaps HTML."""

from collections.abc import Callable, Mapping
from typing import TypeAlias

import strawberry
from pydantic import AfterValidator, ValidationError
from pydantic_core import InitErrorDetails, PydanticCustomError

from schema.core.resource import TextInput
from schema.validation.characters import in_one_line
from schema.validation.html import clean
from schema.validation.languages import LANGUAGES

Wrong: TypeAlias = Mapping[str, PydanticCustomError]
"""Language -> what is wrong with the text in it."""

MOST_MARKUP, MOST_TAGS = 5, 1000
"""HTML is sent at most so many times as long as it may be kept, with at most so many tags, those that close others included:
cleaning takes time."""


def up_to_each(longest: int) -> AfterValidator:
    """A text of at most so many characters a language."""
    return AfterValidator(_checked(lambda said: _too_long(said, longest)))


def line_up_to_each(longest: int) -> AfterValidator:
    """A text in one line, of at most so many characters a language."""

    def checked(sent: TextInput) -> TextInput:
        written = _in_one_line(sent)
        _refuse(sent, _too_long(_said(written), longest))
        return written

    return AfterValidator(checked)


def html_up_to_each(longest: int) -> AfterValidator:
    """HTML, cleaned; of at most so many characters a language, tags included, once it is."""

    def cleaned(sent: TextInput) -> TextInput:
        said = _said(sent)
        _refuse(sent, _too_long(said, longest * MOST_MARKUP) or _too_much_markup(said))
        kept = _each(sent, clean)
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


def _each(sent: TextInput, change: Callable[[str], str]) -> TextInput:
    """What was sent, with the text in each language changed."""
    told = {at: said for at in LANGUAGES if (said := getattr(sent, at)) is not None}
    return TextInput(**{at: strawberry.Some(said.value and change(said.value)) for at, said in told.items()})


def _in_one_line(sent: TextInput) -> TextInput:
    return _each(sent, in_one_line)


in_one_line_each = AfterValidator(_in_one_line)
"""A text in one line in each language, of any length."""

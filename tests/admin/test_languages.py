"""The back office in eight languages."""

import pytest

from admin.core.templates import AdminTemplates
from tests.catalogues import TRANSLATED, check_complete, check_placeholders, check_translated

EVERY_LANGUAGE = pytest.mark.parametrize("language", TRANSLATED)
TEXTS = AdminTemplates.texts


@EVERY_LANGUAGE
def test_a_catalogue_has_every_text_of_pages_and_of_the_schema(language: str) -> None:
    check_complete(TEXTS.catalogue(language), "admin")


@EVERY_LANGUAGE
def test_a_catalogue_keeps_the_placeholders(language: str) -> None:
    check_placeholders(TEXTS.catalogue(language))


@EVERY_LANGUAGE
def test_sentences_are_translated(language: str) -> None:
    check_translated(TEXTS.catalogue(language))

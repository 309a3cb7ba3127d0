"""What documents say: in eight languages, whole."""

import datetime as dt
import re
from pathlib import Path

import pytest

from schema.validation.languages import LANGUAGES
from store.document import words
from tests.catalogues import texts_in

ROOT = Path(__file__).parents[3]
TRANSLATED = [language for language in LANGUAGES if language != "en"]
PLACEHOLDER = re.compile(r"%\(\w+\)s")
SAME = {"Coupon %(code)s", "Total", "Code", "Conditions", "%(count)s adult", "%(count)s baby"} | {
    "Date",
    "Details",
    "Message",
    "Net",
    "Status",
}
"""Words that are the same in English and somewhere else."""
UNTIL = dt.datetime(2027, 8, 23, 21, 59, 59, tzinfo=dt.UTC)


@pytest.mark.parametrize("language", TRANSLATED)
def test_a_catalogue_has_every_text_and_no_other(language: str) -> None:
    source, catalogue = texts_in("store/document"), words.TEXTS.catalogue(language)
    assert len(source) > 20
    messages = [message for message in catalogue if message.id]
    assert {message.id for message in messages} == source
    for message in messages:
        texts = [message.string] if isinstance(message.string, str) else list(message.string or ())
        ids = [message.id] if isinstance(message.id, str) else list(message.id)
        assert not message.fuzzy
        assert len(texts) == len(ids)
        for text, of in zip(texts, ids, strict=True):
            assert text, message.id
            assert set(PLACEHOLDER.findall(text)) == set(PLACEHOLDER.findall(of))
            assert text[-1:] != "." or of[-1:] == "."
        assert texts[0] != ids[0] or ids[0] in SAME, texts
    assert not catalogue.obsolete


def test_people_and_nights_are_counted() -> None:
    one, many = words.GuestCounts(1, 1, 1, 1), words.GuestCounts(2, 3, 0, 4)
    assert words.guests_text("en", one) == "1 adult · 1 child · 1 baby · 1 night"
    assert words.guests_text("de", many) == "2 Erwachsene · 3 Kinder · 4 Nächte"
    assert words.guests_text("fr", words.GuestCounts(0, 0, 0, 2)) == "2 nuits"
    assert words.guests_text("en", words.GuestCounts(0, 0, 0, 0)) == ""


def test_the_last_day_is_the_one_of_the_place() -> None:
    assert words.validity_text("en", UNTIL, "Europe/Paris") == "Valid until 23 August 2027"
    assert words.validity_text("fr", UNTIL, "Pacific/Auckland") == "Valable jusqu’au 24 août 2027"
    assert words.validity_text("en", None, "Europe/Paris") == "Valid without a time limit"

"""The hosted pages' words: complete in every language, and the right language picked."""

import json
import pathlib
import string

import pytest

from coffret.sandbox.pages import texts
from coffret.sandbox.pages.texts import CATALOGUES, LANGUAGES, PageTexts, pick
from coffret.sandbox.payments.cards import CARDS
from tests.coffret.sandbox.mangopay_api import page_path, running

ENGLISH = CATALOGUES["en"]


def gaps(text: str) -> set[str]:
    return {name for _, name, _, _ in string.Formatter().parse(text) if name}


@pytest.mark.parametrize("language", LANGUAGES)
def test_catalogue_is_complete(language: str) -> None:
    catalogue = CATALOGUES[language]
    assert list(catalogue) == list(ENGLISH)
    for name, text in catalogue.items():
        assert text.strip(), name
        assert gaps(text) == gaps(ENGLISH[name]), name


def test_no_catalogue_too_many_and_no_text_untranslated() -> None:
    folder = pathlib.Path(texts.__file__).with_name("locales")
    assert {path.stem for path in folder.glob("*.json")} == set(LANGUAGES)
    long_texts = [name for name, text in ENGLISH.items() if len(text) > 25]
    for language in set(LANGUAGES) - {"en"}:
        same = [name for name in long_texts if CATALOGUES[language][name] == ENGLISH[name]]
        assert same == [], language


def test_every_card_is_described() -> None:
    assert {card.text for card in CARDS} | {f"group_{card.group}" for card in CARDS} <= set(ENGLISH)


def test_every_text_is_used() -> None:
    package = pathlib.Path(texts.__file__).parents[1]
    sources = "".join(path.read_text() for path in package.rglob("*") if path.suffix in {".py", ".html"})
    built = {f"group_{card.group}" for card in CARDS}
    for name in set(ENGLISH) - built:
        stem = name.removesuffix("_title").removesuffix("_text")
        assert f'"{name}"' in sources or f'"{stem}"' in sources, name


@pytest.mark.parametrize(
    ("wished", "culture", "accepted", "expected"),
    [
        (None, "FR", ["de"], "fr"),
        ("it", "FR", ["de"], "it"),
        ("xx", "FR", [], "fr"),
        (None, "SV", ["pt-BR;q=0.9", "en"], "pt"),
        (None, "", [], "en"),
        (None, "ES", ["ca-ES", "es;q=0.8"], "ca"),
        (None, "ES", ["es", "ca"], "es"),
    ],
)
def test_language_is_picked(wished: str | None, culture: str, accepted: list[str], expected: str) -> None:
    assert pick(wished, culture, accepted).language == expected


def test_money_is_written_as_the_language_does() -> None:
    assert PageTexts("en").money(2500, "EUR") == "€25.00"
    assert PageTexts("fr").money(123456, "EUR") == "1\u202f234,56\xa0€"
    assert PageTexts("en").money(12, "JPY") == "¥12"


def test_moments_are_written_as_the_language_does() -> None:
    assert PageTexts("en").moment(1795863960) == "November 28, 2026, 11:06\u202fAM UTC"
    assert PageTexts("de").moment(1795863960) == "28. November 2026, 11:06 UTC"


async def test_pages_in_every_language() -> None:
    async with running() as api:
        for language in LANGUAGES:
            culture = {"ca": "ES"}.get(language, language.upper())
            payin = await api.payin(Culture=culture)
            page = await api.http.get(page_path(payin), headers={"Accept-Language": language})
            assert f'<html lang="{language}">' in page.text
            assert CATALOGUES[language]["cards_hint"] in page.text.replace("&#39;", "'")
            switched = await api.http.get(page_path(payin), params={"lang": "nl"})
            assert '<html lang="nl">' in switched.text
            assert 'action="/_provider' + page_path(payin) + '?lang=nl"' in switched.text


def test_catalogues_are_written_in_order() -> None:
    paths = [*pathlib.Path(texts.__file__).with_name("locales").glob("*.json")]
    assert paths
    for path in paths:
        assert path.read_text() == json.dumps(json.loads(path.read_text()), ensure_ascii=False, indent=2) + "\n"

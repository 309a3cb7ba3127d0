"""Chooses the language of a page and provides its texts."""

from pathlib import Path

from schema.validation.languages import LANGUAGES
from store.core.localization.translations import SOURCE_LANGUAGE, Texts

NAMES = {
    "en": "English",
    "fr": "Français",
    "es": "Español",
    "it": "Italiano",
    "de": "Deutsch",
    "nl": "Nederlands",
    "ca": "Català",
    "pt": "Português",
}
TEXTS = Texts(Path(__file__).parents[1] / "translations")
catalogue, translations = TEXTS.catalogue, TEXTS.translations


def choose_language(cookie: str, accept_language: str, otherwise: str = SOURCE_LANGUAGE) -> str:
    """The first supported language of: the cookie, the Accept-Language header, `otherwise`."""
    if cookie in LANGUAGES:
        return cookie
    return next((language for language in _preferred_languages(accept_language) if language in LANGUAGES), otherwise)


def _preferred_languages(accept_language: str) -> list[str]:
    """The languages of an Accept-Language header without their countries, best first."""
    ranked: list[tuple[float, str]] = []
    for entry in accept_language[:1000].split(","):
        tag, _, parameter = entry.partition(";")
        try:
            quality = float(parameter.strip().removeprefix("q=") or 1)
        except ValueError:
            continue
        if quality > 0:
            ranked.append((-quality, tag.strip().lower().partition("-")[0]))
    return [language for _, language in sorted(ranked, key=lambda entry: entry[0])]

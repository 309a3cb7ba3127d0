"""Which language a page is in, and its texts: gettext catalogues read from their sources, so that nothing has to be built."""

import functools
import io
from gettext import NullTranslations
from pathlib import Path

from babel.messages.catalog import Catalog
from babel.messages.mofile import write_mo
from babel.messages.pofile import read_po
from babel.support import Translations

from schema.languages import LANGUAGES

FOLDER = Path(__file__).with_name("translations")
SOURCE = "en"
"""The language that the texts are written in."""
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
LOCALES = {"en": "en_GB", "pt": "pt_PT"}
"""Where numbers and dates need to know the country as well."""


def locale_of(language: str) -> str:
    """The locale that a language's numbers, amounts and dates are written in."""
    return LOCALES.get(language, language)


def catalogue(language: str) -> Catalog:
    """The catalogue of a language as its translators wrote it."""
    with (FOLDER / language / "LC_MESSAGES" / "messages.po").open("rb") as source:
        return read_po(source, locale=language)


@functools.cache
def translations(language: str) -> NullTranslations:
    """The texts of a language."""
    if language == SOURCE:
        return NullTranslations()
    compiled = io.BytesIO()
    write_mo(compiled, catalogue(language))
    compiled.seek(0)
    return Translations(compiled)


def chosen(cookie: str, accept_language: str) -> str:
    """The language to speak: the one chosen on the page, else the browser's best that we have, else English."""
    if cookie in LANGUAGES:
        return cookie
    return next((language for language in _preferred(accept_language) if language in LANGUAGES), SOURCE)


def _preferred(accept_language: str) -> list[str]:
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

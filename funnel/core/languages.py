"""Chooses the language of a page and provides its texts."""

from collections.abc import Mapping
from gettext import NullTranslations
from pathlib import Path

from markupsafe import Markup

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


class TemplateTexts:
    """The texts of one language as HTML, by Jinja's names for them.

    It replaces Jinja's extension, which formats each text again and copies the template's context within loops.
    """

    def __init__(self, texts: NullTranslations) -> None:
        self._texts = texts
        self._without_values: dict[str, Markup] = {}

    def gettext(self, text: str, /, **values: object) -> Markup:
        """The translation, with the values in the place of `%(name)s`."""
        if values:
            return _insert(self._texts.gettext(text), values)
        translated = self._without_values.get(text)
        if translated is None:
            translated = self._without_values[text] = _insert(self._texts.gettext(text), {})
        return translated

    def ngettext(self, singular: str, plural: str, count: int, /, **values: object) -> Markup:
        """The translation in the form for this count, which is also the value `num`."""
        return _insert(self._texts.ngettext(singular, plural, count), {"num": count, **values})


def _insert(text: str, values: Mapping[str, object]) -> Markup:
    """A text of the program with escaped values."""
    return Markup(text) % values  # noqa: S704 - all texts are part of the program


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

"""Translated texts: gettext catalogues read from their sources, so that nothing has to be built."""

import io
from gettext import NullTranslations
from pathlib import Path

from babel.messages.catalog import Catalog
from babel.messages.mofile import write_mo
from babel.messages.pofile import read_po
from babel.support import Translations

SOURCE = "en"
"""The language that texts are written in."""
LOCALES = {"en": "en_GB", "pt": "pt_PT"}
"""Where numbers and dates need to know the country as well."""


def locale_of(language: str) -> str:
    """The locale that a language's numbers, amounts and dates are written in."""
    return LOCALES.get(language, language)


class Texts:
    """The catalogues of one folder, `<language>/LC_MESSAGES/messages.po`; each is read when it is first spoken."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._compiled: dict[str, NullTranslations] = {SOURCE: NullTranslations()}

    def catalogue(self, language: str) -> Catalog:
        """The catalogue of a language as its translators wrote it."""
        with (self._folder / language / "LC_MESSAGES" / "messages.po").open("rb") as source:
            return read_po(source, locale=language)

    def translations(self, language: str) -> NullTranslations:
        """The texts of a language."""
        if language not in self._compiled:
            compiled = io.BytesIO()
            write_mo(compiled, self.catalogue(language))
            compiled.seek(0)
            self._compiled[language] = Translations(compiled)
        return self._compiled[language]

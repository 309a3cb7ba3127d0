"""Translated texts: gettext catalogues that are read from their sources, without a build step."""

import io
from gettext import NullTranslations
from pathlib import Path

from babel.messages.catalog import Catalog
from babel.messages.mofile import write_mo
from babel.messages.pofile import read_po
from babel.support import Translations

SOURCE_LANGUAGE = "en"
"""The language of the texts in the code."""
LOCALES = {"en": "en_GB", "pt": "pt_PT"}
"""Languages whose numbers and dates need a country."""


def locale_of(language: str) -> str:
    """The locale of a language's numbers, amounts and dates."""
    return LOCALES.get(language, language)


class Texts:
    """The catalogues of one folder, `<language>/LC_MESSAGES/messages.po`; each is read at its first use."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._compiled: dict[str, NullTranslations] = {SOURCE_LANGUAGE: NullTranslations()}

    def catalogue(self, language: str) -> Catalog:
        """The uncompiled catalogue of a language."""
        with (self._folder / language / "LC_MESSAGES" / "messages.po").open("rb") as source:
            return read_po(source, locale=language)

    def translations(self, language: str) -> NullTranslations:
        """The compiled texts of a language, cached."""
        if language not in self._compiled:
            compiled = io.BytesIO()
            write_mo(compiled, self.catalogue(language))
            compiled.seek(0)
            self._compiled[language] = Translations(compiled)
        return self._compiled[language]

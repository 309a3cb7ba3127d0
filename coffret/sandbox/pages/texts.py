"""The texts of the hosted pages, in all languages of the checkout."""

import datetime as dt
import json
import pathlib
from collections.abc import Sequence
from decimal import Decimal

from babel.dates import format_date, format_time
from babel.numbers import format_currency, get_currency_precision

LANGUAGES = {
    "en": "English",
    "fr": "Français",
    "es": "Español",
    "it": "Italiano",
    "de": "Deutsch",
    "nl": "Nederlands",
    "ca": "Català",
    "pt": "Português",
}
CATALOGUES: dict[str, dict[str, str]] = {
    language: json.loads(pathlib.Path(__file__).with_name("locales").joinpath(f"{language}.json").read_text())
    for language in LANGUAGES
}


class PageTexts:
    """The texts of one language."""

    def __init__(self, language: str) -> None:
        self.language = language
        self._catalogue = CATALOGUES[language]

    def __call__(self, name: str, /, **values: object) -> str:
        """A text by its name, with its placeholders filled."""
        return self._catalogue[name].format(**values)

    def money(self, amount: int, currency: str) -> str:
        """Format an amount that is in the currency's smallest unit."""
        precision = get_currency_precision(currency)
        return format_currency(Decimal(amount).scaleb(-precision), currency, locale=self.language)

    def moment(self, timestamp: float) -> str:
        """Format a timestamp in UTC."""
        moment = dt.datetime.fromtimestamp(timestamp, dt.UTC)
        day = format_date(moment, "long", locale=self.language)
        return f"{day}, {format_time(moment, 'short', locale=self.language)} UTC"


def pick(wished: str | None, culture: str, accepted: Sequence[str]) -> PageTexts:
    """The first supported language of: the requested one, the pay-in's, those of the browser, English.

    The provider does not support Catalan. A Spanish pay-in is shown in Catalan if the browser prefers Catalan.
    """
    own = [
        language
        for language in (tag.split(";")[0].split("-")[0].strip().lower() for tag in accepted)
        if language in LANGUAGES
    ]
    if culture == "ES" and own[:1] == ["ca"]:
        own, culture = ["ca"], ""
    return PageTexts(next((language for language in (wished, culture.lower(), *own) if language in LANGUAGES), "en"))

"""The words of the hosted pages, in every language of the shop's pages."""

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


class Texts:
    """One language's words."""

    def __init__(self, language: str) -> None:
        self.language = language
        self._catalogue = CATALOGUES[language]

    def __call__(self, name: str, /, **values: object) -> str:
        """A text by its name, with its gaps filled."""
        return self._catalogue[name].format(**values)

    def money(self, amount: int, currency: str) -> str:
        """An amount in the currency's smallest unit, as this language writes it."""
        precision = get_currency_precision(currency)
        return format_currency(Decimal(amount).scaleb(-precision), currency, locale=self.language)

    def moment(self, timestamp: float) -> str:
        """A moment in UTC, as this language writes it."""
        moment = dt.datetime.fromtimestamp(timestamp, dt.UTC)
        day = format_date(moment, "long", locale=self.language)
        return f"{day}, {format_time(moment, 'short', locale=self.language)} UTC"


def pick(wished: str | None, culture: str, accepted: Sequence[str]) -> Texts:
    """The language that was asked for, else the pay-in's, else the browser's first that there is, else English.

    The provider has no Catalan: a pay-in in Spanish seen by a browser that prefers Catalan is shown in Catalan.
    """
    own = [
        language
        for language in (tag.split(";")[0].split("-")[0].strip().lower() for tag in accepted)
        if language in LANGUAGES
    ]
    if culture == "ES" and own[:1] == ["ca"]:
        own, culture = ["ca"], ""
    return Texts(next((language for language in (wished, culture.lower(), *own) if language in LANGUAGES), "en"))

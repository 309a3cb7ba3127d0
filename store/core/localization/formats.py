"""Amounts, dates and country names in the format of a language."""

import datetime as dt
import functools
import unicodedata
from collections.abc import Iterable
from decimal import Decimal
from zoneinfo import ZoneInfo

from babel import Locale
from babel.dates import format_date, format_interval, format_skeleton, format_time, get_datetime_format
from babel.numbers import format_currency, format_decimal, format_percent, get_decimal_symbol

from schema.core.text import Text
from schema.validation.countries import COUNTRIES
from store.core.localization.translations import locale_of


def colon_in(language: str) -> str:
    """The colon between a label and its value; in French a space belongs to it."""
    return "\N{NO-BREAK SPACE}:" if language == "fr" else ":"


class Formats:
    """The formats of one language."""

    def __init__(self, language: str) -> None:
        self.language = language
        self.locale = locale_of(language)
        self.colon = colon_in(language)
        """The separator between a label and its value."""

    @property
    def decimal_mark(self) -> str:
        """The comma or point before decimals."""
        return get_decimal_symbol(self.locale)

    def translate(self, text: Text) -> str:
        """The translation into this language, or into its fallback."""
        return text.in_language(self.language)

    def money(self, amount: Decimal, currency: str) -> str:
        """`84,00 €`"""
        return _money(amount, currency, self.locale)

    def whole_money(self, amount: Decimal, currency: str) -> str:
        """`84 €`: an amount whose decimals are omitted if they are zero."""
        if amount != amount.to_integral_value():
            return self.money(amount, currency)
        pattern = Locale.parse(self.locale).currency_formats["standard"].pattern.replace(".00", "")
        return format_currency(amount, currency, pattern, locale=self.locale, currency_digits=False)

    def negative_money(self, amount: Decimal, currency: str) -> str:
        """A deduction, with the minus sign that screen readers announce; zero has no sign."""
        return f"\N{MINUS SIGN}{self.money(amount, currency)}" if amount else self.money(amount, currency)

    def number(self, count: int | Decimal) -> str:
        """`48 213`"""
        return format_decimal(count, locale=self.locale)

    def percent(self, rate: Decimal) -> str:
        """`5,5 %`, from a rate in percent."""
        return format_percent(rate / 100, locale=self.locale, decimal_quantization=False)

    def date(self, moment: dt.datetime, time_zone: str) -> str:
        """`23 août 2026`, in a time zone by its IANA name."""
        return format_date(moment.astimezone(ZoneInfo(time_zone)), "long", locale=self.locale)

    def hour(self, time: dt.time) -> str:
        """`14:35`."""
        return format_time(time, "short", locale=self.locale)

    def time(self, moment: dt.datetime, time_zone: str) -> str:
        """`14:35`, in a time zone by its IANA name."""
        return format_time(moment.astimezone(ZoneInfo(time_zone)), "short", locale=self.locale)

    def moment(self, moment: dt.datetime, time_zone: str) -> str:
        """`23 août 2026, 14:35`, in a time zone by its IANA name."""
        pattern = str(get_datetime_format("medium", self.locale))
        return pattern.format(self.time(moment, time_zone), self.date(moment, time_zone))

    def short_moment(self, moment: dt.datetime, time_zone: str, this_year: int) -> str:
        """`23 août, 14:35`, in a time zone by its IANA name; of another year the day with its year."""
        local = moment.astimezone(ZoneInfo(time_zone))
        if local.year != this_year:
            return self.days(local.date())
        day = format_skeleton("MMMd", local, locale=self.locale)
        return f"{day}, {format_time(local, 'short', locale=self.locale)}"

    def days(self, first: dt.date, last: dt.date | None = None) -> str:
        """The first and last day of a stay as a range; a single date if they are equal."""
        if last is None or last == first:
            return format_date(first, "medium", locale=self.locale)
        return format_interval(first, last, "yMMMd", locale=self.locale)

    def countries(self, codes: Iterable[str] = ()) -> list[tuple[str, str]]:
        """Countries as (ISO 3166 code, name), sorted by name; all countries if `codes` is empty."""
        code_set = frozenset(codes)
        return [entry for entry in _countries(self.locale) if not code_set or entry[0] in code_set]

    def country(self, code: str) -> str:
        """The name of a country; the code itself if it is unknown."""
        return str(Locale.parse(self.locale).territories.get(code, code))


@functools.lru_cache(maxsize=4096)
def _money(amount: Decimal, currency: str, locale: str) -> str:
    """Cached: a page repeats few amounts, and formatting one takes longer than a line of the template."""
    return format_currency(amount, currency, locale=locale)


@functools.cache
def _countries(locale: str) -> tuple[tuple[str, str], ...]:
    names = {code: name for code, name in Locale.parse(locale).territories.items() if code in COUNTRIES}
    return tuple(sorted(names.items(), key=lambda entry: _sort_key(entry[1])))


def _sort_key(name: str) -> str:
    plain = (c for c in unicodedata.normalize("NFD", name) if not unicodedata.combining(c))
    return "".join(plain).casefold()

"""The shape of postal codes, by country, after the patterns of CLDR. Countries that are not listed accept any code."""

import re
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class PostalCodeFormat:
    """The pattern that a country's postal codes match, in capital letters without separators, and an example."""

    pattern: re.Pattern[str]
    example: str


def _formats(pattern: str, **examples: str) -> dict[str, PostalCodeFormat]:
    compiled = re.compile(pattern, re.ASCII)
    return {country: PostalCodeFormat(compiled, example) for country, example in examples.items()}


FORMATS: Mapping[str, PostalCodeFormat] = {
    **_formats(r"\d{3}", IS="101"),
    **_formats(r"\d{4}", AT="1010", AU="2000", BE="1000", BG="1000", CH="8001", CY="1010", DK="1050", HU="1051"),
    **_formats(r"\d{4}", LI="9490", LU="1111", LV="1050", NO="0150", NZ="6011", SI="1000"),
    **_formats(r"\d{5}", DE="10115", EE="10111", ES="28001", FI="00100", HR="10000", IT="00184", LT="01103"),
    **_formats(r"\d{5}", FR="75001", MX="06000", SM="47890", VA="00120"),
    **_formats(r"97[1-9]\d\d", BL="97133", GF="97300", GP="97100", MF="97150", MQ="97200", PM="97500", RE="97400"),
    **_formats(r"97[1-9]\d\d", YT="97600"),
    **_formats(r"980\d\d", MC="98000"),
    **_formats(r"98[678]\d\d", NC="98800", PF="98714", WF="98600"),
    **_formats(r"\d{6}", RO="010011"),
    **_formats(r"\d{5}", CZ="110 00", GR="104 31", SE="111 20", SK="811 01"),
    **_formats(r"\d{5}", PL="00-001"),
    **_formats(r"\d{4}(\d{3})?", PT="1100-148"),
    **_formats(r"\d{4}[A-Z]{2}", NL="1012 AB"),
    **_formats(r"[A-Z]{3}\d{2,4}", MT="VLT 1117"),
    **_formats(r"(AD)?\d{3}", AD="AD500"),
    **_formats(r"[A-Z]\d[\dW][A-Z\d]{4}|DUBLIN\d{1,2}W?", IE="D02 X285"),
    **_formats(
        r"[A-Z]{1,2}\d[A-Z\d]?\d[A-Z]{2}|GIR0AA|BFPO\d{1,4}", GB="SW1A 1AA", GG="GY1 1AA", IM="IM1 1AA", JE="JE1 1AA"
    ),
    **_formats(r"\d{5}(\d{4})?", US="10001"),
    **_formats(r"[A-Z]\d[A-Z]\d[A-Z]\d", CA="K1A 0B1"),
    **_formats(r"\d{8}", BR="01310-100"),
    **_formats(r"\d{7}", JP="100-0001"),
}
"""By ISO 3166 code."""
_COUNTRY_PREFIX = re.compile(r"[A-Z]{1,3}(?=\d)")
"""Letters of the country before the code, as in `D-10115`."""
_SEPARATORS = re.compile(r"[\s.\u2010-\u2015\u2212\u3012-]+")
"""People group the characters as they like: with spaces, points, and dashes of every kind."""


def is_postal_code(text: str, country: str) -> bool:
    """Whether a text has the shape of the country's postal codes; true for a country without a known shape."""
    known = FORMATS.get(country)
    if known is None:
        return True
    code = _SEPARATORS.sub("", unicodedata.normalize("NFKC", text).upper())
    return any(known.pattern.fullmatch(each) for each in (code, _COUNTRY_PREFIX.sub("", code, count=1)))


def example_postal_code(country: str) -> str:
    """A postal code of the country; empty if its shape is not known."""
    known = FORMATS.get(country)
    return known.example if known else ""

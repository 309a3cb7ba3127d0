"""Hints at mistyped domains of e-mail addresses."""

import time

import pytest

from schema.validation.mail_domains import BY_COUNTRY, EVERYWHERE, KNOWN, edit_distance, suggested_email


@pytest.mark.parametrize(
    ("typed", "country", "meant"),
    [
        ("ann@gmial.com", "", "ann@gmail.com"),
        ("ann@gmail.con", "", "ann@gmail.com"),
        ("ann@gmail.co", "", "ann@gmail.com"),
        ("ann@gmai.com", "FR", "ann@gmail.com"),
        ("Ann.B+x@HOTMIAL.com", "", "Ann.B+x@hotmail.com"),
        (" ann@outlok.com ", "DE", "ann@outlook.com"),
        ("ann@orange.rf", "FR", "ann@orange.fr"),
        ("ann@wanado.fr", "fr", "ann@wanadoo.fr"),
        ("ann@gmx.ed", "DE", "ann@gmx.de"),
        ("ann@telnet.be", "BE", "ann@telenet.be"),
        ("ann@hotmail.co", "ES", "ann@hotmail.com"),
        ("ann@outlook.ed", "DE", "ann@outlook.de"),
    ],
)
def test_a_typing_error_is_seen(typed: str, country: str, meant: str) -> None:
    assert suggested_email(typed, country) == meant


@pytest.mark.parametrize(
    "right",
    [
        *("ann@gmail.com", "ann@mail.com", "ann@ymail.com", "ann@gmx.net", "ann@gmx.fr", "ann@live.nl", "ann@pm.me"),
        *(
            "ann@valserene.example",
            "ann@company.com",
            "ann@free.fr",
            "ann@univ-lyon1.fr",
            "ann@mairie.fr",
            "ann@ge.com",
        ),
        *("ann@outlook.pt", "ann@hotmail.se", "ann@hotmail.dk", "ann@outlook.ie", "ann@hotmail.ca", "ann@yahoo.gr"),
        *("ann@yahoo.com.br", "ann@hotmail.co.uk", "ann@live.co.za", "ann@mailo.com", "ann@tmail.com", "ann@zmail.com"),
        *("", "ann", "@gmial.com", "ann@", "@"),
    ],
)
@pytest.mark.parametrize("country", ["", "FR", "DE", "ES", "XX"])
def test_what_may_be_right_is_not_questioned(right: str, country: str) -> None:
    assert suggested_email(right, country) == ""


def test_the_domains_of_other_countries_are_known_and_not_suggested() -> None:
    assert suggested_email("ann@orange.rf", "DE") == ""
    assert suggested_email("ann@orange.fr", "DE") == ""
    assert {*EVERYWHERE, *BY_COUNTRY["PT"]} <= KNOWN
    for domain in KNOWN:
        assert suggested_email(f"ann@{domain}", "FR") == "", domain


@pytest.mark.parametrize(
    "typed", ["a@" + "g" * 2**18, "a" * 2**18 + "@gmial.com", "@" * 2**18, "a@" + "gmail.con." * 2**15]
)
def test_what_is_too_long_for_an_address_costs_nothing(typed: str) -> None:
    started = time.process_time()
    assert suggested_email(typed, "FR") == ""
    assert time.process_time() - started < 0.5


def test_the_distance_counts_letters() -> None:
    for one, other, distance in (
        *(("", "", 0), ("", "abc", 3), ("abc", "", 3), ("abc", "abc", 0), ("abc", "acb", 1), ("abc", "ab", 1)),
        *(("abc", "abcd", 1), ("abc", "axc", 1), ("gmial.con", "gmail.com", 2), ("kitten", "sitting", 3)),
    ):
        assert edit_distance(one, other) == edit_distance(other, one) == distance, (one, other)

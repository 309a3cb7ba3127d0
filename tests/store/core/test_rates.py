"""Rates as people write them."""

import datetime as dt

import pytest

from store.core.rates import Rate, rate_of


@pytest.mark.parametrize(
    ("text", "amount", "seconds"),
    [
        ("6000/minute", 6000, 60),
        (" 600 / minutes ", 600, 60),
        ("20 per hour", 20, 3600),
        ("20 PER Hour", 20, 3600),
        ("5 per 10 minutes", 5, 600),
        ("5/10minutes", 5, 600),
        ("1/second", 1, 1),
        ("7 per 2 days", 7, 172_800),
        ("1/month", 1, 2_592_000),
        ("1/year", 1, 31_104_000),
    ],
)
def test_a_rate_is_an_amount_in_a_window(text: str, amount: int, seconds: int) -> None:
    rate = rate_of(text)
    assert rate == Rate(amount, seconds)
    assert rate.window == dt.timedelta(seconds=seconds)


def test_off_is_no_rate() -> None:
    assert rate_of("off") is None


@pytest.mark.parametrize(
    "text",
    [
        "",
        "often",
        "0/minute",
        "-1/minute",
        "5",
        "5/",
        "5/fortnight",
        "1/second; 5/minute",
        "1/second|2/hour",
        "٣/minute",
    ],
)
def test_what_is_no_rate(text: str) -> None:
    with pytest.raises(ValueError, match="600/minute"):
        rate_of(text)

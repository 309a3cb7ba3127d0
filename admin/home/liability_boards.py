"""What is owed for gift cards on the first page: by age, with the breakage that is expected."""

import calendar
import datetime as dt
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any
from urllib.parse import urlencode
from zoneinfo import ZoneInfo

from admin.core.paths import ROOT
from admin.core.request import AdminRequest
from admin.graph.labels import value_label
from admin.graph.schema_types import access_of, queries
from admin.home.charts import shares
from admin.resources.registry import resources
from funnel.core.messages import N_

MONEY = "{ amount }"
CARDS = f"""
currency count outstanding {MONEY} expectedBreakage {MONEY}
ages {{ age count outstanding {MONEY} expectedBreakage {MONEY} }} history {{ count share }}
"""
DOCUMENT = f"{{ giftCardLiabilities {{ partnerCards {{ {CARDS} }} networkCards {{ {CARDS} }} }} }}"
MONTHS = {
    "UP_TO_3_MONTHS": (3, 0),
    "UP_TO_6_MONTHS": (6, 3),
    "UP_TO_12_MONTHS": (12, 6),
    "OVER_12_MONTHS": (None, 12),
}
"""Since and until how many months ago the cards of an age were issued."""


@dataclass(frozen=True, slots=True)
class AgeLine:
    """What is owed for cards of one age."""

    label: str
    count: int
    outstanding: Decimal
    expected_breakage: Decimal | None
    length: str
    """The length of its bar in percent."""
    url: str
    """The list of these cards."""


@dataclass(frozen=True, slots=True)
class LiabilityBoard:
    """What one kind of issuers owes in one currency."""

    title: str
    currency: str
    total: AgeLine
    ages: Sequence[AgeLine]
    history_count: int
    """How many ended cards the estimate is made from, or would be."""
    history_share: Decimal | None
    """What was left of them, in percent of their value; None if they are too few."""


async def liability_boards(request: AdminRequest) -> Sequence[LiabilityBoard]:
    """What is owed, by issuer and currency, where there is or was something; none for users who may not see it."""
    if not request.may(access_of(queries()["giftCardLiabilities"])):
        return ()
    found = (await request.run(DOCUMENT)).only("giftCardLiabilities")
    own = N_("Your gift cards") if request.is_partner else N_("Gift cards of partners")
    kinds = (
        (N_("Gift cards of the network"), "network-gift-cards", found["networkCards"]),
        (own, "gift-cards", found["partnerCards"]),
    )
    today = request.services.clock.now().astimezone(ZoneInfo(request.reader.time_zone)).date()
    return [_board(title, slug, each, today) for title, slug, cards in kinds for each in cards or () if each["count"]]


def _board(title: str, slug: str, cards: Mapping[str, Any], today: dt.date) -> LiabilityBoard:
    lengths = shares([Decimal(each["outstanding"]["amount"]) for each in cards["ages"]])
    share = cards["history"]["share"]
    return LiabilityBoard(
        title=title,
        currency=cards["currency"],
        total=_line("", cards, "", f"{ROOT}{slug}/"),
        ages=[
            _line(value_label(each["age"]), each, length, f"{ROOT}{slug}/?{_filter(slug, each['age'], today)}")
            for each, length in zip(cards["ages"], lengths, strict=True)
        ],
        history_count=cards["history"]["count"],
        history_share=None if share is None else Decimal(share),
    )


def _line(label: str, cards: Mapping[str, Any], length: str, url: str) -> AgeLine:
    expected = cards["expectedBreakage"]
    return AgeLine(
        label,
        cards["count"],
        Decimal(cards["outstanding"]["amount"]),
        None if expected is None else Decimal(expected["amount"]),
        length,
        url,
    )


def _filter(slug: str, age: str, today: dt.date) -> str:
    """The filter of the list for cards of an age."""
    assert slug in resources(), "lists have other addresses"
    if age == "EXPIRED":
        return urlencode({"statuses": "EXPIRED"})
    since, until = MONTHS[age]
    filter: dict[str, Any] = {"statuses": ["PAID", "USING"]}
    if since is not None:
        filter["createdFrom"] = months_before(today, since).isoformat()
    if until:
        filter["createdUntil"] = months_before(today, until).isoformat()
    return urlencode(filter, doseq=True)


def months_before(day: dt.date, months: int) -> dt.date:
    """The same day some months before, or the last one of a shorter month."""
    years, month = divmod(day.year * 12 + day.month - 1 - months, 12)
    return dt.date(years, month + 1, min(day.day, calendar.monthrange(years, month + 1)[1]))

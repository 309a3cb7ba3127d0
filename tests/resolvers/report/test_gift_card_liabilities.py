"""What is owed for gift cards: figures against those worked out by hand, the estimate of breakage, who sees which."""

import datetime as dt
from decimal import Decimal
from typing import Any

import pytest

from resolvers.report.gift_card_liabilities import gift_card_liabilities
from schema.core.errors import Forbidden, NotFound
from schema.core.permission import GRANTABLE_PERMISSIONS, Permission
from schema.gift_card.gift_card import GiftCardStatus
from schema.report.gift_card_liability import CurrencyLiability, GiftCardAge, GiftCardLiabilities
from store.core.clock import clock
from store.gift_card.gift_cards import GiftCardRow
from store.report.liabilities import LEAST_HISTORY
from tests.fixtures.gift_card import gift_card
from tests.fixtures.network import network_card
from tests.fixtures.tenants import Tenants

NEW, HALF, YEAR, OLD, EXPIRED = GiftCardAge
OVER_GRAPHQL = """
{ giftCardLiabilities {
    asOf
    partnerCards {
      currency count outstanding { amount currency } expectedBreakage { amount }
      ages { age count outstanding { amount } expectedBreakage { amount } }
      history { count value { amount } unspent { amount } share }
    }
    networkCards { currency }
} }
"""


def ago(days: int) -> dt.datetime:
    """A day in the past."""
    return clock.now() - dt.timedelta(days=days)


async def liabilities(tenants: Tenants, who: str, **more: Any) -> GiftCardLiabilities:
    """The report as the operation answers it."""
    return await gift_card_liabilities(await tenants.context(who), **more)


async def issued(tenants: Tenants, days: int, left: str, partner: str = "a1", **more: Any) -> GiftCardRow:
    """A gift card of 50.00 that was issued so many days ago, of which so much is left."""
    card = await gift_card(tenants, partner, created_on=ago(days), **more)
    await tenants.execute(
        "UPDATE gift_card SET remaining_amount = CAST(:left AS numeric) WHERE id = :id", left=Decimal(left), id=card.id
    )
    return card


async def ended(tenants: Tenants, count: int, unspent: str, partner: str = "a1", days: int = 30) -> None:
    """So many cards of 50.00 that ended so many days ago, each with so much left."""
    for _ in range(count):
        await issued(tenants, days + 365, unspent, partner, expires_on=ago(days), status=GiftCardStatus.EXPIRED)


def by_age(liability: CurrencyLiability) -> dict[GiftCardAge, tuple[int, str, str | None]]:
    """Count, what is left and the expected breakage of each age with cards."""
    figures = {
        each.age: (
            each.count,
            str(each.outstanding.amount),
            None if each.expected_breakage is None else str(each.expected_breakage.amount),
        )
        for each in liability.ages
    }
    assert list(figures) == list(GiftCardAge)
    return {age: each for age, each in figures.items() if each[0]}


def totals(cards: list[CurrencyLiability]) -> list[str]:
    """What is left of all, by currency."""
    return [f"{each.outstanding.amount} {each.currency}" for each in cards]


async def test_what_is_left_is_told_by_age(tenants: Tenants) -> None:
    for days, left in ((10, "50.00"), (80, "12.50"), (100, "20.00"), (200, "30.00"), (400, "40.00")):
        await issued(tenants, days, left)
    await issued(tenants, 500, "7.00", expires_on=ago(1))
    await issued(tenants, 500, "8.00", status=GiftCardStatus.EXPIRED, expires_on=ago(100))
    await issued(tenants, 10, "0.00", status=GiftCardStatus.USED)
    for status in (GiftCardStatus.DRAFT, GiftCardStatus.CANCELLED):
        await issued(tenants, 10, "50.00", status=status)
    (found,) = (await liabilities(tenants, "a1")).partner_cards
    assert by_age(found) == {
        NEW: (2, "62.50", None),
        HALF: (1, "20.00", None),
        YEAR: (1, "30.00", None),
        OLD: (1, "40.00", None),
        EXPIRED: (2, "15.00", None),
    }
    assert (found.currency, found.count, found.outstanding.amount) == ("EUR", 7, Decimal("167.50"))
    assert found.expected_breakage is None
    assert (found.history.count, found.history.share) == (2, None)


async def test_breakage_is_expected_as_it_was_before(tenants: Tenants) -> None:
    await ended(tenants, LEAST_HISTORY - 1, "5.00")
    await issued(tenants, 10, "50.00")
    (found,) = (await liabilities(tenants, "a1")).partner_cards
    assert (found.expected_breakage, found.history.share) == (None, None)
    await ended(tenants, 1, "5.00")
    await issued(tenants, 10, "0.00", status=GiftCardStatus.USED)
    await issued(tenants, 100, "3.00")
    await issued(tenants, 400, "50.00", expires_on=None)
    (found,) = (await liabilities(tenants, "a1")).partner_cards
    # a tenth was left of 50 cards: of 100.00 that were issued lately 10.00, of 50.00 no more than 3.00; nothing without an end
    assert by_age(found) == {
        NEW: (1, "50.00", "10.00"),
        HALF: (1, "3.00", "3.00"),
        OLD: (1, "50.00", "0.00"),
        EXPIRED: (LEAST_HISTORY, "250.00", None),
    }
    assert found.expected_breakage is not None
    assert found.expected_breakage.amount == Decimal("13.00")
    history = found.history
    assert (history.count, history.value.amount, history.unspent.amount, history.share) == (
        50,
        Decimal("2500.00"),
        Decimal("250.00"),
        Decimal("10.00"),
    )


async def test_only_the_last_three_years_are_history(tenants: Tenants) -> None:
    await ended(tenants, LEAST_HISTORY, "5.00", days=3 * 366 + 5)
    await issued(tenants, 10, "50.00")
    (found,) = (await liabilities(tenants, "a1")).partner_cards
    assert (found.history.count, found.expected_breakage) == (0, None)


async def test_of_each_issuer_its_own_history_counts(tenants: Tenants) -> None:
    await ended(tenants, LEAST_HISTORY, "25.00")
    await ended(tenants, LEAST_HISTORY - 1, "50.00", partner="a2")
    await issued(tenants, 10, "50.00")
    await issued(tenants, 10, "50.00", partner="a2")
    (found,) = (await liabilities(tenants, "market a")).partner_cards
    assert by_age(found)[NEW] == (2, "100.00", "25.00")
    a2 = tenants.partners["a2"].id
    (of_one,) = (await liabilities(tenants, "market a", partner_id=a2)).partner_cards
    assert by_age(of_one)[NEW] == (1, "50.00", None)


async def test_what_was_booked_as_breakage_is_owed_no_more(tenants: Tenants) -> None:
    card = await network_card(tenants, value="80.00", created_on=ago(500), expires_on=ago(3))
    found = (await liabilities(tenants, "market a")).network_cards
    assert found is not None
    assert by_age(found[0]) == {EXPIRED: (1, "80.00", None)}
    await tenants.execute("UPDATE gift_card SET unowed_amount = 80 WHERE id = :id", id=card.id)
    found = (await liabilities(tenants, "market a")).network_cards
    assert found is not None
    assert by_age(found[0]) == {}
    assert found[0].history.unspent.amount == Decimal("80.00")


async def test_networks_and_partners_owe_their_own_cards(tenants: Tenants) -> None:
    await issued(tenants, 10, "50.00")
    await issued(tenants, 10, "20.00", partner="b1")
    await network_card(tenants, "a", "100.00")
    await network_card(tenants, "b", "30.00")
    await network_card(tenants, "a", "70.00", is_test=True)
    owed = {}
    for who in ("a1", "a2", "market a", "market b", "master"):
        found = await liabilities(tenants, who)
        networks = None if found.network_cards is None else totals(found.network_cards)
        owed[who] = totals(found.partner_cards), networks
    assert owed == {
        "a1": (["50.00 EUR"], None),
        "a2": ([], None),
        "market a": (["50.00 EUR"], ["100.00 EUR"]),
        "market b": (["20.00 CHF"], ["30.00 CHF"]),
        "master": (["20.00 CHF", "50.00 EUR"], ["30.00 CHF", "100.00 EUR"]),
    }
    of_one = await liabilities(tenants, "market a", partner_id=tenants.partners["a1"].id)
    assert of_one.network_cards is None


async def test_test_cards_are_owed_by_test_partners_only(tenants: Tenants) -> None:
    await tenants.execute("UPDATE partner SET status = 't' WHERE id = :id", id=tenants.partners["a1"].id)
    await issued(tenants, 10, "50.00")
    (own,) = (await liabilities(tenants, "a1")).partner_cards
    assert own.outstanding.amount == Decimal("50.00")
    assert (await liabilities(tenants, "market a")).partner_cards == []
    await tenants.execute("UPDATE partner SET status = 'a' WHERE id = :id", id=tenants.partners["a1"].id)
    assert (await liabilities(tenants, "a1")).partner_cards == []


async def test_it_needs_permissions(tenants: Tenants) -> None:
    every = GRANTABLE_PERMISSIONS - {Permission.MANAGE_MASTERADMIN}
    of = {"marketplace_id": tenants.marketplaces["a"].id}
    await tenants.user("clerk", "marketplace", sorted(every - {Permission.VIEW_GIFT_CARD}), **of)
    await tenants.user("shopkeeper", "marketplace", sorted(every - {Permission.USE_NETWORK_GIFT_CARD}), **of)
    with pytest.raises(Forbidden):
        await liabilities(tenants, "clerk")
    assert (await liabilities(tenants, "shopkeeper")).network_cards is None


@pytest.mark.parametrize("who", ["a1", "market b"])
async def test_the_liabilities_of_others_are_not_found(tenants: Tenants, who: str) -> None:
    with pytest.raises(NotFound):
        await liabilities(tenants, who, partner_id=tenants.partners["a2"].id)


async def test_it_is_told_over_graphql(tenants: Tenants) -> None:
    await issued(tenants, 10, "12.50")
    found = (await tenants.graphql("a1", OVER_GRAPHQL))["data"]["giftCardLiabilities"]
    nothing = {"count": 0, "outstanding": {"amount": "0.00"}, "expectedBreakage": None}
    assert dt.datetime.fromisoformat(found.pop("asOf")) <= clock.now()
    assert found == {
        "partnerCards": [
            {
                "currency": "EUR",
                "count": 1,
                "outstanding": {"amount": "12.50", "currency": "EUR"},
                "expectedBreakage": None,
                "ages": [
                    {**nothing, "age": "UP_TO_3_MONTHS", "count": 1, "outstanding": {"amount": "12.50"}},
                    {**nothing, "age": "UP_TO_6_MONTHS"},
                    {**nothing, "age": "UP_TO_12_MONTHS"},
                    {**nothing, "age": "OVER_12_MONTHS"},
                    {**nothing, "age": "EXPIRED"},
                ],
                "history": {"count": 0, "value": {"amount": "0.00"}, "unspent": {"amount": "0.00"}, "share": None},
            }
        ],
        "networkCards": None,
    }

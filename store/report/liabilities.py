"""What is owed for gift cards, added up by age, and what is expected of it never to be spent.

Each issuer's own history counts: of the cards whose end was in the last 36 months, the share of their value that was left.
Of the value of all cards that have not ended, that share is expected to be left in the end, and no more than is left now.
"""

import datetime as dt
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from sqlalchemy import text
from sqlmodel.ext.asyncio.session import AsyncSession

from schema.report.gift_card_liability import GiftCardAge
from store.report.scope import ReportScope

LEAST_HISTORY = 50
"""The fewest ended cards of an issuer that tell something about its others."""
OF_PARTNERS = """
    SELECT g.*, g.partner_id AS issuer FROM partner p JOIN gift_card g ON g.partner_id = p.id
    JOIN ledger_book b ON b.id = g.book_id AND b.is_live = (p.status <> 't') WHERE {partners}
"""
OF_NETWORKS = """
    SELECT g.*, g.network_id AS issuer FROM gift_card g JOIN ledger_book b ON b.id = g.book_id AND b.is_live
    WHERE g.network_id IS NOT NULL {of_marketplace}
"""
LIABILITIES = """
    WITH card AS (
        SELECT currency, issuer, value_amount AS value, remaining_amount AS unspent, remaining_amount - unowed_amount AS owed,
            expires_on > :now AS ends, expires_on BETWEEN CAST(:now AS timestamptz) - interval '36 months' AND :now AS ended,
            CASE WHEN status = 'exprd' OR expires_on <= :now THEN 'expired'
                WHEN created_on > CAST(:now AS timestamptz) - interval '3 months' THEN 'up_to_3_months'
                WHEN created_on > CAST(:now AS timestamptz) - interval '6 months' THEN 'up_to_6_months'
                WHEN created_on > CAST(:now AS timestamptz) - interval '12 months' THEN 'up_to_12_months'
                ELSE 'over_12_months' END AS age
        FROM ({cards}) found WHERE status NOT IN ('draft', 'cncld')
    ),
    aged AS (
        SELECT currency, issuer, age, count(*) FILTER (WHERE owed > 0) AS cards, sum(owed) AS outstanding,
            coalesce(sum(value) FILTER (WHERE ends), 0.00) AS value, coalesce(sum(owed) FILTER (WHERE ends), 0.00) AS at_most,
            count(*) FILTER (WHERE ended) AS ended_cards, coalesce(sum(value) FILTER (WHERE ended), 0.00) AS ended_value,
            coalesce(sum(unspent) FILTER (WHERE ended), 0.00) AS ended_unspent
        FROM card GROUP BY currency, issuer, age
    ),
    history AS (
        SELECT currency, issuer, sum(ended_cards) AS cards, sum(ended_value) AS value, sum(ended_unspent) AS unspent
        FROM aged GROUP BY currency, issuer
    )
    SELECT a.currency, a.age, sum(a.cards)::int AS cards, sum(a.outstanding) AS outstanding,
        round(sum(least(a.at_most, a.value * h.unspent / nullif(h.value, 0)))
            FILTER (WHERE a.age <> 'expired' AND h.value > 0 AND h.cards >= :least_history), 2) AS expected
    FROM aged a JOIN history h ON (h.currency, h.issuer) = (a.currency, a.issuer)
    GROUP BY a.currency, a.age
    UNION ALL
    SELECT currency, 'history', sum(cards)::int, sum(value), sum(unspent) FROM history GROUP BY currency
"""


@dataclass(frozen=True, slots=True)
class LiabilityOfAge:
    """What is owed for cards of one age."""

    count: int = 0
    outstanding: Decimal = Decimal("0.00")
    expected_breakage: Decimal | None = None


@dataclass(frozen=True, slots=True)
class EndedCards:
    """The cards whose end was in the last 36 months: how many, what they were issued with, and what was left of them."""

    count: int = 0
    value: Decimal = Decimal("0.00")
    unspent: Decimal = Decimal("0.00")

    @property
    def share(self) -> Decimal | None:
        """The unspent part in percent; None if they are too few to tell anything."""
        if self.count < LEAST_HISTORY or not self.value:
            return None
        return (self.unspent * 100 / self.value).quantize(Decimal("0.01"))


@dataclass(frozen=True, slots=True)
class CardLiability:
    """What is owed for gift cards in one currency."""

    currency: str
    ages: dict[GiftCardAge, LiabilityOfAge]
    history: EndedCards

    @property
    def count(self) -> int:
        """How many cards have something left."""
        return sum(each.count for each in self.ages.values())

    @property
    def outstanding(self) -> Decimal:
        """What is left of all of them."""
        return sum((each.outstanding for each in self.ages.values()), Decimal("0.00"))

    @property
    def expected_breakage(self) -> Decimal | None:
        """What is expected never to be spent; None if no issuer has enough history."""
        expected = [each.expected_breakage for each in self.ages.values() if each.expected_breakage is not None]
        return sum(expected, Decimal("0.00")) if expected else None


async def partner_card_liabilities(db: AsyncSession, scope: ReportScope, now: dt.datetime) -> Sequence[CardLiability]:
    """What partners owe for their own cards, by currency."""
    return await _liabilities(db, OF_PARTNERS.format(partners=scope.partners), scope.values, now)


async def network_card_liabilities(
    db: AsyncSession, marketplace_id: int | None, now: dt.datetime
) -> Sequence[CardLiability]:
    """What a network owes for its cards, or all networks, by currency."""
    condition = "" if marketplace_id is None else "AND g.network_id = :marketplace_id"
    values = {} if marketplace_id is None else {"marketplace_id": marketplace_id}
    return await _liabilities(db, OF_NETWORKS.format(of_marketplace=condition), values, now)


async def _liabilities(
    db: AsyncSession, cards: str, values: dict[str, Any], now: dt.datetime
) -> Sequence[CardLiability]:
    statement = text(LIABILITIES.format(cards=cards))
    found = await (await db.connection()).execute(statement, values | {"now": now, "least_history": LEAST_HISTORY})
    by_currency: dict[str, dict[str, tuple[int, Decimal, Decimal | None]]] = {}
    for currency, age, *figures in found:
        by_currency.setdefault(currency, {})[age] = (figures[0], figures[1], figures[2])
    return [_liability(currency, rows) for currency, rows in sorted(by_currency.items())]


def _liability(currency: str, rows: dict[str, tuple[int, Decimal, Decimal | None]]) -> CardLiability:
    count, value, unspent = rows.get("history", (0, Decimal("0.00"), None))
    ages = {age: LiabilityOfAge(*rows[age.value]) if age.value in rows else LiabilityOfAge() for age in GiftCardAge}
    return CardLiability(currency, ages, EndedCards(count, value, unspent or Decimal("0.00")))

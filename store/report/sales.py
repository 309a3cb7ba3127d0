"""What was sold in a period, added up by day and by product.

Orders and payments without an order are sales. A refill of a marketplace's wallet is none, nor is a payment whose order
could not be made.
"""

import datetime as dt
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any
from zoneinfo import ZoneInfo

from sqlalchemy import text
from sqlmodel.ext.asyncio.session import AsyncSession

from schema.core.text import Text
from schema.report.sales import SoldKind
from store.report.scope import ReportScope

SALES = """
    WITH scope AS (
        SELECT p.id AS partner_id, p.status <> 't' AS is_live, EXISTS (
            SELECT FROM ledger_book b WHERE b.marketplace_id = p.marketplace_id AND b.is_live <> (p.status <> 't')
        ) AS may_have_both_modes
        FROM partner p WHERE {partners}
    ),
    placed AS (
        SELECT o.id, o.currency, o.created_on, o.total_amount, o.gift_card_amount, o.delivery_amount
        FROM scope s JOIN shop_order o ON o.partner_id = s.partner_id
        WHERE o.created_on >= :since AND o.created_on < :until AND CASE WHEN s.may_have_both_modes THEN NOT EXISTS (
            SELECT FROM payment y JOIN ledger_book b ON b.id = y.book_id
            WHERE y.order_id = o.id AND b.is_live <> s.is_live
        ) ELSE true END
    ),
    paid AS (
        SELECT t.payment_id, t.currency, t.executed_on, t.transaction_amount AS amount, t.payment_method
        FROM scope s JOIN payment_transaction t ON t.partner_id = s.partner_id AND t.type = 'payin' AND t.status = 'ok'
        JOIN payment y ON y.id = t.payment_id AND y.attempt_id IS NULL AND NOT y.is_for_marketplace
        JOIN ledger_book b ON b.id = y.book_id AND b.is_live = s.is_live
        WHERE t.executed_on >= :since AND t.executed_on < :until
    )
"""
"""The orders and the pay-ins of other payments in a period, of partners in their present mode. Each order is
asked for the book of its payment only where the marketplace has books of both modes: it takes longer than all the rest.
"""
DAYS = """,
    refunded AS (
        SELECT r.currency, r.created_on,
            CASE r.state WHEN 'failed' THEN (
                SELECT coalesce(sum(t.transaction_amount), 0) FROM payment_transaction t
                WHERE t.refund_id = r.id AND t.status = 'ok'
            ) ELSE r.refund_amount END AS amount
        FROM scope s JOIN refund r ON r.partner_id = s.partner_id
        JOIN payment y ON y.id = r.payment_id
            AND (y.order_id IS NOT NULL OR y.attempt_id IS NULL AND NOT y.is_for_marketplace)
        JOIN ledger_book b ON b.id = y.book_id AND b.is_live = s.is_live
        WHERE r.created_on >= :since AND r.created_on < :until
    ),
    figures AS (
        SELECT currency, (created_on AT TIME ZONE CAST(:zone AS text))::date AS day, count(*) AS sales, sum(total_amount) AS gross,
            sum(gift_card_amount) AS by_gift_card, 0 AS refunds
        FROM placed GROUP BY 1, 2
        UNION ALL
        SELECT currency, (executed_on AT TIME ZONE CAST(:zone AS text))::date, count(DISTINCT payment_id), sum(amount),
            coalesce(sum(amount) FILTER (WHERE payment_method = 'gift_card'), 0), 0
        FROM paid GROUP BY 1, 2
        UNION ALL
        SELECT currency, (created_on AT TIME ZONE CAST(:zone AS text))::date, 0, 0, 0, sum(amount) FROM refunded GROUP BY 1, 2
    )
    SELECT currency, day, sum(sales)::int AS sales, sum(gross) AS gross, sum(by_gift_card) AS by_gift_card,
        sum(refunds) AS refunds
    FROM figures GROUP BY currency, day ORDER BY currency, day
"""
PRODUCTS = """,
    lines AS (
        SELECT l.currency, l.id AS line_id, l.quantity, l.total_amount - l.discount_amount AS amount, l.name,
            CASE WHEN l.product_id IS NOT NULL THEN 'product' WHEN l.voucher_id IS NOT NULL THEN 'voucher'
                WHEN l.gift_card_id IS NOT NULL THEN 'gift_card'
                WHEN l.network_gift_card_id IS NOT NULL THEN 'network_gift_card' ELSE 'box' END AS kind,
            coalesce(l.product_id, v.voucher_prototype_id, n.box_id) AS id
        FROM placed o JOIN order_product l ON l.order_id = o.id
        LEFT JOIN voucher v ON v.id = l.voucher_id LEFT JOIN network_voucher n ON n.id = l.network_voucher_id
    ),
    products AS (
        SELECT currency, kind, id, sum(quantity)::int AS quantity, sum(amount) AS gross, max(line_id) AS last_line_id
        FROM lines GROUP BY currency, kind, id
        UNION ALL
        SELECT currency, 'delivery', NULL, count(*)::int, sum(delivery_amount), NULL FROM placed
        WHERE delivery_amount > 0 GROUP BY currency
        UNION ALL
        SELECT currency, 'payment', NULL, count(DISTINCT payment_id)::int, sum(amount), NULL FROM paid GROUP BY currency
    ),
    ranked AS (
        SELECT *, row_number() OVER (PARTITION BY currency ORDER BY gross DESC, kind, id) AS rank FROM products
    )
    SELECT r.currency, r.kind, r.id, r.quantity, r.gross, CAST(l.name AS text) AS name
    FROM ranked r LEFT JOIN order_product l ON l.id = r.last_line_id AND r.id IS NOT NULL
    WHERE r.rank <= :most ORDER BY r.currency, r.rank
"""


@dataclass(frozen=True, slots=True)
class ReportPeriod:
    """The days of a report, both included, in a time zone."""

    first: dt.date
    last: dt.date
    zone: ZoneInfo

    @property
    def values(self) -> dict[str, Any]:
        """The parameters of the statements."""
        return {
            "since": dt.datetime.combine(self.first, dt.time(), self.zone),
            "until": dt.datetime.combine(self.last + dt.timedelta(days=1), dt.time(), self.zone),
        }


@dataclass(frozen=True, slots=True)
class DailySales:
    """The sales and refunds of one day in one currency."""

    currency: str
    day: dt.date
    count: int
    gross: Decimal
    by_gift_card: Decimal
    refunds: Decimal


@dataclass(frozen=True, slots=True)
class SoldThing:
    """What was sold of one thing in one currency."""

    currency: str
    kind: SoldKind
    id: int | None
    quantity: int
    gross: Decimal
    name: Text | None


async def daily_sales(db: AsyncSession, scope: ReportScope, period: ReportPeriod) -> Sequence[DailySales]:
    """The days with sales or refunds, by currency and in order."""
    statement = text(SALES.format(partners=scope.partners) + DAYS)
    values = scope.values | period.values | {"zone": period.zone.key}
    rows = await (await db.connection()).execute(statement, values)
    return [DailySales(*row) for row in rows]


async def sold_things(db: AsyncSession, scope: ReportScope, period: ReportPeriod, most: int) -> Sequence[SoldThing]:
    """What was sold, by currency, the most first; at most `most` of each currency."""
    statement = text(SALES.format(partners=scope.partners) + PRODUCTS)
    rows = await (await db.connection()).execute(statement, scope.values | period.values | {"most": most})
    return [
        SoldThing(row.currency, SoldKind(row.kind), row.id, row.quantity, row.gross, _text_of(row.name)) for row in rows
    ]


def _text_of(written: str | None) -> Text | None:
    return None if written is None else Text.model_validate_json(written)

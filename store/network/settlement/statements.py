"""Settlement statements: of each partner the balance before and after a period, and what moved it.

The balances are those of the ledger's accounts of earnings in the network. What came and went is read from the journals of
usages and of refunds, so that it goes by the same accounting dates. Test usages are in books of their own, and not in here.
"""

import datetime as dt
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from decimal import Decimal
from typing import Any

from sqlalchemy import text
from sqlmodel.ext.asyncio.session import AsyncSession

from schema.ledger import LedgerJournalKind as Kind
from schema.network.settlement import SettledProduct
from schema.network.usage import NOTHING
from store.providers.money import MinorAmount

BALANCES = """
    SELECT a.owner_id AS partner_id, b.currency, a.balance * a.side - coalesce(m.since, 0)::bigint AS opening,
        a.balance * a.side - coalesce(m.later, 0)::bigint AS closing, coalesce(-m.paid_out, 0)::bigint AS settled
    FROM ledger_book b JOIN ledger_account a ON a.book_id = b.id AND a.role = 'partner_network'
    LEFT JOIN (
        SELECT e.account_id, sum(e.amount * o.side) AS since, sum(e.amount * o.side) FILTER (WHERE j.effective_on > :last) AS later,
            sum(e.amount * o.side) FILTER (WHERE j.effective_on <= :last AND j.source_kind IN ('payout_request', 'recovery')) AS paid_out
        FROM ledger_journal j JOIN ledger_entry e ON e.journal_id = j.id JOIN ledger_account o ON o.id = e.account_id
        WHERE j.marketplace_id = :marketplace_id AND j.effective_on >= :first AND o.role = 'partner_network' {of_entries}
        GROUP BY e.account_id
    ) m ON m.account_id = a.id
    WHERE b.marketplace_id = :marketplace_id AND b.is_live {of_accounts}
"""
"""An account keeps its balance as it is now: what came since is taken off."""
USAGE = """
    SELECT value_amount AS value, net_amount AS net, commission_amount AS commission,
        commission_vat_amount AS commission_vat, management_fee_amount AS management_fees,
        management_fee_vat_amount AS management_fees_vat,
        CASE fees_paid_by WHEN 'marketplace' THEN commission_amount + management_fee_amount ELSE 0 END AS paid_by_network
    FROM {product}_usage WHERE id = CASE j.source_kind WHEN '{product}_usage' THEN j.source_id::int END
"""
RETURNED = """
    SELECT m.value, m.net, m.commission + v.commission, v.commission, m.management_fees + m.vat - v.commission,
        m.vat - v.commission, m.paid_by_network
    FROM payment_transaction t JOIN payment_source s ON s.id = t.source_id
    JOIN network_gift_card_usage g ON (g.payment_id, g.gift_card_id) = (s.payment_id, s.gift_card_id)
    CROSS JOIN LATERAL (
        SELECT coalesce(sum(o.transaction_amount), 0) AS amount FROM payment_transaction o
        WHERE o.payment_id = t.payment_id AND o.source_id = t.source_id AND o.type = 'refund' AND o.id < t.id
    ) before
    CROSS JOIN LATERAL (
        SELECT round(g.commission_vat_amount * (before.amount + t.transaction_amount) / g.value_amount, b.minor_digits)
            - round(g.commission_vat_amount * before.amount / g.value_amount, b.minor_digits) AS commission
    ) v
    CROSS JOIN LATERAL (
        SELECT -{card} AS value, {partner_network} + {owed_by_partner} AS net, {commission} AS commission,
            {management_fees} AS management_fees, {vat_on_commission} AS vat, -{promotion} AS paid_by_network
        FROM ledger_entry e JOIN ledger_account a ON a.id = e.account_id WHERE e.journal_id = j.id
    ) m
    WHERE t.id = CASE j.source_kind WHEN 'refund' THEN split_part(j.source_id, ':', 2)::int END
""".format_map(
    {
        role: f"round(coalesce(sum(e.amount) FILTER (WHERE a.role = '{role}'), 0) / 10::numeric ^ b.minor_digits, b.minor_digits)"
        for role in (
            "card", "partner_network", "owed_by_partner", "commission", "management_fees", "vat_on_commission", "promotion",
        )
    }
)  # fmt: skip
"""What a refund gave back of a usage, as its journal says. That has the VAT of both fees in one: the part of the commission
is what belongs to all that went back so far, less what went back before, as in `part_to_return`.
"""
SHARES = """
    SELECT s.value, s.net, s.commission, s.commission_vat, 0, 0, 0 FROM (
        SELECT f.sign * {all} AS value, f.sign * {net} AS net, f.sign * {fees} AS commission, f.sign * {vat} AS commission_vat
        FROM ledger_entry e JOIN ledger_account a ON a.id = e.account_id
        CROSS JOIN (SELECT CASE j.kind WHEN 'payment' THEN -1 ELSE 1 END AS sign) f
        WHERE e.journal_id = j.id AND j.kind = ANY(CAST(:of_shares AS varchar[]))
        GROUP BY f.sign HAVING bool_or(a.role = 'partner_network' OR j.kind = 'refund' AND a.role = 'owed_by_partner')
    ) s
""".format_map(
    {
        name: "round(coalesce(sum(e.amount) FILTER (WHERE a.role IN ("
        + ", ".join(f"'{role}'" for role in roles)
        + ") AND (a.role <> 'owed_by_partner' OR j.kind = 'refund')), 0) / 10::numeric ^ b.minor_digits, b.minor_digits)"
        for name, roles in {
            "all": ("partner_network", "owed_by_partner", "commission", "vat_on_commission"),
            "net": ("partner_network", "owed_by_partner"),
            "fees": ("commission", "vat_on_commission"),
            "vat": ("vat_on_commission",),
        }.items()
    }
)
"""What a payment, a refund or a dispute has moved of a partner's share: of what comes in positive, of what goes back too."""
HAS_SHARE = """coalesce(
            (SELECT partner_share_amount FROM payment WHERE id = CASE j.source_kind WHEN 'payment' THEN j.source_id::uuid END),
            (SELECT partner_share_amount FROM payment_transaction
                WHERE id = CASE j.source_kind WHEN 'refund' THEN split_part(j.source_id, ':', 2)::int END),
            (SELECT partner_share_amount FROM dispute
                WHERE id = CASE j.source_kind WHEN 'dispute' THEN split_part(j.source_id, ':', 1)::uuid END), 0) > 0"""
"""SQL: whether a journal of a payment, a refund or a dispute is about a partner's share: the entries of others are not read."""
MOVEMENTS = f"""
    SELECT j.partner_id, b.currency, j.source_kind, j.kind, sum(CASE WHEN j.kind IN ('refund_failed', 'dispute_won') THEN -1
            WHEN j.kind = 'dispute_lost' THEN 0 ELSE 1 END) AS count, sum(u.value) AS value, sum(u.net) AS net,
        sum(u.commission) AS commission, sum(u.commission_vat) AS commission_vat, sum(u.management_fees) AS management_fees,
        sum(u.management_fees_vat) AS management_fees_vat, sum(u.paid_by_network) AS paid_by_network,
        coalesce(sum(o.minor), 0)::bigint AS owed_back
    FROM ledger_journal j JOIN ledger_book b ON b.id = j.book_id AND b.is_live
    CROSS JOIN LATERAL (
        {USAGE.format(product="network_gift_card")} UNION ALL {USAGE.format(product="network_voucher")}
        UNION ALL {RETURNED} UNION ALL {SHARES}
    ) u
    LEFT JOIN LATERAL (
        SELECT sum(e.amount) AS minor FROM ledger_entry e JOIN ledger_account a ON a.id = e.account_id
        WHERE j.kind IN ('reversal', 'refund') AND e.journal_id = j.id AND a.role = 'owed_by_partner'
    ) o ON true
    WHERE j.marketplace_id = :marketplace_id AND j.effective_on BETWEEN :first AND :last
        AND (j.kind IN ('capture', 'reversal') OR j.kind = ANY(CAST(:of_shares AS varchar[])) AND {HAS_SHARE})
        AND j.source_kind = ANY(CAST(:sources AS varchar[]))
        {{of_journals}}
    GROUP BY j.partner_id, b.currency, j.source_kind, j.kind
"""  # noqa: S608 - of SQL in this file
OF_PARTNER = {
    "of_accounts": "AND a.owner_id = :partner_id",
    "of_entries": "AND o.owner_id = :partner_id",
    "of_journals": "AND j.partner_id = :partner_id",
}
STATEMENTS = {
    is_of_partner: tuple(
        text(each.format_map(OF_PARTNER if is_of_partner else dict.fromkeys(OF_PARTNER, "")))
        for each in (BALANCES, MOVEMENTS)
    )
    for is_of_partner in (False, True)
}
"""Those of one partner have plans of their own."""
PRODUCTS = {
    "network_gift_card_usage": SettledProduct.NETWORK_GIFT_CARD,
    "network_voucher_usage": SettledProduct.NETWORK_VOUCHER,
}
"""The products by what the journals of their usages are caused by."""
PAYMENT, REFUND, DISPUTE = "payment", "refund", "dispute"
"""What the journals of payments, of their refunds and of their disputes are caused by: those of partners' shares, and of what
gift cards have paid in payments.
"""
OF_SHARES = (Kind.PAYMENT, Kind.REFUND, Kind.REFUND_FAILED, Kind.DISPUTE, Kind.DISPUTE_WON, Kind.DISPUTE_LOST)
"""The journals of these that move a partner's share."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SettlementPeriod:
    """Whose statement it is, and its accounting dates, both included."""

    marketplace_id: int
    partner_id: int | None
    """None: all partners."""
    first: dt.date
    last: dt.date


@dataclass(frozen=True, slots=True, kw_only=True)
class UsageFigures:
    """What usages come to. The net amounts are the value, less commission and fees, plus what the network pays of them."""

    count: int = 0
    value: Decimal = NOTHING
    commission: Decimal = NOTHING
    commission_vat: Decimal = NOTHING
    management_fees: Decimal = NOTHING
    management_fees_vat: Decimal = NOTHING
    paid_by_network: Decimal = NOTHING
    net: Decimal = NOTHING

    def __add__(self, other: "UsageFigures") -> "UsageFigures":
        return UsageFigures(
            **{each.name: getattr(self, each.name) + getattr(other, each.name) for each in fields(self)}
        )


@dataclass(frozen=True, slots=True)
class ProductFigures:
    """The usages of a product, those that were cancelled, and the parts of usages that refunds of payments gave back. Of shares
    of payments: the payments, what disputes have kept back or taken, and what refunds gave back.
    """

    usages: UsageFigures = UsageFigures()
    cancelled: UsageFigures = UsageFigures()
    returned: UsageFigures = UsageFigures()
    owed_back: Decimal = NOTHING
    """The part of the cancelled and returned net amounts that the partner had received already, and owes."""

    def __add__(self, other: "ProductFigures") -> "ProductFigures":
        return ProductFigures(
            self.usages + other.usages,
            self.cancelled + other.cancelled,
            self.returned + other.returned,
            self.owed_back + other.owed_back,
        )

    @property
    def change(self) -> Decimal:
        """What they change about the balance."""
        return self.usages.net - self.cancelled.net - self.returned.net + self.owed_back


@dataclass(frozen=True, slots=True, kw_only=True)
class UsageSettlement:
    """The balances around a period in one currency, and what moved them, of a partner or of all."""

    currency: str
    partner_id: int | None
    opening: Decimal = NOTHING
    settled: Decimal = NOTHING
    closing: Decimal = NOTHING
    products: Mapping[SettledProduct, ProductFigures] = field(default_factory=dict)

    @property
    def is_empty(self) -> bool:
        return not (self.opening or self.settled or self.closing or self.products)


async def settlements_of(db: AsyncSession, period: SettlementPeriod) -> Sequence[UsageSettlement]:
    """The statements of the partners with a balance or a movement, by currency and partner, with two statements."""
    connection, values = await db.connection(), _values(period)
    balances_of, movements_of = STATEMENTS[period.partner_id is not None]
    products: defaultdict[tuple[int, str], dict[SettledProduct, ProductFigures]] = defaultdict(dict)
    balances = (await connection.execute(balances_of, values)).all()
    for row in (await connection.execute(movements_of, values)).all():
        figures, product = _figures(row), _product(row)
        there = products[row.partner_id, row.currency]
        there[product] = there.get(product, ProductFigures()) + figures
    opened = {(row.partner_id, row.currency): row for row in balances}
    found = [
        _settlement(partner_id, currency, opened.get((partner_id, currency)), products.get((partner_id, currency), {}))
        for currency, partner_id in sorted({(currency, id) for id, currency in opened.keys() | products.keys()})
    ]
    return [each for each in found if not each.is_empty]


def totals_of(settlements: Sequence[UsageSettlement]) -> Sequence[UsageSettlement]:
    """The totals by currency."""
    totals: dict[str, UsageSettlement] = {}
    for each in settlements:
        total = totals.get(each.currency, UsageSettlement(currency=each.currency, partner_id=None))
        named = [product for product in SettledProduct if product in total.products or product in each.products]
        nothing = ProductFigures()
        totals[each.currency] = UsageSettlement(
            currency=each.currency,
            partner_id=None,
            opening=total.opening + each.opening,
            settled=total.settled + each.settled,
            closing=total.closing + each.closing,
            products={key: total.products.get(key, nothing) + each.products.get(key, nothing) for key in named},
        )
    return list(totals.values())


def _values(period: SettlementPeriod) -> dict[str, Any]:
    days = {"first": period.first, "last": period.last}
    own = {} if period.partner_id is None else {"partner_id": period.partner_id}
    sources = {"sources": [*PRODUCTS, PAYMENT, REFUND, DISPUTE], "of_shares": [kind.value for kind in OF_SHARES]}
    return {"marketplace_id": period.marketplace_id, **own, **days, **sources}


def _product(row: Any) -> SettledProduct:
    if Kind(row.kind) in OF_SHARES:
        return SettledProduct.PARTNER_SHARE
    return PRODUCTS.get(row.source_kind, SettledProduct.NETWORK_GIFT_CARD)


def _figures(row: Any) -> ProductFigures:
    figures = UsageFigures(**{each.name: getattr(row, each.name) for each in fields(UsageFigures)})
    if Kind(row.kind) in (Kind.CAPTURE, Kind.PAYMENT):
        return ProductFigures(usages=figures)
    owed_back = MinorAmount(row.currency, row.owed_back).decimal
    if row.source_kind == REFUND:
        return ProductFigures(returned=figures, owed_back=owed_back)
    return ProductFigures(cancelled=figures, owed_back=owed_back)


def _settlement(
    partner_id: int, currency: str, balance: Any, products: Mapping[SettledProduct, ProductFigures]
) -> UsageSettlement:
    opening, settled, closing = (
        NOTHING if balance is None else MinorAmount(currency, getattr(balance, name)).decimal
        for name in ("opening", "settled", "closing")
    )
    in_order = {product: products[product] for product in SettledProduct if product in products}
    return UsageSettlement(
        currency=currency, partner_id=partner_id, opening=opening, settled=settled, closing=closing, products=in_order
    )

"""The figures of each day, as a table of comma-separated values."""

import csv
import datetime as dt
import io
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal

from coffret.simulation.comparison import Balances
from coffret.simulation.market import Market

NOTHING = Decimal("0.00")
COLUMNS: Mapping[str, tuple[str, ...]] = {
    "wallets": ("wallet",),
    "partners_earned": ("partner", "partner_network", "partner_held", "network_held"),
    "reserved_for_payouts": ("partner_reserved", "network_reserved"),
    "owed_by_partners": ("owed_by_partner", "partner_shortfall"),
    "gift_cards": ("card", "card_held"),
    "vouchers": ("network_voucher",),
    "marketplace_funds": ("marketplace_funds", "funds_held"),
    "owed_by_marketplace": ("owed_by_marketplace", "funds_shortfall", "dispute_debt"),
    "income": ("commission", "management_fees", "breakage"),
    "refunds_due": ("refund_due",),
    "in_dispute": ("in_dispute",),
}
"""The figures, each with the accounts that it sums."""


@dataclass(frozen=True, slots=True)
class DayFigures:
    """The balances of each currency at the end of a day."""

    day: int
    date: dt.date
    by_currency: Mapping[str, Mapping[str, Decimal]]


def figures_of(
    day: int, now: dt.datetime, market: Market, balances: Balances, received: Mapping[str, Decimal]
) -> DayFigures:
    """The figures of a day. `paid_out` is what bank accounts have got until then."""
    currency_of = {each.row.id: each.row.currency for each in market.marketplaces}
    sums: defaultdict[str, dict[str, Decimal]] = defaultdict(lambda: dict.fromkeys((*COLUMNS, "paid_out"), NOTHING))
    for row in balances.rows:
        of_currency = sums[currency_of[row.marketplace_id]]
        for name, roles in COLUMNS.items():
            if row.role in roles:
                of_currency[name] += row.amount
    for partner in market.partners:
        got = received.get(partner.row.provider_wallet_id, NOTHING)
        sums[partner.marketplace.row.currency]["paid_out"] += got
    return DayFigures(day, now.date(), dict(sorted(sums.items())))


def as_csv(days: Sequence[DayFigures]) -> str:
    """A line for each day and currency, with a header."""
    written = io.StringIO()
    lines = csv.writer(written, lineterminator="\n")
    lines.writerow(("day", "date", "currency", *COLUMNS, "paid_out"))
    for each in days:
        for currency, figures in each.by_currency.items():
            lines.writerow((each.day, each.date, currency, *figures.values()))
    return written.getvalue()

"""What the ledger, the tables and the banks say, beside the plain model."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from sqlalchemy import text

from coffret.simulation.bank import Bank
from coffret.simulation.market import Market
from coffret.simulation.model import NOTHING, ModelGood, PlainModel
from resolvers.core.services import Services

BALANCES = """
    SELECT b.marketplace_id, a.role, a.owner_id, a.partner_id,
        round(sum(e.amount * a.side) / 10::numeric ^ b.minor_digits, b.minor_digits) AS amount
    FROM ledger_entry e JOIN ledger_account a ON a.id = e.account_id JOIN ledger_book b ON b.id = a.book_id
    GROUP BY b.id, a.id
"""
GOODS = """
    SELECT 'card' AS role, id, remaining_amount AS remaining,
        status = 'exprd' AND network_id IN (SELECT id FROM marketplace WHERE network_gift_card_books_breakage) AS is_income
    FROM gift_card
    UNION ALL SELECT 'network_voucher', id, price_amount - used_amount,
        status = 'exprd' AND marketplace_id IN (SELECT id FROM marketplace WHERE network_voucher_books_breakage)
    FROM network_voucher
"""
EARNED = (
    "partner",
    "partner_network",
    "partner_held",
    "network_held",
    "partner_reserved",
    "network_reserved",
    "recovery_due",
)
OWED = ("owed_by_partner", "partner_shortfall")
"""The accounts of what a partner has and has not received, and of what it owes."""
PAID_IN = ("marketplace_funds", "funds_held")
MISSING = ("owed_by_marketplace", "funds_shortfall", "dispute_debt")


@dataclass(frozen=True, slots=True)
class Balances:
    """The balances of all accounts, as sums of their entries."""

    rows: Sequence[Any]

    def of(self, owner: str, has: Sequence[str], owes: Sequence[str]) -> dict[int, Decimal]:
        """What each `owner` has on some accounts, less what it owes on others."""
        sums: defaultdict[int, Decimal] = defaultdict(lambda: NOTHING)
        for row in self.rows:
            sign = (row.role in has) - (row.role in owes)
            sums[getattr(row, owner)] += sign * row.amount
        return sums


async def read_balances(services: Services) -> Balances:
    return Balances(await services.db.rows(text(BALANCES)))


async def differences(services: Services, market: Market, bank: Bank, model: PlainModel) -> list[str]:
    """What is not as the model says, in words; nothing if all is right to the cent."""
    balances, received = await read_balances(services), await bank.received()
    goods = await services.db.rows(text(GOODS))
    return [
        *_partners(market, balances, received, model),
        *_funds(market, balances, model),
        *_goods(balances, [good for good in goods if good.role == "card"], "gift card", model.cards),
        *_goods(balances, [good for good in goods if good.role != "card"], "voucher", model.vouchers),
    ]


def _partners(market: Market, balances: Balances, received: Mapping[str, Decimal], model: PlainModel) -> Iterator[str]:
    """Of each partner: what its bank account has got and what it has left are what it has earned."""
    left, earned = balances.of("partner_id", EARNED, OWED), model.earned()
    for partner in market.partners:
        got = received.get(partner.row.provider_wallet_id, NOTHING)
        has, expected = left[partner.row.id], earned.get(partner.row.id, NOTHING)
        if got + has != expected:
            yield f"{partner.row.name}: paid out {got} and left {has}, but earned {expected}"


def _funds(market: Market, balances: Balances, model: PlainModel) -> Iterator[str]:
    funds = balances.of("marketplace_id", PAID_IN, MISSING)
    for marketplace in market.marketplaces:
        id = marketplace.row.id
        if funds[id] != model.funds[id]:
            yield f"{marketplace.row.name}: funds of {funds[id]}, but {model.funds[id]} by the model"


def _goods(balances: Balances, goods: Sequence[Any], name: str, model: Mapping[int, ModelGood]) -> Iterator[str]:
    """Of each gift card or voucher: what it shows, and what is owed for it unless it is booked as income."""
    owed = {(row.role, row.owner_id): row.amount for row in balances.rows}
    if {good.id for good in goods} != set(model):
        yield f"{len(goods)} of the kind {name}, but {len(model)} by the model"
    for good in goods:
        expected, owes = model[good.id], owed.get((good.role, good.id), NOTHING)
        due = NOTHING if expected.is_cancelled or good.is_income else expected.remaining
        if (good.remaining, owes) != (expected.remaining, due):
            yield (
                f"{name} {good.id}: {good.remaining} left and {owes} owed, "
                f"but {expected.remaining} left and {due} owed by the model"
            )

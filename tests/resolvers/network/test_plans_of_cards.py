"""Lists and look-ups of gift cards, vouchers and usages of a network have an index, so that they cost of many what they cost
of few.

With tables walked through and rows sorted only where nothing else is possible, a plan shows what the indexes allow.
"""

import datetime as dt
import itertools
from collections.abc import AsyncIterator, Sequence
from decimal import Decimal
from typing import Any

import asyncpg
import pytest

from resolvers.network.gift_cards import NetworkGiftCardSort, NetworkGiftCardUsageSort
from resolvers.network.vouchers import NetworkVoucherSort, NetworkVoucherUsageSort
from schema.gift_card.gift_card import GiftCardStatus
from schema.network.voucher import NetworkVoucherStatus
from store.core.clock import clock
from store.database.db import dsn
from store.gift_card.gift_cards import GiftCardRow
from store.gift_card.issuing import open_accounts_in
from store.ledger.books import book_of_marketplace
from store.network.gift_cards import NetworkGiftCardUsageRow
from store.network.voucher_issuing import copy_box
from store.network.vouchers import NetworkVoucherRow, NetworkVoucherUsageRow
from tests.fixtures.box import new_box
from tests.fixtures.network import link
from tests.fixtures.tenants import Tenants
from tests.statements import fetched

LIST = "query ($filter: {kind}Filter, $orderBy: {kind}Sort) {{ {field}(first: 20, filter: $filter, orderBy: $orderBy) {{ nodes {{ id }} }} }}"
PERIOD = "2026-01-01T00:00:00Z"
OF_ITEMS: Sequence[dict[str, str]] = (
    {},
    {"status": "PAID"},
    {"createdFrom": PERIOD, "createdUntil": PERIOD},
    {"expiresFrom": PERIOD, "expiresUntil": PERIOD},
)
OF_USAGES: Sequence[dict[str, Any]] = ({}, {"isActive": True}, {"usedFrom": PERIOD, "usedUntil": PERIOD})
LISTS = {
    "NetworkGiftCard": ("networkGiftCards", "gift_card", NetworkGiftCardSort, OF_ITEMS),
    "NetworkVoucher": ("networkVouchers", "network_voucher", NetworkVoucherSort, OF_ITEMS),
    "NetworkGiftCardUsage": ("networkGiftCardUsages", "network_gift_card_usage", NetworkGiftCardUsageSort, OF_USAGES),
    "NetworkVoucherUsage": ("networkVoucherUsages", "network_voucher_usage", NetworkVoucherUsageSort, OF_USAGES),
}
EXACT = {
    "a card by its code": ("networkGiftCards", "NetworkGiftCard", {"code": "ABC"}, "normal_code"),
    "a voucher by its code": ("networkVouchers", "NetworkVoucher", {"code": "ABC"}, "normal_code"),
    "the vouchers of a box": ("networkVouchers", "NetworkVoucher", {"boxId": 1}, "box_id"),
    "the usages of a card": ("networkGiftCardUsages", "NetworkGiftCardUsage", {"giftCardId": 1}, "gift_card_id"),
    "the usages of a voucher": ("networkVoucherUsages", "NetworkVoucherUsage", {"networkVoucherId": 1}, "network_voucher_id"),
}  # fmt: skip
STATEMENTS = {
    "cards that are due": (
        "SELECT id FROM gift_card WHERE status IN ('paid', 'using') AND expires_on <= now() ORDER BY expires_on, id LIMIT 9",
        "expires_on",
    ),
    "vouchers that are due": (
        (
            "SELECT id FROM network_voucher WHERE status IN ('paid', 'using', 'test') AND expires_on <= now() "
            "ORDER BY expires_on, id LIMIT 9"
        ),
        "expires_on",
    ),
    "holds that are due": (
        "SELECT id FROM gift_card_hold WHERE state = 'running' AND expires_on <= now() ORDER BY expires_on, id LIMIT 9",
        "expires_on",
    ),
    "the first usage of a voucher": (
        "SELECT min(used_on) FROM network_voucher_usage WHERE network_voucher_id = 1 AND is_active",
        "network_voucher_id",
    ),
    "the usage of a payment": (
        "SELECT id FROM network_gift_card_usage WHERE payment_id = gen_random_uuid() AND gift_card_id = 1",
        "gift_card_id",
    ),
    "what a partner earned in a period": (
        (
            "SELECT sum(net_amount) FROM network_gift_card_usage WHERE partner_id = 1 AND used_on >= '2026-01-01' "
            "AND used_on < '2026-02-01'"
        ),
        "used_on",
    ),
    "what a partner earned with vouchers in a period": (
        (
            "SELECT sum(net_amount) FROM network_voucher_usage WHERE partner_id = 1 AND used_on >= '2026-01-01' "
            "AND used_on < '2026-02-01'"
        ),
        "used_on",
    ),
    "the latest usages of a card": (
        "SELECT id FROM network_gift_card_usage WHERE gift_card_id = 1 AND partner_id = 1 ORDER BY id DESC LIMIT 20",
        "gift_card_id",
    ),
    "the latest usages of a voucher": (
        "SELECT id FROM network_voucher_usage WHERE network_voucher_id = 1 AND partner_id = 1 ORDER BY id DESC LIMIT 20",
        "network_voucher_id",
    ),
    "the offers of a box that count": (
        "SELECT count(DISTINCT partner_id) FROM offer WHERE box_id = 1 AND status = 'ACCEPTED' AND is_active",
        "box_id",
    ),
    "the cards with an e-mail address": (
        "SELECT id FROM gift_card WHERE partner_id IS NULL AND emails @> ARRAY['ada@example.com'::varchar]",
        "emails",
    ),
    "the vouchers with an e-mail address": (
        "SELECT id FROM network_voucher WHERE emails @> ARRAY['ada@example.com'::varchar]",
        "emails",
    ),
    "the vouchers of an order": ("SELECT id FROM network_voucher WHERE order_id = 1", "order_id"),
    "the cards of an order": ("SELECT id FROM gift_card WHERE order_id = 1", "order_id"),
    "a card by its document": ("SELECT id FROM gift_card WHERE document_token = 'x'", "document_token"),
    "a voucher by its document": ("SELECT id FROM network_voucher WHERE document_token = 'x'", "document_token"),
}


class Planner:
    """Plans the statements of lists, along an index if there is one."""

    def __init__(self, tenants: Tenants, connection: asyncpg.Connection) -> None:
        self.tenants, self.connection = tenants, connection

    async def plan(self, sql: str, *arguments: object, sort: bool = False) -> str:
        await self.connection.execute(f"SET enable_seqscan = off; SET enable_sort = {'on' if sort else 'off'}")
        return "\n".join(row[0] for row in await self.connection.fetch(f"EXPLAIN {sql}", *arguments))

    async def plans(
        self, who: str, query: str, table: str, *, sort: bool = False, **variables: object
    ) -> Sequence[str]:
        """The plans of what a list reads."""
        with fetched(self.tenants.services.db) as ran:
            answer = await self.tenants.graphql(who, query, **variables)
        assert "errors" not in answer, answer
        read = [(sql, arguments) for sql, arguments in ran if "FROM network_gift_card" in sql or f"FROM {table}" in sql]
        assert read, ran
        return [await self.plan(sql, *arguments, sort=sort) for sql, arguments in read]


ROWS = 1500


async def fill(tenants: Tenants) -> None:
    """Cards and vouchers of 30 boxes, each used once at a1."""
    network, partner_id = tenants.marketplaces["a"], tenants.partners["a1"].id
    boxes = [await new_box(tenants) for _ in range(30)]
    usage: dict[str, Any] = {
        "partner_id": partner_id,
        "used_on": clock.now(),
        "recorded_on": clock.now(),
        "currency": "EUR",
    }
    usage |= dict.fromkeys(("value_amount", "net_amount"), Decimal(1))
    common: dict[str, Any] = {
        "code": "",
        "created_on": clock.now(),
        "expires_on": clock.now() + dt.timedelta(days=9),
        "currency": "EUR",
    }
    amounts: dict[str, Any] = dict.fromkeys(("value_amount", "remaining_amount"), Decimal(1))
    cards, vouchers = [], []
    for n in range(ROWS):
        own = {**common, "code": f"C{n}", "normal_code": f"C{n}", "gifter_email": f"g{n}@mail.example"}
        cards.append(GiftCardRow(network_id=network.id, status=GiftCardStatus.PAID, **amounts, **own))
        vouchers.append(NetworkVoucherRow(status=NetworkVoucherStatus.PAID, **own))
        copy_box(vouchers[-1], boxes[n % len(boxes)])
    async with tenants.services.db.sessions() as db, db.begin():
        book_id = await book_of_marketplace(db, network.id, is_live=True)
        await open_accounts_in(db, book_id, cards)
        for voucher in vouchers:
            voucher.book_id = book_id
        db.add_all([*cards, *vouchers])
        await db.flush()
        db.add_all(NetworkGiftCardUsageRow(gift_card_id=card.id, **usage) for card in cards)
        db.add_all(NetworkVoucherUsageRow(network_voucher_id=voucher.id, **usage) for voucher in vouchers)
    await tenants.execute("ANALYZE gift_card, network_voucher, network_gift_card_usage, network_voucher_usage")


@pytest.fixture
async def planner(tenants: Tenants, database_url: str) -> AsyncIterator[Planner]:
    await link(tenants, "a1")
    await fill(tenants)
    connection = await asyncpg.connect(dsn(database_url))
    yield Planner(tenants, connection)
    await connection.close()


async def test_every_order_goes_along_an_index(planner: Planner) -> None:
    for kind, (field, table, orders, filters) in LISTS.items():
        for who in ("market a", "master", *(["a1"] if "Usage" in kind else [])):
            for asked, order in itertools.product(filters, orders):
                variables = {"filter": asked, "orderBy": order.name}
                for plan in await planner.plans(who, LIST.format(kind=kind, field=field), table, **variables):
                    assert f"Seq Scan on {table}" not in plan, f"{who} {asked} {order.name}: {plan}"
                    assert asked or "Sort" not in plan, f"{who} {order.name}: {plan}"


async def test_what_is_named_is_looked_up(planner: Planner) -> None:
    wrong = {}
    for name, (field, kind, asked, column) in EXACT.items():
        query, table = LIST.format(kind=kind, field=field), LISTS[kind][1]
        (plan,) = await planner.plans("market a", query, table, sort=True, filter=asked)
        if not is_looked_up(plan, column):
            wrong[name] = plan
    for name, (statement, column) in STATEMENTS.items():
        plan = await planner.plan(statement, sort=True)
        if not is_looked_up(plan, column):
            wrong[name] = plan
    assert not wrong, "\n".join(f"{name}: {plan}" for name, plan in wrong.items())


def is_looked_up(plan: str, column: str) -> bool:
    """Whether an index finds the rows by this column."""
    return any("Index Cond" in line and column in line for line in plan.splitlines())

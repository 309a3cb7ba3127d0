"""Lists and look-ups of gift cards, vouchers and usages of a network have an index, so that they cost of many what they cost
of few.

With tables walked through and rows sorted only where nothing else is possible, a plan shows what the indexes allow.
"""

import datetime as dt
import itertools
import json
import re
from collections.abc import AsyncIterator, Iterator, Sequence
from decimal import Decimal
from typing import Any, NamedTuple

import asyncpg
import pytest

from resolvers.job import expiry
from resolvers.network.gift_card_usages import cancel_network_gift_card_usage, use_network_gift_card
from resolvers.network.gift_cards import NetworkGiftCardSort, NetworkGiftCardUsageSort
from resolvers.network.voucher_usages import cancel_network_voucher_usage, use_network_voucher
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
from tests.changes import Direct
from tests.fixtures.box import new_box
from tests.fixtures.network import link, network_card
from tests.fixtures.network_voucher import network_voucher, offered_box
from tests.fixtures.tenants import Tenants
from tests.statements import fetched, ran

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
TABLES = {"gift_card", "gift_card_hold", "network_voucher", "network_gift_card_usage", "network_voucher_usage"}
SHOWN = """
query ($card: String!, $voucher: String!) {
  networkGiftCard(code: $card) { documentUrl holderUrl movements { id } usages { id } order { id } }
  networkVoucher(code: $voucher) { documentUrl holderUrl usages { id } order { id } }
}
"""
READ = (
    "networkgiftcards/{card}/",
    "networkgiftcards_by_code/{card}/",
    "networkgiftcards_by_email/ada@example.com/",
    "networkgiftcards/{card}/usages/",
    "networkgiftcards_by_code/{card}/usages/",
    "networkvouchers_by_code/{voucher}/",
    "networkvouchers_by_email/ada@example.com/",
    "networkvouchers_by_code/{voucher}/usages/",
)


class Scan(NamedTuple):
    """How a plan reads a table."""

    table: str
    is_by_index: bool
    """Whether an index finds the rows."""


def scans_of(node: dict[str, Any]) -> Iterator[Scan]:
    """The scans of a plan, and of the plans below it."""
    below = node.get("Plans", ())
    if "Relation Name" in node and "Scan" in node["Node Type"]:
        yield Scan(node["Relation Name"], any("Index Cond" in each for each in (node, *below)))
    for each in below:
        yield from scans_of(each)


class Planner:
    """Plans statements along an index if there is one."""

    def __init__(self, tenants: Tenants, connection: asyncpg.Connection) -> None:
        self.tenants, self.connection = tenants, connection

    async def plan(self, sql: str, *arguments: object, sort: bool = False) -> str:
        await self.connection.execute(f"SET enable_seqscan = off; SET enable_sort = {'on' if sort else 'off'}")
        return "\n".join(row[0] for row in await self.connection.fetch(f"EXPLAIN {sql}", *arguments))

    async def scans(self, sql: str, *arguments: object) -> Sequence[Scan]:
        """How a statement reads the tables that grow."""
        await self.connection.execute("SET enable_mergejoin = off; SET enable_hashjoin = off")  # they walk small tables
        plan = json.loads(await self.plan(f"(FORMAT JSON) {sql}", *arguments, sort=True))
        await self.connection.execute("RESET enable_mergejoin; RESET enable_hashjoin")
        return [scan for scan in scans_of(plan[0]["Plan"]) if scan.table in TABLES]

    async def plans(
        self, who: str, query: str, table: str, *, sort: bool = False, **variables: object
    ) -> Sequence[str]:
        """The plans of what a list reads."""
        with fetched(self.tenants.services.db) as seen:
            answer = await self.tenants.graphql(who, query, **variables)
        assert "errors" not in answer, answer
        read = [
            (sql, arguments) for sql, arguments in seen if "FROM network_gift_card" in sql or f"FROM {table}" in sql
        ]
        assert read, seen
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
    assert not wrong, "\n".join(f"{name}: {plan}" for name, plan in wrong.items())


def is_looked_up(plan: str, column: str) -> bool:
    """Whether an index finds the rows by this column."""
    return any("Index Cond" in line and column in line for line in plan.splitlines())


async def test_all_that_is_read_of_one_thing_is_looked_up(planner: Planner) -> None:
    """Whatever is done with a card, a voucher or their usages reads only rows that an index has found."""
    tenants = planner.tenants
    with ran(tenants.services.db) as statements:
        await use_and_cancel(tenants)
    read = {
        sql: arguments
        for sql, arguments in statements
        if sql.lstrip().startswith(("SELECT", "UPDATE", "DELETE", "WITH"))
    }
    walked, scanned = {}, set[str]()
    for sql, arguments in read.items():
        for scan in await planner.scans(sql, *arguments):
            scanned.add(scan.table)
            if not scan.is_by_index:
                walked[sql] = scan.table
    assert scanned >= TABLES
    assert not walked


async def use_and_cancel(tenants: Tenants) -> None:
    """Use a card and a voucher, look at them everywhere, cancel the usages, and let what is due expire."""
    ask, where = Direct(tenants), {"partner_id": tenants.partners["a1"].id}
    card, box = await network_card(tenants), await offered_box(tenants, "a1")
    voucher = await network_voucher(tenants, box)
    used = await ask.change("market a", use_network_gift_card, code=card.code, value="30.00", **where)
    used_voucher = await ask.change("market a", use_network_voucher, code=voucher.code, **where)
    assert used.done
    assert used_voucher.done
    codes = {"card": card.code, "voucher": voucher.code}
    shown = (await tenants.graphql("market a", SHOWN, **codes))["data"]
    authorized = {"Authorization": f"Token {tenants.tokens['market a']}"}
    pages = [thing[url] for thing in shown.values() for url in ("documentUrl", "holderUrl")]
    for page in (*pages, *(f"/api/{path.format(**codes)}" for path in READ)):
        assert (await tenants.client.get(page, headers=authorized)).status_code == 200, page
    assert (await ask.change("market a", cancel_network_gift_card_usage, id=used.result.id)).done
    assert (await ask.change("market a", cancel_network_voucher_usage, id=used_voucher.result.id)).done
    for expire in (expiry.expire_gift_cards, expiry.expire_vouchers, expiry.expire_gift_card_holds):
        await expire(tenants.services)


@pytest.mark.parametrize(
    ("kind", "field", "table"),
    [
        ("NetworkGiftCard", "networkGiftCards", "gift_card"),
        ("NetworkVoucher", "networkVouchers", "network_voucher"),
    ],
)
async def test_an_address_is_looked_up_before_a_list_is_ordered(
    planner: Planner, kind: str, field: str, table: str
) -> None:
    """Of a million rows none is read but those with the address, whatever the planner takes for their number."""
    query = f"query ($email: String) {{ {field}(first: 20, email: $email) {{ nodes {{ id }} }} }}"
    (plan,) = await planner.plans("market a", query, table, sort=True, email="g7@mail.example")
    assert is_looked_up(plan, "emails"), plan
    assert re.search(rf"Index Scan (using|on) {table}_pkey", plan), plan

"""The transfers of wallets: every documented key, filter and order, pages, who sees what; and the way from a gift card."""

import datetime as dt
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import partial
from typing import Any
from urllib.parse import urlsplit
from uuid import UUID, uuid4

import pytest
import pytest_asyncio
from sqlmodel import col, select

from rest_compat.resources.transfer import TRANSFER
from schema.payment.transfer import TransferStatus, TransferType
from store.gift_card.gift_cards import GiftCardRow
from store.ledger.wallets import WalletRow, wallet_of_partner
from store.payment.transfers import NEWEST_OF_WALLET, TransferRow
from tests.fixtures.gift_card import gift_card
from tests.fixtures.partner_rows import PartnerRows
from tests.fixtures.payment.payment import stored_payment
from tests.fixtures.tenants import Tenants
from tests.statements import AUTHENTICATION, record_statements
from tests.transports import NO_TOKEN

pytestmark = pytest.mark.asyncio(loop_scope="module")

START = dt.datetime(2026, 1, 1, 23, 30, tzinfo=dt.UTC)


@dataclass
class Wallets:
    """The wallet of a partner, that of one of its gift cards, and the transfers between them."""

    rows: PartnerRows[TransferRow]
    card: GiftCardRow
    wallet: WalletRow
    of_partner: WalletRow

    async def listed(self, who: str = "a1", uuid: UUID | None = None, /, **query: Any) -> Any:
        """The answer to a list of the transfers of the card's wallet."""
        return await self.rows.get(f"/api/wallets/{uuid or self.wallet.uuid}/transfers/", who, **query)

    def of_card(self) -> Sequence[TransferRow]:
        """The transfers of the card's wallet."""
        return [row for row in self.rows.rows if self.wallet.id in (row.debited_wallet_id, row.credited_wallet_id)]


def transfer(wallets: tuple[WalletRow | None, WalletRow | None], number: int, **columns: Any) -> TransferRow:
    """A transfer from a wallet to another."""
    debited, credited = wallets
    owner = debited or credited
    assert owner is not None
    return TransferRow(
        marketplace_id=owner.marketplace_id,
        partner_id=owner.partner_id,
        type=TransferType.PAYMENT,
        status=list(TransferStatus)[number % 3],
        transfer_amount=Decimal(1 + number % 4),
        created_on=START + dt.timedelta(hours=6 * number),
        debited_wallet_id=None if debited is None else debited.id,
        credited_wallet_id=None if credited is None else credited.id,
        **columns,
    )


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def wallets(tenants: Tenants) -> AsyncIterator[Wallets]:
    """Some dozens of transfers of a card, and some of another."""
    card, other = [await gift_card(tenants, "a1", "500.00") for _ in range(2)]
    payment = await stored_payment(tenants, "a1", extra="25.00", card=card)
    async with tenants.services.db.sessions() as db, db.begin():
        of_partner = await wallet_of_partner(db, tenants.partners["a1"].id, "wallet-of-a1")
        of_card, of_other = [
            (await db.exec(select(WalletRow).where(col(WalletRow.id) == each.wallet_id))).one()
            for each in (card, other)
        ]
        rows = [transfer((of_card, of_partner), number, payment_id=payment.id) for number in range(20)]
        rows += [transfer((of_partner, of_card), 20 + number) for number in range(4)]
        rows += [transfer((of_card, None), 24), transfer((None, of_card), 25)]
        rows += [transfer((of_other, of_partner), 26 + number) for number in range(5)]
        db.add_all(rows)
    yield Wallets(PartnerRows(tenants, rows), card, of_card, of_partner)


async def test_the_documented_keys(wallets: Wallets) -> None:
    answer = await wallets.listed(page_size=100)
    body = answer.json()["results"]
    rows = sorted(wallets.of_card(), key=lambda row: row.created_on, reverse=True)
    uuids = {
        wallets.wallet.id: str(wallets.wallet.uuid),
        wallets.of_partner.id: str(wallets.of_partner.uuid),
        None: None,
    }
    assert body == [
        {
            "created_on": row.created_on.strftime("%Y-%m-%dT%H:%M:%S.%fZ"),
            "amount": float(row.transfer_amount),
            "currency": "EUR",
            "status": row.status.value,
            "type": "payment",
            "payment_uuid": str(row.payment_id) if row.payment_id else None,
            "debited_wallet_uuid": uuids[row.debited_wallet_id],
            "credited_wallet_uuid": uuids[row.credited_wallet_id],
        }
        for row in rows
    ]
    assert list(body[0]) == list(TRANSFER.keys)
    assert f'"amount":{rows[0].transfer_amount:.2f},' in answer.text


async def test_a_gift_card_leads_to_its_wallet(wallets: Wallets) -> None:
    tenants = wallets.rows.tenants
    for path in (f"giftcards/{wallets.card.id}", f"giftcards_by_code/{wallets.card.code}"):
        answer = await wallets.rows.get(f"/api/{path}/")
        url = f"{tenants.services.settings.public_url}/api/wallets/{wallets.wallet.uuid}/transfers/"
        assert answer.headers.get_list("link") == [f'<{url}>; rel="wallet"']
        assert "wallet" not in answer.text
    followed = await wallets.rows.get(urlsplit(url).path)
    assert followed.json()["count"] == len(wallets.of_card())


async def test_for_whom_it_is_there(wallets: Wallets) -> None:
    expected = {"a1": 200, "market a": 200, "master": 200, "a2": 404, "market b": 404, "powerless": 403, NO_TOKEN: 401}
    for who, status in expected.items():
        for query in (dict[str, str](), {"status": "gone"}):
            answer = await wallets.listed(who, **query)
            assert answer.status_code == (400 if query and status == 200 else status), (who, query)
    assert (await wallets.listed("a1", uuid4())).status_code == 404
    assert (await wallets.rows.get("/api/wallets/x/transfers/")).status_code == 404
    filtered = "query ($uuid: UUID) { transfers(filter: {walletUuid: $uuid}) { totalCount } }"
    for who, count in {"a1": 26, "market a": 26, "master": 26, "a2": 0, "market b": 0}.items():
        found = await wallets.rows.ask(filtered, who, uuid=str(wallets.wallet.uuid))
        assert found["transfers"]["totalCount"] == count
        (wallet,) = (
            await wallets.rows.ask("query ($u: UUID!) { wallet(uuid: $u) { uuid } }", who, u=str(wallets.wallet.uuid))
        ).values()
        assert (wallet is not None) is bool(count)


SORTS: dict[str, str] = {
    "created_on": "OLDEST",
    "-created_on": "NEWEST",
    "status": "STATUS",
    "-status": "STATUS_DESCENDING",
    "amount": "AMOUNT",
    "-amount": "AMOUNT_DESCENDING",
}


def value_of(name: str, row: TransferRow) -> Any:
    """What a transfer is ordered by."""
    return row.transfer_amount if name == "amount" else getattr(row, name)


def identity(row: Any) -> tuple[str, float]:
    """What tells transfers of the fixture apart, in an answer of REST."""
    if isinstance(row, TransferRow):
        return row.created_on.strftime("%Y-%m-%dT%H:%M:%S.%fZ"), float(row.transfer_amount)
    return row["created_on"], row["amount"]


@pytest.mark.parametrize("order", SORTS)
async def test_each_order_page_by_page(wallets: Wallets, order: str) -> None:
    name = order.lstrip("-")
    rows = sorted(wallets.of_card(), key=lambda row: (value_of(name, row), row.id), reverse=order[0] == "-")
    pages = [(await wallets.listed(ordering=order, page=page, page_size=10)).json() for page in (1, 2, 3)]
    assert [page["has_next"] for page in pages] == [True, True, False]
    assert [identity(each) for page in pages for each in page["results"]] == [identity(row) for row in rows]
    document = f"""query ($uuid: UUID, $after: String) {{ transfers(first: 9, after: $after, orderBy: {SORTS[order]},
        filter: {{walletUuid: $uuid}}) {{ nodes {{ id }} pageInfo {{ hasNextPage endCursor }} }} }}"""
    listed, after = [], None
    while True:
        found = (await wallets.rows.ask(document, uuid=str(wallets.wallet.uuid), after=after))["transfers"]
        listed += [node["id"] for node in found["nodes"]]
        after = found["pageInfo"]["endCursor"]
        if not found["pageInfo"]["hasNextPage"]:
            break
    assert listed == [row.id for row in rows]


@pytest.mark.parametrize("order", ["status,-amount", "-status,amount,-created_on", "amount,-created_on", "-amount,status,-amount"])  # fmt: skip
async def test_orders_by_several_fields(wallets: Wallets, order: str) -> None:
    rows = sorted(wallets.of_card(), key=lambda row: row.id, reverse=order[0] == "-")
    for each in reversed(order.split(",")):
        rows.sort(key=partial(value_of, each.lstrip("-")), reverse=each[0] == "-")
    pages = [(await wallets.listed(ordering=order, page=page, page_size=10)).json() for page in (1, 2, 3)]
    assert [identity(each) for page in pages for each in page["results"]] == [identity(row) for row in rows]


async def test_periods_and_status(wallets: Wallets) -> None:
    first, last = START + dt.timedelta(hours=18), START + dt.timedelta(hours=60)
    inside = [identity(row) for row in wallets.of_card() if first <= row.created_on <= last]
    local = [f"{time + dt.timedelta(hours=1):%Y-%m-%d %H:%M:%S}" for time in (first, last)]
    utc = [f"{time:%Y-%m-%dT%H:%M:%SZ}" for time in (first, last)]
    for start, end in (local, utc):
        for query in ({"created_on__gte": start, "created_on__lte": end}, {"created_on__range": f"{start},{end}"}):
            body = (await wallets.listed(**query, ordering="created_on")).json()
            assert [identity(each) for each in body["results"]] == inside, query
    for status in TransferStatus:
        body = (await wallets.listed(status=status.value, page_size=100)).json()
        assert body["count"] == len([row for row in wallets.of_card() if row.status is status]) > 0
        assert {each["status"] for each in body["results"]} == {status.value}


@pytest.mark.parametrize("query", ["status=paid", "created_on__gte=soon", "created_on__lte=2026-13-01 00:00:00", "created_on__range=2026-01-01", "ordering=type", "ordering=status,", "ordering=status,type", "page=0"])  # fmt: skip
async def test_a_malformed_parameter_is_told_at_its_name(wallets: Wallets, query: str) -> None:
    name, _, value = query.partition("=")
    answer = await wallets.listed(**{name: value})
    assert (answer.status_code, list(answer.json())) == (400, [name])


async def test_wallets_show_their_newest_transfers_with_one_statement(wallets: Wallets) -> None:
    document = """query ($ids: [UUID!]) { payments(filter: {ids: $ids}) { nodes { extraWallet { id
        transfers { id debitedWallet { uuid } } } } } }"""
    tenants = wallets.rows.tenants
    one = await stored_payment(tenants, "a1", extra="1.00", card=wallets.card)
    few = [await stored_payment(tenants, "a1", extra="1.00", card=await gift_card(tenants)) for _ in range(5)]
    counts = []
    for rows in ([one], [one], [one, *few]):
        with record_statements(tenants.services.db) as statements:
            found = await wallets.rows.ask(document, ids=[str(row.id) for row in rows])
        counts.append(sum(AUTHENTICATION not in statement for statement in statements))
        shown = {node["extraWallet"]["id"]: node["extraWallet"]["transfers"] for node in found["payments"]["nodes"]}
        of_card = sorted(wallets.of_card(), key=lambda row: (row.created_on, row.id), reverse=True)
        assert [each["id"] for each in shown[wallets.wallet.id]] == [row.id for row in of_card[:NEWEST_OF_WALLET]]
        assert all(shown[row.extra_wallet_id] == [] for row in rows if row.extra_wallet_id != wallets.wallet.id)
    assert counts[1] == counts[2]

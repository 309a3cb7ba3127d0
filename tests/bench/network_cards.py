"""Usages of network gift cards: of one that everybody uses at once, and of ten thousand, beside the same statements."""

import datetime as dt
import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, ClassVar
from uuid import uuid4

import asyncpg
import orjson
from sqlmodel import col, select
from sqlmodel.ext.asyncio.session import AsyncSession
from starlette.requests import Request

from coffret.demo.users import PARTNER_USERS
from schema.gift_card.gift_card import GiftCardStatus
from schema.ledger import LedgerJournalKind as Kind
from store.account.users import UserRow
from store.core.clock import now
from store.core.codes import normalize
from store.gift_card.gift_cards import GiftCardRow
from store.gift_card.issuing import open_accounts_in
from store.ledger import posting
from store.ledger.books import book_of_marketplace
from store.ledger.posting import credit, debit, post
from store.network.issuing import network_gift_cards
from store.network.postings import OWED
from store.partner.partners import MarketplaceRow, PartnerRow
from tests.bench.floors import Floor, Means
from tests.bench.installation import Installation

CARDS = 10_000
VALUE = Decimal(10_000_000)
"""Of each card: more than is ever used of it."""
USED = "1.00"
QUERY = """
mutation Use($input: UseNetworkGiftCardInput!) {
  useNetworkGiftCard(input: $input) {
    networkGiftCardUsage { id value { amount currency } net { amount } usedOn isActive } userErrors { field code message }
  }
}
"""
CARD = "SELECT * FROM gift_card WHERE partner_id IS NULL AND normal_code = $1 AND network_id = $2 FOR UPDATE"
NETWORK = "SELECT * FROM marketplace WHERE id = $1"
PARTNER = "SELECT * FROM partner WHERE marketplace_id = $1 AND id = $2"
RULE = """
    SELECT * FROM fee_rule WHERE is_active AND marketplace_id = $1 AND (partner_id IS NULL OR partner_id = $2)
    AND product = $3 ORDER BY partner_id NULLS LAST LIMIT 1
"""
TAKE = "UPDATE gift_card SET remaining_amount = remaining_amount - $2, status = 'using' WHERE id = $1"
USAGE = """
    INSERT INTO network_gift_card_usage (used_on, recorded_on, value_amount, management_fee_amount,
        management_fee_vat_amount, commission_rate, commission_amount, commission_vat_amount, fees_vat_rate, fees_paid_by, net_amount,
        is_active, is_reverse_charge, comment, reservation_id, gift_card_id, returned_amount, returned_net_amount, currency, partner_id)
    VALUES ($1, $1, $2, 0, 0, 10, 0.12, 0.02, 20, 'partner', 0.88, true, false, '', '', $3, 0, 0, $4, $5) RETURNING id
"""
EVENT = """
    INSERT INTO event (key, type, subject, data, partner_id, marketplace_id, occurred_on, is_sorted)
    VALUES ($1, 'network_gift_card.used', $2, $3, $4, $5, $6, false)
    ON CONFLICT ON CONSTRAINT event_once_key DO NOTHING RETURNING id
"""
JOB = """
    WITH job AS (
        INSERT INTO pgqueuer (priority, entrypoint, payload, execute_after, headers, status)
        VALUES (0, 'sort_events', $1, now(), '{}', 'queued') RETURNING id
    ) INSERT INTO pgqueuer_log (job_id, status, entrypoint, priority) SELECT id, 'queued', 'sort_events', 0 FROM job
"""
AUDIT = """
    INSERT INTO audit_entry (occurred_on, operation, actor, user_id, username, token_hint, address, request_id,
        partner_id, marketplace_id, subject_type, subject_id, input, changes)
    SELECT $1, 'use_network_gift_card', 'partner', u.id, u.username, '', '127.0.0.1', '', $2, $3,
        'NetworkGiftCardUsage', $4, $5, $6 FROM app_user u WHERE u.id = $7
"""
ACCOUNTS: Sequence[str] = ("card", "partner_network", "commission", "vat_on_commission")
AMOUNTS = (100, -88, -10, -2)


@dataclass(frozen=True)
class Cards:
    """Cards of a network, and the partner where they are used."""

    codes: Sequence[str]
    partner_id: int
    user_id: int

    def bodies(self) -> Sequence[bytes]:
        """A usage of each card."""
        sent = ({"code": code, "value": USED, "partnerId": self.partner_id} for code in self.codes)
        return [orjson.dumps({"query": QUERY, "variables": {"input": each}}) for each in sent]


async def lay(installation: Installation, number: int, prefix: str) -> Cards:
    """Issue so many cards of the network of the first partner, which takes part in them; a tenth is commission."""
    db = installation.app.state.container.services.db
    async with db.sessions() as session, session.begin():
        users = select(UserRow).where(col(UserRow.username) == PARTNER_USERS[0])
        user = (await session.exec(users)).one()
        partner = await session.get_one(PartnerRow, user.partner_id)
        network = await session.get_one(MarketplaceRow, partner.marketplace_id)
        partner.linked_to_ngc_settings = True
        network.network_gift_card_commission_rate, network.network_gift_card_vat_rate = Decimal(10), Decimal(20)
        codes = [f"{prefix}-{each:06}" for each in range(number)]
        await _issue(session, network, codes)
    await installation.means.pool.execute("VACUUM (ANALYZE) gift_card, ledger_account, ledger_entry, ledger_journal")
    return Cards(codes, partner.id, user.id)


async def _issue(db: AsyncSession, network: MarketplaceRow, codes: Sequence[str]) -> None:
    """Issue cards, all at once."""
    cards = [
        GiftCardRow(
            network_id=network.id,
            code=code,
            normal_code=normalize(code),
            status=GiftCardStatus.PAID,
            created_on=now(),
            expires_on=now() + dt.timedelta(days=365),
            value_amount=VALUE,
            remaining_amount=VALUE,
            currency=network.currency,
            gifter_email="ada@example.com",
        )
        for code in codes
    ]
    await open_accounts_in(db, await book_of_marketplace(db, network.id, is_live=True), cards)
    db.add_all(cards)
    await db.flush()
    liabilities = [network_gift_cards.liability_of(card) for card in cards]
    value = liabilities[0].minor(VALUE)
    await post(
        db, [each.journal(Kind.ISSUE, (debit(OWED, value), credit(each.account, value))) for each in liabilities]
    )


@dataclass(frozen=True)
class Usages(Floor):
    """The statements of a usage, each for itself, in a transaction."""

    user_id: int = 0
    network_id: int = 0

    name: ClassVar[str] = "Starlette + asyncpg, the same statements"

    async def bring(self, means: Means, request: Request) -> bytes:
        """Use the card that is named."""
        sent = orjson.loads(await request.body())["variables"]["input"]
        async with means.pool.acquire() as connection, connection.transaction():
            await self._use(connection, sent["code"], Decimal(sent["value"]), sent["partnerId"])
        return self.answer

    async def _use(self, connection: asyncpg.Connection, code: str, value: Decimal, partner_id: int) -> None:
        card = await connection.fetchrow(CARD, normalize(code), self.network_id)
        network = await connection.fetchrow(NETWORK, card["network_id"])
        partner = await connection.fetchrow(PARTNER, network["id"], partner_id)
        await connection.fetchrow(RULE, network["id"], partner["id"], "network_gift_card")
        moment = now()
        await connection.execute(TAKE, card["id"], value)
        usage_id = await connection.fetchval(USAGE, moment, value, card["id"], card["currency"], partner_id)
        await self._post(connection, card, partner_id, usage_id, moment)
        shown = orjson.dumps({"id": card["id"], "usage": {"id": usage_id, "partner_id": partner_id}}).decode()
        event = f"evt_{uuid4().hex}", str(card["id"]), shown, partner_id, network["id"], moment
        event_id = await connection.fetchval(EVENT, *event)
        await connection.execute(JOB, orjson.dumps({"id": event_id}))
        audited = moment, partner_id, network["id"], str(usage_id), shown, f"[{shown}]", self.user_id
        await connection.execute(AUDIT, *audited)

    async def _post(
        self, connection: asyncpg.Connection, card: Any, partner_id: int, usage_id: int, moment: dt.datetime
    ) -> None:
        lines, source = len(ACCOUNTS), str(usage_id)
        header = ["capture"], ["network_gift_card_usage"], [source], [lines], [moment], [None]
        fingerprint = [hashlib.sha256(source.encode()).digest()]
        journal_id = await connection.fetchval(
            posting.INSERT_JOURNALS, "", [card["book_id"]], [partner_id], *header, fingerprint
        )
        owners = card["id"], partner_id, None, None
        found = await connection.fetch(
            posting.FIND_ACCOUNTS, [card["book_id"]] * lines, ACCOUNTS, owners, [None] * lines
        )
        ids = {row["n"] - 1: row["id"] for row in found}
        numbers, nothing = [*range(1, lines + 1)], [0] * lines
        accounts, floors = [ids[n] for n in range(lines)], [True, True, False, False]
        payable = [journal_id], [partner_id], [0], [-AMOUNTS[ACCOUNTS.index("partner_network")]], [moment]
        await connection.execute(
            posting.WRITE_ENTRIES, [journal_id] * lines, numbers, accounts, AMOUNTS, floors, nothing, nothing, *payable
        )


async def floor(installation: Installation, cards: Cards, answer: bytes) -> Usages:
    """What a usage of one of these cards costs at least."""
    query = "SELECT marketplace_id FROM partner WHERE id = $1"
    network_id = await installation.means.pool.fetchval(query, cards.partner_id)
    return Usages(answer, user_id=cards.user_id, network_id=network_id)

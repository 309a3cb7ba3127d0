"""What gift cards hold and have spent survives the migration, both ways."""

import pathlib
from decimal import Decimal
from typing import Any
from uuid import uuid4

import pytest

from resolvers.gift_card.holds import capture_gift_card, hold_gift_card
from schema.core.text import Text
from schema.delivery.delivery import DeliveryKind
from store.checkout.reservations import consume_reservations, reserve
from store.core.clock import clock
from store.gift_card.gift_cards import GiftCardRow
from store.migrations import progress
from store.order.orders import OrderRow
from store.payment.attempts import AttemptState
from tests.changes import Direct
from tests.fixtures.gift_card import gift_card
from tests.fixtures.ledger import broken_rules
from tests.fixtures.payment.payment import paid_by, stored_attempt
from tests.fixtures.tenants import Tenants, open_tenants
from tests.store.migrations.revisions import at

NAMES = ("products", "discount", "delivery", "total", "gift_card", "card")
ENTRIES = "SELECT kind, amount::text FROM gift_card_entry WHERE gift_card_id = :id ORDER BY id"
MOVEMENTS = ENTRIES.replace("gift_card_entry", "gift_card_movement")
JOURNALS = """
    SELECT id, kind, source_kind, source_id, lines, effective_on, recorded_on, fingerprint FROM ledger_journal ORDER BY id
"""
BALANCES = "SELECT role, owner_id, balance, version FROM ledger_account WHERE version > 0 ORDER BY role, owner_id"


async def _order(tenants: Tenants, card: GiftCardRow, paid: str) -> None:
    """An order of the shop that a card has paid."""
    amounts: dict[str, Any] = {
        f"{n}_amount": Decimal(paid if n in {"products", "total", "gift_card"} else 0) for n in NAMES
    }
    of: dict[str, Any] = {"partner_id": card.partner_id, "cart_id": uuid4(), **amounts}
    attempt = stored_attempt(**{**of, **paid_by(card, paid)}, state=AttemptState.COMPLETED)
    async with tenants.services.db.sessions() as db, db.begin():
        db.add(attempt)
        await db.flush()
        await reserve(db, attempt, clock.now())
        await consume_reservations(db, attempt)
        mail: dict[str, Any] = {"buyer_email": "x@example.com", "delivery_name": Text(en="By e-mail")}
        db.add(OrderRow(**of, **mail, number=2, attempt_id=attempt.id, delivery_kind=DeliveryKind.DIGITAL))


async def test_a_large_ledger_is_made_range_by_range(
    database_url: str, tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Cards of one range after the other; what is made does not depend on where ranges end, and proves itself."""
    async with open_tenants(database_url, tmp_path) as tenants:
        ask, cards = Direct(tenants), [await gift_card(tenants, partner) for partner in ("a1", "b1", "a2") * 3]
        for card in cards[::3]:
            hold = (await ask.change("a1", hold_gift_card, id=card.id, amount="30.00")).result
            assert (await ask.change("a1", capture_gift_card, hold_id=hold.id, amount="10.00")).done
        journals, balances = await tenants.rows(JOURNALS), await tenants.rows(BALANCES)
        steps: list[tuple[str, int, int]] = []
        for size in (1, 2, 5, 1000):
            monkeypatch.setattr(progress, "RANGE", size)
            steps.clear()
            await at(tenants.services.db, "0021", down=True)
            with progress.progress_listener(lambda *step: steps.append(step)):
                await at(tenants.services.db, "head")
            assert await tenants.rows(JOURNALS) == journals
            assert await tenants.rows(BALANCES) == balances
            assert await broken_rules(tenants.services.db) == {}
            of_cards = [step for step in steps if step[0] == "gift_card"]
            assert bool(of_cards) is (size < len(cards))
            assert all(0 < done <= total for _, done, total in steps)


async def test_the_ledger_survives_both_ways(database_url: str, tmp_path: pathlib.Path) -> None:
    async with open_tenants(database_url, tmp_path) as tenants:
        ask, shop, api = Direct(tenants), await gift_card(tenants), await gift_card(tenants)
        await _order(tenants, shop, "20.00")
        hold = (await ask.change("a1", hold_gift_card, id=api.id, amount="30.00")).result
        assert (await ask.change("a1", capture_gift_card, hold_id=hold.id, amount="10.00")).done
        assert (await ask.change("a1", hold_gift_card, id=api.id, amount="5.00")).done
        before = await tenants.rows(MOVEMENTS, id=shop.id)
        journals, balances = await tenants.rows(JOURNALS), await tenants.rows(BALANCES)
        await at(tenants.services.db, "0021", down=True)
        await at(tenants.services.db, "head")
        assert await tenants.rows(JOURNALS) == journals
        assert await tenants.rows(BALANCES) == balances
        await at(tenants.services.db, "0012", down=True)
        assert [tuple(row) for row in await tenants.rows(ENTRIES, id=shop.id)] == [
            ("issue", "50.00"),
            ("hold", "-20.00"),
        ]
        assert [tuple(row) for row in await tenants.rows(ENTRIES, id=api.id)] == [
            ("issue", "50.00"),
            ("hold", "-10.00"),
        ]
        left = "SELECT remaining_amount::text FROM gift_card WHERE id = ANY(:ids) ORDER BY id"
        assert [row[0] for row in await tenants.rows(left, ids=[shop.id, api.id])] == ["30.00", "40.00"]
        await at(tenants.services.db, "head")
        assert await tenants.rows(MOVEMENTS, id=shop.id) == before
        wrong = """SELECT id FROM gift_card c WHERE id = ANY(:ids) AND remaining_amount <>
            (SELECT sum(amount) FROM gift_card_movement e WHERE e.gift_card_id = c.id)"""
        assert await tenants.rows(wrong, ids=[shop.id, api.id]) == []

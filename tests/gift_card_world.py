"""Gift cards of partners in tests, and whether their money adds up."""

import datetime as dt
from collections.abc import Sequence
from decimal import Decimal
from typing import Any

from schema.gift_card import GiftCardMovementKind, GiftCardStatus
from store.clock import clock
from store.codes import draw, normal
from store.gift_cards import GiftCardEntryRow, GiftCardRow
from tests.tenants import Tenants


async def gift_card(tenants: Tenants, partner: str = "a1", value: str = "50.00", **more: Any) -> GiftCardRow:
    """A gift card with its first movement: paid, valid for another year unless told."""
    code, owner = draw(), tenants.partners[partner]
    values: dict[str, Any] = {
        "partner_id": owner.id,
        "code": code,
        "normal_code": normal(code),
        "status": GiftCardStatus.PAID,
        "value_amount": Decimal(value),
        "remaining_amount": Decimal(value),
        "currency": tenants.marketplaces["b" if partner.startswith("b") else "a"].currency,
        "expires_on": clock.now() + dt.timedelta(days=365),
        **more,
    }
    card: GiftCardRow = await tenants.add(GiftCardRow(**values))
    await tenants.add(
        GiftCardEntryRow(
            partner_id=owner.id,
            gift_card_id=card.id,
            kind=GiftCardMovementKind.ISSUE,
            amount=card.value_amount,
            currency=card.currency,
        )
    )
    return card


WRONG = """
    SELECT c.id, c.value_amount, c.remaining_amount, m.moved, m.on_hold, coalesce(h.held, 0)
    FROM gift_card c
    JOIN (SELECT gift_card_id, sum(amount) AS moved,
            -coalesce(sum(amount) FILTER (WHERE kind IN ('hold', 'release') AND attempt_id IS NULL), 0) AS on_hold
        FROM gift_card_entry GROUP BY 1) m ON m.gift_card_id = c.id
    LEFT JOIN (SELECT gift_card_id, sum(held_amount) AS held
        FROM gift_card_hold WHERE state = 'running' GROUP BY 1) h ON h.gift_card_id = c.id
    WHERE c.remaining_amount <> m.moved OR c.remaining_amount NOT BETWEEN 0 AND c.value_amount
        OR m.on_hold <> coalesce(h.held, 0)
"""
"""Cards whose money does not add up: what is left is the sum of movements, holds and releases sum to what is held."""


async def adds_up(tenants: Any) -> None:
    """Prove it of every card that has movements."""
    assert await tenants.rows(WRONG) == []


async def told(tenants: Tenants, card: int) -> Sequence[tuple[str, dict[str, Any]]]:
    """The types and data of the events of a card, in the order of their writing."""
    rows = await tenants.rows(
        "SELECT type, data FROM event WHERE type LIKE 'gift_card.%' AND subject = :id ORDER BY id", id=str(card)
    )
    return [(row[0], row[1]) for row in rows]

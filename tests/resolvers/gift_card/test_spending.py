"""Spending a gift card at once, and taking that back: amounts, refusals, a day, races."""

import asyncio
import datetime as dt
from decimal import Decimal

import pytest

from resolvers.gift_card.holds import hold_gift_card, release_gift_card
from resolvers.gift_card.issuing import cancel_gift_card
from resolvers.gift_card.spending import reverse_gift_card_capture, spend_gift_card
from schema.core.permission import Permission
from store.core.clock import clock
from store.gift_card.gift_cards import GiftCardRow
from tests.changes import Direct, Transport
from tests.fixtures.gift_card import adds_up, card_events, gift_card
from tests.fixtures.tenants import Tenants
from tests.fixtures.voucher import holder


async def status_and_balance(tenants: Tenants, card: GiftCardRow) -> tuple[str, str]:
    """The status of a card, and what is left on it."""
    row = await tenants.rows("SELECT status, remaining_amount::text FROM gift_card WHERE id = :id", id=card.id)
    return row[0][0], row[0][1]


async def spent(tenants: Tenants, card: GiftCardRow, amount: str = "20.00") -> int:
    """Spend something; answers the id of the hold."""
    outcome = await Direct(tenants).change("a1", spend_gift_card, id=card.id, amount=amount)
    assert outcome.done, outcome.wrong
    id: int = outcome.result.id
    return id


async def test_what_is_spent_is_put_back_once(tenants: Tenants, ask: Transport) -> None:
    card = await gift_card(tenants)
    done = await ask.change("a1", spend_gift_card, code=card.code.lower(), amount="50.00", reference="Table 7")
    id = done.result["id"] if isinstance(done.result, dict) else done.result.id
    assert await status_and_balance(tenants, card) == ("used", "0.00")
    for _ in range(2):
        assert (await ask.change("a1", reverse_gift_card_capture, hold_id=id)).done
        assert await status_and_balance(tenants, card) == ("using", "50.00")
        await adds_up(tenants)
    assert (await ask.change("a1", release_gift_card, hold_id=id)).wrong == {("", "HOLD_OVER")}
    moved = await tenants.rows(
        "SELECT kind, amount FROM gift_card_movement WHERE gift_card_id = :id ORDER BY id", id=card.id
    )
    assert [(kind, amount) for kind, amount in moved][-2:] == [("capture", Decimal(-50)), ("reversal", Decimal(50))]
    events = [kind.removeprefix("gift_card.") for kind, _ in await card_events(tenants, card.id)]
    assert events == ["held", "captured", "reversed"]


async def test_who_may_not_and_what_cannot(tenants: Tenants, ask: Transport) -> None:
    card = await gift_card(tenants)
    without = await holder(tenants, "a1", Permission.VIEW_GIFT_CARD, Permission.USE_VOUCHER)
    for who, wrong in ((without, ("", "FORBIDDEN")), ("a2", ("", "NOT_FOUND"))):
        assert (await ask.change(who, spend_gift_card, id=card.id, amount="1.00")).wrong == {wrong}
    for amount, code in (
        ("0.00", "OUT_OF_RANGE"),
        ("-1.00", "OUT_OF_RANGE"),
        ("1.001", "INVALID"),
        ("50.01", "INSUFFICIENT_BALANCE"),
    ):
        assert (await ask.change("a1", spend_gift_card, id=card.id, amount=amount)).wrong == {("amount", code)}
    assert await status_and_balance(tenants, card) == ("paid", "50.00")
    id = await spent(tenants, card)
    for who, wrong in ((without, ("", "FORBIDDEN")), ("a2", ("", "NOT_FOUND"))):
        assert (await ask.change(who, reverse_gift_card_capture, hold_id=id)).wrong == {wrong}
    held = (await Direct(tenants).change("a1", hold_gift_card, id=card.id, amount="5.00")).result.id
    over = {("", "HOLD_OVER")}
    assert (await ask.change("a1", reverse_gift_card_capture, hold_id=held)).wrong == over
    assert (await ask.change("a1", release_gift_card, hold_id=held)).done
    assert (await ask.change("a1", reverse_gift_card_capture, hold_id=held)).wrong == over
    assert await status_and_balance(tenants, card) == ("using", "30.00")
    assert (await ask.change("a1", cancel_gift_card, id=card.id)).done
    assert (await ask.change("a1", reverse_gift_card_capture, hold_id=id)).wrong == {("", "GIFT_CARD_NOT_SPENDABLE")}
    assert (await ask.change("a1", spend_gift_card, id=card.id, amount="1.00")).wrong == {
        ("", "GIFT_CARD_NOT_SPENDABLE")
    }
    assert await status_and_balance(tenants, card) == ("cncld", "30.00")
    await adds_up(tenants)


@pytest.mark.parametrize(("hours", "back"), [(23, True), (24, False)])
async def test_it_is_put_back_within_a_day(tenants: Tenants, hours: int, back: bool) -> None:
    card = await gift_card(tenants)
    id = await spent(tenants, card)
    clock.advance(dt.timedelta(hours=hours))
    outcome = await Direct(tenants).change("a1", reverse_gift_card_capture, hold_id=id)
    assert outcome.done is back
    assert outcome.wrong == (set() if back else {("", "HOLD_OVER")})
    assert await status_and_balance(tenants, card) == ("using", "50.00" if back else "30.00")


async def test_all_at_once(tenants: Tenants) -> None:
    """Five spend what is there for two; five put the same back: never twice, never more than it was issued with."""
    card = await gift_card(tenants)
    ask = Direct(tenants)
    outcomes = await asyncio.gather(*(ask.change("a1", spend_gift_card, id=card.id, amount="20.00") for _ in range(5)))
    done = [outcome.result.id for outcome in outcomes if outcome.done]
    assert (len(done), await status_and_balance(tenants, card)) == (2, ("using", "10.00"))
    await asyncio.gather(*(ask.change("a1", reverse_gift_card_capture, hold_id=id) for id in done * 5))
    assert await status_and_balance(tenants, card) == ("using", "50.00")
    await adds_up(tenants)

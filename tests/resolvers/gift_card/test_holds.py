"""Holding, capturing and releasing what is on gift cards: amounts, refusals, races with each other and with the shop."""

import asyncio
import datetime as dt
import random
from collections.abc import Sequence
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from resolvers.gift_card.holds import capture_gift_card, hold_gift_card, release_gift_card
from resolvers.gift_card.issuing import cancel_gift_card, extend_gift_card
from resolvers.gift_card.spending import spend_gift_card
from resolvers.job.expiry import expire_gift_card_holds, expire_gift_cards
from resolvers.job.registry import SCHEDULES
from schema.core.errors import CheckoutChanged
from schema.core.permission import Permission
from schema.gift_card.gift_card import GiftCardStatus as S
from store.checkout.reservations import consume_reservations, release_reservations, reserve
from store.core.clock import clock
from store.gift_card.gift_cards import GiftCardRow
from store.payment.attempts import AttemptRow
from tests.changes import Direct, Transport
from tests.fixtures.gift_card import adds_up, card_events, gift_card
from tests.fixtures.payment.payment import paid_by, stored_attempt
from tests.fixtures.tenants import Tenants
from tests.fixtures.voucher import holder

MINUTE = dt.timedelta(minutes=1)


async def held(tenants: Tenants, card: GiftCardRow, amount: str = "20.00", **more: Any) -> int:
    """A hold; answers its id."""
    outcome = await Direct(tenants).change("a1", hold_gift_card, id=card.id, amount=amount, **more)
    assert outcome.done, outcome.wrong
    id: int = outcome.result.id
    return id


async def status_and_balance(tenants: Tenants, card: GiftCardRow) -> tuple[str, str]:
    """The status of a card, and what is left on it."""
    row = await tenants.rows("SELECT status, remaining_amount::text FROM gift_card WHERE id = :id", id=card.id)
    return row[0][0], row[0][1]


async def movements(tenants: Tenants, card: GiftCardRow) -> Sequence[tuple[str, str]]:
    """The movements of a card."""
    rows = await tenants.rows(
        "SELECT kind, amount::text FROM gift_card_movement WHERE gift_card_id = :id ORDER BY id", id=card.id
    )
    return [(row[0], row[1]) for row in rows]


async def test_what_is_held_is_spent_in_part_and_the_rest_is_back(tenants: Tenants, ask: Transport) -> None:
    card = await gift_card(tenants)
    written = card.code.lower().replace("-", " ")
    done = await ask.change("a1", hold_gift_card, code=written, amount="30.00", reference="till 2")
    id = done.result["id"] if isinstance(done.result, dict) else done.result.id
    assert await status_and_balance(tenants, card) == ("paid", "20.00")
    hold = await tenants.row("gift_card_hold", id)
    minutes = dt.datetime.fromisoformat(hold["expires_on"]) - dt.datetime.fromisoformat(hold["created_on"])
    assert (minutes, hold["reference"], hold["state"]) == (15 * MINUTE, "till 2", "running")
    for _ in range(2):
        assert (await ask.change("a1", capture_gift_card, hold_id=id, amount="12.50")).done
        assert await status_and_balance(tenants, card) == ("using", "37.50")
    assert await movements(tenants, card) == [
        ("issue", "50.00"),
        ("hold", "-30.00"),
        ("release", "30.00"),
        ("capture", "-12.50"),
    ]
    for operation, more in ((capture_gift_card, {"amount": "12.51"}), (release_gift_card, {})):
        assert (await ask.change("a1", operation, hold_id=id, **more)).wrong == {("", "HOLD_OVER")}
    all_of_it = await ask.change("a1", capture_gift_card, hold_id=id)
    assert all_of_it.wrong == {("", "HOLD_OVER")}, "only a part was spent"
    rest = await held(tenants, card, "37.50")
    for more in ({}, {}, {"amount": "37.50"}):
        assert (await ask.change("a1", capture_gift_card, hold_id=rest, **more)).done
    assert await status_and_balance(tenants, card) == ("used", "0.00")
    assert (await ask.change("a1", hold_gift_card, id=card.id, amount="1.00")).wrong == {
        ("", "GIFT_CARD_NOT_SPENDABLE")
    }
    events = await card_events(tenants, card.id)
    assert [kind.removeprefix("gift_card.") for kind, _ in events] == ["held", "captured"] * 2
    assert events[1][1]["hold"]["captured"] == {"amount": "12.50", "currency": "EUR"}
    assert card.code not in str(events)
    assert card.normal_code not in str(events)
    audited = str(await tenants.rows("SELECT to_jsonb(a)::text FROM audit_entry a"))
    assert card.code not in audited
    assert card.normal_code not in audited
    assert written not in audited
    await adds_up(tenants)


async def test_a_release_puts_back_once(tenants: Tenants, ask: Transport) -> None:
    card = await gift_card(tenants)
    id = await held(tenants, card, "50.00")
    assert await status_and_balance(tenants, card) == ("paid", "0.00")
    for _ in range(2):
        assert (await ask.change("a1", release_gift_card, hold_id=id)).done
        assert await status_and_balance(tenants, card) == ("paid", "50.00")
    assert (await ask.change("a1", capture_gift_card, hold_id=id)).wrong == {("", "HOLD_OVER")}
    await adds_up(tenants)


WRONG: Sequence[tuple[dict[str, Any], tuple[str, str]]] = [
    ({"amount": "50.01"}, ("amount", "INSUFFICIENT_BALANCE")),
    ({"amount": "0.00"}, ("amount", "OUT_OF_RANGE")),
    ({"amount": "-1.00"}, ("amount", "OUT_OF_RANGE")),
    ({"amount": "1.001"}, ("amount", "INVALID")),
    ({"amount": "1.00", "minutes": 0}, ("minutes", "OUT_OF_RANGE")),
    ({"amount": "1.00", "minutes": 10_081}, ("minutes", "OUT_OF_RANGE")),
    ({"amount": "1.00", "reference": "x" * 81}, ("reference", "TOO_LONG")),
    ({"amount": "1.00", "code": "AAAA"}, ("code", "INVALID")),
]


async def test_refusals_change_nothing(tenants: Tenants, ask: Transport) -> None:
    card = await gift_card(tenants)
    id = await held(tenants, await gift_card(tenants, value="20.00"))
    others = [await gift_card(tenants, status=status) for status in (S.DRAFT, S.USED, S.EXPIRED, S.CANCELLED)]
    others.append(await gift_card(tenants, expires_on=clock.now()))
    reader = await holder(tenants, "a1", Permission.VIEW_GIFT_CARD)
    before = await tenants.snapshot()
    for sent, (field, code) in WRONG:
        outcome = await ask.change("a1", hold_gift_card, **{"id": card.id, **sent})
        assert outcome.wrong == {(field, code)}, sent
    assert (await ask.change("a1", hold_gift_card, amount="1.00")).wrong == {("code", "INVALID")}
    for other in others:
        outcome = await ask.change("a1", hold_gift_card, id=other.id, amount="1.00")
        assert outcome.wrong == {("", "GIFT_CARD_NOT_SPENDABLE")}
    for amount in ("0.00", "20.01"):
        assert (await ask.change("a1", capture_gift_card, hold_id=id, amount=amount)).wrong == {
            ("amount", "OUT_OF_RANGE")
        }
    for who in ("a2", "b1"):
        for named in ({"id": card.id}, {"code": card.code}, {"code": "NO-SUCH"}, {"id": 999_999}):
            assert (await ask.change(who, hold_gift_card, amount="1.00", **named)).wrong == {("", "NOT_FOUND")}
        for operation in (capture_gift_card, release_gift_card):
            assert (await ask.change(who, operation, hold_id=id)).wrong == {("", "NOT_FOUND")}
    assert (await ask.change(reader, hold_gift_card, id=card.id, amount="1.00")).wrong == {("", "FORBIDDEN")}
    for operation in (capture_gift_card, release_gift_card):
        assert (await ask.change(reader, operation, hold_id=id)).wrong == {("", "FORBIDDEN")}
    assert await tenants.snapshot() == before


async def test_a_test_card_pays_nothing_once_its_partner_is_live(tenants: Tenants, ask: Transport) -> None:
    """Nor a live card while its partner is a test partner. What is held of it can be released."""
    await tenants.execute("UPDATE partner SET status = 't' WHERE id = :id", id=tenants.partners["a1"].id)
    card = await gift_card(tenants)
    holds = [await held(tenants, card, amount) for amount in ("20.00", "5.00")]
    await tenants.execute("UPDATE partner SET status = 'a' WHERE id = :id", id=tenants.partners["a1"].id)
    before, refused = await tenants.snapshot(), {("", "GIFT_CARD_NOT_SPENDABLE")}
    for operation in (hold_gift_card, spend_gift_card):
        for named in ({"id": card.id}, {"code": card.code}):
            assert (await ask.change("a1", operation, amount="1.00", **named)).wrong == refused
    for amount in ({}, {"amount": "20.00"}):
        assert (await ask.change("a1", capture_gift_card, hold_id=holds[0], **amount)).wrong == refused
    assert await tenants.snapshot() == before
    assert (await ask.change("a1", release_gift_card, hold_id=holds[0])).done
    await tenants.execute("UPDATE partner SET status = 't' WHERE id = :id", id=tenants.partners["a1"].id)
    assert (await ask.change("a1", capture_gift_card, hold_id=holds[1])).done
    assert await status_and_balance(tenants, card) == ("using", "45.00")
    await adds_up(tenants)


# ---- time


async def test_holds_and_cards_expire_by_themselves(tenants: Tenants) -> None:
    ends = clock.now() + 30 * MINUTE
    card = await gift_card(tenants, expires_on=ends)
    short, long = await held(tenants, card, "10.00", minutes=5), await held(tenants, card, "15.00", minutes=60)
    ask = Direct(tenants)
    assert await expire_gift_card_holds(tenants.services) == 0
    clock.advance(5 * MINUTE)
    assert (await ask.change("a1", capture_gift_card, hold_id=short)).wrong == {("", "HOLD_OVER")}
    assert sorted(await asyncio.gather(*(expire_gift_card_holds(tenants.services) for _ in range(3)))) == [0, 0, 1]
    assert await status_and_balance(tenants, card) == ("paid", "35.00")
    assert (await ask.change("a1", release_gift_card, hold_id=short)).done
    clock.advance(30 * MINUTE)
    assert await expire_gift_cards(tenants.services) >= 1
    assert await expire_gift_cards(tenants.services) == 0
    assert await status_and_balance(tenants, card) == ("exprd", "35.00")
    assert (await ask.change("a1", capture_gift_card, hold_id=long, amount="5.00")).done, "held in time"
    assert await status_and_balance(tenants, card) == ("exprd", "45.00")
    later = (clock.now() + dt.timedelta(days=30)).isoformat()
    assert (await ask.change("a1", extend_gift_card, id=card.id, expires_on=later)).done
    assert await status_and_balance(tenants, card) == ("using", "45.00")
    kinds = [kind.removeprefix("gift_card.") for kind, _ in await card_events(tenants, card.id)]
    assert kinds == ["held", "held", "released", "expired", "captured", "extended"]
    assert (SCHEDULES["expire_gift_card_holds"].run, SCHEDULES["expire_gift_cards"].run) == (
        expire_gift_card_holds,
        expire_gift_cards,
    )
    await adds_up(tenants)


# ---- at once


async def test_many_holds_at_once_never_take_more_than_there_is(tenants: Tenants) -> None:
    card = await gift_card(tenants)
    ask = Direct(tenants)
    outcomes = await asyncio.gather(*(ask.change("a1", hold_gift_card, id=card.id, amount="7.00") for _ in range(20)))
    assert sum(outcome.done for outcome in outcomes) == 7
    assert {code for outcome in outcomes for _, code in outcome.wrong} == {"INSUFFICIENT_BALANCE"}
    assert await status_and_balance(tenants, card) == ("paid", "1.00")
    await adds_up(tenants)


async def test_a_hold_ends_once_however_many_end_it(tenants: Tenants) -> None:
    ask, pick = Direct(tenants), random.Random(7)
    for _ in range(6):
        card = await gift_card(tenants)
        id = await held(tenants, card, "20.00", minutes=1)
        clock.advance(MINUTE - dt.timedelta(microseconds=pick.choice([0, 10_000_000])))
        ends = [
            *(ask.change("a1", capture_gift_card, hold_id=id, amount="20.00") for _ in range(3)),
            *(ask.change("a1", release_gift_card, hold_id=id) for _ in range(2)),
            expire_gift_card_holds(tenants.services),
        ]
        pick.shuffle(ends)
        await asyncio.gather(*ends)
        state = (await tenants.row("gift_card_hold", id))["state"]
        moved = [kind for kind, _ in await movements(tenants, card)]
        assert moved == ["issue", "hold", "release", *(["capture"] if state == "captured" else [])]
        assert await status_and_balance(tenants, card) == (
            ("using", "30.00") if state == "captured" else ("paid", "50.00")
        )
    await adds_up(tenants)


def _attempt(card: GiftCardRow, amount: str) -> AttemptRow:
    return stored_attempt(card.issuing_partner_id, **paid_by(card, amount))


async def _pay_in_shop(tenants: Tenants, card: GiftCardRow, amount: str, *, completes: bool) -> bool:
    """Pay as the shop does, in two transactions; answers whether the money was there."""
    attempt = _attempt(card, amount)
    try:
        async with tenants.services.db.sessions() as db, db.begin():
            db.add(attempt)
            await db.flush()
            await reserve(db, attempt, clock.now())
        async with tenants.services.db.sessions() as db, db.begin():
            again = await db.get_one(AttemptRow, attempt.id)
            await (consume_reservations(db, again) if completes else release_reservations(db, again))
    except CheckoutChanged:
        return False
    return True


async def test_the_shop_and_the_api_share_a_card(tenants: Tenants) -> None:
    card, ask = await gift_card(tenants, value="100.00"), Direct(tenants)

    async def pay_at_till(amount: str) -> bool:
        outcome = await ask.change("a1", hold_gift_card, id=card.id, amount=amount)
        return outcome.done and (await ask.change("a1", capture_gift_card, hold_id=outcome.result.id)).done

    done = await asyncio.gather(
        *(pay_at_till("9.00") for _ in range(8)),
        *(_pay_in_shop(tenants, card, "9.00", completes=True) for _ in range(8)),
        *(_pay_in_shop(tenants, card, "1.00", completes=False) for _ in range(4)),
    )
    paid = sum(done[:16])
    status, remaining = await status_and_balance(tenants, card)
    assert Decimal(remaining) == 100 - 9 * paid
    assert 10 <= paid <= 11
    assert status == "using"
    assert -sum(Decimal(amount) for kind, amount in await movements(tenants, card) if kind == "capture") == 9 * paid
    await adds_up(tenants)


async def test_cancelling_stops_what_is_under_way(tenants: Tenants) -> None:
    card, ask = await gift_card(tenants), Direct(tenants)
    id, attempt = await held(tenants, card, "20.00"), _attempt(card, "10.00")
    async with tenants.services.db.sessions() as db, db.begin():
        db.add(attempt)
        await db.flush()
        await reserve(db, attempt, clock.now())
    for _ in range(2):
        assert (await ask.change("a1", cancel_gift_card, id=card.id)).done
        assert await status_and_balance(tenants, card) == ("cncld", "40.00")
    assert (await ask.change("a1", capture_gift_card, hold_id=id)).wrong == {("", "HOLD_OVER")}
    async with tenants.services.db.sessions() as db, db.begin():
        again = await db.get_one(AttemptRow, attempt.id)
        with pytest.raises(CheckoutChanged):
            await consume_reservations(db, again)
        await release_reservations(db, again)
    assert await status_and_balance(tenants, card) == ("cncld", "50.00")
    kinds = [kind.removeprefix("gift_card.") for kind, _ in await card_events(tenants, card.id)]
    assert kinds == ["held", "released", "cancelled"]
    await adds_up(tenants)


# ---- whatever is done

AMOUNTS = st.sampled_from(["0.01", "5.00", "12.34", "50.00", "60.00"])
STEPS = st.lists(
    st.tuples(
        st.sampled_from(["hold", "capture", "release", "cancel", "extend", "shop", "leave", "wait", "expire"]),
        AMOUNTS,
        st.integers(0, 3),
    ),
    max_size=14,
)


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(steps=STEPS)
async def test_whatever_is_done_the_money_adds_up(tenants: Tenants, steps: list[tuple[str, str, int]]) -> None:
    card, ask = await gift_card(tenants, expires_on=clock.now() + dt.timedelta(hours=3)), Direct(tenants)
    holds: list[int] = []
    for step, amount, number in steps:
        await _step(tenants, ask, card, holds, step, amount, number)
        await adds_up(tenants)
    status, remaining = await status_and_balance(tenants, card)
    spent = [kind for kind, _ in await movements(tenants, card) if kind == "capture"]
    assert status != "paid" or not spent
    assert status != "using" or spent
    assert status != "used" or remaining == "0.00"


async def _step(
    tenants: Tenants, ask: Direct, card: GiftCardRow, holds: list[int], step: str, amount: str, number: int
) -> None:
    hold = holds[number % len(holds)] if holds else 0
    match step:
        case "hold":
            outcome = await ask.change("a1", hold_gift_card, id=card.id, amount=amount, minutes=60)
            holds += [outcome.result.id] if outcome.done else []
        case "capture":
            await ask.change("a1", capture_gift_card, hold_id=hold, amount=amount)
        case "release":
            await ask.change("a1", release_gift_card, hold_id=hold)
        case "cancel" if number == 0:
            await ask.change("a1", cancel_gift_card, id=card.id)
        case "extend":
            later = (clock.now() + dt.timedelta(hours=2)).isoformat()
            await ask.change("a1", extend_gift_card, id=card.id, expires_on=later)
        case "shop" | "leave":
            await _pay_in_shop(tenants, card, amount, completes=step == "shop")
        case "wait":
            clock.advance(dt.timedelta(minutes=40 * (number + 1)))
        case "expire":
            await expire_gift_card_holds(tenants.services)
            await expire_gift_cards(tenants.services)

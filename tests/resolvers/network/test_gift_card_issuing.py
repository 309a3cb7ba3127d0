"""Network gift cards from their issue to their end: what is created, and what the network owes for it."""

import datetime as dt
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from resolvers.job.expiry import expire_gift_cards
from resolvers.network.gift_card_issuing import (
    activate_network_gift_card,
    cancel_network_gift_card,
    create_network_gift_card,
    extend_network_gift_card,
    update_network_gift_card,
)
from resolvers.network.gift_card_usages import cancel_network_gift_card_usage, use_network_gift_card
from schema.gift_card.gift_card import GiftCardStatus
from schema.ledger import LedgerAccountRole as Role
from schema.ledger import LedgerJournalKind as Kind
from store.core.clock import clock
from store.core.codes import generate_code
from store.ledger.accounts import LedgerAccount
from store.ledger.posting import Journal, credit, debit, post
from tests.changes import Direct, Transport
from tests.fixtures.network import (
    balances,
    card_balance,
    is_proved,
    link,
    network_card,
    set_terms,
    status_and_rest,
    usages_of,
)
from tests.fixtures.tenants import Tenants

ADA = {"first_name": "Ada", "last_name": "Martin", "email": "ada@example.com"}
PARIS = ZoneInfo("Europe/Paris")


def new_card(**changes: Any) -> dict[str, Any]:
    """What is sent to create a card."""
    now = clock.now()
    return {
        "status": "PAID",
        "value": "100.00",
        "gifter_details": ADA,
        "message": "Happy birthday",
        "starts_on": now.isoformat(),
        "expires_on": (now + dt.timedelta(days=30)).isoformat(),
        **changes,
    }


async def created(ask: Transport, who: str = "market a", **changes: Any) -> Any:
    """Create a card; statuses are those of GraphQL."""
    values = new_card(**changes)
    if isinstance(ask, Direct):
        named = {
            "DRAFT": "draft",
            "PAID": "paid",
            "USING": "using",
            "CANCELLED": "cncld",
            "TEST": "test",
            "USED": "used",
        }
        values["status"] = named[values["status"]]
    return await ask.change(who, create_network_gift_card, **values)


async def newest(tenants: Tenants) -> dict[str, Any]:
    """The gift card that was created last."""
    return await tenants.newest("gift_card")


async def test_what_is_owed_for_each_status(tenants: Tenants, ask: Transport) -> None:
    for status, shown, owed in (
        ("PAID", "paid", 10000),
        ("USING", "using", 10000),
        ("DRAFT", "draft", 0),
        ("CANCELLED", "cncld", 0),
    ):
        before = (await balances(tenants)).get("owed_by_marketplace", 0)
        assert (await created(ask, status=status)).done
        card = await newest(tenants)
        assert (card["shown_status"], card["value_amount"], card["remaining_amount"]) == (shown, 100, 100)
        assert (await balances(tenants)).get("owed_by_marketplace", 0) - before == owed
    live = await balances(tenants)
    assert (await created(ask, status="TEST")).done
    assert (await newest(tenants))["shown_status"] == "test"
    assert await balances(tenants) == live
    assert (await balances(tenants, is_live=False))["owed_by_marketplace"] == 10000
    assert await is_proved(tenants)


async def test_who_may_create(tenants: Tenants, ask: Transport) -> None:
    before = await tenants.snapshot()
    assert (await created(ask, "a1")).wrong == {("", "FORBIDDEN")}
    assert (await created(ask, "master")).wrong == {("marketplace_uuid", "INVALID")}
    other = str(tenants.marketplaces["b"].uuid)
    assert (await created(ask, marketplace_uuid=other)).wrong == {("marketplace_uuid", "INVALID")}
    assert await tenants.snapshot() == before
    assert (await created(ask, "master", marketplace_uuid=other)).done
    assert (await newest(tenants))["currency"] == "CHF"


async def test_what_cannot_be_created(tenants: Tenants, ask: Transport) -> None:
    now, taken = clock.now(), await network_card(tenants)
    before = await tenants.snapshot()
    for changes, wrong in (
        ({"value": "0.00"}, ("value", "OUT_OF_RANGE")),
        ({"status": "USED"}, ("status", "INVALID")),
        ({"expires_on": now.isoformat()}, ("expires_on", "OUT_OF_RANGE")),
        ({"starts_on": (now + dt.timedelta(days=31)).isoformat()}, ("expires_on", "OUT_OF_RANGE")),
        ({"code": "A/B"}, ("code", "INVALID")),
        ({"code": taken.code}, ("code", "ALREADY_TAKEN")),
        ({"remaining_value": "100.01"}, ("remaining_value", "OUT_OF_RANGE")),
        ({"remaining_value": "50.00"}, ("remaining_value", "INVALID")),
        ({"remaining_value": "50.00", "status": "DRAFT"}, ("remaining_value", "INVALID")),
    ):
        assert (await created(ask, **changes)).wrong == {wrong}, changes
    assert await tenants.snapshot() == before


async def test_a_card_of_another_system_keeps_its_code_and_balance(tenants: Tenants, ask: Transport) -> None:
    code = generate_code().replace("-", "").lower()
    assert (await created(ask, status="USING", code=code, remaining_value="40.00")).done
    card = await newest(tenants)
    assert (card["normal_code"], card["remaining_amount"]) == (code.upper(), 40)
    assert (await balances(tenants))["owed_by_marketplace"] == 4000
    assert await is_proved(tenants)


async def test_validity_by_the_settings_of_the_network(tenants: Tenants, ask: Transport) -> None:
    await set_terms(tenants, validity_months=6, is_splittable=False)
    assert (await created(ask, expires_on=None)).done
    card = await newest(tenants)
    until = dt.datetime.fromisoformat(card["expires_on"]).astimezone(PARIS)
    assert (until.hour, until.minute, card["is_splittable"]) == (23, 59, False)
    assert 180 <= (until - clock.now()).days < 185


async def test_a_date_includes_its_day(tenants: Tenants) -> None:
    day = (clock.now() + dt.timedelta(days=20)).date()
    assert (await created(Direct(tenants), expires_on=day.isoformat())).done
    until = dt.datetime.fromisoformat((await newest(tenants))["expires_on"]).astimezone(PARIS)
    assert (until.date(), until.hour) == (day, 23)


async def test_a_draft_is_owed_once_it_is_paid(tenants: Tenants, ask: Transport) -> None:
    card = await network_card(tenants, status=GiftCardStatus.DRAFT)
    for _ in range(2):
        assert (await ask.change("market a", activate_network_gift_card, id=card.id)).done
        assert (await status_and_rest(tenants, card), await card_balance(tenants, card)) == (("paid", "100.00"), 10000)
    assert await is_proved(tenants)


async def test_what_is_no_draft_cannot_be_activated(tenants: Tenants, ask: Transport) -> None:
    """A used or expired card comes back by a cancelled usage or an extension only."""
    past = clock.now() - dt.timedelta(days=1)
    for books in (False, True):
        await set_terms(tenants, books_breakage=books)
        card = await network_card(tenants, expires_on=past)
        assert await expire_gift_cards(tenants.services) == 1
        wrong = {("", "INVALID_TRANSITION")}
        assert (await ask.change("market a", activate_network_gift_card, id=card.id)).wrong == wrong
        assert await status_and_rest(tenants, card) == ("exprd", "100.00")
    await link(tenants, "a1")
    used = await network_card(tenants)
    whole = {"code": used.code, "value": "100.00", "partner_id": tenants.partners["a1"].id}
    assert (await ask.change("a1", use_network_gift_card, **whole)).done
    assert (await ask.change("market a", activate_network_gift_card, id=used.id)).wrong == {("", "INVALID_TRANSITION")}
    late = await network_card(tenants, status=GiftCardStatus.DRAFT, expires_on=past)
    assert (await ask.change("market a", activate_network_gift_card, id=late.id)).wrong == {("", "EXPIRED")}
    assert await is_proved(tenants)


async def test_codes_are_looked_up_last(tenants: Tenants, ask: Transport) -> None:
    """An input with other problems tells nothing of a code."""
    taken = await network_card(tenants)
    assert (await created(ask, code=taken.code, value="0.00")).wrong == {("value", "OUT_OF_RANGE")}
    assert (await created(ask, code="A B")).wrong == {("code", "INVALID")}


async def test_cancelling_makes_good_what_is_missing_in_the_wallet(tenants: Tenants, ask: Transport) -> None:
    card = await network_card(tenants)
    funds, shortfall = LedgerAccount(Role.MARKETPLACE_FUNDS), LedgerAccount(Role.FUNDS_SHORTFALL)
    owed = LedgerAccount(Role.OWED_BY_MARKETPLACE)
    entries = debit(shortfall, 6000), credit(owed, 6000)
    missing = Journal(
        book_id=card.book_id, kind=Kind.REFUND, source_kind="test", source_id="shortfall", entries=entries
    )
    async with tenants.services.db.sessions() as db, db.begin():
        await post(db, [missing])
    assert (await ask.change("market a", cancel_network_gift_card, id=card.id)).done
    found = await balances(tenants)
    assert {"funds_shortfall", "owed_by_marketplace", "card"}.isdisjoint(found.keys() - {"card"})
    assert funds.role.value not in found


async def test_cancelling_ends_what_is_owed(tenants: Tenants, ask: Transport) -> None:
    await link(tenants, "a1")
    card = await network_card(tenants)
    used = {"code": card.code, "value": "30.00", "partner_id": tenants.partners["a1"].id}
    assert (await ask.change("a1", use_network_gift_card, **used)).done
    for _ in range(2):
        assert (await ask.change("market a", cancel_network_gift_card, code=card.code.lower())).done
        assert await status_and_rest(tenants, card) == ("cncld", "70.00")
        found = await balances(tenants)
        assert (found["owed_by_marketplace"], found["partner_network"], await card_balance(tenants, card)) == (
            3000,
            3000,
            0,
        )
    wrong = {("", "INVALID_TRANSITION")}
    assert (await ask.change("market a", activate_network_gift_card, id=card.id)).wrong == wrong
    assert await is_proved(tenants)


async def test_who_may_change_a_card(tenants: Tenants, ask: Transport) -> None:
    await link(tenants, "a1")
    card = await network_card(tenants)
    later = (clock.now() + dt.timedelta(days=700)).isoformat()
    before = await tenants.snapshot()
    for run, more in (
        (activate_network_gift_card, {}),
        (cancel_network_gift_card, {}),
        (update_network_gift_card, {"is_active": False}),
        (extend_network_gift_card, {"expires_on": later}),
    ):
        assert (await ask.change("a1", run, id=card.id, **more)).wrong == {("", "FORBIDDEN")}
        assert (await ask.change("market b", run, id=card.id, **more)).wrong == {("", "NOT_FOUND")}
        assert (await ask.change("market b", run, code=card.code, **more)).wrong == {("", "NOT_FOUND")}
        assert (await ask.change("market a", run, **more)).wrong == {("code", "INVALID")}
    assert await tenants.snapshot() == before


async def test_a_card_is_deactivated_and_back(tenants: Tenants, ask: Transport) -> None:
    card = await network_card(tenants)
    for active in (False, True):
        assert (await ask.change("market a", update_network_gift_card, id=card.id, is_active=active)).done
        assert (await newest(tenants))["is_active"] is active
    assert (await ask.change("market a", update_network_gift_card, id=card.id, message="")).done
    assert (await newest(tenants))["message"] is None


@pytest.mark.parametrize("books", [False, True])
async def test_usages_of_an_expired_card_are_cancelled(tenants: Tenants, ask: Transport, books: bool) -> None:
    """It stays expired; what comes back is booked like the rest, or owed like the rest, until it is extended."""
    await set_terms(tenants, books_breakage=books)
    await link(tenants, "a1")
    card = await network_card(tenants)
    for value in ("30.00", "20.00"):
        used = {"code": card.code, "value": value, "partner_id": tenants.partners["a1"].id}
        assert (await ask.change("a1", use_network_gift_card, **used)).done
    old = "UPDATE gift_card SET expires_on = now() - interval '1 minute' WHERE id = :id"
    await tenants.execute(old, id=card.id)
    assert await expire_gift_cards(tenants.services) == 1
    for usage, left in zip(await usages_of(tenants, card), (8000, 10000), strict=True):
        for _ in range(2):
            assert (await ask.change("a1", cancel_network_gift_card_usage, id=usage.id)).done
        assert await status_and_rest(tenants, card) == ("exprd", f"{left / 100:.2f}")
        found = await balances(tenants)
        assert (await card_balance(tenants, card), found.get("breakage", 0)) == ((0, left) if books else (left, 0))
        assert await is_proved(tenants)
    later = (clock.now() + dt.timedelta(days=700)).isoformat()
    assert (await ask.change("market a", extend_network_gift_card, id=card.id, expires_on=later)).done
    assert await status_and_rest(tenants, card) == ("paid", "100.00")
    assert (await card_balance(tenants, card), (await balances(tenants)).get("breakage", 0)) == (10000, 0)
    assert await is_proved(tenants)


@pytest.mark.parametrize("books", [False, True])
async def test_what_expires_stays_owed_unless_it_is_booked(tenants: Tenants, ask: Transport, books: bool) -> None:
    await set_terms(tenants, books_breakage=books)
    old = clock.now() - dt.timedelta(minutes=1)
    card = await network_card(tenants, expires_on=old)
    assert await expire_gift_cards(tenants.services) == 1
    assert await status_and_rest(tenants, card) == ("exprd", "100.00")
    found = await balances(tenants)
    assert (await card_balance(tenants, card), found.get("breakage", 0)) == ((0, 10000) if books else (10000, 0))
    assert await is_proved(tenants)
    refused = await ask.change("market a", extend_network_gift_card, id=card.id, expires_on=old.isoformat())
    assert refused.wrong == {("expires_on", "INVALID")}
    later = (clock.now() + dt.timedelta(days=700)).isoformat()
    assert (await ask.change("market a", extend_network_gift_card, id=card.id, expires_on=later)).done
    assert await status_and_rest(tenants, card) == ("paid", "100.00")
    assert (await card_balance(tenants, card), (await balances(tenants)).get("breakage", 0)) == (10000, 0)
    assert await is_proved(tenants)
    events = await tenants.rows("SELECT type FROM event WHERE subject = :id ORDER BY id", id=str(card.id))
    assert [row[0].partition(".")[2] for row in events if row[0].startswith("network_gift_card")] == [
        "issued",
        "expired",
        "extended",
    ]


async def test_cards_that_cannot_be_extended(tenants: Tenants, ask: Transport) -> None:
    later = (clock.now() + dt.timedelta(days=700)).isoformat()
    for more in ({"status": GiftCardStatus.CANCELLED}, {"expires_on": None}):
        card = await network_card(tenants, **more)
        refused = await ask.change("market a", extend_network_gift_card, id=card.id, expires_on=later)
        assert refused.wrong == {("", "NOT_EXTENDABLE")}

"""Network gift cards are used at partners, and usages are cancelled: amounts, money, refusals, dates, races."""

import asyncio
import datetime as dt
from typing import Any
from zoneinfo import ZoneInfo

from resolvers.network.gift_card_usages import cancel_network_gift_card_usage, use_network_gift_card
from schema.core.permission import Permission
from schema.gift_card.gift_card import GiftCardStatus
from store.core.clock import clock
from store.gift_card.gift_cards import GiftCardRow
from store.payout.gathering import refresh
from store.payout.requests import lock_payout
from tests.changes import Direct, Transport
from tests.fixtures.network import (
    balances,
    card_balance,
    is_proved,
    network_card,
    set_terms,
    status_and_rest,
    usages_of,
)
from tests.fixtures.payment.payout import put_into_payout, reserve
from tests.fixtures.tenants import Tenants
from tests.fixtures.voucher import holder


async def use(
    ask: Transport, card: GiftCardRow, value: str = "30.00", who: str = "market a", at: str = "a1", **more: Any
) -> Any:
    """Use an amount of a card at a partner."""
    where = {"partner_id": ask.tenants.partners[at].id}
    sent = {"code": card.code, "value": value, **({} if "partner_source_id" in more else where), **more}
    return await ask.change(who, use_network_gift_card, **sent)


async def test_a_usage_moves_what_is_owed_to_the_partner(tenants: Tenants, ask: Transport) -> None:
    await set_terms(tenants, commission_rate=10, vat_rate=20, management_fee_amount=1)
    card = await network_card(tenants)
    assert (await balances(tenants))["owed_by_marketplace"] == 10000
    assert (await use(ask, card, comment="Lunch", reservation_id="R-1")).done
    (usage,) = await usages_of(tenants, card)
    assert (str(usage.commission_amount), str(usage.commission_vat_amount)) == ("3.60", "0.60")
    assert (str(usage.management_fee_amount), str(usage.management_fee_vat_amount)) == ("1.20", "0.20")
    assert (str(usage.net_amount), usage.comment, usage.reservation_id) == ("25.20", "Lunch", "R-1")
    assert await status_and_rest(tenants, card) == ("using", "70.00")
    found = await balances(tenants)
    assert found["partner_network"] == 2520
    assert (found["commission"], found["management_fees"], found["vat_on_commission"]) == (300, 100, 80)
    assert await card_balance(tenants, card) == 7000
    assert await is_proved(tenants)
    assert (await ask.change("a1", cancel_network_gift_card_usage, id=usage.id, comment="Rain")).done
    (usage,) = await usages_of(tenants, card)
    assert (usage.is_active, usage.comment) == (False, "Rain")
    assert await status_and_rest(tenants, card) == ("paid", "100.00")
    assert "partner_network" not in await balances(tenants)
    assert await is_proved(tenants)


async def test_the_network_may_pay_the_fees(tenants: Tenants, ask: Transport) -> None:
    await set_terms(tenants, commission_rate=10, vat_rate=20, fees_paid_by="marketplace")
    card = await network_card(tenants)
    assert (await use(ask, card)).done
    found = await balances(tenants)
    assert (found["partner_network"], found["promotion"], found["commission"]) == (3000, 360, 300)
    assert await is_proved(tenants)
    (usage,) = await usages_of(tenants, card)
    assert (await ask.change("market a", cancel_network_gift_card_usage, id=usage.id)).done
    assert {"promotion", "commission", "partner_network"}.isdisjoint(await balances(tenants))
    assert await is_proved(tenants)


async def test_fees_take_no_more_than_there_is(tenants: Tenants) -> None:
    await set_terms(tenants, commission_rate=90, vat_rate=20, management_fee_amount=5)
    card = await network_card(tenants)
    assert (await use(Direct(tenants), card, "2.00")).done
    (usage,) = await usages_of(tenants, card)
    assert (str(usage.commission_amount), str(usage.management_fee_amount)) == ("2.00", "0.00")
    assert str(usage.net_amount) == "0.00"
    assert await is_proved(tenants)


async def test_a_fee_rule_that_names_the_product_counts(tenants: Tenants) -> None:
    await set_terms(tenants, commission_rate=10)
    for product, percentage in (("network_gift_card", 4), (None, 50)):  # the second one names the partner
        await tenants.execute(
            "INSERT INTO fee_rule (marketplace_id, partner_id, product, percentage, fixed_amount, vat_rate, is_active, currency, "
            "created_on) VALUES (:market, :partner, :product, :percentage, 0, 0, true, 'EUR', now())",
            market=tenants.marketplaces["a"].id,
            partner=None if product else tenants.partners["a1"].id,
            product=product,
            percentage=percentage,
        )
    card = await network_card(tenants)
    assert (await use(Direct(tenants), card, "50.00")).done
    (usage,) = await usages_of(tenants, card)
    assert (str(usage.commission_rate), str(usage.commission_amount), usage.fee_rule_id is not None) == (
        "4.00",
        "2.00",
        True,
    )


async def test_how_the_partner_is_named(tenants: Tenants, ask: Transport) -> None:
    card = await network_card(tenants)
    assert (await use(ask, card, "1.00", partner_source_id="100")).done
    for sent, wrong in (
        ({"partner_source_id": "999"}, ("partner_source_id", "INVALID")),
        ({"partner_source_id": "200"}, ("partner_source_id", "INVALID")),
        ({"at": "b1"}, ("partner_id", "INVALID")),
        ({"partner_uuid": str(tenants.partners["a1"].uuid)}, ("partner_id", "REQUIRED")),
    ):
        assert (await use(ask, card, "1.00", **sent)).wrong == {wrong}
    assert (await use(ask, card, "1.00", who="a1", at="a2")).wrong == {("partner_id", "INVALID")}
    assert await status_and_rest(tenants, card) == ("using", "99.00")


async def test_who_may_use_a_card(tenants: Tenants, ask: Transport) -> None:
    card = await network_card(tenants)
    without = await holder(tenants, "a1", Permission.USE_VOUCHER)
    assert (await use(ask, card, who=without)).wrong == {("", "FORBIDDEN")}
    for who in ("a2", "b1", "market b"):
        assert (await use(ask, card, who=who)).wrong == {("", "NOT_FOUND")}
    assert await status_and_rest(tenants, card) == ("paid", "100.00")
    for who in ("a1", "market a", "master"):
        assert (await use(ask, card, who=who)).done


async def test_each_refusal_has_its_code_and_changes_nothing(tenants: Tenants, ask: Transport) -> None:
    now, day = clock.now(), dt.timedelta(days=1)
    cases: list[tuple[dict[str, Any], tuple[str, str]]] = [
        ({"status": GiftCardStatus.DRAFT}, ("", "NOT_USABLE")),
        ({"status": GiftCardStatus.CANCELLED}, ("", "NOT_USABLE")),
        ({"status": GiftCardStatus.EXPIRED}, ("", "EXPIRED")),
        ({"expires_on": now - day}, ("", "EXPIRED")),
        ({"is_active": False}, ("", "DEACTIVATED")),
        ({"starts_on": now + dt.timedelta(hours=1)}, ("", "NOT_YET_VALID")),
        ({"frozen_on": now}, ("", "FROZEN_BY_DISPUTE")),
        ({"is_splittable": False}, ("", "NOT_SPLITTABLE")),
        ({"value": "29.99"}, ("value", "INSUFFICIENT_BALANCE")),
    ]
    cards = [(await network_card(tenants, **more), wrong) for more, wrong in cases]
    before = await tenants.snapshot()
    for card, wrong in cards:
        assert (await use(ask, card)).wrong == {wrong}, card.status
    whole = cards[0][0]
    assert (await use(ask, await _paid(tenants), at="a2")).wrong == {("", "PARTNER_NOT_LINKED")}
    for value, code in (("0.00", "OUT_OF_RANGE"), ("-1.00", "OUT_OF_RANGE"), ("1.001", "INVALID")):
        assert (await use(ask, whole, value)).wrong == {("value", code)}
    after = await tenants.snapshot()
    assert all(before[table] == after[table] for table in ("network_gift_card_usage", "order_product"))
    assert len(after["gift_card"]) == len(before["gift_card"]) + 1
    assert await is_proved(tenants)


async def _paid(tenants: Tenants) -> GiftCardRow:
    return await network_card(tenants)


async def test_a_card_that_is_not_splittable_is_used_whole(tenants: Tenants, ask: Transport) -> None:
    card = await network_card(tenants, is_splittable=False)
    assert (await use(ask, card, "100.00")).done
    assert await status_and_rest(tenants, card) == ("used", "0.00")
    assert (await use(ask, card, "1.00")).wrong == {("", "NOT_USABLE")}


async def test_inactive_and_test_partners(tenants: Tenants, ask: Transport) -> None:
    live, test = await network_card(tenants), await network_card(tenants, is_test=True)
    of = {"id": tenants.partners["a1"].id}
    await tenants.execute("UPDATE partner SET status = 'i' WHERE id = :id", **of)
    assert (await use(ask, live)).wrong == {("", "PARTNER_INACTIVE")}
    await tenants.execute("UPDATE partner SET status = 't' WHERE id = :id", **of)
    assert (await use(ask, live)).wrong == {("", "LIVE_MONEY_REFUSED")}
    assert (await use(ask, test)).done
    await tenants.execute("UPDATE partner SET status = 'n' WHERE id = :id", **of)
    assert (await use(ask, live)).done
    assert await is_proved(tenants)


async def test_test_cards_move_no_live_money(tenants: Tenants, ask: Transport) -> None:
    before, card = await balances(tenants), await network_card(tenants, is_test=True)
    assert await status_and_rest(tenants, card) == ("test", "100.00")
    assert (await use(ask, card)).done
    assert await status_and_rest(tenants, card) == ("test", "70.00")
    assert (await use(ask, card, "70.00")).done
    assert await status_and_rest(tenants, card) == ("used", "0.00")
    assert await balances(tenants) == before
    assert (await balances(tenants, is_live=False))["partner_network"] == 10000
    assert await is_proved(tenants)


async def test_when_it_is_used(tenants: Tenants, ask: Transport) -> None:
    now, hour = clock.now(), dt.timedelta(hours=1)
    card = await network_card(tenants, starts_on=now - dt.timedelta(days=2))
    for moment, code in ((now + 25 * hour, "OUT_OF_RANGE"), (now - dt.timedelta(days=4), "OUT_OF_RANGE")):
        assert (await use(ask, card, "1.00", used_on=moment.isoformat())).wrong == {("used_on", code)}
    for moment in (now + 23 * hour, now - dt.timedelta(days=1)):
        assert (await use(ask, card, "1.00", used_on=moment.isoformat())).done
    naive = (now - dt.timedelta(days=1)).strftime("%Y-%m-%dT12:00:00")
    assert (await use(Direct(tenants), card, "1.00", used_on=naive)).done
    usages = await usages_of(tenants, card)
    assert usages[-1].used_on.astimezone(ZoneInfo("Europe/Paris")).strftime("%Y-%m-%dT%H:%M:%S") == naive
    assert all(abs(usage.recorded_on - now) < hour for usage in usages)


async def test_who_may_freeze_the_payout_date(tenants: Tenants, ask: Transport) -> None:
    card, day = await network_card(tenants), "2027-01-15T00:00:00+01:00"
    assert (await use(ask, card, freeze_payout_date=day)).wrong == {("freeze_payout_date", "INVALID")}
    await tenants.execute("UPDATE partner SET freeze_payout = true WHERE id = :id", id=tenants.partners["a1"].id)
    assert (await use(ask, card, freeze_payout_date=day)).done
    (usage,) = await usages_of(tenants, card)
    assert usage.freeze_payout_date == dt.datetime(2027, 1, 14, 23, tzinfo=dt.UTC)
    assert await status_and_rest(tenants, card) == ("using", "70.00")


async def test_cancelling_twice_changes_nothing_more(tenants: Tenants, ask: Transport) -> None:
    card = await network_card(tenants)
    assert (await use(ask, card, "100.00")).done
    (usage,) = await usages_of(tenants, card)
    for who, wrong in (("a2", "NOT_FOUND"), ("b1", "NOT_FOUND"), ("market b", "NOT_FOUND")):
        assert (await ask.change(who, cancel_network_gift_card_usage, id=usage.id)).wrong == {("", wrong)}
    for _ in range(2):
        assert (await ask.change("market a", cancel_network_gift_card_usage, id=usage.id)).done
        assert await status_and_rest(tenants, card) == ("paid", "100.00")
    kinds = await tenants.rows("SELECT kind FROM gift_card_movement WHERE gift_card_id = :id ORDER BY id", id=card.id)
    assert [row[0] for row in kinds] == ["issue", "capture", "reversal"]
    events = await tenants.rows(
        "SELECT type, partner_id FROM event WHERE type LIKE 'network_gift_card.%' AND subject = :id ORDER BY id",
        id=str(card.id),
    )
    partner = tenants.partners["a1"].id
    assert [tuple(row) for row in events] == [
        ("network_gift_card.issued", None),
        ("network_gift_card.used", partner),
        ("network_gift_card.usage_cancelled", partner),
    ]


async def test_a_usage_in_a_payout_stays(tenants: Tenants, ask: Transport) -> None:
    card = await network_card(tenants)
    assert (await use(ask, card)).done
    await put_into_payout(tenants.services, tenants.partners["a1"].id)
    (usage,) = await usages_of(tenants, card)
    before = await tenants.snapshot()
    refused = await ask.change("market a", cancel_network_gift_card_usage, id=usage.id, comment="x")
    assert refused.wrong == {("", "USAGE_IN_PAYOUT")}
    assert await tenants.snapshot() == before


async def test_a_usage_is_cancelled_or_goes_into_a_payout(tenants: Tenants) -> None:
    """Both at the same moment: one of them comes first, and the other finds it so."""
    card, ask = await network_card(tenants), Direct(tenants)
    for _ in range(20):
        assert (await use(ask, card, "5.00")).done
    ids = [usage.id for usage in await usages_of(tenants, card)]
    payout_id = await put_into_payout(tenants.services, tenants.partners["a1"].id, is_validated=False)

    async def validate() -> None:
        async with tenants.services.db.sessions() as db, db.begin():
            payout = await lock_payout(db, payout_id)
            await refresh(db, payout)
            await reserve(db, payout)

    asked = [ask.change("market a", cancel_network_gift_card_usage, id=id) for id in ids]
    validating = asyncio.create_task(validate())
    outcomes = await asyncio.gather(*asked)
    await validating
    cancelled = {id for id, outcome in zip(ids, outcomes, strict=True) if outcome.done}
    for usage in await usages_of(tenants, card):
        assert usage.is_active is (usage.id not in cancelled)
    assert {frozenset(each.wrong) for each in outcomes} <= {
        frozenset(),
        frozenset({("", "USAGE_IN_PAYOUT")}),
    }
    assert (await status_and_rest(tenants, card))[1] == f"{5 * len(cancelled)}.00"
    paid_out = await tenants.one("SELECT payout_amount FROM payout_request")
    assert str(paid_out) == f"{5 * (20 - len(cancelled))}.00"
    assert await is_proved(tenants)


async def test_a_usage_of_a_cancelled_or_expired_card(tenants: Tenants, ask: Transport) -> None:
    for status, wrong, rest in (
        ("cncld", {("", "NOT_USABLE")}, ("cncld", "70.00")),
        ("exprd", set(), ("exprd", "100.00")),
    ):
        card = await network_card(tenants)
        assert (await use(ask, card)).done
        await tenants.execute(
            "UPDATE gift_card SET status = CAST(:status AS varchar), unowed_amount = CASE CAST(:status AS varchar) WHEN 'cncld' THEN remaining_amount ELSE 0 END "
            "WHERE id = :id",
            status=status,
            id=card.id,
        )
        (usage,) = await usages_of(tenants, card)
        assert (await ask.change("market a", cancel_network_gift_card_usage, id=usage.id)).wrong == wrong
        assert await status_and_rest(tenants, card) == rest


async def test_what_a_partner_has_no_longer_is_owed_by_it(tenants: Tenants) -> None:
    """The partner was paid out: a cancelled usage becomes its debt."""
    card, ask = await network_card(tenants), Direct(tenants)
    assert (await use(ask, card)).done
    (usage,) = await usages_of(tenants, card)
    book, partner = card.book_id, tenants.partners["a1"].id
    await tenants.execute(
        "UPDATE ledger_account SET balance = -1000 WHERE book_id = :book AND role = 'partner_network' AND owner_id = :partner",
        book=book,
        partner=partner,
    )
    assert (await ask.change("market a", cancel_network_gift_card_usage, id=usage.id)).done
    found = await balances(tenants)
    assert found["owed_by_partner"] == 2000


async def test_nothing_is_spent_twice(tenants: Tenants) -> None:
    """Two hundred usages at once: as many happen as the card has money for."""
    card, ask = await network_card(tenants), Direct(tenants)
    outcomes = await asyncio.gather(*(use(ask, card, "7.00", who=("a1", "market a")[n % 2]) for n in range(200)))
    assert sum(outcome.done for outcome in outcomes) == 14
    refused = {wrong for outcome in outcomes for wrong in outcome.wrong}
    assert refused == {("value", "INSUFFICIENT_BALANCE")}
    assert await status_and_rest(tenants, card) == ("using", "2.00")
    assert (await balances(tenants))["partner_network"] == 9800
    ids = [usage.id for usage in await usages_of(tenants, card)]
    ends = (ask.change("market a", cancel_network_gift_card_usage, id=id) for id in ids * 4)
    assert all(outcome.done for outcome in await asyncio.gather(*ends))
    assert await status_and_rest(tenants, card) == ("paid", "100.00")
    assert await is_proved(tenants)

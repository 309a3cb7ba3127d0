"""The life of disputes: opened, contested, won, lost, withdrawn; what happens to money, order and goods."""

import asyncio
import datetime as dt
from decimal import Decimal

import pytest

from resolvers.job.provider_notifications import dispatch_notification
from resolvers.payment.disputes import following
from resolvers.payment.disputes.recording import record_report
from resolvers.payment.disputes.reports import read_report
from resolvers.payment.refunds.goods import lock_goods
from schema.payment.dispute import DisputeState
from store.core.clock import clock
from store.payment.disputes import payment_of_payin
from store.providers.base import Subject
from tests.fixtures.basket import Experiences, card_of, columns, for_two
from tests.fixtures.payment.dispute import (
    OpenedDispute,
    balances,
    books_are_right,
    bought_disputably,
    open_dispute,
    spend_earnings,
    take_commission,
)
from tests.fixtures.shop import Shop


async def events_of(shop: Shop) -> list[str]:
    """The types of the events about disputes, in their order."""
    return [type for (type,) in await columns(shop, "event", "type") if type.startswith("dispute.")]


async def mails_of(shop: Shop) -> list[str]:
    """The kinds of the mails about disputes, in their order."""
    return [kind for (kind,) in await columns(shop, "mail", "kind") if kind.startswith("dispute_")]


async def disputed(shop: Shop, value: str = "100.00", **asked: object) -> OpenedDispute:
    """A gift card that was bought, whose payment is disputed."""
    take_commission(shop)
    await bought_disputably(shop, card_of(value))
    return await open_dispute(shop, **asked)


async def test_an_open_dispute_takes_the_money_and_keeps_the_partners_part(shop: Shop) -> None:
    dispute = await disputed(shop, reason="FRAUD", message="I was not there")
    before = await balances(shop)
    row = await dispute.follow()
    assert (row.state, row.dispute_amount, row.held_amount) == (DisputeState.NEEDS_RESPONSE, Decimal(100), Decimal(94))
    assert (row.reason_code, row.reason_message) == ("FRAUD", "I was not there")
    assert before["partner"] == before["wallet"] == 9400
    after = await balances(shop)
    assert (after["in_dispute"], after["partner_held"], after["repudiation_wallet"]) == (10000, 9400, -10000)
    assert "partner" not in after
    assert await shop.one("SELECT status FROM shop_order") == "disputed"
    assert (await events_of(shop), await mails_of(shop)) == (["dispute.opened"], ["dispute_opened"])
    await books_are_right(shop)


async def test_a_dispute_that_is_won_gives_everything_back(shop: Shop) -> None:
    dispute = await disputed(shop)
    before = await balances(shop)
    await dispute.follow()
    await dispute.contest()
    assert (await dispute.follow()).state is DisputeState.UNDER_REVIEW
    await dispute.decide("win")
    row = await dispute.follow()
    assert (row.state, row.lost_amount, row.held_amount) == (DisputeState.WON, Decimal(0), Decimal(0))
    assert row.closed_on is not None
    assert row.settled_on is not None
    assert await balances(shop) == before
    assert await shop.one("SELECT status FROM shop_order") == "paid"
    assert await columns(shop, "gift_card", "status", "frozen_on") == [("paid", None)]
    assert await events_of(shop) == ["dispute.opened", "dispute.updated", "dispute.won"]
    assert await mails_of(shop) == ["dispute_opened", "dispute_ended"]
    await books_are_right(shop)


async def test_a_dispute_that_is_lost_is_settled_from_the_wallet(shop: Shop) -> None:
    dispute = await disputed(shop)
    await dispute.follow()
    await dispute.contest()
    await dispute.decide("lose", "No proof")
    row = await dispute.follow()
    assert (row.state, row.lost_amount, row.result_message) == (DisputeState.LOST, Decimal(100), "No proof")
    assert row.settled_on is None
    row = await dispute.check()
    assert (row.settled_amount, row.held_amount) == (Decimal(94), Decimal(0))
    assert row.settled_on is not None
    after = await balances(shop)
    assert (after["repudiation_wallet"], after["dispute_loss"]) == (-600, 600)
    assert not {"wallet", "partner", "partner_held", "in_dispute", "owed_by_partner"} & after.keys()
    ledger = (await shop.control("GET", "/ledger/check")).json()
    assert [it["balance"] for it in ledger["accounts"] if it["account"] == "credit"] == [-600]
    assert await shop.one("SELECT status FROM shop_order") == "charged_back"
    assert await columns(shop, "gift_card", "status", "frozen_on") == [("cncld", None)]
    assert await events_of(shop) == ["dispute.opened", "dispute.lost"]
    assert (await dispute.check()).version == row.version
    await books_are_right(shop)


async def test_a_partner_with_too_little_owes_the_rest(shop: Shop) -> None:
    """Money has left the wallet, as by a payout: the marketplace carries what the earnings do not cover."""
    dispute = await disputed(shop)
    await spend_earnings(shop, 3400)
    assert (await dispute.follow()).held_amount == 60
    await dispute.contest()
    await dispute.decide("lose")
    await dispute.follow()
    assert (await dispute.check()).settled_amount == 60
    after = await balances(shop)
    assert (after["owed_by_partner"], after["dispute_loss"], after["repudiation_wallet"]) == (3400, 600, -4000)
    await books_are_right(shop)


async def test_a_withdrawn_dispute_changes_nothing_in_the_end(shop: Shop) -> None:
    dispute = await disputed(shop)
    before = await balances(shop)
    await dispute.follow()
    await dispute.decide("void")
    row = await dispute.follow()
    assert (row.state, row.lost_amount) == (DisputeState.CANCELLED, Decimal(0))
    assert await balances(shop) == before
    assert await columns(shop, "gift_card", "status", "frozen_on") == [("paid", None)]
    assert await events_of(shop) == ["dispute.opened", "dispute.cancelled"]
    await books_are_right(shop)


async def test_a_part_is_contested_and_won_the_partner_owes_the_rest(shop: Shop) -> None:
    dispute = await disputed(shop)
    await dispute.follow()
    await dispute.contest("60.00")
    await dispute.decide("win")
    row = await dispute.follow()
    assert (row.state, row.lost_amount, row.held_amount) == (DisputeState.WON, Decimal(40), Decimal(0))
    assert row.settled_on is not None
    after = await balances(shop)
    assert (after["partner"], after["wallet"], after["owed_by_partner"]) == (9400, 9400, 3760)
    assert (after["dispute_loss"], after["repudiation_wallet"]) == (240, -4000)
    assert await shop.one("SELECT status FROM shop_order") == "paid"
    await books_are_right(shop)


async def test_a_disputed_part_that_is_lost_leaves_the_goods(shop: Shop) -> None:
    dispute = await disputed(shop, amount=2500)
    assert (await dispute.follow()).held_amount == Decimal("23.50")
    assert await shop.one("SELECT status FROM shop_order") == "disputed"
    await dispute.contest("25.00")
    await dispute.decide("lose")
    await dispute.follow()
    assert (await dispute.check()).settled_amount == Decimal("23.50")
    assert await shop.one("SELECT status FROM shop_order") == "paid"
    assert await columns(shop, "gift_card", "status", "frozen_on") == [("paid", None)]
    await books_are_right(shop)


async def test_a_retrieval_takes_no_money(shop: Shop) -> None:
    dispute = await disputed(shop, type="RETRIEVAL")
    before = await balances(shop)
    row = await dispute.follow()
    assert (row.state, row.held_amount) == (DisputeState.NEEDS_RESPONSE, Decimal(0))
    assert await balances(shop) == before
    assert await shop.one("SELECT frozen_on IS NOT NULL FROM gift_card")
    clock.advance(dt.timedelta(days=15))
    await shop.control("POST", "/clock", {"advance": 0})
    row = await dispute.follow()
    assert (row.state, row.lost_amount) == (DisputeState.LOST, Decimal(0))
    assert row.settled_on is not None
    assert await balances(shop) == before
    assert await columns(shop, "gift_card", "status", "frozen_on") == [("paid", None)]
    await books_are_right(shop)


async def test_what_cannot_be_contested_is_lost_when_it_is_first_seen(shop: Shop) -> None:
    dispute = await disputed(shop, type="NOT_CONTESTABLE")
    row = await dispute.follow()
    assert (row.state, row.held_amount) == (DisputeState.LOST, Decimal(94))
    assert (await dispute.check()).settled_amount == 94
    assert await events_of(shop) == ["dispute.opened", "dispute.lost"]
    assert await mails_of(shop) == ["dispute_ended"]
    await books_are_right(shop)


async def test_nobody_answers_in_time(shop: Shop) -> None:
    dispute = await disputed(shop, days=7)
    row = await dispute.follow()
    assert row.contest_until is not None
    clock.advance(dt.timedelta(days=8))
    await shop.control("POST", "/clock", {"advance": 0})
    assert await following.CHECKS.sweep(shop.services) == 1
    assert (await dispute.check()).state is DisputeState.LOST
    await books_are_right(shop)


async def test_vouchers_of_a_lost_order_become_errors(shop: Shop, sold: Experiences) -> None:
    await bought_disputably(shop, for_two(sold), for_two(sold), for_two(sold))
    ids = [id for (id,) in await columns(shop, "voucher", "id")]
    await shop.execute("UPDATE voucher SET state = 'using' WHERE id = :id", id=ids[1])
    await shop.execute("UPDATE voucher SET state = 'used', used_on = now() WHERE id = :id", id=ids[2])
    dispute = await open_dispute(shop, type="NOT_CONTESTABLE")
    await dispute.follow()
    found = await columns(shop, "voucher", "state", "frozen_on IS NOT NULL")
    assert found == [("error", False), ("using", True), ("used", False)]
    await dispute.check()
    await books_are_right(shop)


@pytest.mark.parametrize("first", ["open", "won"])
async def test_many_notifications_at_once_record_one_dispute(shop: Shop, first: str) -> None:
    dispute = await disputed(shop)
    if first == "won":
        await dispute.contest()
        await dispute.decide("win")
    repudiation = await _repudiation(shop, dispute)
    hints = [(Subject.DISPUTE, dispute.id), (Subject.REPUDIATION, repudiation)] * 8
    await asyncio.gather(*(dispatch_notification(shop.services, subject, id) for subject, id in hints))
    assert await shop.count("dispute") == 1
    ended = ["dispute.won"] if first == "won" else []
    assert await events_of(shop) == ["dispute.opened", *ended]
    assert await shop.one("SELECT count(*) FROM ledger_journal WHERE source_kind = 'dispute'") == 1 + len(ended)
    await books_are_right(shop)


async def _repudiation(shop: Shop, dispute: OpenedDispute) -> str:
    return (await shop.services.provider.get_dispute(dispute.id)).repudiation_id or ""


async def test_many_workers_settle_once(shop: Shop) -> None:
    dispute = await disputed(shop, type="NOT_CONTESTABLE")
    await dispute.follow()
    await asyncio.gather(*(dispute.check() for _ in range(8)))
    stats = (await shop.control("GET", "/ledger/check")).json()
    assert [it["balance"] for it in stats["accounts"] if it["account"] == "credit"] == [-600]
    await books_are_right(shop)


async def test_an_older_report_does_not_undo_a_newer_one(shop: Shop) -> None:
    """A check that read `needs_response` is recorded after the notification that read `won`."""
    dispute = await disputed(shop)
    row = await dispute.follow()
    late = await read_report(shop.services, dispute.id, row)
    await dispute.contest()
    await dispute.follow()
    async with shop.services.db.sessions() as db, db.begin():
        payment = await payment_of_payin(db, late.dispute.payin_id)
        assert payment is not None
        goods = await lock_goods(db, payment)
        assert not await record_report(db, goods, late, row.version, clock.now())
    assert (await dispute.row()).state is DisputeState.UNDER_REVIEW


async def test_a_lost_notification_is_caught_up(shop: Shop) -> None:
    dispute = await disputed(shop)
    assert await following.follow_missed_disputes(shop.services) == 1
    assert (await dispute.row()).state is DisputeState.NEEDS_RESPONSE
    assert await following.follow_missed_disputes(shop.services) == 0


async def test_a_dispute_of_a_payment_that_is_not_ours_is_left_alone(shop: Shop) -> None:
    dispute = await disputed(shop)
    await shop.execute("UPDATE payment_transaction SET provider_id = 'another'")
    await following.follow_dispute(shop.services, dispute.id)
    assert await shop.count("dispute") == 0
    await dispatch_notification(shop.services, Subject.DISPUTE, "disp_m_unknown")
    await dispatch_notification(shop.services, Subject.REPUDIATION, "repud_m_unknown")
    await dispatch_notification(shop.services, Subject.SETTLEMENT, "settle_m_unknown")
    await dispatch_notification(shop.services, Subject.DISPUTE_DOCUMENT, "dispdoc_m_unknown")

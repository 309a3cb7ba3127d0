"""Presents that are sent now, or moved to another day, while a worker or a refund is at them: each is sent once or never."""

import asyncio
import datetime as dt

import pytest

from resolvers.mail import delivery
from resolvers.order.gift_day import reschedule_gift, send_gift_now
from resolvers.payment.refunds.order_refunds import refund_order
from schema.order.errors import GiftNotWaiting
from store.core.clock import clock
from tests.fixtures.basket import GIFTEE, card_of, columns
from tests.fixtures.payment.order_refund import refund_wish
from tests.fixtures.shop import Shop
from tests.resolvers.order.test_gift_day import NEW, card_waits, days_ahead, ordered
from tests.servers.mail_servers import RealMailServer


async def test_it_is_sent_now_and_once(mailing: Shop, mail_server: RealMailServer) -> None:
    token = await card_waits(mailing)
    results = await asyncio.gather(
        *(send_gift_now(mailing.context, token, 0, NEW) for _ in range(10)), return_exceptions=True
    )
    assert results.count(None) == 1
    assert sum(isinstance(result, GiftNotWaiting) for result in results) == 9
    ids = [row[0] for row in await columns(mailing, "mail", "id")]
    for _ in range(2):  # what tells the giver follows the present
        await asyncio.gather(*(delivery.send(mailing.services, id) for id in ids for _ in range(3)))
    sent = [received.recipients for received in mail_server.messages if received.recipients == (NEW,)]
    assert len(sent) == 1
    assert await mailing.one("SELECT count(*) FROM mail WHERE kind = 'gift_card' AND state = 'sent'") == 2
    assert await mailing.one("SELECT send_on <= now() + interval '1 minute' FROM gift_card")
    clock.advance(dt.timedelta(days=40))
    for id in ids:
        await delivery.send(mailing.services, id)
    sent = [received.recipients for received in mail_server.messages if received.recipients == (NEW,)]
    assert len(sent) == 1, "its day brings nothing more"


async def test_a_claimed_message_is_not_changed(mailing: Shop, mail_server: RealMailServer) -> None:
    """A worker claims it seconds before its time, while the page still says that it waits."""
    token = await card_waits(mailing)
    (due,) = (await columns(mailing, "gift_card", "send_on"))[0]
    clock.advance(due - clock.now() - dt.timedelta(seconds=3))
    mail = await mailing.one("SELECT min(id) FROM mail WHERE kind = 'gift_card'")
    claimed = await delivery._claim(mailing.services, mail)
    assert claimed is not None
    for change in (
        send_gift_now(mailing.context, token, 0, NEW),
        reschedule_gift(mailing.context, token, 0, NEW, days_ahead(60), None),
    ):
        with pytest.raises(GiftNotWaiting):
            await change
    assert await mailing.one("SELECT giftee_email FROM gift_card") == GIFTEE.email
    assert await mailing.one("SELECT count(*) FROM mail WHERE kind = 'gift_card'") == 2
    assert len(mail_server.messages) == 0


@pytest.mark.parametrize("attempt", range(5))
async def test_now_against_the_worker_sends_one(mailing: Shop, mail_server: RealMailServer, attempt: int) -> None:
    token = await card_waits(mailing)
    (due,) = (await columns(mailing, "gift_card", "send_on"))[0]
    clock.advance(due - clock.now() - dt.timedelta(seconds=4))
    ids = [row[0] for row in await columns(mailing, "mail", "id")]
    workers = [delivery.send(mailing.services, id) for id in ids]
    await asyncio.gather(
        *workers[:1], send_gift_now(mailing.context, token, 0, GIFTEE.email), *workers[1:], return_exceptions=True
    )
    for (id,) in await columns(mailing, "mail", "id"):
        await delivery.send(mailing.services, id)
    presents = [received for received in mail_server.messages if received.recipients == (GIFTEE.email,)]
    assert len(presents) == 1


@pytest.mark.parametrize("attempt", range(5))
async def test_moved_while_it_is_refunded(mailing: Shop, mail_server: RealMailServer, attempt: int) -> None:
    """Each waits for the other, and neither for both: the refund is made, and nothing of it is sent on any day."""
    day = days_ahead(30)
    token = await ordered(
        mailing, card_of("50.00", giftee=GIFTEE, send_on=day), card_of("60.00", giftee=GIFTEE, send_on=day)
    )
    wish = await refund_wish(mailing, 0, 1)
    moved, refunded, late = await asyncio.gather(
        reschedule_gift(mailing.context, token, 0, NEW, days_ahead(60), None),
        refund_order(mailing.manager, wish),
        reschedule_gift(mailing.context, token, 1, NEW, days_ahead(60), None),
        return_exceptions=True,
    )
    assert not isinstance(refunded, BaseException)
    assert all(result is None or isinstance(result, GiftNotWaiting) for result in (moved, late))
    assert await mailing.one("SELECT array_agg(DISTINCT status) FROM gift_card") == ["cncld"]
    clock.advance(dt.timedelta(days=70))
    for (id,) in await columns(mailing, "mail", "id"):
        await delivery.send(mailing.services, id)
    assert [one for one in mail_server.messages if one.recipients[0] in {NEW, GIFTEE.email}] == []

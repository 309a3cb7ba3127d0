"""A present whose day comes: it is sent once, and not after it was refunded, whatever happens at the same time."""

import asyncio
import datetime as dt
from collections.abc import Sequence

import pytest
from sqlalchemy import text

from resolvers.mail import delivery
from resolvers.payment.refunds.order_refunds import refund_order
from schema.coupon.coupon import ReceptionMode
from store.core.clock import clock
from tests.fixtures.basket import GIFTEE, bought, card_of
from tests.fixtures.payment.order_refund import refund_wish
from tests.fixtures.shop import Shop
from tests.servers.mail_servers import RealMailServer


@pytest.fixture
async def waiting(mailing: Shop) -> Sequence[int]:
    """The messages of two presents for one person that wait for their day, which has come."""
    day = clock.now().date() + dt.timedelta(days=3)
    cards = [card_of(value, giftee=GIFTEE, send_on=day) for value in ("50.00", "60.00")]
    await bought(mailing, *cards, reception=ReceptionMode.GIFTEE_EMAIL)
    queued = text("SELECT id FROM mail WHERE kind = 'gift_card' ORDER BY id")
    mails = [row[0] for row in await mailing.services.db.rows(queued)]
    for mail in mails:
        await delivery.send(mailing.services, mail)
    assert await mailing.one("SELECT count(*) FROM mail WHERE state = 'sent'") == 0, "their day is yet to come"
    clock.advance(dt.timedelta(days=4))
    return mails


def presents(server: RealMailServer) -> list[str]:
    """The texts of what the giftee got."""
    found = [received for received in server.messages if received.recipients == (GIFTEE.email,)]
    return [str(received.message.get_body(("plain",))) for received in found]


async def test_many_workers_send_one_message(
    mailing: Shop, mail_server: RealMailServer, waiting: Sequence[int]
) -> None:
    for _ in range(2):  # the buyer is told after the present was sent
        await asyncio.gather(*(delivery.send(mailing.services, mail) for mail in waiting for _ in range(10)))
    assert len(presents(mail_server)) == 1
    assert len(mail_server.messages) == 2, "the buyer is told once"


async def test_a_refund_at_the_same_time(mailing: Shop, mail_server: RealMailServer, waiting: Sequence[int]) -> None:
    """Whichever is first: the present is sent once or not at all, and both cards are worth nothing."""
    wish = await refund_wish(mailing, 0, 1)
    sending = [delivery.send(mailing.services, mail) for mail in waiting for _ in range(5)]
    await asyncio.gather(*sending[:5], refund_order(mailing.manager, wish), *sending[5:])
    assert len(presents(mail_server)) == await mailing.one(
        "SELECT count(*) FROM mail WHERE kind = 'gift_card' AND state = 'sent' AND recipient = :to", to=GIFTEE.email
    )
    assert len(presents(mail_server)) <= 1
    assert await mailing.one("SELECT count(*) FROM gift_card WHERE status <> 'cncld'") == 0


@pytest.mark.parametrize("refunded", [(0,), (0, 1)])
async def test_what_is_refunded_before_is_not_sent(
    mailing: Shop, mail_server: RealMailServer, waiting: Sequence[int], refunded: Sequence[int]
) -> None:
    await refund_order(mailing.manager, await refund_wish(mailing, *refunded))
    for mail in waiting:
        await delivery.send(mailing.services, mail)
    told = presents(mail_server)
    assert len(told) == (len(refunded) < 2)
    assert not any("50.00" in each for each in told)
    assert all("60.00" in each for each in told)

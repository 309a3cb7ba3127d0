"""The giver reads that a present was sent after it was, and not if it could not be."""

from collections.abc import Sequence

import pytest
from sqlalchemy import text

from resolvers.mail import delivery, mails
from resolvers.mail.mails import ResendMail
from schema.coupon.coupon import ReceptionMode
from tests.fixtures.basket import GIFTEE, bought, card_of
from tests.fixtures.shop import Shop
from tests.servers.mail_servers import RealMailServer

GIVER = "ada@example.com"


@pytest.fixture
async def both(mailing: Shop) -> tuple[int, int]:
    """The message with the present, and the one that tells its giver."""
    await bought(mailing, card_of("50.00", giftee=GIFTEE), reception=ReceptionMode.GIFTEE_EMAIL)
    rows = await mailing.services.db.rows(text("SELECT id FROM mail WHERE kind = 'gift_card' ORDER BY id"))
    present, told = (row[0] for row in rows)
    return present, told


async def states(shop: Shop, *mail_ids: int) -> Sequence[str]:
    return [str(await shop.one("SELECT state FROM mail WHERE id = :id", id=id)) for id in mail_ids]


async def jobs(shop: Shop) -> int:
    waiting = "SELECT count(*) FROM pgqueuer WHERE entrypoint = 'send_mail'"
    return int(await shop.one(waiting))


async def test_the_giver_is_told_afterwards(mailing: Shop, mail_server: RealMailServer, both: tuple[int, int]) -> None:
    present, told = both
    await delivery.send(mailing.services, told)
    assert await states(mailing, *both) == ["queued", "queued"]
    assert await mailing.one("SELECT tries FROM mail WHERE id = :id", id=told) == 0
    await mailing.execute("DELETE FROM pgqueuer")
    await delivery.send(mailing.services, present)
    assert await jobs(mailing) == 1, "the one that tells of it"
    await delivery.send(mailing.services, told)
    assert await states(mailing, *both) == ["sent", "sent"]
    assert [received.recipients for received in mail_server.messages] == [(GIFTEE.email,), (GIVER,)]


async def test_a_present_that_cannot_be_sent_is_told_as_nothing(
    mailing: Shop, mail_server: RealMailServer, both: tuple[int, int]
) -> None:
    present, told = both
    mail_server.refusals[GIFTEE.email] = "550 5.1.1 No such user"
    await delivery.send(mailing.services, present)
    assert await states(mailing, *both) == ["failed", "failed"]
    assert await mailing.one("SELECT last_error FROM mail WHERE id = :id", id=told) == delivery.NOT_TRUE
    await delivery.send(mailing.services, told)
    assert mail_server.messages == []
    mail_server.refusals.clear()
    for mail in (told, present):  # in whatever order staff do it
        await mails.resend_mail(mailing.manager, ResendMail(id=mail))
    for mail in (told, present, told):
        await delivery.send(mailing.services, mail)
    assert [received.recipients for received in mail_server.messages] == [(GIFTEE.email,), (GIVER,)]

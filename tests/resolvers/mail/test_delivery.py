"""Messages on their way: posted with a transaction, sent at least once, tried again for a day, kept when refused."""

import asyncio
import dataclasses
import datetime as dt
import pathlib
from collections.abc import AsyncIterator
from typing import Any

import pytest
from sqlalchemy import text

from resolvers.mail import delivery
from resolvers.mail.delivery import CLAIM_DURATION, PAUSES
from resolvers.payment.checkout import completion, polling
from schema.checkout.checkout import ProductChoice
from schema.core.errors import Unavailable
from schema.mail import MailKind
from store.core.clock import clock
from store.core.files import FileStore
from store.core.mail_server import parse_server
from store.mail.mailer import FolderMailer, MailMessage
from store.mail.outbox import enqueue_mail
from store.mail.smtp import SmtpMailer
from store.media.media import MediaRow
from tests.fixtures.payment.payment import send_refunds
from tests.fixtures.shop import BUYER, Shop
from tests.resolvers.job.workers import working
from tests.servers.mail_servers import RealMailServer
from tests.store.mail.examples import CONTENTS

ABOUT = {"url": "https://shop.example/hooks", "endpoint_id": 7, "days": 3}


@pytest.fixture
async def mailing(shop: Shop, mail_server: RealMailServer) -> AsyncIterator[Shop]:
    """A shop with a mail server."""
    mailer = SmtpMailer(parse_server(mail_server.url), command_timeout=0.5)
    shop.services = dataclasses.replace(shop.services, mailer=mailer)
    yield shop
    await mailer.aclose()


async def posted(shop: Shop, to: str = "ada@example.com", **more: Any) -> int:
    """A message, written and committed; answers its id."""
    options = {"language": "en", "partner_id": shop.partner.id, "about": ABOUT, **more}
    async with shop.services.db.sessions() as db, db.begin():
        await enqueue_mail(db, MailKind.ENDPOINT_DISABLED, to=to, **options)
    return int(await shop.one("SELECT max(id) FROM mail"))


async def state(shop: Shop, mail_id: int) -> tuple[str, int, str]:
    """Where a message stands: state, tries, error."""
    query = text("SELECT state, tries, last_error FROM mail WHERE id = :id")
    return tuple((await shop.services.db.rows(query, {"id": mail_id}))[0])


async def jobs(shop: Shop) -> int:
    return int(await shop.one("SELECT count(*) FROM pgqueuer WHERE entrypoint = 'send_mail'"))


async def ordered(shop: Shop) -> Any:
    """An order, paid by card; answers its attempt's id."""
    key, seen = await shop.ready(ProductChoice((await shop.product()).id, 1))
    started = await shop.start(key, seen)
    await shop.pay(started)
    await polling.CHECKS.poll(shop.services, started.attempt_id)
    return started.attempt_id


async def send_all(shop: Shop) -> None:
    for (mail_id,) in await shop.services.db.rows(text("SELECT id FROM mail WHERE state = 'queued' ORDER BY id")):
        await delivery.send(shop.services, mail_id)


# ---- posting


async def test_what_a_transaction_wrote_falls_with_it(mailing: Shop) -> None:
    async with mailing.services.db.sessions() as db:
        await db.begin()
        await enqueue_mail(
            db, MailKind.ENDPOINT_DISABLED, to="a@b.example", language="en", partner_id=mailing.partner.id, about=ABOUT
        )
        await db.rollback()
    assert (await mailing.count("mail"), await jobs(mailing)) == (0, 0)


async def test_what_is_told_once_is_told_once(mailing: Shop) -> None:
    await asyncio.gather(*(posted(mailing, unique_key="endpoint 7") for _ in range(10)))
    assert (await mailing.count("mail"), await jobs(mailing)) == (1, 1)
    await posted(mailing, unique_key="endpoint 8")
    await posted(mailing)
    await posted(mailing)
    assert await mailing.count("mail") == 4


async def test_nobody_is_written_to_at_no_address(mailing: Shop) -> None:
    async with mailing.services.db.sessions() as db, db.begin():
        await enqueue_mail(db, MailKind.ENDPOINT_DISABLED, to="", language="en", partner_id=None, about=ABOUT)
    assert await mailing.count("mail") == 0


async def test_what_a_template_could_not_show_is_found_at_once(mailing: Shop) -> None:
    with pytest.raises(ValueError, match="endpoint_id"):
        await posted(mailing, about={"url": "https://shop.example/"})
    assert await mailing.count("mail") == 0


async def test_a_language_that_we_do_not_write_becomes_english(mailing: Shop) -> None:
    await posted(mailing, language="ja")
    assert await mailing.one("SELECT language FROM mail") == "en"


# ---- sending


async def test_a_message_is_sent_with_both_parts(mailing: Shop, mail_server: RealMailServer) -> None:
    mail_id = await posted(mailing, language="fr")
    await delivery.send(mailing.services, mail_id)
    (received,) = mail_server.messages
    message = received.message
    assert received.recipients == ("ada@example.com",)
    assert message["Message-ID"] == await mailing.one("SELECT message_id FROM mail")
    uuid = await mailing.one("SELECT uuid FROM mail")
    assert message["Message-ID"] == f"<{uuid}@coffret.test>"
    assert message["Subject"] == await mailing.one("SELECT subject FROM mail")
    assert message["From"] == "Coffret <mail@coffret.test>"
    assert {part.get_content_type() for part in message.iter_parts()} == {"text/plain", "text/html"}
    assert await state(mailing, mail_id) == ("sent", 1, "")
    assert await mailing.one("SELECT due_on FROM mail") is None


async def test_a_sent_message_is_not_sent_again(mailing: Shop, mail_server: RealMailServer) -> None:
    mail_id = await posted(mailing)
    for _ in range(3):
        await delivery.send(mailing.services, mail_id)
    assert len(mail_server.messages) == 1
    await delivery.send(mailing.services, 10**6)


async def test_ten_workers_send_a_message_once(mailing: Shop, mail_server: RealMailServer) -> None:
    mail_server.delay = 0.1
    mail_id = await posted(mailing)
    await asyncio.gather(*(delivery.send(mailing.services, mail_id) for _ in range(10)))
    assert len(mail_server.messages) == 1
    assert await state(mailing, mail_id) == ("sent", 1, "")


async def test_without_a_mail_server_messages_wait(shop: Shop, mail_server: RealMailServer) -> None:
    mail_id = await posted(shop)
    await delivery.send(shop.services, mail_id)
    await delivery.sweep(shop.services)
    assert await state(shop, mail_id) == ("queued", 0, "")
    later = SmtpMailer(parse_server(mail_server.url))
    services = dataclasses.replace(shop.services, mailer=later)
    await shop.execute("DELETE FROM pgqueuer")
    await delivery.sweep(services)
    assert await jobs(shop) == 1
    await delivery.send(services, mail_id)
    await later.aclose()
    assert await state(shop, mail_id) == ("sent", 1, "")


async def test_two_workers_bring_an_order_to_both_and_nothing_twice(
    mailing: Shop, mail_server: RealMailServer, database_url: str
) -> None:
    mail_server.data_answers = ["451 Later"]
    async with working(mailing.services, database_url, 2):
        await ordered(mailing)
        await mailing.becomes("SELECT count(*) FROM mail WHERE state = 'sent'", 1)
        await mailing.becomes(
            "SELECT count(*) FROM mail WHERE state = 'queued' AND tries = 1", 1
        )  # its pause has begun
        clock.advance(PAUSES[0])
        await delivery.sweep(mailing.services)
        await mailing.becomes("SELECT count(*) FROM mail WHERE state = 'sent'", 2)
    assert sorted(received.recipients[0] for received in mail_server.messages) == [BUYER.email, "hello@shop.example"]


# ---- trying again


async def test_a_server_that_comes_back_gets_the_message_once(mailing: Shop, mail_server: RealMailServer) -> None:
    mail_id = await posted(mailing)
    await mail_server.stop()
    await delivery.send(mailing.services, mail_id)
    found = await state(mailing, mail_id)
    assert found[:2] == ("queued", 1)
    assert "Error connecting" in found[2]
    await delivery.send(mailing.services, mail_id)
    assert (await state(mailing, mail_id))[1] == 1  # not before its time
    await mail_server.start()
    clock.advance(PAUSES[0])
    await delivery.send(mailing.services, mail_id)
    assert await state(mailing, mail_id) == ("sent", 2, "")
    assert len(mail_server.messages) == 1


@pytest.mark.parametrize("answer", ["421 Closing", "451 Later"])
async def test_for_now_is_tried_for_a_day_and_then_kept(
    mailing: Shop, mail_server: RealMailServer, answer: str
) -> None:
    mail_id = await posted(mailing)
    begun = clock.now()
    mail_server.data_answers = [answer] * 100
    for pause in PAUSES:
        await delivery.send(mailing.services, mail_id)
        assert (await state(mailing, mail_id))[0] == "queued"
        clock.advance(pause)
    await delivery.send(mailing.services, mail_id)
    assert await state(mailing, mail_id) == ("failed", len(PAUSES) + 1, answer)
    assert dt.timedelta(hours=22) < clock.now() - begun < dt.timedelta(hours=26)
    assert list(PAUSES) == sorted(PAUSES)
    assert mail_server.messages == []


async def test_each_try_has_a_job_of_its_own(mailing: Shop, mail_server: RealMailServer) -> None:
    mail_id = await posted(mailing)
    await mailing.execute("UPDATE pgqueuer SET status = 'picked'")  # it runs
    mail_server.data_answers = ["451 Later"]
    await delivery.send(mailing.services, mail_id)
    assert await jobs(mailing) == 2
    waits = "SELECT max(execute_after) - now() BETWEEN '50 seconds' AND '70 seconds' FROM pgqueuer"
    assert await mailing.one(waits)


async def test_a_refused_recipient_fails_and_the_others_do_not(mailing: Shop, mail_server: RealMailServer) -> None:
    mail_server.refusals["gone@example.com"] = "550 5.1.1 No such user"
    ids = [await posted(mailing, to) for to in ("a@example.com", "gone@example.com", "not an address", "b@example.com")]
    await send_all(mailing)
    assert [(await state(mailing, mail_id))[0] for mail_id in ids] == ["sent", "failed", "failed", "sent"]
    assert (await state(mailing, ids[1]))[2] == "550 5.1.1 No such user"
    assert "is no address" in (await state(mailing, ids[2]))[2]
    assert [received.recipients for received in mail_server.messages] == [("a@example.com",), ("b@example.com",)]


async def test_a_slow_server_is_left_and_asked_again(mailing: Shop, mail_server: RealMailServer) -> None:
    mail_id = await posted(mailing)
    mail_server.delay = 3
    await delivery.send(mailing.services, mail_id)
    assert (await state(mailing, mail_id))[0] == "queued"
    mail_server.delay = 0
    clock.advance(PAUSES[0])
    await delivery.send(mailing.services, mail_id)
    assert (await state(mailing, mail_id))[0] == "sent"


async def test_what_cannot_be_rendered_waits_for_its_repair(
    mailing: Shop, mail_server: RealMailServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    mail_id = await posted(mailing)
    with monkeypatch.context() as broken:
        broken.setattr(delivery, "render_mail", lambda *_, **__: 1 / 0)
        await delivery.send(mailing.services, mail_id)
    found = await state(mailing, mail_id)
    assert found[0] == "queued"
    assert "ZeroDivisionError" in found[2]
    clock.advance(PAUSES[0])
    await delivery.send(mailing.services, mail_id)
    assert (await state(mailing, mail_id))[0] == "sent"


async def test_a_worker_that_dies_after_the_answer_sends_the_same_message_again(
    mailing: Shop, mail_server: RealMailServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    mail_id = await posted(mailing)

    mailer = mailing.services.mailer
    assert mailer is not None
    hand_over = mailer.send

    async def die(message: MailMessage) -> None:
        await hand_over(message)
        raise asyncio.CancelledError

    with monkeypatch.context() as dying:
        dying.setattr(mailer, "send", die)
        with pytest.raises(asyncio.CancelledError):
            await delivery.send(mailing.services, mail_id)
    await mailing.execute("DELETE FROM pgqueuer")  # its job is lost with it
    await delivery.sweep(mailing.services)
    await delivery.send(mailing.services, mail_id)
    assert (await jobs(mailing), len(mail_server.messages)) == (0, 1)  # it could still be at it
    clock.advance(CLAIM_DURATION)
    await delivery.sweep(mailing.services)
    await delivery.sweep(mailing.services)
    assert await jobs(mailing) == 1
    await delivery.send(mailing.services, mail_id)
    first, second = mail_server.messages
    assert first.message["Message-ID"] == second.message["Message-ID"]
    assert (await state(mailing, mail_id))[0] == "sent"


async def test_old_messages_are_deleted_with_their_addresses(mailing: Shop) -> None:
    await posted(mailing)
    days = mailing.services.settings.mail_days
    clock.advance(dt.timedelta(days=days - 1))
    kept = await posted(mailing, "new@example.com")
    assert await delivery.prune(mailing.services) == 0
    clock.advance(dt.timedelta(days=1, minutes=1))
    assert await delivery.prune(mailing.services) == 1
    assert await mailing.one("SELECT id FROM mail") == kept


# ---- what an order tells


async def test_an_order_is_confirmed_and_told_to_the_partner(mailing: Shop, mail_server: RealMailServer) -> None:
    await mailing.execute("UPDATE partner SET language = 'de' WHERE id = :id", id=mailing.partner.id)
    attempt_id = await ordered(mailing)
    for _ in range(3):
        await completion.sync_attempt(mailing.services, attempt_id)
    assert await mailing.count("mail") == await jobs(mailing) == 2
    await send_all(mailing)
    by_recipient = {received.recipients[0]: received.message for received in mail_server.messages}
    buyer, shop = by_recipient[BUYER.email], by_recipient[mailing.partner.agency_email]
    assert buyer["Subject"] == "Your order 1 at The Shop"
    assert (buyer["From"], buyer["Reply-To"]) == ("The Shop <mail@coffret.test>", "hello@shop.example")
    assert str(shop["Subject"]).startswith("Neue Bestellung 1:")
    assert (shop["Reply-To"], shop["Content-Language"]) == (BUYER.email, "de")
    text_part = buyer.get_body(("plain",))
    assert text_part is not None
    assert "1 × Candle – €20.00" in text_part.get_content()


async def test_an_order_whose_transaction_falls_tells_nobody(mailing: Shop, monkeypatch: pytest.MonkeyPatch) -> None:
    key, seen = await mailing.ready(ProductChoice((await mailing.product()).id, 1))
    started = await mailing.start(key, seen)
    await mailing.pay(started)
    with monkeypatch.context() as failing:

        async def fall(*_: object, **__: object) -> None:
            raise ConnectionError

        failing.setattr(completion, "enqueue_job", fall)
        with pytest.raises(ConnectionError):
            await completion.sync_attempt(mailing.services, started.attempt_id)
    assert (await mailing.count("mail"), await jobs(mailing), await mailing.count("shop_order")) == (0, 0, 0)
    await completion.sync_attempt(mailing.services, started.attempt_id)
    assert (await mailing.count("mail"), await mailing.count("shop_order")) == (2, 1)


async def test_a_payment_that_goes_back_is_told_once(mailing: Shop, mail_server: RealMailServer) -> None:
    candle = await mailing.product(stock=1)
    key, seen = await mailing.ready(ProductChoice(candle.id, 1))
    started = await mailing.start(key, seen)
    await mailing.execute("UPDATE checkout_attempt SET held = false, state = 'abandoned'")
    await mailing.execute("UPDATE product SET stock = 0")
    await mailing.pay(started)
    for _ in range(4):
        await polling.CHECKS.poll(mailing.services, started.attempt_id)
    await send_refunds(mailing.services)
    assert await mailing.one("SELECT state FROM checkout_attempt") == "refunded"
    assert await mailing.count("shop_order") == 0
    await send_all(mailing)
    (received,) = mail_server.messages
    assert received.message["Subject"] == "Your payment at The Shop is being refunded"
    text_part = received.message.get_body(("plain",))
    assert text_part is not None
    assert "Goes back to you: €20.00" in text_part.get_content()


async def test_a_file_store_that_is_down_holds_up_no_message(
    mailing: Shop, mail_server: RealMailServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    values: dict[str, Any] = {"content_type": "image/webp", "size": 1, "width": 1, "height": 1, "digest": "0" * 64}
    logo = await mailing.add(MediaRow(partner_id=mailing.partner.id, name="Logo", **values))
    await mailing.execute("UPDATE partner SET logo_url = :path", path=f"/media/{logo.uuid}/card.webp")

    async def down(*_: object) -> bytes:
        raise Unavailable(what="The file store")

    monkeypatch.setattr(FileStore, "get", down)
    await ordered(mailing)
    await send_all(mailing)
    assert sorted(received.recipients[0] for received in mail_server.messages) == [BUYER.email, "hello@shop.example"]
    body = mail_server.messages[0].message.get_body(("html",))
    assert body is not None
    assert f"/media/{logo.uuid}/card.webp" in body.get_content(), "the logo is linked"


# ---- the folder


async def test_a_folder_keeps_each_message_once(tmp_path: pathlib.Path) -> None:
    folder = FolderMailer(tmp_path / "mail")
    for number in (1, 2, 1):
        await folder.send(
            MailMessage(f"<{number}@shop.example>", "a@shop.example", "b@shop.example", b"Subject: x\r\n\r\n")
        )
        clock.advance(dt.timedelta(seconds=1))
    names = sorted(path.name.partition("-")[2] for path in (tmp_path / "mail").iterdir())
    assert names == ["1.eml", "2.eml"]
    assert max((tmp_path / "mail").iterdir()).name.endswith("-1.eml")


def test_every_kind_can_be_sent() -> None:
    assert set(CONTENTS) == set(MailKind)

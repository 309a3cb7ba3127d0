"""Mail of vouchers and gift cards: to whom, and with which documents, by how they are received."""

import io
from typing import Any

import pytest
from icalendar import Calendar
from pypdf import PdfReader
from sqlalchemy import text

from resolvers.mail import delivery
from schema.coupon.coupon import ReceptionMode
from schema.gift_card.gift_card import GiftCardStatus
from schema.mail import MailKind
from store.core.codes import document_token
from store.core.files import FileStore
from store.document.rendering import RenderingFailed
from store.mail import attachments
from store.mail.gifts import mail_gift_cards, mail_vouchers
from store.voucher.vouchers import VoucherRow
from tests.fixtures.document import gift_card, prototype, voucher, words
from tests.fixtures.shop import Shop
from tests.servers.mail_servers import RealMailServer, Received

BUYER, GIFTEE = "ada@example.com", "claire@example.com"


async def queue_mails(shop: Shop, *vouchers: VoucherRow) -> None:
    async with shop.services.db.sessions() as db, db.begin():
        await mail_vouchers(db, vouchers)


async def deliver_queued(shop: Shop, server: RealMailServer) -> list[Received]:
    """Send everything that waits; answers what has arrived, by recipient."""
    query = text("SELECT id FROM mail WHERE state = 'queued' ORDER BY id")
    for (mail_id,) in await shop.services.db.rows(query):
        await delivery.send(shop.services, mail_id)
    return sorted(server.messages, key=lambda received: received.recipients)


def documents(received: Received) -> list[tuple[str, bytes]]:
    """The PDFs that came with a message, by name."""
    found = []
    for part in received.message.iter_attachments():
        if part.get_content_type() == "text/calendar":
            (event,) = Calendar.from_ical(str(part.get_content())).events
            assert part.get_filename() == f"{event.start.isoformat()}.ics"
            continue
        assert part.get_content_type() == "application/pdf"
        content = part.get_payload(decode=True)
        assert isinstance(content, bytes)
        PdfReader(io.BytesIO(content))
        found.append((part.get_filename() or "", content))
    return found


def plain_text(received: Received) -> str:
    body = received.message.get_body(("plain",))
    assert body is not None
    return str(body.get_content())


async def test_what_a_buyer_prints_comes_with_one_message(mailing: Shop, mail_server: RealMailServer) -> None:
    of = await prototype(mailing)
    vouchers = [await voucher(mailing, of, language="fr"), await voucher(mailing, of, language="fr")]
    await queue_mails(mailing, *vouchers)
    (received,) = await deliver_queued(mailing, mail_server)
    assert received.recipients == (BUYER,)
    assert received.message["Subject"] == "Vos bons cadeaux de The Shop"
    assert received.message["Content-Language"] == "fr"
    files = documents(received)
    assert [name for name, _ in files] == ["Bon cadeau The Shop.pdf"] * 2
    for (_, content), row in zip(files, vouchers, strict=True):
        assert row.code in words(content)
        shop = f"http://{mailing.partner.site_domain}/documents/vouchers"
        assert f"{shop}/{row.document_token}.pdf" in plain_text(received), "where it was bought"
        assert row.code in plain_text(received)
    kept = str(await mailing.one("SELECT content FROM mail"))
    assert vouchers[0].document_token not in kept
    assert vouchers[0].code not in kept, "codes are read when a message is sent"
    assert len(kept) < 3000


async def test_what_is_e_mailed_to_a_giftee(mailing: Shop, mail_server: RealMailServer) -> None:
    row = await voucher(mailing, await prototype(mailing), reception_mode=ReceptionMode.GIFTEE_EMAIL)
    await queue_mails(mailing, row)
    buyer, giftee = await deliver_queued(mailing, mail_server)
    assert (buyer.recipients, giftee.recipients) == ((BUYER,), (GIFTEE,))
    assert giftee.message["Subject"] == "A present from Ada & Jean"
    assert "Bonne fête !\nÀ bientôt" in plain_text(giftee).replace("\r\n", "\n")
    ((name, content),) = documents(giftee)
    assert name == "Gift voucher The Shop.pdf"
    assert row.code in words(content)
    assert documents(buyer) == []
    assert GIFTEE in plain_text(buyer)
    assert row.document_token in plain_text(buyer)


@pytest.mark.parametrize(
    ("mode", "subject"),
    [
        (ReceptionMode.EXPEDITION, "Your order at The Shop comes by post"),
        (ReceptionMode.POSTAL_MAIL_TO_BENEFICIARY, "Your present from The Shop goes out by post"),
        (ReceptionMode.ON_SITE, "Your order at The Shop can be collected"),
    ],
)
async def test_what_comes_on_paper_is_only_told(
    mailing: Shop, mail_server: RealMailServer, mode: ReceptionMode, subject: str
) -> None:
    row = await voucher(mailing, await prototype(mailing), reception_mode=mode)
    await queue_mails(mailing, row)
    (received,) = await deliver_queued(mailing, mail_server)
    assert (received.recipients, received.message["Subject"]) == ((BUYER,), subject)
    assert documents(received) == []
    assert row.document_token not in received.data.decode()


@pytest.mark.parametrize("giftee", ["", None, BUYER.upper()])
async def test_who_has_no_giftee_to_write_to_prints_it(
    mailing: Shop, mail_server: RealMailServer, giftee: str | None
) -> None:
    mode = ReceptionMode.GIFTEE_EMAIL
    await queue_mails(
        mailing, await voucher(mailing, await prototype(mailing), reception_mode=mode, giftee_email=giftee)
    )
    (received,) = await deliver_queued(mailing, mail_server)
    assert received.recipients == (BUYER,)
    assert len(documents(received)) == 1


async def test_everybody_gets_one_message_of_an_order(mailing: Shop, mail_server: RealMailServer) -> None:
    of, mode = await prototype(mailing), ReceptionMode.GIFTEE_EMAIL
    vouchers = [
        await voucher(mailing, of),
        await voucher(mailing, of, reception_mode=mode),
        await voucher(mailing, of, reception_mode=mode),
        await voucher(mailing, of, reception_mode=mode, giftee_email="eve@example.com"),
    ]
    await queue_mails(mailing, *vouchers)
    await queue_mails(mailing, *vouchers)
    messages = await deliver_queued(mailing, mail_server)
    counted = sorted((received.recipients[0], len(documents(received))) for received in messages)
    assert counted == [(BUYER, 0), (BUYER, 0), (BUYER, 1), (GIFTEE, 2), ("eve@example.com", 1)]


async def test_a_gift_card_comes_by_mail(mailing: Shop, mail_server: RealMailServer) -> None:
    card = await gift_card(mailing, reception_mode=ReceptionMode.GIFTEE_EMAIL, giftee_email=GIFTEE)
    async with mailing.services.db.sessions() as db, db.begin():
        await mail_gift_cards(db, [])
        await mail_gift_cards(db, [card])
    buyer, giftee = await deliver_queued(mailing, mail_server)
    assert giftee.message["Subject"] == "A present from Ada Martin"
    ((name, content),) = documents(giftee)
    assert name == "Gift card The Shop.pdf"
    assert "€150.00" in words(content)
    assert card.code in words(content)
    assert documents(buyer) == []
    assert await mailing.count("mail") == 2


async def test_what_falls_with_its_transaction_is_not_told(mailing: Shop) -> None:
    row = await voucher(mailing, await prototype(mailing))
    async with mailing.services.db.sessions() as db:
        await db.begin()
        await mail_vouchers(db, [row])
        await db.rollback()
    assert await mailing.count("mail") == 0


# ---- when it is sent


async def test_it_shows_what_is_true_when_it_is_sent(mailing: Shop, mail_server: RealMailServer) -> None:
    row = await voucher(mailing, await prototype(mailing))
    await queue_mails(mailing, row)
    renewed = document_token()
    await mailing.execute("UPDATE voucher SET document_token = :token, message = 'Changed since'", token=renewed)
    (received,) = await deliver_queued(mailing, mail_server)
    assert renewed in plain_text(received)
    assert row.document_token not in plain_text(received)
    assert "Changed since" in words(documents(received)[0][1])


async def test_what_was_taken_back_is_not_sent(mailing: Shop, mail_server: RealMailServer) -> None:
    card = await gift_card(mailing)
    async with mailing.services.db.sessions() as db, db.begin():
        await mail_gift_cards(db, [card])
    await mailing.execute("UPDATE gift_card SET status = :status", status=GiftCardStatus.CANCELLED)
    assert await deliver_queued(mailing, mail_server) == []
    assert await mailing.one("SELECT state FROM mail") == "failed"
    assert "taken back" in await mailing.one("SELECT last_error FROM mail")


async def test_what_cannot_be_made_now_is_tried_again(
    mailing: Shop, mail_server: RealMailServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    await queue_mails(mailing, await voucher(mailing, await prototype(mailing)))

    async def broken(*_: Any) -> bytes:
        raise RenderingFailed("The press is jammed.")

    with monkeypatch.context() as jammed:
        jammed.setattr("store.document.cache.render_pdf", broken)
        assert await deliver_queued(mailing, mail_server) == []
    state, tries, error = (await mailing.services.db.rows(text("SELECT state, tries, last_error FROM mail")))[0]
    assert (state, tries) == ("queued", 1)
    assert "The press is jammed." in error
    await mailing.execute("UPDATE mail SET due_on = now()")
    (received,) = await deliver_queued(mailing, mail_server)
    assert len(documents(received)) == 1


async def test_what_is_too_much_for_a_message_is_found_at_its_address(
    mailing: Shop, mail_server: RealMailServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    of = await prototype(mailing)
    vouchers = [await voucher(mailing, of) for _ in range(3)]
    await queue_mails(mailing, *vouchers)
    monkeypatch.setattr(attachments, "MAX_ATTACHED_BYTES", 100_000)
    (received,) = await deliver_queued(mailing, mail_server)
    assert 0 < len(documents(received)) < 3
    assert all(row.document_token in plain_text(received) for row in vouchers)
    assert "attached" not in plain_text(received)


async def test_it_was_made_before(mailing: Shop, mail_server: RealMailServer) -> None:
    """What a reader has opened already is what is sent, and the other way round."""
    files = mailing.services.files
    row = await voucher(mailing, await prototype(mailing))
    await queue_mails(mailing, row)
    ((_, content),) = documents((await deliver_queued(mailing, mail_server))[0])
    kept = await files.get(f"documents/vouchers/{row.id}.pdf")
    assert kept is not None
    assert kept.endswith(content)
    assert isinstance(files, FileStore)
    assert await mailing.one("SELECT kind FROM mail") == MailKind.VOUCHER

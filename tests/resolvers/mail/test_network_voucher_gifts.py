"""Mail that brings network vouchers: to whom, with which documents and links, in whose name, and when."""

import datetime as dt
import re

import pytest
from sqlalchemy import text as sql

from resolvers.mail import delivery
from schema.media import MediaSize
from schema.validation.languages import LANGUAGES
from store.core.clock import clock
from store.gift_card.gift_cards import GiftCardRow
from store.mail.gifts import mail_network_gift_cards, mail_network_vouchers
from store.network.vouchers import NetworkVoucherRow
from tests.fixtures.document import colours, words
from tests.fixtures.network_prints import box_of, card_of, voucher_of
from tests.fixtures.shop import Shop
from tests.resolvers.mail.test_attachments import BUYER, GIFTEE, deliver_queued, documents, plain_text
from tests.resolvers.mail.test_network_gift_cards import NETWORK, html_of, named
from tests.servers.mail_servers import RealMailServer


async def queue(shop: Shop, *held: NetworkVoucherRow, send_on: dt.datetime | None = None) -> None:
    for voucher in held:
        voucher.send_on = send_on
    async with shop.services.db.sessions() as db, db.begin():
        await mail_network_vouchers(db, held)


async def queue_cards(shop: Shop, *held: GiftCardRow, send_on: dt.datetime) -> None:
    for card in held:
        card.send_on = send_on
    async with shop.services.db.sessions() as db, db.begin():
        await mail_network_gift_cards(db, held)


async def test_a_buyer_gets_all_vouchers_of_an_order_in_one_message(mailing: Shop, mail_server: RealMailServer) -> None:
    await named(mailing)
    box = await box_of(mailing)
    vouchers = [await voucher_of(mailing, box, language="fr") for _ in range(2)]
    await queue(mailing, *vouchers)
    await queue(mailing, *vouchers)
    (received,) = await deliver_queued(mailing, mail_server)
    assert received.recipients == (BUYER,)
    assert received.message["From"].startswith("Market <")
    assert received.message["Reply-To"] == NETWORK
    assert received.message["Content-Language"] == "fr"
    files, told = documents(received), plain_text(received)
    for (_, content), voucher in zip(files, vouchers, strict=True):
        assert voucher.code in words(content)
        assert f"/documents/network-vouchers/{voucher.document_token}.pdf" in told
        assert voucher.code in told
    assert told.count(f"{mailing.services.settings.public_url}/network/") == 2
    assert "Journée au spa pour deux" in told
    assert "€" not in told


async def test_a_giftee_gets_it_with_the_picture_of_the_box_and_a_page(
    mailing: Shop, mail_server: RealMailServer
) -> None:
    await named(mailing)
    voucher = await voucher_of(mailing, await box_of(mailing), giftee_email=GIFTEE)
    await queue(mailing, voucher)
    buyer, giftee = await deliver_queued(mailing, mail_server)
    assert (buyer.recipients, giftee.recipients) == ((BUYER,), (GIFTEE,))
    assert giftee.message["Subject"] == "A present from Ada Martin"
    assert "Bonne fête !\nÀ bientôt" in plain_text(giftee).replace("\r\n", "\n")
    ((name, content),) = documents(giftee)
    assert name == "Gift voucher Market.pdf"
    assert len(colours(content)) == 1
    picture = await mailing.one("SELECT uuid FROM media")
    (shown,) = (part for part in giftee.message.walk() if part.get_content_type() == "image/jpeg")
    assert f'src="cid:{str(shown["Content-ID"])[1:-1]}"' in html_of(giftee)
    kept = await mailing.one("SELECT content::text FROM mail WHERE recipient = :to", to=GIFTEE)
    assert f"/media/{picture}/{MediaSize.CARD}.webp" in kept
    for received in (buyer, giftee):
        link = next(line for line in plain_text(received).splitlines() if "/network/" in line)
        assert "See who accepts it" in link
    assert documents(buyer) == []
    assert "€" not in plain_text(giftee)


async def test_gift_cards_link_to_the_page_too(mailing: Shop, mail_server: RealMailServer) -> None:
    async with mailing.services.db.sessions() as db, db.begin():
        await mail_network_gift_cards(db, [await card_of(mailing)])
    (received,) = await deliver_queued(mailing, mail_server)
    assert "See what is left, and where it can be used" in plain_text(received)
    assert f"{mailing.services.settings.public_url}/network/" in html_of(received)


@pytest.mark.parametrize("language", LANGUAGES)
async def test_the_document_speaks_the_language_of_the_voucher(
    mailing: Shop, mail_server: RealMailServer, language: str
) -> None:
    await named(mailing)
    await queue(mailing, await voucher_of(mailing, await box_of(mailing), language=language))
    (received,) = await deliver_queued(mailing, mail_server)
    ((_, content),) = documents(received)
    printed = words(content)
    assert ("The partners of Market" in printed) is (language == "en")
    assert ("It can be used 3 times." in printed) is (language == "en")
    assert ("Spa day" in printed) is (language != "fr")
    assert "market.example" in printed
    assert "%(" not in printed
    assert not re.search(r"€ ?120|120[.,]00|120 ?€", printed), "the price is not told"


async def test_a_voucher_that_was_cancelled_meanwhile_is_not_sent(mailing: Shop, mail_server: RealMailServer) -> None:
    await queue(mailing, await voucher_of(mailing, await box_of(mailing)))
    await mailing.execute("UPDATE network_voucher SET status = 'cncld'")
    assert await deliver_queued(mailing, mail_server) == []
    assert await mailing.one("SELECT state FROM mail") == "failed"


async def test_what_was_cancelled_meanwhile_is_not_told_of_beside_the_rest(
    mailing: Shop, mail_server: RealMailServer
) -> None:
    box = await box_of(mailing)
    kept, cancelled = [
        await voucher_of(mailing, box, giftee_email=GIFTEE, message=words) for words in ("Enjoy!", "Gone!")
    ]
    await queue(mailing, kept, cancelled)
    await mailing.execute("UPDATE network_voucher SET status = 'cncld' WHERE id = :id", id=cancelled.id)
    for received in await deliver_queued(mailing, mail_server):
        assert "Gone!" not in plain_text(received)
        assert "Gone!" not in html_of(received)
        assert plain_text(received).count("/network/") == 1


async def test_who_has_no_address_gets_nothing(mailing: Shop) -> None:
    await queue(mailing)
    await queue(mailing, await voucher_of(mailing, await box_of(mailing), gifter_email=""))
    assert await mailing.count("mail") == 0


# ---- not before a moment


async def test_nothing_is_sent_before_its_moment(mailing: Shop, mail_server: RealMailServer) -> None:
    later = clock.now() + dt.timedelta(days=40)
    await queue(mailing, await voucher_of(mailing, await box_of(mailing), giftee_email=GIFTEE), send_on=later)
    await queue_cards(mailing, await card_of(mailing), send_on=later)
    assert await mailing.one("SELECT count(*) FROM mail WHERE due_on = :later", later=later) == 3
    assert await deliver_queued(mailing, mail_server) == []
    await delivery.sweep(mailing.services)
    assert await deliver_queued(mailing, mail_server) == []
    await mailing.execute("UPDATE mail SET due_on = now() - interval '1 second'")
    assert len(await deliver_queued(mailing, mail_server)) == 3


async def test_a_moment_that_has_passed_is_now(mailing: Shop, mail_server: RealMailServer) -> None:
    past = clock.now() - dt.timedelta(days=1)
    await queue(mailing, await voucher_of(mailing, await box_of(mailing)), send_on=past)
    assert len(await deliver_queued(mailing, mail_server)) == 1


async def test_what_waits_for_its_moment_is_not_pruned(mailing: Shop) -> None:
    later = clock.now() + dt.timedelta(days=1)
    box = await box_of(mailing)
    await queue(mailing, await voucher_of(mailing, box), send_on=later)
    await queue(mailing, await voucher_of(mailing, box))
    await mailing.execute("UPDATE mail SET created_on = now() - interval '20 years'")
    assert await delivery.prune(mailing.services) == 1
    rows = await mailing.services.db.rows(sql("SELECT due_on FROM mail"))
    assert [row[0] for row in rows] == [later]

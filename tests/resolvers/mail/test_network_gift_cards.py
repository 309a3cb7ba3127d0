"""Mail of networks' gift cards: to whom, with which documents, in whose name; and what is told of their usages."""

from typing import Any

import pytest
from sqlalchemy import text as sql
from sqlmodel import col, select

from schema.gift_card.gift_card import GiftCardStatus
from schema.mail import MailKind
from store.database.db import Session
from store.gift_card.gift_cards import GiftCardRow
from store.mail.gifts import mail_network_gift_cards
from store.mail.network_usages import mail_usage
from store.mail.rows import MailRow
from store.network.gift_cards import NetworkGiftCardUsageRow
from tests.fixtures.document import colours, words
from tests.fixtures.network_prints import card_of, design_of, usage_of
from tests.fixtures.shop import Shop
from tests.fixtures.tenants import Tenants
from tests.resolvers.mail.test_attachments import BUYER, GIFTEE, deliver_queued, documents, plain_text
from tests.servers.mail_servers import RealMailServer, Received

NETWORK = "hello@market.example"


async def queue_cards(shop: Shop, *cards: GiftCardRow) -> None:
    async with shop.services.db.sessions() as db, db.begin():
        await mail_network_gift_cards(db, cards)


async def queue_usage(shop: Shop, card: GiftCardRow, usage: NetworkGiftCardUsageRow, to: str | None = None) -> None:
    async with shop.services.db.sessions() as db, db.begin():
        await mail_usage(db, card, usage, to)


async def named(shop: Shop) -> None:
    """Give the network of a shop an address and a site."""
    await shop.execute("UPDATE marketplace SET email = :email, domain = 'market.example'", email=NETWORK)


def html_of(received: Received) -> str:
    body = received.message.get_body(("html",))
    assert body is not None
    return str(body.get_content())


# ---- the cards


async def test_a_buyer_gets_all_cards_of_an_order_in_one_message(mailing: Shop, mail_server: RealMailServer) -> None:
    await named(mailing)
    cards = [await card_of(mailing, language="fr") for _ in range(2)]
    await queue_cards(mailing, *cards)
    await queue_cards(mailing, *cards)
    (received,) = await deliver_queued(mailing, mail_server)
    assert received.recipients == (BUYER,)
    assert received.message["Subject"] == "Vos cartes cadeaux de Market"
    assert received.message["From"].startswith("Market <")
    assert received.message["Reply-To"] == NETWORK
    files = documents(received)
    assert [name for name, _ in files] == ["Carte cadeau Market.pdf"] * 2
    for (_, content), card in zip(files, cards, strict=True):
        assert card.code in words(content)
        assert f"/documents/gift-cards/{card.document_token}.pdf" in plain_text(received)
        assert card.code in plain_text(received)
        assert card.code not in str(await mailing.one("SELECT content FROM mail")), "it is read when it is sent"
    assert "https://market.example" in plain_text(received)


async def test_a_giftee_gets_it_in_the_look_of_its_design(mailing: Shop, mail_server: RealMailServer) -> None:
    await named(mailing)
    design = await design_of(mailing)
    card = await card_of(mailing, giftee_email=GIFTEE, design_id=design.id)
    await queue_cards(mailing, card)
    buyer, giftee = await deliver_queued(mailing, mail_server)
    assert (buyer.recipients, giftee.recipients) == ((BUYER,), (GIFTEE,))
    assert giftee.message["Subject"] == "A present from Ada Martin"
    assert "Gift card · €150.00 · Happy birthday" in plain_text(giftee)
    assert "Bonne fête !\nÀ bientôt" in plain_text(giftee).replace("\r\n", "\n")
    ((name, content),) = documents(giftee)
    assert name == "Gift card Market.pdf"
    assert card.code in words(content)
    assert len(colours(content)) == 1
    assert "#8a2846" in html_of(giftee)
    (picture,) = (part for part in giftee.message.walk() if part.get_content_type() == "image/jpeg")
    assert f'src="cid:{str(picture["Content-ID"])[1:-1]}"' in html_of(giftee)
    assert documents(buyer) == []
    assert card.document_token in plain_text(buyer)


async def test_who_has_no_address_gets_nothing_and_the_own_one_is_told_once(mailing: Shop) -> None:
    await queue_cards(mailing)
    await queue_cards(mailing, await card_of(mailing, gifter_email=""))
    assert await mailing.count("mail") == 0
    await queue_cards(mailing, await card_of(mailing, giftee_email=BUYER.upper()))
    await queue_cards(mailing, await card_of(mailing, gifter_email="", giftee_email=GIFTEE))
    rows = await mailing.services.db.rows(sql("SELECT recipient, content ->> 'role' FROM mail ORDER BY id"))
    assert [tuple(row) for row in rows] == [(BUYER, "bought"), (GIFTEE, "given")]


async def test_a_card_that_was_cancelled_meanwhile_is_not_sent(mailing: Shop, mail_server: RealMailServer) -> None:
    card = await card_of(mailing)
    await queue_cards(mailing, card)
    cancelled = GiftCardStatus.CANCELLED.value
    await mailing.execute("UPDATE gift_card SET status = :status WHERE id = :id", status=cancelled, id=card.id)
    assert await deliver_queued(mailing, mail_server) == []
    assert await mailing.one("SELECT state FROM mail") == "failed"


async def test_a_message_is_the_networks_and_no_partners(tenants: Tenants) -> None:
    shop = Shop(tenants.services, None, tenants.partners["a1"])  # type: ignore[arg-type]
    await queue_cards(shop, await card_of(shop))
    row = await tenants.newest("mail")
    assert (row["partner_id"], row["marketplace_id"]) == (None, tenants.marketplaces["a"].id)
    for who in ("a1", "a2", "b1", "market a", "market b", "master"):
        found = await tenants.graphql(who, "{ mails { nodes { id kind marketplace { id } partner { id } } } }")
        told = [
            {
                "id": row["id"],
                "kind": "NETWORK_GIFT_CARD",
                "marketplace": {"id": row["marketplace_id"]},
                "partner": None,
            }
        ]
        assert found["data"]["mails"]["nodes"] == (told if who in ("market a", "master") else []), who


# ---- their usages


async def test_a_usage_is_told_to_the_network_and_the_beneficiary(mailing: Shop, mail_server: RealMailServer) -> None:
    await named(mailing)
    card = await card_of(mailing, giftee_email=GIFTEE, language="fr", giftee_last_name="Dubois")
    usage = await usage_of(mailing, card)
    card.remaining_amount -= usage.value_amount
    await queue_usage(mailing, card, usage)
    await queue_usage(mailing, card, usage)
    giftee, network = await deliver_queued(mailing, mail_server)
    assert (giftee.recipients, network.recipients) == ((GIFTEE,), (NETWORK,))
    for received in (giftee, network):
        text = plain_text(received).replace("\xa0", " ").replace("\N{NARROW NO-BREAK SPACE}", " ")
        assert received.message["Content-Language"] == "fr"
        assert received.message["From"].startswith("Market <")
        for said in ("40,00 €", "110,00 €", "The Shop", "20 novembre 2026", "R-2041", card.code[-4:]):
            assert said in text, said
        assert card.code not in text
        assert ("Table 7" in text) is ("Claire Dubois" in text) is (received is network)
        assert ("/network/" in text) is (received is giftee)
        assert documents(received) == []
    assert giftee.message["Reply-To"] == NETWORK
    assert network.message["Reply-To"] == "hello@shop.example"


@pytest.mark.parametrize(
    ("card", "told_at", "recipient", "first_name"),
    [
        ({"giftee_email": GIFTEE}, "other@example.com", "other@example.com", "Claire"),
        ({"giftee_email": GIFTEE}, None, GIFTEE, "Claire"),
        ({"giftee_email": GIFTEE}, "", GIFTEE, "Claire"),
        ({}, None, BUYER, "Ada"),
        ({}, "other@example.com", "other@example.com", "Claire"),
        ({"gifter_email": ""}, None, None, ""),
    ],
)
async def test_where_the_beneficiary_is_told(
    mailing: Shop, card: dict[str, Any], told_at: str | None, recipient: str | None, first_name: str
) -> None:
    row = await card_of(mailing, **card)
    await queue_usage(mailing, row, await usage_of(mailing, row), told_at)
    async with mailing.services.db.sessions() as db:
        found = await _mails(db)
    expected = [] if recipient is None else [(MailKind.NETWORK_GIFT_CARD_USED, recipient, first_name)]
    assert [(mail.kind, mail.recipient, mail.content["first_name"]) for mail in found] == expected, (
        "no address, no mail"
    )
    page = None if recipient == "other@example.com" else str(row.uuid)
    assert [mail.content.get("holder_page") for mail in found] == [page for _ in expected], "it leads to the code"
    assert [(mail.partner_id, mail.marketplace_id) for mail in found] == [
        (None, mailing.partner.marketplace_id) for _ in expected
    ]


async def _mails(db: Session) -> list[MailRow]:
    return list((await db.exec(select(MailRow).order_by(col(MailRow.id)))).all())


async def test_a_usage_that_is_rolled_back_is_not_told(mailing: Shop) -> None:
    await named(mailing)
    card = await card_of(mailing)
    usage = await usage_of(mailing, card)

    class Undone(Exception):
        pass

    async def undone() -> None:
        async with mailing.services.db.sessions() as db, db.begin():
            await mail_usage(db, card, usage)
            raise Undone

    with pytest.raises(Undone):
        await undone()
    assert await mailing.count("mail") == 0

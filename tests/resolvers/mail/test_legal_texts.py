"""The terms and the right of withdrawal, enclosed in the confirmation of an order: what its buyer keeps of the contract."""

from typing import Any

import pytest

from resolvers import legal
from resolvers.mail import delivery
from schema.legal.input import PublishLegalDocument
from schema.legal.legal_document import LegalDocumentKind
from store.document.rendering import RenderingFailed
from store.mail import attachments
from tests.fixtures.basket import bought, card_of
from tests.fixtures.document import words
from tests.fixtures.shop import Shop
from tests.resolvers.mail.test_attachments import deliver_queued, documents, plain_text
from tests.servers.mail_servers import RealMailServer, Received

TERMS, PRIVACY, WITHDRAWAL = LegalDocumentKind.TERMS, LegalDocumentKind.PRIVACY, LegalDocumentKind.WITHDRAWAL
TOLD = "Attached: "


async def publish(shop: Shop, kind: LegalDocumentKind, **input: Any) -> None:
    wanted = PublishLegalDocument(partner_uuid=shop.partner.uuid, kind=kind, **input)
    await legal.publish_legal_document(shop.manager, wanted)


async def confirmation(shop: Shop, server: RealMailServer) -> Received:
    """The message that confirms the order, once all messages have arrived."""
    number = await shop.one("SELECT max(number) FROM shop_order")
    found = [
        received
        for received in await deliver_queued(shop, server)
        if received.recipients == ("ada@example.com",) and f"{number}" in str(received.message["Subject"])
    ]
    (received,) = found
    return received


async def test_what_a_buyer_has_accepted_comes_with_the_confirmation(
    mailing: Shop, mail_server: RealMailServer
) -> None:
    rules = "<h2>1. Seller</h2><p>We <strong>deliver</strong> at once.</p><ol><li>First</li><li>Second</li></ol>"
    await publish(mailing, TERMS, content={"en": rules, "fr": "Conditions"})
    await publish(mailing, WITHDRAWAL, content={"en": "Fourteen days."})
    await publish(mailing, PRIVACY, content={"en": "What we know of you."})
    await bought(mailing, card_of("50.00"))
    await publish(mailing, TERMS, content={"en": "Quite different ones."})
    received = await confirmation(mailing, mail_server)
    files = dict(documents(received))
    assert list(files) == ["Terms of sale The Shop.pdf", "Right of withdrawal The Shop.pdf"]
    terms = words(files["Terms of sale The Shop.pdf"])
    for said in ("1. Seller", "We deliver at once.", "1. First", "2. Second", "Version of"):
        assert said in terms, said
    assert "Quite different" not in terms, "they are those that were in force"
    assert "Fourteen days." in words(files["Right of withdrawal The Shop.pdf"])
    assert "Attached: Terms of sale, Right of withdrawal" in plain_text(received)


@pytest.mark.parametrize("published", [True, False])
async def test_what_is_on_the_sellers_own_site_is_linked_only(
    mailing: Shop, mail_server: RealMailServer, published: bool
) -> None:
    if published:
        site = {"en": "https://maison.example/terms"}
        await publish(mailing, TERMS, website=site, content={"fr": "Conditions"})
    await bought(mailing, card_of("50.00"))
    received = await confirmation(mailing, mail_server)
    assert documents(received) == []
    assert TOLD not in plain_text(received)


async def test_only_what_is_attached_is_told(mailing: Shop, mail_server: RealMailServer) -> None:
    await publish(mailing, TERMS, website={"en": "https://maison.example/terms"}, content={"fr": "Conditions"})
    await publish(mailing, WITHDRAWAL, content={"fr": "Quatorze jours."})
    await bought(mailing, card_of("50.00"))
    received = await confirmation(mailing, mail_server)
    (file,) = documents(received)
    assert file[0] == "Droit de rétractation The Shop.pdf", "in the language that its page has"
    assert "Attached: Droit de rétractation" in plain_text(received)


async def test_a_confirmation_does_not_wait_for_a_text_that_cannot_be_set(
    mailing: Shop, mail_server: RealMailServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def broken(*_: Any) -> bytes:
        raise RenderingFailed("no")

    await publish(mailing, TERMS, content={"en": "Our terms."})
    await bought(mailing, card_of("50.00", self_gifted=True))
    monkeypatch.setattr(attachments, "get_or_render_document", broken)
    id = await mailing.one("SELECT id FROM mail WHERE kind = 'order_confirmation'")
    await delivery.send(mailing.services, id)
    (received,) = mail_server.messages
    assert documents(received) == []
    assert TOLD not in plain_text(received)

"""Mails about disputes say what is true of this one: of its money, of what was bought, and of what can be done."""

from typing import Any

from sqlalchemy import text
from structlog.testing import capture_logs

from resolvers.payment.page.process import sync_payin
from schema.account.user import UserRole
from schema.checkout.checkout import ProductChoice
from schema.mail import MailKind
from schema.payment.dispute import DisputeState
from store.account.users import UserRow
from store.mail.content import content_of
from store.mail.render import render_mail
from tests.fixtures.basket import Experiences, for_two, settled
from tests.fixtures.payment.api_payment import begun, created, paid_at_provider
from tests.fixtures.payment.dispute import DISPUTABLE_CARD, OpenedDispute, bought_disputably, open_dispute
from tests.fixtures.payment.mixed_order import mixed_shop, of_partner
from tests.fixtures.payment.order_refund import refunded
from tests.fixtures.payment.payment import send_refunds
from tests.fixtures.payment.refill import disputed_refill, opened_wallet, refilled
from tests.fixtures.shop import Shop
from tests.store.mail.examples import SHOP, example
from tests.store.mail.examples import dispute as dispute_content

OPENED, ENDED = MailKind.DISPUTE_OPENED, MailKind.DISPUTE_ENDED
OF_ORDER = "vouchers and gift cards of this order"
KEPT_BACK = "The amount is kept back from your earnings until it ends."
KEPT_OF_FUNDS = "The amount is kept back from the money of the marketplace until it ends."
ANOTHER = """
    INSERT INTO dispute SELECT (d).* FROM (
        SELECT jsonb_populate_record(dispute, '{"id": "6d3f8a90-2b1c-4e5d-8f7a-9b0c1d2e3f40", "provider_id": "other"}') AS d
        FROM dispute
    ) copied
"""


async def newest_mail(shop: Shop, kind: MailKind) -> tuple[str, str]:
    """The subject and the text of the newest mail of a kind. Its HTML says the same."""
    newest = text("SELECT content FROM mail WHERE kind = :kind ORDER BY id DESC LIMIT 1")
    ((content,),) = await shop.services.db.rows(newest, {"kind": kind.value})
    mail = render_mail(kind, content_of(kind, content), "en", SHOP, "https://api.shop.example")
    plain, html = " ".join(mail.text.split()), " ".join(mail.html.split())
    for sentence in (OF_ORDER, KEPT_BACK, KEPT_OF_FUNDS, "It cannot be contested.", "can be used again", "are lost"):
        assert (sentence in plain) is (sentence in html), sentence
    return mail.subject, plain


async def test_a_bank_that_asks_for_documents_has_taken_nothing(shop: Shop, sold: Experiences) -> None:
    await bought_disputably(shop, for_two(sold))
    dispute = await open_dispute(shop, type="RETRIEVAL")
    await dispute.follow()
    _, opened = await newest_mail(shop, OPENED)
    assert "asks for documents about a payment of €194.00. It has taken no money yet." in opened
    assert KEPT_BACK not in opened
    assert f"Until it ends, the {OF_ORDER} cannot be used." in opened
    await dispute.decide("void")
    await dispute.follow()
    subject, ended = await newest_mail(shop, ENDED)
    assert "has ended: no money was taken" in ended
    assert f"The {OF_ORDER} can be used again." in ended
    assert subject == "Dispute ended: €194.00"


async def test_a_payment_without_an_order_has_no_goods(shop: Shop) -> None:
    payment = await created(shop, "90.00")
    payin = await begun(shop, payment)
    await paid_at_provider(shop, payin, DISPUTABLE_CARD)
    await sync_payin(shop.services, payin.id)
    answer = await shop.control("POST", f"/payins/{payin.provider_id}/dispute", {})
    assert answer.status_code == 200, answer.text
    dispute = OpenedDispute(shop, answer.json()["Id"])
    await dispute.follow()
    _, opened = await newest_mail(shop, OPENED)
    assert "disputes a payment of €90.00" in opened
    assert "Order number" not in opened
    assert OF_ORDER not in opened
    await dispute.contest("90.00")
    await dispute.decide("lose")
    await dispute.follow()
    subject, ended = await newest_mail(shop, ENDED)
    assert "was lost: the buyer keeps €90.00" in ended
    assert OF_ORDER not in ended
    assert subject == "Dispute lost: €90.00"


def test_what_cannot_be_contested_has_no_instructions() -> None:
    mail = example(OPENED, content=dispute_content(DisputeState.OPEN, contest_until=None))
    for form in (mail.text, mail.html):
        assert "It cannot be contested." in form
        assert "contestDispute" not in form
        assert "Answer by" not in form


async def test_a_partial_defence_that_is_won_loses_the_rest(shop: Shop, sold: Experiences) -> None:
    await bought_disputably(shop, for_two(sold))
    dispute = await open_dispute(shop)
    await dispute.follow()
    _, opened = await newest_mail(shop, OPENED)
    assert KEPT_BACK in opened
    assert "What you can do" in opened
    await dispute.contest("150.00")
    await dispute.decide("win")
    await dispute.follow()
    subject, ended = await newest_mail(shop, ENDED)
    assert "was won: what was contested is yours again." in ended
    assert "€44.00 were not contested, and are lost." in ended
    assert f"The {OF_ORDER} can be used again." in ended
    assert subject == "Dispute won: €194.00"


async def test_a_dispute_that_is_lost_takes_what_was_bought(shop: Shop, sold: Experiences) -> None:
    await bought_disputably(shop, for_two(sold))
    dispute = await open_dispute(shop)
    await dispute.follow()
    await dispute.contest("194.00")
    await dispute.decide("lose")
    await dispute.follow()
    _, ended = await newest_mail(shop, ENDED)
    assert "was lost: the buyer keeps €194.00" in ended
    assert f"The {OF_ORDER} are no longer valid." in ended


async def test_while_another_dispute_is_open_nothing_can_be_used(shop: Shop, sold: Experiences) -> None:
    await bought_disputably(shop, for_two(sold))
    dispute = await open_dispute(shop)
    await dispute.follow()
    await shop.execute(ANOTHER)
    await dispute.contest("194.00")
    await dispute.decide("win")
    await dispute.follow()
    _, ended = await newest_mail(shop, ENDED)
    assert f"Another dispute of this payment is open: until it ends, the {OF_ORDER} cannot be used." in ended
    assert "can be used again" not in ended
    assert await shop.one("SELECT frozen_on IS NOT NULL FROM voucher")


async def test_products_are_not_called_vouchers(shop: Shop) -> None:
    candle = await shop.product("20.00")
    key, seen = await shop.ready(ProductChoice(candle.id, 2))
    await settled(shop, key, await shop.start(key, seen), DISPUTABLE_CARD)
    dispute = await open_dispute(shop)
    await dispute.follow()
    _, opened = await newest_mail(shop, OPENED)
    assert "Order number: 1" in opened
    assert OF_ORDER not in opened
    await dispute.contest("40.00")
    await dispute.decide("win")
    await dispute.follow()
    _, ended = await newest_mail(shop, ENDED)
    assert "was won" in ended
    assert OF_ORDER not in ended


async def test_only_goods_that_are_not_refunded_are_spoken_of(shop: Shop, sold: Experiences) -> None:
    await bought_disputably(shop, for_two(sold), for_two(sold))
    await refunded(shop, 0)
    await send_refunds(shop.services)
    await shop.execute("UPDATE voucher SET state = 'used', used_on = now() WHERE state = 'paid'")
    dispute = await open_dispute(shop, type="NOT_CONTESTABLE")
    await dispute.follow()
    assert OF_ORDER not in (await newest_mail(shop, ENDED))[1]


async def add_staff(shop: Shop, name: str, role: UserRole = UserRole.MARKETPLACE, **more: Any) -> None:
    """A user of the shop's marketplace, or of its partner."""
    of_partner = {"partner_id": shop.partner.id} if role is UserRole.PARTNER else {}
    of = {"marketplace_id": shop.partner.marketplace_id, **of_partner}
    await shop.add(UserRow(username=name, email=name, role=role, **of | more))


async def mails_about_disputes(shop: Shop) -> list[tuple[Any, ...]]:
    """Kind, recipient and owner of each."""
    query = "SELECT kind, recipient, partner_id, marketplace_id FROM mail WHERE kind LIKE 'dispute%' ORDER BY id"
    return [tuple(row) for row in await shop.services.db.rows(text(query))]


async def test_a_dispute_of_a_refill_is_mailed_to_those_who_may_answer_it(shop: Shop) -> None:
    await add_staff(shop, "ada@market.example")
    await add_staff(shop, "bea@market.example", permissions=["refund_payment"])
    await add_staff(shop, "reader@market.example", permissions=["view_payment"])
    await add_staff(shop, "gone@market.example", is_active=False)
    await add_staff(shop, "partner@shop.example", UserRole.PARTNER)
    await opened_wallet(shop)
    await refilled(shop)
    dispute = await disputed_refill(shop)
    await dispute.follow()
    subject, opened = await newest_mail(shop, OPENED)
    assert subject == "A bank disputes a payment of €100.00"
    assert KEPT_OF_FUNDS in opened
    assert KEPT_BACK not in opened
    assert "Order number" not in opened
    assert "What you can do" in opened
    await dispute.contest()
    await dispute.decide("win")
    await dispute.follow()
    _, ended = await newest_mail(shop, ENDED)
    assert "was won: what was contested is yours again." in ended
    at = shop.partner.marketplace_id
    assert await mails_about_disputes(shop) == [
        (kind.value, f"{name}@market.example", None, at) for kind in (OPENED, ENDED) for name in ("ada", "bea")
    ]


async def test_a_dispute_of_an_order_of_two_owners_is_mailed_to_both(shop: Shop) -> None:
    """The partner's mail has what is disputed of its share, and says nothing of an answer that the marketplace gives."""
    await add_staff(shop, "ada@market.example")
    network, own = await mixed_shop(shop)
    await bought_disputably(shop, for_two(own), network.boxes())
    dispute = await open_dispute(shop)
    await dispute.follow()
    subject, opened = await newest_mail(shop, OPENED)
    assert subject == "A bank disputes a payment of €194.00"
    assert KEPT_BACK in opened
    assert "What you can do" not in opened
    assert "It cannot be contested." not in opened
    await dispute.contest("213.99")
    await dispute.decide("win")
    await dispute.follow()
    _, ended = await newest_mail(shop, ENDED)
    assert "€61.79 were not contested, and are lost." in ended
    at = shop.partner.marketplace_id
    told = ("ada@market.example", None, at), ("hello@shop.example", shop.partner.id, at)
    assert await mails_about_disputes(shop) == [(kind.value, *each) for kind in (OPENED, ENDED) for each in told]


async def test_a_dispute_of_a_payment_without_a_share_is_not_the_partners(shop: Shop) -> None:
    await add_staff(shop, "ada@market.example")
    network, own = await mixed_shop(shop)
    await bought_disputably(shop, for_two(own), network.boxes())
    await of_partner(shop, 0)
    await send_refunds(shop.services)
    await (await open_dispute(shop, amount=12000)).follow()
    assert {recipient for _, recipient, *_ in await mails_about_disputes(shop)} == {"ada@market.example"}


async def test_a_dispute_of_a_refill_that_nobody_can_be_told_of_is_logged(shop: Shop) -> None:
    await opened_wallet(shop)
    await refilled(shop)
    with capture_logs() as lines:
        await (await disputed_refill(shop)).follow()
    assert await mails_about_disputes(shop) == []
    assert [line["log_level"] for line in lines if line["event"] == "nobody to tell of a dispute"] == ["warning"]

"""Mails about payouts: who is told what, once, and with which papers."""

import datetime as dt
from typing import Any

import pytest
from sqlalchemy import text

from coffret.sandbox import app as sandbox_app
from resolvers.job.provider_notifications import dispatch_notification
from resolvers.network.gift_card_usages import use_network_gift_card
from resolvers.payment.payouts.payouts import create_payout_request, validate_payout_request
from resolvers.payment.payouts.sending import send_payout
from schema.account.user import UserRole
from schema.core.permission import Permission
from schema.mail import MailKind
from schema.network.gift_card_input import UseNetworkGiftCard
from schema.payment.payout import CreatePayoutRequest, ValidatePayoutRequest
from store.account.users import UserRow
from store.core.clock import clock
from store.mail.attachments import load_documents
from store.mail.content import content_of
from store.mail.render import RenderedMail, render_mail
from store.payout import lines
from store.providers.base import Subject
from store.providers.transactions import TransactionKind
from tests.fixtures.payment.api_payment import paid
from tests.fixtures.payment.network_payment import card_of_network, take_part
from tests.fixtures.payment.payout import REFUSED_IBAN, RETURNED_IBAN, can_be_paid_out, payouts, send, validated
from tests.fixtures.payment.refill import market, opened_wallet
from tests.fixtures.shop import Shop
from tests.store.mail.examples import PAYOUT, SHOP, example

PARTNER, VALIDATOR, OTHER = "agency@shop.example", "money@market.example", "nobody@market.example"
HOUR = dt.timedelta(hours=1)


async def staffed(shop: Shop) -> None:
    """The partner has an address, the marketplace a user who may validate payouts, and one who may not."""
    await shop.execute("UPDATE partner SET agency_email = :address", address=PARTNER)
    at = shop.partner.marketplace_id
    for address, permission in ((VALIDATOR, Permission.VALIDATE_PAYOUT), (OTHER, Permission.VIEW_ORDER)):
        role, may = UserRole.MARKETPLACE, [permission.value]
        await shop.add(UserRow(username=address, email=address, role=role, permissions=may, marketplace_id=at))


async def mails(shop: Shop) -> list[tuple[str, str]]:
    """The kinds of mails about payouts, and who gets them."""
    rows = await shop.services.db.rows(text("SELECT kind, recipient FROM mail WHERE kind LIKE 'payout_%' ORDER BY id"))
    return [(row.kind, row.recipient) for row in rows]


async def newest(shop: Shop, to: str) -> RenderedMail:
    """The newest mail about payouts to an address."""
    query = "SELECT kind, content FROM mail WHERE kind LIKE 'payout_%' AND recipient = :to ORDER BY id DESC LIMIT 1"
    ((kind, content),) = await shop.services.db.rows(text(query), {"to": to})
    return render_mail(MailKind(kind), content_of(MailKind(kind), content), "en", SHOP, "https://api.shop.example")


async def waiting(shop: Shop) -> int:
    """A validated payout of 40.00, for which the marketplace's wallet holds nothing; its id."""
    await take_part(shop)
    await opened_wallet(shop)
    await can_be_paid_out(shop)
    card = await card_of_network(shop)
    used = {"code": card.code, "value": "40.00", "partner_id": shop.partner.id}
    await use_network_gift_card(shop.manager, UseNetworkGiftCard.model_validate(used))
    made: Any = await create_payout_request(market(shop), CreatePayoutRequest(partner_uuid=shop.partner.uuid))
    await validate_payout_request(market(shop), ValidatePayoutRequest(id=made.id))
    return int(made.id)


async def test_a_payout_that_waits_is_told_once(shop: Shop) -> None:
    await staffed(shop)
    id = await waiting(shop)
    for _ in range(3):
        await send_payout(shop.services, id)
        clock.advance(HOUR)
    assert await mails(shop) == [("payout_waiting", PARTNER), ("payout_waiting", VALIDATOR)]
    told, staff = await newest(shop, PARTNER), await newest(shop, VALIDATOR)
    assert told.subject == staff.subject == "A payout of €40.00 waits"
    assert "A refill of €40.00 releases it." in staff.text
    assert "refill" not in told.text
    assert f"Payout number: {id}" in told.text


async def test_a_payout_that_still_waits_is_told_every_week(shop: Shop) -> None:
    await staffed(shop)
    id = await waiting(shop)
    for _ in range(9):
        await send_payout(shop.services, id)
        clock.advance(dt.timedelta(days=2))
    assert await mails(shop) == [("payout_waiting", PARTNER), ("payout_waiting", VALIDATOR)] * 3
    assert await shop.one("SELECT count(*) FROM event WHERE type = 'payout_request.waiting'") == 1


async def test_a_payout_that_was_paid_is_told_to_the_partner(shop: Shop) -> None:
    await staffed(shop)
    await can_be_paid_out(shop)
    await paid(shop, "50.00")
    payout = await send(shop, await validated(shop))
    await send_payout(shop.services, payout.id)
    assert await mails(shop) == [("payout_paid", PARTNER)]
    assert "Your payout of €50.00 was sent to your bank account." in (await newest(shop, PARTNER)).text


async def test_the_statement_is_attached_unless_it_is_long(shop: Shop, monkeypatch: pytest.MonkeyPatch) -> None:
    await staffed(shop)
    await can_be_paid_out(shop)
    await paid(shop, "50.00")
    await send(shop, await validated(shop))
    ((content,),) = await shop.services.db.rows(text("SELECT content FROM mail WHERE kind = 'payout_paid'"))
    about, services = content_of(MailKind.PAYOUT_PAID, content), shop.services

    async def enclosed() -> Any:
        return await load_documents(
            services.db, services.settings, services.files, services.wallet_keys, MailKind.PAYOUT_PAID, about
        )

    brought = await enclosed()
    (file,) = brought.files
    assert file.content.startswith(b"%PDF")
    message = render_mail(MailKind.PAYOUT_PAID, about, "en", SHOP, "https://api.shop.example", brought.links)
    assert "The statement is attached." in message.text
    monkeypatch.setattr("store.mail.attachments.MOST_LINES_AT_ONCE", 0)
    assert (await enclosed()).files == ()
    assert lines.MOST_LINES_AT_ONCE > 0
    assert "attached" not in (await newest(shop, PARTNER)).text


async def test_a_payout_that_failed_is_told_once_with_its_cause(shop: Shop) -> None:
    await staffed(shop)
    await can_be_paid_out(shop, REFUSED_IBAN)
    await paid(shop, "50.00")
    payout = await send(shop, await validated(shop))
    await send_payout(shop.services, payout.id)
    assert payout.status == "failed"
    assert await mails(shop) == [("payout_failed", PARTNER), ("payout_failed", VALIDATOR)]
    told, staff = await newest(shop, PARTNER), await newest(shop, VALIDATOR)
    assert told.subject == "A payout of €50.00 has failed"
    assert f"The payout of €50.00 to {shop.partner.commercial_name} has failed." in staff.text
    assert "Nothing is lost: the amount goes into the next payout." in told.text


async def test_a_payout_that_came_back_is_told(shop: Shop) -> None:
    await staffed(shop)
    await can_be_paid_out(shop, RETURNED_IBAN)
    await paid(shop, "50.00")
    done = await send(shop, await validated(shop))
    clock.advance(dt.timedelta(days=2))
    refund = (await shop.services.provider.list_children(TransactionKind.PAYOUT, done.provider_id))[0]
    for _ in range(2):
        await dispatch_notification(shop.services, Subject.REFUND, refund.id)
    kinds = [("payout_paid", PARTNER), ("payout_failed", PARTNER), ("payout_failed", VALIDATOR)]
    assert await mails(shop) == kinds
    assert (await newest(shop, VALIDATOR)).subject == "The bank has sent back a payout of €50.00"


async def test_a_transfer_that_is_refused_for_good_is_told_after_the_third_time(shop: Shop) -> None:
    """It is tried less and less often, stays pending, and says why."""
    await staffed(shop)
    id = await waiting(shop)
    pauses = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("resolvers.payment.payouts.settling._free_money", enough)
        for _ in range(5):
            await send_payout(shop.services, id)
            await sandbox_app.tick(shop.sandbox)
            (row,) = await payouts(shop)
            assert row.check_on is not None
            pauses.append(round((row.check_on - clock.now()) / HOUR))
            clock.advance(row.check_on - clock.now())
            told = [each for each in await mails(shop) if each[0] == "payout_waiting"]
            assert len(told) == (2 if len(pauses) >= 3 else 0)
    assert pauses == [1, 6, 24, 24, 24]
    assert await shop.one("SELECT status FROM transfer WHERE type = 'settlement'") == "pen"
    assert "refused the transfer" in row.detail
    assert "refuses the transfer from the wallet of the marketplace" in (await newest(shop, VALIDATOR)).text
    assert row.detail in (await newest(shop, VALIDATOR)).text
    assert row.detail not in (await newest(shop, PARTNER)).text


async def enough(*_: Any) -> Any:
    """As if the marketplace's wallet held it."""
    return 10_000


def test_each_cause_has_its_words() -> None:
    for cause in ("insufficient_wallet", "bank_account", "kyc_required", "expired"):
        about = PAYOUT.model_copy(update={"cause": cause, "reason": "in the provider's words"})
        assert "provider's words" not in example(MailKind.PAYOUT_FAILED, content=about).text
    other = PAYOUT.model_copy(update={"cause": "unknown", "reason": "100 % refused"})
    assert "100 % refused" in example(MailKind.PAYOUT_FAILED, content=other).text

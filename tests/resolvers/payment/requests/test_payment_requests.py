"""Payment requests: asked for, mailed, reminded of, paid once, cancelled, expired; and all of that at once."""

import asyncio
import contextlib
import datetime as dt
from decimal import Decimal
from typing import Any

import pytest
from sqlalchemy import text

from resolvers.job import expiry
from resolvers.payment.page import page, process
from resolvers.payment.page.process import sync_payin
from resolvers.payment.requests import payment_requests
from schema.core.errors import InvalidInput, InvalidTransition, NotFound, PartnerInactive
from schema.event import EventType
from schema.payment.errors import PaymentEnded, PaymentInProgress, PaymentsNotActive
from schema.payment.page import PaymentPageState as State
from schema.payment.request import PaymentRequestStatus as Status
from schema.payment.request_input import CancelPaymentRequest, ResendPaymentRequest
from store.core.clock import clock
from tests.fixtures.ledger import broken_rules
from tests.fixtures.payment.api_payment import fee_rule
from tests.fixtures.payment.payment_request import (
    asked,
    come_back,
    last_try,
    pay_at_provider,
    press,
    request_input,
    reread,
    view,
    visitor,
)
from tests.fixtures.shop import DECLINED_CARD, Shop


async def events(shop: Shop) -> list[str]:
    """What was told of requests, in its order."""
    told = await shop.services.db.rows(text("SELECT type FROM event WHERE type LIKE 'payment_request.%' ORDER BY id"))
    return [row[0] for row in told]


async def mails(shop: Shop) -> list[tuple[str, str, str]]:
    rows = await shop.services.db.rows(text("SELECT kind, recipient, language FROM mail ORDER BY id"))
    return [(row[0], row[1], row[2]) for row in rows]


async def cancel(shop: Shop, id: int) -> Any:
    return await payment_requests.cancel_payment_request(shop.manager, CancelPaymentRequest(id=id))


# ---- asking


async def test_a_customer_is_asked_by_mail(shop: Shop) -> None:
    row = await asked(shop, language="fr")
    assert await mails(shop) == [("payment_request", "ada@example.com", "fr")]
    content = await shop.one("SELECT content FROM mail")
    assert content["url"].endswith(f"/pay/{row.link_token}/")
    assert content["amount"] == "250.00"
    assert await events(shop) == [EventType.PAYMENT_REQUEST_CREATED]
    assert row.status is Status.PENDING
    in_paris = row.expires_on.astimezone(dt.timezone(dt.timedelta(hours=1)))
    assert row.expires_on - row.created_on > dt.timedelta(days=13)
    assert row.expires_on - row.created_on < dt.timedelta(days=15)
    assert in_paris.minute == 59


async def test_the_marketplace_says_how_long(shop: Shop) -> None:
    await shop.execute("UPDATE marketplace SET payment_request_days = 1")
    row = await asked(shop)
    assert dt.timedelta(hours=23) < row.expires_on - row.created_on < dt.timedelta(days=2)


@pytest.mark.parametrize("change", ["payments_active = false", "provider_wallet_id = ''"])
async def test_who_cannot_be_paid_does_not_ask(shop: Shop, change: str) -> None:
    await shop.execute(f"UPDATE partner SET {change}")  # noqa: S608 - from this test
    with pytest.raises(PaymentsNotActive):
        await asked(shop)
    await shop.execute("UPDATE partner SET status = 'i'")
    with pytest.raises(PartnerInactive):
        await asked(shop)
    assert (await shop.count("payment_request"), await shop.count("mail")) == (0, 0)


async def test_the_mail_is_sent_again(shop: Shop) -> None:
    row = await asked(shop)
    await payment_requests.resend_payment_request(shop.manager, ResendPaymentRequest(id=row.id))
    assert await mails(shop) == [("payment_request", "ada@example.com", "en")] * 2
    await cancel(shop, row.id)
    with pytest.raises(PaymentEnded):
        await payment_requests.resend_payment_request(shop.manager, ResendPaymentRequest(id=row.id))


async def test_a_customer_is_reminded_once(shop: Shop) -> None:
    row = await asked(shop)
    remind = expiry.remind_customers
    assert await remind(shop.services) == 0
    await shop.execute("UPDATE payment_request SET expires_on = now() + interval '71 hours'")
    await shop.execute("UPDATE marketplace SET payment_request_reminder_days = 0")
    assert await remind(shop.services) == 0
    await shop.execute("UPDATE marketplace SET payment_request_reminder_days = 3")
    assert await remind(shop.services) == 0  # it was asked for less than three days before it expires
    await shop.execute("UPDATE payment_request SET created_on = created_on - interval '11 days'")
    assert [await remind(shop.services), await remind(shop.services)] == [1, 0]
    assert [kind for kind, *_ in await mails(shop)] == ["payment_request", "payment_reminder"]
    assert (await reread(shop, row.id)).reminded_on is not None


# ---- paying


async def test_it_is_paid(shop: Shop) -> None:
    await fee_rule(shop)
    row = await asked(shop)
    url = await press(shop, row.link_token)
    assert (await view(shop, row.link_token)).provider_url == url
    await pay_at_provider(shop)
    assert (await come_back(shop, row.link_token)).state is State.PAID
    assert (await reread(shop, row.id)).status is Status.PAID
    assert await events(shop) == [EventType.PAYMENT_REQUEST_CREATED, EventType.PAYMENT_REQUEST_PAID]
    paid = "SELECT status, commission_amount, payment_request_id, product FROM payment"
    assert tuple((await shop.services.db.rows(text(paid)))[0]) == ("ok", Decimal("15.00"), row.id, "")
    with pytest.raises(PaymentEnded):
        await press(shop, row.link_token)
    with pytest.raises(InvalidTransition):
        await cancel(shop, row.id)
    assert await broken_rules(shop.services.db) == {}


async def test_tries_that_fail_leave_it_pending(shop: Shop) -> None:
    row = await asked(shop)
    for _ in range(3):
        await press(shop, row.link_token)
        await pay_at_provider(shop, DECLINED_CARD)
        assert (await come_back(shop, row.link_token)).state is State.DECLINED
    assert (await reread(shop, row.id)).status is Status.PENDING
    await press(shop, row.link_token)
    await pay_at_provider(shop)
    assert (await come_back(shop, row.link_token)).state is State.PAID
    assert (await shop.count("payment"), await shop.count("payment_transaction")) == (1, 4)


async def test_twenty_presses_at_once_begin_one_try(shop: Shop) -> None:
    row = await asked(shop)
    urls = await asyncio.gather(*[press(shop, row.link_token) for _ in range(20)])
    assert len(set(urls)) == 1
    assert (await shop.count("payment"), await shop.count("payment_transaction")) == (1, 1)
    await pay_at_provider(shop)
    pages = await asyncio.gather(*[come_back(shop, row.link_token) for _ in range(20)])
    assert {seen.state for seen in pages} == {State.PAID}
    assert (await events(shop)).count(EventType.PAYMENT_REQUEST_PAID) == 1
    assert await broken_rules(shop.services.db) == {}


@pytest.mark.parametrize("is_paid", [True, False])
async def test_press_expiry_cancellation_and_notification_at_once(shop: Shop, is_paid: bool) -> None:
    rows = [await asked(shop, "10.00", reference=str(number)) for number in range(6)]
    for row in rows:
        await press(shop, row.link_token)
        if is_paid:
            await pay_at_provider(shop)
    await shop.execute("UPDATE payment_request SET expires_on = now() - interval '1 second' WHERE id % 2 = 0")
    payins = await shop.services.db.rows(text("SELECT id, provider_id FROM payment_transaction"))
    refused = (PaymentEnded, PaymentInProgress, InvalidTransition)

    async def at_once(work: Any) -> None:
        with contextlib.suppress(*refused):
            await work

    await asyncio.gather(
        *[at_once(press(shop, row.link_token)) for row in rows],
        *[at_once(cancel(shop, row.id)) for row in rows],
        *[at_once(sync_payin(shop.services, payin.id)) for payin in payins],
        *[at_once(process.handle_payin_notification(shop.services, payin.provider_id)) for payin in payins],
        *[expiry.expire_payment_requests(shop.services) for _ in range(3)],
    )
    found = {(await reread(shop, row.id)).status for row in rows}
    assert found == ({Status.PAID} if is_paid else {Status.PENDING})
    ok = await shop.one("SELECT count(*) FROM payment WHERE status = 'ok'")
    assert (ok, await shop.count("payment")) == (6 if is_paid else 0, 6)
    assert await broken_rules(shop.services.db) == {}


async def test_what_is_paid_after_the_end_counts(shop: Shop) -> None:
    """The page of the provider was still open when the request ended."""
    row = await asked(shop)
    await press(shop, row.link_token)
    await shop.execute("UPDATE payment_request SET status = 'expired'")
    await pay_at_provider(shop)
    assert (await come_back(shop, row.link_token)).state is State.PAID
    assert (await reread(shop, row.id)).status is Status.PAID


async def test_a_second_payment_of_one_request_goes_back(shop: Shop) -> None:
    row = await asked(shop)
    await press(shop, row.link_token)
    await pay_at_provider(shop)
    await shop.execute("UPDATE payment_request SET status = 'paid'")
    payin = await last_try(shop)
    await sync_payin(shop.services, payin.id)
    assert await shop.one("SELECT refunded_amount FROM payment") == Decimal("250.00")
    assert (await events(shop)).count(EventType.PAYMENT_REQUEST_PAID) == 0


# ---- its ends


async def test_it_is_cancelled_unless_somebody_is_paying(shop: Shop) -> None:
    row = await asked(shop)
    await press(shop, row.link_token)
    with pytest.raises(PaymentInProgress):
        await cancel(shop, row.id)
    await pay_at_provider(shop, DECLINED_CARD)
    await come_back(shop, row.link_token)
    await cancel(shop, row.id)
    await cancel(shop, row.id)
    assert (await events(shop)).count(EventType.PAYMENT_REQUEST_CANCELLED) == 1
    (payment,) = await shop.services.db.rows(text("SELECT id FROM payment"))
    await process.end_payment(shop.services, payment.id)
    assert await shop.one("SELECT status FROM payment") == "cncl"
    assert (await view(shop, row.link_token)).state is State.CANCELLED
    with pytest.raises(PaymentEnded):
        await press(shop, row.link_token)


async def test_it_expires_unless_somebody_is_paying(shop: Shop) -> None:
    row = await asked(shop)
    await press(shop, row.link_token)
    await shop.execute("UPDATE payment_request SET expires_on = now() - interval '1 second'")
    assert await expiry.expire_payment_requests(shop.services) == 0
    await pay_at_provider(shop, None)
    await come_back(shop, row.link_token)
    assert [await expiry.expire_payment_requests(shop.services) for _ in range(2)] == [1, 0]
    assert (await events(shop)).count(EventType.PAYMENT_REQUEST_EXPIRED) == 1
    assert (await view(shop, row.link_token)).state is State.EXPIRED
    queued = await shop.one("SELECT count(*) FROM pgqueuer WHERE entrypoint = 'end_payment'")
    assert queued == 1


# ---- refills


async def test_another_marketplace_is_not_refilled(shop: Shop) -> None:
    with pytest.raises(InvalidInput) as refusal:
        await payment_requests.create_payment_request(shop.manager, request_input(shop, invoicing_marketplace_id=4711))
    assert refusal.value.problems[0].path == ("invoicing_marketplace_id",)


# ---- links


async def test_a_link_is_of_one_partner(shop: Shop) -> None:
    row = await asked(shop)
    with pytest.raises(NotFound):
        await visitor(shop, row.link_token[:-1] + ("a" if row.link_token[-1] != "a" else "b"))
    stranger = shop.context
    stranger.caller = type(shop.context.required_caller).customer(shop.partner.id + 1, shop.partner.marketplace_id)
    for operation in (page.payment_page, page.return_to_payment_page):
        with pytest.raises(NotFound):
            await operation(stranger, row.link_token)
    with pytest.raises(NotFound):
        await page.pay_by_link(stranger, row.link_token, "https://shop.example/", "en")
    assert clock.now() > row.created_on

"""The payments of the demo data: every state is there, and the books agree with the provider's."""

import asyncio
import datetime as dt
import shutil
from pathlib import Path
from typing import Any

import httpx
import pytest
from sqlalchemy import text
from starlette.applications import Starlette

from coffret.demo import content
from coffret.demo.payment_content import DemoPaymentEnd, DemoRequestEnd, load_payments
from coffret.demo.payments import load_demo
from coffret.sandbox import app as sandbox_app
from resolvers.core.services import Services
from resolvers.payment.reconciliation.runs import advance_run, begin_reconciliation
from schema.payment.dispute import DisputeState
from schema.payment.payment import PaymentRefundStatus, PaymentStatus, RefundState
from schema.payment.payout import PayoutRequestStatus
from schema.payment.request import PaymentRequestStatus
from schema.reconciliation import ReconciliationFindingState, ReconciliationRunState
from store.core.clock import clock
from store.partner.partners import PartnerRow
from tests.fixtures.payment.api_payment import books_balance, wallets_agree
from tests.fixtures.shop import Shop

CONTENT = load_payments(content.PARTNERS[0])


@pytest.fixture
def services(application: tuple[Starlette, httpx.AsyncClient]) -> Services:
    """Those of an application with an empty database."""
    found: Services = application[0].state.container.services
    return found


async def load(application: tuple[Starlette, httpx.AsyncClient]) -> None:
    container = application[0].state.container
    assert await load_demo(container.services, container.sandbox) is not None


async def values(services: Services, statement: str) -> list[Any]:
    """The values of one column."""
    return [row[0] for row in await services.db.rows(text(statement))]


async def test_it_is_made_once_whole_and_goes_on(
    application: tuple[Starlette, httpx.AsyncClient], services: Services
) -> None:
    await it_is_made_once(application, services)
    await every_state_is_there_and_the_books_agree_with_the_provider(application, services)
    await the_next_reconciliation_resolves_what_is_open(application, services)


async def every_state_is_there_and_the_books_agree_with_the_provider(
    application: tuple[Starlette, httpx.AsyncClient], services: Services
) -> None:
    assert clock.ahead == dt.timedelta()
    assert {*await values(services, "SELECT status FROM payment")} == {*PaymentStatus}
    assert {*await values(services, "SELECT refund_status FROM payment")} == {*PaymentRefundStatus}
    assert {*await values(services, "SELECT state FROM refund")} == {*RefundState}
    assert {*await values(services, "SELECT status FROM payment_request")} == {*PaymentRequestStatus}
    assert sorted(await values(services, "SELECT state FROM dispute")) == sorted(DisputeState)
    assert sorted(await values(services, "SELECT status FROM payout_request")) == sorted(PayoutRequestStatus)
    assert sorted(await values(services, "SELECT status FROM payout_adjustment")) == ["booked", "pending"]
    assert sorted(await values(services, "SELECT state FROM reconciliation_finding")) == sorted(
        ReconciliationFindingState
    )
    later = (
        "SELECT check_on > now() + interval '20 hours' FROM payment_transaction t JOIN refund r ON r.id = t.refund_id"
    )
    assert await values(services, f"{later} WHERE r.state = 'pending'") == [True], "it is sent tomorrow"
    assert await values(services, "SELECT count(*) FROM payment_request WHERE reminded_on IS NOT NULL") == [1]
    by_gift_card = "SELECT card_amount = 0 FROM payment WHERE extra_amount > 0 ORDER BY 1"
    assert await values(services, by_gift_card) == [False, True]
    assert await values(services, "SELECT count(*) FROM payment WHERE commission_amount > 0") != [0]
    await orders_are_there(services)
    async with services.db.sessions() as db:
        shop = Shop(services, application[0].state.container.sandbox, await db.get_one(PartnerRow, 1))
    await books_balance(shop)
    await wallets_agree(shop)
    await nothing_is_out_of_time(services)
    left = await values(services, "SELECT kind FROM job")
    assert "send_refund" not in left  # it would send the refund that needs a person
    assert "send_mail" in left


async def orders_are_there(services: Services) -> None:
    """Orders to prepare, to collect, on their way and handed over; presents, one of which waits; one asked back."""
    states = "SELECT fulfilment_state FROM shop_order WHERE fulfilment_state IS NOT NULL ORDER BY 1"
    assert await values(services, states) == ["delivered", "ready_to_collect", "sent", "to_prepare"]
    kinds = "SELECT kind FROM shop_order WHERE fulfilment_state IS NULL ORDER BY 1"
    assert await values(services, kinds) == ["mixed", "vouchers"]
    assert await values(services, "SELECT state FROM refund_request") == ["pending"]
    methods = "SELECT DISTINCT method FROM payment_transaction WHERE method IS NOT NULL ORDER BY 1"
    assert await values(services, methods) == ["card", "ideal"]
    waiting = "SELECT count(DISTINCT due_on) FROM mail WHERE state = 'queued' AND kind = 'gift_card' AND due_on > now() + interval '20 days'"
    assert await values(services, waiting) == [1], "a present of the next month"


async def nothing_is_out_of_time(services: Services) -> None:
    """What is over was over in time, and nothing happens later than now."""
    moments = "SELECT created_on FROM payment UNION SELECT created_on FROM refund UNION SELECT created_on FROM dispute"
    made = await values(services, moments)
    assert min(made) < clock.now() - dt.timedelta(days=20) < max(made) <= clock.now()
    assert await values(services, "SELECT count(*) FROM payment WHERE modified_on < created_on") == [0]
    assert await values(services, "SELECT count(*) FROM dispute WHERE closed_on < created_on") == [0]
    ended = "SELECT count(*) FROM payment_request WHERE (status = 'expired') <> (expires_on < now())"
    assert await values(services, f"{ended} AND status IN ('expired', 'pending')") == [0]


async def it_is_made_once(application: tuple[Starlette, httpx.AsyncClient], services: Services) -> None:
    await asyncio.gather(load(application), load(application))
    assert await values(services, "SELECT count(*) FROM payment_request") == [len(CONTENT.requests) + 1], "and a refill"
    paid_requests = sum(request.end is DemoRequestEnd.PAID for request in CONTENT.requests)
    assert await values(services, "SELECT count(*) FROM payment") == [
        len(CONTENT.payments) + paid_requests + len(CONTENT.orders) + 1
    ]


def test_the_content_has_every_end() -> None:
    assert {payment.end for payment in CONTENT.payments} == {*DemoPaymentEnd}
    assert {request.end for request in CONTENT.requests} == {*DemoRequestEnd}
    for payment in CONTENT.payments:
        is_followed = payment.refund is not None or payment.dispute is not None
        assert not is_followed or payment.end is DemoPaymentEnd.PAID, payment.key
    assert CONTENT.dispute_document.startswith(b"%PDF-")


def test_a_mistake_names_its_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / content.PARTNERS[0]
    folder.mkdir()
    shutil.copy(content.FOLDER / content.PARTNERS[0] / "payments.toml", folder)
    monkeypatch.setattr("coffret.demo.payment_content.FOLDER", tmp_path)
    with pytest.raises(ValueError, match=r"proof-of-stay\.pdf"):
        load_payments(folder.name)
    file = folder / "payments.toml"
    file.write_text(file.read_text().replace('key = "claire"', 'key = "clara"'))
    with pytest.raises(ValueError, match=r"payments\.toml: it has no customer claire"):
        load_payments(folder.name)


async def the_next_reconciliation_resolves_what_is_open(
    application: tuple[Starlette, httpx.AsyncClient], services: Services
) -> None:
    clock.advance(dt.timedelta(days=1))
    id = await begin_reconciliation(services)
    for _ in range(20):
        run = await advance_run(services, id)
        clock.advance(dt.timedelta(minutes=1))
        await sandbox_app.tick(application[0].state.container.sandbox)
    assert run.state is ReconciliationRunState.DONE
    states = "SELECT state FROM reconciliation_finding ORDER BY id"
    assert await values(services, states) == ["resolved", "explained", "resolved"]

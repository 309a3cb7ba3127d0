"""Answers to disputes: documents, contesting, accepting; who may, and what is refused."""

import asyncio
import dataclasses
import datetime as dt
import uuid
from decimal import Decimal
from typing import Any

import pytest
from sqlalchemy import text

from resolvers.core.caller import Caller, Role
from resolvers.core.context import Context
from resolvers.core.lists.listing import PageArguments
from resolvers.job.provider_notifications import dispatch_notification
from resolvers.payment.disputes.disputes import DisputeFilter, accept_dispute, contest_dispute, disputes
from resolvers.payment.disputes.documents import push_dispute_document
from schema.core.errors import Forbidden, InvalidInput, NotFound, ProviderTimedOut
from schema.core.permission import Permission
from schema.kyc.kyc import KycCheckStatus
from schema.payment.dispute import AcceptDispute, ContestDispute, DisputeDocumentKind, DisputeState, PushDisputeDocument
from schema.payment.errors import DisputeNotAnswerable, DisputeWithoutDocument
from store.core.clock import clock
from store.payment.disputes import DisputeRow
from store.providers.base import Subject
from store.providers.errors import TransientError
from tests.fixtures.basket import card_of, columns
from tests.fixtures.payment.dispute import KIND, OpenedDispute, books_are_right, bought_disputably, open_dispute, upload
from tests.fixtures.shop import Shop, open_shop


async def opened(shop: Shop, **asked: Any) -> tuple[OpenedDispute, DisputeRow]:
    """A dispute of a gift card for 100.00."""
    await bought_disputably(shop, card_of("100.00"))
    dispute = await open_dispute(shop, **asked)
    return dispute, await dispute.follow()


def document(row: DisputeRow, content: bytes | None = None, kind: DisputeDocumentKind = KIND) -> PushDisputeDocument:
    """A document to add."""
    file = upload() if content is None else upload(content)
    return PushDisputeDocument(dispute_id=row.id, kind=kind, file=file)


async def test_contested_with_a_document_and_won(shop: Shop) -> None:
    dispute, row = await opened(shop)
    added = await push_dispute_document(shop.manager, document(row))
    assert (added.status, added.media_type, added.size) == (KycCheckStatus.VALIDATION_ASKED, "application/pdf", 2009)
    for _ in range(2):
        contested = await contest_dispute(shop.manager, ContestDispute(id=row.id, amount=Decimal("80.00")))
        assert (contested.state, contested.contested_amount) == (DisputeState.UNDER_REVIEW, Decimal(80))
    await dispute.decide("win")
    described = (await shop.control("GET", f"/disputes/{dispute.id}")).json()
    assert [(it["Type"], it["Status"]) for it in described["Documents"]] == [("INVOICE", "VALIDATED")]
    provider_id = await shop.one("SELECT provider_id FROM dispute_document")
    await dispatch_notification(shop.services, Subject.DISPUTE_DOCUMENT, provider_id)
    assert await columns(shop, "dispute_document", "status") == [("VALIDATED",)]
    await dispute.follow()
    await books_are_right(shop)


async def test_a_refused_document_says_why_and_the_dispute_is_contested_again(shop: Shop) -> None:
    dispute, row = await opened(shop)
    await push_dispute_document(shop.manager, document(row))
    await contest_dispute(shop.manager, ContestDispute(id=row.id))
    await dispute.decide("reopen", "We cannot read it")
    provider_id = await shop.one("SELECT provider_id FROM dispute_document")
    await dispatch_notification(shop.services, Subject.DISPUTE_DOCUMENT, provider_id)
    assert await columns(shop, "dispute_document", "status", "refused_reason") == [("REFUSED", "We cannot read it")]
    assert (await dispute.follow()).state is DisputeState.NEEDS_RESPONSE
    with pytest.raises(DisputeWithoutDocument):
        await contest_dispute(shop.manager, ContestDispute(id=row.id))
    await push_dispute_document(shop.manager, document(row))
    assert (await contest_dispute(shop.manager, ContestDispute(id=row.id))).state is DisputeState.UNDER_REVIEW
    assert await shop.count("dispute_document") == 2


async def test_the_same_file_is_one_document(shop: Shop) -> None:
    _, row = await opened(shop)
    for _ in range(2):
        await push_dispute_document(shop.manager, document(row))
    await asyncio.gather(*(push_dispute_document(shop.manager, document(row)) for _ in range(4)))
    assert await shop.count("dispute_document") == 1
    await push_dispute_document(shop.manager, document(row, kind=DisputeDocumentKind.DELIVERY_PROOF))
    assert await shop.count("dispute_document") == 2


async def test_a_submission_that_was_interrupted_goes_on(shop: Shop) -> None:
    dispute, row = await opened(shop)
    provider: Any = shop.services.provider
    submit = provider.submit_dispute_document

    async def go_away(*_ids: str) -> Any:
        raise TransientError("The provider is away.")

    provider.submit_dispute_document = go_away
    with pytest.raises(ProviderTimedOut):
        await push_dispute_document(shop.manager, document(row))
    assert await columns(shop, "dispute_document", "step", "status") == [("filed", "CREATED")]
    with pytest.raises(DisputeWithoutDocument):
        await contest_dispute(shop.manager, ContestDispute(id=row.id))
    provider.submit_dispute_document = submit
    await push_dispute_document(shop.manager, document(row))
    assert await columns(shop, "dispute_document", "step", "status") == [("submitted", "VALIDATION_ASKED")]
    described = (await shop.control("GET", f"/disputes/{dispute.id}")).json()
    assert len(described["Documents"]) == 1


async def test_accepting_a_dispute_loses_it(shop: Shop) -> None:
    dispute, row = await opened(shop)
    for _ in range(2):
        assert (await accept_dispute(shop.manager, AcceptDispute(id=row.id))).state is DisputeState.LOST
    assert (await dispute.check()).settled_amount == 100
    await books_are_right(shop)
    with pytest.raises(DisputeNotAnswerable):
        await contest_dispute(shop.manager, ContestDispute(id=row.id))
    with pytest.raises(DisputeNotAnswerable):
        await push_dispute_document(shop.manager, document(row))


async def test_what_is_examined_cannot_be_accepted(shop: Shop) -> None:
    _, row = await opened(shop)
    await push_dispute_document(shop.manager, document(row))
    await contest_dispute(shop.manager, ContestDispute(id=row.id))
    with pytest.raises(DisputeNotAnswerable):
        await accept_dispute(shop.manager, AcceptDispute(id=row.id))


async def test_after_the_time_is_over_nothing_is_sent(shop: Shop) -> None:
    _, row = await opened(shop, days=1)
    clock.advance(dt.timedelta(days=2))
    with pytest.raises(DisputeNotAnswerable):
        await contest_dispute(shop.manager, ContestDispute(id=row.id))
    with pytest.raises(DisputeNotAnswerable):
        await accept_dispute(shop.manager, AcceptDispute(id=row.id))


@pytest.mark.parametrize(
    ("content", "message"),
    [(b"%PDF-", "smaller"), (b"MZ" + b"0" * 2000, "Send a PDF"), (b"%PDF-" + b"0" * 8_000_000, "larger")],
)
async def test_a_file_that_the_provider_does_not_take(shop: Shop, content: bytes, message: str) -> None:
    _, row = await opened(shop)
    with pytest.raises(InvalidInput) as refused:
        await push_dispute_document(shop.manager, document(row, content))
    assert message in refused.value.problems[0].message
    assert await shop.count("dispute_document") == 0


async def test_more_than_is_disputed_cannot_be_contested(shop: Shop) -> None:
    _, row = await opened(shop, amount=5000)
    await push_dispute_document(shop.manager, document(row))
    with pytest.raises(InvalidInput) as refused:
        await contest_dispute(shop.manager, ContestDispute(id=row.id, amount=Decimal("50.01")))
    assert [(it.path, it.code) for it in refused.value.problems] == [(("amount",), "OUT_OF_RANGE")]


def caller_of(shop: Shop, *permissions: Permission) -> Context:
    """A user of the shop with these permissions."""
    of, at = shop.partner.id, shop.partner.marketplace_id
    return Context(shop.services, Caller(Role.PARTNER, frozenset(permissions), partner_id=of, marketplace_id=at))


async def test_who_may_answer(shop: Shop) -> None:
    _, row = await opened(shop)
    other = await open_shop(shop.services, shop.sandbox, "other.localhost")
    stranger = dataclasses.replace(other, services=shop.services).manager
    reader = caller_of(shop, Permission.VIEW_PAYMENT, Permission.CREATE_PAYMENT)
    inputs: list[tuple[Any, Any]] = [
        (push_dispute_document, document(row)),
        (contest_dispute, ContestDispute(id=row.id)),
        (accept_dispute, AcceptDispute(id=row.id)),
    ]
    for operation, input in inputs:
        with pytest.raises(Forbidden):
            await operation(reader, input)
        with pytest.raises(NotFound):
            await operation(stranger, input)
    with pytest.raises(NotFound):
        await accept_dispute(shop.manager, AcceptDispute(id=uuid.uuid4()))
    assert (await shop.one("SELECT state FROM dispute"), await shop.count("dispute_document")) == ("needs_response", 0)
    with pytest.raises(Forbidden):
        await disputes(caller_of(shop, Permission.VIEW_ORDER), PageArguments())
    assert len(await ids_of(shop.manager)) == 1
    assert await ids_of(stranger) == []


async def ids_of(context: Context, **filter: Any) -> list[Any]:
    """The ids of the disputes that a caller sees."""
    page = await disputes(context, PageArguments(), DisputeFilter(**filter))
    return [row.id for row in await page.rows.objects()]


async def test_filters(shop: Shop) -> None:
    _, row = await opened(shop)
    [payment_id] = [id for (id,) in await shop.services.db.rows(text("SELECT id FROM payment"))]
    later = clock.now() + dt.timedelta(days=20)
    assert await ids_of(shop.manager, payment_id=payment_id, states=[DisputeState.NEEDS_RESPONSE]) == [row.id]
    assert await ids_of(shop.manager, contest_until=later) == [row.id]
    assert await ids_of(shop.manager, contest_until=clock.now()) == []
    assert await ids_of(shop.manager, state=DisputeState.WON) == []

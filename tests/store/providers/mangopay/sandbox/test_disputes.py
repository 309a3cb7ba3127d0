"""The adapter and the sandbox together: disputes, refunds in the dashboard, owners and renewals."""

import datetime as dt
from collections.abc import AsyncIterator

import pytest

from schema.payment_method import PaymentMethod
from store.providers.accounts import CheckStatus, KycLevel, OwnerCheckStatus
from store.providers.base import Subject
from store.providers.disputes import (
    DisputeDocumentType,
    DisputeOutcome,
    DisputeStatus,
    DisputeType,
    SettlementRequest,
)
from store.providers.errors import Declined, InvalidRequest
from store.providers.keys import new_idempotency_key
from store.providers.mangopay import Mangopay
from store.providers.money import MinorAmount
from store.providers.transactions import (
    CardRefundRequest,
    FailureReason,
    PayinRequest,
    TransactionKind,
    TransactionStatus,
)
from tests.coffret.sandbox.disputes.disputed import decided, open_dispute
from tests.coffret.sandbox.mangopay_api import Json, MangopayApi, running
from tests.coffret.sandbox.owners import owner
from tests.store.providers.mangopay.connected_provider import adapter_of
from tests.store.providers.mangopay.wire.answered_by_table import content


@pytest.fixture
async def api() -> AsyncIterator[MangopayApi]:
    async with running() as api:
        yield api


@pytest.fixture
async def adapter(api: MangopayApi) -> AsyncIterator[Mangopay]:
    adapter = adapter_of(api)
    yield adapter
    await adapter.aclose()


def eur(minor: int) -> MinorAmount:
    return MinorAmount("EUR", minor)


async def test_contested_with_a_document_and_won(api: MangopayApi, adapter: Mangopay) -> None:
    opened = (await open_dispute(api, reason="FRAUD"))["Id"]
    now = api.clock.now()
    dispute = await adapter.get_dispute(opened)
    assert (dispute.type, dispute.status, dispute.outcome, dispute.reason_code) == (
        *(DisputeType.CONTESTABLE, DisputeStatus.PENDING_CLIENT_ACTION, DisputeOutcome.OPEN),
        "FRAUD",
    )
    document = await adapter.create_dispute_document(
        opened, DisputeDocumentType.INVOICE, reference="ours", key=new_idempotency_key(), sent_at=now
    )
    await adapter.add_dispute_page(opened, document.id, content, key=new_idempotency_key(), sent_at=now)
    for _ in range(2):
        assert (await adapter.submit_dispute_document(opened, document.id)).status is CheckStatus.PENDING
        contested = await adapter.contest_dispute(opened, eur(2400))
        assert (contested.status, contested.contested) == (DisputeStatus.SUBMITTED, eur(2400))
    await api.control("POST", f"/disputes/{opened}", {"outcome": "win"})
    won = await adapter.get_dispute(opened)
    assert (won.status, won.outcome) == (DisputeStatus.CLOSED, DisputeOutcome.WON)
    assert won.closed_at
    [listed] = await adapter.list_dispute_documents(opened)
    assert (listed.status, listed.type, listed.reference) == (
        CheckStatus.VALIDATED,
        DisputeDocumentType.INVOICE,
        "ours",
    )
    assert won.repudiation_id
    [back] = await adapter.list_children(TransactionKind.REPUDIATION, won.repudiation_id)
    assert (back.amount, back.parent_kind, back.status) == (
        *(eur(2400), TransactionKind.REPUDIATION),
        TransactionStatus.SUCCEEDED,
    )


async def test_given_up_and_settled(api: MangopayApi, adapter: Mangopay) -> None:
    opened = await adapter.get_dispute((await open_dispute(api))["Id"])
    for _ in range(2):
        lost = await adapter.close_dispute(opened.id)
        assert (lost.status, lost.outcome) == (DisputeStatus.CLOSED, DisputeOutcome.LOST)
    assert lost.repudiation_id
    taken = await adapter.get_transaction(TransactionKind.REPUDIATION, lost.repudiation_id)
    assert (taken.amount, taken.parent_id, taken.debited_wallet_id) == (eur(2500), lost.payin_id, "CREDIT_EUR")
    request = SettlementRequest("ours", taken.id, taken.payer_id, eur(2250))
    key, now = new_idempotency_key(), api.clock.now()
    settled = await adapter.settle_dispute(request, key=key, sent_at=now)
    assert (settled.kind, settled.status, settled.parent_id, settled.debited_wallet_id) == (
        *(TransactionKind.SETTLEMENT, TransactionStatus.SUCCEEDED),
        *(taken.id, "wallet"),
    )
    assert await adapter.settle_dispute(request, key=key, sent_at=now) == settled
    assert await adapter.get_transaction(TransactionKind.SETTLEMENT, settled.id) == settled
    assert await adapter.resolve(key, sent_at=now) == settled
    with pytest.raises(Declined) as refused:
        await adapter.settle_dispute(
            SettlementRequest("again", taken.id, taken.payer_id, eur(1)), key=new_idempotency_key(), sent_at=now
        )
    failure = refused.value.transaction.failure
    assert failure
    assert failure.reason is FailureReason.INSUFFICIENT_WALLET


async def test_what_is_disputed_is_found_and_not_refunded(api: MangopayApi, adapter: Mangopay) -> None:
    since = api.clock.now()
    lost = await adapter.get_dispute((await decided(api, "lose"))["Id"])
    assert [dispute async for dispute in adapter.list_disputes(since)] == [lost]
    assert [dispute async for dispute in adapter.list_disputes(since + dt.timedelta(days=1))] == []
    assert await adapter.list_payment_disputes(lost.payin_id) == [lost]
    payin = await adapter.get_transaction(TransactionKind.PAYIN, lost.payin_id)
    with pytest.raises(Declined) as refused:
        await adapter.refund(
            CardRefundRequest("ours", payin.id, payin.payer_id, eur(100), eur(0)),
            key=new_idempotency_key(),
            sent_at=since,
        )
    failure = refused.value.transaction.failure
    assert failure
    assert failure.reason is FailureReason.DISPUTED
    hints = {(hint.subject, hint.resource_id) async for hint in adapter.events_since(since)}
    assert {(Subject.DISPUTE, lost.id), (Subject.REPUDIATION, lost.repudiation_id)} <= hints


async def test_what_is_closed_cannot_be_contested(api: MangopayApi, adapter: Mangopay) -> None:
    closed = (await open_dispute(api, type="NOT_CONTESTABLE"))["Id"]
    with pytest.raises(InvalidRequest):
        await adapter.contest_dispute(closed, eur(100))


async def test_a_refund_in_the_dashboard_names_its_payment(api: MangopayApi, adapter: Mangopay) -> None:
    payin = await api.paid()
    made = await api.control("POST", f"/payins/{payin['Id']}/refund", {"amount": 900, "fees_back": 100})
    told = await adapter.get_transaction(TransactionKind.REFUND, made["Id"])
    assert (told.reference, told.parent_id, told.parent_kind) == ("", payin["Id"], TransactionKind.PAYIN)
    assert (told.amount, told.fee) == (eur(1000), eur(100))
    assert await adapter.list_children(TransactionKind.PAYIN, payin["Id"]) == [told]


async def test_the_owners_of_a_business(api: MangopayApi, adapter: Mangopay) -> None:
    user = await owner(api)
    opened = await adapter.open_identity_check(
        user, return_url="https://shop.example/k/1", key=new_idempotency_key(), sent_at=api.clock.now()
    )
    people = [{"first_name": "Ana", "last_name": "Puig"}, {"first_name": "Joan", "last_name": "Puig"}]
    await api.control("POST", f"/identity-verifications/{opened.id}", {"outcome": "validate", "owners": people})
    check = await adapter.get_identity_check(opened.id)
    assert check.status is CheckStatus.VALIDATED
    assert [(each.name, each.status) for each in check.owners] == [
        ("Ana Puig", OwnerCheckStatus.PENDING),
        ("Joan Puig", OwnerCheckStatus.PENDING),
    ]
    first, second = check.owners
    assert first.action
    assert first.action.expires_at
    assert (await adapter.get_account(user)).kyc_level is KycLevel.LIGHT
    await api.control("POST", f"/pscs/{first.id}", {"outcome": "reject"})
    again = await adapter.retry_owner_check(check.id, first.id)
    assert again.action
    assert again.action.url != first.action.url
    for each in (first, second):
        await api.control("POST", f"/pscs/{each.id}", {"outcome": "validate"})
    assert [each.action for each in (await adapter.get_identity_check(opened.id)).owners] == [None, None]
    assert (await adapter.get_account(user)).kyc_level is KycLevel.REGULAR


async def test_until_when_an_identification_is_good(api: MangopayApi, adapter: Mangopay) -> None:
    user = await owner(api)
    assert (await adapter.get_blocks(user)).renew_by is None
    await api.control("POST", f"/users/{user}", {"renewal_deadline": "2099-03-31"})
    assert (await adapter.get_blocks(user)).renew_by == dt.date(2099, 3, 31)


@pytest.mark.parametrize(
    ("method", "decision", "minutes"),
    [
        (PaymentMethod.CARD, {"card": "4970107111111119"}, 15),
        (PaymentMethod.AMERICAN_EXPRESS, {"card": "375989111111119"}, 15),
        (PaymentMethod.BANCONTACT, {"challenge": "confirm"}, 60),
        (PaymentMethod.IDEAL, {"challenge": "confirm"}, 30),
    ],
)
async def test_every_method_to_pay_with(
    api: MangopayApi, adapter: Mangopay, method: PaymentMethod, decision: Json, minutes: int
) -> None:
    await api.seed()
    request = PayinRequest(
        reference="order-7",
        payer_id=await api.payer(),
        wallet_id="wallet",
        amount=eur(2500),
        fee=eur(250),
        return_url="https://shop.example/back/7",
        method=method,
    )
    started = await adapter.create_payment(request, key=new_idempotency_key(), sent_at=api.clock.now())
    assert started.action is not None
    assert started.action.expires_at is not None
    assert started.action.expires_at - started.created_at == dt.timedelta(minutes=minutes)
    paid = await api.control("POST", f"/payins/{started.id}/pay", decision)
    assert paid["Status"] == "SUCCEEDED"

"""Disputed payments, the documents that contest them, and their settlement."""

import datetime as dt
from collections.abc import AsyncIterator, Sequence
from typing import Literal

from pydantic import AwareDatetime

from store.providers.accounts import CheckStatus, Content
from store.providers.disputes import (
    AWAITING_US,
    DisputeDocumentType,
    DisputeOutcome,
    DisputeStatus,
    DisputeType,
    ProviderDispute,
    ProviderDisputeDocument,
    SettlementRequest,
)
from store.providers.errors import InvalidRequest
from store.providers.keys import IdempotencyKey
from store.providers.mangopay.client import Query, segment
from store.providers.mangopay.documents import (
    ASK_TO_EXAMINE,
    DOCUMENT_STATUSES,
    ExaminedFile,
    refusals_of,
    submitted,
    upload_page,
)
from store.providers.mangopay.objects import Created, Id, Json, MangopayMoney, MangopayObject, MangopayTransaction
from store.providers.mangopay.part import money, tag
from store.providers.mangopay.transactions import TransactionsMixin
from store.providers.money import MinorAmount
from store.providers.transactions import Transaction, TransactionKind

_TYPES = {
    "CONTESTABLE": DisputeType.CONTESTABLE,
    "NOT_CONTESTABLE": DisputeType.NOT_CONTESTABLE,
    "RETRIEVAL": DisputeType.RETRIEVAL,
}
_STATUSES = {
    "CREATED": DisputeStatus.CREATED,
    "PENDING_CLIENT_ACTION": DisputeStatus.PENDING_CLIENT_ACTION,
    "SUBMITTED": DisputeStatus.SUBMITTED,
    "PENDING_BANK_ACTION": DisputeStatus.PENDING_BANK_ACTION,
    "REOPENED_PENDING_CLIENT_ACTION": DisputeStatus.REOPENED_PENDING_CLIENT_ACTION,
    "CLOSED": DisputeStatus.CLOSED,
}
_OUTCOMES = {"WON": DisputeOutcome.WON, "LOST": DisputeOutcome.LOST, "VOID": DisputeOutcome.VOID}
_DOCUMENT_TYPES = {
    DisputeDocumentType.DELIVERY_PROOF: "DELIVERY_PROOF",
    DisputeDocumentType.INVOICE: "INVOICE",
    DisputeDocumentType.REFUND_PROOF: "REFUND_PROOF",
    DisputeDocumentType.USER_CORRESPONDENCE: "USER_CORRESPONDANCE",  # the provider's spelling
    DisputeDocumentType.USER_ACCEPTANCE_PROOF: "USER_ACCEPTANCE_PROOF",
    DisputeDocumentType.PRODUCT_REPLACEMENT_PROOF: "PRODUCT_REPLACEMENT_PROOF",
    DisputeDocumentType.OTHER: "OTHER",
}
_OUR_DOCUMENT_TYPES = {name: type for type, name in _DOCUMENT_TYPES.items()}


class MangopayDisputeReason(MangopayObject):
    dispute_reason_type: str | None = None
    dispute_reason_message: str | None = None


class MangopayDispute(Created):
    tag: str | None = None
    creation_date: AwareDatetime
    initial_transaction_id: Id
    initial_transaction_type: Literal["PAYIN"]
    dispute_type: str
    status: str
    status_message: str | None = None
    disputed_funds: MangopayMoney
    contested_funds: MangopayMoney | None = None
    contest_deadline_date: AwareDatetime | None = None
    dispute_reason: MangopayDisputeReason | None = None
    result_code: str | None = None
    result_message: str | None = None
    closed_date: AwareDatetime | None = None
    repudiation_id: str | None = None

    def dispute(self) -> ProviderDispute:
        status = _STATUSES.get(self.status, DisputeStatus.UNKNOWN)
        reason = self.dispute_reason or MangopayDisputeReason()
        return ProviderDispute(
            id=self.id,
            payin_id=self.initial_transaction_id,
            type=_TYPES.get(self.dispute_type, DisputeType.UNKNOWN),
            status=status,
            outcome=self._outcome() if status is DisputeStatus.CLOSED else DisputeOutcome.OPEN,
            disputed=self.disputed_funds.minor_amount(),
            created_at=self.creation_date,
            contested=self.contested_funds.minor_amount() if self.contested_funds else None,
            contest_until=self.contest_deadline_date,
            closed_at=self.closed_date,
            repudiation_id=self.repudiation_id or None,
            reason_code=reason.dispute_reason_type or "",
            reason_message=reason.dispute_reason_message or "",
            status_message=self.status_message or "",
            result_code=self.result_code or "",
            result_message=self.result_message or "",
            reference=self.tag or "",
        )

    def _outcome(self) -> DisputeOutcome:
        return _OUTCOMES.get(self.result_code or "", DisputeOutcome.UNKNOWN)


class MangopayDisputeDocument(ExaminedFile):
    dispute_id: Id

    def document(self) -> ProviderDisputeDocument:
        return ProviderDisputeDocument(
            id=self.id,
            dispute_id=self.dispute_id,
            type=_OUR_DOCUMENT_TYPES.get(self.type),
            status=DOCUMENT_STATUSES.get(self.status, CheckStatus.UNKNOWN),
            created_at=self.creation_date,
            processed_at=self.processed_date,
            refusals=refusals_of(self.status, self.refused_reason_type, self.refused_reason_message),
            reference=self.tag or "",
        )


class DisputesMixin(TransactionsMixin):
    async def get_dispute(self, id: str) -> ProviderDispute:
        """See `DisputeProvider`."""
        return (await self._client.get(_dispute(id), MangopayDispute)).dispute()

    async def list_disputes(self, since: dt.datetime) -> AsyncIterator[ProviderDispute]:
        """See `DisputeProvider`."""
        query: Query = {"AfterDate": int(since.timestamp()) - 1, "Sort": "CreationDate:ASC"}
        async for dispute in self._client.list("/disputes", MangopayDispute, query):
            yield dispute.dispute()

    async def list_payment_disputes(self, payment_id: str) -> Sequence[ProviderDispute]:
        """See `DisputeProvider`."""
        path = f"/payins/{segment(payment_id)}/disputes"
        disputes = self._client.list(path, MangopayDispute, {"Sort": "CreationDate:ASC"})
        return [dispute.dispute() async for dispute in disputes]

    async def create_dispute_document(
        self, dispute_id: str, type: DisputeDocumentType, *, reference: str, key: IdempotencyKey, sent_at: dt.datetime
    ) -> ProviderDisputeDocument:
        """See `DisputeProvider`."""
        body: Json = {"Type": _DOCUMENT_TYPES[type], "Tag": tag(reference)}
        path = f"{_dispute(dispute_id)}/documents"
        result = await self._client.create(path, body, MangopayDisputeDocument, key, sent_at)
        return (await self._read_again("/dispute-documents", result)).document()

    async def add_dispute_page(
        self, dispute_id: str, document_id: str, content: Content, *, key: IdempotencyKey, sent_at: dt.datetime
    ) -> None:
        """See `DisputeProvider`."""
        path = f"{_dispute(dispute_id)}/documents/{segment(document_id)}/pages"
        await upload_page(self._client, path, content, key, sent_at)

    async def submit_dispute_document(self, dispute_id: str, document_id: str) -> ProviderDisputeDocument:
        """See `DisputeProvider`."""
        path = f"{_dispute(dispute_id)}/documents/{segment(document_id)}"
        put = self._client.put(path, ASK_TO_EXAMINE, MangopayDisputeDocument)
        return await submitted(put, lambda: self.get_dispute_document(document_id))

    async def get_dispute_document(self, id: str) -> ProviderDisputeDocument:
        """See `DisputeProvider`."""
        return (await self._client.get(f"/dispute-documents/{segment(id)}", MangopayDisputeDocument)).document()

    async def list_dispute_documents(self, dispute_id: str) -> Sequence[ProviderDisputeDocument]:
        """See `DisputeProvider`."""
        path = f"{_dispute(dispute_id)}/documents"
        documents = self._client.list(path, MangopayDisputeDocument, {"Sort": "CreationDate:ASC"})
        return [document.document() async for document in documents]

    async def contest_dispute(self, id: str, amount: MinorAmount) -> ProviderDispute:
        """See `DisputeProvider`. Mangopay takes the amount of the first contestation only."""
        dispute = await self.get_dispute(id)
        first = dispute.status is not DisputeStatus.REOPENED_PENDING_CLIENT_ACTION
        return await self._act(dispute, "submit", {"ContestedFunds": money(amount)} if first else {})

    async def close_dispute(self, id: str) -> ProviderDispute:
        """See `DisputeProvider`."""
        return await self._act(await self.get_dispute(id), "close", {})

    async def settle_dispute(
        self, request: SettlementRequest, *, key: IdempotencyKey, sent_at: dt.datetime
    ) -> Transaction:
        """See `DisputeProvider`."""
        body: Json = {
            "AuthorId": request.author_id,
            "DebitedFunds": money(request.amount),
            "Fees": money(MinorAmount(request.amount.currency, 0)),
            "Tag": tag(request.reference),
        }
        path = f"/repudiations/{segment(request.repudiation_id)}/settlementtransfer"
        result = await self._client.create(path, body, MangopayTransaction, key, sent_at)
        return await self._transaction_of(TransactionKind.SETTLEMENT, result)

    async def _act(self, dispute: ProviderDispute, action: Literal["submit", "close"], body: Json) -> ProviderDispute:
        """Contest or give up a dispute; returns it unchanged if that was done before.

        Raises `InvalidRequest` if its status does not allow the action.
        """
        done = {"submit": {DisputeStatus.SUBMITTED, DisputeStatus.PENDING_BANK_ACTION}, "close": {DisputeStatus.CLOSED}}
        if dispute.status in done[action]:
            return dispute
        try:
            return (await self._client.put(f"{_dispute(dispute.id)}/{action}", body, MangopayDispute)).dispute()
        except InvalidRequest:
            current = await self.get_dispute(dispute.id)
            if dispute.status not in AWAITING_US or current.status not in done[action]:
                raise
            return current  # an earlier attempt with a lost response has arrived


def _dispute(id: str) -> str:
    return f"/disputes/{segment(id)}"

"""Documents that contest a dispute: passed on to the payment provider, and not stored here."""

from dataclasses import dataclass

from sqlmodel import col, select

from resolvers.core.operation import Call, operation
from resolvers.core.provider.calls import PROVIDER_ERRORS, calling_provider
from resolvers.core.services import Services
from resolvers.kyc.changes import DOCUMENT_STATUSES
from resolvers.kyc.submission import UPLOAD_TIMEOUT, submit_document
from resolvers.kyc.uploads import FileInfo, content_of, inspect_file
from resolvers.payment.disputes.disputes import check_awaits_answer, check_dispute_exists, find_dispute
from schema.core.permission import Permission
from schema.kyc.kyc import KycCheckStatus
from schema.payment.dispute import DisputeDocument, PushDisputeDocument
from store.core.document_steps import UNFINISHED, DocumentStep
from store.core.provider_process import KEY_LIFE
from store.payment.disputes import (
    DisputeDocumentRow,
    DisputeRow,
    documents_of_dispute,
    find_dispute_row,
    lock_dispute_document,
)
from store.payment.recording import lock_payment_of
from store.providers.accounts import Content
from store.providers.base import PaymentProvider
from store.providers.disputes import DisputeDocumentType
from store.providers.errors import ProviderNotFound
from store.providers.keys import IdempotencyKey


@operation(Permission.REFUND_PAYMENT, transaction=False, exists=check_dispute_exists, raises=PROVIDER_ERRORS)
async def push_dispute_document(call: Call, input: PushDisputeDocument) -> DisputeDocument:
    """Add a document that contests a dispute, while it `NEEDS_RESPONSE`; then `contestDispute`. The file is passed on to
    the payment provider, and not stored here.

    If no response arrives, send the same file again: the submission continues, and no second document is created.
    """
    dispute = await find_dispute(call, input.dispute_id)
    check_awaits_answer(dispute, call.services.clock.now())
    file = await inspect_file(input.file, "file")
    row = await _begin(call, dispute, input, file)
    async with calling_provider("adding a document", partner_id=dispute.partner_id, time_limit=UPLOAD_TIMEOUT):
        provider, content = call.services.provider, content_of(input.file)
        calls = DisputeDocumentCalls(provider, row, dispute.provider_id, content)
        await submit_document(call.services, row, calls, lock_dispute_document)
    async with call.services.db.sessions() as db, db.begin():
        row = await db.get_one(DisputeDocumentRow, row.id)
        call.add_audit_subject(row)
        await call.store_response(db, row)
    return row


async def _begin(call: Call, dispute: DisputeRow, input: PushDisputeDocument, file: FileInfo) -> DisputeDocumentRow:
    """The document of this file: one that was begun, else a new one."""
    now = call.services.clock.now()
    async with call.services.db.sessions() as db, db.begin():
        await lock_payment_of(db, dispute.payment_id)
        for row in await documents_of_dispute(db, dispute.id):
            if row.step in UNFINISHED and now - row.created_on >= KEY_LIFE:
                row.abandon()  # its keys are forgotten
            is_good = row.step is not DocumentStep.ABANDONED and row.status is not KycCheckStatus.REFUSED
            if is_good and (row.kind, row.digest) == (input.kind, file.digest):
                return row
        await db.flush()
        row = DisputeDocumentRow(
            partner_id=dispute.partner_id,
            dispute_id=dispute.id,
            kind=input.kind,
            media_type=file.media_type,
            size=file.size,
            digest=file.digest,
            created_on=now,
        )
        db.add(row)
        return row


@dataclass(frozen=True, slots=True)
class DisputeDocumentCalls:
    """See `DocumentCalls`."""

    provider: PaymentProvider
    row: DisputeDocumentRow
    dispute_id: str
    content: Content

    async def create(self) -> str:
        kind, key = DisputeDocumentType(self.row.kind.value), IdempotencyKey(str(self.row.create_key))
        document = await self.provider.create_dispute_document(
            self.dispute_id, kind, reference=str(self.row.reference), key=key, sent_at=self.row.created_on
        )
        return document.id

    async def add_page(self, id: str) -> None:
        key = IdempotencyKey(str(self.row.page_key))
        await self.provider.add_dispute_page(self.dispute_id, id, self.content, key=key, sent_at=self.row.created_on)

    async def submit(self, id: str) -> None:
        await self.provider.submit_dispute_document(self.dispute_id, id)


async def handle_document_notification(services: Services, document_id: str) -> None:
    """Handle a notification about a document of a dispute: record its status."""
    try:
        document = await services.provider.get_dispute_document(document_id)
    except ProviderNotFound:
        return
    async with services.db.sessions() as db, db.begin():
        if await find_dispute_row(db, document.dispute_id) is None:
            return
        query = select(DisputeDocumentRow).where(col(DisputeDocumentRow.provider_id) == document_id)
        row = (await db.exec(query)).one_or_none()
        if row is None:
            return
        row = await lock_dispute_document(db, row)
        row.status = DOCUMENT_STATUSES[document.status]
        row.refused_reason = "; ".join(each.message or each.code for each in document.refusals)[:300]

"""Documents that contest a dispute: passed on to the payment provider, and not stored here.

Each completed step is recorded, so that a repeated request continues where a failed one stopped.
"""

from dataclasses import dataclass

from sqlmodel import col, select

from resolvers.core.operation import Call, operation
from resolvers.core.provider_calls import PROVIDER_ERRORS, calling_provider
from resolvers.core.provider_process import ProviderCall, Recording, RefusedCall
from resolvers.core.services import Services
from resolvers.kyc.changes import DOCUMENT_STATUSES
from resolvers.kyc.documents import UPLOAD_TIMEOUT
from resolvers.kyc.uploads import FileInfo, content_of, inspect_file
from resolvers.payment.disputes.disputes import check_awaits_answer, check_dispute_exists, find_dispute
from schema.core.errors import InvalidInput, ProviderFailed
from schema.core.permission import Permission
from schema.kyc.kyc import KycCheckStatus
from schema.payment.dispute import DisputeDocument, PushDisputeDocument
from store.core.document_steps import UNFINISHED, CompletedStep, DocumentStep, advance_document
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
from store.providers.disputes import DisputeDocumentType
from store.providers.errors import InvalidRequest, ProviderNotFound
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
        await _submit(call.services, SentDocument(row, dispute.provider_id, content_of(input.file)))
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
                row.step = DocumentStep.ABANDONED  # its keys are forgotten
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
class SentDocument:
    """A document on its way, with the provider's id of its dispute."""

    row: DisputeDocumentRow
    dispute_id: str
    content: Content


async def _submit(services: Services, document: SentDocument) -> None:
    """Run the remaining steps, and record each. A document that the provider refuses is abandoned."""
    row = document.row
    if row.step is DocumentStep.BEGUN:
        row = await SUBMISSION.send(services, row, _create(services, row, document.dispute_id))
    if row.step is DocumentStep.CREATED:
        try:
            row = await SUBMISSION.send(services, row, _add_page(services, row, document))
        except InvalidRequest as error:
            raise InvalidInput.at("file", f"The payment provider does not take this file: {error}") from error
    if row.step is DocumentStep.FILED:
        row = await SUBMISSION.send(services, row, _ask_to_examine(services, row, document.dispute_id))
    if row.step is DocumentStep.ABANDONED:  # the provider refused it to a concurrent request with the same file
        raise ProviderFailed


async def _create(services: Services, row: DisputeDocumentRow, dispute_id: str) -> CompletedStep:
    kind, key = DisputeDocumentType(row.kind.value), IdempotencyKey(str(row.create_key))
    document = await services.provider.create_dispute_document(
        dispute_id, kind, reference=str(row.reference), key=key, sent_at=row.created_on
    )
    return CompletedStep(DocumentStep.CREATED, document.id)


async def _add_page(services: Services, row: DisputeDocumentRow, document: SentDocument) -> CompletedStep:
    key = IdempotencyKey(str(row.page_key))
    await services.provider.add_dispute_page(
        document.dispute_id, row.provider_id, document.content, key=key, sent_at=row.created_on
    )
    return CompletedStep(DocumentStep.FILED, row.provider_id)


async def _ask_to_examine(services: Services, row: DisputeDocumentRow, dispute_id: str) -> CompletedStep:
    await services.provider.submit_dispute_document(dispute_id, row.provider_id)
    return CompletedStep(DocumentStep.SUBMITTED, row.provider_id)


async def _record_step(_: Recording, row: DisputeDocumentRow, completed: CompletedStep) -> DisputeDocumentRow:
    """Record a completed step."""
    if advance_document(row, completed) and row.status is KycCheckStatus.CREATED:
        row.status = KycCheckStatus.VALIDATION_ASKED
    return row


async def _abandon(_: Recording, row: DisputeDocumentRow, _refused: RefusedCall[DisputeDocumentRow]) -> None:
    if row.step in UNFINISHED:
        row.step = DocumentStep.ABANDONED


SUBMISSION = ProviderCall(lock=lock_dispute_document, record=_record_step, refuse=_abandon)


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

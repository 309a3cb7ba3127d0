"""Submission of documents to the payment provider. Each completed step is recorded, so that a retry continues where a
failed request stopped.
"""

import datetime as dt
from uuid import UUID

from sqlmodel.ext.asyncio.session import AsyncSession

from resolvers.activation.steps import requires_sandbox
from resolvers.core.input_mapping import check_partner_uuid
from resolvers.core.operation import Call, operation
from resolvers.core.provider_calls import PROVIDER_ERRORS, calling_provider
from resolvers.core.provider_process import ProviderCall, Recording, RefusedCall
from resolvers.core.scoping import find_visible
from resolvers.core.services import Services
from resolvers.kyc.uploads import FileInfo, content_of, inspect_file
from schema.core.errors import ActivationRequired, InvalidInput, OnlyInSandbox, ProviderFailed
from schema.core.permission import Permission
from schema.kyc.document import KycDocument, PushKycDocument
from schema.kyc.kyc import KycCheckStatus
from store.core.document_steps import UNFINISHED, CompletedStep, DocumentStep, advance_document
from store.core.provider_process import KEY_LIFE
from store.kyc import (
    KycDocumentRow,
    abandon_document,
    documents_of,
    get_or_create_kyc,
    lock_document,
)
from store.partner.partners import PartnerRow
from store.providers.accounts import Content, DocumentType
from store.providers.errors import InvalidRequest
from store.providers.keys import IdempotencyKey

UPLOAD_TIMEOUT = dt.timedelta(seconds=60)
"""Enough for a file of 7 MB."""
FIRST_CHECK_AFTER = dt.timedelta(hours=1)
REPLACEABLE_STATUSES = frozenset({KycCheckStatus.REFUSED, KycCheckStatus.OUT_OF_DATE, KycCheckStatus.UNKNOWN})
"""Statuses after which the same file may be submitted as a new document."""


@operation(Permission.UPDATE_PARTNER, transaction=False, exists=check_partner_uuid, raises=PROVIDER_ERRORS)
async def push_kyc_document(call: Call, input: PushKycDocument) -> KycDocument:
    """Submit a document to the payment provider. The file is not stored here.

    If no response arrives, send the same file again: the submission continues, and no second document is created.
    """
    async with call.services.db.sessions() as db:
        partner = await find_visible(db, call.caller, PartnerRow, "partner", uuid=input.partner_uuid)
    file = await inspect_file(input.file, "file")
    if not partner.provider_user_id:
        raise ActivationRequired
    if requires_sandbox(call.services, partner):
        raise OnlyInSandbox
    row = await _begin_document(call, partner, input, file)
    async with calling_provider("uploading a document", partner_id=partner.id, time_limit=UPLOAD_TIMEOUT):
        await _submit(call.services, row, content_of(input.file))
    async with call.services.db.sessions() as db, db.begin():
        row = await db.get_one(KycDocumentRow, row.id)
        call.add_audit_subject(row)
        await call.store_response(db, row)
    return row


# ---- the document


async def _begin_document(call: Call, partner: PartnerRow, input: PushKycDocument, file: FileInfo) -> KycDocumentRow:
    """The document of this request: an existing one from this request or with the same file, else a new one."""
    now = call.services.clock.now()
    async with call.services.db.sessions() as db, db.begin():
        kyc = await get_or_create_kyc(db, partner.id, lock=True)
        for row in await documents_of(db, partner):
            if row.step in UNFINISHED and now - row.created_on >= KEY_LIFE:
                abandon_document(row)  # its idempotency keys have expired
            if _is_the_same(row, input, file, call.request_uuid):
                row.comment = input.comment
                return row
        await db.flush()
        kyc.check_on = now + FIRST_CHECK_AFTER
        return await _create_document(db, partner, input, file, call.request_uuid)


def _is_the_same(row: KycDocumentRow, input: PushKycDocument, file: FileInfo, request: UUID | None) -> bool:
    if row.step is DocumentStep.ABANDONED or row.document_type is not input.document_type:
        return False
    if request is not None and row.request == request:
        return True
    return row.digest == file.digest and row.status not in REPLACEABLE_STATUSES


async def _create_document(
    db: AsyncSession, partner: PartnerRow, input: PushKycDocument, file: FileInfo, request: UUID | None
) -> KycDocumentRow:
    row = KycDocumentRow(
        partner_id=partner.id,
        account_id=partner.provider_user_id,
        document_type=input.document_type,
        comment=input.comment,
        media_type=file.media_type,
        size=file.size,
        digest=file.digest,
        request=request,
    )
    db.add(row)
    await db.flush()
    return row


# ---- the calls to the provider


async def _submit(services: Services, row: KycDocumentRow, content: Content) -> None:
    """Run the remaining steps, and record each. A document that the provider refuses is abandoned."""
    if row.step is DocumentStep.BEGUN:
        row = await SUBMISSION.send(services, row, _create(services, row))
    if row.step is DocumentStep.CREATED:
        try:
            row = await SUBMISSION.send(services, row, _add_page(services, row, content))
        except InvalidRequest as error:
            raise InvalidInput.at("file", f"The payment provider does not take this file: {error}") from error
    if row.step is DocumentStep.FILED:
        row = await SUBMISSION.send(services, row, _ask_to_examine(services, row))
    if row.step is DocumentStep.ABANDONED:  # the provider refused it to a concurrent request with the same file
        raise ProviderFailed


async def _create(services: Services, row: KycDocumentRow) -> CompletedStep:
    kind, key = DocumentType(row.document_type.value), IdempotencyKey(str(row.create_key))
    document = await services.provider.create_document(
        row.account_id, kind, reference=str(row.reference), key=key, sent_at=row.created_on
    )
    return CompletedStep(DocumentStep.CREATED, document.id)


async def _add_page(services: Services, row: KycDocumentRow, content: Content) -> CompletedStep:
    key = IdempotencyKey(str(row.page_key))
    await services.provider.add_page(row.account_id, row.provider_id, content, key=key, sent_at=row.created_on)
    return CompletedStep(DocumentStep.FILED, row.provider_id)


async def _ask_to_examine(services: Services, row: KycDocumentRow) -> CompletedStep:
    await services.provider.submit_document(row.account_id, row.provider_id)
    return CompletedStep(DocumentStep.SUBMITTED, row.provider_id)


async def _record_step(_: Recording, row: KycDocumentRow, completed: CompletedStep) -> KycDocumentRow:
    """Record a completed step."""
    if advance_document(row, completed) and row.status is KycCheckStatus.CREATED:
        row.status = KycCheckStatus.VALIDATION_ASKED
    return row


async def _abandon(_: Recording, row: KycDocumentRow, _refused: RefusedCall[KycDocumentRow]) -> None:
    if row.step in UNFINISHED:
        abandon_document(row)


SUBMISSION = ProviderCall(lock=lock_document, record=_record_step, refuse=_abandon)

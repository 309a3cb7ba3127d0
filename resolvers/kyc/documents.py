"""Documents that identify a partner: passed on to the payment provider, and not stored here."""

import datetime as dt
from dataclasses import dataclass
from uuid import UUID

from sqlmodel.ext.asyncio.session import AsyncSession

from resolvers.activation.steps import requires_sandbox
from resolvers.core.input_mapping import check_partner_uuid
from resolvers.core.operation import Call, operation
from resolvers.core.provider.calls import PROVIDER_ERRORS, calling_provider
from resolvers.core.scoping import find_visible
from resolvers.kyc.submission import UPLOAD_TIMEOUT, submit_document
from resolvers.kyc.uploads import FileInfo, content_of, inspect_file
from schema.core.errors import ActivationRequired, OnlyInSandbox
from schema.core.permission import Permission
from schema.kyc.document import KycDocument, PushKycDocument
from schema.kyc.kyc import KycCheckStatus
from store.core.document_steps import UNFINISHED, DocumentStep
from store.core.provider_process import KEY_LIFE
from store.kyc import (
    KycDocumentRow,
    documents_of,
    get_or_create_kyc,
    lock_document,
)
from store.partner.partners import PartnerRow
from store.providers.accounts import Content, DocumentType
from store.providers.base import PaymentProvider
from store.providers.keys import IdempotencyKey

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
        calls = KycDocumentCalls(call.services.provider, row, content_of(input.file))
        await submit_document(call.services, row, calls, lock_document)
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
                row.abandon()  # its idempotency keys have expired
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


@dataclass(frozen=True, slots=True)
class KycDocumentCalls:
    """See `DocumentCalls`."""

    provider: PaymentProvider
    row: KycDocumentRow
    content: Content

    async def create(self) -> str:
        kind, key = DocumentType(self.row.document_type.value), IdempotencyKey(str(self.row.create_key))
        document = await self.provider.create_document(
            self.row.account_id, kind, reference=str(self.row.reference), key=key, sent_at=self.row.created_on
        )
        return document.id

    async def add_page(self, id: str) -> None:
        key = IdempotencyKey(str(self.row.page_key))
        await self.provider.add_page(self.row.account_id, id, self.content, key=key, sent_at=self.row.created_on)

    async def submit(self, id: str) -> None:
        await self.provider.submit_document(self.row.account_id, id)

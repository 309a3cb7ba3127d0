"""Passing documents on to the payment provider: each step is written down, so that a repetition goes on where one died."""

import datetime as dt
from uuid import UUID

from sqlmodel.ext.asyncio.session import AsyncSession

from resolvers.activation.steps import barred
from resolvers.core.context import Services
from resolvers.core.input_mapping import partner_if_named
from resolvers.core.operation import Call, operation
from resolvers.core.provider_calls import FAILURES, REFUSALS, asking
from resolvers.core.scoping import find
from resolvers.kyc.uploads import FileFacts, content_of, facts_of
from schema.core.errors import ActivationRequired, InvalidInput, OnlyInSandbox, ProviderFailed
from schema.core.permission import Permission
from schema.kyc.document import KycDocument, PushKycDocument
from schema.kyc.kyc import KycCheckStatus
from store.kyc import (
    KEYS_GOOD_FOR,
    UNFINISHED,
    KycDocumentRow,
    Step,
    abandon,
    documents_of,
    kyc_of,
    locked_document,
)
from store.partner.partners import PartnerRow
from store.providers.accounts import Content, DocumentType
from store.providers.base import InvalidRequest, Key

PATIENCE = dt.timedelta(seconds=60)
"""For a file of 7 MB."""
LOOKED_AT = dt.timedelta(hours=1)
ORDER = (*UNFINISHED, Step.SUBMITTED)
DONE_WITH = frozenset({KycCheckStatus.REFUSED, KycCheckStatus.OUT_OF_DATE, KycCheckStatus.UNKNOWN})
"""After which the same file may be handed in as another document."""


@operation(Permission.UPDATE_PARTNER, transaction=False, exists=partner_if_named, raises=FAILURES)
async def push_kyc_document(call: Call, input: PushKycDocument) -> KycDocument:
    """Pass a document on to the payment provider. Its file is not kept here.

    When no answer comes, send the same file again: what was begun is finished, and no second document is made.
    """
    async with call.services.db.sessions() as db:
        partner = await find(db, call.caller, PartnerRow, "partner", uuid=input.partner_uuid)
    file = await facts_of(input.file, "file")
    if not partner.provider_user_id:
        raise ActivationRequired
    if barred(call.services, partner):
        raise OnlyInSandbox
    row = await _begin(call, partner, input, file)
    async with asking("a document", partner_id=partner.id, patience=PATIENCE):
        await _hand_in(call.services, partner, row, content_of(input.file))
    async with call.services.db.sessions() as db, db.begin():
        row = await db.get_one(KycDocumentRow, row.id)
        call.concerns(row)
        await call.keep(db, row)
    return row


# ---- what it is to become


async def _begin(call: Call, partner: PartnerRow, input: PushKycDocument, file: FileFacts) -> KycDocumentRow:
    """The document that this request makes: the one that it, or one like it, has begun or made already, else a new one."""
    now = call.services.clock.now()
    async with call.services.db.sessions() as db, db.begin():
        kyc = await kyc_of(db, partner.id, lock=True)
        for row in await documents_of(db, partner):
            if row.step in UNFINISHED and now - row.created_on >= KEYS_GOOD_FOR:
                abandon(row)  # nobody can say any more what its last call did
            if _is_the_same(row, input, file, call.request):
                row.comment = input.comment
                return row
        await db.flush()
        kyc.check_on = now + LOOKED_AT
        return await _new(db, partner, input, file, call.request)


def _is_the_same(row: KycDocumentRow, input: PushKycDocument, file: FileFacts, request: UUID | None) -> bool:
    if row.step is Step.ABANDONED or row.document_type is not input.document_type:
        return False
    if request is not None and row.request == request:
        return True
    return row.digest == file.digest and row.status not in DONE_WITH


async def _new(
    db: AsyncSession, partner: PartnerRow, input: PushKycDocument, file: FileFacts, request: UUID | None
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


# ---- the provider


async def _hand_in(services: Services, partner: PartnerRow, row: KycDocumentRow, content: Content) -> None:
    """Make every call that is left, each noted when it is answered. What the provider refuses is given up."""
    try:
        await _calls(services, partner, row, content)
    except REFUSALS:
        await _note(services, row.id, Step.ABANDONED)
        raise


async def _calls(services: Services, partner: PartnerRow, row: KycDocumentRow, content: Content) -> None:
    provider, account = services.provider, partner.provider_user_id
    if row.step is Step.BEGUN:
        kind, key = DocumentType(row.document_type.value), Key(str(row.create_key))
        made = await provider.create_document(
            account, kind, reference=str(row.reference), key=key, sent_at=row.created_on
        )
        row = await _note(services, row.id, Step.MADE, provider_id=made.id)
    if row.step is Step.MADE:
        key = Key(str(row.page_key))
        try:
            await provider.add_page(account, row.provider_id, content, key=key, sent_at=row.created_on)
        except InvalidRequest as error:
            await _note(services, row.id, Step.ABANDONED)
            raise InvalidInput.at("file", f"The payment provider does not take this file: {error}") from error
        row = await _note(services, row.id, Step.FILED)
    if row.step is Step.FILED:
        await provider.submit_document(account, row.provider_id)
        row = await _note(services, row.id, Step.SUBMITTED)
    if row.step is Step.ABANDONED:  # by another request with the same file, which the provider has refused
        raise ProviderFailed


async def _note(services: Services, document_id: int, step: Step, provider_id: str = "") -> KycDocumentRow:
    """Write down how far a document has come. Who is behind another request, or behind a notification, changes nothing."""
    async with services.db.sessions() as db, db.begin():
        row = await locked_document(db, document_id)
        if row.step not in UNFINISHED:
            return row
        row.provider_id = row.provider_id or provider_id
        if step is Step.ABANDONED:
            abandon(row)
        elif ORDER.index(step) > ORDER.index(row.step):
            row.step = step
            if step is Step.SUBMITTED and row.status is KycCheckStatus.CREATED:
                row.status = KycCheckStatus.VALIDATION_ASKED
        return row

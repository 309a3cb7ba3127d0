"""Identification (KYC) documents. Their files are streamed to the provider and never stored."""

import base64
import datetime as dt
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from typing import Protocol, TypeVar

from pydantic import AwareDatetime

from store.providers.accounts import AccountDocument, CheckStatus, Content, DocumentType, Refusal
from store.providers.disputes import ProviderDisputeDocument
from store.providers.errors import InvalidRequest
from store.providers.keys import IdempotencyKey
from store.providers.mangopay.client import Client, segment
from store.providers.mangopay.creation import StreamedBody
from store.providers.mangopay.objects import Created, Id, Json, Nothing
from store.providers.mangopay.part import AdapterMixin, tag
from store.providers.mangopay.results import refusal_reason

DOCUMENT_STATUSES = {
    "CREATED": CheckStatus.CREATED,
    "VALIDATION_ASKED": CheckStatus.PENDING,
    "VALIDATED": CheckStatus.VALIDATED,
    "REFUSED": CheckStatus.REFUSED,
    "OUT_OF_DATE": CheckStatus.OUTDATED,
}
ASK_TO_EXAMINE: Json = {"Status": "VALIDATION_ASKED"}
_BEFORE, _AFTER = b'{"File":"', b'"}'


D = TypeVar("D", AccountDocument, ProviderDisputeDocument)
D_co = TypeVar("D_co", AccountDocument, ProviderDisputeDocument, covariant=True)


class Answer(Protocol[D_co]):
    """A document as Mangopay tells it."""

    def document(self) -> D_co:
        """The document in our words."""
        ...


class ExaminedFile(Created):
    """What documents of users and of disputes have in common."""

    type: str
    status: str
    creation_date: AwareDatetime
    processed_date: AwareDatetime | None = None
    tag: str | None = None
    refused_reason_type: str | None = None
    refused_reason_message: str | None = None


class MangopayDocument(ExaminedFile):
    user_id: Id
    flags: list[str] | None = None

    def document(self) -> AccountDocument:
        return AccountDocument(
            id=self.id,
            account_id=self.user_id,
            type=DocumentType(self.type) if self.type in set(DocumentType) else None,
            status=DOCUMENT_STATUSES.get(self.status, CheckStatus.UNKNOWN),
            created_at=self.creation_date,
            processed_at=self.processed_date,
            refusals=refusals_of(self.status, self.refused_reason_type, self.refused_reason_message),
            reference=self.tag or "",
            provider_type=self.type,
            provider_status=self.status,
            flags=self.flags or [],
        )


def refusals_of(status: str, reason: str | None, message: str | None) -> list[Refusal]:
    """The refusal of a document; a REFUSED one without a reason has an empty code."""
    if not reason and status != "REFUSED":
        return []
    return [Refusal(refusal_reason(reason or ""), reason or "", message or "")]


class PageUpload(StreamedBody):
    """A file in a JSON body, encoded as base64 while it is sent."""

    def __init__(self, content: Content, size: int) -> None:
        super().__init__(len(_BEFORE) + (size + 2) // 3 * 4 + len(_AFTER))
        self._content = content

    async def __aiter__(self) -> AsyncIterator[bytes]:
        yield _BEFORE
        left = b""
        async for piece in self._content():
            ready = left + piece
            whole = len(ready) // 3 * 3
            left = ready[whole:]
            yield base64.b64encode(memoryview(ready)[:whole])
        yield base64.b64encode(left) + _AFTER


class DocumentsMixin(AdapterMixin):
    async def create_document(
        self, account_id: str, type: DocumentType, *, reference: str, key: IdempotencyKey, sent_at: dt.datetime
    ) -> AccountDocument:
        """See `PaymentProvider`."""
        body: Json = {"Type": type.value, "Tag": tag(reference)}
        result = await self._client.create(_of(account_id), body, MangopayDocument, key, sent_at)
        return (await self._read_again("/kyc/documents", result)).document()

    async def add_page(
        self, account_id: str, document_id: str, content: Content, *, key: IdempotencyKey, sent_at: dt.datetime
    ) -> None:
        """See `PaymentProvider`."""
        path = f"{_of(account_id)}/{segment(document_id)}/pages"
        await upload_page(self._client, path, content, key, sent_at)

    async def submit_document(self, account_id: str, document_id: str) -> AccountDocument:
        """See `PaymentProvider`."""
        path = f"{_of(account_id)}/{segment(document_id)}"
        put = self._client.put(path, ASK_TO_EXAMINE, MangopayDocument)
        return await submitted(put, lambda: self.get_document(document_id))

    async def get_document(self, id: str) -> AccountDocument:
        """See `PaymentProvider`."""
        return (await self._client.get(f"/kyc/documents/{segment(id)}", MangopayDocument)).document()

    async def list_documents(self, account_id: str) -> Sequence[AccountDocument]:
        """See `PaymentProvider`."""
        listing = self._client.list(_of(account_id), MangopayDocument, {"Sort": "CreationDate:DESC"})
        documents = [document.document() async for document in listing]
        return sorted(documents, key=lambda document: document.created_at, reverse=True)


async def submitted(put: Awaitable[Answer[D]], read: Callable[[], Awaitable[D]]) -> D:
    """The document after it was submitted. A refusal counts only if an earlier attempt, whose response was lost, has not
    arrived.
    """
    try:
        return (await put).document()
    except InvalidRequest:
        document = await read()
        if document.status is CheckStatus.CREATED:
            raise
        return document


async def upload_page(client: Client, path: str, content: Content, key: IdempotencyKey, sent_at: dt.datetime) -> None:
    """Send a file to the pages of a document at `path`."""
    size = sum([len(piece) async for piece in content()])
    await client.create(path, PageUpload(content, size), Nothing, key, sent_at)


def _of(account_id: str) -> str:
    return f"/users/{segment(account_id)}/kyc/documents"

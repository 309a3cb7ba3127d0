"""Identifies the content of the documents of a payout, and where they are kept."""

import hashlib

import orjson
from sqlmodel.ext.asyncio.session import AsyncSession

from store.document.cache import digest_of_source
from store.document.payout.source import PayoutContent, payout_document_source
from store.payout.documents import PayoutDocumentKind
from store.payout.lines import fingerprint_of_lines

WORKBOOK_VERSION = 2
"""Raise it when the spreadsheet of the same payout changes."""


def key_of(payout_id: int, kind: PayoutDocumentKind) -> str:
    """Where a document is kept."""
    return f"documents/payouts/{payout_id}.{kind}"


async def payout_digest(db: AsyncSession, head: PayoutContent) -> str:
    """The digest of what the documents of a large payout show now. Its lines need not be read for that."""
    shown = (
        WORKBOOK_VERSION,
        digest_of_source(await payout_document_source(db, head)),
        [(transfer.id, transfer.status) for transfer in head.transfers],
        await fingerprint_of_lines(db, head.payout),
    )
    return hashlib.sha256(orjson.dumps(shown)).hexdigest()

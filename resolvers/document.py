"""Printable documents: those of vouchers, gift cards and payments by URL token, and its renewal; others by signed addresses
that work for a while.
"""

import datetime as dt
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import structlog

from resolvers.core.brute_force import throttled_lookup
from resolvers.core.context import Context
from resolvers.core.operation import Call, operation
from resolvers.core.scoping import find_visible
from resolvers.core.services import Services
from schema.core.errors import NotFound, Unavailable
from schema.core.inputs import graphql_input_for
from schema.core.permission import Permission
from schema.core.resource import SchemaModel
from schema.voucher.voucher import Voucher
from store.core.codes import document_token
from store.core.signed_links import BadLink, read_link, sign_link
from store.document.addresses import DocumentKind, parse_document_url
from store.document.cache import RenderedDocument, get_or_render_document, render_preview
from store.document.rendering import RenderingFailed
from store.document.source import DocumentSource, document_source_of, find_printable
from store.voucher.vouchers import VoucherRow

log = structlog.get_logger(__name__)
LINK_LIFE, LINK_STEP = dt.timedelta(hours=1), dt.timedelta(minutes=15)
"""A signed address works for an hour at least, and stays the same for a quarter."""


@graphql_input_for(Voucher)
class RenewVoucherDocument(SchemaModel):
    """Give the printable document of a voucher a new URL."""

    id: int


@operation(Permission.UPDATE_VOUCHER_PDF)
async def renew_voucher_document(call: Call, input: RenewVoucherDocument) -> Voucher:
    """Give the printable document of a voucher a new URL. The old URL stops working at once."""
    row = await find_visible(call.db, call.caller, VoucherRow, "voucher", lock=True, id=input.id)
    row.document_token = document_token()
    await call.db.flush()
    return row


@dataclass(frozen=True, slots=True)
class ServedFile:
    """A file as it is served."""

    content: bytes
    media_type: str
    disposition: str
    """The `Content-Disposition` header."""


@dataclass(frozen=True, slots=True)
class UnfinishedFile:
    """A file that the worker is still making."""

    lines: int
    lines_done: int
    retry_after: int
    """Seconds after which to ask again."""

    @property
    def detail(self) -> str:
        """What to tell the one who has asked."""
        return f"The document is being made: {self.lines_done} of {self.lines} lines. Try again in {self.retry_after} seconds."


async def find_document(context: Context, kind: DocumentKind, token: str) -> RenderedDocument:
    """The rendered document of a URL token.

    Raises NotFound for an unknown token, and for an item without a document: unpaid, or cancelled.
    """
    source = await throttled_lookup(context, "document", lambda: _find_source(context.services, kind, token))
    if source is None:
        raise NotFound(thing="document")
    return await get_or_render_document(source, context.services.files)


async def draw_document(context: Context, url: str) -> bytes | None:
    """The first page of the document at an address of this service, as a PNG picture; None if it cannot be drawn now.

    Only for who was just told the address: misses are not counted.
    """
    kind, token = parse_document_url(url)
    source = await _find_source(context.services, kind, token)
    try:
        return None if source is None else await render_preview(source, context.services.files)
    except (RenderingFailed, Unavailable) as error:
        log.warning("a document is not drawn", because=str(error)[:300])
        return None


async def _find_source(services: Services, kind: DocumentKind, token: str) -> DocumentSource | None:
    async with services.db.sessions() as db:
        row = await find_printable(db, kind, token)
        return None if row is None else await document_source_of(db, services.settings, row, services.clock.now())


# ---- signed addresses


def signed_document_url(services: Services, folder: str, names: Sequence[str | int], suffix: str) -> str:
    """A full address of the document that `names` tell within its folder. It works for an hour at least."""
    step = LINK_STEP.total_seconds()
    begins = services.clock.timestamp() // step * step
    expires_at = int(begins + (LINK_LIFE + LINK_STEP).total_seconds())
    token = sign_link(services.settings, _purpose(folder), [*names, expires_at])
    return f"{services.public_url}/documents/{folder}/{token}.{suffix}"


def read_document_token(services: Services, folder: str, token: str) -> Sequence[Any]:
    """What a signed address names. Raises NotFound for one that is forged or too old."""
    try:
        *names, expires_at = read_link(services.settings, _purpose(folder), token)
    except BadLink as error:
        raise NotFound(thing="document") from error
    if expires_at < services.clock.timestamp():
        raise NotFound(thing="document")
    found: Sequence[Any] = names
    return found


def _purpose(folder: str) -> str:
    return f"document-{folder}"

"""Printable documents: found by their address, and given another one."""

from resolvers.core.brute_force import look_up
from resolvers.core.context import Context
from resolvers.core.operation import Call, operation
from resolvers.core.scoping import find
from schema.core.errors import NotFound
from schema.core.permission import Permission
from schema.core.resource import Fields, writable_as
from schema.voucher.voucher import Voucher
from store.core.document_tokens import document_token
from store.document.addresses import DocumentKind
from store.document.cache import Document, document_of
from store.document.source import Source, find_printed, source_of
from store.voucher.vouchers import VoucherRow


@writable_as(Voucher)
class RenewVoucherDocument(Fields):
    """A voucher whose document is to have another address."""

    id: int


@operation(Permission.UPDATE_VOUCHER_PDF)
async def renew_voucher_document(call: Call, input: RenewVoucherDocument) -> Voucher:
    """Give the printable document of a voucher a new address. The old one stops working at once."""
    row = await find(call.db, call.caller, VoucherRow, "voucher", lock=True, id=input.id)
    row.document_token = document_token()
    await call.db.flush()
    return row


async def find_document(context: Context, kind: DocumentKind, token: str) -> Document:
    """The document at an address. NotFound for an unknown one, and for what has none: not paid for, or taken back."""
    services = context.services

    async def look() -> Source | None:
        async with services.db.sessions() as db:
            row = await find_printed(db, kind, token)
            return None if row is None else await source_of(db, services.settings, row, services.clock.now())

    source = await look_up(context, "document", look)
    if source is None:
        raise NotFound(thing="document")
    return await document_of(source, services.files)

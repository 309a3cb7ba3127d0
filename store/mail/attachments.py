"""The attached documents of messages. They are rendered when a message is sent and are not stored with it."""

from collections.abc import Awaitable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from uuid import UUID

import structlog
from sqlmodel.ext.asyncio.session import AsyncSession

from schema.mail import MailKind
from schema.order.balance import BALANCE_PATH
from store.core.clock import clock
from store.core.files import FileStore
from store.core.settings import Settings
from store.database.db import Database
from store.document.addresses import DocumentKind, document_path
from store.document.cache import RenderedDocument, get_or_render_document
from store.document.invoice.factur_x import render_invoice
from store.document.legal.source import legal_sources_of
from store.document.payout.source import payout_document_source, read_payout_content
from store.document.rendering import RenderingFailed
from store.document.sheet import Sheet
from store.document.source import DocumentSource, PrintableItem, document_source_of, find_printables
from store.document.wallet.addresses import pass_paths
from store.document.wallet.content import owner_of_pass
from store.document.wallet.keys import WalletKeys
from store.gift_card.gift_cards import GiftCardRow
from store.mail.content import (
    GiftContent,
    GiftRole,
    InvoiceContent,
    NetworkUsageContent,
    OrderContent,
    PayoutMailContent,
)
from store.mail.gift_details import GiftDetails, gift_details_of
from store.mail.link_content import Content
from store.mail.mailer import MailRefused
from store.mail.message import Attachment
from store.mail.render import MailLinks
from store.network.holder.links import HeldKind, holder_url
from store.network.vouchers import NetworkVoucherRow
from store.partner.partners import PartnerRow
from store.payout.lines import MOST_LINES_AT_ONCE, count_lines
from store.payout.requests import PayoutRequestRow
from store.voucher.vouchers import VoucherRow

log = structlog.get_logger(__name__)
MAX_ATTACHED_BYTES = 8_000_000
"""Maximum bytes of the attachments of one message: encoding adds a third, and many servers accept 10 MB."""
DOCUMENT_KINDS = {
    MailKind.VOUCHER: DocumentKind.VOUCHER,
    MailKind.GIFT_CARD: DocumentKind.GIFT_CARD,
    MailKind.NETWORK_GIFT_CARD: DocumentKind.GIFT_CARD,
    MailKind.NETWORK_VOUCHER: DocumentKind.NETWORK_VOUCHER,
}
HELD_KINDS = {
    MailKind.NETWORK_GIFT_CARD: HeldKind.GIFT_CARD,
    MailKind.NETWORK_GIFT_CARD_USED: HeldKind.GIFT_CARD,
    MailKind.NETWORK_VOUCHER: HeldKind.VOUCHER,
    MailKind.NETWORK_VOUCHER_USED: HeldKind.VOUCHER,
}
"""What has a page for its holder."""
ROLES_WITH_DOCUMENTS = frozenset({GiftRole.BOUGHT, GiftRole.FOR_GIFTEE, GiftRole.SENT_TO_GIFTEE})
"""Roles whose messages link the documents. Vouchers and cards that are posted or collected are not for printing."""


@dataclass(frozen=True, slots=True)
class MailDocuments:
    """The documents of a message: what links to them, and the attached files."""

    links: MailLinks = field(default_factory=MailLinks)
    files: Sequence[Attachment] = ()


async def load_documents(
    database: Database, settings: Settings, files: FileStore, keys: WalletKeys, kind: MailKind, about: Content
) -> MailDocuments:
    """The documents of a message in their current state, and where the passes beside them are.

    MailRefused if everything it describes was taken back meanwhile. RenderingFailed, or Unavailable if the file store
    is unreachable; the message is then tried again later.
    """
    if isinstance(about, NetworkUsageContent) and about.holder_page is not None:
        return MailDocuments(
            MailLinks(pages={about.used_id: holder_url(settings, HELD_KINDS[kind], about.holder_page)})
        )
    if isinstance(about, InvoiceContent):
        return await _enclosed(render_invoice(database, files, about.invoice_id))
    if isinstance(about, PayoutMailContent):
        return await _statement(database, files, about) if kind is MailKind.PAYOUT_PAID else MailDocuments()
    if isinstance(about, OrderContent) and kind is MailKind.ORDER_CONFIRMATION and about.order_page is not None:
        return await _legal_texts(database, files, about.order_page)
    if not isinstance(about, GiftContent) or about.role not in ROLES_WITH_DOCUMENTS:
        return MailDocuments()
    return await _gifts(database, settings, files, keys, kind, about)


async def _gifts(
    database: Database, settings: Settings, files: FileStore, keys: WalletKeys, kind: MailKind, about: GiftContent
) -> MailDocuments:
    """The documents of vouchers or gift cards, and what they say."""
    addresses: dict[int, str] = {}
    pages: dict[int, str] = {}
    passes: dict[int, Mapping[str, str]] = {}
    details: dict[int, GiftDetails] = {}
    sources: list[DocumentSource] = []
    balance = ""
    async with database.sessions() as db:
        for row in await find_printables(db, DOCUMENT_KINDS[kind], [item.id for item in about.items]):
            home = await _home_of(db, settings, row)
            addresses[row.id] = f"{home}{document_path(DOCUMENT_KINDS[kind], row.document_token)}"
            if kind in HELD_KINDS and not isinstance(row, VoucherRow):
                pages[row.id] = holder_url(settings, HELD_KINDS[kind], row.uuid)
            passes[row.id] = _pass_urls(home, keys, DOCUMENT_KINDS[kind], row)
            source = await document_source_of(db, settings, row, clock.now())
            if isinstance(source.sheet, Sheet):
                details[row.id] = gift_details_of(source.sheet, has_code=about.role.attaches_documents)
            sources.append(source)
            if isinstance(row, GiftCardRow) and kind is MailKind.GIFT_CARD and not balance:
                balance = f"{home}{BALANCE_PATH}"
    if not sources:
        raise MailRefused("Its vouchers or gift cards were taken back or deleted.")
    enclosed = sources if about.role.attaches_documents else []
    attached = await _fitting(get_or_render_document(source, files) for source in enclosed)
    is_attached = len(attached) == len(addresses)
    links = MailLinks(addresses, pages, passes, details, is_attached=is_attached, balance=balance)
    return MailDocuments(links, attached)


async def _home_of(db: AsyncSession, settings: Settings, row: PrintableItem) -> str:
    """The root of the shop of a voucher or gift card; of a network's, which is not of one shop, of this service."""
    partner_id = None if isinstance(row, NetworkVoucherRow) else row.partner_id
    if partner_id is None:
        return settings.public_url
    partner = await db.get_one(PartnerRow, partner_id)
    return f"{settings.funnel_scheme}://{partner.site_domain}"


def _pass_urls(home: str, keys: WalletKeys, kind: DocumentKind, row: PrintableItem) -> Mapping[str, str]:
    """The URLs of the passes of a voucher or gift card, by the name of the wallet; those that a key signs."""
    paths = pass_paths(keys, kind, owner_of_pass(row), row.document_token, clock.now())
    named = {"Apple Wallet": paths.apple, "Google Wallet": paths.google}
    return {name: f"{home}{path}" for name, path in named.items() if path}


async def _statement(database: Database, files: FileStore, about: PayoutMailContent) -> MailDocuments:
    """The statement of a payout that was paid, unless it is so long that the worker makes it when it is asked for."""
    async with database.sessions() as db:
        payout = await db.get_one(PayoutRequestRow, about.payout_id)
        if await count_lines(db, payout.id) > MOST_LINES_AT_ONCE:
            return MailDocuments()
        source = await payout_document_source(db, await read_payout_content(db, payout))
    return await _enclosed(get_or_render_document(source, files))


async def _legal_texts(database: Database, files: FileStore, order: UUID) -> MailDocuments:
    """The terms that the buyer of an order has accepted, and the right of withdrawal, to keep."""
    async with database.sessions() as db:
        sources = await legal_sources_of(db, order)
    try:
        attached = await _fitting(get_or_render_document(source, files) for source in sources)
    except RenderingFailed:  # the confirmation matters more, and links to them
        log.exception("legal texts could not be attached to the confirmation of an order", order=str(order))
        return MailDocuments()
    names = tuple(source.sheet.overline for source in sources[: len(attached)])
    return MailDocuments(MailLinks(enclosed=names), attached)


async def _enclosed(document: Awaitable[RenderedDocument]) -> MailDocuments:
    """A document of which a message tells whether it is attached."""
    attached = await _fitting([document])
    return MailDocuments(MailLinks(is_attached=bool(attached)), attached)


async def _fitting(documents: Iterable[Awaitable[RenderedDocument]]) -> list[Attachment]:
    """As many documents as fit into a message, one made after the other; the others are available at their addresses."""
    enclosed: list[Attachment] = []
    room = MAX_ATTACHED_BYTES
    for made in documents:
        document = await made
        room -= len(document.content)
        if room < 0:
            break
        enclosed.append(Attachment(document.file_name, "application/pdf", document.content))
    return enclosed

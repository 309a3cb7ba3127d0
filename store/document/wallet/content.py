"""What a pass shows: what the printed document shows, in the same language, as far as a pass has room for it."""

import datetime as dt
import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal

from sqlmodel import col, select
from sqlmodel.ext.asyncio.session import AsyncSession

from store.core.localization.formats import Formats
from store.core.settings import Settings
from store.document import words
from store.document.addresses import DocumentKind, document_url
from store.document.rich import TextBlock, TextRun, plain_text_of
from store.document.sheet import Sheet
from store.document.source import DocumentSource, PrintableItem
from store.gift_card.gift_cards import GiftCardRow
from store.network.vouchers import NetworkVoucherRow
from store.partner.partners import MarketplaceRow, PartnerRow
from store.voucher.vouchers import VoucherRow


@dataclass(frozen=True, slots=True)
class PassField:
    """A labelled text. `key` names it within a pass."""

    key: str
    label: str
    value: str


@dataclass(frozen=True, slots=True, kw_only=True)
class PassContent:
    """The content of a pass, for either wallet."""

    serial: str
    """Identifies the pass: adding it again replaces the one before. It stays when the document gets a new address."""
    owner: str
    """Whose keys sign it: `partners/<id>` or `networks/<id>`."""
    sheet: Sheet
    title: PassField
    """What it is: the name of the experience, or the balance."""
    validity: PassField
    facts: tuple[PassField, ...]
    """Who it is for, persons, and the code."""
    details: tuple[PassField, ...]
    """What the reverse side shows."""
    balance: Decimal | None
    currency: str
    starts_on: dt.datetime | None
    expires_on: dt.datetime | None
    read_on: dt.datetime
    """When the balance was read."""

    @property
    def is_gift_card(self) -> bool:
        return self.balance is not None

    @property
    def is_void(self) -> bool:
        """True if it can no longer be used, as the stamp on its document says."""
        return bool(self.sheet.mark)


def owner_of_pass(row: PrintableItem) -> str:
    """Whose keys sign the pass of a voucher or gift card."""
    if isinstance(row, NetworkVoucherRow):
        return owner_name(None, row.marketplace_id)
    return owner_name(row.partner_id, row.network_id if isinstance(row, GiftCardRow) else None)


def owner_name(partner_id: int | None, network_id: int | None) -> str:
    """The name of the partner or network that has issued something, as the folders of keys have it."""
    return f"networks/{network_id}" if partner_id is None else f"partners/{partner_id}"


async def pass_content_of(
    db: AsyncSession,
    settings: Settings,
    kind: DocumentKind,
    row: PrintableItem,
    source: DocumentSource,
    now: dt.datetime,
) -> PassContent:
    """The content of the pass of a voucher or gift card, beside its document."""
    sheet, zone = source.sheet, await _time_zone(db, row)
    assert isinstance(sheet, Sheet), "a voucher or gift card"
    formats, ends = Formats(row.language), _ends(row)
    title, balance = PassField("title", sheet.overline, sheet.name), None
    if isinstance(row, GiftCardRow):
        balance = row.remaining_amount
        label = words.translate(row.language, words.BALANCE_ON) % {"date": formats.date(now, zone)}
        title = PassField("balance", label, formats.money(balance, row.currency))
    until = formats.date(min(ends), zone) if ends else words.translate(row.language, words.WITHOUT_END)
    return PassContent(
        serial=hashlib.sha256(f"{settings.public_url} {kind} {row.id}".encode()).hexdigest()[:32],
        owner=owner_of_pass(row),
        sheet=sheet,
        title=title,
        validity=PassField("validity", words.translate(row.language, words.VALID_UNTIL), until),
        facts=_facts(sheet),
        details=_details(sheet, document_url(settings, kind, row.document_token)),
        balance=balance,
        currency=row.currency,
        starts_on=None if isinstance(row, VoucherRow) else row.starts_on,
        expires_on=min(ends, default=None),
        read_on=now,
    )


def _facts(sheet: Sheet) -> tuple[PassField, ...]:
    """The lines below the title, those that are there."""
    persons = PassField("persons", sheet.overline, sheet.facts)
    found = (PassField("giftee", sheet.words.to, sheet.to), persons, PassField("code", sheet.words.code, sheet.code))
    return tuple(field for field in found if field.value)


def _details(sheet: Sheet, document: str) -> tuple[PassField, ...]:
    """The reverse side: the validity as a sentence, the conditions, the printable document."""
    language = sheet.language
    included = "\n".join(sheet.included)
    found = (
        PassField("sentence", sheet.overline, f"{sheet.name}\n{sheet.mark_hint or sheet.validity}"),
        PassField("description", words.translate(language, words.ABOUT), plain_text_of(sheet.description)),
        PassField("included", sheet.words.included, included),
        PassField("sender", sheet.words.sender, "\n".join(filter(None, (sheet.sender, sheet.message)))),
        *(
            PassField(f"terms-{position}", section.title, _text_of(section.blocks))
            for position, section in enumerate(sheet.small_print)
        ),
        PassField("contact", sheet.look.name, "\n".join(sheet.contact)),
        PassField("document", words.translate(language, words.TO_PRINT), document),
    )
    return tuple(field for field in found if field.value)


def _text_of(blocks: Sequence[TextBlock]) -> str:
    """The plain text of some paragraphs, one a line. A link is written out after its text."""
    return "\n".join(f"{block.mark} {''.join(map(_run, block.runs))}".strip() for block in blocks)


def _run(run: TextRun) -> str:
    return f"{run.text} ({run.link})" if run.link and run.text not in run.link else run.text


def _ends(row: PrintableItem) -> list[dt.datetime]:
    usable_until = row.usable_until if isinstance(row, NetworkVoucherRow) else None
    return [end for end in (row.expires_on, usable_until) if end is not None]


async def _time_zone(db: AsyncSession, row: PrintableItem) -> str:
    """The time zone of the network, or of the partner's marketplace."""
    network_id = row.marketplace_id if isinstance(row, NetworkVoucherRow) else None
    network_id = row.network_id if isinstance(row, GiftCardRow) else network_id
    query = select(MarketplaceRow.time_zone)
    if network_id is not None:
        return (await db.exec(query.where(col(MarketplaceRow.id) == network_id))).one()
    assert not isinstance(row, NetworkVoucherRow), "it has a network"
    joined = query.join(PartnerRow, col(PartnerRow.marketplace_id) == col(MarketplaceRow.id))
    return (await db.exec(joined.where(col(PartnerRow.id) == row.partner_id))).one()

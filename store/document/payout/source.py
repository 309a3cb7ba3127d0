"""Reads what the documents of a payout show from the database."""

import textwrap
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal

from sqlmodel.ext.asyncio.session import AsyncSession

from schema.payment.payout import PayoutRequestStatus as Status
from store.core.localization.formats import Formats
from store.document.contact import reached_at
from store.document.payout import words
from store.document.payout.lines import DocumentLine, PayoutSection, statement_lines
from store.document.payout.statement import PayoutStatement, PrintedLine, PrintedSection, StatementLabels
from store.document.payout.words import PayoutWords
from store.document.sheet import SheetBrand
from store.document.source import DocumentSource, stored_picture
from store.partner.brand import brand_of
from store.partner.partners import MarketplaceRow, PartnerRow
from store.payment.transfers import TransferRow
from store.payout.contents import transfers_of
from store.payout.requests import PayoutRequestRow

SHORT = 8
"""Characters of a payment's id that are printed: the spreadsheet has all of it."""


@dataclass(frozen=True)
class PayoutContent:
    """A payout request with all that its documents show, in the language of its partner."""

    payout: PayoutRequestRow
    partner: PartnerRow
    marketplace: MarketplaceRow
    lines: Mapping[PayoutSection, Sequence[DocumentLine]]
    transfers: Sequence[TransferRow]

    @property
    def words(self) -> PayoutWords:
        return PayoutWords(self.partner.language)

    @property
    def formats(self) -> Formats:
        return Formats(self.partner.language)

    def money(self, amount: Decimal) -> str:
        if amount < 0:
            return self.formats.negative_money(-amount, self.payout.currency)
        return self.formats.money(amount, self.payout.currency)

    @property
    def period(self) -> str:
        return self.formats.days(self.payout.first_day, self.payout.last_day)

    def describe(self, line: DocumentLine) -> str:
        """What a line is, and whose: a refund, the customer, the product, the card."""
        code = self.words.say(words.CODE_ENDING, end=line.code_end) if line.code_end else ""
        return " · ".join(filter(None, (self.words.kind(line.kind), line.customer, line.details, code)))

    def statement(self) -> PayoutStatement:
        """The document as it is printed."""
        say, payout, partner = self.words.say, self.payout, self.partner
        iban = " ".join(textwrap.wrap(payout.bank_account_iban, 4))
        account = " · ".join(filter(None, (iban, payout.bank_account_bic)))
        amount = self.money(payout.payout_amount)
        return PayoutStatement(
            language=partner.language,
            title=f"{say(words.PAYOUT)} {payout.id} – {partner.commercial_name} – {amount}",
            look=SheetBrand.from_brand(brand_of(partner)),
            words=self._labels(),
            overline=say(words.PAYOUT),
            amount=amount,
            state=self.state(),
            facts=[
                (say(words.NUMBER), str(payout.id)),
                (say(words.PERIOD), self.period),
                *([(say(words.ACCOUNT), account)] if account else []),
            ],
            payer=self.marketplace.name,
            payee=[
                partner.commercial_name,
                partner.name if partner.name != partner.commercial_name else "",
                partner.hq_address_line_1,
                f"{partner.hq_postal_code} {partner.hq_city}".strip(),
            ],
            sections=[self._section(section, lines) for section, lines in self.lines.items()],
            contact=[reached_at(partner)],
        )

    def state(self) -> str:
        """Where the payout stands, in words."""
        payout, say = self.payout, self.words.say
        if payout.status is Status.PAID and payout.paid_on is not None:
            return say(words.PAID_OUT, date=self.formats.date(payout.paid_on, self.marketplace.time_zone))
        others = {Status.CANCELLED: words.CANCELLED, Status.FAILED: words.FAILED}
        return say(others.get(payout.status, words.TO_BE_PAID_OUT))

    def _labels(self) -> StatementLabels:
        say = self.words.say
        return StatementLabels(
            summary=say(words.SUMMARY),
            payer=say(words.PAYER),
            payee=say(words.PAYEE),
            amount=say(words.AMOUNT),
            date=say(words.DATE),
            reference=say(words.REFERENCE),
            details=say(words.DETAILS),
            gross=say(words.GROSS),
            fees=say(words.FEES),
            net=say(words.NET),
            total=say(words.TOTAL),
            note=say(words.NOTE),
        )

    def _section(self, section: PayoutSection, lines: Sequence[DocumentLine]) -> PrintedSection:
        printed = [
            PrintedLine(
                self.formats.days(line.day),
                line.reference[:SHORT],
                self.describe(line),
                self.money(line.gross),
                self.money(line.fees),
                self.money(line.net),
            )
            for line in lines
        ]
        nothing = Decimal(0)
        gross, fees = sum((line.gross for line in lines), nothing), sum((line.fees for line in lines), nothing)
        return PrintedSection(
            self.words.section(section), printed, self.money(gross), self.money(fees), self.money(gross - fees)
        )


async def read_payout_content(db: AsyncSession, payout: PayoutRequestRow) -> PayoutContent:
    """What the documents of a payout show now."""
    partner = await db.get_one(PartnerRow, payout.partner_id)
    marketplace = await db.get_one(MarketplaceRow, partner.marketplace_id)
    lines: dict[PayoutSection, list[DocumentLine]] = defaultdict(list)
    async for line in statement_lines(db, payout):
        lines[line.section].append(line)
    in_order = {section: lines[section] for section in PayoutSection if section in lines}
    transfers = (await transfers_of(db, [payout.id])).get(payout.id, [])
    return PayoutContent(payout, partner, marketplace, in_order, transfers)


async def payout_document_source(db: AsyncSession, content: PayoutContent) -> DocumentSource:
    """What the statement of a payout is made of."""
    logo = await stored_picture(db, content.partner.logo_url)
    key = f"documents/payouts/{content.payout.id}.pdf"
    return DocumentSource(key, content.statement(), content.payout.created_on, None, logo)

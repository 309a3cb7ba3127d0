"""Reads what the documents of a payout show from the database."""

import textwrap
from collections.abc import Sequence
from dataclasses import dataclass, field
from decimal import Decimal

from sqlmodel.ext.asyncio.session import AsyncSession

from schema.payment.payout import PayoutRequestStatus as Status
from schema.payment.payout import PayoutSection
from store.core.localization.formats import Formats
from store.document.contact import reached_at
from store.document.payout import words
from store.document.payout.statement import LINES_FILE, PayoutStatement, PrintedLine, PrintedSection, StatementLabels
from store.document.payout.words import PayoutWords
from store.document.sheet import SheetBrand
from store.document.source import DocumentSource, stored_picture
from store.partner.brand import brand_of
from store.partner.partners import MarketplaceRow, PartnerRow
from store.payment.transfers import TransferRow
from store.payout.contents import transfers_of
from store.payout.lines import PayoutStatementLine, statement_lines
from store.payout.requests import PayoutRequestRow

SHORT = 8
"""Characters of a payment's id that are printed: the spreadsheet has all of it."""


MOST_PRINTED = 500
"""Lines of a section on the statement of a large payout: each takes 2 KB in a tagged PDF. The attached list has all."""


@dataclass(slots=True)
class SectionContent:
    """The lines of a section that are kept, and the sums of all that were added."""

    lines: list[PayoutStatementLine] = field(default_factory=list)
    count: int = 0
    gross: Decimal = Decimal(0)
    fees: Decimal = Decimal(0)

    def add(self, line: PayoutStatementLine, most: int | None) -> None:
        """Count a line, and keep it unless that would be more than `most`."""
        self.count += 1
        self.gross += line.gross
        self.fees += line.fees
        if most is None or len(self.lines) < most:
            self.lines.append(line)


@dataclass(frozen=True)
class PayoutContent:
    """A payout request with all that its documents show, in the language of its partner."""

    payout: PayoutRequestRow
    partner: PartnerRow
    marketplace: MarketplaceRow
    transfers: Sequence[TransferRow]
    sections: dict[PayoutSection, SectionContent] = field(default_factory=dict)

    def add(self, line: PayoutStatementLine, most: int | None = None) -> None:
        """Add a line. Of a section, no more than `most` are kept."""
        self.sections.setdefault(line.section, SectionContent()).add(line, most)

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

    def describe(self, line: PayoutStatementLine) -> str:
        """What a line is, and whose: a refund, the customer, the product, the card."""
        code = self.words.say(words.CODE_ENDING, end=line.code_end) if line.code_end else ""
        return " · ".join(filter(None, (self.words.kind(line.kind), line.customer, line.details, code)))

    @property
    def author(self) -> str:
        return self.partner.commercial_name

    @property
    def title(self) -> str:
        payout = self.payout
        kind, amount = self.words.say(words.PAYOUT), self.money(payout.payout_amount)
        return f"{kind} {payout.id} – {self.partner.commercial_name} – {amount}"

    def statement(self, attached: str = "") -> PayoutStatement:
        """The document as it is printed, with a file that lists all lines if it does not."""
        say, payout, partner = self.words.say, self.payout, self.partner
        iban = " ".join(textwrap.wrap(payout.bank_account_iban, 4))
        account = " · ".join(filter(None, (iban, payout.bank_account_bic)))
        return PayoutStatement(
            language=partner.language,
            title=self.title,
            look=SheetBrand.from_brand(brand_of(partner)),
            words=self._labels(),
            overline=say(words.PAYOUT),
            amount=self.money(payout.payout_amount),
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
            sections=[self._section(each, self.sections[each]) for each in PayoutSection if each in self.sections],
            contact=[reached_at(partner)],
            attached=attached,
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

    def _section(self, section: PayoutSection, content: SectionContent) -> PrintedSection:
        printed = [
            PrintedLine(
                self.formats.days(line.day),
                line.reference[:SHORT],
                self.describe(line),
                self.money(line.gross),
                self.money(line.fees),
                self.money(line.net),
            )
            for line in content.lines
        ]
        note = words.PRINTED if content.count > len(printed) else ""
        numbers = {"printed": self.formats.number(len(printed)), "lines": self.formats.number(content.count)}
        return PrintedSection(
            self.words.section(section),
            printed,
            self.money(content.gross),
            self.money(content.fees),
            self.money(content.gross - content.fees),
            self.words.say(note, **numbers, name=LINES_FILE) if note else "",
        )


async def read_payout_content(db: AsyncSession, payout: PayoutRequestRow) -> PayoutContent:
    """What the documents of a payout show now."""
    content = await read_payout_head(db, payout)
    async for line in statement_lines(db, payout):
        content.add(line)
    return content


async def read_payout_head(db: AsyncSession, payout: PayoutRequestRow) -> PayoutContent:
    """All of it but the lines."""
    partner = await db.get_one(PartnerRow, payout.partner_id)
    marketplace = await db.get_one(MarketplaceRow, partner.marketplace_id)
    transfers = (await transfers_of(db, [payout.id])).get(payout.id, [])
    return PayoutContent(payout, partner, marketplace, transfers[::-1])


async def payout_document_source(db: AsyncSession, content: PayoutContent, attached: str = "") -> DocumentSource:
    """What the statement of a payout is made of."""
    logo = await stored_picture(db, content.partner.logo_url)
    key = f"documents/payouts/{content.payout.id}.pdf"
    return DocumentSource(key, content.statement(attached), content.payout.created_on, None, logo)

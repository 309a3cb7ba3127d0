"""The fees of a partner over a period, and what the next invoice about them still lacks."""

import datetime as dt
from collections.abc import Sequence
from typing import Annotated
from uuid import UUID

import strawberry

from resolvers.core.lists.connection import Connection
from resolvers.core.lists.paged_lines import After, First, PagedLines, ReadOnce, method_field
from resolvers.core.operation import Call, operation
from resolvers.core.scoping import find_visible
from schema.core.errors import InvalidInput
from schema.core.money import Money
from schema.core.permission import Permission
from schema.invoice.invoice import Fee
from store.database.transaction_reader import DatabaseReader
from store.invoice.fees import ORDER, FeesOfPartner, FeeSums, PostedFee
from store.invoice.issuing import missing_of
from store.ledger.books import book_of_partner
from store.partner.partners import MarketplaceRow, PartnerRow
from store.providers.money import MinorAmount

MOST_DAYS = 366


@strawberry.type(description="The fees of a partner over a period.")
class FeeStatement:
    fees: strawberry.Private[FeesOfPartner]
    marketplace: strawberry.Private[MarketplaceRow]
    partner: strawberry.Private[PartnerRow]
    sums: strawberry.Private[ReadOnce[Sequence[FeeSums]]]

    @method_field("The sum, VAT included.")
    async def total(self, info: strawberry.Info) -> Money:
        return self._money(sum(each.amount for each in await self.sums.value(info.context.db)))

    @method_field("The VAT in it, as it was posted for each fee.")
    async def vat(self, info: strawberry.Info) -> Money:
        return self._money(sum(each.vat for each in await self.sums.value(info.context.db)))

    @method_field("What is missing before the next invoice can be issued, as the names of fields; empty if nothing.")
    async def missing(self, info: strawberry.Info) -> list[str]:
        return missing_of(self.marketplace, self.partner, await self.sums.value(info.context.db))

    @method_field("The fees, oldest first.")
    async def lines(
        self, info: strawberry.Info, first: First = strawberry.UNSET, after: After = strawberry.UNSET
    ) -> Connection[Fee]:
        lines = PagedLines(
            ORDER, self.fees.read, self._count, lambda fee: (fee.effective_on, fee.journal_id), self._fee
        )
        return await lines.page(info.context.db, first, after)

    async def _count(self, db: DatabaseReader) -> int:
        return sum(each.fees for each in await self.sums.value(db))

    def _fee(self, fee: PostedFee) -> Fee:
        return Fee(
            journal_id=fee.journal_id,
            kind=fee.kind,
            source_kind=fee.source_kind,
            source_id=fee.source_id,
            effective_on=fee.effective_on,
            amount=self._money(fee.amount),
            vat=self._money(fee.vat),
            vat_rate=fee.vat_rate,
            invoice_number=fee.invoice_number,
        )

    def _money(self, minor: int) -> Money:
        currency = self.marketplace.currency
        return Money(amount=MinorAmount(currency, minor).decimal, currency=currency)


@operation(Permission.VIEW_INVOICE)
async def fee_statement(
    call: Call,
    partner_uuid: Annotated[UUID, strawberry.argument(description="The uuid of the partner.")],
    first_day: Annotated[dt.date, strawberry.argument(name="from", description="The first accounting date.")],
    last_day: Annotated[
        dt.date, strawberry.argument(name="to", description="The last accounting date: at most 366 days.")
    ],
) -> FeeStatement:
    """The fees of a partner over a period, each with its invoice, and what the next invoice still lacks."""
    partner = await find_visible(call.db, call.caller, PartnerRow, "partner", uuid=partner_uuid)
    if not 0 <= (last_day - first_day).days < MOST_DAYS:
        raise InvalidInput.at("to", "Send a day that is not before the first one, and at most a year later.")
    marketplace = await call.db.get_one(MarketplaceRow, partner.marketplace_id)
    fees = FeesOfPartner(partner.id, await book_of_partner(call.db, partner.id), last_day, first_day=first_day)
    return FeeStatement(fees=fees, marketplace=marketplace, partner=partner, sums=ReadOnce(fees.sums))

"""What payouts are the sum of: the lines of a payout request, and those that the next one would have by now."""

import datetime as dt
from collections.abc import Sequence
from decimal import Decimal
from typing import Annotated
from uuid import UUID
from zoneinfo import ZoneInfo

import strawberry

from resolvers.core.input_mapping import ById
from resolvers.core.lists.connection import Connection
from resolvers.core.lists.paged_lines import After, First, PagedLines, ReadOnce, method_field
from resolvers.core.operation import Call, operation
from resolvers.core.scoping import find_visible
from schema.core.money import Money
from schema.core.permission import Permission
from schema.payment.payout import PayoutLine, PayoutSectionSums
from store.ledger.books import book_of_partner
from store.partner.partners import MarketplaceRow, PartnerRow
from store.payout.gathering import partner_due_until
from store.payout.lines import ORDER, ExplainedLine, PayoutContents, SectionSums
from store.payout.periods import last_day_after
from store.payout.postings import debt_of
from store.payout.requests import PayoutRequestRow
from store.providers.money import MinorAmount

_payout = ById(PayoutRequestRow, "payout request")


@strawberry.type(description="What a payout is the sum of.")
class PayoutExplanation:
    contents: strawberry.Private[PayoutContents]
    currency: strawberry.Private[str]
    sums: strawberry.Private[ReadOnce[Sequence[SectionSums]]]
    first_day: dt.date = strawberry.field(description="The first day of the period, in the marketplace's time zone.")
    last_day: dt.date = strawberry.field(description="The last day of the period: it is gathered on the day after.")

    @method_field("The sum of the lines.")
    async def amount(self, info: strawberry.Info) -> Money:
        nothing = MinorAmount(self.currency, 0).decimal
        return _money(sum((each.net for each in await self.sums.value(info.context.db)), nothing), self.currency)

    @method_field("The sums of its sections that have lines.")
    async def sections(self, info: strawberry.Info) -> list[PayoutSectionSums]:
        return [_section(each, self.currency) for each in await self.sums.value(info.context.db)]

    @method_field("Its lines, oldest first.")
    async def lines(
        self, info: strawberry.Info, first: First = strawberry.UNSET, after: After = strawberry.UNSET
    ) -> Connection[PayoutLine]:
        count = ReadOnce(self.contents.count).value
        lines = PagedLines(ORDER, self.contents.lines, count, lambda line: (line.day, line.item_id), _line)
        return await lines.page(info.context.db, first, after)


@strawberry.type(description="What would be gathered for a partner at the end of its present period, by now.")
class PayoutPreview(PayoutExplanation):
    owed: Money = strawberry.field(description="What the partner owes; it is taken of the amount first.")


@operation(Permission.VIEW_PAYOUT)
async def payout_explain(
    call: Call, id: Annotated[int, strawberry.argument(description="The payout request's id.")]
) -> PayoutExplanation:
    """What a payout request is the sum of: each line with what it is made of, and why it is in this request and not in another."""
    payout = await _payout.find(call, id)
    contents = PayoutContents.of_request(payout.id)
    return PayoutExplanation(
        contents=contents,
        currency=payout.currency,
        sums=ReadOnce(contents.sums),
        first_day=payout.first_day,
        last_day=payout.last_day,
    )


@operation(Permission.VIEW_PAYOUT)
async def payout_preview(
    call: Call, partner_uuid: Annotated[UUID, strawberry.argument(description="The uuid of the partner.")]
) -> PayoutPreview:
    """What would be gathered for a partner at the end of its present period, by what is known now. Nothing is gathered or
    locked; `amount` is paid out if it is more than nothing.
    """
    partner = await find_visible(call.db, call.caller, PartnerRow, "partner", uuid=partner_uuid)
    marketplace = await call.db.get_one(MarketplaceRow, partner.marketplace_id)
    book_id, currency = await book_of_partner(call.db, partner.id), marketplace.currency
    today = call.services.clock.now().astimezone(ZoneInfo(marketplace.time_zone)).date()
    due = await partner_due_until(call.db, partner.id, book_id, last_day_after(partner.payout_frequency, today))
    owed = await debt_of(call.db, book_id, partner.id)
    contents = PayoutContents.due(due)
    return PayoutPreview(
        contents=contents,
        currency=currency,
        sums=ReadOnce(contents.sums),
        first_day=due.first_day,
        last_day=due.last_day,
        owed=_money(MinorAmount(currency, owed).decimal, currency),
    )


def _section(sums: SectionSums, currency: str) -> PayoutSectionSums:
    return PayoutSectionSums(
        section=sums.section,
        lines=sums.lines,
        gross=_money(sums.gross, currency),
        fees=_money(sums.fees, currency),
        vat=_money(sums.vat, currency),
        amount=_money(sums.net, currency),
    )


def _line(line: ExplainedLine) -> PayoutLine:
    return PayoutLine(
        journal_id=strawberry.ID(str(line.journal_id)),
        section=line.section,
        kind=line.kind,
        source_kind=line.source_kind,
        source_id=line.source_id,
        payment_id=line.payment_id,
        customer=line.customer,
        details=line.details,
        code_end=line.code_end,
        gross=_money(line.gross, line.currency),
        fees=_money(line.fees, line.currency),
        vat=_money(line.vat, line.currency),
        amount=_money(line.net, line.currency),
        network=_money(line.network, line.currency),
        payable_on=line.day,
        recorded_on=line.recorded_on,
        reason=line.reason,
        former=list(line.former),
        moved_to=line.moved_to,
    )


def _money(amount: Decimal, currency: str) -> Money:
    return Money(amount=amount, currency=currency)

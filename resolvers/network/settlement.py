"""Settlement statements of a network, as data and as a file."""

import datetime as dt
from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Annotated

import strawberry
from sqlmodel import col, select
from sqlmodel.ext.asyncio.session import AsyncSession

from resolvers.core.caller import Role
from resolvers.core.context import Context
from resolvers.core.operation import Call, operation
from resolvers.core.scoping import find_visible
from schema.core.errors import InvalidInput, NotFound
from schema.core.message_names import TemplatedMessage
from schema.core.money import Money
from schema.core.permission import Permission
from schema.network.settlement import (
    CurrencySettlement,
    PartnerSettlement,
    ProductSettlement,
    SettledProduct,
    SettledUsages,
    SettlementStatement,
)
from store.database.loaders import is_any_of
from store.network.settlement.export import csv_of, csv_url, period_of_token
from store.network.settlement.statements import (
    ProductFigures,
    SettlementPeriod,
    UsageFigures,
    UsageSettlement,
    settlements_of,
    totals_of,
)
from store.partner.partners import MarketplaceRow, PartnerRow

MOST_PARTNERS = 2000
"""The most partners in a statement as data; the file has them all."""


@operation(Permission.VIEW_WALLET)
async def settlement_statement(
    call: Call,
    first_day: Annotated[dt.date, strawberry.argument(name="from", description="The first accounting date.")],
    last_day: Annotated[dt.date, strawberry.argument(name="to", description="The last accounting date.")],
    partner_id: Annotated[
        int | None, strawberry.argument(description="Only this partner. A partner's users see their own partner only.")
    ] = None,
    marketplace_id: Annotated[
        int | None, strawberry.argument(description="The network; required only from callers of no marketplace.")
    ] = None,
) -> SettlementStatement:
    """What a network owes its partners for usages: the balances before and after a period, and what moved them."""
    if last_day < first_day:
        raise InvalidInput.at("to", "Send a day that is not before `from`.")
    network, partner = await _owners(call, partner_id, marketplace_id)
    period = SettlementPeriod(marketplace_id=network.id, partner_id=partner, first=first_day, last=last_day)
    found = await settlements_of(call.db, period)
    if len(found) > MOST_PARTNERS:
        raise InvalidInput.at(
            "partner_id", TemplatedMessage("There are more than {most} partners: name one of them.", most=MOST_PARTNERS)
        )
    totals = totals_of(found) or [UsageSettlement(currency=network.currency, partner_id=None)]
    return SettlementStatement(
        marketplace_id=network.id,
        first_day=first_day,
        last_day=last_day,
        time_zone=network.time_zone,
        currencies=[_currency(total, [each for each in found if each.currency == total.currency]) for total in totals],
        csv_url=csv_url(call.services.settings, period, call.services.clock.now()),
    )


async def _owners(call: Call, partner_id: int | None, marketplace_id: int | None) -> tuple[MarketplaceRow, int | None]:
    """The network, and the partner if the statement is of one. Raises NotFound for what the caller cannot see."""
    caller = call.caller
    if partner_id is not None or caller.role is Role.PARTNER:
        partner = await find_visible(call.db, caller, PartnerRow, "partner", id=partner_id or caller.partner_id)
        if marketplace_id not in {None, partner.marketplace_id}:
            raise NotFound(thing="partner")
        return await call.db.get_one(MarketplaceRow, partner.marketplace_id), partner.id
    network_id = marketplace_id if marketplace_id is not None else caller.marketplace_id
    if network_id is None:
        raise InvalidInput.at("marketplace_id", "Say which network.", "REQUIRED")
    return await find_visible(call.db, caller, MarketplaceRow, "marketplace", id=network_id), None


async def find_settlement_file(context: Context, token: str) -> tuple[str, bytes]:
    """The name and the content of the file of a URL. Raises NotFound if the URL is forged, or has ended."""
    services = context.services
    period = period_of_token(services.settings, token, services.clock.now())
    if period is None:
        raise NotFound(thing="file")
    async with services.db.sessions() as db:
        found = await settlements_of(db, period)
        partners = await _names(db, [each.partner_id for each in found if each.partner_id is not None])
    return f"settlement-{period.first}-{period.last}.csv", csv_of(period, found, partners)


async def _names(db: AsyncSession, partner_ids: Sequence[int]) -> Mapping[int, tuple[str, str]]:
    """The source id and the name of each partner."""
    columns = col(PartnerRow.id), col(PartnerRow.source_id), col(PartnerRow.commercial_name)
    query = select(*columns).where(is_any_of(col(PartnerRow.id), list(partner_ids)))
    return {id: (source_id, name) for id, source_id, name in await db.exec(query)}


# ---- as it is published


def _currency(total: UsageSettlement, partners: Sequence[UsageSettlement]) -> CurrencySettlement:
    currency = total.currency
    return CurrencySettlement(
        currency=currency,
        opening=_money(total.opening, currency),
        products=_products(total),
        settled=_money(total.settled, currency),
        closing=_money(total.closing, currency),
        partners=[_partner(each, each.partner_id) for each in partners if each.partner_id is not None],
    )


def _partner(settlement: UsageSettlement, partner_id: int) -> PartnerSettlement:
    return PartnerSettlement(
        partner_id=partner_id,
        opening=_money(settlement.opening, settlement.currency),
        products=_products(settlement),
        settled=_money(settlement.settled, settlement.currency),
        closing=_money(settlement.closing, settlement.currency),
    )


def _products(settlement: UsageSettlement) -> list[ProductSettlement]:
    return [_product(key, figures, settlement.currency) for key, figures in settlement.products.items()]


def _product(product: SettledProduct, figures: ProductFigures, currency: str) -> ProductSettlement:
    return ProductSettlement(
        product=product,
        usages=_usages(figures.usages, currency),
        cancelled=_usages(figures.cancelled, currency),
        returned=_usages(figures.returned, currency),
        owed_back=_money(figures.owed_back, currency),
    )


def _usages(usages: UsageFigures, currency: str) -> SettledUsages:
    return SettledUsages(
        count=usages.count,
        value=_money(usages.value, currency),
        commission=_money(usages.commission, currency),
        commission_vat=_money(usages.commission_vat, currency),
        management_fees=_money(usages.management_fees, currency),
        management_fees_vat=_money(usages.management_fees_vat, currency),
        paid_by_network=_money(usages.paid_by_network, currency),
        net=_money(usages.net, currency),
    )


def _money(amount: Decimal, currency: str) -> Money:
    return Money(amount=amount, currency=currency)

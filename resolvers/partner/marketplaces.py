"""Marketplaces, and the checkout domains of their partners."""

import re
from collections.abc import Sequence
from decimal import Decimal
from typing import Annotated
from zoneinfo import ZoneInfo

from pydantic import Field
from sqlmodel import col, select

from resolvers.core.caller import Role
from resolvers.core.input_mapping import ById, apply, change_of, values_of
from resolvers.core.lists.filters import Filter, Where
from resolvers.core.lists.listing import Listing, Lookup
from resolvers.core.operation import Call, operation
from resolvers.core.scoping import find_visible
from schema.core.columns import DescribedEnum, graphql_enum
from schema.core.errors import AlreadyTaken, InvalidInput
from schema.core.input_errors import ProblemCollector
from schema.core.inputs import graphql_input_for
from schema.core.permission import Permission
from schema.partner.marketplace import Marketplace
from schema.partner.marketplace_input import ChangeSiteDomain, CreateMarketplace, UpdateMarketplace
from schema.partner.partner import Partner
from schema.payment.errors import SafeguardLowered
from schema.validation.currencies import CURRENCIES
from store.core.hosts import host_of
from store.invoice.parties import missing_of_marketplace
from store.partner.checks import check_theme
from store.partner.partners import MarketplaceRow, PartnerRow
from store.providers.money import exponent

CENTS = 2


@graphql_enum
class MarketplaceSort(DescribedEnum):
    """Sort order of marketplaces."""

    NAME = "name", "By name, from A to Z."
    NAME_DESCENDING = "-name", "By name, from Z to A."


@graphql_input_for(Marketplace)
class MarketplaceFilter(Filter):
    """Filter for marketplaces."""

    name_contains: Annotated[str | None, Where("name", "contains")] = Field(
        default=None, description="Only marketplaces whose name contains this, ignoring case and accents."
    )
    currency: Annotated[str | None, Where("currency")] = None


marketplaces = Listing(
    Marketplace,
    MarketplaceFilter,
    MarketplaceSort,
    Permission.VIEW_PARTNER,
    "The marketplaces visible to you, by name.",
)
marketplace = Lookup(Marketplace, "id", "marketplace", Permission.VIEW_PARTNER, "A marketplace by its id or its uuid.")
marketplace_with_uuid = Lookup(
    Marketplace, "uuid", "marketplace", Permission.VIEW_PARTNER, "A marketplace by its id or its uuid."
)


@operation(Permission.MANAGE_MASTERADMIN)
async def create_marketplace(call: Call, input: CreateMarketplace) -> Marketplace:
    """Create a marketplace. Its currency cannot be changed later."""
    findings = ProblemCollector()
    with findings.collect():
        if input.currency not in CURRENCIES or exponent(input.currency) != CENTS:
            raise InvalidInput.at("currency", "Send the ISO 4217 code of a currency with cents, such as EUR.")
    with findings.collect():
        domain = _parse_domain(input.domain)
    with findings.collect():
        row = MarketplaceRow(**values_of(input, skip={"domain"}))
        check_theme(row)
    findings.raise_problems()
    row.domain = domain
    if input.invoicing is not None and input.invoicing.starts_on is None:
        _begin_invoicing(call, row)
    call.db.add(row)
    await call.db.flush()
    return row


_marketplace = ById(MarketplaceRow, "marketplace")


@operation(Permission.MANAGE_MARKETPLACE, exists=_marketplace)
async def update_marketplace(call: Call, input: UpdateMarketplace) -> Marketplace:
    """Update a marketplace. A new time zone does not affect times that were sent earlier without an offset. Amounts from which
    a second user is needed are only lowered by its own users (`SAFEGUARD_LOWERED`).
    """
    row = await _marketplace.find(call, input.id, lock=True)
    was_complete, safeguards = not list(missing_of_marketplace(row)), _safeguards(row)
    apply(row, input)
    _check_safeguards(call, safeguards, _safeguards(row))
    row.domain = _parse_domain(row.domain)
    check_theme(row)
    change = change_of(input, "invoicing")
    if change is not None and change.value.starts_on is None and not was_complete:
        _begin_invoicing(call, row)
    await call.db.flush()
    return row


def _safeguards(row: MarketplaceRow) -> Sequence[Decimal | None]:
    """The amounts from which a second user is needed; None: never."""
    return row.payout_approval_from_amount, row.payout_second_validation_from_amount


def _check_safeguards(call: Call, before: Sequence[Decimal | None], after: Sequence[Decimal | None]) -> None:
    """Raise SafeguardLowered if a user of the marketplace raises or removes an amount from which a second user is needed: one
    user alone must not get rid of the other.
    """
    is_lowered = any(old is not None and (new is None or new > old) for old, new in zip(before, after, strict=True))
    if is_lowered and call.caller.role is not Role.MASTER:
        raise SafeguardLowered


def _begin_invoicing(call: Call, row: MarketplaceRow) -> None:
    """Once its details are complete, a marketplace invoices the fees of this month and later, unless it says since when."""
    if row.invoicer_starts_on is None and not list(missing_of_marketplace(row)):
        row.invoicer_starts_on = call.services.clock.now().astimezone(ZoneInfo(row.time_zone)).date().replace(day=1)


def _parse_domain(domain: str) -> str:
    host = host_of(domain) if domain else ""
    if host is None:
        raise InvalidInput.at("domain", "Send a host name without a scheme or a path, such as network.example.")
    return host


@operation(Permission.UPDATE_PARTNER)
async def change_site_domain(call: Call, input: ChangeSiteDomain) -> Partner:
    """Move the checkout of a partner to another domain, which must point to this service.

    Existing links to the checkout stop working at once.
    """
    row = await find_visible(call.db, call.caller, PartnerRow, "partner", lock=True, uuid=input.partner_uuid)
    host = host_of(input.site_domain, with_port=call.services.settings.development)
    if host is None:
        raise InvalidInput.at(
            "site_domain", "Send a host name without a scheme or a path, such as checkout.shop.example."
        )
    if _is_reserved_host(call, host, row.id):
        raise InvalidInput.at("site_domain", "This host name is reserved. Choose another one.")
    taken = select(PartnerRow.id).where(col(PartnerRow.site_domain) == host, col(PartnerRow.id) != row.id)
    if (await call.db.exec(taken)).first() is not None:
        raise AlreadyTaken("site_domain", what="site domain")
    row.site_domain = host
    await call.db.flush()
    call.services.authenticator.invalidate(partner_id=row.id)
    return row


def _is_reserved_host(call: Call, host: str, partner_id: int) -> bool:
    """True if the host is one of the service itself, or the default host of another partner."""
    settings = call.services.settings
    default = re.fullmatch(rf"[a-z0-9-]*?-([0-9]+)\.{re.escape(settings.funnel_domain)}(:[0-9]+)?", host)
    return host in settings.own_hosts or (default is not None and int(default[1]) != partner_id)

"""Marketplaces, and the domains that their partners' checkouts are found at."""

import re
from typing import Annotated

from pydantic import Field
from sqlmodel import col, select

from resolvers.core.input_mapping import ById, apply
from resolvers.core.listing import Filter, Listing, Lookup, Where
from resolvers.core.operation import Call, operation
from resolvers.core.scoping import find
from schema.account.user_input import ChangeSiteDomain, CreateMarketplace, UpdateMarketplace
from schema.core.errors import AlreadyTaken, InvalidInput
from schema.core.input_errors import Findings
from schema.core.permission import Permission
from schema.core.resource import ClosedSet, closed_set, writable_as
from schema.partner.partner import Marketplace, Partner
from schema.validation.currencies import CURRENCIES
from store.core.hosts import host_of
from store.partner.partners import MarketplaceRow, PartnerRow
from store.providers.base import exponent

CENTS = 2


@closed_set
class MarketplaceSort(ClosedSet):
    """How to order marketplaces."""

    NAME = "name", "By name."
    NAME_DESCENDING = "-name", "By name, backwards."


@writable_as(Marketplace)
class MarketplaceFilter(Filter):
    """Which marketplaces."""

    name_contains: Annotated[str | None, Where("name", "contains")] = Field(
        default=None, description="Whose name holds this, whatever the case and the accents."
    )
    currency: Annotated[str | None, Where("currency")] = None


marketplaces = Listing(
    Marketplace, MarketplaceFilter, MarketplaceSort, Permission.VIEW_PARTNER, "The marketplaces you see, by name."
)
marketplace = Lookup(Marketplace, "id", "marketplace", Permission.VIEW_PARTNER, "A marketplace by its id or its uuid.")
marketplace_with_uuid = Lookup(
    Marketplace, "uuid", "marketplace", Permission.VIEW_PARTNER, "A marketplace by its id or its uuid."
)


@operation(Permission.MANAGE_MASTERADMIN)
async def create_marketplace(call: Call, input: CreateMarketplace) -> Marketplace:
    """Make a marketplace. Its currency cannot be changed later, so choose it with care."""
    findings = Findings()
    with findings.of_one():
        if input.currency not in CURRENCIES or exponent(input.currency) != CENTS:
            raise InvalidInput.at("currency", "Send the ISO 4217 code of a currency with cents, such as EUR.")
    with findings.of_one():
        domain = _site(input.domain)
    findings.tell()
    row = MarketplaceRow(name=input.name, domain=domain, currency=input.currency, time_zone=input.time_zone)
    call.db.add(row)
    await call.db.flush()
    return row


_marketplace = ById(MarketplaceRow, "marketplace")


@operation(Permission.MANAGE_MARKETPLACE, exists=_marketplace)
async def update_marketplace(call: Call, input: UpdateMarketplace) -> Marketplace:
    """Change a marketplace. Times that were written without an offset keep the meaning they had when they came."""
    row = await _marketplace.find(call, input.id, lock=True)
    apply(row, input)
    row.domain = _site(row.domain)
    await call.db.flush()
    return row


def _site(domain: str) -> str:
    host = host_of(domain) if domain else ""
    if host is None:
        raise InvalidInput.at("domain", "Send the name of a host, without a scheme or a path, such as network.example.")
    return host


@operation(Permission.UPDATE_PARTNER)
async def change_site_domain(call: Call, input: ChangeSiteDomain) -> Partner:
    """Move the checkout of a partner to another domain, which must lead to this service.

    Links to the checkout that were handed out before stop working at once.
    """
    row = await find(call.db, call.caller, PartnerRow, "partner", lock=True, uuid=input.partner_uuid)
    host = host_of(input.site_domain, with_port=call.services.settings.development)
    if host is None:
        raise InvalidInput.at(
            "site_domain", "Send the name of a host, without a scheme or a path, such as checkout.shop.example."
        )
    if _reserved(call, host, row.id):
        raise InvalidInput.at("site_domain", "This name is kept for something else: choose another.")
    taken = select(PartnerRow.id).where(col(PartnerRow.site_domain) == host, col(PartnerRow.id) != row.id)
    if (await call.db.exec(taken)).first() is not None:
        raise AlreadyTaken("site_domain", what="site domain")
    row.site_domain = host
    await call.db.flush()
    call.services.callers.forget(partner_id=row.id)
    return row


def _reserved(call: Call, host: str, partner_id: int) -> bool:
    """Whether a host is the API's own, or what another partner gets by default."""
    settings = call.services.settings
    default = re.fullmatch(rf"[a-z0-9-]*?-([0-9]+)\.{re.escape(settings.funnel_domain)}(:[0-9]+)?", host)
    return host in settings.own_hosts or (default is not None and int(default[1]) != partner_id)

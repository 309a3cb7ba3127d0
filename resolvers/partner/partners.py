"""Partners: making them, changing them, finding them."""

import datetime as dt
from typing import Annotated, Any

import strawberry
from pydantic import AfterValidator, Field

from resolvers.activation.polling import partner_changed
from resolvers.core.input_mapping import apply, given_uuid, marketplace_among, needs, values_of
from resolvers.core.listing import Listing, Lookup, OfMarketplace, Where
from resolvers.core.operation import Call, operation
from resolvers.core.scoping import find
from resolvers.media.media import path_of_picture
from resolvers.partner.lookup import named
from schema.core.errors import InvalidInput
from schema.core.input_errors import Findings
from schema.core.message_names import Words
from schema.core.permission import Permission
from schema.core.resource import ClosedSet, closed_set, writable_as
from schema.partner.input import CreatePartner, UpdatePartner
from schema.partner.network_input import CreateNetworkPartner
from schema.partner.partner import Partner, PartnerStatus
from store.partner.checks import check, company_number
from store.partner.creation import default_site_domain, free_source_id, next_id
from store.partner.partners import PartnerRow

OTHERS_THAN_NEW = [PartnerStatus.ACTIVE, PartnerStatus.INACTIVE, PartnerStatus.TEST]
NUMBER = "Its company number: in France the SIRET."
CompanyNumber = Annotated[str | None, Field(description=NUMBER), strawberry.argument(description=NUMBER)]


@closed_set
class PartnerSort(ClosedSet):
    """How to order partners."""

    NEWEST = "-id", "The newest first."
    OLDEST = "id", "The oldest first."
    NAME = "commercial_name", "By the name customers see, from A to Z."
    SOURCE_ID = "source_id", "By source id, as text."


@writable_as(Partner)
class PartnerFilter(OfMarketplace):
    """Which partners."""

    statuses: Annotated[list[PartnerStatus] | None, Where("status", "in")] = Field(
        default=None, description="In one of these statuses."
    )
    marketplace_id: Annotated[int | None, Where("marketplace_id")] = Field(
        default=None, description="Of the marketplace with this id."
    )
    source_id: Annotated[str | None, Where("source_id")] = None
    siret_number: Annotated[
        str | None, Where("siret_number"), AfterValidator(lambda number: number and company_number(number))
    ] = Field(default=None, description="With this company number, blanks and hyphens left aside.")
    name_contains: Annotated[str | None, Where("commercial_name", "contains")] = Field(
        default=None, description="Whose name for customers contains this, whatever the case and the accents."
    )
    payments_active: Annotated[bool | None, Where("payments_active")] = None
    tags: Annotated[list[str] | None, Where("tags", "has")] = Field(default=None, description="With all of these tags.")
    linked_to_vouchers: Annotated[bool | None, Where("linked_to_nv_settings")] = Field(
        default=None, description="Whether they take part in the vouchers of their network."
    )
    linked_to_gift_cards: Annotated[bool | None, Where("linked_to_ngc_settings")] = Field(
        default=None, description="Whether they take part in the gift cards of their network."
    )
    created_from: Annotated[dt.datetime | None, Where("created_on", ">=")] = Field(
        default=None, description="Made from this time on."
    )
    created_until: Annotated[dt.datetime | None, Where("created_on", "<=")] = Field(
        default=None, description="Made up to this time."
    )


partners = Listing(Partner, PartnerFilter, PartnerSort, Permission.VIEW_PARTNER, "The partners you see, newest first.")
partner = Lookup(Partner, "uuid", "partner", Permission.VIEW_PARTNER, "A partner by its uuid or its id.")
partner_with_id = Lookup(Partner, "id", "partner", Permission.VIEW_PARTNER, "A partner by its id.")


@operation(Permission.VIEW_PARTNER)
async def partner_by_company_number(
    call: Call, siret_number: CompanyNumber = None, commercial_name: str | None = None
) -> Partner:
    """A partner by its company number, by the name customers see, or by both, which must then name the same one.

    Blanks and hyphens of the number, and the capitals of the name, make no difference.
    """
    return await named(call, {"siret_number": siret_number, "commercial_name": commercial_name})


@operation(Permission.CREATE_PARTNER)
async def create_partner(call: Call, input: CreatePartner) -> Partner:
    """Make a partner. It cannot be paid yet: activate its payments next."""
    return await new_partner(call, input)


async def _partner(call: Call, given: Any, *, lock: bool = False) -> PartnerRow:
    return await find(call.db, call.caller, PartnerRow, "partner", lock=lock, uuid=given_uuid(given, "uuid"))


@operation(Permission.UPDATE_PARTNER, exists=_partner)
async def update_partner(call: Call, input: UpdatePartner) -> Partner:
    """Change a partner.

    When its payments are active, another e-mail address of the representative or another bank account has to be confirmed
    by the representative; until then the one there was is in force.
    """
    row = await _partner(call, {"uuid": input.uuid}, lock=True)
    before = row.status
    apply(row, input, skip={"uuid"})
    findings = Findings()
    with call.db.no_autoflush:
        with findings.of_one():
            if row.status is PartnerStatus.NEW and before is not PartnerStatus.NEW:
                raise InvalidInput.at(
                    "status", Words("Only its network makes a partner new. Send {choices}.", choices=OTHERS_THAN_NEW)
                )
        with findings.of_one():
            needs(input.head_office, input.status)  # numbers are judged by both
            check(row, call.services.clock.now().date())
        with findings.of_one():
            if input.logo_url is not None:
                row.logo_url = await path_of_picture(call, row.id, row.logo_url, "logo_url")
    findings.tell()
    await call.db.flush()
    await partner_changed(call.db, row)
    call.services.callers.forget(partner_id=row.id)
    return row


async def new_partner(call: Call, input: CreatePartner | CreateNetworkPartner, **given: Any) -> PartnerRow:
    """A new partner in the marketplace that it is made in, with what was sent and what is `given` besides."""
    findings = Findings()
    marketplace = await marketplace_among(findings, call, input)
    with findings.of_one():
        row = PartnerRow(**values_of(input, skip={"marketplace_uuid", "source_id"}), **given)
        check(row, call.services.clock.now().date())
    findings.tell()
    row.id, row.marketplace_id = await next_id(call.db), marketplace.id
    row.source_id = input.source_id or await free_source_id(call.db, marketplace.id, row.id)
    row.site_domain = default_site_domain(input.short_name, row.id, call.services.settings)
    call.db.add(row)
    await call.db.flush()
    return row
